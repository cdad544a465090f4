"""Killed while it writes notes: what it said it wrote is a version, no version is torn, and files and versions agree.

Real processes (`tests/writing_notes.py`), killed with SIGKILL at moments that a seed decides.
"""

import random
import subprocess
from pathlib import Path

import pytest
from note_writers import assert_agreed, held, lost, settle, started_writer
from writing_notes import PATHS, SPARE, every_version, is_whole

import recollect

KILLS = 6
MOST_SECONDS = 0.6
"""Between the first work of a process and its end by a kill."""


def write_and_kill(home: Path, address: str, seed: str, kills: int) -> None:
    dice = random.Random(seed)
    told: list[dict[str, str]] = []
    with recollect.open(home=home, database=address) as memory:
        for number in range(kills):
            with started_writer(home, address, "write", f"{seed} {number}", 100_000, home.parent) as writer:
                writer.go()
                with pytest.raises(subprocess.TimeoutExpired):
                    writer.wait(dice.uniform(0.02, MOST_SECONDS))
                writer.kill()
                told += writer.told()
            memory.notes.look()
            assert_agreed(memory)
        assert len(told) > kills
        assert lost(memory, told) == []
        torn = [
            (path, note.number)
            for path in (*PATHS, *SPARE)
            for note in every_version(memory, path)
            if not is_whole(note.text)
        ]
        assert torn == []
        settle(memory)
        assert held(memory) == []
        assert memory.database.check() == []


def test_kills_of_who_writes_notes_lose_nothing_that_was_said_to_be_written(home: Path, address: str) -> None:
    write_and_kill(home, address, "notes", KILLS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_hundreds_of_kills_of_who_writes_notes(home: Path, address: str, seed: int) -> None:
    write_and_kill(home, address, f"many {seed}", 50)
