"""Markers in text: what is kept, what is reported, and what is shown."""

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.context.your_memory import marker_form
from recollect.knowledge.records import Category
from recollect.markers import CATEGORIES, EXAMPLE, Marker, Piece, Reader, Status, marked, read
from recollect.markers.objects import MOST_CHARACTERS

OUR_EXAMPLE = f"[REMEMBER] {EXAMPLE}"
TEA = '[REMEMBER] {"content": "She drinks tea.", "category": "identity", "tags": ["drinks"]}'


def only(text: str) -> Marker:
    (marker,) = read(text).markers
    return marker


def said(fields: object) -> str:
    return f"[REMEMBER] {json.dumps(fields)}"


# What a marker says


def test_a_marker_has_content_a_category_and_tags() -> None:
    marker = only(TEA)

    assert marker.status is Status.KEPT
    assert marker.payload
    assert marker.payload.content == "She drinks tea."
    assert marker.payload.category == "identity"
    assert marker.payload.tags == ("drinks",)
    assert (marker.start, marker.end) == (0, len(TEA))


def test_only_content_is_needed() -> None:
    payload = only('[REMEMBER] {"text": "Tea."}').payload

    assert payload
    assert (payload.content, payload.category, payload.tags, payload.importance) == ("Tea.", "knowledge", (), 0.5)


def test_a_marker_may_say_what_it_is_about_and_until_when() -> None:
    fields = {"content": "Tea", "expires": "2027-01-31", "importance": 1, "subject": "ada", "attribute": "drink"}
    payload = only(said({**fields, "value": 3})).payload

    assert payload
    assert payload.expires_at == "2027-01-31T00:00:00.000Z"
    assert (payload.importance, payload.subject, payload.attribute, payload.value) == (1.0, "ada", "drink", "3")


def test_the_same_object_is_the_same_however_it_is_written() -> None:
    one = only('[REMEMBER] {"content": "Té", "tags": ["a"]}').payload
    other = only('[REMEMBER] {"tags":[\n"a"],"content":"T\\u00e9"}').payload

    assert one
    assert one == other


def test_categories_are_those_of_records() -> None:
    assert tuple(Category) == CATEGORIES


def test_an_unknown_category_is_kept_as_knowledge_and_reported() -> None:
    marker = only('[REMEMBER] {"content": "Tea.", "category": "beverages"}')

    assert marker.status is Status.KEPT
    assert marker.payload
    assert marker.payload.category == "knowledge"
    assert marker.problem == "unknown category"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[REMEMBER]", "no JSON object follows"),
        ("[REMEMBER] to buy tea", "no JSON object follows"),
        ("[REMEMBER] [1]", "no JSON object follows"),
        ('[REMEMBER]\n{"content": "tea"}', "no JSON object follows"),
        ("[REMEMBER] {content: tea}", "invalid JSON"),
        ("[REMEMBER] {'content': 'tea'}", "invalid JSON"),
        ('[REMEMBER] {"content": "tea",}', "invalid JSON"),
        ('[REMEMBER] {"content": "tea\nand more"}', "invalid JSON"),
        ('[REMEMBER] {"content": nothing}', "invalid JSON"),
        ('[REMEMBER] {"content": "\\ud800"}', "invalid JSON"),
        ('[REMEMBER] {"content": "\\x"}', "invalid JSON"),
        ('[REMEMBER] {"content": "tea"', "the text ends inside its object"),
        ('[REMEMBER] {"content": tr', "the text ends inside its object"),
        (said({"a": [[[]] * 2] * 3, "b": "x" * MOST_CHARACTERS}), "an object of more than 32,768 characters"),
        ("[REMEMBER] " + '{"a":' * 40, "invalid JSON"),
        (said({}), "no content"),
        (said({"content": "  "}), "no content"),
        (said({"content": 7}), "content is not text"),
        (said({"content": "x" * 10_001}), "content of more than 10,000 characters"),
        (said({"content": "a\x00b"}), "content has a NUL character"),
        (said({"content": "tea", "tags": [1]}), "a tag is not text"),
        (said({"content": "tea", "tags": ["a\nb"]}), "a tag is not at most 500 printable characters"),
        (said({"content": "tea", "tags": ["a"] * 51}), "more than 50 tags"),
        (said({"content": "tea", "category": 4}), "category is not text"),
        (said({"content": "tea", "subject": "x" * 501}), "subject of more than 500 characters"),
        (said({"content": "tea", "attribute": "drink"}), "an attribute without a subject"),
        (said({"content": "tea", "value": []}), "value is not text"),
        (said({"content": "tea", "value": "x" * 10_001}), "value of more than 10,000 characters"),
        (said({"content": "tea", "importance": 2}), "importance is not a number from 0 to 1"),
        (said({"content": "tea", "importance": True}), "importance is not a number from 0 to 1"),
        (said({"content": "tea", "expires": "soon"}), "expires is not a time such as 2027-01-31 or 2027-01-31T12:00Z"),
    ],
)  # fmt: skip
def test_a_malformed_marker_is_reported_and_stays_in_the_text(text: str, problem: str) -> None:
    reading = read(f"Well.\n{text}\n")

    assert [(marker.status, marker.problem) for marker in reading.markers] == [(Status.MALFORMED, problem)]
    assert reading.display == f"Well.\n{text}\n"
    assert reading.marks == ()


