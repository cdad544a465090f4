"""What lies in a `.zip` beside exports: backups of folders that are read too, forks, and much that is nothing."""

import os
import zipfile
from pathlib import Path

import pytest
from conftest import OpenHouse
from exports import Rollout, chatgpt, claude_ai, document, export_file, export_zip
from snapshots import conversations_of, messages_of, snapshot_of
from transcripts import Transcript

import recollect
from recollect.history.store import CONTAINER, File, FileStatus


def backup(path: Path, folder: Path, below: str = "projects") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for found in sorted(folder.rglob("*.jsonl")):
            archive.write(found, f"{below}/{found.relative_to(folder)}")
    return path


def transcripts(memory: recollect.Memory) -> list[File]:
    return [file for file in memory.history.files() if file.kind != CONTAINER]


def assert_same_words(memory: recollect.Memory, open_house: OpenHouse, *paths: Path) -> None:
    clean = open_house()
    clean.history.ingest(paths)
    assert messages_of(memory) == messages_of(clean)
    assert conversations_of(memory) == conversations_of(clean)


@pytest.mark.parametrize("comes_first", ["the backup", "the folder"])
def test_a_backup_and_the_folder_it_was_made_of_are_one(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path, tmp_path: Path, comes_first: str
) -> None:
    told = [Transcript("garden").exchanges(4), Transcript("house").exchanges(2)]
    for one in told:
        one.save(projects)
    packed = backup(tmp_path / "backup.zip", projects)
    order = [packed, projects] if comes_first == "the backup" else [projects, packed]
    assert [memory.history.ingest([path]).messages_added for path in order] == [12, 0]

    told[0].exchanges(2)
    told[0].save(projects)
    assert memory.history.ingest([projects]).messages_added == 4
    os.utime(packed, ns=(1, 1))
    assert memory.history.ingest([packed]).messages_added == 0

    assert len(transcripts(memory)) == 2
    assert_same_words(memory, open_house, projects)
    packed.unlink()
    assert memory.history.ingest([packed], reimport=True).messages_added == 0
    assert_same_words(memory, open_house, projects)


def test_a_fork_and_its_original_in_one_archive_are_two(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path, tmp_path: Path
) -> None:
    told = Transcript("garden").exchanges(4)
    fork = told.fork("fork").exchanges(2, "peas")
    for one in (told, fork):
        one.save(projects)
    packed = backup(tmp_path / "backup.zip", projects)

    memory.history.ingest([packed])

    assert len(transcripts(memory)) == 2
    assert_same_words(memory, open_house, projects)


def test_an_older_backup_read_after_a_newer_one_changes_nothing(
    memory: recollect.Memory, projects: Path, tmp_path: Path
) -> None:
    told = Transcript("garden").exchanges(4)
    told.save(projects)
    old = backup(tmp_path / "old.zip", projects)
    told.exchanges(3)
    told.save(projects)
    new = backup(tmp_path / "new.zip", projects)
    memory.history.ingest([new])
    before = messages_of(memory)

    report = memory.history.ingest([old])

    assert (report.messages_added, report.failed) == (0, 0)
    assert messages_of(memory) == before
    assert len(transcripts(memory)) == 1


def test_a_backup_of_codex_and_its_folder_are_one(memory: recollect.Memory, tmp_path: Path) -> None:
    told = Rollout("beans").say(3)
    live = tmp_path / ".codex" / "sessions" / told.name
    live.parent.mkdir(parents=True)
    live.write_bytes(told.raw)
    packed = backup(tmp_path / "backup.zip", tmp_path / ".codex", "home/.codex")

    added = [memory.history.ingest([path]).messages_added for path in (packed, live, packed)]

    assert added == [6, 0, 0]
    assert len(transcripts(memory)) == 1


@pytest.mark.parametrize("gone", [["first.zip"], ["second.zip"], ["first.zip", "second.zip"]], ids="+".join)
def test_conversations_of_two_archives_read_again_when_one_is_gone_stay_as_they_are(
    memory: recollect.Memory, tmp_path: Path, gone: list[str]
) -> None:
    folder = tmp_path / "Downloads"
    export_zip(folder / "first.zip", document(chatgpt("beans"), chatgpt("peas")), document(claude_ai("weeds")))
    memory.history.ingest([folder])
    export_zip(folder / "second.zip", document(chatgpt("beans", 6), chatgpt("peas")))
    memory.history.ingest([folder])
    before = snapshot_of(memory)
    for name in gone:
        (folder / name).unlink()

    report = memory.history.ingest([folder], reimport=True)

    assert (report.failed, report.messages_added) == (0, 0)
    assert snapshot_of(memory) == before


def test_what_a_mac_puts_into_an_archive_is_passed_over(memory: recollect.Memory, tmp_path: Path) -> None:
    path = export_zip(tmp_path / "export.zip", document(chatgpt("beans")))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/._conversations.json", b"\x00\x05\x16\x07" + bytes(120))

    report = memory.history.ingest([path])

    assert (report.messages_added, report.failed, report.problems) == (4, 0, [])


def test_an_export_without_a_conversation_is_no_failure(memory: recollect.Memory, tmp_path: Path) -> None:
    plain = export_file(tmp_path, document())
    packed = export_zip(tmp_path / "export.zip", document())

    reports = [memory.history.ingest([path]) for path in (plain, packed)]

    assert [(report.failed, report.problems) for report in reports] == [(0, []), (0, [])]
    assert {file.status for file in memory.history.files()} <= {FileStatus.IDLE}
    export_file(tmp_path, document(chatgpt("beans")))
    assert memory.history.ingest([plain]).messages_added == 4
