"""Lines are read from any offset, in bounded memory, split at newlines only (H4; cases 12 to 14, 24)."""

import io
from itertools import accumulate

from builders import Trickle
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.reading import BLOCK_BYTES, MAX_LINE_BYTES, Line, read_blocks

messy_bytes = st.binary(max_size=80) | st.lists(
    st.sampled_from([b"\n", b"\r\n", b"ab", "é\u2028".encode(), b"\x00", b"\xff"]), max_size=30
).map(b"".join)


def read(data: bytes, start: int = 0, newlines: int = 0, bytes_at_once: int = BLOCK_BYTES) -> list[Line]:
    blocks = read_blocks(Trickle(data, bytes_at_once), start, newlines)
    return [line for block in blocks for line in block]


def bytes_of(lines: list[Line]) -> bytes:
    return b"".join(line.raw + (b"\n" if line.ended else b"") for line in lines)


def test_an_empty_file_has_no_lines_case_8() -> None:
    assert read(b"") == []


def test_lines_have_their_first_byte_and_their_number() -> None:
    assert read(b"one\n\nthree\n") == [Line(0, b"one", 1), Line(4, b"", 2), Line(5, b"three", 3)]


def test_a_last_line_without_an_end_is_given_and_marked_case_12() -> None:
    assert read(b"one\ntw") == [Line(0, b"one", 1), Line(4, b"tw", 2, ended=False)]


def test_reading_goes_on_where_it_was_left() -> None:
    assert read(b"one\ntwo\nthree\n", start=4, newlines=1) == [Line(4, b"two", 2), Line(8, b"three", 3)]


def test_reading_from_the_end_gives_nothing() -> None:
    assert read(b"one\n", start=4, newlines=1) == []


def test_reading_may_start_inside_a_multibyte_character_case_13() -> None:
    data = "größe\n".encode()
    assert bytes_of(read(data, start=3)) == data[3:]


def test_only_the_newline_byte_ends_a_line_case_14() -> None:
    content = "a\u2028b\u2029c\u0085d\x0be\x0cf\rg".encode()
    assert read(content + b"\n") == [Line(0, content, 1)]


def test_a_line_over_several_blocks_is_one_line_case_24() -> None:
    long = b"x" * (2 * BLOCK_BYTES + 7)
    assert [(line.start, len(line.raw), line.number) for line in read(b"a\n" + long + b"\nb\n")] == [
        (0, 1, 1),
        (2, len(long), 2),
        (len(long) + 3, 1, 3),
    ]


def test_a_line_that_is_too_long_comes_in_fragments_of_one_number_case_24() -> None:
    data = b"a\n" + b"x" * (MAX_LINE_BYTES + 2 * BLOCK_BYTES) + b"\nb\n"
    lines = read(data)
    assert bytes_of(lines) == data
    assert [line.number for line in lines] == [1, 2, 2, 3]
    assert [line.fragment for line in lines] == [False, True, True, False]
    assert [line.ended for line in lines] == [True, False, True, True]
    assert max(len(line.raw) for line in lines) <= MAX_LINE_BYTES + BLOCK_BYTES


def test_blocks_come_one_by_one_not_all_at_once() -> None:
    file = io.BytesIO(b"x" * 9 + b"\n" + b"y" * 2 * BLOCK_BYTES + b"\n" + b"z" * BLOCK_BYTES)
    blocks = read_blocks(file, 0, 0)
    assert [line.number for line in next(blocks)] == [1]
    assert file.tell() == BLOCK_BYTES


@given(messy_bytes, st.integers(1, 40))
@settings(max_examples=100)
def test_the_lines_put_together_are_the_file(data: bytes, bytes_at_once: int) -> None:
    lines = read(data, bytes_at_once=bytes_at_once)
    assert bytes_of(lines) == data
    assert lines == read(data)
    assert all(line.ended for line in lines[:-1])
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    lengths = [len(line.raw) + line.ended for line in lines]
    assert [line.start for line in lines] == [0, *accumulate(lengths)][: len(lines)]


@given(messy_bytes, st.data())
@settings(max_examples=100)
def test_reading_from_any_line_gives_the_rest_of_the_lines(data: bytes, choose: st.DataObject) -> None:
    lines = read(data)
    first = choose.draw(st.integers(0, len(lines)))
    if first < len(lines):
        assert read(data, lines[first].start, lines[first].number - 1) == lines[first:]
