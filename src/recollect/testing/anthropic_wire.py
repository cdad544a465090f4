"""Messages as the API sends them: whole, or as the events of a stream."""

import json
from collections.abc import Iterator
from typing import Any

from recollect.testing.anthropic_answers import Answer, Block
from recollect.testing.anthropic_conversation import tokens_of

PIECE_CHARACTERS = 24
MOST_PIECES = 200
"""Of one block: a long text comes in larger pieces, not in more."""


def event(name: str, data: dict[str, Any]) -> bytes:
    """Named twice: a client drops an event that has no name of its own."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}\n\n".encode()


def events_of(message: dict[str, Any]) -> Iterator[bytes]:
    usage = message["usage"]
    begun: dict[str, Any] = {
        **message,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    begun.pop("stop_details", None)
    begun.pop("context_management", None)
    yield event("message_start", {"message": begun})
    yield event("ping", {})
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    stop = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    changes: dict[str, Any] = {"delta": stop, "usage": usage}
    if "context_management" in message:
        changes["context_management"] = message["context_management"]
    yield event("message_delta", changes)
    yield event("message_stop", {})


def _block_events(index: int, block: Block) -> Iterator[bytes]:
    begun, deltas = _begun(block)
    yield event("content_block_start", {"index": index, "content_block": begun})
    for delta in deltas:
        yield event("content_block_delta", {"index": index, "delta": delta})
    yield event("content_block_stop", {"index": index})


def _begun(block: Block) -> tuple[Block, list[Block]]:
    """The block as it starts, and what is added to it."""
    kind = block["type"]
    if kind == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": part} for part in _split(block["text"])]
    if kind == "tool_use":
        parts = ["", *_split(json.dumps(block["input"], ensure_ascii=False))]
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
    if kind == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": part} for part in _split(block["thinking"])]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*thoughts, signature]
    if kind == "compaction":
        # The SDK takes only these two from the delta: a signature must be there from the start.
        delta = {"type": "compaction_delta", **{key: block.get(key) for key in ("content", "encrypted_content")}}
        return {**block, "content": None, "encrypted_content": None}, [delta]
    return block, []


def _split(text: str) -> list[str]:
    size = max(PIECE_CHARACTERS, -(-len(text) // MOST_PIECES))
    return [text[at : at + size] for at in range(0, len(text), size)]


def block_tokens(block: Block) -> int:
    said = block.get("text") or block.get("thinking") or block.get("content") or json.dumps(block.get("input") or "")
    return tokens_of(said)


def limited(answer: Answer, most_tokens: int, stop_sequences: list[str]) -> tuple[list[Block], str, str | None]:
    """(blocks, stop reason, stop sequence) when no more than so many tokens may be written."""
    blocks: list[Block] = []
    left = most_tokens
    for block in answer.blocks:
        block, found = _until_stop(block, stop_sequences)
        if answer.obeys_limit and block_tokens(block) > left:
            if block["type"] == "text" and left:
                cut = block["text"].encode()[: left * 3].decode("utf-8", "ignore")
                blocks.append({**block, "text": cut})
            return blocks, "max_tokens", None
        blocks.append(block)
        left -= block_tokens(block)
        if found is not None:
            return blocks, "stop_sequence", found
    uses_tool = any(block["type"] == "tool_use" for block in blocks)
    return blocks, answer.stop_reason or ("tool_use" if uses_tool else "end_turn"), None


def _until_stop(block: Block, stop_sequences: list[str]) -> tuple[Block, str | None]:
    if block["type"] != "text":
        return block, None
    places = [(block["text"].index(stop), stop) for stop in stop_sequences if stop in block["text"]]
    if not places:
        return block, None
    at, stop = min(places)
    return {**block, "text": block["text"][:at]}, stop
