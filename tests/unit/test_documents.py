"""Walking through a document of any size: the same values in blocks of any size, and what is sound around damage."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import pytest
from builders import Trickle
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from recollect.history.sources import documents
from recollect.history.sources.documents import BrokenDocument, Path, line_of, walk

PROPERTY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
containers = st.lists(values, max_size=5) | st.dictionaries(st.text(), values, max_size=5)
spellings = st.sampled_from([{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (",", ":")}])


def written(document: Any, **spelling: Any) -> bytes:
    return json.dumps(document, **spelling).encode()


def places_in(value: Any, place: Path = ()) -> Iterator[Path]:
    """Where the containers of a document are."""
    if isinstance(value, dict | list):
        yield place
        for name, inner in parts_of(value):
            yield from places_in(inner, (*place, name))


def parts_of(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items() if isinstance(value, dict) else enumerate(value))


def pieces_of(value: Any, entered: set[Path], place: Path = ()) -> list[tuple[Path, Any]]:
    """What the walk has to give, from the document as a whole."""
    if place not in entered:
        return [(place, value)]
    return [piece for name, inner in parts_of(value) for piece in pieces_of(inner, entered, (*place, name))]


@st.composite
def documents_to_enter(draw: st.DrawFn) -> tuple[Any, set[Path]]:
    """A document, and some of its containers; one inside another is entered only with that one."""
    document = draw(containers)
    chosen = draw(st.sets(st.sampled_from(list(places_in(document)))))
    return document, {()} | {place for place in chosen if all(place[:end] in chosen for end in range(1, len(place)))}


class Read:
    """What came out of a walk, and how it ended."""

    def __init__(
        self,
        raw: bytes | BinaryIO,
        enter: Callable[[Path], bool] = lambda place: place == (),
        is_element: Callable[[dict[str, Any]], bool] = lambda _: False,
    ) -> None:
        self.pieces: list[tuple[Path, Any]] = []
        self.damage: list[str] = []
        self.end: BrokenDocument | None = None
        file = io.BytesIO(raw) if isinstance(raw, bytes) else raw
        try:
            for piece in walk(file, enter, is_element, self.damage.append):
                self.pieces.append(piece)
        except BrokenDocument as error:
            self.end = error

    @property
    def values(self) -> list[Any]:
        return [value for _, value in self.pieces]


def is_numbered(value: dict[str, Any]) -> bool:
    return isinstance(value.get("number"), int)


def elements(count: int, words: str = "Käferbohnen, Erbsen") -> list[dict[str, Any]]:
    return [{"number": number, "words": [{"said": words}, {"said": "}"}]} for number in range(count)]


def numbers(read: Read) -> list[int]:
    return [value["number"] for value in read.values if isinstance(value, dict) and is_numbered(value)]


# --- Sound documents --------------------------------------------------------------------------------------------------


@PROPERTY
@given(chosen=documents_to_enter(), spelling=spellings)
def test_the_values_below_any_entered_containers_are_the_document(
    chosen: tuple[Any, set[Path]], spelling: dict[str, Any]
) -> None:
    document, entered = chosen
    read = Read(written(document, **spelling), lambda place: place in entered)

    assert (read.end, read.damage) == (None, [])
    assert read.pieces == pieces_of(document, entered)


@PROPERTY
@given(chosen=documents_to_enter(), spelling=spellings, block=st.integers(1, 40), at_once=st.integers(1, 7))
def test_the_size_of_the_blocks_does_not_matter(
    chosen: tuple[Any, set[Path]], spelling: dict[str, Any], block: int, at_once: int
) -> None:
    document, entered = chosen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "BLOCK_BYTES", block)
        raw = written(document, **spelling)
        read = Read(cast(BinaryIO, Trickle(raw, at_once)), lambda place: place in entered)

    assert (read.end, read.damage) == (None, [])
    assert read.pieces == pieces_of(document, entered)


@pytest.mark.parametrize("around", [b"\xef\xbb\xbf%s", b"\x00\x00%s\n\x00", b" \r\n\t%s \n", b"%s\nmore after its end"])
def test_padding_around_a_document_is_not_part_of_it(around: bytes) -> None:
    read = Read(around % written(elements(3)))

    assert (numbers(read), read.end) == ([0, 1, 2], None)


@pytest.mark.parametrize("raw", [b'"words"', b"17", b"null", b"true"])
def test_a_document_may_be_a_single_value(raw: bytes) -> None:
    assert Read(raw, lambda _: True).pieces == [((), json.loads(raw))]


def test_nothing_is_entered_that_was_not_asked_for() -> None:
    asked: list[Path] = []

    def enter(place: Path) -> bool:
        asked.append(place)
        return place in ((), ("list",))

    read = Read(b'{"about": {"a": [1]}, "list": [{"b": 2}, 3]}', enter)

    assert read.pieces == [(("about",), {"a": [1]}), (("list", 0), {"b": 2}), (("list", 1), 3)]
    assert asked == [(), ("about",), ("list",), ("list", 0)]


def test_half_a_surrogate_pair_and_a_control_character_are_read() -> None:
    assert Read(b'["\\ud83d", "a\x01b"]').values == ["\ud83d", "a\x01b"]


# --- Cut short --------------------------------------------------------------------------------------------------------


@PROPERTY
@given(chosen=documents_to_enter(), spelling=spellings, share=st.floats(0, 1, exclude_max=True))
def test_the_beginning_of_a_document_gives_the_beginning_of_its_values(
    chosen: tuple[Any, set[Path]], spelling: dict[str, Any], share: float
) -> None:
    document, entered = chosen
    raw = written(document, **spelling)
    read = Read(raw[: int(share * len(raw))], lambda place: place in entered)

    assert read.end is not None
    assert read.pieces == pieces_of(document, entered)[: len(read.pieces)]


@pytest.mark.parametrize("document", [[123, 4], [1.25e-7], [-5, True], {"id": 801, "more": 1e30}])
def test_half_a_number_is_not_a_value(document: Any) -> None:
    raw = written(document)
    for cut in range(len(raw)):
        read = Read(raw[:cut])

        assert read.end is not None
        assert read.pieces == pieces_of(document, {()})[: len(read.pieces)]


def test_the_elements_before_the_cut_are_given_and_the_end_says_where_it_is() -> None:
    raw = written(elements(5))
    read = Read(raw[: raw.index(b'"number": 3') + 14])

    assert numbers(read) == [0, 1, 2]
    assert "ends in the middle" in str(read.end)


# --- Damage -----------------------------------------------------------------------------------------------------------


@st.composite
def damage_to(draw: st.DrawFn, raw: bytes) -> bytes:
    start = draw(st.integers(0, len(raw)))
    end = draw(st.integers(start, min(len(raw), start + 8)))
    return raw[:start] + draw(st.binary(max_size=8) | st.sampled_from([b'"', b"\\", b"}", b"[", b",{"])) + raw[end:]


@PROPERTY
@given(chosen=documents_to_enter(), spelling=spellings, data=st.data(), has_elements=st.booleans())
def test_damage_never_raises_anything_but_broken_document(
    chosen: tuple[Any, set[Path]], spelling: dict[str, Any], data: st.DataObject, has_elements: bool
) -> None:
    document, entered = chosen
    raw = data.draw(damage_to(written(document, **spelling)), label="damaged")

    read = Read(raw, lambda place: place in entered or len(place) < 2, lambda _: has_elements)

    assert read.end is None or isinstance(read.end, BrokenDocument)


@PROPERTY
@given(data=st.data(), block=st.sampled_from([1, 16, 64, 300, 1 << 20]))
def test_after_damage_the_next_sound_elements_are_found(data: st.DataObject, block: int) -> None:
    """A broken end of an element may take the next one along, but no more."""
    count = 12
    raws = [written({**element, "number": 100 + element["number"]}) for element in elements(count)]
    broken = data.draw(st.integers(0, count - 1), label="broken")
    start = data.draw(st.integers(0, len(raws[broken]) - 1), label="start")
    put = data.draw(st.sampled_from([b"", b'"', b"\\", b"x", b"\xff", b"\x00", b"}", b"{", b"[", b"]"]), label="put")
    assume((broken, start, put) != (0, 0, b"]"))  # That ends the array.
    raws[broken] = raws[broken][:start] + put + raws[broken][start + 1 :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "BLOCK_BYTES", block)
        read = Read(cast(BinaryIO, Trickle(b"[" + b", ".join(raws) + b"]", block)), is_element=is_numbered)

    others = [100 + number for number in range(count) if number not in (broken, broken + 1)]
    assert [number for number in numbers(read) if number in others] == others
    assert read.end is None or broken >= count - 2


def test_damage_is_told_with_its_place() -> None:
    raw = written(elements(3)).replace(b'"number": 1', b'"damaged": x')
    read = Read(raw, is_element=is_numbered)

    assert numbers(read) == [0, 2]
    assert read.end is None
    (told,) = read.damage
    assert f"damaged at character {raw.index(b'damaged') - 2:,}" in told
    assert f"went on at character {raw.rindex(b'number') - 2:,}" in told


def test_what_only_looks_like_an_element_is_not_taken_for_one_after_damage() -> None:
    raw = b'[{"number": 0}, {"number": x, "inner": [{"a": 1}, {"a": 2}]}, {"number": 2}]'
    assert Read(raw, is_element=is_numbered).values == [{"number": 0}, {"number": 2}]


def test_damage_after_which_nothing_is_sound_ends_the_document_after_what_came_before() -> None:
    read = Read(b'[{"number": 0}, {"number": 1}, {"number": x}, "and so on"]', is_element=is_numbered)

    assert numbers(read) == [0, 1]
    assert "damaged at character" in str(read.end)


def test_damage_in_an_inner_list_costs_no_outer_element() -> None:
    raw = b'{"list": [{"number": 0}, {"number": x}, {"number": 2}], "after": 3}'
    read = Read(raw, lambda place: place in ((), ("list",)), is_numbered)

    assert [value for _, value in read.pieces] == [{"number": 0}, {"number": 2}, 3]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"[" * 200_000, id="nested without end"),
        pytest.param(b"[" * 200_000 + b"]" * 200_000, id="nested deeply"),
        pytest.param(b'{"a":' * 200_000 + b"1" + b"}" * 200_000, id="objects nested deeply"),
        pytest.param(b"9" * 5_000, id="a number of five thousand digits"),
        pytest.param(b"1e999999", id="a number beyond all"),
        pytest.param(b'"\\u12"', id="half an escape"),
        pytest.param(b"\xff\xfe\x00", id="bytes that are no text"),
    ],
)
@pytest.mark.parametrize("enter", [lambda place: place == (), lambda _: True], ids=["array", "everything"])
def test_a_crafted_value_breaks_nothing(value: bytes, enter: Callable[[Path], bool]) -> None:
    read = Read(b'[{"number": 0}, ' + value + b', {"number": 2}, {"number": 3}]', enter)

    assert 0 in read.values or {"number": 0} in read.values
    assert read.end is None or isinstance(read.end, BrokenDocument)


# --- Limits -----------------------------------------------------------------------------------------------------------


def test_a_single_value_above_the_limit_is_left_out_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BLOCK_BYTES", 64)
    monkeypatch.setattr(documents, "MAX_VALUE_CHARACTERS", 1_000)
    sound = elements(3)
    sound[1]["words"] = "x" * 20_000

    read = Read(cast(BinaryIO, Trickle(written(sound), 100)), is_element=is_numbered)

    assert 0 in numbers(read)
    assert 1 not in numbers(read)
    assert any("too long" in told for told in [*read.damage, str(read.end)])


class Counting(io.BytesIO):
    """A file that knows how far it was read."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(raw)
        self.furthest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(size)
        self.furthest = max(self.furthest, self.tell())
        return block


def test_a_long_array_is_given_before_it_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BLOCK_BYTES", 256)
    file = Counting(written(elements(20_000)))
    size = len(file.getvalue())

    walked = walk(file, lambda place: place == ())
    next(walked)

    assert file.furthest < size
    assert sum(1 for _ in walked) == 19_999


# --- Lines ------------------------------------------------------------------------------------------------------------


@given(value=st.dictionaries(st.text(), values, max_size=5))
def test_a_record_is_one_line_that_says_the_same(value: dict[str, Any]) -> None:
    raw = line_of(value)

    assert b"\n" not in raw
    assert json.loads(raw) == value
    assert line_of(json.loads(raw)) == raw


@pytest.mark.parametrize("value", ["\ud83d", "a\nb\u2028c", 2**70, -(2**64), {"\udc00": ["\ud800"]}, 1e300])
def test_values_that_other_writers_refuse_are_kept(value: Any) -> None:
    raw = line_of({"value": value})

    assert b"\n" not in raw
    assert json.loads(raw) == {"value": value}
