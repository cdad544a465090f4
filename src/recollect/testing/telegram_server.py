"""A server on this computer that speaks Telegram's Bot API, for tests: as much as a bot needs that reads and answers.

It refuses what the API refuses and in its words, keeps updates until an offset confirms them, lets one program poll at
a time, and does what a script of faults says: limits, gateways, lines that drop before or after the effect.

    with TelegramServer() as server:
        server.write(7, "Hello")
        server.fault("sendMessage", slow_down(1), line_drops(has_effect=True))
        client = BotClient(server.token, server.url)
        ...
        assert server.texts(7) == ["Hello yourself"]
"""

import random
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, cast
from urllib.parse import unquote

from recollect.testing.loopback import LoopbackServer, Request, Response, as_json
from recollect.testing.telegram_rules import (
    ACTIONS,
    MOST_FILE_BYTES,
    Fault,
    Refusal,
    bad_gateway,
    checked_entities,
    checked_text,
    line_drops,
    refusal,
    refused,
    slow_down,
)
from recollect.testing.telegram_updates import NAME_OF_BOT, Document, Writing, person, with_commands

__all__ = ["Document", "Fault", "TelegramServer", "bad_gateway", "line_drops", "refusal", "slow_down"]

TOKEN = f"{700000007}:{'AA' + 'x' * 33}"
"""A made-up one, in the form of a real one."""
TOKEN_FORM = re.compile(r"\d+:[A-Za-z0-9_-]{35}")
METHOD_PATH = re.compile(r"/bot([^/]+)/(\w+)")
FILE_PATH = re.compile(r"/file/bot([^/]+)/(.+)")
LONGEST_POLL_SECONDS = 50
MOST_UPDATES = 100
AHEAD = 10
"""An offset that is further ahead of the queue than this confirms nothing: the service answers from its beginning."""
OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_IS_SET = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first"
BLOCKED = "Forbidden: bot was blocked by the user"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """What arrived in a chat."""

    message_id: int
    text: str
    entities: Sequence[Mapping[str, Any]] = ()
    reply_to: int = 0


@dataclass
class _Weather:
    """Faults by chance, the same ones at each run with the same seed."""

    chance: random.Random
    faults: Sequence[tuple[float, Fault]]
    methods: frozenset[str]

    def fault(self, method: str) -> Fault | None:
        if method not in self.methods:
            return None
        drawn = self.chance.random()
        for share, fault in self.faults:
            drawn -= share
            if drawn < 0:
                return fault
        return None


