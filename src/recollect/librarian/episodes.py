"""Episodes: what each conversation was when it was last read, and the lines that tell of it.

A line is no record: it tells what happened on a day and is searched as the note it stands in. It knows the messages it
was made from, so that it goes with them. Number 0 is the title. A line that a person changed stays as they left it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from recollect.database import Session
from recollect.feed import NOTE, FeedStore
from recollect.ids import derived_id
from recollect.lineage import MESSAGE, Edge, EdgeStore

LIBRARIAN, PERSON = "librarian", "person"
SHOWN, REMOVED = "shown", "removed"
LINE = "episode_line"
"""The kind of a line in lineage."""
TITLE = 0

_EPISODE = (
    "conversation_id, scope, page, project, started_at, ended_at, messages, fingerprint, reader, read_at, kept, dropped"
)
SAVE = f"""
INSERT INTO librarian_episodes (house, {_EPISODE}) VALUES (
    :house, :conversation_id, :scope, :page, :project, :started_at, :ended_at, :messages, :fingerprint, :reader,
    :read_at, :kept, :dropped
) ON CONFLICT (house, conversation_id) DO UPDATE SET
    scope = excluded.scope, page = excluded.page, project = excluded.project, started_at = excluded.started_at,
    ended_at = excluded.ended_at, messages = excluded.messages, fingerprint = excluded.fingerprint,
    reader = excluded.reader, read_at = excluded.read_at, kept = excluded.kept, dropped = excluded.dropped
"""
GET = f"SELECT {_EPISODE} FROM librarian_episodes WHERE house = :house AND conversation_id IN (:values)"
OF_PAGE = f"SELECT {_EPISODE} FROM librarian_episodes WHERE house = :house AND page = :page"
OF_PROJECT = f"SELECT {_EPISODE} FROM librarian_episodes WHERE house = :house AND scope = :scope AND project = :project"
EVERY = f"SELECT {_EPISODE} FROM librarian_episodes WHERE house = :house AND conversation_id > :after"
BETWEEN = f"SELECT {_EPISODE} FROM librarian_episodes WHERE house = :house AND read_at >= :since AND read_at < :until"
_OF_SCOPE = "FROM librarian_episodes WHERE house = :house AND scope = :scope AND project"
PROJECTS = f"""
WITH RECURSIVE found (name) AS (
    SELECT min(project) {_OF_SCOPE} > ''
    UNION ALL
    SELECT (SELECT min(project) {_OF_SCOPE} > found.name) FROM found WHERE found.name IS NOT NULL
)
SELECT name FROM found WHERE name IS NOT NULL
"""
COUNT = "SELECT count(*) FROM librarian_episodes WHERE house = :house"
SUMS = "SELECT dropped, count(*), sum(kept) FROM librarian_episodes WHERE house = :house GROUP BY dropped"
DROP = "DELETE FROM librarian_episodes WHERE house = :house AND conversation_id = :id"

_LINE = "id, conversation_id, number, text, sources, author, state"
ADD_LINE = f"""
INSERT INTO librarian_lines (house, {_LINE})
VALUES (:house, :id, :conversation_id, :number, :text, :sources, :author, :state)
"""
LINES_OF = f"SELECT {_LINE} FROM librarian_lines WHERE house = :house AND conversation_id IN (:values)"
LINES = f"SELECT {_LINE} FROM librarian_lines WHERE house = :house AND id IN (:values)"
CHANGE_LINE = """
UPDATE librarian_lines SET text = :text, author = :author, state = :state WHERE house = :house AND id = :id
"""
DROP_LINES = "DELETE FROM librarian_lines WHERE house = :house AND conversation_id = :conversation_id"
DROP_LINE = "DELETE FROM librarian_lines WHERE house = :house AND id = :id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    conversation_id: str
    scope: str
    page: str
    """The note it stands in, such as episodes/2026-03/2026-03-02.md."""
    project: str
    """The name of the project; empty: none."""
    started_at: str
    ended_at: str
    messages: int
    fingerprint: str
    """Of what was read: the same words read by the same reader need not be read again."""
    reader: str
    read_at: str
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict[str, int])
    """Reason → how many items were not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    id: str
    conversation_id: str
    number: int
    text: str
    sources: tuple[str, ...] = ()
    """Messages."""
    author: str = LIBRARIAN
    state: str = SHOWN


def line_id(conversation_id: str, number: int) -> str:
    """The same place of the same episode, whatever stands there."""
    return derived_id("episode line", conversation_id, str(number))


