"""What somebody did to a shelf: the difference of two versions of it, by anchors. Pure.

A line whose words changed was edited, one that is gone or struck out was removed, one that was not there came back. A
new point in a list of facts was added. Where a line stands, what is indented below it and what stands elsewhere says
nothing.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.librarian.shelves import front
from recollect.librarian.shelves.anchors import Anchor, AnchorKind, anchor_of, anchors_in, outside_fences, said
from recollect.librarian.shelves.pages import heading_key

_HEADING = re.compile(r"#{1,6}\s")
_POINT = re.compile(r"[-*+]\s+(?:\[[ xX]\]\s+)?(?=\S)")
_TICKED = re.compile(r"\s*[-*+]\s+\[[xX]\]\s")
_ANSWER = re.compile(r"\s*(?:>|[-*+]\s)?\s*(?:\[[ x]\]\s)?\s*(?:answer\s*:)?\s*", re.IGNORECASE)
_NAMED_ANSWER = re.compile(r"\s*(?:>|[-*+]\s)?\s*answer\s*:", re.IGNORECASE)
_STRUCK = re.compile(r"~~(?:(?!~~).)*~~")
YES = "yes"
"""What a tick says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    anchor: Anchor
    text: str
    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    anchor: Anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A line that was not there: somebody put it back, or brought it from elsewhere."""

    anchor: Anchor
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A point that somebody wrote into one of our lists."""

    heading: str
    """As `pages.heading_key` gives it."""
    text: str
    line: str
    """As it stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    question_id: str
    text: str


Changed = Edited | Removed | Returned | Added | Answered


@dataclass(slots=True)
class _Read:
    """A text, line by line, as far as it can be ours."""

    lines: dict[Anchor, list[str]] = field(default_factory=dict[Anchor, list[str]])
    present: set[Anchor] = field(default_factory=set[Anchor])
    points: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """(heading, line) of points without an anchor."""
    answers: dict[str, str] = field(default_factory=dict[str, str])


def changes(base: str, now: str, added_to: Mapping[str, object] | None = None) -> list[Changed]:
    """`added_to`: the headings below which a new point counts."""
    before, after = _read(base), _read(now)
    found: list[Changed] = []
    for anchor, lines in before.lines.items():
        if anchor not in after.present:
            found.append(Removed(anchor=anchor))
            continue
        old = said(lines[0])
        new = next((words for line in after.lines.get(anchor, []) if (words := said(line)) != old), old)
        if anchor.kind is AnchorKind.QUESTION:
            found += _answered(anchor, old, new, before, after)
        elif new != old:
            is_there = new and not _STRUCK.fullmatch(new)
            found.append(Edited(anchor=anchor, text=new, before=old) if is_there else Removed(anchor=anchor))
    for anchor, lines in after.lines.items():
        if anchor not in before.present:
            found.append(Returned(anchor=anchor, text=said(lines[0])))
    for (heading, line), number in after.points.items():
        if heading in (added_to or {}) and number > before.points[heading, line]:
            found.append(Added(heading=heading, text=_POINT.sub("", line.strip(), count=1), line=line))
    return found


def _answered(anchor: Anchor, old: str, new: str, before: _Read, after: _Read) -> list[Changed]:
    below = after.answers.get(anchor.id, "")
    if below and below != before.answers.get(anchor.id, ""):
        behind = new[len(old) :] if new.startswith(old) else ""
        text = below if below != YES or not behind.strip() else behind
    elif new != old and new.startswith(old):
        text = new[len(old) :]
    else:
        return []
    text = _ANSWER.sub("", text, count=1).strip()
    return [Answered(question_id=anchor.id, text=text)] if text else []


def _body(text: str) -> list[tuple[str, bool]]:
    """(line, whether it is text) of what follows the front matter."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = lines[front.length_of(lines) :]
    return list(zip(lines, outside_fences(lines), strict=True))


def _read(text: str) -> _Read:
    read = _Read()
    body = _body(text)
    heading = ""
    for place, (line, is_text) in enumerate(body):
        if not is_text:
            continue
        anchor = anchor_of(line)
        if _HEADING.match(line):
            heading = heading_key(line)
        if anchor:
            read.lines.setdefault(anchor, []).append(line)
            read.present.update(anchors_in(line))
            if anchor.kind is AnchorKind.QUESTION and (answer := _answer(body, place)):
                read.answers[anchor.id] = answer
        elif _POINT.match(line) and "<!--" not in line:
            read.points[heading, line.rstrip()] += 1
    return read


def _answer(body: list[tuple[str, bool]], place: int) -> str:
    """What stands below a question, or the tick before it."""
    lines: list[str] = []
    is_close = True
    for line, is_text in body[place + 1 :]:
        is_empty = not line.strip()
        if is_empty and not lines:
            is_close = False
            continue
        if is_empty or not is_text or anchor_of(line) or not _is_answer(line, is_close):
            break
        lines.append(_ANSWER.sub("", line, count=1).strip())
    text = " ".join(line for line in lines if line)
    return text or (YES if _TICKED.match(body[place][0]) else "")


def _is_answer(line: str, is_close: bool) -> bool:
    """Whether it belongs to the question above. `is_close`: no empty line is between them. An editor that goes on with
    the list leaves a point of its own there."""
    if _HEADING.match(line):
        return False
    return is_close or line[:1] in (" ", "\t", ">") or bool(_NAMED_ANSWER.match(line))


def without_answers(text: str, question_ids: set[str]) -> str:
    """Without these questions and what stands below them as their answer: it is kept elsewhere by now."""
    kept: list[str] = []
    is_below = is_close = False
    for line in text.splitlines(keepends=True):
        anchor = anchor_of(line)
        if anchor:
            is_below = is_close = anchor.kind is AnchorKind.QUESTION and anchor.id in question_ids
        elif is_below and not (line.strip() and _is_answer(line, is_close)):
            is_below = not line.strip()
            is_close = False
            kept.append(line)
            continue
        if not is_below:
            kept.append(line)
    return "".join(kept)
