"""`recollect up` as a real process: its first words, keeping up with agents, signals, kills, and what doctor sees.

Each test has a HOME of its own with a `.claude` folder in it. Nothing waits for a fixed time: it looks until the thing
is there, or fails.
"""

import json
import os
import shlex
import signal
import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from commands import PATIENCE_SECONDS, end, run, started, wait_for
from computers import LATELY, Computer, session
from transcripts import Transcript, append, line, subagent, write

from recollect.clock import system_clock
from recollect.errors import Conflict, Unavailable
from recollect.lock import is_locked


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    return Computer(tmp_path)


@pytest.fixture
def near() -> Iterator[Computer]:
    """Not below pytest's own folder: with a path that is too long, the socket lies elsewhere."""
    with tempfile.TemporaryDirectory(prefix="rc-") as folder:
        yield Computer(Path(folder))


# The first pass


def test_the_first_pass_ends_with_a_personal_result(computer: Computer) -> None:
    recent, old = session("recent").save(computer.projects), session("old", "an old oak").save(computer.projects)
    soon = (datetime.now(UTC) - timedelta(days=27)).timestamp()
    os.utime(old, (soon, soon))

    with computer.up() as process:
        wait_for("the result", lambda: "Try:" in computer.output)
        said = computer.output
        assert end(process) == 0

    assert recent.exists()
    assert "2 conversations from 1 month are safe now." in said
    assert said.index("Question 0 about an old oak?") < said.index("Question 0 about beans?")
    assert "in 2 days" in said
    shown = shlex.split(said.partition("Try: ")[2].splitlines()[0])[1:]
    assert "Question 0 about" in computer.run(*shown).out
    assert computer.output.endswith("Recollect is down. Everything read so far is kept.\n")


def test_once_takes_in_what_there_is_and_ends(computer: Computer) -> None:
    session("garden").save(computer.projects)

    done = computer.run("up", "--once", "--json")

    assert done.code == 0
    assert done.json()["conversations"] == 1
    assert done.json()["try_this"].startswith("recollect search ")
    assert not is_locked(computer.home / "runtime")


def test_with_nothing_to_read_a_demo_house_opens_in_a_home_of_its_own(computer: Computer) -> None:
    computer.projects.rmdir()

    done = computer.run("up", "--once")

    assert done.code == 0, done.err
    assert "DEMO HOUSE" in done.out
    shown = shlex.split(done.out.partition("Try: ")[2].splitlines()[0])[1:]
    assert "seed list" in computer.run(*(part.replace("~", str(computer.user)) for part in shown)).out
    assert computer.run("conversations", "--json").json() == []


def test_a_configured_folder_is_watched_instead(computer: Computer, tmp_path: Path) -> None:
    session("elsewhere", "plums").save(tmp_path / "backup")
    session("garden").save(computer.projects)
    computer.configure(watch_paths=[str(tmp_path / "backup")])

    computer.run("up", "--once")

    assert "plums" in computer.words()
    assert "beans" not in computer.words()


# Keeping up


def test_what_agents_write_arrives(computer: Computer) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    with computer.up() as process:
        before = len(told.records)
        told.user("Shall I water the leeks?")
        append(path, b"".join(line(record) for record in told.records[before:]))
        computer.wait_for_words("leeks")

        new = session("new project", "quinces")
        write(computer.projects / "-home-ada-new" / "deep" / f"{new.session_id}.jsonl", new.raw)
        computer.wait_for_words("quinces")

        helper = subagent(told, "a0ffee1")
        helper.user("Look up leeks.")
        helper.assistant("Leeks like rain.")
        helper.save(computer.projects)
        computer.wait_for_words("Leeks like rain.")

        messages = len(computer.words().splitlines())
        moved = path.with_name("0b1f0a1e-0000-4000-8000-000000000001.jsonl")
        os.rename(path, moved)
        append(moved, line(told.records[-1] | {"uuid": "0b1f0a1e-0000-4000-8000-00000000000f"}))
        wait_for("the moved file", lambda: len(computer.words().splitlines()) > messages)
        assert len(computer.words().splitlines()) == messages + 1
        assert end(process) == 0
    assert computer.errors == ""


def test_a_burst_of_writes_loses_nothing(computer: Computer) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    with computer.up():
        for number in range(200):
            told.user(f"Line {number} of a burst")
            append(path, line(told.records[-1]))
        computer.wait_for_words("Line 199 of a burst")
        wait_for("all of them", lambda: all(f"Line {number} of a burst" in computer.words() for number in range(200)))


