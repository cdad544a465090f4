"""The export of ChatGPT: trees of messages in one large document (H1, H2)."""

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.chatgpt import ChatGpt
from recollect.history.sources.claude_ai import ClaudeAi
from recollect.history.sources.source import BadRecord, FileFacts, Head, Opened, Transcript
from recollect.ids import derived_id

SOURCE = ChatGpt()
FILE = "export/conversations.json"
START = 1_767_225_600.0
"""2026-01-01 00:00 UTC, in seconds."""
SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "chatgpt-export"

Json = dict[str, Any]


def message(role: str, content: Any, minutes: float | None = 0, **fields: Any) -> Json:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    return {
        "author": {"role": role, "name": fields.pop("name", None), "metadata": {}},
        "create_time": None if minutes is None else START + minutes * 60,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": fields.pop("weight", 1.0),
        "metadata": fields.pop("metadata", {}),
        "recipient": fields.pop("recipient", "all"),
        "channel": None,
        **fields,
    }


def node(name: str, parent: str | None, said: Json | None, *children: str) -> Json:
    return {"id": name, "parent": parent, "children": list(children), "message": said}


def conversation(*nodes: Json, current: Any = None, identity: str = "c-1", **fields: Any) -> Json:
    return {
        "title": "Sour dough",
        "create_time": START,
        "update_time": START + 3_600.5,
        "mapping": {entry["id"]: entry for entry in nodes},
        "moderation_results": [],
        "current_node": current or nodes[-1]["id"],
        "gizmo_id": "g-p-77",
        "conversation_id": identity,
        "default_model_slug": "auto",
        "id": identity,
        **fields,
    }


def chain(*messages: Json, **fields: Any) -> Json:
    """A conversation without branches: root, 0, 1 …"""
    names = ["root", *map(str, range(len(messages)))]
    nodes = [node("root", None, None, *names[1:2])]
    for place, said in enumerate(messages):
        nodes.append(node(names[place + 1], names[place], said, *names[place + 2 : place + 3]))
    return conversation(*nodes, **fields)


def read(document: Any, reports: list[str] | None = None) -> Iterator[Transcript]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    told: list[str] = [] if reports is None else reports
    return SOURCE.transcripts(Opened(FILE, io.BytesIO(data), told.append), SOURCE.locate(FILE, "export"))


def entries(document: Any, reports: list[str] | None = None) -> list[Entry]:
    return [SOURCE.parse(raw, told.facts) for told in read(document, reports) for raw in told.records]


def only(said: Json) -> Entry:
    (_, entry) = entries([chain(said)])
    return entry


def edited() -> Json:
    """A question, edited once; the first reply was asked for twice."""
    return conversation(
        node("root", None, None, "q1", "q2"),
        node("q1", "root", message("user", "How long does rye take?", 1), "a1", "a2"),
        node("a1", "q1", message("assistant", "A day.", 2)),
        node("a2", "q1", message("assistant", "Two days.", 3)),
        node("q2", "root", message("user", "How long does wheat take?", 4), "a3"),
        node("a3", "q2", message("assistant", "Half a day.", 5)),
        current="a3",
    )


def standings(document: Any) -> dict[str, str]:
    return {entry.text: entry.standing for entry in entries(document) if entry.key}


# --- The file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_is_known_by_its_trees(indent: int | None) -> None:
    single = chain(message("user", "Hello"))
    for document in ([single], single, {"conversations": [single]}, [{"title": "damaged"}, single], [None, single]):
        head = Head(FILE, json.dumps(document, indent=indent).encode())
        assert SOURCE.recognises(head)
        assert not ClaudeAi().recognises(head)


@pytest.mark.parametrize(
    "document",
    [
        [{"uuid": "u", "name": "n", "chat_messages": []}],
        {"mapping": {"a": "b"}},
        {"conversations": [{"from": "human", "value": 'a "mapping": {} of mine'}]},
        [{"id": "s", "conversation_id": "c", "title": "t", "is_anonymous": True}],
        [],
        "mapping",
    ],
)
def test_other_documents_are_not_claimed(document: Any) -> None:
    assert not SOURCE.recognises(Head("x/conversations.json", json.dumps(document).encode()))


