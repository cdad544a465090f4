"""Questions that an agent asked though the answer was on record: counted, and nothing else.

An answer counts where it says what a record of then says. Who answers `yes` alone tells nothing that could be looked
up, so that the number is rather too small.
"""

from recollect.knowledge import Record, Relation, State
from recollect.knowledge.store import RecordStore
from recollect.librarian.items import Item
from recollect.librarian.telling import Prepared
from recollect.lineage import folded


def asked_known(records: RecordStore, ready: Prepared) -> int:
    """How many; asked before what was read is filed, as then the answer stands on record in any case."""
    found = set[str]()
    for item in ready.extract.items:
        for answer in {quote.message_id for quote in item.quotes}.intersection(ready.questions):
            if any(_was_known(one, answer, ready.questions[answer]) for one in _saying(records, ready.scope, item)):
                found.add(answer)
    return len(found)


def _saying(records: RecordStore, scope: str, item: Item) -> list[Record]:
    if item.relation is Relation.SAME and item.other:
        return list(records.get([item.other]).values())
    if item.attribute:
        said = folded(item.value or item.text)
        known = records.about(scope, (folded(item.subject), folded(item.attribute)))
        return [one for one in known if folded(one.value or one.text) == said]
    said = records.saying(scope, item.text)
    return [one for one in said if folded(one.subject) == folded(item.subject)]


def _was_known(record: Record, answer: str, asked_at: str) -> bool:
    """It held and was on record when it was asked for. A record with the answer among its sources was read before."""
    is_new = all(source.message_id != answer for source in record.sources)
    return is_new and record.state is State.CURRENT and record.learned_at < asked_at
