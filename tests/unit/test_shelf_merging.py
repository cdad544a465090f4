"""What the librarian writes into a note that others write in too: only its own lines change."""

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.librarian.shelves.anchors import Anchor, AnchorKind, anchor_of, outside_fences
from recollect.librarian.shelves.front import length_of, quoted
from recollect.librarian.shelves.merging import canonical, merged
from recollect.librarian.shelves.pages import Page, Section, ShelfLine, heading_key

HEADINGS = ("## Facts", "## Decisions", "## Commitments")
FRONT: dict[str, str | tuple[str, ...]] = {
    "title": "Garden",
    "kind": "project",
    "updated": "2026-03-02",
    "tags": ("recollect/project",),
}


def record(number: int) -> Anchor:
    return Anchor(AnchorKind.RECORD, f"{number:04x}")


def line(number: int, words: str = "is so") -> ShelfLine:
    return ShelfLine(anchor=record(number), text=f"- Thing {number} {words} {record(number)}")


def page(facts: list[ShelfLine], decisions: list[ShelfLine] | None = None, **more: Any) -> Page:
    sections = (
        Section(heading=HEADINGS[0], lines=tuple(facts)),
        Section(heading=HEADINGS[1], lines=tuple(decisions or [])),
    )
    headings = frozenset(heading_key(heading) for heading in HEADINGS)
    return Page(**{"title": "Garden", "front": FRONT, "sections": sections, "headings": headings, **more})


def day(*conversations: tuple[int, str, list[str]]) -> Page:
    """A page of episodes: (number, title, lines) each."""
    sections: list[Section] = []
    for number, title, lines in conversations:
        name = f"{number:04x}"
        told = [
            ShelfLine(anchor=(anchor := Anchor(AnchorKind.CONVERSATION, name, place)), text=f"- {words} {anchor}")
            for place, words in enumerate(lines, 1)
        ]
        heading = f"## 10:{number:02d} {title} {Anchor(AnchorKind.CONVERSATION, name)}"
        sections.append(Section(heading=heading, lines=tuple(told)))
    return Page(title="2026-03-02", front=FRONT, sections=tuple(sections))


numbers = st.integers(0, 9)
words = st.sampled_from(["is so", "is otherwise", "grows"])


@st.composite
def pages(draw: st.DrawFn) -> Page:
    """The same record may stand in another section, in another order and with other words on each page."""
    chosen = draw(st.lists(numbers, unique=True))
    cut = draw(st.integers(0, len(chosen)))
    lines = [line(number, draw(words)) for number in chosen]
    return page(lines[:cut], lines[cut:])


@st.composite
def days(draw: st.DrawFn) -> Page:
    chosen = sorted(draw(st.sets(numbers)))
    return day(*((number, draw(words), draw(st.lists(words, min_size=1, max_size=3))) for number in chosen))


foreign = st.sampled_from(
    [
        "",
        "my own words",
        "## Facts",
        "- my own point",
        "  a note below",
        "## Mine",
        "### Deeper",
        "# Another title",
        "```",
        "| a |",
    ]
)


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """A text that somebody wrote in, moved lines of, and took lines out of."""
    lines = text.split("\n")
    head, lines = lines[: length_of(lines)], lines[length_of(lines) :]
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(lines)))
        what = draw(st.sampled_from(["add", "add", "add", "remove", "move", "copy"]))
        if what == "add":
            lines.insert(place, draw(foreign))
        elif lines and what == "remove":
            lines.pop(place % len(lines))
        elif lines:
            taken = lines[place % len(lines)]
            if what == "move":
                lines.remove(taken)
            lines.insert(draw(st.integers(0, len(lines))), taken)
    return draw(st.sampled_from(["\n", "\r\n"])).join([*head, *lines])


def others(text: str, first: Page, second: Page) -> list[str]:
    """The lines that are not the librarian's, in order."""
    lines = text.splitlines()
    head = length_of(lines)
    visible = [True] * head + outside_fences(lines[head:])
    ours = {*HEADINGS, "# Garden", "# 2026-03-02", "---", *canonical(first).split("\n"), *canonical(second).split("\n")}
    return [
        one
        for one, is_text in zip(lines, visible, strict=True)
        if one.strip() and not (is_text and (one in ours or anchor_of(one)))
    ]


