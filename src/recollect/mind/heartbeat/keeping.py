"""Wishes as learnings: what a person asked of being written to first is kept like all that is known, and read back.

There is no second place for them. A wish that somebody edits, retracts, forgets or lets expire is what it says then, at
the next look; and one that a person adds with `recollect remember` and the tags counts like one that was heard.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.clock import LOCAL, Clock, from_text, to_text
from recollect.errors import Conflict
from recollect.ids import derived_id
from recollect.knowledge import Category, Evidence, Knowledge, Learned, Origin, Record, Relation, Statement
from recollect.mind.heartbeat.wishes import Wish, wishes_in
from recollect.recall.words import query_terms

TAG = "heartbeat"
"""Beside it stands the kind of the wish: `not now`, `never about`, `never` or `again welcome`."""
MOST_READ = 10_000
LONGEST_TOPIC = 200
"""Characters: a topic is a few words."""
LASTING_IMPORTANCE = 0.7
"""What is asked for good should be in view; what is asked for today need not be."""
_NAMED = re.compile(r"\babout:? +(?P<topic>.+?)\W*$", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is asked now."""

    not_before: datetime | None = None
    is_unwelcome: bool = False
    unwelcome_topics: tuple[str, ...] = ()


class Wishes:
    """Of the person whom one agent talks with. `knowledge`: as that agent sees it, which may not bring back what a
    person retracted or forgot."""

    def __init__(self, knowledge: Knowledge, clock: Clock) -> None:
        self._knowledge = knowledge
        self._clock = clock

    def take(self, message_id: str, text: str, at: datetime, *, answers_outreach: bool, topic: str) -> list[Learned]:
        """Keep the wishes in a message of the person that are not over. The same message is kept once, whatever became
        of the learnings since."""
        found = wishes_in(text, answers_outreach=answers_outreach, topic=topic)
        kept = [self._keep(wish, number, message_id, text, at) for number, wish in enumerate(found)]
        return [one for one in kept if one]

    def _keep(self, wish: Wish, number: int, message_id: str, text: str, at: datetime) -> Learned | None:
        until = wish.wait.until(at.astimezone(LOCAL)) if wish.wait else None
        if until and until <= self._clock():
            return None
        relation = Relation.UNRELATED if until else None  # Two that end at different times are two.
        named = derived_id("wish", message_id, *([str(number)] if number else []))
        try:
            return self._knowledge.learn(_statement(named, wish, message_id, text, at, until), relation=relation)
        except Conflict:  # It is kept, and was moved to where this agent does not look.
            return None

    def standing(self, now: datetime) -> Standing:
        """By what is known now."""
        moment = to_text(now)
        kept = [one for one in self._knowledge.records(tags=[TAG], limit=MOST_READ) if one.counts(moment)]
        lifts = _of_kind(kept, "again welcome")
        lifted_at = max((_said_at(one) for one in lifts if not _topic(one)), default="")
        waits = [one for one in _of_kind(kept, "not now") if _said_at(one) >= lifted_at]
        nevers = [one for one in _of_kind(kept, "never") if _said_at(one) >= lifted_at]
        ends = [from_text(one.expires_at).astimezone(UTC) for one in waits if one.expires_at]
        topics = {
            _topic(one): None
            for one in reversed(_of_kind(kept, "never about"))
            if _topic(one) and not _is_lifted(one, lifts)
        }
        return Standing(
            not_before=max(ends, default=None),
            is_unwelcome=bool(nevers) or len(ends) < len(waits),  # "Not now" without an end.
            unwelcome_topics=tuple(topics),
        )


def _statement(named: str, wish: Wish, message_id: str, text: str, at: datetime, until: datetime | None) -> Statement:
    topic = wish.topic[:LONGEST_TOPIC]
    return Statement(
        id=named,
        text=_told(wish, topic, until),
        value=topic,
        category=Category.OPERATIONAL,
        origin=Origin.PROMOTED,  # The person's own word, and forgotten with the message that says it.
        tags=(TAG, wish.kind),
        importance=0.5 if until else LASTING_IMPORTANCE,
        true_from=to_text(at),
        expires_at=to_text(until) if until else "",
        sources=(Evidence(message_id=message_id, quote=wish.words if wish.words in text else ""),),
    )


def _told(wish: Wish, topic: str, until: datetime | None) -> str:
    ending = f" before {until.astimezone(LOCAL):%Y-%m-%d %H:%M}" if until else ""
    match wish.kind:
        case "not now":
            return f"The person asked not to be written to first{ending}."
        case "never":
            return "The person asked never to be written to first."
        case "never about":
            return f"The person asked not to be written to{ending} about: {topic}"
        case "again welcome" if topic:
            return f"The person may be written to again about: {topic}"
        case "again welcome":
            return "The person said that they may be written to first again."


def _of_kind(records: Iterable[Record], kind: str) -> list[Record]:
    return [one for one in records if kind in one.tags]


def _said_at(record: Record) -> str:
    """When it was last said."""
    return max(record.true_from, *record.restated, "")


def _topic(record: Record) -> str:
    """What it is about. Who edits the words takes the value out of it: then what stands after "about", or all of it."""
    if record.value:
        return record.value
    found = _NAMED.search(record.text)
    if found:
        return found["topic"].strip(" \"'“”„«»")
    return record.text if "never about" in record.tags else ""


def _is_lifted(record: Record, lifts: Iterable[Record]) -> bool:
    """Whether its topic was said to be welcome again since."""
    terms = set(query_terms(_topic(record)))
    return any(
        _topic(lift) and terms.issubset(query_terms(_topic(lift))) and _said_at(lift) > _said_at(record)
        for lift in lifts
    )
