"""Taking one file in: what it is, what lies in it, and every transcript of it to its reader.

A file of JSON lines is one transcript. Others are unpacked (`.zst`, `.zip`), or hold one or many transcripts in a form
of their own (a JSON document, a database), which their source turns into records. A file with many is a container: it
is marked as being read until all of them are, so that a crash in the middle is made good by reading it again.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.database.foreign import MAGIC
from recollect.errors import NotFound, Unreadable
from recollect.history.archives import is_archive, parts_of
from recollect.history.counts import Outcome, Problem
from recollect.history.detection import Unrecognised, detect
from recollect.history.finding import Found
from recollect.history.fold_state import FoldState
from recollect.history.identity import container_file, failed_sighting, seen_at, unfinished_sighting, unread_file
from recollect.history.opening import ZSTANDARD, Part, Stream, open_transcript, spool, stamp_of, unpacked
from recollect.history.sources import FileFacts, Head, Opened, Source, Transcript, recognise, source_named, sources
from recollect.history.store import ARCHIVE, CONTAINER, UNREAD, File, FileStatus, FileStore
from recollect.history.streams import Progress, RacedError, StreamReader
from recollect.redaction import mask
from recollect.settings import Settings

MAX_RACES = 20
"""How often a file is begun again because another process is reading it too, before it is left to that one."""
HEAD_BYTES = 1 << 18
"""A first record may bring along all instructions of its agent."""


@dataclass(slots=True)
class _Job:
    """One file that is being taken in."""

    found: Found
    opened: BinaryIO
    source: str | None
    reimport: bool
    progress: Progress
    outcome: Outcome = field(default_factory=Outcome)
    container_id: str = ""
    done: int = 0

    def report(self, reason: str) -> None:
        """A part that cannot be read; the rest is."""
        self.outcome.problems.append(Problem(file=self.found.path, reason=mask(reason)))

    def fail(self, error: Unreadable) -> None:
        """The rest of a transcript, or of the file, cannot be read; what came before is kept."""
        if self.outcome.failure is None:
            self.outcome.failure = error
        else:
            self.report(str(error))

    def advance(self) -> None:
        """For files that are not read line by line: how far they are read."""
        position = 0 if self.opened.closed else self.opened.tell()
        if position > self.done:
            self.progress(position - self.done)
            self.done = position


class Ingest:
    """Takes files into the history of one house."""

    def __init__(self, database: Database, settings: Settings, clock: Clock, *, keep_raw: bool) -> None:
        self._database = database
        self._house = settings.house
        self._clock = clock
        self._streams = StreamReader(database, settings, clock, keep_raw=keep_raw)
        self.ignore = self._streams.ignore

    def __enter__(self) -> "Ingest":
        return self

    def __exit__(self, *_: object) -> None:
        self._streams.close()

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
            try:
                with open_transcript(found.path) as opened:
                    status = stamp_of(found.path, os.fstat(opened.fileno()))
                    job = _Job(replace(found, status=status), opened, source, reimport, progress)
                    self._take(job)
            except RacedError:
                continue
            job.outcome.settle()
            return job.outcome
        return Outcome(skipped=True)  # Another process is reading the file all the time, and will finish it.

    def take_from_vault(self, file_id: str) -> Outcome:
        """Read a file again of which only the vault is left."""
        with self._database.read() as session:
            files = FileStore(session, self._house)
            file = files.get(file_id)
            inside = files.inside(file_id)
        if file is None:
            raise NotFound(f"No file {file_id} is known.")
        outcome = Outcome()
        for one in inside if file.kind == CONTAINER else [file]:
            try:
                outcome.add(self._streams.read_vault(one))
            except RacedError:
                continue  # Another process is at it.
        if file.kind == CONTAINER:
            with self._database.write() as session:
                FileStore(session, self._house).set_status(file.id, FileStatus.IDLE)
        outcome.settle()
        return outcome

    def set_aside(self, found: Found, reason: str, *, is_locked: bool = False, only_if_known: bool = False) -> None:
        """Remember a file that could not be read; it is tried again when it changes, a locked one at the next scan.
        `only_if_known`: what nobody has read anything from is no concern of ours."""
        with self._database.write() as session:
            files = FileStore(session, self._house)
            seen = files.seen(found.path)
            file = files.get(seen.file_id) if seen else None
            if file is None:
                if only_if_known:
                    return
                file = unread_file(found.path)
                files.save(file)
            files.set_status(file.id, FileStatus.FAILED, reason)
            sighting = unfinished_sighting if is_locked else failed_sighting
            files.see(sighting(found.path, file.id, found.status))

    def _take(self, job: _Job) -> None:
        if is_archive(job.opened):
            self._take_container(job, ARCHIVE, self._archived(job))
            return
        with unpacked(job.found.path, job.opened) as part:
            source = self._source_of(job, part)
            if source is None:
                if part.problem:
                    raise Unreadable(part.problem)
                return
            facts = _facts_of(source, part, job.found.root)
            given = source.transcripts(_opening(job, part), facts)
            if given is None:
                self._read_lines(job, part, source, facts)
            elif source.holds_many:
                self._take_container(job, source.name, ((source, transcript) for transcript in given))
            else:
                for transcript in given:
                    self._read_transcript(job, source, transcript)

    def _source_of(self, job: _Job, part: Part) -> Source | None:
        """Who reads this file; None while there is too little of it to tell."""
        path = job.found.path
        if job.source:
            return source_named(job.source)
        known = self._known_at(path)
        if known is None or known.source in (UNREAD, ARCHIVE):
            return detect(part.path, part.file, part.database, is_guess=job.found.is_guess)
        if known.source not in sources():
            raise Unreadable(f"{path} was read by the source {known.source}, which is not installed any more.")
        if known.kind == CONTAINER:  # Exports of several services have one name: it may be another one's by now.
            with suppress(Unrecognised):
                return _detect(part) or source_named(known.source)
        return source_named(known.source)

    def _known_at(self, path: str) -> File | None:
        with self._database.read() as session:
            files = FileStore(session, self._house)
            seen = files.seen(path)
            return files.get(seen.file_id) if seen else None

    def _take_container(self, job: _Job, source: str, inside: Iterable[tuple[Source, Transcript | Stream]]) -> None:
        """Take every transcript of a file that holds many. One that breaks off keeps what came before."""
        file = self._known_at(job.found.path)
        if file is None or file.kind != CONTAINER or file.source != source:
            file = container_file(job.found.path, source)
        job.container_id = file.id
        is_noted = False
        try:
            for owner, transcript in inside:
                if not is_noted:
                    self._note_container(file, FileStatus.INGESTING, job)
                    is_noted = True
                try:
                    self._read_transcript(job, owner, transcript)
                except Unreadable as error:
                    job.fail(error)
                job.advance()
        except Unreadable as error:
            if isinstance(error, Unrecognised) and not is_noted and not job.outcome.problems:
                raise
            job.fail(error)
        self._note_container(file, FileStatus.IDLE, job)

    def _note_container(self, file: File, status: FileStatus, job: _Job) -> None:
        file = replace(file, status=status, reason="", last_read_at=to_text(self._clock()))
        path = job.found.path
        with self._database.write() as session:
            files = FileStore(session, self._house)
            files.save(file)
            before = files.seen(path)
            if before and before.file_id != file.id:
                files.drop_unread(before.file_id)
            sighting = seen_at if status is FileStatus.IDLE else unfinished_sighting
            files.see(sighting(path, file.id, job.found.status))

    def _archived(self, job: _Job) -> Iterator[tuple[Source, Transcript | Stream]]:
        """Every transcript in an archive, entry by entry."""
        path = job.found.path
        has_any = False
        for part in parts_of(path, job.opened, job.report, None if job.source else _may_be_transcript):
            try:
                source = source_named(job.source) if job.source else _detect(part)
                has_any |= source is not None or any(one.is_candidate(part.path) for one in sources().values())
                if source is None:
                    continue
                facts = _facts_of(source, part, path)
                given = source.transcripts(_opening(job, part), facts)
                if given is None:
                    yield source, self._lines_of(job, part, source, facts)
                    if part.problem:
                        job.report(part.problem)
                    continue
                for transcript in given:
                    yield source, transcript
            except Unrecognised:
                continue  # An export brings along much that is no conversation.
            except Unreadable as error:
                job.report(str(error))
        if not has_any:
            raise Unrecognised(f"{path} holds no transcript that is known. Known sources: {', '.join(sources())}.")

    def _lines_of(self, job: _Job, part: Part, source: Source, facts: FileFacts) -> Stream:
        is_whole_file = part.file is job.opened
        return Stream(
            path=job.found.path,
            file=part.file,
            size=job.found.status.st_size if is_whole_file else part.file.seek(0, os.SEEK_END),
            source=source,
            facts=facts,
            status=job.found.status,
            container_id=job.container_id,
            version=facts.version,
            problem=part.problem,
        )

    def _read_lines(self, job: _Job, part: Part, source: Source, facts: FileFacts) -> None:
        stream = self._lines_of(job, part, source, facts)
        progress = job.progress if part.file is job.opened else _ignore
        self._streams.read(stream, job.outcome, reimport=job.reimport, progress=progress)
        if part.problem:
            job.fail(Unreadable(part.problem))

    def _read_transcript(self, job: _Job, source: Source, transcript: Transcript | Stream) -> None:
        if isinstance(transcript, Stream):
            self._read_member(job, transcript)
            return
        known = self._stored(source, transcript.facts.key) if transcript.facts.is_unique else None
        if known and not job.reimport and _is_old(known, transcript):
            self._note_older(job, known)
            return
        records = transcript.records
        if known and transcript.order:
            records = merged(self._kept(known, transcript), records, transcript)
        lines = _Lines(records)
        with spool(lines) as file:
            stream = Stream(
                path=job.found.path,
                file=file,
                size=lines.size,
                source=source,
                facts=transcript.facts,
                status=job.found.status,
                container_id=job.container_id,
                is_derived=True,
                is_partial=transcript.order is not None,
                version=transcript.version,
                problem="" if transcript.order else str(lines.problem or ""),
            )
            self._read_member(job, stream)
        if lines.problem:
            job.fail(lines.problem)

    def _note_older(self, job: _Job, known: File) -> None:
        """An older text that lies in a file of its own need not be opened again."""
        if not job.container_id:
            with self._database.write() as session:
                FileStore(session, self._house).see(seen_at(job.found.path, known.id, job.found.status))

    def _kept(self, known: File, transcript: Transcript) -> Iterator[bytes]:
        """What is known of a transcript. If a reader died while it was rewritten, a part has moved on already."""
        is_half_moved = known.status is FileStatus.INGESTING and FoldState.from_json(known.state).rewriting
        kept: Iterator[bytes] = iter(())
        for generation in range(0 if is_half_moved else known.generation, known.generation + 1):
            kept = merged(kept, self._streams.kept_records(known, generation), transcript)
        return kept

    def _read_member(self, job: _Job, stream: Stream) -> None:
        """If another process has this one of many, that process finishes it."""
        for _ in range(MAX_RACES if job.container_id else 1):
            try:
                self._streams.read(stream, job.outcome, reimport=job.reimport, progress=_ignore)
            except RacedError:
                if not job.container_id:
                    raise
                continue
            return

    def _stored(self, source: Source, key: str) -> File | None:
        with self._database.read() as session:
            return next(iter(FileStore(session, self._house).with_key(source.name, key)), None)


class _Lines:
    """Records as lines. Remembers how long they are, and what is wrong with their end."""

    def __init__(self, records: Iterable[bytes]) -> None:
        self._records = records
        self.size = 0
        self.problem: Unreadable | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            for record in self._records:
                self.size += len(record) + 1
                yield record + b"\n"
        except Unreadable as error:
            self.problem = error


def merged(kept: Iterator[bytes], given: Iterable[bytes], transcript: Transcript) -> Iterator[bytes]:
    """What is known of a transcript with a text that may be only a part of it, each record in its place."""
    place = transcript.order
    assert place is not None
    waiting = next(kept, None)
    broken: Unreadable | None = None
    try:
        for record in given:
            where = place(record)
            while waiting is not None and place(waiting) < where:
                yield waiting
                waiting = next(kept, None)
            if waiting is not None and place(waiting) == where:
                waiting = next(kept, None)
            yield record
    except Unreadable as error:
        broken = error  # Nothing that is known may be missing because the rest of a text is.
    while waiting is not None:
        yield waiting
        waiting = next(kept, None)
    if broken:
        raise broken


def _may_be_transcript(path: str, start: bytes) -> bool:
    """Told before a file in an archive is unpacked, which may take long."""
    if start.startswith((MAGIC, ZSTANDARD)) or any(source.is_candidate(path) for source in sources().values()):
        return True
    return recognise(Head(path, start), is_guess=True) is not None


def _detect(part: Part) -> Source | None:
    return detect(part.path, part.file, part.database, is_guess=True)


def _facts_of(source: Source, part: Part, root: str) -> FileFacts:
    facts = source.locate(part.path, root)
    if type(source).refine is Source.refine:
        return facts
    part.file.seek(0)
    return source.refine(facts, Head(part.path, part.file.read(HEAD_BYTES)))


def _opening(job: _Job, part: Part) -> Opened:
    part.file.seek(0)
    return Opened(path=part.path, file=part.file, report=job.report, database=part.database)


def _is_old(known: File, transcript: Transcript) -> bool:
    """Read already, in this text to its end, or in a later one, even if only half."""
    version = FoldState.from_json(known.state).version
    if not transcript.version:
        return False
    return transcript.version < version or (transcript.version == version and known.status is FileStatus.IDLE)


def _ignore(_: int) -> None:
    return None
