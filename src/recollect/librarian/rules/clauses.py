"""A turn cut into sentences and clauses: the smallest parts that can be quoted and understood.

Only the author's own words are cut. A clause knows what stands around it, as a joke is taken back after it and a
supposition opened before it. Offsets are those of the turn's text, so that a quote is always a piece of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.librarian.items import Quote, Turn
from recollect.librarian.rules.tongues import tongue_of
from recollect.librarian.speech.own import is_own, own_spans

MOST_SENTENCE_CHARACTERS = 600
MOST_TYPED_CHARACTERS = 6_000
"""Of a person's message: what is longer has been pasted, and only its ends are listened to."""
END_CHARACTERS = 1_500
MOST_HEADINGS = 2
"""Headings in a person's message. With more it is a document."""

_END = re.compile(
    r"(?<=[.!?…])[\"'”’)\]*]*\s+(?=\S)|(?<=[。！？])|(?:(?<!\s)\s+)?\n\s*\n\s*|\n\s*(?=(?:[-*+•–]|\d{1,2}[.)])\s)|\n(?=\s*[A-ZÀ-Þ])"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|prof|st|vs|etc|e\.g|i\.e|approx|no|nr|inc|ltd|co|jr|sr|z\.\s?b|bzw|ca|evtl|usw|d\.\s?h"
    r"|sra|sr"
    r"|ud|mme|mlle|frau|hr|fr|tel|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_MONTH = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")
