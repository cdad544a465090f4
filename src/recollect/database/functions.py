"""The functions of SQLite that a stranger's SELECT may use.

SQLite cannot be stopped inside a function. Most take as long as their texts are. A few take the product of two lengths:
those have a bounded one of ours in their place, or are refused with all that have no use in a question and those that
keep every value they see (median). LIKE and GLOB stay SQLite's own, but look at the clock first: a hundred of them may
stand in one row.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# apsw's own types leave values unknown.

from collections.abc import Callable
from typing import Any

import apsw

from recollect.errors import Invalid

MOST_PATTERN_BYTES = 500
"""Of LIKE and GLOB, which compare the whole pattern at each place."""
MOST_TRIMMED = 1_000
"""Different characters that may be trimmed."""

_USEFUL = """
-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count
cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format
glob group_concat hex if ifnull iif instr json json_array json_array_length json_error_position json_extract
json_group_array json_group_object json_insert json_object json_pretty json_quote json_remove json_replace json_set
json_type json_valid julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max
min mod nth_value ntile nullif octet_length percent_rank pi pow
power printf quote radians random rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg substr
substring sum tan tanh time timediff total trim trunc typeof unicode unixepoch unlikely upper
"""
ALLOWED_FUNCTIONS = frozenset(_USEFUL.split())


def add_bounded_functions(connection: apsw.Connection, is_late: Callable[[], bool]) -> None:
    """In the place of SQLite's own, with the same answers."""

    def add(name: str, function: Callable[..., Any], arguments: int) -> None:
        connection.create_scalar_function(name, function, arguments, deterministic=True)

    add("like", _matching(apsw.strlike, is_late), 2)
    add("like", _matching(apsw.strlike, is_late), 3)
    add("glob", _matching(apsw.strglob, is_late), 2)
    add("instr", _instr, 2)
    add("replace", _replacing(connection.limit(apsw.SQLITE_LIMIT_LENGTH)), 3)
    add("trim", _trimming(str.strip), 2)
    add("ltrim", _trimming(str.lstrip), 2)
    add("rtrim", _trimming(str.rstrip), 2)


def _matching(compare: Callable[..., int], is_late: Callable[[], bool]) -> Callable[..., int | None]:
    def matches(pattern: Any, text: Any, *escape: Any) -> int | None:
        if is_late():
            raise apsw.InterruptError("interrupted")
        if isinstance(pattern, bytes) or isinstance(text, bytes):
            return 0
        if escape == (None,):
            return None
        escapes = [_text(value) for value in escape]
        if any(len(one) != 1 or one in "%_" for one in escapes):
            raise Invalid("ESCAPE takes one character, and neither % nor _.")
        if pattern is None or text is None:
            return None
        sought = _before_nul(_text(pattern))
        if len(sought.encode()) > MOST_PATTERN_BYTES:
            raise Invalid(f"A pattern of LIKE or GLOB has at most {MOST_PATTERN_BYTES} bytes. Look for less.")
        return int(compare(sought, _before_nul(_text(text)), *map(ord, escapes)) == 0)

    return matches


def _before_nul(text: str) -> str:
    """LIKE and GLOB read no further."""
    return text.partition("\0")[0]


def _instr(text: Any, sought: Any) -> int | None:
    if text is None or sought is None:
        return None
    if isinstance(text, bytes) and isinstance(sought, bytes):
        return text.find(sought) + 1
    return _text(text).find(_text(sought)) + 1


def _replacing(most_characters: int) -> Callable[[Any, Any, Any], Any]:
    def replace(text: Any, old: Any, new: Any) -> Any:
        if text is None or old is None:
            return None
        before, sought = _text(text), _text(old)
        if not sought:
            return before
        if new is None:
            return None
        after = _text(new)
        if len(before) + before.count(sought) * (len(after) - len(sought)) > most_characters:
            raise apsw.TooBigError("string or blob too big")
        return before.replace(sought, after)

    return replace


def _trimming(strip: Callable[[str, str], str]) -> Callable[[Any, Any], str | None]:
    def trim(text: Any, characters: Any) -> str | None:
        if text is None or characters is None:
            return None
        different = set(_text(characters))
        if len(different) > MOST_TRIMMED:
            raise Invalid(f"At most {MOST_TRIMMED:,} different characters can be trimmed.")
        return strip(_text(text), "".join(different))

    return trim


def _text(value: Any) -> str:
    """As SQLite writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, int):
        return str(value)
    return str(apsw.Connection(":memory:").execute("SELECT CAST(? AS TEXT)", (value,)).fetchall()[0][0])
