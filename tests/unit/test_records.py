"""Records are read out of broken lines, and nothing of a line is lost (H4; cases 20 to 24, 30)."""

import json

import pytest
from builders import assistant, raw, tool_result, user
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.records import decode_lenient, recover, strip_padding

FIRST = raw(user("first", 1))
SECOND = raw(user("zweite Zeile, größer", 2))
THIRD = raw(assistant("drittens 🙂", number=3))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.text(max_size=8), json_values, max_size=4)
paddings = st.sampled_from([b"", b" ", b"\x00\x00\x00", b"\t", b"\r"])


def readable(line: bytes) -> list[bytes]:
    return [part.raw for part in recover(line) if part.whole]


def unreadable(line: bytes) -> list[bytes]:
    return [part.raw for part in recover(line) if not part.whole]


@pytest.mark.parametrize("records", [[FIRST, SECOND], [FIRST, SECOND, THIRD]], ids=["two", "three"])
def test_records_glued_on_one_line_are_all_read_case_20(records: list[bytes]) -> None:
    parts = recover(b"".join(records))
    assert [part.raw for part in parts] == records
    assert all(part.whole for part in parts)


def test_a_record_repeated_on_one_line_is_read_twice_case_20() -> None:
    assert readable(FIRST + FIRST) == [FIRST, FIRST]


@pytest.mark.parametrize("cut", [1, 30, len(FIRST) // 2, len(FIRST) - 1])
def test_the_record_after_one_that_was_cut_short_is_read_case_21(cut: int) -> None:
    parts = recover(FIRST[:cut] + SECOND)
    assert [(part.raw, part.whole) for part in parts] == [(FIRST[:cut], False), (SECOND, True)]


def test_a_record_spliced_into_the_middle_of_a_multibyte_character_is_read_case_21() -> None:
    cut = SECOND.index("ö".encode()) + 1
    parts = recover(SECOND[:cut] + FIRST)
    assert [(part.raw, part.whole) for part in parts] == [(SECOND[:cut], False), (FIRST, True)]


def test_all_records_after_one_that_was_cut_short_are_read_case_21() -> None:
    line = FIRST[:60] + SECOND + THIRD
    assert readable(line) == [SECOND, THIRD]


def test_records_quoted_inside_a_cut_record_are_not_mistaken_for_records_case_21() -> None:
    quoting = raw(user([tool_result(json.dumps({"type": "user", "uuid": "u", "sessionId": "s"}))], 1))
    cut = quoting[: len(quoting) - 20]
    assert readable(cut + SECOND) == [SECOND]
    assert unreadable(cut + SECOND) == [cut]


def test_a_line_without_any_record_is_given_back_whole_case_22() -> None:
    for line in (
        FIRST[:-5],
        b'{"type":"user","text":"bad \\escape"}',
        b"// exported by hand",
        b"[1, 2]",
        b"17",
    ):
        parts = recover(line)
        assert [(part.offset, part.raw, part.whole) for part in parts] == [(0, line, False)]


def test_an_object_inside_a_cut_record_is_not_a_record_of_its_own_case_21() -> None:
    cut = FIRST[:-1]
    assert cut.endswith(b'{"role":"user","content":"first"}')
    assert readable(cut) == []


def test_words_after_a_record_are_kept_as_an_unreadable_rest_case_23() -> None:
    parts = recover(FIRST + b" // a remark")
    assert [(part.raw, part.whole) for part in parts] == [(FIRST, True), (b"// a remark", False)]


def test_nul_runs_between_records_are_padding_case_21() -> None:
    parts = recover(FIRST + b"\x00" * 300 + SECOND)
    assert [(part.offset, part.raw) for part in parts] == [(0, FIRST), (len(FIRST) + 300, SECOND)]


def test_offsets_count_bytes_not_characters_case_13() -> None:
    for part in recover(SECOND + THIRD + FIRST):
        assert (SECOND + THIRD + FIRST)[part.offset : part.offset + len(part.raw)] == part.raw


def test_bytes_that_are_no_utf8_come_back_unchanged_case_31() -> None:
    line = b'\xff\xfe broken {"a": \x80'
    assert b"".join(part.raw for part in recover(line)) == line


def test_a_line_nested_too_deeply_is_kept_as_it_is_case_32() -> None:
    line = b'{"a":' * 60_000
    assert unreadable(line) == [line]


def test_padding_around_a_record_is_dropped_and_its_length_told_case_21() -> None:
    assert strip_padding(b"\x00" * 500 + FIRST + b"\x00\r") == (500, FIRST)
    assert strip_padding(b"\xef\xbb\xbf" + FIRST) == (3, FIRST)
    assert strip_padding(b" \t\r") == (3, b"")
    assert strip_padding(b"") == (0, b"")
    assert strip_padding(FIRST) == (0, FIRST)


def test_lenient_decoding_takes_what_programs_write_case_30() -> None:
    assert decode_lenient(b'{"a": "\\ud83d"}') == {"a": "\ud83d"}
    assert decode_lenient(b'{"a": "\xff"}') == {"a": "\ufffd"}
    assert decode_lenient(b'{"a": NaN}')["a"] != decode_lenient(b'{"a": NaN}')["a"]


@given(st.lists(st.tuples(json_objects, paddings), min_size=1, max_size=5))
@settings(max_examples=100)
def test_any_concatenation_of_objects_is_taken_apart_again(
    items: list[tuple[dict[str, object], bytes]],
) -> None:
    records = [raw(value) for value, _ in items]
    line = b"".join(record + padding for record, (_, padding) in zip(records, items, strict=True))
    parts = recover(line)
    assert [part.raw for part in parts] == records
    assert all(part.whole for part in parts)
    assert all(line[part.offset : part.offset + len(part.raw)] == part.raw for part in parts)


@given(st.binary(min_size=1, max_size=60) | st.text('{}[]":, \\\x00aä1', min_size=1, max_size=40).map(str.encode))
@settings(max_examples=100)
def test_the_parts_of_any_line_are_in_order_and_only_padding_is_missing(line: bytes) -> None:
    position = 0
    for part in recover(line):
        assert not line[position : part.offset].strip(b"\x00 \t\r")
        assert line[part.offset : part.offset + len(part.raw)] == part.raw
        position = part.offset + len(part.raw)
    assert not line[position:].strip(b"\x00 \t\r")


@given(st.binary(max_size=60))
@settings(max_examples=100)
def test_what_is_left_after_padding_stands_where_it_is_said_to_stand(line: bytes) -> None:
    offset, rest = strip_padding(line)
    assert line[offset : offset + len(rest)] == rest
