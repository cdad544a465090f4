"""Reading one transcript: find out what changed, read only that, store it batch by batch.

A transcript is a stream of records, a line each: the file itself, or what was unpacked from it. Rows and the offset
after them commit together, each batch checks that nobody else moved the offset meanwhile, and what is already there is
recognised; so a crash, a second process or a second run changes nothing in the end.
"""

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Unreadable
from recollect.history.burial import KINDS, Buried, buried_in
from recollect.history.counts import Counts, Outcome
from recollect.history.detection import FirstFacts, first_facts
from recollect.history.fold_state import Batch, FoldState
from recollect.history.folding import Fold
from recollect.history.identity import (
    Change,
    Identity,
    Sighting,
    head_of,
    is_unchanged,
    seen_at,
    unfinished_sighting,
)
from recollect.history.opening import Stream
from recollect.history.privacy import Ignore
from recollect.history.reading import Line, read_blocks
from recollect.history.records import FORGOTTEN, KnownRecords
from recollect.history.sources import FileFacts, Source, source_named
from recollect.history.spans import Span
from recollect.history.store import File, FileStatus, FileStore, LineStore, SeenPath
from recollect.history.vault import Packer, digest_of
from recollect.history.writing import Writer
from recollect.lineage import TombstoneStore
from recollect.settings import Settings

ALWAYS = "0000"
"""Before every time: what is read again may have been written at any."""
VAULT_PAGE = 100
"""Records, which may be of megabytes each."""

Progress = Callable[[int], None]
"""Called with the number of bytes that were just dealt with."""


class RacedError(Exception):
    """Another process stored something of this transcript in between."""


