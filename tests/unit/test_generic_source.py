"""The documented JSON-lines format, for any program that wants to feed history (H1)."""

from typing import Any

import pytest
from builders import fold, generic, jsonl, moment, raw
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources import BadRecord, FileFacts, Head, recognise, source_named, sources
from recollect.history.sources.generic import Generic

SOURCE = Generic()
FACTS = FileFacts(key="chat.jsonl", kind="session")
OTHER_FACTS = FileFacts(key="other.jsonl", kind="session")
NAMES: list[dict[str, str]] = [{"name": "Mara"}, {"name": "Tomas"}, {}]
KEYS = ["8c6e2d9804739e06be7b3d87", "90451ef8d91e77916517c311", "dfc284bfbe3b12eec8787da7", "fba87705cb0edcb374b13557"]
"""As version 2 of the parser made them."""


def read(record: dict[str, Any], facts: FileFacts = FACTS) -> Entry:
    return SOURCE.parse(raw(record), facts)


def test_a_full_record_says_who_what_when_and_where() -> None:
    record = generic("user", "tea?", id="7", session="s1", at="2026-03-02T11:00:00+01:00", cwd="/x", model="m")
    entry = read(record)
    assert (entry.author, entry.standing, entry.text) == (Author.USER, Standing.SAID, "tea?")
    assert (entry.at, entry.session_id, entry.stream, entry.cwd, entry.model) == (
        moment(),
        "s1",
        "s1",
        "/x",
        "m",
    )


@pytest.mark.parametrize(
    ("name", "author", "standing"),
    [
        ("user", Author.USER, Standing.SAID),
        ("Human", Author.USER, Standing.SAID),
        ("assistant", Author.ASSISTANT, Standing.SAID),
        ("model", Author.ASSISTANT, Standing.SAID),
        ("tool", Author.TOOL, Standing.ASIDE),
        ("system", Author.MACHINE, Standing.ASIDE),
        ("developer", Author.MACHINE, Standing.ASIDE),
        ("subagent", Author.SUBAGENT, Standing.ASIDE),
    ],
)
@pytest.mark.parametrize("field", ["author", "role", "sender"])
def test_authors_have_many_names(field: str, name: str, author: Author, standing: Standing) -> None:
    entry = read({field: name, "text": "x"})
    assert (entry.author, entry.standing) == (author, standing)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("one", "one"),
        (["one", "two"], "one\n\ntwo"),
        ([{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, 7, None], "one"),
        ("", ""),
        ([], ""),
    ],
)
def test_content_may_be_text_or_parts_case_32(content: object, words: str) -> None:
    assert read({"role": "user", "content": content}).text == words


@pytest.mark.parametrize("field", ["name", "speaker"])
@pytest.mark.parametrize("author", ["user", "assistant", "subagent"])
def test_the_text_begins_with_the_name_of_who_said_it(author: str, field: str) -> None:
    entry = read({"author": author, field: "Mara", "content": ["bread?", "or cake?"]})
    assert entry.text == "Mara: bread?\n\nor cake?"
    assert entry.blocks == [{"type": "text", "text": "Mara: bread?\n\nor cake?"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (" Mara\n Lind ", "Mara Lind: bread?"),
        (7, "7: bread?"),
        ("", "bread?"),
        (" ", "bread?"),
        (None, "bread?"),
        (True, "bread?"),
        ({"first": "Mara"}, "bread?"),
        (["Mara"], "bread?"),
    ],
)
def test_a_name_is_one_line_and_may_be_missing(name: object, text: str) -> None:
    assert read({"author": "user", "name": name, "text": "bread?"}).text == text


@pytest.mark.parametrize("author", ["tool", "function", "system"])
def test_the_name_of_a_tool_or_a_program_is_no_speaker(author: str) -> None:
    assert read({"author": author, "name": "lookup", "text": "3 found"}).text == "3 found"


@pytest.mark.parametrize("words", ["", "  "])
def test_who_said_nothing_says_nothing(words: str) -> None:
    assert read({"author": "user", "name": "Mara", "text": words}).text == words


def test_two_people_may_say_the_same_at_the_same_time() -> None:
    mara, tomas, nobody = (read(generic("user", "me!", at=moment(), **who)) for who in NAMES)
    assert len({mara.key, tomas.key, nobody.key}) == 3
    mara, tomas, nobody = (read(generic("user", "me!", id="1", session="s", **who)) for who in NAMES)
    assert mara.key == tomas.key == nobody.key


