"""Messages of a file become conversations by one rule, whenever it is applied (H8; cases 43, 46)."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from builders import CWD, SESSION, message, moment
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.conversations import OPENING_CHARACTERS, Conversation, Grouping, Status
from recollect.history.messages import Author, Message, Standing

GAP = timedelta(minutes=60)


def group(messages: Sequence[Message]) -> tuple[list[str | None], dict[str, Conversation]]:
    grouping = Grouping(GAP, SESSION)
    return [grouping.place(item) for item in messages], grouping.touched


def group_in_parts(messages: Sequence[Message], parts: int) -> tuple[list[str | None], dict[str, Conversation]]:
    """As the writer does for a growing file: each part begins with the latest conversation of each stream."""
    stored: dict[str, Conversation] = {}
    placed: list[str | None] = []
    for start in range(0, len(messages), parts):
        latest: dict[str, Conversation] = {}
        for conversation in sorted(stored.values(), key=lambda item: item.start_byte):
            latest[conversation.stream] = conversation
        grouping = Grouping(GAP, SESSION, deepcopy(list(latest.values())))
        placed += [grouping.place(item) for item in messages[start : start + parts]]
        stored |= grouping.touched
    return placed, stored


def test_a_conversation_knows_where_and_when_it_was_held() -> None:
    messages = [
        message(1, 0, author=Author.ASSISTANT, text="Good morning", cwd=""),
        message(2, 5, text="  please\n fix\tit  "),
        message(3, 9, last_at=moment(12)),
    ]
    placed, (conversation,) = group(messages)[0], group(messages)[1].values()
    assert placed == [conversation.id] * 3
    assert (conversation.started_at, conversation.ended_at) == (moment(0), moment(12))
    assert (conversation.messages, conversation.opening, conversation.project) == (3, "please fix it", CWD)
    assert (conversation.session_id, conversation.start_byte, conversation.leaf_id) == (SESSION, 100, "u3")
    assert conversation.status is Status.ACTIVE


@pytest.mark.parametrize(("silence", "conversations"), [(59, 1), (60, 1), (60.001, 2), (61, 2)])
def test_only_a_silence_longer_than_the_gap_splits(silence: float, conversations: int) -> None:
    assert len(group([message(1, 0), message(2, silence)])[1]) == conversations


def test_time_that_runs_backwards_does_not_split_case_43() -> None:
    """The silence is measured from the latest moment so far: an old line in between changes nothing."""
    assert len(group([message(1, 300), message(2, 0), message(3, 310)])[1]) == 1


def test_what_was_not_said_neither_starts_nor_splits_nor_prolongs_a_conversation() -> None:
    aside = message(2, 50, standing=Standing.ASIDE)
    early = message(9, 0, standing=Standing.ASIDE)
    placed, found = group([early, message(1, 1), aside, message(3, 100)])
    assert placed[0] is None
    assert placed[2] == placed[1]
    assert placed[3] != placed[1]
    assert [item.messages for item in found.values()] == [1, 1]


@pytest.mark.parametrize(
    "fields",
    [{"standing": standing} for standing in Standing if standing is not Standing.SAID] + [{"gone": True}],
    ids=str,
)
def test_repeated_withdrawn_abandoned_and_vanished_messages_do_not_count_case_50(
    fields: dict[str, Any],
) -> None:
    _, found = group([message(1, 0), message(2, 1, **fields)])
    assert [item.messages for item in found.values()] == [1]


def test_each_stream_of_a_file_has_its_own_conversations() -> None:
    messages = [message(number, number, stream=f"s{number % 2}", session_id=f"s{number % 2}") for number in range(1, 7)]
    placed, found = group(messages)
    assert placed[0::2] == [placed[0]] * 3
    assert placed[1::2] == [placed[1]] * 3
    assert {item.session_id for item in found.values()} == {"s0", "s1"}


def test_messages_without_any_time_are_one_conversation() -> None:
    assert len(group([message(number, at="", last_at="") for number in range(1, 5)])[1]) == 1


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z"])
def test_a_clock_that_was_far_off_stops_nothing_case_43(at: str) -> None:
    placed, _ = group([message(1, 0), message(2, at=at, last_at=at), message(3, 5), message(4, 6)])
    assert None not in placed


def test_the_id_comes_from_the_first_message_alone() -> None:
    (first,) = group([message(1, 0)])[1]
    (longer,) = group([message(1, 0), message(2, 5)])[1]
    (other,) = group([message(2, 0)])[1]
    (another_source,) = group([message(1, 0, source="generic")])[1]
    assert first == longer
    assert len({first, other, another_source}) == 3


def test_an_opening_is_short_and_of_the_first_words_of_the_user() -> None:
    _, found = group([message(1, 0, text="word " * 500), message(2, 1, text="later")])
    (conversation,) = found.values()
    assert len(conversation.opening) <= OPENING_CHARACTERS
    assert conversation.opening.startswith("word word")


@pytest.mark.parametrize("finished", [Status.ARCHIVED, Status.SKIPPED])
def test_a_finished_conversation_that_gains_a_message_starts_again(finished: Status) -> None:
    (conversation,) = group([message(1, 0)])[1].values()
    conversation.status = finished
    Grouping(GAP, SESSION, [conversation]).place(message(2, 5))
    assert conversation.status is Status.ACTIVE


@pytest.mark.parametrize("finished", [Status.ARCHIVED, Status.SKIPPED])
def test_a_finished_conversation_stays_finished_when_only_an_aside_arrives(finished: Status) -> None:
    (conversation,) = group([message(1, 0)])[1].values()
    conversation.status = finished
    grouping = Grouping(GAP, SESSION, [conversation])
    assert grouping.place(message(2, 5, standing=Standing.ASIDE)) == conversation.id
    assert (conversation.status, grouping.touched) == (finished, {})


def test_a_reply_completed_by_a_later_line_prolongs_its_conversation() -> None:
    (conversation,) = group([message(1, 0), message(2, 1)])[1].values()
    conversation.status = Status.ARCHIVED
    completed = message(2, 1, last_at=moment(7), blocks=[{"type": "text", "text": "x", "uuid": "u2b"}])
    conversation.extend(completed, "u2")
    assert (conversation.ended_at, conversation.leaf_id, conversation.status) == (
        moment(7),
        "u2b",
        Status.ACTIVE,
    )
    conversation.extend(message(1, 0, last_at=moment(3), blocks=[{"type": "text", "uuid": "x"}]), "u1")
    assert (conversation.ended_at, conversation.leaf_id) == (moment(7), "u2b")


messages_of_a_file = st.lists(
    st.tuples(
        st.integers(-90, 90),
        st.sampled_from([Standing.SAID, Standing.SAID, Standing.ASIDE, Standing.WITHDRAWN]),
        st.sampled_from(["", "", "other"]),
        st.sampled_from([Author.USER, Author.ASSISTANT]),
    ),
    max_size=25,
)


def build(items: list[tuple[int, Standing, str, Author]]) -> list[Message]:
    messages: list[Message] = []
    now = 0.0
    for number, (step, standing, stream, author) in enumerate(items, 1):
        now += step
        messages.append(message(number, now, standing=standing, stream=stream, author=author))
    return messages


@given(messages_of_a_file, st.integers(1, 8))
@settings(max_examples=100)
def test_grouping_a_growing_file_is_grouping_it_at_once(
    items: list[tuple[int, Standing, str, Author]], parts: int
) -> None:
    messages = build(items)
    placed, found = group(messages)
    placed_in_parts, found_in_parts = group_in_parts(messages, parts)
    assert placed_in_parts == placed
    assert {name: asdict(item) for name, item in found_in_parts.items()} == {
        name: asdict(item) for name, item in found.items()
    }


@given(messages_of_a_file)
@settings(max_examples=100)
def test_grouping_is_idempotent_and_loses_nothing(items: list[tuple[int, Standing, str, Author]]) -> None:
    messages = build(items)
    assert group(messages) == group(messages)
    placed, found = group(messages)
    said = [item for item in messages if item.standing is Standing.SAID]
    assert sum(conversation.messages for conversation in found.values()) == len(said)
    assert all(place in found for place, item in zip(placed, messages, strict=True) if item in said)
    for stream in {item.stream for item in said}:
        order = [place for place, item in zip(placed, messages, strict=True) if item in said and item.stream == stream]
        assert len(set(order)) == sum(a != b for a, b in pairwise(order)) + 1
