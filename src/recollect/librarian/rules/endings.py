"""What somebody says to hold no more: `I don't live in Bern anymore`.

Said the other way round (`I live in Bern`) it is what the other finders know; so whatever they can find can also end.
Whether it was ever known is not asked here: filing looks for the record that it ends.
"""

import re
from dataclasses import replace

from recollect.knowledge import Kind
from recollect.librarian.items import ENDED, Ending, Item, Shelf
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause
from recollect.librarian.rules.forms import SURE, text_of
from recollect.librarian.rules.tongues import ENGLISH

_MORE = r"\s+(?:any\s?more|any longer)\b"
_ENGLISH = (
    (re.compile(r"(?i)\b(?:no longer|not any ?more)\s+"), ""),
    (re.compile(rf"(?i)\b(?P<who>i|we|they|you) (?:don't|do not|dont)\s+(?P<rest>.+?){_MORE}"), r"\g<who> \g<rest>"),
    (re.compile(rf"(?i)(?P<is>'m|'re|\b(?:am|are|is))(?: not|n't)\s+(?P<rest>.+?){_MORE}"), r"\g<is> \g<rest>"),
)
_THIRD = re.compile(rf"(?i)\b(?:doesn't|does not|doesnt)\s+(?P<verb>[a-z]+)(?P<rest>.*?){_MORE}")
_ELSEWHERE: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "de": (
        (re.compile(r"(?i)\bkein(?P<end>e[nmrs]?)?\s(?P<rest>.+?)\smehr\b"), r"ein\g<end> \g<rest>"),
        (re.compile(r"(?i)\s+nicht mehr\b"), ""),
    ),
    "es": ((re.compile(r"(?i)\bya no\s+"), ""),),
    "fr": (
        (re.compile(r"(?i)\bje n'(?P<verb>[\w']+) plus\b"), r"j'\g<verb>"),
        (re.compile(r"(?i)\b(?P<who>je|nous|on) ne? ?'?(?P<verb>[\w']+) plus\b"), r"\g<who> \g<verb>"),
    ),
    "it": ((re.compile(r"(?i)\bnon (?P<verb>\w+) più\b"), r"\g<verb>"),),
    "pt": (
        (re.compile(r"(?i)\bjá não\s+"), ""),
        (re.compile(r"(?i)\bnão (?P<verb>\w+) mais\b"), r"\g<verb>"),
    ),
    "nl": (
        (re.compile(r"(?i)\bgeen (?P<rest>.+?) meer\b"), r"een \g<rest>"),
        (re.compile(r"(?i)\s+niet meer\b"), ""),
    ),
}
_NO_LONGER = re.compile(r"(?i)i no longer\b")
_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.ASSOCIATION, Kind.PROCEDURE})


def held(clause: Clause) -> Clause | None:
    """The clause as it was said while it was true; None: it says nothing of an end."""
    said = clause.said.replace("’", "'")
    for pattern, positive in _ENGLISH if clause.tongue == ENGLISH else _ELSEWHERE.get(clause.tongue, ()):
        turned, number = pattern.subn(positive, said, count=1)
        if number:
            return replace(clause, said=turned.strip())
    third = _THIRD.search(said) if clause.tongue == ENGLISH else None
    if third is None:
        return None
    verb = wording.conjugated_third(third["verb"].lower())
    return replace(clause, said=f"{said[: third.start()]}{verb}{third['rest']}{said[third.end() :]}".strip())


def can_end(found: Item) -> bool:
    """What somebody decided or reached stays so; of a date it is said when it is moved."""
    return found.kind in _LASTING and found.shelf in (Shelf.CORE, Shelf.PERSON, Shelf.PROJECT)


def ending(clause: Clause, found: Item) -> Ending:
    """`found`: what the clause said while it was true."""
    text = text_of(clause)
    if _NO_LONGER.match(clause.said):
        text = wording.line(f"no longer {found.text[:1].lower()}{found.text[1:]}")
    return Ending(item=replace(found, text=text, confidence=SURE, tags=(ENDED,)), held=found.text)
