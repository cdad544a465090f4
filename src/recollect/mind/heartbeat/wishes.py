"""What a person wishes of being written to first: not now, never about this, never, again. Pure.

It is read from what they say by plain phrases, without a model, so that it holds at once and the same each time. Who
takes for a wish what is none silences the agent for no reason. So a phrase counts only where a request may begin, in
the person's own words: not in a quotation, in code, in what somebody else said, or in what is to be written to
somebody. Short words (later, not now) are wishes only in an answer to what the agent wrote first.

What it misses, the person can say in other words, or keep as a learning with the tags of `keeping`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from recollect.mind.heartbeat import phrases
from recollect.mind.heartbeat.waits import Wait, moment_named, span_named

WishKind: TypeAlias = Literal["not now", "never about", "never", "again welcome"]
NOT_NOW = Wait(hours=12)
"""Without a word of how long."""
LONGEST_MESSAGE = 2_000
"""Characters: who writes more writes of something else."""
LONGEST_SHORT_ANSWER = 30
"""Words: "not now" and a reason."""
MOST_TOPIC_WORDS = 8
MOST_BREAKS = 12
"""Places of one sentence at which a clause may begin: a list of a thousand commas says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    kind: WishKind
    words: str
    """The sentence that says so."""
    wait: Wait | None = None
    """How long it holds. None: for good."""
    topic: str = ""
    """Of "never about"; and of "again welcome", if only that topic is."""


def wishes_in(text: str, *, answers_outreach: bool, topic: str) -> list[Wish]:
    """The wishes in a message, at most one of each sentence. `answers_outreach`: these are the person's first words
    after the agent wrote first. `topic`: of what it wrote, for "never about this"."""
    if len(text) > LONGEST_MESSAGE:
        return []
    plain = _own_words(text)
    if _FOR_OTHERS.match(plain):
        return []
    sentences = (found[0].strip() for found in _SENTENCE.finditer(plain))
    found = [wish for one in sentences if (wish := _wish(one, answers_outreach=answers_outreach, topic=topic))]
    short = _short(plain) if answers_outreach and not found else None
    return [short] if short else found


def _wish(sentence: str, *, answers_outreach: bool, topic: str) -> Wish | None:
    for clause in _clauses(sentence):
        wish = _explicit(clause, sentence, topic) or (_answer(clause, sentence, topic) if answers_outreach else None)
        if wish:
            return wish
    return None


# What of a message are the person's own words, and where in them a request may begin

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_CITED = re.compile(r"^[ \t]*>.*$|^\[In reply to: (?:“.*?”|.*?)\]|^\[Edited\]", re.MULTILINE)
_NAMED = re.compile(r"\b(about|of|up|mention|nach|sobre|de) [\"“„«]([^\"“”„«»\n]{1,60})[\"”“»]", re.IGNORECASE)
_QUOTE = re.compile(r"\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^'\n]*'(?!\w)")
_SENTENCE = re.compile(r"(?:[^.!?\n;]|(?<=\d)\.(?=\d)|(?<=[ap])\.(?=m\b))+[.!?;]*")
_FOR_OTHERS = re.compile(
    r"\W*(?:(?:can|could|would) you |please )*(?:translate|draft|summari[sz]e|proofread|rewrite|rephrase|correct|"
    r"write (?:an?|him|her|them|back|this)\b|reply\b|what does|how do (?:i|you) say|tell (?!me)\w+|text (?!me)\w+)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:(?<!as i )(?<!i )said|says?|saying|told (?!you)|tells?|wrote|writes|asked|asks|replied|replies|texted|goes|"
    r"called|titled|if|whether|reply|answer|write|sagte?|sagt|dit|dijo|dice)\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r",|\s[-–—]+\s|—|\(|\b(?:but|and|so|because|i said|i told you)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"(?:[^\w…]|(?:please|pls|ok|okay|hey|hi|well|look|listen|sorry|thanks|thank you|just|also|then|no|yes|yeah|nope|"
    r"nah|hmm|for now|from now on|in (?:the )?future|and|so|but|i said|i told you|bitte|danke|merci|gracias|por favor|"
    r"s'il (?:te|vous) pla[iî]t|nein|non|aber)\b(?!')(?! (?:more|me|time|messages|texts|pings)\b))*",
    re.IGNORECASE,
)
"""What comes before a request and says nothing of it."""


def _own_words(text: str) -> str:
    plain = _CITED.sub("\n", _CODE.sub(" … ", text.replace("’", "'").replace("‘", "'")))
    return _QUOTE.sub(" … ", _NAMED.sub(r"\1 \2", plain)).strip()


def _clauses(sentence: str) -> Iterator[str]:
    """A sentence from each place on at which a request may begin: to its end, and to each place at which it may stop.
    What follows a verb of saying is somebody else's."""
    if _is_question(sentence):
        return
    breaks = list(islice(_BREAK.finditer(sentence), MOST_BREAKS))
    for start in (0, *(found.end() for found in breaks)):
        if _REPORTED.search(sentence[:start]):
            return
        opening = _OPENING.match(sentence, start)
        begin = opening.end() if opening else start
        yield sentence[begin:].strip()
        for found in reversed(breaks):
            if found.start() > begin:
                yield sentence[begin : found.start()].strip()


_ASKED_AFTER = re.compile(r",? (?:ok|okay|please|pls|alright|all right|right|yes|ja|d'accord|vale)\s?\?+\W*$", re.I)
"""Not now, ok?"""


def _is_question(sentence: str) -> bool:
    """A request in the form of a question is none."""
    return _ASKED_AFTER.sub("", sentence).endswith("?") and not re.match(
        r"\W*(?:please )?(?:can|could|would|will) (?:you|we)\b", sentence, re.I
    )


# The kinds of wishes


def _explicit(clause: str, sentence: str, topic: str) -> Wish | None:
    """By phrases that mean the agent wherever they stand."""
    if found := _first(phrases.TOPIC_WELCOME, clause):
        return _welcome_about(found["topic"], sentence, topic)
    if _first(phrases.AGAIN_WELCOME, clause):
        return Wish(kind="again welcome", words=sentence)
    if wait := _wait(phrases.UNTIL, phrases.FOR, clause):
        return Wish(kind="not now", words=sentence, wait=wait)
    if _first(phrases.NEVER, clause):
        return Wish(kind="never", words=sentence)
    if found := _first(phrases.ABOUT, clause):
        return _about(found["topic"], sentence, topic)
    found = _first(phrases.LOOSE_ABOUT, clause)
    return _about(found["topic"], sentence, topic) if found and not _ELSEWHERE.search(found["topic"]) else None


def _answer(clause: str, sentence: str, topic: str) -> Wish | None:
    """By phrases that mean it only in an answer to what it wrote first."""
    if _first(phrases.NEVER_AS_ANSWER, clause):
        return Wish(kind="never", words=sentence)
    if found := _first(phrases.ABOUT_AS_ANSWER, clause):
        return _about(found["topic"], sentence, topic)
    found = _first(phrases.LOOSE_ABOUT_AS_ANSWER, clause)
    if found and not _ELSEWHERE.search(found["topic"]):
        return _about(found["topic"], sentence, topic)
    wait = _wait(phrases.UNTIL_AS_ANSWER, (), clause)
    return Wish(kind="not now", words=sentence, wait=wait) if wait else None


_AFTER_SHORT = re.compile(
    r"(?:\s*(?:,|\.|!|;|:|\s[-–—]|—|\n|\(|…)|\s+(?:because|i'm|i am|i have|sorry|please|thanks|thank)\b)"
)


def _short(plain: str) -> Wish | None:
    """The whole message is one, or its first clause is and the rest says why."""
    opening = _OPENING.match(plain)
    start = opening.end() if opening else 0
    rest = _ASKED_AFTER.sub("", plain[start:])
    if len(rest.split()) > LONGEST_SHORT_ANSWER or "?" in rest:
        return None
    for end in (len(rest), *(found.start() for found in _AFTER_SHORT.finditer(rest))):
        found = _first(phrases.SHORT, _TRAILING.sub("", rest[:end]))
        if found:
            span = found.groupdict().get("span")
            wait = span_named(span) if span else NOT_NOW
            return Wish(kind="not now", words=plain, wait=wait or NOT_NOW)
    return None


def _first(patterns: Iterable[re.Pattern[str]], words: str) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.match(words))), None)


