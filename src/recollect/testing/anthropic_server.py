"""Anthropic's Messages API on this computer, for tests that go through the real SDK.

It keeps the rules of the API (`anthropic_rules`), counts tokens in a way that is always the same, keeps a prompt cache
that forgets by the clock (`server.cache.log` tells what was read), signs thinking and summaries, and holds threads.
What a model would say comes from a script; without one it says `OK.`, or the plainest value of the schema that was
asked for. It knows nothing of batches, files and server tools.

    with AnthropicServer() as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="any")
        server.script(say("Good morning."), fail(529), use_tool("weather", {"city": "Oslo"}))
"""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from recollect.clock import Clock, system_clock
from recollect.testing.anthropic_answers import Answer, ApiError, Block, say, say_json
from recollect.testing.anthropic_cache import InputTokens, Look, Prompt, PromptCache
from recollect.testing.anthropic_conversation import (
    Conversation,
    Piece,
    blocks_of,
    field_of,
    hash_of,
    list_of,
    sign_summary,
    sign_thought,
    tokens_of,
)
from recollect.testing.anthropic_models import MODELS, ModelCard
from recollect.testing.anthropic_rules import BINDING, check
from recollect.testing.anthropic_schema import plain_value
from recollect.testing.anthropic_threads import Threads
from recollect.testing.anthropic_wire import block_tokens, event, events_of, limited
from recollect.testing.loopback import LoopbackServer, Request, Response, as_json

Step: TypeAlias = Answer | ApiError | Response
Responder: TypeAlias = Callable[[dict[str, Any]], Step]
"""The body of a request in, with the whole conversation where a thread held it."""
DEFAULT_TRIGGER_TOKENS = 150_000


