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
    try:
        status = msgspec.json.decode((settings.runtime / "status.json").read_bytes(), type=dict[str, Any])
        where = status.get(SOCKET_FIELD)
        if not where or not hasattr(socket, "AF_UNIX"):
            return None
        request = Request(recollect=WIRE_VERSION, version=__version__, place=place_of(settings), search=question)
        reply = msgspec.json.decode(_exchange(str(where), msgspec.json.encode(request)), type=Reply)
    except (OSError, ValueError, msgspec.MsgspecError):  # Stale, dead, slow, or something else that listens there.
        return None
    if reply.error and reply.error.kind in ("Invalid", "NotFound"):
        raise getattr(errors, reply.error.kind)(reply.error.message)
    return reply.found


def _exchange(where: str, line: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(where)
        connection.settimeout(ANSWER_SECONDS)
        connection.sendall(line + b"\n")
        parts: list[bytes] = []
        size = 0
        while size <= MOST_ANSWER_BYTES and (part := connection.recv(1 << 16)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