def test_an_agents_folder_that_appears_later_is_noticed(computer: Computer) -> None:
    computer.projects.rmdir()
    computer.claude.rmdir()
    with computer.up() as process:
        session("first ever", "cherries").save(computer.projects)
        computer.wait_for_words("cherries")
        assert str(computer.projects) in computer.status()["roots"]
        session("second", "damsons").save(computer.projects)
        computer.wait_for_words("damsons")
        assert end(process) == 0


def test_a_pause_while_it_runs_keeps_everything_out(computer: Computer) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    with computer.up() as process:
        assert computer.run("pause").code == 0
        scanned = computer.status()["last_scan_at"]
        told.now = system_clock()
        told.user("A secret between us.")
        append(path, line(told.records[-1]))
        wait_for("two more scans", lambda: computer.status()["last_scan_at"] > scanned)
        assert "secret" not in computer.words()
        assert computer.run("resume").code == 0
        told.now = system_clock()
        told.user("This is for everybody.")
        append(path, line(told.records[-1]))
        computer.wait_for_words("everybody")
        assert "secret" not in computer.words()
        assert end(process) == 0


def test_a_bad_file_does_not_stop_it(computer: Computer) -> None:
    session("garden").save(computer.projects)
    with computer.up() as process:
        write(computer.projects / "noise.jsonl", bytes(range(256)) * 20)
        session("after", "medlars").save(computer.projects)
        computer.wait_for_words("medlars")
        wait_for("a word about it", lambda: "noise.jsonl" in computer.output + computer.errors)
        assert end(process) == 0


def test_a_bad_file_is_reported_once_and_tried_again_when_it_changes(computer: Computer) -> None:
    bad = write(computer.projects / "noise.jsonl", bytes(range(256)) * 20)
    failures = "SELECT count(*) FROM events WHERE outcome = 'failed'"
    with computer.up() as process:
        for _ in range(3):
            scanned = computer.status()["last_scan_at"]
            wait_for("one more scan", lambda then=scanned: computer.status()["last_scan_at"] > then)
        assert computer.run("sql", failures, "--json").json()["rows"] == [[1]]
        write(bad, session("mended", "sorrel").raw)
        computer.wait_for_words("sorrel")
        assert end(process) == 0


def test_a_folder_that_may_not_be_read_stops_nothing_and_is_named(computer: Computer) -> None:
    closed = computer.user / ".codex" / "sessions"
    closed.mkdir(parents=True)
    session("garden").save(computer.projects)
    closed.chmod(0)
    recorded = "SELECT count(*) FROM events WHERE outcome = 'failed'"
    with started("up", home=computer.home, obey_permissions=True) as process:
        wait_for("a word about it", lambda: f"{closed} may not be read" in computer.errors)
        session("after", "medlars").save(computer.projects)
        computer.wait_for_words("medlars")
        for _ in range(3):
            scanned = computer.status()["last_scan_at"]
            wait_for("one more scan", lambda then=scanned: computer.status()["last_scan_at"] > then)
        assert computer.run("sql", recorded, "--json").json()["rows"] == [[1]]
        closed.chmod(0o700)
        session("opened", "sorrel").save(closed)
        computer.wait_for_words("sorrel")
        assert end(process) == 0


def test_doctor_names_a_folder_that_may_not_be_read_and_calls_nothing_in_it_gone(computer: Computer) -> None:
    path = session("garden").save(computer.projects)
    assert computer.run("up", "--once").code == 0
    path.parent.chmod(0)

    told = run("doctor", "--json", home=computer.home, obey_permissions=True)

    path.parent.chmod(0o700)
    findings = {item["check"]: item for item in told.json()["findings"]}
    assert findings["folders"]["level"] == "failure"
    assert str(path.parent) in findings["folders"]["message"]
    assert "0 live on only here" in findings["disk against database"]["message"]


def test_json_is_one_document_also_when_something_arrived(computer: Computer) -> None:
    session("garden").save(computer.projects)
    with computer.up("--json") as process:
        session("second", "damsons").save(computer.projects)
        computer.wait_for_words("damsons")
        assert end(process) == 0

    assert json.loads(computer.output)["conversations"] == 1


# One at a time, and its end


def test_a_second_one_is_refused(computer: Computer) -> None:
    with computer.up() as process:
        refused = computer.run("up")
        assert refused.code == 5
        assert refused.explains(str(computer.home), str(process.pid), "already runs")
        assert computer.run("ingest", computer.projects).code == 0
        assert process.poll() is None
        assert end(process) == 0
    assert computer.run("up", "--once").code == 0


