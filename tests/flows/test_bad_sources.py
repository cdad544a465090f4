"""Exports, archives and databases that cannot be read: a clear word that names the file and the next step.

What is beside them comes in all the same, and when the cause is gone, so does the rest.
"""

import json
import sqlite3
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE_SECONDS, Result, run
from exports import Rollout, chatgpt, claude_ai, document, export_file, export_zip, telegram, words
from snapshots import messages_of
from transcripts import Transcript, write

import recollect

HOLD_IT = """
import sys, sqlite3
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""
OPENCODE = """
CREATE TABLE project (id text PRIMARY KEY, worktree text);
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, revert text,
    time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_updated integer, data text);
"""
NOON_MILLISECONDS = 1_772_452_800_000
BOMB_MEGABYTES = 1_100


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """A folder with a transcript of eight messages that nothing is wrong with."""
    folder = tmp_path / "Downloads"
    Transcript("garden").exchanges(4).save(folder)
    return folder


def messages_in(home: Path) -> list[str]:
    with recollect.open(home) as memory:
        return [message["text"] for message in messages_of(memory)]


def conversation_called(home: Path, title: str) -> list[str]:
    with recollect.open(home) as memory:
        (found,) = [listed for listed in memory.history.conversations() if listed.title == title]
        return [message.text for message in memory.history.messages(found.conversation)]


def assert_explained(done: Result, code: int, *parts: str) -> None:
    assert done.code == code, done
    told = done.err + done.out
    assert "Traceback" not in told
    for part in parts:
        assert part in told.replace("\n", " "), told


def problems(done: Result) -> list[dict[str, Any]]:
    return done.json()["problems"]


# --- Archives ---------------------------------------------------------------------------------------------------------


def test_an_archive_cut_short(home: Path, downloads: Path) -> None:
    path = export_zip(downloads / "export.zip", document(chatgpt("beans")), document(chatgpt("peas")))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"conversations-001.json") + 100])

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, str(path), "cut short or damaged", "Download it again")
    assert len(messages_in(home)) == 8 + 4
    path.write_bytes(whole)
    assert run("ingest", downloads, home=home).code == 0
    assert len(messages_in(home)) == 8 + 8


def test_an_archive_cut_short_before_anything_is_whole(home: Path, downloads: Path) -> None:
    path = export_zip(downloads / "export.zip", document(chatgpt("beans")))
    path.write_bytes(path.read_bytes()[:200])

    done = run("ingest", path, home=home)

    assert_explained(done, 1, str(path), "cut short or damaged", "Download it again")


def bomb(path: Path, beside: bytes = b"") -> Path:
    """An honest entry of more than a gigabyte of zeros in a megabyte, put together from equal pieces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    zeros = b"\x00" * (1 << 20)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = piece * BOMB_MEGABYTES + packer.flush()
    checksum = 0
    for _ in range(BOMB_MEGABYTES):
        checksum = zlib.crc32(zeros, checksum)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("conversations.json", packed)
        if beside:
            archive.writestr("conversations-001.json", beside)
    sizes = {
        "method": (8, 10, zipfile.ZIP_DEFLATED.to_bytes(2, "little")),
        "checksum": (14, 16, checksum.to_bytes(4, "little")),
        "size": (22, 24, (BOMB_MEGABYTES << 20).to_bytes(4, "little")),
    }
    raw = bytearray(path.read_bytes())
    central = raw.index(b"PK\x01\x02")
    for local_field, central_field, value in sizes.values():
        raw[local_field : local_field + len(value)] = value
        raw[central + central_field : central + central_field + len(value)] = value
    path.write_bytes(raw)
    return path


def test_an_archive_that_would_fill_the_disk(home: Path, downloads: Path) -> None:
    path = bomb(downloads / "export.zip", document(chatgpt("beans")))
    assert path.stat().st_size < 3_000_000

    done = run("ingest", downloads, home=home)

    assert_explained(done, 0, "export.zip/conversations.json", "zip bomb", "unpack it yourself")
    assert len(messages_in(home)) == 8 + 4


def test_an_archive_with_nothing_but_what_would_fill_the_disk(home: Path, downloads: Path) -> None:
    path = bomb(downloads / "export.zip")

    done = run("ingest", path, "--json", home=home)

    assert done.code == 1
    assert any("zip bomb" in problem["reason"] for problem in problems(done))
    assert {problem["file"] for problem in problems(done)} == {str(path)}


