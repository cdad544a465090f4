"""A person's own `claude` and `codex` as models, with programs that stand in for them and print what they print.

What they print was taken from Claude Code 2.1.325 and Codex 0.166.0; `tests/model/test_command_lines.py` asks the real
ones.
"""

import asyncio
import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from standins import StandIn, make_stand_in

from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.history import privacy
from recollect.llm import BadReply, Busy, ChatModel, CutOff, Refused, Reply, Usage
from recollect.llm.claude_command import ClaudeCommand
from recollect.llm.claude_command import said as said_by_claude
from recollect.llm.codex_command import CodexCommand
from recollect.llm.codex_command import said as said_by_codex
from recollect.llm.commands import OWN_MARK, Ran


class Note(BaseModel):
    title: str
    weight: int = Field(default=1, le=10)


def ask(model: ChatModel, prompt: str = "We walked with Ada.") -> Reply[Note]:
    return asyncio.run(model.complete("You file notes.", prompt, Note, most_output_tokens=4_000))


def claude_result(**changes: Any) -> dict[str, Any]:
    used = {"inputTokens": 100, "cacheReadInputTokens": 400, "cacheCreationInputTokens": 50, "outputTokens": 20}
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "stop_reason": "tool_use",
        "api_error_status": None,
        "result": '{"title":"A walk","weight":2}',
        "structured_output": {"title": "A walk", "weight": 2},
        "total_cost_usd": 0.0125,
        "modelUsage": {"claude-haiku-5-5": used},
    }
    return {"out": json.dumps(result | changes), "code": 1 if changes.get("is_error") else 0}


def codex_result(*texts: str, failure: str = "", usage: bool = True) -> dict[str, Any]:
    events: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    events.append({"type": "item.completed", "item": {"type": "error", "message": "Model metadata not found."}})
    events += [{"type": "item.completed", "item": {"type": "agent_message", "text": text}} for text in texts]
    if failure:
        events.append({"type": "turn.failed", "error": {"message": failure}})
    elif usage:
        told = {"input_tokens": 300, "cached_input_tokens": 200, "output_tokens": 30, "reasoning_output_tokens": 5}
        events.append({"type": "turn.completed", "usage": told})
    return {"out": "".join(json.dumps(event) + "\n" for event in events), "code": 1 if failure else 0}


@pytest.fixture
def claude(tmp_path: Path) -> StandIn:
    return make_stand_in(tmp_path / "claude", "claude")


@pytest.fixture
def codex(tmp_path: Path) -> StandIn:
    return make_stand_in(tmp_path / "codex", "codex")


def test_claude_answers_with_an_object_and_what_it_cost(claude: StandIn):
    claude.plan(claude_result())
    reply = ask(ClaudeCommand(program=claude.program))
    assert (reply.value, reply.model) == (Note(title="A walk", weight=2), "claude-haiku-5-5")
    told = Usage(
        input_tokens=550, cached_tokens=400, written_tokens=50, output_tokens=20, calls=1, dollars=pytest.approx(0.0125)
    )
    assert reply.usage == told


@pytest.mark.parametrize("dollars", [-1, float("inf"), "much", None])
def test_what_is_no_price_is_none(claude: StandIn, dollars: object):
    claude.plan(claude_result(total_cost_usd=dollars))
    assert ask(ClaudeCommand(program=claude.program)).usage.dollars is None


def test_codex_answers_with_an_object_and_its_tokens(codex: StandIn):
    codex.plan(codex_result("Let me see.", '{"title": "A walk", "weight": 2}'))
    reply = ask(CodexCommand("gpt-6-luna", program=codex.program))
    assert reply.value == Note(title="A walk", weight=2)
    assert reply.usage == Usage(input_tokens=300, cached_tokens=200, output_tokens=30, calls=1)


