"""What a terminal shows: enough of one to read what a person would see, with all that scrolled away."""

import codecs
import re
import unicodedata

SEQUENCE = re.compile(r"\x1b(?:\[(?P<given>[?\d;]*)(?P<kind>[a-zA-Z])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>78()].?)")
UNFINISHED = re.compile(r"\x1b(?:\[[?\d;]*|\][^\x07\x1b]*)?$")
"""An escape sequence of which only the beginning has come."""


class Screen:
    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.rows = rows
        self.columns = columns
        self.commands: list[str] = []
        """Escape sequences that it does not know: what should not have come."""
        self._cells: list[list[str]] = [[]]
        self._row = 0
        self._column = 0
        self._wraps = True
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    @property
    def lines(self) -> list[str]:
        """All of them, without white space at their ends and without empty ones at the end."""
        lines = ["".join(cells).rstrip() for cells in self._cells]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, content: bytes) -> None:
        text = self._held + self._decoder.decode(content)
        cut = UNFINISHED.search(text)
        self._held = text[cut.start() :] if cut else ""
        text = text[: cut.start()] if cut else text
        place = 0
        while place < len(text):
            found = SEQUENCE.match(text, place)
            if found:
                self._obey(found["kind"] or "", found["given"] or "", found[0])
                place = found.end()
            else:
                self._put(text[place])
                place += 1

    def _obey(self, kind: str, given: str, sequence: str) -> None:
        number = int(given) if given.isdecimal() else 1
        if kind == "A":
            self._row = max(self._top, self._row - number)
        elif kind == "B":
            self._go_to(self._row + number)
        elif kind == "C":
            self._column = min(self.columns - 1, self._column + number)
        elif kind == "D":
            self._column = max(0, self._column - number)
        elif kind in ("J", "K") and given in ("", "0"):
            del self._cells[self._row][self._column :]
            if kind == "J":
                del self._cells[self._row + 1 :]
        elif given == "?7":
            self._wraps = kind == "h"
        elif kind not in ("m", "h", "l"):
            self.commands.append(sequence)

    @property
    def _top(self) -> int:
        return max(0, len(self._cells) - self.rows)

    def _go_to(self, row: int) -> None:
        while len(self._cells) <= row:
            self._cells.append([])
        self._row = row

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._go_to(self._row + 1)
        elif character == "\b":
            self._column = max(0, self._column - 1)
        elif unicodedata.category(character) == "Cc":
            self.commands.append(character)
        else:
            self._write(character)

    def _write(self, character: str) -> None:
        cells = self._cells[self._row]
        if unicodedata.category(character) in ("Mn", "Me", "Cf"):
            if self._column and len(cells) >= self._column:
                cells[self._column - 1] += character
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self._column + width > self.columns:
            if self._wraps:
                self._go_to(self._row + 1)
                self._column, cells = 0, self._cells[self._row]
            else:
                self._column = self.columns - width
        cells += [" "] * (self._column + width - len(cells))
        cells[self._column : self._column + width] = [character, *[""] * (width - 1)]
        self._column += width
