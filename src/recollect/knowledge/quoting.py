"""What of its sources a record shows to who asks.

A record that all of the house may see can be from a message that only one agent may: its history was bound to that
agent later, for example. The words of such a message stay with who may read it. Pure but for the look at history.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from recollect.knowledge.records import Chain, Event, Learned, Record
from recollect.scopes import Principal

Readable = Callable[[Sequence[str]], Container[str]]
"""Of these messages, those that the principal may read."""


class Quoting:
    def __init__(self, principal: Principal, readable: Readable | None) -> None:
        """`readable` None: history is of no concern here, and all is shown as it is."""
        self._readable = readable if principal.is_confined else None

    def records(self, records: Sequence[Record]) -> list[Record]:
        named = {source.message_id for record in records for source in record.sources if source.quote}
        if self._readable is None or not named:
            return list(records)
        seen = self._readable(sorted(named))
        return [
            replace(
                record,
                sources=tuple(one if one.message_id in seen else replace(one, quote="") for one in record.sources),
            )
            for record in records
        ]

    def record(self, record: Record) -> Record:
        return self.records([record])[0]

    def learned(self, learned: Learned) -> Learned:
        record, replaced = self._maybe(learned.record), self._maybe(learned.replaced)
        return replace(learned, record=record, replaced=replaced)

    def events(self, events: Sequence[Event]) -> list[Event]:
        """History is asked once for all of them."""
        shown = iter(self.records([record for event in events for record in (event.before, event.after) if record]))
        return [
            replace(event, before=event.before and next(shown), after=event.after and next(shown)) for event in events
        ]

    def chain(self, chain: Chain) -> Chain:
        return replace(
            chain,
            record=self.record(chain.record),
            versions=self.records(chain.versions),
            events=self.events(chain.events),
            replaced=self.records(chain.replaced),
            replaced_by=self.records(chain.replaced_by),
        )

    def _maybe(self, record: Record | None) -> Record | None:
        return self.record(record) if record else None
