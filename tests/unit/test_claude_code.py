"""What one record of Claude Code says (H1, H2; cases 1 to 7, 32, 35 to 42, 46 to 58)."""

import json
from typing import Any

import pytest
from builders import (
    CWD,
    OTHER_SESSION,
    SESSION,
    assistant,
    moment,
    parse,
    queued_command,
    system,
    text,
    tool_result,
    tool_use,
    user,
    uuid,
)

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources import FileFacts, Head
from recollect.history.sources.claude_code import ClaudeCode

SOURCE = ClaudeCode()
AGENT_FACTS = FileFacts(key="p/s/subagents/agent-a1.jsonl", kind="subagent", session_id=SESSION, agent_id="a1")
COMPACTION_FACTS = FileFacts(key="p/x", kind="compaction", session_id=SESSION, agent_id="acompact-1")
PROMPTS = FileFacts(key="history.jsonl", kind="prompts")


def who(entry: Entry) -> tuple[Author, Standing, str]:
    return entry.author, entry.standing, entry.message_kind


# Where a file lies (cases 1 to 4)


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        (f"-home-ada-engine/{SESSION}.jsonl", ("session", SESSION, "")),
        ("-home-ada-engine/agent-1f2e3d4c.jsonl", ("subagent", "", "1f2e3d4c")),
        (f"-home-ada-engine/{SESSION}/subagents/agent-a9.jsonl", ("subagent", SESSION, "a9")),
        (
            f"-home-ada-engine/{SESSION}/subagents/workflows/run1/agent-a9.jsonl",
            ("subagent", SESSION, "a9"),
        ),
        (
            f"-home-ada-engine/{SESSION}/subagents/agent-acompact-7.jsonl",
            ("compaction", SESSION, "acompact-7"),
        ),
        ("-home-ada-engine/notes.jsonl", ("session", "", "")),
    ],
)
def test_the_place_of_a_file_tells_its_kind_session_and_agent_cases_2_3_4(
    path: str, facts: tuple[str, str, str]
) -> None:
    located = SOURCE.locate(f"/home/ada/.claude/projects/{path}", "/home/ada/.claude/projects")
    assert (located.kind, located.session_id, located.agent_id) == facts
    assert located.key == path


def test_a_journal_among_sub_agents_is_not_a_session_case_2() -> None:
    path = f"/c/projects/p/{SESSION}/subagents/workflows/run1/journal.jsonl"
    assert SOURCE.locate(path, "/c/projects").kind == "subagent"


def test_a_backup_has_the_keys_of_the_live_folder_case_10() -> None:
    live = SOURCE.locate(f"/home/ada/.claude/projects/p/{SESSION}.jsonl", "/home/ada/.claude/projects")
    assert SOURCE.locate(f"/backup/may/projects/p/{SESSION}.jsonl", "/backup") == live
    assert SOURCE.locate(f"/home/ada/projects/.claude/projects/p/{SESSION}.jsonl", "/home/ada") == live
    assert SOURCE.locate(f"/elsewhere/p/{SESSION}.jsonl", "/elsewhere") == live


def test_the_prompt_log_is_known_by_its_name() -> None:
    assert SOURCE.locate("/home/ada/.claude/history.jsonl", "/home/ada/.claude") == PROMPTS


def test_the_project_is_the_working_folder_in_the_record_case_1() -> None:
    assert parse(user("hi", cwd="/home/ada/b_c")).cwd == "/home/ada/b_c"
    assert parse({"type": "summary", "summary": "A title", "leafUuid": uuid(1)}).cwd == ""


# Recognising


@pytest.mark.parametrize(
    "record",
    [
        user("hi"),
        {"type": "summary", "summary": "t", "leafUuid": uuid(1)},
        {"type": "file-history-snapshot", "messageId": uuid(1), "snapshot": {}},
        {"type": "last-prompt", "lastPrompt": "x", "sessionId": SESSION},
        {"display": "hi", "timestamp": 1_772_445_600_000, "project": CWD, "pastedContents": {}},
    ],
)
def test_its_own_records_are_recognised(record: dict[str, Any]) -> None:
    assert SOURCE.recognises(Head("x.jsonl", json.dumps(record).encode()))


