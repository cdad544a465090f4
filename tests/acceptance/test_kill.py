"""Killed at any moment, while files grow: in the end the same rows as one clean import of the files as they are.

Real processes. An agent (`tests/growing.py`) appends, forks and rewrites; `recollect ingest` runs beside it and is
killed with SIGKILL at moments that a seed decides. Messages that an import saw and a rewritten file no longer has stay,
marked; a clean import never saw them, so they are set apart before the two are compared.
"""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import commands
import pytest
from conftest import Postgres
from growing import STEPS
from snapshots import conversations_of, messages_of

import recollect

GROWING = Path(commands.__file__).with_name("growing.py")
KILLS = 10
MOST_MILLISECONDS = 600
"""Between the moment an import can begin and its end by a kill."""
CURRENT_RECORDS = """
SELECT f.key, l.start_byte, l.length, l.line, l.digest, l.kind, l.message_id
FROM history_lines l JOIN history_files f ON f.house = l.house AND f.id = l.file_id AND f.generation = l.generation
ORDER BY f.key, l.start_byte
"""


class Agent:
    """The writing process. It goes on when it is told to, and then does not wait for anybody."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(GROWING), str(folder), str(seed)], stdin=subprocess.PIPE, text=True
        )
        self._steps_left = STEPS

    def go_on(self, steps: int) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n" * min(steps, self._steps_left))
        self._process.stdin.flush()
        self._steps_left -= min(steps, self._steps_left)

    def finish(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        assert self._process.wait(commands.PATIENCE_SECONDS) == 0

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "claude" / "projects"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def start_agent(folder: Path) -> Iterator[Callable[[int], Agent]]:
    agents: list[Agent] = []

    def start(seed: int) -> Agent:
        agents.append(Agent(folder, seed))
        return agents[-1]

    yield start
    for agent in agents:
        agent.close()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any table, so that its making is interrupted too."""
    if request.param == "sqlite":
        yield str(tmp_path / "killed.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create("template0")
    yield server.url(name)
    server.drop(name)


def let_everybody_connect(address: str) -> None:
    """The server's socket belongs to the user it runs as; root without its privileges is somebody else."""
    folder = Path(parse_qs(urlsplit(address).query)["host"][0])
    for path in (folder, *folder.glob(".s.PGSQL.*")):
        path.chmod(path.stat().st_mode | 0o777)


class Killer:
    """Starts imports and kills them at moments that a seed decides, between their first work and their end."""

    def __init__(self, seed: object, home: Path, **how: Any) -> None:
        self._dice = random.Random(f"kills {seed}")
        self._home = home
        self._how = how
        started = time.monotonic()
        commands.run("--version", home=home)
        self._startup = time.monotonic() - started
        """Before an import begins its work: kills up to then would prove little."""
        self._window = self._most = self._startup + MOST_MILLISECONDS / 1000

    def kill(self, *imports: list[object]) -> int:
        """Start these imports at once, kill each at a moment of its own; how many were still at work."""
        with ExitStack() as stack:
            began = time.monotonic()
            running = [
                stack.enter_context(commands.started(*arguments, home=self._home, **self._how)) for arguments in imports
            ]
            moments = sorted(self._dice.uniform(min(self._startup, self._window) * 0.8, self._window) for _ in running)
            return sum(self._kill_one(process, began, moment) for process, moment in zip(running, moments, strict=True))

    def _kill_one(self, process: subprocess.Popen[bytes], began: float, moment: float) -> bool:
        try:
            code = process.wait(max(0.0, began + moment - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            if process.wait() == -signal.SIGKILL:
                self._window = min(self._most, self._window * 1.5)
                return True
            code = process.returncode
        assert code in (0, 1), Path(f"{self._home}.err").read_text()
        self._window = moment  # It is quicker than that now: come earlier the next time.
        return False


def contents(home: Path, address: str) -> dict[str, Any]:
    with recollect.open(home=home, database=address) as memory:
        assert memory.database.check() == []
        with memory.database.read() as session:
            records = session.rows(CURRENT_RECORDS)
        return {
            "messages": [message for message in messages_of(memory) if not message["gone"]],
            "gone": {message["id"] for message in messages_of(memory) if message["gone"]},
            "conversations": conversations_of(memory),
            "records": records,
            "states": {file.key: str(file.status) for file in memory.history.files()},
        }


def assert_same(killed: dict[str, Any], clean: dict[str, Any]) -> None:
    for name in ("messages", "conversations", "records"):
        found = differences(killed[name], clean[name])
        assert not found, f"{name}: " + "\n".join(found)
    assert set(clean["states"].values()) == {"idle"}
    assert killed["states"].items() >= clean["states"].items()
    assert not clean["gone"]
    assert not killed["gone"] & {message["id"] for message in clean["messages"]}


def differences(one: list[Any], other: list[Any]) -> list[str]:
    """The first few, short enough to read."""
    if one == other:
        return []
    first, second = ({_name(item): item for item in items} for items in (one, other))
    found = [f"only after kills: {name}" for name in first.keys() - second.keys()]
    found += [f"only in the clean import: {name}" for name in second.keys() - first.keys()]
    for name in first.keys() & second.keys():
        if first[name] != second[name]:
            found.append(f"{name}: {_changes(first[name], second[name])}")
    return [f"{len(one)} against {len(other)}, {len(found)} differ", *found[:8]]


def _name(item: Any) -> str:
    return str(item["id"]) if isinstance(item, dict) else str(item[:2])


def _changes(one: Any, other: Any) -> str:
    if isinstance(one, dict):
        return ", ".join(
            f"{key} {str(one[key])[:150]!r} ≠ {str(other[key])[:150]!r}" for key in one if one[key] != other[key]
        )
    return f"{one} ≠ {other}"


def kill_and_compare(
    *, folder: Path, tmp_path: Path, address: str, agent: Agent, seed: int, kills: int = KILLS, at_once: int = 1
) -> None:
    home = tmp_path / "home"
    killer = Killer(seed, home)
    done = rounds = 0
    while done < kills:
        agent.go_on(max(1, STEPS // (kills * 2)))
        done += killer.kill(*[["--db", address, "ingest", folder]] * at_once)
        rounds += 1
        assert rounds < kills * 20, f"only {done} of {rounds} imports were still at work when they were to be killed"
    agent.finish()
    last = commands.run("--db", address, "ingest", folder, "--json", home=home)
    assert last.code == 0, last.err
    assert commands.run("--db", address, "ingest", folder, "--json", home=home).json()["messages_added"] == 0
    clean_home = tmp_path / "clean"
    commands.run("ingest", folder, "--json", home=clean_home)
    assert_same(contents(home, address), contents(clean_home, str(clean_home / "recollect.db")))


def test_ten_kills_while_files_grow_end_in_the_rows_of_a_clean_import(
    folder: Path, tmp_path: Path, address: str, start_agent: Callable[[int], Agent]
) -> None:
    kill_and_compare(folder=folder, tmp_path=tmp_path, address=address, agent=start_agent(1), seed=1)


def test_kills_of_two_imports_at_once_end_in_the_rows_of_a_clean_import(
    folder: Path, tmp_path: Path, address: str, start_agent: Callable[[int], Agent]
) -> None:
    kill_and_compare(folder=folder, tmp_path=tmp_path, address=address, agent=start_agent(2), seed=2, at_once=2)


def test_two_imports_at_once_do_not_double_and_do_not_fail(
    folder: Path, tmp_path: Path, address: str, start_agent: Callable[[int], Agent]
) -> None:
    home, clean_home = tmp_path / "home", tmp_path / "clean"
    agent = start_agent(3)
    for _ in range(3):
        agent.go_on(STEPS // 3)
        with (
            commands.started("--db", address, "ingest", folder, home=home) as one,
            commands.started("--db", address, "ingest", folder, home=home) as other,
        ):
            codes = {process.wait(commands.PATIENCE_SECONDS) for process in (one, other)}
            assert codes == {0}, Path(f"{home}.err").read_text()
    agent.finish()
    commands.run("--db", address, "ingest", folder, home=home)
    commands.run("ingest", folder, home=clean_home)
    assert_same(contents(home, address), contents(clean_home, str(clean_home / "recollect.db")))


def test_an_unreadable_file_among_good_ones_is_reported_and_stops_nothing(
    folder: Path, tmp_path: Path, address: str, start_agent: Callable[[int], Agent]
) -> None:
    if address.startswith("postgresql:"):
        let_everybody_connect(address)
    home, clean_home = tmp_path / "home", tmp_path / "clean"
    agent = start_agent(4)
    # By its name it comes before all others.
    unreadable = folder / "-home-ada-garden" / "00000000-0000-4000-8000-000000000000.jsonl"
    unreadable.parent.mkdir()
    unreadable.write_bytes(b'{"type":"user","uuid":"x"}\n')
    unreadable.chmod(0)
    arguments: list[object] = ["--db", address, "ingest", folder]
    killer = Killer(4, home, obey_permissions=True)
    for _ in range(3):
        agent.go_on(STEPS // 3)
        killer.kill(arguments)
    agent.finish()

    last = commands.run(*arguments, "--json", home=home, obey_permissions=True)

    assert last.code == 1
    report = last.json()
    assert report["failed"] == 1
    assert [problem["file"] for problem in report["problems"]] == [str(unreadable)]
    assert "may not be read" in report["problems"][0]["reason"]
    unreadable.unlink()
    commands.run("ingest", folder, home=clean_home)
    assert_same(contents(home, address), contents(clean_home, str(clean_home / "recollect.db")))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 100 + 200 // KILLS))
@pytest.mark.parametrize("at_once", [1, 2])
def test_two_hundred_kills(
    folder: Path, tmp_path: Path, address: str, start_agent: Callable[[int], Agent], seed: int, at_once: int
) -> None:
    agent = start_agent(seed)
    kill_and_compare(folder=folder, tmp_path=tmp_path, address=address, agent=agent, seed=seed, at_once=at_once)
