"""Exports that are damaged, foreign or from the future: a clear word, and the house stays empty."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FrozenClock, OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packages import change_manifest, change_table, manifest_of, rows_of, tell, zipped

import recollect
from recollect import Corrupt, Invalid, Memory, NotFound, RecollectError, Unavailable
from recollect.database.migrate import known_migrations
from recollect.transfer.store import TransferStore
from recollect.transfer.tables import CARRIED

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export, made once."""
    folder = tmp_path_factory.mktemp("sound")
    projects = folder / "claude" / "projects"
    projects.mkdir(parents=True)
    (folder / "home").mkdir()
    (folder / "home" / "recollect.toml").write_text("keep_raw = true\n", encoding="utf-8")
    with recollect.open(home=folder / "home") as memory:
        tell(memory, projects)
        memory.transfer.export_to(folder / "export")
    return folder / "export"


@pytest.fixture
def export(sound: Path, tmp_path: Path) -> Path:
    """A copy of it to be damaged."""
    return Path(shutil.copytree(sound, tmp_path / "export"))


def assert_empty(memory: Memory) -> None:
    with memory.database.read() as session:
        store = TransferStore(session, memory.settings.house)
        assert store.holdings() == {}
        for table in CARRIED:
            assert not session.value(f"SELECT count(*) FROM {table} WHERE house = '{memory.settings.house}'")
    assert memory.feed.newest() == 0


def refuse(memory: Memory, path: Path, kind: type[RecollectError], words: str) -> None:
    with pytest.raises(kind, match=words):
        memory.transfer.import_from(path)
    assert_empty(memory)
    assert not list(memory.settings.home.glob(".recollect-part-*"))


def cut_last_line(package: Path) -> None:
    path = package / "tables" / "history_messages.jsonl"
    path.write_bytes(path.read_bytes()[:-20])


def add_a_line(package: Path) -> None:
    path = package / "tables" / "history_messages.jsonl"
    path.write_bytes(path.read_bytes() * 2)


def change_a_letter(package: Path) -> None:
    path = package / "tables" / "history_messages.jsonl"
    path.write_bytes(path.read_bytes().replace(b"beans", b"peas!"))


DAMAGED: list[tuple[Damage, type[RecollectError], str]] = [
    (cut_last_line, Corrupt, r"history_messages\.jsonl is not what was exported"),
    (add_a_line, Corrupt, r"history_messages\.jsonl is not what was exported"),
    (change_a_letter, Corrupt, r"history_messages\.jsonl is not what was exported"),
    (lambda package: (package / "tables" / "history_links.jsonl").unlink(), Corrupt, r"lacks tables/history_links"),
    (lambda package: (package / "files" / "recollect.toml").write_bytes(b""), Corrupt, r"recollect\.toml is not what"),
    (lambda package: (package / "manifest.json").unlink(), Invalid, r"no manifest\.json.*recollect export"),
    (lambda package: (package / "manifest.json").write_bytes(b"{"), Corrupt, r"manifest\.json cannot be read"),
    (lambda package: (package / "manifest.json").write_bytes(b"[1]"), Corrupt, r"manifest\.json cannot be read"),
    (lambda package: (package / "manifest.json").write_bytes(b"{}"), Invalid, "not an export of Recollect"),
    (lambda package: (package / "manifest.json").write_bytes(b"\xff\xfe"), Corrupt, "cannot be read"),
]


@pytest.mark.parametrize(("damage", "kind", "words"), DAMAGED)
@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_a_damaged_export_is_refused(
    home: Path, export: Path, damage: Damage, kind: type[RecollectError], words: str, packed: bool
) -> None:
    damage(export)
    with recollect.open(home=home) as memory:
        refuse(memory, zipped(export) if packed else export, kind, words)


CHANGED: list[tuple[dict[str, Any], type[RecollectError], str]] = [
    ({"format": "another"}, Invalid, "not an export of Recollect"),
    ({"format_version": 2, "tables": "unknown"}, Unavailable, r"newer Recollect.*format 2.*Upgrade"),
    ({"schema_version": 9999}, Unavailable, r"newer Recollect.*schema 9999.*Upgrade"),
    ({"tables": [1]}, Corrupt, r"manifest\.json is not sound"),
    ({"exported_at": None}, Corrupt, r"manifest\.json is not sound"),
    ({"files": {"../../evil.txt": {"bytes": 0, "sha256": ""}}}, Invalid, r"no house has: \.\./\.\./evil\.txt"),
    ({"files": {"/etc/passwd": {"bytes": 0, "sha256": ""}}}, Invalid, "no house has: /etc/passwd"),
]


