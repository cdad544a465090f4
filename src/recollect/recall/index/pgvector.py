"""Vectors in PostgreSQL's pgvector, for a house that several hosts share: no host holds them in memory.

The stored numbers are the quantised ones of `blocks.py`, so both find the same up to rounding. Up to 50,000 passages a
search is exact; above, an HNSW index finds the best, which may miss one now and then. That index belongs to one model
of one generation and is made once it is worth it, without stopping those who write.

A document that dies takes its vectors along at once, so an earlier snapshot no longer finds it by vector.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from recollect.database import Database, Session
from recollect.errors import Denied
from recollect.recall.index.formats import Counts, Floats, Quantised, Question
from recollect.recall.index.vectors import Allowed, ChangedVectors, Docs, Place, SearchedVectors

EXACT_PASSAGES = 50_000
"""Up to so many are compared one by one, which takes about 20 ms."""
MOST_DIMENSIONS = 2_000
"""That an HNSW index can hold."""
FETCHED_AGAIN = 4
"""Times as many as asked for are fetched from the index, and again so many when a filter leaves too few."""
MOST_FETCHED = 20_000

AVAILABLE = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
INSTALLED = "SELECT count(*) FROM pg_extension WHERE extname = 'vector'"
INSTALL = "CREATE EXTENSION IF NOT EXISTS vector"
TABLE = """
CREATE TABLE IF NOT EXISTS recall_vectors (
    house {key} NOT NULL,
    generation BIGINT NOT NULL,
    model {key} NOT NULL,
    doc BIGINT NOT NULL,
    part BIGINT NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (house, generation, model, doc, part)
)
"""
_HERE = "house = :house AND generation = :generation"
_OF_MODEL = f"{_HERE} AND model = :model"
ADD = """
INSERT INTO recall_vectors (house, generation, model, doc, part, embedding)
VALUES (:house, :generation, :model, :doc, :part, CAST(:embedding AS vector))
"""
STORED = f"""
SELECT CAST(embedding AS text) FROM recall_vectors WHERE {_OF_MODEL} AND doc IN (:values) ORDER BY doc, part
"""
DELETE = f"DELETE FROM recall_vectors WHERE {_OF_MODEL} AND doc IN (:values) RETURNING 1"
DELETE_MODEL = f"DELETE FROM recall_vectors WHERE {_OF_MODEL}"
DELETE_SLICE = f"""
DELETE FROM recall_vectors WHERE ctid = ANY (ARRAY(SELECT ctid FROM recall_vectors WHERE {_HERE} LIMIT :limit))
"""
_LIKENESS = "-(embedding <#> CAST(:asked AS vector))"
NEAREST = f"""
SELECT doc, max({_LIKENESS}) AS likeness FROM recall_vectors WHERE {_OF_MODEL} AND doc < :documents
GROUP BY doc ORDER BY likeness DESC FETCH FIRST :number ROWS WITH TIES
"""
SIMILARITIES = f"SELECT doc, max({_LIKENESS}) FROM recall_vectors WHERE {_OF_MODEL} AND doc IN (:values) GROUP BY doc"
EVERY_SIMILARITY = f"""
SELECT doc, max({_LIKENESS}) FROM recall_vectors WHERE {_OF_MODEL} AND doc < :documents GROUP BY doc
"""

# With numbers and names in the text: only so can the planner tell that the partial index has all the rows asked for.
INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON recall_vectors
USING hnsw ((embedding::vector({dimensions})) vector_ip_ops) WHERE {where}
"""
DROP_INDEX = "DROP INDEX IF EXISTS {name}"
INDEXED = """
SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = :name AND i.indisvalid
"""
BEGUN = "SELECT count(*) FROM pg_class WHERE relname = :name"
IN_THE_MAKING = """
SELECT count(*) FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid WHERE c.relname = :name
"""
APPROXIMATE = """
SELECT doc FROM recall_vectors WHERE {where} AND doc < :documents
ORDER BY (embedding::vector({dimensions})) <#> CAST(:asked AS vector({dimensions})) LIMIT :number
"""
LOOK_FURTHER = "SET LOCAL hnsw.iterative_scan = relaxed_order"
LOOK_AT = "SET LOCAL hnsw.ef_search = {number}"
MOST_LOOKED_AT = 1_000
"""The largest number that pgvector takes."""


