"""Text that every store can hold."""

from recollect.errors import Invalid

MOST_REASON_CHARACTERS = 5_000
"""Of why something was changed: kept with each version for good, and shown with it. The longest path fits."""


def check_reason(reason: str) -> None:
    if len(reason) > MOST_REASON_CHARACTERS:
        raise Invalid(
            f"The reason has {len(reason):,} characters, and a reason at most {MOST_REASON_CHARACTERS:,}. Nothing was "
            "changed: say it in short."
        )


def clean(text: str) -> str:
    """Text every store can hold: no lone surrogates, no NUL."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8", "replace")
    return text
