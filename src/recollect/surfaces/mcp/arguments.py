"""What a tool was given, read with care: whatever a model can get wrong is Invalid, with what would be right. Pure.

Clients may leave out what the schema says or send something else; only what is read here reaches the house.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from recollect.errors import Invalid
from recollect.texts import clean

MOST_CHARACTERS = 200_000
"""Of any text. A whole page of notes has room."""
MOST_NAME_CHARACTERS = 1_000
"""Of an id or a path."""
MOST_DEPTH = 20
"""Of an object in an object."""

_WHOLE = re.compile(r"-?[0-9]{1,18}")

Given = Mapping[str, Any]


class Arguments:
    def __init__(self, tool: str, given: Given, known: Collection[str]) -> None:
        self._tool = tool
        self._known = known
        self._given = {name: value for name, value in given.items() if value is not None}
        unknown = sorted(str(name)[:50] for name in given if name not in known)
        if unknown:
            raise Invalid(f"{tool} has no {', '.join(map(repr, unknown[:3]))}. It has: {', '.join(known)}.")

    def has(self, name: str) -> bool:
        """Whether it can be given here."""
        return name in self._known

    def text(self, name: str, default: str | None = None, most: int = MOST_CHARACTERS) -> str:
        """Not empty, unless there is a default."""
        value = self._given.get(name, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            kind = "" if isinstance(value, str) else self._kind(name)
            raise Invalid(f"{self._tool} needs `{name}`, a text that is not empty{kind}.")
        if len(value) > most:
            raise Invalid(f"`{name}` of {self._tool} has {len(value):,} characters; {most:,} at most.")
        return clean(value)

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self._given.get(name, default)
        if not isinstance(value, str) or value not in choices:
            shown = f", not {value[:50]!r}" if isinstance(value, str) else self._kind(name)
            raise Invalid(f"`{name}` of {self._tool} is one of {', '.join(choices)}{shown}.")
        return value

    def number(self, name: str, least: int, most: int, default: int) -> int:
        value = whole(self._given.get(name, default))
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Invalid(f"`{name}` of {self._tool} is a whole number from {least:,} to {most:,}.")
        return value

    def flag(self, name: str) -> bool:
        value = self._given.get(name, False)
        if not isinstance(value, bool):
            raise Invalid(f"`{name}` of {self._tool} is true or false{self._kind(name)}.")
        return value

    def texts(self, name: str) -> list[str]:
        value = self._given.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
            raise Invalid(f"`{name}` of {self._tool} is a list of texts{self._kind(name)}.")
        return [clean(one) for one in cast("list[str]", value)]

    def mapping(self, name: str) -> dict[str, Any]:
        value = self._given.get(name)
        if not isinstance(value, dict) or not value:
            raise Invalid(f'{self._tool} needs `{name}`, an object with at least one field: {{"mood": "content"}}.')
        return {clean(key): cleaned(one) for key, one in cast("dict[str, object]", value).items()}

    def given(self) -> dict[str, Any]:
        """What was given at all."""
        return {name: cleaned(value) for name, value in self._given.items()}

    def _kind(self, name: str) -> str:
        return f", not {type(self._given[name]).__name__}" if name in self._given else ""


def whole(value: object) -> object:
    """The whole number that was meant: some clients send 10.0, some "10"."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value


def cleaned(value: object, depth: int = 0) -> object:
    """Texts that every store can hold, wherever they stand in it."""
    if depth > MOST_DEPTH:
        raise Invalid(f"An object holds at most {MOST_DEPTH} others inside each other.")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(one, depth + 1) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {clean(str(key)): cleaned(one, depth + 1) for key, one in cast("dict[object, object]", value).items()}
    return value
