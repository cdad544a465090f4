"""Whether what an item says can be read in the words it quotes: its numbers, its names, and most of its other words.

It cannot tell whether a sentence means the same as another. It can tell that somebody is named, or a number given, of
whom or which nobody spoke, and that a "not" was lost or added: that is how a model goes wrong. Words count in the
language they were said in: a translation of a quote is not supported by it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from recollect.librarian.evidence.naming_days import is_day_word, iso_days, may_mean, plain

LEAST_SHARE = 0.6
"""Of the telling words of a text, as many must be in what it quotes."""
LEAST_SHARE_RETOLD = 0.4
"""The same for lines, titles and questions, which are told in a reader's own words from all that was said."""
ENDS_WITH_WORDS = 1
"""So few words may follow a "not" that ends its sentence."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")
_DIGITS = re.compile(r"\d+")
_THOUSANDS = re.compile(r"\b(\d+(?:[.,]\d+)?)\s?k\b", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"')\]]+", re.IGNORECASE)
_URL_END = ".,;:!?…"
"""A long address is cut with an ellipsis."""
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|[\"“„«(]\s?)$")
_COUNTED = (
    ("zero null cero nul", 0), ("one ein eine einen einem un una une uno um uma een один once einmal", 1),
    ("two zwei dos deux due dois duas twee два две twice zweimal both couple pair", 2),
    ("three drei tres trois tre drie три", 3), ("four vier cuatro quatre quattro quatro четыре", 4),
    ("five funf fuenf cinco cinq cinque vijf пять", 5), ("six sechs seis sei zes шесть", 6),
    ("seven sieben siete sept sette sete zeven семь", 7), ("eight acht ocho huit otto oito восемь", 8),
    ("nine neun nueve neuf nove negen девять", 9), ("ten zehn diez dix dieci dez tien десять", 10),
    ("eleven elf once onze undici", 11), ("twelve zwolf zwoelf doce douze dodici doze twaalf dozen", 12),
    ("twenty zwanzig veinte vingt venti vinte", 20), ("thirty dreissig treinta trente trenta", 30),
    ("hundred hundert cien cent cento cem", 100), ("thousand tausend mil mille", 1_000),
)  # fmt: skip
_WIDE_COUNTED = {sign: str(number) for number, sign in enumerate("一二三四五六七八九十", 1)}
_VALUE_OF: dict[str, set[str]] = {}
for _words, _value in _COUNTED:
    for _one in _words.split():
        _VALUE_OF.setdefault(plain(_one), set()).add(str(_value))

_COMMON_TEXT = """
a about after all also am an and any are as at be because been before being but by can could did do does
for from had has have he her hers him his how i if in into is it its just like likes me might more most my name named
no not now of on or our out over own please prefer prefers preferred rather should since so some such
than that the their them then there these they this those through to too until up us use used user uses using very want
wanted wants was we were what when where which while who whose why will with would you your doesn't isn't don't
agreed asked became began called chose chosen currently decided decision dislikes enjoys following found
goes hates keeps kept knows lives loves made makes moved moves needs new old owns person plans project
said says speaks started starts still takes team they're thinks today tomorrow wishes works yesterday
der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ist sind war hat haben wird mit von
zu zum zur auf aus bei fur im in am an als auch es er sie ihr sein seine ihre man wie will mag nutzt bevorzugt lebt
wohnt arbeitet heisst benutzt verwendet mochte
el la los las un una y o pero no es son era ha tiene con de del al a en por para que se su sus lo le como quiere
prefiere usa vive trabaja llama
le la les un une et ou mais ne pas est sont etait a avec de du des au aux en dans par pour que qui se sa son ses il
elle on comme veut prefere utilise vit habite travaille appelle
il lo gli i un uno una e o ma non e sono ha con di del della da in per che si suo sua preferisce usa vive lavora
o os as um uma e ou mas nao tem com do da em por para prefere mora trabalha
de het een en of maar niet is zijn heeft met van op voor dat die zich woont werkt gebruikt
"""
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hates?|hated|dislikes?|avoids?|stop(?:s|ped)?"
    r"|quit|isnt|dont|doesnt|wont|cant|nicht|kein\w{0,2}|nie|niemals|ohne|hasst?e?|nunca|sin|jamais|sans|pas|non|mai"
    r"|senza|nao|sem|niet|geen|nooit|zonder|не|нет|никогда|без)\b|n['’]t\b|\bn['’](?=\w)|[不没沒别別勿無无]|ない|ません|嫌",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"[,;:–—(]|\b(?:but|instead|rather|anymore|only|except|aber|sondern|statt|nur|mehr|sino|pero|mais|ma|bensi|mas|maar"
    r"|than|until|yet|но|а)\b|，|、",
    re.IGNORECASE,
)
"""Where a sentence goes on with what is so."""
COMMON = frozenset(map(plain, _COMMON_TEXT.split()))
"""Words that tell nothing by themselves, and those with which a statement about a person is put together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One text that somebody said, and when."""

    text: str
    at: str = ""


@dataclass(slots=True)
class Vocabulary:
    """The words, numbers and pairs of characters of some texts."""

    words: set[str] = field(default_factory=set[str])
    numbers: set[str] = field(default_factory=set[str])
    pairs: set[str] = field(default_factory=set[str])
    starts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @staticmethod
    def of(*texts: str) -> "Vocabulary":
        """Not to be changed: it is kept for the next who asks for the same."""
        return _vocabulary(texts)

    def add(self, text: str) -> None:
        for word in map(plain, _WORD.findall(text)):
            for form in {word, *word.replace("’", "'").split("'")}:
                if form not in self.words:
                    self.words.add(form)
                    self.starts.setdefault(form[:3], []).append(form)
                    self.numbers |= _VALUE_OF.get(form, set())
        for match in _NUMBER.finditer(text):
            self.numbers |= {_joined(match[0]), *map(_figure, _DIGITS.findall(match[0]))}
        for match in _THOUSANDS.finditer(text):
            self.numbers.add(str(round(float(match[1].replace(",", ".")) * 1_000)))
        for run in _UNSPACED.findall(text):
            self.pairs |= {*_pairs(run), *run}
            self.numbers |= {_WIDE_COUNTED[sign] for sign in run if sign in _WIDE_COUNTED}

    def has(self, word: str) -> bool:
        """The word itself, or one that begins like it: `prefers` and `prefer`, `moved` and `moving`."""
        if word in self.words:
            return True
        return any(_is_alike(word, other) for other in self.starts.get(word[:3], ()))

    def has_name(self, name: str) -> bool:
        """Names are not inflected, save for a genitive or a plural."""
        return name in self.words or any(
            name.startswith(other) or other.startswith(name)
            for other in self.starts.get(name[:3], ())
            if abs(len(name) - len(other)) <= 2 and min(len(name), len(other)) >= 3
        )


@lru_cache(maxsize=64)
def _vocabulary(texts: tuple[str, ...]) -> Vocabulary:
    """Kept: the items of one conversation rest on few messages."""
    made = Vocabulary()
    for text in texts:
        made.add(text)
    return made


def _is_alike(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    common = next((at for at in range(shorter) if word[at] != other[at]), shorter)
    return common >= 3 and common >= 0.6 * shorter


def _figure(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _joined(number: str) -> str:
    return _figure("".join(_DIGITS.findall(number)))


def _pairs(run: str) -> Iterable[str]:
    return (run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)


# What is not there


def why_unsupported(
    text: str, said: Sequence[Said], near: Vocabulary, known: Vocabulary, least_share: float = LEAST_SHARE
) -> str:
    """Empty, `invented number`, `invented name`, or `unsupported`.

    `said`: the messages that are quoted. `near`: what stands in and right before the quotes. `known`: names that may be
    used without having been said there, such as that of the project.
    """
    whole = Vocabulary.of(*(one.text for one in said))
    days = [day for day in iso_days(text) if any(may_mean(one.text, day, one.at) for one in said)]
    numbers = whole.numbers | known.numbers | {str(part) for day in days for part in (day.year, day.month, day.day)}
    if not all(any(url.rstrip(_URL_END) in one.text for one in said) for url in _URL.findall(text)):
        return "invented name"
    if not all(_is_number_there(match[0], numbers) for match in _NUMBER.finditer(text)):
        return "invented number"
    if not all(_is_name_there(word, is_first, whole, known, bool(days)) for word, is_first in _named(text)):
        return "invented name"
    return "" if _share(text, near, known) >= least_share else "unsupported"


def names_somebody(name: str) -> bool:
    """`Anna`, and not `User` or `They`."""
    return any(word not in COMMON for word in map(plain, _WORD.findall(name)))


def is_turned_round(text: str, quotes: Sequence[str]) -> bool:
    """Whether one says what the other denies, as far as single words tell."""
    if _NEGATIONS.search(_unaccented(text)):
        return not any(_NEGATIONS.search(_unaccented(quote)) for quote in quotes)
    return all(_denies(quote, text) for quote in quotes)


def _denies(quote: str, text: str) -> bool:
    """Its "not" stands before words of the text or, as in German and Japanese, ends the sentence."""
    found = _NEGATIONS.search(_unaccented(quote))
    if not found or _TURNS.search(quote):
        return False
    after = quote[found.end() :]
    denied = Vocabulary.of(quote if len(_WORD.findall(after)) <= ENDS_WITH_WORDS else after)
    telling = [word for word in map(plain, _WORD.findall(text)) if word not in COMMON]
    is_unspaced = any(pair in denied.pairs for run in _UNSPACED.findall(text) for pair in _pairs(run))
    return is_unspaced or any(denied.has(word) for word in telling)


def _unaccented(text: str) -> str:
    return text.replace("ã", "a")


def why_invented(text: str, said: Sequence[Said], known: Vocabulary) -> str:
    """The same for a text that may tell of all that was said in its own words."""
    return why_unsupported(text, said, Vocabulary.of(*(one.text for one in said)), known, LEAST_SHARE_RETOLD)


def _is_number_there(number: str, numbers: set[str]) -> bool:
    return _joined(number) in numbers or all(_figure(part) in numbers for part in _DIGITS.findall(number))


def _named(text: str) -> Iterable[tuple[str, bool]]:
    """Words that are written like names, and whether each begins a sentence."""
    for match in _WORD.finditer(text):
        word = match[0]
        if any(map(str.isupper, word)) and len(word) > 1:
            yield plain(word), _SENTENCE_START.search(text[max(match.start() - 4, 0) : match.start()]) is not None


def _is_name_there(word: str, is_first: bool, whole: Vocabulary, known: Vocabulary, is_dated: bool) -> bool:
    forms = {word, word.removesuffix("'s").removesuffix("s'")}
    if any(whole.has_name(form) or known.has_name(form) or form in COMMON for form in forms):
        return True
    if is_dated and is_day_word(word):
        return True
    if any(sign.isdigit() for sign in word):
        return all(_figure(part) in whole.numbers for part in _DIGITS.findall(word)) and len(word) <= 5
    return is_first and (whole.has(word) or "'" in word)


def _share(text: str, near: Vocabulary, known: Vocabulary) -> float:
    found = total = 0
    for word in map(plain, _WORD.findall(text)):
        if _UNSPACED.search(word):
            continue
        if len(word) < 3 or word in COMMON or word.isdigit() or is_day_word(word):
            continue
        total += 1
        found += near.has(word) or known.has_name(word)
    for run in _UNSPACED.findall(text):
        pairs = list(_pairs(run))
        total += len(pairs)
        found += sum(pair in near.pairs or pair in known.pairs for pair in pairs)
    return found / total if total else 1.0
