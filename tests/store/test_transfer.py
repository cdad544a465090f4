"""A whole house goes out and in again, on both engines, and is the same. Copies are made whole or not at all."""

import json
import stat
import threading
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse
from packages import manifest_of, rows_of, tell
from snapshots import snapshot_of

import recollect
from recollect import Conflict, Denied, Memory, NotFound
from recollect.database import Database
from recollect.lineage import ReceiptStore, hasher
from recollect.transfer.tables import CARRIED, LEFT_OUT

ADD_TITLE = "INSERT INTO history_titles (house, leaf_id, title) VALUES (:house, :leaf_id, :title)"
ADD_LINK = "INSERT INTO history_links (house, session_id, other_id, kind) VALUES (:house, :leaf_id, '', :title)"


def test_each_table_is_carried_or_left_out_for_a_reason(database: Database) -> None:
    with database.read() as session:
        tables = set(session.tables())

    assert tables == {*CARRIED, *LEFT_OUT}
    assert all(LEFT_OUT.values())


def test_what_was_exported_and_imported_reads_the_same(open_house: OpenHouse, projects: Path, tmp_path: Path) -> None:
    house, other = open_house(), open_house()
    tell(house, projects)

    exported = house.transfer.export_to(tmp_path / "export")
    imported = other.transfer.import_from(tmp_path / "export")

    assert snapshot_of(other) == snapshot_of(house)
    assert other.knowledge.records() == house.knowledge.records()
    assert [other.knowledge.why(record.id) for record in other.knowledge.records()] == [
        house.knowledge.why(record.id) for record in house.knowledge.records()
    ]
    assert other.agents.list() == house.agents.list()
    other.knowledge.rebuild()
    assert other.knowledge.records() == house.knowledge.records()
    assert exported.tables == imported.tables
    assert exported.tables["history_messages"] > 0
    assert (imported.from_house, imported.house) == (house.settings.house, other.settings.house)


def test_an_export_is_one_moment_while_others_write(memory: Memory, tmp_path: Path) -> None:
    """The writer comes when the first table was written, and changes tables that were and that were not."""
    house = memory.settings.house

    def write(name: str) -> None:
        with memory.database.write() as session:
            for statement in (ADD_TITLE, ADD_LINK):
                session.run(statement, {"house": house, "leaf_id": name, "title": name})

    def write_beside(table: str, _rows: int) -> None:
        writer = threading.Thread(target=write, args=(f"during {table}",))
        writer.start()
        writer.join()

    write("before")
    memory.transfer.export_to(tmp_path / "export", write_beside)

    assert [row["title"] for row in rows_of(tmp_path / "export", "history_titles")] == ["before"]
    assert [row["kind"] for row in rows_of(tmp_path / "export", "history_links")] == ["before"]
    memory.transfer.export_to(tmp_path / "later")
    assert len(rows_of(tmp_path / "later", "history_titles")) == 1 + len(CARRIED)