_HEADING = re.compile(r"^ {0,3}#{1,6} ", re.MULTILINE)
_LEAD = re.compile(r"[\s\-*+•–>#\"'“”(\[]+|\d{1,2}[.)]\s+")
_PRONOUN = (
    r"(?:i|i'm|i've|i'll|i'd|im|ive|my|we|we're|we've|we'll|our|she|she's|he|he's|they|they're|let's|please"
    r"|pls)"
)
_CUTS = {
    "en": re.compile(
        rf"(?:\s*[,;]\s+|\s+[-–—]+\s+|(?<=\))\s+)(?:(?:and|but|so|because|cause|cos|plus|also|though|since|as)\s+)?"
        rf"(?={_PRONOUN}\s)|\s+(?:and|but|because|plus|so)\s+(?=(?:also\s+)?{_PRONOUN}\s)|:\s+(?=(?:it's"
        rf"|{_PRONOUN})\s)"
        r"|\s*;\s+|,\s+(?=(?:always|never|don't)\s)|,\s+(?:and\s+)?(?=(?:prod|production|staging|the"
        r"|our)\s(?:[\w-]+\s){0,3}(?:is|are|runs?|uses?|lives?|has)\s)|,\s+(?:and\s+)?(?=(?:on|by"
        r"|until)\s\w+(?:\sat\s\w+)?\s(?:i|we|there)\b)|\s+(?:[:;]-?[)D(]+|[\U0001F300-\U0001FAFF]+)\s+"
        r"|,\s+(?:(?:and|but|so)\s+)?(?=(?:can|could|would|do|are|is)\s(?:you|there|i|it)\b|how\s(?:do|can"
        r"|should|would|much|many|long)\b|what\s(?:do|should|is|are|would)\b|any\s(?:tips|ideas|advice"
        r"|suggestions|recommendations)\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?:\s*[,;]\s+|\s+[-–—]+\s+)(?:(?:und|aber|denn|also|weil|da)\s+)?(?=(?:ich|meine?[rmsn]?|wir"
        r"|unsere?[rmsn]?|bitte)\s)"
        r"|\s+(?:und|aber)\s+(?=(?:ich|meine?[rmsn]?|wir|unsere?[rmsn]?)\s)|\s*;\s+",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"(?:\s*[,;]\s+|\s+)(?:y|pero|porque)\s+(?=(?:yo|mi|mis|me|vivo|trabajo|soy|tengo|prefiero|no|nosotros"
        r"|vamos)\s)"
        r"|,\s+(?=(?:yo|mi|mis|vivo|trabajo|soy|tengo|prefiero|vamos)\s)|\s*;\s+",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"(?:\s*[,;]\s+|\s+)(?:et|mais|car)\s+(?=(?:je|j'|j’|moi|mon|ma|mes|nous|on)\b)|,\s+(?=(?:je|j'|j’|mon|ma"
        r"|mes|nous)\b)|\s*;\s+",
        re.IGNORECASE,
    ),
    "": re.compile(
        r"\s*;\s+|,\s+(?=(?:ik|mijn|we|wij|eu|meu|minha|io|il mio|la mia|я|мой|моя|мне|у меня)\s)"
        r"|\s+(?:e|en|maar|ma|mas|и|а|но)\s+(?=(?:ik|mijn|we|wij|eu|meu|minha|io|il mio|la mia|я|мой|моя|мне"
        r"|у меня)\s)|[、，]\s*(?=[我私僕])",
        re.IGNORECASE,
    ),
}
_FILLER = re.compile(
    r"""(?ix)(?:(?:and|but|so|also|well|oh+|ok(?:ay)?|k|yes|yeah|yep|no|nope|nah|btw|by\sthe\sway|fyi|actually
        |honestly|personally|basically
    |plus|hey|hi|hello|anyway|sorry|wait|because|cause|cos|since|though|although|for\scontext|for\sthe\srecord
        |for\sreference|in\sgeneral
    |generally|seriously(?:\sthough)?|as\salways|as\syou\sknow|you\sknow|right|then|thanks|thank\syou|thx|great
        |good|nice|cool|perfect|super|lovely
    |wow|hm+|ah+|ugh|omg|look|listen|one\smore(?:\sthing)?|just\sso\syou\sknow|just\sfyi|quick\snote|side\snote
        |note|correction|morning|true
    |(?:quick\s|some\s|more\s|a\sbit\sof\s)?(?:context|background|info|update|intro|news|reminder|rule
        |facts?)(?:\s[\w'\s]{0,40})?(?=:)|before\s(?:you\sstart|we\sstart|i\sforget)|exactly|fine|sure|alright
        |all\sright|oh\swait|no\swait|my\sbad|oops|wrong|edit|ps|p\.s\.|first|second|finally|also\snote
        |heads\sup|haha|lol
    |und|aber|also|ach|ja|nein|übrigens|okay|naja|danke|super|gut|hallo|nee|doch|sorry|y|pero|bueno|pues|sí|oye
        |hola|por\scierto|perfecto|gracias|bien|vale
    |et|mais|bon|oui|ah|salut|bonjour|merci|parfait|au\sfait|euh|e|ma|sì|ciao|allora|comunque|sim|olá|oi|mas
        |bem|aliás|en|maar|hoi|ja|trouwens|и|а|но|да|нет|кстати)
    (?:\s*[,:!.…–—-]+\s+|\s+))"""
)
_ALONE = re.compile(r"\W*[A-ZÀ-Þ][\w'’-]+")
"""A name before “and I”: not a clause of its own."""
_NEEDS_SIGN = re.compile(
    r"(?i)(?:no|first|second|finally|note|edit|right|look|good|super|one more(?: thing)?|y|e"
    r"|ma|en|et|ja|also|as|morning|wrong|true|fine|listen|since)\s+$"
)
"""Words that open a clause only with a sign behind them: “no, we moved”, but “no nuts for me”."""
_SOFT = frozenset({"also", "y", "e", "et", "ja"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    turn: Turn
    start: int
    end: int
    before: str
    """What its author said before it in the same message."""
    after: str
    tongue: str

    @property
    def text(self) -> str:
        return self.turn.text[self.start : self.end]

    @property
    def quote(self) -> Quote:
        return Quote(message_id=self.turn.message_id, words=self.text)

    def part(self, start: int, end: int) -> "Clause":
        """A clause of it, without the words that only lead into it."""
        text = self.turn.text[start:end]
        lead, fillers = opening_of(text)
        trimmed = text[lead:].rstrip(" \t\n,;")
        return Clause(
            turn=self.turn,
            start=start + lead,
            end=start + lead + len(trimmed),
            before=self.before + self.turn.text[self.start : start],
            after=self.turn.text[end : self.end] + self.after,
            tongue=self.tongue,
            fillers=fillers,
            sentence=self.text,
            said=" ".join(trimmed.replace("’", "'").split()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause(Sentence):
    fillers: str
    """What led into it, lower case: `actually,`, `btw`."""
    sentence: str
    said: str
    """On one line, with plain apostrophes: what patterns are matched with."""


def sentences_of(turn: Turn, tongue: str) -> Iterator[Sentence]:
    """The author's own sentences. `tongue`: where one is too short to tell."""
    text = turn.text
    is_user = turn.author == "user"
    here = tongue_of(text, tongue) if is_user else tongue
    for low, high in _listened(turn):
        for start, end in _cut(text, low, high):
            if end - start <= MOST_SENTENCE_CHARACTERS and is_own(text, start, end):
                yield Sentence(
                    turn=turn,
                    start=start,
                    end=end,
                    before=text[max(low, start - 400) : start],
                    after=text[end : min(high, end + 100)],
                    tongue=here,
                )


def clauses_of(sentence: Sentence) -> Iterator[Clause]:
    cuts = _CUTS.get(sentence.tongue, _CUTS[""])
    at = sentence.start
    for match in cuts.finditer(sentence.turn.text, sentence.start, sentence.end):
        if _ALONE.fullmatch(sentence.turn.text, at, match.start()):
            continue
        if match.start() > at:
            yield sentence.part(at, match.start())
        at = match.end()
    yield sentence.part(at, sentence.end)


def opening_of(text: str) -> tuple[int, str]:
    """How many characters lead into a clause, and the words among them."""
    at = 0
    words: list[str] = []
    while True:
        lead = _LEAD.match(text, at)
        if lead:
            at = lead.end()
        filler = _FILLER.match(text, at)
        if not filler or filler.end() >= len(text):
            return at, " ".join(words)
        bare = filler[0].strip().lower()
        if _NEEDS_SIGN.match(filler[0]) and bare not in _SOFT:
            return at, " ".join(words)
        words.append(bare)
        at = filler.end()


def _listened(turn: Turn) -> list[tuple[int, int]]:
    """The stretches of a turn that are read at all."""
    text = turn.text
    length = len(text)
    if turn.author != "user":
        return _own_stretches(text, 0, length)
    if len(_HEADING.findall(text)) > MOST_HEADINGS:
        return []
    if length <= MOST_TYPED_CHARACTERS:
        return _own_stretches(text, 0, length)
    return _own_stretches(text, 0, END_CHARACTERS) + _own_stretches(text, length - END_CHARACTERS, length)


def _own_stretches(text: str, low: int, high: int) -> list[tuple[int, int]]:
    """Own words with what is neutral or quoted inside their lines: a sentence may hold a name in quotation marks."""
    stretches: list[tuple[int, int]] = []
    for start, end in own_spans(text):
        if end <= low or start >= high:
            continue
        start, end = max(start, low), min(end, high)
        line_end = text.find("\n", end)
        is_same_line = stretches and "\n" not in text[stretches[-1][1] : start]
        if is_same_line:
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
        if line_end < 0:
            line_end = len(text)
        tail = text[end:line_end]
        if tail.strip() and len(tail) < 300:
            stretches[-1] = (stretches[-1][0], min(high, line_end))
    return stretches


def _cut(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    at = low
    for match in _END.finditer(text, low, high):
        if match.start() < at or _is_abbreviated(text, at, match):
            continue
        span = _stripped(text, at, match.start())
        if span:
            yield span
        at = match.end()
    span = _stripped(text, at, high)
    if span:
        yield span


def _is_abbreviated(text: str, at: int, match: re.Match[str]) -> bool:
    """The stop ends a short word or, before a small letter or a month, a number: `Dr. Lee`, `12. April`."""
    end = match.start()
    if text[max(at, end - 1) : end] != ".":
        return False
    if _ABBREVIATION.search(text[at:end][-12:]):
        return True
    is_number = bool(re.search(r"(?:^|\s)\d{1,2}\.$", text[at:end][-5:]))
    return is_number and (text[match.end() : match.end() + 1].islower() or bool(_MONTH.match(text, match.end())))


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    bare = piece.strip()
    if not bare:
        return None
    start += len(piece) - len(piece.lstrip())
    return start, start + len(bare)
