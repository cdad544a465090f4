"""Sentences that look like statements and are none: questions, jokes, what-ifs, chatter, commands to a machine.

`why_not` is asked by the rules before they keep a sentence, and by `evidence` about the words a model quotes. It errs
on the side of leaving out. Patterns are for English, German, Spanish and French, with the plainest words of Italian,
Portuguese, Dutch, Russian, Chinese and Japanese. A pattern has no repetition inside a repetition, and a sentence is
read up to a limit, so that the time is linear.
"""

import re
from functools import lru_cache

from recollect import redaction
from recollect.librarian.speech.filter_words import (
    AT_FIRST,
    CUT,
    DERIVABLE,
    FICTION,
    HYPOTHETICAL,
    INDIRECT,
    JOKE,
    MACHINE,
    MACHINE_START,
    MOST_TRIVIAL_WORDS,
    NEGATED,
    NORMATIVE,
    OPENERS,
    PASSING,
    PATH,
    PATH_FACT,
    QUESTION_END,
    QUESTION_START,
    QUOTED,
    QUOTING,
    REQUEST,
    SECRET,
    TRIVIAL,
    WIDE,
    WIDE_HYPOTHETICAL,
    WIDE_MACHINE,
    WIDE_NEGATED,
    WIDE_PASSING,
)

MOST_CHARACTERS = 1_000
"""Of a sentence. A longer one is no sentence."""
LOOK_BACK_CHARACTERS = 400
"""Of what stands before it in the same message: there a supposition or a story is opened."""
LOOK_AHEAD_CHARACTERS = 80
"""Of what stands after it: there a joke is taken back."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
FEWEST_LETTERS = 6
FEWEST_WIDE_LETTERS = 3
"""Of scripts that write a word with one or two characters."""


def why_not(sentence: str, before: str = "", after: str = "") -> str:
    """Empty, or the reason why a sentence is no statement to keep. `before` and `after`: what stands around it."""
    if len(sentence) > MOST_CHARACTERS:
        return _why_not(sentence[:MOST_CHARACTERS], "", "") or "fragment"
    return _why_not(sentence, before[-LOOK_BACK_CHARACTERS:], after[:LOOK_AHEAD_CHARACTERS])


@lru_cache(maxsize=512)
def _why_not(sentence: str, before: str, after: str) -> str:
    """Kept for the last sentences: the rules and the evidence ask about the same ones."""
    text, earlier, later = (part.replace("’", "'") for part in (sentence, before, after))
    return _why_dangerous(text, sentence) or _why_unmeant(text, earlier, later) or _why_worthless(text)


def _why_dangerous(text: str, sentence: str) -> str:
    """What must not be learned even when it is said in earnest."""
    if MACHINE.search(text) or MACHINE_START.match(text) or WIDE_MACHINE.search(text):
        return "instruction to a machine"
    if redaction.MARK in sentence or SECRET.search(text) or redaction.find(sentence):
        return "secret"
    if NEGATED.search(text) or WIDE_NEGATED.search(text):
        return "negated request"
    return ""


def _why_unmeant(text: str, earlier: str, later: str) -> str:
    """What is asked, supposed, joked or quoted."""
    if QUOTED.match(text) or QUOTING.search(earlier[-60:]):
        return "quoted"
    if is_question(text):
        return "question"
    if JOKE.search(text) or JOKE.search(later):
        return "joke"
    return "hypothetical" if _is_supposed(text, earlier) else ""


def _is_supposed(text: str, earlier: str) -> bool:
    return bool(
        HYPOTHETICAL.search(text)
        or WIDE_HYPOTHETICAL.search(text)
        or FICTION.search(text)
        or AT_FIRST.match(text)
        or OPENERS.search(earlier)
    )


def _why_worthless(text: str) -> str:
    if is_trivial(text):
        return "trivial"
    if is_fragment(text):
        return "fragment"
    if PASSING.search(text) or WIDE_PASSING.search(text):
        return "passing"
    if NORMATIVE.search(text):
        return ""
    if DERIVABLE.search(text) or ((path := PATH.search(text)) and PATH_FACT.search(text, path.end())):
        return "derivable"
    return ""


def is_question(text: str) -> bool:
    """A polite request to remember is none, whatever stands at its end."""
    if REQUEST.search(text):
        return False
    return bool(QUESTION_END.search(text) or QUESTION_START.match(text) or INDIRECT.search(text))


def is_trivial(text: str) -> bool:
    words = _WORD.findall(text.lower())
    return 0 < len(words) <= MOST_TRIVIAL_WORDS and TRIVIAL.issuperset(words)


def is_fragment(text: str) -> bool:
    if text.count(")") != text.count("(") and text.rstrip().endswith((")", "(")):
        return True
    letters = sum(map(str.isalpha, text))
    if WIDE.search(text):
        return letters < FEWEST_WIDE_LETTERS
    return letters < FEWEST_LETTERS or " " not in text.strip() or bool(CUT.search(text))
