"""Aider's Markdown: who said a line, sessions apart, and a file that grows at any byte."""

import io
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.aider import Aider
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Opened

SOURCE = Aider()
FACTS = FileFacts(key="garden/.aider.chat.history.md", kind="session", cwd="/home/ada/garden")
START = "2026-03-02 10:00:00"


class Chat:
    """Writes as Aider does: what it appends for the start of a session, a prompt, a reply and its own output."""

    def __init__(self, started: str = START) -> None:
        self.text = f"\n# aider chat started at {started}\n\n"

    def prompt(self, words: str) -> "Chat":
        lines = "  \n#### ".join(words.splitlines() or ["<blank>"])
        self.text += f"\n#### {lines}".rstrip() + "  \n"
        return self

    def reply(self, words: str) -> "Chat":
        self.text += f"\n{words.strip()}\n\n"
        return self

    def output(self, *words: str) -> "Chat":
        for written in words:
            self.text += f"> {written.strip()}".rstrip() + "  \n"
        return self


def records(text: str | bytes) -> list[bytes]:
    content = text.encode() if isinstance(text, str) else text
    opened = Opened(path="/home/ada/garden/.aider.chat.history.md", file=io.BytesIO(content), report=pytest.fail)
    found = SOURCE.transcripts(opened, FACTS)
    assert found is not None
    (transcript,) = found
    assert transcript.facts == FACTS
    return list(transcript.records)


def read(text: str | bytes) -> list[Entry]:
    return [SOURCE.parse(record, FACTS) for record in records(text)]


def roles(text: str | bytes) -> list[tuple[str, str]]:
    return [(entry.kind, entry.text) for entry in read(text)]


def test_a_session_is_prompts_replies_and_output_in_order() -> None:
    chat = Chat().output("Aider v0.86.2", "Main model: gpt-4o with diff edit format")
    chat.prompt("Sow the beans\n\n  in rows").reply("I will.\n\nDone.").output("Applied edit to beds.py", "Commit 1")
    entries = read(chat.text)
    assert [(entry.author, entry.standing, entry.message_kind, entry.text) for entry in entries] == [
        (Author.TOOL, Standing.ASIDE, "output", "Aider v0.86.2\nMain model: gpt-4o with diff edit format"),
        (Author.USER, Standing.SAID, "", "Sow the beans\n\n  in rows"),
        (Author.ASSISTANT, Standing.SAID, "", "I will.\n\nDone."),
        (Author.TOOL, Standing.ASIDE, "output", "Applied edit to beds.py\nCommit 1"),
    ]
    assert [entry.model for entry in entries] == ["", "", "gpt-4o", ""]
    assert {entry.at for entry in entries} == {"2026-03-02T10:00:00.000Z"}
    assert {entry.cwd for entry in entries} == {"/home/ada/garden"}
    assert {entry.stream for entry in entries} == {START}
    assert [block["type"] for entry in entries for block in entry.blocks] == [
        "tool_result",
        "text",
        "text",
        "tool_result",
    ]
    assert entries[1].counted_blocks == ("user:text",)
    assert len({entry.key for entry in entries}) == 4


def test_headings_and_quotations_in_a_reply_are_neither_prompts_nor_output() -> None:
    quoted = "> quoted at once\n\n#### A heading\n\n> a quotation\n> with a hard break  "
    words = f"{quoted}\n\nand\n#### beside  \n# aider\n> x  "
    chat = Chat().prompt("Explain").reply(words).prompt("Thanks")
    assert roles(chat.text) == [("user", "Explain"), ("assistant", words.strip()), ("user", "Thanks")]


