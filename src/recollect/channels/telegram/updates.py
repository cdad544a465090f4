"""What an update of the Bot API says, as far as it concerns us.

Pure: JSON in, a value out. Nothing in an update is believed to be there or to be of its type, for new kinds come
with each version of the API: what is not understood is `Ignored` with its name, and never an error. Only private chats
count: in a group others would be heard, and answered.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, cast

from recollect.channels.cleaning import on_one_line
from recollect.clock import to_text
from recollect.mind.saying import MOST_IMAGE_BYTES
from recollect.texts import clean

MESSAGES = ("message", "edited_message")
MOST_QUOTED_CHARACTERS = 200
"""Of what a message replies to: enough to find it again in the conversation."""
MOST_NAME_CHARACTERS = 80
_MOST_ID = 2**63 - 1
_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@\w+)?(?:\s+(.*))?", re.DOTALL)
_FILES = {
    "animation": ("animation.mp4", "video/mp4"),  # Before `document`: an animation says both, of one file.
    "document": ("file", "application/octet-stream"),
    "audio": ("audio.mp3", "audio/mpeg"),
    "voice": ("voice.ogg", "audio/ogg"),
    "video": ("video.mp4", "video/mp4"),
    "video_note": ("video.mp4", "video/mp4"),
}
"""What a file is called when the message does not say it."""
_ALWAYS_THERE = frozenset({"message_id", "from", "chat", "date", "edit_date", "message_thread_id", "via_bot"})

Json: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    file_id: str
    name: str
    media_type: str
    size: int
    """In bytes; 0: not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message of a private chat."""

    update_id: int
    chat_id: str
    name: str
    """Of who wrote it, as they call themselves."""
    message_id: int
    text: str
    key: str
    """The same for each delivery of one message, another for each edit of it."""
    at: str = ""
    """When it was sent, or edited."""
    is_edit: bool = False
    replied_to: str = ""
    """The words it replies to, shortened to one line. Empty: it is no reply."""
    attachments: tuple[Attachment, ...] = ()
    command: tuple[str, str] | None = None
    """`/name@bot the rest`, as (name, rest). None for what was forwarded: somebody else wrote that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    update_id: int
    """0: it has none."""
    kind: str
    """The name of what we do nothing with, in Telegram's words."""


def understood(update: object) -> Incoming | Ignored:
    outer = _object(update)
    update_id = _whole(outer.get("update_id")) or 0
    kinds = [*(name for name in MESSAGES if name in outer), *(name for name in outer if name != "update_id")]
    kind = kinds[0] if kinds else "nothing"
    message = _object(outer.get(kind))
    chat = _object(message.get("chat"))
    chat_id = _chat_id(chat)
    message_id = _whole(message.get("message_id"))
    if kind not in MESSAGES or not chat_id:
        of = "" if chat_id or not chat else f" of a {_text(chat.get('type')) or 'chat'}"
        return Ignored(update_id=update_id, kind=on_one_line(kind + of, MOST_NAME_CHARACTERS))
    attachments = _attachments(message)
    text = _said(message)
    if message_id is None or not (text.strip() or attachments):
        content = next((name for name in message if name not in _ALWAYS_THERE), "nothing")
        return Ignored(update_id=update_id, kind=on_one_line(content, MOST_NAME_CHARACTERS))
    is_edit = kind == "edited_message"
    key = f"{chat_id}:{message_id}"
    return Incoming(
        update_id=update_id,
        chat_id=chat_id,
        name=_name(_object(message.get("from"))) or _name(chat),
        message_id=message_id,
        text=text,
        key=f"{key}:{_whole(message.get('edit_date')) or 0}" if is_edit else key,
        at=_moment(message.get("edit_date") if is_edit else message.get("date")),
        is_edit=is_edit,
        replied_to=_replied_to(message),
        attachments=attachments,
        command=_command(message),
    )


def _moment(seconds: object) -> str:
    """Since 1970, as Telegram tells times."""
    try:
        return to_text(datetime.fromtimestamp(_whole(seconds) or 0, UTC)) if _whole(seconds) else ""
    except (OverflowError, ValueError, OSError):
        return ""


def _chat_id(chat: Json) -> str:
    number = _whole(chat.get("id"))
    return str(number) if number is not None and chat.get("type") == "private" else ""


def _name(person: Json) -> str:
    full = " ".join(filter(None, (_text(person.get("first_name")), _text(person.get("last_name")))))
    return on_one_line(full or _text(person.get("username")), MOST_NAME_CHARACTERS)


def _command(message: Json) -> tuple[str, str] | None:
    found = _COMMAND.fullmatch(_text(message.get("text")).strip())
    if not found or _is_forwarded(message):
        return None
    return found[1].lower(), (found[2] or "").strip()


# What is said


