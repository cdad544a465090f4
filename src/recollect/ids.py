"""Identifiers.

New things get a UUIDv7: unique, and sortable by the time they were made. Things derived from a source get
an id computed from what they are derived from, so that a rebuild names them the same.
"""

import hashlib
import os
import threading
import time

MOST_IN_A_MILLISECOND = 0xFFF


class _Latest:
    """The time of the latest id, and how many were made in that millisecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._milliseconds = 0
        self._number = 0

    def next(self) -> tuple[int, int]:
        with self._lock:
            now = time.time_ns() // 1_000_000
            if now > self._milliseconds or self._number == MOST_IN_A_MILLISECOND:
                self._milliseconds, self._number = max(now, self._milliseconds + (now <= self._milliseconds)), 0
            else:
                self._number += 1
            return self._milliseconds, self._number


_LATEST = _Latest()


def new_id() -> str:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, 12 that count inside one, then random bits.

    Of two that one process makes, the later one is greater, also within a millisecond and when the clock is put back.
    """
    milliseconds, number = _LATEST.next()
    random_bits = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | number << 64 | 0x2 << 62 | random_bits
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def derived_id(*parts: str) -> str:
    """The same parts always give the same id: 96 bits, 24 hexadecimal digits."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