def test_output_of_several_lines_has_one_mark_and_one_end() -> None:
    log = "commit 1\nAuthor: Ada\n\n    #### not a prompt\n\n> nor output\nthe end"
    chat = Chat().output("Aider").prompt("/git log").output(log, "next").prompt("go").reply("ok")
    assert roles(chat.text) == [
        ("tool", "Aider"),
        ("user", "/git log"),
        ("tool", f"{log}\nnext"),
        ("user", "go"),
        ("assistant", "ok"),
    ]
    padded = Chat().prompt("a").output("short   \nlonger\nb", "Add? (Y)es/(N)o [Yes]: y").reply("done")
    assert [role for role, _ in roles(padded.text)] == ["user", "tool", "assistant"]


def test_two_prompts_are_two_messages_and_one_of_many_lines_is_one() -> None:
    chat = Chat().prompt("one\ntwo").prompt("three")
    assert roles(chat.text) == [("user", "one\ntwo"), ("user", "three")]


@pytest.mark.parametrize(
    ("prompt", "standing", "kind"),
    [
        ("/add beds.py", Standing.ASIDE, "command"),
        ("/clear", Standing.ASIDE, "command"),
        ("/ask why beans?", Standing.SAID, "command"),
        ("/as why beans?", Standing.SAID, "command"),
        ("/ask", Standing.ASIDE, "command"),
        ("/architect a shed", Standing.SAID, "command"),
        ("/code it", Standing.SAID, "command"),
        ("/commit it", Standing.ASIDE, "command"),
        ("/copy-context look at this", Standing.SAID, "command"),
        ("!ls", Standing.SAID, "shell"),
        ("/run make", Standing.SAID, "shell"),
        ("/home/ada/beds.py is wrong", Standing.SAID, ""),
        ("<blank>", Standing.ASIDE, "empty"),
        ("Add file? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: all", Standing.ASIDE, "answer"),
    ],
)
def test_commands_are_aside_unless_they_carry_words(prompt: str, standing: Standing, kind: str) -> None:
    (entry,) = read(Chat().prompt(prompt).text)
    assert (entry.author, entry.standing, entry.message_kind) == (Author.USER, standing, kind)


def test_words_that_aider_writes_again_without_their_command_are_repeated() -> None:
    chat = Chat().prompt("/ask why\nso?").prompt("why\nso?").reply("Because.").prompt("why\nso?")
    assert [entry.standing for entry in read(chat.text)] == [
        Standing.SAID,
        Standing.REPEATED,
        Standing.SAID,
        Standing.SAID,
    ]


@pytest.mark.parametrize("question", [(), ("Edit the files? (Y)es/(N)o [Yes]: y",)])
def test_a_plan_that_is_handed_to_the_editor_was_not_typed(question: tuple[str, ...]) -> None:
    plan = "Plan:\n\n1. dig\n2. sow"
    chat = Chat().prompt("plan it").reply(plan).output(*question).prompt(plan).reply("edited").prompt("thanks")
    spoken = [entry for entry in read(chat.text) if entry.author is not Author.TOOL]
    assert [(entry.author, entry.message_kind) for entry in spoken] == [
        (Author.USER, ""),
        (Author.ASSISTANT, ""),
        (Author.MACHINE, "task"),
        (Author.ASSISTANT, ""),
        (Author.USER, ""),
    ]


def test_a_plan_that_was_refused_is_followed_by_a_true_prompt() -> None:
    chat = Chat().prompt("plan it").reply("Plan").output("Edit the files? (Y)es/(N)o [Yes]: n").prompt("not so")
    assert read(chat.text)[-1].author is Author.USER


@pytest.mark.parametrize("text", ["# Question: how?\n\n# Relevant docs:", "# Fix any errors below, if possible.\n\nE1"])
def test_what_help_and_lint_send_in_the_users_name_is_machine_text(text: str) -> None:
    entry = read(Chat().prompt(text).text)[0]
    assert (entry.author, entry.standing) == (Author.MACHINE, Standing.ASIDE)


