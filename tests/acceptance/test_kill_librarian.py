"""Killed while it reads and files: no conversation is lost, and none is filed twice.

Real processes (`tests/filing.py`), killed with SIGKILL at moments that a seed decides.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import commands
import pytest
from desks import filed, queue_of, tell

import recollect
from recollect.testing import FrozenClock

FILING = Path(commands.__file__).with_name("filing.py")
KILLS = 8
CONVERSATIONS = 120
MOST_SECONDS = 0.6
"""Between the first work of a process and its end by a kill."""
LEASE_SECONDS = 1.0
"""Short, as what the dead of another home held is waited for."""


@contextmanager
def started(home: Path, address: str, reader: str) -> Iterator["subprocess.Popen[str]"]:
    """A process whose work begins; killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, str(FILING), str(home), address, reader, str(LEASE_SECONDS)],
        env=commands.environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(process: "subprocess.Popen[str]") -> None:
    _, errors = process.communicate(timeout=commands.PATIENCE_SECONDS)
    assert process.returncode == 0, errors


class Killer:
    def __init__(self, seed: str) -> None:
        self._dice = random.Random(seed)
        self._window = MOST_SECONDS

    def kill_at_a_word(self, process: "subprocess.Popen[str]") -> bool:
        """In the moment in which something is filed: around the end of its transaction. Whether it was at work."""
        assert process.stdout
        for _ in range(self._dice.randint(1, 12)):
            if not process.stdout.readline():
                finish(process)
                return False
        process.kill()
        process.wait()
        return True

    def kill(self, process: "subprocess.Popen[str]") -> bool:
        """At any moment. Whether it was still at work."""
        try:
            process.wait(self._dice.uniform(0, self._window))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
        finish(process)
        self._window *= 0.7  # It is quicker than that: come earlier the next time.
        return False


def new_home(folder: Path, name: str) -> Path:
    home = folder / name
    home.mkdir()
    (home / "recollect.toml").write_text('house = "shared"\n', encoding="utf-8")
    return home


def assert_all_is_filed_once(memory: recollect.Memory, ids: list[str]) -> None:
    assert memory.history.figures().by_status == {"archived": len(ids)}
    assert filed(memory) == dict.fromkeys(ids, 1)
    counts = queue_of(memory).state().counts
    assert (counts.queued, counts.held, counts.aside) == (0, 0, 0)
    assert memory.database.check() == []


def kill_and_finish(folder: Path, address: str, seed: str, kills: int, conversations: int) -> None:
    home, killer = new_home(folder, "home"), Killer(seed)
    with recollect.open(home=home, database=address) as memory:
        ids = tell(memory, folder / "projects", conversations)
        killed = 0
        for number in range(kills):
            with started(home, address, "one") as process:
                killed += killer.kill(process) if number % 2 else killer.kill_at_a_word(process)
            assert max(filed(memory).values(), default=1) == 1
        with started(home, address, "one") as process:
            finish(process)
        assert killed
        assert_all_is_filed_once(memory, ids)
        assert list((home / "runtime" / "workers").iterdir()) == []


def test_kills_of_the_librarian_lose_no_conversation_and_file_none_twice(tmp_path: Path, address: str) -> None:
    kill_and_finish(tmp_path, address, "librarian", KILLS, CONVERSATIONS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_hundreds_of_kills_of_the_librarian(tmp_path: Path, address: str, seed: int) -> None:
    kill_and_finish(tmp_path, address, f"many {seed}", 40, 1_000)


def work_side_by_side(folder: Path, address: str, seed: str, kills: int, conversations: int, homes: int = 2) -> None:
    """Two processes of one home, or of two as on two hosts: the one is killed again and again, the other lives."""
    one, killer = new_home(folder, "one"), Killer(seed)
    other = new_home(folder, "other") if homes == 2 else one
    with recollect.open(home=one, database=address) as memory:
        ids = tell(memory, folder / "projects", conversations)
        with started(other, address, "one") as living:
            for _ in range(kills):
                with started(one, address, "one") as process:
                    killer.kill(process)
            finish(living)
        with started(one, address, "one") as process:
            finish(process)
        assert_all_is_filed_once(memory, ids)


@pytest.mark.parametrize("homes", [1, 2])
def test_of_two_workers_one_dies_and_nothing_is_lost_or_filed_twice(tmp_path: Path, address: str, homes: int) -> None:
    work_side_by_side(tmp_path, address, "two", 2, CONVERSATIONS, homes)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_of_two_workers_one_dies_many_times(tmp_path: Path, address: str, seed: int) -> None:
    work_side_by_side(tmp_path, address, f"two {seed}", 20, 2_000, homes=1 + seed % 2)


def results(memory: recollect.Memory) -> tuple[list[tuple[str, int, str]], dict[str, str]]:
    """All that was learned, and all that stands on the shelves."""
    records = [(one.id, one.version, one.text) for one in memory.knowledge.pages(("", 0), 100_000)]
    return records, {one.path: memory.notes.read(one.path).text for one in memory.notes.list()}


def test_kills_end_in_the_records_and_shelves_of_a_clean_run(tmp_path: Path, address: str) -> None:
    clean, home, killer = new_home(tmp_path, "clean"), new_home(tmp_path, "home"), Killer("rules")
    with (
        recollect.open(home=clean, clock=FrozenClock()) as expected,
        recollect.open(home=home, database=address, clock=FrozenClock()) as memory,
    ):
        for one in (expected, memory):
            tell(one, tmp_path / "projects", 30)
        expected.librarian.process()
        killed = 0
        for _ in range(KILLS // 3):
            with started(home, address, "rules") as process:
                killed += killer.kill(process)
        with started(home, address, "rules") as process:
            finish(process)
        memory.notes.look()

        assert killed
        assert memory.history.figures().by_status == {"archived": 30}
        records, shelves = results(memory)
        clean_records, clean_shelves = results(expected)
        assert records == clean_records
        assert sorted(shelves) == sorted(clean_shelves)
        assert shelves == clean_shelves
        assert len(shelves) > 1
