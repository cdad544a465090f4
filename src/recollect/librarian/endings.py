"""Which record it is that somebody says to hold no more."""

from recollect.knowledge import Record, State, Statement
from recollect.knowledge.store import Filter, RecordStore
from recollect.librarian.evidence.support import COMMON, Vocabulary, is_turned_round
from recollect.lineage import folded

MOST_LOOKED_AT = 200
"""Records about one subject."""
_HAVING = frozenset({"habe", "tengo", "ai", "ho", "tenho", "heb"})
"""As common as those of `support`, in the first person."""


def ended_record(records: RecordStore, held: Statement) -> Record | None:
    """The one record that says what held until `held.true_from`. None: there is none, or nobody can tell which.

    One that was ended by these very words is found again: who reads them once more finds the same."""
    if held.attribute and held.value:
        known = records.about(held.scope, (folded(held.subject), folded(held.attribute)))
        found = [one for one in known if folded(one.value) == folded(held.value)]
    else:
        known = records.listed(Filter(subject=held.subject, scope=held.scope, states=()), MOST_LOOKED_AT)
        found = [one for one in known if _says(one, held)]
    found = [one for one in found if _ends(records, one, held)]
    same = [one for one in found if folded(one.text) == folded(held.text)]
    chosen = same or found
    return chosen[-1] if held.attribute and chosen else chosen[0] if len(chosen) == 1 else None


def _says(record: Record, held: Statement) -> bool:
    """All the words that tell, whatever else the record says: `have a dog` and `Has a dog called Rex`."""
    if record.kind is not held.kind or is_turned_round(held.text, [record.text]):
        return False
    telling = Vocabulary.of(held.text).words - COMMON - _HAVING
    said = Vocabulary.of(record.text)
    return folded(record.text) == folded(held.text) or (bool(telling) and all(said.has(word) for word in telling))


def _ends(records: RecordStore, record: Record, held: Statement) -> bool:
    """It held when the end was said, and nobody said it again after that."""
    if max((record.true_from, *record.restated)) > held.true_from:
        return False
    if record.state is State.REPLACED:
        by = records.get([record.replaced_by]).get(record.replaced_by)
        here = {source.message_id for source in held.sources}
        return by is not None and by.state is not State.RETRACTED and any(one.message_id in here for one in by.sources)
    return record.state is State.CURRENT and all(source not in record.sources for source in held.sources)