def test_two_exports_into_one_folder_at_once_leave_each_other_alone(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    beside: list[threading.Thread] = []

    def export_beside(_table: str, _rows: int) -> None:
        if not beside:
            beside.append(threading.Thread(target=memory.transfer.export_to, args=(folder / "other",)))
            beside[0].start()
            beside[0].join()

    memory.transfer.export_to(folder / "one", export_beside)

    assert sorted(path.name for path in folder.iterdir()) == ["one", "other"]
    assert set(manifest_of(folder / "one")["tables"]) == set(manifest_of(folder / "other")["tables"]) == set(CARRIED)


def test_search_finds_what_was_imported_even_where_an_empty_index_was_up_to_date(
    open_house: OpenHouse, projects: Path, tmp_path: Path
) -> None:
    house, other, new = open_house(), open_house(), open_house()
    tell(house, projects)
    house.transfer.export_to(tmp_path / "export")
    assert other.recall.search("beans").hits == []

    for each in (other, new):
        each.transfer.import_from(tmp_path / "export")

    expected = [hit.id for hit in house.recall.search("beans").hits]
    assert expected
    assert [hit.id for hit in other.recall.search("beans").hits] == expected
    assert [hit.id for hit in new.recall.search("beans").hits] == expected


def test_a_file_that_was_read_before_the_export_is_not_read_again_after_the_import(
    open_house: OpenHouse, projects: Path, tmp_path: Path
) -> None:
    house, other = open_house(), open_house()
    tell(house, projects)
    house.transfer.export_to(tmp_path / "export")
    other.transfer.import_from(tmp_path / "export")

    report = other.history.ingest([projects])

    assert report.messages_added == 0
    assert report.skipped == 2


def test_a_house_that_holds_something_takes_no_import(open_house: OpenHouse, projects: Path, tmp_path: Path) -> None:
    house = open_house()
    tell(house, projects)
    house.transfer.export_to(tmp_path / "export")
    before = snapshot_of(house)

    with pytest.raises(Conflict, match=r"house-0.*not empty.*history_messages \d+.*--home"):
        house.transfer.import_from(tmp_path / "export")

    assert snapshot_of(house) == before


def test_a_house_that_only_made_copies_of_nothing_is_empty(
    open_house: OpenHouse, projects: Path, tmp_path: Path
) -> None:
    house, other = open_house(), open_house()
    tell(house, projects)
    house.transfer.export_to(tmp_path / "export")
    other.transfer.export_to(tmp_path / "nothing")

    other.transfer.import_from(tmp_path / "export")

    assert snapshot_of(other) == snapshot_of(house)


def test_each_copy_is_noted_and_one_that_failed_is_not(memory: Memory, tmp_path: Path) -> None:
    memory.transfer.export_to(tmp_path / "export")
    memory.transfer.export_to(tmp_path / "export.zip")

    def stop(_table: str, _rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.transfer.export_to(tmp_path / "other", stop)

    with memory.database.read() as session:
        copies = ReceiptStore(session, memory.settings.house).exports()
    assert [(copy.kind, copy.path) for copy in copies] == [
        ("export", str(tmp_path / "export")),
        ("export", str(tmp_path / "export.zip")),
    ]
    assert {path.name for path in tmp_path.iterdir() if "export" in path.name or "part" in path.name} == {
        "export",
        "export.zip",
    }
    assert not (tmp_path / "other").exists()


def test_only_who_sees_all_may_copy(memory: Memory, tmp_path: Path) -> None:
    memory.agents.add("ada")
    ada = memory.as_agent("ada")

    with pytest.raises(Denied, match="ada"):
        ada.transfer.export_to(tmp_path / "export")
    with pytest.raises(Denied, match="ada"):
        ada.transfer.import_from(tmp_path / "export")
    with pytest.raises(Denied, match="ada"):
        ada.transfer.backup_to(tmp_path / "copy.db")

    assert not (tmp_path / "export").exists()


def test_an_export_is_for_its_owner_only(memory: Memory, tmp_path: Path) -> None:
    (memory.settings.home).mkdir(exist_ok=True)
    (memory.settings.home / ".recollectignore").write_text("client-*/\n", encoding="utf-8")
    memory.transfer.export_to(tmp_path / "export")
    memory.transfer.export_to(tmp_path / "export.ZIP")

    for path in (tmp_path / "export", *(tmp_path / "export").rglob("*"), tmp_path / "export.ZIP"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_what_is_there_is_never_overwritten(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    for name in ("file", "folder", "link"):
        with pytest.raises(Conflict, match=f"{name} is there already"):
            memory.transfer.export_to(tmp_path / name)
    with pytest.raises(NotFound, match="does not exist"):
        memory.transfer.export_to(tmp_path / "no folder" / "export")

    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
    assert list((tmp_path / "folder").iterdir()) == []


def test_files_of_the_home_travel_without_what_is_true_of_one_computer(
    engine: str, tmp_path: Path, clock: FrozenClock, open_house: OpenHouse
) -> None:
    home, new = tmp_path / "home", tmp_path / "new"
    home.mkdir()
    settings_text = f'# Mine\nhouse = "ada"\nmin_conversation_messages = 7\ndatabase = {json.dumps(engine)}\n'
    (home / "recollect.toml").write_text(settings_text, encoding="utf-8")
    (home / ".recollectignore").write_text("client-*/\n", encoding="utf-8")
    with recollect.open(home=home, clock=clock) as memory:
        memory.transfer.export_to(tmp_path / "export")

    with recollect.open(home=new, database=engine, clock=clock) as memory:
        imported = memory.transfer.import_from(tmp_path / "export")

    assert (imported.files, imported.kept) == (["recollect.toml", ".recollectignore"], [])
    assert (new / "recollect.toml").read_text(encoding="utf-8") == "# Mine\nmin_conversation_messages = 7\n"
    assert (new / ".recollectignore").read_text(encoding="utf-8") == "client-*/\n"
    assert set(manifest_of(tmp_path / "export")["files"]) == {"recollect.toml", ".recollectignore"}
    other = open_house(min_conversation_messages=3)
    assert other.transfer.import_from(tmp_path / "export").kept == ["recollect.toml"]
    assert "min_conversation_messages = 3" in (other.settings.home / "recollect.toml").read_text(encoding="utf-8")


def test_a_secret_that_hashed_nothing_gives_way_to_that_of_the_export(
    open_house: OpenHouse, projects: Path, tmp_path: Path
) -> None:
    house, other = open_house(), open_house()
    hashes: list[str] = []
    for each in (house, other):
        with each.database.write() as session:
            made = hasher(session, each.settings.house, make=True)
            assert made
            hashes.append(made.hash("text", "beans"))
    house.transfer.export_to(tmp_path / "export")

    other.transfer.import_from(tmp_path / "export")

    with other.database.read() as session:
        now = hasher(session, other.settings.house)
    assert now
    assert now.hash("text", "beans") == hashes[0] != hashes[1]


def test_what_a_program_left_that_was_killed_before_it_had_a_lock_goes_too(
    memory: recollect.Memory, tmp_path: Path
) -> None:
    (tmp_path / ".recollect-part-abcdefgh").mkdir()
    memory.transfer.export_to(tmp_path / "copy")
    assert not list(tmp_path.glob(".recollect-part-*"))