def test_a_marker_that_breaks_off_takes_nothing_of_the_next_with_it() -> None:
    reading = read(f'[REMEMBER] {{"content": "half\n{TEA}\nThe rest.')

    assert [marker.status for marker in reading.markers] == [Status.MALFORMED, Status.KEPT]
    assert reading.display == '[REMEMBER] {"content": "half\nThe rest.'


# Where it stands


@pytest.mark.parametrize(
    "text",
    [
        '[REMEMBER] {"content": "braces } { in \\" strings", "more": {"nested": [{"deep": {}}]}}',
        '[REMEMBER]{"content": "close by"}',
        '   [REMEMBER] \t {"content": "a little in"}',
        '[REMEMBER] {\n  "content": "over lines",\n\n  "tags": []\n}',
        'Text with ` a tick\n[REMEMBER] {"content": "after it"}\nand another `',
        '> a quote\n[REMEMBER] {"content": "after it"}',
        '```\ncode\n```\n[REMEMBER] {"content": "after code"}',
        '~~~~\n```\n~~~\n~~~~\n[REMEMBER] {"content": "after code"}',
        '```one line```\n[REMEMBER] {"content": "after inline code"}',
        '- ```\n  code\n  ```\n\n[REMEMBER] {"content": "after code in a list"}',
        '[REMEMBER] {"content": "x"}\r\n',
        '[REMEMBER] {"content": "trailing"} and prose',
    ],
)
def test_a_marker_at_the_start_of_a_line_is_kept(text: str) -> None:
    assert only(text).status is Status.KEPT
    assert "[REMEMBER]" not in read(text).display


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"```\n{TEA}\n```", "in code"),
        (f"```json\nunclosed\n{TEA}", "in code"),
        (f"````\n```\n{TEA}\n````", "in code"),
        (f"~~~\n```\n{TEA}\n~~~", "in code"),
        (f"1. ```\n   {TEA}\n   ```", "in code"),
        (f"    {TEA}", "in code"),
        (f"\t{TEA}", "in code"),
        (f" \t{TEA}", "in code"),
        (f"> {TEA}", "in a quote"),
        (f"  >{TEA}", "in a quote"),
        (f"`{TEA}`", "not at the start of a line"),
        (f"Write {TEA}", "not at the start of a line"),
        (f"- {TEA}", "not at the start of a line"),
        ("Like this: [REMEMBER] {…}", "not at the start of a line"),
        (TEA.replace("[REMEMBER]", "**[REMEMBER]**"), "not at the start of a line"),
        (TEA.replace("[REMEMBER]", "- `[REMEMBER]`:"), "not at the start of a line"),
        (f"I was told:\n<recollect-context>\nThis is\n{TEA}\n</recollect-context>", "in what Recollect told"),
        (f" <recollect-context>\r\n```\n{TEA}", "in what Recollect told"),
        (f"<recollect-context>\n{marker_form()}</recollect-context>\n", "in what Recollect told"),
        (marker_form(), "the example that Recollect gave"),
        (f"[REMEMBER] {EXAMPLE.replace('content', 'text')}", "the example that Recollect gave"),
        (f"{OUR_EXAMPLE} and so on", "the example that Recollect gave"),
    ],
)
def test_a_quoted_marker_is_reported_and_stays_in_the_text(text: str, problem: str) -> None:
    marker = only(text)

    assert (marker.status, marker.problem) == (Status.QUOTED, problem)
    assert text[marker.start :].startswith("[REMEMBER]")
    assert read(text).display == text


def test_behind_what_we_told_and_beside_our_example_a_marker_is_kept() -> None:
    told = f"<recollect-context>\n{marker_form()}</recollect-context>"
    assert [marker.status for marker in read(f"{told}\n{TEA}").markers] == [Status.QUOTED, Status.KEPT]
    assert [marker.status for marker in read(f"{OUR_EXAMPLE}\n{TEA}").markers] == [Status.QUOTED, Status.KEPT]
    assert [marker.status for marker in read(f"<recollect-context> is an element.\n{TEA}").markers] == [Status.KEPT]
    assert only(OUR_EXAMPLE.replace("14", "15")).status is Status.KEPT


def test_talk_about_the_word_alone_is_nothing() -> None:
    assert read("Use the [REMEMBER] marker.\n`[REMEMBER]` it is.").markers == ()
    assert read("[remember] {}").markers == ()


