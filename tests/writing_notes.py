"""Processes that change notes at random, to be run beside each other or to be killed by tests.

    python tests/writing_notes.py HOME DATABASE write|edit SEED STEPS

`write` goes through `Memory.notes`. `edit` is somebody with tools of their own: it knows only the files, and looks at
the versions for nothing but whether its last text was noticed.

It says `ready` and begins when it is given a line. Then it prints one line of JSON for each thing that it did and that
is to be found again, `{"path", "text"}` for the whole of a note or `{"path", "part"}` for what is somewhere in it; and
`done` at the end. Every text is made of whole lines of `line`, so that one that is torn can be told.
"""

import hashlib
import json
import os
import random
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import recollect
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.notes import Note
from recollect.notes.store import NoteStore

PATHS = ["user.md", "MEMORY.md", "projects/garden/overview.md", "agents/ada/threads.md", "agents/ada/soul.md"]
SPARE = [f"moved/{folder}/page.md" for folder in "abcdef"]
"""Where notes are moved to."""
NOTICED_SECONDS = 60.0
LINE = re.compile(r"([\w ]+): (\w*) \(([0-9a-f]{8})\)\n")


def line(name: str, dice: random.Random) -> str:
    """One that no other call makes, and that shows when some of it is missing."""
    filling = "".join(dice.choices("abcdefgh", k=dice.choice((0, 20, 300, 9_000))))
    return f"{name}: {filling} ({_sum(name, filling)})\n"


def is_whole(text: str) -> bool:
    """Whether there is nothing in it but whole lines."""
    found = LINE.findall(text)
    return not LINE.sub("", text) and all(_sum(name, filling) == check for name, filling, check in found)


def _sum(name: str, filling: str) -> str:
    return hashlib.sha256(f"{name}: {filling}".encode()).hexdigest()[:8]


def tell(path: str, **told: str) -> None:
    sys.stdout.write(json.dumps({"path": path, **told}) + "\n")
    sys.stdout.flush()


class Writer:
    """One of several who write through Recollect."""

    def __init__(self, memory: recollect.Memory, seed: str) -> None:
        self._notes = memory.notes
        self._name = f"writer {seed}"
        self._dice = random.Random(seed)

    def step(self, number: int) -> None:
        dice = self._dice
        path = dice.choice(PATHS if dice.random() < 0.8 else SPARE)
        act = dice.choice([self._write, self._write, self._append, self._append, self._replace, self._other])
        with suppress(Conflict, NotFound, Unavailable):  # Not now: what nobody said was done need not be found.
            act(path, line(f"{self._name} step {number}", dice))

    def _write(self, path: str, text: str) -> None:
        text *= self._dice.choice((1, 1, 3))
        self._notes.write(path, text, reason="a storm")
        tell(path, text=text)

    def _append(self, path: str, text: str) -> None:
        self._notes.append(path, text, reason="a storm")
        tell(path, part=text)

    def _replace(self, path: str, text: str) -> None:
        """One line of a note by another, whatever the note is by then."""
        made = ""

        def change(now: str | None) -> str:
            nonlocal made
            before = (now or "").splitlines(keepends=True)
            made = "".join([*before[:1], text, *before[2:]])
            return made

        self._notes.change(path, change, reason="a storm")
        tell(path, text=made)

    def _other(self, path: str, _text: str) -> None:
        act = self._dice.choice(["undo", "move", "remove"])
        if act == "undo":
            self._notes.undo(path, reason="a storm")
        elif act == "move":
            self._notes.move(path, self._dice.choice([*SPARE, *PATHS]), reason="a storm")
        else:
            self._notes.remove(path, reason="a storm")


class Editor:
    """Somebody with other tools, who asks nobody. A text that they themselves write over before anybody could have
    looked is not to be found by anyone: so they wait until the one before was noticed."""

    def __init__(self, memory: recollect.Memory, seed: str) -> None:
        self._memory = memory
        self._folder = memory.settings.home / "notes"
        self._name = f"editor {seed}"
        self._dice = random.Random(seed)
        self._last: dict[str, str] = {}
        """Path → what was last written into its file and may not be noticed yet."""

    def step(self, number: int) -> None:
        path = self._dice.choice(PATHS)
        self._wait(path)
        file = self._folder / path
        text = line(f"{self._name} step {number}", self._dice)
        act = self._dice.choice([self._write_in_place, self._write_by_rename, self._append, self._slowly, self._delete])
        # A folder may be moved away at any moment; people try again.
        with suppress(FileNotFoundError):
            file.parent.mkdir(parents=True, exist_ok=True)
            if act(file, text):
                self._last[path] = text
                tell(path, part=text)

    def finish(self) -> None:
        for path in list(self._last):
            self._wait(path)

    def _write_in_place(self, file: Path, text: str) -> bool:
        with file.open("w") as opened:
            opened.write(text)
        return True

    def _slowly(self, file: Path, text: str) -> bool:
        """In pieces, into a file that is open meanwhile."""
        with file.open("w") as opened:
            for start in range(0, len(text), 1_000):
                opened.write(text[start : start + 1_000])
                opened.flush()
                time.sleep(0.002)  # Others do something meanwhile, or not; nothing depends on it.
        return True

    def _write_by_rename(self, file: Path, text: str) -> bool:
        beside = file.with_name(f".{file.name}.swp")
        beside.write_text(text)
        os.replace(beside, file)
        return True

    def _append(self, file: Path, text: str) -> bool:
        with file.open("a") as opened:
            opened.write(text)
        return True

    def _delete(self, file: Path, _text: str) -> bool:
        file.unlink()
        return False

    def _wait(self, path: str) -> None:
        text = self._last.pop(path, "")
        deadline = time.monotonic() + NOTICED_SECONDS
        while text and not any(text in note.text for note in every_version(self._memory, path)):
            if time.monotonic() > deadline:
                sys.exit(f"{path}: nobody noticed {text[:60]!r}")
            time.sleep(0.02)


def every_version(memory: recollect.Memory, path: str) -> Iterable[Note]:
    """The newest first, as they are stored: nothing is looked at."""
    with memory.database.read() as session:
        store = NoteStore(session, memory.settings.house)
        for version in reversed(store.versions(path)):
            note = store.note(path, version.number)
            if note:
                yield note


def work(home: Path, address: str, task: str, seed: str, steps: str) -> None:
    with recollect.open(home=home, database=address) as memory:
        worker = Writer(memory, seed) if task == "write" else Editor(memory, seed)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        for number in range(int(steps)):
            worker.step(number)
        if isinstance(worker, Editor):
            worker.finish()
        sys.stdout.write("done\n")


if __name__ == "__main__":
    work(Path(sys.argv[1]), sys.argv[2], *sys.argv[3:6])
