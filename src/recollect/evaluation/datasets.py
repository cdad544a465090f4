"""Data sets: sessions to search in, questions, and where their evidence lies. The neutral format is read here.

A set is read haystack by haystack, because the largest has more sessions than fit in memory. It is read twice: once to
count and check it, so that a broken line is found before hours of work, and once to use it.

A question counts when it has evidence. Left out, and counted: questions that are to be refused (type `abstention`, or
an id that ends in `_abs`), those without evidence, and evidence that is not in the haystack.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.clock import from_text, parse_time
from recollect.errors import Denied, Invalid, NotFound

SESSIONS = "sessions.jsonl"
QUESTIONS = "questions.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    id: str
    at: datetime | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    id: str
    type: str
    text: str
    at: datetime | None
    """When it is asked."""
    evidence_sessions: frozenset[str]
    evidence_turns: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Haystack:
    """What may be searched for these questions, and nothing else."""

    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


@dataclass(slots=True)
class LeftOut:
    """What a set has that cannot be measured."""

    questions: dict[str, int] = field(default_factory=dict[str, int])
    """Reason → how many."""
    evidence: int = 0
    """References to evidence that is not there or cannot be read."""

    def question(self, reason: str) -> None:
        self.questions[reason] = self.questions.get(reason, 0) + 1


ReadHaystacks = Callable[[Path, LeftOut], Iterator[Haystack]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A set that was counted and checked. `questions` is how many are measured."""

    path: Path
    read: ReadHaystacks
    questions: int
    left_out: LeftOut
    chosen: frozenset[int] | None
    """Places of the questions that are used; None: all."""

    def haystacks(self) -> Iterator[Haystack]:
        number = 0
        for haystack in self.read(self.path, LeftOut()):
            places = range(number, number + len(haystack.questions))
            number += len(haystack.questions)
            if self.chosen is None:
                yield haystack
                continue
            kept = tuple(one for place, one in zip(places, haystack.questions, strict=True) if place in self.chosen)
            if kept:
                yield replace(haystack, questions=kept)


def counted(path: Path, read: ReadHaystacks, limit: int | None = None) -> DataSet:
    """Read a set once. With a limit, that many questions are taken evenly over the whole set, always the same."""
    left_out = LeftOut()
    total = sum(len(haystack.questions) for haystack in read(path, left_out))
    if not total:
        raise Invalid(f"{path} has no question with evidence. Is it the right file, and for the right kind of set?")
    chosen = frozenset(spread(total, limit)) if limit is not None and limit < total else None
    return DataSet(path=path, read=read, questions=len(chosen) if chosen else total, left_out=left_out, chosen=chosen)


