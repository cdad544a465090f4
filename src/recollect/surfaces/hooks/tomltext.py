"""TOML as text: tables more or less, and every other byte as it was.

What is added stands in one piece at the end. Where it was changed since, its lines are cut out: from its header to its
last key, so that a comment behind it stays for what follows. Only where a file writes tables inside of others on one
line, tomlkit does it. Each change is read again before it counts: it must say what was said before, and what is ours
besides or no more, and no comment of others may be lost.
"""

import copy
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any, TypeAlias, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Table

from recollect.errors import Invalid
from recollect.surfaces.hooks.tomllines import Names, comments, statements

NOT_ADDED = "its tables are written in a way that nothing can be added to"
Tables: TypeAlias = dict[Names, dict[str, Any]]
"""What is ours: each table with its values."""


def with_tables(text: str, tables: Tables) -> str:
    """The text with these tables, none of which is there."""
    wanted = _joined(tomllib.loads(text), tables)
    appended = text + piece_for(text, tables)
    if _reads_as(appended, wanted):
        return appended

    def add(document: Any) -> None:
        for names, values in tables.items():
            _put(document, names, values)

    changed = _rewritten(text, add)
    if changed is None or not _reads_as(changed, wanted):
        raise Invalid(NOT_ADDED)
    return changed


def without_tables(text: str, names: Sequence[Names], piece: str = "") -> str:
    """The text without these tables. `piece`: what was added once, to be cut out as it is if it still stands there."""
    left = tomllib.loads(text)
    for name in names:
        _drop(left, name)
    if piece and text.count(piece) == 1 and _reads_as(cut := text.replace(piece, ""), left, names):
        return cut
    cut = _without_lines(text, names)
    if _reads_as(cut, left, names):
        return cut

    def drop(document: Any) -> None:
        for name in names:
            _drop(document, name)

    changed = _rewritten(cut, drop)
    if changed is None or not _reads_as(changed, left, names):
        raise Invalid(f"[{'.'.join(names[0])}] cannot be taken out of it without a change of the rest")
    return changed


def with_other_names(text: str, above: Names, moves: Mapping[str, str]) -> str:
    """The text with other names for tables below one; where they are written so that it cannot be done in their place,
    as it was."""
    wanted = tomllib.loads(text)
    tables = table_at(wanted, above) or {}
    if not any(name in tables for name in moves):
        return text
    renamed = {moves.get(name, name): value for name, value in tables.items()}
    if len(renamed) != len(tables):
        return text
    tables.clear()
    tables.update(renamed)
    quoted = "|".join(re.escape(name) for name in sorted(moves, key=len, reverse=True))
    changed = re.sub(rf"(?<=[\"'])(?:{quoted})(?=[\"'])", lambda found: moves[found[0]], text)
    return changed if _reads_as(changed, wanted) else text


def _without_lines(text: str, names: Sequence[Names]) -> str:
    """Without the lines of these tables and of those below them, and the empty line above each."""
    cuts: list[tuple[int, int]] = []
    start = -1
    for one in statements(text):
        is_ours = any(one.names[: len(name)] == name for name in names)
        if not is_ours:
            start = -1
        elif one.is_header or start < 0:
            start = _empty_line_above(text, one.start) if one.is_header else one.start
            cuts.append((start, one.end))
        else:
            cuts[-1] = (start, one.end)
    for start, end in reversed(cuts):
        text = text[:start] + text[end:]
    return text


def _empty_line_above(text: str, start: int) -> int:
    """Where it begins; `start` where there is none."""
    for end in ("\r\n", "\n"):
        if text[:start].endswith(end) and text[: start - len(end)].endswith("\n"):
            return start - len(end)
    return start


def _rewritten(text: str, change: Callable[[Any], None]) -> str | None:
    """By tomlkit. None: it cannot, or not without losing a comment."""
    try:
        document = tomlkit.parse(text)
        change(document)
        changed = tomlkit.dumps(document)
    except (TOMLKitError, ValueError):
        return None
    return None if Counter(comments(text)) - Counter(comments(changed)) else changed


def _put(document: Any, names: Names, values: dict[str, Any]) -> None:
    place: Any = document
    for name in names[:-1]:
        if name not in place:
            is_inline = isinstance(place, InlineTable)
            place[name] = tomlkit.inline_table() if is_inline else tomlkit.table(is_super_table=True)
        place = place[name]
    place[names[-1]] = values


def table_at(values: Mapping[str, Any], names: Names) -> dict[str, Any] | None:
    place: Any = values
    for name in names:
        if not isinstance(place, dict) or name not in place:
            return None
        place = cast(dict[str, Any], place)[name]
    return cast(dict[str, Any], place) if isinstance(place, dict) else None


def piece_for(text: str, tables: Tables) -> str:
    """What is written at the end of this text."""
    blocks = [_table(names, values) for names, values in tables.items()]
    before = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return (before + "\n".join(blocks)).replace("\n", "\r\n" if "\r\n" in text else "\n")


def _table(names: Names, values: dict[str, Any]) -> str:
    header = ".".join(tomlkit.key(name).as_string() for name in names)
    lines = [f"{tomlkit.key(name).as_string()} = {_value(value)}" for name, value in values.items()]
    return "\n".join([f"[{header}]", *lines]) + "\n"


def _value(value: Any) -> str:
    """On one line."""
    if isinstance(value, bool):
        return str(value).lower()
    made: Any = tomlkit.inline_table()
    made["it"] = value
    if isinstance(value, dict):
        made = tomlkit.inline_table()
        made.update(cast(dict[str, Any], value))
        return made.as_string()
    return made["it"].as_string()


def _joined(values: dict[str, Any], tables: Tables) -> dict[str, Any]:
    joined = copy.deepcopy(values)
    for names, own in tables.items():
        place = joined
        for name in names[:-1]:
            below: Any = place.setdefault(name, {})
            if not isinstance(below, dict):
                raise Invalid(f"{name} in it is no table")
            place = cast(dict[str, Any], below)
        place[names[-1]] = own
    return joined


def _drop(values: MutableMapping[str, Any], names: Names) -> None:
    """A table; and with tomlkit those above it that only its own name made."""
    if table_at(values, names) is None:
        return
    above: list[Any] = [values]
    for name in names[:-1]:
        above.append(above[-1][name])
    del above[-1][names[-1]]
    for place, name in zip(reversed(above[:-1]), reversed(names[:-1]), strict=True):
        if not place[name] and isinstance(place[name], Table) and place[name].is_super_table():
            del place[name]


def _reads_as(text: str, wanted: Mapping[str, Any], dropped: Sequence[Names] = ()) -> bool:
    """Whether the text says this. Where tables were dropped, an empty one above them is as good as none."""
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    empty = {names[:length] for names in dropped for length in range(1, len(names))}
    return _told(found, empty) == _told(wanted, empty)


def _told(value: Any, empty: Collection[Names], names: Names = ()) -> str:
    """The same for the same values, those included that are not equal to themselves."""
    if not isinstance(value, dict):
        return repr(value)
    inside = cast(dict[str, Any], value)
    told = {name: _told(part, empty, (*names, name)) for name, part in inside.items()}
    kept = {name: words for name, words in told.items() if words != "{}" or (*names, name) not in empty}
    return repr(dict(sorted(kept.items())))
