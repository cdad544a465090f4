"""Several folders of settings, several homes, and homes that move: each keeps what is its own."""

import json
import shutil
import sys
import tomllib
from pathlib import Path

import commands
import pytest
from installs import everything, install, uninstall, user_of, write

import recollect

NOBODY = {"RECOLLECT_LISTEN": "127.0.0.1:9"}


@pytest.fixture
def user(home: Path) -> Path:
    return user_of(home)


def rewrite(path: Path) -> None:
    """As the agent does: the same words in another look."""
    path.write_text(json.dumps({**json.loads(path.read_text()), "theirs": 1}))


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_a_home_that_was_moved_takes_out_what_it_installed_where_it_was(home: Path, user: Path, tool: str) -> None:
    install(tool, home)
    moved = home.with_name("moved")
    home.rename(moved)
    if tool == "codex":
        rewrite(user / ".codex" / "hooks.json")
        config = user / ".codex" / "config.toml"
        config.write_text(f"# theirs\n{config.read_text()}")
    else:
        rewrite(user / ".claude" / "settings.json")
        rewrite(user / ".claude.json")
    assert "has no Recollect" in uninstall(tool, moved).out
    left = everything(user)
    assert len(left) == 2
    assert b"recollect" not in b"".join(left.values())


def test_a_copied_home_leaves_what_the_other_installed(home: Path, user: Path) -> None:
    install("claude-code", home)
    before = everything(user)
    shutil.copytree(home, home.with_name("copy"))
    assert "has no Recollect" not in uninstall("claude-code", home.with_name("copy")).out
    assert everything(user) == before


def test_what_another_home_put_there_is_named(home: Path, user: Path) -> None:
    install("claude-code", home)
    said = uninstall("claude-code", home.with_name("other")).out
    assert f"{user / '.claude.json'} still has what another home" in said
    assert "has no Recollect" not in said


def test_two_homes_that_came_and_went_leave_no_empty_containers(home: Path, user: Path) -> None:
    other = home.with_name("other")
    install("claude-code", home)
    install("claude-code", other)
    uninstall("claude-code", home)
    uninstall("claude-code", other)
    for path in (user / ".claude" / "settings.json", user / ".claude.json"):
        assert json.loads(path.read_text()) == {}


def test_another_agent_and_back_leaves_no_copies_and_no_folders(home: Path, user: Path) -> None:
    install("claude-code", home)
    install("claude-code", home, "--agent", "bob")
    uninstall("claude-code", home)
    assert everything(user) == {}
    assert not (user / ".claude").exists()


def test_each_folder_of_settings_has_a_token_of_its_own(home: Path, user: Path) -> None:
    second = home.with_name("second")
    elsewhere = {**NOBODY, "CLAUDE_CONFIG_DIR": str(second)}
    for variables in (NOBODY, elsewhere):
        commands.run("install", "claude-code", "--http", "--yes", home=home, variables=variables, is_untested=True)
    secrets = [
        json.loads(path.read_text())["mcpServers"]["recollect"]["headers"]["Authorization"].removeprefix("Bearer ")
        for path in (user / ".claude.json", second / ".claude.json")
    ]
    with recollect.open(home) as memory:
        assert [memory.access.holder(secret) is not None for secret in secrets] == [True, True]
    before = everything(second)
    said = uninstall("claude-code", home).out
    assert f"{second / '.claude.json'} still has" in said
    assert "CLAUDE_CONFIG_DIR" in said
    assert everything(user) == {}
    assert everything(second) == before
    with recollect.open(home) as memory:
        assert [memory.access.holder(secret) is not None for secret in secrets] == [False, True]
    assert "has no Recollect" in uninstall("claude-code", home, variables=elsewhere).out
    assert not second.exists()
    assert not (home / "hooks").exists()
    with recollect.open(home) as memory:
        assert memory.access.holder(secrets[1]) is None


def test_hooks_that_are_all_turned_off_are_told_once_and_nothing_says_otherwise(home: Path, user: Path) -> None:
    write(user / ".claude" / "settings.json", '{"disableAllHooks": true}')
    done = commands.run("install", "claude-code", "--yes", home=home, is_untested=True)
    assert done.out.count('disableAllHooks": Claude Code runs no hook') == 1
    assert "from its next session on" not in done.out
    assert "Claude Code has all of it once what is switched off, as said above, is on again." in done.out
    assert "disableAllHooks" in install("claude-code", home)["warnings"][0]


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
@pytest.mark.parametrize("is_written_down", [True, False])
def test_what_was_installed_without_a_command_of_its_own_is_known_as_ours(
    home: Path, user: Path, tool: str, is_written_down: bool
) -> None:
    """As the first versions wrote it, where no `recollect` lies beside the interpreter."""
    install(tool, home)
    path = user / (".claude.json" if tool == "claude-code" else ".codex/config.toml")
    now = path.read_text()
    known = json.loads(now)["mcpServers"] if tool == "claude-code" else tomllib.loads(now)["mcp_servers"]
    command, first = known["recollect"]["command"], known["recollect"]["args"][0]
    before = now.replace(f'"{command}"', f'"{sys.executable}"')
    before = before.replace(f'"{first}"', f'"-m", "recollect.surfaces.cli.main", "{first}"', 1)
    assert json.dumps(sys.executable) in before
    path.write_text(before)
    if not is_written_down:
        (home / "hooks" / "installed.json").unlink()
    install(tool, home)
    assert path.read_text() != before
    assert "surfaces.cli.main" not in path.read_text()
    path.write_text(before)
    if not is_written_down:
        (home / "hooks" / "installed.json").unlink()
    assert "has no Recollect" in uninstall(tool, home).out
    assert not path.exists() or "recollect" not in path.read_text()
