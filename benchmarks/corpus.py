"""A made-up chat history of any size, and questions to it. The same for everybody: all of it follows from one seed.

Words are drawn by Zipf's law from 60,000: English function words first, then words of the static model's vocabulary
(real words of several languages) and their inflections, with identifiers, paths and error codes among them. Every
conversation has a topic whose words come again and again, 10 to 60 turns, users with a median of 30 words and
assistants with one of 70 and a long tail. The first conversations say the same at every size, and the questions are
made from them, so that each size is asked the same.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.clock import to_text
from recollect.embedding.installed import static_files
from recollect.history import Author, Message, Standing
from recollect.history.conversations import Conversation, Status
from recollect.history.store.files import File
from recollect.ids import derived_id

VERSION = 1
"""Raise it when the same seed gives other texts: homes that were kept from earlier runs are made anew."""
SEED = 20_261_116
WORDS = 60_000
TOPICS = 2_000
TOPIC_WORDS = 60
TOPIC_SHARE = 0.25
"""Of the words of a text; the others are drawn from all."""
CHUNK = 250
"""Conversations made at once: fewer than 10,000 messages, so that the smallest corpus has the first chunk whole."""
YEARS = 3
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SOURCES = ("claude-code", "codex", "pi", "chatgpt")
PROJECTS = 40

_FUNCTION_WORDS = """
the to and of a in is that it for you i this on with be as are have can was not if your or at from but an so we my will
what all do there when how which would more one they has about out use up no me get like just some then other into than
only it's also any its should been by new need make each first don't want could them these were now here after see had
time our using where may very used same over most work way between set own while both before such
"""
_ENDINGS = ("s", "ed", "ing", "er", "ly", "ness")
_ERRORS = ("E", "ERR_", "TS", "ORA-", "HTTP ", "0x", "PGRST", "RUST-E")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    kind: str
    text: str
    options: dict[str, object] = field(default_factory=dict[str, object])
    """For `Recall.search`; times as ISO text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    files: list[File]
    conversations: list[Conversation]
    messages: list[Message]


class Vocabulary:
    """Words in the order of their frequency, and which of them are names of things."""

    def __init__(self) -> None:
        draw = np.random.default_rng(SEED)
        plain = _plain_words()
        self.topics: NDArray[np.int64] = draw.integers(400, WORDS, (TOPICS, TOPIC_WORDS))
        self.words, self.is_name = _mixed(plain, draw)
        weights = 1.0 / (np.arange(WORDS) + 2.7)
        self.cumulative = np.cumsum(weights / weights.sum())
        self.common = len(_FUNCTION_WORDS.split())
        """Rank of the first word that is no function word."""

    @cached_property
    def shapes(self) -> NDArray[np.object_]:
        """Each word plain and with a capital; inside, at the end of a sentence, and at the end of a paragraph."""
        capitals = [word if name else word.capitalize() for word, name in zip(self.words, self.is_name, strict=True)]
        ends = ("", ".", ".\n")
        return np.array([word + end for end in ends for words in (self.words, capitals) for word in words], object)

    def draw(self, number: int, draw: np.random.Generator) -> NDArray[np.int64]:
        return np.minimum(np.searchsorted(self.cumulative, draw.random(number)), WORDS - 1)


def _plain_words() -> list[str]:
    pieces = static_files()[0].read_text(encoding="utf-8").split("\n")
    whole = [piece[1:] for piece in pieces if piece.startswith("▁")]
    real = [word for word in whole if len(word) > 2 and word.isascii() and word.isalpha() and word.islower()]
    inflected = [word + ending for ending in _ENDINGS for word in real if len(word) > 4]
    return list(dict.fromkeys([*_FUNCTION_WORDS.split(), *real, *inflected]))


def _mixed(plain: list[str], draw: np.random.Generator) -> tuple[list[str], NDArray[np.bool_]]:
    """A fifth of the words from rank 300 on are names."""
    is_name = draw.random(WORDS) < 0.2
    is_name[:300] = False
    parts = [plain[number] for number in draw.integers(150, 12_000, WORDS * 3)]
    following = iter(plain)
    words = [_name(rank, parts[rank * 3 : rank * 3 + 3]) if is_name[rank] else next(following) for rank in range(WORDS)]
    return words, is_name


