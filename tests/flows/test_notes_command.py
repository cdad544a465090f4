"""`recollect notes`: files that people and agents write, every version kept (N1, N2, N3)."""

import subprocess
from pathlib import Path

import pytest
from commands import command, environment, run
from record_commands import refused, told
from terminals import on_a_terminal

VERSION_KEYS = {
    "path", "version", "at", "actor", "actor_name", "action", "reason", "size", "digest", "unseen", "moved_from",
    "review",
}  # fmt: skip
WRITTEN_KEYS = VERSION_KEYS | {"is_new", "masked"}
ESCAPE = "\x1b["


def note(home: Path, path: str) -> Path:
    """The file of a note."""
    return home / "notes" / path


def editor(folder: Path, script: str) -> str:
    """A program that changes the file it is given."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def garden(home: Path) -> Path:
    """A home with a note of two versions."""
    for text in ("Beans in April.", "Beans in May."):
        assert run("notes", "write", "garden.md", text, home=home).code == 0
    return home


# Writing and reading


def test_the_first_use_makes_the_folder_and_says_so_once(home: Path) -> None:
    first, again = run("notes", home=home), run("notes", "list", home=home)

    assert (first.code, again.code) == (0, 0)
    assert "agents/assistant/COMPACTION.md" in first.out
    assert "notes: .gitignore, agents/assistant/COMPACTION.md." in first.err
    assert again.err == ""
    assert sorted(path.name for path in (home / "notes").iterdir()) == [".gitignore", "agents"]


def test_reading_makes_nothing(home: Path) -> None:
    assert refused(run("notes", "show", "user.md", home=home), 3, "user.md")
    assert not (home / "notes").exists()


def test_a_written_note_is_a_file_and_a_version(home: Path) -> None:
    made = told(home, "notes", "write", "projects/garden/overview.md", "Beans.", "--reason", "spring")

    assert set(made) == WRITTEN_KEYS
    assert (made["path"], made["version"], made["actor"]) == ("projects/garden/overview.md", 1, "person")
    assert (made["action"], made["reason"], made["size"], made["is_new"]) == ("written", "spring", 7, True)
    assert note(home, "projects/garden/overview.md").read_text(encoding="utf-8") == "Beans.\n"
    shown = told(home, "notes", "show", "projects/garden/overview.md")
    assert set(shown) == VERSION_KEYS | {"text", "is_utf8"}
    assert (shown["text"], shown["version"], shown["is_utf8"]) == ("Beans.\n", 1, True)
    listed = told(home, "notes", "list", "projects")
    assert [set(item) for item in listed] == [VERSION_KEYS]
    assert listed[0]["path"] == "projects/garden/overview.md"


def test_standard_input_and_files_are_taken_to_the_byte_and_shown_so(home: Path, tmp_path: Path) -> None:
    exact = "no line end, \t\x1b[31m and\r\na nul-free \u2028 rest"
    source = tmp_path / "source.md"
    source.write_bytes(exact.encode())
    assert run("notes", "write", "one.md", "--from", source, home=home).code == 0
    with source.open("rb") as stream:
        done = subprocess.run(command("notes", "write", "two.md", "-"), env=environment(home), stdin=stream, check=True)
    assert done.returncode == 0

    for path in ("one.md", "two.md"):
        shown = subprocess.run(command("notes", "show", path), env=environment(home), capture_output=True, check=True)
        assert shown.stdout == exact.encode()
        assert note(home, path).read_bytes() == exact.encode()


def test_the_same_text_again_makes_no_version(garden: Path) -> None:
    again = told(garden, "notes", "write", "garden.md", "Beans in May.")

    assert (again["version"], again["is_new"]) == (2, False)
    assert "Nothing to change" in run("notes", "write", "garden.md", "Beans in May.", home=garden).out


def test_text_is_added_at_the_end(garden: Path) -> None:
    assert run("notes", "write", "garden.md", "Peas in March.", "--append", home=garden).code == 0

    assert run("notes", "show", "garden.md", home=garden).out == "Beans in May.\nPeas in March.\n"


def test_a_note_is_also_called_by_its_whole_path(garden: Path) -> None:
    assert run("notes", "show", note(garden, "garden.md"), home=garden).out == "Beans in May.\n"
    assert refused(run("notes", "show", "/etc/hostname", home=garden), 2, "/etc/hostname", "user.md")


def test_a_credential_is_masked_and_the_person_told(home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = run("notes", "write", "keys.md", f"token {secret}", home=home)

    assert done.code == 0
    assert "1 credential" in done.err
    assert secret not in run("notes", "show", "keys.md", home=home).out


# Versions


def test_history_diff_and_undo(garden: Path) -> None:
    note(garden, "garden.md").write_text("Beans in June.\n", encoding="utf-8")

    found = told(garden, "notes", "history", "garden.md")
    assert [(one["version"], one["actor"], one["action"]) for one in found] == [
        (1, "person", "written"),
        (2, "person", "written"),
        (3, "outside", "found"),
    ]
    table = run("notes", "history", "garden.md", home=garden).out
    assert "another tool" in table
    assert "you" in table
    assert "-Beans in May.\n+Beans in June.\n" in run("notes", "diff", "garden.md", home=garden).out
    assert "-Beans in April.\n+Beans in June.\n" in run("notes", "diff", "garden.md", 1, home=garden).out
    assert "-Beans in April.\n+Beans in May.\n" in told(garden, "notes", "diff", "garden.md", 1, 2)["diff"]
    assert told(garden, "notes", "undo", "garden.md")["action"] == "restored"
    assert note(garden, "garden.md").read_text(encoding="utf-8") == "Beans in May.\n"
    assert "Restored: garden.md, version 5" in run("notes", "undo", "garden.md", "--to", 1, home=garden).out
    assert note(garden, "garden.md").read_text(encoding="utf-8") == "Beans in April.\n"
    assert run("notes", "show", "garden.md", "--version", 3, home=garden).out == "Beans in June.\n"


def test_a_removed_note_comes_back(garden: Path) -> None:
    done = run("notes", "remove", "garden.md", home=garden)
    assert "notes undo garden.md" in done.out
    assert not note(garden, "garden.md").exists()
    assert "garden.md" not in [one["path"] for one in told(garden, "notes", "list")]
    (gone,) = [one for one in told(garden, "notes", "list", "--gone") if one["path"] == "garden.md"]
    assert (gone["action"], gone["digest"]) == ("removed", "")

    assert run("notes", "undo", "garden.md", home=garden).code == 0
    assert run("notes", "show", "garden.md", home=garden).out == "Beans in May.\n"


def test_a_note_is_moved_but_not_over_another(garden: Path) -> None:
    assert run("notes", "write", "shed.md", "Tools.", home=garden).code == 0

    assert refused(run("notes", "move", "garden.md", "shed.md", home=garden), 5, "shed.md")
    (moved,) = [one for one in told(garden, "notes", "move", "garden.md", "old/beans.md") if one["digest"]]
    assert (moved["path"], moved["moved_from"]) == ("old/beans.md", "garden.md")
    assert run("notes", "show", "old/beans.md", home=garden).out == "Beans in May.\n"


def test_a_text_that_was_replaced_unseen_is_named_and_kept(garden: Path) -> None:
    done = run("notes", "write", "garden.md", "Beans never.", "--expect", 1, home=garden)

    assert done.code == 0
    assert "version 2" in done.err
    assert "notes diff garden.md 2 3" in done.err
    assert run("notes", "show", "garden.md", "--version", 2, home=garden).out == "Beans in May.\n"
    assert told(garden, "notes", "history", "garden.md")[-1]["unseen"] == 2


def test_a_page_of_scratch_is_promoted(home: Path) -> None:
    assert run("notes", "write", "agents/assistant/scratch/idea.md", "A pond.", home=home).code == 0

    done = run("notes", "promote", "agents/assistant/scratch/idea.md", "projects/pond.md", home=home)

    assert done.code == 0, done.err
    assert note(home, "projects/pond.md").read_text(encoding="utf-8") == "A pond.\n"
    last = told(home, "notes", "history", "projects/pond.md")[-1]
    assert (last["action"], last["moved_from"]) == ("promoted", "agents/assistant/scratch/idea.md")


# The soul


def test_a_change_of_the_soul_needs_a_reason_and_that_of_an_agent_waits_for_review(home: Path) -> None:
    path = "agents/assistant/soul.md"
    assert refused(run("notes", "write", path, "Calm.", home=home), 2, "reason")
    assert run("notes", "write", path, "Calm.", "--reason", "first words", home=home).code == 0
    assert told(home, "notes", "review") == []
    changed = run("notes", "write", path, "Curious.", "--reason", "I ask", "--agent", "assistant", home=home)
    assert changed.code == 0
    note(home, path).write_text("Loud.\n", encoding="utf-8")

    waiting = told(home, "notes", "review")
    assert [(one["version"], one["actor"], one["reason"]) for one in waiting] == [
        (2, "agent", "I ask"),
        (3, "outside", ""),
    ]
    assert f"notes diff {path} 1 2" in run("notes", "review", home=home).out
    denied = run("notes", "review", "--accept", path, "--agent", "assistant", home=home)
    assert refused(denied, 4, "only a person")
    assert "Accepted" in run("notes", "review", "--accept", f"{path}@2", home=home).out
    assert [one["version"] for one in told(home, "notes", "review", "--accept", path)] == [3]
    assert "Nothing waits" in run("notes", "review", home=home).out
    assert refused(run("notes", "review", "--accept", path, home=home), 3, path)
    unsaid = on_a_terminal("notes", "edit", path, home=home, EDITOR="true")
    assert (unsaid.code, "--reason" in unsaid.out) == (2, True)


# As an agent


def test_an_agent_sees_its_own_folder_and_the_house_and_no_siblings(home: Path) -> None:
    for name in ("ada", "bo"):
        assert run("agents", "add", name, home=home).code == 0
    assert run("notes", "write", "agents/ada/threads.md", "Hers.", "--agent", "ada", home=home).code == 0
    assert run("notes", "write", "user.md", "Mara.", home=home).code == 0

    mine = [one["path"] for one in told(home, "notes", "list", "--agent", "ada")]
    theirs = [one["path"] for one in told(home, "notes", "--agent", "bo", "--json")]

    assert {"agents/ada/threads.md", "user.md"} <= set(mine)
    assert "agents/ada/threads.md" not in theirs
    assert refused(run("notes", "show", "agents/ada/threads.md", "--agent", "bo", home=home), 3, "threads.md")
    assert refused(run("notes", "write", "user.md", "Bo.", "--agent", "bo", home=home), 4, "bo")
    assert refused(run("notes", "--agent", "bo", "remove", "user.md", home=home), 2, "after the command")
    assert run("notes", "show", "user.md", home=home).out == "Mara.\n"


# On a terminal


def test_an_editor_changes_a_copy_and_the_note_is_written(garden: Path, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    program = editor(tmp_path, 'sed -i s/May/June/ "$1"')
    done = on_a_terminal("notes", "edit", "garden.md", home=garden, EDITOR=program, TMPDIR=str(copies))
    assert (done.code, "Written" in done.out) == (0, True), done.out
    assert run("notes", "show", "garden.md", home=garden).out == "Beans in June.\n"

    unchanged = on_a_terminal("notes", "edit", "garden.md", home=garden, EDITOR="true", TMPDIR=str(copies))
    assert (unchanged.code, "Nothing was changed" in unchanged.out) == (0, True)
    assert not list(copies.iterdir())


def test_what_others_write_while_an_editor_is_open_is_kept_and_named(garden: Path, tmp_path: Path) -> None:
    script = f'echo mine > "$1"; echo theirs > "{note(garden, "garden.md")}"'

    done = on_a_terminal("notes", "edit", "garden.md", home=garden, VISUAL=editor(tmp_path, script))

    assert done.code == 0, done.out
    assert "another tool" in done.out
    assert run("notes", "show", "garden.md", home=garden).out == "mine\n"
    assert run("notes", "show", "garden.md", "--version", 3, home=garden).out == "theirs\n"


def test_a_text_that_cannot_be_written_stays_in_the_copy(garden: Path, tmp_path: Path) -> None:
    """The editor failed; somebody else's folder; no text any more."""
    assert run("agents", "add", "bo", home=garden).code == 0
    copies = tmp_path / "copies"
    copies.mkdir()
    for script, more, code in (("exit 3", [], 2), ("", ["--agent", "bo"], 4), ("printf '\\377' >> \"$1\"", [], 2)):
        program = editor(tmp_path, f'echo kept > "$1"; {script}')
        done = on_a_terminal("notes", "edit", "garden.md", *more, home=garden, EDITOR=program, TMPDIR=str(copies))
        assert done.code == code, done.out
        (folder,) = copies.iterdir()
        assert f"What you wrote is in {folder / 'garden.md'}" in done.out
        assert (folder / "garden.md").read_bytes().startswith(b"kept\n")
        (folder / "garden.md").unlink()
        folder.rmdir()
    assert run("notes", "show", "garden.md", home=garden).out == "Beans in May.\n"


