"""The local socket of a daemon: what it answers, what it declines, and who cannot harm it."""

import contextlib
import os
import shutil
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import wait_for
from parts import stop
from transcripts import Transcript, write

import recollect
from recollect.asking import ANSWER_SECONDS, SILENT_SECONDS, Daemon, Question, Request, answer, ask_daemon, place_of
from recollect.daemon import switchboard
from recollect.daemon.switchboard import Switchboard
from recollect.settings import load_settings

QUESTIONS = (
    Question(text="question about beans"),
    Question(text="anything last week", limit=3, explain=True, zone_seconds=7_200),
    Question(text="reply", authors=("assistant",), rerank=True),
    Question(text="beans", projects=("nowhere",)),
    Question(text="beans", agent="ada"),
    Question(text="beans", agent="bert", search_type="facts"),
    Question(text="beans " * 20_000, fast=True),
)


@pytest.fixture
def home() -> Iterator[Path]:
    """Not below pytest's own folder: its path may be too long for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="rc-"))
    yield folder / "home"
    shutil.rmtree(folder)


@pytest.fixture
def memory(home: Path, projects: Path) -> Iterator[recollect.Memory]:
    Transcript("garden").exchanges(6, about="beans").save(projects)
    with recollect.open(home) as opened:
        opened.history.ingest([projects])
        for name in ("ada", "bert"):
            opened.agents.add(name)
            opened.knowledge.remember(f"The beans of {name} are runner beans.", scope=name)
        yield opened


@pytest.fixture
def board(memory: recollect.Memory) -> Iterator[Switchboard]:
    opened = Switchboard(memory)
    listening(memory, opened.open())
    yield opened
    stop(opened.part)


def listening(memory: recollect.Memory, where: str) -> None:
    """What the daemon tells others."""
    write(memory.settings.runtime / "status.json", msgspec.json.encode({"socket": where}))


def timeless(found: dict[str, Any] | None) -> dict[str, Any]:
    assert found is not None
    return {**msgspec.json.decode(msgspec.json.encode(found)), "milliseconds": 0}


def say(where: str, raw: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(where)
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        parts: list[bytes] = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def where(memory: recollect.Memory) -> str:
    return str(memory.settings.runtime / "search.sock")


def request(memory: recollect.Memory, **changes: Any) -> bytes:
    usual = {"recollect": 1, "version": recollect.__version__, "place": place_of(memory.settings)}
    return msgspec.json.encode({**usual, "search": {"text": "beans"}, **changes}) + b"\n"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text[:12])
def test_the_answer_is_the_one_of_a_search_without_a_daemon(
    question: Question, memory: recollect.Memory, board: Switchboard
) -> None:
    here = answer(memory, question)

    assert timeless(ask_daemon(memory.settings, question)) == timeless(here)


@pytest.mark.parametrize(
    ("question", "error"),
    [
        (Question(text=" "), recollect.Invalid),
        (Question(text="beans", sources=("netscape",)), recollect.Invalid),
        (Question(text="beans", conversations=("zzzz",)), recollect.NotFound),
        (Question(text="beans", agent="otto"), recollect.NotFound),
    ],
)
def test_mistakes_are_the_same_errors(
    question: Question, error: type[Exception], memory: recollect.Memory, board: Switchboard
) -> None:
    with pytest.raises(error) as here:
        answer(memory, question)
    with pytest.raises(error) as there:
        ask_daemon(memory.settings, question)
    assert str(here.value) == str(there.value)


def test_who_asks_as_an_agent_is_told_what_that_agent_may_see(memory: recollect.Memory, board: Switchboard) -> None:
    found = ask_daemon(memory.settings, Question(text="beans", agent="ada", search_type="facts"))

    assert found
    assert [hit["text"] for hit in found["hits"]] == ["The beans of ada are runner beans."]


def test_only_its_owner_may_ask(memory: recollect.Memory, board: Switchboard) -> None:
    assert stat.S_IMODE(os.stat(where(memory)).st_mode) == 0o600


@pytest.mark.parametrize(
    "changes",
    [{"recollect": 2}, {"version": "9.9.9"}, {"place": "elsewhere"}, {"search": {"text": "x", "sorcery": 1}}],
    ids=str,
)
def test_what_it_cannot_answer_exactly_is_declined(
    changes: dict[str, Any], memory: recollect.Memory, board: Switchboard
) -> None:
    assert b"hits" in say(where(memory), request(memory))
    assert list(msgspec.json.decode(say(where(memory), request(memory, **changes)))) == ["declined"]


def test_a_daemon_of_another_database_or_with_other_settings_is_not_asked(
    memory: recollect.Memory, board: Switchboard, tmp_path: Path
) -> None:
    question = Question(text="beans")
    home = memory.settings.home
    assert ask_daemon(memory.settings, question) is not None
    assert ask_daemon(load_settings(home, str(tmp_path / "other.db")), question) is None
    assert ask_daemon(load_settings(home, str(home / "recollect.db")), question) is not None
    write(home / "recollect.toml", b'deep_model = ""\n')
    assert ask_daemon(load_settings(home), question) is None


@pytest.mark.parametrize("raw", [b"", b"\n", b"{}\n", b"\xff\xfe\n", b"[" * 5_000 + b"\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_nonsense_harms_nobody(raw: bytes, memory: recollect.Memory, board: Switchboard) -> None:
    assert b"hits" not in say(where(memory), raw)
    assert ask_daemon(memory.settings, Question(text="beans")) is not None


def test_a_question_without_end_is_cut_off(
    memory: recollect.Memory, board: Switchboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switchboard, "MOST_REQUEST_BYTES", 100_000)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(where(memory))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            connection.sendall(b"x" * 10_000_000)
    assert ask_daemon(memory.settings, Question(text="beans")) is not None


def test_whoever_says_nothing_keeps_nobody_waiting(memory: recollect.Memory, board: Switchboard) -> None:
    silent = [socket.socket(socket.AF_UNIX) for _ in range(switchboard.MOST_CONNECTIONS - 1)]
    try:
        for connection in silent:
            connection.connect(where(memory))
            connection.sendall(b'{"recollect"')
        assert ask_daemon(memory.settings, Question(text="beans")) is not None
    finally:
        for connection in silent:
            connection.close()


def test_too_many_at_once_are_sent_away_and_searching_alone_still_works(
    memory: recollect.Memory, board: Switchboard
) -> None:
    silent = [socket.socket(socket.AF_UNIX) for _ in range(switchboard.MOST_CONNECTIONS)]
    try:
        for connection in silent:
            connection.connect(where(memory))
        wait_for("one that is sent away", lambda: ask_daemon(memory.settings, Question(text="beans")) is None)
    finally:
        for connection in silent:
            connection.close()
    wait_for("room again", lambda: ask_daemon(memory.settings, Question(text="beans")) is not None)


def test_many_ask_at_once_and_all_get_the_same_answer(memory: recollect.Memory, board: Switchboard) -> None:
    answers: list[dict[str, Any]] = []

    def ask() -> None:
        answers.append(timeless(ask_daemon(memory.settings, QUESTIONS[0])))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [timeless(answer(memory, QUESTIONS[0]))] * 12


def test_questions_do_not_pile_up_connections_to_the_database(memory: recollect.Memory, board: Switchboard) -> None:
    for _ in range(switchboard.ANSWERING_THREADS * 2):
        ask_daemon(memory.settings, QUESTIONS[0])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        ask_daemon(memory.settings, QUESTIONS[0])
    assert len(os.listdir("/proc/self/fd")) <= before


def test_what_a_killed_daemon_left_is_passed_over_and_replaced(memory: recollect.Memory) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        memory.settings.runtime.mkdir()
        dead.bind(where(memory))
    listening(memory, where(memory))
    assert ask_daemon(memory.settings, Question(text="beans")) is None

    board = Switchboard(memory)
    assert board.open() == where(memory)
    assert ask_daemon(memory.settings, Question(text="beans")) is not None
    stop(board.part)
    assert not os.path.exists(where(memory))
    assert ask_daemon(memory.settings, Question(text="beans")) is None


def test_a_daemon_that_hangs_is_not_asked_again_for_a_while(memory: recollect.Memory) -> None:
    memory.settings.runtime.mkdir()
    now = [0.0]
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(where(memory))
        hung.listen()
        hung.setblocking(False)
        listening(memory, where(memory))
        daemon = Daemon(memory.settings, answer_seconds=0.1, now=lambda: now[0])
        asked = 0
        for seconds in (0.0, 1.0, SILENT_SECONDS - 1, 2.0):
            now[0] += seconds
            assert daemon.ask(Question(text="beans")) is None
            with contextlib.suppress(BlockingIOError):
                hung.accept()[0].close()
                asked += 1
        assert asked == 2
    with socket.socket(socket.AF_UNIX) as other:  # The next one is another.
        other.bind(f"{where(memory)}2")
        other.listen()
        listening(memory, f"{where(memory)}2")
        assert daemon.ask(Question(text="beans")) is None
        other.setblocking(False)
        other.accept()[0].close()


def test_who_ends_waits_for_no_daemon(memory: recollect.Memory) -> None:
    memory.settings.runtime.mkdir()
    ended: list[str] = []
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(where(memory))
        hung.listen()
        listening(memory, where(memory))
        daemon = Daemon(memory.settings)

        def ask() -> None:
            try:
                daemon.ask(Question(text="beans"))
            except recollect.Unavailable as error:
                ended.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        connection, _ = hung.accept()
        assert connection.recv(10)
        daemon.leave()
        thread.join(ANSWER_SECONDS / 2)
        assert ended == ["It is ending, and searches no more."]
        connection.close()


def test_a_socket_that_was_removed_is_made_again(memory: recollect.Memory, board: Switchboard) -> None:
    board.renew()
    os.unlink(where(memory))

    board.renew()

    wait_for("an answer", lambda: ask_daemon(memory.settings, Question(text="beans")))
    assert board.part.health.restarts == 1
    assert board.part.health.problem == f"{where(memory)} was removed."
    assert stat.S_IMODE(os.stat(where(memory)).st_mode) == 0o600


def test_the_socket_of_another_daemon_stays(memory: recollect.Memory) -> None:
    first, second = Switchboard(memory), Switchboard(memory)
    first.open()
    listening(memory, second.open())

    stop(first.part)
    first.remove()

    assert ask_daemon(memory.settings, Question(text="beans")) is not None
    stop(second.part)
    second.remove()
    assert not os.path.exists(where(memory))


def test_a_home_with_a_long_path_has_its_socket_elsewhere(projects: Path, tmp_path: Path) -> None:
    Transcript("garden").exchanges(2).save(projects)
    with recollect.open(tmp_path / ("deep" * 20) / ("deeper" * 20)) as memory:
        memory.history.ingest([projects])
        board = Switchboard(memory)
        place = board.open()
        listening(memory, place)
        assert stat.S_IMODE(os.stat(os.path.dirname(place)).st_mode) == 0o700
        assert ask_daemon(memory.settings, Question(text="beans")) is not None
        stop(board.part)
        assert not os.path.exists(os.path.dirname(place))


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"socket": 5}', b'{"socket": "/nowhere/at/all"}', b'{"pid": 1}'])
def test_a_status_that_tells_nothing_is_no_error(raw: bytes, memory: recollect.Memory) -> None:
    write(memory.settings.runtime / "status.json", raw)

    assert ask_daemon(memory.settings, Question(text="beans")) is None


def test_a_request_travels_without_loss() -> None:
    for question in QUESTIONS:
        sent = Request(recollect=1, version="1", place="p", search=question)
        assert msgspec.json.decode(msgspec.json.encode(sent), type=Request) == sent