@pytest.mark.parametrize("removed", ["daemon.lock", "."])
def test_what_others_find_it_by_is_made_again(near: Computer, removed: str) -> None:
    computer = near
    runtime = computer.home / "runtime"
    computer.variables["RECOLLECT_LISTEN"] = "127.0.0.1:0"
    session("garden").save(computer.projects)
    with computer.up() as process:
        wait_for("the server", (runtime / "hook.curl").exists)
        (runtime / removed).rename(computer.home.parent / "removed")  # At once, as the daemon goes on writing.

        wait_for("its lock", lambda: is_locked(runtime))
        wait_for("its status", lambda: computer.status().get("pid") == process.pid)
        wait_for("its socket", lambda: is_answered(computer))
        wait_for("the file of the hooks", lambda: hook_number(computer) == process.pid)
        session("after", "medlars").save(computer.projects)
        wait_for("its log", (runtime / "logs" / "recollect.log").exists)
        assert computer.run("up").code == Conflict.exit_code
        assert end(process) == 0
    assert sorted(path.name for path in runtime.iterdir() if path.is_file() and path.name != "notes-folder") == [
        "daemon.lock"
    ]


@pytest.mark.parametrize("ending", ["by its own look", "by a signal"])
def test_one_whose_home_another_has_by_now_ends_and_leaves_what_is_the_others(near: Computer, ending: str) -> None:
    computer = near
    runtime = computer.home / "runtime"
    computer.variables["RECOLLECT_LISTEN"] = "127.0.0.1:0"
    computer.configure(poll_interval_seconds=3600)  # It looks when somebody writes.
    with computer.up() as first:
        wait_for("its server", lambda: hook_number(computer) == first.pid)
        (runtime / "daemon.lock").unlink()
        with started("up", home=computer.home, variables=computer.variables) as second:
            wait_for("the other server", lambda: hook_number(computer) == second.pid)
            if ending == "by a signal":
                assert end(first) == 0
            else:
                session("garden").save(computer.projects)
                assert first.wait(PATIENCE_SECONDS) == Conflict.exit_code
                assert "daemon.lock was removed while Recollect ran" in computer.errors
                assert f"process {second.pid}" in computer.errors
            session("after", "medlars").save(computer.projects)
            computer.wait_for_words("medlars")
            wait_for("its status", lambda: computer.status().get("pid") == second.pid)
            assert hook_number(computer) == second.pid
            assert is_answered(computer)
            assert is_locked(runtime)
            assert end(second) == 0
    assert not is_locked(runtime)
    assert "Traceback" not in computer.errors


@pytest.mark.parametrize("removed", ["its database", "its home"])
def test_one_whose_database_is_gone_ends_and_makes_nothing_anew(computer: Computer, removed: str) -> None:
    computer.variables["RECOLLECT_LISTEN"] = "127.0.0.1:0"
    session("garden").save(computer.projects)
    with computer.up("--log") as process:
        wait_for("its server", lambda: computer.status()["serving"]["address"])
        log = (computer.home / "runtime" / "logs" / "recollect.log").open()
        if removed == "its home":
            computer.home.rename(computer.home.parent / "removed")
        else:
            for file in computer.home.glob("recollect*.db*"):
                file.unlink()

        assert process.wait(PATIENCE_SECONDS) == Unavailable.exit_code, "a service begins again"
    with log:
        assert "recollect.db was removed or replaced" in log.read()
    assert "recollect.db was removed or replaced" in computer.errors
    assert "Traceback" not in computer.errors
    assert list(computer.home.glob("*.db*")) == []
    assert computer.home.exists() == (removed != "its home")


def is_answered(computer: Computer) -> bool:
    """Whether somebody listens at the socket."""
    with socket.socket(socket.AF_UNIX) as visitor:
        return visitor.connect_ex(computer.status().get("socket", "")) == 0


def hook_number(computer: Computer) -> int:
    """The process that the hooks ask."""
    try:
        return int((computer.home / "runtime" / "hook.curl").read_text().split()[1])
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals, computer: Computer) -> None:
    session("garden").save(computer.projects)
    with computer.up() as process:
        assert is_locked(computer.home / "runtime")
        assert end(process, number) == 0
    assert not is_locked(computer.home / "runtime")
    assert computer.status() == {}
    assert "Traceback" not in computer.errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_the_first_pass_ends_it_cleanly(number: signal.Signals, computer: Computer) -> None:
    for index in range(20):
        Transcript(f"session {index}", start=LATELY, step_seconds=1).exchanges(250).save(computer.projects)
    with started("up", home=computer.home) as process:
        wait_for("the first rows", lambda: (computer.home / "recollect.db").exists() and computer.words())
        assert end(process, number) == 0
    assert "Traceback" not in computer.errors
    assert not is_locked(computer.home / "runtime")
    computer.run("up", "--once")
    assert computer.run("health", "--json").json()["messages"]["total"] == 10_000