@pytest.mark.parametrize(("changes", "kind", "words"), CHANGED)
def test_a_manifest_that_this_program_does_not_understand_is_refused(
    home: Path, export: Path, changes: dict[str, Any], kind: type[RecollectError], words: str
) -> None:
    change_manifest(export, **changes)
    with recollect.open(home=home) as memory:
        refuse(memory, export, kind, words)


@pytest.mark.parametrize("table", ["schema_versions", "feed_changes", "../history_files", "sqlite_master", "x; DROP"])
def test_a_table_that_no_export_has_is_refused(home: Path, export: Path, table: str) -> None:
    tables = manifest_of(export)["tables"]
    change_manifest(export, tables={**tables, table: tables["history_links"]})
    with recollect.open(home=home) as memory:
        refuse(memory, export, Invalid, "has what no house has")


@pytest.mark.parametrize("columns", [["house"], ["id", "id"], ["id", "more"], ["id) VALUES (1); --"]])
def test_columns_that_the_table_does_not_have_are_refused(home: Path, export: Path, columns: list[str]) -> None:
    tables = manifest_of(export)["tables"]
    tables["scopes"]["columns"] = columns
    change_manifest(export, tables=tables)
    with recollect.open(home=home) as memory:
        refuse(memory, export, Invalid, "scopes .*manifest is not sound")


ROWS: list[tuple[bytes, bytes, str]] = [
    (b'"gone":0', b'"gone":"no"', "line 1: Expected `int`"),
    (b'"gone":0', b'"gone":9223372036854775808', "line 1"),
    (b'"gone":0', b'"gone":null', "line 1"),
    (b'"gone":0', b'"gone":0,"extra":1', "line 1: .*unknown field `extra`"),
    (b'"gone":0,', b"", "line 1: .*missing required field `gone`"),
    (b'"gone":0', b'"gone":0,"model":"\\ud800"', "line 1"),
    (b'"gone":0', b'"gone":0\n', "line 1"),
    (b"}\n", b"\n", "line 1"),
]


@pytest.mark.parametrize(("old", "new", "words"), ROWS)
def test_a_row_that_does_not_fit_its_table_is_named_and_nothing_is_imported(
    open_house: OpenHouse, export: Path, old: bytes, new: bytes, words: str
) -> None:
    change_table(export, "history_messages", lambda raw: raw.replace(old, new, 1))

    refuse(open_house(), export, Corrupt, rf"history_messages\.jsonl, {words}")


def test_a_row_that_is_there_twice_is_refused_and_nothing_is_imported(open_house: OpenHouse, export: Path) -> None:
    change_table(export, "history_links", lambda _: b'{"session_id":"a","other_id":"b","kind":"c"}\n' * 2)

    refuse(open_house(), export, RecollectError, "history_links")


def test_an_export_of_an_older_schema_gets_the_defaults_of_what_it_lacks(open_house: OpenHouse, export: Path) -> None:
    def drop_scope(raw: bytes) -> bytes:
        return raw.replace(b',"scope":"house"', b"")

    memory = open_house()
    change_table(export, "history_files", drop_scope)
    tables = manifest_of(export)["tables"]
    tables["history_files"]["columns"].remove("scope")
    del tables["knowledge_marker_reports"]
    change_manifest(export, tables=tables, schema_version=known_migrations()[-1].version - 1)

    memory.transfer.import_from(export)

    assert len(memory.history.files()) == 2
    with memory.database.read() as session:
        scopes = session.rows(f"SELECT DISTINCT scope FROM history_files WHERE house = '{memory.settings.house}'")
    assert scopes == [("house",)]


def test_a_column_without_a_default_cannot_be_missing(home: Path, export: Path) -> None:
    tables = manifest_of(export)["tables"]
    tables["history_files"]["columns"].remove("path")
    change_manifest(export, tables=tables)
    with recollect.open(home=home) as memory:
        refuse(memory, export, Invalid, "history_files is exported without path")


