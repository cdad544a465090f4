"""Sets of words, written as people write them: with spaces between."""


def wordset(words: str) -> frozenset[str]:
    return frozenset(words.split())
