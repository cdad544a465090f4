"""Lineage: what came from what, and what was forgotten.

Edges lead from an origin to what was derived from it (message → record → …). They answer "where is this from?" and
decide what goes when an origin is forgotten. Tombstones are keyed hashes of what may not come back; receipts tell that
something was forgotten without telling what. Nothing in these tables can be read back into what it stands for.

Who may write: the store that makes a derived thing, in its own transaction; tombstones and receipts are written by who
forgets or corrects. This package knows kinds of things by their names only.
"""

from recollect.lineage.hashing import Hasher, folded
from recollect.lineage.store import (
    CONVERSATION,
    FILE,
    MESSAGE,
    RECORD,
    SUBJECT,
    Edge,
    EdgeStore,
    Export,
    ForgottenMeanwhile,
    Receipt,
    ReceiptState,
    ReceiptStore,
    TombstoneStore,
    hasher,
)

__all__ = [
    "CONVERSATION",
    "FILE",
    "MESSAGE",
    "RECORD",
    "SUBJECT",
    "Edge",
    "EdgeStore",
    "Export",
    "ForgottenMeanwhile",
    "Hasher",
    "Receipt",
    "ReceiptState",
    "ReceiptStore",
    "TombstoneStore",
    "folded",
    "hasher",
]
