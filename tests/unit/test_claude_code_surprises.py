"""Records of Claude Code that hold what nobody expects (H2, H4; cases 22, 30, 31, 32)."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from builders import (
    SESSION_FACTS,
    assistant,
    queue,
    queued_command,
    raw,
    system,
    text,
    tool_result,
    tool_use,
    user,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Entry
from recollect.history.sources import BadRecord
from recollect.history.sources.claude_code import ClaudeCode

SOURCE = ClaudeCode()


@pytest.mark.parametrize("line", [b"", b"{", b"[1]", b'"x"', b"// no", b'{"a":"\\escape"}', b"\xff\xff", b"null"])
def test_what_is_no_object_is_a_bad_record_case_22(line: bytes) -> None:
    with pytest.raises(BadRecord):
        SOURCE.parse(line, SESSION_FACTS)


@pytest.mark.parametrize(
    "inner",
    ["[" * 5_000 + "]" * 5_000, "[" * 100_000 + "]" * 100_000, "9" * 400, "9" * 5_000, "1e999", "NaN"],
)
@pytest.mark.parametrize("name", ["toolUseResult", "timestamp", "message"])
def test_strange_values_never_raise_anything_but_bad_record_case_32(name: str, inner: str) -> None:
    line = raw(user("hi") | {name: 0}).replace(f'"{name}":0'.encode(), f'"{name}":{inner}'.encode())
    try:
        entry = SOURCE.parse(line, SESSION_FACTS)
    except BadRecord:
        return
    assert entry.kind == "user"


RICH_RECORDS = [
    user([text("x"), tool_result([text("x")]), {"type": "image", "source": {"media_type": "x", "data": "x"}}]),
    user("x", origin={"kind": "x"}, forkedFrom={"sessionId": "x", "messageUuid": "x"}, agentId="x"),
    assistant("x", tool_use("x", "x", command="x"), {"type": "thinking", "thinking": "x"}, {"type": "new", "a": "x"}),
    queue("enqueue", "x"),
    queue("remove", [text("x")]),
    queued_command("x", 1, mode="prompt"),
    queued_command([text("x")], 1, mode="x"),
    system("local_command", content="x"),
    {"type": "ai-title", "aiTitle": "x", "sessionId": "x"},
    {"type": "summary", "summary": "x", "leafUuid": "x"},
    {"type": "continued-in", "sessionId": "x", "continuedInSessionId": "x"},
    {"display": "x", "project": "x", "timestamp": 1_772_445_600_000, "sessionId": "x"},
]
surprises = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from([10**30, -1, "x" * 200, "user", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "id", "kind", "source", "name"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a record."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (name,)
        for rest in paths(inner):
            yield (name, *rest)


def with_value(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = record.copy()
    changed[path[0]] = with_value(record[path[0]], path[1:], value) if path[1:] else value
    return changed


def everything_stored(entry: Entry) -> str:
    return json.dumps(msgspec.to_builtins(entry), ensure_ascii=False)


@pytest.mark.parametrize("words", ["\ud83d cut in half", "nul \x00 inside"], ids=["surrogate", "nul"])
@pytest.mark.parametrize("record", RICH_RECORDS)
def test_text_no_store_can_hold_is_mended_wherever_it_stands_case_30(record: dict[str, Any], words: str) -> None:
    spoiled: list[tuple[Any, ...]] = []
    for path in paths(record):
        stored = everything_stored(SOURCE.parse(json.dumps(with_value(record, path, words)).encode(), SESSION_FACTS))
        if "\ud83d" in stored or "\\u0000" in stored:
            spoiled.append(path)
    assert spoiled == []


@given(st.sampled_from(RICH_RECORDS), st.data())
@settings(max_examples=100)
def test_whatever_a_field_holds_the_record_is_read_case_32(record: dict[str, Any], draw: st.DataObject) -> None:
    path = draw.draw(st.sampled_from(sorted(paths(record), key=str)))
    surprising = with_value(record, path, draw.draw(surprises))
    entry = SOURCE.parse(json.dumps(surprising).encode(), SESSION_FACTS)
    assert everything_stored(entry).encode()
