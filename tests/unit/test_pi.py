"""Pi's session files, and OpenClaw's, which have the same form (H1, H4–H6)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_entries import (
    CALL,
    FACTS,
    OTHER,
    SESSION,
    SOURCE,
    TALK,
    USAGE,
    at,
    entry,
    header,
    message,
    raw,
    read,
    text,
    version_1,
)

from recollect.history.messages import Author, Standing
from recollect.history.sources.source import BadRecord, FileFacts
from recollect.redaction import mask


def test_the_header_says_session_and_project() -> None:
    found = read(header())
    assert (found.kind, found.key, found.session_id, found.cwd) == ("session", "", SESSION, "/greenhouse")
    assert (found.at, found.links) == (at(0), ())


@pytest.mark.parametrize("field", ["parentSession", "branchedFrom"])
@pytest.mark.parametrize(
    "parent", [f"/h/.pi/agent/sessions/--x--/2026-03-01T10-00-00-000Z_{OTHER}.jsonl", f"C:\\h\\{OTHER}.jsonl", OTHER]
)
def test_a_fork_names_the_session_it_comes_from(field: str, parent: str) -> None:
    found = read(header(**{field: parent}))
    assert found.links == (("fork", OTHER),)
    assert found.at is None, "its entries are older than itself"


def test_a_question_is_said_by_the_user() -> None:
    found = read(TALK[2])
    assert (found.kind, found.author, found.standing) == ("user", Author.USER, Standing.SAID)
    assert (found.text, found.message_kind, found.at) == ("Water the tomatoes?", "", at(2))
    assert found.blocks == text("Water the tomatoes?")
    assert found.counted_blocks == ("user:text",)


def test_content_may_be_plain_text() -> None:
    assert read(message("user", "Plain?")).text == "Plain?"


def test_an_answer_keeps_the_order_of_its_blocks_and_not_its_thoughts() -> None:
    found = read(TALK[3])
    assert (found.author, found.standing, found.text, found.model) == (
        Author.ASSISTANT,
        Standing.SAID,
        "I look.",
        "m",
    )
    assert found.blocks == [
        {"type": "thinking", "characters": 2},
        *text("I look."),
        {"type": "tool_call", "name": "bash", "call": "call_1", "summary": "ls seeds"},
    ]
    assert found.counted_blocks == ("assistant:thinking", "assistant:text", "assistant:toolCall")


@pytest.mark.parametrize("content", [text("tomato.txt\n"), "tomato.txt\n"])
def test_a_tool_result_is_a_message_of_the_tool(content: Any) -> None:
    found = read(message("toolResult", content, toolCallId="call_1", toolName="bash", isError=True))
    assert (found.author, found.standing, found.message_kind) == (Author.TOOL, Standing.ASIDE, "tool_result")
    assert found.text == "tomato.txt\n"
    assert found.blocks == [{"type": "tool_result", "call": "call_1", "error": True, "characters": 11}]


def test_images_are_kept_as_type_and_size() -> None:
    picture = {"type": "image", "data": "AAAA" * 10, "mimeType": "image/png"}
    found = read(message("user", [picture]))
    assert (found.author, found.standing, found.text) == (Author.USER, Standing.SAID, "")
    assert found.blocks == [{"type": "image", "media_type": "image/png", "bytes": 30}]
    shot = read(message("toolResult", [*text("shot"), picture], toolCallId="c"))
    assert [block["type"] for block in shot.blocks] == ["tool_result", "image"]


@pytest.mark.parametrize(("hidden", "words", "standing"), [(False, "! ls", "said"), (True, "!! ls", "aside")])
def test_a_command_the_user_ran_is_the_users(hidden: bool, words: str, standing: str) -> None:
    ran = {"command": "ls", "output": "a\nb", "exitCode": 1, "excludeFromContext": hidden}
    found = read(message("bashExecution", **ran))
    assert (found.author, found.standing, found.message_kind, found.text) == (Author.USER, standing, "shell", words)
    assert found.blocks[1] == {"type": "tool_result", "call": "", "error": True, "characters": 3}


@pytest.mark.parametrize(("reason", "kind"), [("aborted", "interruption"), ("error", "error")])
def test_an_answer_that_failed_is_the_machines(reason: str, kind: str) -> None:
    found = read(message("assistant", [], stopReason=reason, errorMessage="No answer came."))
    assert (found.author, found.standing, found.message_kind) == (Author.MACHINE, Standing.ASIDE, kind)
    assert found.text == "No answer came."


def test_what_was_said_before_a_failure_stays_said() -> None:
    found = read(message("assistant", text("Half of"), stopReason="error", errorMessage="Gone."))
    assert (found.author, found.standing, found.text) == (Author.ASSISTANT, Standing.SAID, "Half of")


@pytest.mark.parametrize(
    "record",
    [
        entry(3, 2, type="compaction", summary="All of it.", firstKeptEntryId="1", tokensBefore=900),
        entry(3, 2, type="branch_summary", summary="All of it.", fromId="00000001"),
        message("compactionSummary", summary="All of it.", tokensBefore=9),
        message("branchSummary", summary="All of it.", fromId="00000001"),
    ],
)
def test_summaries_are_the_machines(record: dict[str, Any]) -> None:
    found = read(record)
    assert (found.author, found.standing, found.message_kind) == (Author.MACHINE, Standing.ASIDE, "summary")
    assert (found.text, found.blocks) == ("All of it.", text("All of it."))
    assert found.key


@pytest.mark.parametrize(
    ("custom_type", "kind"), [("openclaw.runtime-context", "context"), ("my-plan", "my_plan"), (None, "context")]
)
def test_what_an_extension_puts_in_is_the_machines(custom_type: str | None, kind: str) -> None:
    by_entry = entry(3, 2, type="custom_message", customType=custom_type, content="Mind the frost.", display=False)
    by_role = message("custom", text("Mind the frost."), customType=custom_type)
    for found in (read(by_entry), read(by_role)):
        assert (found.author, found.standing, found.message_kind) == (Author.MACHINE, Standing.ASIDE, kind)
        assert found.text == "Mind the frost."


def test_the_name_of_a_session_is_the_users_title() -> None:
    named = read(entry(3, 2, type="session_info", name=" Tomatoes "))
    assert (named.title, named.title_by_user, named.key) == ("Tomatoes", True, "")
    assert not read(entry(3, 2, type="session_info", name="")).title_by_user


@pytest.mark.parametrize(
    "record",
    [
        entry(3, 2, type="model_change", provider="p", modelId="m"),
        entry(3, 2, type="thinking_level_change", thinkingLevel="high"),
        entry(3, 2, type="custom", customType="x", data={"count": 1}),
        entry(3, 2, type="label", targetId="00000001", label="good"),
        entry(3, 2, type="usage", kind="cache_warm", usage=USAGE),
        entry(3, 2, type="context_edit", targetId="00000001", replacement=None),
        entry(3, 2, type="reset", reason="new"),
        entry(3, 2, type="of the future", what=1),
        message("system", "", sections={"preamble": "You are"}),
        message("of the future", text("x")),
    ],
)
def test_other_entries_are_no_messages_but_stay_in_the_tree(record: dict[str, Any]) -> None:
    found = read(record)
    assert (found.key, found.text, found.blocks) == ("", "", [])
    assert found.kind == (record["message"]["role"] if "message" in record else record["type"])
    assert (found.uuid, found.follows) == (record["id"], record["parentId"])


def test_entries_follow_their_parents() -> None:
    assert [(e.uuid, e.follows) for e in map(read, TALK[1:4])] == [
        ("00000001", ""),
        ("00000002", "00000001"),
        ("00000003", "00000002"),
    ]


def test_a_leaf_entry_goes_on_where_it_points() -> None:
    found = read(entry(9, 8, type="leaf", targetId="00000002", appendParentId="00000002"))
    assert (found.uuid, found.follows, found.key) == ("00000009", "00000002", "")


def test_version_1_and_entries_without_a_parent_field_are_in_no_tree() -> None:
    first = read(version_1(TALK[2]))
    assert (first.uuid, first.follows) == ("", "")
    appended = {name: value for name, value in TALK[2].items() if name != "parentId"}
    assert read(appended).uuid == ""


def test_an_entry_at_the_side_does_not_move_the_leaf() -> None:
    found = read({**TALK[2], "appendMode": "side"})
    assert (found.uuid, found.follows, found.text) == ("", "", "Water the tomatoes?")


def keys(records: list[dict[str, Any]], facts: FileFacts = FACTS) -> list[str]:
    return [key for record in records if (key := read(record, facts).key)]


def test_every_message_has_a_key_of_its_own() -> None:
    assert len(set(keys(TALK))) == 4


def test_keys_survive_a_fork_a_migration_and_a_branch_written_again() -> None:
    other_file = FileFacts(key="other", kind="session", session_id=OTHER)
    forked = [header(id=OTHER), *TALK[1:]]
    old = [version_1(record) for record in TALK]
    again = [{**record, "id": f"abc{n}", "timestamp": at(50 + n)} for n, record in enumerate(TALK)]
    assert keys(TALK) == keys(forked, other_file) == keys(old) == keys(again)
    assert all(read(record).replaces for record in TALK[2:]), "a record that comes again adds nothing"


def test_a_role_that_was_renamed_keeps_its_key() -> None:
    assert keys([message("hookMessage", "x", customType="h")]) == keys([message("custom", "x", customType="h")])


def test_messages_of_the_same_millisecond_are_told_apart() -> None:
    twins = [
        message("user", text("one")),
        message("user", text("two")),
        message("assistant", text("one")),
        message("assistant", text("two")),
        message("assistant", text("two"), usage=USAGE),
        message("assistant", text("two"), usage=USAGE, responseId="resp_1"),
        message("assistant", [CALL]),
        message("toolResult", text("one"), toolCallId="a"),
        message("toolResult", text("one"), toolCallId="b"),
    ]
    assert len(set(keys(twins))) == len(twins)


def test_a_masked_record_keeps_its_key() -> None:
    words = "my key is sk-ant-api03-" + "Zb3q9" * 19 + ", keep it"
    assert mask(words) != words
    assert keys([message("user", text(words))]) == keys([message("user", text(mask(words)))])


def test_without_a_time_the_id_tells_and_without_both_the_place() -> None:
    bare = {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": "x"}}
    found = read(bare)
    assert found.key
    assert (found.key_by_place, found.at) == (False, None)
    assert found.key != read({**bare, "id": "m2"}).key
    assert found.key != read(bare, FileFacts(key="other", kind="session", session_id=OTHER)).key
    del bare["id"]
    assert read(bare).key_by_place


def test_a_time_of_the_message_that_is_none_is_not_used() -> None:
    odd = message("user", text("x"))
    odd["message"]["timestamp"] = 3
    assert keys([odd]) == keys([{**odd, "message": {**odd["message"], "timestamp": None}}])
    assert read(odd).at == at(1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud83d\x00"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(sorted({name for record in TALK for name in [*record, *record.get("message", {})]}))
TYPES = st.sampled_from(
    ["message", "session", "leaf", "compaction", "branch_summary", "custom_message", "session_info", "label"]
)
ROLES = st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "custom", "compactionSummary", "odd"])


@given(
    st.dictionaries(FIELDS, VALUES, max_size=6),
    TYPES,
    st.none() | VALUES | st.builds(lambda d, r: {**d, "role": r}, st.dictionaries(FIELDS, VALUES, max_size=8), ROLES),
)
@settings(max_examples=200, deadline=None)
def test_any_field_may_hold_anything(record: dict[str, Any], kind: str, inner: Any) -> None:
    found = read({**record, "type": kind, "message": inner})
    found.text.encode()
    json.dumps(found.blocks)


@pytest.mark.parametrize("line", [b"", b"[1]", b'"x"', b"{", b"\xff\xfe", b'{"type":' + b"[" * 100_000, b"null"])
def test_what_is_no_json_object_is_a_bad_record(line: bytes) -> None:
    with pytest.raises(BadRecord):
        SOURCE.parse(line, FACTS)


def test_numbers_of_any_size_are_survived() -> None:
    huge = "9" * 400
    line = raw(message("assistant", text("x"), usage={"input": 0})).replace(b'"input": 0', f'"input": {huge}'.encode())
    assert SOURCE.parse(line, FACTS).text == "x"
