"""Where a statement stands among those about the same: one subject's attribute has one value at a time.

Statements may come in any order: what is learned late about an earlier time takes its place there, and what was
believed since then stays. No measure of likeness decides anything: the same words are the same, other words about the
same thing replace what was there, unless who says it knows better.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.knowledge import reasons
from recollect.knowledge.records import Record, Relation, Statement
from recollect.lineage import folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """What is to be done with a statement."""

    relation: Relation | None
    """None: nothing is known about this yet."""
    reason: str
    same: Record | None = None
    """The record that says it already, or that is refined. It may begin earlier now."""
    before: Record | None = None
    """What held until then: it ends where the new one begins."""
    after: Record | None = None
    """What holds later on: the new one ends where that begins."""
    resumed_at: str = ""
    """What held before was said again for this later time: from then on it holds again."""


def is_same(record: Record, statement: Statement) -> bool:
    """Whether both say the same: the same value where both have one, else the same words."""
    if record.value and statement.value:
        return folded(record.value) == folded(statement.value)
    return folded(record.text) == folded(statement.text)


def place(statement: Statement, true_from: str, known: Sequence[Record]) -> Placing:
    """`known`: what is known about the same, in the order in which it was true."""
    read = next((record for record in known if is_same(record, statement) and _was_read(record, statement)), None)
    if read:
        return Placing(relation=Relation.SAME, reason=reasons.KNOWN, same=read)
    before = next((record for record in reversed(known) if record.true_from <= true_from), None)
    after = next((record for record in known if record.true_from > true_from), None)
    if before and is_same(before, statement) and _reaches(before, true_from):
        return Placing(relation=Relation.SAME, reason=reasons.KNOWN, same=before)
    resumed_at = next((moment for moment in before.restated if moment > true_from), "") if before else ""
    if after and is_same(after, statement) and not resumed_at and not _ends_before(statement, after):
        return Placing(relation=Relation.SAME, reason=reasons.KNOWN_LATER, same=after, before=before)
    if before is None and after is None:
        return Placing(relation=None, reason=reasons.NEW_KEY)
    about = f"{statement.subject} / {statement.attribute}"
    if after is None and not resumed_at:
        return Placing(relation=Relation.REPLACES, reason=f"{reasons.LATER}{about}", before=before)
    reason = f"{reasons.EARLIER}{about}"
    return Placing(relation=Relation.REPLACES, reason=reason, before=before, after=after, resumed_at=resumed_at)


def _was_read(record: Record, statement: Statement) -> bool:
    """Whether it has all these sources: who reads them once more tells nothing new, least of all that it is so now."""
    sources = {source.message_id for source in statement.sources}
    return bool(sources) and sources <= {source.message_id for source in record.sources}


def _reaches(record: Record, moment: str) -> bool:
    return not record.true_until or record.true_until > moment


def _ends_before(statement: Statement, record: Record) -> bool:
    return bool(statement.true_until) and statement.true_until < record.true_from
