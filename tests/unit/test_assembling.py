"""However a stream is cut, into increments or snapshots, the same blocks come of it and the same words are heard."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.llm import anthropic_reading, openai_reading
from recollect.llm.events import Events
from recollect.llm.model import Usage
from recollect.llm.talking import Answer, Block, Piece, Stop, TextPiece, ThinkingPiece, ToolPiece

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
GIVEN = st.dictionaries(WORDS, st.none() | st.integers() | WORDS | st.lists(WORDS, max_size=3), max_size=3)
CUTS = st.lists(st.floats(0, 1), max_size=6)


@st.composite
def answers(draw: st.DrawFn) -> list[Block]:
    """Text before, between and behind uses of tools; never two texts side by side."""
    blocks: list[Block] = []
    for number in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            blocks.append({"type": "text", "text": draw(WORDS)})
        blocks.append({"type": "tool_use", "id": f"call_{number}", "name": f"tool{number}", "input": draw(GIVEN)})
    if not blocks or draw(st.booleans()):
        blocks.append({"type": "text", "text": draw(WORDS)})
    return blocks


def cut(text: str, at: list[float]) -> list[str]:
    """In pieces, some of them empty."""
    places = [0, *sorted(int(place * len(text)) for place in at), len(text)]
    return [text[begin:end] for begin, end in pairwise(places)]


def heard_of(blocks: list[Block]) -> list[str]:
    return [block.get("text") or f"<{block['name']}>" for block in blocks]


def told(pieces: list[Piece]) -> list[str]:
    """Words that follow each other are one."""
    found: list[str] = []
    is_open = False
    for piece in pieces:
        if isinstance(piece, TextPiece):
            assert piece.text
            found = [*found[:-1], found[-1] + piece.text] if is_open else [*found, piece.text]
            is_open = True
        elif isinstance(piece, ToolPiece):
            found.append(f"<{piece.name}>")
            is_open = False
    return found


def written(block: Block) -> str:
    return block["text"] if block["type"] == "text" else json.dumps(block["input"])


# Anthropic


def anthropic_events(blocks: list[Block], cuts: list[float]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}}
    for index, block in enumerate(blocks):
        is_text = block["type"] == "text"
        begun: Block = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for piece in cut(written(block), cuts):
            delta = {"type": "text_delta", "text": piece} if is_text else _json_delta(piece)
            yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def _json_delta(piece: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": piece}


@given(answers(), CUTS)
def test_any_split_of_anthropics_events_gives_the_same_blocks_and_words(blocks: list[Block], cuts: list[float]):
    pieces: list[Piece] = []
    reading = anthropic_reading.Reading(pieces.append, 0)
    for event in anthropic_events(blocks, cuts):
        reading.take(event)
    answer = reading.answer("m", Usage())
    assert list(answer.blocks) == blocks
    assert told(pieces) == heard_of(blocks)
    assert answer.stop == (Stop.TOOLS if any(block["type"] == "tool_use" for block in blocks) else Stop.END)


# Chat completions


def read_chunks(choices: Iterable[Any]) -> tuple[Answer, list[Piece]]:
    pieces: list[Piece] = []
    reading = openai_reading.Reading(pieces.append)
    for choice in choices:
        reading.take({"model": "m", "choices": [choice]})
    return reading.answer("m", 0), pieces


def increments(blocks: list[Block], cuts: list[float]) -> Iterator[dict[str, Any]]:
    calls = 0
    for block in blocks:
        if block["type"] == "text":
            for piece in cut(block["text"], cuts):
                yield {"delta": {"content": piece}}
            continue
        begun = {"index": calls, "id": block["id"], "function": {"name": block["name"], "arguments": ""}}
        yield {"delta": {"content": None, "tool_calls": [begun]}}
        for piece in cut(written(block), cuts):
            yield {"delta": {"tool_calls": [{"index": calls, "function": {"arguments": piece}}]}}
        calls += 1
    yield {"delta": {}, "finish_reason": "stop"}


def snapshots(blocks: list[Block], cuts: list[float]) -> Iterator[dict[str, Any]]:
    content, calls = "", list[dict[str, Any]]()
    for block in blocks:
        whole = ""
        for piece in cut(written(block), cuts):
            whole += piece
            if block["type"] == "text":
                yield {"message": {"content": content + whole, "tool_calls": calls}}
            else:
                function = {"name": block["name"], "arguments": whole}
                yield {
                    "message": {"content": content, "tool_calls": [*calls, {"id": block["id"], "function": function}]}
                }
        if block["type"] == "text":
            content += whole
        else:
            calls.append({"id": block["id"], "function": {"name": block["name"], "arguments": whole}})
    yield {"message": {"content": content, "tool_calls": calls}, "finish_reason": "stop"}


@pytest.mark.parametrize("streamed", [increments, snapshots])
@given(blocks=answers(), cuts=CUTS)
def test_any_split_into_increments_or_snapshots_gives_the_same_blocks_and_words(
    streamed: Any, blocks: list[Block], cuts: list[float]
):
    answer, pieces = read_chunks(streamed(blocks, cuts))
    assert list(answer.blocks) == blocks
    assert told(pieces) == heard_of(blocks)


@given(answers(), CUTS)
def test_the_whole_behind_its_increments_says_nothing_twice(blocks: list[Block], cuts: list[float]):
    *choices, _ = increments(blocks, cuts)
    *_, last = snapshots(blocks, [])
    answer, pieces = read_chunks([*choices, last])
    assert list(answer.blocks) == blocks
    assert told(pieces) == heard_of(blocks)


def halves(text: str) -> list[str]:
    """Each half of a pair by itself, as in the JSON of a server that cuts between them."""
    units = text.encode("utf-16-le")
    return [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]


@given(WORDS, WORDS)
def test_a_character_that_was_cut_in_two_is_heard_whole(words: str, value: str):
    letters, arguments = halves(words), halves(json.dumps({"a": value}, ensure_ascii=False))
    calls = [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": one}}]}} for one in arguments]
    cut_in_two, pieces = read_chunks([*({"delta": {"content": one}} for one in letters), *calls])
    assert [block.get("text") or block["input"] for block in cut_in_two.blocks] == [words, {"a": value}]
    assert told(pieces)[0] == words
    # A snapshot holds whole pairs, but for the one at which it ends.
    grown = [words[:end] for end in range(len(words))]
    shown = [f"{before}\ud83d" for before in grown] + [words]
    assert read_chunks([{"message": {"content": one}} for one in shown])[0].blocks == ({"type": "text", "text": words},)


@pytest.mark.parametrize("given_text", ['{"a": NaN}', '{"a": 1e999}', '{"a": -Infinity}', "[1]", "7", "[" * 100_000])
def test_input_that_could_not_be_sent_back_is_unreadable(given_text: str):
    call = {"index": 0, "id": "a", "function": {"name": "look", "arguments": given_text}}
    answer, _ = read_chunks([{"delta": {"tool_calls": [call]}}])
    assert answer.blocks[0]["input"] == {"unreadable": given_text[:2_000]}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["content", "tool_calls", "function", "name", "arguments", "index", "id", "refusal", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(st.fixed_dictionaries({}, optional={"delta": ANYTHING, "message": ANYTHING, "finish_reason": ANYTHING}))
)
def test_whatever_a_server_sends_an_answer_comes_of_it(choices: list[Any]):
    answer, _ = read_chunks(choices)
    json.dumps(answer.blocks, allow_nan=False).encode()
    assert (answer.stop is Stop.TOOLS) == any(block["type"] == "tool_use" for block in answer.blocks)


def test_fragments_of_two_calls_may_come_in_turn():
    def fragments() -> Iterator[dict[str, Any]]:
        for index, name in enumerate(("one", "two")):
            yield {"delta": {"tool_calls": [{"index": index, "id": name, "function": {"name": name}}]}}
        for more in ('{"a"', ": ", "1}"):
            for index in (0, 1):
                yield {"delta": {"tool_calls": [{"index": index, "function": {"arguments": more}}]}}

    answer, _ = read_chunks(fragments())
    assert [(block["name"], block["input"]) for block in answer.blocks] == [("one", {"a": 1}), ("two", {"a": 1})]


def test_a_server_may_leave_out_indexes_and_ids():
    def fragments() -> Iterator[dict[str, Any]]:
        for name in ("one", "two"):
            yield {"delta": {"tool_calls": [{"function": {"name": name, "arguments": '{"a"'}}]}}
            yield {"delta": {"tool_calls": [{"function": {"arguments": ": 1}"}}]}}

    answer, _ = read_chunks(fragments())
    assert [block["input"] for block in answer.blocks] == [{"a": 1}] * 2
    assert len({block["id"] for block in answer.blocks}) == 2


def test_a_server_that_gives_the_object_itself_is_understood():
    call = {"index": 0, "function": {"name": "look", "arguments": {"a": 1}}}
    answer, _ = read_chunks([{"delta": {"tool_calls": [call]}}, {"delta": {}, "finish_reason": "tool_calls"}])
    assert (answer.blocks[0]["input"], answer.stop) == ({"a": 1}, Stop.TOOLS)


def test_an_id_that_was_used_before_is_another_one_now():
    reading = openai_reading.Reading(lambda _piece: None, frozenset({"call_0"}))
    call = {"index": 0, "id": "call_0", "function": {"name": "look", "arguments": "{}"}}
    reading.take({"choices": [{"delta": {"tool_calls": [call]}}]})
    assert reading.answer("m", 0).blocks[0]["id"] != "call_0"


def test_input_that_is_no_json_is_shown_to_the_tool():
    call = {"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"query": Lyon}'}}
    answer, _ = read_chunks([{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}])
    assert answer.blocks[0]["input"] == {"unreadable": '{"query": Lyon}'}


def test_a_use_that_was_cut_off_is_left_out_and_one_before_it_is_waited_for():
    calls = [
        {"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"query": "Lyon"}'}},
        {"index": 1, "id": "b", "function": {"name": "look", "arguments": '{"query": "Ly'}},
    ]
    answer, _ = read_chunks([{"delta": {"tool_calls": calls}, "finish_reason": "length"}])
    assert ([block["id"] for block in answer.blocks], answer.stop) == (["a"], Stop.TOOLS)
    cut_off, _ = read_chunks([{"delta": {"tool_calls": calls[1:]}, "finish_reason": "length"}])
    assert (cut_off.blocks, cut_off.stop) == ((), Stop.LENGTH)


def test_that_it_thinks_is_heard_once_and_is_no_word():
    pieces: list[Piece] = []
    reading = openai_reading.Reading(pieces.append)
    for more in ("hm", "so"):
        reading.take({"choices": [{"delta": {"reasoning_content": more}}]})
    assert pieces == [ThinkingPiece()]
    assert not reading.is_heard


# Events of a stream


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1), max_size=5), CUTS)
def test_any_split_of_the_bytes_gives_the_same_events(said: list[str], cuts: list[float]):
    wanted = [one for one in said if one.strip()]
    raw = "".join(f": waiting\r\nevent: x\ndata: {one}\n\n" for one in said).encode()
    events = Events()
    places = [0, *sorted(int(place * len(raw)) for place in cuts), len(raw)]
    found = [one for begin, end in pairwise(places) for one in events.take(raw[begin:end])]
    assert [*found, *events.end()] == wanted


def test_the_last_event_counts_without_an_empty_line():
    events = Events()
    assert [*events.take(b"data:one\ndata: two\n\ndata: last"), *events.end()] == ["one\ntwo", "last"]