class EpisodeStore:
    """All SQL on episodes and their lines."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house
        self._edges = EdgeStore(session, house)

    def save(self, episode: Episode) -> None:
        self._touch([episode.conversation_id])
        given = {name: getattr(episode, name) for name in _EPISODE.split(", ")}
        self._session.run(SAVE, self._given(**{**given, "dropped": msgspec.json.encode(episode.dropped).decode()}))
        self._touch([episode.conversation_id])

    def _touch(self, conversation_ids: Sequence[str]) -> None:
        """The notes in which these stand have something to say anew."""
        from recollect.librarian.shelves.layout import project_place

        paths = set[str]()
        for episode in self.get(conversation_ids).values():
            place = project_place(episode.scope, episode.project)
            paths |= {episode.page, *([place.path] if place else [])}
        FeedStore(self._session, self._house).note(NOTE, paths)

    def projects(self, scope: str) -> list[str]:
        """Every name of a project that an episode of this scope has."""
        return [row[0] for row in self._session.rows(PROJECTS, self._given(scope=scope))]

    def get(self, conversation_ids: Sequence[str]) -> dict[str, Episode]:
        rows = self._session.among(GET, list(conversation_ids), self._given()) if conversation_ids else []
        return {row[0]: _episode(row) for row in rows}

    def of_page(self, page: str) -> list[Episode]:
        return self._select(OF_PAGE, page=page)

    def of_project(self, scope: str, project: str) -> list[Episode]:
        return self._select(OF_PROJECT, scope=scope, project=project)

    def page(self, after: str, limit: int) -> list[Episode]:
        """All of them, in the order of their conversations' ids."""
        rows = self._session.rows(
            f"{EVERY} ORDER BY conversation_id LIMIT :limit", self._given(after=after, limit=limit)
        )
        return [_episode(row) for row in rows]

    def read_between(self, since: str, until: str) -> list[Episode]:
        """Those that were read at these times, in the order of their beginnings."""
        return self._select(BETWEEN, since=since, until=until)

    def count(self) -> int:
        return self._session.value(COUNT, self._given())

    def sums(self) -> tuple[int, int, dict[str, int]]:
        """(conversations that were read, records they gave, reason → items that were not kept)"""
        conversations, kept, dropped = 0, 0, Counter[str]()
        for reasons, number, records in self._session.rows(SUMS, self._given()):
            conversations, kept = conversations + number, kept + int(records)
            for reason, times in msgspec.json.decode(reasons, type=dict[str, int]).items():
                dropped[reason] += times * number
        return conversations, kept, dict(dropped)

    def drop(self, conversation_id: str) -> None:
        self._touch([conversation_id])
        self._session.run(DROP, self._given(id=conversation_id))
        self._session.run(DROP_LINES, self._given(conversation_id=conversation_id))

    # Lines

    def lines(self, conversation_ids: Sequence[str]) -> dict[str, list[Line]]:
        """Conversation → its lines in order, those that a person removed too."""
        rows = self._session.among(LINES_OF, list(conversation_ids), self._given()) if conversation_ids else []
        found: dict[str, list[Line]] = {}
        for line in sorted((_line(row) for row in rows), key=lambda line: line.number):
            found.setdefault(line.conversation_id, []).append(line)
        return found

    def some_lines(self, line_ids: Sequence[str]) -> dict[str, Line]:
        rows = self._session.among(LINES, list(line_ids), self._given()) if line_ids else []
        return {row[0]: _line(row) for row in rows}

    def put_lines(self, conversation_id: str, lines: Iterable[Line]) -> None:
        """In the place of those there were. The edges of those stay: earlier versions of notes still show them."""
        self._session.run(DROP_LINES, self._given(conversation_id=conversation_id))
        for line in lines:
            self._edges.add(Edge(MESSAGE, source, LINE, line.id) for source in line.sources)
            sources = msgspec.json.encode(line.sources).decode()
            given: dict[str, Any] = {name: getattr(line, name) for name in _LINE.split(", ")}
            self._session.run(ADD_LINE, self._given(**{**given, "sources": sources}))

    def change_line(self, line: Line) -> None:
        self._session.run(CHANGE_LINE, self._given(id=line.id, text=line.text, author=line.author, state=line.state))
        self._touch([line.conversation_id])

    def drop_lines(self, line_ids: Sequence[str]) -> int:
        """With their edges, and the episodes of which nothing is told any more."""
        conversations = sorted({line.conversation_id for line in self.some_lines(line_ids).values()})
        self._touch(conversations)
        self._edges.delete(LINE, line_ids)
        dropped = sum(self._session.run(DROP_LINE, self._given(id=one)) for one in line_ids)
        for one in set(conversations).difference(self.lines(conversations)):
            self.drop(one)
        return dropped

    def _select(self, sql: str, **parameters: Any) -> list[Episode]:
        found = [_episode(row) for row in self._session.rows(sql, self._given(**parameters))]
        return sorted(found, key=lambda episode: (episode.started_at, episode.conversation_id))

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _episode(row: Sequence[Any]) -> Episode:
    values: dict[str, Any] = dict(zip(_EPISODE.split(", "), row, strict=True))
    values["dropped"] = msgspec.json.decode(values["dropped"], type=dict[str, int])
    return Episode(**values)


def _line(row: Sequence[Any]) -> Line:
    values: dict[str, Any] = dict(zip(_LINE.split(", "), row, strict=True))
    values["sources"] = tuple(msgspec.json.decode(values["sources"], type=list[str]))
    return Line(**values)
