"""What keeps a claim from coming back: keyed hashes of what it says and where it was read.

A claim that a person corrected, retracted or forgot must not be extracted from the same place again, in the same words
or in others. Who says it anew, in another message or in person, is heard.
"""

from collections.abc import Iterable

from recollect.knowledge.records import Evidence, Record, Statement
from recollect.lineage import Hasher, folded

CLAIM = "claim"
IDENTITY = "record"


def id_hash(hasher: Hasher, record_id: str) -> str:
    return hasher.hash(IDENTITY, record_id)


def hashes_of(hasher: Hasher, claim: Record | Statement) -> list[set[str]]:
    """For each place it was read at, the hashes of which any tells that it is this claim."""
    return [set(_hashes(hasher, claim, source)) for source in claim.sources]


def _hashes(hasher: Hasher, claim: Record | Statement, source: Evidence) -> Iterable[str]:
    yield hasher.hash(CLAIM, source.message_id, "text", folded(claim.text))
    if claim.subject and claim.attribute:
        yield hasher.hash(CLAIM, source.message_id, "about", folded(claim.subject), folded(claim.attribute))
    if source.quote:
        yield hasher.hash(CLAIM, source.message_id, "quote", folded(source.quote))
