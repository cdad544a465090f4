"""What a person says about themselves: name, home, work, family, health, languages, animals, things."""

import re

from recollect.librarian.items import Item
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.facts_elsewhere import OTHER_FORMS
from recollect.librarian.rules.facts_english import ENGLISH_FORMS
from recollect.librarian.rules.facts_european import FRENCH_FORMS, GERMAN_FORMS, SPANISH_FORMS
from recollect.librarian.rules.forms import LIKELY, SURE, Form, Reading, first_match, item, value_of

_FORMS: dict[str, tuple[Form, ...]] = {
    "en": ENGLISH_FORMS,
    "de": GERMAN_FORMS,
    "es": SPANISH_FORMS,
    "fr": FRENCH_FORMS,
    **OTHER_FORMS,
}

_NOT_A_NAME = re.compile(
    r"(?i)(?:when|if|back|the|a|an|on|at|in|out|by|for|to|it|this|that|names|crazy|old|later|tomorrow|today"
    r"|whatever|anything|paranoid|sir|stupid)\b"
)
_AT_HAND = re.compile(
    r"(?i)(?:it|this|that|them|these|those|the (?:following|same|code|above|script|function|first|second"
    r"|command)|one of|both|something|anything|so)\b"
)
_TASK = re.compile(
    r"(?i)i (?:also |just |now |currently |still )*(?:(?:use|run|test|train)\s+(?:the |tests?\b|into\b"
    r"|out\b)|(?:use|run|play|train"
    r"|practi[cs]e|draw|row|coach|test|fish|fence)\s+(?:`|\S*[_(){}=./]|an? (?:\w+ )?(?:loop|function|class"
    r"|hook|script|regex|query"
    r"|variable|model|decorator|library|test)))"
)
_POINTS = re.compile(
    r"(?i)\bthe same (?:one|pair|thing|brand)?\b|\bever since\W*$|\bone (?:before|of (?:those|these|them))"
    r"|\b(?:it|them|this|these|those|lately"
    r"|you(?:'ve)? (?:suggested|mentioned|recommended|listed|said|provided))\b|\bthat\W*$"
)
_SHORT_LIVED = re.compile(
    r"(?i)\b(?:right now|at the moment|for this (?:project|task|test|trip|one)|in this (?:project|function"
    r"|file|case|test|repo)|today|tonight|this (?:morning|week|evening)|to (?:fix|debug|test|solve|get|see"
    r"|check|make|create|build|convert|parse|load|store|find)\b.*)$"
)


_STATE_OF_MIND = re.compile(r"(?i)(?:hope|fear|denial|chaos|peace|harmony|the past|the moment|sin|luxury|poverty)\b")
_HAVING = re.compile(
    r"(?i)(?:i|we)(?:'ve| have)?(?: got)? (?:an? |some |no |the |one |two )?(?:\w+ )?(?:questions?|problems?"
    r"|issues?|ideas?|doubts?|dreams?|stor(?:y|ies)|bugs?|errors?|feeling|meeting|task|plan)\b"
)
_VAGUE_PLACE = re.compile(r"(?i)(?:the|an?|my|our|this|that)\b")


def find(clause: Clause, reading: Reading) -> Item | None:
    said = clause.said
    found = first_match(_FORMS.get(clause.tongue, ENGLISH_FORMS), said)
    if not found:
        return None
    one, match = found
    value = value_of(match)
    attribute = one.attribute or (match.groupdict().get("attr") or "").lower().strip()
    if not _is_lasting(said, value, attribute):
        return None
    attribute = {"full name": "name", "date of birth": "birthday", "home address": "address"}.get(attribute, attribute)
    if attribute == "lives in" and _VAGUE_PLACE.match(value):
        attribute = ""
    return item(
        clause,
        one.kind,
        attribute=attribute,
        value=value if attribute else "",
        importance=one.importance,
        confidence=SURE if attribute else LIKELY,
    )


def _is_lasting(said: str, value: str, attribute: str) -> bool:
    if _STATE_OF_MIND.match(value) or _HAVING.match(said):
        return False
    if not attribute and _POINTS.search(said):
        return False
    if _AT_HAND.match(value) or _TASK.match(said) or _SHORT_LIVED.search(said):
        return False
    return not (attribute == "name" and (_NOT_A_NAME.match(value) or (not value[:1].isupper() and value.isascii())))
