"""From the answer of a model to an `Extract`: numbers of turns become messages, references become records."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from recollect.knowledge import Kind, Relation
from recollect.librarian.evidence.checking import REMEMBER, TOO_MANY
from recollect.librarian.evidence.limits import MOST_QUOTES
from recollect.librarian.extraction.known import Known, may_touch
from recollect.librarian.items import (
    USER,
    About,
    Doubt,
    EpisodeLine,
    Extract,
    Item,
    Mention,
    Quote,
    Shelf,
    Turn,
)
from recollect.lineage import folded

if TYPE_CHECKING:
    from recollect.librarian.prompts.extract import Answer, ItemAnswer, QuoteAnswer

MOST_ANSWERED = 200
"""Items, lines, people and questions of one answer that are looked at, of each."""
IMPORTANCE = {"low": 0.3, "normal": 0.5, "high": 0.8}
SURE, LESS_SURE = 0.9, 0.6
SHELVES = {
    "user": Shelf.CORE,
    "project": Shelf.PROJECT,
    "person": Shelf.PERSON,
    "milestone": Shelf.MILESTONE,
    "insight": Shelf.INSIGHT,
}
MOST_STATING = 3
"""Quotes of one item that are looked at: who needs more to say it says several things, or nothing."""
NO_ATTRIBUTE = frozenset({"", "none", "null", "n/a", "kind", "text", "value", "attribute", "subject", "about", "known"})
"""What models write where they have nothing to say."""
WRONG_REFERENCE = "wrong reference"
"""It was said to replace something else than it speaks of: kept as a new item, and counted."""

T = TypeVar("T")


def extract_of(answer: "Answer", about: About, turns: Sequence[Turn], refs: Mapping[str, Known]) -> Extract:
    return _Translation(about, turns, refs).extract(answer)


def referred(answer: "Answer") -> frozenset[str]:
    """The references that it uses."""
    return frozenset(_reference(item.known) for item in answer.items)


def _attribute(text: str) -> str:
    word = text.strip().lower()
    return "" if word in NO_ATTRIBUTE else word


def _reference(text: str) -> str:
    return text[:20].strip(" []().").lower()


class _Translation:
    def __init__(self, about: About, turns: Sequence[Turn], refs: Mapping[str, Known]) -> None:
        from recollect.librarian.rules.projects import project_of  # The rules are large, and only this is wanted.

        self._messages = {turn.number: turn.message_id for turn in turns}
        self._said = folded(" ".join(turn.text for turn in turns))
        self._refs = refs
        names = ("the user", USER, *filter(None, (about.user_name.strip(),)))
        self._selves = frozenset(map(folded, names))
        self._self = re.compile(rf"(?:{'|'.join(map(re.escape, names))})(?:['’]s)? (?=\w)", re.IGNORECASE)
        self._folder = project_of(about)
        self._project = self._folder
        self._dropped = Counter[str]()

    def extract(self, answer: "Answer") -> Extract:
        self._project = self._named_project(answer.project)
        return Extract(
            reader="",
            title=answer.title if answer.title_quotes else "",
            title_quotes=self._quotes(answer.title_quotes),
            project=self._project,
            lines=[
                EpisodeLine(
                    label="" if one.label == "Told" else one.label, text=one.text, quotes=self._quotes(one.quotes)
                )
                for one in self._first(answer.lines)
            ],
            items=[self._item(one) for one in self._first(answer.items)],
            people=[
                Mention(name=one.name, role=one.role, quotes=self._quotes(one.quotes))
                for one in self._first(answer.people)
            ],
            doubts=[Doubt(text=one.text, quotes=self._quotes(one.quotes)) for one in self._first(answer.questions)],
            dropped=self._dropped,
        )

    def _first(self, answers: Sequence[T]) -> Sequence[T]:
        if len(answers) > MOST_ANSWERED:
            self._dropped[TOO_MANY] += len(answers) - MOST_ANSWERED
        return answers[:MOST_ANSWERED]

    def _named_project(self, name: str) -> str:
        """That of the folder. Where it has none, a name that was said."""
        plain = " ".join(name.split())
        if self._folder or not plain or folded(plain) not in self._said:
            return self._folder
        return plain

    def _quotes(self, quotes: "Sequence[QuoteAnswer]") -> tuple[Quote, ...]:
        return tuple(
            Quote(message_id=self._messages.get(one.turn, ""), words=one.words) for one in quotes[:MOST_QUOTES]
        )

    def _item(self, answer: "ItemAnswer") -> Item:
        shelf, kind = SHELVES[answer.about], Kind(answer.kind)
        is_due = kind is Kind.COMMITMENT and answer.until and not answer.value
        item = Item(
            shelf=shelf,
            kind=Kind.LEARNING if shelf is Shelf.INSIGHT else kind,
            text=self._without_subject(answer.text) if shelf is Shelf.CORE else answer.text,
            quotes=self._quotes(answer.quotes)[:MOST_STATING],
            subject=self._subject(shelf, answer.subject),
            attribute=_attribute(answer.attribute) if answer.value or is_due else "",
            value=answer.until if is_due else answer.value,
            confidence=SURE if answer.is_certain else LESS_SURE,
            importance=max(IMPORTANCE[answer.importance], 0.8 if answer.asked_to_remember else 0.0),
            true_until="" if kind is Kind.COMMITMENT else answer.until,
            tags=(REMEMBER,) if answer.asked_to_remember else (),
        )
        return self._related(item, answer)

    def _subject(self, shelf: Shelf, subject: str) -> str:
        """One project has one name, however a model writes it."""
        plain = " ".join(subject.split())
        if shelf is Shelf.CORE:
            return USER
        if folded(plain) in self._selves:
            return USER
        if shelf is Shelf.PERSON:
            return plain or USER
        is_folder = not plain or folded(plain).replace(" ", "-") == folded(self._project).replace(" ", "-")
        return (self._project or USER) if is_folder else plain

    def _without_subject(self, text: str) -> str:
        """`The user prefers tabs` → `Prefers tabs`."""
        plain = text.strip()
        found = self._self.match(plain)
        rest = plain[found.end() :] if found else plain
        return rest[:1].upper() + rest[1:]

    def _related(self, item: Item, answer: "ItemAnswer") -> Item:
        known = self._refs.get(_reference(answer.known))
        if answer.relation == "new":
            return item
        if known is None or not may_touch(item, known):
            self._dropped[WRONG_REFERENCE] += 1
            return item
        return replace(item, relation=Relation(answer.relation), other=known.record_id)