@given(st.one_of(st.tuples(pages(), pages()), st.tuples(days(), days())))
def test_where_nobody_else_wrote_any_page_becomes_the_next_one_as_if_that_were_the_first(
    both: tuple[Page, Page],
) -> None:
    first, second = both
    assert merged(canonical(first), second) == canonical(second)
    assert merged("", first) == canonical(first)


@given(st.lists(st.integers(0, 9), unique=True, min_size=1))
def test_lines_that_arrive_in_any_order_end_as_one_text(order: list[int]) -> None:
    text, there = "", set[int]()
    for number in order:
        there.add(number)
        text = merged(
            text,
            page([line(one) for one in sorted(there) if one % 2], [line(one) for one in sorted(there) if not one % 2]),
        )
    assert text == canonical(
        page([line(one) for one in sorted(order) if one % 2], [line(one) for one in sorted(order) if not one % 2])
    )


@given(st.data(), st.one_of(st.tuples(pages(), pages()), st.tuples(days(), days())))
def test_what_others_wrote_stays_and_merging_again_changes_nothing(
    data: st.DataObject, both: tuple[Page, Page]
) -> None:
    first, second = both
    text = data.draw(edited(canonical(first)))
    once = merged(text, second)
    assert merged(once, second) == once
    assert others(once, first, second) == others(text, first, second)


@given(st.data(), pages(), pages())
def test_every_line_that_shall_stand_there_does(data: st.DataObject, first: Page, second: Page) -> None:
    text = data.draw(edited(canonical(first)))
    lines = merged(text, second).splitlines()
    body = lines[length_of(lines) :]
    visible = [one for one, is_text in zip(body, outside_fences(body), strict=True) if is_text]
    found = {anchor: one.strip() for one in visible if (anchor := anchor_of(one))}
    assert found == {one.anchor: one.text for one in second.lines}


@given(pages(), pages())
def test_a_file_with_other_line_ends_keeps_them(first: Page, second: Page) -> None:
    text = canonical(first).replace("\n", "\r\n")
    assert merged(text, second) in ("", canonical(second).replace("\n", "\r\n"), canonical(second))
    if text and not second.is_empty:
        assert merged(text, second).count("\n") == merged(text, second).count("\r\n")


def test_a_file_without_a_last_line_end_gets_one_only_before_a_new_line() -> None:
    text = canonical(page([line(1)])).removesuffix("\n")
    assert merged(text, page([line(1)])) == text
    assert merged(text, page([line(1), line(2)])) == canonical(page([line(1), line(2)]))
    assert merged(text + "\nmine", page([line(1)])).endswith("\nmine")


def test_words_of_others_keep_their_place_among_lines_that_come_and_go() -> None:
    text = canonical(page([line(1), line(5)]))
    text = text.replace(line(1).text, f"{line(1).text}\n  and this I add to it\nmy paragraph")
    after = merged(text, page([line(1), line(2), line(6)], [line(3)]))
    body = after.partition("## Facts\n")[2].splitlines()
    assert body == [
        "",
        line(1).text,
        "  and this I add to it",
        line(2).text,
        line(6).text,
        "my paragraph",
        "",
        "## Decisions",
        "",
        line(3).text,
    ]


def test_a_line_below_a_heading_of_somebody_else_stays_there_and_follows() -> None:
    text = f"{canonical(page([line(1)]))}\n## What I like\n\n  {line(2).text}\n"
    after = merged(text, page([line(1, "grows"), line(2, "grows")]))
    assert after.endswith(f"## What I like\n\n  {line(2, 'grows').text}\n")
    assert after.count(str(record(2))) == 1


def test_a_line_below_another_heading_of_ours_goes_back_to_its_own() -> None:
    both = page([line(1), line(2)], [line(3)])
    text = canonical(page([line(1)], [line(3), line(2)]))
    assert merged(text, both) == canonical(both)


def test_a_line_that_stands_twice_follows_twice() -> None:
    text = canonical(page([line(1)])) + "\n## Mine\n\n" + line(1).text + "\n"
    assert merged(text, page([line(1, "grows")])).count(line(1, "grows").text) == 2
    assert str(record(1)) not in merged(text, page([line(2)]))