def test_an_encrypted_archive(home: Path, downloads: Path) -> None:
    path = export_zip(downloads / "export.zip", document(chatgpt("beans")))
    raw = bytearray(path.read_bytes())
    for signature, field in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := raw.find(signature, at + 1)) >= 0:
            raw[at + field] |= 1
    path.write_bytes(raw)

    done = run("ingest", path, home=home)

    assert_explained(done, 1, "export.zip/conversations.json is encrypted", "password")


def test_an_archive_without_a_transcript(home: Path, downloads: Path) -> None:
    path = downloads / "photos.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("photo.jpg", b"\xff\xd8")

    in_folder = run("ingest", downloads, "--json", home=home)
    named = run("ingest", path, home=home)

    assert (in_folder.code, in_folder.json()["failed"], problems(in_folder)) == (0, 0, [])
    assert len(messages_in(home)) == 8
    assert_explained(named, 1, str(path), "no transcript that is known", "chatgpt")


def test_a_packed_session_cut_short(home: Path, downloads: Path) -> None:
    import zstandard

    told = Rollout("beans").say(2).note("noise", 3_000)
    whole = zstandard.ZstdCompressor().compress(told.raw)
    path = write(downloads / f"{told.name}.zst", whole[: len(whole) // 2])

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, str(path), "cut short", "Get it again")
    assert len(messages_in(home)) == 8 + 4
    path.write_bytes(whole)
    assert run("ingest", downloads, home=home).code == 0
    assert len(messages_in(home)) == 8 + 4


# --- Databases --------------------------------------------------------------------------------------------------------


def save_opencode(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as database:
        database.executescript(OPENCODE)
        session = ("ses_a", None, "/home/ada/garden", "Seedlings", None, NOON_MILLISECONDS, NOON_MILLISECONDS)
        database.execute("INSERT INTO session VALUES (?, 'p', ?, ?, ?, ?, ?, ?)", session)
        for number, role in enumerate(("user", "assistant")):
            at = NOON_MILLISECONDS + number * 60_000
            info = json.dumps({"role": role, "time": {"created": at}})
            database.execute("INSERT INTO message VALUES (?, 'ses_a', ?, ?, ?)", (f"msg_{number}", at, at, info))
            part = json.dumps({"type": "text", "text": f"Words of the {role}"})
            database.execute(
                "INSERT INTO part VALUES (?, ?, 'ses_a', ?, ?)", (f"prt_{number}", f"msg_{number}", at, part)
            )
    database.close()
    return path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program keeps the database to itself."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_IT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    try:
        yield
    finally:
        holder.communicate("", timeout=PATIENCE_SECONDS)


def test_a_database_that_its_program_has_locked(home: Path, downloads: Path) -> None:
    path = save_opencode(downloads / "opencode.db")

    with held(path):
        done = run("ingest", downloads, home=home)

    assert_explained(done, 1, str(path), "locked by another program", "Close that program, or wait")
    assert len(messages_in(home)) == 8
    assert run("ingest", downloads, home=home).code == 0
    assert {"Words of the user", "Words of the assistant"} < set(messages_in(home))


def test_a_known_database_that_is_locked_while_it_changes_loses_nothing(home: Path, downloads: Path) -> None:
    path = save_opencode(downloads / "opencode.db")
    assert run("ingest", downloads, home=home).code == 0
    with sqlite3.connect(path) as database:
        part = json.dumps({"type": "text", "text": "More words of the assistant"})
        database.execute(
            "INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_a', ?, ?)", (NOON_MILLISECONDS + 90_000, part)
        )
    database.close()

    with held(path):
        assert_explained(run("ingest", downloads, home=home), 1, str(path), "locked by another program")
    assert len(messages_in(home)) == 8 + 2

    assert run("ingest", downloads, home=home).code == 0
    assert len(messages_in(home)) == 8 + 2
    assert "Words of the assistant\n\nMore words of the assistant" in messages_in(home)


def test_a_database_of_an_unknown_program(home: Path, downloads: Path) -> None:
    path = downloads / "opencode.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE plants (name text)")
        database.execute("CREATE TABLE beds (name text)")
    database.close()

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, "opencode.db is a database of an unknown program", "beds, plants", "opencode")
    assert len(messages_in(home)) == 8


