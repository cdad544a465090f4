"""All SQL on the tables of the index but that of pgvector."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import msgspec

from recollect.database import Row, Session


class State(StrEnum):
    SERVING = "serving"
    BUILDING = "building"
    """Made beside the serving one; not searched."""
    RETIRED = "retired"
    """Its rows are being removed."""


@dataclass(slots=True, kw_only=True)
class Generation:
    """One whole build of the index, and how far it is."""

    generation: int
    state: State
    words_version: int
    static_model: str
    storage: str
    """Which implementation holds its vectors."""
    feed_id: str
    change: int
    is_paged: bool = False
    said_at: str = ""
    said_id: str = ""
    step: int = 0
    version: int = 1
    next_doc: int = 0
    next_conversation: int = 0
    documents: int = 0
    dead: int = 0
    sources: list[str]
    scopes: list[str]


@dataclass(frozen=True, slots=True)
class Known:
    """A document as it is in the index."""

    doc: int
    text_digest: int
    facts_digest: int


_NAMES = [item.name for item in fields(Generation)]
_COLUMNS = ", ".join(_NAMES)
_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _NAMES if name != "generation")

GENERATIONS = f"SELECT {_COLUMNS} FROM recall_generations WHERE house = :house ORDER BY generation"
SAVE_GENERATION = (
    f"INSERT INTO recall_generations (house, {_COLUMNS}) VALUES (:house, {', '.join(f':{name}' for name in _NAMES)}) "
    f"ON CONFLICT (house, generation) DO UPDATE SET {_CHANGES}"
)
DELETE_GENERATION = "DELETE FROM recall_generations WHERE house = :house AND generation = :generation"

_HERE = "house = :house AND generation = :generation"

KNOWN = f"""
SELECT document_id, doc, text_digest, facts_digest FROM recall_documents WHERE {_HERE} AND document_id IN (:values)
"""
PARTS = f"""
SELECT document_id FROM recall_documents WHERE {_HERE} AND thing <> '' AND thing IN (:values)
"""
"""Nothing but what the index of things holds: asked for more, SQLite reads the whole table instead."""
DOCUMENT_IDS = f"SELECT doc, document_id FROM recall_documents WHERE {_HERE} AND doc IN (:values)"
SAVE_DOCUMENT = """
INSERT INTO recall_documents (house, generation, document_id, thing, doc, text_digest, facts_digest)
VALUES (:house, :generation, :document_id, :thing, :doc, :text_digest, :facts_digest)
ON CONFLICT (house, generation, document_id) DO UPDATE SET
    doc = excluded.doc, text_digest = excluded.text_digest, facts_digest = excluded.facts_digest
