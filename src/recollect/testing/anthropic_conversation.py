"""A request read as a conversation: its blocks, its tokens, and what came before each thinking block.

A hash runs along system, tools and messages. A thinking block carries the hash of all before it in its signature, so an
edit of anything earlier shows. A signed compaction block carries the hash of what it stands for, so what followed the
summarized messages still fits behind it. All of it is deterministic: the same request has the same counts and hashes.

A month of talk is thousands of requests that each repeat all before them, so a block is serialized and hashed once for
each request, whoever asks afterwards (`Conversation`).
"""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import msgspec

from recollect.testing.anthropic_answers import ApiError, Block

BYTES_PER_TOKEN = 3
SECRET = b"recollect.testing"
"""No secret: it only has to tell what this server signed from what it did not."""
UNSAID = frozenset(("cache_control",))
"""Keys that are not part of what is said."""
VERBATIM = frozenset(("input", "input_schema"))
"""What a model reads as JSON: here the order of keys is part of what is said, and so is a null."""
KEPT_SIGNATURES = 8_192


def tokens_of(text: str) -> int:
    return _tokens(text.encode("utf-8", "replace"))


def _tokens(said: bytes) -> int:
    return -(-len(said) // BYTES_PER_TOKEN)


def field_of(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """An object of a request; empty where it is missing or null."""
    return cast("dict[str, Any]", holder.get(name) or {})


def list_of(holder: dict[str, Any], name: str) -> list[Block]:
    return cast("list[Block]", holder.get(name) or [])


def blocks_of(message: dict[str, Any]) -> list[Block]:
    content: Any = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or []


def system_of(body: dict[str, Any]) -> list[Block]:
    return blocks_of({"content": body.get("system")})


def is_summary(block: Block) -> bool:
    return block.get("type") == "compaction" and block.get("content") is not None


# --- hashes


def as_said(value: Any) -> Any:
    """Without cache marks and nulls, and with keys in one order, except where a model reads the JSON itself."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return {
            key: pairs[key] if key in VERBATIM else as_said(pairs[key])
            for key in sorted(pairs)
            if key not in UNSAID and pairs[key] is not None
        }
    if isinstance(value, list):
        return [as_said(inner) for inner in cast("list[Any]", value)]
    return value


def serialized(value: Any) -> bytes:
    said = as_said(value)
    try:
        return msgspec.json.encode(said)
    except (UnicodeEncodeError, OverflowError):  # Half of a surrogate pair, or a number beyond 64 bits.
        return json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode()


def hash_of(*parts: Any) -> str:
    return hashlib.sha256(serialized(list(parts))).hexdigest()


def _mixed(*parts: str) -> str:
    """Of hashes and names: neither holds a line break."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


# --- reading


class Said(NamedTuple):
    """A tuple, not a dataclass: there are thousands in a request."""

    block: Block
    hash: str
    tokens: int


class Piece(NamedTuple):
    """One tool, one block of the system prompt or one block of a message, in the order in which a model reads."""

    place: str
    """`tools`, `system` or such as `messages[12].content[0]`."""
    hash: str
    """Of who says it, and what."""
    tokens: int
    mark: dict[str, Any] | None
    """Its `cache_control`."""


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


class Conversation:
    """What is read of a body, each thing once and only when it is asked for: the first rules must hold before."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    @cached_property
    def tools(self) -> list[Said]:
        return [_said(tool) for tool in list_of(self.body, "tools")]

    @cached_property
    def system(self) -> list[Said]:
        return [_said(block) for block in system_of(self.body)]

    @cached_property
    def blocks(self) -> list[tuple[str, str, Block]]:
        """(path, role, block) of the messages."""
        return [
            (f"messages.{number}.content.{index}", message["role"], block)
            for number, message in enumerate(list_of(self.body, "messages"))
            for index, block in enumerate(blocks_of(message))
        ]

    @cached_property
    def messages(self) -> list[tuple[dict[str, Any], list[Said]]]:
        return [(message, [_said(block) for block in blocks_of(message)]) for message in list_of(self.body, "messages")]

    @cached_property
    def base(self) -> str:
        return _mixed("system", *(said.hash for said in self.system), "tools", *(said.hash for said in self.tools))

    @cached_property
    def chain(self) -> Chain:
        chain = Chain(end=self.base)
        for number, (message, blocks) in enumerate(self.messages):
            before = chain.end
            hashes: list[str] = []
            for index, (block, hash_, _) in enumerate(blocks):
                if is_summary(block):
                    before = self._behind(block)
                    chain.thoughts.clear()  # What is before a summary is not shown to the model.
                    continue
                hashes.append(hash_)
                if block.get("type") == "thinking":
                    path = f"messages.{number}.content.{index}"
                    chain.thoughts.append(Thought(path=path, block=block, prefix=before))
            if hashes:
                chain.end = _mixed(before, message["role"], str(message.get("clear_at") or ""), *hashes)
            else:
                chain.end = before
        return chain

    def prefix_after(self, summary: str) -> str:
        """What a thinking block has before it that follows a threshold summary in its own turn."""
        return self._behind({"content": summary})

    def _behind(self, block: Block) -> str:
        if not block.get("signature"):
            return _mixed(self.base, "compaction", hash_of(block["content"]))
        signed = _opened(block["signature"])
        is_of_this = bool(signed) and signed["base"] == self.base
        return str(signed["end"]) if is_of_this else _mixed(self.base, "a summary of something else")

    @cached_property
    def opening(self) -> list[Piece]:
        """Tools and system prompt."""
        found = [_piece("tools", "tool", said) for said in self.tools]
        return found + [_piece("system", "system", said) for said in self.system]

    @cached_property
    def pieces(self) -> list[Piece]:
        found = [*self.opening, *self._shown()]
        self._mark_the_last(found)
        instructions = field_of(self.body, "compaction").get("instructions")
        if instructions:  # Read behind everything, and never part of what is kept.
            found.append(_piece("compaction", "compaction", _said({"text": instructions})))
        return found

    def pieces_after(self, summary: Block) -> list[Piece]:
        """What is read when a threshold summary has taken the place of all messages."""
        return [*self.opening, _piece("summary", "assistant", _said(summary))]

    def _shown(self) -> list[Piece]:
        users = (number for number, (message, _) in enumerate(self.messages) if message["role"] == "user")
        last_user = max(users, default=-1)
        shown: list[Piece] = []
        for number, (message, blocks) in enumerate(self.messages):
            if message.get("clear_at") == "next_user_message" and number < last_user:
                continue
            role = message["role"]
            for index, said in enumerate(blocks):
                if is_summary(said.block):
                    shown.clear()
                shown.append(_piece(f"messages[{number}].content[{index}]", role, said))
        return shown

    def _mark_the_last(self, found: list[Piece]) -> None:
        """A mark at the top of the request is one on the last block that may carry it."""
        mark = self.body.get("cache_control")
        if mark and found:
            at = last_markable(self.body)
            number = next((number for number, piece in enumerate(found) if piece.place == at), len(found) - 1)
            found[number] = found[number]._replace(mark=found[number].mark or mark)

    @cached_property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)


def last_markable(body: dict[str, Any]) -> str:
    """Where the mark at the top of a request lands: thinking carries none. Empty: not in a message."""
    messages = list_of(body, "messages")
    for number in range(len(messages) - 1, -1, -1):
        blocks = blocks_of(messages[number])
        for index in range(len(blocks) - 1, -1, -1):
            if may_be_marked(blocks[index]):
                return f"messages[{number}].content[{index}]"
    return ""


def may_be_marked(block: Block) -> bool:
    return block.get("type") not in ("thinking", "redacted_thinking")


def _said(block: Block) -> Said:
    said = serialized(block)
    return Said(block, hashlib.sha256(said).hexdigest(), _tokens(said))


def _piece(place: str, who: str, said: Said) -> Piece:
    return Piece(place, f"{who}:{said.hash}", said.tokens, said.block.get("cache_control"))


# --- signatures


def sign_thought(thoughts: str, prefix: str) -> str:
    return _sealed({"prefix": prefix, "thoughts": hash_of(thoughts)})


def thought_is_ours(block: Block) -> bool:
    signed = _opened(block.get("signature"))
    return bool(signed) and signed.get("thoughts") == hash_of(block.get("thinking"))


def thought_fits(thought: Thought) -> bool:
    return _opened(thought.block.get("signature")).get("prefix") == thought.prefix


def sign_summary(conversation: Conversation, content: str, tool_changes: list[Block]) -> str:
    return _sealed(
        {
            "content": hash_of(content),
            "tool_changes": hash_of(tool_changes),
            "base": conversation.base,
            "end": conversation.chain.end,
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
    """Empty: not signed here. Only to be read."""
    return _opened_text(str(signature))


@lru_cache(KEPT_SIGNATURES)
def _opened_text(signature: str) -> dict[str, Any]:
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        return {}
    seal, text = raw[:16], raw[16:]
    return json.loads(text) if hmac.compare_digest(seal, hmac.digest(SECRET, text, "sha256")[:16]) else {}
