"""The vault: records as they were read. Rows that belong to a message are its occurrences."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.database import Session
from recollect.history.records import KnownRecords, Stored
from recollect.history.store.seeing import SEEN, limited, of_seen_files
from recollect.scopes import EVERYTHING, Sight

INSERT = """
INSERT INTO history_lines
    (house, file_id, generation, start_byte, length, line, digest, kind, message_id, parser, raw)
VALUES (:house, :file_id, :generation, :start_byte, :length, :line, :digest, :kind, :message_id, :parser, :raw)
"""
MOVE = """
UPDATE history_lines SET generation = :generation, start_byte = :start_byte, line = :line, kind = :kind,
    message_id = :message_id, parser = :parser,
    length = CASE WHEN digest = 0 AND :length > 0 THEN :new_length ELSE length END,
    raw = CASE WHEN length(:new_raw) > 0 THEN :masked_raw ELSE raw END
WHERE house = :house AND file_id = :file_id AND generation = :old_generation AND start_byte = :old_start
"""
OLDER = """
SELECT digest, generation, start_byte FROM history_lines
WHERE house = :house AND file_id = :file_id AND generation < :generation
ORDER BY generation DESC, start_byte
"""
OF_FILE = """
SELECT start_byte, line, kind, raw FROM history_lines
WHERE house = :house AND file_id = :file_id AND generation = :generation AND start_byte >= :start_byte
ORDER BY start_byte LIMIT :limit
"""
REMNANTS = """
SELECT start_byte, raw FROM history_lines
WHERE house = :house AND file_id = :file_id AND generation = :generation AND digest = 0
ORDER BY start_byte
"""
PROBE = """
SELECT start_byte, length, digest FROM history_lines
WHERE house = :house AND file_id = :file_id AND generation = :generation AND start_byte >= :start_byte
ORDER BY start_byte LIMIT 1
"""
LAST_BEFORE = """
SELECT start_byte, length, digest FROM history_lines
WHERE house = :house AND file_id = :file_id AND generation = :generation AND start_byte < :start_byte
ORDER BY start_byte DESC LIMIT 1
"""
DIGESTS = """
SELECT start_byte, length, digest FROM history_lines
WHERE house = :house AND file_id = :file_id AND generation = :generation AND start_byte + length <= :up_to
ORDER BY start_byte
"""
OCCURRENCES = """
SELECT message_id, file_id, generation, start_byte, line, raw FROM history_lines
WHERE house = :house AND message_id IN (:values)
"""
AT_LINE = """
SELECT raw FROM history_lines
WHERE house = :house AND file_id = :file_id AND message_id = :message_id ORDER BY generation DESC, start_byte
"""
TOTALS = f"""
SELECT count(*), coalesce(sum(length), 0), coalesce(sum(length(raw)), 0) FROM history_lines WHERE house = :house {SEEN}
"""


def unpack(packed: bytes) -> bytes:
    """Most commands never look into the vault: its library is loaded by those that do."""
    from recollect.history.vault import unpack as unpack_record

    return unpack_record(packed)


@dataclass(frozen=True, slots=True)
class Occurrence:
    message_id: str
    file_id: str
    generation: int
    start_byte: int
    line: int
    packed: bytes

    @property
    def raw(self) -> bytes:
        return unpack(self.packed)


@dataclass(frozen=True, slots=True)
class Probe:
    start_byte: int
    length: int
    digest: int
    """0: the record was forgotten."""


class LineStore:
    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._seen = of_seen_files(sight)

    def add(self, file_id: str, generation: int, parser: int, records: list[Stored]) -> None:
        house = self._house
        self._session.many(
            INSERT,
            [
                (
                    house, file_id, generation, item.start, item.length, item.line, item.digest, item.kind,
                    item.message_id, parser, item.raw,
                )
                for item in records
                if item.was is None
            ],
        )  # fmt: skip
        moved = [item for item in records if item.was is not None]
        if moved:
            self._session.many(
                MOVE,
                [
                    (
                        generation, item.start, item.line, item.kind, item.message_id, parser, item.length,
                        item.length, item.raw, item.raw, house, file_id, *(item.was or ()),
                    )
                    for item in moved
                ],
            )  # fmt: skip

    def older_than(self, file_id: str, generation: int) -> KnownRecords:
        """The records that a file had before it was rewritten, by their digest."""
        known: KnownRecords = {}
        rows = self._session.each(OLDER, self._given(file_id=file_id, generation=generation))
        for digest, old_generation, start in rows:
            known.setdefault(digest, deque()).append((old_generation, start))
        return known

    def page(self, file_id: str, generation: int, start_byte: int, limit: int) -> list[tuple[int, int, str, bytes]]:
        """(start, line, kind, raw) of the next records of a file, from the vault alone."""
        rows = self._session.rows(
            OF_FILE, self._given(file_id=file_id, generation=generation, start_byte=start_byte, limit=limit)
        )
        return [(start, line, kind, unpack(packed)) for start, line, kind, packed in rows]

    def remnants(self, file_id: str, generation: int) -> Iterator[tuple[int, bytes]]:
        """(start, what is left) of the forgotten records of a file."""
        for start, packed in self._session.each(REMNANTS, self._given(file_id=file_id, generation=generation)):
            yield start, unpack(packed)

    def probes(self, file_id: str, generation: int, up_to: int, number: int) -> list[Probe]:
        """A few records spread over the first `up_to` bytes, the first and the last among them."""
        found: dict[int, Probe] = {}
        for index in range(number):
            given = self._given(file_id=file_id, generation=generation, start_byte=up_to * index // number)
            row = self._session.one(PROBE, given)
            if row and row[0] + row[1] <= up_to:
                found[row[0]] = Probe(*row)
        last = self._session.one(LAST_BEFORE, self._given(file_id=file_id, generation=generation, start_byte=up_to))
        if last and last[0] + last[1] <= up_to:
            found[last[0]] = Probe(*last)
        return sorted(found.values(), key=lambda probe: probe.start_byte)

    def digests(self, file_id: str, generation: int, up_to: int) -> Iterator[Probe]:
        given = self._given(file_id=file_id, generation=generation, up_to=up_to)
        for row in self._session.each(DIGESTS, given):
            yield Probe(*row)

    def occurrences(self, message_ids: list[str]) -> list[Occurrence]:
        rows = self._session.among(OCCURRENCES, message_ids, {"house": self._house})
        return [Occurrence(*row) for row in rows]

    def raw_of(self, file_id: str, message_id: str) -> list[bytes]:
        rows = self._session.rows(AT_LINE, self._given(file_id=file_id, message_id=message_id))
        return [unpack(row[0]) for row in rows]

    def totals(self) -> tuple[int, int, int]:
        """Records, their bytes as read, their bytes as kept."""
        row = self._session.one(limited(TOTALS, self._seen), {"house": self._house})
        return (int(row[0]), int(row[1]), int(row[2])) if row else (0, 0, 0)

    def _given(self, **parameters: object) -> dict[str, object]:
        return {"house": self._house, **parameters}
