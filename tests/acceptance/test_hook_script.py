"""The script that agents run, as they run it: with the daemon, without it, and with whatever may be wrong around it."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commands
import pytest
import transcripts

import recollect
from recollect.settings import load_settings
from recollect.surfaces.hooks.commands import own_program, script_path, script_text, words_of
from recollect.testing.loopback import LoopbackServer

LISTEN = {"RECOLLECT_LISTEN": "127.0.0.1:0"}
SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox", "ksh", "zsh") if shutil.which(shell)]
HOMES = ["home", 'a home\'s "own" $(touch x) `y`']


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str
    seconds: float


class Script:
    """Installed in a home that knows one thing."""

    def __init__(self, home: Path, words: list[str] | None = None) -> None:
        self.home = home
        settings = load_settings(home)
        with recollect.open(home) as memory:
            memory.agents.add("claude-code")
            memory.knowledge.remember("The well is 14 metres deep.")
        self.path = Path(script_path(settings))
        self.path.parent.mkdir(parents=True)
        text = script_text(settings, words or words_of(settings, own_program()))
        patient = text.replace(' hook "$tool"', f' hook --within {commands.PATIENCE_SECONDS} "$tool"')
        assert patient != text
        self.path.write_text(patient)
        self.path.chmod(0o700)

    def run(self, event: str, given: bytes, shell: str = "", **variables: str) -> Ended:
        before = [shell, "sh"] if shell == "busybox" else [shell] if shell else []
        started = time.monotonic()
        done = subprocess.run(
            [*before, str(self.path), "claude-code", event, "claude-code"],
            input=given,
            capture_output=True,
            env=commands.environment(self.home, **variables),
            cwd=self.home.parent,
            timeout=2 * commands.PATIENCE_SECONDS,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - started)

    @property
    def address_file(self) -> Path:
        return self.home / "runtime" / "hook.curl"

    @contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        with commands.started("up", home=self.home, variables=LISTEN) as process:
            commands.wait_for("the daemon to listen", self.address_file.exists)
            yield process


@pytest.fixture
def script(home: Path) -> Script:
    return Script(home)


@pytest.fixture
def transcript(home: Path) -> Path:
    session = transcripts.Transcript("well")
    session.user("How deep is the well?")
    session.assistant("14 metres.")
    return session.save(home.parent / "elsewhere" / "projects")


def payload(**more: Any) -> bytes:
    return json.dumps({"session_id": "s-1", "cwd": "/home/ada/well", "source": "startup", **more}).encode()


def context_of(ended: Ended) -> str:
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)["hookSpecificOutput"]["additionalContext"] if ended.out else ""


def number_taken_in(home: Path) -> int:
    with recollect.open(home) as memory:
        return len(list(memory.history.export()))


def number_not_indexed(home: Path) -> int:
    with recollect.open(home) as memory:
        return memory.recall.waiting()


@pytest.mark.parametrize("name", HOMES)
def test_the_daemon_answers_at_the_beginning_and_takes_in_at_the_end(
    tmp_path: Path, name: str, transcript: Path
) -> None:
    script = Script(tmp_path / name, words=["/nowhere/recollect"])  # So that only the daemon can have answered.
    with script.daemon() as process:
        for shell in SHELLS:
            assert "14 metres" in context_of(script.run("SessionStart", payload(), shell))
        assert context_of(script.run("SessionStart", payload(source="resume"))) == ""
        for event in ("Stop", "PreCompact", "SessionEnd"):
            assert script.run(event, payload(transcript_path=str(transcript))).out == ""
        commands.wait_for("the transcript", lambda: number_taken_in(script.home) == 2)
        assert commands.end(process) == 0
    assert not script.address_file.exists()
    assert not (tmp_path / "x").exists()


def test_nothing_of_the_person_s_surroundings_comes_between(script: Script, home: Path) -> None:
    """A ~/.curlrc, a proxy for everything, an empty PATH."""
    (home.parent / "user").mkdir(exist_ok=True)
    (home.parent / "user" / ".curlrc").write_text('url = "http://127.0.0.1:9"\nproxy = "http://127.0.0.1:9"\n')
    around = {"http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9", "PATH": "/nowhere"}
    with script.daemon():
        assert "14 metres" in context_of(script.run("SessionStart", payload(), **around))


@pytest.mark.parametrize("name", HOMES)
def test_without_a_daemon_recollect_itself_answers(tmp_path: Path, name: str) -> None:
    script = Script(tmp_path / name)
    for shell in SHELLS:
        assert "14 metres" in context_of(script.run("SessionStart", payload(), shell))
    assert not (tmp_path / "x").exists()


def test_a_module_in_the_folder_of_a_project_is_not_run(home: Path) -> None:
    python, variables = commands.lone_interpreter(home.parent / "bin")
    asked = "from recollect.surfaces.hooks.commands import own_program; print(*own_program(), sep='\\n')"
    program = subprocess.run(
        [python, "-c", asked], env=commands.environment(home, **variables), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert program[0] == python
    script = Script(home, words=[*program, "--home", str(home)])
    (home.parent / "click.py").write_text("open('ran', 'w').close()\nraise SystemExit\n")
    assert "14 metres" in context_of(script.run("SessionStart", payload(), **variables))
    assert not (home.parent / "ran").exists()


@contextmanager
def busy(home: Path) -> Iterator[None]:
    """Another program writes all the time."""
    connection = sqlite3.connect(home / "recollect.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def number_shown(home: Path) -> int:
    with recollect.open(home) as memory:
        return memory.showings.figures().open_sessions


def test_while_another_program_writes_a_session_is_told_all_of_it(script: Script) -> None:
    with busy(script.home):
        assert "14 metres" in context_of(script.run("SessionStart", payload()))
    assert number_shown(script.home) == 0
    assert "14 metres" in context_of(script.run("SessionStart", payload()))
    assert number_shown(script.home) == 1


def test_while_another_program_writes_the_daemon_tells_a_session_all_of_it(home: Path) -> None:
    script = Script(home, words=["/nowhere/recollect"])
    with script.daemon():
        with busy(script.home):
            assert "14 metres" in context_of(script.run("SessionStart", payload()))
        assert "14 metres" in context_of(script.run("SessionStart", payload(session_id="s-2")))
        commands.wait_for("what was shown", lambda: number_shown(script.home) > 0)


def test_without_a_daemon_the_transcript_is_taken_in_behind_the_agent_s_back(script: Script, transcript: Path) -> None:
    """The script is gone before it is done, and what it started is in a session of its own."""
    ended = script.run("SessionEnd", payload(transcript_path=str(transcript)))
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    commands.wait_for("the transcript", lambda: number_taken_in(script.home) == 2)
    commands.wait_for("the index, which no beginning waits for", lambda: number_not_indexed(script.home) == 0)


def test_a_daemon_that_was_killed_leaves_an_address_at_which_nobody_answers(script: Script, transcript: Path) -> None:
    with script.daemon() as process:
        commands.end(process, signal.SIGKILL)
    assert script.address_file.exists()
    assert "14 metres" in context_of(script.run("SessionStart", payload()))
    assert script.run("Stop", payload(transcript_path=str(transcript))).code == 0
    commands.wait_for("the transcript", lambda: number_taken_in(script.home) == 2)


def test_where_there_is_no_curl_recollect_itself_answers(script: Script, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cat", "sh", "nohup"):
        (tools / name).symlink_to(str(shutil.which(name)))
    text = script.path.read_text().replace("PATH=$PATH:/usr/local/bin:/usr/bin:/bin", "")
    script.path.write_text(text)
    with script.daemon():
        ended = script.run("SessionStart", payload(), "/bin/sh", PATH=str(tools))
    assert "14 metres" in context_of(ended)


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"not JSON",
        b"\0\0\0",
        bytes(range(256)) * 20,
        json.dumps(
            {"cwd": "/x", "source": "startup", "odd": "\u0081\u0088 % %s \\n $(x) `y` '\" 中🎉"}, ensure_ascii=False
        ).encode(),
        json.dumps({"cwd": "/x", "source": "startup", "last_assistant_message": "word " * 1_000_000}).encode(),
    ],
    ids=["nothing", "no JSON", "NUL", "all bytes", "odd characters", "5 MB"],
)
def test_whatever_is_on_stdin_the_answer_is_whole_or_empty(script: Script, given: bytes) -> None:
    with script.daemon():
        for shell in SHELLS:
            ended = script.run("SessionStart", given, shell)
            assert "14 metres" in context_of(ended)
            assert script.run("Stop", given, shell).out == ""
    assert "14 metres" in context_of(script.run("SessionStart", given))


@pytest.mark.parametrize(
    "words", [["/nowhere/recollect"], ["/bin/false"], ["sh", "-c", "echo half; exit 3"], ["echo", "else"]]
)
def test_where_nothing_works_the_agent_does_not_notice(home: Path, words: list[str]) -> None:
    script = Script(home, words)
    for event in ("SessionStart", "Stop", "PreCompact", "SessionEnd"):
        ended = script.run(event, payload())
        assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_a_daemon_that_hangs_keeps_an_agent_for_its_limit_and_no_longer(home: Path) -> None:
    """It is stopped, as a computer that swaps would stop it: it takes connections and says nothing."""
    script = Script(home, ["/nowhere/recollect"])
    with script.daemon() as process:
        process.send_signal(signal.SIGSTOP)
        ended = script.run("SessionStart", payload())
        process.send_signal(signal.SIGCONT)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert 3 < ended.seconds < 20


def test_a_reader_that_leaves_is_no_failure(script: Script) -> None:
    with script.daemon():
        reading, writing = os.pipe()
        os.close(reading)
        process = subprocess.Popen(
            [str(script.path), "claude-code", "SessionStart", "claude-code"],
            stdin=subprocess.PIPE,
            stdout=writing,
            env=commands.environment(script.home),
        )
        os.close(writing)
        process.communicate(payload(), timeout=60)
    assert process.returncode == 0


def test_an_agent_that_is_not_there_gets_nothing(script: Script) -> None:
    text = script.path.read_text()
    script.path.write_text(text.replace("agent=$3", "agent=nobody"))
    with script.daemon():
        assert context_of(script.run("SessionStart", payload())) == ""


def test_the_secret_of_the_hooks_opens_nothing_else(script: Script) -> None:
    with script.daemon():
        lines = script.address_file.read_text()
        address = lines.split('"')[1].removesuffix("/v1/hooks")
        header = lines.split('"')[3]
        assert script.address_file.stat().st_mode & 0o077 == 0

        def status(path: str, *more: str) -> str:
            asked = ["curl", "-q", "-s", "-o", os.devnull, "-w", "%{http_code}", *more, f"{address}{path}"]
            return subprocess.run(asked, capture_output=True, text=True, timeout=30).stdout

        hook = ["-X", "POST", "-H", "Recollect-Hook: claude-code SessionStart claude-code"]
        assert status("/v1/hooks", "-H", header, *hook) == "200"
        assert status("/v1/hooks", *hook) == "401"
        assert status("/v1/hooks", "-H", f"{header}x", *hook) == "401"
        assert status("/v1/records", "-H", header) == "401"
        assert status("/v1/hooks", "-H", header, "-X", "POST") == "400"


def test_install_over_http_is_proved_with_the_daemon_that_runs(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = {"RECOLLECT_LISTEN": f"127.0.0.1:{free.getsockname()[1]}"}
    with commands.started("up", home=home, variables=listen):
        commands.wait_for("the daemon to listen", (home / "runtime" / "hook.curl").exists)
        for tool in ("claude-code", "codex"):
            done = commands.run("install", tool, "--http", "--yes", "--json", home=home, variables=listen)
            assert done.code == 0, done.out
            assert [step["ok"] for step in done.json()["self_test"]] == [True] * 4


def test_install_over_http_says_whose_the_port_is_and_shows_a_token_to_no_other_program(home: Path) -> None:
    with LoopbackServer() as server:
        listen = {"RECOLLECT_LISTEN": server.url.removeprefix("http://")}
        assert f"Another program answers at {server.url}." in proof_by_mcp(home, listen)
        assert [request.path for request in server.requests] == ["/health"]
        assert "authorization" not in server.requests[0].headers
    other = home.parent / "other"
    with commands.started("up", home=other, variables=listen):
        commands.wait_for("the daemon to listen", (other / "runtime" / "hook.curl").exists)
        assert f"The Recollect of another home answers at {server.url}." in proof_by_mcp(home, listen)


def proof_by_mcp(home: Path, listen: dict[str, str]) -> str:
    """What is the matter."""
    done = commands.run("install", "codex", "--http", "--yes", "--json", home=home, variables=listen)
    assert done.code == 1
    (failed,) = [step for step in done.json()["self_test"] if not step["ok"]]
    return str(failed["detail"])


def test_who_has_the_port_of_a_daemon_that_was_killed_is_told_nothing(script: Script) -> None:
    with script.daemon() as process:
        left = script.address_file.read_text()
        process.kill()
        process.wait()
    (port,) = re.findall(r"127\.0\.0\.1:(\d+)", left)
    script.address_file.write_text(left)
    with socket.create_server(("127.0.0.1", int(port))) as stranger:
        ended = script.run("SessionStart", payload())
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.accept()
    assert "14 metres" in context_of(ended)