def _name(rank: int, parts: Sequence[str]) -> str:
    one, two, three = parts
    kinds = (
        f"{one}{two.capitalize()}{three.capitalize()}",
        f"{one}_{two}",
        f"src/{one}/{two}.py",
        f"{one.capitalize()}{two.capitalize()}Error",
        f"{_ERRORS[rank // 7 % len(_ERRORS)]}{1000 + rank}",
        f"{one}-{two}-{rank % 97}",
        f"{one}.{two}()",
    )
    return kinds[rank % len(kinds)]


class Corpus:
    def __init__(self, size: int) -> None:
        self.size = size
        self.vocabulary = Vocabulary()

    def chunks(self) -> Iterator[Chunk]:
        """All of it, in order of time, exactly `size` messages."""
        left, number = self.size, 0
        while left:
            chunk = self._chunk(number)
            yield _cut(chunk, left) if len(chunk.messages) > left else chunk
            left -= min(left, len(chunk.messages))
            number += 1

    def _chunk(self, number: int) -> Chunk:
        draw = np.random.default_rng((SEED, number))
        turns = draw.integers(10, 61, CHUNK)
        topics = draw.integers(0, TOPICS, CHUNK)
        lengths = self._lengths(turns, draw)
        texts = self._texts(lengths, np.repeat(topics, turns), draw)
        files: list[File] = []
        conversations: list[Conversation] = []
        messages: list[Message] = []
        for place in range(CHUNK):
            said = [texts[len(messages) + turn] for turn in range(turns[place])]
            file, conversation, spoken = self._conversation(number * CHUNK + place, said)
            files.append(file)
            conversations.append(conversation)
            messages += spoken
        return Chunk(files=files, conversations=conversations, messages=messages)

    def _lengths(self, turns: NDArray[np.int64], draw: np.random.Generator) -> NDArray[np.int64]:
        """Words of each message: users and assistants in turns."""
        number = int(turns.sum())
        starts = np.repeat(np.cumsum(turns) - turns, turns)
        is_user = (np.arange(number) - starts) % 2 == 0
        drawn = np.where(
            is_user, 30 * np.exp(0.9 * draw.standard_normal(number)), 70 * np.exp(draw.standard_normal(number))
        )
        return np.clip(drawn, 2, 1_500).astype(np.int64)

    def _texts(self, lengths: NDArray[np.int64], topics: NDArray[np.int64], draw: np.random.Generator) -> list[str]:
        number, vocabulary = int(lengths.sum()), self.vocabulary
        words = vocabulary.draw(number, draw)
        of_topic = vocabulary.topics[np.repeat(topics, lengths), draw.integers(0, TOPIC_WORDS, number)]
        words = np.where(draw.random(number) < TOPIC_SHARE, of_topic, words)
        ends = draw.random(number) < 1 / 11
        stops = np.cumsum(lengths)
        ends[stops - 1] = True
        begins = np.concatenate([[True], ends[:-1]])
        paragraphs = ends & (draw.random(number) < 0.15)
        paragraphs[stops - 1] = False
        shapes = words + WORDS * (begins.astype(np.int64) + 2 * ends + 2 * paragraphs)
        shown: list[str] = vocabulary.shapes[shapes].tolist()
        bounds = [0, *stops.tolist()]
        return [" ".join(shown[start:stop]) for start, stop in itertools.pairwise(bounds)]

    def _conversation(self, number: int, said: Sequence[str]) -> tuple[File, Conversation, list[Message]]:
        source = SOURCES[number % len(SOURCES)]
        session = derived_id("session", str(number))
        project = f"/home/ada/projects/{self.vocabulary.words[1_000 + number * 7 % PROJECTS]}"
        file_id = derived_id("file", session)
        # A little fewer turns than conversations have on average: the last one ends before now.
        begun = NOW - timedelta(days=365 * YEARS) * (1 - number * 33 / self.size)
        times = [to_text(begun + timedelta(seconds=75 * turn)) for turn in range(len(said))]
        ids = [derived_id("message", session, str(turn)) for turn in range(len(said))]
        conversation_id = derived_id("conversation", source, ids[0])
        messages = [
            Message(
                id=ids[turn],
                file_id=file_id,
                generation=0,
                start_byte=turn * 2_000,
                line=turn + 1,
                home=True,
                source=source,
                conversation_id=conversation_id,
                session_id=session,
                author=Author.ASSISTANT if turn % 2 else Author.USER,
                standing=Standing.SAID,
                at=times[turn],
                last_at=times[turn],
                text=said[turn],
                cwd=project,
            )
            for turn in range(len(said))
        ]
        conversation = Conversation(
            id=conversation_id,
            file_id=file_id,
            stream="",
            source=source,
            session_id=session,
            start_byte=0,
            started_at=times[0],
            last_start_at=times[-1],
            ended_at=times[-1],
            messages=len(said),
            opening=said[0][:200],
            project=project,
            status=Status.ACTIVE,
        )
        key = f"projects/{session}.jsonl"
        file = File(
            id=file_id,
            source=source,
            key=key,
            copy=0,
            host="",
            path=key,
            kind="session",
            session_id=session,
            agent_id="",
        )
        return file, conversation, messages


