"""Whose words the parts of a message are."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.librarian.speech.own import foreign_spans, is_own, own_spans, own_words

SAID = "I live in Trondheim"


def is_said(text: str) -> bool:
    """Whether the statement in it is the author's."""
    start = text.index(SAID)
    return is_own(text, start, start + len(SAID))


@pytest.mark.parametrize(
    "text",
    [
        f"{SAID}.",
        f"Some context: {SAID} with two cats.",
        f"It is 10:30 here. {SAID}.",
        f"A few things about me:\n- {SAID}\n- I work nights",
        f"I ran this:\n```\nmake test\n```\n{SAID}.",
        f"> and where do you live?\n{SAID}.",
        f'My book is called "Salt and Iron". {SAID}.',
        f"See https://example.org/a?b=c first. {SAID}.",
        f"ValueError: bad input\n\n{SAID}.",
        f"| a | b |\n|---|---|\n| 1 | 2 |\n\n{SAID}.",
        f"Use `uv` and `make`. {SAID}.",
        f"<note>old</note>\n{SAID}.",
        f"Please remember the following: {SAID}.",
    ],
)
def test_what_a_person_says_themselves_is_own(text: str) -> None:
    assert is_said(text)


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{SAID}\n```",
        f"~~~text\n{SAID}",
        f"   ````md\n```\n{SAID}\n```\n````",
        f"`{SAID} and I like it there`",
        f"> {SAID}",
        f"> first\n> {SAID}",
        f'My sister said "{SAID} now" yesterday.',
        f"Mia meinte „{SAID} jetzt“ gestern.",
        f"Elle a écrit « {SAID} » hier.",
        f"He wrote: {SAID}.",
        f"My landlord wrote:\n\n{SAID}.\n\nWhat do I answer?",
        f"The README says: {SAID}.",
        f"Translate this into French: {SAID}.",
        f"Please proofread my text:\n\nDear all,\n\n{SAID}.",
        f"<document>\nAbout: {SAID}.\n</document>",
        f"<system-reminder>{SAID}</system-reminder>",
        f"From: pat@example.org\nSubject: news\n\nHello,\n{SAID}.",
        f"Pat: hello\nKim: {SAID}\nPat: really?",
        f"| who | what |\n|---|---|\n| me | {SAID} |",
        f"2026-01-03 10:00:01 INFO {SAID}",
        f"[10:02] kim: {SAID}",
        f"ERROR: {SAID}",
        f"diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+{SAID}",
        f'Traceback (most recent call last):\n  File "x.py", line 1\n    {SAID}\nKeyError: 1',
        f'{{\n  "note": "{SAID}"\n}}',
        f'config = "{SAID}"',
        f"---\ntitle: x\nnote: {SAID}\n---\nhello",
        f'"""\n{SAID}\n"""',
        f"Here is the email I got:\n---\n{SAID}\n---\n",
        f"$ echo {SAID}",
        f"[{SAID}]",
    ],
)
def test_what_was_pasted_or_quoted_is_not_own(text: str) -> None:
    assert not is_said(text)


def test_a_marked_end_of_an_announced_text_gives_the_floor_back() -> None:
    text = f'Here is the article:\n"""\nIt rains.\n"""\n{SAID}.'
    assert is_said(text)


def test_words_keep_their_places_when_the_rest_is_blanked() -> None:
    text = "I use tabs.\n```\ncode\n```\nAlways."
    assert own_words(text) == "I use tabs.\n   \n    \n   \nAlways."


def test_code_and_addresses_in_a_sentence_do_not_spoil_it() -> None:
    text = "Always run `make check ARGS=--all` and look at https://ci.example.org/builds/main/latest/very/long"
    assert is_own(text, 0, len(text))
    assert not is_own("`rm -rf / --no-preserve-root now`", 0, 33)


PIECES = st.sampled_from(
    [
        "```",
        "~~~",
        "`",
        '"',
        "“",
        "”",
        "> ",
        "\n",
        "\n\n",
        "<a>",
        "</a>",
        "<b x=1>",
        "{",
        "}",
        '"a": 1',
        "|",
        "---",
        "she wrote: ",
        "Kim: ",
        "I live here. ",
        "https://x.y/z ",
        "From: a\n",
        "Subject: b\n",
        "    ",
        "\t",
        "«",
        "»",
        "「",
        "」",
        "日本",
        "$ ",
        "@@ -1",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_spans_are_sorted_apart_inside_the_text_and_never_both(text: str) -> None:
    own, foreign = own_spans(text), foreign_spans(text)
    for spans in (own, foreign):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(first[1] < second[0] for first, second in itertools.pairwise(spans))
    taken = [False] * len(text)
    for start, end in own + foreign:
        assert not any(taken[start:end])
        taken[start:end] = [True] * (end - start)
    words = own_words(text)
    assert len(words) == len(text)
    assert words.count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", ['"', "`", "<a>", "</a>", "said: ", "> ", "Kim: x\n", "{[", "a.b", "\n", " ", "“"])
def test_a_text_of_ten_million_characters_is_read_in_one_go(piece: str) -> None:
    text = piece * (10_000_000 // len(piece))
    assert all(end <= 200_000 for _, end in own_spans(text))
