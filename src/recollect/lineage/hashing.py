"""Keyed hashes: equal things give equal hashes, and without the house's secret nobody can tell of what."""

import hashlib
import hmac
import unicodedata

HASH_BYTES = 16


def folded(text: str) -> str:
    """Text as it is compared: case, width, and white space do not count, and neither does a full stop at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!")


class Hasher:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def hash(self, kind: str, *parts: str | bytes) -> str:
        """32 hexadecimal digits. The kind is part of it: an id and a text that read alike differ."""
        made = hmac.new(self._secret, digestmod=hashlib.sha256)
        for part in (kind, *parts):
            raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            made.update(len(raw).to_bytes(8, "little"))
            made.update(raw)
        return made.digest()[:HASH_BYTES].hex()

    def bytes_for(self, purpose: str, number: int) -> bytes:
        """So many secret bytes for one purpose, always the same."""
        return hashlib.shake_256(self._secret + purpose.encode()).digest(number)