def test_an_anchor_in_a_block_of_code_is_nobodys_line() -> None:
    text = canonical(page([line(1)])) + f"\n```\n{line(2).text}\n```\n"
    after = merged(text, page([line(1)]))
    assert after == text
    assert merged(text, page([line(1), line(2, "grows")])).count(str(record(2))) == 2


def test_an_empty_section_goes_unless_somebody_wrote_in_it() -> None:
    text = canonical(page([line(1)], [line(2)]))
    assert merged(text, page([line(1)])) == canonical(page([line(1)]))
    written = text + "\nmy reasons\n"
    assert merged(written, page([line(1)])).endswith("## Decisions\n\n\nmy reasons\n")


def test_a_page_that_has_nothing_to_say_is_empty_unless_somebody_wrote_in_it() -> None:
    text = canonical(page([line(1)]))
    assert merged(text, page([])) == ""
    assert "mine" in merged(text + "mine\n", page([]))
    assert "alias" in merged(text.replace("kind:", "alias: x\nkind:"), page([]))


def test_a_conversation_that_is_gone_leaves_what_others_wrote_below_it() -> None:
    text = canonical(day((1, "Beans", ["planted"]), (2, "Peas", ["sown"]))).replace("## 10:02", "my words\n\n## 10:02")
    after = merged(text, day((2, "Peas", ["sown"])))
    assert "Beans" not in after
    assert "planted" not in after
    assert "my words" in after


def test_a_line_of_a_page_that_is_written_once_is_never_written_again() -> None:
    text = canonical(page([line(1)]))
    kept = page([line(1, "grows"), line(2)], is_kept=True)
    assert line(1).text in merged(text, kept)
    assert line(2).text in merged(text, kept)
    assert line(1).text not in merged(text, page([line(2)], is_kept=True))


def test_keys_of_others_in_the_front_matter_stay_as_they_are() -> None:
    text = canonical(page([line(1)])).replace(
        'tags: ["recollect/project"]',
        "aliases:\n  - Beet\n# mine\ntags:\n  - recollect/project\n  - beans\ncssclass: wide",
    )
    assert merged(text, page([line(1)])) == text
    later = merged(text, page([line(1)], front={**FRONT, "updated": "2026-04-01"}))
    assert later == text.replace("2026-03-02", "2026-04-01")
    found = yaml.safe_load(later.split("---")[1])
    assert (found["aliases"], found["tags"]) == (["Beet"], ["recollect/project", "beans"])


def test_front_matter_that_another_program_wrote_in_its_own_way_is_left_as_it_is() -> None:
    text = canonical(page([line(1)])).replace('"', "").replace("[recollect/project]", "\n- recollect/project")
    assert merged(text, page([line(1)])) == text
    without = merged(text.replace("\n- recollect/project", "\n- beans"), page([line(1)]))
    assert yaml.safe_load(without.split("---")[1])["tags"] == ["recollect/project", "beans"]


def test_front_matter_that_somebody_took_away_comes_back_before_their_text() -> None:
    body = canonical(page([line(1)])).split("---\n")[2].lstrip()
    assert merged(body, page([line(1)])) == canonical(page([line(1)]))
    assert merged("---\nno end of this\n", page([line(1)])).startswith("---\ntitle")


def test_a_title_that_somebody_gave_stays_and_ours_follows_the_name() -> None:
    text = canonical(page([line(1)]))
    renamed = page([line(1)], title="The garden", front={**FRONT, "title": "The garden"})
    assert merged(text, renamed) == canonical(renamed)
    assert "# My plot" in merged(text.replace("# Garden", "# My plot"), renamed)


@given(st.text())
@example('a "quoted" \\ back\\slash: {x} # no comment')
@example("\ud800\U0001f600\u2028\x85\ufeff\x7f\U000e0001")
def test_any_value_of_front_matter_is_read_back_by_yaml(value: str) -> None:
    assert yaml.safe_load(f"title: {quoted(value)}") == {"title": value}


@pytest.mark.parametrize("text", ["\ufeff", "\n\n", "   "])
def test_a_note_without_a_word_is_as_good_as_none(text: str) -> None:
    assert merged(text, page([line(1)])) == canonical(page([line(1)]))
