"""The rules at work: each clause of the user is tried by one finder after the other; the first that knows it wins."""

import re
from collections.abc import Sequence
from dataclasses import replace

from recollect.knowledge import Kind
from recollect.librarian.items import About, Ending, Extract, Item, Shelf, Turn
from recollect.librarian.rules import (
    commitments,
    corrections,
    decisions,
    endings,
    episode,
    facts,
    invented,
    moments,
    people,
    preferences,
    projects,
    requests,
    standing,
    statements,
)
from recollect.librarian.rules.clauses import Clause, Sentence, clauses_of, sentences_of
from recollect.librarian.rules.forms import HIGH, Reading
from recollect.librarian.rules.tongues import ENGLISH, main_tongue
from recollect.librarian.rules.unmeant import unmeant
from recollect.librarian.speech.filters import is_question, why_not

READER = "rules/3"
"""Raise it when the same conversation gives something else."""

MOST_ITEMS_A_TURN = 8
"""Who says more about themselves in one message has pasted it."""
LIKE_DUTY, LIKE_FACT = 0.6, 0.85
"""Of the words of the shorter: so many in common make it the same statement again."""
_SENTENCE_WIDE = frozenset({"instruction to a machine", "joke", "negated request", "quoted"})
"""Reasons that hold for all of a sentence when they hold for a part of it."""


_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE})


def extract(about: About, turns: Sequence[Turn]) -> Extract:
    said = [turn.text for turn in turns if turn.author == "user"]
    tongue = main_tongue(said)
    reading = Reading(about=about, project=projects.project_of(about))
    proposed: Turn | None = None
    before: Turn | None = None
    reasons = unmeant(turns)
    for turn in turns:
        if turn.author == "assistant":
            proposed = turn
        elif turn.number in reasons:
            reading.dropped[reasons[turn.number]] += 1
        elif turn.author == "user":
            _read(turn, proposed, reading, tongue)
            corrections.retract(turn, before, reading)
            proposed, before = None, turn
    if invented.is_made_up(turns):
        _leave_out_invented(reading)
    asked = episode.asked_in(turns, tongue)
    title, title_quotes = episode.title_of(about, asked)
    return Extract(
        reader=READER,
        title=title,
        title_quotes=title_quotes,
        project=reading.project,
        lines=episode.lines_of(turns, reading.items, asked, tongue),
        items=_distinct(_latest(reading.items)),
        endings=reading.endings,
        people=list(reading.people.values()),
        doubts=reading.doubts,
        dropped=reading.dropped,
    )


def _leave_out_invented(reading: Reading) -> None:
    own = [one for one in reading.items if invented.is_own(one)]
    reading.dropped["hypothetical"] += len(reading.items) - len(own)
    reading.items[:] = own
    reading.endings.clear()
    named = {one.subject for one in own}
    for name in [name for name, mention in reading.people.items() if mention.name not in named]:
        del reading.people[name]


def _read(turn: Turn, proposed: Turn | None, reading: Reading, tongue: str) -> None:
    before = len(reading.items)
    last: list[Item] = []
    previous: Sentence | None = None
    for sentence in sentences_of(turn, tongue):
        if len(reading.items) - before >= MOST_ITEMS_A_TURN:
            break
        if requests.points_back(sentence):
            _mark_remembered(last, previous, reading)
            continue
        last = _read_sentence(sentence, reading)
        previous = sentence
    if len(reading.items) == before:
        accepted = decisions.accepted(turn, proposed, reading, tongue)
        if accepted:
            reading.items.append(accepted)


def _read_sentence(sentence: Sentence, reading: Reading) -> list[Item]:
    asked = requests.find(sentence)
    kept: list[Item] = []
    if asked:
        reason = why_not(asked.text, sentence.before, sentence.after) or why_not(sentence.text)
        if reason and reason not in ("derivable", "fragment", "question"):
            reading.dropped[reason] += 1
            return []
        if requests.is_errand(asked):
            return []
        whole = _found(asked, reading) or [requests.general(asked, reading)]
        for one in whole:
            _keep(asked, _remembered(one), reading)
        return whole
    for clause in clauses_of(sentence):
        kept += _read_clause(clause, reading)
    return kept + statements.find(sentence, kept, reading, _why_not)


def _read_clause(clause: Clause, reading: Reading) -> list[Item]:
    ended = _ended(clause, reading)
    reading.endings += ended
    found = [one for one in _found(clause, reading) if not (ended and one.attribute)]
    if not found and clause.tongue == ENGLISH and (said := _completed(clause.said)):
        found = _found(replace(clause, said=said), reading)
    if not found:
        corrections.deny(clause, reading)
        return []
    reason = _why_not(clause)
    if not reason and statements.is_unlikely(clause) and not any(_is_plain(one) for one in found):
        reason = "unlikely"
    if reason:
        reading.dropped[reason] += len(found)
        return []
    for one in found:
        _keep(clause, one, reading)
    return found


def _ended(clause: Clause, reading: Reading) -> list[Ending]:
    held = endings.held(clause)
    if held is None or _why_not(clause):
        return []
    return [endings.ending(clause, one) for one in _found(held, reading) if endings.can_end(one)]


def _is_plain(one: Item) -> bool:
    """Its form says enough, however short it is: `I have a dog`, or a lesson that is called one."""
    return one.kind in (Kind.FACT, Kind.LEARNING) or one.shelf is Shelf.PERSON


