"""Recipes: how much each part of a ranking counts. Named constants, the same for every house and every question.

All parts are brought to one scale first: a point is about one standard deviation of how close unrelated passages are
to a question. The figures are round, and were chosen where the result changed little around them
(`docs/benchmarks.md`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    keyword: float = 14.0
    """For a document that has all words of the question."""
    keyword_saturation: float = 0.8
    """BM25's k1: how soon the same word said again stops counting."""
    keyword_length: float = 0.75
    """BM25's b: how much a long document is discounted."""
    keyword_in_long: float = 0.6
    """A long document has many words by chance: of what its words count, this much stays when it is endless."""
    closeness: float = 2.0
    """For each point of closeness in meaning."""
    deep_share: float = 0.75
    """Of the closeness that the deep model tells where both models know a document; the static one tells the rest."""
    feedback: float = 1.0
    """Of the closeness of a long document: what the question together with its best hits tells, instead of the question
    alone. Other statements of the same kind are often worded like the first one, not like the question."""
    feedback_share: float = 0.4
    """Of the best hits in that."""
    chance: float = 0.7
    """Of the advantage that many passages give by chance: the best of n is compared with the best of n at random."""
    telling_words: float = 45.0
    """A document of so many words speaks half for itself and half through its neighbours."""
    lending: float = 0.5
    """What the next neighbours lend; those after them half of it."""
    conversation: float = 0.7
    """For each point of the best document of a conversation, to all in it."""
    conversation_keyword: float = 3.0
    """For a conversation in which the user, all in all, used all words of the question."""
    assistant: float = -1.0
    """What an assistant said: people look for what they said themselves, and assistants repeat it at length."""
    asking: float = -1.0
    """For what is nothing but a question."""
    period: float = 2.5
    """Said in the time that the question names."""
    recency: float = 0.3
    """Said just now; half of it 30 days later."""
    repetition: float = 4.0
    """Taken off what says the same as a better hit."""
    rerank: float = 0.25
    """For each point of log-odds that the reranking model gives."""


STANDARD = Recipe()