def _said(message: Json) -> str:
    """Its words, and in words what has none."""
    words = "\n\n".join(filter(None, (_written(message), _told(message))))
    if not _is_forwarded(message):
        return words
    origin = _object(message.get("forward_origin"))
    who = (
        _name(_object(origin.get("sender_user")))
        or _text(origin.get("sender_user_name"))
        or _text(_object(origin.get("chat")).get("title"))
        or _text(_object(origin.get("sender_chat")).get("title"))
        or "somebody"
    )
    return f"[Forwarded from {on_one_line(who, MOST_NAME_CHARACTERS)}]\n{words}"


def _is_forwarded(message: Json) -> bool:
    return bool(_object(message.get("forward_origin")))


def _written(message: Json) -> str:
    text, entities = ("text", "entities") if _text(message.get("text")) else ("caption", "caption_entities")
    return _with_addresses(_text(message.get(text)), _list(message.get(entities)))


def _with_addresses(text: str, entities: Sequence[object]) -> str:
    """The address of a link is hidden behind its words: it is written after them."""
    units = text.encode("utf-16-le")
    links: list[tuple[int, str]] = []
    for entity in map(_object, entities):
        start, length, url = _whole(entity.get("offset")), _whole(entity.get("length")), _text(entity.get("url"))
        if entity.get("type") != "text_link" or not url or start is None or length is None:
            continue
        end = 2 * (start + length)
        if 0 <= 2 * start < end <= len(units) and units[2 * start : end].decode("utf-16-le", "replace") != url:
            links.append((end, url))
    for end, url in sorted(links, reverse=True):
        units = units[:end] + f" ({url})".encode("utf-16-le") + units[end:]
    return clean(units.decode("utf-16-le", "replace"))


def _told(message: Json) -> str:
    sticker, contact, poll = (_object(message.get(name)) for name in ("sticker", "contact", "poll"))
    place, dice = _object(message.get("location")), _object(message.get("dice"))
    if sticker:
        emoji = _line(_text(sticker.get("emoji")))
        return f"[Sticker: {emoji}]" if emoji else "[Sticker]"
    if contact:
        return f"[Contact: {_line(_name(contact), _text(contact.get('phone_number')))}]"
    if poll:
        options = [_text(_object(option).get("text")) for option in _list(poll.get("options"))]
        return f"[Poll: {_line(_text(poll.get('question')))} / {_line(*options)}]"
    if dice:
        return f"[Dice: {_line(_text(dice.get('emoji')))} {_whole(dice.get('value')) or 0}]"
    latitude, longitude = _degrees(place.get("latitude")), _degrees(place.get("longitude"))
    if latitude is None or longitude is None:
        return ""
    venue = _object(message.get("venue"))
    where = _line(_text(venue.get("title")), _text(venue.get("address")))
    return f"[Location: {where + ', ' if where else ''}{latitude:.5f}, {longitude:.5f}]"


def _line(*words: str) -> str:
    return on_one_line(", ".join(filter(None, words)), MOST_QUOTED_CHARACTERS)


def _replied_to(message: Json) -> str:
    """What the person marked in it; else its words; else what it was."""
    replied = _object(message.get("reply_to_message"))
    marked = _text(_object(message.get("quote")).get("text"))
    words = on_one_line(marked or _text(replied.get("text")) or _text(replied.get("caption")), MOST_QUOTED_CHARACTERS)
    if words or not replied:
        return words
    attachments = _attachments(replied)
    return attachments[0].name if attachments else _told(replied)


# What comes along


def _attachments(message: Json) -> tuple[Attachment, ...]:
    photo = _photo(_list(message.get("photo")))
    if photo:
        return (photo,)
    for kind, (name, media_type) in _FILES.items():
        given = _object(message.get(kind))
        file_id = _text(given.get("file_id"))
        if file_id:
            media_type = on_one_line(_text(given.get("mime_type")), MOST_NAME_CHARACTERS) or media_type
            return (
                Attachment(
                    file_id=file_id,
                    name=on_one_line(_text(given.get("file_name"))) or name,
                    media_type=media_type,
                    size=max(_whole(given.get("file_size")) or 0, 0),
                ),
            )
    return ()


def _photo(sizes: Sequence[object]) -> Attachment | None:
    """Telegram gives one photo in several sizes: the largest that a model takes."""
    found: list[tuple[int, int, str]] = []
    for size in map(_object, sizes):
        file_id, pixels = (
            _text(size.get("file_id")),
            (_whole(size.get("width")) or 0) * (_whole(size.get("height")) or 0),
        )
        if file_id:
            found.append((pixels, max(_whole(size.get("file_size")) or 0, 0), file_id))
    if not found:
        return None
    fitting = [one for one in found if one[1] <= MOST_IMAGE_BYTES] or [min(found)]
    _, size, file_id = max(fitting)
    return Attachment(file_id=file_id, name="photo.jpg", media_type="image/jpeg", size=size)


# Values of which nothing is known


def _object(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return cast(Sequence[object], value) if isinstance(value, list) else ()


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_MOST_ID <= value <= _MOST_ID else None


def _degrees(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= 360 and math.isfinite(value) else None
