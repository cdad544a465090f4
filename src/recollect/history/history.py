"""History: the one object through which everything that happened is taken in and read.

Who may write: only this class, through `Ingest`. Messages and vault are canonical; conversations are derived.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from recollect.clock import Clock, to_text
from recollect.database import Database, Row
from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.history.conversations import Conversation, Status
from recollect.history.counts import Counts, Problem
from recollect.history.finding import Found, find
from recollect.history.identity import is_unchanged
from recollect.history.ingest import Ingest, Outcome, Progress
from recollect.history.messages import Message, Standing
from recollect.history.privacy import Span
from recollect.history.sources import source_named
from recollect.history.store import (
    ConversationStore,
    File,
    FileStatus,
    FileStore,
    LineStore,
    MessageStore,
    SeenPath,
    ThreadStore,
)
from recollect.history.views import sql_views
from recollect.history.writing import Writer
from recollect.settings import Settings

RecordRun = Callable[[str, str, float, dict[str, object]], None]
"""(name, outcome, seconds, detail): where history reports what it did."""


@dataclass(slots=True)
class IngestReport:
    """What one import did."""

    files: int = 0
    ingested: int = 0
    skipped: int = 0
    failed: int = 0
    messages_added: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, outcome: Outcome) -> None:
        self.skipped += outcome.skipped
        self.ingested += not outcome.skipped
        self.messages_added += outcome.messages_added
        self.bytes_read += outcome.bytes_read
        self.counts.add(outcome.counts)
        self.problems += outcome.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A conversation as people see it in a list."""

    conversation: Conversation
    title: str
    thread: str
    file: str


