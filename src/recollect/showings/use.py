"""Whether what was shown was used: by words of a record that an assistant says and that nobody else had said. Pure.

A record counts as used when some of its telling words stand close together in what the assistant says, and none of the
user's words, nor the output of any tool before it, could have given it the ones that count. It errs towards "not used":
who follows advice without a word of it is not seen, and a record that sinks wrongly comes back with the first use that
is. What follows from a use is small either way (`standing`).

Telling words come in three kinds. A *value* (a number, a path, an identifier, something in backticks) tells with one
more word of the record beside it. A *name* (a capital inside a sentence, letters with a hyphen) needs two more. *Plain*
words need most of the record.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

MOST_CHARACTERS = 20_000
"""Of one message; what follows is not looked at."""
RECORD_CHARACTERS = 2_000
COMMON_RECORDS = 2
"""A word that more of the shown records have tells of none of them."""
PLAIN_LEAST = 3
PLAIN_SHARE = 0.6
"""Of the telling words of a record, when all that is new are plain words."""
NAME_PRESENT = 3
VALUE_PRESENT = 2

_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\s*\n\s*|(?<=[。！？；])")
_TOKEN = re.compile(r"[^\s\"'`“”‘’«»()\[\]{}<>,;|*=]+")
_EDGE = ".!?:…·–—-"
_TICKED = re.compile(r"`([^`\n]{2,80})`")
_PART = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(19|20)\d\d")
_CAMEL = re.compile(r"[a-z][A-Z]")
_DOTTED = re.compile(r"[A-Za-z]{2,}\.[A-Za-z]{2,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
"""Writing without spaces between words: it is compared by pairs of signs."""
_VOWEL = re.compile(r"[aeiouyäöüàâéèêëîïôûùáíóú]", re.IGNORECASE)
_STOP_WORDS = """
about after again also although always another because been before being between both cannot could does doing down
during each either else even ever every from further have having here into itself just like made make many more most
much must need never only other ours over please same shall should since some such than that their them then there
these they this those through under until upon used user uses using very want wants well were what when where whether
which while will with within without would your yours
"""
_STOP = frozenset(_STOP_WORDS.split())


class Weight(IntEnum):
    PLAIN = 0
    NAME = 1
    VALUE = 2


@dataclass(frozen=True, slots=True)
class Sign:
    """One telling word of a record."""

    weight: Weight
    forms: frozenset[str]
    """As it may be written: the whole, and parts of it that tell by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    record_id: str
    text: str
    at: str
    """When it was shown, as a stored time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A message of the session, in its order."""

    at: str
    text: str
    is_assistant: bool
    """Else it is a user's, or what a tool gave out: where the assistant may have its words from."""


def used_among(shown: Sequence[Shown], spoken: Iterable[Spoken]) -> set[str]:
    """Those of the records that the assistant used after they were shown."""
    signs = {one.record_id: signs_of(one.text) for one in shown}
    shown_at = {one.record_id: one.at for one in shown}
    by_form = _by_form(signs)
    common = {form for form, records in by_form.items() if len(records) > COMMON_RECORDS}
    heard: dict[str, str] = {}
    """Word → when it was first to be heard, or was first said by the assistant itself."""
    found: set[str] = set()
    for message in spoken:
        for together in _stretches(message.text) if message.is_assistant else ():
            words = together & by_form.keys()
            for record_id in {record_id for word in words for record_id in by_form[word]} - found:
                at = shown_at[record_id]
                known = common | {word for word in words if heard.get(word, message.at) < at}
                if at <= message.at and _tells(signs[record_id], words, known):
                    found.add(record_id)
        for word in words_of(message.text) & by_form.keys():
            # What the assistant said after a showing may be from it: only what it said before tells nothing.
            heard.setdefault(word, message.at if message.is_assistant else "")
            if not message.is_assistant:
                heard[word] = ""
    return found