def test_json_lines_are_not_claimed() -> None:
    line = json.dumps(chain(message("user", "Hello"))).encode()
    assert not SOURCE.recognises(Head("x.jsonl", line + b"\n" + line + b"\n"))


def test_each_conversation_is_a_transcript_with_its_own_key_and_age() -> None:
    document = [chain(message("user", "a")), chain(message("user", "b"), identity="c-2", update_time=START)]
    facts = [(told.facts, told.version) for told in read(document)]
    assert [fact.key for fact, _ in facts] == ["c-1", "c-2"]
    assert all(fact.is_unique and fact.session_id == fact.key for fact, _ in facts)
    assert [version for _, version in facts] == ["2026-01-01T01:00:00.500Z", "2026-01-01T00:00:00.000Z"]


def test_a_conversation_without_an_id_is_known_by_its_time_and_title() -> None:
    nameless = {**chain(message("user", "a")), "id": None, "conversation_id": None}
    (told,) = read([nameless])
    assert told.facts.key == derived_id("chatgpt", str(START), "Sour dough")
    header, entry = (SOURCE.parse(raw, told.facts) for raw in told.records)
    assert header.session_id == entry.session_id == told.facts.key


def test_without_a_time_of_change_the_last_message_says_the_age() -> None:
    (told,) = read([chain(message("user", "a", 7), message("assistant", "b", 3), update_time=None)])
    assert told.version == "2026-01-01T00:07:00.000Z"


def test_a_conversation_in_which_nothing_was_said_is_no_transcript() -> None:
    reports: list[str] = []
    assert list(read([conversation(node("root", None, None)), {**edited(), "mapping": {}}], reports)) == []
    assert reports == []


def test_iso_dates_are_read_like_seconds() -> None:
    assert only({**message("user", "a"), "create_time": "2026-01-01T01:00:00+01:00"}).at == "2026-01-01T00:00:00.000Z"


# --- The tree ---------------------------------------------------------------------------------------------------------


def test_what_is_not_on_the_way_from_the_current_node_to_the_root_was_left() -> None:
    assert standings([edited()]) == {
        "How long does rye take?": Standing.ABANDONED,
        "A day.": Standing.ABANDONED,
        "Two days.": Standing.ABANDONED,
        "How long does wheat take?": Standing.SAID,
        "Half a day.": Standing.SAID,
    }


def test_the_person_may_go_back_to_an_older_branch() -> None:
    found = standings([{**edited(), "current_node": "a1"}])
    assert [text for text, standing in found.items() if standing == Standing.SAID] == [
        "How long does rye take?",
        "A day.",
    ]


@pytest.mark.parametrize("current", [None, "gone", 7, ["a3"]])
def test_without_a_usable_current_node_the_newest_leaf_decides(current: Any) -> None:
    said = [text for text, standing in standings([{**edited(), "current_node": current}]).items() if standing == "said"]
    assert said == ["How long does wheat take?", "Half a day."]


def test_the_order_is_that_of_the_tree_whatever_the_order_of_the_nodes() -> None:
    expected = list(standings([edited()]))
    for seed in range(20):
        shuffled = edited()
        nodes = list(shuffled["mapping"].items())
        random.Random(seed).shuffle(nodes)
        assert list(standings([{**shuffled, "mapping": dict(nodes)}])) == expected


def test_a_tree_may_be_told_by_parents_alone_or_by_children_alone() -> None:
    expected = standings([edited()])
    for lost in ("children", "parent"):
        bare = edited()
        for entry in bare["mapping"].values():
            del entry[lost]
        assert standings([bare]) == expected


def test_a_lost_node_makes_nobody_seem_to_have_gone_back() -> None:
    whole = chain(*(message("user", str(place), place) for place in range(4)))
    del whole["mapping"]["1"]
    found = standings([whole])
    assert list(found) == ["0", "2", "3"]
    assert set(found.values()) == {Standing.SAID}


