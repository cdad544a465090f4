"""Records are put together into messages, each block once (H2; cases 30, 33, 39)."""

from typing import Any

import pytest
from builders import message, moment
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Message, Place, Standing, begin
from recollect.texts import clean

PLACE = Place(file_id="file", generation=0, start_byte=40, line=3)


def entry(uuid: str, *blocks: dict[str, Any], at: str | None = None, author: Author = Author.ASSISTANT) -> Entry:
    return Entry(
        kind="assistant",
        key="m",
        uuid=uuid,
        at=at,
        author=author,
        standing=Standing.SAID,
        blocks=list(blocks),
    )


def said(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def called(name: str) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, "call": "c", "summary": ""}


def started(*entries: Entry) -> Message:
    first, *rest = entries
    begun = begin(first, PLACE, "claude-code", True, first.at or moment())
    for number, item in enumerate(rest, PLACE.line + 1):
        begun.take(item, number)
    return begun


def test_a_message_begins_where_its_first_record_stands() -> None:
    begun = started(entry("u1", said("hello"), at=moment(1)))
    assert (begun.id, begun.file_id, begun.start_byte, begun.line) == ("m", "file", 40, 3)
    assert (begun.at, begun.last_at, begun.text) == (moment(1), moment(1), "hello")
    assert begun.blocks == [{"type": "text", "text": "hello", "line": 3, "uuid": "u1"}]


def test_further_records_add_their_blocks_texts_and_tools_in_order_case_39() -> None:
    whole = started(
        entry("u1", said("one"), at=moment(1)),
        entry("u2", called("Read"), at=moment(4)),
        entry("u3", said("two"), called("Bash"), at=moment(2)),
    )
    assert (whole.text, whole.tools) == ("one\n\ntwo", ["Read", "Bash"])
    assert [block["line"] for block in whole.blocks] == [3, 4, 5, 5]
    assert (whole.at, whole.last_at) == (moment(1), moment(4))


def test_a_record_that_was_taken_already_changes_nothing_case_33() -> None:
    once = started(entry("u1", said("one")), entry("u2", said("two")))
    again = started(entry("u1", said("one")), entry("u2", said("two")), entry("u1", said("changed"), at=moment(99)))
    assert again == once


def test_the_text_of_a_tools_message_is_its_output() -> None:
    result = entry("u1", {"type": "tool_result", "call": "c"}, author=Author.TOOL)
    result.text = "3 passed"
    assert started(result).text == "3 passed"


def test_a_later_part_of_the_file_completes_a_message_case_39() -> None:
    stored = started(entry("u1", said("one"), at=moment(1)))
    later = started(entry("u1", said("one"), at=moment(1)), entry("u2", called("Read"), at=moment(5)))
    assert stored.absorb(later)
    assert (stored.text, stored.tools, stored.last_at) == ("one", ["Read"], moment(5))
    assert not stored.absorb(later)


def test_a_copy_in_another_file_adds_only_blocks_that_are_new_case_35() -> None:
    original = started(entry("u1", said("one")), entry("u2", called("Read")))
    assert not original.take_from_copy(entry("other", said("one")), 1)
    assert original.take_from_copy(entry("another", said("three")), 2)
    assert original.text == "one\n\nthree"


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(1, 11))
@settings(max_examples=100)
def test_absorbing_a_later_part_is_taking_its_records(numbers: list[int], cut: int) -> None:
    entries = [entry(f"u{number}", said(f"words {number}"), at=moment(number)) for number in numbers]
    at_once = started(*entries)
    first, second = entries[: min(cut, len(entries))], entries[min(cut, len(entries)) :]
    in_parts = started(*first)
    if second:
        in_parts.absorb(started(*second))
    assert (in_parts.text, in_parts.last_at) == (at_once.text, at_once.last_at)
    assert [block["uuid"] for block in in_parts.blocks] == [block["uuid"] for block in at_once.blocks]


@pytest.mark.parametrize(
    ("words", "cleaned"),
    [("plain", "plain"), ("größer 🙂", "größer 🙂"), ("a\x00b", "a\ufffdb"), ("", "")],
)
def test_text_that_can_be_stored_is_left_alone_case_30(words: str, cleaned: str) -> None:
    assert clean(words) == cleaned


@given(st.text(st.characters(exclude_categories=[]), max_size=30))
@settings(max_examples=100)
def test_cleaned_text_can_always_be_stored_case_30(words: str) -> None:
    cleaned = clean(words)
    assert cleaned.encode().decode() == cleaned
    assert "\x00" not in cleaned
    assert len(cleaned) == len(words)
    assert clean(cleaned) == cleaned


def test_a_message_of_the_tests_is_like_a_stored_one() -> None:
    assert (message(2, 5).at, message(2).standing, message(2).author) == (
        moment(5),
        Standing.SAID,
        Author.USER,
    )
