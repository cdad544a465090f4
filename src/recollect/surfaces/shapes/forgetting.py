"""What forgetting took, and its receipts."""

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from recollect.forgetting import Forgotten
    from recollect.lineage import Receipt


def forgotten_json(forgotten: "Forgotten") -> dict[str, Any]:
    return {**msgspec.to_builtins(forgotten), "verified": forgotten.is_verified}


def receipt_json(receipt: "Receipt") -> dict[str, Any]:
    """Without the fingerprints: they are for the verifier."""
    value: dict[str, Any] = msgspec.to_builtins(receipt)
    del value["probes"]
    return value
