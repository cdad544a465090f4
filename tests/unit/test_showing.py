"""Live markers: what people see while an answer streams in, and of the whole of it."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from recollect.llm.talking import Piece, TextPiece, ThinkingPiece, ToolPiece
from recollect.mind.channel import KeptMark, Words
from recollect.mind.showing import Showing, Visible, rendered, shown_text

KEPT = '[REMEMBER] {"content": "The well is 14 metres deep."}'
BETWEEN = ToolPiece(name="search_memory")


def showing(*pieces: Piece) -> list[Visible]:
    shown = Showing()
    return [one for piece in pieces for one in shown.feed(piece)] + shown.finish()


def said(*texts: str) -> list[Piece]:
    return [TextPiece(text=text) for text in texts]


def test_words_are_shown_as_they_come() -> None:
    shown = Showing()

    assert shown.feed(TextPiece(text="Good ")) == [Words(text="Good")]
    assert shown.feed(TextPiece(text="morning.")) == [Words(text=" morning.")]
    assert shown.finish() == []


def test_a_marker_is_hidden_and_a_mark_stands_for_it() -> None:
    shown = showing(
        *said("I will know.\n[REMEM", 'BER] {"content": "The well is ', '14 metres deep."}\nAnything else?')
    )

    assert KeptMark() in shown
    assert rendered(shown) == "I will know. ◆\nAnything else?"


def test_nothing_of_a_marker_is_shown_before_it_is_known_to_be_one() -> None:
    shown = Showing()

    assert rendered(shown.feed(TextPiece(text="Yes.\n[REMEMBER] {"))) == "Yes."
    assert rendered(shown.finish()) == "\n[REMEMBER] {"


def test_a_marker_that_cannot_be_read_stays_in_the_text() -> None:
    assert rendered(showing(*said("[REMEMBER] {oops}\n", "Yes."))) == "[REMEMBER] {oops}\nYes."


def test_blocks_before_and_behind_a_tool_call_stand_apart() -> None:
    shown = showing(*said("I look."), BETWEEN, *said(f"Found.\n{KEPT}"), ThinkingPiece(), *said("Done."))

    assert rendered(shown) == "I look.\n\nFound. ◆\n\nDone."


def test_a_block_of_nothing_but_a_marker_puts_its_mark_behind_what_was_said_before() -> None:
    assert rendered(showing(*said("I look."), BETWEEN, *said(KEPT), BETWEEN, *said("Done."))) == "I look. ◆\n\nDone."


def test_code_that_one_block_leaves_open_does_not_hide_the_marker_of_the_next() -> None:
    assert rendered(showing(*said("```\nopen"), BETWEEN, *said(KEPT))) == "```\nopen ◆"


def test_a_block_with_no_words_leaves_no_gap() -> None:
    assert rendered(showing(*said(""), BETWEEN, *said("Done."), BETWEEN)) == "Done."


def test_what_an_interrupted_answer_held_back_is_shown() -> None:
    assert rendered(showing(*said("So:\n[REM"))) == "So:\n[REM" == shown_text(["So:\n[REM"])


SNIPPETS = (
    KEPT,
    "[REMEMBER]",
    "[REMEMBER] {",
    '[REMEMBER] {"content": 1}',
    "{}",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "\t",
    "    ",
)
SIGNS = ("Yes.", "`", "```", "~~~", "> ", "- ", "◆", "é👩\u200d👧")
PARTS = st.lists(st.sampled_from((*SNIPPETS, *SIGNS)), max_size=12).map("".join)
TEXTS = st.lists(PARTS | st.text(max_size=20), max_size=4)


@given(texts=TEXTS, data=st.data())
def test_any_split_shows_what_the_whole_answer_shows(texts: Sequence[str], data: st.DataObject) -> None:
    pieces: list[Piece] = []
    for text in texts:
        cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
        pieces += [TextPiece(text=text[a:b]) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        pieces.append(data.draw(st.sampled_from([BETWEEN, ThinkingPiece()])))

    assert rendered(showing(*pieces)) == shown_text(texts)


@given(texts=TEXTS)
def test_there_is_a_mark_for_each_thing_that_was_kept(texts: Sequence[str]) -> None:
    shown = showing(*(piece for text in texts for piece in (TextPiece(text=text), BETWEEN)))

    assert shown.count(KeptMark()) == shown_text(texts).count("◆") - "".join(texts).count("◆")
    assert all(one.text for one in shown if isinstance(one, Words))