def test_a_database_whose_tables_have_changed(home: Path, downloads: Path) -> None:
    path = downloads / "opencode.db"
    with sqlite3.connect(path) as database:
        database.executescript(OPENCODE.replace("directory text", "folder text"))
    database.close()

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, "opencode.db", "no column directory", "Update Recollect")
    assert len(messages_in(home)) == 8


def test_a_database_that_is_damaged(home: Path, downloads: Path) -> None:
    path = save_opencode(downloads / "opencode.db")
    path.write_bytes(path.read_bytes()[:100] + b"\xa5" * 20_000)

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, str(path), "not a sound SQLite database", "Check it with its own program")
    assert len(messages_in(home)) == 8


# --- Documents --------------------------------------------------------------------------------------------------------


def test_a_document_of_an_unknown_kind_that_is_called_like_an_export(home: Path, downloads: Path) -> None:
    write(downloads / "conversations.json", b'{\n "plants": [1, 2],\n "beds": {"a": 1}\n}\n')

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, "conversations.json", "of an unknown kind", "beds, plants", "claude-ai")
    assert len(messages_in(home)) == 8


def test_a_document_of_an_unknown_kind_with_any_name_is_passed_over(home: Path, downloads: Path) -> None:
    path = write(downloads / "plants.json", b'{"plants": [1, 2],\n "beds": {"a": 1}}\n')

    in_folder = run("ingest", downloads, "--json", home=home)
    named = run("ingest", path, home=home)

    assert (in_folder.code, in_folder.json()["failed"], problems(in_folder)) == (0, 0, [])
    assert_explained(named, 1, "plants.json", "beds, plants")


@pytest.mark.parametrize("service", [chatgpt, claude_ai])
def test_an_export_cut_short(home: Path, downloads: Path, service: Any) -> None:
    raw = document(service("beans"), service("peas", start=100))
    path = export_file(downloads, raw[:-200])

    done = run("ingest", downloads, home=home)

    assert_explained(done, 1, "conversations.json", "ends in the middle", "download the export again")
    assert len(messages_in(home)) == 8 + 4
    path.write_bytes(raw)
    assert run("ingest", downloads, home=home).code == 0
    assert len(messages_in(home)) == 8 + 8


def test_an_export_with_a_damaged_conversation(home: Path, downloads: Path) -> None:
    raw = document(chatgpt("beans"), chatgpt("peas", start=100), chatgpt("weeds", start=200))
    export_file(downloads, raw.replace(b'"title": "peas"', b'"title": peas'))

    done = run("ingest", downloads, home=home)

    assert_explained(done, 0, "conversations.json", "a conversation is left out", "The others are read")
    assert len(messages_in(home)) == 8 + 8


# --- Times in the spelling of another language ------------------------------------------------------------------------


def in_german(value: Any) -> Any:
    """A document whose times are written as people in Germany write them."""
    if isinstance(value, dict):
        return {
            name: "2. März 2026, 10:00 Uhr" if name.endswith(("_time", "_at")) else in_german(inner)
            for name, inner in value.items()
        }
    return [in_german(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("service", "field"), [(chatgpt, "create_time"), (claude_ai, "created_at")])
def test_an_export_in_another_languages_times(home: Path, downloads: Path, service: Any, field: str) -> None:
    export_file(downloads, document(in_german(service("beans")), service("peas")))

    done = run("ingest", downloads, home=home)

    assert_explained(done, 0, "conversations.json", field, "2. März 2026", "language set to English")
    assert conversation_called(home, "beans") == [words("beans", number) for number in range(4)]
    assert len(messages_in(home)) == 8 + 8
    again = run("ingest", downloads, "--json", home=home)
    assert (again.code, again.json()["messages_added"]) == (0, 0)


def test_a_chat_in_another_languages_times(home: Path, downloads: Path) -> None:
    chat = json.loads(telegram(range(1, 7)))
    for message in chat["messages"]:
        del message["date_unixtime"]
        message["date"] = "02.03.2026 10:00:00"
    write(downloads / "ChatExport" / "result.json", json.dumps(chat).encode())

    done = run("ingest", downloads, home=home)

    assert_explained(done, 0, "ChatExport/result.json", "02.03.2026", "kept without one")
    assert len(messages_in(home)) == 8 + 6
