"""An agent that writes: several transcripts that grow, fork and are rewritten, all of it decided by a seed.

    python tests/growing.py FOLDER SEED

does one step for every line on its standard input, and what is left when the input ends. Writes are torn at any byte,
as those of a real program are when somebody reads at the same time.
"""

import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from transcripts import Transcript, line, subagent, text, thinking, tool_use

WORDS = ("seed", "bean", "trellis", "compost", "beetle", "ladder", "harvest", "shade", "gravel", "lantern", "north")
STEPS = 60
TORN_BYTES = 100_000
"""The longest piece that is written at once."""


class How(Enum):
    APPEND = auto()
    REPLACE = auto()
    """A new file takes the place of the old one at once."""
    TRUNCATE = auto()
    """The file is emptied and written again, for all to see."""


@dataclass(frozen=True, slots=True)
class Write:
    key: str
    raw: bytes
    how: How = How.APPEND


class Growth:
    """What happens to a folder, step by step. The same seed, the same bytes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"growth {seed}")
        self._main = Transcript(f"main {seed}", step_seconds=7)
        self._long = Transcript(f"long {seed}", step_seconds=3)
        self._agent = subagent(self._main, f"a{seed:07d}")
        self._told: dict[str, int] = {}
        self._lines: dict[str, list[bytes]] = {}

    def steps(self) -> Iterator[list[Write]]:
        self._talk(self._long, 900)
        yield [*self._new(self._long)]
        for step in range(1, STEPS):
            self._talk(self._main, 6)
            self._talk(self._agent, 2)
            self._talk(self._long, 6)
            yield [*self._new(self._main), *self._new(self._agent), *self._new(self._long), *self._special(step)]

    def _special(self, step: int) -> list[Write]:
        if step == STEPS // 5:
            return self._fork()
        if step in (STEPS // 4, STEPS // 2):
            return self._rewind(self._long, How.REPLACE if step == STEPS // 2 else How.TRUNCATE)
        if step in (STEPS // 3, 2 * STEPS // 3):
            return self._insert(self._main, How.TRUNCATE if step == STEPS // 3 else How.REPLACE)
        return []

    def _talk(self, told: Transcript, exchanges: int) -> None:
        for _ in range(exchanges):
            if told.last and self._random.random() < 0.04:
                told.go_back_to(self._random.choice(told.records[-8:]).get("uuid"))
            number = len(told.records)
            told.user(f"Question {number}: {self._words(30)}")
            call = f"toolu_{told.name.replace(' ', '')}_{number}"
            told.assistant(thinking(self._words(20)), text(self._words(60)), tool_use("Bash", call, command="ls"))
            told.tool_result(call, self._words(200))
            if self._random.random() < 0.02:
                told.wait(hours=3)

    def _words(self, number: int) -> str:
        return " ".join(f"{self._random.choice(WORDS)}{self._random.getrandbits(24):x}" for _ in range(number))

    def _new(self, told: Transcript) -> list[Write]:
        """What was said since the last time, at the end of the file."""
        lines = [line(record) for record in told.records[self._told.get(told.key, 0) :]]
        self._told[told.key] = len(told.records)
        self._lines.setdefault(told.key, []).extend(lines)
        return [Write(told.key, b"".join(lines))]

    def _fork(self) -> list[Write]:
        """A copy that carries the same entries under its own session, then goes its own way."""
        fork = self._main.fork(f"{self._main.name} fork", rewrite_session=True)
        self._talk(fork, 10)
        return [Write(fork.key, fork.raw)]

    def _rewind(self, told: Transcript, how: How) -> list[Write]:
        """A fifth of the lines in the middle are taken out, for good."""
        lines = self._lines[told.key]
        middle = len(lines) // 2
        del lines[middle : middle + len(lines) // 5]
        return [Write(told.key, b"".join(lines), how)]

    def _insert(self, told: Transcript, how: How) -> list[Write]:
        """Everything stays, but stands somewhere else."""
        modes = [{"type": "mode", "mode": self._words(100), "sessionId": told.session_id} for _ in range(5)]
        self._lines[told.key][3:3] = [line(mode) for mode in modes]
        return [Write(told.key, b"".join(self._lines[told.key]), how)]


def carry_out(folder: Path, write: Write, dice: random.Random) -> None:
    path = folder / write.key
    path.parent.mkdir(parents=True, exist_ok=True)
    if write.how is How.REPLACE:
        new = path.with_suffix(".new")
        new.write_bytes(write.raw)
        os.replace(new, path)
        return
    with open(path, "wb" if write.how is How.TRUNCATE else "ab", buffering=0) as file:
        position = 0
        while position < len(write.raw):
            end = position + dice.randint(1, TORN_BYTES)
            file.write(write.raw[position:end])
            position = end


def main(folder: Path, seed: int) -> None:
    dice = random.Random(f"torn {seed}")
    for writes in Growth(seed).steps():
        sys.stdin.readline()
        for write in writes:
            carry_out(folder, write, dice)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