class History:
    def __init__(self, database: Database, settings: Settings, clock: Clock, record_run: RecordRun) -> None:
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._record_run = record_run
        self._gap = timedelta(minutes=settings.conversation_gap_minutes)

    # Taking in

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        source: str | None = None,
        reimport: bool = False,
        keep_raw: bool | None = None,
        on_total: Progress = lambda _: None,
        on_progress: Progress = lambda _: None,
    ) -> IngestReport:
        """Take in files and folders. `on_total` hears how many bytes there are, `on_progress` how many are done."""
        self._refuse_while_paused()
        if source:
            source_named(source)
        started = time.monotonic()
        with self._ingest(keep_raw) as ingest:
            found: dict[str, Found] = {}
            vanished: dict[str, SeenPath] = {}
            for path in paths:
                place = os.path.abspath(os.path.expanduser(path))
                if reimport:
                    vanished.update((seen.file_id, seen) for seen in self._vanished(place))
                if os.path.exists(place):
                    found.update((item.path, item) for item in _at(place, ingest))
                elif not vanished:
                    raise NotFound(f"{path} does not exist. Give a transcript or a folder of transcripts.")
            on_total(sum(item.status.st_size for item in found.values()))
            report = self._take_all(ingest, list(found.values()), source, reimport, on_progress)
            for file_id in vanished:
                report.files += 1
                report.add(ingest.take_from_vault(file_id))
        self._settle(report)
        report.seconds = time.monotonic() - started
        self._report_run("ingest", report)
        return report

    def scan(self, roots: Sequence[Path], below: Sequence[str] | None = None) -> IngestReport:
        """One pass over the watched folders, or over the changed folders among them."""
        self._refuse_while_paused()
        started = time.monotonic()
        with self._ingest(None) as ingest:
            found: dict[str, Found] = {}
            for root in (str(root) for root in roots):
                places = [root] if below is None else [place for place in below if _is_at(place, root)]
                items = [item for place in places for item in _at(place, ingest, root if below else None)]
                found.update((item.path, item) for item in items)
            report = self._take_all(ingest, list(found.values()), None, False, lambda _: None)
        self._settle(report)
        report.seconds = time.monotonic() - started
        if report.ingested or report.failed:
            self._report_run("scan", report)
        return report

    def recover(self) -> IngestReport:
        """Go on with files whose reader died. One that cannot be read is set aside and reported."""
        report = IngestReport()
        with self._database.read() as session:
            interrupted = FileStore(session, self._house).with_status(FileStatus.INGESTING)
        with self._ingest(None) as ingest:
            for file in interrupted:
                report.files += 1
                self._recover_one(ingest, file, report)
        with self._database.write() as session:
            ConversationStore(session, self._house).requeue_interrupted()
        if report.files:
            self._report_run("recover", report)
        return report

    def _recover_one(self, ingest: Ingest, file: File, report: IngestReport) -> None:
        try:
            if os.path.exists(file.path):
                found = Found(file.path, os.path.dirname(file.path), os.stat(file.path))
                report.add(ingest.take(found, source=file.source))
            else:
                report.add(ingest.take_from_vault(file.id))
        except (RecollectError, OSError) as error:
            self._fail(report, ingest, file.path, error)

    def _take_all(
        self, ingest: Ingest, found: list[Found], source: str | None, reimport: bool, on_progress: Progress
    ) -> IngestReport:
        report = IngestReport(files=len(found))
        unchanged = self._unchanged_paths() if not reimport else {}
        for item in found:
            seen = unchanged.get(item.path)
            if seen and is_unchanged(seen, item.status):
                report.skipped += 1
                on_progress(item.status.st_size)
            else:
                self._take_one(ingest, item, source, reimport, on_progress, report)
        return report

    def _take_one(
        self,
        ingest: Ingest,
        found: Found,
        source: str | None,
        reimport: bool,
        on_progress: Progress,
        report: IngestReport,
    ) -> None:
        done = 0

        def advance(read: int) -> None:
            nonlocal done
            done += read
            on_progress(read)

        try:
            report.add(ingest.take(found, source=source, reimport=reimport, progress=advance))
        except NotFound:
            report.skipped += 1
        except (Invalid, Denied, Unavailable, OSError) as error:
            if _is_about_database(error, found.path):
                raise
            self._fail(report, ingest, found.path, error)
        on_progress(max(0, found.status.st_size - done))

    def _fail(self, report: IngestReport, ingest: Ingest, path: str, error: Exception) -> None:
        report.failed += 1
        report.problems.append(Problem(file=path, reason=str(error)))
        ingest.set_aside(path, str(error))

    def _unchanged_paths(self) -> dict[str, SeenPath]:
        """Paths whose file is read to its end; one in the middle of being read is looked at again."""
        with self._database.read() as session:
            files = FileStore(session, self._house)
            pending = {file.id for file in files.with_status(FileStatus.INGESTING)}
            return {seen.path: seen for seen in files.seen_paths() if seen.file_id not in pending}

    def _vanished(self, place: str) -> list[SeenPath]:
        with self._database.read() as session:
            seen = FileStore(session, self._house).seen_paths()
        return [item for item in seen if _is_at(item.path, place) and not os.path.exists(item.path)]

    def _settle(self, report: IngestReport) -> None:
        if report.ingested:
            with self._database.write() as session:
                Writer(session, self._house, self._gap).settle_prompts()

    def _ingest(self, keep_raw: bool | None) -> Ingest:
        chosen = self._settings.keep_raw if keep_raw is None else keep_raw
        return Ingest(self._database, self._settings, self._clock, keep_raw=chosen)

    def _report_run(self, name: str, report: IngestReport) -> None:
        detail: dict[str, object] = {
            "files": report.files,
            "ingested": report.ingested,
            "failed": report.failed,
            "messages_added": report.messages_added,
            "bytes_read": report.bytes_read,
            "problems": [problem.reason for problem in report.problems[:5]],
        }
        self._record_run(name, "failed" if report.failed else "done", report.seconds, detail)

    # Pausing

    def pause(self) -> str:
        """Stop taking anything in; since when it is stopped."""
        since = self.paused_since()
        if since:
            return since
        now = to_text(self._clock())
        with self._database.write() as session:
            FileStore(session, self._house).open_span(
                Span(session_id="", starts_at=now, ends_at=None, reason="pause")
            )
        return now

    def resume(self) -> tuple[str, str] | None:
        """Go on; from when to when it was stopped. What was said in between stays out."""
        since = self.paused_since()
        if since is None:
            return None
        now = to_text(self._clock())
        with self._database.write() as session:
            FileStore(session, self._house).close_spans("", now)
        return since, now

    def paused_since(self) -> str | None:
        with self._database.read() as session:
            spans = FileStore(session, self._house).spans()
        return next((span.starts_at for span in spans if not span.session_id and span.ends_at is None), None)

    def _refuse_while_paused(self) -> None:
        since = self.paused_since()
        if since:
            raise Unavailable(f"Taking in is paused since {since}. `recollect resume` goes on.")

    # Reading

    def conversations(
        self, *, status: str = "", project: str = "", since: str = "", limit: int = 100
    ) -> list[Listed]:
        """The latest first."""
        if status and status not in list(Status):
            raise Invalid(f"No status is called {status!r}. Known: {', '.join(Status)}.")
        with self._database.read() as session:
            found = ConversationStore(session, self._house).latest_first(
                ready_before=self._ready_before(), status=status, project=project, since=since, limit=limit
            )
            return self._describe(ThreadStore(session, self._house), found)

    def conversation(self, name: str) -> Listed:
        """One conversation by its id, the start of its id, or its session."""
        with self._database.read() as session:
            found = ConversationStore(session, self._house).with_prefix(name) if name.strip() else []
            exact = [item for item in found if item.id == name]
            chosen = exact or [item for item in found if item.messages]
            if not chosen:
                raise NotFound(f"No conversation is called {name!r}. `recollect conversations` lists them.")
            if len(chosen) > 1:
                some = ", ".join(item.id for item in chosen[:5])
                raise Conflict(f"{name!r} could be {len(chosen)} conversations: {some} … Give more of the id.")
            conversation = chosen[0]
            if conversation.status is Status.ACTIVE and conversation.ended_at < self._ready_before():
                conversation.status = Status.READY
            return self._describe(ThreadStore(session, self._house), [conversation])[0]

    def messages(self, conversation: Conversation, *, everything: bool = False) -> list[Message]:
        """What was said; with `everything` also what was not: tool results, machine text, lines that are gone."""
        with self._database.read() as session:
            store = MessageStore(session, self._house)
            found = store.of_conversation(conversation.id)
            if everything:
                return found + store.of_agents(
                    conversation.session_id, conversation.started_at, conversation.ended_at
                )
        return [message for message in found if message.standing is Standing.SAID and not message.gone]

    def thread(self, conversation: Conversation) -> list[Listed]:
        """Every conversation of the same thread, oldest first: over silences, resumed, forked and continued sessions."""
        with self._database.read() as session:
            threads = ThreadStore(session, self._house)
            roots = threads.roots()
            root = roots.get(conversation.session_id, conversation.session_id)
            sessions = {name for name, other in roots.items() if other == root} | {conversation.session_id}
            store = ConversationStore(session, self._house)
            found = [item for name in sorted(sessions) for item in store.of_session(name) if item.messages]
            found.sort(key=lambda item: (item.started_at, item.id))
            return self._describe(threads, found)

    def raw(self, message: Message) -> list[bytes]:
        """The records of a message as they were read. They may hold secrets."""
        with self._database.read() as session:
            return LineStore(session, self._house).raw_of(message.file_id, message.id)

    def export(self) -> Iterator[Message]:
        """Every message, in the order of ids."""
        with self._database.read() as session:
            yield from MessageStore(session, self._house).every()

    def _describe(self, threads: ThreadStore, found: list[Conversation]) -> list[Listed]:
        titles = threads.titles([item.leaf_id for item in found if item.leaf_id])
        files = threads.file_titles(sorted({item.file_id for item in found}))
        roots = threads.roots()
        listed: list[Listed] = []
        for item in found:
            file_title, key = files.get(item.file_id, ("", ""))
            title = file_title or titles.get(item.leaf_id, "") or item.opening or "(no words of the user)"
            listed.append(
                Listed(
                    conversation=item,
                    title=title,
                    thread=roots.get(item.session_id, item.session_id) or item.id,
                    file=key,
                )
            )
        return listed

    def _ready_before(self) -> str:
        return to_text(self._clock() - self._gap)

    # Lifecycle

    def queue(self, conversation: Conversation) -> Status:
        """Hand a finished conversation to the librarian, or skip it when it is too short; its status then."""
        if conversation.status is not Status.READY:
            raise Conflict(f"Conversation {conversation.id} is {conversation.status}, only a ready one can be queued.")
        short = conversation.messages < self._settings.min_conversation_messages
        return self._move(conversation, Status.SKIPPED if short else Status.QUEUED)

    def claim(self) -> Conversation | None:
        """The next queued conversation, now being processed by the caller."""
        with self._database.write() as session:
            store = ConversationStore(session, self._house)
            conversation = store.next_queued()
            if conversation and store.change_status(conversation, Status.PROCESSING):
                conversation.status = Status.PROCESSING
                return conversation
        return None

    def archive(self, conversation: Conversation) -> Status:
        """Done. One that gained messages meanwhile is not: it starts again."""
        return self._move(conversation, Status.ARCHIVED)

    def _move(self, conversation: Conversation, status: Status) -> Status:
        with self._database.write() as session:
            store = ConversationStore(session, self._house)
            stored = store.get(conversation.id)
            if stored is None:
                raise NotFound(f"Conversation {conversation.id} is not there any more.")
            if stored.status is Status.ACTIVE and stored.ended_at < self._ready_before():
                stored.status = Status.READY
            if stored.status is not conversation.status:
                raise Conflict(f"Conversation {conversation.id} is {stored.status} by now.")
            gained = stored.messages != conversation.messages
            stored.status = Status.ACTIVE if gained else status
            store.save([stored])
        conversation.status = stored.status
        return stored.status

    # Health

    def files(self) -> list[File]:
        with self._database.read() as session:
            return FileStore(session, self._house).every()

    def seen_paths(self) -> list[SeenPath]:
        with self._database.read() as session:
            return FileStore(session, self._house).seen_paths()

    def figures(self) -> "Figures":
        with self._database.read() as session:
            conversations = ConversationStore(session, self._house)
            number, months, first, last = conversations.extent()
            return Figures(
                conversations=number,
                months=months,
                first_at=first,
                last_at=last,
                by_status=conversations.counts(self._ready_before()),
                messages=MessageStore(session, self._house).counts(),
                vault=LineStore(session, self._house).totals(),
            )

    def sql(self, query: str, *, seconds: float = 10.0, limit: int = 1000) -> tuple[list[str], list[Row]]:
        """Read-only SQL on views of this house, without the vault."""
        return self._database.query(sql_views(self._house, self._ready_before()), query, seconds, limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    conversations: int
    months: int
    first_at: str
    last_at: str
    by_status: dict[str, int]
    messages: list[tuple[str, str, bool, int]]
    """(author, standing, gone, number)"""
    vault: tuple[int, int, int]
    """Records, bytes as read, bytes as kept."""


def _at(place: str, ingest: Ingest, root: str | None = None) -> list[Found]:
    """The transcripts at a path: itself when it is a file, else those below it."""
    if os.path.isdir(place):
        return find(root or place, ingest.ignore, below=place)
    try:
        status = os.stat(place)
    except OSError:
        return []
    folder = root or os.path.dirname(place)
    return [] if ingest.ignore.keeps_out_file(place, folder) else [Found(place, folder, status)]


def _is_at(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


def _is_about_database(error: Exception, path: str) -> bool:
    """An error that no other file would escape: the database is locked, full or gone."""
    return not isinstance(error, OSError) and os.path.basename(path) not in str(error)
