"""Which record is meant by a name that somebody typed."""

from recollect.errors import Conflict, NotFound
from recollect.knowledge.records import Record
from recollect.knowledge.statements import words
from recollect.knowledge.store import EventStore, RecordStore
from recollect.scopes import Principal

SHORTEST_END = 6
"""Characters. New ids begin with the time they were made at: it is their ends that people tell apart."""
MOST_SHOWN = 5


def named(store: RecordStore, events: EventStore, name: str, principal: Principal) -> Record:
    """By its id, or by the beginning or the end of it."""
    wanted = words("name of the record", name).lower()
    if not wanted or not set(wanted) <= set("0123456789abcdef-"):
        raise _not_found(name)
    exact = store.get([wanted]).get(wanted)
    if exact:
        return exact
    found = store.beginning(wanted, MOST_SHOWN + 1)
    if not found and len(wanted) >= SHORTEST_END:
        found = store.ending(wanted, MOST_SHOWN + 1)
    if len(found) > 1:
        some = ", ".join(record.id for record in found[:MOST_SHOWN])
        raise Conflict(f"{name!r} could be several records: {some} … Give more of the id.")
    if not found:
        if not principal.is_confined and events.was_there(wanted):
            raise NotFound(f"Record {wanted} was forgotten. `recollect forget --receipts` tells when.")
        raise _not_found(name)
    return found[0]


def _not_found(name: str) -> NotFound:
    return NotFound(f"No record is called {name[:100]!r}. `recollect records` lists them.")