@pytest.mark.parametrize(
    "record",
    [
        {"timestamp": "x", "type": "session_meta", "payload": {"id": "1"}},
        {"role": "user", "content": "hi"},
        {"type": ["string", "null"], "uuid": "1"},
        {"type": {"a": 1}},
        {},
    ],
)
def test_the_records_of_others_are_not_recognised(record: dict[str, Any]) -> None:
    assert not SOURCE.recognises(Head("x.jsonl", json.dumps(record).encode()))


# Assistant records (cases 39, 51, 53, 55)


def test_lines_of_one_reply_have_the_key_of_the_reply_case_39() -> None:
    first = parse(assistant("Let me look.", number=2, message_id="msg_01ABCDEFGHIJKLMN"))
    second = parse(assistant(tool_use("Read", file_path="/a.py"), number=3, message_id="msg_01ABCDEFGHIJKLMN"))
    assert first.key == second.key == "msg_01ABCDEFGHIJKLMN"
    assert first.uuid != second.uuid


def test_a_reply_without_a_usable_id_is_known_by_its_line_case_39() -> None:
    for message_id in ("1", "x" * 200, "with blanks in it, long"):
        assert parse(assistant("hi", number=4, message_id=message_id)).key == uuid(4)
    record = assistant("hi", number=4)
    del record["message"]["id"]
    assert parse(record).key == uuid(4)


def test_every_kind_of_block_is_kept_in_order_and_counted_cases_53_55() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400}}
    entry = parse(
        assistant(
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "xx"},
            "Look:",
            tool_use("Bash", "toolu_9", command="ls\n-l"),
            image,
            {"type": "tool_reference", "tool_name": "x"},
            "Done.",
        )
    )
    assert entry.blocks == [
        {"type": "thinking", "characters": 0},
        {"type": "thinking", "characters": 0},
        {"type": "text", "text": "Look:"},
        {"type": "tool_call", "name": "Bash", "call": "toolu_9", "summary": "ls\n-l"},
        {"type": "image", "media_type": "image/png", "bytes": 300},
        {"type": "tool_reference"},
        {"type": "text", "text": "Done."},
    ]
    assert entry.text == "Look:\n\nDone."
    assert entry.counted_blocks[:2] == ("assistant:thinking", "assistant:redacted_thinking")


def test_the_words_of_a_thought_are_not_kept_beside_the_vault_case_53() -> None:
    entry = parse(assistant({"type": "thinking", "thinking": "I wonder", "signature": ""}))
    assert entry.blocks == [{"type": "thinking", "characters": 8}]
    assert "wonder" not in entry.text


def test_errors_and_synthetic_replies_are_machine_text_case_51() -> None:
    error = parse(assistant("API Error: 529", model="<synthetic>", isApiErrorMessage=True))
    silent = parse(assistant("No response requested.", model="<synthetic>"))
    assert who(error) == (Author.MACHINE, Standing.ASIDE, "api_error")
    assert who(silent) == (Author.MACHINE, Standing.ASIDE, "synthetic")
    assert parse(assistant("fine")).author is Author.ASSISTANT


# User records (cases 42, 48, 54, 55, 57)


def test_a_tool_result_is_a_tools_and_not_conversation_cases_42_48() -> None:
    record = user([tool_result("3 passed")], toolUseResult={"stdout": "3 passed", "stderr": ""})
    entry = parse(record)
    assert who(entry) == (Author.TOOL, Standing.ASIDE, "tool_result")
    assert entry.text == "3 passed"
    assert entry.blocks == [{"type": "tool_result", "call": "toolu_01", "error": False, "characters": 8}]


@pytest.mark.parametrize("structured", [{"stdout": "x"}, "Error: x", [{"type": "text", "text": "x"}], None, 7])
def test_the_structured_result_may_be_anything_case_32(structured: object) -> None:
    assert parse(user([tool_result("x")], toolUseResult=structured)).text == "x"


