"""Chats for tests of search, in the generic format: who said what, when, where. The same call, the same bytes."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import recollect
from recollect.embedding import Embedder, Models, Reranker
from recollect.recall import Found, Hit
from recollect.settings import Settings

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""What the clock of the tests shows: a Monday."""

Turn = str | tuple[str, str] | Mapping[str, Any]
"""What a user said, or (author, text), or all the fields of a line."""


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def lines_of(session: str, turns: Sequence[Turn], *, start: datetime, cwd: str = "/home/mara/garden") -> bytes:
    """A file of one session, a turn each minute. Turns are known by their number."""
    lines: list[bytes] = []
    for number, turn in enumerate(turns):
        given: Mapping[str, Any] = {"text": turn} if isinstance(turn, str) else turn  # type: ignore[assignment]
        if isinstance(turn, tuple):
            given = {"author": turn[0], "text": turn[1]}
        at = start + timedelta(minutes=number)
        record = {"author": "user", "session": session, "id": f"{number}", "at": at.isoformat(), "cwd": cwd, **given}
        lines.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    return b"".join(lines)


class House:
    """A memory that is told chats and asked about them."""

    def __init__(self, memory: recollect.Memory, folder: Path) -> None:
        self.memory = memory
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def tell(self, session: str, *turns: Turn, start: datetime | None = None, cwd: str = "/home/mara/garden") -> Path:
        """A session of its own in a file of its own; told again, the file is written anew."""
        path = self.folder / f"{session}.jsonl"
        path.write_bytes(lines_of(session, turns, start=start or days_ago(3), cwd=cwd))
        self.memory.history.ingest([path])
        return path

    def learn(self, text: str, **fields: Any) -> str:
        """Keep a record; its id."""
        learned = self.memory.knowledge.remember(text, **fields)
        assert learned.record
        return learned.record.id

    def ask(self, text: str, **options: Any) -> Found:
        return self.memory.recall.search(text, **{"zone": UTC, **options})

    def hits(self, text: str, **options: Any) -> list[Hit]:
        return self.ask(text, **options).hits

    def texts(self, text: str, **options: Any) -> list[str]:
        return [hit.text for hit in self.ask(text, **options).hits]

    def best(self, text: str, **options: Any) -> str:
        return next(iter(self.texts(text, **options)), "")

    def by_words(self, text: str, **options: Any) -> list[str]:
        """What has a word of the question itself: the words that matched are marked."""
        return [hit.text for hit in self.ask(text, **options).hits if hit.highlights]


class OwnModels(Models):
    """The models of the settings, with others in the place of some."""

    def __init__(
        self,
        settings: Settings,
        *,
        static: Embedder | None = None,
        deep: Embedder | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        super().__init__(settings)
        self._own_static, self._own_deep, self._own_reranker = static, deep, reranker

    @property
    def static(self) -> Embedder:
        return self._own_static or super().static

    @property
    def deep(self) -> Embedder | None:
        return self._own_deep

    @property
    def reranker(self) -> Reranker | None:
        return self._own_reranker
