"""Who asks: the same history, knowledge and notes as everybody's, as far as this one may see them.

The index leaves out what lies in other scopes before it ranks. What is shown is read again through these, where the
condition stands in SQL: a row that the index misjudges, because it moved a moment ago, does not come out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.feed import MESSAGE, NOTE, RECORD
from recollect.history import History, Message
from recollect.knowledge import Knowledge, Record
from recollect.notes import Notes
from recollect.recall.index.documents import VERSION_SIGN, thing_of, version_name
from recollect.recall.material import record_text
from recollect.recall.noted import Noted, noted

Shown = Message | Record | Noted


def text_of(shown: Shown) -> str:
    """What of it is searched."""
    return record_text(shown) if isinstance(shown, Record) else shown.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    scopes: tuple[str, ...] | None
    """None: all of them."""
    history: History
    knowledge: Knowledge
    notes: Notes

    def load(self, document_ids: Sequence[str]) -> dict[str, Shown]:
        """Those of these documents that are there and may be seen."""
        names: dict[str, list[str]] = {MESSAGE: [], RECORD: [], NOTE: []}
        for name in filter(None, document_ids):
            names[thing_of(name).kind].append(name)
        shown: dict[str, Shown] = {}
        shown |= self.history.documents(names[MESSAGE])
        shown |= self._versions(names[RECORD])
        shown |= self._sections(names[NOTE])
        return shown

    def _versions(self, names: Sequence[str]) -> dict[str, Record]:
        """A record that may be seen is seen with its earlier versions, unless they lay elsewhere."""
        wanted = set(names)
        if not wanted:
            return {}
        now = self.knowledge.shown(sorted({name.partition(VERSION_SIGN)[0] for name in wanted}))
        found = {version_name(record.id, record.version): record for record in now.values()}
        earlier = {name.partition(VERSION_SIGN)[0] for name in wanted - found.keys()} & now.keys()
        for versions in self.knowledge.indexed(sorted(earlier)).values() if earlier else ():
            found |= {version_name(record.id, record.version): record for record in versions}
        return {name: found[name] for name in names if name in found}

    def _sections(self, names: Sequence[str]) -> dict[str, Noted]:
        """A note that changed meanwhile is shown where it still says what was found."""
        wanted = set(names)
        notes = self.notes.indexed(sorted({thing_of(name).id for name in wanted})) if wanted else {}
        return {part.id: part for note in notes.values() for part in noted(note) if part.id in wanted}
