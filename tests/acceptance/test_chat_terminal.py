"""`recollect chat` on a terminal, with a person who reads and types (M3, M9)."""

import json
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from commands import run
from terminals import Desk, Gate, sitting_at

from recollect.testing import AnthropicServer, OpenAIServer
from recollect.testing.anthropic_answers import say, think, use_tool
from recollect.testing.openai_answers import Answer

CTRL_C, CTRL_D, ALT_ENTER, ENTER, UP = "\x03", "\x04", "\x1b\r", "\r", "\x1b[A"
PASTE = "\x1b[200~{}\x1b[201~"
PROMPT = "›"
PLAIN = "All is well."
STORY = "Once upon a time …, "


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def talking(home: Path, server: OpenAIServer) -> Path:
    home.mkdir()
    (home / "recollect.toml").write_text(f'[mind]\nmodel = "{server.base_url}#test-model"\n')
    return home


def sit(home: Path, **more: Any) -> AbstractContextManager[Desk]:
    return sitting_at("chat", home=home, **more)


def asked(server: OpenAIServer) -> list[list[dict[str, Any]]]:
    """The messages of each request."""
    return [request.body["messages"] for request in server.requests if request.method == "POST"]


def said_last(server: OpenAIServer) -> str:
    return json.dumps(asked(server)[-1][-1], ensure_ascii=False)


def test_an_answer_streams_in_with_its_tools_and_what_it_kept(home: Path) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text('[mind]\nmodel = "anthropic:claude-opus-5-5"\n')
    marker = '[REMEMBER] {"content": "The well is 38 m deep."}'
    with AnthropicServer() as server:
        server.script(
            think("Hm.") + say("Let me look.") + use_tool("search_memory", {"query": "well depth"}),
            say(
                f"It is 38 m deep.\n{marker}\n\nThe survey says so, and it is long enough to be wrapped by a terminal."
            ),
        )
        with sit(home, columns=60, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="any") as desk:
            desk.see(PROMPT)
            desk.type("How deep is the well?" + ENTER)
            desk.see("terminal.\n\n›")
            desk.type(CTRL_D)
            assert desk.leaves() == 0

    lines = desk.screen.lines
    start = lines.index("› How deep is the well?")
    assert lines[start + 1] == "Let me look."
    assert lines[start + 2].startswith("· search_memory ")
    assert "well depth" in lines[start + 2]
    assert " → " in lines[start + 2]
    assert lines[start + 3 : start + 7] == [
        "It is 38 m deep. ◆",
        "",
        "The survey says so, and it is long enough to be wrapped by a",
        " terminal.",
    ]
    assert desk.screen.commands == []
    assert desk.screen.text.count("Let me look.") == 1


def test_what_is_typed_while_an_answer_comes_is_joined_into_the_next_turn(talking: Path, server: OpenAIServer) -> None:
    gate = Gate("The first answer.")
    server.script(gate, "The second answer.")
    with sit(talking) as desk:
        desk.see(PROMPT)
        desk.type("One." + ENTER)
        assert gate.is_reached.wait(60)
        desk.type("Two." + ENTER)
        desk.see("› Two.  (waits)")
        desk.type("Three." + ENTER)
        desk.see("› Three.  (waits)")
        desk.type("half a line")
        desk.see("› half a line")
        gate.open()
        desk.see("The second answer.")
        seen = desk.see("› half a line")

    assert len(asked(server)) == 2
    assert "Two." in said_last(server)
    assert "Three." in said_last(server)
    assert seen.index("The first answer.") < seen.index("The second answer.")


def test_ctrl_c_stops_an_answer_then_says_how_to_leave_and_then_leaves(talking: Path, server: OpenAIServer) -> None:
    server.script(Answer(text=STORY * 500, pause_seconds=0.01))
    with sit(talking, columns=80) as desk:
        desk.see(PROMPT)
        desk.type("Tell me a story." + ENTER)
        desk.see("\n".join([(STORY * 4).rstrip()] * 3))  # Not one line of it is finished.
        desk.type(CTRL_C)
        desk.see("· stopped")
        desk.type("Enough." + ENTER)
        desk.see(f"{PLAIN}\n\n{PROMPT}")  # The turn is over, not only its words.
        desk.type("not meant")
        desk.see("not meant")
        desk.type(CTRL_C)
        desk.see_no("not meant")
        desk.type(CTRL_C)
        desk.see("Ctrl-D leaves")
        desk.type(CTRL_C)
        assert desk.leaves() == 0

    assert "Once upon a time" in json.dumps(asked(server)[-1])
    assert "Enough." in said_last(server)
    assert len(asked(server)) == 2


def test_ctrl_d_waits_for_the_answer_and_ctrl_c_does_not(talking: Path, server: OpenAIServer) -> None:
    gate = Gate("Here it is.")
    never = Gate("Never.")
    server.script(gate, never)
    with sit(talking) as desk:
        desk.see(PROMPT)
        desk.type("Quickly!" + ENTER)
        assert gate.is_reached.wait(60)
        desk.type(CTRL_D)
        desk.see("Leaving when this is answered")
        gate.open()
        assert desk.leaves() == 0
        assert "Here it is." in desk.screen.text
    with sit(talking) as desk:
        desk.see("Here it is.", "Quickly!")
        desk.type("Again!" + ENTER)
        assert never.is_reached.wait(60)
        desk.type("/quit" + ENTER)
        desk.see("Leaving when this is answered")
        desk.type(CTRL_C)
        assert desk.leaves() == 0
    never.open()


