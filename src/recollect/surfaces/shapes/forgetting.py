"""What forgetting took, and its receipts."""

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from recollect.forgetting import Forgotten
    from recollect.lineage import Receipt


def forgotten_json(forgotten: "Forgotten") -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(forgotten)
    del told["digest"]  # For who forgets by it, inside the program.
    return {**told, "verified": forgotten.is_verified}


def receipt_json(receipt: "Receipt") -> dict[str, Any]:
    """Without the fingerprints: they are for the verifier."""
    value: dict[str, Any] = msgspec.to_builtins(receipt)
    del value["probes"]
    return value
