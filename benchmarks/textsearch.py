"""What the engines' own text search needs for common words: FTS5 on SQLite, tsvector with a GIN index on PostgreSQL.

Both score every match before they cut. Beside them our postings do the same work: read the words' documents, score all
by BM25, take the best 400. That is only a part of a search; the whole of it is in the other table.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from corpus import Corpus, Question
from houses import House, spread

from recollect.recall import keyword
from recollect.recall.index import open_index
from recollect.recall.keyword import Term
from recollect.recall.recipes import STANDARD
from recollect.recall.words import query_terms

CANDIDATES = 400
BUILDING = """
PRAGMA journal_mode = OFF;
CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='porter unicode61');
"""
FTS5 = f"SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT {CANDIDATES}"
TSVECTOR = f"""
SELECT id FROM texts, to_tsquery('simple', %s) asked WHERE words @@ asked
ORDER BY ts_rank(words, asked) DESC LIMIT {CANDIDATES}
"""


def _timed(run: Any, asked: Sequence[Any]) -> dict[str, float]:
    for item in asked[:3]:
        run(item)
    taken: list[float] = []
    for item in asked:
        started = time.perf_counter()
        run(item)
        taken.append((time.perf_counter() - started) * 1000)
    return spread(taken)


def our_postings(house: House, questions: Sequence[Question]) -> dict[str, float]:
    with house.open() as memory:
        memory.recall.catch_up()
        index = open_index(memory.database, memory.settings.house)
        snapshot = index.snapshot()
        lengths = snapshot.facts.terms
        norms = keyword.length_norms(lengths, float(lengths.mean()), STANDARD).astype(np.float32)

        def best(question: Question) -> Any:
            found = snapshot.postings_of(query_terms(question.text))
            terms = [
                Term(word, keyword.weight(len(norms), len(docs)), docs, often) for word, (docs, often) in found.items()
            ]
            scores = keyword.own_scores(terms, norms, STANDARD)
            # Among those that match: a partition of an array that is nearly all zeros takes ten times as long.
            matching = np.flatnonzero(scores > 0)
            if len(matching) <= CANDIDATES:
                return matching
            return matching[np.argpartition(scores[matching], -CANDIDATES)[-CANDIDATES:]]

        figures = _timed(best, questions)
        index.close()
    return figures


def fts5(house: House, questions: Sequence[Question]) -> dict[str, float]:
    """Its table is kept beside the home's database."""
    import apsw

    path = house.home / "fts5.db"
    if not path.exists():
        building = path.with_suffix(".new")
        building.unlink(missing_ok=True)
        connection = apsw.Connection(str(building))
        connection.execute(BUILDING).fetchall()
        with connection:
            for chunk in Corpus(house.size).chunks():
                texts = [(message.text,) for message in chunk.messages]
                connection.executemany("INSERT INTO texts (text) VALUES (?)", texts)
        connection.close()
        building.rename(path)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA mmap_size = {1 << 30}")
    asked = [" OR ".join(f'"{word}"' for word in query_terms(question.text)) for question in questions]
    figures = _timed(lambda words: connection.execute(FTS5, (words,)).fetchall(), asked)
    connection.close()
    return figures


def tsvector(house: House, questions: Sequence[Question]) -> dict[str, float]:
    import psycopg

    with psycopg.connect(house.database, autocommit=True) as connection:
        found = connection.execute("SELECT to_regclass('texts')").fetchone()
        if not found or not found[0]:
            with connection.transaction():
                connection.execute(
                    "CREATE TABLE texts AS SELECT id, to_tsvector('simple', text) words FROM history_messages"
                )
                connection.execute("CREATE INDEX texts_by_word ON texts USING gin (words)")
            connection.execute("ANALYZE texts")
        asked = [" | ".join(f"'{word}'" for word in question.text.lower().split()) for question in questions]
        return _timed(lambda words: connection.execute(TSVECTOR, (words,)).fetchall(), asked)