def test_commands_are_obeyed_and_never_sent(talking: Path, server: OpenAIServer, tmp_path: Path) -> None:
    (tmp_path / "my well.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    gate = Gate("Done.")
    with sit(talking) as desk:
        desk.see(PROMPT)
        desk.type("/help" + ENTER)
        desk.see("/image PATH [words]", "/cancel", "/costs", "/quit")
        desk.type("/cancel" + ENTER)
        desk.see("Nothing waits.")
        desk.type("/costs" + ENTER)
        desk.see("Today no model was asked.")
        desk.type("/frobnicate now" + ENTER)
        desk.see("There is no command /frobnicate; nothing was sent.")
        desk.type("/image nowhere.png" + ENTER)
        desk.see("! There is no file 'nowhere.png'.")
        assert asked(server) == []

        server.script(gate)
        desk.type(f"/image '{tmp_path}/my well.png' What is this?" + ENTER)
        desk.see("› What is this?  (1 picture)")
        assert gate.is_reached.wait(60)
        desk.type("Not this." + ENTER)
        desk.see("› Not this.  (waits)")
        desk.type("/cancel" + ENTER)
        desk.see("Took back 1 message.")
        gate.open()
        desk.see("Done.")
        desk.type("//help is what I typed" + ENTER)
        desk.see(PLAIN)
        desk.type("/costs" + ENTER)
        desk.see("Today: ")

    assert "image/png" in json.dumps(asked(server)[0][-1])
    assert "/help is what I typed" in said_last(server)
    assert "Not this." not in json.dumps(asked(server)[-1])


def test_several_lines_are_typed_with_alt_enter_or_pasted(talking: Path, server: OpenAIServer) -> None:
    with sit(talking) as desk:
        desk.see(PROMPT)
        server.script("The first answer.", "The second answer.")
        desk.type("first" + ALT_ENTER + "second" + ENTER)
        desk.see("› first\n  second\n", "The first answer.")
        assert r"first\nsecond" in said_last(server)
        desk.type(PASTE.format("one\r\ntwo\r\n豆 👩‍👩‍👧 שלום"))
        desk.see("two\n")
        desk.type(ENTER)
        desk.see("› one\n  two\n", "The second answer.")
        assert r"one\ntwo\n豆 👩‍👩‍👧 שלום" in said_last(server)


def test_the_last_exchanges_are_shown_and_the_arrow_keys_bring_back_what_was_typed(
    talking: Path, server: OpenAIServer
) -> None:
    server.script("38 m.\nExactly.")
    assert run("chat", "How deep is the well?", home=talking).code == 0
    with sit(talking) as desk:
        desk.see("› How deep is the well?", "38 m.", "Exactly.")
        assert b"\x1b[2m" in desk.raw
        desk.type(UP)
        desk.type(" And how old?" + ENTER)
        desk.see("› How deep is the well? And how old?", PLAIN)
    assert "How deep is the well? And how old?" in said_last(server)


def test_what_a_model_says_cannot_command_the_terminal(talking: Path, server: OpenAIServer) -> None:
    server.script("\x1b]0;owned\x07\x1b[2J\x1b[5;5Hred\x1b[31m \x9b2J\u202e.\nThe end.")
    with sit(talking) as desk:
        desk.see(PROMPT)
        desk.type("Hello." + ENTER)
        desk.see("The end.\n\n›")
        desk.type(CTRL_D)
        assert desk.leaves() == 0
    assert desk.screen.commands == []
    assert b"\x1b]0;" not in desk.raw
    assert b"\x1b[2J" not in desk.raw
    assert "\u202e".encode() not in desk.raw


def test_an_answer_that_the_window_did_not_wait_for_is_shown_in_the_next_one(
    talking: Path, server: OpenAIServer
) -> None:
    gate = Gate("Too late.")
    server.script(gate, "Here it is.")
    with sit(talking) as desk:
        desk.see(PROMPT)
        desk.type("Are you there?" + ENTER)
        assert gate.is_reached.wait(60)
        desk.process.send_signal(signal.SIGHUP)
        assert desk.leaves() == 0
    gate.open()
    with sit(talking) as desk:
        desk.see("This answers what you said before:", "Here it is.")


def test_a_failed_turn_is_told_in_a_sentence_and_one_goes_on(talking: Path, server: OpenAIServer) -> None:
    (talking / "recollect.toml").write_text(f'[mind]\nmodel = "{server.base_url}#no-such-model"\n')
    with sit(talking, NO_COLOR="1") as desk:
        desk.see(PROMPT)
        desk.type("Hello?" + ENTER)
        desk.see("! ", "no-such-model")
        desk.type("/quit" + ENTER)
        assert desk.leaves() == 0
    assert "Traceback" not in desk.screen.text
    assert b"\x1b[2m" not in desk.raw  # No colours where none are wanted.
    assert b"\x1b[31m" not in desk.raw


def test_ctrl_c_ends_one_message_in_the_middle_of_its_answer(talking: Path, server: OpenAIServer) -> None:
    server.script(Answer(text="Once upon a time. " * 500, pause_seconds=0.1))
    with sitting_at("chat", "Tell me a story.", home=talking) as desk:
        desk.see("Once upon a time.")
        desk.type(CTRL_C)
        assert desk.leaves() == 130

    assert "Traceback" not in desk.screen.text
    with sit(talking) as desk:
        desk.see("› Tell me a story.", "Once upon a time.")
