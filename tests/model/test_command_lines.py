"""The real Claude Code and the real Codex as models, against our own servers: no account, no network.

They are looked for in the folder `RECOLLECT_TEST_AGENTS`, else on the path:

    npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex
    RECOLLECT_TEST_AGENTS=FOLDER/node_modules/.bin make test-model ARGS="-k command_lines"
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from recollect.errors import Denied, Invalid, Unavailable
from recollect.llm import BadReply, Busy, ChatModel, CutOff, Refused, Reply
from recollect.llm.claude_command import INSTALL as INSTALL_CLAUDE
from recollect.llm.claude_command import ClaudeCommand
from recollect.llm.codex_command import INSTALL as INSTALL_CODEX
from recollect.llm.codex_command import CodexCommand
from recollect.llm.commands import OWN_MARK
from recollect.runs.metered import estimated_input
from recollect.testing.anthropic_answers import Answer, ApiError, cut_off, fail, refuse, say, use_tool
from recollect.testing.anthropic_server import AnthropicServer
from recollect.testing.openai_answers import Answer as OpenAIAnswer
from recollect.testing.openai_answers import Fault
from recollect.testing.openai_server import OpenAIServer

pytestmark = pytest.mark.model

SECRET_WORDS = "We walked to the lighthouse with Ada."
SYSTEM = "You file notes about lighthouses."


class Note(BaseModel):
    title: str
    weight: int = Field(le=10)


GOOD = {"title": "A walk", "weight": 2}


def find_agent(name: str, install: str) -> str:
    found = shutil.which(name, path=os.environ.get("RECOLLECT_TEST_AGENTS")) or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not here: {install}, or set RECOLLECT_TEST_AGENTS to the folder that has it")
    return found


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of nobody, with hooks and memories that must stay out."""
    home = tmp_path / "person"
    hook = [{"hooks": [{"type": "command", "command": f"touch {home}/hook-ran"}]}]
    hooks = json.dumps({"hooks": {"UserPromptSubmit": hook, "SessionStart": hook, "Stop": hook}})
    for path, text in (
        (".claude/settings.json", hooks),
        (".claude/CLAUDE.md", "Remember the moon."),
        (".codex/hooks.json", hooks),
        (".codex/config.toml", '[mcp_servers.mine]\ncommand = "touch"\nargs = ["mcp-ran"]\n'),
    ):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    return home


@pytest.fixture
def claude(person: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ClaudeCommand, AnthropicServer]]:
    program = find_agent("claude", INSTALL_CLAUDE)
    with AnthropicServer(respond=lambda _: use_tool("StructuredOutput", GOOD)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
        yield ClaudeCommand("claude-haiku-5-5", program=program, timeout_seconds=60), server


@pytest.fixture
def codex(person: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[CodexCommand, OpenAIServer]]:
    program = find_agent("codex", INSTALL_CODEX)
    monkeypatch.setenv("LOOPBACK_KEY", "k" * 20)
    with OpenAIServer(key="k" * 20) as server:
        provider = (
            f'name="here",base_url="{server.base_url}",wire_api="responses",env_key="LOOPBACK_KEY",'
            "request_max_retries=1,stream_max_retries=1"
        )
        settings = (f"model_providers.here={{{provider}}}", 'model_provider="here"')
        yield CodexCommand("test-model", program=program, timeout_seconds=60, configuration=settings), server


def ask(model: ChatModel) -> Reply[Note]:
    return asyncio.run(model.complete(SYSTEM, SECRET_WORDS, Note, most_output_tokens=4_000))


def files_with(folder: Path, words: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


def assert_nothing_is_left(person: Path) -> None:
    assert files_with(person, "lighthouse") == []
    assert not list(person.rglob("*.jsonl"))
    assert not list(person.rglob("*-ran"))


def test_claude_answers_and_leaves_no_session(claude: tuple[ClaudeCommand, AnthropicServer], person: Path):
    model, server = claude
    reply = ask(model)
    assert (reply.value, reply.model) == (Note(title="A walk", weight=2), "claude-haiku-5-5")
    assert reply.usage.dollars
    sent = json.dumps(server.asked[-1])
    assert OWN_MARK in sent
    assert SYSTEM in sent
    assert "the moon" not in sent
    assert server.asked[-1]["max_tokens"] == 4_000
    assert {tool["name"] for tool in server.asked[-1]["tools"]} <= {"StructuredOutput", "DeferredToolPlaceholder"}
    assert reply.usage.input_tokens <= estimated_input(model.name, SYSTEM, SECRET_WORDS, Note)
    assert_nothing_is_left(person)


def test_codex_answers_and_leaves_no_session(codex: tuple[CodexCommand, OpenAIServer], person: Path):
    model, server = codex
    server.script(GOOD)
    reply = ask(model)
    assert reply.value == Note(title="A walk", weight=2)
    (body,) = [request.body for request in server.requests if request.path.endswith("/responses")]
    sent = json.dumps(body)
    assert OWN_MARK in sent
    assert SYSTEM in sent
    assert {tool.get("name", tool["type"]) for tool in body["tools"]} <= {"request_user_input"}
    assert 0 < reply.usage.input_tokens <= estimated_input(model.name, SYSTEM, SECRET_WORDS, Note)
    assert_nothing_is_left(person)


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (fail(401, "invalid bearer token"), Denied),
        (fail(404, "model: nope"), Denied),
        (fail(400, "bad thing"), Invalid),
        (fail(429, "slow down", retry_after_seconds=0), Busy),
        (fail(529, "Overloaded"), Busy),
        (fail(500, "boom"), Unavailable),
        (refuse(), Refused),
        (cut_off("{"), CutOff),
        (say("I would rather talk."), BadReply),
        (use_tool("StructuredOutput", {"title": 5}), BadReply),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_goes_wrong_with_claude(
    step: Answer | ApiError, kind: type[Exception], person: Path, monkeypatch: pytest.MonkeyPatch
):
    program = find_agent("claude", INSTALL_CLAUDE)
    with AnthropicServer(respond=lambda _: step) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
        with pytest.raises(kind) as failed:
            ask(ClaudeCommand("claude-haiku-5-5", program=program, timeout_seconds=120))
    assert type(failed.value) is kind
    if isinstance(failed.value, BadReply):
        assert failed.value.usage.input_tokens > 100
        assert failed.value.usage.dollars
    assert_nothing_is_left(person)


def test_claude_without_a_login_is_denied(person: Path):
    with pytest.raises(Denied, match="log in"):
        ask(ClaudeCommand(program=find_agent("claude", INSTALL_CLAUDE), timeout_seconds=60))


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Fault(status=401, message="Incorrect API key provided"), Denied),
        (Fault(status=404, message="The model 'nope' does not exist"), Denied),
        (Fault(status=429, message="Rate limit reached", code="rate_limit_exceeded"), Busy),
        (Fault(status=500), Unavailable),
        (OpenAIAnswer(refusal="no"), Refused),
        ("I would rather talk.", BadReply),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_goes_wrong_with_codex(
    step: Fault | OpenAIAnswer | str, kind: type[Exception], codex: tuple[CodexCommand, OpenAIServer], person: Path
):
    model, server = codex
    server.script(*[step] * 12)
    with pytest.raises(kind) as failed:
        ask(model)
    assert type(failed.value) is kind
    assert_nothing_is_left(person)


def test_an_answer_that_breaks_a_rule_is_repaired_by_asking_codex_again(codex: tuple[CodexCommand, OpenAIServer]):
    model, server = codex
    server.script({"title": "A walk", "weight": 99}, GOOD)
    assert ask(model).usage.calls == 2