def test_parts_that_hang_on_nothing_come_last() -> None:
    document = conversation(
        node("lost", "gone", message("user", "Loose", 9)),
        node("root", None, None, "q"),
        node("q", "root", message("user", "First", 1)),
    )
    assert list(standings([document])) == ["First", "Loose"]


def test_circles_and_nodes_that_name_themselves_are_read_once() -> None:
    document = conversation(
        node("a", "c", message("user", "one"), "b"),
        node("b", "a", message("assistant", "two"), "c", "b"),
        node("c", "b", message("user", "three"), "a"),
        node("d", "d", message("user", "four"), "d"),
        current="c",
    )
    assert sorted(standings([document])) == ["four", "one", "three", "two"]


def test_a_conversation_of_ten_thousand_turns_is_no_problem() -> None:
    document = chain(*(message("user", str(place), place) for place in range(10_000)))
    assert list(standings([document]).items())[-1] == ("9999", Standing.SAID)


def test_a_message_keeps_its_key_in_every_export_and_never_shares_it() -> None:
    first, later = edited(), edited()
    later["mapping"]["a3"]["children"] = ["q4"]
    later["mapping"]["q4"] = node("q4", "a3", message("user", "Thanks", 9))
    keys = [entry.key for entry in entries([first]) if entry.key]
    assert [entry.key for entry in entries([later]) if entry.key][:5] == keys
    assert len(set(keys)) == 5
    assert not set(keys) & {entry.key for entry in entries([{**first, "id": "c-2", "conversation_id": "c-2"}])}


def test_records_stay_byte_identical_when_a_conversation_only_grows() -> None:
    turns = [message("user" if place % 2 == 0 else "assistant", str(place), place) for place in range(6)]
    short_one = [raw for told in read([chain(*turns[:4])]) for raw in told.records]
    long_one = [raw for told in read([chain(*turns, update_time=START + 9_999)]) for raw in told.records]
    assert long_one[: len(short_one)] == short_one


# --- Who said what ----------------------------------------------------------------------------------------------------


def test_the_header_gives_session_title_and_start() -> None:
    header, _ = entries([chain(message("user", "Hello"))])
    assert (header.kind, header.session_id, header.title, header.key) == ("conversation", "c-1", "Sour dough", "")
    assert header.at == "2026-01-01T00:00:00.000Z"


def test_a_prompt_and_a_reply() -> None:
    asked, replied = entries(
        [chain(message("user", "Why?", 1), message("assistant", "Because.", 2, metadata={"model_slug": "gpt-9"}))]
    )[1:]
    assert (asked.author, asked.standing, asked.text) == (Author.USER, Standing.SAID, "Why?")
    assert (replied.author, replied.standing, replied.text) == (Author.ASSISTANT, Standing.SAID, "Because.")
    assert (replied.model, replied.at, replied.session_id) == ("gpt-9", "2026-01-01T00:02:00.000Z", "c-1")
    assert replied.blocks == [{"type": "text", "text": "Because."}]
    assert replied.counted_blocks == ("assistant:text",)


def test_spoken_words_are_words_and_pictures_are_blocks() -> None:
    parts = [
        {"content_type": "audio_transcription", "text": "What is this?", "direction": "in"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"format": "wav"}},
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1", "size_bytes": 77, "width": 8},
        "And this?",
    ]
    attachments = [
        {"id": "file_1", "name": "cat.png", "mime_type": "image/png", "size": 77},
        {"id": "file_2", "name": "cats.pdf", "mimeType": "application/pdf", "size": 99},
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    entry = only(message("user", content, metadata={"attachments": attachments}))
    assert (entry.author, entry.text) == (Author.USER, "What is this?\n\nAnd this?")
    assert entry.blocks[1:] == [
        {"type": "document", "media_type": "audio/wav", "bytes": 0},
        {"type": "image", "media_type": "", "bytes": 77},
        {"type": "document", "media_type": "application/pdf", "bytes": 99, "name": "cats.pdf"},
    ]


def test_a_picture_alone_is_something_said() -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "size_bytes": 5}
    entry = only(message("user", {"content_type": "multimodal_text", "parts": [pointer]}))
    assert (entry.standing, entry.text, entry.key != "") == (Standing.SAID, "", True)


