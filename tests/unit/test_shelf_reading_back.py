"""What somebody did to a shelf, told by its anchors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.librarian.shelves.anchors import Anchor, AnchorKind, anchor_of, anchors_in, said, shown
from recollect.librarian.shelves.reading_back import (
    Added,
    Answered,
    Edited,
    Removed,
    Returned,
    changes,
    without_answers,
)

A, B = Anchor(AnchorKind.RECORD, "aa"), Anchor(AnchorKind.RECORD, "bb")
FACTS = {"## facts": "## Facts"}
LINK = "([[episodes/2026-03/2026-03-02|2026-03-02]])"
HEAD = '---\ntitle: "Garden"\n---\n\n# Garden\n'
BASE = f"{HEAD}\n## Facts\n\n- It has a pond {LINK} {A}\n- It has frogs {B}\n\n## Mine\n\n- words\n"


@given(st.text(), st.sampled_from(["- {} ([[x|2026-03-02]]) {}", "- {} {}", "* [x] {} {}", "  - {} {}"]))
def test_words_of_a_record_are_read_back_as_they_were(text: str, form: str) -> None:
    words = " ".join(text.replace("[", "(").split())
    line = form.format(shown(words), A)
    assert anchor_of(line) == A
    assert said(line) == words.replace("&lt;!--", "<!--").replace("--&gt;", "-->")


@given(st.text(alphabet="ab <!-r:0>\n", max_size=30))
def test_no_words_make_an_anchor(text: str) -> None:
    assert anchors_in(f"- {shown(text)} {A}") == [A]
    assert said(f"- {shown(f'x{text}x')} {A}") == " ".join(f"x{text}x".split())


def test_nothing_changed_is_no_change() -> None:
    assert changes(BASE, BASE, FACTS) == []
    moved = BASE.replace(f"- It has frogs {B}\n", "").replace("- words", f"- words\n  * It has frogs {B}")
    assert changes(BASE, moved, FACTS) == []
    assert changes(BASE, BASE.replace("\n", "\r\n"), FACTS) == []


def test_a_line_with_other_words_was_edited() -> None:
    assert changes(BASE, BASE.replace("a pond", "two ponds"), FACTS) == [
        Edited(anchor=A, text="It has two ponds", before="It has a pond")
    ]
    assert changes(BASE, BASE.replace(f" {LINK}", "!"), FACTS) == [
        Edited(anchor=A, text="It has a pond!", before="It has a pond")
    ]


def test_words_behind_the_anchor_belong_to_the_line_and_a_link_of_their_own_stays() -> None:
    assert changes(BASE, BASE.replace(f"{A}\n", f"{A} with newts\n"), FACTS) == [
        Edited(anchor=A, text="It has a pond with newts", before="It has a pond")
    ]
    assert said(f"- As in ([[plan|the plan]]) {A}") == "As in ([[plan|the plan]])"


def test_a_line_that_is_gone_or_says_nothing_was_removed() -> None:
    assert changes(BASE, BASE.replace(f"- It has frogs {B}\n", ""), FACTS) == [Removed(anchor=B)]
    assert changes(BASE, BASE.replace(f"It has frogs {B}", str(B)), FACTS) == [Removed(anchor=B)]
    assert changes(BASE, "", FACTS) == [Removed(anchor=A), Removed(anchor=B)]


def test_a_line_that_was_struck_out_was_removed() -> None:
    assert changes(BASE, BASE.replace("It has frogs", "~~It has frogs~~"), FACTS) == [Removed(anchor=B)]
    assert changes(BASE, BASE.replace(f"- It has frogs {B}", f"~~- It has frogs {B}~~"), FACTS) == [Removed(anchor=B)]
    assert changes(BASE, BASE.replace("It has frogs", "It has ~~frogs~~ newts"), FACTS) == [
        Edited(anchor=B, text="It has ~~frogs~~ newts", before="It has frogs")
    ]


def test_a_line_that_was_not_there_came_back() -> None:
    before = BASE.replace(f"- It has frogs {B}\n", "")
    assert changes(before, BASE, FACTS) == [Returned(anchor=B, text="It has frogs")]


def test_of_two_copies_the_one_that_was_changed_counts() -> None:
    twice = BASE.replace("- words", f"- It has newts {B}")
    assert changes(BASE, twice, FACTS) == [Edited(anchor=B, text="It has newts", before="It has frogs")]


def test_two_lines_that_were_joined_are_one_that_was_edited_and_none_that_is_gone() -> None:
    joined = BASE.replace(f" {A}\n- It has frogs {B}", f" {A}, and it has frogs {B}")
    assert [type(one) for one in changes(BASE, joined, FACTS)] == [Edited]


def test_a_new_point_in_a_list_of_facts_was_added_and_elsewhere_it_was_not() -> None:
    now = BASE.replace("## Facts\n\n", "## Facts\n\n* It has newts\n").replace("- words", "- words\n- more words")
    assert changes(BASE, now, FACTS) == [Added(heading="## facts", text="It has newts", line="* It has newts")]
    assert changes(now, now, FACTS) == []


@pytest.mark.parametrize("more", ["  - below", "```\n- code\n```", "- a comment <!-- x -->", "text", "1. first"])
def test_what_is_no_plain_point_is_not_added(more: str) -> None:
    assert changes(BASE, BASE.replace("## Facts\n\n", f"## Facts\n\n{more}\n"), FACTS) == []


def test_an_anchor_in_code_is_no_line() -> None:
    assert changes(BASE, BASE.replace(f"- It has frogs {B}", f"```\n- It has frogs {B}\n```"), FACTS) == [
        Removed(anchor=B)
    ]


Q = Anchor(AnchorKind.QUESTION, "cc")
ASKED = f"## Open questions\n\n- [ ] Which soil? {Q}\n- [ ] What else? <!--q:dd-->\n\nwords\n"


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        (f"{Q}\n", f"{Q}\n> the black one\n", "the black one"),
        (f"{Q}\n", f"{Q}\n  the black\n  one\n", "the black one"),
        (f"{Q}\n", f"{Q}\n\n  > the black one\n", "the black one"),
        (f"{Q}\n", f"{Q}\nAnswer: the black one\n", "the black one"),
        (f"{Q}\n", f"{Q}\n  - answer: the black one\n", "the black one"),
        (f"{Q}\n", f"{Q}\nthe black\none\n", "the black one"),
        (f"{Q}\n", f"{Q}\n- the black one\n", "the black one"),
        (f"{Q}\n", f"{Q}\n- [ ] the black one\n", "the black one"),
        (f"? {Q}", f"? the black one {Q}", "the black one"),
        (f"? {Q}", f"? {Q} the black one", "the black one"),
        (f"? {Q}", f"? Answer: the black one {Q}", "the black one"),
        ("- [ ] Which", "- [x] Which", "yes"),
        (f"- [ ] Which soil? {Q}", f"- [x] Which soil? the black one {Q}", "the black one"),
    ],
)
def test_a_question_is_answered_in_any_of_these_ways(old: str, new: str, answer: str) -> None:
    now = ASKED.replace(old, new, 1)
    assert changes(ASKED, now) == [Answered(question_id="cc", text=answer)]
    assert changes(now, now) == []


@pytest.mark.parametrize("answer", ["  > the black one", "the black one", "- [ ] the black one"])
def test_an_answer_goes_with_its_question_and_nothing_else_does(answer: str) -> None:
    now = ASKED.replace(f"{Q}\n", f"{Q}\n{answer}\n")
    assert without_answers(now, {"cc"}) == ASKED.replace(f"- [ ] Which soil? {Q}\n", "")
    assert without_answers(now, set()) == now


def test_a_paragraph_further_down_answers_nothing_and_stays() -> None:
    now = ASKED.replace("words\n", "other words\n")
    assert changes(ASKED, now) == []
    assert without_answers(now, {"cc", "dd"}) == "## Open questions\n\n\nother words\n"