def test_claude_gets_no_tools_no_settings_and_leaves_no_session(claude: StandIn):
    claude.plan(claude_result())
    ask(ClaudeCommand("haiku", program=claude.program))
    (call,) = claude.calls()
    line = " ".join(call["arguments"])
    for flag in ("-p", "--output-format json", "--tools  ", "--setting-sources  ", "--model haiku"):
        assert flag in f"{line} "
    assert {"--no-session-persistence", "--strict-mcp-config"} <= set(call["arguments"])
    assert call["files"]["--system-prompt-file"] == "You file notes."
    assert json.loads(call["arguments"][call["arguments"].index("--json-schema") + 1])["required"] == [
        "title",
        "weight",
    ]
    assert call["environment"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "4000"


def test_codex_gets_no_tools_no_settings_and_leaves_no_session(codex: StandIn):
    codex.plan(codex_result('{"title": "A walk", "weight": 2}'))
    ask(CodexCommand("gpt-6-luna", program=codex.program, configuration=('model_provider="mine"',)))
    (call,) = codex.calls()
    given = set(call["arguments"])
    assert {"exec", "--json", "--ephemeral", "--ignore-user-config", "read-only", "-", "gpt-6-luna"} <= given
    assert {
        "features.shell_tool=false",
        "features.hooks=false",
        'web_search="disabled"',
        'model_provider="mine"',
    } <= given
    assert call["files"]["instructions"] == "You file notes."
    assert json.loads(call["files"]["--output-schema"])["additionalProperties"] is False


@pytest.mark.parametrize("kind", ["claude", "codex"])
def test_a_call_is_marked_as_ours_and_made_in_an_empty_folder_that_is_gone_afterwards(
    kind: str, claude: StandIn, codex: StandIn, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLAUDECODE", "1")
    claude.plan(claude_result())
    codex.plan(codex_result('{"title": "A walk", "weight": 2}'))
    model = ClaudeCommand(program=claude.program) if kind == "claude" else CodexCommand(program=codex.program)
    ask(model, "Grüße 🌱")
    (call,) = (claude if kind == "claude" else codex).calls()
    assert call["given"] == f"{OWN_MARK}\nGrüße 🌱"
    assert call["seen"] == []
    assert not Path(call["folder"]).exists()
    assert not Path(call["folder"]).parent.exists()
    assert call["environment"]["RECOLLECT_OWN_CALL"] == "1"
    assert "CLAUDECODE" not in call["environment"]
    assert (model.name, model.is_paid) == (kind, True)


def test_the_mark_is_the_one_that_history_leaves_out():
    assert OWN_MARK == privacy.OWN_MARK


CLAUDE_FAILURES = [
    ({"api_error_status": 401, "result": "Failed to authenticate. API Error: 401 invalid"}, Denied, "log in"),
    ({"api_error_status": 403, "result": "Failed to authenticate. API Error: 403 no"}, Denied, "log in"),
    ({"result": "Not logged in · Please run /login", "modelUsage": {}}, Denied, "log in"),
    ({"api_error_status": 404, "result": "There's an issue with the selected model (x)."}, Denied, "selected model"),
    ({"api_error_status": 400, "result": "API Error: 400 bad thing"}, Invalid, "bad thing"),
    ({"api_error_status": 429, "result": "API Error: Request rejected (429) · slow down"}, Busy, "slow down"),
    ({"api_error_status": 529, "result": "API Error: 529 Overloaded."}, Busy, "Overloaded"),
    ({"result": "You've hit your limit · resets 3pm", "modelUsage": {}}, Busy, "resets 3pm"),
    ({"api_error_status": 500, "result": "API Error: 500 boom.", "modelUsage": {}}, Unavailable, "boom"),
    ({"stop_reason": "refusal", "result": "API Error: Haiku can't help with this."}, Refused, "can't help"),
    ({"result": "API Error: Claude's response exceeded the 4000 output token maximum."}, CutOff, "length"),
    (
        {"subtype": "error_max_structured_output_retries", "result": None, "errors": ["Failed after 2 attempts"]},
        BadReply,
        "2 attempts",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "words"), CLAUDE_FAILURES)
def test_each_failure_of_claude_is_told_as_what_it_is(claude: StandIn, changes: Any, kind: type[Exception], words: str):
    claude.plan(claude_result(**{"is_error": True, "structured_output": None, **changes}))
    with pytest.raises(kind, match=words) as failed:
        ask(ClaudeCommand(program=claude.program))
    assert type(failed.value) is kind
    assert len(claude.calls()) == 1
    if isinstance(failed.value, BadReply):
        assert failed.value.usage.output_tokens == 20, "it was paid for"


CODEX_FAILURES = [
    ("unexpected status 401 Unauthorized: Incorrect API key provided", Denied, "codex login"),
    ("exceeded retry limit, last status: 429 Too Many Requests, request id: r", Busy, "429"),
    ("You've hit your usage limit. Try again in 3 days.", Busy, "3 days"),
    ("The model 'nope' does not exist or you do not have access to it.", Denied, "nope"),
    ("Incomplete response returned, reason: max_output_tokens", CutOff, "length"),
    ("stream disconnected before completion: error sending request", Unavailable, "disconnected"),
]


@pytest.mark.parametrize(("failure", "kind", "words"), CODEX_FAILURES)
def test_each_failure_of_codex_is_told_as_what_it_is(codex: StandIn, failure: str, kind: type[Exception], words: str):
    codex.plan(codex_result(failure=failure))
    with pytest.raises(kind, match=words) as failed:
        ask(CodexCommand(program=codex.program))
    assert type(failed.value) is kind


def test_codex_that_ends_without_an_answer_has_refused(codex: StandIn):
    codex.plan(codex_result())
    with pytest.raises(Refused) as refused:
        ask(CodexCommand(program=codex.program))
    assert refused.value.usage.input_tokens == 300


def test_an_answer_that_breaks_a_rule_is_repaired_once(claude: StandIn, codex: StandIn):
    wrong = {"title": "A walk", "weight": 99}
    claude.plan(claude_result(structured_output=wrong), claude_result())
    codex.plan(codex_result(json.dumps(wrong)), codex_result('{"title": "A walk", "weight": 2}'))
    for model, stand_in in (
        (ClaudeCommand(program=claude.program), claude),
        (CodexCommand(program=codex.program), codex),
    ):
        reply = ask(model)
        first, second = stand_in.calls()
        assert reply.value.weight == 2
        assert reply.usage.calls == 2
        assert second["given"].startswith(first["given"])
        assert "less than or equal to 10" in second["given"]


def test_an_answer_that_stays_wrong_is_given_up_and_paid_for(codex: StandIn):
    codex.plan(codex_result("I would rather talk."))
    with pytest.raises(BadReply, match="twice what is no Note") as bad:
        ask(CodexCommand(program=codex.program))
    assert bad.value.usage == Usage(input_tokens=600, cached_tokens=400, output_tokens=60, calls=2)


def test_a_failure_at_the_repair_does_not_lose_what_the_first_answer_cost(codex: StandIn):
    codex.plan(codex_result("I would rather talk."), codex_result(failure="error sending request"))
    with pytest.raises(BadReply, match="could not be asked again") as bad:
        ask(CodexCommand(program=codex.program))
    assert bad.value.usage.input_tokens == 300


@pytest.mark.parametrize("kind", [ClaudeCommand, CodexCommand])
def test_a_program_that_is_not_here_is_named_with_the_step_that_installs_it(kind: Any):
    with pytest.raises(Unavailable, match=r"Install it: npm install -g @"):
        ask(kind(program="no-such-program-of-anybody"))


def test_a_program_that_does_not_know_a_flag_is_told_with_its_words(claude: StandIn):
    claude.plan({"code": 1, "errors": "error: unknown option '--json-schema'\n", "is_deaf": True})
    with pytest.raises(Unavailable, match=r"unknown option.*claude --version"):
        ask(ClaudeCommand(program=claude.program), "a long prompt that nobody reads " * 100_000)


def test_a_key_that_a_program_repeats_is_not_shown(codex: StandIn):
    key = "sk-ant-" + "api03-" + "x1Y2" * 20
    codex.plan(codex_result(failure=f"401 Unauthorized: Incorrect API key provided: {key}."))
    with pytest.raises(Denied) as denied:
        ask(CodexCommand(program=codex.program))
    assert key not in str(denied.value)


def test_output_without_end_is_not_kept(claude: StandIn, codex: StandIn):
    claude.plan({"out": "x" * 100_000, "times": 120})
    with pytest.raises(Unavailable, match="no result"):
        ask(ClaudeCommand(program=claude.program))
    codex.plan(codex_result('{"title": "%s"}' % ("x" * 1_500_000)))
    with pytest.raises(BadReply, match="1,000,000 characters"):
        ask(CodexCommand(program=codex.program))


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(LEAVES, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3))
CLAUDE_KEYS = "is_error result errors subtype stop_reason api_error_status structured_output modelUsage total_cost_usd"
CODEX_EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["turn.completed", "turn.failed", "item.completed"]) | JSON},
    optional={"item": st.fixed_dictionaries({"type": st.just("agent_message"), "text": JSON}) | JSON}
    | dict.fromkeys(("usage", "error"), JSON),
)


