"""What calls cost that were really made (N8)."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from recollect import tokens
from recollect.context.calibration import (
    FEWEST,
    LAST,
    LEAST_TOKENS_PER_KILOBYTE,
    UNCALIBRATED,
    Calibration,
    Recent,
    Usage,
    calibrated,
    calibration,
    usage_of,
)


def call(model: str = "one", kilobytes: int = 10, tokens_per_kilobyte: int = 250) -> Usage:
    return Usage(model=model, sent_bytes=kilobytes * 1_000, input_tokens=kilobytes * tokens_per_kilobyte)


def kept(*usages: Usage) -> Recent:
    """As they lie among the events, the latest first."""

    def latest(limit: int) -> Sequence[Mapping[str, object]]:
        return [usage.detail() for usage in usages][:limit]

    return latest


@given(st.text())
def test_without_calls_the_estimate_is_the_general_one(text: str) -> None:
    assert UNCALIBRATED.estimate(text) == tokens.estimate(text)


def test_enough_calls_of_a_model_give_its_own_figure() -> None:
    found = calibration(kept(*[call()] * FEWEST), "one")
    assert found == Calibration(tokens=250, per_bytes=1_000, calls=FEWEST)
    assert found.estimate("x" * 1_000) == 250


def test_too_few_calls_tell_nothing() -> None:
    assert calibration(kept(*[call()] * (FEWEST - 1)), "one") == UNCALIBRATED


def test_a_model_is_not_judged_by_the_calls_of_another() -> None:
    assert calibration(kept(*[call("other")] * 100), "one") == UNCALIBRATED


def test_a_high_figure_counts_and_not_the_mean() -> None:
    calls = [call(tokens_per_kilobyte=220)] * 90 + [call(tokens_per_kilobyte=310)] * 10
    assert calibrated(calls).tokens == 310


def test_one_call_that_went_astray_does_not_count() -> None:
    calls = [call(tokens_per_kilobyte=220)] * 99 + [call(tokens_per_kilobyte=900)]
    assert calibrated(calls).tokens == 220


def test_a_costly_model_raises_the_estimate_above_the_general_one() -> None:
    found = calibrated([call(tokens_per_kilobyte=400)] * 50)
    assert found.estimate("x" * 3_000) == 1_200 > tokens.estimate("x" * 3_000)


def test_no_figure_is_lower_than_any_text_can_cost_nor_higher() -> None:
    assert calibrated([call(tokens_per_kilobyte=3)] * 50).tokens == LEAST_TOKENS_PER_KILOBYTE
    assert calibrated([call(tokens_per_kilobyte=50_000)] * 50).tokens == 1_000


def test_only_the_last_calls_count() -> None:
    calls = [call(tokens_per_kilobyte=230)] * LAST + [call(tokens_per_kilobyte=330)] * 500
    assert calibrated(calls) == Calibration(tokens=230, per_bytes=1_000, calls=LAST)


def test_short_calls_do_not_count() -> None:
    assert calibrated([call(kilobytes=1)] * 100) == UNCALIBRATED


def test_without_a_model_the_costliest_that_was_called_decides() -> None:
    cheap, dear = [call("cheap")] * 50, [call("dear", tokens_per_kilobyte=280)] * 50
    assert calibration(kept(*cheap, *dear)).tokens == 280
    assert calibration(kept(*cheap, call("seldom"))) == UNCALIBRATED
    assert calibration(kept()) == UNCALIBRATED


def test_events_that_tell_of_no_call_are_passed_over() -> None:
    assert usage_of({"model": "one"}) is None
    assert usage_of({"model": "one", "bytes": "many", "tokens": 3}) is None
    assert usage_of(call().detail()) == call()


@given(st.text(), st.text(), st.integers(200, 1_000))
def test_a_text_in_two_parts_never_costs_less_than_the_whole(one: str, two: str, cost: int) -> None:
    rate = Calibration(tokens=cost, per_bytes=1_000)
    assert rate.estimate(one + two) <= rate.estimate(one) + rate.estimate(two)