def test_the_content_of_a_result_may_be_text_blocks_or_missing_case_32() -> None:
    blocks = [
        text("one"),
        {"type": "image", "source": {"data": "AAAA"}},
        text("two"),
        {"type": "tool_reference"},
    ]
    assert parse(user([tool_result(blocks)])).text == "one\ntwo"
    assert parse(user([tool_result(None)])).author is Author.TOOL
    assert parse(user([{"type": "tool_result", "tool_use_id": "t"}])).author is Author.TOOL


def test_a_persons_words_beside_a_tool_result_are_the_persons_case_48() -> None:
    entry = parse(user([tool_result("rejected", is_error=True), text("no, use the other file")]))
    assert (entry.author, entry.standing) == (Author.USER, Standing.SAID)
    assert entry.text == "no, use the other file"
    assert [block["type"] for block in entry.blocks] == ["text", "tool_result"]


def test_an_interruption_beside_a_tool_result_is_not_the_persons_case_54() -> None:
    entry = parse(user([tool_result("x"), text("[Request interrupted by user for tool use]")]))
    assert (entry.author, entry.standing) == (Author.TOOL, Standing.ASIDE)


def test_pictures_and_documents_are_kept_by_reference_case_55() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    document = {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAAAAAA"},
    }
    entry = parse(user([text("see"), picture, document]))
    assert entry.blocks == [
        {"type": "text", "text": "see"},
        {"type": "image", "media_type": "image/png", "bytes": 3},
        {"type": "document", "media_type": "application/pdf", "bytes": 6},
    ]
    assert who(parse(user([picture]))) == (Author.USER, Standing.SAID, "")


def test_content_may_be_a_list_of_plain_strings_case_32() -> None:
    assert parse(user(["one", {"type": "text", "text": "two"}, None, 3])).text == "one\n\ntwo"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"isMeta": True}, "meta"),
        ({"isCompactSummary": True, "isVisibleInTranscriptOnly": True}, "summary"),
        ({"planContent": "# Plan"}, "plan"),
        ({"origin": {"kind": "task-notification"}}, "task_notification"),
    ],
)
def test_flags_are_stronger_than_words_cases_46_48(fields: dict[str, Any], kind: str) -> None:
    assert who(parse(user("Please do it.", **fields))) == (Author.MACHINE, Standing.ASIDE, kind)


def test_words_that_are_marked_as_typed_are_the_persons_case_58() -> None:
    entry = parse(user("Please do it.", origin={"kind": "human"}, promptSource="typed"))
    assert who(entry) == (Author.USER, Standing.SAID, "")


# Sub-agents (cases 3, 4, 5, 40, 41)


def test_nothing_in_a_sub_agents_file_was_said_by_or_to_the_user_case_3() -> None:
    task = parse(user("Find the bug", agentId="a1", isSidechain=True), AGENT_FACTS)
    answer = parse(assistant("Found", agentId="a1", isSidechain=True), AGENT_FACTS)
    assert (who(task), task.agent_id) == ((Author.MACHINE, Standing.ASIDE, "task"), "a1")
    assert (who(answer), answer.session_id) == ((Author.SUBAGENT, Standing.ASIDE, ""), SESSION)


def test_lines_of_an_old_inline_sidechain_are_a_sub_agents_case_5() -> None:
    assert parse(user("Find the bug", isSidechain=True)).author is Author.MACHINE
    answer = parse(assistant("Found", isSidechain=True))
    assert (who(answer), answer.agent_id) == ((Author.SUBAGENT, Standing.ASIDE, ""), "inline")


def test_the_compaction_agent_is_a_machine_case_4() -> None:
    assert who(parse(assistant("Summary", isSidechain=True), COMPACTION_FACTS))[:2] == (
        Author.MACHINE,
        Standing.ASIDE,
    )


def test_progress_that_repeats_a_sub_agent_says_nothing_case_40() -> None:
    inner = assistant("Found", number=9)
    record = user("x") | {"type": "progress", "data": {"type": "agent_progress", "message": inner}}
    assert (parse(record).key, parse(record).kind) == ("", "progress")