def _wait(until: Iterable[re.Pattern[str]], span: Iterable[re.Pattern[str]], clause: str) -> Wait | None:
    for pattern in until:
        found = pattern.match(clause)
        if found and (wait := moment_named(found["moment"]) or span_named(found["moment"])):
            return wait
    for pattern in span:
        found = pattern.match(clause)
        if found and (wait := _span(found["span"])):
            return wait
    return None


def _span(words: str) -> Wait | None:
    plain = _TRAILING.sub("", words).strip()
    return NOT_NOW if _NOW.fullmatch(plain or words.strip()) else span_named(plain)


# Topics

_THIS = re.compile(
    r"(?:this|that|it|these|those|(?:this|that|the|such an?) (?:thing|topic|subject|stuff|matter)s?|such things|das|"
    r"dieses thema|das thema|[cç]a|cela|esto|eso)",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:\s+(?:again|any ?more|ever|please|pls|ok|okay|thanks|thank you|thx|from now on|sorry|at all|bitte|danke|mehr|"
    r"merci|gracias))+\W*$",
    re.IGNORECASE,
)
_NOW = re.compile(r"(?:right |just )?now|at the moment|for now", re.IGNORECASE)
_NO_TOPIC = re.compile(
    r"(?:how|why|what|whether|where|when|who|which|you|yourself|me|mich|anything|everything|nothing|being|having)\b|.*…",
    re.IGNORECASE,
)
_HELD = re.compile(
    r"(?P<topic>.+?) (?:(?:until|till|before) (?P<moment>.+)|(?P<span>today|tonight|(?:this|for) .+))", re.I
)
_ELSEWHERE = re.compile(
    r"\b(?:in|at|to|on|with|for|from) (?:the|my|your|his|her|their|our|an?|him|them|this|that|public)\b|"
    r"\b(?:when|while|because)\b",
    re.IGNORECASE,
)


def _about(words: str, sentence: str, topic: str) -> Wish | None:
    wait = None
    if (held := _HELD.fullmatch(words)) and (wait := _held(held)):
        words = held["topic"]
    named = _topic(words, topic)
    return Wish(kind="never about", words=sentence, wait=wait, topic=named) if named else None


def _held(found: re.Match[str]) -> Wait | None:
    if found["moment"]:
        return moment_named(_TRAILING.sub("", found["moment"]))
    return span_named(_TRAILING.sub("", found["span"]))


def _welcome_about(words: str, sentence: str, topic: str) -> Wish | None:
    named = _topic(words, topic)
    return Wish(kind="again welcome", words=sentence, topic=named) if named else None


def _topic(words: str, this: str) -> str:
    """What is meant by these words: `this` if they only point at it. Empty: nothing that could be told again."""
    plain = _TRAILING.sub("", words).strip(" \t\n.!?\"'")
    if _THIS.fullmatch(plain):
        return this.strip()
    return "" if _NO_TOPIC.match(plain) or len(plain.split()) > MOST_TOPIC_WORDS else plain
