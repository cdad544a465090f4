"""Two houses to which the same things happen; in one of them something is forgotten in between.

Afterwards they may differ in nothing but that.
"""

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from stories import Story
from stories.every import STORIES
from stories.looks import lay

from recollect import Memory
from recollect.database import Database
from recollect.errors import NotFound
from recollect.history.burial import LEAST_CHARACTERS
from recollect.history.erasing import Erasing, Reached
from recollect.history.messages import Author, Standing
from recollect.history.vault import unpack
from recollect.ids import new_id
from recollect.lineage import TombstoneStore, hasher

GAP = timedelta(minutes=60)
"""As the settings have it by default."""
LINES = "history_lines"

Reach = Callable[[Erasing], Reached]


def erase(memory: Memory, reach: Reach) -> Reached:
    """Forget something of history, and nothing that came from it."""
    house = memory.settings.house
    with memory.database.write() as session:
        erasing = Erasing(session, house, GAP)
        reached = reach(erasing)
        keyed = hasher(session, house, make=True)
        assert keyed
        removed = erasing.erase(reached, keyed, TombstoneStore(session, house), new_id())
    assert removed["messages"] == len(reached.messages)
    assert removed["lines"] == reached.lines_reached
    return reached


def reach_messages(*message_ids: str) -> Reach:
    return lambda erasing: erasing.reach_messages(message_ids)


def everything_in(database: Database, house: str) -> str:
    """Every value of every table of a house, the vault unpacked, as one text to search in."""
    found: list[str] = []
    with database.read() as session:
        for table in TABLES:
            for row in session.rows(f"SELECT * FROM {table} WHERE house = :house", {"house": house}):
                found += [_readable(table, value) for value in row]
    return "\n".join(found)


TABLES = (
    "history_files",
    "history_paths",
    LINES,
    "history_messages",
    "history_conversations",
    "history_links",
    "history_titles",
    "runs_events",
    "lineage_tombstones",
)


