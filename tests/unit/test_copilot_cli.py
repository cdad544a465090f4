"""Copilot CLI's events, and the documents of its first weeks: which words are whose (H1, H2)."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.copilot_cli import CopilotCli
from recollect.history.sources.documents import BrokenDocument
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Opened

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "copilot-cli"
COPILOT = CopilotCli()
SESSION = "9c791e34-1111-4111-8111-111111111111"
OTHER = "3c891f4e-1111-4111-8111-111111111111"
EVENT = "01cc6989-1111-4111-8111-111111111111"
FACTS = FileFacts(key=SESSION, kind="session", session_id=SESSION, is_unique=True)
STATE = "/home/mara/.copilot/session-state"
OLD = f"session_{SESSION}_1758000000000"


def event(kind: str, data: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "data": data,
        "id": EVENT,
        "timestamp": "2026-05-04T10:20:30.000Z",
        "parentId": None,
        **fields,
    }


def parse(record: Any, facts: FileFacts = FACTS) -> Entry:
    return COPILOT.parse(json.dumps(record).encode(), facts)


def told(kind: str, **data: Any) -> Entry:
    return parse(event(kind, data))


def who(entry: Entry) -> tuple[Author, Standing, str]:
    return entry.author, entry.standing, entry.message_kind


def test_what_a_person_types_is_said_by_the_user_without_what_the_model_got_besides() -> None:
    entry = told("user.message", content="water them", transformedContent="<current_datetime>now</…>\n\nwater them")
    assert who(entry) == (Author.USER, Standing.SAID, "")
    assert (entry.text, entry.key, entry.uuid, entry.at) == ("water them", EVENT, EVENT, "2026-05-04T10:20:30.000Z")
    assert entry.blocks == [{"type": "text", "text": "water them"}]
    assert entry.counted_blocks == ("user:text",)


@pytest.mark.parametrize(
    ("source", "kind"),
    [("system", "system"), ("skill-pdf", "skill"), ("schedule-3", "schedule"), (f"agent-{OTHER}", "agent")],
)
def test_what_a_program_puts_in_the_users_name_is_the_machines(source: str, kind: str) -> None:
    assert who(told("user.message", content="go on", source=source)) == (Author.MACHINE, Standing.ASIDE, kind)


def test_a_source_that_names_the_user_is_the_user() -> None:
    assert told("user.message", content="go on", source="user").author is Author.USER


def test_what_autopilot_says_to_itself_is_the_machines() -> None:
    entry = told("user.message", content="go on", isAutopilotContinuation=True)
    assert who(entry) == (Author.MACHINE, Standing.ASIDE, "continuation")


def test_a_command_is_the_users_and_the_text_it_stands_for_is_not() -> None:
    assert who(told("user.message", content="/review the beds", source="command-review")) == (
        Author.USER,
        Standing.SAID,
        "command",
    )
    assert told("user.message", content="/review", source="command-review").standing is Standing.ASIDE
    assert told("user.message", content="Review all changes", source="command-review").author is Author.MACHINE


def test_attachments_are_kept_by_type_and_size() -> None:
    picture = {"type": "blob", "mimeType": "image/png", "data": "AAAA", "displayName": "bed.png"}
    omitted = {"type": "file", "path": "/srv/beds.pdf", "mimeType": "application/pdf", "byteLength": 70}
    entry = told("user.message", content="look", attachments=[picture, omitted, {"type": "directory", "path": "/srv"}])
    assert entry.blocks[1:] == [
        {"type": "image", "media_type": "image/png", "bytes": 3},
        {"type": "document", "media_type": "application/pdf", "bytes": 70},
        {"type": "document", "media_type": "directory", "bytes": 0},
    ]


def test_a_reply_holds_its_words_and_its_calls_and_the_length_of_its_thoughts() -> None:
    request = {"toolCallId": "call-1", "name": "bash", "arguments": {"command": "ls beds"}}
    entry = told(
        "assistant.message",
        messageId=OTHER,
        model="gpt-x",
        content="I look.",
        reasoningText="hm",
        toolRequests=[request],
    )
    assert who(entry) == (Author.ASSISTANT, Standing.SAID, "")
    assert (entry.key, entry.uuid, entry.text, entry.model) == (OTHER, EVENT, "I look.", "gpt-x")
    assert entry.blocks == [
        {"type": "thinking", "characters": 2},
        {"type": "text", "text": "I look."},
        {"type": "tool_call", "name": "bash", "call": "call-1", "summary": "ls beds"},
    ]


def test_a_reply_without_words_or_calls_is_no_message() -> None:
    assert not told("assistant.message", messageId=OTHER, content="", toolRequests=[]).blocks


def test_a_reply_in_pieces_is_one_message_of_several_records() -> None:
    pieces = [
        parse(event("assistant.message", {"messageId": OTHER, "content": text}, id=f"piece-{text}"))
        for text in ("one", "two")
    ]
    assert {piece.key for piece in pieces} == {OTHER}
    assert [piece.uuid for piece in pieces] == ["piece-one", "piece-two"]


def test_what_a_tool_answered_is_a_message_of_the_tool() -> None:
    entry = told("tool.execution_complete", toolCallId="call-1", success=True, result={"content": "two beds"})
    assert who(entry) == (Author.TOOL, Standing.ASIDE, "tool_result")
    assert entry.text == "two beds"
    assert entry.blocks == [{"type": "tool_result", "call": "call-1", "error": False, "characters": 8}]


def test_a_tool_that_failed_says_why() -> None:
    entry = told("tool.execution_complete", toolCallId="call-1", success=False, error={"message": "no such bed"})
    assert (entry.text, entry.blocks[0]["error"]) == ("no such bed", True)


def test_a_command_of_the_shell_is_the_users() -> None:
    entry = told("tool.user_requested", toolName="local_shell", arguments={"command": "echo beds"})
    assert who(entry) == (Author.USER, Standing.SAID, "shell")
    assert entry.text == "! echo beds"


def test_an_answer_to_a_question_is_the_users_only_when_a_person_gave_it() -> None:
    answer = {"responseKind": "user_input", "question": "Which bed?", "answer": "the left one"}
    entry = told("human_response.recorded", actor="human_response", response=answer)
    assert (*who(entry), entry.text) == (Author.USER, Standing.SAID, "answer", "the left one")
    assert told("human_response.recorded", actor="host_automation", response=answer).author is Author.MACHINE
    form = {"responseKind": "ask_user", "content": {"bed": "left", "water": "much"}}
    assert told("human_response.recorded", actor="human_response", response=form).text == "left\nmuch"
    plan = {"responseKind": "exit_plan_mode", "approved": False, "feedback": "less water"}
    assert told("human_response.recorded", actor="human_response", response=plan).text == "less water"


def test_what_the_agent_says_at_the_end_of_its_task_is_said() -> None:
    assert who(told("session.task_complete", summary="All beds are wet.")) == (
        Author.ASSISTANT,
        Standing.SAID,
        "task_complete",
    )


@pytest.mark.parametrize(
    ("kind", "field", "message_kind"),
    [
        ("session.info", "message", "info"),
        ("session.warning", "message", "warning"),
        ("session.error", "message", "error"),
        ("session.compaction_complete", "summaryContent", "summary"),
        ("session.handoff", "summary", "handoff"),
        ("system.notification", "content", "notification"),
        ("skill.invoked", "content", "skill"),
        ("skill.context_delivered", "content", "skill"),
        ("abort", "reason", "interruption"),
    ],
)
def test_what_the_program_says_stands_aside(kind: str, field: str, message_kind: str) -> None:
    entry = told(kind, **{field: "rain today"})
    assert (*who(entry), entry.text) == (Author.MACHINE, Standing.ASIDE, message_kind, "rain today")
    assert not told(kind, **{field: ""}).key


@pytest.mark.parametrize("kind", ["system.message", "tool.execution_start", "hook.start", "model.message", "rain.fell"])
def test_bookkeeping_and_unknown_events_are_counted_and_are_no_message(kind: str) -> None:
    entry = told(kind, content="You are the GitHub Copilot CLI", message="x", arguments={})
    assert (entry.kind, entry.key) == (kind, "")


@pytest.mark.parametrize("where", [{"agentId": "looker"}, {}])
def test_what_a_sub_agent_says_is_not_said_to_the_user(where: dict[str, str]) -> None:
    inside = {} if where else {"parentToolCallId": "looker"}
    reply = parse(event("assistant.message", {"content": "Two.", **inside}, **where))
    task = parse(event("user.message", {"content": "count", "source": f"agent-{SESSION}", **inside}, **where))
    assert who(reply) == (Author.SUBAGENT, Standing.ASIDE, "")
    assert who(task) == (Author.MACHINE, Standing.ASIDE, "task")
    assert reply.agent_id == task.agent_id == "looker"


def test_the_start_tells_session_and_project() -> None:
    entry = told("session.start", sessionId=SESSION, selectedModel="gpt-x", context={"cwd": "/home/mara/greenhouse"})
    assert (entry.session_id, entry.cwd, entry.model) == (SESSION, "/home/mara/greenhouse", "gpt-x")
    assert told("session.resume", context={"cwd": "/srv/beds"}).cwd == "/srv/beds"
    assert told("session.context_changed", cwd="/srv/beds").cwd == "/srv/beds"


def test_sessions_that_come_from_one_another_are_linked() -> None:
    forked = told(
        "session.info", infoType="fork", message=f'Forked from "Beds" ({OTHER}) as "Beds (fork)" ({SESSION}).'
    )
    assert forked.links == (("fork", OTHER),)
    into = told("session.info", infoType="fork", message=f'Forked this session into "Beds (fork)" ({OTHER}).')
    assert into.links == ()
    assert told("session.start", detachedFromSpawningParentSessionId=OTHER).links == (("parent", OTHER),)
    assert told("session.handoff", remoteSessionId=OTHER).links == (("continue", OTHER),)


def test_a_fork_has_the_same_messages_under_the_same_keys() -> None:
    fork = FileFacts(key=OTHER, kind="session", session_id=OTHER, is_unique=True)
    record = event("user.message", {"content": "water them"})
    assert parse(record).key == parse(record, fork).key


def test_an_event_without_an_id_is_known_by_its_time_and_words() -> None:
    record = event("user.message", {"content": "water them"}, id=None)
    assert parse(record).key == parse(record).key != parse({**record, "timestamp": "2026-05-04T10:20:31.000Z"}).key
    assert not parse(record).key_by_place
    assert parse({**record, "timestamp": None}).key_by_place


def test_files_are_known_by_their_names() -> None:
    for name in (f"{STATE}/{SESSION}/events.jsonl", f"{STATE}/{SESSION}.jsonl"):
        assert COPILOT.is_candidate(name)
        facts = COPILOT.locate(name, STATE)
        assert (facts.key, facts.session_id, facts.is_unique) == (SESSION, SESSION, True)
    assert COPILOT.is_candidate(f"/home/mara/.copilot/history-session-state/{OLD}.json")
    assert COPILOT.locate(f"/backup/{OLD}.json", "/backup").session_id == SESSION
    assert not COPILOT.is_candidate(f"{STATE}/{SESSION}/rewind-file-snapshots/tracking.json")
    assert not COPILOT.is_candidate(f"{STATE}/{SESSION}/notes.jsonl")
    assert COPILOT.locate("/backup/beds/events.jsonl", "/backup").key == "beds/events.jsonl"


def test_a_file_that_was_renamed_is_told_its_session_by_its_first_line() -> None:
    start = json.dumps(event("session.start", {"sessionId": SESSION})).encode()
    plain = FileFacts(key="beds.jsonl", kind="session")
    assert COPILOT.refine(plain, Head("beds.jsonl", start)).session_id == SESSION
    other = FileFacts(key=OTHER, kind="session", session_id=OTHER, is_unique=True)
    assert COPILOT.refine(other, Head("events.jsonl", start)) == other


def test_its_files_are_recognised_and_others_are_not() -> None:
    assert COPILOT.recognises(Head("a.jsonl", json.dumps(event("session.start", {})).encode()))
    assert COPILOT.recognises(Head("a.json", json.dumps(document()).encode()))
    for other in (
        b'{"type":"user","uuid":"y","parentUuid":null,"message":{}}\n',
        b'{"type":"event_msg","payload":{},"timestamp":"x"}\n',
        b'{"sessionId":"x","projectHash":"0f","startTime":"x","messages":[]}',
        b"",
    ):
        assert not COPILOT.recognises(Head("a.jsonl", other))


def test_it_lies_below_the_home_or_where_the_variables_say() -> None:
    usual = ["/u/mara/.copilot/session-state", "/u/mara/.copilot/history-session-state"]
    for system in ("linux", "macos", "windows"):
        assert COPILOT.places(Computer(home="/u/mara", system=system)) == usual
    moved = {"COPILOT_HOME": "/srv/copilot", "XDG_STATE_HOME": "/srv/state"}
    places = COPILOT.places(Computer(home="/u/mara", system="linux", environment=moved))
    assert places[0] == "/srv/copilot/session-state"
    assert {*usual, "/srv/state/.copilot/session-state"} <= set(places)


def document(*items: dict[str, Any]) -> dict[str, Any]:
    chat = [{"role": "user", "content": "<context/> water them"}]
    return {
        "sessionId": SESSION,
        "startTime": "2025-09-20T10:00:00.000Z",
        "chatMessages": chat,
        "timeline": list(items),
    }


def items() -> list[dict[str, Any]]:
    at = {"timestamp": "2025-09-20T10:00:05.000Z"}
    return [
        {"id": "t1", **at, "type": "user", "text": "water them"},
        {
            "id": "t2",
            **at,
            "type": "tool_call_requested",
            "callId": "c",
            "name": "bash",
            "arguments": {"command": "ls"},
        },
        {"id": "t3", **at, "type": "tool_call_completed", "callId": "c", "result": {"type": "success", "log": "beds"}},
        {"id": "t4", **at, "type": "copilot", "text": "Done."},
        {"id": "t5", **at, "type": "error", "text": "no network"},
    ]


def read(data: bytes) -> tuple[list[Entry], str]:
    """What was read of a document, and what was raised then."""
    facts = COPILOT.locate(f"/backup/{OLD}.json", "/backup")
    found: list[Entry] = []
    try:
        for transcript in COPILOT.transcripts(Opened(f"{OLD}.json", io.BytesIO(data), print), facts) or []:
            found.extend(COPILOT.parse(raw, transcript.facts) for raw in transcript.records)
    except BrokenDocument as error:
        return found, str(error)
    return found, ""


def test_a_document_of_the_first_weeks_gives_its_timeline_once() -> None:
    found, error = read(json.dumps(document(*items()), indent=2).encode())
    assert not error
    assert found[0].session_id == SESSION
    assert [(entry.author, entry.text) for entry in found[1:]] == [
        (Author.USER, "water them"),
        (Author.ASSISTANT, ""),
        (Author.TOOL, "beds"),
        (Author.ASSISTANT, "Done."),
        (Author.MACHINE, "no network"),
    ]
    assert len({entry.key for entry in found[1:]}) == 5


def test_a_document_that_ends_in_the_middle_gives_what_is_whole_and_says_so() -> None:
    data = json.dumps(document(*items())).encode()
    for cut in range(1, len(data)):
        found, error = read(data[:cut])
        assert error.startswith(f"{OLD}.json: ")
        whole = sum(json.dumps(item).encode() in data[:cut] for item in items())
        assert len([entry for entry in found if entry.key]) == whole


def test_lines_are_read_as_they_are() -> None:
    assert COPILOT.transcripts(Opened("events.jsonl", io.BytesIO(), print), FACTS) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KINDS = [
    "session.start",
    "user.message",
    "assistant.message",
    "tool.execution_complete",
    "tool.user_requested",
    "human_response.recorded",
    "session.info",
    "session.handoff",
    "timeline.tool_call_completed",
    "abort",
]
NAMES = ["content", "source", "attachments", "toolRequests", "result", "error", "arguments", "response", "message"]
DATA = st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=3))
RECORD = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS) | JSON, "data": DATA | JSON, "id": JSON, "timestamp": JSON}
)


def test_half_a_character_in_a_name_or_in_words_does_no_harm() -> None:
    entry = COPILOT.parse(b'{"\\ud800":1,"id":"a","type":"user.message","data":{"content":"wet \\ud800"}}', FACTS)
    assert entry.text == "wet ?"


@settings(max_examples=300, deadline=None)
@given(record=RECORD | JSON)
def test_no_record_whatever_it_holds_does_harm(record: Any) -> None:
    try:
        entry = parse(record)
    except BadRecord:
        return
    entry.text.encode()


@pytest.mark.skipif(not SAMPLES.exists(), reason="the real transcripts do not lie beside this clone")
def test_a_real_session_comes_in() -> None:
    lines = (SAMPLES / "events-1.jsonl").read_bytes().splitlines()
    assert COPILOT.recognises(Head("events-1.jsonl", b"\n".join(lines[:3])))
    entries = [COPILOT.parse(line, FACTS) for line in lines]
    assert [(entry.author, entry.standing) for entry in entries if entry.key] == [
        (Author.USER, Standing.SAID),
        (Author.ASSISTANT, Standing.SAID),
    ]
    assert entries[0].cwd