def test_what_the_assistant_writes_to_a_tool_is_a_call_and_its_answer_a_result() -> None:
    code = {"content_type": "code", "language": "python", "text": "print(6 * 7)"}
    output = {"content_type": "execution_output", "text": "42"}
    call, result = entries(
        [chain(message("assistant", code, recipient="python"), message("tool", output, name="python"))]
    )[1:]
    assert (call.author, call.standing, call.text) == (Author.ASSISTANT, Standing.SAID, "")
    assert call.blocks == [{"type": "tool_call", "name": "python", "call": "0", "summary": "print(6 * 7)"}]
    assert (result.author, result.standing, result.message_kind) == (Author.TOOL, Standing.ASIDE, "tool_result")
    assert result.text == "42"
    assert result.blocks == [{"type": "tool_result", "call": "0", "error": False, "characters": 2}]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"content_type": "tether_quote", "title": "Rye", "url": "u", "text": "Dark."}, "Rye\nu\nDark."),
        ({"content_type": "tether_browsing_display", "result": "Found", "summary": None}, "Found"),
        ({"content_type": "text", "parts": ["", "Done"]}, "Done"),
        ({"content_type": "something_new", "output_str": "Ran"}, "Ran"),
        ({"content_type": "text", "parts": ["x" * 5_000]}, "x" * 2_000),
    ],
)
def test_results_of_tools_are_kept_in_part(content: Json, expected: str) -> None:
    entry = only(message("tool", content, metadata={"is_visually_hidden_from_conversation": True}))
    assert (entry.author, entry.text) == (Author.TOOL, expected)
    assert [block["type"] for block in entry.blocks] == ["tool_result"]


@pytest.mark.parametrize(
    ("content", "characters"),
    [
        ({"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "hmm"}, {"summary": "so"}]}, 5),
        ({"content_type": "thoughts", "thoughts": "odd", "parts": ["four"]}, 4),
        ({"content_type": "reasoning_recap", "content": "Thought for 8s"}, 14),
    ],
)
def test_of_thinking_only_its_length_is_kept(content: Json, characters: int) -> None:
    entry = only(message("assistant", content))
    assert (entry.author, entry.text) == (Author.ASSISTANT, "")
    assert entry.blocks == [{"type": "thinking", "characters": characters}]


def test_text_on_the_channel_for_analysis_is_thinking() -> None:
    assert only(message("assistant", "hmm", channel="analysis")).blocks == [{"type": "thinking", "characters": 3}]
    assert only(message("assistant", "One moment.", channel="commentary")).text == "One moment."


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        (
            message("user", {"content_type": "user_editable_context", "user_profile": "p", "user_instructions": "i"}),
            "context",
            "p\n\ni",
        ),
        (message("assistant", {"content_type": "model_editable_context", "model_set_context": "m"}), "context", "m"),
        (message("system", "Be kind.", metadata={"is_user_system_message": True}), "context", "Be kind."),
        (message("system", "Be brief."), "system", "Be brief."),
        (message("moderator", "Stop."), "system", "Stop."),
        (message("user", "Go on", metadata={"is_visually_hidden_from_conversation": True}), "hidden", "Go on"),
        (message("tool", {"content_type": "system_error", "name": "E", "text": "Too long"}), "error", "Too long"),
    ],
)
def test_what_no_person_and_no_model_said_is_machine_text(said: Json, kind: str, text: str) -> None:
    entry = only(said)
    assert (entry.author, entry.standing, entry.message_kind) == (Author.MACHINE, Standing.ASIDE, kind)
    assert entry.text == text
    assert entry.blocks == [{"type": "text", "text": text}]


