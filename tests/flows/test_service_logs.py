"""The log of a daemon: rotated, for its owner alone, and with nothing in it that somebody said."""

import logging
import signal
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from commands import end, run, started, wait_for
from computers import Computer, session
from hypothesis import given
from hypothesis import strategies as st
from transcripts import write

from recollect.errors import Denied, Unavailable
from recollect.lock import HomeLock
from recollect.logs import KEPT_FILES, follow, last_lines, log_path, open_log, quoted, without_quotes

TOKEN = "sk-ant-" + "api03-" + "A" * 93 + "AA"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return log_path(tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[logging.Logger]:
    close = open_log(tmp_path, most_bytes=2_000)
    yield logging.getLogger("recollect.test")
    close()


def test_it_is_rotated_by_size_and_the_oldest_goes(path: Path, log: logging.Logger) -> None:
    for number in range(500):
        log.info("line %d of many", number)

    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["recollect.log", *(f"recollect.log.{n + 1}" for n in range(KEPT_FILES))]
    assert all(file.stat().st_size <= 2_000 for file in files)
    assert path.read_text().endswith("line 499 of many\n")
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("removed", ["recollect.log", "logs"])
def test_a_log_that_was_moved_away_or_removed_is_begun_again(
    tmp_path: Path, path: Path, log: logging.Logger, removed: str
) -> None:
    log.info("before")
    moved = tmp_path / "moved"
    (path if removed == path.name else path.parent).rename(moved)

    log.info("after")
    log.info("and on")

    assert [line.rpartition(": ")[2] for line in path.read_text().splitlines()] == ["after", "and on"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    old = moved if moved.is_file() else moved / path.name
    assert len(old.read_text().splitlines()) == 1, "whoever moved it has it for themselves"


def test_where_no_log_can_be_begun_it_goes_on_in_the_one_that_was_moved(
    tmp_path: Path, path: Path, log: logging.Logger
) -> None:
    moved = path.rename(tmp_path / "moved")
    path.mkdir()

    log.info("a line")

    assert "a line" in moved.read_text()


def test_two_processes_that_share_a_log_write_into_the_same_file_after_a_rotation(
    tmp_path: Path, path: Path, log: logging.Logger
) -> None:
    """The second one is a handler of its own, which hears everything too."""
    close = open_log(tmp_path, most_bytes=100_000)
    try:
        for number in range(30):
            log.info("line %d", number)
    finally:
        close()

    assert path.with_name("recollect.log.1").exists()
    latest = path.read_text().splitlines()
    assert latest[-2].partition("line")[2] == latest[-1].partition("line")[2] == " 29"


def test_an_error_stands_there_without_its_words(path: Path, log: logging.Logger) -> None:
    try:
        raise ValueError("my diagnosis")
    except ValueError:
        log.exception("the part crashed")

    (line,) = path.read_text().splitlines()
    assert "ERROR" in line
    assert "ValueError at test_service_logs.py:" in line
    assert "diagnosis" not in line


def test_credentials_are_masked_and_other_libraries_are_not_quoted(path: Path, log: logging.Logger) -> None:
    log.warning("the key is %s", TOKEN)
    logging.getLogger("uvicorn.error").error("a request with my diagnosis and %s", TOKEN)
    logging.getLogger("httpx2").info("GET https://api.telegram.org/bot123:ABC/getUpdates")

    first, second = path.read_text().splitlines()
    assert TOKEN not in first
    assert "uvicorn.error: a message of test_service_logs.py, line" in second
    assert "diagnosis" not in second


def test_what_a_message_of_ours_quotes_is_left_out(path: Path, log: logging.Logger) -> None:
    log.warning("The model would not answer: %s. Choose another.", quoted("my “diagnosis” is not for it"))
    log.warning("It was cut off: %s", quoted("my diagnosis")[:-3])

    first, second = path.read_text().splitlines()
    assert first.endswith("The model would not answer: “…”. Choose another.")
    assert second.endswith("It was cut off: “…”")


@given(words=st.text(), cut=st.integers(0, 20))
def test_no_words_that_were_quoted_are_left(words: str, cut: int) -> None:
    told = f"Before {quoted(words)}"
    assert without_quotes(told[: max(len("Before “"), len(told) - cut)]) == "Before “…”"
    assert without_quotes(f"{told}, after.") == "Before “…”, after."


def test_levels_choose_what_is_written(tmp_path: Path, path: Path) -> None:
    for level, expected in (("error", 1), ("debug", 4)):
        close = open_log(tmp_path, level)
        for name in ("debug", "info", "warning", "error"):
            logging.getLogger("recollect.test").log(logging.getLevelName(name.upper()), "a line")
        close()
        assert len(path.read_text().splitlines()) == expected
        path.unlink()
    assert logging.getLogger("recollect").level == logging.NOTSET


def test_one_event_is_one_line(path: Path, log: logging.Logger) -> None:
    log.info("two\nlines")

    assert len(path.read_text().splitlines()) == 1


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")

    with pytest.raises(Denied, match=r"recollect\.log cannot be written"):
        open_log(tmp_path)


def test_who_follows_it_sees_each_line_across_a_rotation(path: Path, log: logging.Logger) -> None:
    log.info("before")
    number = 0
    seen: list[str] = []

    def write_more(_seconds: float) -> bool:
        nonlocal number
        number += 1
        log.info("line %d", number)
        return number > 60

    seen.extend(follow(path, write_more))

    assert [line.rpartition(": ")[2] for line in seen] == [f"line {index}" for index in range(1, number)]
    assert path.with_name("recollect.log.1").exists()


def test_what_was_written_just_before_a_rotation_is_seen_too(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("before\n")
    steps = iter(["first\n", "second\n", "", "third\n"])

    def rotate(_seconds: float) -> bool:
        written = next(steps, None)
        if written:
            with path.open("a") as file:
                file.write(f"end before {written}")
            path.rename(path.with_name("recollect.log.1"))
            path.write_text(written)
        elif written == "":
            path.write_text("")
        return written is None

    seen = list(follow(path, rotate))

    assert seen == ["end before first", "first", "end before second", "second", "end before third", "third"]


def test_who_takes_the_last_lines_slowly_misses_none_of_the_next(path: Path, log: logging.Logger) -> None:
    for number in range(5):
        log.info("line %d", number)
    following = follow(path, lambda _: True, last=3)

    seen = [next(following)]
    for number in range(5, 40):  # The file is rotated meanwhile.
        log.info("line %d", number)
        if number == 6:
            seen += [next(following), next(following)]
    seen += following

    assert [line.rpartition(": ")[2] for line in seen] == [f"line {number}" for number in range(2, 40)]


def test_the_last_lines_reach_into_the_file_before(path: Path, log: logging.Logger) -> None:
    for number in range(60):
        log.info("line %d", number)

    assert [line.rpartition(": ")[2] for line in last_lines(path, 50)] == [f"line {n}" for n in range(10, 60)]


def test_a_daemon_that_is_not_on_a_terminal_writes_it_and_logs_shows_it(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    assert computer.run("service", "logs").explains("is not there yet", "recollect up --log")
    session("garden", "the secret orchard").save(computer.projects)
    with computer.up("--log-level", "debug") as process:
        pid = process.pid
        session("second", "the secret meadow").save(computer.projects)
        computer.wait_for_words("meadow")
        elsewhere = tmp_path / "reader"
        following = ("service", "logs", "--follow", "--lines", "1")
        with started(*following, home=elsewhere, variables={"RECOLLECT_HOME": str(computer.home)}) as reader:
            wait_for("the first line", lambda: "new messages" in Path(f"{elsewhere}.out").read_text())
            assert end(process) == 0
            wait_for("the last line", lambda: "down" in Path(f"{elsewhere}.out").read_text())
            assert reader.poll() is None
            assert end(reader, signal.SIGINT) == 0, "that is how it ends"
        assert Path(f"{elsewhere}.err").read_text() == ""
    shown = run("service", "logs", home=computer.home).out
    assert f"up: process {pid}" in shown
    assert "new messages from 1 files" in shown
    assert "secret" not in (computer.home / "runtime" / "logs" / "recollect.log").read_text()


@pytest.mark.parametrize(
    ("command", "trouble", "reason"),
    [
        ("up", "settings", "recollect.toml: Object contains unknown field `pol`"),
        ("serve", "settings", "recollect.toml: Object contains unknown field `pol`"),
        ("up", "database", "recollect.db is not a sound database."),
        ("serve", "database", "recollect.db is not a sound database."),
        ("serve", "place", "http.listen is '0.0.0.0:7717', which others than this computer could reach"),
        ("up", "another", "Recollect already runs for"),
    ],
)
def test_why_it_does_not_start_is_the_last_line(tmp_path: Path, command: str, trouble: str, reason: str) -> None:
    """A service is begun again and again, and nobody reads what it prints."""
    home = tmp_path / "home"
    write(home / "recollect.toml", b"pol = 1" if trouble == "settings" else b"fetch_models = false")
    lock = HomeLock(home / "runtime")
    if trouble == "database":
        write(home / "recollect.db", b"This is no database. " * 1000)
    elif trouble == "another":
        lock.acquire()

    refused = run(command, home=home, variables={"RECOLLECT_LISTEN": "0.0.0.0:7717"} if trouble == "place" else {})
    lock.release()

    assert refused.code != 0
    log = log_path(home / "runtime", "serve" if command == "serve" else "recollect")
    last = log.read_text().splitlines()[-1]
    assert " ERROR " in last
    assert reason in last
    assert reason in refused.err


def test_what_fails_in_the_first_pass_is_the_last_line(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    session("garden").save(computer.projects)
    assert computer.run("up", "--once").code == 0
    with closing(sqlite3.connect(computer.home / "recollect.db")) as writer:
        writer.execute("BEGIN IMMEDIATE")
        session("after", "medlars").save(computer.projects)
        assert computer.run("up").code == Unavailable.exit_code

    assert "recollect.db is busy" in (computer.home / "runtime" / "logs" / "recollect.log").read_text().splitlines()[-1]


@pytest.mark.parametrize("more", [(), ("--follow",)])
def test_a_log_that_may_not_be_read_is_named(tmp_path: Path, more: tuple[str, ...]) -> None:
    home = tmp_path / "home"
    path = log_path(home / "runtime")
    path.parent.mkdir(parents=True)
    path.write_text("a line\n")
    for locked in (path.parent, path):
        mode = locked.stat().st_mode
        locked.chmod(0)
        try:
            refused = run("service", "logs", *more, home=home, obey_permissions=True)
        finally:
            locked.chmod(mode)
        assert refused.code == Denied.exit_code
        assert refused.explains(str(path), "Permission denied")


def test_a_full_disk_ends_nothing_and_prints_nothing(
    path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    path.symlink_to("/dev/full")

    close = open_log(tmp_path)
    logging.getLogger("recollect.test").info("a line")
    close()

    assert capfd.readouterr() == ("", "")