def open_pgvector(database: Database) -> "PgVectors | None":
    """None: the server does not have pgvector, or this user may not turn it on."""
    if database.dialect.name != "postgres":
        return None
    with database.read() as session:
        installed = session.value(INSTALLED)
        if installed and session.value(database.dialect.count_tables, {"name": "recall_vectors"}):
            return PgVectors(database)
        if not installed and not session.value(AVAILABLE):
            return None
    try:
        with database.write() as session:
            if not installed:
                session.run(INSTALL)
            session.run(database.dialect.schema(TABLE))
    except Denied:
        # Only this: a server that is busy must not be taken for one without pgvector, or its index would be built anew.
        return None
    return PgVectors(database)


class PgVectors:
    """`StoredVectors` in `recall_vectors`."""

    name = "pgvector"
    kinds = ()

    def __init__(self, database: Database) -> None:
        self._database = database

    def change(
        self,
        place: Place,
        model: str,
        counts: Mapping[int, Counts],
        removed: Sequence[int],
        added: Mapping[int, Quantised],
    ) -> Floats:
        given = {"house": place.house, "generation": place.generation, "model": model}
        taken: list[list[float]] = []
        if removed:
            rows = place.session.among(STORED, list(removed), given)
            taken = [msgspec.json.decode(row[0], type=list[float]) for row in rows]
            place.session.among(DELETE, list(removed), given)
        rows = [
            (*given.values(), doc, part, _text(vector))
            for doc, vectors in added.items()
            for part, vector in enumerate(vectors.floats())
        ]
        place.session.many(ADD, rows)
        return np.array(taken, np.float32) if taken else np.empty((0, 0), np.float32)

    def drop(self, place: Place, model: str) -> None:
        given = {"house": place.house, "generation": place.generation, "model": model}
        self.unsettle(place, model)
        place.session.run(DELETE_MODEL, given)

    def unsettle(self, place: Place, model: str) -> None:
        place.session.run(DROP_INDEX.format(name=_index_name(place.house, place.generation, model)))

    def delete_some(self, place: Place, limit: int) -> bool:
        given = {"house": place.house, "generation": place.generation, "limit": limit}
        return bool(place.session.run(DELETE_SLICE, given))

    def settle(self, house: str, generation: int, model: str, passages: int, dimensions: int) -> None:
        """Make the index of a model that has become large. What another process is making is left to it."""
        if passages <= EXACT_PASSAGES or dimensions > MOST_DIMENSIONS:
            return
        name = _index_name(house, generation, model)
        with self._database.read() as session:
            if session.value(INDEXED, {"name": name}) or session.value(IN_THE_MAKING, {"name": name}):
                return
            is_broken = session.value(BEGUN, {"name": name})
        if is_broken:  # Whoever made it was killed.
            self._database.run_alone(DROP_INDEX.format(name=name))
        where = _where(house, generation, model)
        self._database.run_alone(INDEX.format(name=name, dimensions=int(dimensions), where=where))

    def searched(self, earlier: SearchedVectors | None, changed: ChangedVectors, documents: int) -> "PgSearched":
        passages = dict(earlier.passages) if isinstance(earlier, PgSearched) else {}
        passages.update((block, int(counts.sum())) for block, counts in changed.counts.items())
        return PgSearched(self._database, changed, documents, passages)


