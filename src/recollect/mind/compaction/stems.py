"""The words of a text, and whether two of them are the same word in another form. English and German; other languages
as far as their words share a stem.

Looser than the index of recall, on purpose: there a false match costs a place in a list, here a missed one counts a
promise as lost. Numbers, days and months have one spelling: `14 March`, `14.3.` and `2026-03-14` are alike.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

LEAST_STEM = 3
LEAST_PART = 5
"""Letters of a word that counts as found inside of a longer one: `Termin` in `Zahnarzttermin`."""
LEAST_COMPOUND = 9

_GERMAN_STOPS = """
ab aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist da dabei
dafur damit dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort
du durch ein eine einem einen einer eines er es etwas euch euer fur gegen gern gibt hab habe haben hat hatte hatten hier
hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein
keine keinen konnen konnte man mehr mein meine meinem meinen meiner mich mir mit muss mussen nach nicht nichts noch nun
nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen sollte uber um und uns unser
unsere unter viel vom von vor wann war waren warum was weil weiter wenn wer werde werden wie wieder will wir wird wo
wollen wollte worden wurde wurden zu zum zur zwischen
"""
_PROMISING = """
agree agreed commit commits committed commitment going mentioned need needs plan plans planned promise promised promises
said says still want wanted wants user assistant agent until till via per upon one
versprechen versprochen verspricht versprach vereinbart zugesagt zusage mochte mochten plant geplant braucht nutzer
assistent
"""
"""Words that tell that something was promised, and not what."""
_TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof", "herr", "herrn", "frau", "st"))

_FAMILIES = """
send sent|pay paid|buy bought|bring brought|write wrote written|tell told|give gave given|take took taken|make made|get
got gotten|find found|meet met|speak spoke spoken|think thought|build built|sell sold|lend lent|leave left|drive drove
driven|choose chose chosen|go went gone|do did done|keep kept|show shown|hold held|teach taught|fly flew flown|sing sang
sung|begin began begun|see saw seen|read reading|eat ate eaten|teeth tooth|children child|people person|feet foot|
geben gibt gab gegeben gebe|bringen bringt brachte gebracht|schreiben schreibt schrieb geschrieben|rufen ruft rief
gerufen|anrufen anruft anrief|nehmen nimmt nahm genommen|sprechen spricht sprach gesprochen|treffen trifft traf
getroffen|helfen hilft half geholfen|lesen liest las gelesen|gehen geht ging gegangen|sehen sieht sah gesehen|finden
findet fand gefunden|denken dachte gedacht|bleiben blieb geblieben|leihen lieh geliehen|ziehen zog gezogen|schlagen
schlagt schlug|tun tut tat getan|essen isst ass gegessen|kommen kam gekommen
"""
_BASES = {form: line.split()[0] for line in _FAMILIES.replace("\n", " ").split("|") for form in line.split()}

_ENDING_TEXT = """
s es e en er em ern ers n ne nen ns t te ten tet test st est et ed d ing ings ies y ied ly ion ions al or ors ment ments
ation ations ung ungen ende enden nd nde innen in is
"""
_ENDINGS = frozenset(("", *_ENDING_TEXT.split()))
_SEPARABLE = "an|ab|auf|aus|ein|mit|nach|vor|zu|zuruck|weg|los|hin|her|bei|fest|um|durch|weiter|vorbei"
_PARTICIPLE = re.compile(rf"^({_SEPARABLE})(?:ge|zu)(\w{{3,}})$")
_SEPARATED = re.compile(rf"^(?:{_SEPARABLE})(\w{{4,}})$")
_GE = re.compile(r"^ge(\w{4,})$")

_MONTHS = (
    "january januar janner jan|february februar feb|march marz mar|april apr|may mai|june juni jun|july juli jul"
    "|august aug|september sept sep|october oktober oct|november nov|december dezember dec"
)
_DAYS = (
    "monday montag montags|tuesday dienstag dienstags|wednesday mittwoch mittwochs|thursday donnerstag donnerstags"
    "|friday freitag freitags|saturday samstag sonnabend|sunday sonntag sonntags"
)
_COUNTS = (
    "two zwei|three drei|four vier|five funf|six sechs|seven sieben|eight acht|nine neun|ten zehn|eleven elf"
    "|twelve zwolf"
)
_NAMED = {
    **{form: f"~m{number}" for number, line in enumerate(_MONTHS.split("|"), 1) for form in line.split()},
    **{form: f"~d{number}" for number, line in enumerate(_DAYS.split("|"), 1) for form in line.split()},
    **{form: str(number) for number, line in enumerate(_COUNTS.split("|"), 2) for form in line.split()},
}
_PART_OF_DAY = re.compile(r"^((?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)(morgen|\w*mittag|abend|nacht)s?$")
_AMBIGUOUS = frozenset(("may", "mar", "jan", "march", "sep", "acht", "august"))
"""Also something else, unless they have a capital."""

_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    r"(?P<iso>\b\d{4}-\d{2}-\d{2}\b)"
    r"|(?P<dotted>\b\d{1,2}\.\d{1,2}\.(?:\d{4}\b|\d{2}\b)?)"
    r"|(?P<clock>\b\d{1,2}[:.]\d{2}(?:\s*(?:[ap]\.?m\b\.?|uhr))?\b|\b\d{1,2}\s*(?:[ap]\.?m\b\.?|uhr\b|o'clock))"
    r"|(?P<number>\b\d+(?:[.,]\d+)*(?:st|nd|rd|th)?\b)"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>(?:(?![{_UNSPACED}])[^\W_])+)",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_BREAK = re.compile(r"[.!?:\n]")
NOON_HOURS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    text: str
    """Folded: lower case without accents; days and months by their number."""
    is_telling: bool
    """A name, a number, a day."""

    @property
    def is_exact(self) -> bool:
        """Numbers and days have no other forms."""
        return not self.text.isalpha()


def words_of(text: str) -> list[Word]:
    """Those that tell something, in their order."""
    found: list[Word] = []
    text = _plain(text)
    end, last = 0, ""
    for match in _TOKEN.finditer(text):
        begins = not last or (last.lower() not in _TITLES and bool(_BREAK.search(text[end : match.start()])))
        found.extend(_words(match, begins=begins))
        end, last = match.end(), match[0]
    return found


def _words(match: re.Match[str], *, begins: bool) -> list[Word]:
    run = match[0]
    match match.lastgroup:
        case "iso":
            return [_exact(str(int(run[8:]))), _exact(f"~m{int(run[5:7])}")]
        case "dotted":
            day, month, *_ = run.split(".")
            return [_exact(str(int(day))), _exact(f"~m{int(month)}")]
        case "clock":
            return [_exact(_clock(run))]
        case "number":
            return [_exact(_GROUPS.sub("", run).rstrip("stndrhSTNDRH").lstrip("0") or "0")]
        case "unspaced":
            return [Word(text=run[at : at + 2], is_telling=False) for at in range(max(1, len(run) - 1))]
        case _:
            return _letters(run, begins=begins)


def _letters(run: str, *, begins: bool) -> list[Word]:
    folded = _folded(run)
    has_capital = run[0].isupper()
    if evening := _PART_OF_DAY.match(folded):
        return [_exact(_NAMED[evening[1]]), Word(text=evening[2], is_telling=False)]
    if folded in _NAMED and (has_capital or folded not in _AMBIGUOUS):
        return [_exact(_NAMED[folded])]
    if folded in _stops() or len(folded) == 1:
        return []
    return [Word(text=folded, is_telling=has_capital and not begins)]


@cache
def _stops() -> frozenset[str]:
    from recollect.recall.words import STOP_WORDS  # The whole of recall comes with them: not for a mind that starts.

    return STOP_WORDS | frozenset(_GERMAN_STOPS.split()) | frozenset(_PROMISING.split()) | _TITLES


def _exact(text: str) -> Word:
    return Word(text=text, is_telling=True)


def _clock(run: str) -> str:
    """15:00, 3 pm and 15 Uhr are `15`; half an hour later is `15:30`."""
    numbers = [int(number) for number in re.findall(r"\d+", run)]
    hour, minutes = numbers[0], numbers[1] if len(numbers) > 1 else 0
    if re.search(r"p\.?m", run, re.IGNORECASE) and hour < NOON_HOURS:
        hour += NOON_HOURS
    return f"{hour}:{minutes:02}" if minutes else str(hour)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


@lru_cache(maxsize=20_000)
def _folded(word: str) -> str:
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", word.casefold()))


@lru_cache(maxsize=20_000)
def forms_of(text: str) -> tuple[str, ...]:
    """As what a word is compared: itself, its verb, without `ge` and `zu`, without a prefix that can stand apart."""
    found = {text: None, _BASES.get(text, text): None}
    if parts := _PARTICIPLE.match(text):
        found |= {parts[1] + parts[2]: None, parts[2]: None, _BASES.get(f"ge{parts[2]}", parts[2]): None}
    elif rest := _GE.match(text):
        found[rest[1]] = None
    elif rest := _SEPARATED.match(text):
        found |= {rest[1]: None, _BASES.get(rest[1], rest[1]): None}
    return tuple(found)


def same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    if not (one.isalpha() and other.isalpha()):
        return False
    return any(_is_inflected(a, b) for a in forms_of(one) for b in forms_of(other)) or is_part(one, other)


def _is_inflected(one: str, other: str) -> bool:
    if one == other:
        return True
    most = min(len(one), len(other))
    common = next((at for at in range(most) if one[at] != other[at]), most)
    for stem in (common, common - 1):  # `e` may belong to the stem of one and to the ending of the other.
        if stem >= LEAST_STEM and _is_ending(one, stem) and _is_ending(other, stem):
            return True
    return False


def _is_ending(word: str, stem: int) -> bool:
    """Also behind a letter that was doubled: `plan`, `planned`."""
    ending = word[stem:]
    return ending in _ENDINGS or (ending[:1] == word[stem - 1] and ending[1:] in _ENDINGS)


def is_part(one: str, other: str) -> bool:
    """One is made of the other and something else."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(long) < LEAST_COMPOUND or len(short) < LEAST_PART:
        return False
    stem = short[:-1] if len(short) > LEAST_PART and short[-1] in "sne" else short
    return stem in long
