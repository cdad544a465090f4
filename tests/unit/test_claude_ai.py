"""The export of Claude.ai: lists of messages in one large document (H1, H2)."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.claude_ai import ROOT, ClaudeAi
from recollect.history.sources.source import BadRecord, FileFacts, Head, Opened, Transcript
from recollect.ids import derived_id

SOURCE = ClaudeAi()
FILE = "export/conversations.json"
SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "claude-ai-export"
REMARK = "\n```\nThis block is not supported on your current device yet.\n```\n\n"

Json = dict[str, Any]


def uuid(number: int) -> str:
    return f"a3f0c1d2-0000-4000-8000-{number:012d}"


def at(minutes: int) -> str:
    return f"2026-01-01T{minutes // 60:02d}:{minutes % 60:02d}:00.123456Z"


def message(number: int, sender: str, *content: Any, parent: int | None = None, **fields: Any) -> Json:
    """`parent` is the number of the message it answers: by default the one before, 0 for none."""
    before = number - 1 if parent is None else parent
    return {
        "uuid": uuid(number),
        "text": "",
        "content": [text(item) if isinstance(item, str) else item for item in content],
        "sender": sender,
        "created_at": at(number),
        "updated_at": at(number),
        "attachments": [],
        "files": [],
        "parent_message_uuid": uuid(before) if before else ROOT,
        **fields,
    }


def text(words: Any) -> Json:
    stamp = {"start_timestamp": at(1), "stop_timestamp": at(2), "flags": None}
    return {**stamp, "type": "text", "text": words, "citations": []}


def conversation(*messages: Any, **fields: Any) -> Json:
    return {
        "uuid": "c0ffee00-0000-4000-8000-000000000001",
        "name": "Tea for two",
        "summary": "",
        "created_at": at(0),
        "updated_at": at(59),
        "account": {"uuid": uuid(900)},
        "chat_messages": list(messages),
        **fields,
    }


def read(document: Any, reports: list[str] | None = None) -> Iterator[Transcript]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    told: list[str] = [] if reports is None else reports
    return SOURCE.transcripts(Opened(FILE, io.BytesIO(data), told.append), SOURCE.locate(FILE, "export"))


def entries(document: Any, reports: list[str] | None = None) -> list[Entry]:
    return [SOURCE.parse(raw, told.facts) for told in read(document, reports) for raw in told.records]


def only(said: Json) -> Entry:
    (_, entry) = entries([conversation(said)])
    return entry


def said_in(document: Any) -> list[str]:
    return [entry.text for entry in entries(document) if entry.key and entry.standing is Standing.SAID]


def edited(**fields: Any) -> Json:
    """The first question was edited, and of the second text the reply was asked for twice."""
    return conversation(
        message(1, "human", "Green?", parent=0),
        message(2, "assistant", "Yes.", parent=1),
        message(3, "human", "Black?", parent=0),
        message(4, "assistant", "No.", parent=3),
        message(5, "assistant", "Well, yes.", parent=3),
        message(6, "human", "Thanks", parent=5),
        **fields,
    )


# --- The file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        [{"title": "t", "mapping": {"a": {}}, "current_node": "a"}],
        {"conversations": [{"from": "human", "value": 'my "chat_messages": [] here'}]},
        [{"uuid": "p", "name": "project", "prompt_template": "", "docs": []}],
        {"created_at": "x", "data_files": [{"category": "conversations"}]},
        [],
    ],
)
def test_other_documents_are_not_claimed(document: Any) -> None:
    assert not SOURCE.recognises(Head("x/conversations.json", json.dumps(document).encode()))


def test_each_conversation_is_a_transcript_with_its_own_key_and_age() -> None:
    (told,) = read([conversation(message(1, "human", "Hello"))])
    assert told.facts.key == told.facts.session_id == "c0ffee00-0000-4000-8000-000000000001"
    assert told.facts.is_unique
    assert told.version == "2026-01-01T00:59:00.123Z"


def test_a_conversation_without_an_id_is_known_by_its_time_and_title() -> None:
    (told,) = read([conversation(message(1, "human", "Hello"), uuid=None)])
    assert told.facts.key == derived_id("claude-ai", at(0), "Tea for two")
    assert {SOURCE.parse(raw, told.facts).session_id for raw in told.records} == {told.facts.key}


def test_messages_that_are_no_objects_are_reported_and_the_rest_is_read() -> None:
    reports: list[str] = []
    found = entries([conversation(None, message(1, "human", "Hello"), 7, "x")], reports)
    assert [entry.text for entry in found if entry.key] == ["Hello"]
    assert reports == ["3 messages of the conversation 'Tea for two' are left out: they are not objects."]


def test_records_stay_byte_identical_when_a_conversation_only_grows() -> None:
    messages = [message(number, "human", str(number)) for number in range(1, 8)]
    short_one = [raw for told in read([conversation(*messages[:4])]) for raw in told.records]
    grown = conversation(*messages, updated_at=at(99), current_leaf_message_uuid=uuid(7))
    long_one = [raw for told in read([grown]) for raw in told.records]
    assert long_one[: len(short_one)] == short_one


# --- Branches ---------------------------------------------------------------------------------------------------------


def test_what_is_not_on_the_way_from_the_newest_message_to_the_beginning_was_left() -> None:
    found = {entry.text: entry.standing for entry in entries([edited()]) if entry.key}
    assert [words for words, standing in found.items() if standing is Standing.ABANDONED] == ["Green?", "Yes.", "No."]
    assert [words for words, standing in found.items() if standing is Standing.SAID] == [
        "Black?",
        "Well, yes.",
        "Thanks",
    ]


def test_the_current_leaf_decides_where_it_is_given() -> None:
    assert said_in([edited(current_leaf_message_uuid=uuid(2))]) == ["Green?", "Yes."]
    assert said_in([edited(current_leaf_message_uuid=uuid(77))]) == ["Black?", "Well, yes.", "Thanks"]


def test_older_exports_have_no_branches_whatever_leaf_they_name() -> None:
    messages = [message(number, "human", str(number)) for number in range(1, 4)]
    for said in messages:
        del said["parent_message_uuid"]
    assert said_in([conversation(*messages, current_leaf_message_uuid=uuid(1))]) == ["1", "2", "3"]


def test_a_lost_message_makes_nobody_seem_to_have_gone_back() -> None:
    messages = [message(number, "human", str(number)) for number in (1, 2, 4, 5)]
    assert said_in([conversation(*messages)]) == ["1", "2", "4", "5"]


def test_circles_are_walked_once() -> None:
    first, second = message(1, "human", "one", parent=2), message(2, "assistant", "two", parent=1)
    assert said_in([conversation(first, second)]) == ["one", "two"]
    assert said_in([conversation(message(1, "human", "one", parent=1))]) == ["one"]


# --- Who said what ----------------------------------------------------------------------------------------------------


def test_the_header_gives_session_title_and_start() -> None:
    header, _ = entries([conversation(message(1, "human", "Hello"), model="opus-9")])
    assert (header.kind, header.title, header.key, header.model) == ("conversation", "Tea for two", "", "opus-9")
    assert (header.at, header.session_id) == ("2026-01-01T00:00:00.123Z", "c0ffee00-0000-4000-8000-000000000001")


def test_a_prompt_and_a_reply() -> None:
    asked, replied = entries([conversation(message(1, "human", "Why?"), message(2, "assistant", "So.", "And so."))])[1:]
    assert (asked.author, asked.standing, asked.text, asked.key) == (Author.USER, Standing.SAID, "Why?", uuid(1))
    assert (replied.author, replied.standing, replied.text) == (Author.ASSISTANT, Standing.SAID, "So.\n\nAnd so.")
    assert (replied.at, replied.counted_blocks) == ("2026-01-01T00:02:00.123Z", ("assistant:text", "assistant:text"))


def test_a_sender_nobody_knows_is_a_machine() -> None:
    entry = only(message(1, "system", "Note"))
    assert (entry.author, entry.standing, entry.text) == (Author.MACHINE, Standing.ASIDE, "Note")
    assert only(message(1, "user", "Hello")).author is Author.USER


def test_ids_that_are_not_unique_everywhere_count_only_within_their_conversation() -> None:
    said = {**message(1, "human", "Hello"), "uuid": "msg-1"}
    (first,) = [entry.key for entry in entries([conversation(said)]) if entry.key]
    (second,) = [entry.key for entry in entries([conversation(said, uuid="other")]) if entry.key]
    assert first == derived_id("claude-ai", "c0ffee00-0000-4000-8000-000000000001", "msg-1") != second


def test_a_message_without_an_id_is_known_by_time_and_words() -> None:
    nameless = {**message(1, "human", "Hello"), "uuid": None}
    assert only(nameless).key == only(dict(nameless)).key != only({**nameless, "created_at": at(2)}).key
    assert not only(nameless).key_by_place
    assert only({**nameless, "created_at": None}).key_by_place


def test_the_blocks_count_and_the_plain_text_only_where_they_say_nothing() -> None:
    assert only(message(1, "assistant", "blocks", text="plain")).text == "blocks"
    for content in ([], None, [text(None)], [text(12345)], [{"type": "novelty"}], [None, 7], {}):
        assert only({**message(1, "assistant"), "text": "plain", "content": content}).text == "plain"


def test_content_may_be_one_string() -> None:
    assert only({**message(1, "human"), "content": "Just words"}).text == "Just words"
    assert only({**message(1, "human"), "content": json.dumps([text("packed")])}).text == "packed"
    assert only({**message(1, "human"), "content": "[not json"}).text == "[not json"


def test_tools_and_thinking_are_blocks_of_the_reply() -> None:
    entry = only(
        message(
            1,
            "assistant",
            {"type": "thinking", "thinking": "hmm", "summaries": [{"summary": "Pondering"}]},
            "Let me look.",
            {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "oolong"}},
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "12345"}]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no", "is_error": True},
            {"type": "token_budget", "remaining": None},
            "Found.",
            text=f"hmmLet me look.{REMARK}Found.",
        )
    )
    assert entry.text == "Let me look.\n\nFound."
    assert entry.blocks == [
        {"type": "thinking", "characters": 3},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_call", "name": "web_search", "call": "toolu_1", "summary": "oolong"},
        {"type": "tool_result", "call": "toolu_1", "error": False, "characters": 5},
        {"type": "tool_result", "call": "toolu_2", "error": True, "characters": 2},
        {"type": "text", "text": "Found."},
    ]
    assert entry.counted_blocks[5] == "assistant:token_budget"


def test_what_the_service_put_into_a_prompt_is_not_said() -> None:
    entry = only(message(1, "human", "Hello", {"type": "injected_prompt_block", "prompt": "The date is …"}))
    assert (entry.text, len(entry.blocks)) == ("Hello", 1)
    assert entry.counted_blocks == ("user:text", "user:injected_prompt_block")


def test_a_voice_note_is_words() -> None:
    assert only(message(1, "human", {"type": "voice_note", "title": "Note", "text": "Spoken"})).text == "Spoken"


def test_remarks_and_inline_thoughts_of_older_replies_are_taken_out() -> None:
    old = {**message(1, "assistant"), "text": f"First.{REMARK}<antThinking>Hmm.</antThinking>\nThen.", "content": []}
    entry = only(old)
    assert entry.text == "First.\n\nThen."
    assert entry.blocks[0] == {"type": "thinking", "characters": 4}
    quoted = "What is <antThinking>this</antThinking>?"
    assert only(message(1, "human", quoted)).text == quoted


@pytest.mark.parametrize("name", ["", "paste.txt", "paste-2.txt", None])
def test_long_pasted_words_are_words_of_the_person(name: Any) -> None:
    pasted = {"file_name": name, "file_type": "txt", "file_size": 12, "extracted_content": "Dear reader,"}
    files = [{"file_uuid": uuid(50), "file_name": name}]
    entry = only(message(1, "human", "Correct this", attachments=[pasted], files=files))
    assert entry.text == "Correct this\n\nDear reader,"
    assert [block["type"] for block in entry.blocks] == ["text", "text"]


def test_files_are_named_and_measured_but_not_read() -> None:
    entry = only(
        message(
            1,
            "human",
            "See",
            {"type": "image", "file_uuid": uuid(61)},
            attachments=[
                {"file_name": "a.csv", "file_type": "text/csv", "file_size": 90, "extracted_content": "x,y"},
                {"file_name": "paste.txt", "file_type": "txt", "file_size": 7, "extracted_content": ""},
            ],
            files=[
                {"file_uuid": uuid(60), "file_name": "a.csv"},
                {"file_uuid": uuid(61), "file_name": "b.png"},
                {"file_uuid": uuid(62), "file_name": "c.JPEG"},
                {"file_uuid": uuid(63), "file_name": "d.pdf", "file_kind": "document"},
                {"file_uuid": uuid(64), "file_name": "e", "file_kind": "image"},
            ],
        )
    )
    assert entry.text == "See"
    assert entry.blocks[1:] == [
        {"type": "image", "media_type": "", "bytes": 0},
        {"type": "document", "media_type": "text/csv", "bytes": 90, "name": "a.csv"},
        {"type": "document", "media_type": "txt", "bytes": 7, "name": "paste.txt"},
        {"type": "image", "media_type": "", "bytes": 0, "name": "c.JPEG"},
        {"type": "document", "media_type": "", "bytes": 0, "name": "d.pdf"},
        {"type": "image", "media_type": "", "bytes": 0, "name": "e"},
    ]


def test_a_file_alone_is_something_said_and_nothing_at_all_is_not() -> None:
    assert only(message(1, "human", files=[{"file_uuid": uuid(9), "file_name": "x.pdf"}])).standing is Standing.SAID
    assert only(message(1, "human")).key == ""


# --- Anything at all --------------------------------------------------------------------------------------------------

NAMES = [
    "uuid",
    "sender",
    "text",
    "content",
    "type",
    "thinking",
    "name",
    "input",
    "id",
    "attachments",
    "files",
    "title",
]
NAMES += ["created_at", "parent_message_uuid", "file_name", "file_size", "file_uuid", "extracted_content", "file_type"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["human", "assistant", "text", "thinking", "tool_use", "tool_result", "document", "\ud800", "\x00"]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(JSON, JSON)
def test_no_record_makes_more_than_an_entry_or_a_bad_record(one: Any, two: Any) -> None:
    for record in (one, {"message": one, "conversation_uuid": two, "visible": two}, {"conversation": one}):
        try:
            entry = SOURCE.parse(json.dumps(record).encode(), FileFacts(key="k", kind="session"))
        except BadRecord:
            continue
        entry.text.encode()
        assert bool(entry.key) == bool(entry.blocks)
        assert all("file" not in block for block in entry.blocks)


@settings(max_examples=300, deadline=None)
@given(st.lists(JSON, max_size=5), JSON, JSON)
def test_any_list_of_messages_gives_each_of_them_once(messages: list[Any], leaf: Any, name: Any) -> None:
    document = [{"uuid": name, "name": name, "chat_messages": messages, "current_leaf_message_uuid": leaf}]
    records = [json.loads(raw) for told in read(document) for raw in told.records]
    assert len(records[1:]) == sum(isinstance(said, dict) and bool(said) for said in messages)


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples (shared/transcripts) do not lie beside this clone")
def test_the_samples_come_in_with_authors_and_order() -> None:
    said = {
        path.name.removeprefix("chat-viewer-"): [entry for entry in entries(path.read_bytes()) if entry.key]
        for path in SAMPLES.glob("*.json")
    }
    authors = {name: "".join(entry.author[0] for entry in found) for name, found in said.items()}
    assert authors == {
        "claude-bakery-chat.json": "uaua",
        "conversation-with-errors.json": "uauaauaaaa",
        "conversations.json": "uauaua",
    }
    assert {entry.standing for found in said.values() for entry in found} == {Standing.SAID}
    assert len({entry.key for found in said.values() for entry in found}) == 20
    assert all(SOURCE.recognises(Head(path.name, path.read_bytes()[:32_768])) for path in SAMPLES.glob("*.json"))
