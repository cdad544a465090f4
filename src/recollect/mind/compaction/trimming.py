"""Turns made fit for a request that they were not said in. Pure: what is given stays as it is."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from recollect.llm.talking import Block, Turn
from recollect.mind.compaction.weighing import tokens_of_turns
from recollect.tokens import BYTES_PER_TOKEN

THINKING = ("thinking", "redacted_thinking")
LEFT_OUT = " […] "
IMAGE_WORDS = "[an image]"
NO_RESULT = "(no result)"
LEAST_CHARACTERS = 40
"""A text is not shortened below this."""


def without_thinking(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Thinking is bound to all that stood before it: behind another beginning a provider refuses it."""
    kept = (
        Turn(role=turn.role, content=tuple(block for block in turn.content if block.get("type") not in THINKING))
        for turn in turns
    )
    return tuple(turn for turn in kept if turn.content)


def results_for(blocks: Iterable[Block], text: str = NO_RESULT) -> tuple[Block, ...]:
    """What has to follow calls of tools that nobody will answer."""
    return tuple(
        {"type": "tool_result", "tool_use_id": block["id"], "content": text, "is_error": True}
        for block in blocks
        if block.get("type") == "tool_use"
    )


def closed(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """With a last turn for calls of tools that were still open when they were interrupted."""
    missing = results_for(turns[-1].content) if turns and turns[-1].role == "assistant" else ()
    return (*turns, Turn(role="user", content=missing)) if missing else tuple(turns)


def shortened(turns: Sequence[Turn], most_tokens: int) -> tuple[Turn, ...]:
    """The middle of its longest texts left out, and its images, until it fits. What is short stays; when not even the
    shortest form fits, it is given all the same."""
    turns = without_thinking(turns)
    most = max(LEAST_CHARACTERS, most_tokens * BYTES_PER_TOKEN)
    while tokens_of_turns(turns) > most_tokens and most > LEAST_CHARACTERS:
        most //= 2
        turns = tuple(Turn(role=turn.role, content=_shorter_blocks(turn.content, most)) for turn in turns)
    return turns


def _shorter_blocks(blocks: Iterable[Block], most: int) -> tuple[Block, ...]:
    return tuple(_shorter_block(block, most) for block in blocks)


def _shorter_block(block: Block, most: int) -> Block:
    match block.get("type"):
        case "text":
            return {**block, "text": _shorter(block.get("text"), most)}
        case "image" | "document":
            return {"type": "text", "text": IMAGE_WORDS}
        case "tool_use":
            return {**block, "input": _shorter(block.get("input"), most)}
        case "tool_result" if isinstance(block.get("content"), list):
            return {**block, "content": list(_shorter_blocks(cast("list[Block]", block["content"]), most))}
        case "tool_result":
            return {**block, "content": _shorter(block.get("content"), most)}
        case _:
            return block


def _shorter(value: Any, most: int) -> Any:
    if isinstance(value, str):
        half = max(LEAST_CHARACTERS, most) // 2
        return value if len(value) <= 2 * half + len(LEFT_OUT) else f"{value[:half]}{LEFT_OUT}{value[-half:]}"
    if isinstance(value, dict):
        return {key: _shorter(inner, most) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_shorter(inner, most) for inner in cast("list[Any]", value)]
    return value
