"""Heeding what the person says about being written to: what they answer to a message that nobody asked for, and what
they say of it at any other time. Each message is read once more than it need be, and kept once."""

from collections.abc import Iterator
from datetime import datetime

from recollect.clock import from_text
from recollect.mind.conversation import words_of
from recollect.mind.entries import Role, Written
from recollect.mind.heartbeat.awareness import subject_of
from recollect.mind.heartbeat.keeping import Standing, Wishes
from recollect.mind.heartbeat.seen import topic_of
from recollect.mind.log import Log

LOOKED_AT = 40
"""Messages of the conversation, the latest: more than are said between two looks, unless one turn joined many."""
MOST_LOOKED_AT = 5_000


class Heeding:
    def __init__(self, log: Log, wishes: Wishes) -> None:
        self._log = log
        self._wishes = wishes

    def look(self) -> None:
        """After each turn, and before each moment of the agent's own."""
        for one, topic in answers(self._spoken()):
            self._wishes.take(
                one.entry.message_id,
                words_of(one.record),
                from_text(one.entry.at),
                answers_outreach=topic is not None,
                topic=topic or "",
            )

    def _spoken(self) -> list[Written]:
        """Of the latest turn at least all of it, with what stands before it."""
        number = LOOKED_AT
        while True:
            found = self._log.glance(outreaches=0, said=0, spoken=number).spoken
            is_cut = len(found) == number and found[0].entry.turn == found[-1].entry.turn
            if not is_cut or number >= MOST_LOOKED_AT:
                return found
            number *= 5

    def standing(self, now: datetime) -> Standing:
        return self._wishes.standing(now)


def answers(spoken: list[Written]) -> Iterator[tuple[Written, str | None]]:
    """What the person said, each with the topic of the message it answers. None: it answers none that the agent wrote
    first. `spoken`: the oldest first."""
    topic: str | None = None
    for one in spoken:
        if one.entry.role is Role.USER:
            yield one, topic
        else:
            topic = subject_of(topic_of(one), words_of(one.record)) if one.record.get("outreach") else None
