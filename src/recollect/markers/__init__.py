"""Markers: `[REMEMBER] {json}` in what an assistant says, and the text without them.

Pure rules. A marker stands at the start of a line of its own accord, as a heading does: no paragraph, quote or inline
code before it reaches over it. One inside code or a quote, in the middle of a line, or in what Recollect told an agent,
is talk about markers; it stays in the text and is reported, as is one whose object cannot be read. Text in one piece
and text that streams in are read by the same code, so that they cannot differ.
"""

from recollect.markers.own import EXAMPLE, OWN_TEXT
from recollect.markers.payload import CATEGORIES, Payload
from recollect.markers.reader import MARK, Marker, Piece, Reader, Reading, Status, marked, read

__all__ = [
    "CATEGORIES",
    "EXAMPLE",
    "MARK",
    "OWN_TEXT",
    "Marker",
    "Payload",
    "Piece",
    "Reader",
    "Reading",
    "Status",
    "marked",
    "read",
]
