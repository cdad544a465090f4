"""What one part of a long conversation hands on to the next. It is a field of the answer about a part: asking for it
apart would be one more call for each."""

from recollect import tokens
from recollect.context.blocks import readable

ASKED = (
    "This is part {number} of {of} of one conversation. The last field, `carry`, is for whoever reads the next part: "
    "in a few plain sentences what it is about, who is spoken of, what is decided and what is still open."
)
LAST = (
    "This is the last of {of} parts of one conversation. `title` and `project` are about all of it, `carry` is empty."
)


def note(number: int, of: int) -> str:
    """What a model is told about the place of a part. Nothing where there is only one."""
    if of == 1:
        return ""
    return (LAST if number == of else ASKED).format(number=number, of=of)


def carried(text: str, most_tokens: int) -> str:
    """As much of a summary as may be handed on, whole sentences where there are some."""
    words = " ".join(readable(text).split())
    if tokens.estimate(words) <= most_tokens:
        return words
    cut = words.encode()[: most_tokens * tokens.BYTES_PER_TOKEN].decode(errors="ignore")
    end = max(cut.rfind(stop) for stop in (". ", "! ", "? ", "。"))
    return cut[: end + 1] if end > len(cut) // 2 else cut