@given(st.dictionaries(st.sampled_from(CLAUDE_KEYS.split()), JSON) | JSON, st.integers(0, 2), st.text())
def test_whatever_claude_prints_is_an_answer_or_an_error_of_ours(printed: Any, code: int, errors: str):
    with suppress(RecollectError):
        assert said_by_claude("claude", Ran(code=code, out=json.dumps(printed), errors=errors)).model


@given(st.lists(CODEX_EVENTS | JSON, max_size=5), st.integers(0, 2), st.text())
def test_whatever_codex_prints_is_an_answer_or_an_error_of_ours(printed: list[Any], code: int, errors: str):
    out = "\n".join(json.dumps(event) for event in printed)
    with suppress(RecollectError):
        assert said_by_codex("codex", Ran(code=code, out=out, errors=errors)).text.strip()


def test_it_can_be_asked_from_any_thread(claude: StandIn):
    claude.plan(claude_result())
    titles: list[str] = []
    worker = threading.Thread(target=lambda: titles.append(ask(ClaudeCommand(program=claude.program)).value.title))
    worker.start()
    worker.join()
    assert titles == ["A walk"]


def is_gone(pid: int) -> bool:
    """A process that nobody has asked for its end yet counts as gone."""
    try:
        process = psutil.Process(pid)
        process.wait(timeout=10)
        return True
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return process.status() == psutil.STATUS_ZOMBIE


def test_a_program_that_hangs_is_stopped_with_all_that_it_started(claude: StandIn):
    claude.plan({"hangs": True})
    with pytest.raises(Unavailable, match=r"no answer in 0\.7 seconds"):
        ask(ClaudeCommand(program=claude.program, timeout_seconds=0.7))
    assert all(is_gone(pid) for call in claude.calls() for pid in call["pids"])


def test_a_program_that_nobody_waits_for_any_more_is_stopped(codex: StandIn):
    codex.plan({"hangs": True})

    async def run() -> None:
        call = asyncio.ensure_future(CodexCommand(program=codex.program).complete("", "", Note))
        while not codex.calls() and not call.done():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(run())
    (call,) = codex.calls()
    assert all(is_gone(pid) for pid in call["pids"])
