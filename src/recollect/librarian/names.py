"""Who is meant by a name: two people with one name are not made one, and nobody is made two.

A person is the subject of records with the tag `person`. The first of a name is called by it; another one of the same
name, whose role is another, is called `Name (role)` until somebody says that both are one. Only a word such as "now" in
what was said lets a role change without asking.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from recollect.database import Session
from recollect.ids import derived_id
from recollect.knowledge import Record, State, Statement
from recollect.knowledge.store import Filter, RecordStore
from recollect.librarian.items import Item, Shelf
from recollect.librarian.questions import ANSWERED, QUESTION, Question, QuestionKind, QuestionStore, Subject
from recollect.lineage import folded

ROLE = "role"
MOST_PEOPLE = 20_000
_CHANGED = re.compile(
    r"\b(now|became|becomes|has become|promoted|used to|no longer|anymore|moved|is going to be|"
    r"jetzt|inzwischen|mittlerweile|wurde|ahora|maintenant|désormais|devenue?|adesso|agora|теперь|nu)\b|现在|成为|今は|になった",
    re.IGNORECASE,
)
YES = frozenset(("y", "yes", "yep", "yeah", "same", "ja", "sí", "si", "oui", "sim", "да", "はい", "是", "是的"))
NO = frozenset(("n", "no", "nope", "different", "nein", "non", "não", "нет", "いいえ", "不", "不是"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A person as far as they are known."""

    subject: str
    roles: tuple[str, ...] = ()
    """As they are compared."""


class Names:
    """Of the people of one scope, while one conversation is filed."""

    def __init__(self, session: Session, house: str, scope: str) -> None:
        self._session = session
        self._house = house
        self._scope = scope
        self._people: dict[str, list[Known]] = {}
        self._questions: dict[str, Question] = {}
        self._chosen: dict[str, str] = {}
        """Name → who was meant last in this conversation."""

    def subject_of(self, item: Item) -> str | None:
        """The subject under which an item about a person is filed. None: it could be several people."""
        name = item.subject
        role = item.value if folded(item.attribute) == ROLE else ""
        if not role and folded(name) in self._chosen:
            return self._chosen[folded(name)]
        people = self._known(name)
        subject = self._choose(item, name, role, people)
        if subject:
            self._chosen[folded(name)] = subject
            self._meet(people, subject, role)
        return subject

    def called(self, name: str) -> list[str]:
        """Everybody of this name."""
        return [one.subject for one in self._known(name)]

    def _meet(self, people: list[Known], subject: str, role: str) -> None:
        """Who was named in this conversation is known in the rest of it."""
        there = next((one for one in people if one.subject == subject), Known(subject=subject))
        if there in people:
            people.remove(there)
        roles = there.roles if not role or folded(role) in there.roles else (*there.roles, folded(role))
        people.append(Known(subject=subject, roles=roles))

    def _choose(self, item: Item, name: str, role: str, people: list[Known]) -> str | None:
        if not people:
            return name
        if not role:
            return people[0].subject if len(people) == 1 else None
        same = [one for one in people if folded(role) in one.roles]
        if same:
            return same[0].subject
        nameless = [one for one in people if not one.roles]
        if nameless and len(people) == 1:
            return nameless[0].subject
        if len(people) == 1 and any(_CHANGED.search(quote.words) for quote in item.quotes):
            return people[0].subject
        other = f"{name} ({role})"
        meant = self.meant_by(other)
        if meant != other:
            return meant
        self._ask_whether_same(item, people[0], other, role)
        return other

    def _known(self, name: str) -> list[Known]:
        key = folded(name)
        if key not in self._people:
            self._people[key] = list(self._find(name))
        return self._people[key]

    def _find(self, name: str) -> Iterator[Known]:
        """Those who are called so, the one without an addition first."""
        store = RecordStore(self._session, self._house)
        named: dict[str, list[Record]] = {}
        for record in store.listed(self._of(name, str(Shelf.PERSON)), MOST_PEOPLE):
            named.setdefault(name, []).append(record)
        for question in self._asked():
            for other in question.about.names[1:]:
                if folded(other).startswith(f"{folded(name)} ("):
                    found = store.listed(self._of(other), MOST_PEOPLE)
                    if found:
                        named.setdefault(other, found)
        for records in named.values():
            roles = tuple(sorted({folded(one.value) for one in records if folded(one.attribute) == ROLE}))
            yield Known(subject=records[-1].subject, roles=roles)

    def _of(self, subject: str, *tags: str) -> Filter:
        """Who was somebody's colleague once is still known by that."""
        return Filter(subject=subject, tags=tags, scope=self._scope, states=(State.CURRENT, State.REPLACED))

    def _asked(self) -> list[Question]:
        every = QuestionStore(self._session, self._house).every()
        return [one for one in every if one.kind is QuestionKind.SAME_PERSON and one.scope == self._scope]

    def meant_by(self, subject: str) -> str:
        """Who this is, by what somebody answered; else themselves."""
        one = {
            folded(question.about.names[1]): question.about.names[0]
            for question in self._asked()
            if question.state == ANSWERED and is_yes(question.answer)
        }
        seen = set[str]()
        while folded(subject) in one and folded(subject) not in seen:
            seen.add(folded(subject))
            subject = one[folded(subject)]
        return subject

    # Asking

    def _ask_whether_same(self, item: Item, known: Known, other: str, role: str) -> None:
        first = f"{known.subject} ({known.roles[0]})" if known.roles and "(" not in known.subject else known.subject
        question_id = derived_id(QUESTION, self._scope, "same", folded(known.subject), folded(other))
        self._questions[question_id] = Question(
            id=question_id,
            scope=self._scope,
            kind=QuestionKind.SAME_PERSON,
            text=f"Is {item.subject}, {role}, the same person as {first}? Answer yes or no.",
            about=Subject(names=(known.subject, other), messages=tuple(quote.message_id for quote in item.quotes)),
            asked_at="",
        )

    def ask_which(self, item: Item, statement: Statement, now: str) -> bool:
        """Whether it is a new question."""
        subjects = tuple(self.called(item.subject))
        question = Question(
            id=derived_id(QUESTION, self._scope, "which", folded(item.subject), folded(statement.text)),
            scope=self._scope,
            kind=QuestionKind.WHICH_PERSON,
            text=f"Which {item.subject} is meant: {' or '.join(subjects)}? “{item.quotes[0].words[:200]}”",
            about=Subject(
                names=subjects, statements=(statement,), messages=tuple(quote.message_id for quote in item.quotes)
            ),
            asked_at=now,
        )
        return QuestionStore(self._session, self._house).ask(question)

    def questions(self, now: str) -> list[Question]:
        """What came up while this conversation was filed."""
        return [replace(question, asked_at=now) for question in self._questions.values()]


def _first_word(answer: str) -> str:
    words = re.findall(r"[\w]+", folded(answer))
    return words[0] if words else ""


def is_yes(answer: str) -> bool:
    return _first_word(answer) in YES


def is_no(answer: str) -> bool:
    return _first_word(answer) in NO