def test_without_a_terminal_or_an_editor_edit_says_what_to_do(garden: Path) -> None:
    assert refused(run("notes", "edit", "garden.md", home=garden), 2, "terminal", "write")
    absent = on_a_terminal("notes", "edit", "garden.md", home=garden, EDITOR="no-such-editor --wait")
    assert (absent.code, "no-such-editor" in absent.out, "Set VISUAL or EDITOR" in absent.out) == (2, True, True)


def test_a_terminal_gets_colours_in_a_diff_and_no_commands_from_a_note(garden: Path) -> None:
    seen = on_a_terminal("notes", "diff", "garden.md", home=garden).out
    assert "\x1b[31m-Beans in April.\x1b[0m" in seen
    assert "\x1b[32m+Beans in May.\x1b[0m" in seen
    assert ESCAPE not in run("notes", "diff", "garden.md", home=garden).out

    note(garden, "bell.md").write_bytes(b"red \x1b[31m\x07 and \x9b\ttab\n")
    shown = on_a_terminal("notes", "show", "bell.md", home=garden).out
    assert (ESCAPE in shown, "\x07" in shown, "\x9b" in shown) == (False, False, False)
    assert "red [31m and " in shown
    note(garden, "image.png").write_bytes(b"\x89PNG\0\0")
    assert "no text: 6 bytes" in on_a_terminal("notes", "show", "image.png", home=garden).out


