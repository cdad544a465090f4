"""`recollect install` and `uninstall`: what they do to an agent's settings, and whether it works then."""

import json
import os
import stat
import subprocess
import tomllib
from pathlib import Path

import commands
import pytest
from installs import everything, install, uninstall, user_of, write

import recollect
from recollect.errors import Conflict
from recollect.surfaces.hooks import files
from recollect.surfaces.hooks.plugin import write_plugin

CLAUDE = {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
NOBODY = {"RECOLLECT_LISTEN": "127.0.0.1:9"}
"""Where nobody listens."""
CODEX = '# mine\nmodel = "x"  # a comment\n\n[mcp_servers.other]\ncommand = "y" # no newline at the end'


@pytest.fixture
def user(home: Path) -> Path:
    return user_of(home)


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_a_written_marker_comes_back_by_the_hook_and_by_mcp_and_is_forgotten_again(
    home: Path, user: Path, tool: str
) -> None:
    told = install(tool, home, is_untested=False)
    assert [(step["step"], step["ok"]) for step in told["self_test"]] == [
        ("remember", True),
        ("session start", True),
        ("mcp", True),
        ("forget", True),
    ]
    assert told["ok"]
    with recollect.open(home) as memory:
        assert memory.knowledge.records() == []
        assert memory.showings.figures().open_sessions == 0
        assert [one.scope.id for one in memory.agents.list()] == [tool]
        assert memory.agents.list()[0].may_write_in == ["house"]
    assert "selftest" not in b"".join(everything(home).values()).decode("latin-1")


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_uninstall_leaves_every_file_byte_for_byte_as_it_was(home: Path, user: Path, tool: str) -> None:
    write(user / ".claude" / "settings.json", json.dumps(CLAUDE, indent=4))
    write(user / ".claude.json", '{"numStartups": 3, "mcpServers":{"a":{"command":"x"}}}', 0o640)
    write(user / ".codex" / "config.toml", CODEX, 0o644)
    write(user / ".codex" / "hooks.json", '{\r\n\t"hooks": {\r\n\t}\r\n}\r\n')
    before = everything(user)
    install(tool, home)
    assert everything(user) != before
    done = commands.run("uninstall", tool, "--yes", "--json", home=home)
    assert done.code == 0, done.err
    assert everything(user) == before
    assert not (home / "hooks").exists()
    assert stat.S_IMODE((user / ".claude.json").stat().st_mode) == 0o640


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_files_and_folders_that_install_made_are_gone_after_uninstall(home: Path, user: Path, tool: str) -> None:
    install(tool, home)
    assert commands.run("uninstall", tool, "--yes", home=home).code == 0
    assert everything(user) == {}
    assert not (user / ".claude").exists()
    assert not (user / ".codex").exists()


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_a_second_install_changes_nothing(home: Path, user: Path, tool: str) -> None:
    write(user / ".claude" / "settings.json", json.dumps(CLAUDE, indent=4))
    write(user / ".codex" / "config.toml", CODEX)
    install(tool, home)
    before = everything(user) | everything(home / "hooks")
    told = install(tool, home)
    assert [file["change"] for file in told["files"]] == ["unchanged", "unchanged"]
    assert everything(user) | everything(home / "hooks") == before


def test_another_agent_or_home_takes_the_place_of_ours_and_of_nothing_else(home: Path, user: Path) -> None:
    path = write(user / ".claude" / "settings.json", json.dumps(CLAUDE, indent=4))
    install("claude-code", home)
    install("claude-code", home, "--agent", "ada")
    hooks = json.loads(path.read_text())["hooks"]
    assert hooks["Stop"][0] == CLAUDE["hooks"]["Stop"][0]
    assert [len(hooks[event]) for event in ("Stop", "SessionStart", "PreCompact", "SessionEnd")] == [2, 1, 1, 1]
    assert hooks["Stop"][1]["hooks"][0]["command"].endswith(" Stop ada")
    other = home.parent / "other"
    install("claude-code", home, variables={"RECOLLECT_HOME": str(other)})
    text = path.read_text()
    assert str(other) in text
    assert f"{home}/" not in text
    assert commands.run("uninstall", "claude-code", "--yes", home=home).code == 0
    assert path.read_text() == text, "what the other home put there is not ours to take out"


def test_what_others_changed_since_stays_and_only_ours_goes(home: Path, user: Path) -> None:
    path = write(user / ".claude" / "settings.json", json.dumps(CLAUDE, indent=4))
    servers = write(user / ".claude.json", '{"numStartups": 3}')
    config = write(user / ".codex" / "config.toml", CODEX)
    install("claude-code", home)
    install("codex", home)
    changed = json.loads(path.read_text())
    changed["theme"] = "dark"
    changed["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "ring"}]})
    changed["hooks"]["SessionEnd"][0]["hooks"].append({"type": "command", "command": "bye"})
    path.write_text(json.dumps(changed))
    rewritten = json.loads(servers.read_text())
    rewritten["mcpServers"]["b"] = {"command": "b"}
    servers.write_text(json.dumps({**rewritten, "numStartups": 4}, indent=2))
    config.write_text(config.read_text() + '\n# theirs\n[projects."/x"]\ntrust_level = "trusted"\n')
    for tool in ("claude-code", "codex"):
        assert commands.run("uninstall", tool, "--yes", home=home).code == 0
    assert json.loads(path.read_text()) == {
        "model": "opus",
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "ring"}]}, CLAUDE["hooks"]["Stop"][0]],
            "SessionEnd": [{"hooks": [{"type": "command", "command": "bye"}]}],
        },
        "theme": "dark",
    }
    assert json.loads(servers.read_text()) == {"numStartups": 4, "mcpServers": {"b": {"command": "b"}}}
    assert config.read_text() == CODEX + '\n# theirs\n[projects."/x"]\ntrust_level = "trusted"\n'


