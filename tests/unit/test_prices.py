"""What a call costs: from the settings, the provider, or the kept table; never guessed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.llm import Usage
from recollect.llm.addresses import is_own_server
from recollect.llm.prices import most_price_of, price_of

HAIKU = "anthropic:claude-haiku-5-5"
MUCH = Usage(input_tokens=1_000_000, output_tokens=100_000, calls=1)
TOKENS = st.integers(0, 400_000)


def test_a_known_model_costs_what_the_table_says_and_its_cache_less():
    plain = price_of("anthropic:claude-opus-5-5", MUCH)
    cached = price_of("anthropic:claude-opus-5-5", Usage(input_tokens=1_000_000, cached_tokens=900_000))
    assert plain == pytest.approx(4 + 2)
    assert cached == pytest.approx(0.4 + 0.18)


def test_what_is_kept_for_an_hour_costs_twice_the_input_and_for_five_minutes_a_quarter_more():
    for model, once in (("anthropic:claude-opus-5-5", 4), ("anthropic:claude-sonnet-5-5", 2)):
        written = Usage(input_tokens=1_000_000, written_tokens=1_000_000)
        for hours, factor in ((0, 1.25), (500_000, 1.625), (1_000_000, 2), (9_000_000, 2)):
            price = price_of(model, replace(written, written_hour_tokens=hours))
            assert price == pytest.approx(once * factor)
        assert most_price_of(model, 1_000_000, 0, is_kept_an_hour=True) == pytest.approx(once * 2)


def test_a_long_prompt_that_is_kept_for_an_hour_is_priced_by_its_tier_call_by_call():
    short = Usage(input_tokens=90_000, written_tokens=90_000, written_hour_tokens=90_000, calls=1)
    long = Usage(input_tokens=110_000, written_tokens=110_000, written_hour_tokens=110_000, calls=1)
    assert price_of(HAIKU, short) == pytest.approx(0.09 * 0.2)
    assert price_of(HAIKU, long) == pytest.approx(0.11 * 1)
    assert price_of(HAIKU, short + short) == pytest.approx(2 * 0.09 * 0.2)


def test_where_nothing_is_known_of_an_hour_what_is_written_costs_what_it_always_does():
    gpt = "https://api.openai.com/v1#gpt-5"
    usage = Usage(input_tokens=1_000, written_tokens=1_000)
    assert price_of(gpt, replace(usage, written_hour_tokens=1_000)) == price_of(gpt, usage)


def test_a_prompt_beyond_a_tier_costs_more_than_in_proportion():
    short = price_of("anthropic:claude-sonnet-4-5", Usage(input_tokens=100_000))
    long = price_of("anthropic:claude-sonnet-4-5", Usage(input_tokens=300_000))
    assert short is not None
    assert long is not None
    assert long > 5 * short


def test_many_short_prompts_are_not_priced_as_one_long_one():
    one = price_of(HAIKU, Usage(input_tokens=10_000, output_tokens=500, calls=1))
    many = price_of(HAIKU, Usage(input_tokens=1_000_000, output_tokens=50_000, calls=100))
    assert one is not None
    assert many == pytest.approx(100 * one)


def test_the_price_in_the_settings_wins_over_all_others():
    assert price_of(HAIKU, MUCH, [2, 10]) == pytest.approx(3.0)
    assert price_of("claude", Usage(input_tokens=10, dollars=0.5), [0, 0]) == 0
    assert most_price_of("https://models.example/v1#m", 1_000_000, 100_000, [2, 10]) == pytest.approx(3.0)


def test_what_the_provider_says_wins_over_the_table():
    assert price_of(HAIKU, Usage(input_tokens=10, dollars=0.25)) == 0.25


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", "http://[::1]:1/v1", "http://192.168.1.7/v1"]
)
def test_a_server_of_ones_own_costs_nothing(url: str):
    assert is_own_server(url)
    assert price_of(f"{url}#qwen", MUCH) == 0
    assert most_price_of(f"{url}#qwen", 1000, 1000) == 0


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1", "http://8.8.8.8/v1", "http://0.0.0.0/v1", "http://[x/v1", ""]
)
def test_any_other_address_is_not_ones_own(url: str):
    assert not is_own_server(url)


@pytest.mark.parametrize(
    "model",
    ["anthropic:claude-unheard-of", "https://models.example/v1#gpt-5", "rules", "scripted", "claude", "codex:gpt-5"],
)
def test_a_price_that_nobody_knows_is_not_made_up(model: str):
    assert price_of(model, MUCH) is None


def test_a_command_line_may_be_estimated_by_the_model_it_names_but_costs_what_it_reports():
    assert price_of("claude:claude-opus-5-5", MUCH) is None
    assert most_price_of("claude:claude-opus-5-5", 1_000_000, 0) == pytest.approx(5.0)
    assert most_price_of("claude", 1_000_000, 0) is None


@given(
    st.sampled_from([HAIKU, "anthropic:claude-sonnet-4-5", "https://api.openai.com/v1#gpt-5"]), TOKENS, TOKENS, TOKENS
)
def test_no_call_costs_more_than_was_said_before(model: str, input_tokens: int, share: int, output_tokens: int):
    cached = min(share, input_tokens)
    for usage in (
        Usage(input_tokens=input_tokens, cached_tokens=cached, output_tokens=output_tokens),
        Usage(input_tokens=input_tokens, written_tokens=cached, output_tokens=output_tokens),
        Usage(
            input_tokens=input_tokens, written_tokens=cached, written_hour_tokens=cached, output_tokens=output_tokens
        ),
    ):
        is_hour = usage.written_hour_tokens > 0
        price, most = price_of(model, usage), most_price_of(model, input_tokens, output_tokens, is_kept_an_hour=is_hour)
        assert price is not None
        assert most is not None
        assert price <= most + 1e-9
