"""An index of a memory folder names its files, and may say more than that. On both engines."""

from pathlib import Path

import pytest

import recollect
from recollect.errors import Unavailable
from recollect.exchange import FolderImport
from recollect.exchange.folders import MANIFEST

WELL = "---\nname: well\ndescription: Its depth\ntype: project\n---\nThe well is 14 metres deep.\n"
TEXT = "Its depth\n\nThe well is 14 metres deep."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "projects" / "-home-ada-garden" / "memory"
    made.mkdir(parents=True)
    (made / "well.md").write_text(WELL)
    return made


def read(memory: recollect.Memory, folder: Path) -> FolderImport:
    (report,) = memory.exchange.import_from([folder]).folders
    assert report.problems == []
    return report


def texts(memory: recollect.Memory) -> list[str]:
    return sorted(record.text for record in memory.knowledge.records())


def test_facts_of_an_index_that_begin_with_a_link_are_learned(memory: recollect.Memory, folder: Path) -> None:
    facts = (
        "- Prefers tabs\n"
        "- [ADR 7](docs/adr-7.md) must be read before anybody touches the login\n"
        "- [Style](https://house.example/style.md) is the style guide: never break it\n"
        "- [[cellar]] is 3 metres deep"
    )
    (folder / "MEMORY.md").write_text(f"# Memory\n- [Well](well.md) — its depth\n{facts}\n")
    assert read(memory, folder).new == ["MEMORY.md", "well.md"]
    assert texts(memory) == [f"# Memory\n{facts}", TEXT]
    assert read(memory, folder).unchanged == ["MEMORY.md", "well.md"]


def test_what_an_index_was_taken_to_say_before_is_replaced(memory: recollect.Memory, folder: Path) -> None:
    """By a version that left out every line with a link at its beginning."""
    index = folder / "MEMORY.md"
    index.write_text("- Prefers tabs\n")
    read(memory, folder)
    index.write_text("- Prefers tabs\n- [ADR 7](docs/adr-7.md) is the law\n")
    assert read(memory, folder).changed == ["MEMORY.md"]
    assert texts(memory) == ["- Prefers tabs\n- [ADR 7](docs/adr-7.md) is the law", TEXT]


def test_an_index_that_is_behind_still_names_what_was_read_once(memory: recollect.Memory, folder: Path) -> None:
    (folder / "MEMORY.md").write_text("- [Well](well.md) — its depth\n")
    read(memory, folder)
    (folder / "well.md").unlink()
    report = read(memory, folder)
    assert (report.new, report.missing) == ([], ["well.md"])
    assert texts(memory) == [TEXT]


def test_what_was_forgotten_does_not_come_back_by_the_line_of_its_file(memory: recollect.Memory, folder: Path) -> None:
    (folder / "MEMORY.md").write_text("- [Well](well.md) — it is 14 metres deep\n")
    read(memory, folder)
    (record,) = memory.knowledge.records()
    memory.forget(record=record.id)
    (folder / "well.md").unlink()
    assert read(memory, folder).new == []
    assert texts(memory) == []


def test_an_index_of_ours_is_no_fact_when_a_file_of_it_is_gone(
    memory: recollect.Memory, folder: Path, tmp_path: Path
) -> None:
    memory.knowledge.remember("The roof is new.")
    memory.exchange.export_to(tmp_path / "out")
    (tmp_path / "out" / "the-roof-is-new.md").unlink()
    assert read(memory, tmp_path / "out").new == []
    assert texts(memory) == ["The roof is new."]


def test_an_index_may_name_a_file_that_cannot_be_read(memory: recollect.Memory, folder: Path) -> None:
    (folder / "MEMORY.md").write_text("- [Broken](broken.md) — something\n- [Well](well.md) — its depth\n")
    (folder / "broken.md").write_text("---\nname: x\n")
    (report,) = memory.exchange.import_from([folder]).folders
    assert [one.file for one in report.problems] == ["broken.md"]
    assert texts(memory) == [TEXT]


def test_folders_with_the_names_of_files_are_passed_over(memory: recollect.Memory, folder: Path) -> None:
    for name in (MANIFEST, "MEMORY.md", "the-roof-is-new.md"):
        (folder / name).mkdir()
    assert read(memory, folder).new == ["well.md"]
    memory.knowledge.remember("The roof is new.")
    with pytest.raises(Unavailable, match="cannot be written"):
        memory.exchange.export_to(folder)


def test_the_index_of_a_folder_inside_is_no_fact(memory: recollect.Memory, folder: Path) -> None:
    inside = folder / "team" / "house"
    inside.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [Well](well.md) — its depth\n")
    (inside / "MEMORY.md").write_text("- [Roof](roof.md) — new\n- [Well](../../well.md) — its depth\n")
    (inside / "roof.md").write_text("The roof is new.\n")
    assert read(memory, folder).new == ["team/house/roof.md", "well.md"]
    assert texts(memory) == [TEXT, "The roof is new."]


@pytest.mark.parametrize("own_words", ["", "Ask the team first.\n"])
def test_an_index_inside_that_was_learned_as_a_fact_is_not_learned_twice(
    memory: recollect.Memory, folder: Path, own_words: str
) -> None:
    """By a version that took it for one: its record is there, and the row of its file."""
    (folder / "team").mkdir()
    index = f"{own_words}- [Roof](roof.md) — new\n"
    (folder / "team" / "before.md").write_text(index)
    read(memory, folder)
    with memory.database.write() as session:
        session.run("UPDATE exchange_facts SET name = 'team/MEMORY.md' WHERE name = 'team/before.md'")
    (folder / "team" / "before.md").rename(folder / "team" / "MEMORY.md")
    (folder / "team" / "roof.md").write_text("The roof is new.\n")
    report = read(memory, folder)
    assert (report.new, report.missing) == (["team/roof.md"], [])
    assert report.changed == (["team/MEMORY.md"] if own_words else [])
    left = own_words.strip() or index.strip()
    assert texts(memory) == sorted([TEXT, left, "The roof is new."])
    before = texts(memory)
    read(memory, folder)
    assert texts(memory) == before


def test_a_fact_of_two_indexes_is_kept_by_the_one_that_still_says_it(
    memory: recollect.Memory, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "projects" / "-home-ada-cellar" / "memory"
    other.mkdir(parents=True)
    (other / "well.md").write_text(WELL)
    for one in (folder, other):
        (one / "MEMORY.md").write_text("- [Well](well.md)\n- [ADR 7](adr-7.md) is the law\n")
        read(memory, one)
    (folder / "MEMORY.md").write_text("- [Well](well.md)\n- [ADR 8](adr-8.md) is the law\n")
    read(memory, folder)
    assert texts(memory) == ["- [ADR 7](adr-7.md) is the law", "- [ADR 8](adr-8.md) is the law", TEXT]
