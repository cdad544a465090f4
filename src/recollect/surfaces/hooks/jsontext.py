"""JSON as text: a member more or less, and every other byte as it was.

Somebody's settings are not ours to format. What is added takes the look of what stands around it; taking it away again
leaves the text as it was before.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from recollect.errors import Invalid

Path: TypeAlias = tuple[str | int, ...]
"""From the root: keys of objects and places in arrays."""

_SPACE = re.compile(r"[ \t\n\r]*")
_FIRST_INDENT = re.compile(r"[{\[][ \t]*\r?\n([ \t]+)")
USUAL_INDENT = "  "
MARK = "\ufeff"
"""Some editors begin a file with it."""


def read_json(text: str) -> dict[str, Any]:
    """An object, strictly as JSON has it; else ValueError says what is wrong."""
    try:
        value: Any = json.loads(text.removeprefix(MARK), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    return cast(dict[str, Any], value)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True, slots=True)
class _Child:
    name: str | int
    start: int
    """Where it begins: of a member its key."""
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Container:
    start: int
    end: int
    """Of its closing bracket."""
    children: list[_Child]

    def the(self, name: str | int) -> _Child | None:
        """Of members with the same key the last one counts."""
        return next((child for child in reversed(self.children) if child.name == name), None)


def with_child(text: str, path: Path, name: str | int, value: Any) -> str:
    """The text with one more member, or one more item at the end of an array. `path`: the object or array it goes into,
    which is there."""
    container = _at(text, path)
    words = f"{json.dumps(name, ensure_ascii=False)}: " if isinstance(name, str) else ""
    unit, end = _indent(text), "\r\n" if "\r\n" in text else "\n"
    if container.children:
        last = container.children[-1]
        space = _space_before(text, last.start)
        if "\n" not in space:
            return text[: last.end] + "," + space + _tight(words, value, space) + text[last.end :]
        return text[: last.end] + "," + space + _laid_out(words, value, unit, space, end) + text[last.end :]
    if "\n" not in text.strip() and path:
        return text[: container.start + 1] + _tight(words, value, " ") + text[container.end :]
    outer = end + _line_indent(text, container.start)
    inner = outer + unit
    return (
        text[: container.start + 1] + inner + _laid_out(words, value, unit, inner, end) + outer + text[container.end :]
    )


def with_other(text: str, path: Path, value: Any) -> str:
    """The text with another value in this place, which is there."""
    child = _at(text, path[:-1]).the(path[-1])
    if child is None:
        raise KeyError(path)
    space, end = _space_before(text, child.start), "\r\n" if "\r\n" in text else "\n"
    is_tight = "\n" not in space
    words = _tight("", value, space or " ") if is_tight else _laid_out("", value, _indent(text), space, end)
    return text[: child.value] + words + text[child.end :]


def without_child(text: str, path: Path) -> str:
    """The text without the member or item at this path, which is there."""
    container = _at(text, path[:-1])
    child = container.the(path[-1])
    if child is None:
        raise KeyError(path)
    place = container.children.index(child)
    if len(container.children) == 1:
        return text[: container.start + 1] + text[container.end :]
    if place == 0:
        return text[: child.start] + text[container.children[1].start :]
    return text[: container.children[place - 1].end] + text[child.end :]


def _at(text: str, path: Path) -> _Container:
    found = _container(text, _skip(text, len(MARK) if text.startswith(MARK) else 0))
    for name in path:
        child = found.the(name)
        if child is None or text[child.value] not in "{[":
            raise Invalid(f"{'.'.join(map(str, path))} is not where it was expected.")
        found = _container(text, child.value)
    return found


def _container(text: str, start: int) -> _Container:
    """Only one level is looked at: the decoder passes over what is inside of its values."""
    decode = json.JSONDecoder().raw_decode
    children: list[_Child] = []
    is_object, at = text[start] == "{", _skip(text, start + 1)
    while text[at] not in "}]":
        name: str | int = len(children)
        begin = at
        if is_object:
            name, at = decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = decode(text, at)
        children.append(_Child(name, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return _Container(start, at, children)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _space_before(text: str, at: int) -> str:
    start = at
    while start and text[start - 1] in " \t\n\r":
        start -= 1
    return text[start:at]


def _indent(text: str) -> str:
    found = _FIRST_INDENT.search(text)
    return found[1] if found else USUAL_INDENT


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _tight(words: str, value: Any, space: str) -> str:
    """On one line, with as much space as its neighbours have."""
    if space:
        return words + json.dumps(value, ensure_ascii=False)
    return words.rstrip() + json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _laid_out(words: str, value: Any, unit: str, space: str, end: str) -> str:
    inner = space.rpartition("\n")[2]
    return words + json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", end + inner)