def test_the_file_as_it_was_lies_beside_it_for_its_owner_alone(home: Path, user: Path) -> None:
    path = write(user / ".claude" / "settings.json", json.dumps(CLAUDE), 0o644)
    install("claude-code", home)
    copies = list(path.parent.glob("settings.json.recollect-*"))
    assert [copy.read_text() for copy in copies] == [json.dumps(CLAUDE)]
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_copies_that_stay_after_uninstall_are_named(home: Path, user: Path) -> None:
    path = write(user / ".claude" / "settings.json", '{"env": {"KEY": "secret"}}')
    install("claude-code", home)
    path.write_text(path.read_text().replace("secret", "another"))
    done = uninstall("claude-code", home)
    (copy,) = path.parent.glob("settings.json.recollect-*")
    assert f"{copy} is a copy" in done.out
    assert "missing hook" in done.out
    again = commands.run("uninstall", "claude-code", "--yes", "--json", home=home).json()
    assert again["copies"] == [str(copy)]


def test_a_link_stays_a_link(home: Path, user: Path) -> None:
    real = write(user / "dotfiles" / "claude.json", json.dumps(CLAUDE))
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").symlink_to(real)
    install("claude-code", home)
    assert (user / ".claude" / "settings.json").is_symlink()
    assert "recollect-hook" in real.read_text()
    commands.run("uninstall", "claude-code", "--yes", home=home)
    assert real.read_text() == json.dumps(CLAUDE)


def test_a_dry_run_shows_the_difference_and_touches_nothing(home: Path, user: Path) -> None:
    path = write(user / ".claude" / "settings.json", json.dumps(CLAUDE, indent=2) + "\n")
    before = everything(user)
    done = commands.run("install", "claude-code", "--dry-run", home=home)
    assert done.code == 0
    assert f"--- {path}" in done.out
    assert '+    "SessionStart": [' in done.out
    assert "Nothing was changed." in done.out
    assert everything(user) == before
    assert not (home / "hooks").exists()
    with recollect.open(home) as memory:
        assert memory.agents.list() == []


def test_who_does_not_agree_keeps_everything_as_it_is(home: Path, user: Path) -> None:
    done = commands.run("install", "claude-code", home=home, given="n\n")
    assert done.code == 0
    assert "Nothing was changed." in done.out
    assert everything(user) == {}


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_where_nobody_is_there_to_ask_that_is_said_and_nothing_is_changed(home: Path, user: Path, command: str) -> None:
    if command == "uninstall":
        install("codex", home)
    before = everything(user)
    done = commands.run(command, "codex", home=home)
    assert done.code == 2
    assert done.explains("Nobody is here to ask", "--yes", "Nothing was changed")
    assert everything(user) == before


