"""The codes by which an address becomes a place: how one is made, read back and compared.

A code has 50 bits, is open for ten minutes and void after ten wrong tries, of which one address has five: who guesses
hits an open code with a chance of at most 10 in 2^50, which is 9 in 10^15.
"""

import hashlib
import hmac
import secrets
import unicodedata
from collections import Counter
from datetime import datetime, timedelta
from enum import StrEnum

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's: nothing in it looks like something else in it."""
CHARACTERS = 10
LIFETIME = timedelta(minutes=10)
"""Long enough to pick up the phone."""
MOST_TRIES = 10
"""At one code. Who uses them up costs the person a new one, no more."""
MOST_OF_ONE = 5
"""By one address, for somebody who mistypes: one stranger alone cannot void a code."""
MOST_COUNTED = 10_000
"""Addresses that are kept in mind."""
_LOOKS_ALIKE = str.maketrans("OIL", "011")
_MOST_READ = 100
"""Characters: no spelling of a code is longer."""
_SCRYPT = {"n": 2**14, "r": 8, "p": 1, "maxmem": 64 * 2**20, "dklen": 32}
"""Tens of milliseconds: who has a copy of the database does not find the code while it is open."""


class Pairing(StrEnum):
    PAIRED = "paired"
    WRONG = "wrong"
    NONE = "none"
    """No code is open."""


class Tries:
    """How often each address tried, in the time that a code is open. Kept in mind only."""

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._numbers: Counter[str] = Counter()

    def may(self, address: str, now: datetime) -> bool:
        """Whether it has one more; then that one is counted."""
        if self._since is None or not timedelta() <= now - self._since < LIFETIME or len(self._numbers) > MOST_COUNTED:
            self._since, self._numbers = now, Counter()
        self._numbers[address] += 1
        return self._numbers[address] <= MOST_OF_ONE


def new_text() -> str:
    """A code as people read it: `7KQ2M-X04VD`."""
    drawn = "".join(secrets.choice(ALPHABET) for _ in range(CHARACTERS))
    return f"{drawn[: CHARACTERS // 2]}-{drawn[CHARACTERS // 2 :]}"


def folded(text: str) -> str:
    """What somebody typed, as one spelling: without dashes and spaces, in capitals, with 0 for O, 1 for I and L."""
    kept = [
        character
        for character in unicodedata.normalize("NFKC", text[:_MOST_READ])
        if unicodedata.category(character) not in ("Pd", "Cf", "Cc", "Zs", "Zl", "Zp")
    ]
    return "".join(kept).upper().translate(_LOOKS_ALIKE)


def looks_like_code(text: str) -> bool:
    """Whether words that nobody called a code could be one: ten characters, with nothing or a dash in their middle."""
    words = text.strip()
    return len(words.split()) == 1 and len(given := folded(words)) == CHARACTERS and set(given) <= set(ALPHABET)


def new_salt() -> str:
    return secrets.token_hex(16)


def digest_of(text: str, salt: str) -> str:
    """Of any spelling of a code."""
    # A half character has no bytes of its own; it is no part of any code.
    given = folded(text).encode("utf-8", "replace")
    return hashlib.scrypt(given, salt=bytes.fromhex(salt), **_SCRYPT).hex()


def is_same(digest: str, other: str) -> bool:
    """In a time that does not tell how much of it is the same."""
    return hmac.compare_digest(digest, other)