def test_what_has_no_weight_is_kept_aside_in_its_authors_name() -> None:
    entry = only(message("assistant", "Stopped.", weight=0.0))
    assert (entry.author, entry.standing) == (Author.ASSISTANT, Standing.ASIDE)


@pytest.mark.parametrize("content", [{"content_type": "text", "parts": [""]}, {"content_type": "new", "x": 1}, None, 7])
def test_a_record_without_words_is_kept_but_no_message(content: Any) -> None:
    entry = only({**message("assistant", "x"), "content": content})
    assert (entry.key, entry.blocks, entry.text) == ("", [], "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rye is old. \ue200cite\ue202turn0search3\ue202turn0search8\ue201\nYes.", "Rye is old.\nYes."),
        ('By \ue200entity\ue202["people","Ada \\"A\\" L.",0]\ue201, 1843.', 'By Ada "A" L., 1843.'),
        ("By \ue200entity\ue202Ada\ue201.", "By Ada."),
        ("See \ue200url\ue202the page\ue202https://bread.example/a\ue201.", "See the page."),
        ("\ue203Kept\ue204 \ue200filecite\ue202turn0file0\ue202L5-L8\ue201", "Kept"),
        ("Cut off \ue200cite\ue202turn1search2", "Cut off"),
        ("\ue200genui\ue202{}\ue201", ""),
        ("  untouched  ", "  untouched  "),
    ],
)
def test_marks_for_links_are_taken_out_of_the_assistants_words(text: str, expected: str) -> None:
    assert only(message("assistant", text)).text == expected


def test_marks_that_a_person_pasted_stay() -> None:
    assert only(message("user", "What is \ue200cite\ue201?")).text == "What is \ue200cite\ue201?"


# --- Anything at all --------------------------------------------------------------------------------------------------

NAMES = ["a", "b", "id", "parent", "children", "message", "author", "role", "content", "content_type", "parts", "text"]
NAMES += ["thoughts", "recipient", "metadata", "attachments", "size", "name", "weight", "channel", "asset_pointer"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["a", "b", "user", "assistant", "tool", "text", "thoughts", "\ue200", "\ud800", "\x00"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(JSON, JSON, JSON)
def test_no_record_makes_more_than_an_entry_or_a_bad_record(one: Any, two: Any, three: Any) -> None:
    for record in (one, {"message": one, "node": two, "visible": three}, {"conversation": one}):
        try:
            entry = SOURCE.parse(json.dumps(record).encode(), FileFacts(key="k", kind="session"))
        except BadRecord:
            continue
        entry.text.encode()
        assert bool(entry.key) == bool(entry.blocks)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4), JSON, JSON)
def test_any_tree_gives_each_message_once(mapping: Json, current: Any, title: Any) -> None:
    document = [{"id": "x", "title": title, "mapping": mapping, "current_node": current, "create_time": title}]
    records = [json.loads(raw) for told in read(document) for raw in told.records]
    names = [record["node"] for record in records[1:]]
    expected = [
        name for name, entry in mapping.items() if isinstance(entry, dict) and isinstance(entry.get("message"), dict)
    ]
    assert sorted(names) == sorted(expected)


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples (shared/transcripts) do not lie beside this clone")
def test_the_samples_come_in_with_authors_and_order() -> None:
    said = {
        path.name: [(entry.author, entry.standing) for entry in entries(path.read_bytes()) if entry.key]
        for path in SAMPLES.glob("*.json")
    }
    user, assistant = (Author.USER, Standing.SAID), (Author.ASSISTANT, Standing.SAID)
    left, tool = (Author.ASSISTANT, Standing.ABANDONED), (Author.TOOL, Standing.ASIDE)
    context = (Author.MACHINE, Standing.ASIDE)
    assert said["native-conversation-v1.json"] == [
        context,
        user,
        left,
        assistant,
        assistant,
        tool,
        assistant,
        assistant,
    ]
    assert said["polylogue-sample-00.json"] == [user, left, user]
    assert all(SOURCE.recognises(Head(path.name, path.read_bytes()[:32_768])) for path in SAMPLES.glob("*.json"))
