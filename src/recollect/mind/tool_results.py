"""What tools found, as compact text for a model and as one line for people. Pure.

All of it is bounded, and says what was left out and where that can be read. Credentials are masked before anything is
cut: half of one is not recognised any more.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from recollect import redaction, tokens
from recollect.clock import local, to_text
from recollect.texts import clean

if TYPE_CHECKING:
    from recollect.database import Row
    from recollect.notes.status import Updated
    from recollect.recall import Found, Hit

MOST_TOKENS = 4_000
"""Of a search or a query: a few pages, out of the 100,000 that a conversation has."""
MOST_NOTE_TOKENS = 8_000
"""Of what the notes answer: a page is meant to be read whole."""
MOST_ERROR_TOKENS = 500
MOST_HIT_CHARACTERS = 1_200
MOST_AROUND_CHARACTERS = 200
MOST_ROWS = 200
LEAST_CELL_CHARACTERS, MOST_CELL_CHARACTERS = 120, 8_000
"""The fewer cells there are, the more of each is shown."""
MOST_LINE_CHARACTERS = 100
MARGIN_CHARACTERS = 10_000
"""Looked at beyond what is shown, as a credential may reach over the cut."""
_CUT = "…"
_NARROWER = "fewer columns, or substr(), show it."
_KINDS = ("message", "record", "note")


# Texts


def one_line(text: str, most: int = MOST_LINE_CHARACTERS) -> str:
    """For people: no line ends, nothing that would command a terminal, no credential."""
    words = " ".join(_masked(text, most).split())
    printable = "".join(character for character in words if character.isprintable())
    return printable if len(printable) <= most else printable[: most - 1].rstrip() + _CUT


def bounded(text: str, most_tokens: int, where: str) -> str:
    """At most so many tokens of it, whole lines where that loses little. `where`: how the rest can be read."""
    most = most_tokens * tokens.BYTES_PER_TOKEN
    masked = _masked(text, most)
    if len(text) <= most + MARGIN_CHARACTERS and tokens.estimate(masked) <= most_tokens:
        return masked
    kept = masked.encode()[:most].decode("utf-8", "ignore")
    line_end = kept.rfind("\n")
    kept = kept[:line_end] if line_end > len(kept) // 2 else kept
    return f"{kept}\n[{_CUT} {max(len(text) - len(kept), 1):,} characters left out: {where}]"


def _masked(text: str, most: int) -> str:
    """The beginning, long enough to be cut at `most`."""
    return redaction.mask(clean(text[: most + MARGIN_CHARACTERS]))


def _first(text: str, most: int) -> str:
    masked = _masked(text, most)
    return masked if len(masked) <= most else masked[:most].rstrip() + _CUT


def amount_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


# A search


def search_text(found: "Found", query: str) -> str:
    if not found.hits:
        return f"Nothing was found for {one_line(query)!r}."
    parts = [f"{len(found.hits)} found, the best first. Times are local."]
    parts += [
        f'"{period.text}" was read as {_moment(period.start)} to {_moment(period.end)}.' for period in found.periods
    ]
    used, is_cut = sum(map(tokens.estimate, parts)), False
    for number, hit in enumerate(found.hits, 1):
        text = hit_text(number, hit)
        used += tokens.estimate(text)
        if used > MOST_TOKENS and number > 1:
            parts.append(
                f"[{_CUT} {len(found.hits) - number + 1} less good ones left out: there was no room for them.]"
            )
            break
        parts.append(text)
        is_cut = is_cut or len(hit.text) > MOST_HIT_CHARACTERS
    if is_cut:
        parts.append("[What was cut stands whole in the views messages and records, and notes below /memories.]")
    return "\n".join(parts)


def search_line(found: "Found") -> str:
    numbers = {kind: sum(hit.kind == kind for hit in found.hits) for kind in _KINDS}
    return ", ".join(amount_text(number, kind) for kind, number in numbers.items() if number) or "nothing found"


def hit_text(number: int, hit: "Hit") -> str:
    lines = [f"{number}. " + " · ".join(filter(None, _head(hit)))]
    if hit.before:
        lines.append(f"   (before) {one_line(hit.before[-MOST_AROUND_CHARACTERS:], MOST_AROUND_CHARACTERS)}")
    lines += [f"   {line}" for line in stretch(hit).split("\n")]
    if hit.after:
        lines.append(f"   (after) {one_line(hit.after, MOST_AROUND_CHARACTERS)}")
    return "\n".join(lines)


def _head(hit: "Hit") -> list[str]:
    """When, who, and where it stands."""
    place = f"{hit.file}:{hit.line}" if hit.file else ""
    if hit.kind == "note":
        return [time_text(hit.at), "note", f"/memories/{hit.id}:{hit.line}"]
    named = f"{hit.kind} {hit.id}"
    conversation = f"conversation {hit.conversation}" if hit.conversation else ""
    return [time_text(hit.at), "" if hit.kind == "record" else hit.author, hit.source, named, conversation, place]


def stretch(hit: "Hit") -> str:
    """All of its text, or the part around its snippet."""
    if len(hit.text) <= MOST_HIT_CHARACTERS:
        return _first(hit.text, MOST_HIT_CHARACTERS)
    words = hit.snippet.strip(_CUT).split()
    found = re.search(r"\s+".join(map(re.escape, words)), hit.text) if words else None
    start = max(0, (found.start() + found.end() - MOST_HIT_CHARACTERS) // 2) if found else 0
    # From before the part on: a credential that begins there would not be recognised from its middle.
    before = max(0, start - MARGIN_CHARACTERS)
    lead = len(redaction.mask(clean(hit.text[before:start])))
    masked = redaction.mask(clean(hit.text[before : start + MOST_HIT_CHARACTERS + MARGIN_CHARACTERS]))
    part = masked[lead : lead + MOST_HIT_CHARACTERS].strip()
    return f"{_CUT if start else ''}{part}{_CUT if start + MOST_HIT_CHARACTERS < len(hit.text) else ''}"


def time_text(at: str) -> str:
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""


def _moment(moment: datetime) -> str:
    return time_text(to_text(moment))


# A query


def table_text(columns: Sequence[str], rows: "Sequence[Row]") -> str:
    names = [one_line(name) for name in columns]
    if not rows:
        return f"No rows. The columns are: {', '.join(names)}."
    if len(rows) == 1:
        return _record_text(names, rows[0])
    shown = rows[:MOST_ROWS]
    most = MOST_TOKENS * tokens.BYTES_PER_TOKEN // (len(shown) * max(len(columns), 1))
    most = min(max(most, LEAST_CELL_CHARACTERS), MOST_CELL_CHARACTERS)
    lines, used = [" | ".join(names)], 0
    for row in shown:
        cells = [" ".join(_cell(name, value, most).split()) for name, value in zip(names, row, strict=True)]
        line = " | ".join(cells)
        used += tokens.estimate(line) + 1
        if used > MOST_TOKENS and len(lines) > 1:
            break
        lines.append(line)
    left = len(rows) - len(lines) + 1
    if left:
        lines.append(
            f"[{_CUT} {left:,} of the {amount_text(len(rows), 'row')} that were read left out: LIMIT, OFFSET and "
            "fewer columns show them.]"
        )
    return bounded("\n".join(lines), MOST_TOKENS + MOST_ERROR_TOKENS, _NARROWER)


def _record_text(names: Sequence[str], row: "Row") -> str:
    """One row: a line for each column, and its line ends as they are."""
    lines = [
        f"{name}: {_cell(name, value, MOST_CELL_CHARACTERS)}".replace("\n", "\n  ")
        for name, value in zip(names, row, strict=True)
    ]
    return bounded("\n".join(lines), MOST_TOKENS, _NARROWER)


def _cell(name: str, value: object, most: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return f"({amount_text(len(value), 'byte')})"
    whole = str(value)
    text = str(redaction.mask_json(clean(whole[: most + MARGIN_CHARACTERS]), name=name))
    return text if len(text) <= most else f"{text[:most].rstrip()}{_CUT} ({len(whole):,} characters)"


# The status


def status_text(updated: "Updated", updates: Mapping[str, object]) -> str:
    parts = [f"{status_line(updates)}."]
    if updated.masked:
        parts.append(f"Credentials were masked in {amount_text(updated.masked, 'field')}.")
    if updated.problem:
        aside = f" It lies in {updated.aside} now." if updated.aside else ""
        parts.append(f"What stood there before was no status, and the last good one was gone on from.{aside}")
    names = ", ".join(updated.board.fields) or "none"
    return bounded(f"{' '.join(parts)} The fields are now: {names}.", MOST_ERROR_TOKENS, "the board has them all.")


def status_line(updates: Mapping[str, object]) -> str:
    removed = [name for name, value in updates.items() if value is None]
    chosen = [name for name, value in updates.items() if value is not None]
    parts = [f"set {', '.join(chosen)}"] * bool(chosen) + [f"removed {', '.join(removed)}"] * bool(removed)
    return one_line("; ".join(parts))
