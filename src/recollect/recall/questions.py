"""How much of a text asks rather than tells. A question does not answer a question."""

import re

_SENTENCE = re.compile(r"[^.!?\n。！？]+[.!?\n。！？]*")
_NAMED = re.compile(r"[^\s:]{1,30}: ")
"""Who said it, where several people share a conversation."""


def asking_share(text: str) -> float:
    """Share of the words that stand in sentences with a question mark, from 0 to 1."""
    named = _NAMED.match(text)
    told = asked = 0
    for sentence in _SENTENCE.findall(text, named.end() if named else 0):
        words = len(sentence.split())
        if sentence.rstrip().endswith(("?", "？")):
            asked += words
        else:
            told += words
    return asked / (told + asked) if asked else 0.0
