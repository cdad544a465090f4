"""Questions: what the librarian cannot know by itself, and what it was told.

`same person`: two people of one name, who may be one. `which person`: one name that several people have; what was said
of them waits here. `open`: anything else; the answer becomes a record. A question has edges from its messages, and goes
with them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from recollect.database import Session
from recollect.errors import Conflict, NotFound
from recollect.feed import NOTE, FeedStore
from recollect.ids import derived_id
from recollect.knowledge import Statement
from recollect.librarian.items import Doubt
from recollect.lineage import MESSAGE, Edge, EdgeStore, folded
from recollect.notes.paths import QUESTIONS, folder_of, within

QUESTION = "question"
"""The kind of a question in lineage."""
OPEN, ANSWERED, DROPPED = "open", "answered", "dropped"

_COLUMNS = "id, scope, kind, about, text, state, answer, asked_at, answered_at, answered_by"
ADD = f"""
INSERT INTO librarian_questions (house, {_COLUMNS}) VALUES (
    :house, :id, :scope, :kind, :about, :text, :state, :answer, :asked_at, :answered_at, :answered_by
) ON CONFLICT (house, id) DO UPDATE SET about = excluded.about
"""
GET = f"SELECT {_COLUMNS} FROM librarian_questions WHERE house = :house AND id IN (:values)"
IN_STATE = f"SELECT {_COLUMNS} FROM librarian_questions WHERE house = :house AND state = :state ORDER BY asked_at, id"
SET_ANSWER = """
UPDATE librarian_questions
SET state = :state, answer = :answer, answered_at = :answered_at, answered_by = :answered_by
WHERE house = :house AND id = :id AND state = 'open'
"""
DROP = "DELETE FROM librarian_questions WHERE house = :house AND id = :id"


class QuestionKind(StrEnum):
    SAME_PERSON = "same person"
    WHICH_PERSON = "which person"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a question is about."""

    names: tuple[str, ...] = ()
    """The people it is about, as subjects of records."""
    statements: tuple[Statement, ...] = ()
    """What waits for the answer."""
    messages: tuple[str, ...] = ()
    """Where it came up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    id: str
    scope: str
    kind: QuestionKind
    text: str
    about: Subject = field(default_factory=Subject)
    state: str = OPEN
    answer: str = ""
    asked_at: str
    answered_at: str = ""
    answered_by: str = ""


def doubt_of(doubt: Doubt, scope: str, now: str) -> Question:
    messages = tuple(dict.fromkeys(quote.message_id for quote in doubt.quotes))
    return Question(
        id=derived_id(QUESTION, scope, folded(doubt.text)),
        scope=scope,
        kind=QuestionKind.OPEN,
        text=doubt.text,
        about=Subject(messages=messages),
        asked_at=now,
    )


class QuestionStore:
    """All SQL on questions."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def ask(self, question: Question) -> bool:
        """Whether it is new. One that was asked before is not asked again, however it was answered; what waits for an
        open one is added to it."""
        known = self.get([question.id]).get(question.id)
        if known and known.state != OPEN:
            return False
        about = question.about
        if known:
            waiting = {statement.text: statement for statement in (*known.about.statements, *about.statements)}
            messages = dict.fromkeys((*known.about.messages, *about.messages))
            about = Subject(names=about.names, statements=tuple(waiting.values()), messages=tuple(messages))
        given = {name: getattr(question, name) for name in _COLUMNS.split(", ")}
        given |= {"kind": str(question.kind), "about": msgspec.json.encode(about).decode()}
        self._session.run(ADD, self._given(**given))
        edges = [Edge(MESSAGE, message, QUESTION, question.id) for message in about.messages]
        EdgeStore(self._session, self._house).add(edges)
        self._touch([question.scope])
        return known is None

    def _touch(self, scopes: Iterable[str]) -> None:
        """The notes in which questions of these scopes stand have something to say anew."""
        paths = [within(folder_of(scope), QUESTIONS) for scope in set(scopes)]
        FeedStore(self._session, self._house).note(NOTE, paths)

    def get(self, question_ids: Sequence[str]) -> dict[str, Question]:
        rows = self._session.among(GET, list(question_ids), self._given()) if question_ids else []
        return {row[0]: _question(row) for row in rows}

    def in_state(self, state: str = OPEN) -> list[Question]:
        """The oldest first."""
        return [_question(row) for row in self._session.rows(IN_STATE, self._given(state=state))]

    def every(self) -> list[Question]:
        """Also those that were answered or dropped."""
        return [one for state in (OPEN, ANSWERED, DROPPED) for one in self.in_state(state)]

    def named(self, name: str) -> Question:
        """An open one by the start of its id."""
        found = [one for one in self.in_state() if one.id.startswith(name)] if name else []
        if not found:
            raise NotFound(f"No open question is called {name[:100]!r}. `recollect questions` lists them.")
        if len(found) > 1:
            raise Conflict(f"{name!r} could be {len(found)} questions. Give more of the id.")
        return found[0]

    def answer(self, question: Question, state: str, answer: str, now: str, who: str) -> bool:
        self._touch([question.scope])
        given = self._given(id=question.id, state=state, answer=answer, answered_at=now, answered_by=who)
        return self._session.run(SET_ANSWER, given) == 1

    def drop(self, question_ids: Sequence[str]) -> int:
        self._touch(question.scope for question in self.get(question_ids).values())
        EdgeStore(self._session, self._house).delete(QUESTION, question_ids)
        return sum(self._session.run(DROP, self._given(id=one)) for one in question_ids)

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _question(row: Sequence[Any]) -> Question:
    values: dict[str, Any] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    values["kind"] = QuestionKind(values["kind"])
    values["about"] = msgspec.json.decode(values["about"], type=Subject)
    return Question(**values)
