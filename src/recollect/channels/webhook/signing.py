"""Signatures of messages in both directions, as Standard Webhooks has them, so that a library for any language will do.

Signed is `ID.TIMESTAMP.BODY`, with HMAC-SHA256. The time keeps a message that somebody copied from being sent much
later, the id from being heard twice. A secret is in no message of ours, and in no value that could be printed.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.errors import Denied, Invalid

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
VERSION = "v1"
ENCODED = "whsec_"
"""Before a secret that is written in base64. Any other is taken as it stands."""
LEAST_CHARACTERS = 16
"""Of a secret: what is shorter can be guessed by who has one signed message."""
MOST_SECONDS = 5 * 60
"""That a message may be old, or from the future: clocks differ."""
MOST_SIGNATURES = 16
_ID = re.compile(r"[!-~]{1,200}")
_TIMESTAMP = re.compile(r"\d{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Secret:
    key: bytes = field(repr=False)


def secrets_in(text: str, variable: str) -> tuple[Secret, ...]:
    """What the variable holds: one secret, or several between spaces while one takes the place of another. The first is
    the newest."""
    if not text.split():
        raise Invalid(
            f"The webhook has no secret. Put one into the environment variable {variable}, such as what "
            "`openssl rand -base64 32` prints, and give the same to the other side."
        )
    return tuple(_secret(one, variable) for one in text.split())


def _secret(text: str, variable: str) -> Secret:
    key = text.encode()
    if text.startswith(ENCODED):
        try:
            key = base64.b64decode(text.removeprefix(ENCODED), validate=True)
        except (binascii.Error, ValueError):
            raise Invalid(
                f"A secret in {variable} begins with {ENCODED}, but what follows is no base64. Copy it once more."
            ) from None
    if len(key) < LEAST_CHARACTERS:
        raise Invalid(
            f"A secret in {variable} is too short: it could be guessed. Take at least {LEAST_CHARACTERS} characters, "
            "such as what `openssl rand -base64 32` prints."
        )
    return Secret(key)


def sign(secret: Secret, message_id: str, timestamp: int, body: bytes) -> str:
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    return f"{VERSION},{base64.b64encode(hmac.digest(secret.key, signed, hashlib.sha256)).decode()}"


def signed_headers(secrets: Sequence[Secret], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """With a signature of each secret: who knows one of them can check it."""
    timestamp = int(now.timestamp())
    signatures = " ".join(sign(secret, message_id, timestamp, body) for secret in secrets)
    return {ID: message_id, TIMESTAMP: str(timestamp), SIGNATURE: signatures}


def claimed_id(headers: Mapping[str, str], now: datetime) -> str:
    """The id that a message says it has. What can be seen without its body is checked: nobody need send a large one to
    learn that his clock is wrong."""
    for name in (ID, TIMESTAMP, SIGNATURE):
        if not headers.get(name):
            raise Denied(f"The message has no header {name}: it must be signed. docs/channels/webhook.md shows how.")
    if not _ID.fullmatch(headers[ID]):
        raise Denied(f"{ID} must be 1 to 200 letters, digits or signs of ASCII, without spaces.")
    if not _TIMESTAMP.fullmatch(headers[TIMESTAMP]):
        raise Denied(f"{TIMESTAMP} must be whole seconds since 1970.")
    late_seconds = now.timestamp() - int(headers[TIMESTAMP])
    if late_seconds > MOST_SECONDS:
        raise Denied(
            f"The message was signed {late_seconds:,.0f} seconds ago, and may be {MOST_SECONDS} seconds old. Sign it "
            "anew with the same id; if that was just now, set the clocks."
        )
    if late_seconds < -MOST_SECONDS:
        raise Denied(f"The message was signed {-late_seconds:,.0f} seconds from now. Set the clocks.")
    return headers[ID]


def verified(secrets: Sequence[Secret], headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """Its id, if a signature is right. Several may stand in the header, also of versions that we do not know."""
    message_id = claimed_id(headers, now)
    right = [sign(secret, message_id, int(headers[TIMESTAMP]), body).encode() for secret in secrets]
    given = [one.encode() for one in headers[SIGNATURE].split()[:MOST_SIGNATURES]]
    if not any([hmac.compare_digest(one, other) for one in given for other in right]):  # noqa: C419  all are compared
        raise Denied("The signature is not right: another secret, or the message was changed after it was signed.")
    return message_id
