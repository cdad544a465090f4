"""What somebody likes, wants or always does: stated in general, not about the thing at hand."""

import re

from recollect.knowledge import Kind
from recollect.librarian.items import Item, Shelf
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.forms import HIGH, LIKELY, LOW, SURE, USUAL, Reading, first_match, item, value_of
from recollect.librarian.rules.preference_forms import PREFERENCE_FORMS

_AT_HAND = re.compile(
    r"""(?ix)(?:its|their|his|it|this|that|these|those|them|him|her|you|your|yours|one(?=\W*$)|both|all\sof\s(?:it
        |them|those|these)|everything|the\s(?:idea|first|second|third|last|other|new|latest|current|above|one
        |ones|look|sound|way|style|result|design|name|title|version|approach|plan
    |suggestion|option|direction|concept|changes?|tone|structure|format|ending|opening|part|list|recipe)
        |how\s(?:you|it|this|that)|what\s(?:you|i\ssee)|option|when\syou|your|where\sthis|hearing
        |the\s\S+\s(?:one|idea|option|version|suggestion|approach)
    |das|dies|diese[rsnm]?|este|esta|estos|estas|ese|esa|ce|cet|cette|ces|questo|questa|es|den\svorschlag
        |die\sidee|den\sersten|eso|esto|la\sidea|lo\sque|ça|cela|ceci|l'idée|cette
        |questo|l'idea|isso|a\sideia|dat|dit|het\sidee|это|этот|这个|那个|それ|これ|of\sthe|to\s(?:have\syou|help|hear
        |see|be|go|do|say|talk\sto\syou|think|know|see\swhat|hear|get\ssome|ask|learn\smore|start|try
        |make\ssure|understand|explore)|some\s(?:help|ideas|advice|tips|suggestions))\b"""
)
_ONCE = re.compile(
    r"(?i)\b(?:here|in this (?:case|file|function|test|one)|for this (?:one|task|project|trip|time|recipe"
    r"|test|function)|this time|for now|just now|right now|for today|in this (?:function|class|pr|commit))\b"
)
_PLAIN_WANT = re.compile(
    r"(?i)i (?:don't|do not|dont|never|can't) (?:really |actually )?want (?:to )?(?!.*\b(?:ever|anything"
    r"|anywhere|never|in my|again|anymore)\b)"
)
_DID_NEVER = re.compile(
    r"(?i)i (?:never|always|only) (?:\w+ed|wrote|got|went|had|did|made|saw|came|took|found|knew|thought|felt"
    r"|ran|used to|been|was|were)\b"
)
_POINTS = re.compile(
    r"(?i)^(?:\S+ ){0,6}(?:it|them|these|those|then)\b|\byou(?:'ve|'re| have)? (?:suggested|mentioned"
    r"|recommended|listed|said|provided|gave|described|shared|proposed|just|wrote|made|did|are|can)\b"
    r"|\bthis\b|\bthat (?:world|place|one|thing|time|day)\b|\bthat\W*$|\bfor you\b|\byou(?:'re)? (?:there|here|too)\b"
)
"""They point at something in the conversation: no statement that stands alone."""
_MILD = re.compile(r"(?i)i (?:\w+ ){0,2}(?:like|love|enjoy|appreciate|adore)\b")
_DEFINITE = re.compile(r"(?i)(?:the|that|this|your|both|all the|all of|some of|what|how|where|when|where)\b")
_ADVERBIAL = re.compile(
    r"(?i)i (?:always|never|usually|normally|generally|typically|rarely|tend to|only|almost always"
    r"|almost never|hardly ever|only ever)\b"
)
FEWEST_VALUE_LETTERS = 2


def find(clause: Clause, reading: Reading) -> Item | None:
    said = clause.said
    found = first_match(PREFERENCE_FORMS.get(clause.tongue, PREFERENCE_FORMS["en"]), said)
    if not found:
        return None
    one, match = found
    value = value_of(match)
    if _AT_HAND.match(value) or _ONCE.search(said) or _PLAIN_WANT.match(said) or _DID_NEVER.match(said):
        return None
    if (_POINTS.search(said) and " it when " not in said) or (_MILD.match(said) and _DEFINITE.match(value)):
        return None
    if match.groupdict().get("value") is not None and sum(map(str.isalpha, value)) < FEWEST_VALUE_LETTERS:
        return None
    attribute = f"favourite {match['attr'].strip().lower()}" if match.groupdict().get("attr") else ""
    is_rule = one.importance == HIGH
    shelf = Shelf.PROJECT if is_rule and reading.project and _is_of_project(said) else Shelf.CORE
    subject = reading.project if shelf is Shelf.PROJECT else "user"
    importance = one.importance if one.importance != USUAL else (USUAL if len(value) > 6 else LOW)
    return item(
        clause,
        Kind.PREFERENCE,
        shelf,
        subject=subject,
        attribute=attribute,
        value=value if attribute else "",
        importance=importance,
        confidence=LIKELY if _ADVERBIAL.match(said) else SURE,
    )


_OF_PROJECT = re.compile(
    r"(?i)\b(?:in this (?:repo|project|codebase|app)|in (?:dieser|diesem) (?:repo|projekt)|en este (?:repo"
    r"|proyecto)|dans ce (?:repo|projet))\b"
)


def _is_of_project(said: str) -> bool:
    return bool(_OF_PROJECT.search(said))