def test_a_terminal_shows_whole_names_and_reasons(garden: Path) -> None:
    name, reason = f"{'far-' * 30}away.md", f"because {'of this and that, ' * 8}it had to be"
    assert run("notes", "write", name, "x", "--reason", reason, home=garden).code == 0
    assert name in on_a_terminal("notes", home=garden).out
    assert reason in on_a_terminal("notes", "history", name, home=garden).out


def test_a_name_may_be_given_as_a_shell_completes_it(garden: Path) -> None:
    for name in ("./garden.md", note(garden, "garden.md")):
        assert run("notes", "show", name, home=garden).out == "Beans in May.\n"


def test_undoing_says_where_it_went_back_to(garden: Path) -> None:
    assert run("notes", "undo", "garden.md", home=garden).out == "Restored: garden.md, version 3: back to version 1\n"
    gone = run("notes", "undo", "garden.md", home=garden).out
    assert gone == "Gone, as it was before: garden.md, version 4: back to before it was made\n"
    assert run("notes", "undo", "garden.md", "--to", 2, home=garden).code == 0
    note(garden, "garden.md").unlink()
    assert run("notes", "history", "garden.md", home=garden).out.endswith("gone  found gone\n")


def test_the_commands_of_notes_are_completed(home: Path) -> None:
    variables = {"_RECOLLECT_COMPLETE": "bash_complete", "COMP_WORDS": "recollect notes h", "COMP_CWORD": "2"}
    assert run(home=home, variables=variables).out == "plain,history\n"
