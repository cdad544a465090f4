"""What may stand in an item at all: lengths, characters, names. Whoever wrote it, it ends up in files that people open.

A text is made one clean line where that changes no word of it; what would be a path, a comment or an anchor is refused.
"""

import math
import re

from recollect import redaction
from recollect.librarian.items import Shelf
from recollect.texts import clean

MOST_ITEMS = 60
"""Of one conversation. Who finds more has copied it."""
MOST_LINES = 12
MOST_PEOPLE = 30
MOST_DOUBTS = 5
MOST_QUOTES = 6
MOST_TAGS = 4
MOST_TEXT_CHARACTERS = 300
MOST_TITLE_CHARACTERS = 120
MOST_QUOTE_CHARACTERS = 1_000
MOST_NAME_CHARACTERS = 80
MOST_ATTRIBUTE_CHARACTERS = 40
MOST_VALUE_CHARACTERS = 200
MOST_READ_CHARACTERS = 20_000
"""A longer text is not even looked at."""

_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNSEEN = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""They reorder or hide characters: a person would read something else than what stands there. Only between letters that
need them do joiners (U+200C, U+200D) mean anything; a line can be read without."""
_LIST_MARK = re.compile(r"(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s+")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")
_MARKUP = re.compile(
    r"<!--|-->|<\s*+(?:/\s*+)?(?:script|style|iframe|img|svg|object|embed|a\s|!doctype)"
    r"|!\[|\]\(|\[\[|\]\]|</",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\]|$)|^[/\\~.]|^[A-Za-z]:[/\\]|\\|^\w+://|\x00")
_PASSWORD = re.compile(
    r"(?:\b(?:pass(?:word|wort|code|phrase|wd)|kennwort|pin(?:\s?code)?|contraseña|clave|mot de passe|senha|wachtwoord"
    r"|пароль)\b|密码|密碼|パスワード|暗証番号)(?!\s*(?:manager|reset|field|hash))[\s*`\"'”]*"
    r"(?:(?:[^.!?\n]{0,40}?\b(?:is|was|ist|war|lautet|es|est|é|è)\b)|(?:(?:for|für|para|pour|von)\s[^.!?\n]{1,30})?[:=]|は|是)"
    r"[\s*`\"'“„«]*(?P<value>[^\s*`\"'”“»,;]{3,})",
    re.IGNORECASE,
)
_NO_PASSWORD = re.compile(
    r"(?:stored|kept|in|not|the|a|an|wrong|expired|too|required|hashed|correct|missing|gone|there|nicht|falsch|da|weg"
    r"|very|so|now|on|at|somewhere|under|with|from|something|[\[(<{].*)\W*",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"[^\W_](?:[\w '’-]*[^\W_])?")
_NARRATION = re.compile(
    r"(?:(?:the )?(?:user|assistant|person|they|he|she|we) )?(?:(?:has |have |is |was |were )?(?:asked|asking"
    r"|requested|requesting|inquired|discussed|discussing|talked about|told|informed)"
    r"|asks|requests|wants? to know|wanted to know"
    r"|needs? (?:a|an|some|help|ideas?|advice)|wants? (?:help|advice|ideas?))\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"[^\W_][\w-]{0,29}")
_SHELVES = frozenset(str(shelf) for shelf in Shelf)


def one_line(text: str) -> str:
    """The text on one line, without what nobody sees and without a list's mark before it."""
    line = _BREAKS.sub(" ", _UNSEEN.sub("", clean(text[:MOST_READ_CHARACTERS]))).strip()
    return _EMPHASIS.sub("", _LIST_MARK.sub("", line, count=1) if _LIST_MARK.match(line) else line).strip()


def why_unfit(line: str, most_characters: int) -> str:
    """Empty, or why a clean line may not be kept."""
    if not any(map(str.isalnum, line)):
        return "empty"
    if len(line) > most_characters:
        return "too long"
    if _MARKUP.search(line):
        return "markup"
    return "secret" if tells_secret(line) else ""


def tells_secret(text: str) -> bool:
    """A credential that is known by its form, or one that somebody calls so: who says a password aloud has no other."""
    if redaction.MARK in text or redaction.find(text):
        return True
    return any(not _NO_PASSWORD.fullmatch(found["value"]) for found in _PASSWORD.finditer(text))


def is_narration(line: str) -> bool:
    """That somebody asked or spoke of something: what happened, which is told in lines, and no statement."""
    return _NARRATION.match(line) is not None


def is_name(name: str) -> bool:
    """A name of a person, project or thing: never one that says where a file is to go."""
    return not why_unfit(name, MOST_NAME_CHARACTERS) and not _PATH.search(name)


def is_attribute(attribute: str) -> bool:
    return len(attribute) <= MOST_ATTRIBUTE_CHARACTERS and _ATTRIBUTE.fullmatch(attribute) is not None


def fit_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Without the names of shelves: by these a record is found on its shelf."""
    lines = (one_line(tag).lower() for tag in tags)
    return tuple(dict.fromkeys(tag for tag in lines if _TAG.fullmatch(tag) and tag not in _SHELVES))[:MOST_TAGS]


def share(number: float, otherwise: float) -> float:
    """Between 0 and 1, whatever was given."""
    return otherwise if math.isnan(number) else min(max(number, 0.0), 1.0)