@dataclass
class _Queue:
    """Updates that nobody confirmed."""

    repeated: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Told once more with the next ones, whatever was confirmed."""
    waiting: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tail: int = 0
    """The number after the last one that there ever was."""
    allowed: frozenset[str] = frozenset()
    """Empty: all."""

    def add(self, update: dict[str, Any]) -> None:
        self.waiting.append(update)
        self.tail = update["update_id"] + 1

    def read(self, offset: int, limit: int) -> list[dict[str, Any]]:
        if offset < 0:
            del self.waiting[:offset]
        elif 0 < offset <= self.tail + AHEAD:
            self.waiting = [one for one in self.waiting if one["update_id"] >= offset]
        repeated, self.repeated = self.repeated, []
        return [*repeated, *self.waiting][:limit]


class TelegramServer(LoopbackServer):
    def __init__(self, *, token: str = TOKEN, keeps_requests: int | None = None) -> None:
        super().__init__(keeps_requests=keeps_requests)
        self.token = token
        self.webhook_url = ""
        """Set by somebody: then nobody polls."""
        self.sent: dict[int, list[SentMessage]] = defaultdict(list)
        """What arrived in each chat, in order."""
        self.actions: list[tuple[int, str]] = []
        self._is_revoked = self._is_leaving = False
        self._chats: dict[int, dict[str, Any]] = {}
        self._blocked: set[int] = set()
        self._writing = Writing()
        self._queue = _Queue()
        self._poll = 0
        self._faults: dict[str, deque[Fault | Response | None]] = defaultdict(deque)
        self._weather: _Weather | None = None
        self._changed = threading.Condition()
        """Held whenever something of the above is looked at or changed."""
        self._methods: dict[str, Callable[[Mapping[str, Any]], object]] = {
            "getMe": self._get_me,
            "getUpdates": self._get_updates,
            "sendMessage": self._send_message,
            "sendChatAction": self._send_action,
            "getFile": self._get_file,
        }

    # What people do

    def write(
        self,
        chat_id: int,
        text: str = "",
        *,
        photo: bytes = b"",
        document: Document | None = None,
        reply_to: int = 0,
        name: str = "Ada",
        chat_type: str = "private",
        fields: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Its update. `fields`: more of the message, as the API names it."""
        with self._changed:
            content: dict[str, Any] = dict(fields or {})
            if photo:
                content["photo"] = self._writing.photo(photo)
            if document:
                content["document"] = self._writing.document(document)
            if reply_to:
                content["reply_to_message"] = self._writing.messages[chat_id, reply_to]
            if text:
                content |= with_commands("caption" if photo or document else "text", text)
            chat = self._chats.setdefault(chat_id, {"id": chat_id, "type": chat_type, "first_name": name})
            return self._tell("message", self._writing.message(chat, person(abs(chat_id), name), **content))

    def edit(self, chat_id: int, message_id: int, text: str) -> dict[str, Any]:
        with self._changed:
            return self._tell("edited_message", self._writing.edited(chat_id, message_id, text))

    def push(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """An update of any kind, asked for or not."""
        with self._changed:
            self._queue.allowed |= {kind} if self._queue.allowed else set()
            return self._tell(kind, content)

    def repeat(self, update: Mapping[str, Any]) -> None:
        """Once more what was told, even if it was confirmed."""
        with self._changed:
            self._queue.repeated.append(dict(update))
            self._changed.notify_all()

    def skip(self, updates: int) -> None:
        """A gap in the numbers."""
        with self._changed:
            self._writing.skip(updates)

    def number_from(self, update_id: int) -> None:
        """After a week without an update, the service goes on with any number."""
        with self._changed:
            self._writing.begin_anew(update_id)

    def block(self, chat_id: int) -> None:
        with self._changed:
            self._blocked.add(chat_id)

    def unblock(self, chat_id: int) -> None:
        with self._changed:
            self._blocked.discard(chat_id)

    def revoke(self) -> None:
        """The token is another one from now on."""
        with self._changed:
            self._is_revoked = True
            self._changed.notify_all()

    def restore(self) -> None:
        with self._changed:
            self._is_revoked = False

    @property
    def unconfirmed(self) -> list[int]:
        with self._changed:
            return [update["update_id"] for update in self._queue.waiting]

    def texts(self, chat_id: int) -> list[str]:
        with self._changed:
            return [message.text for message in self.sent[chat_id]]

    def calls(self, method: str) -> int:
        return sum(request.path.endswith(f"/{method}") for request in tuple(self.requests))

    # What goes wrong

    def fault(self, method: str, *steps: Fault | Response | None) -> None:
        """At the next requests for a method, one step for each; None is one that goes well. `file` is the method of a
        download."""
        with self._changed:
            self._faults[method].extend(steps)

    def weather(
        self,
        seed: int,
        *faults: tuple[float, Fault],
        methods: Sequence[str] = ("getUpdates", "sendMessage", "sendChatAction", "getFile", "file"),
    ) -> None:
        """From now on each fault happens with its probability. No faults: the sky is clear."""
        with self._changed:
            chance = random.Random(seed)  # noqa: S311  not a secret
            self._weather = _Weather(chance, faults, frozenset(methods)) if faults else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._is_leaving = True
            self._changed.notify_all()
        super().__exit__(kind, error, trace)

    # Answering

    def answer(self, request: Request) -> Response:
        try:
            return self._answered(request)
        except Refusal as refusal:
            return refusal.response

    def _answered(self, request: Request) -> Response:
        found = METHOD_PATH.fullmatch(request.path)
        if found:
            self._check_token(found[1])
            method = self._methods.get(found[2])
            if method is None:
                raise Refusal(404, "Not Found: method not found")
            return self._done(found[2], lambda: as_json({"ok": True, "result": method(_parameters(request))}))
        found = FILE_PATH.fullmatch(request.path)
        if not found:
            raise Refusal(404, "Not Found")
        self._check_token(found[1])
        return self._done("file", lambda: self._download(unquote(found[2])))

    def _check_token(self, token: str) -> None:
        if not TOKEN_FORM.fullmatch(token):
            raise Refusal(404, "Not Found")
        if token != self.token or self._is_revoked:
            raise Refusal(401, "Unauthorized")

    def _done(self, method: str, act: Callable[[], Response]) -> Response:
        fault = self._next_fault(method)
        if fault is None:
            return act()
        if isinstance(fault, Response):
            return fault
        if fault.has_effect:
            act()
        return fault.response

    def _next_fault(self, method: str) -> Fault | Response | None:
        with self._changed:
            if self._faults[method]:
                return self._faults[method].popleft()
            return self._weather.fault(method) if self._weather else None

    # Methods

    def _get_me(self, given: Mapping[str, Any]) -> object:
        number = int(self.token.partition(":")[0])
        return {"id": number, "is_bot": True, "first_name": "Recollect", "username": NAME_OF_BOT}

    def _get_updates(self, given: Mapping[str, Any]) -> object:
        offset, limit = _whole(given, "offset", 0), min(max(_whole(given, "limit", MOST_UPDATES), 1), MOST_UPDATES)
        ends = time.monotonic() + min(max(_whole(given, "timeout", 0), 0), LONGEST_POLL_SECONDS)
        with self._changed:
            if self.webhook_url:
                raise Refusal(409, WEBHOOK_IS_SET)
            if isinstance(given.get("allowed_updates"), list):
                self._queue.allowed = frozenset(given["allowed_updates"])
            self._poll = poll = self._poll + 1
            self._changed.notify_all()
            while True:
                updates = self._queue.read(offset, limit)
                remaining = ends - time.monotonic()
                if updates or remaining <= 0 or self._is_leaving:
                    return updates
                self._changed.wait(remaining)
                if self._poll != poll:
                    raise Refusal(409, OTHER_POLL)
                if self._is_revoked:
                    raise Refusal(401, "Unauthorized")

    def _send_message(self, given: Mapping[str, Any]) -> object:
        with self._changed:
            chat = self._chat(given)
            text = checked_text(given.get("text"))
            entities = checked_entities(cast("str", given["text"]), given.get("entities"))
            reply_to = self._reply_to(chat["id"], given.get("reply_parameters"))
            bot = {"id": int(self.token.partition(":")[0]), "is_bot": True, "first_name": "Recollect"}
            message = self._writing.message(chat, bot, text=text)
            self.sent[chat["id"]].append(
                SentMessage(message_id=message["message_id"], text=text, entities=entities, reply_to=reply_to)
            )
            return {**message, "entities": entities} if entities else message

    def _reply_to(self, chat_id: int, given: object) -> int:
        parameters = cast("dict[str, Any]", given if isinstance(given, dict) else {})
        number = _whole(parameters, "message_id", 0)
        if number and (chat_id, number) not in self._writing.messages:
            if not parameters.get("allow_sending_without_reply"):
                raise Refusal(400, "Bad Request: message to be replied not found")
            return 0
        return number

    def _send_action(self, given: Mapping[str, Any]) -> object:
        with self._changed:
            chat = self._chat(given)
            if given.get("action") not in ACTIONS:
                raise Refusal(400, "Bad Request: wrong parameter action in request")
            self.actions.append((chat["id"], given["action"]))
            return True

    def _get_file(self, given: Mapping[str, Any]) -> object:
        with self._changed:
            file = self._writing.files.get(str(given.get("file_id", "")))
            if file is None:
                raise Refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
            if file.size > MOST_FILE_BYTES:
                raise Refusal(400, "Bad Request: file is too big")
            unique = f"u{file.file_id[-6:]}"
            return {
                "file_id": file.file_id,
                "file_unique_id": unique,
                "file_size": file.size,
                "file_path": file.path,
            }

    def _download(self, path: str) -> Response:
        with self._changed:
            file = next((one for one in self._writing.files.values() if one.path == path), None)
        if file is None:
            return refused(404, "Not Found")
        return Response(body=file.data, headers={"content-type": "application/octet-stream"})

    def _chat(self, given: Mapping[str, Any]) -> dict[str, Any]:
        chat = self._chats.get(_whole(given, "chat_id", 0))
        if chat is None:
            raise Refusal(400, "Bad Request: chat not found" if "chat_id" in given else "Bad Request: chat_id is empty")
        if chat["id"] in self._blocked:
            raise Refusal(403, BLOCKED)
        return chat

    def _tell(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        update = self._writing.update(kind, content)
        if not self._queue.allowed or kind in self._queue.allowed:
            self._queue.add(update)
            self._changed.notify_all()
        return update


def _parameters(request: Request) -> Mapping[str, Any]:
    body = request.body
    return {**request.query, **(cast("dict[str, Any]", body) if isinstance(body, dict) else {})}


def _whole(given: Mapping[str, Any], name: str, usual: int) -> int:
    try:
        return int(given.get(name, usual))
    except (TypeError, ValueError):
        return usual
