"""Transcripts of a made-up life: written into a folder, taken in, and taken in again."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ledger import HOUSE

import recollect

FOLDERS = {HOUSE: "chats", "ada": "ada", "ben": "ben"}
"""Whose history lies where below the folder of transcripts."""
SCOPES = {name: scope for scope, name in FOLDERS.items()}
CONVERSATION_MESSAGES = 6
EVERY_MESSAGE = "SELECT id, conversation_id, file, text, at FROM messages ORDER BY at, text, id"
"""In the same order in each run, on each engine."""
MOST_MESSAGES = 1_000_000

LETTERS = "bcdfghjkmnpqtvwxz"
"""Without any that a stemmer takes for an ending, so that a word stands in the index as it was said."""
WORD = re.compile(f"qz[{LETTERS}]{{14}}".encode())
"""The words by which things are found again."""


class Words:
    """Makes words that occur nowhere else, and knows them all."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.made: set[str] = set()

    def new(self) -> str:
        made = "qz" + "".join(self._chance.choices(LETTERS, k=14))
        self.made.add(made)
        return made


def stored(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A message of a transcript."""

    id: str
    conversation: str
    scope: str
    text: str
    at: str


class Talks:
    def __init__(self, memory: recollect.Memory, folder: Path, chance: random.Random, words: Words) -> None:
        self._memory, self._folder, self._chance, self._words = memory, folder, chance, words
        self.there: dict[str, Spoken] = {}
        """What must be there, by id."""
        self.found: set[str] = set()
        """The ids that were there after the last reading."""
        self._files = 0
        self._unread: list[str] = []

    def arrive(self, conversations: int, now: datetime) -> None:
        """New files, taken in."""
        for _ in range(conversations):
            scope = self._chance.choice([HOUSE, HOUSE, *FOLDERS])
            path = self._folder / FOLDERS[scope] / f"talk-{self._files}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(self._lines(self._files, now)), encoding="utf-8")
            self._files += 1
        before = self.found
        self._memory.history.ingest([self._folder], source="generic")
        found = self.messages_found()
        new = {name: message for name, message in found.items() if name not in before}
        self.there |= new
        self._unread += list(new)

    def come_again(self) -> None:
        """All the files, read anew from their beginnings."""
        if self._files:
            self._memory.history.ingest([self._folder], source="generic", reimport=True)
            self.messages_found()

    def next_unread(self) -> list[Spoken]:
        """The messages of the next conversation that nobody has read; none: there is no such."""
        unread = [self.there[name] for name in self._unread if name in self.there]
        taken = [message for message in unread if message.conversation == unread[0].conversation]
        self._unread = [message.id for message in unread[len(taken) :]] if taken else []
        return taken

    def conversation(self, name: str) -> Sequence[str]:
        return [message.id for message in self.there.values() if message.conversation == name]

    def drop(self, messages: set[str]) -> None:
        """They were forgotten. Without its first message a conversation may have another name."""
        self.there = {name: message for name, message in self.there.items() if name not in messages}
        if messages:
            now = self.messages_found()
            self.there = {name: now.get(name, message) for name, message in self.there.items()}

    def messages_found(self) -> dict[str, Spoken]:
        """What the house has, by id."""
        _, rows = self._memory.sql(EVERY_MESSAGE, seconds=60, limit=MOST_MESSAGES)
        self.found = {row[0] for row in rows}
        return {
            name: Spoken(id=name, conversation=conversation, scope=SCOPES[key.split("/")[0]], text=text, at=at)
            for name, conversation, key, text, at in rows
        }

    def _lines(self, number: int, now: datetime) -> list[str]:
        begin = now - timedelta(days=self._chance.randrange(2, 60))
        return [
            json.dumps(
                {
                    "id": f"{number}-{place}",
                    "session": f"talk-{number}",
                    "at": stored(begin + timedelta(minutes=2 * place)),
                    "author": "user" if place % 2 == 0 else "assistant",
                    "text": f"We spoke of {self._words.new()} and of other things, for the {place + 1}. time.",
                }
            )
            + "\n"
            for place in range(CONVERSATION_MESSAGES)
        ]
