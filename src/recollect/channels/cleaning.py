"""What a model says, as a terminal may have it: nothing in it commands the terminal or hides from who reads.

Judged character by character, so that a text that comes in pieces is cleaned like a whole one. Joiners and marks of
direction stay: emoji, Persian, Hebrew and Arabic need them.
"""

import unicodedata

TAB = "    "
JOINERS_AND_MARKS = frozenset("\u200c\u200d\u200e\u200f\u061c\u00ad")
LINE_ENDS = frozenset("\n\u2028\u2029\u0085")
DROPPED = frozenset({"Cc", "Cf", "Cs"})
"""Categories: controls; formats, such as overrides of direction and invisible tags; halves of characters."""


def cleaned(text: str) -> str:
    """Lines stay lines."""
    if text.isprintable():
        return text
    return "".join(map(_cleaned_character, text))


def on_one_line(text: str, most_characters: int = 160) -> str:
    line = " ".join(cleaned(text).split())
    return line if len(line) <= most_characters else line[: most_characters - 1].rstrip() + "…"


def _cleaned_character(character: str) -> str:
    if character in LINE_ENDS:
        return "\n"
    if character == "\t":
        return TAB
    if character in JOINERS_AND_MARKS or unicodedata.category(character) not in DROPPED:
        return character
    return ""
