"""How long turns are in tokens, and which of them belong together. Pure, and never less than what a provider counts
save for texts of random characters (see `tokens`)."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

from recollect.llm.talking import Block, Request, Turn
from recollect.tokens import estimate

IMAGE_TOKENS = 1_600
"""Of one image, about: providers scale larger ones down to this."""
BLOCK_TOKENS = 10
"""Around each block: its role and its kind."""


def tokens_of_request(request: Request) -> int:
    return tokens_of_frame(request) + tokens_of_turns(request.turns)


def tokens_of_frame(request: Request) -> int:
    """Of all but the turns."""
    tools = [[tool.name, tool.description, dict(tool.schema)] for tool in request.tools]
    return sum(estimate(text) for text in request.system) + estimate(json.dumps(tools, ensure_ascii=False))


def tokens_of_turns(turns: Iterable[Turn]) -> int:
    return sum(tokens_of_turn(turn) for turn in turns)


def tokens_of_turn(turn: Turn) -> int:
    return sum(BLOCK_TOKENS + _tokens_of_block(block) for block in turn.content)


def exchanges(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Turns that belong together: what somebody said, and all up to the end of the answer. Calls of tools stay with
    their results, and a summary with the first exchange behind it."""
    found: list[list[Turn]] = []
    for turn in turns:
        if not found or (_begins(turn) and found[-1][-1].role == "assistant"):
            found.append([turn])
        else:
            found[-1].append(turn)
    return [tuple(one) for one in found]


def _begins(turn: Turn) -> bool:
    return turn.role == "user" and all(block.get("type") != "tool_result" for block in turn.content)


def _tokens_of_block(block: Block) -> int:
    match block.get("type"):
        case "image" | "document":
            return IMAGE_TOKENS
        case "tool_result":
            return _tokens_of_content(block.get("content"))
        case "compaction":
            return estimate(str(block.get("content") or ""))
        case "text":
            return estimate(str(block.get("text") or ""))
        case _:
            return estimate(json.dumps(block, ensure_ascii=False, default=str))


def _tokens_of_content(content: Any) -> int:
    if isinstance(content, list):
        return sum(BLOCK_TOKENS + _tokens_of_block(block) for block in cast("list[Block]", content))
    return estimate(str(content or ""))