# Links, titles, bookkeeping (cases 6, 35 to 38, 46, 56)


def test_a_forked_line_is_the_line_it_copies_case_35() -> None:
    origin = {"sessionId": OTHER_SESSION, "messageUuid": uuid(70)}
    entry = parse(user("hi", 8, forkedFrom=origin))
    assert (entry.key, entry.uuid, entry.links) == (uuid(70), uuid(70), (("fork", OTHER_SESSION),))


def test_a_session_that_goes_on_elsewhere_is_linked_cases_36_37() -> None:
    on = parse({"type": "continued-in", "sessionId": SESSION, "continuedInSessionId": OTHER_SESSION})
    ref = parse({"type": "fork-context-ref", "sessionId": SESSION, "parentSessionId": OTHER_SESSION})
    assert (on.links, ref.links) == ((("continue", OTHER_SESSION),), (("fork", OTHER_SESSION),))


def test_titles_name_this_file_or_the_conversation_of_a_leaf_cases_38_56() -> None:
    generated = parse({"type": "ai-title", "aiTitle": " Fix the build ", "sessionId": SESSION})
    chosen = parse({"type": "custom-title", "customTitle": "Mine", "sessionId": SESSION})
    foreign = parse({"type": "summary", "summary": "Another", "leafUuid": uuid(99)})
    assert (generated.title, generated.title_leaf, generated.title_by_user) == ("Fix the build", "", False)
    assert (chosen.title, chosen.title_by_user) == ("Mine", True)
    assert (foreign.title, foreign.title_leaf) == ("Another", uuid(99))
    assert parse({"type": "summary", "summary": "Nobody's"}).title == ""


@pytest.mark.parametrize(
    "record",
    [
        {"type": "file-history-snapshot", "messageId": uuid(1), "snapshot": {"timestamp": moment()}},
        {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION},
        system("turn_duration", durationMs=5),
        system("compact_boundary", content="Conversation compacted", logicalParentUuid=uuid(3)),
        user("x") | {"type": "attachment", "attachment": {"type": "task_reminder"}},
        {"type": "content-replacement", "replacements": []},
        {"type": "invented-tomorrow", "uuid": uuid(1), "message": {"role": "user", "content": "x"}},
        {"type": 7},
        {},
    ],
)
def test_bookkeeping_and_unknown_types_are_kept_and_say_nothing_cases_6_38_46(record: dict[str, Any]) -> None:
    entry = parse(record)
    assert (entry.key, entry.text, entry.title) == ("", "", "")
    assert entry.kind == (record["type"] if isinstance(record.get("type"), str) else "(no type)")


def test_a_queued_command_attachment_is_said_unless_a_machine_queued_it_case_49() -> None:
    assert who(parse(queued_command("also this", 5))) == (Author.USER, Standing.SAID, "queued")
    entry = parse(queued_command("job done", 5, mode="task-notification"))
    assert who(entry) == (Author.MACHINE, Standing.ASIDE, "task_notification")


def test_a_built_in_command_in_a_system_line_is_kept_aside_case_52() -> None:
    entry = parse(system("local_command", content="<command-name>/model</command-name>"))
    assert (entry.author, entry.standing, entry.text) == (Author.USER, Standing.ASIDE, "/model")


# The prompt log


def test_a_line_of_the_prompt_log_is_a_prompt_of_its_session() -> None:
    entry = parse(
        {"display": "hi there", "timestamp": 1_772_445_600_000, "project": CWD, "sessionId": SESSION}, PROMPTS
    )
    assert who(entry) == (Author.USER, Standing.SAID, "prompt")
    assert (entry.at, entry.cwd, entry.stream, entry.text) == (moment(), CWD, SESSION, "hi there")
    old = parse({"display": "/clear", "timestamp": 1_772_445_600_000, "project": CWD, "pastedContents": {}}, PROMPTS)
    assert (old.standing, old.stream) == (Standing.ASIDE, CWD)
