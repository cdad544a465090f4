"""What `recollect install` says last: of the sessions that follow, nothing a person would find out only there."""

import shlex
from pathlib import Path

import commands
import pytest
from installs import install, user_of, write


@pytest.fixture
def user(home: Path) -> Path:
    return user_of(home)


def last_line(home: Path, *words: object) -> str:
    done = commands.run("install", *words, "--yes", home=home, is_untested=True)
    assert done.code == 0, done.err + done.out
    return done.out.strip().splitlines()[-1]


def test_where_trust_is_left_to_codex_nothing_says_that_it_has_it_already(home: Path, user: Path) -> None:
    assert "but for what is said above" in last_line(home, "codex", "--no-trust")
    assert "above" not in last_line(home, "codex")


@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_where_nothing_is_taken_in_that_is_said(home: Path, user: Path, tool: str) -> None:
    commands.run("pause", home=home)
    (said,) = install(tool, home)["warnings"]
    assert "recollect resume" in said
    assert "but for what is said above" in last_line(home, tool)
    commands.run("resume", home=home)
    assert install(tool, home)["warnings"] == []
    write(home / "recollect.toml", "enabled = false\n")
    (said,) = install(tool, home)["warnings"]
    assert "enabled" in said


def test_a_command_for_a_folder_with_odd_signs_can_be_pasted(home: Path, user: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's mine"
    said = last_line(home, "claude-code", "--plugin", folder)
    words = shlex.split(said.split("`")[1])
    assert words == ["claude", "--plugin-dir", str(folder)]


def test_who_has_the_plugin_and_the_settings_is_told_that_all_comes_twice(
    home: Path, user: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "plugin"
    assert install("claude-code", home, "--plugin", folder)["warnings"] == []
    (said,) = install("claude-code", home)["warnings"]
    assert str(folder) in said
    assert "twice" in said
    (said,) = install("claude-code", home, "--plugin", folder)["warnings"]
    assert str(user / ".claude" / "settings.json") in said


def test_hooks_that_codex_would_rather_have_in_one_place_are_told(home: Path, user: Path) -> None:
    theirs = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
    config = write(user / ".codex" / "config.toml", theirs)
    (said,) = install("codex", home)["warnings"]
    assert str(config) in said
    assert "one place" in said
