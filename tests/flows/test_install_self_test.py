"""The test that `recollect install` makes of itself: what it leaves, and what it says where it cannot pass."""

from datetime import timedelta
from pathlib import Path

import commands
import pytest
from installs import install, user_of, write

import recollect
from recollect.clock import from_text
from recollect.memory import Memory
from recollect.surfaces.hooks.self_test import SelfTest
from recollect.surfaces.hooks.tools import TOOLS


@pytest.fixture
def user(home: Path) -> Path:
    return user_of(home)


class CutOff(SelfTest):
    """Ended by a signal: nothing that was to follow is done."""

    def _begin(self) -> str:
        raise SystemExit

    def _forget(self) -> str:
        raise SystemExit


def test_the_record_of_a_test_that_was_cut_off_is_over_after_an_hour(memory: Memory) -> None:
    memory.agents.add("codex")
    memory.agents.grant("codex", "house")
    with pytest.raises(SystemExit):
        CutOff(memory, TOOLS["codex"], "codex", "true", {}).run()
    (record,) = memory.knowledge.records()
    assert from_text(record.expires_at) - memory.clock() == timedelta(hours=1)


def test_an_agent_that_may_not_write_in_the_house_any_more_tests_itself_in_its_own_scope(
    home: Path, user: Path
) -> None:
    install("claude-code", home)
    assert commands.run("agents", "revoke", "claude-code", "house", home=home).code == 0
    told = install("claude-code", home, "--agent", "claude-code", is_untested=False)
    assert told["ok"]
    assert "for itself" in told["self_test"][0]["detail"]
    with recollect.open(home) as memory:
        assert memory.knowledge.records() == []
        assert memory.agents.list()[0].may_write_in == []


def test_a_folder_for_temporary_files_that_is_ignored_is_no_obstacle(home: Path, user: Path) -> None:
    scratch = home.parent / "scratch"
    write(scratch / ".recollectignore", "")
    assert install("claude-code", home, is_untested=False, variables={"TMPDIR": str(scratch)})["ok"]


def test_where_every_project_is_ignored_that_is_the_reason_that_is_told(home: Path, user: Path) -> None:
    write(home / ".recollectignore", "*\n")
    done = commands.run("install", "claude-code", "--yes", "--json", home=home)
    assert done.code == 1
    assert ".recollectignore" in done.json()["self_test"][1]["detail"]
