"""Text that every store can hold."""


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
