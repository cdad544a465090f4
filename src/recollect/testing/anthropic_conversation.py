"""A request read as a conversation: its blocks, its tokens, and what came before each thinking block.

A hash runs along system, tools and messages. A thinking block carries the hash of all before it in its signature, so an
edit of anything earlier shows. A signed compaction block carries the hash of what it stands for, so what followed the
summarized messages still fits behind it. All of it is deterministic: the same request has the same counts and hashes.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.testing.anthropic_answers import ApiError, Block

BYTES_PER_TOKEN = 3
SECRET = b"recollect.testing"
"""No secret: it only has to tell what this server signed from what it did not."""
UNSAID = ("cache_control",)
"""Keys that are not part of what is said."""


def tokens_of(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def field_of(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """An object of a request; empty where it is missing or null."""
    return cast("dict[str, Any]", holder.get(name) or {})


def list_of(holder: dict[str, Any], name: str) -> list[Block]:
    return cast("list[Block]", holder.get(name) or [])


def blocks_of(message: dict[str, Any]) -> list[Block]:
    content: Any = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list_of(message, "content")


def system_of(body: dict[str, Any]) -> list[Block]:
    return blocks_of({"content": body.get("system")})


def without_unsaid(value: Any) -> Any:
    """As it was said: without cache marks and nulls. The arguments of a tool stay as they are."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {
            key: inner if key == "input" else without_unsaid(inner)
            for key, inner in pairs
            if key not in UNSAID and inner is not None
        }
    if isinstance(value, list):
        return [without_unsaid(inner) for inner in cast("list[Any]", value)]
    return value


def hash_of(*parts: Any) -> str:
    text = json.dumps([without_unsaid(part) for part in parts], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def base_of(body: dict[str, Any]) -> str:
    return hash_of(system_of(body), body.get("tools"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    path: str
    block: Block
    prefix: str


@dataclass(slots=True, kw_only=True)
class Chain:
    """The hash behind the last message, and the thinking blocks that still count."""

    end: str
    thoughts: list[Thought] = field(default_factory=list[Thought])


def chain_of(body: dict[str, Any]) -> Chain:
    base = base_of(body)
    chain = Chain(end=base)
    for number, message in enumerate(list_of(body, "messages")):
        before = chain.end
        blocks = blocks_of(message)
        for index, block in enumerate(blocks):
            if is_summary(block):
                before = _hash_behind(block, base)
                chain.thoughts.clear()  # What is before a summary is not shown to the model.
            elif block.get("type") == "thinking":
                path = f"messages.{number}.content.{index}"
                chain.thoughts.append(Thought(path=path, block=block, prefix=before))
        said = [block for block in blocks if not is_summary(block)]
        chain.end = hash_of(before, message["role"], said, message.get("clear_at")) if said else before
    return chain


def prefix_after_summary(body: dict[str, Any], summary: str) -> str:
    """What a thinking block has before it that follows a threshold summary in its own turn."""
    return _hash_behind({"content": summary}, base_of(body))


def _hash_behind(block: Block, base: str) -> str:
    if not block.get("signature"):
        return hash_of(base, "compaction", block["content"])
    signed = _opened(block["signature"])
    return str(signed["end"]) if signed and signed["base"] == base else hash_of(base, "a summary of something else")


def is_summary(block: Block) -> bool:
    return block.get("type") == "compaction" and block.get("content") is not None


# --- signatures


def sign_thought(thoughts: str, prefix: str) -> str:
    return _sealed({"prefix": prefix, "thoughts": hash_of(thoughts)})


def thought_is_ours(block: Block) -> bool:
    signed = _opened(block.get("signature"))
    return bool(signed) and signed.get("thoughts") == hash_of(block.get("thinking"))


def thought_fits(thought: Thought) -> bool:
    return _opened(thought.block.get("signature")).get("prefix") == thought.prefix


def sign_summary(body: dict[str, Any], content: str, tool_changes: list[Block]) -> str:
    return _sealed(
        {
            "content": hash_of(content),
            "tool_changes": hash_of(tool_changes),
            "base": base_of(body),
            "end": chain_of(body).end,
        }
    )


def check_summary(block: Block) -> None:
    signed = _opened(block.get("signature"))
    if "content" not in signed:
        raise ApiError(400, "The compaction block's signature does not verify.", code="compaction_signature_invalid")
    if signed["content"] != hash_of(block["content"]):
        raise ApiError(
            400, "The compaction block's content was changed. Send it as returned.", code="compaction_content_mismatch"
        )
    if signed["tool_changes"] != hash_of(block.get("tool_changes") or []):
        raise ApiError(
            400,
            "The compaction block's tool_changes were changed. Send them as returned.",
            code="compaction_tool_changes_mismatch",
        )


def _sealed(parts: dict[str, str]) -> str:
    text = json.dumps(parts, sort_keys=True).encode()
    seal = hmac.new(SECRET, text, "sha256").digest()[:16]
    return base64.b64encode(seal + text).decode()


def _opened(signature: object) -> dict[str, Any]:
    """Empty: not signed here."""
    try:
        raw = base64.b64decode(str(signature), validate=True)
    except ValueError:
        return {}
    seal, text = raw[:16], raw[16:]
    return json.loads(text) if hmac.compare_digest(seal, hmac.new(SECRET, text, "sha256").digest()[:16]) else {}


# --- tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One tool, one block of the system prompt or one block of a message, in the order in which a model reads."""

    hash: str
    tokens: int
    mark: dict[str, Any] | None
    """Its `cache_control`."""


def pieces_of(body: dict[str, Any]) -> list[Piece]:
    found = [_piece("tool", tool) for tool in list_of(body, "tools")]
    found += [_piece("system", block) for block in system_of(body)]
    found += [_piece(role, block) for role, block in _shown(list_of(body, "messages"))]
    if found and body.get("cache_control"):  # At the top of the request: a mark on the last block.
        last = found[-1]
        found[-1] = Piece(hash=last.hash, tokens=last.tokens, mark=last.mark or body["cache_control"])
    return found


def _shown(messages: list[dict[str, Any]]) -> Iterator[tuple[str, Block]]:
    last_user = max((number for number, message in enumerate(messages) if message["role"] == "user"), default=-1)
    shown: list[tuple[str, Block]] = []
    for number, message in enumerate(messages):
        if message.get("clear_at") == "next_user_message" and number < last_user:
            continue
        for block in blocks_of(message):
            if is_summary(block):
                shown.clear()
            shown.append((message["role"], block))
    yield from shown


def _piece(role: str, block: Block) -> Piece:
    said = json.dumps(without_unsaid(block), ensure_ascii=False, sort_keys=True)
    return Piece(hash=hash_of(role, block), tokens=tokens_of(said), mark=block.get("cache_control"))


def count_tokens(body: dict[str, Any]) -> int:
    return sum(piece.tokens for piece in pieces_of(body))
