"""Nothing is believed without evidence: what no quote supports is dropped and counted.

Looks at each item of an `Extract`, whoever made it: do its quotes stand in the conversation, in their author's own
words, said by one who can know; does it name or number nothing that was not said; is the sentence it rests on meant as
a statement. What is kept has the message's own text as quote. Never raises, whatever a model wrote. It cannot tell
whether a statement is true, or whether a person meant it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from recollect.clock import local, parse_time
from recollect.knowledge import Kind
from recollect.librarian.evidence import limits
from recollect.librarian.evidence.naming_days import iso_days, may_mean
from recollect.librarian.evidence.quoted import ASSISTANT, Found, Quotes
from recollect.librarian.evidence.support import (
    Said,
    Vocabulary,
    is_turned_round,
    names_somebody,
    why_invented,
    why_unsupported,
)
from recollect.librarian.items import USER, Doubt, EpisodeLine, Extract, Item, Mention, Quote, Shelf, Turn
from recollect.librarian.speech.filters import why_not
from recollect.lineage import folded

REMEMBER = "remember"
WRONG_AUTHOR = "wrong author"
UNSUPPORTED = "unsupported"
BAD_NAME = "bad name"
WRONG_SHELF = "wrong shelf"
TOO_MANY = "too many"
DUPLICATE = "duplicate"

BY_ANYBODY = frozenset({Shelf.PROJECT, Shelf.INSIGHT})
"""What an assistant found out while it worked may be learned from it. What is so of people it only repeats."""
OF_THE_PERSON = frozenset({Kind.PREFERENCE, Kind.COMMITMENT})
"""Kinds that only the person themselves can state, wherever they are shown."""
NEVER = frozenset({"instruction to a machine", "secret", "negated request"})
"""Reasons of `filters` for which words may support nothing, not even a line of what happened."""
UNMEANT = NEVER | {"joke", "hypothetical", "quoted"}
"""Reasons for which nobody that a sentence names is known by it, and no proposal stands."""

ASSISTANTS = frozenset(
    {"claude", "claude code", "chatgpt", "gpt", "gemini", "codex", "copilot", "assistant", "ai", "siri"}
)
"""Whom people speak to, and not of: nobody in somebody's life, unless they say who it is."""

T = TypeVar("T")


def checked(extract: Extract, turns: Sequence[Turn], names: Iterable[str] = ()) -> Extract:
    """A new extract with what is supported. `names`: those that may be used without having been said, such as the
    person's own and those of people who are known already."""
    return _Check(extract, turns, names).run()


