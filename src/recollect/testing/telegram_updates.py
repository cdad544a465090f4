"""What Telegram tells a bot of what people write: updates and messages as the Bot API has them."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME_OF_BOT = "recollect_test_bot"
FIRST_DATE = 1_772_452_800
"""NOON of `recollect.testing`; each message is a second later than the one before."""
FIRST_UPDATE = 700_000_001
COMMAND = re.compile(r"/[a-z0-9_]{1,32}(@\w+)?", re.IGNORECASE)
PHOTO_SIDES = (90, 320, 1280)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    file_id: str
    path: str
    data: bytes
    size: int
    """More than there is data for: nobody writes 50 MB in a test of what is refused anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What somebody attaches."""

    data: bytes = b""
    name: str = "file.bin"
    media_type: str = "application/octet-stream"
    size: int = 0
    """0: that of the data."""


class Writing:
    """Makes messages and their updates, each with the next number."""

    def __init__(self) -> None:
        self.files: dict[str, StoredFile] = {}
        self.messages: dict[tuple[int, int], dict[str, Any]] = {}
        """By chat and number."""
        self._numbers: dict[int, int] = {}
        self._dates = itertools.count(FIRST_DATE)
        self._files = itertools.count(1)
        self._next_update = FIRST_UPDATE

    # Messages

    def message(self, chat: Mapping[str, Any], sender: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
        """`fields`: as the API names them."""
        number = self._numbers[chat["id"]] = self._numbers.get(chat["id"], 0) + 1
        message = {"message_id": number, "from": dict(sender), "chat": dict(chat), "date": next(self._dates), **fields}
        self.messages[chat["id"], number] = message
        return message

    def edited(self, chat_id: int, message_id: int, text: str) -> dict[str, Any]:
        message = {**self.messages[chat_id, message_id], "edit_date": next(self._dates)}
        message.update(with_commands("caption" if "caption" in message else "text", text))
        self.messages[chat_id, message_id] = message
        return message

    def photo(self, data: bytes, size: int = 0) -> list[dict[str, Any]]:
        """In three sizes, the smallest first."""
        sizes: list[dict[str, Any]] = []
        for side in PHOTO_SIDES:
            file = self._file(data, f"photos/file_{side}.jpg", size)
            sizes.append({**_named(file), "width": side, "height": side})
        return sizes

    def document(self, given: Document) -> dict[str, Any]:
        file = self._file(given.data, f"documents/{given.name}", given.size)
        return {"file_name": given.name, "mime_type": given.media_type, **_named(file)}

    def _file(self, data: bytes, path: str, size: int) -> StoredFile:
        number = next(self._files)
        folder, _, name = path.rpartition("/")
        file = StoredFile(
            file_id=f"AgACAgIAAxkBAAI{number:06}", path=f"{folder}/{number}_{name}", data=data, size=size or len(data)
        )
        self.files[file.file_id] = file
        return file

    # Updates

    def update(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        number, self._next_update = self._next_update, self._next_update + 1
        return {"update_id": number, kind: dict(content)}

    def skip(self, updates: int) -> None:
        self._next_update += updates

    def begin_anew(self, number: int) -> None:
        """After a week without one, Telegram goes on with any number."""
        self._next_update = number


def person(user_id: int, name: str) -> dict[str, Any]:
    return {"id": user_id, "is_bot": False, "first_name": name, "language_code": "en"}


def with_commands(field: str, text: str) -> dict[str, Any]:
    """The text and what the service finds in it: a command at its beginning."""
    found = COMMAND.match(text)
    if not found:
        return {field: text}
    entities = [{"type": "bot_command", "offset": 0, "length": found.end()}]
    return {field: text, "entities" if field == "text" else "caption_entities": entities}


def _named(file: StoredFile) -> dict[str, Any]:
    return {"file_id": file.file_id, "file_unique_id": f"u{file.file_id[-6:]}", "file_size": file.size}
