"""What the Bot API refuses, and in which words; and the faults that a test may ask of it. Values and pure rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.testing.loopback import BEFORE_ANYTHING, Response, as_json

MOST_TEXT_UNITS = 4096
"""Of UTF-16."""
MOST_ENTITIES = 100
"""What comes after is dropped without a word."""
MOST_FILE_BYTES = 20 * 1024 * 1024
ENTITY_KINDS = frozenset(
    [
        "mention",
        "hashtag",
        "cashtag",
        "bot_command",
        "url",
        "email",
        "phone_number",
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
        "text_mention",
        "custom_emoji",
    ]
)
ACTIONS = frozenset(
    [
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    ]
)
GATEWAY_PAGE = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>502 Bad Gateway</body>\r\n</html>\r\n"
TOO_MANY, UNAUTHORIZED = 429, 401


class Refusal(Exception):
    def __init__(self, status: int, description: str, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__(description)
        self.response = refused(status, description, parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with one request."""

    has_effect: bool = False
    """Whether what was asked is done all the same."""
    response: Response = field(default_factory=Response)


def slow_down(seconds: float = 1) -> Fault:
    words = f"Too Many Requests: retry after {seconds:g}"
    return Fault(response=refused(TOO_MANY, words, {"retry_after": seconds}))


def bad_gateway(*, has_effect: bool = False) -> Fault:
    page = Response(status=502, body=GATEWAY_PAGE, headers={"content-type": "text/html"})
    return Fault(has_effect=has_effect, response=page)


def line_drops(*, has_effect: bool = False) -> Fault:
    """Before a word of the answer, and before or after the effect."""
    return Fault(has_effect=has_effect, response=Response(hang_up_after=BEFORE_ANYTHING))


def refusal(status: int, description: str) -> Fault:
    return Fault(response=refused(status, description))


def refused(status: int, description: str, parameters: Mapping[str, Any] | None = None) -> Response:
    told: dict[str, Any] = {"ok": False, "error_code": status, "description": description}
    if parameters:
        told["parameters"] = dict(parameters)
    return as_json(told, status)


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def checked_text(text: object) -> str:
    """As it is shown: without the white space around it."""
    if not isinstance(text, str) or not text.strip():
        raise Refusal(400, "Bad Request: message text is empty")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Refusal(400, "Bad Request: strings must be encoded in UTF-8")
    if units(text.strip()) > MOST_TEXT_UNITS:
        raise Refusal(400, "Bad Request: message is too long")
    return text.strip()


def checked_entities(text: str, given: object) -> list[dict[str, Any]]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise Refusal(400, "Bad Request: can't parse entities: expected an Array of MessageEntity")
    found = [_checked_entity(text, one) for one in cast("Sequence[object]", given)]
    return found[:MOST_ENTITIES]


def _checked_entity(text: str, given: object) -> dict[str, Any]:
    entity = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    offset, length = entity.get("offset"), entity.get("length")
    if not isinstance(offset, int) or not isinstance(length, int):
        raise Refusal(400, 'Bad Request: can\'t parse MessageEntity: Can\'t find field "offset" or "length"')
    if entity.get("type") not in ENTITY_KINDS:
        raise Refusal(400, "Bad Request: can't parse MessageEntity: unsupported type specified")
    if offset < 0 or length <= 0 or offset + length > units(text):
        raise Refusal(400, "Bad Request: ENTITY_BOUNDS_INVALID")
    for edge, word in ((offset, "begins"), (offset + length, "ends")):
        if _splits_a_character(text, edge):
            raise Refusal(400, f"Bad Request: entity {word} in a middle of a UTF-16 symbol at byte offset {edge}")
    return entity


def _splits_a_character(text: str, unit: int) -> bool:
    raw = text.encode("utf-16-le")
    return 0 < unit * 2 < len(raw) and 0xDC <= raw[unit * 2 + 1] <= 0xDF
