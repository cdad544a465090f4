"""`recollect up` in trouble: each part that crashes comes back and is shown, and nothing can hold up its end.

A real process. Parts are crashed from inside it, by an exception that Python raises in their threads wherever they are:
no part of ours is replaced.
"""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import PATIENCE_SECONDS, command, end, environment, started, wait_for
from computers import Computer, session
from telegrams import Desk, Echo, Service
from terminals import Gate
from transcripts import write
from webhooks import ADDRESS, SECRET, VARIABLE, Hook

import recollect
from recollect.channels.webhook.receiving import PATH
from recollect.channels.webhook.signing import secrets_in, signed_headers
from recollect.clock import system_clock, to_text
from recollect.daemon import daemon as daemons
from recollect.daemon import status as statuses
from recollect.daemon.daemon import Daemon
from recollect.lock import is_locked
from recollect.supervision import Shift, State, Supervised
from recollect.testing import FrozenClock
from recollect.testing.loopback import Request, Response

CHAT = 7
PROMISED_SECONDS = 5.0
BUSY_SECONDS = 5.0
"""What a busy computer may add before a test calls it late."""
CRASHING = '''
import ctypes, os, sys, threading, time

def is_at_work(thread):
    """Not where it is supervised, nor in an import: Python never gives back the lock of one that is left this way."""
    frame, files, names = sys._current_frames().get(thread.ident), set(), set()
    while frame:
        files.add(frame.f_code.co_filename)
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return names & {"_work", "_watch"} and not any(file.startswith("<frozen importlib") for file in files)

def crash():
    while True:
        with open(os.environ["CRASHES"]) as names:
            wanted = names.read().split()
        for thread in threading.enumerate():
            if thread.name in wanted:
                while not is_at_work(thread):
                    time.sleep(0.001)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
        open(os.environ["CRASHES"] + "-raised", "w").close()

if "up" in open("/proc/self/cmdline").read().split(chr(0)):
    threading.Thread(target=crash, name="crashing", daemon=True).start()
'''
PLACES = {"a pipe": os.pipe, "a terminal": os.openpty}
THREADS = {"watcher": "MainThread"}
"""Of parts whose thread has another name."""

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="the crashing thread looks into /proc")


def can_crash(computer: Computer, folder: Path) -> None:
    os.mkfifo(folder / "crashes")
    os.mkfifo(folder / "crashes-raised")
    write(folder / "crashing" / "sitecustomize.py", CRASHING.encode())
    path = os.pathsep.join(filter(None, (str(folder / "crashing"), os.environ.get("PYTHONPATH", ""))))
    computer.variables |= {"PYTHONPATH": path, "CRASHES": str(folder / "crashes")}


def crash(folder: Path, part: str) -> None:
    """It is raised in the part's thread by then, or will be as soon as that is back from what it called."""
    (folder / "crashes").write_text(THREADS.get(part, part))
    (folder / "crashes-raised").read_text()


def crash_until_noticed(computer: Computer, folder: Path, part: str, stir: Callable[[], object]) -> None:
    """Python drops an exception that it raises in a finalizer, so that one may be lost."""
    for _ in range(6):
        crash(folder, part)
        stir()
        with suppress(pytest.fail.Exception):
            return wait_for(f"the {part} to crash", lambda: part_of(computer, part)["restarts"] >= 1, 10)
    pytest.fail(f"the {part} does not crash")


