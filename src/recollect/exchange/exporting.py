"""Writing records into a memory folder. A manifest says which files are ours; every other file stays as it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.exchange.erasing import EXPORT
from recollect.exchange.facts import INDEX, PROJECT_TAG, bytes_of, index_of, project_tag
from recollect.exchange.folders import (
    MOST_FILE_BYTES,
    digest_at,
    digest_of,
    prepared,
    read_manifest,
    remove,
    write,
    write_manifest,
)
from recollect.exchange.results import Left, MemoryExport
from recollect.exchange.store import FactStore
from recollect.history import History
from recollect.history.store.files import THIS_HOST
from recollect.ids import new_id
from recollect.knowledge import Knowledge, Record
from recollect.librarian.shelves.slugs import text_slug
from recollect.lineage import Export as Copy
from recollect.lineage import ReceiptStore
from recollect.scopes import Principal

MOST_RECORDS = 2_000
"""The most important ones: who opens the folder reads an index of it."""
ID_CHARACTERS = 6
OWNER_CHARACTERS = 16
NOT_OURS = "somebody else wrote or changed it: it stays as it is"


class Exporting:
    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        knowledge: Knowledge,
        history: History,
        principal: Principal,
    ) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._knowledge = knowledge
        self._history = history
        self._principal = principal

    def export_to(self, path: Path, project: str) -> MemoryExport:
        folder = prepared(path)
        owner = self._owner(project)
        owned = read_manifest(folder, owner)
        there = self._read_from(folder, owned)
        records = [record for record in self._chosen(project) if record.id not in there]
        chosen, left_out = records[:MOST_RECORDS], max(len(records) - MOST_RECORDS, 0)
        self._note(folder)
        writing = _Writing(folder, owned, owner)
        names = writing.names(chosen)
        writing.write({names[record.id]: record for record in chosen})
        return MemoryExport(
            folder=folder,
            written=writing.written,
            unchanged=writing.unchanged,
            removed=writing.removed,
            left=writing.left,
            left_out=left_out,
        )

    def _chosen(self, project: str) -> list[Record]:
        """What holds now, the most important first. What is about a moment fades, and has no place among facts."""
        now = to_text(self._clock())
        records = [
            record
            for record in self._knowledge.records(limit=100_000)
            if record.is_evergreen and record.true_from <= now and (not record.true_until or record.true_until > now)
        ]
        if project:
            records = self._of_project(records, project)
        return sorted(records, key=lambda record: (-record.importance, record.learned_at, record.id))

    def _of_project(self, records: Sequence[Record], project: str) -> list[Record]:
        messages = self._history.documents(
            sorted({source.message_id for record in records for source in record.sources})
        )
        wanted, tagged = project.casefold(), project_tag(project).casefold().removeprefix(PROJECT_TAG).strip("-")
        return [
            record
            for record in records
            if any(tag.startswith(PROJECT_TAG) and tagged in tag.casefold() for tag in record.tags)
            or any(
                wanted in messages[source.message_id].cwd.casefold()
                for source in record.sources
                if source.message_id in messages
            )
        ]

    def _owner(self, project: str) -> str:
        """Whose export it is: what another house, agent or project wrote there is not ours to take away."""
        named = f"{self._database.location}\n{self._house}\n{self._principal.scope}\n{project.casefold()}"
        return digest_of(named.encode())[:OWNER_CHARACTERS]

    def _read_from(self, folder: Path, owned: Mapping[str, Sequence[str]]) -> set[str]:
        """Records that were read from files which lie in this very folder, and which we did not write: it has them
        already."""
        with self._database.read() as session:
            kept = FactStore(session, self._house).of_folder(THIS_HOST, str(folder))
        digests = {one.record_id: (one.name, digest_at(folder, one.name)) for one in kept.values()}
        return {
            record_id
            for record_id, (name, digest) in digests.items()
            if digest is not None and digest not in owned.get(name, ())
        }

    def _note(self, folder: Path) -> None:
        """Before it is made: who forgets is told of the copies that forgetting does not reach."""
        with self._database.write() as session:
            store = ReceiptStore(session, self._house)
            if not any((one.kind, one.path) == (EXPORT, str(folder)) for one in store.exports()):
                copy = Copy(id=new_id(), at=to_text(self._clock()), kind=EXPORT, path=str(folder))
                store.note_export(copy)


class _Writing:
    """One export into one folder. The manifest is written before the files, with what each of them was and shall be:
    whenever it is cut off, our files are known as ours."""

    def __init__(self, folder: Path, owned: Mapping[str, Sequence[str]], owner: str) -> None:
        self._folder = folder
        self._owner = owner
        self._owned = {name: tuple(digests) for name, digests in owned.items()}
        """File → the digests with which it is ours."""
        self.written: list[str] = []
        self.unchanged: list[str] = []
        self.removed: list[str] = []
        self.left: list[Left] = []

    def names(self, records: Sequence[Record]) -> dict[str, str]:
        """Record → the name of its file: its first words, and the end of its id where others begin so, or where a file
        of somebody else has that name."""
        slugs = {record.id: text_slug(record.text) for record in records}
        number = Counter(slugs.values())
        names = {
            record_id: f"{slug}.md"
            if number[slug] == 1 and self._is_free(f"{slug}.md")
            else f"{slug}-{record_id.replace('-', '')[-ID_CHARACTERS:]}.md"
            for record_id, slug in slugs.items()
        }
        if len(set(names.values())) < len(names):
            names = {one: f"{slug}-{one}.md" for one, slug in slugs.items()}
        return names

    def _is_free(self, name: str) -> bool:
        is_index = name.casefold() == INDEX.casefold()
        return not is_index and (name in self._owned or digest_at(self._folder, name) is None)

    def write(self, files: Mapping[str, Record]) -> None:
        contents: dict[str, bytes] = {}
        for name, record in files.items():
            content = bytes_of(record, name.removesuffix(".md"))
            if len(content) > MOST_FILE_BYTES:
                self.left.append(Left(file=name, reason=f"it would have more than {MOST_FILE_BYTES:,} bytes"))
            elif self._is_ours(name, content):
                contents[name] = content
        index = index_of([(name, files[name]) for name in contents])
        if (contents or INDEX in self._owned) and self._is_ours(INDEX, index):
            contents[INDEX] = index
        digests = {name: digest_of(content) for name, content in contents.items()}
        if digests or self._owned:
            planned = {name: (*self._owned.get(name, ()), digest) for name, digest in digests.items()}
            write_manifest(self._folder, {**self._owned, **planned}, self._owner)
            put = {name for name, content in contents.items() if self._put(name, content)}
            kept = self._remove_rest(contents)
            ours = {name: (digest,) if name in put else planned[name] for name, digest in digests.items()}
            write_manifest(self._folder, {**kept, **ours}, self._owner)

    def _is_ours(self, name: str, content: bytes) -> bool:
        """Whether nothing lies there, or what we wrote and nobody changed, or just what shall lie there."""
        digest = digest_at(self._folder, name)
        is_ours = digest is None or digest in self._owned.get(name, ()) or digest == digest_of(content)
        if not is_ours:
            self.left.append(Left(file=name, reason=NOT_OURS))
        return is_ours

    def _put(self, name: str, content: bytes) -> bool:
        """Whether it is there now. Looked at once more: many files may have been written since the first look."""
        if not self._is_ours(name, content):
            return False
        if digest_at(self._folder, name) == digest_of(content):
            self.unchanged.append(name)
        else:
            write(self._folder, name, content)
            self.written.append(name)
        return True

    def _remove_rest(self, contents: Mapping[str, bytes]) -> dict[str, tuple[str, ...]]:
        """What earlier exports wrote and this one did not goes, unless somebody changed it; what stays ours."""
        kept: dict[str, tuple[str, ...]] = {}
        told = {one.file for one in self.left}
        for name, digests in sorted(self._owned.items()):
            now = digest_at(self._folder, name)
            if name in contents or now is None:
                continue
            if now in digests:
                remove(self._folder, name)
                self.removed.append(name)
                continue
            kept[name] = digests
            if name not in told:
                self.left.append(Left(file=name, reason=NOT_OURS))
        return kept