def _cut(chunk: Chunk, number: int) -> Chunk:
    messages = chunk.messages[:number]
    files = {message.file_id for message in messages}
    return Chunk(
        files=[file for file in chunk.files if file.id in files],
        conversations=[conversation for conversation in chunk.conversations if conversation.file_id in files],
        messages=messages,
    )


# Questions

TIMES = ("in March 2025", "last month", "two weeks ago", "in the summer of 2024", "last week")
KINDS = ("rare words", "one common word", "common words", "identifier", "long question", "with a time", "with filters")


class Questioner:
    """Makes questions from the first conversations, which are the same at every size."""

    def __init__(self, corpus: Corpus) -> None:
        self._vocabulary = corpus.vocabulary
        self._texts = [message.text for message in next(corpus.chunks()).messages]
        self._projects = [f"projects/{corpus.vocabulary.words[1_000 + number]}" for number in range(PROJECTS)]
        self._ranks = {word: rank for rank, word in enumerate(corpus.vocabulary.words)}

    def questions(self, number: int, seed: int = 1) -> list[Question]:
        draw = np.random.default_rng((SEED, seed, 77))
        return [self._question(KINDS[place % len(KINDS)], place, draw) for place in range(number)]

    def _question(self, kind: str, place: int, draw: np.random.Generator) -> Question:
        common = self._vocabulary.common
        words = self._vocabulary.words
        if kind == "rare words":
            return Question(kind=kind, text=" ".join(self._said(draw, 2, 15_000, WORDS, names=False)))
        if kind == "one common word":
            return Question(kind=kind, text=words[int(draw.integers(common, 250))])
        if kind == "common words":
            return Question(kind=kind, text=" ".join(words[rank] for rank in draw.integers(common, 400, 4)))
        if kind == "identifier":
            return Question(kind=kind, text=self._said(draw, 1, 300, WORDS, names=True)[0])
        if kind == "long question":
            said = self._said(draw, 5, 300, WORDS, names=False)
            others = [words[rank] for rank in self._vocabulary.draw(int(draw.integers(3, 8)), draw)]
            return Question(kind=kind, text=" ".join(draw.permutation([*said, *others]).tolist()) + "?")
        said = " ".join(self._said(draw, 3, common, WORDS, names=False))
        if kind == "with a time":
            return Question(kind=kind, text=f"what did I say about {said} {TIMES[place // len(KINDS) % len(TIMES)]}")
        return Question(kind=kind, text=said, options=self._options(place // len(KINDS), draw))

    def _options(self, number: int, draw: np.random.Generator) -> dict[str, object]:
        project = self._projects[int(draw.integers(0, PROJECTS))]
        choices: tuple[dict[str, object], ...] = (
            {"authors": ["user"]},
            {"sources": [SOURCES[number % len(SOURCES)]]},
            {"since": (NOW - timedelta(days=int(draw.integers(10, 700)))).isoformat()},
            {"projects": [project]},
            {"authors": ["assistant"], "until": (NOW - timedelta(days=200)).isoformat()},
        )
        return choices[number % len(choices)]

    def _said(self, draw: np.random.Generator, number: int, low: int, high: int, *, names: bool) -> list[str]:
        """Words of one message, of these ranks."""
        while True:
            text = self._texts[int(draw.integers(0, len(self._texts)))]
            words = dict.fromkeys(word.rstrip(".") for word in text.split() if not word[0].isupper())
            fitting = [word for word in words if self._fits(word, low, high, names)]
            if len(fitting) >= number:
                return [fitting[place] for place in draw.permutation(len(fitting))[:number]]

    def _fits(self, word: str, low: int, high: int, names: bool) -> bool:
        rank = self._ranks.get(word)
        return rank is not None and low <= rank < high and bool(self._vocabulary.is_name[rank]) == names
