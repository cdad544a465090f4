"""Which sessions are one thread, and what conversations are called."""

from recollect.database import Session

LINK = """
INSERT INTO history_links (house, session_id, other_id, kind) VALUES (:house, :session_id, :other_id, :kind)
ON CONFLICT DO NOTHING
"""
LINKS = "SELECT session_id, other_id FROM history_links WHERE house = :house"
TITLE = """
INSERT INTO history_titles (house, leaf_id, title) VALUES (:house, :leaf_id, :title)
ON CONFLICT (house, leaf_id) DO UPDATE SET title = excluded.title
"""
TITLES = "SELECT leaf_id, title FROM history_titles WHERE house = :house AND leaf_id IN (:values)"
FILE_TITLES = "SELECT id, title, key FROM history_files WHERE house = :house AND id IN (:values)"


class ThreadStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def link(self, links: set[tuple[str, str, str]]) -> None:
        self._session.many(LINK, [(self._house, *link) for link in sorted(links)])

    def title(self, titles: dict[str, str]) -> None:
        self._session.many(TITLE, [(self._house, leaf, title) for leaf, title in titles.items()])

    def titles(self, leaves: list[str]) -> dict[str, str]:
        return dict(self._session.among(TITLES, leaves, {"house": self._house})) if leaves else {}

    def file_titles(self, file_ids: list[str]) -> dict[str, tuple[str, str]]:
        """File → (title, key)."""
        rows = self._session.among(FILE_TITLES, file_ids, {"house": self._house}) if file_ids else []
        return {file_id: (title, key) for file_id, title, key in rows}

    def roots(self) -> dict[str, str]:
        """Session → the name of its thread, for every session that is linked to another: the least id of them."""
        parent: dict[str, str] = {}

        def find(session_id: str) -> str:
            while parent.setdefault(session_id, session_id) != session_id:
                parent[session_id] = session_id = parent[parent[session_id]]
            return session_id

        for first, second in self._session.rows(LINKS, {"house": self._house}):
            one, other = sorted((find(first), find(second)))
            parent[other] = one
        return {session_id: find(session_id) for session_id in list(parent)}
