"""The side of forgetting: which file a record was read from goes with the record, and what the file says is not read
again. A hash of the words bars them, in the scope they were forgotten in."""

from collections.abc import Iterator, Sequence

from recollect.database import Session
from recollect.exchange.store import FactStore
from recollect.forgetting.acts import Reach
from recollect.knowledge.records import Origin
from recollect.knowledge.store import RecordStore
from recollect.lineage import Hasher, ReceiptStore, TombstoneStore, folded, hasher

TOMBSTONE = "exchange"
EXPORT = "claude-memory export"
"""By which receipts name the copies that were written."""


def words_hash(keyed: Hasher, scope: str, text: str) -> str:
    return keyed.hash(TOMBSTONE, scope, folded(text))


class ExchangePart:
    """A `forgetting.Part`."""

    def __init__(self, house: str) -> None:
        self._house = house

    def origins(self, session: Session, reach: Reach) -> set[tuple[str, str]]:
        """No line of a note comes from a file of a memory folder."""
        return set()

    def notes(self, session: Session, reach: Reach) -> dict[str, int]:
        return {}

    def reach(self, session: Session, reach: Reach) -> dict[str, int]:
        return _told(len(FactStore(session, self._house).of_records(sorted(reach.records))))

    def contents(self, session: Session, reach: Reach) -> Iterator[bytes]:
        """Names of files and digests: what they say is in the records."""
        return iter(())

    def erase(self, session: Session, reach: Reach) -> dict[str, int]:
        store, records = FactStore(session, self._house), sorted(reach.records)
        read = set(store.of_records(records))
        self._bury(session, records, read)
        return _told(store.drop(records))

    def _bury(self, session: Session, record_ids: Sequence[str], read: set[str]) -> None:
        """Every version of what was read from a file, now or before the file changed; and of everything, once records
        were written into such files, from where they could be read again."""
        was_written = any(one.kind == EXPORT for one in ReceiptStore(session, self._house).exports())
        versions = RecordStore(session, self._house).versions(record_ids)
        going = [
            record
            for record_id, found in versions.items()
            for record in found
            if was_written or record_id in read or record.origin is Origin.IMPORTED
        ]
        if not going:
            return
        keyed = hasher(session, self._house, make=True)
        assert keyed
        hashes = {words_hash(keyed, record.scope, record.text) for record in going}
        TombstoneStore(session, self._house).bury(TOMBSTONE, hashes, TOMBSTONE)


def _told(files: int) -> dict[str, int]:
    return {"memory_files": files} if files else {}
