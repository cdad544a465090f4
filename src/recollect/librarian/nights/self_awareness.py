"""The agent's page about itself, as far as the librarian can tell it: how much is known, how sure it is, and where it
was wrong. Numbers and links only: what a record says stands in its own place. What others write there stays.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.ids import derived_id
from recollect.knowledge import Event, Record
from recollect.librarian.items import Shelf
from recollect.librarian.shelves.anchors import Anchor, AnchorKind
from recollect.librarian.shelves.merging import merged
from recollect.librarian.shelves.pages import Page, Section, ShelfLine
from recollect.scopes import Actor

PAGE = "self-awareness.md"
HEADING = "## What the librarian counts"
CORRECTIONS = ("edited", "retracted", "forgotten")


@dataclass(frozen=True, slots=True, kw_only=True)
class Awareness:
    """What the page is made of."""

    day: str
    records: Sequence[Record]
    """Current ones."""
    recent: Sequence[Event]
    """Of the last 30 days."""
    conversations: int
    reader: str
    questions: int
    proposals: int
    dropped: Counter[str]
    night: dict[str, int]


def page_text(now: str, seen: Awareness) -> str:
    return merged(now, _page(seen))


def _page(seen: Awareness) -> Page:
    lines = [
        _line(number, text) for number, text in enumerate((*_known(seen), *_doubted(seen), *_wrong(seen)), 1) if text
    ]
    return Page(
        title="Self-awareness",
        front={"kind": "self-awareness", "librarian": seen.reader, "updated": seen.day},
        sections=(Section(heading=HEADING, lines=tuple(lines)),),
        headings=frozenset({HEADING.casefold()}),
    )


def _line(number: int, text: str) -> ShelfLine:
    anchor = Anchor(AnchorKind.META, derived_id("self-awareness", str(number)))
    return ShelfLine(anchor=anchor, text=f"- {text} {anchor}")


def _known(seen: Awareness) -> list[str]:
    if not seen.records:
        return ["Nothing is known yet.", ""]
    kinds = Counter(str(record.kind) for record in seen.records)
    parts = ", ".join(_many(kind, number) for kind, number in sorted(kinds.items()))
    number = len(seen.records)
    known = f"{_many('thing', number)} {'is' if number == 1 else 'are'} known from"
    has_core = any(str(Shelf.CORE) in record.tags for record in seen.records)
    people = {record.subject for record in seen.records if str(Shelf.PERSON) in record.tags}
    projects = {record.subject for record in seen.records if str(Shelf.PROJECT) in record.tags}
    counts = [f"{len(people):,} {'person' if len(people) == 1 else 'people'}" if people else ""]
    counts.append(_many("project", len(projects)) if projects else "")
    about = " and ".join(filter(None, counts))
    return [
        f"{known} {_many('conversation', seen.conversations)}: {parts}."
        + (" What is known of the person stands in [[core/facts]]." if has_core else ""),
        f"Something is known of {about}." if about else "",
    ]


def _doubted(seen: Awareness) -> list[str]:
    asked = f"{_many('question', seen.questions)} {'waits' if seen.questions == 1 else 'wait'} in [[questions]]"
    proposed = f"{_many('change', seen.proposals)} {'waits' if seen.proposals == 1 else 'wait'} in `recollect review`"
    waiting = ", ".join([*([asked] if seen.questions else []), *([proposed] if seen.proposals else [])])
    left_out = sum(seen.dropped.values())
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(seen.dropped.items()))
    return [
        f"{waiting}." if waiting else "Nothing waits to be asked or reviewed.",
        f"{_many('thing', left_out)} {'was' if left_out == 1 else 'were'} found and not kept ({reasons})."
        if left_out
        else "",
    ]


def _wrong(seen: Awareness) -> list[str]:
    by_person = Counter(event.action for event in seen.recent if event.actor == Actor.PERSON)
    corrected = sum(by_person[action] for action in CORRECTIONS)
    learned = sum(event.action == "created" and event.actor == Actor.LIBRARIAN for event in seen.recent)
    share = f", {corrected / learned:.0%} of what was learned" if learned >= corrected and learned else ""
    changed = ", ".join(f"{name} {number:,}" for name, number in sorted(seen.night.items()))
    return [
        f"People corrected or took back {_many('thing', corrected)} in the last 30 days{share}.",
        f"The last reflection: {changed}." if changed else "The last reflection changed nothing.",
    ]


def _many(noun: str, number: int) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
