"""What the Messages API refuses, so that a mistake shows in a test and not on a bill.

Each rule raises the error that the API answers. They are those of version 2026-10-21 that a client can trip over, not
all of them: contents of images, server tools and MCP servers are taken as they are.
"""

from typing import Any, cast

from recollect.testing.anthropic_answers import ApiError, Block
from recollect.testing.anthropic_conversation import (
    Conversation,
    blocks_of,
    check_summary,
    field_of,
    is_summary,
    last_markable,
    list_of,
    may_be_marked,
    system_of,
    thought_fits,
    thought_is_ours,
)
from recollect.testing.anthropic_models import ModelCard
from recollect.testing.anthropic_schema import check_schema

THREADS = "message-threads-2026-08-12"
ON_DEMAND = "compact-2026-09-04"
THRESHOLD = "compact-2026-01-12"
EDITING = "context-management-2025-06-27"
BINDING = "thinking-binding-controls-2026-08-01"
CLEARING = "mid-conversation-system-clear-at-2026-08-21"
TURN_CONFIG = "mid-conversation-output-config-2026-07-01"
TOOL_CHANGES = ("inline-tools-2026-09-15", "mid-conversation-tool-changes-2026-07-01")

FIELDS = frozenset(
    (
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    )
)
BETA_FIELDS = {
    "compaction": (ON_DEMAND,),
    "context_management": (EDITING, THRESHOLD),
    "thread": (THREADS,),
    "fallbacks": ("server-side-fallback-2026-06-01", "server-side-fallback-2026-07-01"),
    "fallback_credit_token": ("fallback-credit-2026-06-01", "fallback-credit-2026-07-01"),
    "mcp_servers": ("mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15"),
}
GONE = ("temperature", "top_p", "top_k")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
LEAST_TRIGGER_TOKENS = 50_000
LEAST_THINKING_TOKENS = 1_024
MOST_CACHE_MARKS = 4
MOST_STRICT_TOOLS = 20


def check(
    conversation: Conversation, betas: set[str], card: ModelCard, *, is_count: bool, binds_thinking: bool
) -> list[Block]:
    """Raises `ApiError`. Gives the `input_transformations`: thinking blocks dropped because the request asked so."""
    body = conversation.body
    _check_fields(body, betas)
    if not is_count:
        _check_length(body, card)
    _check_messages(conversation, betas, card)
    if not is_count:
        _check_end(body)
    _check_tools(body)
    _check_thinking(body, betas, card)
    _check_output(body)
    _check_cache_marks(conversation)
    _check_compaction(conversation, betas, card)
    return _check_thoughts(conversation) if binds_thinking else []


def _wrong(message: str, code: str = "") -> ApiError:
    return ApiError(400, message, code=code)


def _check_fields(body: dict[str, Any], betas: set[str]) -> None:
    for name, value in body.items():
        if name in GONE:
            raise _wrong(f"{name}: this parameter is not supported. Remove it from the request.")
        if name in BETA_FIELDS:
            if value is not None and not betas & set(BETA_FIELDS[name]):
                raise _wrong(f"{name}: Extra inputs are not permitted")  # What the API says without the header.
        elif name not in FIELDS:
            raise _wrong(f"{name}: Extra inputs are not permitted")


def _check_length(body: dict[str, Any], card: ModelCard) -> None:
    most = body.get("max_tokens")
    if most is None:
        raise _wrong("max_tokens: Field required")
    if not isinstance(most, int) or most < 0:
        raise _wrong("max_tokens: Input should be greater than or equal to 0")
    if most > card.most_output_tokens:
        raise _wrong(
            f"max_tokens: {most} > {card.most_output_tokens}, which is the maximum allowed number of output tokens for "
            f"{card.id}"
        )


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    return list_of(body, "messages")


def _check_messages(conversation: Conversation, betas: set[str], card: ModelCard) -> None:
    body = conversation.body
    messages: Any = body.get("messages")
    if not isinstance(messages, list):
        raise _wrong("messages: Field required")
    if not messages:
        raise _wrong("messages: at least one message is required")
    for number, message in enumerate(_messages(body)):
        if message.get("role") not in ("user", "assistant", "system"):
            raise _wrong(f"messages.{number}.role: Input should be 'user', 'assistant' or 'system'")
        if message["role"] == "system":
            _check_system_message(number, message, betas, card)
        elif message.get("clear_at"):
            raise _wrong(f"messages.{number}.clear_at: only permitted on system messages")
        if not blocks_of(message) and not (message["role"] == "system" and message.get("output_config")):
            raise _wrong(f"messages.{number}: all messages must have non-empty content")
    for path, _, block in conversation.blocks:
        if block.get("type") == "text" and not block.get("text"):
            raise _wrong(f"{path}: text content blocks must be non-empty")
    _check_tool_results(body)


