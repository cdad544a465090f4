"""Recency: what was said lately is asked for more often. It halves in 30 days; evergreen things keep it all."""

import numpy as np
from numpy.typing import NDArray

HALF_LIFE_DAYS = 30.0
_DAY = 86_400_000
"""Milliseconds."""


def recency(at: NDArray[np.int64], now: int, evergreen: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """1 for now and for the future, 0.5 for 30 days ago … Times in milliseconds; no time counts as long ago."""
    days = np.maximum(now - at.astype(np.float64), 0.0) / _DAY
    fresh = np.exp2(-days / HALF_LIFE_DAYS)
    return fresh if evergreen is None else np.where(evergreen, 1.0, fresh)
