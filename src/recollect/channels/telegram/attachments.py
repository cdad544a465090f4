"""What comes along with a message, fetched: pictures as pictures, text as words, anything else as a file.

What it is, its bytes say: names and media types are told by who sent it. A file that cannot be had is told in words, so
that a message is never lost for it; what may be had later (the network) is raised, and the update is tried again.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from recollect.channels.telegram.errors import TooLarge
from recollect.channels.telegram.updates import Attachment
from recollect.errors import Invalid, NotFound
from recollect.mind.channel import File, Image
from recollect.mind.saying import MOST_IMAGE_BYTES, media_type_of

MOST_FILE_BYTES = 20 * 1024 * 1024
"""More a bot may not fetch."""
MOST_TEXT_BYTES = 1_000_000
"""More is no part of a message: it is kept as a file."""
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""In what is no text. Escapes are in logs of terminals, and stay."""
_FENCE = re.compile(r"`{3,}")


class Store(Protocol):
    """Where files are fetched from: the Bot API."""

    async def get_file(self, file_id: str) -> tuple[str, int]: ...

    async def download(self, path: str, most_bytes: int) -> bytes: ...


async def fetched(store: Store, attachments: Sequence[Attachment]) -> tuple[tuple[Image, ...], tuple[File, ...], str]:
    """Pictures, files, and words that belong to what is said. Raises `Unavailable` when it is to be tried again."""
    images: list[Image] = []
    files: list[File] = []
    words: list[str] = []
    for attachment in attachments:
        found = await _fetched_one(store, attachment)
        match found:
            case Image():
                images.append(found)
            case File():
                files.append(found)
            case _:
                words.append(found)
    return tuple(images), tuple(files), "\n\n".join(words)


async def _fetched_one(store: Store, attachment: Attachment) -> Image | File | str:
    if attachment.size > MOST_FILE_BYTES:
        return _too_large(attachment, attachment.size)
    try:
        path, size = await store.get_file(attachment.file_id)
        if size > MOST_FILE_BYTES:
            return _too_large(attachment, size)
        data = await store.download(path, MOST_FILE_BYTES)
    except TooLarge:  # A size is not always told, and Telegram judges by the one that it has.
        return _too_large(attachment, attachment.size)
    except NotFound:
        return f"[File {attachment.name}: Telegram does not have it any more; it was not kept.]"
    except Invalid as error:
        return f"[File {attachment.name}: it was not kept. {error}]"
    return _read(attachment, data)


def _read(attachment: Attachment, data: bytes) -> Image | File | str:
    media_type = media_type_of(data)
    if media_type and len(data) <= MOST_IMAGE_BYTES:
        return Image(media_type=media_type, data=data)
    if not data:
        return f"[File {attachment.name}: it is empty.]"
    text = _text_in(data)
    if text is None:
        return File(name=attachment.name, media_type=media_type or attachment.media_type, data=data)
    # Longer than any fence in it, so that the text ends where the file does.
    fence = "`" * max((len(found) + 1 for found in _FENCE.findall(text)), default=3)
    return f"[File {attachment.name}]\n{fence}\n{text.rstrip()}\n{fence}"


def _text_in(data: bytes) -> str | None:
    """None: it is no text, or too much of it."""
    if len(data) > MOST_TEXT_BYTES:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text.replace("\r\n", "\n")


def _too_large(attachment: Attachment, size: int) -> str:
    told = f", {size / 1e6:.1f} MB" if size else ""
    return f"[File {attachment.name}{told}: too large for a bot to fetch; it was not kept.]"
