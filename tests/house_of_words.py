"""What an index follows, in memory: messages, records and notes that come, change, move and go, and the feed of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from builders import moment

from recollect.feed import MESSAGE, NOTE, RECORD, Change
from recollect.history import Author, Message, Standing
from recollect.knowledge import Category, Kind, Origin, Record, State
from recollect.notes import Action, Note
from recollect.notes.paths import scope_of
from recollect.recall.index import Index, Snapshot
from recollect.recall.index.documents import Document, Thing
from recollect.recall.index.formats import Floats
from recollect.recall.material import is_searched, message_document, record_document
from recollect.recall.noted import noted, noted_document

DIMENSIONS = 16
FACTS = ("identity", "place", "at", "known", "author", "kind", "until", "expires", "evergreen", "terms", "asking")
"""That are the same in every build."""


class WordVectors:
    """An embedder that is quick and depends on each text alone: the sum of a random vector for each word."""

    def __init__(self, name: str = "words-16", dimensions: int = DIMENSIONS) -> None:
        self.name = name
        self.dimensions = dimensions

    def passages(self, texts: Sequence[str]) -> Floats:
        rows = [self.query(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimensions)

    def query(self, text: str) -> Floats:
        total = sum((self._word(word) for word in text.lower().split()), np.zeros(self.dimensions))
        length = float(np.linalg.norm(total))
        return (total / length if length else total).astype(np.float32)

    def _word(self, word: str) -> np.ndarray:
        return _random_vector(f"{self.name} {word}", self.dimensions)


@lru_cache(maxsize=20_000)
def _random_vector(seed: str, dimensions: int) -> np.ndarray:
    raw = hashlib.blake2b(seed.encode(), digest_size=dimensions).digest()
    return np.frombuffer(raw, np.int8).astype(np.float64)


class HouseOfWords:
    """What an index follows. Each method is one commit of history."""

    def __init__(self, feed: str = "feed") -> None:
        self.messages: dict[str, Message] = {}
        self.records: dict[str, list[Record]] = {}
        self.notes: dict[str, Note] = {}
        self.scopes: dict[str, str] = {}
        """File → whose it is; of those that are not the house's."""
        self.feed = feed
        self.log: list[Change] = []

    def say(self, text: str, number: int | None = None, *, conversation: str | None = "c1", **fields: Any) -> str:
        """A new message, or another text for the one with this number."""
        number = len(self.messages) if number is None else number
        message = Message(
            id=f"m{number:06d}",
            file_id="f1",
            generation=0,
            start_byte=number * 100,
            line=number,
            home=True,
            source="claude-code",
            conversation_id=conversation,
            author=Author.USER if number % 2 == 0 else Author.ASSISTANT,
            standing=Standing.SAID,
            at=moment(number),
            last_at=moment(number),
            text=text,
        )
        self.put(replace(message, **fields))
        return message.id

    def put(self, *messages: Message) -> None:
        for message in messages:
            self.messages[message.id] = message
        self._note(*(message.id for message in messages))

    def change(self, message_id: str, **fields: Any) -> None:
        self.put(replace(self.messages[message_id], **fields))

    def delete(self, message_id: str) -> None:
        self.messages.pop(message_id, None)
        self._note(message_id)

    def bind(self, file_id: str, scope: str) -> None:
        """The messages of a file are somebody else's from now on."""
        self.scopes[file_id] = scope
        self._note(*(message.id for message in self.messages.values() if message.file_id == file_id))

    def learn(self, text: str, name: str, at: str = "2026-05-01T00:00:00.000Z", **fields: Any) -> Record:
        """A new version of a record; it ends the one before."""
        versions = self.records.setdefault(name, [])
        versions[-1:] = [replace(last, believed_until=at) for last in versions[-1:]]
        record = Record(
            id=name,
            version=len(versions) + 1,
            scope="house",
            kind=Kind.LEARNING,
            subject="",
            attribute="",
            value="",
            text=text,
            category=Category.KNOWLEDGE,
            tags=(),
            confidence=1.0,
            importance=0.5,
            origin=Origin.TOLD,
            learned_at=at,
            true_from=at,
            true_until="",
            expires_at="",
            state=State.CURRENT,
            replaces="",
            replaced_by="",
            sources=(),
            believed_from=at,
        )
        versions.append(replace(record, **fields))
        self._note(name, kind=RECORD)
        return versions[-1]

    def forget(self, name: str) -> None:
        """A record with all its versions."""
        self.records.pop(name, None)
        self._note(name, kind=RECORD)

    def write(self, path: str, text: str, at: str = "2026-05-01T00:00:00.000Z") -> Note:
        """A note, or another text for it."""
        number = self.notes[path].number + 1 if path in self.notes else 1
        self.notes[path] = Note(
            path=path,
            number=number,
            scope=scope_of(path),
            at=at,
            actor="person",
            action=Action.WRITTEN,
            digest="some",
            content=text.encode(),
        )
        self._note(path, kind=NOTE)
        return self.notes[path]

    def remove(self, path: str) -> None:
        self.notes.pop(path, None)
        self._note(path, kind=NOTE)

    def _note(self, *names: str, kind: str = MESSAGE) -> None:
        number = self.last_change() + 1
        self.log += [Change(change=number, kind=kind, id=name) for name in names]

    # What a follower asks for

    def feed_id(self) -> str:
        return self.feed

    def last_change(self) -> int:
        return self.log[-1].change if self.log else 0

    def can_follow(self, after: int) -> bool:
        return after <= self.last_change()

    def changes(self, after: int, limit: int) -> list[Change]:
        later = [change for change in self.log if change.change > after]
        last = later[min(limit, len(later)) - 1].change if later else 0
        return [change for change in later if change.change <= last]

    def documents(self, things: Sequence[Thing]) -> list[Document]:
        found: list[Document] = []
        for thing in things:
            message = self.messages.get(thing.id)
            if thing.kind == RECORD:
                versions = self.records.get(thing.id, [])
                found += [record_document(record) for record in versions if record.state is State.CURRENT]
            elif thing.kind == NOTE:
                parts = noted(self.notes[thing.id]) if thing.id in self.notes else []
                found += [noted_document(part) for part in parts]
            elif message and is_searched(message):
                found.append(message_document(message, self.scopes.get(message.file_id, "house")))
        return found

    def page(self, after: tuple[str, str], limit: int) -> list[tuple[str, Thing]]:
        pairs = [(message.at, Thing(MESSAGE, message.id)) for message in self.messages.values() if not message.gone]
        pairs += [("~", Thing(RECORD, name)) for name in self.records]
        pairs += [("~~", Thing(NOTE, path)) for path in self.notes]
        pairs.sort(key=lambda pair: (pair[0], pair[1].id))
        return [pair for pair in pairs if (pair[0], pair[1].id) > after][:limit]


