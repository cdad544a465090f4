"""The user's own Claude Code as a model: `claude -p`, with the account it is logged in to.

No tools, no settings, no hooks, no MCP servers, no memory, and no session on disk. It holds the model to the schema and
repairs once by itself. What it says about money is the price of its API, also where a subscription pays.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from recollect.errors import Denied, Invalid, Unavailable
from recollect.llm.commands import TIMEOUT_SECONDS, Command, Ran, Said, ask_twice, desk, find_program, run, shown
from recollect.llm.model import BadReply, Busy, CutOff, Refused, Reply, T, Usage
from recollect.llm.schemas import strict_schema

INSTALL = "npm install -g @anthropic-ai/claude-code"
LOG_IN = "Run `claude` once and log in"
FLAGS = (
    "-p",
    "--output-format", "json",
    "--tools", "",
    "--no-session-persistence",
    "--setting-sources", "",
    "--strict-mcp-config",
    "--disable-slash-commands",
)  # fmt: skip
ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "4",
    "DISABLE_AUTOUPDATER": "1",
    "MAX_STRUCTURED_OUTPUT_RETRIES": "2",  # Attempts, with the first.
}
NOT_LOGGED_IN = ("/login", "not logged in", "invalid api key", "oauth token", "authenticate")
LIMIT_REACHED = ("usage limit", "limit reached", "rate limit", "hit your limit", "limit · resets")
CUT_OFF = "output token maximum"
NOT_FOUND = 404
MOST_DOLLARS = 10_000
"""Of a call: whoever says more, or less than nothing, says no price."""


class ClaudeCommand(Command):
    kind = "claude"

    def __init__(self, model: str = "", *, program: str = "claude", timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        super().__init__(model, program, timeout_seconds)

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        program = find_program(self._program, INSTALL)
        shape = json.dumps(strict_schema(schema.model_json_schema()))
        environment = {**ENVIRONMENT, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(most_output_tokens)}

        async def ask(text: str) -> Said:
            with desk() as place:
                instructions = place.put("system.txt", system)
                arguments = [program, *FLAGS, "--json-schema", shape, "--system-prompt-file", instructions]
                arguments += ["--model", self._model] if self._model else []
                ran = await run(
                    arguments, text, place.work, environment=environment, timeout_seconds=self._timeout_seconds
                )
            return said(self.name, ran)

        return await ask_twice(self.name, ask, prompt, schema)


def said(name: str, ran: Ran) -> Said:
    """What the model answered; raises what `llm.model` names, whatever the program printed."""
    result = _result(ran.out)
    if result is None:
        raise Unavailable(
            f"{name} ended with {ran.code} and no result: {shown(ran.errors or ran.out)}. Check `claude --version`: an "
            "old one does not know all flags that are needed."
        )
    usage, model = _usage(result)
    if result.get("is_error") or ran.code:
        raise _failure(name, result, usage)
    made = result.get("structured_output")
    text = str(result.get("result") or "") if made is None else json.dumps(made, ensure_ascii=False)
    return Said(text=text, usage=usage, model=model or name)


def _failure(name: str, result: Mapping[str, Any], usage: Usage) -> Exception:
    told = str(result.get("result") or result.get("errors") or result.get("subtype"))
    words, lowered = shown(told), told.lower()
    status = result.get("api_error_status")
    if result.get("stop_reason") == "refusal":
        return Refused(f"{name} would not: {words}", usage)
    if CUT_OFF in lowered:
        return CutOff(f"{name} ended at the limit of its length.", usage)
    if status in (401, 403) or any(sign in lowered for sign in NOT_LOGGED_IN):
        return Denied(f"{name} may not be used: {words}. {LOG_IN}.")
    if status in (429, 529) or any(sign in lowered for sign in LIMIT_REACHED):
        return Busy(f"{name} is busy: {words}")
    if status == NOT_FOUND:
        return Denied(f"{name} was not found: {words}. Check the model after claude: in librarian.model.")
    if isinstance(status, int) and 400 <= status < 500:
        return Invalid(f"{name} refused the request ({status}): {words}")
    if usage.calls:
        return BadReply(f"{name} gave no answer that can be used: {words}", usage)
    return Unavailable(f"{name} gave no answer: {words}")


def _result(out: str) -> dict[str, Any] | None:
    """The one object it prints; some versions print a list that ends with it."""
    try:
        found = json.loads(out)
    except ValueError:
        return None
    if isinstance(found, list) and found:
        found = cast(list[object], found)[-1]
    return cast(dict[str, Any], found) if isinstance(found, dict) else None


def _usage(result: Mapping[str, Any]) -> tuple[Usage, str]:
    """Of all its calls, by model; `usage` beside it leaves out those that failed. And the model that wrote most."""
    found = result.get("modelUsage")
    models = cast(dict[str, object], found) if isinstance(found, dict) else {}
    dollars = result.get("total_cost_usd")
    plain, read, written, output = (
        sum(_count(one, name) for one in models.values())
        for name in ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    )
    usage = Usage(
        input_tokens=plain + read + written,
        cached_tokens=read,
        written_tokens=written,
        output_tokens=output,
        calls=1 if models else 0,
        dollars=float(dollars) if isinstance(dollars, int | float) and 0 <= dollars < MOST_DOLLARS and models else None,
    )
    return usage, max(models, key=lambda name: _count(models[name], "outputTokens"), default="")


def _count(told: object, name: str) -> int:
    value = cast(dict[str, object], told).get(name) if isinstance(told, dict) else None
    return value if isinstance(value, int) and value > 0 else 0
