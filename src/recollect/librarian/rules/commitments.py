"""What somebody has to do, and by when. The value is the day, counted from when it was said."""

import re
from dataclasses import replace

from recollect.knowledge import Kind
from recollect.librarian.items import USER, Item, Quote, Shelf
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.dates import find_day
from recollect.librarian.rules.duty_patterns import DUTIES
from recollect.librarian.rules.forms import LIKELY, SURE, Reading, day_of
from recollect.librarian.rules.tongues import ENGLISH
from recollect.librarian.speech.wordset import wordset

_PAST = re.compile(
    r"(?i)\b(?:yesterday|last (?:week|month|year|night|friday|monday)|ago|had|attended|been|was|were|since|gestern"
    r"|letzte\w*|ayer|pasad[oa]|hier|dernière?|ieri|ontem|gisteren|вчера)\b|昨天|昨日|先週"
)
_CONDITION = re.compile(
    r"(?i)\b(?:if|unless|in case|when|whenever|maybe|perhaps|might|every|each|usually|always"
    r"|falls|wenn|vielleicht|jeden|jede|si|quizás|peut-être|chaque|cada|ogni|elke|если|каждый)\b|每|毎"
)
_ASKING = re.compile(r"(?i)\b(?:you|your|du|dir|tú|te|tu|toi|jij|ты)\b")
_POINTS = re.compile(
    r"(?i)\b(?:it|them|those|these|(?:next|last|first|other) one)\b|\b(?:this|that)(?= (?:one|on|by|next|tomorrow"
    r"|today|this|before|until)\b|\W*$)"
)
_SLEEP = re.compile(r"(?i)\b(?:sleep|bed|schlafen|dormir|dormire|slapen|спать|lunch|eat|a break|a shower|coffee)\b")
_PART = re.compile(r",\s+(?:and\s+|und\s+|y\s+|et\s+)?")
_MOVED = re.compile(
    r"(?i)(?:(?:it|that|the \w+)(?:'s| is)|(?:they|he|she) (?:moved|rescheduled|pushed|shifted"
    r"|changed) (?:me|it|us|the \w+)(?: just now| again)?:? ?(?:to|until|it's)?)\b.*"
)


def find(clause: Clause, reading: Reading) -> list[Item]:
    """One for each part of a list that has a day of its own."""
    today = day_of(clause.turn)
    pattern = DUTIES.get(clause.tongue, DUTIES["en"])
    said = clause.said
    match = pattern.match(said) if today else None
    if not today or not match or _PAST.search(said) or _CONDITION.search(said) or _SLEEP.search(said):
        return []
    groups = match.groupdict()
    if groups.get("remind"):
        day = find_day(said, today)
        text = re.sub(r"(?i)^(?:please |pls )?remind me (?:to |that |about |of )?", "", said)
        return [_item(clause, reading, wording.third_person(text), day.on.isoformat() if day else "", clause.quote)]
    if _POINTS.search(said) and clause.tongue == ENGLISH:
        return []
    if _ASKING.search(said) and clause.tongue == ENGLISH:
        return []
    return _parts(clause, reading, groups.get("lead") or "")


def _parts(clause: Clause, reading: Reading, lead: str) -> list[Item]:
    today = day_of(clause.turn)
    assert today
    found: list[Item] = []
    for number, (start, end) in enumerate(_pieces(clause.text)):
        piece = clause.text[start:end]
        day = find_day(" ".join(piece.replace("’", "'").split()), today)
        if not day:
            continue
        said = " ".join(piece.replace("’", "'").split())
        said = f"{lead} {said}" if number and lead else said
        text = wording.third_person(_with_subject(said)) if clause.tongue == ENGLISH else wording.line(said)
        quote = Quote(message_id=clause.turn.message_id, words=clause.text if not number else piece)
        if len(_pieces(clause.text)) > 1 and not number:
            quote = Quote(message_id=clause.turn.message_id, words=piece)
        found.append(_item(clause, reading, text, day.on.isoformat(), quote))
    return found


def _pieces(text: str) -> list[tuple[int, int]]:
    """A list of duties at its commas; each piece with a day of its own stands alone, others join the one before."""
    spans: list[tuple[int, int]] = []
    at = 0
    for match in _PART.finditer(text):
        rest = text[match.end() :].split(" ", 1)[0].lower()
        if rest.isalpha() and rest in _VERBS:
            spans.append((at, match.start()))
            at = match.end()
    spans.append((at, len(text)))
    return spans


_VERBS = wordset("""
    send review call write book buy finish pay pick submit prepare meet visit order fix update renew cancel
    clean cook email mail reply answer present ship deploy return collect sign print plan draft read check file
""")


def _with_subject(said: str) -> str:
    return f"I {said}" if re.match(r"(?i)(?:need|have|must|gotta|will)\b", said) else said


def _item(clause: Clause, reading: Reading, text: str, day: str, quote: Quote) -> Item:
    return Item(
        shelf=Shelf.CORE,
        kind=Kind.COMMITMENT,
        text=text,
        quotes=(quote,),
        subject=USER,
        value=day,
        confidence=SURE if day else LIKELY,
        importance=0.6,
    )


def moved(clause: Clause, reading: Reading) -> Item | None:
    """`It's Friday at nine instead`: the same thing on another day."""
    today = day_of(clause.turn)
    earlier = next((one for one in reversed(reading.items) if one.kind is Kind.COMMITMENT and one.value), None)
    if (
        not today
        or not earlier
        or not (
            _MOVED.match(clause.said)
            and re.search(r"(?i)\binstead\b|\bmoved\b|\brescheduled\b|\bnow\b|\bpushed\b", clause.sentence)
        )
    ):
        return None
    day = find_day(clause.said, today)
    if not day or day.on.isoformat() == earlier.value:
        return None
    thing = re.sub(r"(?i)\s+(?:on|at|by|this|next|am|um)\s+(?:the\s+)?(?:\w+day|\d|tomorrow).*$", "", earlier.text)
    said = re.sub(r"(?i)^(?:it|that)(?:'s| is)\s+|\s+instead$", "", clause.said)
    moved_to = _item(clause, reading, wording.line(f"{thing}: {said}"), day.on.isoformat(), clause.quote)
    return replace(moved_to, quotes=(clause.quote, *earlier.quotes))