def _check_system_message(number: int, message: dict[str, Any], betas: set[str], card: ModelCard) -> None:
    if card.is_old:
        raise _wrong(f"messages.{number}.role: system messages are not supported by {card.id}")
    if number == 0:
        raise _wrong("messages.0.role: the first message may not be a system message. Use the top-level system.")
    if message.get("clear_at") and CLEARING not in betas:
        raise _wrong(f"messages.{number}.clear_at: Extra inputs are not permitted")
    if message.get("output_config") is not None and TURN_CONFIG not in betas:
        raise _wrong(f"messages.{number}.output_config: Extra inputs are not permitted")
    for block in blocks_of(message):
        kind = block.get("type")
        if kind in ("tool_addition", "tool_removal") and not betas & set(TOOL_CHANGES):
            raise _wrong(f"messages.{number}: {kind} blocks are not permitted")
        if kind == "compaction":
            raise _wrong("A compaction block may not be in a system message.", "compaction_block_misplaced")


def _check_tool_results(body: dict[str, Any]) -> None:
    """Each use has its result in the next message, and each result its use in the one before."""
    spoken = [(number, message) for number, message in enumerate(_messages(body)) if message["role"] != "system"]
    open_ids: set[str] = set()
    opened_at = 0
    seen: set[str] = set()
    for number, message in spoken:
        blocks = blocks_of(message)
        results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if open_ids - set(results):
            raise _unanswered(opened_at, open_ids - set(results))
        for found in results:
            if found not in open_ids:
                raise _wrong(
                    f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {found}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
        uses = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if len(set(uses)) < len(uses) or seen & set(uses):
            raise _wrong(f"messages.{number}: `tool_use` ids must be unique")
        seen |= set(uses)
        open_ids, opened_at = set(uses), number
    if open_ids and body.get("compaction"):
        raise _wrong("The last turn is not finished.", "compaction_incomplete_turn")
    if open_ids:
        raise _unanswered(opened_at, open_ids)


def _unanswered(number: int, ids: set[str]) -> ApiError:
    return _wrong(
        f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(sorted(ids))}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _check_end(body: dict[str, Any]) -> None:
    """No prefill: only a summary, or a turn that is to be compacted, may be the end."""
    last = _messages(body)[-1]
    if last["role"] != "assistant" or body.get("compaction"):
        return
    if not all(block.get("type") == "compaction" for block in blocks_of(last)):
        raise _wrong(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_tools(body: dict[str, Any]) -> None:
    tools = list_of(body, "tools")
    names = [tool.get("name") for tool in tools if tool.get("name")]
    if len(set(names)) < len(names):
        raise _wrong("tools: Tool names must be unique.")
    for number, tool in enumerate(tools):
        if tool.get("type", "custom") == "custom" and field_of(tool, "input_schema").get("type") != "object":
            raise _wrong(f"tools.{number}.custom.input_schema.type: Input should be 'object'")
    if sum(bool(tool.get("strict")) for tool in tools) > MOST_STRICT_TOOLS:
        raise _wrong(f"tools: no more than {MOST_STRICT_TOOLS} strict tools are permitted")
    choice = field_of(body, "tool_choice").get("type", "auto")
    if choice in ("any", "tool") and not tools:
        raise _wrong("tool_choice: tools must be given")
    if choice in ("any", "tool") and field_of(body, "thinking").get("type") in ("enabled", "adaptive"):
        raise _wrong("Thinking may not be enabled when tool_choice forces tool use.")


def _check_thinking(body: dict[str, Any], betas: set[str], card: ModelCard) -> None:
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    types = card.as_json()["capabilities"]["thinking"]["types"]
    if kind not in types:
        raise _wrong(f"thinking.type: Input should be one of {', '.join(sorted(types))}")
    if not types[kind]["supported"]:
        raise _wrong(f"thinking.type: '{kind}' is not supported by {card.id}")
    if kind == "enabled" and not LEAST_THINKING_TOKENS <= thinking.get("budget_tokens", 0) < body.get("max_tokens", 0):
        raise _wrong("thinking.budget_tokens: must be at least 1024 and less than max_tokens")
    if thinking.get("block_binding") is not None and BINDING not in betas:
        raise _wrong("thinking.block_binding: Extra inputs are not permitted")


def _check_output(body: dict[str, Any]) -> None:
    config = field_of(body, "output_config")
    if config.get("effort") is not None and config["effort"] not in EFFORTS:
        raise _wrong(f"output_config.effort: Input should be one of {', '.join(EFFORTS)}")
    if wanted := config.get("format"):
        if wanted.get("type") != "json_schema":
            raise _wrong("output_config.format.type: Input should be 'json_schema'")
        check_schema(wanted.get("schema"))


def _marked(conversation: Conversation) -> list[tuple[str, Block]]:
    """(path, block) of all that carry a mark, in the order in which a model reads. A mark at the top of the request
    stands for one on the last block."""
    body = conversation.body
    holders = [(f"tools.{number}", tool) for number, tool in enumerate(list_of(body, "tools"))]
    holders += [(f"system.{number}", block) for number, block in enumerate(system_of(body))]
    holders += [(path, block) for path, _, block in conversation.blocks]
    found = [(path, block) for path, block in holders if block.get("cache_control")]
    top = body.get("cache_control")
    if top:
        found = _with_top_mark(found, top, last_markable(body).replace("[", ".").replace("]", ""))
    return found


def _with_top_mark(found: list[tuple[str, Block]], top: Block, lands_at: str) -> list[tuple[str, Block]]:
    if not found or found[-1][0] != lands_at:
        return [*found, ("", {"cache_control": top})]
    if found[-1][1]["cache_control"].get("ttl", "5m") != top.get("ttl", "5m"):
        raise _wrong("cache_control: the last block has a cache_control with another ttl")
    return found


def _check_cache_marks(conversation: Conversation) -> None:
    marked = _marked(conversation)
    if len(marked) > MOST_CACHE_MARKS:
        raise _wrong(f"A maximum of {MOST_CACHE_MARKS} blocks with cache_control may be provided. Found {len(marked)}.")
    has_short = False
    for path, block in marked:
        name = f"{path}.cache_control" if path else "cache_control"
        mark = cast("Block", block["cache_control"])
        if not may_be_marked(block):
            raise _wrong(f"{name}: Extra inputs are not permitted")
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            raise _wrong(f"{name}: type must be 'ephemeral' and ttl '5m' or '1h'")
        if has_short and mark.get("ttl") == "1h":
            raise _wrong(
                f"{name}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note "
                "that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        has_short = has_short or mark.get("ttl", "5m") == "5m"


def _check_compaction(conversation: Conversation, betas: set[str], card: ModelCard) -> None:
    body = conversation.body
    edits = list_of(field_of(body, "context_management"), "edits")
    compacts = [edit for edit in edits if str(edit.get("type")).startswith("compact_")]
    if compacts and THRESHOLD not in betas:
        raise _wrong(f"context_management.edits: compact edits need the beta {THRESHOLD}")
    for edit in compacts:
        if field_of(edit, "trigger").get("value", LEAST_TRIGGER_TOKENS) < LEAST_TRIGGER_TOKENS:
            raise _wrong(f"context_management.edits.trigger.value: must be at least {LEAST_TRIGGER_TOKENS}")
    _check_summaries(conversation, betas, has_edit=bool(compacts))
    if body.get("compaction"):
        _check_compaction_request(body, card)


def _check_summaries(conversation: Conversation, betas: set[str], *, has_edit: bool) -> None:
    found = [(path, role, block) for path, role, block in conversation.blocks if is_summary(block)]
    signed = [(path, role, block) for path, role, block in found if block.get("signature")]
    if not signed:
        return
    if ON_DEMAND not in betas:
        raise _wrong(f"A signed compaction block needs the beta {ON_DEMAND}.")
    if has_edit:
        raise _wrong("A signed compaction block and a compact edit cannot be combined.")
    if len(found) > 1:
        raise _wrong("Send only the compaction block that was returned last.", "compaction_block_ambiguous")
    path, role, block = signed[0]
    if path != "messages.0.content.0" or role != "assistant":
        raise _wrong("The compaction block must be first in the conversation.", "compaction_block_misplaced")
    check_summary(block)


def _check_compaction_request(body: dict[str, Any], card: ModelCard) -> None:
    if not card.has_compaction:
        raise _wrong(f"compaction: not supported by {card.id}")
    if body["compaction"].get("type") != "summarize":
        raise _wrong("compaction.type: Input should be 'summarize'")
    clashes = [name for name in ("context_management", "stop_sequences") if body.get(name)]
    if field_of(body, "output_config").get("format"):
        clashes.append("output_config.format")
    if field_of(body, "tool_choice").get("type") in ("any", "tool"):
        clashes.append("tool_choice")
    if clashes:
        raise _wrong(f"compaction: cannot be combined with {clashes[0]}")
    if not any(message["role"] != "system" for message in _messages(body)):
        raise _wrong("There is nothing to summarize.", "compaction_nothing_to_summarize")


def _check_thoughts(conversation: Conversation) -> list[Block]:
    binding = field_of(field_of(conversation.body, "thinking"), "block_binding")
    dropped: list[Block] = []
    for thought in conversation.chain.thoughts:
        if not thought_is_ours(thought.block):
            raise _wrong(f"{thought.path}: Invalid `signature` in `thinking` block")
        if thought_fits(thought):
            continue
        if binding.get("prefix_mismatch_behavior") != "drop_block":
            raise _wrong(
                f"{thought.path}: the conversation before this `thinking` block differs from the one it was created "
                "in. Send system, tools and all earlier messages unchanged."
            )
        dropped.append({"type": "thinking_dropped", "path": thought.path, "reason": "prefix_binding_mismatch"})
    return dropped
