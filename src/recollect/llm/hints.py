"""When a server wants to be asked again."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def hinted_seconds(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait: milliseconds, seconds, or a date, which is read against its own clock."""
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / divisor
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        later = parsedate_to_datetime(headers.get("retry-after", ""))
        seconds = (later - parsedate_to_datetime(headers.get("date", ""))).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds)


def come_again(seconds: float | None) -> str:
    """When it makes sense to come again, for who reads what went wrong. Whether somebody does is not ours to say."""
    if seconds is None or seconds < 1:
        return "Later it may work again."
    return f"It asks to wait {seconds:,.0f} second{'s' * (round(seconds) != 1)}."
