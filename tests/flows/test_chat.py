"""`recollect chat` as programs use it: one message in, its answer out (M1, M9, S1)."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Result, run

from recollect.testing import OpenAIServer
from recollect.testing.openai_answers import Answer, Call, Fault, rate_limited

PICTURE = b"\x89PNG\r\n\x1a\n" + b"not much of one"
PLAIN = "All is well.\n"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def talking(home: Path, server: OpenAIServer) -> Path:
    """A home whose agent has a model."""
    home.mkdir()
    name(home, f"{server.base_url}#test-model")
    return home


def name(home: Path, model: str) -> None:
    (home / "recollect.toml").write_text(f'[mind]\nmodel = "{model}"\n')


def chat(*arguments: object, home: Path, given: str = "") -> Result:
    return run("chat", *arguments, home=home, given=given)


def sent(server: OpenAIServer) -> list[dict[str, Any]]:
    """The messages of the last request."""
    return [request.body for request in server.requests if request.method == "POST"][-1]["messages"]


def is_silent(server: OpenAIServer) -> bool:
    return not [request for request in server.requests if request.method == "POST"]


def words_of(message: dict[str, Any]) -> str:
    content = message["content"] or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


# One message


def test_words_are_answered_on_stdout_in_one_conversation_that_goes_on(talking: Path, server: OpenAIServer) -> None:
    server.script("It is 38 m deep.", Answer(calls=(Call(name="search_memory", given={"query": "well"}),)), "38 m.")

    first = chat("How deep", "is the well?", home=talking)
    second = chat(home=talking, given="And now,\n– ø 豆 👩‍👩‍👧 שלום?\n")

    assert (first.code, first.out, first.err) == (0, "It is 38 m deep.\n", "")
    assert (second.code, second.out, second.err) == (0, "38 m.\n", "")
    said = "\n".join(words_of(message) for message in sent(server) if message["role"] in ("user", "assistant"))
    assert "How deep is the well?" in said
    assert "It is 38 m deep." in said
    assert "And now,\n– ø 豆 👩‍👩‍👧 שלום?" in said
    (listed,) = run("conversations", "--json", home=talking).json()
    assert listed["title"] == "How deep is the well?"


def test_json_tells_reply_tools_and_cost(talking: Path, server: OpenAIServer) -> None:
    server.script(Answer(calls=(Call(name="search_memory", given={"query": "well depth"}),)), "Nobody wrote it down.")

    value = chat("--json", "How deep is the well?", home=talking).json()

    assert (value["reply"], value["turn"], value["state"]) == ("Nobody wrote it down.", 1, "done")
    assert [(tool["name"], tool["error"]) for tool in value["tools"]] == [("search_memory", False)]
    assert value["tools"][0]["line"]
    assert value["usage"]["input_tokens"] > value["usage"]["output_tokens"] > 0
    assert value["cost_usd"] == 0  # A server on this computer costs nothing.


def test_a_marker_is_shown_as_a_sign_and_what_commands_a_terminal_is_not(talking: Path, server: OpenAIServer) -> None:
    marker = '[REMEMBER] {"content": "The well is 38 m deep."}'
    server.script(f"\x1b]0;owned\x07\x1b[2Jclean\u202e up\r\n\tyes\n{marker}\n")

    result = chat("The well is 38 m deep.", home=talking)

    assert result.out == "]0;owned[2Jclean up\n    yes ◆\n"
    assert "The well is 38 m deep." in [one["text"] for one in run("records", "--json", home=talking).json()]


def test_a_picture_goes_with_the_words(talking: Path, server: OpenAIServer, tmp_path: Path) -> None:
    (tmp_path / "well.png").write_bytes(PICTURE)

    result = chat("--image", tmp_path / "well.png", "What is this?", home=talking)

    assert (result.code, result.out) == (0, PLAIN), result.err
    assert base64.b64encode(PICTURE).decode() in json.dumps(sent(server)[-1])
    assert "What is this?" in words_of(sent(server)[-1])


def test_a_megabyte_goes_through_the_pipe(talking: Path, server: OpenAIServer) -> None:
    text = "All work and no play. " * 47_000 + "The end."

    result = chat(home=talking, given=text)

    assert (result.code, result.out) == (0, PLAIN), result.err
    assert len(text) > 1_000_000
    assert "All work and no play. " in words_of(sent(server)[-1])
    (listed,) = run("conversations", "--json", home=talking).json()
    shown = run("show", listed["id"], "--json", home=talking).json()
    assert text in [message["text"] for message in shown["messages"]]


def test_another_agent_has_a_conversation_of_its_own(talking: Path, server: OpenAIServer) -> None:
    assert run("agents", "add", "ada", home=talking).code == 0
    chat("Only for the first.", home=talking)

    result = chat("--agent", "ada", "--json", "Hello Ada.", home=talking)

    assert result.json()["turn"] == 1
    assert result.json()["usage"]["output_tokens"] > 0
    assert "Only for the first." not in json.dumps(sent(server))
    unknown = chat("--agent", "nobody", "Hello?", home=talking)
    assert unknown.code == 3
    assert unknown.explains("nobody")


# What goes wrong


def test_without_a_model_the_settings_are_named_with_two_examples(home: Path) -> None:
    result = chat("Hello?", home=home)

    assert result.code == 2
    assert result.explains("[mind]", "model =", "anthropic:", "http://localhost", "recollect.toml", "ANTHROPIC_API_KEY")


@pytest.mark.parametrize("given", ["", " \n\t\n"], ids=["nothing", "white space"])
def test_an_empty_message_is_wrong_usage(talking: Path, server: OpenAIServer, given: str) -> None:
    result = chat(home=talking, given=given)

    assert result.code == 2
    assert result.explains("Nothing was said")
    assert is_silent(server)


def test_bytes_that_are_no_text_are_refused(talking: Path, server: OpenAIServer) -> None:
    for result in (chat(home=talking, given="broken \udcff\udcfe"), chat("broken \udcff", home=talking)):
        assert result.code == 2
        assert result.explains("UTF-8")
    assert is_silent(server)


def test_a_model_without_a_key_is_denied_and_nothing_is_kept(talking: Path) -> None:
    name(talking, "anthropic:claude-opus-5-5")

    result = chat("Hello?", home=talking)

    assert result.code == 4
    assert result.explains("ANTHROPIC_API_KEY")
    assert run("conversations", "--json", home=talking).json() == []


def test_a_turn_that_is_denied_says_so_and_the_message_is_not_lost(talking: Path, server: OpenAIServer) -> None:
    server.script(Fault(status=401, message="Incorrect API key provided."))

    result = chat("Hello?", home=talking)

    assert (result.code, result.out) == (4, "")
    assert result.explains("key")
    assert chat("And again?", home=talking).out == PLAIN
    assert "Hello?" in json.dumps(sent(server))


def test_a_provider_that_is_too_busy_is_unavailable(talking: Path, server: OpenAIServer) -> None:
    server.script(*[rate_limited(1)] * 20)

    result = chat("--json", "Hello?", home=talking)

    assert (result.code, result.json()["state"]) == (6, "failed")


def test_a_model_that_is_not_there_is_named(talking: Path, server: OpenAIServer) -> None:
    name(talking, f"{server.base_url}#no-such-model")

    result = chat("Hello?", home=talking)

    assert result.code == 4
    assert result.explains("no-such-model")


def test_a_model_that_would_not_answer_fails(talking: Path, server: OpenAIServer) -> None:
    server.script(Answer(refusal="I would rather not."))

    result = chat("Something bad.", home=talking)

    assert (result.code, result.out) == (1, "")
    assert result.explains("would not answer")


def test_a_picture_that_is_none_is_refused_before_anything_is_sent(
    talking: Path, server: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "words.png").write_text("no picture")

    assert chat("--image", tmp_path / "words.png", "Look.", home=talking).code == 2
    assert chat("--image", tmp_path / "nowhere.png", "Look.", home=talking).code == 3
    assert is_silent(server)
