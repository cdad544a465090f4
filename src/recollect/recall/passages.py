"""Cutting a text into passages: pieces of at most a few sentences that each get a vector of their own.

A vector of a whole page says a little of everything; a vector of a paragraph says one thing. Cuts fall between
paragraphs and sentences where there are any. Pure: the same text always gives the same passages.
"""

import re

PASSAGES_VERSION = 1
"""Changes whenever the same text would be cut otherwise: vectors of other passages are made anew."""
PASSAGE_CHARACTERS = 800
"""About 180 tokens: well inside what the models read, and as long as one thought in chat."""
MOST_PASSAGES = 24
"""Of one document. What is longer is a pasted file: its beginning and its end have vectors, its middle only words."""

_SENTENCE_END = re.compile(r"(?<=[.!?\n])\s+|(?<=[。！？])\s*")


def passages(text: str) -> list[str]:
    """At least one for any text that is not empty."""
    text = text.strip()
    if not text:
        return []
    if len(text) <= PASSAGE_CHARACTERS * 5 // 4:
        return [text]
    found: list[str] = []
    current = ""
    for sentence in _pieces(text):
        if current and len(current) + len(sentence) >= PASSAGE_CHARACTERS:
            found.append(current)
            current = sentence
        else:
            current = f"{current} {sentence}" if current else sentence
    if current:
        found.append(current)
    half = MOST_PASSAGES // 2
    return found if len(found) <= MOST_PASSAGES else found[:half] + found[-half:]


def _pieces(text: str) -> list[str]:
    """Sentences; one that is too long is cut at a space."""
    pieces: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        while len(sentence) > PASSAGE_CHARACTERS:
            cut = sentence.rfind(" ", PASSAGE_CHARACTERS // 2, PASSAGE_CHARACTERS)
            cut = cut if cut > 0 else PASSAGE_CHARACTERS
            pieces.append(sentence[:cut])
            sentence = sentence[cut:].strip()
        if sentence:
            pieces.append(sentence)
    return pieces