class StreamReader:
    """Reads transcripts into the history of one house."""

    def __init__(self, database: Database, settings: Settings, clock: Clock, *, keep_raw: bool) -> None:
        self._database = database
        self._house = settings.house
        self._gap = timedelta(minutes=settings.conversation_gap_minutes)
        self._clock = clock
        self._keep_raw = keep_raw
        self.ignore = Ignore(str(settings.home))
        self._packer = Packer()
        self._buried: Buried | None = None
        """What may not come in, as it was when the file that is being read was opened."""

    def close(self) -> None:
        self._packer.close()

    def read(self, stream: Stream, outcome: Outcome, *, reimport: bool = False, progress: Progress) -> None:
        """Read what a transcript has new. Raises RacedError, and Unreadable when only a part of a known one is left."""
        self._look_for_buried()
        if self._is_buried(stream):
            return
        sighting = self._sight(stream, reimport)
        if stream.problem and not sighting.is_new:
            raise Unreadable(stream.problem)
        file = sighting.file
        if sighting.change is Change.NONE and file.status is not FileStatus.INGESTING:
            self._note_seen(sighting, stream)
            return
        self._read(sighting, stream, outcome, progress)
        outcome.is_new_file |= sighting.is_new
        outcome.is_prompt_log |= file.kind == "prompts"

    def read_vault(self, file: File) -> Outcome:
        """Read a transcript again of which only the vault is left. Raises RacedError."""
        outcome = Outcome(is_prompt_log=file.kind == "prompts")
        self._look_for_buried()
        stored = (file.read_to, file.generation)
        state = FoldState.from_json(file.state)
        is_half_moved = state.rewriting and state.vault_generation < 0
        if state.vault_generation < 0:
            state = FoldState(rewriting=True, folder=state.folder, version=state.version)
            state.vault_generation = file.generation
            file = replace(file, generation=file.generation + 1, counts=Counts(), status=FileStatus.INGESTING)
        source = source_named(file.source)
        known: KnownRecords = {}
        fold = self._fold(file, source, _facts(file), state, file.key, known)
        for lines in self._all_vault_lines(file.id, state.vault_generation, known, is_half_moved):
            batch = fold.fold(lines, at_end=True)
            self._note_state(file, fold.state, batch)
            stored = self._store(file, batch, source, stored, rewriting=True, outcome=outcome)
            _take_over(FoldState.from_json(file.state), state)
        self._finish(file, fold.state, stored, None)
        return outcome

    def _look_for_buried(self) -> None:
        with self._database.read() as session:
            known = self._buried.number if self._buried else 0
            if known != TombstoneStore(session, self._house).count(KINDS):
                self._buried = buried_in(session, self._house)

    def _is_buried(self, stream: Stream) -> bool:
        if not self._buried:
            return False
        head, facts = head_of(stream.file), stream.facts
        marks = (facts.session_id, head, self._buried.head(head))
        return self._buried.has_file(stream.source.name, facts.key, *marks)

    def _sight(self, stream: Stream, reimport: bool) -> Sighting:
        with self._database.read() as session:
            files = FileStore(session, self._house)
            seen = None if stream.container_id else files.seen(stream.path)
            known = files.get(seen.file_id) if seen else None
            if seen and known and known.source == stream.source.name and is_unchanged(seen, stream.status):
                sighting = Sighting(known, Change.NONE)
            else:
                sighting = Identity(files, LineStore(session, self._house), self._buried).sight(stream, seen)
        is_half_from_vault = FoldState.from_json(sighting.file.state).vault_generation >= 0
        if (reimport or is_half_from_vault) and not sighting.is_new and sighting.file.path == stream.path:
            sighting.change, sighting.is_reimport = Change.REWRITTEN, True
        return sighting

    def _read(self, sighting: Sighting, stream: Stream, outcome: Outcome, progress: Progress) -> None:
        file, opened, source = sighting.file, stream.file, stream.source
        since = ALWAYS if sighting.is_reimport else "" if sighting.is_new else file.last_read_at
        stored = None if sighting.is_new else (file.read_to, file.generation)
        state = FoldState.from_json(file.state)
        if sighting.change is Change.REWRITTEN:
            state = FoldState(rewriting=True, folder=state.folder)
            head = head_of(opened)
            file = replace(file, generation=file.generation + 1, head=head, read_to=0, newlines=0, title="")
            file.counts = Counts()
        state.version = stream.version
        file = replace(file, status=FileStatus.INGESTING, reason="", last_read_at=to_text(self._clock()))
        file.container_id = stream.container_id
        known = self._known(file) if file.generation else None
        first = FirstFacts() if state.cwd and state.at else first_facts(opened, source, stream.facts)
        facts = replace(stream.facts, key=file.key)
        fold = self._fold(file, source, facts, state, stream.path, known, first, stream=stream, since=since)
        for lines, is_last in _with_last(read_blocks(opened, file.read_to, file.newlines)):
            with _without_collecting():
                batch = fold.fold(lines, at_end=is_last)
            read = batch.end - file.read_to
            file.read_to, file.newlines = batch.end, batch.newlines
            if is_last and not state.rewriting and not state.must_regroup:
                file.status = FileStatus.IDLE
            self._note_state(file, fold.state, batch)
            later = state.rewriting or state.must_regroup
            stored = self._store(file, batch, source, stored, later, outcome, self._sighting(stream, file))
            _take_over(FoldState.from_json(file.state), state)
            outcome.bytes_read += read
            progress(read)
        if file.status is not FileStatus.IDLE:
            file.status = FileStatus.IDLE
            self._finish(file, fold.state, stored, self._sighting(stream, file))

    def _sighting(self, stream: Stream, file: File) -> SeenPath | None:
        """Seen from the first block on, so that a file whose reading is cut off and which then changes is the same."""
        if stream.container_id:
            return None
        is_done = file.status is FileStatus.IDLE
        return (seen_at if is_done else unfinished_sighting)(stream.path, file.id, stream.status)

    def _fold(
        self,
        file: File,
        source: Source,
        facts: FileFacts,
        state: FoldState,
        path: str,
        known: KnownRecords | None,
        first: FirstFacts | None = None,
        stream: Stream | None = None,
        since: str = "",
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
            is_derived=bool(stream and stream.is_derived),
            is_partial=bool(stream and stream.is_partial),
            undated_at=_undated_at(stream, since, spans) if stream else "",
            buried=self._buried,
            scope=self._buried.head(file.head) if self._buried else "",
        )

    def _known(self, file: File) -> KnownRecords:
        with self._database.read() as session:
            return LineStore(session, self._house).older_than(file.id, file.generation)

    def _note_state(self, file: File, state: FoldState, batch: Batch) -> None:
        file.session_id = file.session_id or state.session_id
        file.last_entry_at = max(file.last_entry_at, state.at)
        file.title = batch.title or file.title
        if batch.has_forgotten_head and self._buried:
            file.head = self._buried.head(file.head)
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
            self._check(session, file, stored)
            added = writer.write(file, batch, source.parser_version, group_later=rewriting)
            if seen:
                self._see(writer.files, seen)
        outcome.messages_added += added
        outcome.counts.add(batch.counts)
        outcome.problems += batch.problems
        return (file.read_to, file.generation)

    def _finish(self, file: File, state: FoldState, stored: tuple[int, int] | None, seen: SeenPath | None) -> None:
        """The last step of a rewritten file, and of one whose reader died just before it."""
        must_finish, must_follow = state.rewriting or state.must_regroup, state.must_follow
        state.rewriting, state.must_regroup, state.must_follow, state.vault_generation = False, False, False, -1
        file.status, file.state = FileStatus.IDLE, state.to_json()
        with self._database.write() as session:
            writer = Writer(session, self._house, self._gap)
            self._check(session, file, stored)
            if must_finish:
                writer.finish(file, follow_tree=must_follow)
            else:
                writer.files.save(file)
            if seen:
                self._see(writer.files, seen)

    def _check(self, session: Session, file: File, stored: tuple[int, int] | None) -> None:
        """Nobody else went on with this file meanwhile, and nothing was forgotten that may stand in it."""
        row = FileStore(session, self._house).get(file.id)
        if (None if row is None else (row.read_to, row.generation)) != stored:
            raise RacedError
        buried = TombstoneStore(session, self._house).count(KINDS)
        if buried != (self._buried.number if self._buried else 0):
            raise RacedError

    def _note_seen(self, sighting: Sighting, stream: Stream) -> None:
        """Nothing new, but it lies here or looks like this now: next time it need not be opened."""
        with self._database.write() as session:
            files = FileStore(session, self._house)
            file = sighting.file
            self._check(session, file, (file.read_to, file.generation))
            if not stream.container_id:
                self._see(files, seen_at(stream.path, file.id, stream.status))
            file.status, file.reason = FileStatus.IDLE, ""
            files.save(file)

    def _see(self, files: FileStore, seen: SeenPath) -> None:
        """It lies here. What stood for it while it could not be read is not needed any more."""
        before = files.seen(seen.path)
        if before and before.file_id != seen.file_id:
            files.drop_unread(before.file_id)
        files.see(seen)

    def kept_records(self, file: File, generation: int) -> Iterator[bytes]:
        """What the vault has of a transcript, in its order."""
        for lines in self._vault_lines(file.id, generation, {}):
            yield from (line.raw for line in lines if not line.forgotten)

    def _all_vault_lines(
        self, file_id: str, generation: int, known: KnownRecords, is_half_moved: bool
    ) -> Iterator[list[Line]]:
        """If a reader died while it rewrote the file, what it had not come to yet follows what it had."""
        end = 0
        for lines in self._vault_lines(file_id, generation, known):
            end = lines[-1].start + len(lines[-1].raw) + 1
            yield lines
        if is_half_moved:
            for lines in self._vault_lines(file_id, generation - 1, known):
                yield [replace(line, start=line.start + end) for line in lines]

    def _vault_lines(self, file_id: str, generation: int, known: KnownRecords) -> Iterator[list[Line]]:
        start = 0
        while True:
            with self._database.read() as session:
                page = LineStore(session, self._house).page(file_id, generation, start, VAULT_PAGE)
            if not page:
                return
            for first, _, kind, raw in page:
                digest = 0 if kind == FORGOTTEN else digest_of(raw)
                known.setdefault(digest, deque()).append((generation, first))
            yield [Line(first, raw, number, forgotten=kind == FORGOTTEN) for first, number, kind, raw in page]
            start = page[-1][0] + 1


