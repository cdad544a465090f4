"""What an agent sees in a moment of its own: how the conversation stands, what was said last. Nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.clock import from_text, local, to_text
from recollect.mind.entries import Entry, Role, TurnRow, Written
from recollect.mind.heartbeat.awareness import Facts, Outreach

if TYPE_CHECKING:
    from recollect.mind.heartbeat.keeping import Standing
    from recollect.mind.log import Glance, Log
    from recollect.mind.places.store import Place

MOST_OUTREACHES = 50
"""More than a person was ever written to without a word, or in one day."""
MOST_SAID = 50
"""Messages of the person that are looked through for the place they last spoke from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    facts: Facts
    place: tuple[str, str] | None
    """(channel, address) where a message would go."""
    last: tuple[Written, ...]
    """What was said last, the oldest first."""
    last_number: int
    """Of the whole conversation: what is decided on this holds until somebody speaks."""
    forgotten: int
    """How many acts of forgetting there were: and until somebody forgets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """By the settings."""

    channel: str
    messages: int
    channels: frozenset[str] | None = None
    """Those that are open, whatever was paired once. None: nobody says."""

    def is_open(self, channel: str) -> bool:
        return self.channels is None or channel in self.channels


def see(
    log: "Log", places: "Sequence[Place]", wishes: "Standing", now: datetime, paused_since: str, wanted: Wanted
) -> Seen:
    found = log.glance(outreaches=MOST_OUTREACHES, said=MOST_SAID, spoken=wanted.messages * 4 + 1)
    place = place_for([one for one in places if wanted.is_open(one.channel)], found.said, wanted.channel)
    facts = Facts(
        now=local(to_text(now)),
        spoke_at=from_text(found.said[0].at) if found.said else None,
        last_word_at=from_text(found.last_word_at) if found.last_word_at else None,
        outreaches=tuple(_outreach(one, found) for one in found.outreaches),
        is_turn_open=found.is_open,
        waiting=found.waiting,
        undelivered=sum(number for name, number in found.undelivered.items() if wanted.is_open(name)),
        has_place=place is not None,
        paused_since=paused_since,
        not_before=wishes.not_before,
        is_unwelcome=wishes.is_unwelcome,
        unwelcome_topics=wishes.unwelcome_topics,
    )
    shown = [one for one in found.spoken if _has_words(one)]
    last = shown[len(shown) - min(wanted.messages, len(shown)) :]
    return Seen(facts=facts, place=place, last=tuple(last), last_number=found.last_number, forgotten=found.forgotten)


def place_for(places: "Sequence[Place]", said: Sequence[Entry], channel: str) -> tuple[str, str] | None:
    """Where the person last spoke from, of the places that take something; else the newest of these. `channel`: only of
    this one. `said`: by the person, the newest first."""
    there = [
        (one.channel, one.address)
        for one in places
        if one.state == "paired" and (not channel or one.channel == channel)
    ]
    for entry in said:
        if (entry.channel, entry.address) in there:
            return entry.channel, entry.address
    return there[-1] if there else None


def topic_of(written: Written) -> str:
    """Of what was said first."""
    outreach: dict[str, str] = written.record.get("outreach") or {}
    return str(outreach.get("topic") or "")


def _outreach(row: TurnRow, found: "Glance") -> Outreach:
    """As of when it reached the person, to whom it counts from then on; whether or not its words were forgotten. What
    waits was said after it: it is never written where somebody waits. What was said before it arrived is no answer."""
    at = max(row.began_at, found.arrived.get(row.number, ""))
    is_answered = any(
        (one.turn > row.number or not one.turn) and not row.began_at <= one.at < at for one in found.said[:1]
    )
    return Outreach(turn=row.number, at=from_text(at), is_answered=is_answered)


def _has_words(written: Written) -> bool:
    return written.entry.role in (Role.USER, Role.ASSISTANT) and any(
        block.get("type") == "text" and block["text"].strip() for block in written.record["content"]
    )