def spread(total: int, limit: int) -> list[int]:
    """`limit` places out of `total`, the first among them, as far from each other as can be."""
    limit = min(limit, total)
    return [number * total // limit for number in range(limit)]


def question_of(  # What the formats have in common: which evidence is there, and whether the question counts.
    left_out: LeftOut,
    sessions: tuple[Session, ...],
    *,
    name: str,
    type_name: str,
    text: str,
    at: datetime | None,
    evidence_sessions: list[str],
    evidence_turns: list[str],
) -> Question | None:
    if type_name == "abstention" or name.endswith("_abs"):
        left_out.question("abstention")
        return None
    known_sessions = {session.id for session in sessions}
    known_turns = {turn.id for session in sessions for turn in session.turns}
    kept_sessions = frozenset(evidence_sessions) & known_sessions
    kept_turns = frozenset(evidence_turns) & known_turns
    left_out.evidence += len(set(evidence_sessions)) - len(kept_sessions) + len(set(evidence_turns)) - len(kept_turns)
    if not kept_sessions:
        left_out.question("no evidence")
        return None
    return Question(
        id=name, type=type_name, text=text, at=at, evidence_sessions=kept_sessions, evidence_turns=kept_turns
    )


# The neutral format: a folder with two files of JSON lines


class _TurnLine(msgspec.Struct):
    turn_id: str
    speaker: str
    text: str


class _SessionLine(msgspec.Struct):
    session_id: str
    turns: list[_TurnLine]
    at: str | None = None


class _Dated(msgspec.Struct, frozen=True):
    session_id: str
    at: str | None = None


class _QuestionLine(msgspec.Struct):
    question_id: str
    type: str
    question: str
    haystack: list[str | _Dated]
    evidence_sessions: list[str]
    evidence_turns: list[str]
    at: str | None = None


SESSION_SHAPE = "{session_id, at?, turns: [{turn_id, speaker, text}]}"
QUESTION_SHAPE = "{question_id, type, question, at?, haystack, evidence_sessions, evidence_turns}"


def read_neutral(folder: Path, left_out: LeftOut) -> Iterator[Haystack]:
    """Questions with the same haystack are asked together, in the order in which their haystacks first appear."""
    sessions = _sessions(folder / SESSIONS)
    path = folder / QUESTIONS
    grouped: dict[tuple[_Dated, ...], list[tuple[int, _QuestionLine]]] = {}
    for number, line in _lines(path, _QuestionLine, QUESTION_SHAPE):
        key = tuple(_Dated(item) if isinstance(item, str) else item for item in line.haystack)
        grouped.setdefault(key, []).append((number, line))
    for key, asked in grouped.items():
        where = f"{path}, line {asked[0][0]}"
        found = tuple(_dated(sessions, place, where) for place in key)
        if len({session.id for session in found}) < len(found):
            raise Invalid(f"{where}: a session stands twice in the haystack. Expected each once.")
        questions = [
            question_of(
                left_out,
                found,
                name=line.question_id,
                type_name=line.type,
                text=line.question,
                at=moment(line.at, f"{path}, line {number}"),
                evidence_sessions=line.evidence_sessions,
                evidence_turns=line.evidence_turns,
            )
            for number, line in asked
        ]
        yield Haystack(sessions=found, questions=tuple(question for question in questions if question))


def _sessions(path: Path) -> dict[str, Session]:
    found: dict[str, Session] = {}
    turns: set[str] = set()
    for number, line in _lines(path, _SessionLine, SESSION_SHAPE):
        where = f"{path}, line {number}"
        if line.session_id in found:
            raise Invalid(f"{where}: session {line.session_id} was there before. Expected each once.")
        read = tuple(Turn(id=turn.turn_id, speaker=turn.speaker, text=turn.text) for turn in line.turns)
        for turn in read:
            if turn.id in turns:
                raise Invalid(f"{where}: turn {turn.id} was there before. Expected each once.")
            turns.add(turn.id)
        found[line.session_id] = Session(id=line.session_id, at=moment(line.at, where), turns=read)
    return found


def _dated(sessions: dict[str, Session], place: _Dated, where: str) -> Session:
    session = sessions.get(place.session_id)
    if session is None:
        raise Invalid(f"{where}: the haystack names session {place.session_id}, which is not in {SESSIONS}.")
    return replace(session, at=moment(place.at, where)) if place.at else session


def moment(text: str | None, where: str) -> datetime | None:
    if text is None:
        return None
    parsed = parse_time(text)
    if parsed is None:
        raise Invalid(f"{where}: {text!r} is no time. Expected ISO 8601, such as 2023-05-08T13:56:00Z.")
    return from_text(parsed).astimezone(UTC)


Line = TypeVar("Line")


def _lines(path: Path, kind: type[Line], shape: str) -> Iterator[tuple[int, Line]]:
    """Each line that is not empty, with its number."""
    decoder = msgspec.json.Decoder(kind)
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    try:
                        yield number, decoder.decode(raw)
                    except (msgspec.DecodeError, UnicodeDecodeError) as error:
                        raise Invalid(f"{path}, line {number}: {error}. Expected {shape}.") from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> NotFound | Denied | Invalid:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return NotFound(f"{path} is not there. Give the set with --data.")
    if isinstance(error, PermissionError):
        return Denied(f"{path} may not be read: {error.strerror}. Check its permissions.")
    return Invalid(f"{path} cannot be read: {error.strerror}. Give the set with --data.")