def test_sessions_are_streams_of_their_own_even_in_the_same_second() -> None:
    text = (
        Chat().prompt("a").text + Chat().text + Chat().prompt("a").text + Chat("2026-03-03 09:00:00").prompt("a").text
    )
    entries = read(text)
    assert [entry.stream for entry in entries] == [START, f"{START} (3)", "2026-03-03 09:00:00"]
    assert len({entry.key for entry in entries}) == 3


def test_sessions_of_two_projects_in_the_same_second_do_not_swallow_each_other() -> None:
    one = read(Chat().prompt("Sow beans").reply("Yes.").text)
    other = read(Chat().prompt("Build a shed").reply("Yes.").text)
    assert not {entry.key for entry in one} & {entry.key for entry in other}


def test_a_start_is_only_one_below_an_empty_line_and_with_a_time() -> None:
    words = f"see\n# aider chat started at {START}\n\n# aider chat started at noon"
    assert roles(Chat().prompt("a").reply(words).text) == [("user", "a"), ("assistant", words)]


def test_what_stands_before_the_first_session_is_known_by_its_place() -> None:
    entries = read("the end of a reply\n\n#### more  \n" + Chat().prompt("a").text)
    assert [(entry.kind, entry.stream, entry.at, entry.key_by_place) for entry in entries] == [
        ("assistant", "", None, True),
        ("user", "", None, True),
        ("user", START, "2026-03-02T10:00:00.000Z", False),
    ]


def test_a_file_whose_spaces_an_editor_took_away_is_read_as_aider_itself_reads_it() -> None:
    chat = Chat().output("Aider").prompt("one\n\ntwo").reply("Sure.\n> beside").output("Tokens").prompt("three")
    stripped = "\n".join(line.rstrip() for line in chat.text.split("\n"))
    assert roles(stripped) == [
        ("tool", "Aider"),
        ("user", "one\n\ntwo"),
        ("assistant", "Sure.\n> beside"),
        ("tool", "Tokens"),
        ("user", "three"),
    ]


def test_windows_line_ends_a_byte_order_mark_and_broken_bytes_change_nothing_else() -> None:
    chat = Chat().output("Aider").prompt("one\ntwo").reply("#### Heading\n\nfür")
    expected = roles(chat.text)
    assert roles(chat.text.replace("\n", "\r\n")) == expected
    assert roles(b"\xef\xbb\xbf" + chat.text.lstrip().encode()) == expected
    assert roles(chat.text.encode("latin-1"))[-1] == ("assistant", "#### Heading\n\nf\ufffdr")
    assert roles(Chat().prompt("a\x00b").text) == [("user", "a\ufffdb")]


SPOKEN = st.text(st.sampled_from("ab #>\n`é/"), min_size=1, max_size=40).filter(str.strip)
STEP = st.tuples(st.sampled_from(["prompt", "reply", "output"]), SPOKEN)


@given(st.lists(STEP, max_size=8), st.data())
@settings(max_examples=150)
def test_a_file_that_grows_at_any_byte_gives_the_messages_of_the_whole(steps: list[tuple[str, str]], data: Any) -> None:
    """Records are replaced by those in the same place, and every key that was ever given is there at the end."""
    chat = Chat().output("Aider")
    for how, words in steps:
        getattr(chat, how)(words)
    content = (chat.text + Chat().prompt("again").text).encode()
    whole = records(content)
    known = {SOURCE.parse(record, FACTS).key for record in whole}
    for cut in data.draw(st.lists(st.integers(0, len(content)), max_size=5)):
        part = records(content[:cut])
        assert {SOURCE.parse(record, FACTS).key for record in part} <= known
        assert part[:-1] == whole[: len(part[:-1])]


def test_a_last_line_without_an_end_is_read_unless_it_may_become_something_else() -> None:
    chat = Chat().prompt("a")
    assert roles(chat.text + "\nSur")[-1] == ("assistant", "Sur")
    assert roles(chat.text + "\n#### b")[-1] == ("user", "a")
    assert roles(chat.text + "> Tok")[-1] == ("user", "a")


