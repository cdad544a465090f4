"""A note as it is shown to a model: its credentials masked, line for line. Pure.

A mark stands in every line of what it hides, so that a line has one number in all that is told of a note, which is the
one of the file. A change that a model makes is one of the text it was shown, and is done to the text there is: what is
hidden stays in the file as its owner wrote it, and stays hidden.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from recollect.errors import Conflict
from recollect.redaction import MARK, find

KEPT = (
    "{} has a credential there, which is masked: the change would alter it or bring it to light. Nothing was changed. "
    "A person can edit the file."
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Where a credential stands in the note, and where its mark in what is shown; ends are not part of them."""

    start: int
    end: int
    shown_start: int
    shown_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    content: str
    text: str
    """With as many lines as the content."""
    hidden: tuple[Hidden, ...]
    """In order."""

    def replaced(self, start: int, end: int, new: str) -> str:
        """The content, with `new` in the place of what is shown from `start` to `end`."""
        return self.content[: self.place(start)] + new + self.content[self.place(end, is_end=True) :]

    def check_kept(self, changed: str, path: str) -> None:
        """Every credential is in the changed content as it was, and is recognised there."""
        if self.hidden and not self._credentials() <= shown_of(changed)._credentials():
            raise Conflict(KEPT.format(path))

    def _credentials(self) -> set[str]:
        return {self.content[one.start : one.end] for one in self.hidden}

    def place(self, shown: int, *, is_end: bool = False) -> int:
        """In the content. Inside a mark: the beginning or the end of what it hides."""
        place = shown
        for one in self.hidden:
            if shown <= one.shown_start:
                break
            if shown < one.shown_end:
                return one.end if is_end else one.start
            place = shown + one.end - one.shown_end
        return place


@lru_cache(maxsize=4)
def shown_of(content: str) -> Shown:
    """Looked at again until nothing is found: a mark can end the word in which another credential was hidden. The last
    ones are remembered: a long note is read page by page."""
    shown = Shown(content=content, text=content, hidden=())
    rules: dict[int, str] = {}
    while found := find(shown.text):
        before = [(one.start, one.end) for one in shown.hidden]
        spans = [(shown.place(one.start), shown.place(one.end, is_end=True)) for one in found]
        for (start, _), one in zip(spans, found, strict=True):
            rules.setdefault(start, one.rule)
        joined = _joined(before + spans)
        if joined == before:
            break
        shown = _marked(content, joined, rules)
    return shown


def masked_but(text: str, standing: str) -> tuple[str, int]:
    """The text with its credentials masked, but for those of the text that stands there; and how many were."""
    known = {standing[one.start : one.end] for one in find(standing)}
    number = len(_unknown(text, known))
    while spans := _unknown(text, known):
        for start, end, rule in reversed(spans):
            text = f"{text[:start]}{MARK}{rule}]{text[end:]}"
    return text, number


def _unknown(text: str, known: Collection[str]) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.rule) for one in find(text) if text[one.start : one.end] not in known]


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            start, end = joined[-1][0], max(joined.pop()[1], end)
        joined.append((start, end))
    return joined


def _marked(content: str, spans: list[tuple[int, int]], rules: dict[int, str]) -> Shown:
    pieces: list[str] = []
    hidden: list[Hidden] = []
    done = length = 0
    for start, end in spans:
        mark = "\n".join([f"{MARK}{rules[start]}]"] * (content.count("\n", start, end) + 1))
        pieces += (content[done:start], mark)
        length += start - done
        hidden.append(Hidden(start, end, length, length + len(mark)))
        done, length = end, length + len(mark)
    return Shown(content=content, text="".join(pieces) + content[done:], hidden=tuple(hidden))