def _by_form(signs: Mapping[str, Sequence[Sign]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for record_id, own in signs.items():
        for form in (form for sign in own for form in sign.forms):
            found.setdefault(form, set()).add(record_id)
    return found


def _tells(signs: Sequence[Sign], words: set[str], known: set[str]) -> bool:
    """`known`: words that are nobody's, or that the assistant had from elsewhere."""
    present = [sign for sign in signs if sign.forms & words]
    fresh = [sign for sign in present if not sign.forms & known]
    best = max((sign.weight for sign in fresh), default=None)
    if best is None:
        return False
    if best is Weight.VALUE:
        return len(present) >= min(VALUE_PRESENT, len(signs))
    if best is Weight.NAME and len(present) >= min(NAME_PRESENT, max(len(signs), 2)):
        return True
    return len(fresh) >= PLAIN_LEAST and len(present) >= PLAIN_SHARE * len(signs)


def signs_of(text: str) -> list[Sign]:
    """The telling words of a record, each once."""
    text = text[:RECORD_CHARACTERS]
    ticked = {word.casefold() for inside in _TICKED.findall(text) for word in _tokens(inside)}
    found: dict[str, Sign] = {}
    for sentence in _SENTENCE_END.split(text):
        for place, token in enumerate(_tokens(sentence)):
            for sign in _signs(token, is_first=place == 0, is_ticked=token.casefold() in ticked):
                found.setdefault(min(sign.forms), sign)
    return list(found.values())


def words_of(text: str) -> set[str]:
    """All words of a text in the forms in which they are compared."""
    return set(_forms(text[:MOST_CHARACTERS]))


def _forms(text: str) -> Iterator[str]:
    for token in _tokens(text):
        whole = token.casefold()
        yield whole
        yield from _PART.findall(whole)
        for run in _UNSPACED.findall(whole):
            yield from _pairs(run)


def _stretches(text: str) -> Iterator[set[str]]:
    """The words of each two sentences that follow each other: what is said together stands together."""
    before: set[str] = set()
    for sentence in _SENTENCE_END.split(text[:MOST_CHARACTERS]):
        words = set(_forms(sentence))
        if words:
            yield before | words
            before = words


def _tokens(text: str) -> list[str]:
    return [token for found in _TOKEN.findall(text) if (token := found.strip(_EDGE))]


def _signs(token: str, *, is_first: bool, is_ticked: bool) -> Iterator[Sign]:
    runs = _UNSPACED.findall(token)
    if runs:
        yield from (Sign(Weight.PLAIN, frozenset({pair})) for run in runs for pair in _pairs(run))
        return
    whole = token.casefold()
    if is_ticked or _is_value(token):
        parts = {part.casefold() for part in _PART.findall(token) if part != token and _is_value(part)}
        yield Sign(Weight.VALUE, frozenset({whole, *parts}))
        return
    if _is_name(token, is_first=is_first):
        yield Sign(Weight.NAME, frozenset({whole}))
        return
    for part in _PART.findall(whole):
        if len(part) >= 4 and part not in _STOP and not part.isdigit():
            yield Sign(Weight.PLAIN, frozenset({part}))


def _is_value(token: str) -> bool:
    if _DIGIT.search(token):
        return len(token) >= 3 and not _YEAR.fullmatch(token)
    if token.startswith(("/", "~", "@")) or token.count("/") > 1 or "\\" in token:
        return len(token) >= 3
    if "_" in token or "@" in token or _CAMEL.search(token) or _DOTTED.search(token):
        return True
    return token.islower() and len(token) >= 3 and token.isascii() and token.isalpha() and not _VOWEL.search(token)


def _is_name(token: str, *, is_first: bool) -> bool:
    if len(token) < 3 or token.casefold() in _STOP:
        return False
    if "-" in token and all(part.isalpha() for part in token.split("-")):
        return True
    return token[0].isupper() and token.isalpha() and (not is_first or token.isupper())


def _pairs(run: str) -> Iterator[str]:
    return (run[place : place + 2] for place in range(len(run) - 1))
