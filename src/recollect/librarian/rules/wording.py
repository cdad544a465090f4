"""How a clause becomes a line: English first person without its subject, other languages as they were said."""

import re

from recollect.librarian.speech.wordset import wordset

MOST_CHARACTERS = 220
"""Of a line that is read at a glance."""

_IRREGULAR = {
    "have": "has",
    "'ve": "has",
    "am": "is",
    "'m": "is",
    "do": "does",
    "go": "goes",
    "was": "was",
    "were": "was",
    "'ll": "will",
    "will": "will",
    "can": "can",
    "can't": "can't",
    "cannot": "cannot",
    "don't": "doesn't",
    "dont": "doesn't",
    "haven't": "hasn't",
    "won't": "won't",
    "must": "must",
    "should": "should",
    "didn't": "didn't",
    "wasn't": "wasn't",
    "couldn't": "couldn't",
    "'d": "would",
    "would": "would",
    "could": "could",
    "used": "used",
    "'re": "are",
    "cant": "can't",
}
_ADVERB = wordset("""
    always never usually normally often generally really absolutely also just still only mostly rarely seldom
    sometimes typically actually definitely truly currently now personally especially strongly much finally
    recently already genuinely deeply totally kinda honestly almost simply very originally both exclusively
    hardly primarily mainly regularly frequently even ever
""")
_SUBJECT = re.compile(r"(?i)(?:i|we)(?=\s|'(?:m|ve|ll|d|re)\b)|im\s(?=\w)|ive\s(?=\w)")
_REST = re.compile(r"(?i)\s*('(?:m|ve|ll|d|re)|[\w'-]+)")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|~~|`+")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,500}\)")
_EMOJI = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D\u2B50]+|(?:^|\s)[:;]-?[)DP(](?=\s|$)")
_LATER_VERB = re.compile(
    r"(?i)\b(and|or|but)\s+(live|work|use|have|like|love|hate|prefer|need|want|run|play"
    r"|enjoy|eat|drink|always|never)\b"
)
_OWNERS = {
    "my": "their",
    "mine": "theirs",
    "me": "them",
    "myself": "themselves",
    "i": "they",
    "i'm": "they're",
    "i've": "they've",
    "i'll": "they'll",
    "i'd": "they'd",
}
_OWNER = re.compile(r"(?i)(?<![\w'])(?:my|mine|me|myself|i|i'm|i've|i'll|i'd)(?![\w'])")


def clean(text: str) -> str:
    """One line without Markdown, emoji and doubled spaces."""
    plain = _EMOJI.sub(" ", _MARKS.sub("", _LINK.sub(r"\1", text)))
    return " ".join(plain.replace("’", "'").split())


def line(text: str) -> str:
    """A clean line with a capital, without an end stop, not too long."""
    plain = trimmed(clean(text).strip(" ,;:-–—\"'“”!?.。？"))
    return plain[:1].upper() + plain[1:]


def trimmed(text: str, most: int = MOST_CHARACTERS) -> str:
    """Cut at a clause, else at a word."""
    if len(text) <= most:
        return text
    for sign in ("; ", " – ", " — ", ", ", " (", " "):
        cut = text.rfind(sign, most // 2, most)
        if cut > 0:
            return text[:cut].rstrip(" ,;–—(") + " …"
    return text[: most - 1] + "…"


def third_person(said: str) -> str:
    """`I prefer tabs` → `Prefers tabs`; `my dog is old` → `Dog is old`; what has no first person stays."""
    text = clean(said)
    subject = _SUBJECT.match(text)
    if subject and text[: subject.end()].lower().startswith("we"):
        return line(text)
    if subject:
        return line(_others(_conjugated(text, subject)))
    mine = re.match(r"(?i)my\s+(?=\w)", text)
    return line(_others(text[mine.end() :] if mine else text))


def _conjugated(text: str, subject: re.Match[str]) -> str:
    head = subject[0].lower().strip()
    if head in ("im", "ive"):
        return ("is " if head == "im" else "has ") + text[subject.end() :]
    at = subject.end()
    adverbs: list[str] = []
    for _ in range(4):
        word = _REST.match(text, at)
        if not word:
            break
        at = word.end()
        if word[1].lower() in _ADVERB:
            adverbs.append(word[1])
            continue
        rest = _LATER_VERB.sub(lambda match: f"{match[1]} {conjugated_third(match[2])}", text[at:])
        verb = conjugated_third(word[1].lower(), is_habit=not _HABITS.isdisjoint(map(str.lower, adverbs)))
        return " ".join([*adverbs, verb]) + rest
    return text[subject.end() :]


_HABITS = frozenset({"always", "never", "usually", "normally", "often", "rarely", "typically", "sometimes", "mostly"})
_SAME = frozenset({"read", "put", "set", "cut", "hurt", "quit"})
"""Verbs whose past looks like their present."""


def conjugated_third(verb: str, *, is_habit: bool = False) -> str:
    """`live` → `lives`; what is past already stays."""
    if verb in _IRREGULAR or verb in _ADVERB:
        return _IRREGULAR.get(verb, verb)
    if (verb.endswith(("ed", "ght", "ew")) and verb not in ("need", "feed", "breed", "exceed")) or (
        verb in _PAST and not (is_habit and verb in _SAME)
    ):
        return verb
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


_PAST = wordset("""
    got went ran won quit met made found chose took came became began bought built left lost kept said saw sent
    sold spent started told wrote grew learnt had did put set hurt cut read
""")


def _others(text: str) -> str:
    """What is left of the first person inside the line."""
    changed = _OWNER.sub(lambda match: _OWNERS[match[0].lower()], text)
    return re.sub(r"\b(they) (am|was)\b", lambda match: f"they {'are' if match[2] == 'am' else 'were'}", changed)
