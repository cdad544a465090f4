"""What all finders share: the form of a statement, and what is known while a conversation is read."""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from functools import cache

from recollect import clock
from recollect.knowledge import Kind
from recollect.librarian.items import USER, About, Doubt, Ending, Item, Mention, Shelf, Turn
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.tongues import ENGLISH

HIGH, USUAL, LOW = 0.8, 0.5, 0.3
"""Importance: what somebody asked to be remembered or may be harmed by; what is said about oneself; a passing taste."""
SURE, LIKELY = 0.9, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to say a thing. The pattern begins where a clause begins."""

    text: str
    kind: Kind
    attribute: str = ""
    """Where only one value is true at a time; the group `value` holds it."""
    importance: float = USUAL

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.text)


_CAPITAL = re.compile(r"\[(?:A-Z[À-ÞÁÉÍÓÚÑÄÖÜ-]*|А-ЯЁ)\]")
"""Where a pattern asks for a capital it means one: `joined Acme`, not `joined in`."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Each when it is first needed: a house speaks two or three of the languages, not ten."""
    return re.compile(_CAPITAL.sub(r"(?-i:\g<0>)", pattern), re.IGNORECASE)


def form(pattern: str, kind: Kind = Kind.FACT, attribute: str = "", importance: float = USUAL) -> Form:
    return Form(text=pattern, kind=kind, attribute=attribute, importance=importance)


@dataclass(slots=True, kw_only=True)
class Reading:
    """What is known while the turns go by."""

    about: About
    project: str
    items: list[Item] = field(default_factory=list[Item])
    people: dict[str, Mention] = field(default_factory=dict[str, Mention])
    """Lower-case name → who they are."""
    last_person: str = ""
    """Whom "she" or "he" may mean: the one person of the clause or the sentence before."""
    doubts: list[Doubt] = field(default_factory=list[Doubt])
    dropped: Counter[str] = field(default_factory=Counter[str])
    endings: list[Ending] = field(default_factory=list[Ending])

    @property
    def home_shelf(self) -> Shelf:
        """Where a decision goes: to its project, where there is one."""
        return Shelf.PROJECT if self.project else Shelf.CORE

    @property
    def home_subject(self) -> str:
        return self.project or USER


def day_of(turn: Turn) -> date | None:
    """The day on which it was said, where it was said."""
    return clock.local(turn.at).date() if turn.at else None


def text_of(clause: Clause) -> str:
    """The line that an item shows."""
    return wording.third_person(clause.said) if clause.tongue == ENGLISH else wording.line(clause.said)


def item(
    clause: Clause,
    kind: Kind,
    shelf: Shelf = Shelf.CORE,
    *,
    text: str = "",
    subject: str = USER,
    attribute: str = "",
    value: str = "",
    importance: float = USUAL,
    confidence: float = LIKELY,
    tags: tuple[str, ...] = (),
) -> Item:
    return Item(
        shelf=shelf,
        kind=kind,
        text=text or text_of(clause),
        quotes=(clause.quote,),
        subject=subject,
        attribute=attribute,
        value=value,
        importance=importance,
        confidence=confidence,
        tags=tags,
    )


def first_match(forms: tuple[Form, ...], said: str) -> tuple[Form, re.Match[str]] | None:
    for one in forms:
        match = one.pattern.match(said)
        if match:
            return one, match
    return None


def value_of(match: re.Match[str]) -> str:
    found = match.groupdict().get("value") or ""
    return wording.clean(found).strip(" .,;:!")
