"""What goes when there is no room for all of it (N8)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import tokens
from recollect.context.trimming import Trimmed, paragraphs, trimmed, trimmed_messages

WORDS = "The kettle is on the stove and the bread is in the oven until the bell rings."
LINE = re.compile(r"\[… ([\d,]+) (?:(?:more|earlier) )?paragraphs? left out: ")
MARKDOWN = [
    "Plain words. Two sentences of them.\n\n",
    "# A heading\n\n",
    "### A small one\n",
    "- an item\n",
    "  - one below it\n",
    "1. first\n",
    "2. second\n\n",
    "```\ncode\n\nmore code\n```\n",
    "~~~\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "What there is:\n",
    "\n\n",
    "   \t\n",
    "no end of line",
    "\r\n",
    "word " * 200 + "\n\n",
    "\u2028\x0b\ud800",
]
documents = st.lists(st.sampled_from(MARKDOWN), max_size=25).map("".join)


def numbered(count: int) -> list[str]:
    return [f"Paragraph {number}. {WORDS}\n\n" for number in range(count)]


def from_end(text: str, budget_tokens: int) -> Trimmed:
    return trimmed(text, budget_tokens, keep="end", name="threads.md", estimate=tokens.estimate)


def from_start(text: str, budget_tokens: int) -> Trimmed:
    return trimmed(text, budget_tokens, keep="start", name="MEMORY.md", estimate=tokens.estimate)


def test_a_text_that_fits_stays_as_it_is() -> None:
    text = "  \n# One\n\n\nTwo\n"
    assert from_start(text, 100) == Trimmed(text=text)
    assert from_end("", 0) == Trimmed(text="")


def test_from_the_start_all_that_fits_is_kept_and_a_line_tells_of_the_rest() -> None:
    found = from_start("".join(numbered(20)), 300)

    kept = 20 - found.left_out_paragraphs
    line = (
        f"[… {found.left_out_paragraphs} more paragraphs left out: MEMORY.md is longer than its budget of 300 tokens]"
    )
    assert found.text == f"{''.join(numbered(kept))}{line}\n"
    assert tokens.estimate(found.text) <= 300
    assert tokens.estimate("".join(numbered(kept + 1)) + line) > 300


def test_from_the_end_the_latest_are_kept_and_the_line_stands_before_them() -> None:
    found = from_end("".join(numbered(20)), 300)

    gone = found.left_out_paragraphs
    line = f"[… {gone} earlier paragraphs left out: threads.md is longer than its budget of 300 tokens]"
    assert found.text == f"{line}\n\n{''.join(numbered(20)[gone:]).rstrip()}\n"
    assert 0 < gone < 20


def test_one_paragraph_less_is_said_in_the_singular() -> None:
    found = from_end(f"{WORDS * 4}\n\n{WORDS * 2}\n", 150)
    assert found.text.startswith("[… 1 earlier paragraph left out: ")


@settings(max_examples=300)
@given(documents, st.integers(-5, 400), st.booleans())
def test_no_text_is_longer_than_its_budget_nor_cut_inside_a_paragraph(text: str, budget: int, at_start: bool) -> None:
    found = (from_start if at_start else from_end)(text, budget)

    parts = paragraphs(text)
    assert "".join(parts) == text or not parts
    if found.text != text:
        assert tokens.estimate(found.text) <= max(budget, 0)
    told = sum(int(number.replace(",", "")) for number in LINE.findall(found.text))
    assert told == found.left_out_paragraphs or not found.text
    shown = sorted(part.strip() for part in parts)
    for block in re.split(LINE.pattern + r"[^\n]*", found.text)[::2]:
        for part in paragraphs(block):
            assert any(part.strip() in whole for whole in shown)


@pytest.mark.parametrize("budget", [120, 300, 1_000])
def test_a_text_that_grows_paragraph_by_paragraph_is_cut_in_few_places(budget: int) -> None:
    text = ""
    cuts: list[int] = []
    kept_tokens: list[int] = []
    for part in numbered(150):
        text += part
        found = from_end(text, budget)
        if not cuts or found.left_out_paragraphs != cuts[-1]:
            cuts.append(found.left_out_paragraphs)
            kept_tokens.append(tokens.estimate(found.text))

    assert cuts == sorted(set(cuts)), "a cut never moves back"
    step = (budget - 45) // 2
    assert len(cuts) <= tokens.estimate(text) // step + 1
    assert all(kept < 0.85 * budget for kept in kept_tokens[1:]), "each step makes room for a while"


def test_what_is_shown_between_two_steps_begins_with_what_was_shown_before() -> None:
    text = "".join(numbered(40))
    for part in numbered(60)[40:]:
        before, after = from_end(text, 400), from_end(text + part, 400)
        if before.left_out_paragraphs == after.left_out_paragraphs:
            assert after.text.startswith(before.text)
        text += part


def test_a_text_kept_from_its_start_is_cut_at_one_place_however_long_it_grows() -> None:
    kept = {number - from_start("".join(numbered(number)), 300).left_out_paragraphs for number in range(15, 60)}
    assert len(kept) == 1


def test_a_paragraph_that_is_too_long_goes_alone() -> None:
    long = "word " * 2_000
    text = f"First.\n\n{long}\n\nLast.\n"

    for found in (from_start(text, 100), from_end(text, 100)):
        line = "[… 1 paragraph left out: it is too long for {} and its budget of 100 tokens]"
        name = "MEMORY.md" if found.text == from_start(text, 100).text else "threads.md"
        assert found.text == f"First.\n\n{line.format(name)}\n\nLast.\n"
        assert found.left_out_paragraphs == 1


def test_a_text_of_one_long_paragraph_leaves_only_the_line() -> None:
    found = from_end("word " * 2_000, 100)
    assert found.text == "[… 1 paragraph left out: it is too long for threads.md and its budget of 100 tokens]\n"
    assert found.left_out_paragraphs == 1


def test_a_long_last_paragraph_is_kept_without_those_before_it() -> None:
    last = "Last. " + WORDS + " " + WORDS + " " + WORDS
    found = from_end("".join(numbered(30)) + last, 130)
    assert found.left_out_paragraphs == 30
    assert found.text.endswith(f"\n\n{last}\n")


def test_a_budget_too_small_for_the_line_gives_no_text_and_counts_all() -> None:
    assert from_start("".join(numbered(3)), 10) == Trimmed(text="", left_out_paragraphs=3)
    assert from_end("".join(numbered(3)), -1) == Trimmed(text="", left_out_paragraphs=3)


def test_a_fenced_block_is_one_paragraph_with_all_that_stands_in_it() -> None:
    fenced = "```python\none\n\n# two\n- three\n~~~\n```\n"
    assert paragraphs(f"Before.\n{fenced}After.") == ["Before.\n", fenced, "After."]


def test_a_fence_that_is_never_closed_takes_nothing_with_it() -> None:
    assert paragraphs("```\none\n\ntwo\n\nthree") == ["```\none\n\n", "two\n\n", "three"]


def test_a_table_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    assert paragraphs(f"One.\n\n{table}Two.") == ["One.\n\n", table, "Two."]


def test_a_list_is_taken_apart_between_its_items_only() -> None:
    items = ["- one\ngoes on\n", "- two\n  - below\n\n  and more of it\n\n      code\n", "- three\n\n"]
    assert paragraphs("".join(items) + "Words.") == [*items, "Words."]


def test_a_number_at_the_beginning_of_a_line_inside_a_paragraph_begins_no_list() -> None:
    assert paragraphs("It was the summer of\n1986. It rained.") == ["It was the summer of\n1986. It rained."]


def test_a_heading_and_a_line_that_announces_go_with_what_follows() -> None:
    text = "# Garden\n\n## Beds\n\nWhat grows:\n\n- beans\n- peas\n\n## Tools\n## Seeds\nFew.\n"
    assert paragraphs(text) == [
        "# Garden\n\n## Beds\n\nWhat grows:\n\n- beans\n",
        "- peas\n\n",
        "## Tools\n",
        "## Seeds\nFew.\n",
    ]


def test_messages_stay_while_both_limits_are_kept() -> None:
    assert trimmed_messages([10] * 50, 500, 50) == 0
    assert trimmed_messages([], 0, 0) == 0


def test_too_many_messages_go_to_half_in_one_step() -> None:
    assert trimmed_messages([10] * 51, 10_000, 50) == 26
    assert trimmed_messages([10] * 1_000, 1_000_000, 50) == 975


def test_messages_over_the_budget_go_to_half_of_it_in_one_step() -> None:
    assert trimmed_messages([10] * 51, 500, 100) == 26
    assert trimmed_messages([300, 10, 10], 310, 50) == 1


def test_the_newest_message_stays_as_long_as_it_fits() -> None:
    assert trimmed_messages([10, 10, 400], 410, 50) == 2
    assert trimmed_messages([10, 10], 1_000, 1) == 1
    assert trimmed_messages([10, 10, 500], 410, 50) == 3


@given(st.lists(st.integers(0, 100), max_size=80), st.integers(0, 1_000), st.integers(0, 60))
def test_what_is_left_of_messages_keeps_both_limits(sizes: list[int], budget: int, most: int) -> None:
    gone = trimmed_messages(sizes, budget, most)
    assert len(sizes) - gone <= most
    assert sum(sizes[gone:]) <= budget


def test_a_conversation_that_grows_is_trimmed_once_in_half_its_length() -> None:
    sizes: list[int] = []
    steps = 0
    for number in range(500):
        sizes.append(20 + number % 7)
        gone = trimmed_messages(sizes, 100_000, 50)
        steps += gone > 0
        del sizes[:gone]
    assert steps == 18
