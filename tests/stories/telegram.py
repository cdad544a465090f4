"""Telegram: exports of stretches of time, each a file of its own; words that were edited stand in the next one."""

import json
from typing import Any

from stories import Files, Story, words

Record = dict[str, Any]
OWNER, MARA, BOT = 700, 801, 900
NAMES = {OWNER: "Ada", MARA: "Mara", BOT: "Garden Bot"}


class Chat:
    def __init__(self, kind: str, number: int, name: str) -> None:
        self.kind, self.number, self.name = kind, number, name
        self.messages: list[Record] = []
        self.changed = 0
        """The first message that no export has as it is now."""


class Telegram(Story):
    """Variant 0 exports chat by chat, variant 1 the account."""

    moves = ("prompt", "prompt", "bot", "group", "edit", "media", "service", "wait", "export", "export")
    variants = 2

    def __init__(self, variant: int = 0) -> None:
        super().__init__(variant)
        self.chats = [
            Chat("personal_chat", MARA, "Mara"),
            Chat("bot_chat", BOT, "Garden Bot"),
            Chat("private_group", 55, "Beds"),
        ]
        self.exports: Files = {}
        self._prompt(0)

    def files(self) -> Files:
        """What was exported, and what would be now."""
        return self.exports | self._stretch(99)

    def last_files(self) -> Files:
        for chat in self.chats:
            chat.changed = 0
        return self._stretch(99)

    def _stretch(self, number: int) -> Files:
        parts = [
            {"name": chat.name, "type": chat.kind, "id": chat.number, "messages": chat.messages[chat.changed :]}
            for chat in self.chats
            if chat.messages[chat.changed :]
        ]
        if self.variant == 1:
            person = {"user_id": OWNER, "first_name": "Ada"}
            whole = {"about": "…", "personal_information": person, "chats": {"about": "…", "list": parts}}
            return {f"DataExport_{number:02d}/result.json": raw(whole)} if parts else {}
        return {f"ChatExport_{number:02d}_{part['id']}/result.json": raw(part) for part in parts}

    def _export(self, number: int) -> None:
        """From the first change on, or from a little before."""
        for chat in self.chats:
            chat.changed = max(chat.changed - number % 3, 0)
        self.exports |= self._stretch(self.count())
        for chat in self.chats:
            chat.changed = len(chat.messages)

    def _say(self, chat: Chat, sender: int, text: Any, **fields: Any) -> None:
        at = self.tick()
        stamp = {"date": f"{at:%Y-%m-%dT%H:%M:%S}", "date_unixtime": str(round(at.timestamp()))}
        whose = {"from": NAMES.get(sender, f"Person {sender}"), "from_id": f"user{sender}"}
        told = {"id": self.count(), "type": "message", **stamp, **whose, "text": text, "text_entities": [], **fields}
        chat.messages.append(told)

    def _prompt(self, number: int) -> None:
        self._say(self.chats[0], OWNER, words(number))
        self._say(self.chats[0], MARA, f"Answer {number}: {words(number + 1)}")

    def _bot(self, number: int) -> None:
        self._say(self.chats[1], OWNER, "/start" if number % 2 else words(number))
        self._say(self.chats[1], BOT, ["Look at ", {"type": "bold", "text": words(number)}])

    def _group(self, number: int) -> None:
        self._say(self.chats[2], 1_000 + number % 3, words(number))

    def _edit(self, number: int) -> None:
        chat = self.chats[number % 3]
        if chat.messages:
            place = number % len(chat.messages)
            chat.messages[place] = {**chat.messages[place], "text": f"{words(number)} (edited)", "edited": "2026-03-02"}
            chat.changed = min(chat.changed, place)

    def _media(self, number: int) -> None:
        self._say(self.chats[0], MARA, "", photo="(File not included)", photo_file_size=number)

    def _service(self, number: int) -> None:
        self._say(self.chats[number % 3], OWNER, "", type="service", action="phone_call")


def raw(document: Any) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()
