"""Reading a file line by line from a byte offset, in bounded memory, whatever its size and the length of its lines.

Lines end with the byte `\\n` and nothing else: U+2028, a lone `\\r` and the like are content. A line that has not
ended yet is given last, marked, because a writer may be in the middle of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from recollect.errors import Unreadable

__all__ = ["Line", "Unreadable", "read_blocks"]

BLOCK_BYTES = 4 << 20
"""Read and stored together: one transaction."""
BLOCK_LINES = 20_000
"""At the most: millions of empty lines would fill the memory. Real blocks have some thousands."""
MAX_LINE_BYTES = 32 << 20
"""A longer line is not parsed; it is kept in fragments of this size."""


@dataclass(slots=True)
class Line:
    start: int
    raw: bytes
    number: int
    """Counted from 1, as editors do."""
    ended: bool = True
    fragment: bool = False
    """A part of a line that is too long to be parsed."""
    forgotten: bool = False
    """A record out of the vault, of which there is no more than a remnant."""


def read_blocks(file: BinaryIO, start: int, newlines: int) -> Iterator[list[Line]]:
    """The lines from byte `start` on, which has `newlines` line ends before it, block by block."""
    file.seek(start)
    rest = b""
    position = start
    number = newlines + 1
    in_fragment = False
    while True:
        block = file.read(BLOCK_BYTES)
        lines: list[Line] = []
        pieces = (rest + block).split(b"\n") if rest else block.split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            lines.append(Line(position, piece, number, fragment=in_fragment))
            in_fragment = False
            position += len(piece) + 1
            number += 1
            if len(lines) == BLOCK_LINES:
                yield lines
                lines = []
        if len(rest) > MAX_LINE_BYTES:
            lines.append(Line(position, rest, number, ended=False, fragment=True))
            position += len(rest)
            rest = b""
            in_fragment = True
        if not block:
            if rest:
                lines.append(Line(position, rest, number, ended=False, fragment=in_fragment))
            if lines:
                yield lines
            return
        if lines:
            yield lines
