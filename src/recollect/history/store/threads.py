"""Which sessions are one thread, and what conversations are called."""

from recollect.database import Session
from recollect.history.store.seeing import SEEN, limited, of_seen_files, seen_files
from recollect.scopes import EVERYTHING, Sight

LINK = """
INSERT INTO history_links (house, session_id, other_id, kind) VALUES (:house, :session_id, :other_id, :kind)
ON CONFLICT DO NOTHING
"""
LINKS = f"SELECT session_id, other_id FROM history_links WHERE house = :house {SEEN}"
OF_SEEN_SESSIONS = """
    AND session_id IN (SELECT session_id FROM history_conversations WHERE house = :house{seen})
    AND other_id IN (SELECT session_id FROM history_conversations WHERE house = :house{seen})
"""
TITLE = """
INSERT INTO history_titles (house, leaf_id, title, file_id) VALUES (:house, :leaf_id, :title, :file_id)
ON CONFLICT (house, leaf_id) DO UPDATE SET title = excluded.title, file_id = excluded.file_id
"""
TITLES = f"SELECT leaf_id, title FROM history_titles WHERE house = :house AND leaf_id IN (:values) {SEEN}"
FILE_TITLES = f"SELECT id, title, key FROM history_files WHERE house = :house AND id IN (:values) {SEEN}"


class ThreadStore:
    """With a limited sight, threads are made of what is seen: a link to a session that is not seen is none, and a title
    that stands in a file that is not seen is none either."""

    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._sight = sight

    def link(self, links: set[tuple[str, str, str]]) -> None:
        self._session.many(LINK, [(self._house, *link) for link in sorted(links)])

    def title(self, file_id: str, titles: dict[str, str]) -> None:
        """A file gives titles, to conversations of its own or of others."""
        self._session.many(TITLE, [(self._house, leaf, title, file_id) for leaf, title in titles.items()])

    def titles(self, leaves: list[str]) -> dict[str, str]:
        titles = limited(TITLES, of_seen_files(self._sight))
        return dict(self._session.among(titles, leaves, {"house": self._house})) if leaves else {}

    def file_titles(self, file_ids: list[str]) -> dict[str, tuple[str, str]]:
        """File → (title, key)."""
        titles = limited(FILE_TITLES, seen_files(self._sight))
        rows = self._session.among(titles, file_ids, {"house": self._house}) if file_ids else []
        return {file_id: (title, key) for file_id, title, key in rows}

    def roots(self) -> dict[str, str]:
        """Session → the name of its thread, for every session that is linked to another: the least id of them."""
        parent: dict[str, str] = {}

        def find(session_id: str) -> str:
            while parent.setdefault(session_id, session_id) != session_id:
                parent[session_id] = session_id = parent[parent[session_id]]
            return session_id

        seen = of_seen_files(self._sight)
        links = limited(LINKS, OF_SEEN_SESSIONS.format(seen=seen) if seen else "")
        for first, second in self._session.rows(links, {"house": self._house}):
            one, other = sorted((find(first), find(second)))
            parent[other] = one
        return {session_id: find(session_id) for session_id in list(parent)}
