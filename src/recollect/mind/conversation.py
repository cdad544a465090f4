"""The array that the model is sent: what stands for the older part, then every turn since, as it was said.

It is made from what was written down (`log`) and from nothing else, so that it can be made again at any time. Between
rebuilds it only grows at its end. Thinking blocks are in the live array alone, where the API wants them back; whatever
is read from the log or from a saved state has none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from recollect.llm.talking import Block, Turn
from recollect.mind.compaction import standing_for
from recollect.mind.compaction.trimming import THINKING, without_thinking
from recollect.mind.compaction.weighing import tokens_of_turns
from recollect.mind.entries import CompactionRow, Role, Standing, Written
from recollect.redaction import mask

MOST_MESSAGE_CHARACTERS = 60_000
"""Of one message that the model is shown; all of it is in history. About 20,000 tokens."""
END_CHARACTERS = 10_000
"""Of these, from its end."""
IMAGE = "[An image, which cannot be shown.]"
STOPPED = "[Stopped by the user.]"
FORGOTTEN = "[What was said here was forgotten.]"
"""In the place of a user's words: an answer to nothing may not stand first, and many models take no two in a row."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One turn of the mind: what it took, and all that it said and did."""

    number: int
    turns: list[Turn] = field(default_factory=list[Turn])

    @property
    def tokens(self) -> int:
        return tokens_of_turns(self.turns)

    def add(self, turn: Turn) -> None:
        """As it will be read from the log, though with its thoughts: the array is the same however it is made."""
        blocks = [block if block.get("type") in THINKING else _masked(block) for block in turn.content]
        self.turns.append(Turn(role=turn.role, content=tuple(block for block in blocks if not is_blank(block))))

    def close(self) -> None:
        """It ended in its middle: a call at its end is run by nobody any more."""
        whole = _whole(self.turns, is_open=False)
        self.turns = [turn for turn in whole if without_thinking([turn])]


class Conversation:
    def __init__(
        self, standing: Standing, base: CompactionRow | None, exchanges: Iterable[Exchange], accepts: str
    ) -> None:
        """`accepts`: the kind of summaries that the model takes in a block of its own."""
        self.standing = standing
        self.base = base
        self.exchanges = list(exchanges)
        self._accepts = accepts

    @property
    def turns(self) -> list[Turn]:
        """All that is sent, in its order."""
        first = [self.summary_turn] if self.summary_turn else []
        return [*first, *(turn for exchange in self.exchanges for turn in exchange.turns)]

    @property
    def summary_turn(self) -> Turn | None:
        base = self.base
        return standing_for(base.kind, base.summary, base.block, accepts=self._accepts) if base else None

    @property
    def tokens(self) -> int:
        """Estimated."""
        return tokens_of_turns(self.turns)

    def exchange(self, number: int) -> Exchange:
        if not self.exchanges or self.exchanges[-1].number != number:
            self.exchanges.append(Exchange(number=number))
        return self.exchanges[-1]

    def begin(self, number: int, written: Sequence[Written]) -> Exchange:
        """A turn is about to be run: what it took, and, after a crash, how far it had come."""
        self.exchanges = [one for one in self.exchanges if one.number != number]
        exchange = exchange_of(number, written, is_open=True)
        self.exchanges.append(exchange)
        return exchange

    def forget_thinking(self) -> None:
        """Something before the thoughts changed: they may not be sent any more."""
        for exchange in self.exchanges:
            exchange.turns = list(without_thinking(exchange.turns))

    def has(self, *kinds: str) -> bool:
        """Whether there is a block of one of these kinds in it."""
        return any(block.get("type") in kinds for turn in self.turns for block in turn.content)

    def tell_of_images(self) -> None:
        """The provider does not take one of them, and would not take the whole array because of it."""
        for exchange in self.exchanges:
            exchange.turns = [_told_of_images(turn) for turn in exchange.turns]

    def tell_in_words(self) -> None:
        """The provider does not take the block of the summary: its words take its place."""
        self._accepts = ""

    def keep_latest(self, most_tokens: int) -> None:
        """Only what was said last, in whole exchanges, at least one."""
        total, kept = 0, 0
        for exchange in reversed(self.exchanges):
            total += exchange.tokens
            if kept and total > most_tokens:
                break
            kept += 1
        self.exchanges = self.exchanges[len(self.exchanges) - kept :]

    def condensed(self, base: CompactionRow) -> "Conversation":
        """The same with a summary in the place of all that it stands for."""
        left = [exchange for exchange in self.exchanges if exchange.number > base.through]
        return Conversation(replace(self.standing, compaction=base.number), base, left, self._accepts)


def conversation_of(
    standing: Standing, base: CompactionRow | None, written: Sequence[Written], accepts: str
) -> Conversation:
    by_turn: dict[int, list[Written]] = {}
    for one in written:
        by_turn.setdefault(one.entry.turn, []).append(one)
    exchanges = [exchange_of(number, found) for number, found in by_turn.items()]
    return Conversation(standing, base, [one for one in exchanges if one.turns], accepts)


