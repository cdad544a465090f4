"""Damaged files, many of them (`make fuzz`): nothing raises, and every split reads the same."""

import json
from contextlib import suppress
from typing import Any

import pytest
from builders import SESSION_FACTS, assistant, fold, generic, jsonl, queue, tool_result, tool_use, user
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.history.sources import BadRecord, Head, sources
from recollect.redaction import mask

pytestmark = pytest.mark.fuzz

MANY = settings(max_examples=3_000, deadline=None, suppress_health_check=list(HealthCheck))

TRANSCRIPT = jsonl(
    user("Where do the swifts nest?", 1),
    assistant("I will look.", tool_use("Bash", command="ls roof"), number=2),
    user([tool_result("two nests")], 3),
    queue("enqueue", "and the bats?", minutes=2),
    assistant("Under the roof.", number=4),
    generic("user", "an odd line out"),
)

DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(["cut", "insert", "repeat", "flip", "nul", "glue"]),
        st.integers(0, len(TRANSCRIPT)),
        st.integers(0, 400),
        st.binary(max_size=12),
    ),
    min_size=1,
    max_size=6,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=5),
    max_leaves=20,
)
FIELDS = [
    "type",
    "uuid",
    "parentUuid",
    "timestamp",
    "sessionId",
    "agentId",
    "cwd",
    "isSidechain",
    "isMeta",
    "message",
    "origin",
    "subtype",
    "content",
    "operation",
    "attachment",
    "summary",
    "leafUuid",
    "forkedFrom",
    "display",
    "author",
    "text",
    "id",
]
TYPES = ["user", "assistant", "system", "queue-operation", "attachment", "summary", "custom-title", "fork-context-ref"]


def damaged(steps: list[tuple[str, int, int, bytes]]) -> bytes:
    data = TRANSCRIPT
    for kind, start, length, noise in steps:
        end = start + length
        match kind:
            case "cut":
                data = data[:start] + data[end:]
            case "insert":
                data = data[:start] + noise + data[start:]
            case "repeat":
                data = data[:end] + data[start:]
            case "flip":
                data = data[:start] + noise + data[start + len(noise) :]
            case "nul":
                data = data[:start] + b"\x00" * length + data[start:]
            case _:
                data = data[:start] + data[start:end].replace(b"\n", b"") + data[end:]
    return data


@MANY
@given(DAMAGE, st.lists(st.integers(1, 600), max_size=6), st.integers(7, 900))
def test_a_damaged_file_reads_the_same_in_whatever_parts(
    steps: list[tuple[str, int, int, bytes]], sizes: list[int], bytes_at_once: int
) -> None:
    data = damaged(steps)
    whole = fold(data).contents()
    assert fold(data, bytes_at_once=bytes_at_once).contents() == whole
    assert fold(data + b"\n").contents()["messages"] == fold(data + b"\n", sizes=sizes).contents()["messages"]


@MANY
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8), st.sampled_from(TYPES) | st.none())
def test_any_object_is_an_entry_or_a_bad_record(fields: dict[str, Any], kind: str | None) -> None:
    raw = json.dumps({**fields, **({"type": kind} if kind else {})}).encode()
    for source in sources().values():
        source.recognises(Head("x.jsonl", raw))
        with suppress(BadRecord):
            source.parse(raw, SESSION_FACTS)


@MANY
@given(st.text(max_size=400))
def test_masking_any_text_twice_is_masking_it_once(text: str) -> None:
    assert mask(mask(text)) == mask(text)
