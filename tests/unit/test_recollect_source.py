"""Recollect's own conversation as history reads it: files and pictures by reference, words as they are."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.recollect import RecollectChat
from recollect.history.sources.source import FileFacts

FACTS = FileFacts(key="mind/assistant", kind="session", session_id="mind-assistant")
WORDS = {"type": "text", "text": "Here is the invoice."}
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 4
FILE: dict[str, Any] = {
    "type": "file",
    "name": "invoice.pdf",
    "media_type": "application/pdf",
    "data": base64.b64encode(PDF).decode(),
}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def read(*content: Any, **fields: Any) -> Entry:
    record = {
        "recollect": "mind",
        "id": "0000-1",
        "agent": "assistant",
        "role": "user",
        "channel": "telegram",
        "at": "2026-03-02T12:00:00.000Z",
        "content": list(content),
        **fields,
    }
    return RecollectChat().parse(json.dumps(record).encode(), FACTS)


def test_a_file_is_kept_by_reference_with_its_name() -> None:
    entry = read(WORDS, FILE)
    assert entry.text == "Here is the invoice."
    assert (entry.author, entry.standing) == (Author.USER, Standing.SAID)
    (block,) = entry.blocks[1:]
    assert (block["type"], block["media_type"], block["name"]) == ("document", "application/pdf", "invoice.pdf")
    assert abs(block["bytes"] - len(PDF)) < 3
    assert FILE["data"][:20] not in json.dumps(entry.blocks)
    assert entry.counted_blocks == ("user:text", "user:document")


def test_a_file_without_words_is_a_message_all_the_same() -> None:
    entry = read(FILE)
    assert (entry.text, len(entry.blocks)) == ("", 1)


@pytest.mark.parametrize("name", ["", None, 7.5, ["a"]])
def test_a_file_may_have_no_name(name: Any) -> None:
    (block,) = read({**FILE, "name": name}).blocks
    assert "name" not in block


def test_a_long_name_is_cut() -> None:
    (block,) = read({**FILE, "name": "n" * 5_000 + ".pdf"}).blocks
    assert block["name"] == "n" * 200


@given(fields=st.dictionaries(st.sampled_from(["name", "media_type", "data"]), anything))
def test_no_file_is_refused_whatever_its_fields_hold(fields: dict[str, Any]) -> None:
    (block,) = read({"type": "file", **fields}).blocks
    assert block["type"] == "document"
    assert isinstance(block["bytes"], int)


@given(value=anything)
def test_that_the_agent_wrote_first_changes_nothing_in_history(value: Any) -> None:
    assert read(WORDS, role="assistant", outreach=value) == read(WORDS, role="assistant")
