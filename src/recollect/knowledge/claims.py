"""What keeps a claim from coming back: keyed hashes of what it says and where it was read.

A claim that a person corrected, retracted or forgot must not be extracted from the same place again, in the same words
or in others. Who says it anew, in another message or in person, is heard. What an agent corrects counts in the scope of
the record alone: it may not decide what others learn.
"""

from collections.abc import Iterable

from recollect.knowledge.records import Evidence, Record, Statement
from recollect.lineage import Hasher, folded
from recollect.scopes import Principal

CLAIM = "claim"
IDENTITY = "record"


def id_hash(hasher: Hasher, record_id: str) -> str:
    return hasher.hash(IDENTITY, record_id)


def hashes_of(hasher: Hasher, claim: Record | Statement, scope: str = "") -> list[set[str]]:
    """For each place it was read at, the hashes of which any tells that it is this claim; in one scope or in all."""
    return [set(_hashes(hasher, claim, source, scope)) for source in claim.sources]


def barred_scope(principal: Principal, record: Record) -> str:
    """Where what this one corrects may not be read again; empty: everywhere."""
    return record.scope if principal.is_confined else ""


def _hashes(hasher: Hasher, claim: Record | Statement, source: Evidence, scope: str) -> Iterable[str]:
    place = (CLAIM, source.message_id, *([scope] if scope else []))
    yield hasher.hash(*place, "text", folded(claim.text))
    if claim.subject and claim.attribute:
        yield hasher.hash(*place, "about", folded(claim.subject), folded(claim.attribute))
    if source.quote:
        yield hasher.hash(*place, "quote", folded(source.quote))
