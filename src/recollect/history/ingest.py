"""Taking a file in: find out what changed, read only that, store it batch by batch.

One file at a time. Rows and the offset after them commit together, each batch checks that nobody else moved the
offset meanwhile, and what is already there is recognised; so a crash, a second process or a second run changes
nothing in the end. Errors of one file never stop the others.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import BinaryIO

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import NotFound
from recollect.history.counts import Counts, Outcome
from recollect.history.detection import FirstFacts, detect, first_facts
from recollect.history.finding import Found
from recollect.history.folding import Batch, Fold, FoldState
from recollect.history.identity import (
    Change,
    Identity,
    Sighting,
    failed_sighting,
    head_of,
    inode_of,
    is_unchanged,
    unfinished_sighting,
    unread_file,
)
from recollect.history.privacy import Ignore
from recollect.history.reading import Line, Unreadable, read_blocks
from recollect.history.records import KnownRecords
from recollect.history.sources import FileFacts, Source, source_named, sources
from recollect.history.store import UNREAD, File, FileStatus, FileStore, LineStore, SeenPath
from recollect.history.vault import Packer, digest_of
from recollect.history.writing import Writer
from recollect.settings import Settings

MAX_RACES = 20
"""How often a file is begun again because another process is reading it too, before it is left to that one."""
VAULT_PAGE = 100
"""Records, which may be of megabytes each."""

Progress = Callable[[int], None]
"""Called with the number of bytes that were just dealt with."""


class _RacedError(Exception):
    """Another process stored something of this file in between."""


def open_transcript(path: str) -> BinaryIO:
    try:
        path.encode()
        return open(path, "rb")
    except UnicodeEncodeError as error:
        raise Unreadable(f"{path!a} has a name that is not UTF-8. Rename it, then ingest it again.") from error
    except PermissionError as error:
        raise Unreadable(f"{path} may not be read: {error.strerror}. Check its permissions.") from error


class Ingest:
    """Takes files into the history of one house."""

    def __init__(self, database: Database, settings: Settings, clock: Clock, *, keep_raw: bool) -> None:
        self._database = database
        self._house = settings.house
        self._gap = timedelta(minutes=settings.conversation_gap_minutes)
        self._clock = clock
        self._keep_raw = keep_raw
        self.ignore = Ignore(str(settings.home))
        self._packer = Packer()

    def close(self) -> None:
        self._packer.close()

    def __enter__(self) -> "Ingest":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(
        self,
        found: Found,
        *,
        source: str | None = None,
        reimport: bool = False,
        progress: Progress = lambda _: None,
    ) -> Outcome:
        """Read what a file has new. Raises Unreadable or OSError when the file is to blame."""
        if found.status.st_size == 0:
            return Outcome(skipped=True)
        for _ in range(MAX_RACES):
            outcome = Outcome()
            with open_transcript(found.path) as opened:
                status = os.fstat(opened.fileno())
                reader = self._reader(found, opened, source)
                if reader is None:
                    return Outcome(skipped=True)
                sighting, facts = self._sight(found, opened, status, reader, reimport)
                file = sighting.file
                pending = file.status is FileStatus.INGESTING
                try:
                    if sighting.change is Change.NONE and not pending:
                        self._note_seen(sighting, found.path, status)
                        return Outcome(skipped=True)
                    self._read(sighting, reader, facts, opened, status, outcome, progress)
                except _RacedError:
                    continue
            outcome.skipped = not outcome.bytes_read and not outcome.counts.lines
            outcome.is_new_file, outcome.is_prompt_log = sighting.is_new, file.kind == "prompts"
            return outcome
        return Outcome(skipped=True)  # Another process is reading the file all the time, and will finish it.

    def take_from_vault(self, file_id: str) -> Outcome:
        """Read a file again of which only the vault is left."""
        with self._database.read() as session:
            file = FileStore(session, self._house).get(file_id)
        if file is None:
            raise NotFound(f"No file {file_id} is known.")
        try:
            return self._read_vault(file)
        except _RacedError:
            return Outcome(skipped=True)  # Another process is at it.

    def _read_vault(self, file: File) -> Outcome:
        outcome = Outcome(is_prompt_log=file.kind == "prompts")
        stored = (file.read_to, file.generation)
        state = FoldState.from_json(file.state)
        if state.vault_generation < 0:
            state = FoldState(rewriting=True, vault_generation=file.generation)
            file = replace(file, generation=file.generation + 1, counts=Counts(), status=FileStatus.INGESTING)
        source = source_named(file.source)
        known: KnownRecords = {}
        fold = self._fold(file, source, _facts(file), state, file.key, known)
        for lines in self._vault_lines(file.id, state.vault_generation, known):
            batch = fold.fold(lines, at_end=True)
            self._note_state(file, fold.state, batch)
            stored = self._store(file, batch, source, stored, rewriting=True, outcome=outcome)
        self._finish(file, fold.state, stored, None)
        return outcome

    def set_aside(self, found: Found, reason: str) -> None:
        """Remember a file that could not be read; it is tried again when it changes."""
        with self._database.write() as session:
            files = FileStore(session, self._house)
            seen = files.seen(found.path)
            file = files.get(seen.file_id) if seen else None
            if file is None:
                file = unread_file(found.path)
                files.save(file)
            files.set_status(file.id, FileStatus.FAILED, reason)
            files.see(failed_sighting(found.path, file.id, found.status))

    def _reader(self, found: Found, opened: BinaryIO, source: str | None) -> Source | None:
        """Who reads this file; None while there is too little of it to tell."""
        if source:
            return source_named(source)
        with self._database.read() as session:
            files = FileStore(session, self._house)
            seen = files.seen(found.path)
            known = files.get(seen.file_id) if seen else None
        if known is None or known.source == UNREAD:
            return detect(found.path, opened)
        if known.source not in sources():
            raise Unreadable(f"{found.path} was read by the source {known.source}, which is not installed any more.")
        return source_named(known.source)

    def _sight(
        self, found: Found, opened: BinaryIO, status: os.stat_result, source: Source, reimport: bool
    ) -> tuple[Sighting, FileFacts]:
        facts = source.locate(found.path, found.root)
        with self._database.read() as session:
            files = FileStore(session, self._house)
            seen = files.seen(found.path)
            known = files.get(seen.file_id) if seen else None
            if seen and known and known.source == source.name and is_unchanged(seen, status):
                sighting = Sighting(known, Change.NONE)
            else:
                identity = Identity(files, LineStore(session, self._house))
                sighting = identity.sight(found.path, opened, status.st_size, source, facts, seen)
        is_half_from_vault = FoldState.from_json(sighting.file.state).vault_generation >= 0
        if (reimport or is_half_from_vault) and not sighting.is_new and sighting.file.path == found.path:
            sighting.change = Change.REWRITTEN
        return sighting, facts

    def _read(
        self,
        sighting: Sighting,
        source: Source,
        facts: FileFacts,
        opened: BinaryIO,
        status: os.stat_result,
        outcome: Outcome,
        progress: Progress,
    ) -> None:
        file = sighting.file
        stored = None if sighting.is_new else (file.read_to, file.generation)
        state = FoldState.from_json(file.state)
        if sighting.change is Change.REWRITTEN:
            state = FoldState(rewriting=True)
            head = head_of(opened)
            file = replace(file, generation=file.generation + 1, head=head, read_to=0, newlines=0, counts=Counts())
        file = replace(file, status=FileStatus.INGESTING, reason="", last_read_at=to_text(self._clock()))
        known = self._known(file) if file.generation else None
        first = FirstFacts() if state.cwd and state.at else first_facts(opened)
        fold = self._fold(file, source, replace(facts, key=file.key), state, opened.name, known, first)
        for lines, is_last in _with_last(read_blocks(opened, file.read_to, file.newlines)):
            batch = fold.fold(lines, at_end=is_last)
            read = batch.end - file.read_to
            file.read_to, file.newlines = batch.end, batch.newlines
            if is_last and not state.rewriting and not state.must_regroup:
                file.status = FileStatus.IDLE
            self._note_state(file, fold.state, batch)
            # Seen from the first block on, so that a file whose reading is cut off and which then changes is the same.
            is_done = file.status is FileStatus.IDLE
            seen = _seen(opened.name, file.id, status) if is_done else unfinished_sighting(opened.name, file.id, status)
            later = state.rewriting or state.must_regroup
            stored = self._store(file, batch, source, stored, later, outcome, seen)
            state.must_regroup = FoldState.from_json(file.state).must_regroup
            outcome.bytes_read += read
            progress(read)
        if file.status is not FileStatus.IDLE:
            self._finish(file, fold.state, stored, _seen(opened.name, file.id, status))

    def _fold(
        self,
        file: File,
        source: Source,
        facts: FileFacts,
        state: FoldState,
        path: str,
        known: KnownRecords | None,
        first: FirstFacts | None = None,
    ) -> Fold:
        with self._database.read() as session:
            spans = FileStore(session, self._house).spans()
        return Fold(
            source=source,
            facts=facts,
            file_id=file.id,
            generation=file.generation,
            state=state,
            ignore=self.ignore,
            spans=spans,
            keep_raw=self._keep_raw,
            path=path,
            packer=self._packer,
            first=first or FirstFacts(),
            known=known,
        )

    def _known(self, file: File) -> KnownRecords:
        with self._database.read() as session:
            return LineStore(session, self._house).older_than(file.id, file.generation)

    def _note_state(self, file: File, state: FoldState, batch: Batch) -> None:
        file.session_id = file.session_id or state.session_id
        file.last_entry_at = max(file.last_entry_at, state.at)
        file.title = batch.title or file.title
        file.state = state.to_json()
        file.counts.add(batch.counts)

    def _store(
        self,
        file: File,
        batch: Batch,
        source: Source,
        stored: tuple[int, int] | None,
        rewriting: bool,
        outcome: Outcome,
        seen: SeenPath | None = None,
    ) -> tuple[int, int]:
        """Commit a batch; where the file stands in the database now."""
        with self._database.write() as session:
            writer = Writer(session, self._house, self._gap)
            self._check(writer.files, file, stored)
            added = writer.write(file, batch, source.parser_version, group_later=rewriting)
            if seen:
                self._see(writer.files, seen)
        outcome.messages_added += added
        outcome.counts.add(batch.counts)
        outcome.problems += batch.problems
        return (file.read_to, file.generation)

    def _finish(self, file: File, state: FoldState, stored: tuple[int, int] | None, seen: SeenPath | None) -> None:
        """The last step of a rewritten file, and of one whose reader died just before it."""
        must_finish = state.rewriting or state.must_regroup
        state.rewriting, state.must_regroup, state.vault_generation = False, False, -1
        file.status, file.state = FileStatus.IDLE, state.to_json()
        with self._database.write() as session:
            writer = Writer(session, self._house, self._gap)
            self._check(writer.files, file, stored)
            if must_finish:
                writer.finish(file)
            else:
                writer.files.save(file)
            if seen:
                self._see(writer.files, seen)

    def _check(self, files: FileStore, file: File, stored: tuple[int, int] | None) -> None:
        row = files.get(file.id)
        if (None if row is None else (row.read_to, row.generation)) != stored:
            raise _RacedError

    def _note_seen(self, sighting: Sighting, path: str, status: os.stat_result) -> None:
        """Nothing new, but it lies here or looks like this now: next time it need not be opened."""
        with self._database.write() as session:
            files = FileStore(session, self._house)
            file = sighting.file
            self._check(files, file, (file.read_to, file.generation))
            self._see(files, _seen(path, file.id, status))
            file.status, file.reason = FileStatus.IDLE, ""
            files.save(file)

    def _see(self, files: FileStore, seen: SeenPath) -> None:
        """It lies here. What stood for it while it could not be read is not needed any more."""
        before = files.seen(seen.path)
        if before and before.file_id != seen.file_id:
            files.drop_unread(before.file_id)
        files.see(seen)

    def _vault_lines(self, file_id: str, generation: int, known: KnownRecords) -> Iterator[list[Line]]:
        start = 0
        while True:
            with self._database.read() as session:
                page = LineStore(session, self._house).page(file_id, generation, start, VAULT_PAGE)
            if not page:
                return
            for first, _, raw in page:
                known.setdefault(digest_of(raw), deque()).append((generation, first))
            yield [Line(first, raw, number) for first, number, raw in page]
            start = page[-1][0] + 1


def _facts(file: File) -> FileFacts:
    return FileFacts(key=file.key, kind=file.kind, session_id=file.session_id, agent_id=file.agent_id)


def _seen(path: str, file_id: str, status: os.stat_result) -> SeenPath:
    return SeenPath(path, file_id, status.st_size, status.st_mtime_ns, inode_of(status))


def _with_last(blocks: Iterator[list[Line]]) -> Iterator[tuple[list[Line], bool]]:
    """Each block, and whether it is the last one."""
    previous = next(blocks, None)
    while previous is not None:
        following = next(blocks, None)
        yield previous, following is None
        previous = following
