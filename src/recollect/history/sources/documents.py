"""Walking through a JSON document of any size without having all of it in memory.

Exports are one document of hundreds of megabytes: an array of conversations, or an object with an array of messages.
`walk` goes down into the containers it is told to and gives everything below them value by value, in the order of the
document. Memory holds the largest single value.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec

from recollect.errors import Unreadable

Path = tuple[str | int, ...]
"""How deep a value lies: names of fields, and places in arrays counted from 0."""

BLOCK_BYTES = 1 << 20
MAX_VALUE_CHARACTERS = 256 << 20
"""A single value above this is not read: no conversation is so long, but a crafted file may be."""

_raw_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(strict=False).raw_decode
_SPACE = re.compile(r"[\s\x00\ufeff]*")
_NEXT_ELEMENT = re.compile(r"[,\]}][\s\x00]*(?=\{)")


class _EndedError(Exception):
    """The text ends where more is needed."""


class BrokenDocument(Unreadable):
    """The rest of a document cannot be read."""


def line_of(value: object) -> bytes:
    """One record as a line of JSON; the same value always gives the same bytes."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError, TypeError, ValueError, RecursionError):
        try:
            return json.dumps(value).encode()
        except (ValueError, RecursionError):
            return b'{"unreadable": "nested too deeply, or a number with too many digits"}'


def walk(
    file: BinaryIO,
    enter: Callable[[Path], bool],
    is_element: Callable[[dict[str, Any]], bool] = lambda _: False,
    on_damage: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Path, Any]]:
    """Every value below the containers that `enter` lets in, the outermost being `()`.

    After damage inside an array the walk goes on with the next object that `is_element` knows, and `on_damage` hears
    of it. Raises BrokenDocument when nothing more can be read.
    """
    yield from _Walk(file, enter, is_element, on_damage).run()


class _Walk:
    def __init__(
        self,
        file: BinaryIO,
        enter: Callable[[Path], bool],
        is_element: Callable[[dict[str, Any]], bool],
        on_damage: Callable[[str], None],
    ) -> None:
        self._file = file
        self._enter = enter
        self._is_element = is_element
        self._on_damage = on_damage
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._at: int = 0
        self._dropped = 0
        """Characters before the text in memory."""
        self._is_at_end = False

    def run(self) -> Iterator[tuple[Path, Any]]:
        try:
            yield from self._value(())
        except _EndedError:
            raise BrokenDocument(f"it ends in the middle, after {self._place():,} characters") from None
        except RecursionError:
            raise BrokenDocument(f"it is nested too deeply at character {self._place():,}") from None

    def _value(self, path: Path) -> Iterator[tuple[Path, Any]]:
        opening = self._peek()
        if opening in "{[" and self._enter(path):
            self._at += 1
            yield from self._object(path) if opening == "{" else self._array(path)
        else:
            value = self._leaf()
            if path and isinstance(value, int | float) and self._peek() not in ",]}":
                raise self._broken("a number without an end")
            yield path, value

    def _object(self, path: Path) -> Iterator[tuple[Path, Any]]:
        if self._skip("}"):
            return
        while True:
            name = self._leaf()
            if not isinstance(name, str) or not self._skip(":"):
                raise self._broken("a field without a name")
            yield from self._value((*path, name))
            if self._skip("}"):
                return
            if not self._skip(","):
                raise self._broken("no comma between two fields")

    def _array(self, path: Path) -> Iterator[tuple[Path, Any]]:
        if self._skip("]"):
            return
        number = 0
        while True:
            start = self._place()
            try:
                yield from self._value((*path, number))
                if self._skip("]"):
                    return
                if not self._skip(","):
                    raise self._broken("no comma between two elements")
            except BrokenDocument as damage:
                self._at = max(0, start - self._dropped)
                if not self._find_next():
                    raise
                self._on_damage(f"{damage}; went on at character {self._place():,}")
            number += 1

    def _find_next(self) -> bool:
        """Go to the next whole element after damage."""
        while True:
            match = _NEXT_ELEMENT.search(self._text, self._at)
            if match is None:
                if self._is_at_end:
                    return False
                self._at = max(self._at, len(self._text) - 64)
                self._read_more()
                continue
            self._at = match.end()
            place = self._place()
            try:
                value = self._decoded()
            except (_EndedError, BrokenDocument, RecursionError):
                self._at = place - self._dropped
                continue
            self._at = place - self._dropped
            if isinstance(value, dict) and self._is_element(value):  # pyright: ignore[reportUnknownArgumentType]
                return True

    def _leaf(self) -> Any:
        self._peek()
        return self._decoded()

    def _decoded(self) -> Any:
        """The value that begins here, reading on in steps that double, so that a long one is not tried too often."""
        step = BLOCK_BYTES
        while True:
            try:
                value, end = _raw_decode(self._text, self._at)
                if end < len(self._text) - 2 or self._is_at_end:  # `1.5e-7` may be cut after `1`, `1.5` or `1.5e-`
                    break
            except json.JSONDecodeError as error:
                if self._is_at_end:
                    raise self._end_or_damage(error) from None
                if error.pos < len(self._text) - 16 and not error.msg.startswith("Unterminated string"):
                    raise self._broken(error.msg) from None
            except (ValueError, RecursionError) as error:
                reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
                raise self._broken(reason) from None
            if len(self._text) - self._at > MAX_VALUE_CHARACTERS:
                raise self._broken("a single value is too long")
            self._read_more(step)
            step *= 2
        self._at = end
        return value

    def _end_or_damage(self, error: json.JSONDecodeError) -> Exception:
        is_cut = error.pos >= len(self._text.rstrip()) or error.msg.startswith("Unterminated string")
        return _EndedError() if is_cut else self._broken(error.msg)

    def _peek(self) -> str:
        """The next character that is not white space."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._is_at_end:
                raise _EndedError
            self._read_more()

    def _skip(self, wanted: str) -> bool:
        if self._peek() != wanted:
            return False
        self._at += 1
        return True

    def _read_more(self, size: int = BLOCK_BYTES) -> None:
        block = self._file.read(size)
        self._is_at_end = not block
        more = self._decode(block, final=not block)
        if self._at > BLOCK_BYTES:
            self._dropped += self._at
            self._text = self._text[self._at :]
            self._at = 0
        self._text += more

    def _place(self) -> int:
        return self._dropped + self._at

    def _broken(self, reason: str) -> BrokenDocument:
        return BrokenDocument(f"it is damaged at character {self._place():,}: {reason}")