class _Check:
    def __init__(self, extract: Extract, turns: Sequence[Turn], names: Iterable[str]) -> None:
        self._extract = extract
        self._quotes = Quotes(turns)
        self._dropped = Counter(extract.dropped)
        self._project = _fit_name(extract.project)
        self._names = (USER, self._project, *names)
        self._known = Vocabulary.of(*self._names)
        self._all = [Said(text=turn.text, at=turn.at) for turn in turns if turn.text]

    def run(self) -> Extract:
        title, title_quotes = self._title()
        lines = [line for one in self._extract.lines if (line := self._line(one))]
        items = [item for one in self._extract.items if (item := self._item(one))]
        endings = [replace(one, item=item) for one in self._extract.endings if (item := self._item(one.item))]
        people = [person for one in self._extract.people if (person := self._person(one))]
        doubts = [doubt for one in self._extract.doubts if (doubt := self._doubt(one))]
        return Extract(
            reader=self._extract.reader,
            title=title,
            title_quotes=title_quotes,
            project=self._project,
            lines=self._most(lines, limits.MOST_LINES),
            items=self._most_important(self._distinct(items)),
            endings=self._most(endings, limits.MOST_ITEMS),
            people=self._most(people, limits.MOST_PEOPLE),
            doubts=self._most(doubts, limits.MOST_DOUBTS),
            dropped=self._dropped,
        )

    def _drop(self, reason: str) -> None:
        self._dropped[reason] += 1

    # Items

    def _item(self, item: Item) -> Item | None:
        item = replace(
            item,
            text=limits.one_line(item.text),
            subject=limits.one_line(item.subject) or USER,
            attribute=limits.one_line(item.attribute),
            value=limits.one_line(item.value),
        )
        item = self._placed(item)
        found, reason = self._quotes.find(item.quotes)
        reason = _why_unfit(item) or reason
        if not reason:
            found, reason = _stating(item, found)
        reason = reason or self._why_unsupported(item, found)
        if reason:
            self._drop(reason)
            return None
        return self._kept(item, found)

    def _placed(self, item: Item) -> Item:
        """What is about the person has no place among other people or, where there is no project, among projects."""
        if item.shelf not in (Shelf.PERSON, Shelf.PROJECT) or folded(item.subject) != folded(USER):
            return item
        if item.shelf is Shelf.PROJECT and self._project:
            return replace(item, subject=self._project)
        return replace(item, shelf=Shelf.CORE)

    def _why_unsupported(self, item: Item, found: Sequence[Found]) -> str:
        if not self._is_subject_known(item):
            return "invented name"
        said = _said(found)
        near = Vocabulary.of(*(one.nearby for one in found), item.subject, item.attribute)
        known = Vocabulary.of(*self._names, item.subject)
        reason = why_unsupported(item.text, said, near, known)
        if not reason and item.value:
            reason = why_unsupported(item.value, said, Vocabulary.of(*(one.text for one in said), item.subject), known)
        if not reason and is_turned_round(item.text, [one.words for one in found]):
            reason = UNSUPPORTED
        return reason

    def _is_subject_known(self, item: Item) -> bool:
        if folded(item.subject) in (folded(USER), folded(self._project)):
            return True
        return not why_invented(item.subject.title(), self._all, self._known)

    def _kept(self, item: Item, found: Sequence[Found]) -> Item:
        return replace(
            item,
            quotes=_quotes(found),
            attribute=item.attribute if limits.is_attribute(item.attribute) else "",
            confidence=limits.share(item.confidence, 0.5),
            importance=limits.share(item.importance, 0.5),
            true_from=_time_said(item.true_from, found),
            true_until=_time_said(item.true_until, found),
            tags=limits.fit_tags(item.tags),
        )

    # What happened, and who was spoken of

    def _title(self) -> tuple[str, tuple[Quote, ...]]:
        """Without quotes it is the conversation's own, and only made one line."""
        title = limits.one_line(self._extract.title)
        if not title:
            return "", ()
        reason = limits.why_unfit(title, limits.MOST_TITLE_CHARACTERS)
        found: list[Found] = []
        if not reason and self._extract.title_quotes:
            found, reason = self._quotes.find(self._extract.title_quotes)
            reason = reason or _why_never(found, title) or why_invented(title, self._all, self._known)
        if reason:
            self._drop(reason)
            return "", ()
        return title, _quotes(found)

    def _line(self, line: EpisodeLine) -> EpisodeLine | None:
        text, label = limits.one_line(line.text), limits.one_line(line.label)
        found, missing = self._quotes.find(line.quotes)
        reason = limits.why_unfit(text, limits.MOST_TEXT_CHARACTERS) or missing or _why_never(found, text)
        reason = reason or why_invented(text, _said(found), self._known)
        if reason:
            self._drop(reason)
            return None
        return EpisodeLine(label=label if limits.is_attribute(label) else "", text=text, quotes=_quotes(found))

    def _person(self, person: Mention) -> Mention | None:
        """Only those whom the person spoke of: an assistant names authors, commands and whoever stands in a file."""
        name, role = limits.one_line(person.name), limits.one_line(person.role)
        found, reason = self._quotes.find(person.quotes)
        reason = reason or ("" if limits.is_name(name) and names_somebody(name) else BAD_NAME)
        found = [one for one in found if one.author == USER and one.why_not() not in UNMEANT]
        words = Vocabulary.of(*(one.turn.text for one in found))
        reason = reason or ("" if found else WRONG_AUTHOR)
        if not reason and why_invented(name.title(), _said(found), Vocabulary()):
            reason = "invented name"
        if reason:
            self._drop(reason)
            return None
        if folded(name) in ASSISTANTS and not role:
            self._drop(BAD_NAME)
            return None
        is_told = limits.is_attribute(role) and all(
            words.has(folded(one)) or one in words.pairs for one in role.split()
        )
        return Mention(name=name, role=role if is_told else "", quotes=_quotes(found))

    def _doubt(self, doubt: Doubt) -> Doubt | None:
        text = limits.one_line(doubt.text)
        found, missing = self._quotes.find(doubt.quotes)
        reason = limits.why_unfit(text, limits.MOST_TEXT_CHARACTERS) or missing or _why_never(found, text)
        reason = reason or why_invented(text, self._all, self._known)
        if reason:
            self._drop(reason)
            return None
        return Doubt(text=text, quotes=_quotes(found))

    # How many

    def _distinct(self, items: Sequence[Item]) -> list[Item]:
        """In the order in which they were said, so that what was corrected comes last."""
        ordered = sorted(items, key=lambda item: self._quotes.number_of(item.quotes[0]))
        first: dict[tuple[str, ...], Item] = {}
        for item in ordered:
            said = folded(item.value) if item.attribute and item.value else folded(item.text)
            key = (str(item.kind), folded(item.subject), folded(item.attribute), said)
            if key in first:
                self._drop(DUPLICATE)
            first.setdefault(key, item)
        return list(first.values())

    def _most_important(self, items: list[Item]) -> list[Item]:
        if len(items) <= limits.MOST_ITEMS:
            return items
        chosen = sorted(range(len(items)), key=lambda at: -items[at].importance)[: limits.MOST_ITEMS]
        self._dropped[TOO_MANY] += len(items) - len(chosen)
        return [items[at] for at in sorted(chosen)]

    def _most(self, found: list[T], most: int) -> list[T]:
        if len(found) > most:
            self._dropped[TOO_MANY] += len(found) - most
        return found[:most]


