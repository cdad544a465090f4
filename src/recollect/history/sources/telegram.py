"""Telegram Desktop's export as JSON, `result.json`: one chat, or every chat of an account.

An export may cover only a stretch of time, so what is known and not in it stays. A chat may be larger than memory:
its messages come one by one. Who exported is told by an account's export, by saved messages, and in a chat between
two by the id of the chat, which is the other's; in the export of one group nobody can tell, and then nobody's words
are taken for the owner's: they are given with the name of who said them. Facts: `docs/sources/telegram.md`.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, BinaryIO, cast

from recollect.clock import parse_time
from recollect.history.messages import Author, Block, Entry, Standing
from recollect.history.reading import Unreadable
from recollect.history.sources.documents import BrokenDocument, Path, line_of, walk
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    image_block,
    read_object,
    short,
    text_block,
    title_of,
)
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Growth, Head, Opened, Source, Transcript
from recollect.ids import derived_id

NAME = "telegram"

_LISTS = ("chats", "left_chats")
_WITH_ONE = ("personal_chat", "bot_chat")
_OF_USERS = (*_WITH_ONE, "saved_messages", "replies", "verification_codes")
_TELEGRAM_ITSELF = "user777000"
"""The account from which Telegram sends login codes and notices."""
_OLD_SHIFT = 1 << 32
"""Until 2021 exports gave chats as 2^32 or 2 * 2^32 plus their id, and people as bare numbers."""
_LOOK_AHEAD = 200
"""So many messages may be held back to see who talks in a chat between two."""
_FIRST, _LAST = -(1 << 62), 1 << 62

_CHAT_TYPE = re.compile(
    rb'"type"\s*:\s*"(?:saved_messages|replies|verification_codes|personal_chat|bot_chat|private_group|'
    rb'(?:private|public)_(?:supergroup|channel))"'
)
_MESSAGE_FIELD = re.compile(rb'"(?:date_unixtime|from_id|text_entities)"\s*:')
_ACCOUNT_FIELDS = frozenset(("personal_information", "frequent_contacts", "contacts", "profile_pictures", *_LISTS))
_HTML = re.compile(r"(?:^|/)(?:ChatExport_[^/]*|chat_\d+)/messages\d*\.html\Z")
_PLACE = re.compile(rb'\{"id": ?(-?\d{1,18})[,}]')
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)\Z")
_COMMAND = re.compile(r"/\w+(?:@\w+)?")

_STANDINGS = {
    "owner": (Author.USER, Standing.SAID, ""),
    "bot": (Author.ASSISTANT, Standing.SAID, ""),
    "other": (Author.USER, Standing.SAID, "other_person"),
    "person": (Author.USER, Standing.SAID, "person"),
    "channel": (Author.MACHINE, Standing.ASIDE, "channel_post"),
    "notice": (Author.MACHINE, Standing.ASIDE, "notification"),
}
"""What is said by whom. `person`: the owner or somebody else, the export does not tell."""


class Telegram(Source):
    name = NAME
    title = "Telegram export"
    growth = Growth.EXPORTED
    holds_many = True

    def places(self, computer: Computer) -> list[str]:
        return [computer.below_home("Downloads", "Telegram Desktop")]

    def is_candidate(self, path: str) -> bool:
        return path.endswith("result.json") and path.replace("\\", "/").rpartition("/")[2] == "result.json"

    def leaves_out(self, path: str) -> str:
        if not path.endswith(".html") or not _HTML.search(path.replace("\\", "/")):
            return ""
        return (
            "an export of Telegram as HTML is made for looking at, and is not read: "
            "export again with the format “Machine-readable JSON”"
        )

    def recognises(self, head: Head) -> bool:
        if head.is_array or head.tables:
            return False
        if "about" in head.keys and _ACCOUNT_FIELDS & head.keys:
            return True
        is_chat = "messages" in head.keys or any(name in head.keys for name in _LISTS)
        return is_chat and bool(_CHAT_TYPE.search(head.start) or _MESSAGE_FIELD.search(head.start))

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript] | None:
        return _transcripts(opened, facts)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        if "chat" in record:
            chat = as_dict(record["chat"])
            return Entry(kind="chat", title=title_of(chat.get("name")), session_id=facts.session_id)
        if not isinstance(record.get("message"), dict):
            raise BadRecord("no message of Telegram: expected a chat or a message")
        message = as_dict(record["message"])
        kind = short(message.get("type"), 80) or "(no type)"
        entry = Entry(kind=kind, at=_moment(message), session_id=facts.session_id)
        if kind == "message":
            _read_message(entry, message, record.get("by"))
        if entry.blocks:
            named = (short(message.get("id")), _peer(message.get("from_id")))
            entry.key_by_place = not named[0]
            entry.key = derived_id(NAME, facts.session_id or facts.key, *named)
            entry.replaces = True
        return entry


def _read_message(entry: Entry, message: dict[str, Any], by: Any) -> None:
    standing = _STANDINGS.get(by) if isinstance(by, str) else None
    entry.author, entry.standing, entry.message_kind = standing or _STANDINGS["person"]
    words = "\n\n".join(part for part in _parts(message) if part)
    media = _media(message)
    if "forwarded_from" in message and (words or media):
        source = short(message["forwarded_from"])
        words = f"(forwarded{f' from {source}' if source else ''}) {words}".rstrip()
        if entry.author is not Author.MACHINE:
            entry.message_kind = "forwarded"
    elif by == "owner" and _COMMAND.match(words):
        entry.message_kind = "command"
        entry.standing = Standing.ASIDE if _COMMAND.fullmatch(words.strip()) else Standing.SAID
    if message.get("via_bot"):
        entry.author, entry.standing, entry.message_kind = Author.MACHINE, Standing.ASIDE, "via_bot"
    if words and by not in ("owner", "bot"):
        words = f"{_speaker(message)}: {words}"
    entry.text = words
    entry.blocks = [text_block(words), *media] if words else media
    entry.counted_blocks = tuple(f"{entry.author}:{block['type']}" for block in entry.blocks)


def _speaker(message: dict[str, Any]) -> str:
    """People who deleted their account have no name."""
    return short(message.get("from")).strip() or ("Deleted account" if message.get("from_id") else "Somebody")


def _parts(message: dict[str, Any]) -> Iterator[str]:
    """The words of a message, and what of its other content can be said in words."""
    yield _plain(message.get("text")) or _plain(message.get("text_entities"))
    yield short(message.get("sticker_emoji"))
    poll = as_dict(message.get("poll"))
    if poll:
        answers = [_plain(as_dict(answer).get("text")) for answer in as_list(poll.get("answers"))]
        yield "\n".join([f"Poll: {_plain(poll.get('question'))}", *(f"- {answer}" for answer in answers)])
    contact = as_dict(message.get("contact_information"))
    if contact:
        yield f"Contact: {short(contact.get('first_name'))} {short(contact.get('last_name'))}".strip()
    where = as_dict(message.get("location_information"))
    if where or message.get("place_name"):
        known = [short(message.get("place_name")), short(message.get("address"))]
        known += [str(where[name]) for name in ("latitude", "longitude") if isinstance(where.get(name), float | int)]
        yield f"Location: {', '.join(part for part in known if part)}"
    if message.get("game_title"):
        yield f"Game: {short(message['game_title'])}"


def _plain(value: Any) -> str:
    """Text with or without formatting, as plain words."""
    if isinstance(value, list):
        parts = cast(list[Any], value)
        return "".join(as_text(part) or as_text(as_dict(part).get("text")) for part in parts)
    return as_text(value)


def _media(message: dict[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    if message.get("photo"):
        blocks.append(_block("image/jpeg", message.get("photo_file_size")))
    if message.get("file") or message.get("media_type"):
        media_type = short(message.get("mime_type")) or short(message.get("media_type"))
        blocks.append(_block(media_type, message.get("file_size")))
    if message.get("contact_vcard"):
        blocks.append(_block("text/vcard", message.get("contact_vcard_file_size")))
    return blocks


def _block(media_type: str, size: Any) -> Block:
    is_image = media_type.startswith("image/") or media_type == "sticker"
    block = image_block(media_type, kind="image" if is_image else "document")
    if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < _LAST:
        block["bytes"] = size
    return block


def _moment(message: dict[str, Any]) -> str | None:
    """`date` is local to who exported and does not say where; `date_unixtime` is exact, old versions lack it."""
    return _time(message.get("date_unixtime")) or _time(message.get("date"))


def _time(value: Any) -> str | None:
    is_number = isinstance(value, str) and len(value) <= 11 and value.isascii() and value.isdigit()
    return parse_time(int(cast(str, value)) if is_number else value)


def _peer(value: Any) -> str:
    """`user123`; old exports give people as bare numbers."""
    return f"user{value}" if isinstance(value, int) and not isinstance(value, bool) else short(value)


@dataclass(slots=True, eq=False)
class _Chat:
    name: str
    type: str
    id: str
    account: str
    """The id of who exported, when the file tells."""
    origin: str
    """For a chat without an id: the file that it stands in."""

    @property
    def peer(self) -> str:
        """The same in every export: a group that becomes public has another type, but not another id."""
        if not self.id:
            return f"file-{derived_id(self.origin)}"
        if self.type in _OF_USERS:
            return f"user{self.id}"
        if self.type == "private_group":
            return f"chat{self.id}"
        is_channel = self.type.endswith(("_supergroup", "_channel"))
        return f"channel{self.id}" if is_channel else f"{self.type or 'chat'}-{self.id}"

    def facts(self) -> FileFacts:
        """Of two files with one message that with the smaller key counts: here, the one that knows the owner."""
        key = f"account{self.account}/{self.peer}" if self.account else self.peer
        return FileFacts(key=key, kind="session", session_id=f"{NAME}-{self.peer}", is_unique=True)

    def header(self) -> bytes:
        return line_of({"chat": {"name": self.name, "type": self.type, "id": self.id, "account": self.account}})

    def side_of(self, message: dict[str, Any], in_doubt: bool) -> str:
        sender = _peer(message.get("from_id"))
        if self.type == "saved_messages" or (self.account and sender == f"user{self.account}"):
            return "owner"
        if self.type.endswith("_channel"):
            return "channel"
        if self.type == "verification_codes" or self.peer == _TELEGRAM_ITSELF:
            return "notice"
        if self.type not in _WITH_ONE:
            return "other" if self.account else "person"
        if sender == self.peer or ((in_doubt or not sender) and self.name and message.get("from") == self.name):
            return "bot" if self.type == "bot_chat" else "other"
        return "person" if self.account or in_doubt or not sender else "owner"


def _transcripts(opened: Opened, facts: FileFacts) -> Iterator[Transcript]:
    """The messages of all chats come from one walk: a chat is read to its end before the next one begins."""
    for chat, found in groupby(_messages(opened, facts), key=lambda item: item[0]):
        messages = (message for _, message in found)
        yield Transcript(facts=chat.facts(), records=_records(chat, messages, opened), order=_place)


def _place(record: bytes) -> tuple[int, str]:
    """Messages are numbered in the order of time; those of a group before it became a supergroup below zero."""
    numbered = _PLACE.match(record)
    if numbered:
        return int(numbered[1]), ""
    return (_FIRST, "") if record.startswith(b'{"chat"') else (_LAST, derived_id(record.decode("utf-8", "replace")))


def _records(chat: _Chat, messages: Iterator[dict[str, Any]], opened: Opened) -> Iterator[bytes]:
    dates = _Dates(chat, opened)
    first, in_doubt, failure = _look_ahead(chat, messages)
    yield chat.header()
    for message in chain(first, messages):
        dates.check(message)
        kept = {name: value for name, value in message.items() if name != "text_entities" or not message.get("text")}
        number = message.get("id")
        try:
            yield line_of({"id": number, "by": chat.side_of(message, in_doubt), "message": kept})
        except RecursionError:
            opened.report(
                f"{_short_path(opened)}: message {short(number)} of {chat.name} is nested too deeply and left out"
            )
    if failure:
        raise failure


def _look_ahead(
    chat: _Chat, messages: Iterator[dict[str, Any]]
) -> tuple[list[dict[str, Any]], bool, Unreadable | None]:
    """In a chat between two, the messages that show whether its id is one of them, and what went wrong on the way."""
    first: list[dict[str, Any]] = []
    others: set[str] = set()
    if chat.account or chat.type not in _WITH_ONE:
        return first, False, None
    try:
        for message in messages:
            first.append(message)
            sender = _peer(message.get("from_id"))
            others |= {sender} - {"", chat.peer}
            if sender == chat.peer or len(others) > 1 or len(first) >= _LOOK_AHEAD:
                break
    except Unreadable as error:
        return first, len(others) > 1, error
    return first, len(others) > 1, None


class _Dates:
    """Says once for each chat what is wrong with its times."""

    def __init__(self, chat: _Chat, opened: Opened) -> None:
        self._where = f"{_short_path(opened)}, chat {chat.name or chat.type or chat.id}"
        self._report = opened.report
        self._told: set[str] = set()

    def check(self, message: dict[str, Any]) -> None:
        if _time(message.get("date_unixtime")) or "date" not in message:
            return
        date = short(message["date"], 40)
        if _time(message["date"]) is None:
            self._tell("unreadable", f"cannot read the time date={date!r}; such messages are kept without one")
        elif not date.isdigit() and not _ZONE.search(date):
            self._tell("zone", "its times do not say their zone and are read as UTC; newer versions export exact ones")

    def _tell(self, what: str, reason: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._report(f"{self._where}: {reason}")


def _messages(opened: Opened, facts: FileFacts) -> Iterator[tuple[_Chat, dict[str, Any]]]:
    """Every message with its chat, in the order of the file."""
    headers = _Headers(opened)
    base: Path | None = None
    told: set[Path] = set()
    chat = _Chat("", "", "", "", "")
    file = cast(BinaryIO, _Mended(opened.file))
    try:
        for path, value in walk(
            file, _is_entered, _is_message_or_chat, lambda why: opened.report(f"{_short_path(opened)}: {why}")
        ):
            if len(path) < 2 or path[-2] != "messages":
                headers.note(path, value)
                continue
            if not isinstance(value, dict):
                if path[:-2] not in told:
                    told.add(path[:-2])
                    opened.report(f"{_short_path(opened)}: message {path[-1]} is not an object and is left out")
                continue
            message = cast(dict[str, Any], value)
            if isinstance(message.get("messages"), list):
                yield from _whole_chat(message, headers.account, facts)
                continue
            if path[:-2] != base:
                base = path[:-2]
                chat = _chat(headers.of(base), headers.account, message, facts)
            yield chat, message
    except BrokenDocument as error:
        raise BrokenDocument(
            f"{_short_path(opened)}: {error}. What came before is kept; export the chat again to have the rest"
        ) from error


def _whole_chat(value: dict[str, Any], account: str, facts: FileFacts) -> Iterator[tuple[_Chat, dict[str, Any]]]:
    """After damage the walk may stand one level higher than it knows, and give the next chat in one piece."""
    messages = [cast(dict[str, Any], item) for item in as_list(value["messages"]) if isinstance(item, dict)]
    if messages:
        chat = _chat(value, account, messages[0], facts)
        yield from ((chat, message) for message in messages)


def _chat(header: dict[str, Any], account: str, first: dict[str, Any], facts: FileFacts) -> _Chat:
    kind, number = short(header.get("type")), header.get("id")
    is_old = isinstance(first.get("from_id", first.get("actor_id")), int)
    if is_old and isinstance(number, int):
        shift = _OLD_SHIFT if kind in _OF_USERS else 2 * _OLD_SHIFT
        number = number - shift if number >= shift else number
    identity = short(number)
    account = account or (identity if kind == "saved_messages" else "")
    return _Chat(short(header.get("name")).strip(), kind, identity, account, facts.key)


def _is_entered(path: Path) -> bool:
    if not path or path == ("messages",):
        return True
    if path[0] not in _LISTS or (len(path) > 1 and path[1] != "list"):
        return False
    return len(path) <= 3 or (len(path) == 4 and path[3] == "messages")


def _is_message_or_chat(value: dict[str, Any]) -> bool:
    return "messages" in value or ("id" in value and ("date" in value or value.get("type") == "unsupported"))


class _Headers:
    """What stands beside the messages of a chat: normally before them, and if not, it is looked for."""

    def __init__(self, opened: Opened) -> None:
        self._file = opened.file
        self._found: dict[Path, dict[str, Any]] = {}
        self._has_looked = False
        self.account = ""

    def note(self, path: Path, value: Any) -> None:
        if path == ("personal_information",):
            self.account = short(as_dict(value).get("user_id"))
        elif path and path[-1] in ("name", "type", "id"):
            self._found.setdefault(path[:-1], {})[str(path[-1])] = value

    def of(self, base: Path) -> dict[str, Any]:
        if not {"id", "type"} <= self._found.get(base, {}).keys() and not self._has_looked:
            self._has_looked = True
            self._look_through()
        return self._found.get(base, {})

    def _look_through(self) -> None:
        """Another program sorted the fields: read the whole file once for what stands behind the messages."""
        if not self._file.seekable():
            return
        place = self._file.tell()
        self._file.seek(0)
        with suppress(BrokenDocument):
            for path, value in walk(cast(BinaryIO, _Mended(self._file)), _is_entered):
                self.note(path, value)
        self._file.seek(place)


def _short_path(opened: Opened) -> str:
    """Every export is called `result.json`; its folder says which."""
    return "/".join(opened.path.replace("\\", "/").split("/")[-2:])


class _Mended:
    """Telegram writes control characters as `\\x1F`, which is no JSON; this reads them as `\\u001F`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        while True:
            block = self._file.read(size)
            whole, self._rest = self._rest + block, b""
            if block and (len(whole) - len(whole.rstrip(b"\\"))) % 2:
                whole, self._rest = whole[:-1], whole[-1:]
            if whole or not block:
                return _ESCAPE.sub(_mended_escape, whole) if b"\\x" in whole else whole


def _mended_escape(match: re.Match[bytes]) -> bytes:
    return rb"\u00" if match[1] == b"x" else match[0]