class AnthropicServer(LoopbackServer):
    """`script` takes `Answer`, `ApiError`, `Response` and functions from a body to one of these. A request that breaks
    a rule is refused and uses up no step."""

    def __init__(
        self,
        respond: Responder | None = None,
        *,
        key: str = "",
        binds_thinking: bool = True,
        clock: Clock = system_clock,
        keeps_requests: int | None = None,
    ) -> None:
        """`respond` answers when the script is empty. `key`: the only one that counts; empty: any. `binds_thinking`:
        whether an edit before a thinking block is an error, as for accounts since September 2026. `clock`: by which the
        cache forgets. `keeps_requests`: only so many of the last; None: all of them."""
        super().__init__(keeps_requests=keeps_requests)
        self.cache = PromptCache(clock)
        self.threads = Threads()
        self._respond = respond or _plain
        self._key = key
        self._binds_thinking = binds_thinking
        self._numbers = itertools.count(1)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the requests for messages, as they were sent."""
        return [request.body for request in self.requests if request.path == "/v1/messages"]

    def answer(self, request: Request) -> Response:
        request_id = self._new_id("req")
        try:
            response = self._route(request)
        except ApiError as error:
            response = _refusal(error, request_id)
        return replace(response, headers={"request-id": request_id, **response.headers})

    def _new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._numbers):024d}"

    def _route(self, request: Request) -> Response:
        if request.path == "/":
            return Response()
        self._check_key(request)
        if not request.headers.get("anthropic-version"):
            raise ApiError(400, "anthropic-version: header is required")
        match request.method, request.path.rstrip("/").split("/")[1:]:
            case "POST", ["v1", "messages"]:
                return self._messages(_Asked.of(request, self.threads))
            case "POST", ["v1", "messages", "count_tokens"]:
                asked = _Asked.of(request, self.threads)
                self._check(asked, is_count=True)
                return as_json({"input_tokens": asked.conversation.tokens})
            case "GET", ["v1", "models"]:
                cards = [card.as_json() for card in MODELS.values()]
                ends = {"first_id": cards[0]["id"], "last_id": cards[-1]["id"]}
                return as_json({"data": cards, "has_more": False, **ends})
            case "GET", ["v1", "models", model]:
                return as_json(_card(model).as_json())
            case _:
                raise ApiError(404, f"Not found: {request.method} {request.path}")

    def _check_key(self, request: Request) -> None:
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if not given or (self._key and given != self._key):
            raise ApiError(401, "invalid x-api-key")

    def _check(self, asked: "_Asked", *, is_count: bool = False) -> list[Block]:
        return check(
            asked.conversation, asked.betas, asked.card, is_count=is_count, binds_thinking=self._binds_thinking
        )

    def _messages(self, asked: "_Asked") -> Response:
        dropped = self._check(asked)
        length = asked.conversation.tokens
        if length > asked.card.most_input_tokens:
            raise ApiError(400, f"prompt is too long: {length} tokens > {asked.card.most_input_tokens} maximum")
        look = self._look(asked, asked.conversation.pieces)
        step: Any = self.next_step() or self._respond(asked.body)
        if callable(step):
            step = step(asked.body)
        if isinstance(step, Response):
            return step
        if isinstance(step, ApiError):
            raise step
        answer = cast(Answer, step)
        message, looks = self._message(asked, answer, look)
        if BINDING in asked.betas:
            message["input_transformations"] = dropped
        self.threads.keep(asked.body, asked.thread, message)
        response = self._sent(message, answer, is_stream=bool(asked.body.get("stream")))
        return replace(response, begun=lambda: self._begin(looks))

    def _begin(self, looks: list[Look]) -> None:
        for look in looks:
            self.cache.begin(look)

    def _look(self, asked: "_Asked", pieces: list[Piece]) -> Look:
        return self.cache.look(asked.number, Prompt.of(asked.body, asked.card, pieces))

    def _sent(self, message: dict[str, Any], answer: Answer, *, is_stream: bool) -> Response:
        line: dict[str, Any] = {"wait_seconds": answer.wait_seconds, "hang_up_after": answer.hang_up_after}
        if not is_stream:
            if answer.error_after is not None:
                raise answer.error
            return replace(as_json(message), **line)
        pieces = list(events_of(message))
        if answer.error_after is not None:
            failure = answer.error.body(message["id"])
            pieces = [*pieces[: answer.error_after], event("error", failure)]
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        return Response(body=pieces, headers=headers, pause_seconds=answer.pause_seconds, **line)

    def _message(self, asked: "_Asked", answer: Answer, look: Look) -> tuple[dict[str, Any], list[Look]]:
        """The message, and what is read from the cache and kept there when it begins."""
        message: dict[str, Any] = {
            "id": self._new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": asked.card.id,
            "stop_sequence": None,
            "stop_details": None,
        }
        if asked.body.get("compaction"):
            return message | _compacted(asked.conversation, answer, look.tokens), [look]
        edit = _due_edit(asked.body, look.tokens.all)
        prefix = asked.conversation.chain.end
        before: list[Block] = []
        looks = [look]
        if edit:
            summary = _summary_of(asked.body)
            before = [{"type": "compaction", "content": summary, "encrypted_content": hash_of(summary)[:32]}]
            prefix = asked.conversation.prefix_after(summary)
            looks.append(self._look(asked, asked.conversation.pieces_after(before[0])))
        blocks, reason, stop = limited(answer, asked.body["max_tokens"], asked.body.get("stop_sequences") or [])
        if edit and edit.get("pause_after_compaction"):
            blocks, reason, stop = [], "compaction", None
            looks.pop()
        message |= {
            "content": before + [self._finished(block, asked.body, prefix) for block in blocks],
            "stop_reason": reason,
            "stop_sequence": stop,
            "stop_details": dict(answer.stop_details) if answer.stop_details else None,
            "usage": _usage([one.tokens for one in looks], before, blocks, least=min(1, asked.body["max_tokens"])),
        }
        if asked.body.get("context_management"):
            message["context_management"] = {"applied_edits": []}
        return message, looks

    def _finished(self, block: Block, body: dict[str, Any], prefix: str) -> Block:
        if block["type"] == "tool_use":
            return {"id": self._new_id("toolu"), **block}
        if block["type"] == "thinking":
            is_shown = field_of(body, "thinking").get("display") != "omitted"
            thoughts = block["thinking"] if is_shown else ""
            return {**block, "thinking": thoughts, "signature": sign_thought(thoughts, prefix)}
        return block


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    conversation: Conversation
    thread: dict[str, Any] | None
    betas: set[str]
    card: ModelCard
    number: int

    @property
    def body(self) -> dict[str, Any]:
        return self.conversation.body

    @classmethod
    def of(cls, request: Request, threads: Threads) -> "_Asked":
        body = request.body
        if not isinstance(body, dict):
            raise ApiError(400, "The request body is not valid JSON")
        sent = cast("dict[str, Any]", body)
        if "model" not in sent:
            raise ApiError(400, "model: Field required")
        betas = {beta.strip() for beta in request.headers.get("anthropic-beta", "").split(",") if beta.strip()}
        return cls(
            conversation=Conversation(threads.whole(sent, betas)),
            thread=sent.get("thread"),
            betas=betas,
            card=_card(str(sent["model"])),
            number=request.number,
        )


def _card(model: str) -> ModelCard:
    if model not in MODELS:
        raise ApiError(404, f"model: {model}")
    return MODELS[model]


def _plain(body: dict[str, Any]) -> Step:
    if body.get("compaction"):
        return say(_summary_of(body))
    wanted = field_of(field_of(body, "output_config"), "format")
    return say_json(plain_value(wanted["schema"])) if wanted else say("OK.")


def _refusal(error: ApiError, request_id: str) -> Response:
    return as_json(error.body(request_id), error.status, error.headers)


def _usage(steps: list[InputTokens], summaries: list[Block], blocks: list[Block], *, least: int) -> dict[str, Any]:
    """`steps`: what was read; with a summary first what it stands for, then what is left (nothing when it pauses).
    `least`: also an empty answer counts as one token, unless none may be written."""
    written = max(least, sum(block_tokens(block) for block in blocks))
    usage = {**steps[-1].as_json(), "output_tokens": written}
    if not summaries:
        return {**usage, "service_tier": "standard"}
    # What compacting cost is told only here, not at the top: who bills must add it.
    compaction = {"type": "compaction", **steps[0].as_json(), "output_tokens": block_tokens(summaries[0])}
    if len(steps) == 1:
        return {**_nothing(), "iterations": [compaction]}
    return {**usage, "iterations": [compaction, {"type": "message", **usage}]}


def _nothing() -> dict[str, Any]:
    return {**InputTokens(fresh=0).as_json(), "output_tokens": 0}


def _compacted(conversation: Conversation, answer: Answer, tokens: InputTokens) -> dict[str, Any]:
    """The answer to a request to compact: one block, and its cost only among the iterations."""
    content = answer.blocks[0].get("text") if answer.blocks else None
    changes = [
        block
        for message in list_of(conversation.body, "messages")
        for block in blocks_of(message)
        if block.get("type") in ("tool_addition", "tool_removal")
    ]
    block: Block = {"type": "compaction", "content": content, "encrypted_content": None, "tool_changes": changes}
    if content is not None:
        block["signature"] = sign_summary(conversation, content, changes)
    cost = {"type": "compaction", **tokens.as_json(), "output_tokens": tokens_of(content or "")}
    return {"content": [block], "stop_reason": "compaction", "usage": {**_nothing(), "iterations": [cost]}}


def _summary_of(body: dict[str, Any]) -> str:
    messages = list_of(body, "messages")
    said = [str(block["text"]) for message in messages for block in blocks_of(message) if block.get("type") == "text"]
    first = json.dumps(said[0][:40], ensure_ascii=False) if said else "nothing that was said"
    return f"A summary of {len(messages)} messages that began with {first}."


def _due_edit(body: dict[str, Any], input_tokens: int) -> Block | None:
    for edit in list_of(field_of(body, "context_management"), "edits"):
        trigger = field_of(edit, "trigger").get("value", DEFAULT_TRIGGER_TOKENS)
        if edit.get("type") == "compact_20260112" and input_tokens >= trigger:
            return edit
    return None
