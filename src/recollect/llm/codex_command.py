"""The user's own Codex as a model: `codex exec`, with the account it is logged in to.

No shell and no other tool, so that nothing in a transcript can make it act; no configuration, hooks, MCP servers or
skills, and no session on disk. Its own AGENTS.md in the person's home is still read. Codex offers no limit for the
length of an answer and tells no price: a ceiling in tokens can be passed by the length of one answer.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from recollect.errors import Denied, Invalid, Unavailable
from recollect.llm.commands import TIMEOUT_SECONDS, Command, Desk, Ran, Said, ask_twice, desk, find_program, run, shown
from recollect.llm.model import BadReply, Busy, CutOff, Refused, Reply, T, Usage
from recollect.llm.schemas import strict_schema

INSTALL = "npm install -g @openai/codex"
LOG_IN = "Run `codex login`"
FLAGS = (
    "exec",
    "--json",
    "--ephemeral",
    "--skip-git-repo-check",
    "--ignore-user-config",
    "--ignore-rules",
    "--sandbox", "read-only",
    "--color", "never",
)  # fmt: skip
OFF = (
    "apps", "browser_use", "computer_use", "goals", "hooks", "image_generation", "memories", "multi_agent", "plugins",
    "shell_snapshot", "shell_tool", "skill_search", "sleep_tool", "tool_suggest", "unbounded_connection_retries",
    "unified_exec", "view_image",
)  # fmt: skip
"""Features; a version that does not know one passes over it."""
CONFIGURATION = (
    'web_search="disabled"',
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    *(f"features.{name}=false" for name in OFF),
)
DENIED = ("401", "403", "unauthorized", "not logged in", "log in", "login")
BUSY = ("429", "too many requests", "rate limit", "usage limit", "at capacity", "overloaded")
NOT_THERE = ("404", "does not exist", "not supported")
INVALID = ("400", "invalid_request", "context window")
CUT_OFF = ("max_output_tokens", "incomplete response")


class CodexCommand(Command):
    kind = "codex"

    def __init__(
        self,
        model: str = "",
        *,
        program: str = "codex",
        timeout_seconds: float = TIMEOUT_SECONDS,
        configuration: tuple[str, ...] = (),
    ) -> None:
        """`configuration`: more `key=value`, as for its option `-c`, such as a provider of one's own."""
        super().__init__(model, program, timeout_seconds)
        self._configuration = configuration

    async def complete(self, system: str, prompt: str, schema: type[T], *, most_output_tokens: int = 8_000) -> Reply[T]:
        """`most_output_tokens` cannot be held."""
        program = find_program(self._program, INSTALL)
        shape = json.dumps(strict_schema(schema.model_json_schema()))

        async def ask(text: str) -> Said:
            with desk() as place:
                ran = await run(
                    [program, *self._arguments(place, system, shape), "-"],
                    text,
                    place.work,
                    environment={},
                    timeout_seconds=self._timeout_seconds,
                )
            return said(self.name, ran)

        return await ask_twice(self.name, ask, prompt, schema)

    def _arguments(self, place: Desk, system: str, shape: str) -> list[str]:
        # A JSON string is a TOML string.
        instructions = f"model_instructions_file={json.dumps(place.put('system.txt', system))}"
        arguments = [*FLAGS, "--output-schema", place.put("schema.json", shape)]
        for setting in (*CONFIGURATION, instructions, *self._configuration):
            arguments += ["-c", setting]
        return [*arguments, "--model", self._model] if self._model else arguments


def said(name: str, ran: Ran) -> Said:
    """What the model answered; raises what `llm.model` names, whatever the program printed."""
    text, failure, usage = "", "", Usage()
    for event in _events(ran.out):
        item = _mapping(event.get("item"))
        if event.get("type") == "turn.completed":
            usage += _usage(_mapping(event.get("usage")))
        elif event.get("type") == "turn.failed":
            failure = str(_mapping(event.get("error")).get("message") or "failed")
        elif event.get("type") == "item.completed" and item.get("type") == "agent_message":
            text = str(item.get("text") or "")
    if failure or ran.code or not usage.calls:
        raise _failure(name, failure or ran.errors or ran.out, ran.code, usage)
    if not text.strip():
        raise Refused(f"{name} ended without an answer: the model would not.", usage)
    return Said(text=text, usage=usage, model=name.partition(":")[2] or name)


def _failure(name: str, told: str, code: int, usage: Usage) -> Exception:
    words, lowered = shown(told), told.lower()
    if any(sign in lowered for sign in CUT_OFF):
        return CutOff(f"{name} ended at the limit of its length.", usage)
    if any(sign in lowered for sign in BUSY):
        return Busy(f"{name} is busy: {words}")
    if any(sign in lowered for sign in DENIED):
        return Denied(f"{name} may not be used: {words}. {LOG_IN}.")
    if any(sign in lowered for sign in NOT_THERE):
        return Denied(f"{name} was not found: {words}. Check the model after codex: in librarian.model.")
    if any(sign in lowered for sign in INVALID):
        return Invalid(f"{name} refused the request: {words}")
    if usage.calls:
        return BadReply(f"{name} gave no answer that can be used: {words}", usage)
    return Unavailable(f"{name} ended with {code} and no answer: {words}. Check that `codex exec` works.")


def _events(out: str) -> Iterator[dict[str, Any]]:
    """One JSON object a line; whatever else it prints is passed over."""
    for line in out.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield cast(dict[str, Any], found)


def _usage(told: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=_count(told, "input_tokens"),
        cached_tokens=_count(told, "cached_input_tokens"),
        written_tokens=_count(told, "cache_write_input_tokens"),
        output_tokens=_count(told, "output_tokens"),
        calls=1,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def _count(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and value > 0 else 0