def contents_of(index: Index, models: Sequence[WordVectors], *questions: str) -> dict[str, Any]:
    """Everything an index says, told by ids: two builds of one house say the same, however they number it."""
    snapshot = index.snapshot([model.name for model in models])
    asked = [(model.name, model.query(question)) for model in models for question in questions]
    docs = np.flatnonzero(snapshot.alive)
    ids = dict(zip(docs.tolist(), snapshot.document_ids(docs), strict=True))
    facts = snapshot.facts
    keys = snapshot.conversation_keys(facts.conversation[docs].tolist())
    postings = snapshot.postings_of(snapshot.terms_with_prefix("", 1_000_000))
    return {
        "facts": {
            ids[doc]: (
                keys[int(facts.conversation[doc])],
                snapshot.sources[facts.source[doc]],
                snapshot.scopes[facts.scope[doc]],
                *(int(getattr(facts, name)[doc]) for name in FACTS),
            )
            for doc in ids
        },
        "postings": {
            term: {ids[doc]: frequency for doc, frequency in zip(found.tolist(), frequencies.tolist(), strict=True)}
            for term, (found, frequencies) in postings.items()
            if len(found)
        },
        "number of postings": {term: len(found) for term, (found, _) in postings.items() if len(found)},
        "neighbours": {
            distance: {ids[doc]: ids.get(other, "") for doc, other in zip(ids, neighbours.tolist(), strict=True)}
            for distance in (-2, -1, 1, 2)
            for neighbours in [snapshot.neighbours(docs, distance)]
        },
        "spread": {model.name: tuple(part.tobytes() for part in _spread(snapshot, model.name)) for model in models},
        "nearest": [_nearest(snapshot, name, vector, ids) for name, vector in asked],
        "similarities": [
            dict(zip(ids.values(), snapshot.similarities(name, vector, docs).tolist(), strict=True))
            for name, vector in asked
        ],
    }


def _spread(snapshot: Snapshot, model: str) -> list[np.ndarray]:
    count, mean, covariance = snapshot.passage_spread(model)
    return [np.array(count), mean, covariance]


def _nearest(snapshot: Snapshot, model: str, asked: Floats, ids: dict[int, str]) -> list[tuple[str, float]]:
    docs, found = snapshot.nearest(model, asked, None, 5)
    return [(ids[doc], similarity) for doc, similarity in zip(docs.tolist(), found.tolist(), strict=True)]