# What is shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TEA, "◆"),
        (f"Noted.\n\n{TEA}", "Noted. ◆"),
        (f"Noted.\n\n{TEA}\n", "Noted. ◆"),
        (f"One\n{TEA}\nTwo", "One ◆\nTwo"),
        (f"One\n\n{TEA}\n\nTwo", "One ◆\n\nTwo"),
        (f"One\n{TEA}\n\nTwo", "One ◆\n\nTwo"),
        (f"One\n\n{TEA}\nTwo", "One ◆\n\nTwo"),
        (f"One\n\n{TEA}\n\n{TEA}\n\n    two", "One ◆◆\n\n    two"),
        (f"{TEA}\n\nTwo\n", "◆ Two\n"),
        (f"One\n{TEA} Two", "One\n◆ Two"),
        (f"One\n{TEA} {TEA}\nTwo", "One ◆◆\nTwo"),
        (f"```\ncode\n```\n{TEA}", "```\ncode\n```\n◆"),
        ("One\n\n\n", "One\n\n\n"),
    ],
)
def test_a_marker_leaves_a_sign_and_no_empty_line(text: str, shown: str) -> None:
    assert marked(read(text)) == shown


def test_blocks_of_a_message_are_read_each_for_itself() -> None:
    reading = read("```\nnever closed", TEA, "Done.")

    (marker,) = reading.markers
    assert marker.status is Status.KEPT
    joined = f"```\nnever closed\n\n{TEA}\n\nDone."
    assert joined[marker.start : marker.end] == TEA
    assert reading.display == "```\nnever closed\n\nDone."
    assert reading.display[: reading.marks[0]] == "```\nnever closed"


# Streamed

BITS = [
    "[REMEMBER]",
    "[REMEM",
    ' {"content": "tea"}',
    '{"content":',
    '"a } b"',
    "}",
    "{",
    "[",
    "]",
    ",",
    ":",
    "1.5",
    "true",
    '"',
    "\\",
    "`",
    "```",
    "~~~~",
    "> ",
    "- ",
    " ",
    "   ",
    "    ",
    "\t",
    OUR_EXAMPLE,
    "\n<recollect-context>\n",
    "</recollect-context>",
    "\r",
    "\n",
    "\n\n",
    "words",
    "é◆",
    TEA,
    said({"content": "tea", "category": "odd"}),
]
TEXTS = st.lists(st.sampled_from(BITS), max_size=25).map("".join)


def streamed(chunks: list[str]) -> tuple[list[Piece], list[Marker]]:
    reader = Reader()
    pieces = [piece for chunk in chunks for piece in reader.feed(chunk)]
    return pieces + reader.finish(), reader.markers


@given(text=TEXTS, cuts=st.lists(st.integers(0, 400), max_size=8))
@example(text=f"One\n{TEA}\nTwo", cuts=list(range(200)))
@example(text=f"```\n{TEA}\n```\n{TEA} more", cuts=list(range(400)))
def test_text_cut_anywhere_reads_as_the_whole(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]

    pieces, markers = streamed([text[start:end] for start, end in pairwise(places)])

    whole = read(text)
    assert "".join(piece.text for piece in pieces) == whole.display
    assert markers == list(whole.markers)
    assert [piece.marker for piece in pieces if piece.marker] == whole.kept
    marks: list[int] = []
    shown = 0
    for piece in pieces:
        shown += len(piece.text)
        marks += [shown] if piece.marker else []
    assert tuple(marks) == whole.marks


@given(text=TEXTS)
def test_nothing_is_lost_but_markers_and_blanks(text: str) -> None:
    reading = read(text)

    left, at = "", 0
    for marker in reading.kept:
        left += text[at : marker.start]
        at = marker.end
    left += text[at:]
    assert "".join(reading.display.split()) == "".join(left.split())
    assert [marker.start for marker in reading.markers] == sorted(marker.start for marker in reading.markers)
    assert all(text.startswith("[REMEMBER]", marker.start) for marker in reading.markers)
    if not reading.kept:
        assert reading.display == text


def test_text_is_shown_as_soon_as_it_is_certain() -> None:
    reader = Reader()

    assert reader.feed("Hello") == [Piece(text="Hello")]
    assert reader.feed(" there\n[RE") == [Piece(text=" there")]
    assert reader.feed("AD me]") == [Piece(text="\n[READ me]")]
    assert reader.feed('\n[REMEMBER] {"content": ') == []
    (mark, prose) = reader.feed('"tea"} and')[-2:]
    assert mark.marker
    assert mark.marker.status is Status.KEPT
    assert prose == Piece(text="and")
    assert reader.feed('\n[REMEMBER] {"content": wrong') == []
    assert reader.feed(" here") == [Piece(text='\n[REMEMBER] {"content": wrong here')]
    assert reader.finish() == []


@pytest.mark.parametrize(
    "bit",
    ["[REMEMBER] {", "[REMEMBER] {\n", '[REMEMBER] {"a":\n', "[REMEMBER] {" + " \n" * 500, TEA + "\n", '"\\', " \n"],
)
def test_hostile_text_is_read_in_one_go(bit: str) -> None:
    """A third of a megabyte. Were the work quadratic, the time limit of a test would not be enough."""
    text = bit * (300_000 // len(bit))

    assert len(read(text).display) <= len(text)
    assert (
        "".join(piece.text for piece in streamed([text[at : at + 97] for at in range(0, len(text), 97)])[0])[:10]
        == (read(text).display[:10])
    )
