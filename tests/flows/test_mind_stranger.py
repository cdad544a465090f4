"""What somebody stumbled over who talked with the agent for the first time."""

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import PATIENCE_SECONDS, command, environment, run
from terminals import Desk, Gate, sitting_at

from recollect.channels.page import Page
from recollect.channels.terminal import Terminal
from recollect.llm.hints import come_again
from recollect.mind.channel import Began, Reply, Thinking, ToolResult, ToolUse, Words
from recollect.testing import OpenAIServer
from recollect.testing.openai_answers import Fault

ENTER, CTRL_C = "\r", "\x03"
SIGN = "· answering …"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def talking(home: Path, server: OpenAIServer) -> Path:
    home.mkdir()
    (home / "recollect.toml").write_text(f'[mind]\nmodel = "{server.base_url}#test-model"\n')
    return home


def say(desk: Desk, text: str) -> None:
    desk.type(text + ENTER)
    desk.see(f"› {text}")


def test_a_first_start_says_how_to_begin_and_a_wait_has_a_sign(talking: Path, server: OpenAIServer) -> None:
    gate = Gate("I am.")
    server.script(gate)
    with sitting_at("chat", home=talking) as desk:
        desk.see("Nothing was said yet.", "/help")
        say(desk, "Are you there?")
        desk.see(SIGN)
        gate.open()
        desk.see("I am.")
        desk.see_no(SIGN)


def test_ctrl_c_in_a_window_that_waits_leaves_the_answer_of_another_alone(talking: Path, server: OpenAIServer) -> None:
    gate = Gate("For the second.")
    server.script("For the first.", gate)
    with sitting_at("chat", home=talking) as first, sitting_at("chat", home=talking) as second:
        first.see("›")
        say(first, "The first runs the turns from now on.")
        first.see("For the first.")
        second.see("›")
        say(second, "How deep is the well?")
        assert gate.is_reached.wait(60)
        say(first, "Never mind.")
        first.type(CTRL_C)
        first.see("Took back 1 message.")
        second.type(CTRL_C)
        second.see("Another window answers this")
        gate.open()
        second.see("For the second.")
        assert "stopped" not in second.screen.text
    assert len([request for request in server.requests if request.method == "POST"]) == 2


def test_the_sign_goes_with_the_first_word_and_comes_back_while_a_result_is_read() -> None:
    paper = Page(has_colours=False)
    terminal = Terminal(paper, lambda: None)
    seen: list[list[str]] = []
    terminal.has_asked()
    seen.append(paper.doing)
    for shown in (
        Began(turn=1, messages=1),
        Thinking(),
        Words(text="Let me look."),
        ToolUse(name="search_memory", line="well"),
        ToolResult(name="search_memory", line="1 hit"),
        Words(text="38 m."),
    ):
        terminal.show(terminal.address, shown)
        seen.append(paper.doing)
    asyncio.run(terminal.deliver(terminal.address, Reply(turn=1, text="", at="", was_shown=True)))
    seen.append(paper.doing)

    assert seen == [[SIGN], [SIGN], ["· thinking …"], [], ["· search_memory well …"], [SIGN], [], []]


def test_the_sign_goes_when_what_was_said_is_taken_back() -> None:
    paper = Page(has_colours=False)
    terminal = Terminal(paper, lambda: None)
    terminal.has_asked()
    terminal.has_asked()
    terminal.has_withdrawn(1)
    assert paper.doing == [SIGN]
    terminal.has_withdrawn(1)
    assert paper.doing == []


def test_a_tool_that_did_what_it_was_asked_says_so_once() -> None:
    paper = Page(has_colours=False)
    paper.asked(ToolUse(name="update_status", line="set mood"))
    paper.answered(ToolResult(name="update_status", line="set mood"))
    assert paper.take_finished() == "· update_status set mood\n"


@pytest.mark.parametrize("text", ["[private] My number is 4711.", " [Private]\nMy number is 4711."])
def test_what_begins_as_private_is_not_sent(talking: Path, server: OpenAIServer, text: str) -> None:
    refused = run("chat", text, home=talking)

    assert refused.code == 2
    assert refused.explains("stay out of memory")
    assert not [request for request in server.requests if request.method == "POST"]


def test_without_a_model_the_file_is_named_by_its_path_and_every_line_fits(home: Path) -> None:
    refused = run("chat", "Hello?", home=home)

    assert refused.explains(str(home / "recollect.toml"))
    assert all(len(line) <= 80 for line in refused.err.splitlines() if str(home) not in line)


def test_a_busy_provider_is_told_without_a_promise_that_nobody_keeps(talking: Path, server: OpenAIServer) -> None:
    server.script(Fault(status=429, message="Too many.", headers={"retry-after": "90"}))

    refused = run("chat", "Hello?", home=talking)

    assert refused.code == 6
    assert refused.explains("It asks to wait 90 seconds.")
    assert "tried again later" not in refused.err


def test_when_to_come_again_is_told_where_it_is_known() -> None:
    assert [come_again(seconds) for seconds in (None, 0.02, 1, 90.4)] == [
        "Later it may work again.",
        "Later it may work again.",
        "It asks to wait 1 second.",
        "It asks to wait 90 seconds.",
    ]


def test_a_pipe_has_the_answer_before_the_conversation_is_condensed(talking: Path, server: OpenAIServer) -> None:
    with (talking / "recollect.toml").open("a") as settings:
        settings.write("compact_at_tokens = 4000\n")
    gate = Gate("All that lies further back.")
    server.script("One. " * 4_000)
    run("chat", "Tell me a story.", home=talking)
    server.script("Two. " * 4_000, gate)
    with subprocess.Popen(
        command("chat", "And another one."), env=environment(talking), stdout=subprocess.PIPE, text=True
    ) as talk:
        assert talk.stdout
        try:
            assert talk.stdout.readline().startswith("Two. Two.")
            assert gate.is_reached.wait(PATIENCE_SECONDS)
        finally:
            gate.open()
        assert talk.wait(PATIENCE_SECONDS) == 0


BROKEN = """
import asyncio
from recollect.channels.page import Page
from recollect.channels.sitting import Sitting

class Broken:
    def latest(self, number): return []
    def attach(self, channel): pass
    async def run(self): raise ZeroDivisionError("a mistake of ours")
    async def close(self): pass

asyncio.run(Sitting(Broken(), Page(has_colours=False), str).run())
"""


def test_a_mistake_of_ours_ends_the_window_with_its_name_and_not_in_silence(home: Path) -> None:
    own, theirs = pty.openpty()
    ended = subprocess.run(
        [sys.executable, "-c", BROKEN],
        env=environment(home, TERM="xterm-256color"),
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    os.close(own)
    os.close(theirs)

    assert ended.returncode == 1
    assert b"a mistake of ours" in ended.stderr
