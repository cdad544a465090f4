"""Killed while it follows, deepens or rebuilds: in the end the index is the one that was made without a kill.

Real processes (`tests/indexing.py`), killed with SIGKILL at moments that a seed decides.
"""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import commands
from growing import Growth, carry_out
from house_of_words import contents_of
from indexing import DEEP, STATIC

import recollect
from recollect.recall import Material
from recollect.recall.index import Index, open_index

INDEXING = Path(commands.__file__).with_name("indexing.py")
KILLS = 2
MOST_SECONDS = 0.5
"""Between the first work of a process and its end by a kill."""
QUESTIONS = ("seed bean", "lantern harvest", "Question")


class Workers:
    """Processes that index. Each is killed at a moment of its own, counted from when its work began."""

    def __init__(self, home: Path, address: str, seed: int) -> None:
        self._home = home
        self._address = address
        self._dice = random.Random(f"index {seed}")
        self._window = MOST_SECONDS

    def kill(self, task: str) -> bool:
        """Start one and kill it; whether it was still at work."""
        with self._started(task) as process:
            try:
                process.wait(self._dice.uniform(0, self._window))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                self._window = min(MOST_SECONDS, self._window * 1.5)
                return True
            assert process.returncode == 0
            self._window *= 0.7  # It is quicker than that: come earlier the next time.
            return False

    def finish(self, task: str) -> None:
        with self._started(task) as process:
            assert process.wait(commands.PATIENCE_SECONDS) == 0

    def _started(self, task: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, str(INDEXING), str(self._home), self._address, task],
            env=commands.environment(self._home),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        return process


def contents(index: Index) -> dict[str, Any]:
    return contents_of(index, [STATIC, DEEP], *QUESTIONS)


def kill_often(workers: Workers, task: str) -> None:
    done = tries = 0
    while done < KILLS and tries < KILLS * 4:
        done += workers.kill(task)
        tries += 1
    assert done, f"{task} was never at work when it was to be killed"


def test_kills_while_the_index_is_made_end_in_the_index_of_a_clean_run(tmp_path: Path, address: str) -> None:
    folder, home = tmp_path / "claude" / "projects", tmp_path / "home"
    dice = random.Random("torn")
    growth = Growth(7).steps()
    workers = Workers(home, address, 7)
    with recollect.open(home=home, database=address) as memory:
        for _ in range(2):
            for _ in range(3):
                for write in next(growth):
                    carry_out(folder, write, dice)
            memory.history.ingest([folder])
            kill_often(workers, "follow")
        workers.finish("follow")
        kill_often(workers, "deepen")
        workers.finish("deepen")
        followed = open_index(memory.database, memory.settings.house)
        before = contents(followed)
        kill_often(workers, "rebuild")
        workers.finish("rebuild")
        workers.finish("follow")
        workers.finish("deepen")
        clean = Index(followed.database, "clean", followed.stored)
        material = Material(memory.feed, memory.history, memory.knowledge, memory.notes)
        clean.follow(material, STATIC)
        clean.deepen(material, DEEP)
        expected = contents(clean)
        assert len(expected["facts"]) > 1_000
        assert before == expected
        assert contents(followed) == expected
        figures = followed.figures()
        assert figures
        assert figures.generation > 1
        followed.close()
