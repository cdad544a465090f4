"""Which exchanges are condensed and which stay word for word (M2)."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.mind.compaction.cutting import cut, threshold_for

THRESHOLD = 100_000
SIZES = st.lists(st.integers(min_value=0, max_value=60_000), max_size=40)
THRESHOLDS = st.integers(min_value=1_000, max_value=200_000)


def test_the_older_part_is_condensed_and_about_a_tenth_stays() -> None:
    assert cut([1_000] * 95, THRESHOLD) == 85


def test_two_exchanges_stay_even_if_they_are_long() -> None:
    assert cut([30_000, 20_000, 20_000], THRESHOLD) == 1


def test_only_the_last_stays_when_two_would_fill_half_of_the_threshold() -> None:
    assert cut([300_000, 10], THRESHOLD) == 1
    assert cut([20_000, 40_000, 40_000], THRESHOLD) == 2


def test_nothing_is_condensed_when_little_would_be_gained() -> None:
    assert cut([5_000, 5_000, 5_000, 5_000], THRESHOLD) == 0
    assert cut([], THRESHOLD) == 0
    assert cut([1_000_000], THRESHOLD) == 0


def test_a_small_model_is_condensed_for_before_it_is_full() -> None:
    assert threshold_for(100_000, 1_000_000) == 100_000
    assert threshold_for(100_000, 8_192) == 6_144


@given(SIZES, THRESHOLDS)
def test_the_last_exchange_always_stays(sizes: list[int], threshold: int) -> None:
    assert 0 <= cut(sizes, threshold) <= max(0, len(sizes) - 1)


@given(SIZES, THRESHOLDS)
def test_what_is_condensed_is_worth_it(sizes: list[int], threshold: int) -> None:
    oldest = cut(sizes, threshold)
    assert oldest == 0 or sum(sizes[:oldest]) >= threshold / 5


@given(SIZES, THRESHOLDS)
def test_what_stays_is_no_more_than_half_of_the_threshold_or_one_exchange(sizes: list[int], threshold: int) -> None:
    oldest = cut(sizes, threshold)
    if oldest:
        assert len(sizes) - oldest == 1 or sum(sizes[oldest:]) <= threshold / 2


@given(SIZES, THRESHOLDS)
def test_as_much_stays_as_a_tenth_allows(sizes: list[int], threshold: int) -> None:
    oldest = cut(sizes, threshold)
    if oldest:
        assert sum(sizes[oldest - 1 :]) > threshold / 10


@given(SIZES, THRESHOLDS)
def test_what_was_cut_once_is_not_cut_again_at_once(sizes: list[int], threshold: int) -> None:
    oldest = cut(sizes, threshold)
    if oldest and sum(sizes[oldest:]) < threshold / 5:
        assert cut(sizes[oldest:], threshold) == 0


@given(SIZES, st.integers(min_value=0, max_value=60_000), THRESHOLDS)
def test_older_exchanges_do_not_change_which_ones_stay(sizes: list[int], older: int, threshold: int) -> None:
    oldest = cut(sizes, threshold)
    if oldest:
        assert cut([older, *sizes], threshold) == oldest + 1
