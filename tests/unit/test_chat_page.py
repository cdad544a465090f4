"""What is to be read in a terminal: cleaning, lines and the rest, what was typed, pictures."""

import asyncio
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from recollect.channels.cleaning import cleaned, on_one_line
from recollect.channels.images import image_in
from recollect.channels.page import Page
from recollect.channels.prompt import in_rows
from recollect.channels.terminal import Terminal, is_open_elsewhere, own_address
from recollect.channels.typed import ToDo, ToSay, path_and_words, understood
from recollect.errors import Invalid, NotFound, Unavailable
from recollect.mind.channel import Again, Began, KeptMark, Reply, Thinking, ToolResult, ToolUse, Words
from recollect.mind.saying import MOST_IMAGE_BYTES

AT = "2026-03-02T12:00:00.000Z"
FAMILY = "👩‍👩‍👧"
TEXTS = st.text(st.characters() | st.sampled_from("\n\n\t\x1b\x07\r\u202e◆"), max_size=60)


def page() -> Page:
    return Page(has_colours=False)


# Cleaning


@given(TEXTS)
def test_nothing_that_commands_a_terminal_is_left(text: str) -> None:
    left = cleaned(text).replace("\n", "")
    assert not any(unicodedata.category(one) in ("Cc", "Cs") for one in left)
    assert not any("\u202a" <= one <= "\u202e" or "\u2066" <= one <= "\u2069" for one in left)
    assert cleaned(cleaned(text)) == cleaned(text)


@given(st.lists(TEXTS, max_size=8))
def test_text_in_pieces_is_cleaned_like_a_whole_one(pieces: list[str]) -> None:
    assert "".join(map(cleaned, pieces)) == cleaned("".join(pieces))


@pytest.mark.parametrize("text", [FAMILY, "می‌خواهم", "שלום\u200f, abc", "豆 – ø", "nbsp\u00a0here", "❤️"])
def test_emoji_and_text_from_right_to_left_stay_as_they_are(text: str) -> None:
    assert cleaned(text) == text


def test_one_line_is_one_line_and_not_too_long() -> None:
    assert on_one_line(" a\n b\t\x1b[2Jc ") == "a b [2Jc"
    assert on_one_line("x" * 500, 10) == "x" * 9 + "…"


# The page


@given(st.lists(TEXTS, max_size=8))
def test_however_an_answer_is_cut_into_pieces_the_same_is_written(pieces: list[str]) -> None:
    in_pieces, whole = page(), page()
    for piece in pieces:
        in_pieces.words(piece)
    whole.words("".join(pieces))
    in_pieces.end()
    whole.end()
    assert in_pieces.take_finished() == whole.take_finished()


@given(st.lists(TEXTS, max_size=8))
def test_nothing_is_written_twice_and_nothing_is_left_out(pieces: list[str]) -> None:
    one, other = page(), page()
    written: list[str] = []
    for piece in pieces:
        one.words(piece)
        other.words(piece)
        written.append(one.take_finished())
        assert not written[-1] or written[-1].endswith("\n")
    assert "".join(written) + one.take_all() == other.take_all()


def test_a_paragraph_is_written_when_it_is_whole() -> None:
    paper = page()
    paper.words("The well is ")
    paper.words("38 m")
    assert (paper.take_finished(), paper.rest(100)) == ("", "The well is 38 m")

    paper.words(" deep.\nAnd")

    assert (paper.take_finished(), paper.rest(100)) == ("The well is 38 m deep.\n", "And")


def test_of_a_long_rest_only_the_end_is_drawn_and_all_is_written() -> None:
    paper = page()
    for number in range(1_000):
        paper.words(f"{number} ")
    assert paper.rest(10) == "…7 998 999 "
    paper.end()
    assert paper.take_finished().startswith("0 1 2 ")


@given(st.text(st.sampled_from("ab 豆é👩\u200d"), max_size=60), st.integers(2, 12))
def test_an_unfinished_paragraph_is_drawn_in_rows_that_fit(text: str, columns: int) -> None:
    rows = in_rows(text, columns)
    assert "".join(rows) == text
    assert all(get_cwidth(row) <= columns for row in rows)
    assert all(sum(map(get_cwidth, row)) >= columns - 1 for row in rows[:-1])