def _take_over(written: FoldState, state: FoldState) -> None:
    """What the writer found out about a block counts for the next one."""
    state.must_regroup, state.forgotten_prompts = written.must_regroup, written.forgotten_prompts


def _facts(file: File) -> FileFacts:
    return FileFacts(key=file.key, kind=file.kind, session_id=file.session_id, agent_id=file.agent_id)


def _undated_at(stream: Stream, since: str, spans: list[Span]) -> str:
    """A moment for records without any: inside a pause, if they may have been written in one.

    They were written between the last reading and the last change of the file; of a new file only the latter is known.
    """
    written = to_text(datetime.fromtimestamp(stream.status.st_mtime_ns / 1e9, UTC))
    for span in spans:
        if span.session_id or span.starts_at > written:
            continue
        ends_at = span.ends_at or written
        if ends_at > since if since else ends_at >= written:
            return min(written, ends_at)
    return ""


@contextmanager
def _without_collecting() -> Generator[None]:
    """A block becomes tens of thousands of objects without a cycle among them: searching them for some takes a tenth of
    the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _with_last(blocks: Iterator[list[Line]]) -> Iterator[tuple[list[Line], bool]]:
    """Each block, and whether it is the last one."""
    previous = next(blocks, None)
    while previous is not None:
        following = next(blocks, None)
        yield previous, following is None
        previous = following
