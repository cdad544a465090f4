"""A house moves: what it knows, what it forgot, and the commands by which it goes."""

from pathlib import Path

import commands
import pytest
from conftest import OpenHouse
from packages import tell
from snapshots import messages_of
from transcripts import Transcript

import recollect
from recollect import Memory
from recollect.lineage import ReceiptStore, TombstoneStore

SECRET = "The cellar key lies below the third flowerpot"


def receipts_of(memory: Memory) -> list[object]:
    with memory.database.read() as session:
        return list(ReceiptStore(session, memory.settings.house).every())


def buried_in(memory: Memory) -> int:
    with memory.database.read() as session:
        return TombstoneStore(session, memory.settings.house).count()


def test_what_was_forgotten_does_not_come_back_after_a_move(
    open_house: OpenHouse, projects: Path, tmp_path: Path
) -> None:
    told = Transcript("keys")
    told.user(SECRET)
    told.assistant("I keep that in mind.")
    told.exchanges(2)
    told.save(projects)
    house, other = open_house(), open_house()
    house.history.ingest([projects])
    [message] = [message for message in messages_of(house) if message["text"] == SECRET]
    house.forget(message=message["id"])
    record = house.knowledge.remember("Beans go out in June").record
    house.forget(record=record.id)
    house.transfer.export_to(tmp_path / "export")

    other.transfer.import_from(tmp_path / "export")
    other.history.ingest([projects], reimport=True)

    assert SECRET not in [message["text"] for message in messages_of(other)]
    assert messages_of(other) == messages_of(house)
    assert receipts_of(other) == receipts_of(house)
    assert len(receipts_of(other)) == 2
    assert buried_in(other) == buried_in(house) > 0
    for path in (tmp_path / "export").rglob("*.jsonl"):
        assert SECRET.encode() not in path.read_bytes()


def test_forgetting_names_the_copies_it_does_not_reach(memory: Memory, tmp_path: Path) -> None:
    record = memory.knowledge.remember("Beans go out in June").record
    memory.transfer.export_to(tmp_path / "export.zip")

    forgotten = memory.forget(record=record.id)

    assert any(str(tmp_path / "export.zip") in place for place in forgotten.out_of_reach)


def test_the_commands_move_a_house(home: Path, tmp_path: Path, projects: Path) -> None:
    with recollect.open(home=home) as memory:
        tell(memory, projects)
    package, new = tmp_path / "house.zip", tmp_path / "new"

    exported = commands.run("export", package, "--json", home=home).json()
    imported = commands.run("import", package, "--json", home=new).json()

    assert set(exported) == {"path", "house", "exported_at", "rows", "tables", "files", "bytes"}
    assert set(imported) == {"path", "house", "exported_at", "from_house", "rows", "tables", "files", "kept"}
    assert exported["path"] == imported["path"] == str(package)
    assert exported["tables"] == imported["tables"]
    assert exported["rows"] == imported["rows"] == sum(exported["tables"].values())
    for question in (["search", "beans"], ["conversations"], ["records"], ["agents"]):
        asked = [commands.run(*question, "--json", home=each).json() for each in (home, new)]
        for answer in asked:
            if isinstance(answer, dict):
                answer.pop("milliseconds", None)
        assert asked[0] == asked[1], question


def test_the_commands_say_what_was_done_and_what_is_wrong(home: Path, tmp_path: Path) -> None:
    commands.run("remember", "Beans go out in May", home=home)

    exported = commands.run("export", "copy", home=home)
    again = commands.run("export", "copy", home=home)
    taken = commands.run("import", "copy", home=home)
    moved = commands.run("import", "copy", home=tmp_path / "new")
    lost = commands.run("import", "nowhere", home=tmp_path / "newer")
    backed_up = commands.run("backup", "copy.db", "--json", home=home)
    no_more = commands.run("backup", "copy.db", home=home)

    assert exported.code == 0
    assert exported.out.startswith("Exported ")
    assert again.code == 5
    assert again.explains("copy is there already")
    assert taken.code == 5
    assert taken.explains("not empty", "knowledge_records 1", "--home")
    assert moved.code == 0
    assert moved.out.startswith("Imported ")
    assert lost.code == 3
    assert lost.explains("nowhere does not exist")
    assert backed_up.json() == {"path": str(tmp_path / "copy.db"), "bytes": (tmp_path / "copy.db").stat().st_size}
    assert no_more.code == 5


@pytest.mark.parametrize("arguments", [["export"], ["import"], ["backup"], ["export", "a", "b"]])
def test_wrong_usage_is_told(home: Path, arguments: list[str]) -> None:
    assert commands.run(*arguments, home=home).code == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder here in which nobody can make a file")
def test_a_folder_in_which_nobody_can_make_a_file_is_not_told_to_be_missing(home: Path) -> None:
    done = commands.run("export", "/proc/x.zip", home=home)
    assert (done.code, done.explains("nobody can make a file in /proc", "Choose another place")) == (4, True)


def test_an_export_that_may_not_be_read_is_denied(home: Path, tmp_path: Path) -> None:
    package = tmp_path / "moved.zip"
    assert commands.run("export", package, home=home).code == 0
    package.chmod(0)

    done = commands.run("import", package, home=tmp_path / "other", obey_permissions=True)

    assert (done.code, done.explains("moved.zip may not be read", "permissions")) == (4, True)
