"""The quotes of an extract, found in the turns they are from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.librarian.evidence import limits
from recollect.librarian.evidence.quoting import find_quote, sentence_around
from recollect.librarian.items import USER, Quote, Turn
from recollect.librarian.speech.filters import LOOK_AHEAD_CHARACTERS, LOOK_BACK_CHARACTERS, why_not
from recollect.librarian.speech.own import is_own

ASSISTANT = "assistant"
NO_QUOTE = "no quote"
NOT_FOUND = "quote not found"
NOT_OWN = "not own words"
TOO_LONG = "too long"

_CLAUSE = re.compile(
    r"(?:^|[,;:(–—.!?]|\b(?:because|since|as|and|but|although|though|while|given|so|weil|da|denn|und|aber|obwohl|porque|ya"
    r"|que|pues|y|pero|parce|car|puisque|et|mais|perche|poiche|e|ma|pois|mas|want|omdat|en|maar))\s*$",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\s*(?:no|nope|nah|not|don'?t|never|stop|wait|hold on|nein|nicht|noch nicht|lieber nicht|non|ne|niet|nee|não|nao"
    r"|нет|не)\b|\s*(?:いいえ|不|别|別)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:says?|saying|said|states (?:that|the)|stated|reads|claims|mentions|tells|told|instructs|according to"
    r"|the user(?:'s name|'s \w+ (?:is|are)| (?:is|has|must|should|wants|prefers|lives|always|never|decided))"
    r"|(?i:sagt|behauptet|laut|heißt es|zufolge|steht,? dass|dice (?:que|che)|según|afirma|indique|dit que|selon"
    r"|secondo|diz que|segundo|zegt|volgens|пишет|говорит|согласно))\b|说|說|表示|によると|と書|と言",
)
"""An assistant tells what it read."""
OF_ALL = frozenset({"instruction to a machine", "secret", "negated request", "joke", "quoted"})
"""Reasons that hold for all of a sentence when they hold for a part of it."""
_CONDITION = re.compile(
    r"\b(?:if|suppose|imagine|assuming|unless|pretend|wenn|falls|angenommen|stell dir vor|si|supongamos|imagina|se|caso"
    r"|als|stel|если|would|could|might)\b|もし|如果|假如|要是",
    re.IGNORECASE,
)
"""Before the quoted part of a sentence: then that part holds only under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A quote where it stands."""

    turn: Turn
    start: int
    end: int

    @property
    def author(self) -> str:
        return self.turn.author

    @property
    def words(self) -> str:
        """As they stand in the message."""
        return self.turn.text[self.start : self.end]

    @property
    def nearby(self) -> str:
        """The sentence it stands in, and the one before."""
        start, end = self._sentence
        before, _ = sentence_around(self.turn.text, max(start - 2, 0), max(start - 1, 0))
        return self.turn.text[before:end]

    @property
    def is_clause(self) -> bool:
        """It begins where a part of a sentence does."""
        return _CLAUSE.search(self.turn.text[max(self.start - 20, 0) : self.start].rstrip(" ")) is not None

    @property
    def is_consent(self) -> bool:
        """Words with which somebody agrees begin a message and do not ask or refuse."""
        start, end = self._sentence
        sentence = self.turn.text[start:end]
        return not _REFUSAL.match(sentence) and not sentence.rstrip().endswith(("?", "？"))

    @property
    def is_reported(self) -> bool:
        """The assistant retells a page, a file or the output of a tool: the words are its own, what they say is not."""
        start, end = self._sentence
        return self.author == ASSISTANT and _REPORTED.search(self.turn.text[start:end].replace("’", "'")) is not None

    @property
    def _sentence(self) -> tuple[int, int]:
        return sentence_around(self.turn.text, self.start, self.end)

    def why_not(self) -> str:
        """Why its sentence is no statement, by what stands in it and around it. Of a sentence in parts only the quoted
        one is judged, save where the reason holds for all of it."""
        if limits.tells_secret(self.words):
            return "secret"
        if self.is_reported:
            return "quoted"
        text, (start, end) = self.turn.text, self._sentence
        before, after = text[max(start - LOOK_BACK_CHARACTERS, 0) : start], text[end : end + LOOK_AHEAD_CHARACTERS]
        wide = why_not(text[start:end].strip(), before, after)
        if not wide or wide in OF_ALL or not self.is_clause:
            return wide
        narrow = why_not(self.words, before, after)
        return wide if not narrow and _CONDITION.search(text[start : self.start]) else narrow


class Quotes:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = [turn for turn in turns if turn.text and turn.author in (USER, ASSISTANT)]
        self._place = {turn.message_id: at for at, turn in enumerate(self._turns)}

    def find(self, quotes: Sequence[Quote]) -> tuple[list[Found], str]:
        """Those that stand in a message, in their author's own words; and, if there are none, why."""
        found: list[Found] = []
        reason = NO_QUOTE
        for quote in quotes[: limits.MOST_QUOTES]:
            one = self._find(quote)
            if isinstance(one, Found):
                found.append(one)
            else:
                reason = one
        return found, "" if found else reason

    def number_of(self, quote: Quote) -> int:
        at = self._place.get(quote.message_id)
        return self._turns[at].number if at is not None else 0

    def _find(self, quote: Quote) -> Found | str:
        """Whoever miscounts the turns is not wrong about the words: they are looked for in the nearest ones, too."""
        if len(quote.words) > 2 * limits.MOST_QUOTE_CHARACTERS:
            return TOO_LONG
        claimed = self._place.get(quote.message_id, len(self._turns))
        reason = NOT_FOUND
        for at in sorted(range(len(self._turns)), key=lambda at: abs(at - claimed)):
            turn = self._turns[at]
            span = find_quote(quote.words, turn.text)
            if span is None:
                continue
            if span[1] - span[0] > limits.MOST_QUOTE_CHARACTERS:
                return TOO_LONG
            if is_own(turn.text, *span):
                return Found(turn=turn, start=span[0], end=span[1])
            reason = NOT_OWN
        return reason
