"""Taking in what is said to Recollect itself, record by record, inside somebody's transaction.

There is no file: the records stand in the vault as if one had been read, behind one another in a transcript that is
known by its key. They become messages and conversations by the same code as those of every other source.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.clock import Clock, to_text
from recollect.database import Session
from recollect.errors import Invalid
from recollect.history.reading import Line
from recollect.history.store import File, FileStore, LineStore

if TYPE_CHECKING:
    from recollect.history.sources import FileFacts
    from recollect.settings import Settings


class Appending:
    """Loaded when something is appended: it brings the parsers along."""

    def __init__(self, settings: "Settings", clock: Clock) -> None:
        from recollect.history.privacy import Ignore
        from recollect.history.vault import Packer

        self._house = settings.house
        self._gap = timedelta(minutes=settings.conversation_gap_minutes)
        self._keep_raw = settings.keep_raw
        self._clock = clock
        self._ignore = Ignore("")
        self._packer = Packer()

    def close(self) -> None:
        self._packer.close()

    def append(self, session: Session, source_name: str, facts: "FileFacts", records: Sequence[bytes]) -> list[str]:
        """The ids of the messages they became, in their order. Each record is a message of its own that is new."""
        from recollect.history.fold_state import FoldState
        from recollect.history.folding import Fold
        from recollect.history.sources import source_named
        from recollect.history.writing import Writer

        source = source_named(source_name)
        file = self._file(session, source_name, facts)
        fold = Fold(
            source=source,
            facts=facts,
            file_id=file.id,
            generation=file.generation,
            state=FoldState.from_json(file.state),
            ignore=self._ignore,
            spans=[],
            keep_raw=self._keep_raw,
            path=file.key,
            packer=self._packer,
        )
        batch = fold.fold(_lines(file, records), at_end=True)
        if len(batch.messages) != len(records):
            raise Invalid(f"{len(records) - len(batch.messages)} of {len(records)} records could not be taken in.")
        file.read_to, file.newlines = batch.end, batch.newlines
        file.last_read_at = to_text(self._clock())
        file.last_entry_at = max(file.last_entry_at, fold.state.at)
        file.state = fold.state.to_json()
        file.counts.add(batch.counts)
        Writer(session, self._house, self._gap).write(file, batch, source.parser_version, group_later=False)
        return list(batch.messages)

    def raw(
        self, session: Session, source_name: str, facts: "FileFacts", message_ids: Sequence[str]
    ) -> dict[str, bytes]:
        """Message → its record, as it was appended: a copy that was taken in from a file may have been changed. What
        was forgotten is not among them."""
        own = {file.id for file in FileStore(session, self._house).with_key(source_name, facts.key)}
        found = LineStore(session, self._house).occurrences(list(message_ids))
        return {one.message_id: one.raw for one in found if one.file_id in own}

    def _file(self, session: Session, source: str, facts: "FileFacts") -> File:
        from recollect.history.identity import file_without_place

        known = FileStore(session, self._house).with_key(source, facts.key)
        return known[0] if known else file_without_place(source, facts)


def _lines(file: File, records: Sequence[bytes]) -> list[Line]:
    lines: list[Line] = []
    start, number = file.read_to, file.newlines + 1
    for raw in records:
        lines.append(Line(start, raw, number))
        start, number = start + len(raw) + 1, number + 1
    return lines
