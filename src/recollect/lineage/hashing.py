"""Keyed hashes: equal things give equal hashes, and without the house's secret nobody can tell of what."""

import hashlib
import hmac
import unicodedata

HASH_BYTES = 16


def folded(text: str) -> str:
    """Text as it is compared: case, width, and white space do not count, and neither does a full stop at the end."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.rstrip(".!") or plain


class Hasher:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def hash(self, kind: str, *parts: str | bytes) -> str:
        """32 hexadecimal digits. The kind is part of it: an id and a text that read alike differ."""
        hashed = b""
        for part in (kind, *parts):
            raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            hashed += len(raw).to_bytes(8, "little") + raw
        return hmac.digest(self._secret, hashed, "sha256")[:HASH_BYTES].hex()

    def bytes_for(self, purpose: str, number: int) -> bytes:
        """So many secret bytes for one purpose, always the same."""
        return hashlib.shake_256(self._secret + purpose.encode()).digest(number)
