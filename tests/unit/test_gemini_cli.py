"""Gemini CLI's two forms of a session: which words are whose, and what a damaged file still gives (H1, H2)."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.documents import BrokenDocument
from recollect.history.sources.gemini_cli import GeminiCli
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Opened

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "gemini-cli"
GEMINI = GeminiCli()
PROMPT, REPLY, LATER = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "abc")
SESSION = "5ea8d094-1111-4111-8111-111111111111"
STEM = "session-2026-05-04T10-20-5ea8d094"
CHATS = "/home/mara/.gemini/tmp/greenhouse/chats"
FACTS = FileFacts(key=STEM, kind="session", is_unique=True)
AGENT = FileFacts(key=f"{SESSION}/looker", kind="subagent", session_id=SESSION, agent_id="looker")
CONTEXT = (
    "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
    "- **Workspace Directories:**\n  - /home/mara/greenhouse\n- **Directory Structure:**\n</session_context>"
)


def parse(record: Any, facts: FileFacts = FACTS) -> Entry:
    return GEMINI.parse(json.dumps(record).encode(), facts)


def message(kind: str, content: Any, own_id: str = PROMPT, **fields: Any) -> dict[str, Any]:
    return {"id": own_id, "timestamp": "2026-05-04T10:20:30.000Z", "type": kind, "content": content, **fields}


def user(*texts: str, **fields: Any) -> Entry:
    return parse(message("user", [{"text": text} for text in texts], **fields))


def call(result: Any = None, **fields: Any) -> dict[str, Any]:
    return {"id": "list-1", "name": "list_directory", "args": {"dir_path": "."}, "result": result, **fields}


def response(output: str, name: str = "output") -> dict[str, Any]:
    return {"functionResponse": {"id": "list-1", "name": "list_directory", "response": {name: output}}}


def document(*messages: dict[str, Any], **late: Any) -> dict[str, Any]:
    times = {"startTime": "2026-05-04T10:20:00.000Z", "lastUpdated": "2026-05-04T11:00:00.000Z"}
    return {"sessionId": SESSION, "projectHash": "0f" * 32, **times, "messages": list(messages), **late}


def records(data: bytes, facts: FileFacts = FACTS, reports: list[str] | None = None) -> list[bytes]:
    told = [] if reports is None else reports
    found = GEMINI.transcripts(Opened(f"{CHATS}/{STEM}.json", io.BytesIO(data), told.append), facts)
    assert found is not None
    return [raw for transcript in found for raw in transcript.records]


def test_what_a_person_types_is_said_by_the_user() -> None:
    entry = user("water the tomatoes")
    assert (entry.author, entry.standing, entry.text, entry.message_kind) == (
        Author.USER,
        Standing.SAID,
        "water the tomatoes",
        "",
    )
    assert entry.key == PROMPT
    assert entry.replaces
    assert entry.at == "2026-05-04T10:20:30.000Z"
    assert entry.blocks == [{"type": "text", "text": "water the tomatoes"}]


def test_content_that_is_plain_words_reads_like_content_in_parts() -> None:
    assert parse(message("user", "water the tomatoes")) == user("water the tomatoes")


def test_files_that_were_named_are_no_words_of_the_user() -> None:
    start, end = "\n--- Content from referenced files ---", "\n--- End of content ---"
    assert user("what is in @a.txt ?", start, "\nContent from @a.txt:\n", "seeds", end).text == "what is in @a.txt ?"
    assert user("and @b ?", start, "\nContent from @b:\n", "soil").text == "and @b ?"
    quoted = "why does it print\n--- Content from referenced files ---\nhere?"
    assert user(quoted).text == quoted


def test_the_words_that_were_shown_are_those_of_the_user() -> None:
    entry = user("A long prompt that a command file holds", displayContent=[{"text": "/plan the beds"}])
    assert (entry.text, entry.author) == ("/plan the beds", Author.USER)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CONTEXT, "context"),
        ("This is the Gemini CLI. We are setting up the context for our chat.\nToday", "context"),
        ("Here is the user's editor context as a JSON object. This is for your information only.", "context"),
        ("Here is a summary of changes in the user's editor context, in JSON format.", "context"),
        ("<hook_context>rain today</hook_context>", "context"),
        ("System: Potential loop detected. Details: x. Please take a step back", "notice"),
        ("Please continue.", "continuation"),
        ("<state_snapshot>beds</state_snapshot>", "summary"),
        ("", "empty"),
    ],
)
def test_what_the_program_says_in_the_users_name_is_the_machines(text: str, kind: str) -> None:
    entry = user(text)
    assert (entry.author, entry.standing, entry.message_kind) == (Author.MACHINE, Standing.ASIDE, kind)


def test_what_a_hook_adds_is_taken_off() -> None:
    assert user("water them", "<hook_context>rain today</hook_context>").text == "water them"
    assert user("what is <hook_context> for?").text == "what is <hook_context> for?"


def test_a_command_of_the_shell_is_the_users_and_its_output_is_not() -> None:
    told = "I ran the following shell command:\n```sh\necho \\`date\\`\n```\n\n"
    entry = user(f"{told}This produced the following result:\n```\nMonday\n```")
    assert (entry.author, entry.message_kind, entry.text) == (Author.USER, "shell", "! echo `date`")


def test_a_bare_command_stands_aside_and_a_path_is_no_command() -> None:
    assert (user("/stats").standing, user("/stats").message_kind) == (Standing.ASIDE, "command")
    assert user("/etc/hosts is empty").standing is Standing.SAID


def test_what_a_tool_answered_is_a_message_of_the_tool() -> None:
    entry = parse(message("user", [response("two beds")]))
    assert (entry.author, entry.standing, entry.text) == (Author.TOOL, Standing.ASIDE, "two beds")
    assert entry.blocks == [{"type": "tool_result", "call": "list-1", "error": False, "characters": 8}]
    assert parse(message("user", [response("no such bed", "error")])).blocks[0]["error"]


def test_a_reply_holds_its_calls_with_how_long_their_results_are() -> None:
    thoughts = [{"subject": "Beds", "description": "I look."}]
    reply = message("gemini", "I look.", thoughts=thoughts, model="gemini-x", toolCalls=[call([response("two beds")])])
    entry = parse(reply)
    assert (entry.author, entry.standing, entry.text, entry.model) == (
        Author.ASSISTANT,
        Standing.SAID,
        "I look.",
        "gemini-x",
    )
    assert [block["type"] for block in entry.blocks] == ["thinking", "text", "tool_call", "tool_result"]
    assert entry.blocks[0] == {"type": "thinking", "characters": 7}
    assert entry.blocks[3]["characters"] == 8
    assert entry.counted_blocks[2] == "gemini:tool_call"


def test_a_call_without_a_result_and_one_that_was_cancelled() -> None:
    assert [block["type"] for block in parse(message("gemini", "", toolCalls=[call()])).blocks] == ["tool_call"]
    cancelled = call([response("[Operation Cancelled]", "error")], status="cancelled")
    assert parse(message("gemini", "", toolCalls=[cancelled])).blocks[1]["error"]


def test_a_reply_in_parts_gives_its_words_without_its_thoughts_and_each_call_once() -> None:
    parts = [
        {"text": "**Beds** hm", "thought": True},
        {"text": "I look."},
        {"functionCall": {"id": "list-1", "name": "x"}},
    ]
    entry = parse(message("gemini", parts, toolCalls=[call()]))
    assert entry.text == "I look."
    assert [block["type"] for block in entry.blocks] == ["thinking", "text", "tool_call"]
    assert [block["type"] for block in parse(message("gemini", parts)).blocks] == ["thinking", "text", "tool_call"]


def test_pictures_are_kept_by_type_and_size() -> None:
    entry = parse(message("user", [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]))
    assert entry.blocks == [{"type": "image", "media_type": "image/png", "bytes": 3}]
    assert entry.standing is Standing.SAID


@pytest.mark.parametrize("kind", ["info", "warning", "error"])
def test_notes_of_the_program_stand_aside(kind: str) -> None:
    entry = parse(message(kind, "Request cancelled."))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.MACHINE, Standing.ASIDE, kind)
    assert not parse(message(kind, "")).key


def test_going_back_names_the_message_that_is_left_first() -> None:
    assert parse({"$rewindTo": PROMPT}).back_to == PROMPT
    made_up = parse({"$rewindTo": "d04923d3"}).back_to
    assert made_up == parse(message("user", "x", "d04923d3")).key != "d04923d3"


def test_ids_that_are_not_random_are_told_apart_by_their_session() -> None:
    other = FileFacts(key="session-2026-05-05T10-20-00000000", kind="session", is_unique=True)
    assert parse(message("user", "x", "g-1")).key != parse(message("user", "x", "g-1"), other).key
    assert parse(message("user", "x")).key == parse(message("user", "x"), other).key


def test_metadata_gives_session_title_and_project() -> None:
    header = parse({"sessionId": SESSION, "projectHash": "0f", "startTime": "2026-05-04T10:20:00.000Z", "kind": "main"})
    assert (header.kind, header.session_id, header.at, header.key) == (
        "metadata",
        SESSION,
        "2026-05-04T10:20:00.000Z",
        "",
    )
    assert parse({"$set": {"summary": "Beds and seeds"}}).title == "Beds and seeds"
    assert parse({"$set": {"directories": ["/home/mara/greenhouse", "/srv/seeds"]}}).cwd == "/home/mara/greenhouse"
    assert parse({"$set": {"lastUpdated": "2026-05-04T10:20:00.000Z"}}).kind == "$set"


def test_the_models_context_tells_the_project_and_leaves_the_conversation_alone() -> None:
    entry = parse({"$set": {"messages": [message("user", [{"text": CONTEXT}], "d04923d3")]}})
    assert (entry.cwd, entry.key, entry.back_to) == ("/home/mara/greenhouse", "", "")


def test_a_summary_that_stands_only_in_the_models_context_is_kept() -> None:
    context, tail = message("user", CONTEXT, "d04923d3"), message("user", "and now?", LATER)
    for text in ("<state_snapshot>beds</state_snapshot>", "We spoke of beds."):
        summary = message("user", [{"text": text}], REPLY)
        thanks = message("gemini", [{"text": "Got it. Thanks for the additional context!"}], "d2")
        entry = parse({"$set": {"messages": [context, summary, thanks, tail]}})
        assert (entry.key, entry.author, entry.message_kind, entry.text) == (REPLY, Author.MACHINE, "summary", text)
        assert entry.standing is Standing.ASIDE


def test_in_the_file_of_a_sub_agent_nobody_speaks_with_the_user() -> None:
    task, reply = parse(message("user", "count the beds"), AGENT), parse(message("gemini", "Two."), AGENT)
    assert (task.author, task.message_kind, task.standing) == (Author.MACHINE, "task", Standing.ASIDE)
    assert (reply.author, reply.standing, reply.agent_id) == (Author.SUBAGENT, Standing.ASIDE, "looker")


def test_unknown_types_are_counted_and_are_no_message() -> None:
    entry = parse(message("dream", "of rain"))
    assert (entry.kind, entry.key) == ("dream", "")
    assert parse({"type": "later"}).kind == "later"
    assert parse({}).kind == "(no type)"


def test_a_document_gives_the_lines_it_would_be_today() -> None:
    first, second = message("user", "water them"), message("gemini", "Done.", REPLY)
    given = records(json.dumps(document(first, second, summary="Watering"), indent=2).encode())
    kinds = [GEMINI.parse(raw, FACTS).kind for raw in given]
    assert kinds == ["metadata", "user", "gemini", "$set"]
    assert GEMINI.parse(given[1], FACTS) == parse(first)
    assert GEMINI.parse(given[3], FACTS).title == "Watering"


def test_a_document_that_grew_gives_the_same_first_records() -> None:
    turns = [message("user", f"bed {number}", f"id-{number}") for number in range(5)]
    whole = records(json.dumps(document(*turns, summary="Beds")).encode())
    for number in range(5):
        part = document(*turns[:number]) | {"lastUpdated": f"2026-05-04T10:3{number}:00.000Z"}
        assert whole[: number + 1] == records(json.dumps(part).encode())


def words_before_the_end(data: bytes) -> tuple[list[str], str]:
    """What was read, and what was raised then."""
    found: list[str] = []
    try:
        for transcript in GEMINI.transcripts(Opened(f"{STEM}.json", io.BytesIO(data), print), FACTS) or []:
            for raw in transcript.records:
                entry = GEMINI.parse(raw, FACTS)
                found += [entry.text] if entry.key else []
    except BrokenDocument as error:
        return found, str(error)
    return found, ""


def test_a_document_that_ends_in_the_middle_gives_its_whole_messages_and_says_so() -> None:
    words = ["bed 0", "bed 1", "bed 2"]
    data = json.dumps(document(*[message("user", text, text) for text in words])).encode()
    assert words_before_the_end(data) == (words, "")
    for cut in range(1, len(data)):
        found, error = words_before_the_end(data[:cut])
        assert found == words[: data[:cut].count(b'"}')]
        assert error.startswith(f"{STEM}.json: ")
        assert "gemini --resume" in error


def test_a_damaged_message_does_not_take_the_others_along() -> None:
    data = json.dumps(document(message("user", "one", "a"), message("user", "two", "b"), message("user", "three", "c")))
    reports: list[str] = []
    given = records(data.replace('"two"', '"two" oh').encode(), reports=reports)
    assert [GEMINI.parse(raw, FACTS).text for raw in given][1:] == ["one", "three"]
    assert len(reports) == 1


def test_an_old_document_of_a_sub_agent_is_known_by_its_last_lines() -> None:
    data = json.dumps(document(message("user", "count"), kind="subagent"), indent=2).encode()
    found = GEMINI.transcripts(Opened(f"{STEM}.json", io.BytesIO(data), print), FACTS)
    assert found is not None
    assert next(found).facts.kind == "subagent"


def test_both_forms_of_a_session_are_one_transcript_and_the_lines_are_the_later_one() -> None:
    old, new = (GEMINI.locate(f"{CHATS}/{STEM}.{ending}", CHATS) for ending in ("json", "jsonl"))
    assert old.key == new.key == STEM
    assert old.is_unique
    assert new.is_unique
    found = GEMINI.transcripts(Opened(f"{STEM}.json", io.BytesIO(json.dumps(document()).encode()), print), old)
    assert found is not None
    assert "" < next(found).version < new.version
    assert GEMINI.transcripts(Opened(f"{STEM}.jsonl", io.BytesIO(), print), new) is None


def test_the_first_line_tells_the_session_and_whether_it_is_a_sub_agent() -> None:
    header = {"sessionId": SESSION, "projectHash": "0f", "kind": "main"}
    plain = FileFacts(key="talk.jsonl", kind="session")
    assert GEMINI.refine(plain, Head("talk.jsonl", json.dumps(header).encode())).session_id == SESSION
    agent = GEMINI.refine(plain, Head("talk.jsonl", json.dumps(header | {"kind": "subagent"}).encode()))
    assert (agent.kind, agent.agent_id, agent.session_id) == ("subagent", SESSION, "")
    assert GEMINI.refine(AGENT, Head("looker.jsonl", json.dumps(header).encode())) == AGENT


def test_files_are_known_by_their_names() -> None:
    assert GEMINI.is_candidate(f"{CHATS}/{STEM}.json")
    assert GEMINI.is_candidate(f"{CHATS}/{SESSION}/looker.jsonl")
    assert not GEMINI.is_candidate(f"{CHATS}/../logs.json")
    assert not GEMINI.is_candidate(f"{CHATS}/notes.jsonl")
    assert not GEMINI.is_candidate(f"{CHATS}/session-index.json")
    agent = GEMINI.locate(f"{CHATS}/{SESSION}/looker.jsonl", CHATS)
    assert (agent.kind, agent.session_id, agent.agent_id) == ("subagent", SESSION, "looker")
    assert GEMINI.locate("/backup/beds/talk.json", "/backup").key == "beds/talk.json"


def test_the_project_is_read_beside_the_chats(tmp_path: Path) -> None:
    chats = tmp_path / "greenhouse" / "chats"
    (chats / SESSION).mkdir(parents=True)
    (tmp_path / "greenhouse" / ".project_root").write_text("/home/mara/greenhouse\n", encoding="utf-8")
    for name in (f"{STEM}.jsonl", f"{SESSION}/looker.jsonl"):
        assert GEMINI.locate(f"{chats}/{name}", str(tmp_path)).cwd == "/home/mara/greenhouse"
    assert GEMINI.locate(f"{CHATS}/{STEM}.jsonl", CHATS).cwd == ""


def test_its_files_are_recognised_and_others_are_not() -> None:
    line = b'{"sessionId":"x","projectHash":"0f","startTime":"2026-05-04T10:20:00.000Z"}\n'
    assert GEMINI.recognises(Head("a.jsonl", line))
    assert GEMINI.recognises(Head("a.json", json.dumps(document(message("user", "x")), indent=2).encode()[:300]))
    for other in (
        b'{"type":"user","sessionId":"x","uuid":"y","message":{}}\n',
        b'[{"sessionId":1,"projectHash":2}]',
        b"",
    ):
        assert not GEMINI.recognises(Head("a.jsonl", other))


def test_it_lies_below_the_home_or_where_the_variable_says() -> None:
    for system in ("linux", "macos", "windows"):
        assert GEMINI.places(Computer(home="/u/mara", system=system)) == ["/u/mara/.gemini/tmp"]
    moved = Computer(home="/u/mara", system="linux", environment={"GEMINI_CLI_HOME": "/srv/gemini/"})
    assert GEMINI.places(moved) == ["/srv/gemini/.gemini/tmp"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["id", "type", "timestamp", "content", "displayContent", "thoughts", "toolCalls", "model", "$set", "$rewindTo"]
PARTS = ["text", "thought", "functionCall", "functionResponse", "inlineData", "messages", "result", "response", "id"]
PART = st.dictionaries(st.sampled_from(PARTS), JSON, max_size=4)
SHAPED = st.dictionaries(st.sampled_from(PARTS), JSON | PART | st.lists(PART, max_size=2), max_size=5)
RECORD = st.fixed_dictionaries(
    {"id": st.just("a") | JSON, "type": st.sampled_from(["user", "gemini", "info"]) | JSON},
    optional={name: JSON | SHAPED | st.lists(SHAPED, max_size=3) for name in FIELDS[2:]},
)


def test_half_a_character_in_a_name_or_in_words_does_no_harm() -> None:
    entry = GEMINI.parse(b'{"\\ud800":1,"id":"a","type":"user","content":"wet \\ud800"}', FACTS)
    assert entry.text == "wet ?"


@settings(max_examples=300, deadline=None)
@given(record=RECORD | JSON | st.dictionaries(st.sampled_from(FIELDS[8:]), SHAPED))
def test_no_record_whatever_it_holds_does_harm(record: Any) -> None:
    for facts in (FACTS, AGENT):
        try:
            entry = parse(record, facts)
        except BadRecord:
            continue
        entry.text.encode()


@pytest.mark.skipif(not SAMPLES.exists(), reason="the real transcripts do not lie beside this clone")
def test_the_real_sessions_come_in_with_every_message_once() -> None:
    for path in sorted(SAMPLES.glob("session-*.json")):
        expected = json.loads(path.read_bytes())["messages"]
        facts = GEMINI.locate(str(path), str(SAMPLES))
        assert GEMINI.recognises(Head(str(path), path.read_bytes()[:65536]))
        given = [GEMINI.parse(raw, facts) for raw in records(path.read_bytes(), facts)]
        told = [entry for entry in given if entry.key]
        assert [entry.key for entry in told] == [item["id"] for item in expected]
        authors = {"user": Author.USER, "gemini": Author.ASSISTANT}
        assert [entry.author for entry in told] == [authors.get(item["type"], Author.MACHINE) for item in expected]
        assert [entry.text for entry in told] == [item["content"] for item in expected]


@pytest.mark.skipif(not SAMPLES.exists(), reason="the real transcripts do not lie beside this clone")
def test_the_real_lines_come_in() -> None:
    path = SAMPLES / "agent-sessions-jsonl_v040.jsonl"
    told = [parse(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [entry.author for entry in told if entry.key] == [Author.USER, Author.ASSISTANT, Author.ASSISTANT]
