"""History: the one object through which everything that happened is taken in and read.

Who may write: only this class, through `Ingest`. Messages and vault are canonical; conversations are derived. It acts
for a `Principal`: an agent reads what its sight allows and changes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clock import Clock, local, to_text
from recollect.database import Database, Session
from recollect.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from recollect.history.conversations import Conversation, Status, only_one
from recollect.history.counts import IngestReport
from recollect.history.figures import Figures, figures_of
from recollect.history.latest import latest_said
from recollect.history.lifecycle import claim_next, move
from recollect.history.listing import Listed, describe
from recollect.history.messages import Message, Standing
from recollect.history.privacy import Ignore
from recollect.history.spans import Span
from recollect.history.store import (
    ConversationStore,
    File,
    FileStore,
    LineStore,
    MessageStore,
    SeenPath,
    ThreadStore,
)
from recollect.history.views import history_views
from recollect.scopes import OWNER, Principal, Sight, sight_of
from recollect.settings import Settings, this_computer

if TYPE_CHECKING:
    from recollect.history.intake import Intake
    from recollect.history.overview import SourceOverview
    from recollect.history.streams import Progress

EXPORT_PAGE = 1_000

RecordRun = Callable[[str, str, float, dict[str, object]], None]
"""(name, outcome, seconds, detail): where history reports what it did."""


class History:
    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        record_run: RecordRun,
        principal: Principal = OWNER,
        after_intake: Callable[[], None] = lambda: None,
    ) -> None:
        """`after_intake` is called whenever something may have been taken in; it sees to its own failures."""
        self._after_intake = after_intake
        self._database = database
        self._principal = principal
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._record_run = record_run
        self._gap = timedelta(minutes=settings.conversation_gap_minutes)
        self._closed: set[str] = set()

    def seen_by(self, principal: Principal) -> "History":
        """The same history, for somebody else."""
        return History(self._database, self._settings, self._clock, self._record_run, principal)

    # Taking in

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        source: str | None = None,
        reimport: bool = False,
        keep_raw: bool | None = None,
        guess: bool = True,
        on_total: "Progress" = lambda _: None,
        on_progress: "Progress" = lambda _: None,
    ) -> IngestReport:
        """Take in files and folders. `on_total` hears how many bytes there are, `on_progress` how many are done.

        `guess`: in folders, open also documents and archives whose names say nothing; exports are often renamed.
        """
        self._refuse_agents()
        self.refuse_while_paused()
        report = self._intake().ingest(
            paths,
            source=source,
            reimport=reimport,
            keep_raw=keep_raw,
            guess=guess,
            on_total=on_total,
            on_progress=on_progress,
        )
        self._report_run("ingest", report)
        self._after_intake()
        return report

    def scan(self, roots: Sequence[Path], below: Sequence[str] | None = None) -> IngestReport:
        """One pass over the watched folders, or over the changed folders among them."""
        self._refuse_agents()
        self.refuse_while_paused()
        report = self._intake().scan(roots, below)
        if report.ingested or report.failed:
            self._report_run("scan", report)
        self._after_intake()
        return report

    def recover(self) -> IngestReport:
        """Go on with files whose reader died. One that cannot be read is set aside and reported."""
        self._refuse_agents()
        report = self._intake().recover()
        if report.files:
            self._report_run("recover", report)
        self._after_intake()
        return report

    def _intake(self) -> "Intake":
        """Loaded when it is first needed: commands that only read start without the parsers."""
        from recollect.history.intake import Intake

        return Intake(self._database, self._settings, self._clock, self._closed)

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
        self._refuse_agents()
        since = self.paused_since()
        if since:
            return since
        now = to_text(self._clock())
        with self._database.write() as session:
            FileStore(session, self._house).open_span(Span(session_id="", starts_at=now, ends_at=None, reason="pause"))
        return now

    def resume(self) -> tuple[str, str] | None:
        """Go on; from when to when it was stopped. What was said in between stays out."""
        self._refuse_agents()
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
        return next((span.starts_at for span in spans if span.reason == "pause" and span.ends_at is None), None)

    def was_paused_at(self, at: str) -> bool:
        """Whether taking in was, or is, paused at this moment."""
        with self._database.read() as session:
            spans = [span for span in FileStore(session, self._house).spans() if span.reason == "pause"]
        return any(span.starts_at <= at and (span.ends_at is None or at < span.ends_at) for span in spans)

    def refuse_while_paused(self) -> None:
        since = self.paused_since()
        if since:
            raise Unavailable(f"Taking in is paused since {local(since):%Y-%m-%d %H:%M}. `recollect resume` goes on.")

    def ignored(self) -> Ignore:
        """What ignore files keep out. They are looked up anew."""
        return Ignore(str(self._settings.home))

    # Reading

    def conversations(self, *, status: str = "", project: str = "", since: str = "", limit: int = 100) -> list[Listed]:
        """The latest first."""
        if status and status not in list(Status):
            raise Invalid(f"No status is called {status!r}. Known: {', '.join(Status)}.")
        with self._database.read() as session:
            found = self._conversations(session).latest_first(
                ready_before=self._ready_before(), status=status, project=project, since=since, limit=limit
            )
            return describe(self._threads(session), found)

    def conversation(self, name: str) -> Listed:
        """One conversation by its id, the start of its id, or its session."""
        with self._database.read() as session:
            found = self._conversations(session).with_prefix(name) if name.strip() else []
            conversation = only_one(name, found)
            if conversation.status is Status.ACTIVE and conversation.ended_at < self._ready_before():
                conversation.status = Status.READY
            return describe(self._threads(session), [conversation])[0]

    def of_sessions(self, session_ids: Sequence[str]) -> dict[str, list[Conversation]]:
        """Session → its conversations in the order of time, for those of these sessions that have any."""
        with self._database.read() as session:
            found = self._conversations(session).of_sessions(sorted(set(session_ids)))
        by_session: dict[str, list[Conversation]] = {}
        for conversation in found:
            by_session.setdefault(conversation.session_id, []).append(conversation)
        return by_session

    def messages(
        self, conversation: Conversation, *, everything: bool = False, subagents: bool = True
    ) -> list[Message]:
        """What was said; with `everything` also what was not: tool results, machine text, lines that are gone, and what
        sub-agents said, if that is wanted."""
        with self._database.read() as session:
            store = self._messages(session)
            found = store.of_conversation(conversation.id)
            if everything and not subagents:
                return found
            if everything:
                return found + store.of_agents(conversation.session_id, conversation.started_at, conversation.ended_at)
        return [message for message in found if message.standing is Standing.SAID and not message.gone]

    def beside(self, message: Message) -> list[Message]:
        """What stands with a message that is in no conversation: all that its sub-agent said, in order."""
        with self._database.read() as session:
            return self._messages(session).of_stream(message)

    def latest(self, limit: int, *, after: str = "", author: str = "") -> list[Message]:
        """What was said last in any conversation, the oldest first. `after`: only what was said later than this time;
        `author`: only what users or what assistants said."""
        with self._database.read() as session:
            conversations, messages = self._conversations(session), self._messages(session)
            return latest_said(conversations, messages, self._clock(), limit, after=after, author=author)

    def waiting(self, most: int) -> dict[Status, int]:
        """How many conversations wait for the librarian: ready, queued, processing; of each `most` at the most."""
        with self._database.read() as session:
            return self._conversations(session).waiting(self._ready_before(), most)

    def message(self, name: str) -> Message:
        """One message by its id or the start of it."""
        with self._database.read() as session:
            found = self._messages(session).with_prefix(name) if name.strip() else []
        exact = [message for message in found if message.id == name] or found
        if not exact:
            raise NotFound(f"No message is called {name[:100]!r}. `recollect show ID --ids` tells the ids of messages.")
        if len(exact) > 1:
            some = ", ".join(message.id for message in exact[:5])
            raise Conflict(f"{name!r} could be {len(exact)} messages: {some} … Give more of the id.")
        return exact[0]

    def file_keys(self, messages: list[Message]) -> dict[str, str]:
        """File → its key, for the files of these messages."""
        with self._database.read() as session:
            titles = self._threads(session).file_titles(sorted({message.file_id for message in messages}))
        return {file_id: key for file_id, (_, key) in titles.items()}

    def thread(self, conversation: Conversation) -> list[Listed]:
        """Every conversation of the same thread, oldest first: over silences, resumes, forks and continuations."""
        with self._database.read() as session:
            threads = self._threads(session)
            roots = threads.roots()
            root = roots.get(conversation.session_id, conversation.session_id)
            sessions = {name for name, other in roots.items() if other == root} | {conversation.session_id}
            store = self._conversations(session)
            found = [item for name in sorted(sessions) for item in store.of_session(name) if item.messages]
            found.sort(key=lambda item: (item.started_at, item.id))
            return describe(threads, found)

    def raw(self, message: Message) -> list[bytes]:
        """The records of a message as they were read. They may hold secrets: no agent sees them."""
        self._refuse_agents()
        with self._database.read() as session:
            return LineStore(session, self._house).raw_of(message.file_id, message.id)

    def export(self) -> Iterator[Message]:
        """Every message, in the order of ids."""
        after = ""
        while True:
            page = self.page(after, EXPORT_PAGE)
            yield from page
            if len(page) < EXPORT_PAGE:
                return
            after = page[-1].id

    def conversation_ids(self, *, projects: Sequence[str] = (), statuses: Sequence[str] = ()) -> list[str]:
        """Those of one of these projects (parts of their paths) and in one of these states; none given: any."""
        with self._database.read() as session:
            store = self._conversations(session)
            return store.ids(self._ready_before(), projects=projects or [""], statuses=statuses or [""])

    def projects_of(self, conversation_ids: Sequence[str]) -> dict[str, str]:
        """Conversation → its project."""
        with self._database.read() as session:
            return self._conversations(session).projects(sorted(set(conversation_ids)))

    def source_names(self) -> list[str]:
        from recollect.history.sources import sources

        return sorted(sources())

    # Following

    def number_said(self) -> int:
        """How many messages there are that an index reads."""
        with self._database.read() as session:
            return self._messages(session).number_said()

    def documents(self, message_ids: Sequence[str]) -> dict[str, Message]:
        """These messages as they are now. One that was deleted is not among them."""
        with self._database.read() as session:
            return self._messages(session).get(list(message_ids))

    def with_text(self, part: str, *, among: Sequence[str] | None = None, after: str = "", limit: int = 0) -> list[str]:
        """Ids of what assistants said with this in it: among these messages, or page by page in the order of ids."""
        with self._database.read() as session:
            store = self._messages(session)
            return store.with_text(part, after, limit) if among is None else store.with_text_among(part, list(among))

    def page(self, after: str, limit: int) -> list[Message]:
        """The messages whose ids come after this one, in the order of ids: all of them, page by page."""
        with self._database.read() as session:
            return self._messages(session).page(after, limit)

    def said_after(self, after: tuple[str, str], limit: int) -> list[tuple[str, str]]:
        """(time, id) of what was said, oldest first, after such a pair: the order in which an index is built, so that
        what was said together stands together in it. One page looks at every message: ask for large ones."""
        with self._database.read() as session:
            return self._messages(session).by_time(after, limit)

    # What the principal may see

    def _sight(self, session: Session) -> Sight:
        return sight_of(session, self._house, self._principal)

    def _files(self, session: Session) -> FileStore:
        return FileStore(session, self._house, sight=self._sight(session))

    def _conversations(self, session: Session) -> ConversationStore:
        return ConversationStore(session, self._house, self._sight(session))

    def _messages(self, session: Session) -> MessageStore:
        return MessageStore(session, self._house, self._sight(session))

    def _threads(self, session: Session) -> ThreadStore:
        return ThreadStore(session, self._house, self._sight(session))

    def _refuse_agents(self) -> None:
        if self._principal.is_confined or not self._principal.may_write:
            who = self._principal.name or "Who asks"
            raise Denied(f"{who} may only read what was said. Ask a person of the house to do this.")

    def file_scopes(self, file_ids: Sequence[str]) -> dict[str, str]:
        """File → its scope, which is that of the messages stored for it."""
        with self._database.read() as session:
            return self._files(session).scopes(sorted(set(file_ids)))

    def holds(self, session: Session, scope: str) -> int:
        """How many files are of this scope."""
        return FileStore(session, self._house).number_in(scope)

    def rescope(self, session: Session, source: str) -> int:
        """Give the files of a source the scopes that the bindings say by now; how many files have another one.

        Their messages are noted as changed: who follows has to see them as somebody else's.
        """
        changed = FileStore(session, self._house).rescope(source)
        MessageStore(session, self._house).touch(changed)
        return len(changed)

    def views(self, sight: Sight) -> dict[str, str]:
        """What `memory.sql` shows of history."""
        return history_views(self._house, sight, self._ready_before())

    def _ready_before(self) -> str:
        return to_text(self._clock() - self._gap)

    # Lifecycle

    def queue(self, conversation: Conversation) -> Status:
        """Hand a finished conversation to the librarian, or skip it when it is too short; its status then."""
        self._refuse_agents()
        if conversation.status is not Status.READY:
            raise Conflict(f"Conversation {conversation.id} is {conversation.status}, only a ready one can be queued.")
        short = conversation.messages < self._settings.min_conversation_messages
        return self._move(conversation, Status.SKIPPED if short else Status.QUEUED)

    def claim(self) -> Conversation | None:
        """The next queued conversation, now being processed by the caller."""
        self._refuse_agents()
        with self._database.write() as session:
            return claim_next(session, self._house)

    def archive(self, conversation: Conversation) -> Status:
        """Done. One that gained messages meanwhile is not: it starts again."""
        self._refuse_agents()
        return self._move(conversation, Status.ARCHIVED)

    def _move(self, conversation: Conversation, status: Status) -> Status:
        with self._database.write() as session:
            moved = move(session, self._house, conversation, status, self._ready_before())
        conversation.status = moved
        return moved

    # Health

    def files(self) -> list[File]:
        with self._database.read() as session:
            return self._files(session).every()

    def seen_paths(self) -> list[SeenPath]:
        with self._database.read() as session:
            return self._files(session).seen_paths()

    def sources(self) -> "list[SourceOverview]":
        """Every known source: what lies on this computer, what came in, what was left out. An agent is told only of
        what came in: nobody can say whose the files are that did not."""
        from recollect.history.overview import overview_of
        from recollect.history.places import found_places

        with self._database.read() as session:
            files = self._files(session).every()
            totals = self._messages(session).by_source()
        places = [] if self._principal.is_confined else found_places(this_computer())
        return overview_of(places, files, totals)

    def figures(self) -> Figures:
        with self._database.read() as session:
            return figures_of(session, self._house, self._sight(session), self._ready_before())
