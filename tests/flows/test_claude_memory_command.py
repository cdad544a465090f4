"""`recollect claude-memory`, and what the commands tell of what was shown and used."""

from pathlib import Path

import pytest
from commands import run

import recollect


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "projects" / "-home-ada-garden" / "memory"
    made.mkdir(parents=True)
    (made / "no-mocks.md").write_text("---\nname: no-mocks\ntype: feedback\n---\nNever mock the database.\n")
    (made / "broken.md").write_text("---\nname: x\n")
    return made


def test_a_folder_is_imported_once_and_a_dry_run_changes_nothing(home: Path, folder: Path) -> None:
    dry = run("claude-memory", "import", folder, "--dry-run", "--json", home=home).json()
    assert (dry["dry_run"], dry["new"], dry["problems"]) == (True, 1, 1)
    first = run("claude-memory", "import", folder, "--json", home=home).json()
    assert (first["new"], first["unchanged"]) == (1, 0)
    assert first["folders"][0]["problems"][0]["file"] == "broken.md"
    told = run("claude-memory", "import", folder, home=home)
    assert told.code == 0
    assert "1 as before" in told.out
    assert "broken.md" in told.out
    records = run("records", "--json", home=home).json()
    assert [record["text"] for record in records] == ["Never mock the database."]


def test_while_taking_in_is_paused_an_import_is_refused_as_ingest_is(home: Path, folder: Path) -> None:
    run("pause", home=home)
    done = run("claude-memory", "import", folder, home=home)
    assert done.code == 6
    assert "recollect resume" in done.err
    assert run("claude-memory", "import", folder, "--dry-run", home=home).code == 0
    assert run("records", "--json", home=home).json() == []


def test_a_folder_that_is_not_there_is_not_found(home: Path, tmp_path: Path) -> None:
    missing = run("claude-memory", "import", tmp_path / "nowhere", home=home)
    assert missing.code == 3
    assert "nowhere" in missing.err


def test_what_is_known_is_written_and_read_into_another_home(home: Path, tmp_path: Path) -> None:
    run("remember", "Mara keeps bees.", "--category", "identity", home=home)
    done = run("claude-memory", "export", tmp_path / "out", "--json", home=home).json()
    assert sorted(done["written"]) == ["MEMORY.md", "mara-keeps-bees.md"]
    assert "as before" in run("claude-memory", "export", tmp_path / "out", home=home).out
    other = tmp_path / "other"
    run("claude-memory", "import", tmp_path / "out", home=other)
    (record,) = run("records", "--json", home=other).json()
    assert (record["text"], record["category"]) == ("Mara keeps bees.", "identity")


def test_a_record_a_context_and_health_tell_what_was_shown_and_used(home: Path) -> None:
    record = run("remember", "Mara keeps bees.", "--json", home=home).json()["id"]
    assert "shown" not in run("record", record, home=home).out
    assert run("record", record, "--json", home=home).json()["shown"] == 0
    with recollect.open(home=home) as memory:
        memory.showings.note_shown("one", [record])
        memory.showings.note_shown("two", [record])
        memory.showings.note_used([record], how="read_memory")
    told = run("record", record, "--json", home=home).json()
    assert (told["shown"], told["used"]) == (2, 1)
    assert "in 2 sessions, used 1 time" in run("record", record, home=home).out
    (shown,) = run("context", "--json", home=home).json()["records"]
    assert (shown["id"], shown["shown"], shown["used"]) == (record, 2, 1)
    health = run("health", "--json", home=home).json()
    assert health["showings"] == {"records": 1, "used": 1, "sunk": 0, "open_sessions": 0}
    assert "1 record to sessions: 1 used" in run("health", home=home).out


@pytest.mark.parametrize(("name", "reason"), [("nope", ""), ("a file/nope", ": Not a directory")])
def test_a_folder_that_is_not_there_is_named_once(home: Path, tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "a file").write_text("no folder")
    refused = run("claude-memory", "import", tmp_path / name, home=home)
    assert (refused.code, refused.err) == (3, f"recollect: There is no folder {tmp_path / name}{reason}.\n")