def test_the_key_of_a_reply_stays_while_it_grows_and_its_text_is_replaced() -> None:
    first, later = (read(Chat().prompt("a").reply(words).text)[-1] for words in ("One.", "One.\n\nTwo."))
    assert first.key == later.key
    assert later.replaces


def test_long_output_is_cut_and_a_very_long_text_comes_in_pieces() -> None:
    (_, entry) = read(Chat().prompt("/map").output("x" * 5000).text)
    assert len(entry.text) < 2500
    assert entry.blocks[0]["characters"] == 5000
    pieces = records(Chat().prompt("a").reply("\n".join(["word " * 20_000] * 100)).text)
    assert len(pieces) > 2
    assert max(map(len, pieces)) < 8 << 20


def test_a_history_of_many_sessions_is_read_in_one_pass() -> None:
    text = "".join(
        Chat(f"2026-03-02 10:{n // 60 % 60:02}:{n % 60:02}").prompt(f"p{n}").reply("r").text for n in range(1133)
    )
    entries = read(text)
    assert len({entry.key for entry in entries}) == 2 * 1133


def test_it_is_recognised_by_how_a_session_starts() -> None:
    def known(path: str, start: str) -> bool:
        return SOURCE.recognises(Head(path=path, start=start.encode()))

    assert known("/x/notes.md", Chat().text)
    assert known("/x/.aider.chat.history.md", "\ufeff\n\n" + Chat().text)
    assert known("/x/.aider.chat.history.md", "cut\n" + Chat().text)
    assert not known("/x/notes.md", "About aider:\n" + Chat().text)
    assert not known("/x/.aider.chat.history.md", "# aider chat started at noon")


def test_it_is_found_by_its_name_and_the_project_is_its_folder() -> None:
    assert SOURCE.is_candidate("/home/ada/garden/.aider.chat.history.md")
    assert SOURCE.is_candidate("aider.chat.history.md")
    assert not SOURCE.is_candidate("/home/ada/garden/my.aider.chat.history.md")
    assert SOURCE.locate("/home/ada/garden/.aider.chat.history.md", "/home/ada") == FACTS
    assert SOURCE.locate("/home/ada/garden/.aider.chat.history.md", "/home/ada/garden/.aider.chat.history.md").key == (
        ".aider.chat.history.md"
    )


def test_the_place_is_the_home_or_what_the_variable_names() -> None:
    def places(value: str) -> list[str]:
        environment = {"AIDER_CHAT_HISTORY_FILE": value}
        return SOURCE.places(Computer(home="/home/ada", system="linux", environment=environment))

    assert places("") == places("chat.md") == ["/home/ada/.aider.chat.history.md"]
    assert places("/srv/chat.md") == ["/srv/chat.md"]
    assert places("~/chat.md") == ["/home/ada/chat.md"]


ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800") | st.lists(st.text())


@given(
    st.dictionaries(st.sampled_from(["session", "number", "index", "role", "text", "turn", "as", "model"]), ANY) | ANY
)
def test_any_record_is_read_or_bad(record: Any) -> None:
    values: list[Any] = [
        record,
        {**record, "role": "user", "text": "x"} if isinstance(record, dict) else {"role": "tool"},
    ]
    for value in values:
        try:
            entry = SOURCE.parse(json.dumps(value).encode(), FACTS)
        except BadRecord:
            continue
        assert entry.key
        assert "\x00" not in entry.text


def test_any_bytes_are_read() -> None:
    chance = random.Random(3)
    pieces = [
        b"\n",
        b"#### ",
        b"> ",
        b"  \n",
        b"\xff",
        b"\r",
        b"\x00",
        b"words",
        f"\n# aider chat started at {START}\n".encode(),
    ]
    for _ in range(500):
        read(b"".join(chance.choice(pieces) for _ in range(chance.randrange(40))))
