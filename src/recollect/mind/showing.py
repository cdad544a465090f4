"""What people see of an answer as it streams in: its words without markers, and a ◆ where something was kept.

Pure. What is shown piece by piece is, put together with `rendered`, what `shown_text` makes of the whole answer,
however it was split. Each text block is read for itself, as history reads it; blocks stand apart by an empty line.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from recollect.llm.talking import Piece, TextPiece
from recollect.markers import MARK, Reader, marked, read
from recollect.markers import Piece as Part
from recollect.mind.channel import KeptMark, Words

Visible: TypeAlias = Words | KeptMark

BETWEEN_BLOCKS = "\n\n"
_FENCE_CHARACTERS = "`~"


def shown_text(texts: Sequence[str]) -> str:
    """All text blocks of an answer, before, between and behind its tool calls, as people read them."""
    return marked(read(*texts))


def rendered(shown: Iterable[Visible]) -> str:
    """The text of what was shown."""
    return "".join(one.text if isinstance(one, Words) else MARK for one in shown)


class Showing:
    """One turn, which may have several answers of the model: `feed` it each piece, and `finish` after each answer."""

    def __init__(self) -> None:
        self._reader: Reader | None = None
        """Of the text block that is open."""
        self._held_marks = 0
        """That stand before the first words of the block. Where nothing follows they go behind what was said before."""
        self._has_words = False
        self._has_words_in_block = False
        self._line: list[str] = []
        """What was shown of the last line."""
        self._is_behind_mark = False
        """Nothing was shown since the last ◆."""
        self._needs_space = False
        """That ◆ stands at the start of its line: what follows in it is set apart."""
        self._shown: list[Visible] = []

    def feed(self, piece: Piece) -> list[Visible]:
        """What can be shown by now. Anything but text ends the text block."""
        if not isinstance(piece, TextPiece):
            return self.finish()
        self._reader = self._reader or Reader()
        self._add(self._reader.feed(piece.text))
        return self._taken()

    def finish(self) -> list[Visible]:
        """The rest of the text block: it is complete, or nothing more comes."""
        if self._reader:
            self._add(self._reader.finish())
        self._reader = None
        self._put_marks()
        self._has_words_in_block = False
        return self._taken()

    def _add(self, pieces: Sequence[Part]) -> None:
        for piece in pieces:
            if piece.text:
                self._put_words(piece.text)
            if piece.marker:
                self._held_marks += 1
                if self._has_words_in_block:
                    self._put_marks()

    def _put_words(self, text: str) -> None:
        if not self._has_words_in_block:
            self._has_words_in_block = True
            if self._has_words:
                self._show(BETWEEN_BLOCKS)
            self._put_marks()
        if self._needs_space and text[0].strip():
            self._shown.append(Words(text=" "))
        self._show(text)

    def _show(self, text: str) -> None:
        self._shown.append(Words(text=text))
        _, newline, rest = text.rpartition("\n")
        if newline:
            self._line = []
        self._line.append(rest)
        self._has_words, self._is_behind_mark, self._needs_space = True, False, False

    def _put_marks(self) -> None:
        """As `markers.marked` puts them: apart from the words before, and not behind a fence, which would not close."""
        if not self._held_marks:
            return
        if not self._is_behind_mark:
            line = "".join(self._line).strip()
            if line:
                self._shown.append(Words(text=" " if line.strip(_FENCE_CHARACTERS) else "\n"))
            self._is_behind_mark, self._needs_space = True, not line
        self._shown += [KeptMark()] * self._held_marks
        self._held_marks = 0

    def _taken(self) -> list[Visible]:
        taken, self._shown = self._shown, []
        return taken
