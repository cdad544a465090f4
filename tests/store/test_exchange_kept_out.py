"""What stays out of history stays out of an import of facts, too (H11). On both engines."""

import json
import os
import re
from pathlib import Path

import pytest

import recollect
from recollect.errors import Unavailable
from recollect.exchange import FolderImport
from recollect.knowledge import Record
from recollect.testing import FrozenClock

ROLE = "---\nname: role\ndescription: Who she is\ntype: user\n---\nMara keeps bees.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".claude" / "projects" / "-home-ada-garden" / "memory"
    made.mkdir(parents=True)
    (made / "no-mocks.md").write_text("Never mock the database.\n")
    (made / "role.md").write_text(ROLE)
    for path in made.iterdir():
        os.utime(path, (0, 0))  # Long before any pause.
    return made


def read(memory: recollect.Memory, folder: Path, **options: bool) -> FolderImport:
    (report,) = memory.exchange.import_from([folder], **options).folders
    return report


def current(memory: recollect.Memory) -> dict[str, Record]:
    return {record.text: record for record in memory.knowledge.records()}


def passed_over(report: FolderImport) -> dict[str, str]:
    return {one.file: one.reason for one in report.problems}


def test_while_taking_in_is_paused_nothing_is_imported_and_a_dry_run_may_look(
    memory: recollect.Memory, folder: Path
) -> None:
    memory.history.pause()
    with pytest.raises(Unavailable, match="paused"):
        memory.exchange.import_from([folder])
    assert read(memory, folder, dry_run=True).new == ["no-mocks.md", "role.md"]
    assert current(memory) == {}
    memory.history.resume()
    assert read(memory, folder).new == ["no-mocks.md", "role.md"]


def test_what_was_written_in_a_pause_stays_out(memory: recollect.Memory, folder: Path, clock: FrozenClock) -> None:
    memory.history.pause()
    clock.move(hours=1)
    os.utime(folder / "role.md", (clock().timestamp(), clock().timestamp()))
    clock.move(hours=1)
    memory.history.resume()
    report = read(memory, folder)
    assert report.new == ["no-mocks.md"]
    assert "paused" in passed_over(report)["role.md"]


@pytest.mark.parametrize(
    ("place", "patterns"),
    [
        (".claude/projects", "-home-ada-*/\n"),
        (".claude/projects/-home-ada-garden", "memory/\n"),
        (".claude/projects/-home-ada-garden/memory", "*.md\n"),
        ("home", "-home-ada-garden/\n"),
        ("home", "/home/ada/garden/\n"),
    ],
)
def test_facts_that_an_ignore_file_keeps_out_are_passed_over_and_named(
    memory: recollect.Memory, folder: Path, place: str, patterns: str
) -> None:
    where = memory.settings.home if place == "home" else folder.parents[3] / place
    where.mkdir(exist_ok=True)
    (where / ".recollectignore").write_text(patterns)
    report = read(memory, folder)
    assert (report.new, report.missing) == ([], [])
    assert all("ignore" in reason for reason in passed_over(report).values())
    assert set(passed_over(report)) in ({"no-mocks.md", "role.md"}, {"."})
    assert current(memory) == {}


@pytest.mark.parametrize("is_told", [True, False], ids=["by a transcript", "by its name"])
def test_facts_of_a_project_that_is_ignored_in_its_own_folder_are_passed_over(
    memory: recollect.Memory, tmp_path: Path, is_told: bool
) -> None:
    garden = tmp_path / "my garden.d"
    garden.mkdir()
    beside = tmp_path / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(garden))
    (beside / "memory").mkdir(parents=True)
    (beside / "memory" / "role.md").write_text(ROLE)
    if is_told:
        (beside / "one.jsonl").write_text('"odd"\n{"type":"user","cwd":' + json.dumps(str(garden)) + "}\n")
    (garden / ".recollectignore").touch()
    link = tmp_path / "link"
    link.symlink_to(beside / "memory")
    for place in (beside / "memory", link):
        report = read(memory, place)
        assert report.new == []
        assert ".recollectignore" in passed_over(report)["."]
    (garden / ".recollectignore").unlink()
    assert read(memory, beside / "memory").new == ["role.md"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("[private]\nThe key is under the stone.\n", "private"),
        ("---\nname: key\n---\nThe key.\n[private]\nUnder the stone.\n", "private"),
        ("<recollect-context>\nMara keeps bees.\n</recollect-context>\n", "told an agent"),
        (
            "---\nname: key\n---\nIt said:\n<recollect-context>\nMara keeps bees.\n</recollect-context>\n",
            "told an agent",
        ),
    ],
)
def test_a_private_fact_and_our_own_words_are_passed_over_and_named(
    memory: recollect.Memory, folder: Path, words: str, reason: str
) -> None:
    (folder / "key.md").write_text(words)
    report = read(memory, folder)
    assert report.new == ["no-mocks.md", "role.md"]
    assert reason in passed_over(report)["key.md"]
