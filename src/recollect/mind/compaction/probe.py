"""Whether what was promised is still before the model's eyes after a compaction (M2).

Pure, and without a model: a commitment survived if a stretch of a few sentences holds most of its words. Names and
numbers count double, words that stand everywhere hardly at all. Words are compared by their stems, for English and
German with their irregular verbs. It is a measure for runs, and decides nothing: a summary that says the same in none
of the same words is counted as lost.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.mind.compaction.stems import LEAST_COMPOUND, LEAST_STEM, Word, forms_of, is_part, same_word, words_of

ENOUGH = 0.5
"""Of the weight of a commitment. Chosen on the labelled set in the tests, between what a paraphrase keeps and what an
unrelated mention of the same people has."""
PLAIN_WORDS = 2
"""A commitment with so many words that are no names does not survive by names alone: people are spoken of for many
reasons."""
STRETCH_SENTENCES = 2
"""In which the words have to stand: who promised and what is often told in two."""
SENTENCE_WORDS = 40
"""A longer one is a list, or something that was pasted: any words can be found in it."""
TELLING_WEIGHT = 2.0
COMMON_WEIGHT = 0.5
COMMON_SHARE = 4
"""A word in more than one of so many stretches is common, such as the name of the person who is talked to."""
LEAST_STRETCHES = 8
"""In fewer nothing is called common."""

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"”’)*]*\s+|(?<=[。！？])|\n+")
_ORDINAL = re.compile(r"\b\d{1,2}\.$|\b(?:Dr|Mr|Mrs|Ms|Fr|Hr|St|Nr|No|z\.B|ca|approx|bzw|ggf)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    asked: int
    """Commitments that have words to look for."""
    survived: int
    missing_ids: tuple[str, ...]
    """In the order in which they were given."""


def probed(commitments: Mapping[str, str], seen: Sequence[str]) -> Probe:
    """`commitments`: the text of each that is open, by its id. `seen`: all that the model sees afterwards, the summary
    and what stayed word for word."""
    stretches = _stretches(seen)
    places = _places(stretches)
    asked = {name: words for name, text in commitments.items() if (words := _distinct(words_of(text)))}
    missing = tuple(name for name, words in asked.items() if not _survives(words, places, len(stretches)))
    return Probe(asked=len(asked), survived=len(asked) - len(missing), missing_ids=missing)


def _survives(words: Sequence[Word], places: "_Places", stretches: int) -> bool:
    total = 0.0
    found: dict[int, float] = {}
    plain: set[int] = set()
    for word in words:
        at = places.of(word)
        is_common = stretches >= LEAST_STRETCHES and len(at) * COMMON_SHARE > stretches
        weight = COMMON_WEIGHT if is_common else TELLING_WEIGHT if word.is_telling else 1.0
        total += weight
        plain |= set() if word.is_telling else at
        for place in at:
            found[place] = found.get(place, 0.0) + weight
    needs_plain = sum(not word.is_telling for word in words) >= PLAIN_WORDS
    return any(weight >= ENOUGH * total and (place in plain or not needs_plain) for place, weight in found.items())


class _Places:
    """In which stretches each word stands. A word is compared with those that begin alike; a long one with all, and
    all with the long ones, since it may be made of others."""

    def __init__(self) -> None:
        self._places: dict[str, set[int]] = {}
        self._by_start: dict[str, set[str]] = {}
        self._long: set[str] = set()

    def add(self, word: Word, place: int) -> None:
        self._places.setdefault(word.text, set()).add(place)

    def close(self) -> None:
        for text in self._places:
            for form in forms_of(text):
                self._by_start.setdefault(form[:LEAST_STEM], set()).add(text)
            if len(text) >= LEAST_COMPOUND:
                self._long.add(text)

    def of(self, word: Word) -> set[int]:
        if word.is_exact:
            return self._places.get(word.text, set())
        near = set[str]().union(*(self._by_start.get(form[:LEAST_STEM], ()) for form in forms_of(word.text)))
        wide = self._places if len(word.text) >= LEAST_COMPOUND else self._long
        alike = {other for other in near if same_word(word.text, other)}
        alike.update(other for other in wide if is_part(word.text, other))
        return set[int]().union(*(self._places[other] for other in alike))


def _places(stretches: Sequence[Sequence[Word]]) -> _Places:
    places = _Places()
    for number, words in enumerate(stretches):
        for word in words:
            places.add(word, number)
    places.close()
    return places


def _stretches(texts: Iterable[str]) -> list[list[Word]]:
    found: list[list[Word]] = []
    for text in texts:
        sentences = [part for sentence in _sentences(text) for part in _bounded(words_of(sentence))]
        starts = range(max(1, len(sentences) - STRETCH_SENTENCES + 1))
        found.extend([word for one in sentences[at : at + STRETCH_SENTENCES] for word in one] for at in starts)
    return found


def _bounded(words: list[Word]) -> list[list[Word]]:
    return [words[at : at + SENTENCE_WORDS] for at in range(0, len(words), SENTENCE_WORDS)]


def _sentences(text: str) -> list[str]:
    """Without a cut behind `14.` or `Dr.`"""
    found: list[str] = []
    is_open = False
    for part in _SENTENCE_END.split(text):
        if not part.strip():
            continue
        if is_open:
            found[-1] += f" {part}"
        else:
            found.append(part)
        is_open = bool(_ORDINAL.search(part.rstrip()))
    return found


def _distinct(words: Iterable[Word]) -> list[Word]:
    return list(dict.fromkeys(words))
