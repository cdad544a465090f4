"""A history in memory for tests of the index: messages that come, change, move and go, and the feed of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from builders import moment

from recollect.feed import Change
from recollect.history import Author, Message, Standing
from recollect.recall.index import Index, Snapshot
from recollect.recall.index.formats import Floats

DIMENSIONS = 16


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

    def _note(self, *message_ids: str) -> None:
        number = self.last_change() + 1
        self.log += [Change(change=number, kind=MESSAGE, id=message_id) for message_id in message_ids]

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

    def documents(self, message_ids: Sequence[str]) -> dict[str, Message]:
        return {message_id: self.messages[message_id] for message_id in message_ids if message_id in self.messages}

    def said_after(self, after: tuple[str, str], limit: int) -> list[tuple[str, str]]:
        pairs = sorted((message.at, message.id) for message in self.messages.values() if not message.gone)
        return [pair for pair in pairs if pair > after][:limit]


def contents_of(index: Index, models: Sequence[WordVectors], *questions: str) -> dict[str, Any]:
    """Everything an index says, told by messages: two builds of one history say the same, however they number it."""
    snapshot = index.snapshot([model.name for model in models])
    asked = [(model.name, model.query(question)) for model in models for question in questions]
    docs = np.flatnonzero(snapshot.alive)
    ids = dict(zip(docs.tolist(), snapshot.message_ids(docs), strict=True))
    facts = snapshot.facts
    keys = snapshot.conversation_keys(facts.conversation[docs].tolist())
    postings = snapshot.postings_of(snapshot.terms_with_prefix("", 1_000_000))
    return {
        "facts": {
            ids[doc]: (
                keys[int(facts.conversation[doc])],
                snapshot.sources[facts.source[doc]],
                *(int(getattr(facts, name)[doc]) for name in ("identity", "place", "at", "author", "terms", "asking")),
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
