"""What others wrote into our own entries stays, and what keeps an install from working is told first."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import commands
import pytest
from installs import everything, install, uninstall, user_of, write


@pytest.fixture
def user(home: Path) -> Path:
    return user_of(home)


def config_of(user: Path) -> dict[str, Any]:
    return tomllib.loads((user / ".codex" / "config.toml").read_text())


def add_approvals(user: Path) -> None:
    """As Codex and its person do, inside of our table and below it."""
    path = user / ".codex" / "config.toml"
    text = path.read_text().replace("[mcp_servers.recollect]\n", "[mcp_servers.recollect]\nstartup_timeout_sec = 30\n")
    path.write_text(f'{text}\n[mcp_servers.recollect.tools.remember]\napproval_mode = "approve"\n')


@pytest.mark.parametrize("more", [(), ("--agent", "ada")])
def test_what_codex_keeps_in_our_table_stays_when_ours_is_installed_again(
    home: Path, user: Path, more: tuple[str, ...]
) -> None:
    install("codex", home)
    add_approvals(user)
    before = everything(user)
    install("codex", home, *more)
    server = config_of(user)["mcp_servers"]["recollect"]
    assert server["startup_timeout_sec"] == 30
    assert server["tools"] == {"remember": {"approval_mode": "approve"}}
    assert server["args"][-1] == (more[1] if more else "codex")
    if not more:
        assert everything(user) == before
    uninstall("codex", home)
    assert not (user / ".codex" / "hooks.json").exists()
    assert not (user / ".codex" / "config.toml").exists()


def test_a_hook_of_ours_that_somebody_switched_off_stays_so(home: Path, user: Path) -> None:
    install("codex", home)
    path = user / ".codex" / "config.toml"
    digest = next(iter(config_of(user)["hooks"]["state"].values()))["trusted_hash"]
    path.write_text(
        path.read_text().replace(f'trusted_hash = "{digest}"', f'trusted_hash = "{digest}"\nenabled = false')
    )
    before = everything(user)
    install("codex", home)
    assert everything(user) == before
    install("codex", home, "--agent", "ada")
    assert [state.get("enabled") for state in config_of(user)["hooks"]["state"].values()].count(False) == 1


@pytest.mark.parametrize("more", [(), ("--agent", "ada")])
def test_what_stands_in_our_server_of_claude_code_stays(home: Path, user: Path, more: tuple[str, ...]) -> None:
    install("claude-code", home)
    path = user / ".claude.json"
    value = json.loads(path.read_text())
    value["mcpServers"]["recollect"]["env"] = {"LANG": "C"}
    path.write_text(json.dumps(value, indent=2))
    install("claude-code", home, *more)
    assert json.loads(path.read_text())["mcpServers"]["recollect"]["env"] == {"LANG": "C"}
    uninstall("claude-code", home)
    assert "recollect" not in path.read_text() if path.exists() else True


def test_hooks_that_codex_does_not_run_are_told(home: Path, user: Path) -> None:
    write(user / ".codex" / "config.toml", "[features]\nhooks = false\n")
    assert "hooks = false" in install("codex", home)["warnings"][0]


def switch_off(user: Path, event: str = "") -> None:
    """Our server and our hook of an event, or all of them."""
    path = user / ".codex" / "config.toml"
    text = path.read_text().replace("[mcp_servers.recollect]\n", "[mcp_servers.recollect]\nenabled = false\n")
    path.write_text(re.sub(rf"(:{event or '[a-z_]+'}:0:0.*\n)", r"\1enabled = false\n", text))


def test_what_a_person_switched_off_in_codex_is_told_with_its_place(home: Path, user: Path) -> None:
    assert install("codex", home)["warnings"] == []
    switch_off(user, "stop")
    before = everything(user)
    server, hook = install("codex", home)["warnings"]
    assert "enabled = false in [mcp_servers.recollect]" in server
    assert f'[hooks.state."{user}/.codex/hooks.json:stop:0:0"]' in hook
    assert str(user / ".codex" / "config.toml") in server
    assert everything(user) == before
    assert install("codex", home, "--agent", "ada")["warnings"] == [server, hook]


def test_what_was_switched_off_before_ours_came_back_is_told(home: Path, user: Path) -> None:
    install("codex", home)
    switch_off(user)
    (user / ".codex" / "hooks.json").unlink()
    warnings = install("codex", home)["warnings"]
    assert len(warnings) == 5
    assert [state["enabled"] for state in config_of(user)["hooks"]["state"].values()] == [False] * 4


def test_a_hook_of_others_that_is_switched_off_is_theirs(home: Path, user: Path) -> None:
    write(user / ".codex" / "hooks.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ring"}]}]}}')
    key = f"{user}/.codex/hooks.json:stop:0:0"
    write(user / ".codex" / "config.toml", f'[hooks.state."{key}"]\nenabled = false\n')
    assert install("codex", home)["warnings"] == []


def test_hooks_that_are_all_turned_off_are_told_with_a_plugin_too(home: Path, user: Path, tmp_path: Path) -> None:
    write(user / ".claude" / "settings.json", '{"disableAllHooks": true}')
    first = install("claude-code", home, "--plugin", tmp_path / "plugin")
    assert "disableAllHooks" in first["warnings"][0]
    assert {file["change"] for file in first["files"]} == {"made"}
    again = install("claude-code", home, "--plugin", tmp_path / "plugin")
    assert {file["change"] for file in again["files"]} == {"unchanged"}
    words = ("install", "claude-code", "--plugin", tmp_path / "plugin", "--yes")
    said = commands.run(*words, home=home, is_untested=True).out
    assert said.count('disableAllHooks": Claude Code runs no hook') == 1
    assert "has all of it once" in said


@pytest.mark.parametrize("folder", ["~/tilde", "below"])
@pytest.mark.parametrize(("tool", "variable"), [("claude-code", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")])
def test_a_folder_that_the_agent_would_look_for_elsewhere_is_refused(
    home: Path, user: Path, tool: str, variable: str, folder: str
) -> None:
    done = commands.run("install", tool, "--yes", home=home, variables={variable: folder})
    assert done.code == 2
    assert done.explains(variable, "whole path")
    assert everything(user) == {}


def test_a_folder_with_a_comma_is_one_folder(home: Path, user: Path) -> None:
    folder = user / "a,b"
    install("claude-code", home, variables={"CLAUDE_CONFIG_DIR": str(folder)})
    assert sorted(path.name for path in folder.iterdir()) == [".claude.json", "settings.json"]


@pytest.mark.parametrize(
    ("tool", "name"),
    [("claude-code", ".claude/settings.json"), ("claude-code", ".claude.json"), ("codex", ".codex/hooks.json")],
)
def test_settings_that_are_a_pipe_are_refused_at_once(home: Path, user: Path, tool: str, name: str) -> None:
    (user / name).parent.mkdir(exist_ok=True)
    os.mkfifo(user / name)
    for command in ("install", "uninstall"):
        assert commands.run(command, tool, "--yes", home=home).explains(name, "no regular file")


@pytest.mark.parametrize("how", ["--dry-run", "--yes"])
def test_what_would_be_refused_is_refused_before_anything_is_shown(home: Path, user: Path, how: str) -> None:
    write(user / ".claude.json", "{}", mode=0o644)
    assert commands.run("install", "claude-code", "--http", how, home=home).explains("can be read by others")
    assert commands.run("install", "claude-code", "--agent", "a b", how, home=home).code == 2
    assert commands.run("install", "claude-code", "--agent", "nobody/kitchen", how, home=home).code == 3
    (user / ".claude.json").chmod(0o600)
    anywhere = {"RECOLLECT_LISTEN": "127.0.0.1:0"}
    assert commands.run("install", "claude-code", "--http", how, home=home, variables=anywhere).explains("port 0")
    assert everything(user) == {".claude.json": b"{}"}


def test_how_it_is_taken_out_again_is_told_for_this_home(home: Path, user: Path) -> None:
    done = commands.run("--home", home, "install", "claude-code", "--yes", home=home.with_name("usual"))
    assert done.code == 0
    assert f"--home {home} uninstall claude-code` takes it out again" in done.out