"""
DELETE_DOCUMENT = f"DELETE FROM recall_documents WHERE {_HERE} AND document_id = :document_id"

CONVERSATIONS = f"SELECT key, conversation FROM recall_conversations WHERE {_HERE} AND key IN (:values)"
CONVERSATION_KEYS = f"SELECT conversation, key FROM recall_conversations WHERE {_HERE} AND conversation IN (:values)"
EVERY_CONVERSATION = f"SELECT conversation, key FROM recall_conversations WHERE {_HERE}"
DELETE_CONVERSATION = f"DELETE FROM recall_conversations WHERE {_HERE} AND key = :key"
ADD_CONVERSATION = """
INSERT INTO recall_conversations (house, generation, key, conversation)
VALUES (:house, :generation, :key, :conversation)
"""

ADD_POSTINGS = """
INSERT INTO recall_postings (house, generation, term, block, data) VALUES (:house, :generation, :term, :block, :data)
ON CONFLICT (house, generation, term, block) DO UPDATE SET data = CAST(recall_postings.data || excluded.data AS {bytes})
"""
"""The cast: SQLite calls what `||` gives text, though its bytes are right."""
POSTINGS = f"SELECT term, block, data FROM recall_postings WHERE {_HERE} AND term IN (:values) ORDER BY term, block"
TERMS = f"""
SELECT DISTINCT term FROM recall_postings WHERE {_HERE} AND term >= :first AND term < :last ORDER BY term LIMIT :limit
"""
EVERY_POSTING = f"SELECT term, block, data FROM recall_postings WHERE {_HERE}"
POSTING = f"SELECT data FROM recall_postings WHERE {_HERE} AND term = :term AND block = :block"
SET_POSTING = f"UPDATE recall_postings SET data = :data WHERE {_HERE} AND term = :term AND block = :block"
DELETE_POSTING = f"DELETE FROM recall_postings WHERE {_HERE} AND term = :term AND block = :block"

BLOCKS = f"SELECT block, data FROM recall_blocks WHERE {_HERE} AND kind = :kind AND block IN (:values)"
BLOCKS_SINCE = f"""
SELECT kind, block, data FROM recall_blocks WHERE {_HERE} AND version > :version AND kind IN (:values)
ORDER BY kind, block
"""
KINDS = f"""
SELECT kind FROM recall_blocks WHERE {_HERE} AND kind >= :first AND kind < :last GROUP BY kind ORDER BY kind
"""
SAVE_BLOCK = """
INSERT INTO recall_blocks (house, generation, kind, block, version, data)
VALUES (:house, :generation, :kind, :block, :version, :data)
ON CONFLICT (house, generation, kind, block) DO UPDATE SET version = excluded.version, data = excluded.data
"""
DELETE_KIND = f"DELETE FROM recall_blocks WHERE {_HERE} AND kind = :kind"

SLICES = (
    ("recall_postings", ("term", "block")),
    ("recall_blocks", ("kind", "block")),
    ("recall_documents", ("document_id",)),
    ("recall_conversations", ("key",)),
)
"""Tables that a dropped generation has rows in, and what their keys have beside house and generation."""
END_OF_SLICE = f"SELECT {{key}} FROM {{table}} WHERE {_HERE} ORDER BY {{key}} LIMIT 1 OFFSET :limit"
DELETE_SLICE = f"DELETE FROM {{table}} WHERE {_HERE} AND ({{key}}) < ({{end}})"
DELETE_REST = f"DELETE FROM {{table}} WHERE {_HERE}"
"""By ranges of the key: in a table that it has not counted yet, PostgreSQL compares each row with each of a list."""


class GenerationStore:
    """The builds of one house."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def every(self) -> list[Generation]:
        return [_generation(row) for row in self._session.rows(GENERATIONS, {"house": self._house})]

    def get(self, number: int) -> Generation | None:
        return next((found for found in self.every() if found.generation == number), None)

    def serving(self) -> Generation | None:
        return next((found for found in self.every() if found.state is State.SERVING), None)

    def save(self, generation: Generation) -> None:
        values = {name: getattr(generation, name) for name in _NAMES}
        values["state"] = str(generation.state)
        values["is_paged"] = int(generation.is_paged)
        values["sources"] = msgspec.json.encode(generation.sources).decode()
        values["scopes"] = msgspec.json.encode(generation.scopes).decode()
        self._session.run(SAVE_GENERATION, {"house": self._house, **values})

    def delete(self, number: int) -> None:
        self._session.run(DELETE_GENERATION, {"house": self._house, "generation": number})