def test_what_a_message_without_a_name_is_known_by_never_changes() -> None:
    keys = [
        read(generic("user", "tea?", id="7", session="s1", at=moment())).key,
        read(generic("user", "tea?", session="s1", at=moment())).key,
        read(generic("user", "tea?", at=moment())).key,
        read(generic("user", "tea?")).key,
    ]
    assert keys == KEYS


def test_tools_are_tool_calls_beside_the_text() -> None:
    folded = fold(jsonl(generic("assistant", "done", tools=["Read", 3, "Bash"])), source=SOURCE, facts=FACTS)
    (message,) = folded.messages.values()
    assert (message.text, message.tools) == ("done", ["Read", "Bash"])


def test_a_title_may_stand_alone_or_beside_words() -> None:
    alone, beside = read({"title": "Tea", "session": "s"}), read(generic("user", "tea?", title="Tea"))
    assert (alone.title, alone.key) == ("Tea", "")
    assert (beside.title, beside.text) == ("Tea", "tea?")


@pytest.mark.parametrize(
    "record",
    [{}, {"author": "user"}, {"text": "x"}, {"author": "cat", "text": "x"}, {"author": 1, "text": "x"}],
)
def test_a_record_without_an_author_or_words_is_bad_and_the_reason_helps(record: dict[str, Any]) -> None:
    with pytest.raises(BadRecord, match="author"):
        read(record)


@pytest.mark.parametrize("line", [b"", b"[1]", b"x", b'"x"', b"\xff", b'{"a":' + b"[" * 9_000 + b"]" * 9_000 + b"}"])
def test_what_is_no_object_is_bad_cases_22_32(line: bytes) -> None:
    with pytest.raises(BadRecord):
        SOURCE.parse(line, FACTS)


def test_a_record_is_known_by_its_id_else_by_time_and_words_else_by_its_place() -> None:
    named = read(generic("user", "a", id="1", session="s"))
    assert named.key == read(generic("user", "edited", id="1", session="s"), OTHER_FACTS).key
    assert named.key != read(generic("user", "a", id="1", session="t")).key
    dated = read(generic("user", "a", at=moment()))
    assert dated.key == read(generic("user", "a", at=moment()), OTHER_FACTS).key
    assert dated.key != read(generic("assistant", "a", at=moment())).key
    bare = read(generic("user", "a"))
    assert bare.key_by_place
    assert bare.key != read(generic("user", "a"), OTHER_FACTS).key


def test_numbers_as_ids_in_two_files_without_sessions_do_not_swallow_each_other() -> None:
    """An id says which record of its session it is; without a session, which record of its file."""
    first = read(generic("user", "tea?", id=1))
    second = read(generic("user", "a quite different thing", id=1), OTHER_FACTS)
    assert first.key != second.key


@pytest.mark.parametrize("value", [0, 1, "0"])
def test_an_id_that_is_zero_is_an_id(value: object) -> None:
    keys = {read(generic("user", words, id=value, session="s", at=moment())).key for words in ("a", "b")}
    assert len(keys) == 1


def test_a_session_may_be_named_by_a_number() -> None:
    assert read(generic("user", "a", session=12)).session_id == "12"


def test_several_sessions_in_one_file_are_streams_of_their_own() -> None:
    records = [generic("user", f"w{number}", session=f"s{number % 2}", at=moment(number)) for number in range(4)]
    folded = fold(jsonl(*records), source=SOURCE, facts=FACTS)
    assert [message.stream for message in folded.messages.values()] == ["s0", "s1", "s0", "s1"]
    assert folded.links == set()


def test_it_is_asked_last_and_found_by_name() -> None:
    assert list(sources())[-1] == "generic"
    assert source_named("generic").name == "generic"
    found = recognise(Head("x.jsonl", b'{"role": "user", "content": "x"}'))
    assert found is not None
    assert found.name == "generic"
    assert recognise(Head("x.jsonl", b'{"a": 1}')) is None


@given(
    st.dictionaries(
        st.sampled_from(
            ["author", "role", "text", "content", "id", "session", "at", "timestamp", "title", "tools", "cwd", "name"]
        ),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.sampled_from(["user", "x", "a\x00"])
        | st.lists(st.text()),
    )
)
@settings(max_examples=100)
def test_any_object_is_read_or_a_bad_record(record: dict[str, Any]) -> None:
    try:
        entry = read(record)
    except BadRecord:
        return
    assert "\x00" not in entry.text
    assert bool(entry.key) or bool(entry.title)