def exchange_of(number: int, written: Sequence[Written], *, is_open: bool = False) -> Exchange:
    """What the model is shown of a turn. Whatever was forgotten of it, the rest is a whole: no call without its result,
    no result without its call. `is_open`: calls at its end are still to be run."""
    notes = [one for one in written if one.entry.role is Role.NOTE]
    said = [one for one in written if one.entry.role is Role.USER]
    opening = [block for one in (*notes, *said) for block in user_blocks(one.record)]
    turns = [Turn(role="user", content=tuple(opening))] if opening else []
    for one in written:
        if one.entry.role is Role.ASSISTANT:
            turns.append(Turn(role="assistant", content=tuple(assistant_blocks(one.record))))
        elif one.entry.role is Role.TOOL:
            turns.append(Turn(role="user", content=tuple(map(_masked, one.record["content"]))))
    whole = _whole(turns, is_open=is_open)
    if whole and whole[0].role == "assistant":
        first = next(one.record for one in written if one.entry.role is Role.ASSISTANT)
        whole.insert(0, Turn(role="user", content=({"type": "text", "text": first.get("head") or FORGOTTEN},)))
    return Exchange(number=number, turns=whole)


def user_blocks(record: dict[str, Any]) -> list[Block]:
    """When and by which channel it was said, then what was said."""
    head: list[Block] = [{"type": "text", "text": record["head"]}] if record.get("head") else []
    return [*head, *(_shortened(_masked(_told_of_file(block)), record) for block in record["content"])]


def assistant_blocks(record: dict[str, Any]) -> list[Block]:
    blocks = [_masked(block) for block in record["content"] if block.get("type") not in THINKING]
    if record.get("stopped"):
        blocks.append({"type": "text", "text": STOPPED})
    return [block for block in blocks if not is_blank(block)]


def is_blank(block: Block) -> bool:
    return block.get("type") == "text" and not block["text"].strip()


def words_of(record: dict[str, Any]) -> str:
    """What was said, as it leaves the vault."""
    return mask("\n\n".join(block["text"] for block in record["content"] if block.get("type") == "text"))


def _told_of_file(block: Block) -> Block:
    """It is kept, and no model reads it."""
    if block.get("type") != "file":
        return block
    size = block.get("bytes", 0) / 1e6
    return {
        "type": "text",
        "text": f"[File {block['name']}, {block['media_type']}, {size:.1f} MB: kept in the archive.]",
    }


def _told_of_images(turn: Turn) -> Turn:
    blocks = [{"type": "text", "text": IMAGE} if block.get("type") == "image" else block for block in turn.content]
    return Turn(role=turn.role, content=tuple(blocks))


def calls_of(turn: Turn) -> list[Block]:
    return [block for block in turn.content if block.get("type") == "tool_use"] if turn.role == "assistant" else []


def _masked(block: Block) -> Block:
    """Credentials stay in the vault (H10)."""
    match block.get("type"):
        case "text":
            return {"type": "text", "text": mask(block["text"])}
        case "tool_result" if isinstance(block.get("content"), str):
            return {**block, "content": mask(block["content"])}
        case "tool_use":
            return {**block, "input": _masked_value(block.get("input") or {})}
        case _:
            return block


def _masked_value(value: Any) -> Any:
    match value:
        case str():
            return mask(value)
        case dict():
            return {name: _masked_value(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [_masked_value(inner) for inner in cast("list[Any]", value)]
        case _:
            return value


def _shortened(block: Block, record: dict[str, Any]) -> Block:
    if block.get("type") != "text" or len(block["text"]) <= MOST_MESSAGE_CHARACTERS:
        return block
    text = block["text"]
    left_out = len(text) - MOST_MESSAGE_CHARACTERS
    start = MOST_MESSAGE_CHARACTERS - END_CHARACTERS
    where = f"[… {left_out:,} characters left out; the archive has all of it, said at {record['at']} …]"
    return {"type": "text", "text": f"{text[:start]}\n\n{where}\n\n{text[-END_CHARACTERS:]}"}


def stopped_turn(text: str) -> Turn:
    """What was said until the user stopped it."""
    return Turn(role="assistant", content=({"type": "text", "text": text}, {"type": "text", "text": STOPPED}))


def _whole(turns: list[Turn], *, is_open: bool) -> list[Turn]:
    """Results only right behind their calls, and calls only with their results."""
    whole: list[Turn] = []
    for place, turn in enumerate(turns):
        open_calls = {block["id"] for block in calls_of(whole[-1])} if whole else set[str]()
        if turn.role == "user":
            kept = [one for one in turn.content if one.get("type") != "tool_result" or one["tool_use_id"] in open_calls]
            if kept:
                whole.append(Turn(role="user", content=tuple(kept)))
            continue
        is_last = place + 1 == len(turns)
        blocks = turn.content
        if not (is_last and is_open):
            blocks = _with_results(blocks, () if is_last else turns[place + 1].content)
        if blocks:
            whole.append(Turn(role="assistant", content=tuple(blocks)))
    return whole


def _with_results(blocks: Sequence[Block], following: Sequence[Block]) -> list[Block]:
    answered = {block["tool_use_id"] for block in following if block.get("type") == "tool_result"}
    return [block for block in blocks if block.get("type") != "tool_use" or block["id"] in answered]