# Who may say what


def _may_state(item: Item, found: Found) -> bool:
    """Whether what this author says is evidence for such an item."""
    if found.author == USER:
        return True
    if item.kind in OF_THE_PERSON or item.kind is Kind.DECISION or REMEMBER in item.tags:
        return False
    return item.shelf in BY_ANYBODY and folded(item.subject) != folded(USER)


def is_accepted(item: Item, found: Sequence[Found]) -> bool:
    """A decision that an assistant proposed, with the words in which the person agreed."""
    if item.kind is not Kind.DECISION:
        return False
    proposals = [one for one in found if one.author == ASSISTANT]
    return any(
        one.author == USER and one.turn.number > proposal.turn.number and one.is_consent
        for proposal in proposals
        for one in found
    )


def _stating(item: Item, found: Sequence[Found]) -> tuple[Sequence[Found], str]:
    """The quotes that state it; and, if there are none, why. Others beside them support nothing, and are let go."""
    if is_accepted(item, found):
        return found, next((reason for one in found if (reason := one.why_not()) in UNMEANT - {"hypothetical"}), "")
    reasons = {one: one.why_not() for one in found if _may_state(item, one)}
    dangerous = next((reason for reason in reasons.values() if reason in NEVER), "")
    stating = [one for one, reason in reasons.items() if not reason]
    return stating, dangerous or ("" if stating else next(iter(reasons.values()), WRONG_AUTHOR))


def _why_never(found: Sequence[Found], text: str) -> str:
    """Why words may not even tell what happened: what they say would be read by agents all the same."""
    if any(one.is_reported for one in found):
        return "quoted"
    if any(limits.tells_secret(one.words) for one in found):
        return "secret"
    return next((reason for words in (text, *(one.words for one in found)) if (reason := why_not(words)) in NEVER), "")


def _why_unfit(item: Item) -> str:
    reason = limits.why_unfit(item.text, limits.MOST_TEXT_CHARACTERS)
    if not reason and limits.is_narration(item.text):
        reason = "trivial"
    if not reason and (never := why_not(item.text)) in NEVER:
        reason = never
    if not reason and item.shelf is Shelf.EPISODE:
        reason = WRONG_SHELF
    if not reason and not limits.is_name(item.subject):
        reason = BAD_NAME
    if not reason and item.value:
        reason = limits.why_unfit(item.value, limits.MOST_VALUE_CHARACTERS)
    return reason


def _fit_name(name: str) -> str:
    line = limits.one_line(name)
    return line if limits.is_name(line) else ""


def _said(found: Sequence[Found]) -> list[Said]:
    return [Said(text=one.turn.text, at=one.turn.at) for one in found]


def _quotes(found: Sequence[Found]) -> tuple[Quote, ...]:
    quotes = (Quote(message_id=one.turn.message_id, words=one.words) for one in found)
    return tuple(dict.fromkeys(quotes))[: limits.MOST_QUOTES]


def _time_said(time: str, found: Sequence[Found]) -> str:
    """A stored time, if it is that of a message or the quoted words may mean its day. Empty: nobody said so."""
    stored = parse_time(time.strip()[:40]) if time else None
    if not stored:
        return ""
    days = {*iso_days(time), local(stored).date()}  # Midnight here is often another day in UTC.
    is_meant = any(may_mean(one.turn.text, day, one.turn.at) for one in found for day in days)
    return stored if is_meant or any(stored == one.turn.at for one in found) else ""
