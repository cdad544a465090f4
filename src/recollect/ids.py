"""Identifiers.

New things get a UUIDv7: unique, and sortable by the time they were made. Things derived from a source get
an id computed from what they are derived from, so that a rebuild names them the same.
"""

import hashlib
import os
import time


def new_id() -> str:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random_bits = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (1 << 48) - 1) << 80 | random_bits
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def derived_id(*parts: str) -> str:
    """The same parts always give the same id: 96 bits, 24 hexadecimal digits."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
