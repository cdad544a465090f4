"""Cursor's agent transcripts: lines with a role and a message, and nothing that says when, where or which."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.claude_code import ClaudeCode
from recollect.history.sources.cursor import Cursor
from recollect.history.sources.generic import Generic
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "cursor"
SOURCE = Cursor()
ID = "4fbed652-1111-4222-8333-0123456789ab"
CHILD = "9d1c0a37-4444-4555-8666-ba9876543210"
FACTS = FileFacts(key=ID, kind="session", session_id=ID, is_unique=True)
CHILD_FACTS = FileFacts(key=CHILD, kind="subagent", session_id=ID, agent_id=CHILD, is_unique=True)


def line(role: str, *items: dict[str, Any] | str) -> bytes:
    content = [{"type": "text", "text": item} if isinstance(item, str) else item for item in items]
    return json.dumps({"role": role, "message": {"content": content}}).encode()


def read(raw: bytes, facts: FileFacts = FACTS) -> Entry:
    return SOURCE.parse(raw, facts)


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def test_what_was_typed_is_taken_out_of_its_tag_and_the_time_out_of_another() -> None:
    stamp = "<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>"
    entry = read(line("user", f"{stamp}\n<user_query>\nWater the basil.\n</user_query>"))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.USER, Standing.SAID, "")
    assert entry.text == "Water the basil."
    assert entry.blocks == [{"type": "text", "text": "Water the basil."}]
    assert entry.at == "2026-09-03T18:21:00.000Z"
    assert entry.counted_blocks == ("user:text",)


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("Wednesday, Jun 3, 2026, 7:30 PM (UTC-7)", "2026-06-04T02:30:00.000Z"),
        ("Monday, Jan 5, 2026, 12:05 AM (UTC+5:30)", "2026-01-04T18:35:00.000Z"),
        ("Monday, January 5, 2026, 12:05 PM (UTC)", "2026-01-05T12:05:00.000Z"),
        ("Sunday, Sep 27, 2026, 9:00 AM", "2026-09-27T09:00:00.000Z"),
        ("2026-09-27T09:00:00Z", "2026-09-27T09:00:00.000Z"),
        ("Sunday, Feb 31, 2026, 9:00 AM", None),
        ("Sonntag, 27. Sept. 2026, 9:00 Uhr", None),
    ],
)
def test_the_time_that_is_told_to_the_model_is_the_time_of_the_message(stamp: str, at: str | None) -> None:
    entry = read(line("user", f"<timestamp>{stamp}</timestamp>\n<user_query>hi</user_query>"))
    assert (entry.at, entry.text) == (at, "hi")


def test_a_closing_tag_or_a_timestamp_that_the_user_typed_is_text() -> None:
    typed = "What does </user_query> mean, and <timestamp>Monday, Jan 5, 2026, 1:00 PM (UTC)</timestamp>?"
    entry = read(line("user", f"<user_query>\n{typed}\n</user_query>"))
    assert (entry.text, entry.at) == (typed, None)


def test_two_queries_in_one_line_are_both_kept() -> None:
    one, two = "<user_query>\nfirst\n</user_query>", "<timestamp>later</timestamp>\n<user_query>\nsecond\n</user_query>"
    assert read(line("user", f"{one}\n{two}")).text == "first\n\nsecond"
    assert read(line("user", one, two)).text == "first\n\nsecond"


def test_context_around_the_query_is_dropped_and_context_alone_is_machine_text() -> None:
    around = "<open_and_recently_viewed_files>\nbeds.md\n</open_and_recently_viewed_files>"
    assert read(line("user", f"{around}<user_query>Count them.</user_query>")).text == "Count them."
    assert read(line("user", around, "<user_query>Count them.</user_query>")).text == "Count them."
    alone = read(line("user", "<user_info>\nOS: linux\n</user_info>\n\n<rules>\nBe brief.\n</rules>"))
    assert (alone.author, alone.standing, alone.message_kind) == (Author.MACHINE, Standing.ASIDE, "context")
    assert "Be brief." in alone.text


def test_words_without_any_tag_are_the_users() -> None:
    entry = read(line("user", "<system_reminder>Be kind.</system_reminder>\nList the <b>beds</b>."))
    assert (entry.author, entry.text) == (Author.USER, "List the <b>beds</b>.")
    assert read(b'{"role":"user","message":{"content":"Plain words."}}').text == "Plain words."


def test_labels_of_what_was_attached_become_blocks() -> None:
    entry = read(line("user", "<user_query>Compare them.</user_query>\n[Image]\n[File: plan.pdf]"))
    assert entry.text == "Compare them."
    assert [block["type"] for block in entry.blocks] == ["text", "image", "document"]
    only = read(line("user", "<user_query>\n</user_query>\n[Image]"))
    assert (only.author, only.standing, only.text) == (Author.USER, Standing.SAID, "")


def test_an_assistant_speaks_and_calls_tools() -> None:
    entry = read(line("assistant", "I look.", use("Shell", command="ls beds", description="List")))
    assert (entry.author, entry.standing, entry.text) == (Author.ASSISTANT, Standing.SAID, "I look.")
    assert entry.blocks[1] == {"type": "tool_call", "name": "Shell", "call": "", "summary": "ls beds"}
    silent = read(line("assistant", use("Read", path="beds.md")))
    assert (silent.author, silent.standing, silent.text) == (Author.ASSISTANT, Standing.SAID, "")


def test_thinking_that_was_taken_out_leaves_a_mark_and_no_word() -> None:
    entry = read(line("assistant", "Done.\n\n[REDACTED]"))
    assert entry.text == "Done."
    assert entry.blocks[1] == {"type": "thinking", "characters": 0}
    assert read(line("assistant", "[REDACTED]")).text == ""
    assert read(line("assistant", "The form says [REDACTED] in red.")).text == "The form says [REDACTED] in red."
    thought = read(line("assistant", {"type": "thinking", "thinking": "hm"}))
    assert thought.blocks == [{"type": "thinking", "characters": 2}]


def test_a_tool_result_if_one_is_ever_written_is_a_message_of_the_tool() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "7 beds"}]}
    entry = read(line("user", result))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.TOOL, Standing.ASIDE, "tool_result")
    assert entry.text == "7 beds"
    assert entry.blocks == [{"type": "tool_result", "call": "t1", "error": False, "characters": 6}]


def test_the_end_of_a_turn_is_a_message_only_if_it_failed() -> None:
    assert read(b'{"type":"turn_ended","status":"success"}').key == ""
    failed = read(b'{"type":"turn_ended","status":"error","error":"The provider could not finish."}')
    assert (failed.author, failed.standing, failed.message_kind) == (Author.MACHINE, Standing.ASIDE, "error")
    stopped = read(b'{"type":"turn_ended","status":"aborted","error":"User aborted manually."}')
    assert (stopped.message_kind, stopped.text) == ("interruption", "User aborted manually.")


def test_a_message_is_known_by_its_session_its_words_and_its_place() -> None:
    entry = read(line("user", "yes"))
    assert entry.key_by_place
    assert entry.key == read(line("user", "yes")).key
    other = FileFacts(key="k", kind="session", session_id="another")
    assert (
        len(
            {
                entry.key,
                read(line("user", "no")).key,
                read(line("assistant", "yes")).key,
                read(line("user", "yes"), other).key,
            }
        )
        == 4
    )


def test_a_line_with_an_id_or_a_time_of_its_own_uses_them() -> None:
    raw = b'{"id":"m1","timestamp":"2026-09-04T02:21:00Z","role":"user","message":{"content":"hi"}}'
    entry = read(raw)
    assert (entry.at, entry.key_by_place) == ("2026-09-04T02:21:00.000Z", False)
    assert entry.key == read(raw.replace(b'"hi"', b'"hi!"')).key


def test_nothing_in_the_file_of_a_sub_agent_was_said_to_the_user() -> None:
    prompt, reply = read(line("user", "List files"), CHILD_FACTS), read(line("assistant", "two"), CHILD_FACTS)
    assert (prompt.author, prompt.message_kind, prompt.standing) == (Author.MACHINE, "task", Standing.ASIDE)
    assert (reply.author, reply.standing) == (Author.SUBAGENT, Standing.ASIDE)
    assert (reply.session_id, reply.agent_id) == (ID, CHILD)


def test_a_file_is_known_by_the_id_in_its_name_wherever_it_lies() -> None:
    below = f"/home/mara/.cursor/projects/home-mara-greenhouse/agent-transcripts/{ID}"
    old = SOURCE.locate(f"{below}.jsonl", "/home/mara/.cursor/projects")
    assert SOURCE.locate(f"{below}/{ID}.jsonl", "/home/mara") == old == FACTS
    assert SOURCE.locate(f"{below}/subagents/{CHILD}.jsonl", "/home/mara") == CHILD_FACTS
    named = SOURCE.locate(f"{below}/subagents/deeper/notes.jsonl", "/home/mara")
    assert (named.key, named.is_unique) == (
        f"home-mara-greenhouse/agent-transcripts/{ID}/subagents/deeper/notes.jsonl",
        False,
    )
    assert (named.session_id, named.agent_id) == (ID, "notes")
    assert SOURCE.locate("/tmp/x/y.jsonl", "/tmp/x").key == "y.jsonl"


def test_recognises_its_lines_and_no_others() -> None:
    head = Head("x.jsonl", line("user", "hi") + b"\n" + b'{"type":"turn_ended","status":"success"}\n')
    assert SOURCE.recognises(head)
    assert not Generic().recognises(head)
    assert not ClaudeCode().recognises(head)
    others = [
        b'{"role":"user","content":"hi"}',
        b'{"author":"user","text":"hi"}',
        b'{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}',
        b'{"type":"message","id":"a1","message":{"role":"user","content":[]}}',
        b'{"type":"turn_ended","status":"success"}',
    ]
    assert not any(SOURCE.recognises(Head("x.jsonl", raw + b"\n")) for raw in others)


def test_names_and_places() -> None:
    assert SOURCE.is_candidate(f"/home/mara/.cursor/projects/p/agent-transcripts/{ID}/{ID}.jsonl")
    assert not SOURCE.is_candidate(f"/home/mara/.cursor/projects/p/agent-transcripts/{ID}.txt")
    assert not SOURCE.is_candidate("/home/mara/.cursor/projects/p/terminals/1.jsonl")
    assert SOURCE.places(Computer(home="/home/mara", system="linux")) == ["/home/mara/.cursor/projects"]
    moved = Computer(home="C:/Users/mara", system="windows", environment={"CURSOR_DATA_DIR": "D:/cursor"})
    assert SOURCE.places(moved) == ["D:/cursor/projects"]


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples (shared/transcripts/cursor) do not lie beside this clone")
def test_every_line_of_the_samples_is_a_message_or_the_end_of_a_turn() -> None:
    for path in sorted(SAMPLES.glob("*.jsonl")):
        raw = path.read_bytes()
        assert SOURCE.recognises(Head(str(path), raw))
        facts = SOURCE.locate(str(path), str(SAMPLES))
        for record in raw.splitlines():
            entry = read(record, facts)
            told = json.loads(record)
            if "role" not in told:
                assert (entry.kind, entry.key) == ("turn_ended", "")
                continue
            assert entry.author == told["role"]
            assert entry.standing is Standing.SAID
            assert entry.text == "\n\n".join(i["text"] for i in told["message"]["content"] if i["type"] == "text")
            assert len(entry.blocks) == len(told["message"]["content"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"])
WORDS = st.sampled_from(["<user_query>", "</user_query>", "<timestamp>", "</timestamp>", "[REDACTED]", "a", "<rules>"])
ITEM = st.fixed_dictionaries(
    {"type": TYPES | JSON},
    optional={"text": JSON | st.lists(WORDS).map("".join), "name": JSON, "input": JSON, "content": JSON, "id": JSON},
)


@given(
    st.sampled_from(["user", "assistant", "tool", "system"]) | JSON,
    JSON | st.lists(ITEM),
    JSON,
    st.sampled_from([FACTS, CHILD_FACTS]),
)
def test_no_shape_of_a_line_raises_anything_but_bad_record(
    role: Any, content: Any, other: Any, facts: FileFacts
) -> None:
    shapes = (
        {"role": role, "message": {"content": content}, "timestamp": other, "id": other},
        {"role": role, "message": content},
        {"type": "turn_ended", "status": other, "error": content},
        content,
    )
    for shape in shapes:
        try:
            entry = read(json.dumps(shape).encode(), facts)
        except BadRecord:
            continue
        entry.text.encode()
        assert bool(entry.key) == bool(entry.blocks)