def knock(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as visitor:
        visitor.connect(path)


def part_of(computer: Computer, name: str) -> dict[str, Any]:
    return next((part for part in computer.status().get("parts", []) if part["name"] == name), {})


def get(address: str) -> Any:
    with urllib.request.urlopen(f"{address}/health", timeout=30) as answer:
        return json.load(answer)


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        yield service


@pytest.fixture
def model() -> Iterator[Echo]:
    with Echo() as model:
        yield model


@pytest.fixture
def desk(tmp_path: Path, service: Service, model: Echo) -> Desk:
    """Everything that a daemon may have is switched on."""
    desk = Desk(tmp_path, service, model, poll_interval_seconds=0.5)
    desk.librarian = "rules"
    desk.configure(**desk.chosen)
    desk.allow(CHAT)
    desk.variables["RECOLLECT_LISTEN"] = "127.0.0.1:0"
    return desk


def test_each_part_that_crashes_comes_back_and_is_shown(tmp_path: Path, desk: Desk, service: Service) -> None:
    can_crash(desk, tmp_path)
    session("garden").save(desk.projects)
    stirs: dict[str, Callable[[], object]] = {
        "index": lambda: session(f"stir {time.monotonic()}", "stirring").save(desk.projects),
        "switchboard": lambda: knock(desk.status()["socket"]),
    }
    """Where a thread waits for something to happen, the exception waits with it."""
    with desk.up() as process:
        wait_for("all of them", lambda: desk.status()["serving"]["address"] and part_of(desk, "mind"))
        names = [part["name"] for part in desk.status()["parts"]]
        assert set(names) == {"watcher", "http", "switchboard", "mind", "librarian", "notes", "index"}
        for name in names:
            wait_for(f"the {name} to run", lambda name=name: part_of(desk, name)["state"] == "running")
            crash_until_noticed(desk, tmp_path, name, stirs.get(name, lambda: None))
            wait_for(f"the {name} to come back", lambda name=name: part_of(desk, name)["state"] == "running")
        shown = desk.run("health", "--json").json()["parts"]
        assert [part["name"] for part in shown] == names
        assert {part["state"] for part in shown} == {"running"}
        assert all(part["restarts"] >= 1 for part in shown)
        assert [part for part in shown if not part["problem"].startswith("it died of SystemExit")] == []
        told = desk.run("health").out
        assert all(name in told for name in names)

        found = [one["message"] for one in desk.run("doctor", "--json").json()["findings"] if one["check"] == "parts"]
        assert found
        assert all("it died of SystemExit" in message for message in found)
        session("afterwards", "medlars").save(desk.projects)
        desk.wait_for_words("medlars")
        wait_for("the index", lambda: desk.run("search", "medlars", "--json").json()["hits"])
        write(desk.home / "notes" / "user.md", b"Ada grows beans.\n")
        wait_for("the note", lambda: "Ada grows beans" in desk.run("notes", "show", "user.md").out)
        service.write(CHAT, "message 1")
        wait_for("the answer", lambda: service.texts(CHAT) == ["Answer 1 to: 1"])
        assert get(desk.status()["serving"]["address"])["status"] == "ok"
        assert end(process) == 0
    assert "Traceback" not in desk.errors
    told = (desk.home / "runtime" / "logs" / "recollect.log").read_text()
    assert all(f"{name}: it died of SystemExit" in told for name in names)


def test_what_crashes_again_and_again_waits_and_is_told_to_doctor(tmp_path: Path) -> None:
    """Somebody else has the port."""
    computer = Computer(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        computer.variables["RECOLLECT_LISTEN"] = f"127.0.0.1:{taken.getsockname()[1]}"
        with computer.up() as process:
            wait_for("several tries", lambda: part_of(computer, "http").get("restarts", 0) >= 2)
            wait_for("a wait", lambda: part_of(computer, "http")["state"] == "restarting")
            assert "cannot listen" in part_of(computer, "http")["problem"]
            assert "http" in computer.finding("parts")["message"]
            wait_for("the terminal", lambda: re.search("  http: .*cannot listen on", computer.output))
            taken.close()
            wait_for("its way back", lambda: computer.status()["serving"]["address"])
            assert end(process, signal.SIGHUP) == 0
    assert "Traceback" not in (computer.home / "runtime" / "logs" / "recollect.log").read_text()


def test_a_status_that_cannot_be_written_is_told_once_and_when_it_is_over(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    in_the_way = computer.home / "runtime" / "status.new"
    with computer.up("--log") as process:
        wait_for("a moment between two writes of it", lambda: is_made(in_the_way))
        for number, about in enumerate(("medlars", "quinces", "sorrel"), 1):
            session(about, about).save(computer.projects)
            wait_for(about, lambda number=number: log_of(computer).count("new messages from") >= number)
        wait_for("a word about it", lambda: "status.json cannot be written" in log_of(computer))
        in_the_way.rmdir()
        wait_for("its end", lambda: "status: all is well again" in log_of(computer))
        assert end(process) == 0
    assert log_of(computer).count("status.json cannot be written") == 1
    assert "watcher: all is well again" not in log_of(computer)


def is_made(folder: Path) -> bool:
    with suppress(FileExistsError):
        folder.mkdir()
        return True
    return False


def test_whoever_tells_how_it_is_makes_the_folder_of_the_status_again(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "home") as memory:
        daemon = Daemon(memory, lambda status, report: None)
        running = threading.Thread(target=lambda: daemon.run(lambda _memory, _roots: None))
        running.start()
        try:
            wait_for("the watcher", lambda: daemon.parts[0].health.state is State.RUNNING)
            memory.settings.runtime.rename(tmp_path / "removed")

            daemon.parts[-1].on_change()

            assert (memory.settings.runtime / "status.json").exists()
            assert daemon.status.status_problem == ""
        finally:
            daemon.stop()
            running.join(PATIENCE_SECONDS)


def test_the_status_of_another_daemon_stays(tmp_path: Path) -> None:
    """That one had begun when this one was ending."""
    with recollect.open(tmp_path / "home") as memory:
        other = statuses.DaemonStatus(pid=1, started_at=to_text(system_clock()), roots=[])
        daemon = Daemon(memory, lambda status, report: None)
        late = Supervised("late", lambda shift: shift.ended.wait(PATIENCE_SECONDS))
        late.on_change = lambda: write(memory.settings.runtime / "status.json", msgspec.json.encode(other))
        daemon.parts.append(late)

        daemon.run(lambda _memory, _roots: late.start(), once=True)

        assert statuses.read_status(memory.settings.runtime) == other


def test_what_a_full_disk_left_of_its_status_goes_with_it(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "home") as memory:
        half = memory.settings.runtime / "status.new"
        daemon = Daemon(memory, lambda status, report: None)
        late = Supervised("late", lambda shift: shift.ended.wait(PATIENCE_SECONDS))
        late.on_change = lambda: write(half, b"{")
        daemon.parts.append(late)

        daemon.run(lambda _memory, _roots: late.start(), once=True)

        assert not half.exists()


def test_after_the_clock_was_ahead_it_still_finishes_what_was_forgotten(tmp_path: Path) -> None:
    clock, seconds = FrozenClock(), [0.0]
    write(tmp_path / "home" / "recollect.toml", b"poll_interval_seconds = 0.1\nfetch_models = false\n")
    with recollect.open(tmp_path / "home", clock=clock) as memory:
        memory.forget(record=memory.knowledge.remember("The cellar key hangs behind the door.").record.id)
        daemon = Daemon(memory, lambda status, report: None, now=lambda: seconds[0])
        running = threading.Thread(target=lambda: daemon.run(lambda _memory, _roots: None))
        running.start()
        try:
            wait_for("the watcher", lambda: daemon.parts[0].health.state is State.RUNNING)
            clock.move(days=3650)
            ahead = to_text(clock())
            seconds[0] += 600
            wait_for("a scan", lambda: daemon.status.last_scan_at == ahead)
            clock.move(days=-3649)
            with memory.database.write() as session:
                session.run("UPDATE lineage_receipts SET state = 'erased'")
            seconds[0] += 600
            wait_for("its end", lambda: not memory.forgetting.unfinished(), 10)
        finally:
            daemon.stop()
            running.join(PATIENCE_SECONDS)


def test_while_the_database_is_locked_nobody_says_that_all_is_well(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    session("garden").save(computer.projects)
    with computer.up("--log") as process, closing(sqlite3.connect(computer.home / "recollect.db")) as writer:
        writer.execute("BEGIN IMMEDIATE")
        session("after", "medlars").save(computer.projects)
        wait_for("a word about it", lambda: re.search("watcher: .* is busy", log_of(computer)))
        for _ in range(2):
            scanned = computer.status()["last_scan_at"]
            wait_for("one more scan", lambda then=scanned: computer.status()["last_scan_at"] > then)
        assert "watcher: all is well again" not in log_of(computer)
        writer.rollback()
        wait_for("its end", lambda: "watcher: all is well again" in log_of(computer))
        assert end(process) == 0


@pytest.mark.parametrize("reader", ["a pipe", "a terminal", "a full disk"])
def test_a_daemon_whose_words_nobody_reads_goes_on(tmp_path: Path, reader: str) -> None:
    computer = Computer(tmp_path)
    session("garden").save(computer.projects)
    reading, writing = (0, os.open("/dev/full", os.O_WRONLY)) if reader == "a full disk" else PLACES[reader]()
    process = subprocess.Popen(
        command("up", "--log"),
        env=environment(computer.home),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        start_new_session=True,  # Else it would hear that the terminal is closed, and end.
    )
    os.close(writing)
    try:
        wait_for("the first pass", lambda: computer.status().get("pid") == process.pid)
        if reading:
            os.close(reading)
        for about in ("medlars", "quinces", "sorrel"):
            session(about, about).save(computer.projects)
            wait_for(about, lambda about=about: computer.run("search", about, "--json").json()["hits"])
        assert [part["restarts"] for part in computer.status()["parts"]] == [0] * len(computer.status()["parts"])
        assert end(process) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert "down" in log_of(computer)
    assert " ERROR " not in log_of(computer)


def test_silent_connections_leave_it_the_files_it_needs(tmp_path: Path) -> None:
    """Where the system allows 256 and no more."""
    computer = Computer(tmp_path)
    computer.variables["RECOLLECT_LISTEN"] = "127.0.0.1:0"
    limited = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *command("up", "--log")]
    process = subprocess.Popen(
        limited,
        env=environment(computer.home, **computer.variables),
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        wait_for("the first pass", lambda: computer.status().get("pid") == process.pid)
        port = int(wait_for("the server", lambda: computer.status()["serving"]["address"]).rpartition(":")[2])
        with ExitStack() as crowd:
            for _ in range(300):
                crowd.enter_context(socket.create_connection(("127.0.0.1", port)))
            for about in ("medlars", "quinces", "sorrel"):
                session(about, about).save(computer.projects)
                wait_for(about, lambda about=about: computer.run("search", about, "--json").json()["hits"])
            status = computer.status()
        assert [part["restarts"] for part in status["parts"]] == [0] * len(status["parts"])
        assert (status["problem"], status["notes_problem"], status["status_problem"]) == ("", "", "")
        assert end(process) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


# Its end


class Hanging(Echo):
    """Takes a question and never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate("Too late.")
        self.script(*[self.gate] * 20)


def ended_in(process: "subprocess.Popen[bytes]", number: int = signal.SIGTERM) -> float:
    begun = time.monotonic()
    process.send_signal(number)
    process.wait(PATIENCE_SECONDS)
    return time.monotonic() - begun


def test_it_ends_in_time_while_everything_hangs(tmp_path: Path, service: Service) -> None:
    """The models of the mind and of the librarian never answer, somebody sends half a request, and somebody follows the
    events and reads none of them."""
    with Hanging() as model, Hanging() as reader:
        desk = Desk(tmp_path, service, model, **{"webhook.listen": "127.0.0.1:0", "librarian.tokens_per_day": 10**9})
        desk.librarian = f"{reader.base_url}#test-model"
        desk.configure(**desk.chosen)
        desk.variables |= {VARIABLE: SECRET, "RECOLLECT_LISTEN": "127.0.0.1:0"}
        desk.allow(CHAT)
        with recollect.open(desk.home) as memory:
            bearer = f"Authorization: Bearer {memory.access.create(label='follower').secret}"
        session("garden").save(desk.projects)
        service.write(CHAT, "message 1")
        with desk.up() as process:
            assert model.gate.is_reached.wait(PATIENCE_SECONDS)
            assert reader.gate.is_reached.wait(PATIENCE_SECONDS)
            address = wait_for("the server", lambda: desk.status()["serving"]["address"])
            host, port = address.rpartition("/")[2].split(":")
            with (
                socket.create_connection((host, int(port))) as half,
                socket.create_connection((host, int(port))) as follower,
            ):
                half.sendall(b"POST /v1/records HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
                follower.sendall(f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n\r\n".encode())
                assert follower.recv(100).startswith(b"HTTP/1.1 200 ")
                took = ended_in(process)
            model.gate.open()
            reader.gate.open()
        sys.stdout.write(f"It took {took:.2f} s to end.\n")
        assert process.returncode == 0
        assert took < PROMISED_SECONDS + BUSY_SECONDS
    assert not is_locked(desk.home / "runtime")
    assert desk.status() == {}
    assert "Traceback" not in desk.errors
    assert "Recollect is down." in desk.output
    told = (desk.home / "runtime" / "logs" / "recollect.log").read_text()
    assert "librarian did not end in time and was left behind" in told
    with recollect.open(desk.home) as memory:
        assert memory.librarian.status().counts.held == 0, "it was handed back"


def is_open(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


class Silent(Hook):
    """Takes an answer and never says that it has it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reached, self.goes_on = threading.Event(), threading.Event()

    def answer(self, request: Request) -> Response:
        self.is_reached.set()
        self.goes_on.wait(PATIENCE_SECONDS)
        return super().answer(request)


def test_it_ends_in_time_while_a_webhook_does_not_take_the_answer(
    tmp_path: Path, service: Service, model: Echo
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Silent() as hook:
        webhook = {"webhook.listen": f"127.0.0.1:{port}", "webhook.url": f"{hook.url}/answers"}
        desk = Desk(tmp_path, service, model, **webhook)
        desk.variables[VARIABLE] = SECRET
        with recollect.open(desk.home) as memory:
            memory.places.allow("webhook", ADDRESS, "Ada")
        with desk.up() as process:
            wait_for("the webhook", lambda: desk.minding()["channels"].get("webhook") == "")
            wait_for("somebody to listen", lambda: is_open(port))
            raw = json.dumps({"address": ADDRESS, "text": "message 1"}).encode()
            headers = signed_headers(secrets_in(SECRET, VARIABLE), "msg_1", system_clock(), raw)
            request = urllib.request.Request(f"http://127.0.0.1:{port}{PATH}", raw, headers)
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS):
                assert hook.is_reached.wait(PATIENCE_SECONDS)
            took = ended_in(process)
        hook.goes_on.set()
    sys.stdout.write(f"It took {took:.2f} s to end.\n")
    assert process.returncode == 0
    assert took < PROMISED_SECONDS + BUSY_SECONDS
    assert "Traceback" not in desk.errors
    assert not is_locked(desk.home / "runtime")


def test_a_second_signal_ends_it_at_once(tmp_path: Path, service: Service) -> None:
    with Hanging() as reader, Echo() as model:
        desk = Desk(tmp_path, service, model, **{"librarian.tokens_per_day": 10**9})
        desk.librarian = f"{reader.base_url}#test-model"
        desk.configure(**desk.chosen)
        session("garden").save(desk.projects)
        with desk.up() as process:
            assert reader.gate.is_reached.wait(PATIENCE_SECONDS)
            process.send_signal(signal.SIGINT)
            wait_for("the first to be heard", lambda: "down" in log_of(desk) or part_is_ending(desk))
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_SECONDS) == 128 + signal.SIGINT
        reader.gate.open()
    assert not is_locked(desk.home / "runtime")
    assert desk.status() == {}
    assert "left behind" not in log_of(desk)


def log_of(computer: Computer) -> str:
    return (computer.home / "runtime" / "logs" / "recollect.log").read_text()


def part_is_ending(computer: Computer) -> bool:
    return "ending" in log_of(computer)


def test_parts_beyond_the_deadline_are_left_behind_and_named(tmp_path: Path) -> None:
    goes_on = threading.Event()

    def hang(shift: Shift) -> None:
        goes_on.wait(PATIENCE_SECONDS)

    with recollect.open(tmp_path / "home") as memory:
        daemon = Daemon(memory, lambda status, report: None, stop_seconds=0.3)
        hanging = Supervised("hanging", hang)
        daemon.parts.append(hanging)
        left: list[str] = []

        def first_pass(_memory: recollect.Memory, _roots: list[Path]) -> None:
            hanging.start()

        running = threading.Thread(target=lambda: left.extend(daemon.run(first_pass)))
        running.start()
        wait_for("it to run", lambda: daemon.parts[0].health.state is State.RUNNING)
        daemon.stop()
        running.join(PATIENCE_SECONDS)

        assert left == ["hanging"]
        assert not is_locked(memory.settings.runtime)
        assert {part.health.state for part in daemon.parts} == {State.STOPPED, State.OFF}
        goes_on.set()


def test_a_switchboard_that_waits_after_a_crash_leaves_no_socket(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "home") as memory:
        daemon = Daemon(memory, lambda status, report: None)
        switchboard = next(part for part in daemon.parts if part.name == "switchboard")
        running = threading.Thread(target=lambda: daemon.run(lambda _memory, _roots: None))
        running.start()
        path = wait_for("the socket", lambda: daemon.status.socket)
        wait_for("the watcher", lambda: daemon.parts[0].health.state is State.RUNNING)
        before = threading.stack_size(1 << 45)  # No thread can be begun with so much.
        try:
            knock(path)
            wait_for("its crash", lambda: switchboard.health.restarts)
        finally:
            threading.stack_size(before)
        daemon.stop()
        running.join(PATIENCE_SECONDS)
    assert not Path(path).exists()


def test_a_process_that_does_not_end_is_ended_and_the_log_names_who_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first pass swallows what would end it, and goes on."""
    monkeypatch.setattr(daemons, "LAST_SECONDS", 0.1)
    codes: list[int] = []
    is_over = threading.Event()

    def hang(_shift: Shift) -> None:
        is_over.wait(PATIENCE_SECONDS)

    hanging = Supervised("hanging", hang)

    def give_up(code: int) -> None:
        codes.append(code)
        is_over.set()

    def first_pass(_memory: recollect.Memory, _roots: list[Path]) -> None:
        hanging.start()
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            is_over.wait(PATIENCE_SECONDS)

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with recollect.open(tmp_path / "home") as memory:
            daemon = Daemon(memory, lambda status, report: None, give_up=give_up, stop_seconds=0.1)
            daemon.parts.append(hanging)
            daemon.run(first_pass, once=True)
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert codes == [0]
    assert "the main thread, hanging did not end in time: the process is ended" in caplog.messages


def test_nothing_is_printed_on_a_second_start_and_stop(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    for _ in range(2):
        with started("up", home=computer.home, variables=computer.variables) as process:
            wait_for("its status", lambda process=process: computer.status().get("pid") == process.pid)
            assert end(process) == 0
    assert computer.errors == ""