def test_a_tool_is_one_line_with_what_came_of_it() -> None:
    paper = page()
    paper.words("Let me look.")
    paper.asked(ToolUse(name="search_memory", line='"well depth"'))
    assert paper.doing == ['· search_memory "well depth" …']
    paper.answered(ToolResult(name="search_memory", line="4 hits"))
    paper.words("\n\n38 m.")
    paper.end()
    assert paper.doing == []
    assert paper.take_finished() == 'Let me look.\n· search_memory "well depth" → 4 hits\n38 m.\n\n'


def test_tools_that_work_side_by_side_keep_their_own_results() -> None:
    paper = page()
    for name in ("search_memory", "sql"):
        paper.asked(ToolUse(name=name, line="well"))
    paper.answered(ToolResult(name="sql", line="no such\ntable", is_error=True))
    paper.answered(ToolResult(name="search_memory", line="1 hit"))
    assert paper.take_finished() == "· sql well → failed: no such table\n· search_memory well → 1 hit\n"


def test_what_is_typed_meanwhile_stands_above_what_is_still_written() -> None:
    paper = page()
    paper.words("The well is 38")
    paper.said("And how old?\nRoughly.", "waits")
    assert paper.take_finished() == "› And how old?\n  Roughly.  (waits)\n"
    paper.words(" m deep.")
    paper.end()
    assert paper.take_finished() == "The well is 38 m deep.\n\n"


def test_thinking_is_a_quiet_sign_that_goes_when_words_come() -> None:
    paper = page()
    paper.thinking()
    assert paper.doing == ["· thinking …"]
    paper.words("Yes.")
    assert paper.doing == []
    assert paper.take_all() == "Yes."


def test_colours_are_ours_and_never_the_model_s() -> None:
    paper = Page(has_colours=True)
    paper.words("\x1b[31mred\x1b]0;title\x07\n")
    paper.asked(ToolUse(name="sql", line="\x1b[2J"))
    paper.answered(ToolResult(name="sql", line="\x1b[H"))
    assert paper.take_finished() == "[31mred]0;title\n\x1b[2m· sql [2J → [H\x1b[0m\n"


# The channel


def drawn(paper: Page, terminal: Terminal, *steps: object) -> str:
    for step in steps:
        if isinstance(step, Reply):
            asyncio.run(terminal.deliver(terminal.address, step))
        else:
            terminal.show(terminal.address, step)  # type: ignore[arg-type]
    return paper.take_all()


def reply(text: str = "", **more: object) -> Reply:
    return Reply(turn=1, text=text, at=AT, **more)  # type: ignore[arg-type]


def test_an_answer_that_was_shown_is_not_shown_again() -> None:
    paper = page()
    steps = (Began(turn=1, messages=1), Thinking(), Words(text="Kept. "), KeptMark(), reply("Kept. ◆", was_shown=True))
    assert drawn(paper, Terminal(paper, lambda: None), *steps) == "Kept. ◆\n\n"


def test_an_answer_that_was_made_elsewhere_is_shown_whole() -> None:
    paper = page()
    assert drawn(paper, Terminal(paper, lambda: None), reply("From afar.")) == "From afar.\n\n"


def test_a_stopped_answer_keeps_its_words_and_says_so() -> None:
    paper = page()
    steps = (Began(turn=1, messages=1), Words(text="The well is"), reply("", state="stopped", was_shown=True))
    assert drawn(paper, Terminal(paper, lambda: None), *steps) == "The well is\n· stopped\n\n"


def test_a_failed_turn_says_why() -> None:
    paper = page()
    failed = reply("The well\n\nThe server is busy.", state="failed", was_shown=True)
    steps = (Began(turn=1, messages=1), Words(text="The well"), failed)
    assert drawn(paper, Terminal(paper, lambda: None), *steps) == "The well\n! The server is busy.\n\n"


def test_an_answer_that_begins_anew_drops_what_is_not_written_yet() -> None:
    paper = page()
    steps = (Began(turn=1, messages=1), Words(text="The we"), Again(), Words(text="The well."), reply(was_shown=True))
    assert drawn(paper, Terminal(paper, lambda: None), *steps) == (
        "· the line broke; the answer begins anew\nThe well.\n\n"
    )


