"""`recollect diary`: entries that are written once (N1, N3)."""

from pathlib import Path

import pytest
from commands import run
from record_commands import refused, told
from terminals import on_a_terminal

ENTRY_KEYS = {"name", "path", "at", "text", "is_changed", "is_gone", "original", "latest"}
FOLDER = "agents/assistant/diary"


@pytest.fixture
def kept(home: Path) -> tuple[Path, str]:
    """A home and the path of an entry in it."""
    return home, told(home, "diary", "write", "The frost came early.")["path"]


def test_an_entry_is_written_listed_and_shown(kept: tuple[Path, str]) -> None:
    home, path = kept
    assert run("diary", "write", "-", home=home, given="It thawed.\n").code == 0

    listed = told(home, "diary", "list")
    assert [set(entry) for entry in listed] == [ENTRY_KEYS, ENTRY_KEYS]
    assert [entry["text"] for entry in listed] == ["It thawed.\n", "The frost came early.\n"]
    assert listed[1]["path"] == path
    assert path.startswith(f"{FOLDER}/")
    assert (home / "notes" / path).read_text(encoding="utf-8") == "The frost came early.\n"
    assert run("diary", "show", home=home).out == "It thawed.\n"
    assert run("diary", "show", listed[1]["name"], home=home).out == "The frost came early.\n"
    assert "It thawed." in run("diary", home=home).out
    assert told(home, "diary", "list", "--limit", 1)[0]["text"] == "It thawed.\n"
    assert told(home, "diary", "list", "--since", "tomorrow") == []


def test_an_entry_cannot_be_changed_through_us(kept: tuple[Path, str]) -> None:
    home, path = kept
    assert refused(run("notes", "write", path, "It was warm.", home=home), 5, path, "diary")
    assert refused(run("notes", "remove", path, home=home), 5, path)
    edited = on_a_terminal("notes", "edit", path, home=home, EDITOR="true")
    assert (edited.code, "never changed" in edited.out) == (5, True)


def test_a_change_with_another_tool_is_reported_and_can_be_taken_back(kept: tuple[Path, str]) -> None:
    home, path = kept
    (home / "notes" / path).write_text("It was warm.\n", encoding="utf-8")

    shown = run("diary", "show", home=home)
    assert shown.out == "The frost came early.\n"
    assert f"notes diff {path} 1 2" in shown.err
    assert "(changed)" in run("diary", "list", home=home).out
    assert [one["path"] for one in told(home, "notes", "review")] == [path]
    (name,) = [entry["name"] for entry in told(home, "diary", "list")]
    assert told(home, "diary", "restore", name)["is_changed"] is False
    assert (home / "notes" / path).read_text(encoding="utf-8") == "The frost came early.\n"
    assert run("notes", "show", path, "--version", 2, home=home).out == "It was warm.\n"


def test_an_agent_has_a_diary_of_its_own(kept: tuple[Path, str]) -> None:
    home, path = kept
    assert run("agents", "add", "ada", home=home).code == 0

    assert told(home, "diary", "write", "Mine.", "--agent", "ada")["path"].startswith("agents/ada/diary/")
    assert [entry["text"] for entry in told(home, "diary", "--agent", "ada", "--json")] == ["Mine.\n"]
    assert refused(run("notes", "show", path, "--agent", "ada", home=home), 3, path)


def test_nothing_to_write_and_nothing_to_show_are_told(home: Path) -> None:
    assert refused(run("diary", "write", "  ", home=home), 2, "empty")
    assert refused(run("diary", "write", "-", home=home), 2, "empty")
    assert refused(run("diary", "write", home=home), 2, "terminal")
    assert refused(run("diary", "show", home=home), 3, "diary")
    assert refused(run("diary", "restore", "2020", home=home), 3, "2020")
    assert "No entries" in run("diary", home=home).out


def test_an_editor_opens_for_an_entry_on_a_terminal(home: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "The pond froze." > "$1"\n', encoding="utf-8")
    editor.chmod(0o755)

    done = on_a_terminal("diary", "write", home=home, EDITOR=str(editor))

    assert done.code == 0, done.out
    assert run("diary", "show", home=home).out == "The pond froze.\n"