def test_what_is_no_export_at_all_is_named(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.zip").write_text("no zip file", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with recollect.open(home=home) as memory:
        refuse(memory, tmp_path / "nowhere", NotFound, "nowhere does not exist")
        refuse(memory, tmp_path / "empty", Invalid, r"no manifest\.json")
        refuse(memory, tmp_path / "words.zip", Invalid, "not an export of Recollect")
        refuse(memory, tmp_path / "other.zip", Invalid, r"no manifest\.json")
        refuse(memory, tmp_path / "pipe", Invalid, "not an export of Recollect")


def test_a_zip_file_with_damaged_bytes_is_refused(home: Path, export: Path) -> None:
    package = zipped(export)
    raw = bytearray(package.read_bytes())
    with zipfile.ZipFile(package) as archive:
        start = archive.getinfo("tables/history_messages.jsonl").header_offset
    raw[start + 200] ^= 0xFF
    package.write_bytes(raw)
    with recollect.open(home=home) as memory:
        refuse(memory, package, Corrupt, "damaged|not what was exported")
        package.write_bytes(raw[: len(raw) // 2])
        refuse(memory, package, Invalid, "not an export")


@pytest.mark.parametrize("place", ["manifest.json", "tables/history_links.jsonl", "tables", "files/recollect.toml"])
def test_links_in_an_export_are_not_followed(home: Path, export: Path, tmp_path: Path, place: str) -> None:
    (export / place).rename(tmp_path / "elsewhere")
    (export / place).symlink_to(tmp_path / "elsewhere")
    with recollect.open(home=home) as memory:
        refuse(memory, export, Invalid, "link|cannot be read")


def test_a_pipe_in_the_place_of_a_table_is_not_waited_for(home: Path, export: Path) -> None:
    (export / "tables" / "history_links.jsonl").unlink()
    os.mkfifo(export / "tables" / "history_links.jsonl")
    with recollect.open(home=home) as memory:
        refuse(memory, export, Invalid, "not a plain file")


def test_a_zip_file_with_names_that_lead_out_of_it_reaches_nothing(home: Path, export: Path, tmp_path: Path) -> None:
    package = zipped(export)
    with zipfile.ZipFile(package, "a") as archive:
        archive.writestr("../../evil.txt", "evil")
        archive.writestr("files/../../evil.txt", "evil")
    with recollect.open(home=home) as memory:
        memory.transfer.import_from(package)
        assert len(memory.history.files()) == 2

    assert not list(tmp_path.rglob("evil*"))


def test_settings_of_an_export_never_lead_to_another_database(home: Path, export: Path, tmp_path: Path) -> None:
    import hashlib

    raw = f'database = "{tmp_path}/other.db"\nhouse = "other"\nkeep_raw = false\n'.encode()
    (export / "files" / "recollect.toml").write_bytes(raw)
    change_manifest(export, files={"recollect.toml": {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}})

    with recollect.open(home=home) as memory:
        memory.transfer.import_from(export)

    assert (home / "recollect.toml").read_text(encoding="utf-8") == "keep_raw = false\n"
    with recollect.open(home=home) as memory:
        assert len(memory.history.files()) == 2


def test_settings_that_cannot_be_taken_apart_are_named(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text('house = """\nada"""\n', encoding="utf-8")
    with recollect.open(home=home) as memory, pytest.raises(Invalid, match="`house` on one line"):
        memory.transfer.export_to(tmp_path / "export")
    assert not (tmp_path / "export").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system, and only on Linux")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def learn_much(memory: Memory) -> None:
    """More than 3 MB, which compression does not make small."""
    for _ in range(4):
        memory.knowledge.remember("Beans " + os.urandom(499_000).hex())


def test_a_full_disk_leaves_no_half_copy(home: Path, small_disk: Path, clock: FrozenClock) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        learn_much(memory)

        for name in ("export", "export.zip"):
            with pytest.raises(Unavailable, match=rf"The disk of .*{name} is full"):
                memory.transfer.export_to(small_disk / name)
        with pytest.raises(Unavailable, match=r"The disk of .*copy\.db is full"):
            memory.transfer.backup_to(small_disk / "copy.db")

    assert list(small_disk.iterdir()) == []


def test_an_import_on_a_full_disk_leaves_an_empty_house(
    home: Path, small_disk: Path, tmp_path: Path, clock: FrozenClock
) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        learn_much(memory)
        memory.transfer.export_to(tmp_path / "export")

    with recollect.open(home=small_disk / "home", clock=clock) as memory:
        with pytest.raises(Unavailable, match=r"is full"):
            memory.transfer.import_from(tmp_path / "export")
        assert_empty(memory)
        assert memory.database.check() == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_any_changed_byte_is_refused_or_does_not_matter(
    sound: Path, tmp_path: Path, home: Path, data: st.DataObject
) -> None:
    """A changed time or name of the house does not: nothing but the manifest itself vouches for the manifest."""
    package = tmp_path / "changed"
    shutil.copytree(sound, package, dirs_exist_ok=True)
    full = sorted(path for path in package.rglob("*") if path.is_file() and path.stat().st_size)
    path = data.draw(st.sampled_from([package / "manifest.json", *full]))
    raw = bytearray(path.read_bytes())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    is_same = bytes(raw) == path.read_bytes()
    path.write_bytes(raw)

    with recollect.open(home=home) as memory:
        try:
            memory.transfer.import_from(package)
        except RecollectError:
            assert_empty(memory)
        else:
            assert is_same or path.name == "manifest.json"
            assert len(memory.history.files()) == 2
    shutil.rmtree(home)


def test_rows_are_counted(export: Path) -> None:
    tables = manifest_of(export)["tables"]

    assert {table: member["rows"] for table, member in tables.items()} == {
        table: len(rows_of(export, table)) for table in CARRIED
    }
