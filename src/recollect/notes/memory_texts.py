"""The words and numbers of the memory tool's results: what lines are, how they are numbered, what a change comes to.
Pure.

They are those of the SDK's own tool, to the byte: lines end with a line feed only, a carriage return belongs to its
line, and the empty line behind a last line feed is one when shown and none when lines are inserted.
"""

from collections.abc import Iterator
from itertools import islice

from recollect.errors import Conflict, Invalid

MOST_LINES = 999_999
WIDTH = len(str(MOST_LINES))
MOST_MATCHES = 10_000
"""Named in an error: a short text can stand in a long note millions of times."""
AROUND = 2
"""Lines before and after a change that are shown with it."""


def numbered(content: str, path: str, chosen: tuple[int, int] | None) -> str:
    """`chosen`: the first line and the last, -1 for the end of the note."""
    lines = content.split("\n")
    if len(lines) > MOST_LINES:
        raise Invalid(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    first = 0
    if chosen is not None:
        first = max(1, chosen[0]) - 1
        lines = lines[first : None if chosen[1] == -1 else chosen[1]]
    return f"Here's the content of {path} with line numbers:\n" + _with_numbers(lines, first + 1)


def replaced(content: str, old: str, new: str, path: str) -> tuple[str, int]:
    """The text with `new` in the place of the one `old`, and the index of the line where it begins."""
    times = content.count(old)
    if times == 0:
        raise Conflict(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if times > 1:
        places = ", ".join(str(line) for line in islice(_lines_with(content, old), MOST_MATCHES))
        raise Invalid(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {places}. "
            "Please ensure it is unique"
        )
    return content.replace(old, new), content.count("\n", 0, content.find(old))


def inserted(content: str, line: int, text: str) -> str:
    """The text behind line `line`; 0: before the first one. The result ends with a line feed."""
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise Invalid(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, text.rstrip("\n"))
    joined = "\n".join(lines)
    return joined if joined.endswith("\n") else joined + "\n"


def snippet(content: str, index: int) -> str:
    """The lines around the one with this index, numbered."""
    first = max(0, index - AROUND)
    return _with_numbers(content.split("\n")[first : index + AROUND + 1], first + 1)


def size_text(size: int) -> str:
    """4096 → 4K, 1536 → 1.5K."""
    step = min(max(size.bit_length() - 1, 0) // 10, 3)
    value = size / 1024**step
    return f"{int(value) if value == int(value) else format(value, '.1f')}{'BKMG'[step]}"


def _with_numbers(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _lines_with(content: str, old: str) -> Iterator[int]:
    """The line of each place where it begins, those that overlap too."""
    line, counted, place = 1, 0, content.find(old)
    while place != -1:
        line += content.count("\n", counted, place)
        counted = place
        yield line
        place = content.find(old, place + 1)
