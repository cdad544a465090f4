"""Notes go out of a house and into another with all their versions, and come to lie in its folder. On both engines."""

import base64
import json
from pathlib import Path

import pytest
from conftest import OpenHouse
from packages import change_table, rows_of
from residue import residue_of

from recollect import Memory
from recollect.errors import Corrupt
from recollect.forgetting import Forgetting
from recollect.knowledge import Learned
from recollect.lineage import RECORD
from recollect.notes.lines import Source
from recollect.notes.store import packed
from recollect.transfer import Imported, Transfer

BINARY = bytes(range(256)) * 3
SECRET = "The spare key of the shed lies under the third pot of thyme"


def transfer(memory: Memory) -> Transfer:
    return Transfer(memory.database, memory.settings, memory.clock, look=memory.notes.look)


def moved(house: Memory, other: Memory, package: Path) -> Imported:
    transfer(house).export_to(package)
    return transfer(other).import_from(package)


def every_version(memory: Memory) -> list[tuple[object, bytes]]:
    versions = [one for note in memory.notes.list(gone=True) for one in memory.notes.history(note.path)]
    return [(one, memory.notes.read(one.path, one.number).content) for one in versions]


def test_notes_travel_with_all_their_versions(open_house: OpenHouse, tmp_path: Path) -> None:
    house, other = open_house(), open_house()
    house.notes.write("projects/gärten/Überblick.md", "Beans\r\n")
    house.notes.write("projects/gärten/Überblick.md", "Beans\r\nLeeks\n", reason="more")
    house.notes.write("gone.md", "Not for long\n")
    house.notes.remove("gone.md")
    house.notes.write("empty.md", "")
    (house.notes.folder / "picture.bin").write_bytes(BINARY)

    imported = moved(house, other, tmp_path / "export")

    assert imported.tables["notes_versions"] == 6
    assert every_version(other) == every_version(house)
    assert (other.notes.folder / "picture.bin").read_bytes() == BINARY
    assert (other.notes.folder / "projects/gärten/Überblick.md").read_bytes() == b"Beans\r\nLeeks\n"
    assert not (other.notes.folder / "gone.md").exists()
    assert other.notes.look().found == []
    assert [hit.id for hit in other.recall.search("leeks").hits] == ["projects/gärten/Überblick.md"]
    assert other.notes.undo("projects/gärten/Überblick.md").version.number == 3


def test_what_lay_in_the_folder_before_an_import_is_a_later_version(open_house: OpenHouse, tmp_path: Path) -> None:
    house, other = open_house(), open_house()
    house.notes.write("user.md", "Ada\n")
    other.notes.folder.mkdir(parents=True)
    (other.notes.folder / "user.md").write_text("Bob\n", encoding="utf-8")
    (other.notes.folder / "mine.md").write_text("Mine\n", encoding="utf-8")

    moved(house, other, tmp_path / "export")

    assert [(one.number, one.actor) for one in other.notes.history("user.md")] == [(1, "person"), (2, "outside")]
    assert other.notes.read("user.md", 1).text == "Ada\n"
    assert (other.notes.folder / "user.md").read_text(encoding="utf-8") == "Bob\n"
    assert other.notes.read("mine.md").text == "Mine\n"


def test_where_lines_came_from_and_what_was_forgotten_travel_too(open_house: OpenHouse, tmp_path: Path) -> None:
    house, other = open_house(), open_house()

    def remembered(text: str) -> Source:
        learned: Learned = house.knowledge.remember(text)
        assert learned.record
        return Source(kind=RECORD, id=learned.record.id)

    source = remembered("Beans go out in May")
    house.notes.append("garden.md", f"{SECRET}\n", sources=[source])
    house.notes.append("garden.md", "Mine\n")
    moved(house, other, tmp_path / "export")
    look, index = other.notes.look, lambda: other.recall
    forgetting = Forgetting(
        other.database, other.settings, other.clock, index, look=look, clean=[other.notes.clear_held]
    )

    assert forgetting.forget(record=source.id).removed["note_lines"] == 1

    assert (other.notes.folder / "garden.md").read_text(encoding="utf-8") == "Mine\n"
    assert all(SECRET.encode() not in content for _, content in every_version(other))
    assert all(str(other.settings.home) not in place for place in residue_of(other, SECRET))


WRONG: list[dict[str, object]] = [
    {"path": "../outside.md"},
    {"path": "/outside.md"},
    {"path": ".ssh/outside.md"},
    {"path": "agents/ada/outside.md"},
    {"scope": "ada"},
    {"number": 0},
    {"action": "stolen"},
    {"digest": "0" * 64},
    {"content": base64.b64encode(b"no frame").decode()},
    {"content": base64.b64encode(packed(bytes(5_000_000))).decode()},
    {"content": ""},
]


def test_a_note_that_is_not_one_is_not_imported(open_house: OpenHouse, tmp_path: Path) -> None:
    package, house, other = tmp_path / "export", open_house(), open_house()
    house.notes.write("user.md", "Ada\n")
    transfer(house).export_to(package)
    (row,) = rows_of(package, "notes_versions")

    for change in WRONG:
        changed = json.dumps({**row, **change}).encode() + b"\n"
        change_table(package, "notes_versions", lambda _, changed=changed: changed)
        with pytest.raises(Corrupt, match=r"notes_versions\.jsonl, line 1.*nothing was imported"):
            transfer(other).import_from(package)
        assert other.notes.list(gone=True) == [], change
    assert not list(tmp_path.rglob("outside.md"))
