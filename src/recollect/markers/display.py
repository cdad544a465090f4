"""The text as it is shown: without markers, and without the empty lines they would leave behind."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.markers.reader import Marker

_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Text to show, or a marker that stood here: where a ◆ goes."""

    text: str = ""
    marker: "Marker | None" = None


class Display:
    """Text goes in, pieces come out. Only blank text is held back: a marker after it decides what becomes of it."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._gap: list[str] = []
        """Blank text behind the last that was shown."""
        self._after: list[str] | None = None
        """The part of the gap behind a marker that had its line for itself. None: no marker stands in this gap."""
        self._has_empty_line = True
        """The gap before the marker does, or nothing stands before it."""
        self._is_empty = True

    def add(self, text: str) -> None:
        body = text.strip(_BLANK)
        if not body:
            self._add_blank(text)
            return
        start = text.index(body)
        self._add_blank(text[:start])
        self._flush(body)
        self._add_blank(text[start + len(body) :])

    def mark_alone(self, marker: "Marker") -> None:
        """It had its line for itself, which is gone with it. The ◆ stands behind what came before."""
        if self._after is None:
            self._has_empty_line = self._is_empty or sum(text.count("\n") for text in self._gap) > 1
        self._close()
        self._after = []
        self._pieces.append(Piece(marker=marker))

    def mark_inline(self, marker: "Marker") -> None:
        """Text follows on its line; the ◆ stands before it."""
        self._flush("")
        self._pieces.append(Piece(marker=marker))

    def take(self) -> list[Piece]:
        """What can be shown by now."""
        taken, self._pieces = self._pieces, []
        return taken

    def finish(self) -> None:
        """Blank text at the end is shown, unless a marker stood in it."""
        if self._after is None:
            self._flush("")

    def _add_blank(self, text: str) -> None:
        if text:
            (self._gap if self._after is None else self._after).append(text)

    def _close(self) -> None:
        """Empty lines around a marker become one, or none where there is one before it."""
        if self._after is None:
            return
        after = "".join(self._after)
        first, newline, _ = after.partition("\n")
        if newline and not self._has_empty_line:
            self._gap.append(first + newline)
            self._has_empty_line = True
        self._gap.append(after.rpartition("\n")[2])
        self._after = None

    def _flush(self, text: str) -> None:
        self._close()
        shown = "".join(self._gap) + text
        self._gap = []
        if shown:
            self._pieces.append(Piece(text=shown))
            self._is_empty = False