_NUMBER = re.compile(r"\d[\d.,:]*")
_ELLIPSIS = (
    (
        "I",
        re.compile(
            r"(?i)(?:(?:just|finally|recently|also) )?(?:decided|bought|moved to|got (?:promoted|the job|accepted"
            r"|engaged|married|hired)|passed my|finished my|switched to|prefer|don't (?:eat|drink|like|do)|graduated"
            r"|quit my|joined|adopted|learned the hard way|realised|realized|promised|booked)\b"
        ),
    ),
    (
        "I'm",
        re.compile(
            r"(?i)(?:(?:also|still|severely|highly) )?(?:allergic to|sticking (?:with|to)|going with|switching to"
            r"|staying (?:with|on)|moving (?:to|in)|based in|living in|flying to|vegan|vegetarian|a vegetarian"
            r"|a vegan|done with)\b"
        ),
    ),
)


_MEANT = re.compile(
    r"(?i)(?:(?:sorry|wait|no)[\s,]+)*(?:i meant|(?:add|mention|include|say) that)"
    r" (?:to say )?(?=(?:i|my|we|our)\b|\w+ \w+ \w)"
)


def _completed(said: str) -> str:
    """With the subject that people leave out (`bought a house`), without `I meant` or `add that`; empty: as it is."""
    if meant := _MEANT.match(said):
        return said[meant.end() :]
    return next((f"{subject} {said}" for subject, pattern in _ELLIPSIS if pattern.match(said)), "")


def _why_not(clause: Clause) -> str:
    """Of the clause, and what of its sentence holds for it."""
    reason = why_not(clause.text, clause.before, clause.after)
    if reason == "fragment" and clause.text.rstrip().endswith(","):
        reason = ""
    if reason:
        return reason
    whole = why_not(clause.sentence)
    if whole in _SENTENCE_WIDE or (whole == "hypothetical" and _is_supposed(clause)):
        return whole
    return "question" if _is_asked(clause) else ""


def _is_supposed(clause: Clause) -> bool:
    """The supposition stands before it in its sentence."""
    at = clause.sentence.find(clause.text)
    return why_not(clause.sentence[: max(at, 0)] + " and so on, then") == "hypothetical"


def _is_asked(clause: Clause) -> bool:
    """Its sentence begins as a question does and ends as one: `do you know that I live here?`"""
    at = clause.sentence.find(clause.text)
    return at > 0 and clause.sentence.rstrip().endswith("?") and is_question(clause.sentence[:at] + " x")


def _found(clause: Clause, reading: Reading) -> list[Item]:
    """The first finder that knows the clause; people are noted whatever else it says."""
    name = projects.named(clause)
    if name and not reading.project:
        reading.project = name
    about_people = people.find(clause, reading, _is_meant) if people.may_name(clause, reading) else []
    moved = commitments.moved(clause, reading)
    if moved:
        return [moved]
    for find in (moments.milestone, moments.insight, decisions.find):
        one = find(clause, reading)
        if one:
            return [one, *about_people]
    due = commitments.find(clause, reading)
    if due or about_people:
        return [*due, *about_people]
    for find in (preferences.find, facts.find, projects.find, projects.aside):
        one = find(clause, reading)
        if one:
            return [one]
    return []


def _is_meant(clause: Clause) -> bool:
    """Nobody is noted from a sentence that is not meant."""
    return why_not(clause.text, clause.before, clause.after) not in (
        "joke",
        "hypothetical",
        "instruction to a machine",
        "quoted",
    )


def _remembered(one: Item) -> Item:
    return replace(one, tags=(requests.REMEMBER,), importance=max(one.importance, HIGH))


def _mark_remembered(last: list[Item], previous: Sentence | None, reading: Reading) -> None:
    """What was said right before is to be remembered, whether a finder knew it or not."""
    if last:
        for one in last:
            if one in reading.items:
                reading.items[reading.items.index(one)] = _remembered(one)
        return
    if not previous:
        return
    clause = previous.part(previous.start, previous.end)
    reason = why_not(clause.text, previous.before, previous.after)
    if reason and reason != "derivable":
        reading.dropped[reason] += 1
        return
    reading.items.append(requests.general(clause, reading))


def _keep(clause: Clause, one: Item, reading: Reading) -> None:
    if one.kind in _LASTING and requests.REMEMBER not in one.tags and standing.is_of_today(clause.said):
        reading.dropped["passing"] += 1
        return
    corrections.settle(clause, one, reading)
    reading.items.append(one)


def _latest(items: list[Item]) -> list[Item]:
    """Of what a later message says again with another number, the last."""
    last = {_numberless(one): one.quotes[0].message_id for one in items}
    return [one for one in items if last[_numberless(one)] == one.quotes[0].message_id]


def _numberless(one: Item) -> tuple[str, str, str]:
    return one.kind, one.subject, _NUMBER.sub("0", one.text.lower())


def _distinct(items: list[Item]) -> list[Item]:
    seen: dict[tuple[str, str], Item] = {}
    for one in items:
        key = (one.subject.lower(), one.text.lower())
        if any(_is_again(one, other) for other in seen.values()):
            continue
        if key not in seen or requests.REMEMBER in one.tags:
            seen[key] = one
    return list(seen.values())


def _is_again(one: Item, other: Item) -> bool:
    """The same in other words: a duty on the same day, or something of the same person."""
    if one.quotes[0] == other.quotes[0] and one.text.lower() in other.text.lower():
        return True
    if one.kind is not other.kind or one.subject != other.subject or one.shelf is not other.shelf:
        return False
    if one.value != other.value or (one.kind is Kind.COMMITMENT and not one.value):
        return False
    mine, theirs = (set(item.text.lower().split()) for item in (one, other))
    share = LIKE_DUTY if one.kind is Kind.COMMITMENT else LIKE_FACT
    return len(mine & theirs) >= share * min(len(mine), len(theirs)) and min(len(mine), len(theirs)) > 2
