"""One fact in the memory folders of two projects: neither loses it when the other changes its mind. On both engines."""

import os
from pathlib import Path

import pytest

import recollect
from recollect.exchange import FolderImport
from recollect.knowledge import Record
from recollect.testing import FrozenClock

PNPM = "The package manager here is pnpm."
BUN = "The package manager here is bun."
A, B = "project:-home-ada-a", "project:-home-ada-b"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    made = [tmp_path / "projects" / name / "memory" for name in ("-home-ada-a", "-home-ada-b")]
    for folder in made:
        folder.mkdir(parents=True)
        say(folder, PNPM)
    return made[0], made[1]


def say(folder: Path, text: str, name: str = "pm.md") -> None:
    (folder / name).write_text(f"---\nname: pm\ndescription: Package manager\ntype: project\n---\n{text}\n")


def read(memory: recollect.Memory, *folders: Path) -> list[FolderImport]:
    return memory.exchange.import_from(folders).folders


def current(memory: recollect.Memory) -> dict[str, Record]:
    """By its last line."""
    return {record.text.splitlines()[-1]: record for record in memory.knowledge.records()}


def projects(record: Record) -> list[str]:
    return sorted(tag for tag in record.tags if tag.startswith("project:"))


def exported(memory: recollect.Memory, folder: Path, project: str) -> list[str]:
    memory.exchange.export_to(folder, project=project)
    return [path.read_text().splitlines()[-1] for path in sorted(folder.glob("p*.md"))]


def test_a_fact_of_two_projects_is_one_record_with_the_tags_of_both(
    memory: recollect.Memory, folders: tuple[Path, Path]
) -> None:
    reports = read(memory, *folders)

    assert [(report.new, report.known) for report in reports] == [(["pm.md"], []), ([], ["pm.md"])]
    assert {text: projects(record) for text, record in current(memory).items()} == {PNPM: [A, B]}
    (record,) = memory.knowledge.records()
    assert memory.knowledge.events(record.id)[-1].actor_name == "claude-memory"


@pytest.mark.parametrize("first", [0, 1])
def test_when_one_of_two_projects_changes_the_fact_the_other_keeps_it(
    memory: recollect.Memory, folders: tuple[Path, Path], tmp_path: Path, clock: FrozenClock, first: int
) -> None:
    read(memory, *folders)
    kept = current(memory)[PNPM].id
    clock.move(days=1)
    say(folders[first], BUN)

    assert read(memory, *folders)[first].changed == ["pm.md"]

    changed, stays = (A, B) if first == 0 else (B, A)
    assert {text: projects(record) for text, record in current(memory).items()} == {BUN: [changed], PNPM: [stays]}
    assert current(memory)[PNPM].id == kept
    assert [report.unchanged for report in read(memory, *folders)] == [["pm.md"], ["pm.md"]]
    assert exported(memory, tmp_path / "one", changed.removeprefix("project:")) == [BUN]
    assert exported(memory, tmp_path / "other", stays.removeprefix("project:")) == [PNPM]
    clock.move(days=1)
    say(folders[1 - first], "Here it is npm.")
    read(memory, *folders)
    assert set(current(memory)) == {BUN, "Here it is npm."}


def test_back_and_forth_the_other_project_is_left_alone(
    memory: recollect.Memory, folders: tuple[Path, Path], clock: FrozenClock
) -> None:
    read(memory, *folders)
    for text in (BUN, PNPM, BUN):
        clock.move(days=1)
        say(folders[0], text)
        read(memory, *folders)
        found = [(record.text.splitlines()[-1], projects(record)) for record in memory.knowledge.records()]
        assert sorted(found) == sorted([(text, [A]), (PNPM, [B])])


def test_when_both_change_alike_one_record_takes_the_place_of_one(
    memory: recollect.Memory, folders: tuple[Path, Path], clock: FrozenClock
) -> None:
    read(memory, *folders)
    clock.move(days=1)
    for folder in folders:
        say(folder, BUN)

    read(memory, *folders)

    assert [(record.text.splitlines()[-1], projects(record)) for record in memory.knowledge.records()] == [
        (BUN, [A, B])
    ]


def test_a_file_that_was_renamed_is_still_one_fact(
    memory: recollect.Memory, folders: tuple[Path, Path], clock: FrozenClock
) -> None:
    read(memory, folders[0])
    (folders[0] / "pm.md").rename(folders[0] / "package-manager.md")
    assert read(memory, folders[0])[0].known == ["package-manager.md"]
    clock.move(days=1)
    say(folders[0], BUN, "package-manager.md")

    read(memory, folders[0])

    assert set(current(memory)) == {BUN}


def test_a_folder_that_is_a_link_keeps_what_it_says(
    memory: recollect.Memory, folders: tuple[Path, Path], tmp_path: Path, clock: FrozenClock
) -> None:
    folders[1].rename(tmp_path / "repository")
    os.symlink(tmp_path / "repository", folders[1])
    read(memory, *folders)
    clock.move(days=1)
    say(folders[0], BUN)

    read(memory, folders[0])

    assert {text: projects(record) for text, record in current(memory).items()} == {BUN: [A], PNPM: [B]}


def test_an_import_that_was_cut_off_beside_another_file_goes_on(
    memory: recollect.Memory, folders: tuple[Path, Path]
) -> None:
    """The record is there, and the row of its file says what it said before."""
    read(memory, *folders)
    with memory.database.read() as session:
        ((digest, before),) = session.rows(
            "SELECT digest, record_id FROM exchange_facts WHERE folder LIKE '%-a/memory'"
        )
    say(folders[0], BUN)
    read(memory, *folders)
    with memory.database.write() as session:
        session.run(
            "UPDATE exchange_facts SET digest = :digest, record_id = :before WHERE folder LIKE '%-a/memory'",
            {"digest": digest, "before": before},
        )

    read(memory, *folders)

    found = [(record.text.splitlines()[-1], projects(record)) for record in memory.knowledge.records()]
    assert sorted(found) == [(BUN, [A]), (PNPM, [B])]


def test_what_a_person_did_to_a_shared_fact_stays(
    memory: recollect.Memory, folders: tuple[Path, Path], clock: FrozenClock
) -> None:
    read(memory, *folders)
    record = current(memory)[PNPM]
    memory.knowledge.edit(record.id, tags=[tag for tag in record.tags if tag != B])
    say(folders[1], PNPM, "again.md")
    read(memory, *folders)
    assert projects(current(memory)[PNPM]) == [A], "a tag that somebody took away is not put there again"
    memory.knowledge.edit(record.id, "Use yarn.")
    clock.move(days=1)
    say(folders[0], BUN)
    read(memory, *folders)
    assert set(current(memory)) == {"Use yarn.", BUN}
    memory.knowledge.retract(record.id)
    read(memory, *folders)
    assert set(current(memory)) == {BUN}


def test_what_was_forgotten_comes_back_from_neither_project(
    memory: recollect.Memory, folders: tuple[Path, Path], clock: FrozenClock
) -> None:
    read(memory, *folders)
    forgotten = memory.forget(record=current(memory)[PNPM].id)
    assert forgotten.residue == []
    assert [report.refused for report in read(memory, *folders)] == [["pm.md"], ["pm.md"]]
    clock.move(days=1)
    say(folders[0], BUN)
    read(memory, *folders)
    assert set(current(memory)) == {BUN}
    say(folders[0], PNPM)
    assert read(memory, *folders)[0].refused == ["pm.md"]
