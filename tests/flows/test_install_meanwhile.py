"""Several installs and uninstalls at once: what one writes down, no other wipes out."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from installs import everything, user_of

import recollect
from recollect.lock import try_lock
from recollect.settings import Computer
from recollect.surfaces.hooks import installed
from recollect.surfaces.hooks.installing import Installation, Options
from recollect.surfaces.hooks.removing import Removal
from recollect.surfaces.hooks.tools import TOOLS, tool_named
from recollect.testing import FrozenClock


class LookingClock(FrozenClock):
    """Whenever somebody asks for the time, it looks whether another one could install now."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._lock = home / "runtime" / installed.LOCK
        self.was_free: list[bool] = []

    def __call__(self) -> datetime:
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("a+") as file:
            self.was_free.append(try_lock(file))
        return super().__call__()


@pytest.fixture
def clock(home: Path) -> LookingClock:
    return LookingClock(home)


@pytest.fixture
def memory(home: Path, clock: LookingClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[recollect.Memory]:
    monkeypatch.setenv("RECOLLECT_LISTEN", "127.0.0.1:9")  # Where nobody listens.
    with recollect.open(home, clock=clock) as opened:
        yield opened


@pytest.fixture
def computer(home: Path) -> Computer:
    return Computer(home=str(user_of(home)), system="linux")


def asking(memory: recollect.Memory, computer: Computer, tool: str, *, is_http: bool = False) -> Installation:
    """An install that waits for its answer."""
    waiting = Installation(memory, computer, tool_named(tool), Options(agent=tool, is_http=is_http))
    waiting.plan()
    return waiting


def asking_to_remove(memory: recollect.Memory, computer: Computer, tool: str) -> Removal:
    waiting = Removal(memory, computer, tool_named(tool))
    waiting.plan()
    return waiting


def test_what_another_install_wrote_down_while_one_was_asked_stays(
    memory: recollect.Memory, computer: Computer, home: Path
) -> None:
    waiting = asking(memory, computer, "claude-code")
    asking(memory, computer, "codex").apply()
    asking(memory, computer, "claude-code").prepare("/plugin")
    waiting.apply()
    found = installed.load(home)
    assert sorted(found.tools) == sorted(TOOLS)
    assert found.plugins == ["/plugin"]
    for tool in TOOLS:
        asking_to_remove(memory, computer, tool).remove()
    assert everything(Path(computer.home)) == {}


def test_what_was_installed_while_a_plugin_was_asked_for_stays(
    memory: recollect.Memory, computer: Computer, home: Path
) -> None:
    waiting = asking(memory, computer, "claude-code")
    asking(memory, computer, "codex").apply()
    waiting.prepare("/plugin")
    assert list(installed.load(home).tools) == ["codex"]


def test_what_was_installed_while_an_uninstall_was_asked_for_stays_with_its_script(
    memory: recollect.Memory, computer: Computer, home: Path
) -> None:
    asking(memory, computer, "claude-code").apply()
    waiting = asking_to_remove(memory, computer, "claude-code")
    asking(memory, computer, "codex").apply()
    waiting.remove()
    assert list(installed.load(home).tools) == ["codex"]
    assert (home / "hooks" / "recollect-hook").exists()


def test_another_folder_of_the_same_agent_stays_written_down_too(
    memory: recollect.Memory, computer: Computer, home: Path
) -> None:
    variables = {"CLAUDE_CONFIG_DIR": str(home.with_name("second"))}
    second = Computer(home=computer.home, system="linux", environment=variables)
    waiting = asking(memory, computer, "claude-code")
    asking(memory, second, "claude-code").apply()
    waiting.apply()
    for one in (computer, second):
        asking_to_remove(memory, one, "claude-code").remove()
        assert everything(Path(one.home)) == {}
    assert not home.with_name("second").exists()


def test_an_uninstall_takes_out_what_was_installed_again_while_it_was_asked(
    memory: recollect.Memory, computer: Computer, home: Path
) -> None:
    asking(memory, computer, "claude-code").apply()
    waiting = asking_to_remove(memory, computer, "claude-code")
    asking(memory, computer, "claude-code", is_http=True).apply()
    waiting.remove()
    assert everything(Path(computer.home)) == {}
    (token,) = memory.access.list()
    assert token.revoked_at


def test_nobody_else_installs_or_uninstalls_in_between(
    memory: recollect.Memory, computer: Computer, clock: LookingClock
) -> None:
    waiting = asking(memory, computer, "claude-code", is_http=True)
    assert all(clock.was_free), "nobody waits for an answer"
    waiting.apply()
    assert not all(clock.was_free)
    leaving = asking_to_remove(memory, computer, "claude-code")
    clock.was_free.clear()
    leaving.remove()
    assert False in clock.was_free
    clock.was_free.clear()
    memory.clock()
    assert clock.was_free == [True]