def _readable(table: str, value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        raw = unpack(raw) if table == LINES else raw
        return raw.decode("utf-8", "replace")
    return str(value)


def messages_by_id(memory: Memory) -> dict[str, dict[str, Any]]:
    """Every message, but for what tells of the way: how often its file was rewritten, where that lies, where in a text
    that is put together from several exports it stands; and its conversation, whose id may change."""
    found = {message.id: asdict(message) for message in memory.history.export()}
    for message in found.values():
        del message["generation"], message["conversation_id"], message["cwd"]
        if message["source"] == "telegram":
            del message["start_byte"], message["line"]
            for block in message["blocks"]:
                del block["line"]
    return found


def problems_of(memory: Memory) -> list[str]:
    """Where conversations and messages do not fit."""
    spoken: dict[str, int] = {}
    problems: list[str] = []
    for message in memory.history.export():
        if message.standing is Standing.SAID and not message.gone:
            if message.conversation_id is None:
                problems.append(f"{message.id} is in no conversation")
            else:
                spoken[message.conversation_id] = spoken.get(message.conversation_id, 0) + 1
    counted = {item.conversation.id: item.conversation.messages for item in memory.history.conversations(limit=10_000)}
    if spoken != counted:
        problems.append(f"{spoken} said, {counted} counted")
    return problems


def words_that_went(reached: Reached, left: str) -> list[str]:
    """Texts that stand nowhere in what stays. Short ones may be a part of anything."""
    texts = {message.text for message in reached.messages if len(message.text) >= LEAST_CHARACTERS}
    return sorted(text for text in texts if text not in left)


class Telling:
    """A story that goes on."""

    def __init__(self, name: str, dice: random.Random) -> None:
        self._story: Story = STORIES[name](dice.randrange(STORIES[name].variants))
        self._dice = dice
        self._story.do(("prompt", dice.randrange(12)))

    def go_on(self, moves: int) -> None:
        for _ in range(moves):
            self._story.do((self._dice.choice(self._story.moves), self._dice.randrange(12)))

    def save(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        lay(folder, self._story.files(), {})


AFTERWARDS = ("again", "reimport", "grow", "copy", "rename", "vault", "without raw")


class House:
    """A memory and the folder it reads."""

    def __init__(self, memory: Memory, place: Path) -> None:
        self.memory = memory
        self.place = place
        self._folder = place / "disk"
        self._copies = 0

    def read(self, telling: Telling, *, reimport: bool = False, keep_raw: bool | None = None) -> None:
        telling.save(self._folder)
        self.memory.history.ingest([self._folder], reimport=reimport, keep_raw=keep_raw)

    def read_again(self, telling: Telling, how: str) -> None:
        """Read the same things again in one of the ways in which that happens."""
        if how in ("again", "grow", "reimport"):
            self.read(telling, reimport=how == "reimport")
        elif how == "without raw":
            self.read(telling, reimport=True, keep_raw=False)
        elif how == "vault":
            shutil.rmtree(self._folder)
            with suppress(NotFound):  # A file that was forgotten is not in the vault any more either.
                self.memory.history.ingest([self._folder], reimport=True)
            self.read(telling)
        else:
            self._copies += 1
            other = self.place / f"{how} {self._copies}" / "disk"
            shutil.copytree(self._folder, other)
            if how == "rename":
                shutil.rmtree(self._folder)
                self._folder = other
            self.memory.history.ingest([other])


def reach_something(memory: Memory, dice: random.Random) -> Reach:
    """A few messages, a conversation, or a file."""
    conversations = [item.conversation.id for item in memory.history.conversations(limit=1_000)]
    files = [file.id for file in memory.history.files()]
    kind = dice.choice(("messages", "messages", "conversation", "file"))
    if kind == "conversation" and conversations:
        chosen = dice.choice(conversations)
        return lambda erasing: erasing.reach_conversation(chosen)
    if kind == "file" and files:
        chosen = dice.choice(files)
        return lambda erasing: erasing.reach_file(chosen)
    ids = sorted(messages_by_id(memory))
    return reach_messages(*dice.sample(ids, min(len(ids), dice.choice((1, 1, 2, 3)))))


def assert_forgotten_stays_away(name: str, seed: int, forgetful: House, clean: House) -> None:
    dice = random.Random(f"{name} {seed}")
    telling = Telling(name, dice)
    telling.go_on(dice.randrange(8))
    for house in (forgetful, clean):
        house.read(telling)
    if not messages_by_id(forgetful.memory):
        return
    reached = erase(forgetful.memory, reach_something(forgetful.memory, dice))
    _compare(name, forgetful.memory, clean.memory, reached)
    for how in [dice.choice(AFTERWARDS) for _ in range(dice.randrange(4))]:
        if how == "grow":
            telling.go_on(3)
        for house in (forgetful, clean):
            house.read_again(telling, how)
        _compare(name, forgetful.memory, clean.memory, reached)


def _compare(name: str, forgetful: Memory, clean: Memory, reached: Reached) -> None:
    found, wanted = messages_by_id(forgetful), messages_by_id(clean)
    for message in reached.messages:
        wanted.pop(message.id, None)
    stays = _words_of(clean, set(wanted))
    sessions = {file.session_id for file in reached.files} - {""}
    for message_id, message in list(wanted.items()):
        if message["session_id"] in sessions:  # Its file stays out with what it gains; a copy may take its place.
            found.pop(message_id, None)
            del wanted[message_id]
        elif message_id not in found and _may_be_missing(name, message, reached):
            del wanted[message_id]
    assert _differences(found, wanted) == []
    assert problems_of(forgetful) == []
    left = everything_in(forgetful.database, forgetful.settings.house)
    assert [words for words in words_that_went(reached, stays) if words in left] == []


def _words_of(memory: Memory, message_ids: set[str]) -> str:
    """All that these messages say, their calls of tools included."""
    words: list[str] = []
    for message in memory.history.export():
        if message.id in message_ids:
            words += [message.text, str(message.blocks)]
            words += [raw.decode("utf-8", "replace") for raw in memory.history.raw(message)]
    return "\n".join(words)


def _differences(found: dict[str, dict[str, Any]], wanted: dict[str, dict[str, Any]]) -> list[str]:
    """As few words as tell what is wrong."""
    told = [f"{message_id} is back" for message_id in sorted(found.keys() - wanted.keys())]
    told += [f"{message_id} is missing" for message_id in sorted(wanted.keys() - found.keys())]
    for message_id in sorted(wanted.keys() & found.keys()):
        one, other = found[message_id], wanted[message_id]
        told += [f"{message_id} {name}: {one[name]!r}, not {other[name]!r}" for name in one if one[name] != other[name]]
    return told


def _may_be_missing(name: str, message: dict[str, Any], reached: Reached) -> bool:
    """What says the forgotten words again by itself: a summary, or in sources without ids a record that has the same
    bytes in the same file. And what a forgotten file gains."""
    if message["file_id"] in {file.id for file in reached.files}:
        return True
    is_machine = message["author"] in (Author.MACHINE, Author.TOOL, Author.SUBAGENT)
    return (is_machine or name in ("cursor", "generic")) and message["text"] in reached.texts()
