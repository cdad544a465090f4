"""What was put right later in the same conversation: the corrected value wins, the wrong one is not kept."""

import re

from recollect.knowledge import Kind
from recollect.librarian.items import Ending, Item, Turn
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.forms import Reading

_MARK = re.compile(
    r"(?i)\b(?:no|nope|actually|sorry|wrong|correction|wait|oops|my bad|i meant|i mean|rather|instead|scratch that"
    r"|not anymore|typo|nein|quatsch|falsch|eigentlich|doch|stimmt nicht|korrektur|ich meinte|no,|perdón"
    r"|en realidad|me equivoqué|mejor dicho|quise decir|non|pardon|en fait|je voulais dire|je me suis trompée?"
    r"|anzi|scusa|na verdade|desculpa|nee|eigenlijk|нет|точнее|вернее)\b|不对|不對|其实|其實|いや|違います|訂正"
)
_DENIED = re.compile(
    r"(?i)\b(?:not|nicht|no|pas|non|niet|не)\s+(?:(?:in|at|on|the|a|an|im|am|bei|en|el|la|à"
    r"|le)\s+)?(?P<value>[\w.:-]{2,30})"
)
_RETRACTED = re.compile(
    r"(?i)\W*(?:(?:oh|ok|no|wait|actually|sorry|hm+)[\s,.]+){0,3}(?:(?P<all>(?:scratch|strike|forget|ignore|disregard)"
    r" (?:that|this|it|what i (?:just )?(?:said|wrote)|my last (?:message|one))\b|i take (?:that|it) back"
    r"|that(?:'s| was| is) (?:wrong|not true|nonsense)|vergiss (?:das|es|was ich)|streich das|stimmt (?:gar )?nicht"
    r"|olvida (?:eso|lo)|olvídalo|oublie(?: ça| ce que))|i meant\b|wrong (?:one|number|date|day|name)|typo\b|ich meinte"
    r"|quise decir|je voulais dire)"
)
"""How a message begins that takes back the one before, or the last that was said in it."""
_NUMBER = re.compile(r"\d")
_DENIED_NUMBER = re.compile(
    r"(?i)\b(?:not|nicht|no|pas|non|niet|não)\s+(?:(?:the|on|at|am|der|den|dem|el|le|il|o|a|de|op)\s+){0,2}(\d+)"
)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|\.)$")
MOST_OPENING_CHARACTERS = 24
MOST_MARKED_CHARACTERS = 120
_WORD = re.compile(r"[\w'-]{4,}")
FEWEST_SHARED_WORDS = 2


def is_correction(clause: Clause) -> bool:
    return bool(
        _MARK.search(clause.fillers)
        or _MARK.search(clause.sentence[:MOST_OPENING_CHARACTERS])
        or re.search(r"(?i)\b(?:instead|i meant|i mean)\b", clause.text)
    )


def settle(clause: Clause, new: Item, reading: Reading) -> None:
    """Takes back what the new item puts right."""
    if _says_an_end(clause, reading):
        return
    reading.endings[:] = [one for one in reading.endings if not _holds_again(one, new)]
    is_marked = is_correction(clause)
    for old in [one for one in reading.items if one is not new]:
        is_same = new.attribute and old.attribute == new.attribute and old.subject == new.subject
        is_same = is_same or (is_marked and _is_moved(old, new, reading))
        if is_same or (is_marked and old.quotes[0].message_id != new.quotes[0].message_id and _is_about_same(old, new)):
            reading.items.remove(old)
            reading.dropped["corrected"] += 1


def deny(clause: Clause, reading: Reading) -> None:
    """`no, not Tuesday`: whatever was kept with that word is gone, even where nothing new is said."""
    if _says_an_end(clause, reading):
        return
    is_marked = is_correction(clause)
    for match in _DENIED.finditer(clause.said):
        value = _ORDINAL.sub("", match["value"].lower())
        if not is_marked and not value.isdigit():
            continue
        for old in [
            one
            for one in reading.items
            if value in _words(one.text) and one.quotes[0].message_id != clause.turn.message_id
        ]:
            if len(value) > 3 or value.isdigit():
                reading.items.remove(old)
                reading.dropped["corrected"] += 1


def _says_an_end(clause: Clause, reading: Reading) -> bool:
    """What held until then was right: it is dated, and not taken back."""
    quotes = (one.item.quotes[0] for one in reading.endings)
    return any(one.message_id == clause.turn.message_id and one.words in clause.sentence for one in quotes)


def _holds_again(ending: Ending, new: Item) -> bool:
    """The new item, said later, says what was said to have ended, or what came in its place."""
    old = ending.item
    if old.subject != new.subject or old.quotes[0].message_id == new.quotes[0].message_id:
        return False
    if old.attribute or new.attribute:
        return old.attribute == new.attribute
    held, said = (text.lower().split() for text in (ending.held, new.text))
    return old.kind is new.kind and held[:1] == said[:1] and set(held) <= set(said)


def retract(turn: Turn, before: Turn | None, reading: Reading) -> None:
    """Where nothing new was found in the message: what is new has put right what it is about."""
    text = turn.text.replace("’", "'")
    match = _RETRACTED.match(text)
    is_new = any(one.quotes[0].message_id == turn.message_id for one in reading.items)
    if before and not match:
        _put_right(turn, text, reading, is_new=is_new)
    if not match or not before or is_new:
        return
    if match["all"]:
        reading.endings[:] = [one for one in reading.endings if one.item.quotes[0].message_id != before.message_id]
    said = [one for one in reading.items if one.quotes[0].message_id == before.message_id]
    for old in said if match["all"] else said[-1:]:
        reading.items.remove(old)
        reading.dropped["corrected"] += 1


def _put_right(turn: Turn, text: str, reading: Reading, *, is_new: bool) -> None:
    """`oh wait, it's the 11th, not the 4th`: what had the wrong number is gone, wherever in the message that is said.
    Where nothing new was found, a number behind such a word puts right the last one about the same, or after `no` at
    the beginning the last one at all."""
    earlier = [one for one in reading.items if one.quotes[0].message_id != turn.message_id and _NUMBER.search(one.text)]
    denied = {match[1] for match in _DENIED_NUMBER.finditer(text)}
    wrong = [one for one in earlier if denied & set(re.findall(r"\d+", one.text))]
    if not is_new and not wrong:
        wrong = _marked_wrong(text, earlier)
    for old in wrong:
        reading.items.remove(old)
        reading.dropped["corrected"] += 1


def _marked_wrong(text: str, earlier: list[Item]) -> list[Item]:
    for mark in _MARK.finditer(text):
        said = text[mark.start() : mark.start() + MOST_MARKED_CHARACTERS]
        if _NUMBER.search(said):
            return [one for one in earlier if mark.start() == 0 or _letters(one.text) & _letters(said)][-1:]
    return []


def _letters(text: str) -> set[str]:
    return {word for word in _words(text) if not word.isdigit()}


def _is_moved(old: Item, new: Item, reading: Reading) -> bool:
    """The last appointment, which has another day now."""
    dated = [one for one in reading.items if one.kind is Kind.COMMITMENT and one is not new]
    return new.kind is Kind.COMMITMENT and bool(dated) and dated[-1] is old and old.value != new.value


def _is_about_same(old: Item, new: Item) -> bool:
    if old.kind is not new.kind and old.shelf is not new.shelf:
        return False
    return len(_words(old.text) & _words(new.text)) >= FEWEST_SHARED_WORDS


def _words(text: str) -> set[str]:
    return {word.lower().rstrip("s") for word in _WORD.findall(text)} | set(re.findall(r"\d+", text))
