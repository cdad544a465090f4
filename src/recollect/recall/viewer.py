"""Who asks: the same history and knowledge as everybody's, as far as this one may see them.

The index leaves out what lies in other scopes before it ranks. What is shown is read again through these, where the
condition stands in SQL: a row that the index misjudges, because it moved a moment ago, does not come out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.history import History, Message
from recollect.knowledge import Knowledge, Record
from recollect.recall.index.documents import VERSION_SIGN, version_name
from recollect.recall.material import record_text

Shown = Message | Record


def text_of(shown: Shown) -> str:
    """What of it is searched."""
    return record_text(shown) if isinstance(shown, Record) else shown.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    scopes: tuple[str, ...] | None
    """None: all of them."""
    history: History
    knowledge: Knowledge

    def load(self, document_ids: Sequence[str]) -> dict[str, Shown]:
        """Those of these documents that are there and may be seen."""
        names = [name for name in document_ids if name]
        shown: dict[str, Shown] = {}
        shown |= self.history.documents([name for name in names if VERSION_SIGN not in name])
        shown |= self._versions([name for name in names if VERSION_SIGN in name])
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