def test_uninstall_says_that_nothing_of_ours_stood_there(home: Path, user: Path) -> None:
    write(user / ".codex" / "config.toml", CODEX)
    done = commands.run("uninstall", "codex", "--yes", home=home)
    assert done.code == 0
    assert "Nothing of ours stood in the settings of Codex." in done.out
    assert "learned" not in done.out


def test_with_json_nobody_can_be_asked(home: Path, user: Path) -> None:
    done = commands.run("install", "claude-code", "--json", home=home)
    assert done.code == 2
    assert done.explains("--yes", "--dry-run")


@pytest.mark.parametrize(
    ("tool", "name", "text"),
    [
        ("claude-code", ".claude/settings.json", '{"hooks": // mine\n {}}'),
        ("claude-code", ".claude.json", ""),
        ("claude-code", ".claude/settings.json", '{"a": NaN}'),
        ("claude-code", ".claude/settings.json", "[]"),
        ("claude-code", ".claude/settings.json", '{"hooks": []}'),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": {}}}'),
        ("claude-code", ".claude.json", '{"mcpServers": 1}'),
        ("claude-code", ".claude.json", "[" * 100_000),
        ("codex", ".codex/config.toml", "[mcp_servers\n"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n"),
        ("codex", ".codex/hooks.json", "{"),
    ],
)
def test_a_file_that_is_not_valid_is_named_and_nothing_is_touched(
    home: Path, user: Path, tool: str, name: str, text: str
) -> None:
    write(user / name, text)
    before = everything(user)
    done = commands.run("install", tool, "--yes", home=home)
    assert done.code == 2, done.out
    assert done.explains(str(user / name), "nothing was changed")
    assert everything(user) == before
    assert not (home / "hooks").exists()


def test_a_server_of_the_same_name_that_is_not_ours_is_not_replaced(home: Path, user: Path) -> None:
    write(user / ".claude.json", json.dumps({"mcpServers": {"recollect": {"command": "mine"}}}))
    before = everything(user)
    done = commands.run("install", "claude-code", "--yes", home=home)
    assert done.code == 5
    assert done.explains(".claude.json", "recollect", "nothing was changed")
    assert everything(user) == before


def test_the_folder_that_the_agent_is_told_by_its_variable_is_the_one_that_counts(home: Path, user: Path) -> None:
    claude, codex = home.parent / "my claude", home.parent / "my codex"
    variables = {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(codex)}
    install("claude-code", home, variables=variables)
    install("codex", home, variables=variables)
    assert {path.name for path in claude.iterdir()} == {"settings.json", ".claude.json"}
    assert {path.name for path in codex.iterdir()} == {"hooks.json", "config.toml"}
    trusted = tomllib.loads((codex / "config.toml").read_text())["hooks"]["state"]
    assert [key.removeprefix(f"{codex}/hooks.json:") for key in trusted] == [
        "session_start:0:0",
        "stop:0:0",
        "pre_compact:0:0",
        "session_end:0:0",
    ]


def test_links_in_the_variable_of_codex_are_followed_as_codex_follows_them(home: Path, user: Path) -> None:
    real = home.parent / "real" / "codex"
    real.mkdir(parents=True)
    (home.parent / "link").symlink_to(real.parent)
    install("codex", home, variables={"CODEX_HOME": str(home.parent / "link" / "codex")})
    trusted = tomllib.loads((real / "config.toml").read_text())["hooks"]["state"]
    assert f"{real}/hooks.json:stop:0:0" in trusted


def test_a_linked_folder_of_codex_that_no_variable_names_keeps_its_name(home: Path, user: Path) -> None:
    real = home.parent / "real"
    real.mkdir()
    (user / ".codex").symlink_to(real)
    install("codex", home)
    trusted = tomllib.loads((real / "config.toml").read_text())["hooks"]["state"]
    assert f"{user}/.codex/hooks.json:stop:0:0" in trusted


def test_the_file_of_the_first_versions_of_claude_code_is_used_where_it_is(home: Path, user: Path) -> None:
    older = write(user / ".claude" / ".config.json", "{}")
    install("claude-code", home)
    assert "recollect" in json.loads(older.read_text())["mcpServers"]
    assert not (user / ".claude.json").exists()
    assert commands.run("uninstall", "claude-code", "--yes", home=home).code == 0
    assert everything(user) == {".claude/.config.json": b"{}"}


def test_who_leaves_trust_to_codex_finds_none_of_it_in_the_settings(home: Path, user: Path) -> None:
    install("codex", home, "--no-trust")
    assert "hooks" not in tomllib.loads((user / ".codex" / "config.toml").read_text())


def test_a_token_is_made_once_is_shown_nowhere_and_ends_with_uninstall(home: Path, user: Path) -> None:
    """Nobody listens here, so the self-test says so; all the rest is done."""
    done = commands.run("install", "claude-code", "--http", "--yes", "--json", home=home, variables=NOBODY)
    assert done.code == 1
    assert [step["ok"] for step in done.json()["self_test"]] == [True, True, False, True]
    assert done.json()["self_test"][2]["detail"] == (
        "Nobody answers at http://127.0.0.1:9/mcp. Start `recollect up`, then install again."
    )
    server = json.loads((user / ".claude.json").read_text())["mcpServers"]["recollect"]
    secret = server["headers"]["Authorization"].removeprefix("Bearer ")
    assert server["url"].endswith("/mcp")
    assert secret not in done.out
    commands.run("install", "claude-code", "--http", "--yes", home=home, variables=NOBODY)
    with recollect.open(home) as memory:
        assert memory.access.holder(secret)
        assert [token.agent for token in memory.access.list()] == ["claude-code"]
    assert commands.run("uninstall", "claude-code", "--yes", home=home).code == 0
    with recollect.open(home) as memory:
        assert memory.access.holder(secret) is None
    assert everything(user) == {}


def test_no_token_is_written_where_others_can_read_it(home: Path, user: Path) -> None:
    write(user / ".claude.json", "{}", 0o644)
    done = commands.run("install", "claude-code", "--http", "--yes", home=home, variables=NOBODY)
    assert done.code == 4
    assert done.explains("chmod 600")
    assert (user / ".claude.json").read_text() == "{}"
    with recollect.open(home) as memory:
        assert memory.access.list() == []


def test_an_address_of_a_database_is_not_written_into_other_programs_files(home: Path, user: Path) -> None:
    from recollect.errors import Invalid
    from recollect.settings import load_settings
    from recollect.surfaces.hooks.commands import words_of

    with pytest.raises(Invalid, match="password"):
        words_of(load_settings(home, "postgresql://ada:pw@localhost/x"), ["recollect"])
    given = words_of(load_settings(home, "else where.db"), ["recollect"])
    assert given == ["recollect", "--home", str(home), "--db", os.path.abspath("else where.db")]


def test_what_an_agent_learned_stays_after_uninstall(home: Path, user: Path) -> None:
    install("claude-code", home)
    with recollect.open(home) as memory:
        memory.as_agent("claude-code").knowledge.remember("Tabs are eight wide here.")
    commands.run("uninstall", "claude-code", "--yes", home=home)
    with recollect.open(home) as memory:
        assert [record.text for record in memory.knowledge.records()] == ["Tabs are eight wide here."]
        assert [one.scope.id for one in memory.agents.list()] == ["claude-code"]


def test_uninstall_finds_what_is_ours_without_its_own_notes(home: Path, user: Path) -> None:
    path = write(user / ".claude" / "settings.json", json.dumps(CLAUDE, indent=4))
    install("claude-code", home)
    (home / "hooks" / "installed.json").unlink()
    assert commands.run("uninstall", "claude-code", "--yes", home=home).code == 0
    kept = json.loads(path.read_text())
    assert kept["hooks"].pop("Stop") == CLAUDE["hooks"]["Stop"]
    assert not any(kept["hooks"].values())
    assert "recollect" not in json.loads((user / ".claude.json").read_text()).get("mcpServers", {})


def test_what_an_install_that_was_cut_off_did_not_write_down_is_taken_out_too(home: Path, user: Path) -> None:
    install("claude-code", home)
    (home / "hooks" / "installed.json").unlink()
    install("claude-code", home)
    assert commands.run("uninstall", "claude-code", "--yes", home=home).code == 0
    assert b"recollect" not in b"".join(everything(user).values())


def test_what_an_agent_wrote_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = write(tmp_path / "settings.json", "{}")
    assert not files.write_over(str(path), b'{"older": 1}', b'{"ours": 1}')
    assert not files.write_over(str(path), None, b'{"ours": 1}')
    assert not files.write_over(str(path), b'{"older": 1}', None)
    assert path.read_bytes() == b"{}"
    assert files.write_over(str(path), b"{}", b'{"ours": 1}')
    assert os.listdir(tmp_path) == ["settings.json"]


def test_an_unknown_tool_is_named_with_those_that_there_are(home: Path) -> None:
    done = commands.run("install", "emacs", "--yes", home=home)
    assert done.code == 3
    assert done.explains("emacs", "claude-code, codex")


def test_the_plugin_has_the_hooks_and_the_server_of_this_home(home: Path, user: Path) -> None:
    folder = home.parent / "plug in"
    told = install("claude-code", home, "--plugin", folder)
    assert told["ok"]
    assert everything(user) == {}
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert sorted(hooks) == ["PreCompact", "SessionEnd", "SessionStart", "Stop"]
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["recollect"]
    assert str(home) in server["args"]
    given = json.dumps({"cwd": str(user), "source": "startup", "session_id": "s"}).encode()
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    done = subprocess.run(["sh", "-c", command], input=given, capture_output=True, env=commands.environment(home))
    assert b"<recollect-context>" in done.stdout
    before = everything(folder)
    install("claude-code", home, "--plugin", folder)
    assert everything(folder) == before


def test_a_folder_with_something_else_in_it_does_not_become_the_plugin(home: Path, user: Path) -> None:
    write(user / "mine" / "thesis.txt", "words")
    done = commands.run("install", "claude-code", "--plugin", user / "mine", "--yes", home=home)
    assert done.code == 5
    assert everything(user) == {"mine/thesis.txt": b"words"}


def test_a_plugin_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    manifest = write(tmp_path / ".claude-plugin" / "plugin.json", '{"name": "theirs"}')
    with pytest.raises(Conflict, match="no plugin of ours"):
        write_plugin(tmp_path, {"README.md": "ours"})
    assert everything(tmp_path) == {".claude-plugin/plugin.json": b'{"name": "theirs"}'}
    manifest.write_text('{"name": "recollect"}')
    write_plugin(tmp_path, {"README.md": "ours"})
    assert (tmp_path / "README.md").read_text() == "ours"


def test_who_does_not_agree_gets_no_plugin(home: Path, user: Path) -> None:
    folder = home.parent / "plugin"
    done = commands.run("install", "claude-code", "--plugin", folder, home=home, given="n\n")
    assert done.code == 0
    assert "Nothing was changed." in done.out
    assert not folder.exists()
    assert not (home / "hooks").exists()


def test_the_folder_of_a_plugin_is_left_and_named(home: Path, user: Path) -> None:
    folder = home.parent / "plugin"
    done = commands.run("install", "claude-code", "--plugin", folder, "--yes", home=home)
    assert f"claude --plugin-dir {folder}" in done.out
    assert "takes it out again" not in done.out
    gone = commands.run("uninstall", "claude-code", "--yes", home=home)
    assert str(folder) in gone.out
    assert (folder / ".mcp.json").exists()


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_file_that_is_read_only_is_named_and_stays(home: Path, user: Path, command: str) -> None:
    if command == "uninstall":
        install("claude-code", home)
    path = write(user / ".claude" / "settings.json", "{}") if command == "install" else user / ".claude/settings.json"
    path.chmod(0o444)
    before = everything(user)
    done = commands.run(command, "claude-code", "--dry-run", home=home)
    assert done.code == 4
    assert done.explains(str(path), "chmod u+w")
    assert everything(user) == before


def test_a_folder_where_nothing_can_be_made_is_named_before_anything_is_written(home: Path, user: Path) -> None:
    write(user / ".claude" / "settings.json", "{}")
    user.chmod(0o555)
    try:
        done = commands.run("install", "claude-code", "--yes", home=home, obey_permissions=True)
    finally:
        user.chmod(0o755)
    assert done.code == 4, done.out
    assert done.explains(str(user / ".claude.json"), "nothing was changed")
    assert everything(user) == {".claude/settings.json": b"{}"}
    assert not (home / "hooks").exists()
