"""What a call costs, in dollars, from a table that is kept with the program. Nothing is asked of a network.

Strongest first: the price in the settings, what the provider itself said, a server of one's own (nothing), the table of
`genai-prices`, which knows that long prompts may be dearer and what it takes to be kept in a cache for an hour. A
command line such as `claude` bills in its own way: only what it reports counts. Where nobody knows, the answer is None,
never a guess.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.llm.addresses import is_own_server
from recollect.llm.model import Usage

if TYPE_CHECKING:
    from genai_prices import Usage as TableUsage

MILLION = 1_000_000


def price_of(model: str, usage: Usage, per_million: Sequence[float] = ()) -> float | None:
    """Of calls that were made; several are priced as if they were of one length, as a dearer tier is a matter of one
    call. `model` is named as in the settings; `per_million` is `price_per_million` of the librarian or the mind: it
    knows no cache."""
    if per_million:
        return _by_rates(usage.input_tokens, usage.output_tokens, per_million)
    if usage.dollars is not None:
        return usage.dollars
    if is_command(model):
        return None
    from genai_prices import Usage as TableUsage

    calls = max(usage.calls, 1)
    each = TableUsage(
        input_tokens=usage.input_tokens / calls,
        cache_read_tokens=usage.cached_tokens / calls,
        cache_write_tokens=usage.written_tokens / calls,
        cache_write_1h_tokens=min(usage.written_hour_tokens, usage.written_tokens) / calls,
        output_tokens=usage.output_tokens / calls,
    )
    price = _by_table(model, each)
    return None if price is None else price * calls


def most_price_of(
    model: str,
    input_tokens: int,
    output_tokens: int,
    per_million: Sequence[float] = (),
    *,
    is_kept_an_hour: bool = False,
) -> float | None:
    """Of a call to come, at the most: as if all of its prompt were written to a cache, which is dearer than reading it.
    For `claude:MODEL` and `codex:MODEL` what their API would take."""
    if per_million:
        return _by_rates(input_tokens, output_tokens, per_million)
    from genai_prices import Usage as TableUsage

    plain = TableUsage(input_tokens=input_tokens, output_tokens=output_tokens)
    written = TableUsage(
        input_tokens=input_tokens,
        cache_write_tokens=input_tokens,
        cache_write_1h_tokens=input_tokens if is_kept_an_hour else 0,
        output_tokens=output_tokens,
    )
    prices = [price for usage in (plain, written) if (price := _by_table(model, usage)) is not None]
    return max(prices, default=None)


def is_command(model: str) -> bool:
    return model.partition(":")[0] in ("claude", "codex")


def _by_rates(input_tokens: int, output_tokens: int, per_million: Sequence[float]) -> float:
    price_in, price_out = per_million
    return (input_tokens * price_in + output_tokens * price_out) / MILLION


def _by_table(model: str, usage: "TableUsage") -> float | None:
    from genai_prices import calc_price

    provider, name, url = _in_table(model)
    if is_own_server(url):
        return 0.0
    if not name:
        return None
    try:
        found = calc_price(usage, name, provider_api_url=url) if url else calc_price(usage, name, provider_id=provider)
        return float(found.total_price)
    except (LookupError, ValueError):
        # Unknown there, or priced by something else than these tokens.
        return None


def _in_table(model: str) -> tuple[str | None, str, str]:
    """Provider, model and address, as the table looks for them. A model's name alone tells no price: many sell it."""
    if model.startswith(("http://", "https://")):
        url, _, name = model.partition("#")
        return None, name, url
    kind, _, name = model.partition(":")
    provider = {"anthropic": "anthropic", "claude": "anthropic", "codex": "openai"}.get(kind)
    return (provider, name, "") if provider else (None, "", "")
