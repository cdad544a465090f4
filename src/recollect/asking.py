"""A question to search and its answer, in the form in which they travel between two processes, and the one who asks.

`answer` is what the daemon and a command without a daemon both call, so that both say the same. Nothing here imports
the search before it is needed: a command that asks a daemon starts in a fraction of the time.

The wire: one JSON line in, one JSON line out, over a local socket. `recollect` is the version of this form, `place` a
digest of home, database and settings that the question is about. Whoever cannot answer exactly that declines, and the
one who asks searches by itself.
"""

import hashlib
import os
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import msgspec

from recollect import __version__, errors
from recollect.clock import LOCAL, to_text
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.recall import Found

WIRE_VERSION = 1
SOCKET_FIELD = "socket"
"""In status.json: where the daemon listens."""
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 30.0
"""Then the one who asks searches by itself."""
SILENT_SECONDS = 300.0
"""For so long a daemon that did not answer in time is not asked again."""
MOST_ANSWER_BYTES = 256_000_000


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What `Recall.search` takes. Filters that are no part of it do not exist."""

    text: str
    search_type: str = "both"
    limit: int = 10
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    authors: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    agent: str = ""
    zone_seconds: int = 0
    """East of UTC, where it is asked."""
    rerank: bool = False
    fast: bool = False
    explain: bool = False


class Request(msgspec.Struct, frozen=True, kw_only=True):
    recollect: int
    version: str
    place: str
    search: Question


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    message: str


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the three."""

    found: dict[str, Any] | None = None
    error: Problem | None = None
    declined: str = ""


def answer(memory: "Memory", question: Question, *, fresh: bool = True) -> dict[str, Any]:
    """Search, and describe what was found."""
    arguments = {name: getattr(question, name) for name in Question.__struct_fields__ if name != "zone_seconds"}
    # A client in this computer's zone is given all of it, summer and winter.
    here = datetime.now(LOCAL).utcoffset()
    zone = (
        LOCAL
        if here == timedelta(seconds=question.zone_seconds)
        else timezone(timedelta(seconds=question.zone_seconds))
    )
    return found_json(memory.recall.search(zone=zone, fresh=fresh, **arguments))


def found_json(found: "Found") -> dict[str, Any]:
    """Every field of a hit by its name; the reasons only where they were asked for."""
    hits: list[dict[str, Any]] = [msgspec.to_builtins(hit) for hit in found.hits]
    return {
        "hits": [{name: value for name, value in hit.items() if value is not None} for hit in hits],
        "milliseconds": found.milliseconds,
        "periods": [
            {"text": period.text, "start": to_text(period.start), "end": to_text(period.end)}
            for period in found.periods
        ],
        "lacks": found.lacks,
    }


def place_of(settings: Settings) -> str:
    """A digest of everything an answer depends on beside the question. An address of a database may hold a password."""
    database = settings.database_url
    if "://" not in database:
        database = os.path.abspath(database)
    fields = {name: str(getattr(settings, name)) for name in Settings.__struct_fields__}
    return hashlib.sha256(msgspec.json.encode({**fields, "database": database}, order="sorted")).hexdigest()


def ask_daemon(settings: Settings, question: Question) -> dict[str, Any] | None:
    """The answer of a running daemon of this home, or None: there is none, or it is not the one to ask."""
    return Daemon(settings).ask(question)


class Daemon:
    """The running daemon of a home, for a process that asks it again and again, from several threads.

    One that let somebody wait in vain is not asked again for a while: everybody would wait as long."""

    def __init__(
        self,
        settings: Settings,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._answer_seconds = answer_seconds
        self._now = now
        self._silent: tuple[object, ...] = ()
        self._silent_until = 0.0
        self._waiting: set[socket.socket] = set()
        self._has_left = False
        self._lock = threading.Lock()

    def ask(self, question: Question) -> dict[str, Any] | None:
        """The answer, or None: there is no daemon, or it is not the one to ask."""
        try:
            status = msgspec.json.decode((self._settings.runtime / "status.json").read_bytes(), type=dict[str, Any])
        except (OSError, ValueError, msgspec.MsgspecError):
            return None
        where, named = status.get(SOCKET_FIELD), (status.get(SOCKET_FIELD), status.get("pid"))
        if not where or not hasattr(socket, "AF_UNIX") or self._is_silent(named):
            return None
        place = place_of(self._settings)
        request = Request(recollect=WIRE_VERSION, version=__version__, place=place, search=question)
        try:
            reply = msgspec.json.decode(self._exchange(str(where), msgspec.json.encode(request)), type=Reply)
        except TimeoutError:
            self._silent, self._silent_until = named, self._now() + SILENT_SECONDS
            return None
        except (OSError, ValueError, msgspec.MsgspecError):  # Stale, dead, or something else that listens there.
            if self._has_left:
                raise errors.Unavailable("It is ending, and searches no more.") from None
            return None
        if reply.error and reply.error.kind in ("Invalid", "NotFound"):
            raise getattr(errors, reply.error.kind)(reply.error.message)
        return reply.found

    def leave(self) -> None:
        """Nobody waits for an answer any more."""
        with self._lock:
            self._has_left = True
            for connection in self._waiting:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _is_silent(self, named: tuple[object, ...]) -> bool:
        return named == self._silent and self._now() < self._silent_until

    def _exchange(self, where: str, line: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(CONNECT_SECONDS)
            connection.connect(where)
            connection.settimeout(self._answer_seconds)
            with self._left_at_the_end(connection):
                connection.sendall(line + b"\n")
                parts: list[bytes] = []
                size = 0
                while size <= MOST_ANSWER_BYTES and (part := connection.recv(1 << 16)):
                    parts.append(part)
                    size += len(part)
                return b"".join(parts)

    @contextmanager
    def _left_at_the_end(self, connection: socket.socket) -> Generator[None]:
        with self._lock:
            if self._has_left:
                raise OSError
            self._waiting.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(connection)