class IndexStore:
    """The rows of one generation."""

    def __init__(self, session: Session, house: str, generation: int) -> None:
        self._session = session
        self._here = {"house": house, "generation": generation}

    # Documents

    def known(self, document_ids: Sequence[str]) -> dict[str, Known]:
        rows = self._session.among(KNOWN, list(document_ids), self._here) if document_ids else []
        return {document_id: Known(doc, text, facts) for document_id, doc, text, facts in rows}

    def known_parts(self, things: Sequence[str]) -> dict[str, Known]:
        """All documents of these records and notes, by their keys."""
        rows = self._session.among(PARTS, list(things), self._here) if things else []
        return self.known([row[0] for row in rows])

    def document_ids(self, docs: Sequence[int]) -> dict[int, str]:
        return dict(self._session.among(DOCUMENT_IDS, docs, self._here)) if docs else {}

    def texts(self, docs: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Document → its id, and the digest of the text that is indexed."""
        names = self.document_ids(docs)
        known = self.known(list(names.values()))
        return {doc: (name, known[name].text_digest) for doc, name in names.items()}

    def save_documents(self, documents: Mapping[str, tuple[str, Known]]) -> None:
        """By their ids: the key of the thing that each is a part of, and what is known."""
        rows = [
            (*self._here.values(), document_id, thing, known.doc, known.text_digest, known.facts_digest)
            for document_id, (thing, known) in sorted(documents.items())
        ]
        self._session.many(SAVE_DOCUMENT, rows)

    def delete_documents(self, document_ids: Iterable[str]) -> None:
        self._session.many(DELETE_DOCUMENT, [(*self._here.values(), document_id) for document_id in document_ids])

    # Conversations

    def conversations(self, keys: Sequence[str]) -> dict[str, int]:
        return dict(self._session.among(CONVERSATIONS, keys, self._here)) if keys else {}

    def conversation_keys(self, numbers: Sequence[int]) -> dict[int, str]:
        return dict(self._session.among(CONVERSATION_KEYS, numbers, self._here)) if numbers else {}

    def add_conversations(self, numbers: Mapping[str, int]) -> None:
        self._session.many(ADD_CONVERSATION, [(*self._here.values(), key, number) for key, number in numbers.items()])

    def delete_conversations_but(self, numbers: Collection[int]) -> None:
        """Those that no document is in any more: their keys are ids."""
        left = [key for number, key in self._session.each(EVERY_CONVERSATION, self._here) if number not in numbers]
        self._session.many(DELETE_CONVERSATION, [(*self._here.values(), key) for key in left])

    # Postings

    def add_postings(self, rows: Iterable[tuple[str, int, bytes]]) -> None:
        """(term, block, data): appended to what the row has."""
        sql = self._session.dialect.schema(ADD_POSTINGS)
        self._session.many(sql, [(*self._here.values(), *row) for row in rows])

    def postings(self, terms: Sequence[str]) -> dict[str, list[tuple[int, bytes]]]:
        found: dict[str, list[tuple[int, bytes]]] = {}
        for term, block, data in self._session.among(POSTINGS, terms, self._here) if terms else []:
            found.setdefault(term, []).append((block, bytes(data)))
        return found

    def terms(self, first: str, last: str, limit: int) -> list[str]:
        rows = self._session.rows(TERMS, {**self._here, "first": first, "last": last, "limit": limit})
        return [row[0] for row in rows]

    def every_posting(self) -> Iterator[tuple[str, int, bytes]]:
        for term, block, data in self._session.each(EVERY_POSTING, self._here):
            yield term, block, bytes(data)

    def posting(self, term: str, block: int) -> bytes | None:
        data = self._session.value(POSTING, {**self._here, "term": term, "block": block})
        return None if data is None else bytes(data)

    def set_posting(self, term: str, block: int, data: bytes) -> None:
        given = {**self._here, "term": term, "block": block}
        if data:
            self._session.run(SET_POSTING, {**given, "data": data})
        else:
            self._session.run(DELETE_POSTING, given)

    # Blocks

    def blocks(self, kind: str, numbers: Sequence[int]) -> dict[int, bytes]:
        rows = self._session.among(BLOCKS, list(numbers), {**self._here, "kind": kind}) if numbers else []
        return {block: bytes(data) for block, data in rows}

    def blocks_since(self, version: int, kinds: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
        """(kind, block, data) of what was written after this version."""
        for kind, block, data in self._session.among(BLOCKS_SINCE, kinds, {**self._here, "version": version}):
            yield kind, block, bytes(data)

    def kinds(self, prefix: str) -> list[str]:
        rows = self._session.rows(KINDS, {**self._here, "first": prefix, "last": prefix + "\U0010ffff"})
        return [row[0] for row in rows]

    def save_blocks(self, kind: str, version: int, blocks: Mapping[int, bytes]) -> None:
        rows = [(*self._here.values(), kind, block, version, data) for block, data in sorted(blocks.items())]
        self._session.many(SAVE_BLOCK, rows)

    def delete_kind(self, kind: str) -> None:
        self._session.run(DELETE_KIND, {**self._here, "kind": kind})

    # Removing

    def delete_some(self, limit: int) -> bool:
        """Delete at most so many rows of the generation; whether any were left."""
        for table, columns in SLICES:
            key = ", ".join(columns)
            end = self._session.one(END_OF_SLICE.format(table=table, key=key), {**self._here, "limit": limit})
            if end:
                given = {**self._here, **dict(zip(columns, end, strict=True))}
                names = ", ".join(f":{name}" for name in columns)
                self._session.run(DELETE_SLICE.format(table=table, key=key, end=names), given)
                return True
            if self._session.run(DELETE_REST.format(table=table), self._here):
                return True
        return False


def _generation(row: Row) -> Generation:
    values: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    values["state"] = State(values["state"])
    values["is_paged"] = bool(values["is_paged"])
    values["sources"] = msgspec.json.decode(values["sources"], type=list[str])
    values["scopes"] = msgspec.json.decode(values["scopes"], type=list[str])
    return Generation(**values)
