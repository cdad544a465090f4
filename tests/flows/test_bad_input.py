"""Whatever is wrong: a clear word with the next step, the right exit code, and nothing lost or half-written.

Each case ends with its cause taken away: then an import gives the same rows as one that never met it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import PATIENCE_SECONDS, Result, run, wait_for
from snapshots import snapshot_of
from transcripts import Transcript, write

import recollect

BINARY = bytes(range(256)) * 40
HOLD_THE_WRITE_LOCK = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def garden() -> Transcript:
    return Transcript("garden").exchanges(4)


@pytest.fixture
def good(projects: Path) -> Path:
    """A transcript that nothing is wrong with."""
    return garden().save(projects)


def assert_as_if_nothing_had_happened(home: Path, projects: Path, tmp_path: Path) -> None:
    """With the cause gone, the next import ends in the rows of a clean one."""
    mended = run("ingest", projects, "--json", home=home)
    assert mended.code == 0, mended.err
    clean = tmp_path / "clean"
    assert run("ingest", projects, home=clean).code == 0
    with recollect.open(home) as one, recollect.open(clean) as other:
        assert one.database.check() == []
        assert snapshot_of(one) == snapshot_of(other)


def assert_explained(done: Result, code: int, *words: str) -> None:
    assert done.code == code, done
    assert done.explains(*words), done.err
    assert len(done.err.splitlines()) <= 4, done.err


# Files


def test_a_path_that_does_not_exist(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    done = run("ingest", tmp_path / "nowhere", "--json", home=home)

    assert_explained(done, 3, "nowhere", "does not exist", "Give a transcript or a folder")
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("photo.jsonl", BINARY, ["photo.jsonl", "binary", ".jsonl file"]),
        ("array.jsonl", b'[{"type":"user"},{"type":"assistant"}]', ["array.jsonl", "JSON array", "jq -c"]),
        ("export.jsonl", b'{"plot":{},"title":"x"}\n', ["export.jsonl", "plot", "--source"]),
        ("prose.jsonl", b"Dear diary,\ntoday it rained.\n", ["prose.jsonl", "no JSON lines", "claude-code"]),
    ],
)
@pytest.mark.parametrize("in_folder", [False, True], ids=["named", "found in a folder"])
def test_a_file_that_is_no_transcript(
    name: str, raw: bytes, words: list[str], in_folder: bool, home: Path, tmp_path: Path, good: Path, projects: Path
) -> None:
    bad = write(projects / name, raw)

    done = run("ingest", projects if in_folder else bad, home=home)

    assert_explained(done, 1, *words)
    with recollect.open(home) as memory:
        assert len(list(memory.history.export())) == (8 if in_folder else 0)
    again = run("ingest", projects, "--json", home=home)
    assert (again.code, again.json()["failed"]) == (1, 1)
    bad.unlink()
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_a_file_of_a_known_session_that_turns_into_something_else_loses_nothing(
    home: Path, tmp_path: Path, good: Path, projects: Path
) -> None:
    run("ingest", projects, home=home)
    raw = good.read_bytes()
    good.write_bytes(BINARY)

    done = run("ingest", projects, "--json", home=home)

    assert done.code in (0, 1)
    assert "Traceback" not in done.err
    with recollect.open(home) as memory:
        assert len(list(memory.history.export())) == 8
    good.write_bytes(raw)
    run("ingest", projects, home=home)
    with recollect.open(home) as memory:
        assert [message.gone for message in memory.history.export()] == [False] * 8


NOTHING_YET = {
    "empty": b"",
    "one line end": b"\n",
    "line ends": b"\n\n\n",
    "padding": b"\x00" * 512,
    "spaces": b"   \n",
    "half a first line": b'{"parentUuid":null,"type":"us',
}


@pytest.mark.parametrize("raw", NOTHING_YET.values(), ids=NOTHING_YET)
def test_a_file_with_nothing_in_it_yet_is_no_failure(raw: bytes, home: Path, good: Path, projects: Path) -> None:
    path = write(projects / "0b1f0a1e-0000-4000-8000-000000000001.jsonl", raw)

    done = run("ingest", projects, "--json", home=home)

    assert done.code == 0, done
    assert (done.json()["failed"], done.json()["messages_added"]) == (0, 8)
    later = Transcript("later").exchanges(2).raw
    write(path, later if raw.startswith(b"{") else raw + later)
    grown = run("ingest", projects, "--json", home=home)
    assert (grown.code, grown.json()["messages_added"]) == (0, 4)


def test_a_line_of_no_bytes_between_others(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    good.write_bytes(good.read_bytes().replace(b"\n", b"\n\n"))

    report = run("ingest", projects, "--json", home=home).json()

    assert (report["lines"], report["lines_bad"], report["messages_added"]) == (8, 0, 8)


def test_a_file_that_may_not_be_read(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    secret = Transcript("secret").exchanges(2).save(projects)
    secret.chmod(0)

    done = run("ingest", projects, home=home, obey_permissions=True)

    assert_explained(done, 1, secret.name, "may not be read", "permissions")
    with recollect.open(home) as memory:
        assert len(list(memory.history.export())) == 8
    secret.chmod(0o600)
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_a_folder_that_may_not_be_entered(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    closed = write(projects / "closed" / "session.jsonl", Transcript("closed").exchanges(2).raw).parent
    closed.chmod(0)
    try:
        done = run("ingest", projects, home=home, obey_permissions=True)
        assert_explained(done, 1, str(closed), "may not be read", "permissions")
        named = run("ingest", closed, home=home, obey_permissions=True)
        assert_explained(named, 4, str(closed), "may not be read")
    finally:
        closed.chmod(0o700)
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


# Home and settings


def test_a_home_that_is_a_file(tmp_path: Path, good: Path) -> None:
    home = write(tmp_path / "home", b"not a folder")

    for arguments in (["conversations"], ["ingest", good], ["up", "--once"]):
        assert_explained(run(*arguments, home=home), 2, str(home), "not a folder", "--home")
    assert home.read_bytes() == b"not a folder"
    option = run("--home", home, "conversations", home=tmp_path / "other")
    assert_explained(option, 2, "home")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 'green'\n", ["recollect.toml", "colour", "The settings are", "poll_interval_seconds"]),
        ("poll_interval_seconds = 'often'\n", ["recollect.toml", "poll_interval_seconds"]),
        ("poll_interval_seconds = -1\n", ["recollect.toml", "poll_interval_seconds"]),
        ("this is not TOML\n", ["recollect.toml", "not valid TOML", "Mend"]),
        ("home = '/elsewhere'\n", ["recollect.toml", "home"]),
        (
            "[[pipelines.own.sections]]\nname = 'a'\nsauce = 'b'\n",
            ["recollect.toml", "sauce", "A section has: name, source"],
        ),
    ],
)
def test_settings_that_mean_nothing(
    text: str, words: list[str], home: Path, tmp_path: Path, good: Path, projects: Path
) -> None:
    config = write(home / "recollect.toml", text.encode())

    assert_explained(run("ingest", projects, home=home), 2, *words)

    assert [path.name for path in home.iterdir()] == ["recollect.toml"]
    config.unlink()
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_settings_that_may_not_be_read(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    config = write(home / "recollect.toml", b"enabled = true\n")
    config.chmod(0)

    done = run("ingest", projects, home=home, obey_permissions=True)

    assert_explained(done, 4, str(config), "may not be read", "permissions")
    config.unlink()
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


@pytest.mark.parametrize("url", ["mysql://localhost/x", "postgresql+asyncpg://localhost/x"])
def test_a_database_of_an_unknown_kind(url: str, home: Path) -> None:
    assert_explained(run("--db", url, "conversations", home=home), 2, url.partition(":")[0], "postgresql://")


def test_a_server_that_does_not_answer(home: Path, tmp_path: Path) -> None:
    url = f"postgresql://ada:geheim@/x?host={tmp_path}/nothing"

    done = run("--db", url, "conversations", home=home)

    assert_explained(done, 6, "cannot be reached", "Check that the server runs")
    assert "geheim" not in done.err


# The database file


def test_a_database_that_another_program_holds(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    run("conversations", home=home)
    database = home / "recollect.db"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_WRITE_LOCK, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == "held\n"
        assert run("conversations", home=home).code == 0
        done = run("ingest", projects, home=home)
    finally:
        holder.communicate("", timeout=PATIENCE_SECONDS)

    assert_explained(done, 6, str(database), "busy", "Try again")
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


@pytest.mark.parametrize("when", ["empty", "full"])
def test_a_database_file_that_may_not_be_written(
    when: str, home: Path, tmp_path: Path, good: Path, projects: Path
) -> None:
    run("conversations" if when == "empty" else "ingest", *([] if when == "empty" else [projects]), home=home)
    database = home / "recollect.db"
    later = Transcript("later").exchanges(2).save(projects)
    database.chmod(0o400)

    done = run("ingest", projects, home=home, obey_permissions=True)

    assert_explained(done, 4, str(database), "writable")
    database.chmod(0o600)
    assert later.exists()
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_a_home_that_may_not_be_written(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    home.mkdir(mode=0o500)

    for arguments in (["ingest", projects], ["conversations"], ["up", "--once"]):
        done = run(*arguments, home=home, obey_permissions=True)
        assert_explained(done, 4, str(home), "--home")
    assert list(home.iterdir()) == []
    home.chmod(0o700)
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_home_on_a_read_only_disk(is_new: bool, home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("only root can make a disk read-only")
    home.mkdir()
    if not is_new:
        assert run("ingest", projects, home=home).code == 0
    Transcript("later").exchanges(2).save(projects)
    mount = f'mount --bind "{home}" "{home}" && mount -o remount,ro,bind "{home}" && exec "$@"'
    read_only = ["unshare", "--mount", "sh", "-c", mount, "sh"]

    for arguments in (["ingest", projects], ["up", "--once"]):
        done = run(*arguments, home=home, prefix=read_only)
        assert_explained(done, 4, str(home), "--home")
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_a_database_of_random_bytes(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    database = write(home / "recollect.db", os.urandom(100_000))
    before = database.read_bytes()

    for arguments in (["ingest", projects], ["conversations"], ["doctor"], ["up", "--once"]):
        assert_explained(run(*arguments, home=home), 1, str(database), "Move it aside", "backup")

    assert database.read_bytes() == before
    database.unlink()
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_a_database_cut_in_the_middle(home: Path, tmp_path: Path, projects: Path) -> None:
    for number in range(6):
        Transcript(f"session {number}").exchanges(60).save(projects)
    run("ingest", projects, home=home)
    database = home / "recollect.db"
    os.truncate(database, database.stat().st_size // 2)
    Transcript("later").exchanges(2).save(projects)

    for arguments in (["ingest", projects], ["doctor"]):
        assert_explained(run(*arguments, home=home), 1, str(database), "backup")

    shutil.rmtree(home)
    assert_as_if_nothing_had_happened(home, projects, tmp_path)


def test_a_database_of_a_newer_version(home: Path, tmp_path: Path, good: Path, projects: Path) -> None:
    run("ingest", projects, home=home)
    with recollect.open(home) as memory, memory.database.write() as session:
        session.run("INSERT INTO schema_versions VALUES (9999, 'later', 'x')")
    before = (home / "recollect.db").read_bytes()

    for arguments in (["ingest", projects], ["conversations"], ["up", "--once"]):
        assert_explained(run(*arguments, home=home), 6, "recollect.db", "newer Recollect", "Upgrade")

    assert (home / "recollect.db").read_bytes() == before


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], capture_output=True)
    if made.returncode:
        pytest.skip("only root can make a disk that is small")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_in_the_middle_of_an_import(small_disk: Path, tmp_path: Path, projects: Path) -> None:
    for number in range(12):
        told = Transcript(f"session {number}")
        for index in range(10):
            told.user(f"Question {index}")
            told.assistant(os.urandom(30_000).hex())
        told.save(projects)
    home = small_disk / "home"

    for arguments in (["ingest", projects], ["up", "--once"]):
        done = run(*arguments, home=home, variables={"CLAUDE_CONFIG_DIR": str(projects.parent)})
        assert_explained(done, 6, "recollect.db", "full", "Free some space")

    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    wait_for("space", lambda: shutil.disk_usage(small_disk).free > 100_000_000)
    assert_as_if_nothing_had_happened(home, projects, tmp_path)