def test_it_ends_cleanly_where_its_folder_may_not_be_written_any_more(computer: Computer) -> None:
    runtime = computer.home / "runtime"
    with started("up", home=computer.home, obey_permissions=True) as process:
        wait_for("its first pass", lambda: computer.status().get("last_scan_at"))
        runtime.chmod(0o500)
        assert end(process) == 0
    assert "Traceback" not in computer.errors
    assert not is_locked(runtime)
    with started("up", home=computer.home, obey_permissions=True) as process:  # What was left there is in the way.
        wait_for("the next one", lambda: is_locked(runtime) and "is up" in computer.output.partition("is down")[2])
        assert end(process) == 0
    runtime.chmod(0o700)


def test_after_a_kill_the_next_start_recovers(computer: Computer) -> None:
    path = session("garden").save(computer.projects)
    with computer.up() as process:
        process.kill()
        process.wait()
    append(path, session("garden more", "gourds").raw)

    with computer.up() as process:
        computer.wait_for_words("gourds")
        assert end(process) == 0
    assert len(computer.run("conversations", "--json").json()) >= 1


# What doctor sees


def test_doctor_sees_a_running_daemon_and_a_dead_one(computer: Computer) -> None:
    session("garden").save(computer.projects)
    assert computer.finding("daemon")["level"] == "warning"
    with computer.up() as process:
        running = computer.finding("daemon")
        assert (running["level"], str(process.pid) in running["message"]) == ("ok", True)
        process.kill()
        process.wait()
    dead = computer.run("doctor", "--json")
    assert dead.code == 1
    assert computer.finding("daemon")["level"] == "failure"
    assert "recollect up" in computer.finding("daemon")["next_step"]
    computer.run("up", "--once")
    assert computer.finding("daemon")["level"] == "warning"


def test_doctor_compares_the_disk_with_the_database(computer: Computer) -> None:
    path = session("garden").save(computer.projects)
    computer.run("up", "--once")
    assert computer.finding("disk against database")["level"] == "ok"

    session("new").save(computer.projects)
    append(path, session("more").raw)
    behind = computer.finding("disk against database")

    assert behind["level"] == "warning"
    assert "1 files are not taken in yet, 1 have grown" in behind["message"]
    computer.run("up", "--once")
    path.unlink()
    assert "1 live on only here" in computer.finding("disk against database")["message"]


def test_doctor_names_a_file_that_failed(computer: Computer) -> None:
    path = session("garden").save(computer.projects)
    computer.run("up", "--once")
    path.chmod(0)
    os.utime(path, (1, 1))
    run("ingest", computer.projects, home=computer.home, obey_permissions=True)

    failed = computer.finding("files")

    assert failed["level"] == "failure"
    assert path.name in failed["message"]
    assert str(path) in failed["next_step"]
    path.chmod(0o600)
    computer.run("ingest", computer.projects)
    assert computer.finding("files")["level"] == "ok"


def test_doctor_names_a_failed_file_that_was_never_read(computer: Computer) -> None:
    write(computer.projects / "noise.jsonl", bytes(range(256)) * 20)
    assert computer.run("ingest", computer.projects).code == 1

    assert "noise.jsonl" in computer.run("doctor").out


def test_doctor_warns_of_the_agents_own_clean_up(computer: Computer) -> None:
    session("garden").save(computer.projects)
    warned = computer.finding("clean-up")
    assert (warned["level"], "30 days" in warned["message"]) == ("warning", True)
    assert "cleanupPeriodDays" in warned["next_step"]

    write(computer.claude / "settings.json", b'{"cleanupPeriodDays": 36500}')

    assert computer.finding("clean-up")["level"] == "ok"


def test_doctor_sees_a_file_that_grows_without_giving_messages(computer: Computer) -> None:
    record = line({"type": "hologram", "sessionId": "s", "uuid": "u", "timestamp": "2026-03-02T10:00:00.000Z"})
    known = Transcript("new format")
    known.snapshot()
    write(computer.projects / "new-format.jsonl", known.raw + record * 4_000)
    computer.run("up", "--once")

    silent = computer.run("doctor", "--json")

    assert silent.code == 1
    assert computer.finding("format")["level"] == "failure"
    assert "new-format.jsonl" in computer.finding("format")["message"]
