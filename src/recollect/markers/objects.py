"""Where a JSON object ends, found out as its text comes in.

It gives up at the first character that no object could have there. A line that begins with another marker is such a
place, as no string goes over a line's end and no value is called REMEMBER. So one unclosed brace never swallows the
markers after it, and no text is looked at more than twice.
"""

import re
from enum import Enum, auto

MOST_CHARACTERS = 32_768
"""A marker is a few sentences. What is longer is held back no further."""
MOST_DEPTH = 32

_SPACE = re.compile(r"[ \t\r\n]*")
_IN_STRING = re.compile(r'(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*')
MOST_WORD_CHARACTERS = 400
_WORD = re.compile(rf"[-+.0-9A-Za-z]{{1,{MOST_WORD_CHARACTERS}}}")
"""A number, true, false or null. Whether it is one, the decoder says."""


class Progress(Enum):
    MORE = auto()
    """So far it could be an object."""
    CLOSED = auto()
    BROKEN = auto()
    TOO_LONG = auto()


class _Next(Enum):
    """What may come next."""

    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    FIRST_VALUE = auto()
    VALUE = auto()
    COMMA = auto()


_STRING_LEADS_TO = {
    _Next.FIRST_KEY: _Next.COLON,
    _Next.KEY: _Next.COLON,
    _Next.VALUE: _Next.COMMA,
    _Next.FIRST_VALUE: _Next.COMMA,
}
_VALUES = (_Next.VALUE, _Next.FIRST_VALUE)


class ObjectScan:
    """One object. Call `go_on` with the text from its brace on, again when there is more of it."""

    def __init__(self) -> None:
        self.end = 0
        """So many characters have been looked at; when it is closed, so many it has."""
        self._open: list[str] = []
        self._next = _Next.VALUE
        self._is_in_string = False

    def go_on(self, text: str, start: int) -> Progress:
        """`text[start]` is the object's brace, each time."""
        limit = min(len(text), start + MOST_CHARACTERS)
        progress = Progress.MORE
        while progress is Progress.MORE:
            before = self.end
            progress = self._step(text, start + self.end, limit, start)
            if progress is Progress.MORE and self.end == before:
                return Progress.TOO_LONG if limit == start + MOST_CHARACTERS else Progress.MORE
        return progress

    def _step(self, text: str, at: int, limit: int, start: int) -> Progress:
        """One token further, or as far as there is text."""
        passed = (_IN_STRING if self._is_in_string else _SPACE).match(text, at, limit)
        at = passed.end() if passed else at
        self.end = at - start
        if at == limit:
            return Progress.MORE
        character = text[at]
        if self._is_in_string:
            if character == "\\":  # Cut behind it, or before a control character.
                return Progress.MORE if at + 1 == limit else Progress.BROKEN
            self._is_in_string = False
            self.end += 1
            return Progress.MORE if character == '"' else Progress.BROKEN
        if character == '"':
            leads_to = _STRING_LEADS_TO.get(self._next)
            if leads_to is None:
                return Progress.BROKEN
            self._next, self._is_in_string = leads_to, True
            self.end += 1
            return Progress.MORE
        if character in "{}[],:":
            self.end += 1
            return self._punctuation(character)
        return self._word(text, at, limit)

    def _word(self, text: str, at: int, limit: int) -> Progress:
        found = _WORD.match(text, at, limit)
        if found is None or self._next not in _VALUES:
            return Progress.BROKEN
        if found.end() == limit and found.end() - at < MOST_WORD_CHARACTERS:
            return Progress.MORE
        self.end += found.end() - at
        self._next = _Next.COMMA
        return Progress.MORE

    def _punctuation(self, character: str) -> Progress:
        inside = self._open[-1] if self._open else ""
        if character in "{[" and self._next in _VALUES and len(self._open) < MOST_DEPTH:
            self._open.append(character)
            self._next = _Next.FIRST_KEY if character == "{" else _Next.FIRST_VALUE
        elif character == ":" and self._next is _Next.COLON:
            self._next = _Next.VALUE
        elif character == "," and self._next is _Next.COMMA:
            self._next = _Next.KEY if inside == "{" else _Next.VALUE
        elif (character == "}" and inside == "{" and self._next in (_Next.FIRST_KEY, _Next.COMMA)) or (
            character == "]" and inside == "[" and self._next in (_Next.FIRST_VALUE, _Next.COMMA)
        ):
            self._open.pop()
            self._next = _Next.COMMA
        else:
            return Progress.BROKEN
        return Progress.MORE if self._open else Progress.CLOSED
