"""How often somebody may ask: a bucket each, that fills at a steady rate."""

import time
from collections import OrderedDict
from collections.abc import Callable


class Buckets:
    """One bucket for each key; those not used for longest are dropped when there are too many. For one thread."""

    def __init__(
        self,
        per_second: float,
        burst: float,
        *,
        most: int = 10_000,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._most = most
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one out. 0: there was one; else the seconds until there is."""
        level, now = self._level(key)
        wait = 0.0 if level >= 1 else (1 - level) / self._per_second
        self._levels[key] = (level - 1 if level >= 1 else level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return wait

    def _level(self, key: str) -> tuple[float, float]:
        now = self._now()
        level, at = self._levels.get(key, (self._burst, now))
        return min(self._burst, level + (now - at) * self._per_second), now
