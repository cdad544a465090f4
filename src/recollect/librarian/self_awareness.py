"""The agent's page about itself, as far as the librarian can tell it: how much is known, how sure it is, and where it
was wrong. Numbers and links only: what a record says stands in its own place. What others write there stays.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.ids import derived_id
from recollect.knowledge import Event, Record
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
    kinds = Counter(str(record.kind) for record in seen.records)
    parts = ", ".join(f"{number:,} {_many(kind, number)}" for kind, number in sorted(kinds.items()))
    known = f"{len(seen.records):,} things are known from {seen.conversations:,} conversations"
    people = {record.subject for record in seen.records if "person" in record.tags}
    projects = {record.subject for record in seen.records if "project" in record.tags}
    return [
        f"{known}{f': {parts}' if parts else ''}. Most of it stands in [[core/facts]].",
        f"{len(people):,} people and {len(projects):,} projects have a page." if people or projects else "",
    ]


def _doubted(seen: Awareness) -> list[str]:
    waiting = f"{seen.questions:,} questions wait in [[questions]], {seen.proposals:,} changes in `recollect review`."
    left_out = sum(seen.dropped.values())
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(seen.dropped.items()))
    return [
        waiting if seen.questions or seen.proposals else "Nothing waits to be asked or reviewed.",
        f"{left_out:,} things were found and not kept ({reasons})." if left_out else "",
    ]


def _wrong(seen: Awareness) -> list[str]:
    by_person = Counter(event.action for event in seen.recent if event.actor == Actor.PERSON)
    corrected = sum(by_person[action] for action in CORRECTIONS)
    learned = sum(event.action == "created" and event.actor == Actor.LIBRARIAN for event in seen.recent)
    share = f", {corrected / learned:.0%} of what was learned" if learned >= corrected and learned else ""
    changed = ", ".join(f"{name} {number:,}" for name, number in sorted(seen.night.items()))
    return [
        f"People corrected or took back {corrected:,} things in the last 30 days{share}.",
        f"The last reflection: {changed}." if changed else "The last reflection changed nothing.",
    ]


def _many(kind: str, number: int) -> str:
    if number == 1:
        return kind
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