class PgSearched:
    """`SearchedVectors` that PostgreSQL searches."""

    def __init__(self, database: Database, place: ChangedVectors, documents: int, passages: Mapping[int, int]) -> None:
        self.passages = passages
        self._database = database
        self._documents = documents
        self._where = _where(place.house, place.generation, place.model)
        self._index = _index_name(place.house, place.generation, place.model)
        self._given = {"house": place.house, "generation": place.generation, "model": place.model}

    def nearest(self, asked: Question, allowed: Allowed | None, count: int) -> tuple[Docs, Floats]:
        if count < 1 or not sum(self.passages.values()):
            return _pairs([])
        given = {**self._given, "documents": self._documents, "asked": _text(asked.floats())}
        chosen = None if allowed is None else np.flatnonzero(allowed[: self._documents])
        with self._database.read() as session:
            if chosen is not None and len(chosen) <= EXACT_PASSAGES:
                return _best(session.among(SIMILARITIES, chosen.tolist(), given), count)
            if sum(self.passages.values()) > EXACT_PASSAGES and session.value(INDEXED, {"name": self._index}):
                return self._approximate(session, given, allowed, count, asked)
            if allowed is None:
                return _pairs(session.rows(NEAREST, {**given, "number": count}))
            rows = session.rows(EVERY_SIMILARITY, given)
        return _best([row for row in rows if allowed[row[0]]], count)

    def _approximate(
        self, session: Session, given: Mapping[str, Any], allowed: Allowed | None, count: int, asked: Question
    ) -> tuple[Docs, Floats]:
        number = count * FETCHED_AGAIN
        sql = APPROXIMATE.format(where=self._where, dimensions=asked.layers.shape[1])
        session.run(LOOK_FURTHER)
        session.run(LOOK_AT.format(number=min(max(number, 100), MOST_LOOKED_AT)))
        while True:
            rows = session.rows(sql, {**given, "number": number})
            docs = sorted({row[0] for row in rows if allowed is None or allowed[row[0]]})
            if len(docs) >= count or len(rows) < number or number >= MOST_FETCHED:
                return _best(session.among(SIMILARITIES, docs, given) if docs else [], count)
            number *= FETCHED_AGAIN

    def similarities(self, asked: Question, docs: Docs) -> Floats:
        if not len(docs):
            return np.empty(0, np.float32)
        given = {**self._given, "asked": _text(asked.floats())}
        with self._database.read() as session:
            found = dict(session.among(SIMILARITIES, sorted({int(doc) for doc in docs}), given))
        return np.array([found.get(int(doc), np.nan) for doc in docs], np.float32)

    def passages_of(self, doc: int) -> Floats:
        with self._database.read() as session:
            rows = session.among(STORED, [doc], self._given)
        return np.array([msgspec.json.decode(row[0]) for row in rows], np.float32).reshape(len(rows), -1)


def _best(rows: Sequence[tuple[Any, ...]], count: int) -> tuple[Docs, Floats]:
    """The documents that are most alike, and those that tie with the last of them."""
    docs, likeness = _pairs(rows)
    if len(docs) > count:
        top = likeness >= np.partition(likeness, len(likeness) - count)[len(likeness) - count]
        docs, likeness = docs[top], likeness[top]
    return docs, likeness


def _pairs(rows: Sequence[tuple[Any, ...]]) -> tuple[Docs, Floats]:
    return np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.float32)


def _text(vector: Floats) -> str:
    """As pgvector reads it. Each number reads back as the same 32 bits."""
    return msgspec.json.encode(vector.tolist()).decode()


def _index_name(house: str, generation: int, model: str) -> str:
    return f"recall_vectors_{generation}_{zlib.crc32(f'{house}/{model}'.encode()):08x}"


def _where(house: str, generation: int, model: str) -> str:
    names = [name.replace("'", "''").replace(":", "' || chr(58) || '") for name in (house, model)]
    return f"house = '{names[0]}' AND generation = {int(generation)} AND model = '{names[1]}'"
