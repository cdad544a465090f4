"""Messages that come in by the webhook: POST /v1/messages, signed, each heard once.

What a sender may do again at any time is to send a message again, with its id: the answer is the same as the first
time. Nobody but this computer can connect; who is elsewhere comes through a proxy, which also brings TLS.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterable, Sequence
from datetime import datetime, timedelta

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.channels.kinds import Door
from recollect.channels.webhook.signing import Secret, claimed_id, verified
from recollect.errors import Conflict, Denied, Invalid, RecollectError, Unavailable
from recollect.ids import derived_id
from recollect.mind.channel import Image, Paused, Said
from recollect.mind.places.places import PAIRED, Pairing, Tries, looks_like_code
from recollect.texts import clean

NAME = "webhook"
PATH = "/v1/messages"
MOST_BYTES = 8_000_000
"""Of a request: one large picture in base64, and some words."""
READING_SECONDS = 30.0
"""For all of a request to arrive. The proxy before us has it whole already."""
AGAIN_SECONDS = 30
"""After which a sender may come again, when we could not hear."""
MOST_CHARACTERS = 200
"""Of an address, and of a name."""
MOST_STRANGERS = 1_000
"""That are told of in a day."""
DAY = timedelta(days=1)
GREETING = "This is a place of mine from now on: what you write here, I hear."
WRONG = "That is not the code. Look at it once more, or let `recollect channels pair webhook` make a new one."
UNKNOWN = (
    "Nobody is known at this address: nothing was heard. `recollect channels pair webhook` prints a code that makes it "
    "known when it is sent from there."
)


class Picture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    media_type: str
    data: bytes
    """In JSON: base64."""


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    address: str
    """Who speaks, as the other service names him. His answers go there."""
    text: str = ""
    name: str = ""
    """What people call him; shown in the list of places."""
    images: list[Picture] = []


def read_message(raw: bytes) -> Message:
    """An unknown field is refused: it would be lost without a word."""
    try:
        message = msgspec.convert(json.loads(raw), Message)
    except msgspec.ValidationError as error:
        fields = ", ".join(Message.__struct_fields__)
        raise Invalid(f"The message is not as it should be: {error}. It has: {fields}.") from None
    except (ValueError, RecursionError):
        raise Invalid('The body is no JSON. Send an object such as {"address": "…", "text": "…"}.') from None
    for what, text in (("address", message.address), ("name", message.name)):
        if len(text) > MOST_CHARACTERS or not text.isprintable():
            raise Invalid(f"The {what} must have at most {MOST_CHARACTERS} characters, on one line.")
    if not message.address.strip():
        raise Invalid("The message has an empty address. Say who speaks: a number, a channel, a name.")
    images = [msgspec.structs.replace(image, media_type=clean(image.media_type)) for image in message.images]
    # Half an emoji is cut off by many a program.
    return msgspec.structs.replace(message, text=clean(message.text), images=images)


class Receiver:
    def __init__(self, door: Door, secrets: Sequence[Secret], reading_seconds: float = READING_SECONDS) -> None:
        self._door = door
        self._secrets = secrets
        self._reading_seconds = reading_seconds
        self._one = asyncio.Lock()
        self._tries = Tries()
        self._strangers: dict[str, datetime] = {}

    def app(self) -> Starlette:
        app = Starlette(
            routes=[Route(PATH, self._answer, methods=["POST"])], exception_handlers={HTTPException: _elsewhere}
        )
        app.router.redirect_slashes = False  # It would lead to whatever host the request names.
        return app

    async def _answer(self, request: Request) -> Response:
        try:
            raw, message_id = await self._authentic(request)
        except Denied as error:
            return _problem(401, str(error))
        except ClientDisconnect:
            return _problem(400, "The body ended too early.")
        except HTTPException as error:
            return _problem(error.status_code, error.detail, {"connection": "close"})
        try:
            async with self._one:  # In the order in which they came; and no two with one id at once.
                return await self._taken(message_id, read_message(raw))
        except RecollectError as error:
            again = {"retry-after": str(AGAIN_SECONDS)} if isinstance(error, Unavailable) else {}
            return _problem(error.http_status, str(error), again)
        except Exception as error:  # noqa: BLE001 - the HTTP boundary: one message that breaks stops no other
            self._door.record("channel", "failed", 0.0, {"channel": NAME, "error": type(error).__name__})
            return _problem(500, "Something is broken here. The message may be sent again, with the same id.")

    # Who sends

    async def _authentic(self, request: Request) -> tuple[bytes, str]:
        claimed_id(request.headers, self._door.clock())
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > MOST_BYTES:
            raise _too_large()
        try:
            async with asyncio.timeout(self._reading_seconds):
                raw = await _whole(request.stream())
        except TimeoutError:
            raise HTTPException(408, f"The body did not arrive within {self._reading_seconds:g} seconds.") from None
        return raw, verified(self._secrets, request.headers, raw, self._door.clock())

    # What is said

    async def _taken(self, message_id: str, message: Message) -> Response:
        places, name = self._door.places, f"id:{derived_id(message_id)}"
        kept = await asyncio.to_thread(places.position, NAME, name)
        own = [_fingerprint(secret, message) for secret in self._secrets]
        if -kept in own:
            return _paired()
        if kept and kept not in own:
            raise Conflict(
                "A message was heard under this webhook-id, and it was not this one, or was signed with a secret that "
                "is gone. Give each message an id of its own."
            )
        place = await asyncio.to_thread(places.find, NAME, message.address)
        if place is None or await asyncio.to_thread(places.is_code, NAME, message.text):
            if place is None:
                await self._pair(message)
            await asyncio.to_thread(places.move_position, NAME, name, -own[0])
            return _paired()
        if place.state != PAIRED:
            await asyncio.to_thread(places.unblock, NAME, message.address)
        try:
            number = await self._door.hear(_said(message, message_id))
        except Paused as error:  # No reason to come again: it stays out then, too.
            return _json(200, {"heard": False, "detail": str(error)})
        if not kept:
            await asyncio.to_thread(places.move_position, NAME, name, own[0])
        return _json(202, {"entry": number})

    async def _pair(self, message: Message) -> None:
        """Words that cannot be a code are no try: else five strangers who say hello would void it."""
        found = Pairing.NONE
        if looks_like_code(message.text) and self._tries.may(message.address, self._door.clock()):
            found = await asyncio.to_thread(self._door.places.pair, NAME, message.address, message.name, message.text)
        if found is Pairing.PAIRED:
            return
        self._tell_of(message.address)
        raise Denied(WRONG if found is Pairing.WRONG else UNKNOWN)

    def _tell_of(self, address: str) -> None:
        """Once a day for each. What he said is told nowhere."""
        now = self._door.clock()
        self._strangers = {one: at for one, at in self._strangers.items() if timedelta(0) <= now - at < DAY}
        if address not in self._strangers and len(self._strangers) < MOST_STRANGERS:
            self._strangers[address] = now
            self._door.record("channel", "stranger", 0.0, {"channel": NAME, "address": address})


def _fingerprint(secret: Secret, message: Message) -> int:
    """Of what was heard, so that another message under the same id is not taken for it. Made with the secret: when the
    message is forgotten, nobody can try out with it what it said."""
    digest = hmac.digest(secret.key, msgspec.json.encode(message), hashlib.sha256)
    return int.from_bytes(digest[:8], "big") >> 1 | 1


def _said(message: Message, message_id: str) -> Said:
    images = tuple(Image(media_type=one.media_type, data=one.data) for one in message.images)
    return Said(text=message.text, channel=NAME, address=message.address, images=images, key=message_id)


async def _whole(pieces: AsyncIterable[bytes]) -> bytes:
    raw = bytearray()
    async for piece in pieces:
        raw += piece
        if len(raw) > MOST_BYTES:
            raise _too_large()
    return bytes(raw)


def _too_large() -> HTTPException:
    return HTTPException(413, f"The message is larger than {MOST_BYTES / 1e6:.0f} MB. Make its pictures smaller.")


def _json(status: int, value: object) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _paired() -> Response:
    return _json(200, {"paired": True, "text": GREETING})


def _problem(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    body = msgspec.json.encode({"status": status, "detail": words})
    return Response(body, status, headers, "application/problem+json")


def _elsewhere(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem(error.status_code, f"There is nothing here but POST {PATH}.", dict(error.headers or {}))
