"""Finding markers in text, whole or as it streams in."""

import re
import sys
from dataclasses import dataclass, replace
from enum import StrEnum

from recollect.markers.display import Display, Piece
from recollect.markers.objects import MOST_CHARACTERS, ObjectScan, Progress
from recollect.markers.own import EXAMPLE_SAYS, OWN_TEXT
from recollect.markers.payload import Malformed, Payload, payload_of

KEYWORD = "[REMEMBER]"
MARK = "◆"
MOST_INDENT = 3
"""A line with more before it is code."""
MOST_SPACE = 100
"""Between the keyword and its object."""

_START = re.compile(rf" {{0,{MOST_INDENT}}}{re.escape(KEYWORD)}")
_SPACE = re.compile(r"[ \t\r]*")
_MENTION = re.compile(rf"{re.escape(KEYWORD)}[*_`:]*[ \t]*\{{")
_QUOTE = re.compile(r" {0,3}>")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_FENCE = re.compile(r"(?P<lead> {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)

_OPENING, _CLOSING = f"<{OWN_TEXT}>", f"</{OWN_TEXT}>"

_PROBLEMS = {
    Progress.MORE: "the text ends inside its object",
    Progress.BROKEN: "invalid JSON",
    Progress.TOO_LONG: f"an object of more than {MOST_CHARACTERS:,} characters",
}
IN_CODE = "in code"
IN_QUOTE = "in a quote"
IN_LINE = "not at the start of a line"
IN_OWN = "in what Recollect told"
OUR_EXAMPLE = "the example that Recollect gave"


class Status(StrEnum):
    KEPT = "kept"
    MALFORMED = "malformed"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    start: int
    """In the text as it was given: the keyword's bracket."""
    end: int
    """Behind its object; behind its line, where no object could be read."""
    status: Status
    payload: Payload | None = None
    """Of a kept one."""
    problem: str = ""
    """What is to be reported. A kept one may have a problem too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    text: str
    """As it was given, its blocks joined."""
    display: str
    """The text without the markers that were kept."""
    marks: tuple[int, ...]
    """Where in it a ◆ goes, one for each marker that was kept."""
    markers: tuple[Marker, ...]
    """All of them, in order."""

    @property
    def kept(self) -> list[Marker]:
        return [marker for marker in self.markers if marker.status is Status.KEPT]


def read(*texts: str) -> Reading:
    """The text blocks of one message. Each is read for itself: code that one leaves open does not reach into the next.
    Offsets count in the blocks joined by an empty line, as a message joins them."""
    whole, display, marks, markers = "", "", list[int](), list[Marker]()
    for text in texts:
        whole += "\n\n" if whole else ""
        reader = Reader(len(whole))
        # Most texts have no marker, and need no reader.
        pieces = reader.feed(text) + reader.finish() if KEYWORD in text else [Piece(text=text)]
        shown = "".join(piece.text for piece in pieces)
        at = len(display)
        if shown:
            display += f"\n\n{shown}" if display else shown
            at = len(display) - len(shown)
        for piece in pieces:
            at += len(piece.text)
            if piece.marker:
                marks.append(at)
        markers += reader.markers
        whole += text
    return Reading(text=whole, display=display, marks=tuple(marks), markers=tuple(markers))


def marked(reading: Reading) -> str:
    """The text to show, with a ◆ for each thing that was kept."""
    parts: list[str] = []
    after = len(reading.display)
    for at in sorted(set(reading.marks), reverse=True):
        signs = MARK * reading.marks.count(at)
        line, behind = reading.display[:at].rpartition("\n")[2].strip(), reading.display[at : at + 1]
        if line:
            signs = (
                f" {signs}" if line.strip("`~") else f"\n{signs}"
            )  # A fence with something behind it would not close.
        elif behind.strip():
            signs = f"{signs} "
        parts += [reading.display[at:after], signs]
        after = at
    return reading.display[:after] + "".join(reversed(parts))


@dataclass(frozen=True, slots=True)
class _Fence:
    character: str
    length: int
    most_indent: int
    """Of the line that closes it."""

    def is_closed_by(self, line: str) -> bool:
        run = line.strip(" \t\r")
        indent = len(line) - len(line.lstrip(" "))
        return len(run) >= self.length and not run.strip(self.character) and indent <= self.most_indent


class Reader:
    """Text that streams in: `feed` it as it comes, then `finish`. Pieces come out as soon as they are certain."""

    def __init__(self, offset: int = 0) -> None:
        """`offset`: what stands before the text where markers are counted from."""
        self.markers: list[Marker] = []
        """All that were found so far."""
        self._held = ""
        self._held_at = offset
        self._is_in_line = False
        self._line: list[str] = []
        """What was passed on of the line, and where it stands."""
        self._line_at = 0
        self._broken: Marker | None = None
        """The marker at the start of the line that is passed on as text. Where it ends is known when the line ends."""
        self._waiting: list[Marker] = []
        """Kept ones on this line. What follows them decides where their ◆ goes."""
        self._scan: ObjectScan | None = None
        self._fence: _Fence | None = None
        self._is_in_own = False
        """Inside of what we told the agent, which it says again."""
        self._display = Display()

    def feed(self, chunk: str) -> list[Piece]:
        self._held += chunk
        self._advance(is_end=False)
        return self._display.take()

    def finish(self) -> list[Piece]:
        self._advance(is_end=True)
        if self._is_in_line:
            self._end_line()
        self._settle_alone()
        self._display.finish()
        return self._display.take()

    def _advance(self, *, is_end: bool) -> None:
        text, at = self._held, 0
        while at < len(text):
            went = self._rest_of_line(text, at) if self._is_in_line else self._start_of_line(text, at, is_end)
            if went is None:
                break
            at = went
        self._held = text[at:]
        self._held_at += at

    def _rest_of_line(self, text: str, at: int) -> int:
        end = text.find("\n", at)
        part = text[at:] if end < 0 else text[at : end + 1]
        self._display.add(part)
        self._line.append(part)
        if end >= 0:
            self._end_line()
        return at + len(part)

    def _end_line(self) -> None:
        """Now it is whole, it can be said what it is."""
        line = "".join(self._line).removesuffix("\n")
        where = self._place_in(line)
        if self._broken:
            end = self._broken.end or self._line_at + len(line.rstrip("\r"))
            self.markers.append(replace(self._broken, end=end))
        elif mention := _MENTION.search(line):
            start, end = self._line_at + mention.start(), self._line_at + len(line.rstrip("\r"))
            self.markers.append(Marker(start=start, end=end, status=Status.QUOTED, problem=where))
        self._broken, self._is_in_line, self._line = None, False, []

    def _place_in(self, line: str) -> str:
        """What a marker in this line would be in. Fences and our element are opened and closed on the way."""
        if self._is_in_own:
            self._is_in_own = _CLOSING not in line
            return IN_OWN
        if self._fence:
            if self._fence.is_closed_by(line):
                self._fence = None
            return IN_CODE
        opening = _FENCE.match(line)
        if opening and not (opening["run"][0] == "`" and "`" in opening["info"]):
            self._fence = _Fence(opening["run"][0], len(opening["run"]), len(opening["lead"]) + MOST_INDENT)
            return IN_CODE
        if line.strip() == _OPENING:
            self._is_in_own = True
            return IN_OWN
        if _QUOTE.match(line):
            return IN_QUOTE
        return IN_CODE if _INDENTED.match(line) else IN_LINE

    def _start_of_line(self, text: str, at: int, is_end: bool) -> int | None:
        """Where to go on; None when it is not certain yet whether a marker stands here."""
        if self._fence or self._is_in_own:
            return self._begin_line(at)
        if self._waiting:
            at = _skip(_SPACE, text, at)
            if at == len(text):
                return at if is_end else None
            if text[at] == "\n":
                self._settle_alone()
                return at + 1
        found = _START.match(text, at)
        if not found:
            return None if not is_end and _may_become_marker(text, at) else self._begin_line(at)
        open_at = _skip(_SPACE, text, found.end(), found.end() + MOST_SPACE)
        if open_at == len(text) and not is_end:
            return None
        if text[open_at : open_at + 1] != "{":
            return self._begin_line(at, self._broken_marker(found, "no JSON object follows"))
        return self._object(text, at, found, open_at, is_end)

    def _object(self, text: str, at: int, found: re.Match[str], open_at: int, is_end: bool) -> int | None:
        scan = self._scan = self._scan or ObjectScan()
        progress = scan.go_on(text, open_at)
        if progress is Progress.MORE and not is_end:
            return None
        self._scan = None
        if progress is not Progress.CLOSED:
            return self._begin_line(at, self._broken_marker(found, _PROBLEMS[progress]))
        end = open_at + scan.end
        try:
            payload, problem = payload_of(text[open_at:end])
        except Malformed as error:
            return self._begin_line(at, self._broken_marker(found, str(error), self._held_at + end))
        if payload.said == EXAMPLE_SAYS:
            quoted = self._broken_marker(found, OUR_EXAMPLE, self._held_at + end)
            return self._begin_line(at, replace(quoted, status=Status.QUOTED))
        start = self._held_at + found.end() - len(KEYWORD)
        marker = Marker(start=start, end=self._held_at + end, status=Status.KEPT, payload=payload, problem=problem)
        self.markers.append(marker)
        self._waiting.append(marker)
        return end

    def _broken_marker(self, found: re.Match[str], problem: str, end: int = 0) -> Marker:
        start = self._held_at + found.end() - len(KEYWORD)
        return Marker(start=start, end=end, status=Status.MALFORMED, problem=problem)

    def _begin_line(self, at: int, broken: Marker | None = None) -> int:
        """A line, or the rest of it behind a marker, that is passed on as it is."""
        for marker in self._waiting:
            self._display.mark_inline(marker)
        self._waiting = []
        self._is_in_line, self._line_at, self._broken = True, self._held_at + at, broken
        return at

    def _settle_alone(self) -> None:
        for marker in self._waiting:
            self._display.mark_alone(marker)
        self._waiting = []


def _may_become_marker(text: str, at: int) -> bool:
    start = text[at : at + MOST_INDENT + len(KEYWORD)]
    bare = start.lstrip(" ")
    return len(start) - len(bare) <= MOST_INDENT and KEYWORD.startswith(bare)


def _skip(pattern: re.Pattern[str], text: str, at: int, limit: int = sys.maxsize) -> int:
    found = pattern.match(text, at, limit)
    return found.end() if found else at
