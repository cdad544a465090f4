"""Cutting a page into sections. Pure."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.sections import MOST_HEADED, SECTION_CHARACTERS, Section, sections

lines = st.sampled_from(["", "# Beans", "## Peas", "```", "- sow in May", "word " * 60, "x" * 1_500, "  ", "ok"])


def test_what_stands_under_a_heading_is_a_section() -> None:
    page = "# Garden\n\nBeans in May.\n\n## Shed\nThe key hangs\nbehind the door.\n"
    assert sections(page) == [
        Section(1, "# Garden\n\nBeans in May."),
        Section(5, "## Shed\n\nThe key hangs\nbehind the door."),
    ]


def test_headings_with_nothing_between_them_stay_together() -> None:
    assert sections("# Garden\n## Shed\nA key.") == [Section(1, "# Garden\n\n## Shed\n\nA key.")]


def test_short_paragraphs_share_a_section_and_long_ones_do_not() -> None:
    long = "word " * 180
    assert [section.line for section in sections(f"One.\n\nTwo.\n\n{long}\n\n{long}")] == [1, 7]


def test_a_paragraph_is_not_cut_unless_it_is_longer_than_a_section() -> None:
    whole = "\n".join(["A line of a list that goes on for a while."] * 25)
    assert len(whole) < SECTION_CHARACTERS
    assert [section.text for section in sections(f"Before.\n\n{'y ' * 400}\n\n{whole}")][-1] == whole

    cut = sections("\n".join(f"- item {number} of a long list" for number in range(100)))
    assert [section.text.splitlines()[0] for section in cut] == [f"- item {s.line - 1} of a long list" for s in cut]


def test_a_line_without_an_end_is_cut_at_spaces() -> None:
    cut = sections("first\n\n" + "word " * 1_000)
    assert {section.line for section in cut[1:]} == {3}
    assert all(section.text.endswith("word") for section in cut[1:])


def test_a_comment_in_code_is_no_heading() -> None:
    page = "```sh\n# not a heading\nls\n```\n\n#hashtag is none either\n"
    assert len(sections(page)) == 1


@pytest.mark.parametrize("page", ["", "\n\n", " \t\n"])
def test_nothing_is_no_section(page: str) -> None:
    assert sections(page) == []


def test_a_page_of_nothing_but_headings_is_cut_by_its_length() -> None:
    page = "# a\nb\n" * 100_000
    assert 0 < len(sections(page)) <= MOST_HEADED


@settings(max_examples=100, deadline=None)
@given(st.lists(lines, max_size=40))
def test_no_word_is_lost_and_every_section_begins_at_its_line(chosen: list[str]) -> None:
    page = "\n".join(chosen)
    found = sections(page)

    assert "".join("".join(section.text.split()) for section in found) == "".join(page.split())
    assert [section.line for section in found] == sorted(section.line for section in found)
    for section in found:
        assert section.text.split("\n")[0].split()[0] in chosen[section.line - 1]
        assert len(section.text) <= 2 * SECTION_CHARACTERS
