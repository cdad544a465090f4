"""The official files of LoCoMo (`locomo10.json`) and LongMemEval (`longmemeval_s.json`, `…_m.json`, `…_oracle.json`).

Both are one array; LongMemEval_M has 2.7 GB, so one element is in memory at a time. Ids are made as in our neutral
copies of these sets, so that results can be compared question by question.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from recollect.errors import Invalid
from recollect.evaluation.datasets import Haystack, LeftOut, Question, Session, Turn, question_of, unreadable
from recollect.history.sources.documents import BrokenDocument, walk

Element = TypeVar("Element")


def _elements(path: Path, kind: type[Element], shape: str) -> Iterator[tuple[str, Element]]:
    """Each element of the array with words for where it stands."""
    try:
        with path.open("rb") as file:
            for place, value in walk(file, lambda at: not at):
                if not place or not isinstance(place[0], int):
                    raise Invalid(f"{path} is not an array. Expected [{shape}, …].")
                where = f"{path}, element {place[0] + 1}"
                try:
                    yield where, msgspec.convert(value, kind)
                except msgspec.ValidationError as error:
                    raise Invalid(f"{where}: {error}. Expected {shape}.") from error
    except BrokenDocument as error:
        raise Invalid(f"{path}: {error}. Expected [{shape}, …]; fetch the file again.") from error
    except OSError as error:
        raise unreadable(path, error) from error


# LoCoMo

LOCOMO_SHAPE = (
    "{sample_id, conversation: {session_1_date_time, session_1: […], …}, qa: [{question, evidence, category}]}"
)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_DIALOGUE_ID = re.compile(r"D:?(\d+):(\d+)")
"""Some references hold two ids, leading zeros or a colon too many."""
_SESSION_KEY = re.compile(r"session_(\d+)")


class _Asked(msgspec.Struct):
    question: str
    category: int
    evidence: list[str] = []


class _Sample(msgspec.Struct):
    sample_id: str
    conversation: dict[str, Any]
    qa: list[_Asked]


class _Said(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


def read_locomo(path: Path, left_out: LeftOut) -> Iterator[Haystack]:
    for where, sample in _elements(path, _Sample, LOCOMO_SHAPE):
        sessions = tuple(_locomo_sessions(sample, where))
        asked = [
            _locomo_question(left_out, sample.sample_id, number, line, sessions)
            for number, line in enumerate(sample.qa)
        ]
        yield Haystack(sessions=sessions, questions=tuple(question for question in asked if question))


def _locomo_sessions(sample: _Sample, where: str) -> Iterator[Session]:
    numbers = sorted(int(found[1]) for key in sample.conversation if (found := _SESSION_KEY.fullmatch(key)))
    for number in numbers:
        try:
            said = msgspec.convert(sample.conversation[f"session_{number}"], list[_Said])
        except msgspec.ValidationError as error:
            raise Invalid(
                f"{where}, session_{number}: {error}. Expected [{{speaker, dia_id, text, blip_caption?}}, …]."
            ) from error
        turns = tuple(
            Turn(id=f"{sample.sample_id}/{_dialogue_id(turn.dia_id)}", speaker=turn.speaker, text=_with_photo(turn))
            for turn in said
        )
        at = _locomo_time(
            sample.conversation.get(f"session_{number}_date_time"), f"{where}, session_{number}_date_time"
        )
        if turns:
            yield Session(id=f"{sample.sample_id}/s{number}", at=at, turns=turns)


def _with_photo(turn: _Said) -> str:
    return f"{turn.text} [shared a photo: {turn.blip_caption}]".strip() if turn.blip_caption else turn.text


def _dialogue_id(text: str) -> str:
    """`D:08:06` → `D8:6`; what is no such id stays as it is."""
    found = _DIALOGUE_ID.fullmatch(text.strip())
    return f"D{int(found[1])}:{int(found[2])}" if found else text


def _locomo_time(value: object, where: str) -> datetime:
    try:
        return datetime.strptime(str(value), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        raise Invalid(f"{where}: {value!r} is no time. Expected such as '1:56 pm on 8 May, 2023'.") from None


def _locomo_question(
    left_out: LeftOut, sample: str, number: int, line: _Asked, sessions: tuple[Session, ...]
) -> Question | None:
    turns: list[str] = []
    for reference in line.evidence:
        found = _DIALOGUE_ID.findall(reference)
        left_out.evidence += not found
        turns += [f"{sample}/D{int(session)}:{int(turn)}" for session, turn in found]
    where = {turn.id: session.id for session in sessions for turn in session.turns}
    return question_of(
        left_out,
        sessions,
        name=f"{sample}/q{number}",
        type_name=CATEGORIES.get(line.category, f"category {line.category}"),
        text=line.question,
        at=None,
        evidence_sessions=[where[turn] for turn in turns if turn in where],
        evidence_turns=turns,
    )


# LongMemEval

LONGMEMEVAL_SHAPE = (
    "{question_id, question_type, question, question_date, haystack_dates, haystack_session_ids, "
    "haystack_sessions: [[{role, content, has_answer?}]], answer_session_ids}"
)
_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)(?: \(\w+\))?(?: (\d\d):(\d\d))?")


class _ChatTurn(msgspec.Struct):
    role: str
    content: str
    has_answer: bool | None = None


class _Instance(msgspec.Struct):
    question_id: str
    question_type: str
    question: str
    question_date: str
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_ChatTurn]]
    answer_session_ids: list[str]


def read_longmemeval(path: Path, left_out: LeftOut) -> Iterator[Haystack]:
    """All turns are searched, those of the assistant too. Evidence is each turn with `has_answer`."""
    for where, instance in _elements(path, _Instance, LONGMEMEVAL_SHAPE):
        names = _unique(instance.haystack_session_ids)
        if not len(names) == len(instance.haystack_dates) == len(instance.haystack_sessions):
            raise Invalid(
                f"{where}: {len(names)} ids, {len(instance.haystack_dates)} dates and "
                f"{len(instance.haystack_sessions)} sessions in the haystack. Expected as many of each."
            )
        sessions = tuple(
            _chat(name, _longmemeval_time(date, where), turns)
            for name, date, turns in zip(names, instance.haystack_dates, instance.haystack_sessions, strict=True)
        )
        question = question_of(
            left_out,
            sessions,
            name=instance.question_id,
            type_name=instance.question_type,
            text=instance.question,
            at=_longmemeval_time(instance.question_date, where),
            evidence_sessions=instance.answer_session_ids,
            evidence_turns=[
                f"{name}/{number}"
                for name, turns in zip(names, instance.haystack_sessions, strict=True)
                for number, turn in enumerate(turns)
                if turn.has_answer
            ],
        )
        yield Haystack(sessions=sessions, questions=(question,) if question else ())


def _unique(names: list[str]) -> list[str]:
    """A session that stands twice in a haystack gets a second name."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def _chat(name: str, at: datetime, turns: list[_ChatTurn]) -> Session:
    return Session(
        id=name,
        at=at,
        turns=tuple(
            Turn(id=f"{name}/{number}", speaker=turn.role, text=turn.content) for number, turn in enumerate(turns)
        ),
    )


def _longmemeval_time(text: str, where: str) -> datetime:
    found = _DATE.fullmatch(text.strip())
    try:
        if found:
            year, month, day, hour, minute = (int(part or 0) for part in cast(tuple[str | None, ...], found.groups()))
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        pass
    raise Invalid(f"{where}: {text!r} is no time. Expected such as '2023/05/30 (Tue) 23:40'.")
