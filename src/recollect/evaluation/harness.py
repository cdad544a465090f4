"""Runs a set: each haystack is taken in as a person's history would be, searched, and dropped.

Turns are written as JSON lines of the generic source, with an id each and one second between them, so that a session
stays one conversation. Where a session has no date, the sessions of the haystack are a day apart. The question's own
date is the present; without one, the present is the end of the haystack.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.clock import to_text
from recollect.database import open_database
from recollect.errors import Corrupt
from recollect.evaluation.baselines import PlainBm25, VectorsOnly
from recollect.evaluation.datasets import DataSet, Haystack, Question, Session, Turn
from recollect.evaluation.remembering import RememberingModels
from recollect.evaluation.results import Ranking, Result
from recollect.memory import Memory
from recollect.settings import Settings

DEPTH = 100
"""How many hits a search is asked for: more than any measure looks at, as sessions are ranked by their turns."""
UNDATED = datetime(2020, 1, 1, 9, tzinfo=UTC)
BETWEEN_UNDATED = timedelta(days=1)
BETWEEN_TURNS = timedelta(seconds=1)

OnProgress = Callable[[int], None]


def evaluate(
    data: DataSet,
    settings: Settings,
    *,
    rerank: bool = False,
    on_progress: OnProgress = lambda _: None,
) -> Result:
    """Measure search with these settings' models. `on_progress` hears of each question that was asked."""
    models = RememberingModels(settings)
    deep, reranker = models.deep, models.reranker
    result = Result(
        left_out=data.left_out,
        rerank=rerank,
        models={
            "static": models.static.name,
            "deep": deep.name if deep else None,
            "reranker": reranker.name if rerank and reranker else None,
        },
        baselines={PlainBm25.name: Ranking(), VectorsOnly.name: Ranking()},
    )
    with tempfile.TemporaryDirectory(prefix="recollect-eval-") as folder:
        for number, haystack in enumerate(data.haystacks()):
            house = Path(folder, f"haystack-{number}")
            _Trial(haystack, house, settings, models, result, on_progress).run()
    return result


@dataclass(frozen=True, slots=True)
class _Trial:
    """One haystack."""

    haystack: Haystack
    folder: Path
    settings: Settings
    models: RememberingModels
    result: Result
    on_progress: OnProgress

    def run(self) -> None:
        turns = [turn for session in self.haystack.sessions for turn in session.turns]
        session_of = {turn.id: session.id for session in self.haystack.sessions for turn in session.turns}
        self.result.haystacks += 1
        self.result.sessions += len(self.haystack.sessions)
        self.result.turns += len(turns)
        with self._memory() as memory:
            kept = self._take_in(memory)
            self.result.turns_lost += len(turns) - len(kept)
            turn_of = {message: turn.id for message, turn in kept.items()}
            self._index(memory)
            # The baselines read what search reads: the words as history keeps them, after the speaker's name.
            bm25 = PlainBm25(list(kept.values()))
            vectors = VectorsOnly(list(kept.values()), self.models.deep or self.models.static)
            for question in self.haystack.questions:
                ranked = self._search(memory, question, turn_of)
                self.result.search.take(question, ranked, session_of)
                for baseline in (bm25, vectors):
                    self.result.baselines[baseline.name].take(question, baseline.rank(question.text), session_of)
                self.on_progress(1)

    @contextmanager
    def _memory(self) -> Generator[Memory]:
        """A home that is deleted when its questions are answered. All settings are the defaults, but for the models."""
        self.folder.mkdir()
        settings = Settings(
            home=self.folder,
            models_folder=self.settings.models_folder,
            deep_model=self.settings.deep_model,
            rerank_model=self.settings.rerank_model,
            embedding_key_variable=self.settings.embedding_key_variable,
            use_gpu=self.settings.use_gpu,
        )
        now = present(self.haystack)
        with Memory(settings, open_database(settings.database_url), lambda: now, models=self.models) as memory:
            yield memory
        shutil.rmtree(self.folder)

    def _take_in(self, memory: Memory) -> dict[str, Turn]:
        """Message → its turn, with the words as they are kept, in the order of the haystack."""
        path = self.folder / "haystack.jsonl"
        lines = list(written(self.haystack))
        path.write_text("".join(json.dumps(line) + "\n" for line, _ in lines), encoding="utf-8")
        report = memory.history.ingest([path], source="generic")
        if report.failed:
            raise Corrupt(f"A haystack was not taken in: {report.problems[0].reason}. Please report it with the set.")
        messages = sorted(memory.history.export(), key=lambda message: message.line)
        return {message.id: replace(lines[message.line - 1][1], text=message.text) for message in messages}

    def _index(self, memory: Memory) -> None:
        memory.recall.catch_up()
        while memory.recall.deepen():
            pass
        # Models load at their first use and an index is opened at its first search: neither is the time of a search.
        memory.recall.search("Is everything loaded?", limit=1, rerank=self.result.rerank and self.result.haystacks == 1)

    def _search(self, memory: Memory, question: Question, turn_of: dict[str, str]) -> list[str]:
        now = question.at or present(self.haystack)
        begun = time.perf_counter()
        found = memory.recall.search(question.text, limit=DEPTH, now=now, zone=UTC, rerank=self.result.rerank)
        self.result.milliseconds.append((time.perf_counter() - begun) * 1000)
        self.result.lacks += [lack for lack in found.lacks if lack not in self.result.lacks]
        return list(dict.fromkeys(turn_of[hit.id] for hit in found.hits if hit.id in turn_of))


def written(haystack: Haystack) -> "Generator[tuple[dict[str, str], Turn]]":
    """Each turn as a line of the generic source. Speakers that are neither user nor assistant are users with a name."""
    for number, session in enumerate(haystack.sessions):
        start = began(session, number)
        for place, turn in enumerate(session.turns):
            is_role = turn.speaker in ("user", "assistant")
            line = {
                "session": session.id,
                "id": str(place),
                "at": to_text(start + place * BETWEEN_TURNS),
                "author": turn.speaker if is_role else "user",
                "text": turn.text,
            }
            yield line if is_role else {**line, "name": turn.speaker}, turn


def began(session: Session, number: int) -> datetime:
    return session.at or UNDATED + number * BETWEEN_UNDATED


def present(haystack: Haystack) -> datetime:
    """The end of the last turn."""
    ends = [
        began(session, number) + len(session.turns) * BETWEEN_TURNS for number, session in enumerate(haystack.sessions)
    ]
    return max(ends, default=UNDATED)
