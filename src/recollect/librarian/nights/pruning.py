"""What a night would change among the records: pure decisions, the most harmless first.

Nothing that a person wrote, confirmed or corrected is touched. What is the same in other spelling is one record; what
its own date has made old is taken back; what was said in several conversations is firmer than what was said once. No
measure of likeness decides anything.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from recollect.clock import from_text, local, to_text
from recollect.knowledge import Evidence, Kind, Record, State
from recollect.librarian.episodes import Episode, Line
from recollect.lineage import folded

OVERDUE = timedelta(days=30)
"""A commitment is kept so long after its date: people are late."""
FIRM_CONVERSATIONS = 3
"""What so many conversations said is firm."""
FIRM_IMPORTANCE = 0.8
MERGED, SAME_AS = "merged", "the same as "
"""What a night does with a record that is there twice; the reason ends with the id of the one that stays."""
RECURRING = "recurring"
"""The tag of what a night made out of episodes."""
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One change of one record."""

    record: Record
    action: str
    reason: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """What several episodes tell in the same words."""

    text: str
    scope: str
    project: str
    messages: tuple[str, ...]
    true_from: str
    conversations: int


Group = tuple[Wanted, ...]
"""Changes that are made together or not at all."""


def wanted_changes(records: Sequence[Record], conversations: Mapping[str, str], now: datetime) -> Iterator[Group]:
    """`records`: current ones that only the librarian wrote. `conversations`: message → its conversation."""
    left = list[Record]()
    for record in sorted(records, key=lambda one: (one.true_from, one.id)):
        if is_over(record, now):
            over = {"state": State.RETRACTED}
            yield (Wanted(record=record, action="expired", reason="its date is over", changes=over),)
        else:
            left.append(record)
    kept = dict[tuple[str, ...], Record]()
    for record in left:
        first = kept.setdefault(_same_key(record), record) if not record.attribute else record
        if first is not record:
            yield _joined(first, record)
            continue
        said_in = {conversations.get(source.message_id, source.message_id) for source in record.sources}
        if len(said_in) >= FIRM_CONVERSATIONS and record.importance < FIRM_IMPORTANCE:
            reason = f"said in {len(said_in)} conversations"
            firm = {"importance": FIRM_IMPORTANCE}
            yield (Wanted(record=record, action="promoted", reason=reason, changes=firm),)


def is_over(record: Record, now: datetime) -> bool:
    if record.is_expired(to_text(now)):
        return True
    due = _day(record.value) if record.kind is Kind.COMMITMENT else None
    return due is not None and due < local(to_text(now)).date() - OVERDUE


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        return None


def _same_key(record: Record) -> tuple[str, ...]:
    words = " ".join(_WORDS.findall(folded(record.text)))
    return (record.scope, str(record.kind), folded(record.subject), *sorted(record.tags), words or record.text)


def _joined(first: Record, twice: Record) -> Group:
    known = {source.message_id for source in first.sources}
    added: tuple[Evidence, ...] = tuple(one for one in twice.sources if one.message_id not in known)
    gone = Wanted(record=twice, action=MERGED, reason=f"{SAME_AS}{first.id}", changes={"state": State.RETRACTED})
    if not added:
        return (gone,)
    return Wanted(record=first, action="confirmed", reason="it was there twice", changes={"added": added}), gone


def recurring(episodes: Sequence[Episode], lines: Mapping[str, Sequence[Line]]) -> list[Recurring]:
    """Lines that say what was decided or found, in the same words in several conversations of several days."""
    told: dict[tuple[str, str], list[tuple[Episode, Line]]] = {}
    for episode in episodes:
        for line in lines.get(episode.conversation_id, []):
            label, colon, text = line.text.partition(": ")
            if line.number and colon and label in ("Decided", "Found", "Learned"):
                told.setdefault((episode.scope, folded(text)), []).append((episode, line))
    return [
        found for pairs in told.values() if (found := _recurring(sorted(pairs, key=lambda pair: pair[0].started_at)))
    ]


def _recurring(pairs: Sequence[tuple[Episode, Line]]) -> Recurring | None:
    days = {local(episode.started_at).date() for episode, _ in pairs if episode.started_at}
    conversations = {episode.conversation_id for episode, _ in pairs}
    if len(conversations) < FIRM_CONVERSATIONS or len(days) == 1:  # On one day it is one story.
        return None
    projects = {episode.project for episode, _ in pairs}
    return Recurring(
        text=pairs[0][1].text.partition(": ")[2],
        scope=pairs[0][0].scope,
        project=projects.pop() if len(projects) == 1 else "",
        messages=tuple(dict.fromkeys(source for _, line in pairs for source in line.sources)),
        true_from=to_text(from_text(pairs[0][0].started_at)),
        conversations=len(conversations),
    )