def test_all_is_answered_when_every_message_of_this_window_is() -> None:
    async def scene() -> None:
        paper = page()
        terminal = Terminal(paper, lambda: None)
        terminal.has_asked()
        terminal.show(terminal.address, Began(turn=1, messages=1))
        terminal.has_asked()
        assert (terminal.is_answering, terminal.unanswered) == (True, 2)
        await terminal.deliver(terminal.address, reply("One."))
        assert (terminal.is_answering, terminal.unanswered) == (False, 1)
        terminal.show(terminal.address, Began(turn=2, messages=1))
        await terminal.deliver(terminal.address, reply("Two."))
        await terminal.all_answered()
        await terminal.turn_over()

    asyncio.run(scene())


def test_an_answer_for_another_open_window_stays_for_it() -> None:
    paper = page()
    terminal = Terminal(paper, lambda: None)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        address = f"{own_address().rpartition('/')[0]}/{other.pid}"
        terminal.show(address, Words(text="not here"))
        assert not terminal.takes(address)
        other.communicate(b"\n")
    assert paper.take_all() == ""
    assert terminal.takes(address)
    asyncio.run(terminal.deliver(address, reply("Late.")))
    assert paper.take_all() == "· This answers what you said before:\nLate.\n\n"


def test_a_window_knows_which_others_are_open() -> None:
    assert not is_open_elsewhere(own_address())
    assert not is_open_elsewhere("")
    assert is_open_elsewhere(f"another-computer/{os.getpid()}")


def test_a_terminal_that_is_gone_keeps_the_answer_for_later() -> None:
    def draw() -> None:
        raise OSError(5, "Input/output error")

    terminal = Terminal(page(), draw)
    terminal.show(terminal.address, Words(text="The turn goes on."))
    with pytest.raises(Unavailable, match="recollect chat"):
        asyncio.run(terminal.deliver(terminal.address, reply("All of it.")))


# What was typed


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", None),
        (" \n ", None),
        ("hello there", ToSay(text="hello there")),
        ("  two\nlines \n", ToSay(text="two\nlines")),
        ("//etc is a folder", ToSay(text="/etc is a folder")),
        ("/quit", ToDo(command="quit", rest="")),
        ("/", ToDo(command="", rest="")),
        ("/image a.png  What is it? ", ToDo(command="image", rest="a.png  What is it?")),
    ],
)
def test_words_are_sent_and_commands_are_not(typed: str, meant: object) -> None:
    assert understood(typed) == meant


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("a.png", ("a.png", "")),
        ("a.png what's this?", ("a.png", "what's this?")),
        ("'my cat.png' nice", ("my cat.png", "nice")),
        ('"my cat.png"', ("my cat.png", "")),
        (r"my\ cat.png nice", ("my cat.png", "nice")),
        ("'unfinished.png", ("'unfinished.png", "")),
    ],
)
def test_a_path_may_have_spaces(rest: str, found: tuple[str, str]) -> None:
    assert path_and_words(rest) == found


# Pictures


@pytest.mark.parametrize(
    ("beginning", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_a_picture_is_known_by_its_bytes(tmp_path: Path, beginning: bytes, media_type: str) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(beginning + b"rest")
    found = image_in(str(path))
    assert (found.media_type, found.data) == (media_type, beginning + b"rest")


def test_what_is_no_picture_is_refused_by_name(tmp_path: Path) -> None:
    words, large = tmp_path / "words.png", tmp_path / "large.png"
    words.write_text("no picture")
    large.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(MOST_IMAGE_BYTES))
    with pytest.raises(NotFound, match="nowhere"):
        image_in(str(tmp_path / "nowhere.png"))
    for path, why in ((words, "PNG"), (large, "5 MB"), (tmp_path, "directory")):
        with pytest.raises(Invalid, match=why):
            image_in(str(path))
    for bad in ("~nobody-of-this-name/a.png", "a\0b.png"):
        with pytest.raises((Invalid, NotFound)):
            image_in(bad)
