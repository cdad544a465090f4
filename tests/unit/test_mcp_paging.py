"""Pages of texts: whatever stands beside them, all of each text is told once, in order, and there is an end."""

from hypothesis import given
from hypothesis import strategies as st
from stories.looks import property_with

from recollect.surfaces.mcp.paging import Lazily, page_of


@property_with(100)
@given(
    texts=st.lists(st.text("ab \n\u00fc", max_size=60), max_size=8),
    most=st.integers(-20, 60),
    beside=st.lists(st.integers(0, 80), min_size=8, max_size=8),
)
def test_each_page_begins_further_on_than_the_one_before(texts: list[str], most: int, beside: list[int]) -> None:
    read = [""] * len(texts)
    start: tuple[int, int] | None = (0, 0)
    while start is not None:
        parts, following = page_of(texts, start, most, beside.__getitem__)
        for part in parts:
            read[part.index] += part.text
            assert part.goes_on == (len(read[part.index]) < len(texts[part.index]))
        assert following is None or following > start
        start = following
    assert read == texts


def test_only_what_a_page_shows_is_made() -> None:
    made: list[int] = []

    def text_of(number: int) -> str:
        made.append(number)
        return "A word about bees. " * 10

    parts, following = page_of(Lazily(text_of, range(20_000)), (9_000, 0), 500)
    assert following == (9_000 + len(parts), 0)
    assert made == list(range(9_000, 9_000 + len(parts) + 1))
