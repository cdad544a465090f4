"""What `recollect doctor` tells of what was installed: each trouble by its name, with the command that ends it."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import commands
import pytest
from http_houses import House, asked
from installs import install, uninstall, user_of, write

import recollect

NOBODY = {"RECOLLECT_LISTEN": "127.0.0.1:9"}
"""Where nobody listens."""
CHECKS = ("hooks", "claude-code", "codex")
AGAIN = "recollect install claude-code"


@pytest.fixture
def user(home: Path) -> Path:
    return user_of(home)


def told(home: Path, *more: object) -> list[dict[str, Any]]:
    done = commands.run(*more, "doctor", "--json", home=home)
    return [one for one in done.json()["findings"] if one["check"] in CHECKS]


def trouble(home: Path, *words: str, level: str = "failure") -> str:
    """The next step of the one trouble there is, which has these words."""
    (found,) = told(home)
    assert found["level"] == level, found
    assert all(word in found["message"] for word in words), found
    return found["next_step"]


def change(path: Path, change: Any) -> None:
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))


def test_what_stands_as_it_was_installed_is_well(home: Path, user: Path) -> None:
    assert [one["level"] for one in told(home)] == ["ok"]
    install("claude-code", home)
    install("codex", home, variables={"CODEX_HOME": str(home.parent / "codex")})
    install("claude-code", home, "--plugin", home.parent / "plugin")
    (found,) = told(home)
    assert found["level"] == "ok"
    assert all(name in found["message"] for name in ("Claude Code", "Codex", "plugin"))
    for tool in ("claude-code", "codex"):
        uninstall(tool, home)


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_a_script_that_is_gone_or_may_not_be_run_is_named(home: Path, user: Path, tool: str) -> None:
    install(tool, home)
    script = home / "hooks" / "recollect-hook"
    script.chmod(0o600)
    assert trouble(home, str(script)).endswith(f"recollect install {tool}")
    script.unlink()
    assert trouble(home, str(script)).endswith(f"recollect install {tool}")
    assert commands.run("doctor", home=home).code == 1
    install(tool, home)
    assert [one["level"] for one in told(home)] == ["ok"]


def test_a_program_that_is_gone_is_named_where_the_script_and_the_server_start_it(home: Path, user: Path) -> None:
    install("claude-code", home)
    script = home / "hooks" / "recollect-hook"
    text = script.read_text()
    script.write_text(text.replace(f"set -- {commands.SCRIPT}", "set -- /gone/recollect"))
    assert trouble(home, str(script), "/gone/recollect").endswith(AGAIN)
    script.write_text(text)
    change(user / ".claude.json", lambda it: it["mcpServers"]["recollect"].update(command="/gone/recollect"))
    assert trouble(home, "MCP server", "/gone/recollect").endswith(AGAIN)


def test_hooks_and_a_server_that_somebody_took_out_are_missed(home: Path, user: Path) -> None:
    install("claude-code", home, "--agent", "ada")
    settings, servers = user / ".claude" / "settings.json", user / ".claude.json"
    before = settings.read_text()
    change(settings, lambda it: it["hooks"].pop("Stop"))
    step = trouble(home, str(settings), "for Stop", level="warning")
    assert f"{AGAIN} --agent ada;" in step
    assert step.endswith("recollect uninstall claude-code")
    settings.write_text(before)
    servers.unlink()
    assert f"{AGAIN} --agent ada;" in trouble(home, str(servers), "MCP server", level="warning")


def test_the_command_is_for_the_home_and_the_folder_of_settings_that_are_meant(home: Path, user: Path) -> None:
    folder = home.parent / "my claude"
    install("claude-code", home, variables={"CLAUDE_CONFIG_DIR": str(folder)})
    (home / "hooks" / "recollect-hook").unlink()
    (found,) = told(home.with_name("other"), "--home", home)
    step = found["next_step"]
    assert step.startswith(f"CLAUDE_CONFIG_DIR={shlex.quote(str(folder))} ")
    assert step.endswith(f" --home {home} install claude-code")


def test_a_home_that_was_moved_is_told_to_be_installed_again_and_a_copy_nothing(home: Path, user: Path) -> None:
    install("claude-code", home)
    copy = home.with_name("copy")
    write(copy / "hooks" / "installed.json", (home / "hooks" / "installed.json").read_text())
    assert [one["level"] for one in told(copy)] == ["ok"]
    moved = home.with_name("moved")
    home.rename(moved)
    assert trouble(moved, str(home / "hooks" / "recollect-hook")).endswith(AGAIN)


def test_a_token_that_opens_nothing_any_more_is_told(home: Path, user: Path) -> None:
    install("claude-code", home, "--http", variables=NOBODY)
    assert [one["level"] for one in told(home)] == ["ok"]
    with recollect.open(home) as memory:
        memory.access.revoke(memory.access.list()[0].id)
    assert trouble(home, "token", str(user / ".claude.json")).endswith(f"{AGAIN} --http")


def test_what_somebody_switched_off_is_told(home: Path, user: Path) -> None:
    install("claude-code", home)
    change(user / ".claude" / "settings.json", lambda it: it.update(disableAllHooks=True))
    assert "uninstall claude-code" in trouble(home, "disableAllHooks", level="warning")
    uninstall("claude-code", home)
    install("codex", home)
    config = user / ".codex" / "config.toml"
    config.write_text(config.read_text().replace("[mcp_servers.recollect]", "[mcp_servers.recollect]\nenabled = false"))
    assert "uninstall codex" in trouble(home, "mcp_servers.recollect", level="warning")


@pytest.mark.parametrize("how", ["left to Codex", "taken out"])
def test_hooks_that_nobody_agreed_to_are_told(home: Path, user: Path, how: str) -> None:
    config = user / ".codex" / "config.toml"
    if how == "left to Codex":
        (said,) = install("codex", home, "--no-trust")["warnings"]
        assert "/hooks" in said
    else:
        assert install("codex", home)["warnings"] == []
        config.write_text(config.read_text().partition("[hooks.state")[0])
    step = trouble(home, "SessionStart, Stop, PreCompact, SessionEnd", "nobody agreed", level="warning")
    assert "/hooks" in step
    assert step.endswith("uninstall codex")
    assert install("codex", home)["warnings"] == []
    assert [one["level"] for one in told(home)] == ["ok"]
    (user / ".codex" / "hooks.json").write_text((user / ".codex" / "hooks.json").read_text().replace("15", "14"))
    trouble(home, "SessionStart: nobody agreed", level="warning")


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_an_agent_that_is_not_in_the_house_any_more_is_told(home: Path, user: Path, tool: str) -> None:
    install(tool, home)
    assert commands.run("agents", "remove", tool, home=home).code == 0
    assert trouble(home, "not in the house", tool).endswith(f"uninstall {tool}")
    install(tool, home)
    assert [one["level"] for one in told(home)] == ["ok"]


def test_a_plugin_is_looked_at_until_its_folder_is_removed(home: Path, user: Path) -> None:
    folder = home.parent / "plugin"
    install("claude-code", home, "--plugin", folder, "--agent", "ada")
    (folder / ".mcp.json").unlink()
    step = trouble(home, str(folder / ".mcp.json"), level="warning")
    assert f"{AGAIN} --agent ada --plugin {folder};" in step
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    assert [one["level"] for one in told(home)] == ["ok"]


@pytest.mark.parametrize("name", ["hooks/installed.json", "../user/.claude.json"])
def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_told(home: Path, user: Path, name: str) -> None:
    install("claude-code", home)
    (home / name).write_text("{")
    assert "recollect install claude-code" in trouble(home, Path(name).name)


def test_what_install_did_not_have_to_write_is_looked_at_too(home: Path, user: Path) -> None:
    install("claude-code", home)
    (home / "hooks" / "installed.json").unlink()
    install("claude-code", home)
    (user / ".claude.json").unlink()
    trouble(home, str(user / ".claude.json"), level="warning")


def test_who_asks_over_http_is_told_the_same(home: Path, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install("claude-code", home)
    install("codex", home)
    (home / "hooks" / "recollect-hook").unlink()
    (user / ".claude.json").unlink()
    monkeypatch.setenv("HOME", str(user))
    with recollect.open(home) as memory:
        house = House(memory=memory, tokens=None)  # type: ignore[arg-type]
        with asked(house, memory.access.create().secret) as client:
            answer = client.get("/v1/doctor").json()
    assert not answer["ok"]
    asked_for = [one for one in answer["findings"] if one["check"] in CHECKS]
    assert len(asked_for) == 3
    for one in (*asked_for, *(at_home := told(home))):  # A command begins as the shell of whoever reads it knows it.
        one["next_step"] = re.sub(r"\S*recollect (?=(un)?install)", "", one["next_step"])
    assert asked_for == at_home
