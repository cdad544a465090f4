"""Knowledge: what was learned, as records that can be traced, corrected and forgotten.

A record has an identity, versions, a scope and the places it was read at. The stream tells every change: who, when,
why, from which messages. Both are canonical, and the records can be made again from the stream. Two times are kept:
when something was believed, and when it was true. Who may write: `Knowledge`, always as a new version and an event in
one transaction; only forgetting takes anything out.
"""

from recollect.knowledge.knowledge import Knowledge, KnowledgeFigures
from recollect.knowledge.records import (
    Category,
    Chain,
    Event,
    Evidence,
    Kind,
    Learned,
    Origin,
    Record,
    Relation,
    State,
    Statement,
)

__all__ = [
    "Category",
    "Chain",
    "Event",
    "Evidence",
    "Kind",
    "Knowledge",
    "KnowledgeFigures",
    "Learned",
    "Origin",
    "Record",
    "Relation",
    "State",
    "Statement",
]
