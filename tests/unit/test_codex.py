"""Codex: rollouts of four generations, their forks and sub-agents, and the prompt log.

The shapes are those that versions 0.27, 0.34, 0.47, 0.92, 0.130 and 0.166 wrote when they were run; the words are
made up.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.codex import Codex
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "codex"
CODEX = Codex()
PARENT = "01990000-0000-7000-8000-000000000001"
TURNS = [f"01990000-000{number}-7000-8000-00000000000a" for number in range(1, 6)]
FORK = "01990000-0009-7000-8000-000000000002"
TURN_IN_FORK = "01990000-000a-7000-8000-00000000000b"
FACTS = FileFacts(key=PARENT, kind="session", session_id=PARENT, is_unique=True)
Record = dict[str, Any]


def line(kind: str, second: int = 0, **payload: Any) -> Record:
    return {"timestamp": f"2026-03-01T08:00:{second:02d}.250Z", "type": kind, "payload": payload}


def meta(thread: str = PARENT, second: int = 0, **more: Any) -> Record:
    return line("session_meta", second, id=thread, cwd="/fields/orchard", base_instructions={"text": "x" * 50}, **more)


def item(role: str, text: str, second: int = 0, **more: Any) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return line("response_item", second, type="message", role=role, content=content, **more)


def event(kind: str, second: int = 0, **more: Any) -> Record:
    return line("event_msg", second, type=kind, **more)


def turn(turn_id: str, prompt: str, answer: str, second: int) -> list[Record]:
    """One turn as legacy rollouts have it: everything twice."""
    return [
        event("task_started", second, turn_id=turn_id),
        line("turn_context", second, turn_id=turn_id, cwd="/fields/orchard", model="gpt-5.5"),
        item("user", prompt, second),
        event("user_message", second, message=prompt, images=[], local_images=[]),
        line("response_item", second, type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        event("agent_message", second, message=answer),
        item("assistant", answer, second),
        event("task_complete", second, turn_id=turn_id, last_agent_message=answer),
    ]


def paginated_prompt(turn_id: str, text: str, second: int, item_id: str) -> list[Record]:
    named = {"turn_id": turn_id, "content_item_kinds": ["user.text"]}
    return [
        item("user", text, second, id=f"msg_{turn_id}", internal_chat_message_metadata_passthrough=named),
        event(
            "item_completed",
            second,
            turn_id=turn_id,
            item={"type": "UserMessage", "id": item_id, "content": [{"type": "text", "text": text}]},
        ),
    ]


def raw(record: Any) -> bytes:
    return json.dumps(record).encode()


def parse(record: Any, facts: FileFacts = FACTS) -> Entry:
    return CODEX.parse(raw(record), facts)


def read(records: list[Record], facts: FileFacts = FACTS) -> list[Entry]:
    """The entries of a file as the fold sees them: parsed one by one, settled in order."""
    memory: dict[str, str] = {}
    entries = [parse(record, facts) for record in records]
    for entry in entries:
        CODEX.settle(entry, memory)
    return entries


def messages(records: list[Record], facts: FileFacts = FACTS) -> list[Entry]:
    return [entry for entry in read(records, facts) if entry.key]


def spoken(records: list[Record], facts: FileFacts = FACTS) -> list[tuple[str, str]]:
    return [(entry.author.value, entry.text) for entry in messages(records, facts) if entry.standing is Standing.SAID]


def restamped(records: list[Record]) -> list[Record]:
    """As Codex copies history into a fork: the same payloads, all at the time of the copy."""
    return [{**record, "timestamp": "2026-03-02T09:00:00.001Z"} for record in records]


PARENT_RECORDS = [
    meta(),
    *turn(TURNS[0], "When do the pears ripen?", "In September.", 1),
    *turn(TURNS[1], "continue", "The early ones in August.", 20),
    *turn(TURNS[2], "continue", "The late ones in October.", 40),
]
FORK_RECORDS = [
    meta(FORK, forked_from_id=PARENT),
    *restamped(PARENT_RECORDS),
    *turn(TURN_IN_FORK, "continue", "And the quinces?", 50),
]


def test_a_prompt_and_a_reply_that_stand_there_twice_are_one_message_each() -> None:
    assert spoken(PARENT_RECORDS) == [
        ("user", "When do the pears ripen?"),
        ("assistant", "In September."),
        ("user", "continue"),
        ("assistant", "The early ones in August."),
        ("user", "continue"),
        ("assistant", "The late ones in October."),
    ]


def test_the_same_words_in_another_turn_are_another_message() -> None:
    keys = [entry.key for entry in messages(PARENT_RECORDS)]
    assert len(set(keys)) == len(keys) == 6


def test_a_fork_repeats_the_messages_of_its_parent_under_their_keys_and_adds_its_own() -> None:
    known = {entry.key for entry in messages(PARENT_RECORDS)}
    fork = messages(FORK_RECORDS, FileFacts(key=FORK, kind="session", session_id=FORK))
    assert [entry.text for entry in fork if entry.key not in known] == ["continue", "And the quinces?"]
    assert {entry.session_id for entry in fork if entry.key in known} == {PARENT}
    assert {entry.session_id for entry in fork if entry.key not in known} == {""}


def test_forks_of_versions_without_turn_ids_are_recognised_by_thread_and_prompts() -> None:
    def without_turns(records: list[Record]) -> list[Record]:
        dropped = [record for record in records if record["payload"].get("type") not in ("task_started",)]
        for record in dropped:
            record["payload"] = {name: value for name, value in record["payload"].items() if name != "turn_id"}
        return dropped

    parent = messages(without_turns(PARENT_RECORDS))
    fork = messages(without_turns(FORK_RECORDS))
    known = {entry.key for entry in parent}
    assert len(known) == 6
    assert [entry.text for entry in fork if entry.key not in known] == ["continue", "And the quinces?"]


def test_a_migrated_rollout_gives_the_keys_of_the_one_it_replaces() -> None:
    prompt, answer = "When do the pears ripen?", "In September."
    legacy = [meta(), *turn(TURNS[0], prompt, answer, 1)]
    paginated = [
        meta(history_mode="paginated"),
        event("task_started", 1, turn_id=TURNS[0]),
        *paginated_prompt(TURNS[0], prompt, 1, "item-1"),
        item("assistant", answer, 1),
    ]
    assert [entry.key for entry in messages(legacy)] == [entry.key for entry in messages(paginated)]


def test_a_paginated_prompt_needs_no_earlier_record_to_be_known() -> None:
    said, shown = paginated_prompt(TURNS[0], "Prune the pear?", 3, "item-1")
    assert parse(said).key == ""
    [entry] = [entry for entry in read([meta(), said, shown]) if entry.key]
    assert entry.key == parse(shown).key
    assert (entry.author, entry.standing, entry.text) == (Author.USER, Standing.SAID, "Prune the pear?")


def test_a_reply_with_an_id_is_known_by_it() -> None:
    reply = item("assistant", "Yes.", 3, id="msg_0f8d38d40f365c98016a3d27487e9881")
    assert parse(reply).key == "msg_0f8d38d40f365c98016a3d27487e9881"
    assert [entry.key for entry in messages([meta(), reply])] == ["msg_0f8d38d40f365c98016a3d27487e9881"]


def test_a_short_id_of_a_migrated_item_is_not_taken_for_one_of_the_world() -> None:
    assert parse(item("assistant", "Yes.", 3, id="item-3")).key != "item-3"


def test_a_sub_agents_rollout_is_told_by_its_first_record() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    first = meta(FORK, forked_from_id=PARENT, source=spawned, thread_source="subagent")
    head = Head(f"/somewhere/rollout-2026-03-02T09-00-00-{FORK}.jsonl", raw(first) + b"\n")
    facts = CODEX.refine(CODEX.locate(head.path, "/somewhere"), head)
    assert (facts.kind, facts.session_id, facts.agent_id) == ("subagent", PARENT, FORK)
    records = [first, *restamped(PARENT_RECORDS), *turn(TURN_IN_FORK, "Count the pears", "Forty.", 50)]
    entries = messages(records, facts)
    assert [(entry.author, entry.message_kind, entry.text) for entry in entries[-2:]] == [
        (Author.MACHINE, "task", "Count the pears"),
        (Author.SUBAGENT, "", "Forty."),
    ]
    assert {entry.standing for entry in entries[-2:]} == {Standing.ASIDE}
    assert {entry.agent_id for entry in entries[-2:]} == {FORK}
    assert parse(first, facts).links == (("parent", PARENT),)


def test_what_a_sub_agent_copied_from_its_parent_stays_the_parents() -> None:
    facts = FileFacts(key=FORK, kind="subagent", session_id=PARENT, agent_id=FORK)
    first = meta(FORK, forked_from_id=PARENT, thread_source="subagent")
    copied = messages([first, *restamped(PARENT_RECORDS)], facts)
    original = messages(PARENT_RECORDS)
    assert [(e.key, e.author, e.standing, e.agent_id) for e in copied] == [
        (e.key, e.author, e.standing, "") for e in original
    ]


def test_going_back_leaves_turns_and_names_are_the_users() -> None:
    assert parse(event("thread_rolled_back", num_turns=2)).back_turns == 2
    assert parse(event("thread_rolled_back", num_turns="2")).back_turns == 0
    assert parse(event("thread_rolled_back", num_turns=10**400)).back_turns == 1_000_000
    named = parse(event("thread_name_updated", thread_name="The orchard"))
    assert (named.title, named.title_by_user) == ("The orchard", True)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<environment_context>\n  <cwd>/fields</cwd>\n</environment_context>", "environment_context"),
        ("# AGENTS.md instructions for /fields\n\n<INSTRUCTIONS>\nBe kind\n</INSTRUCTIONS>", "agents_md"),
        ("<user_instructions>\nBe kind\n</user_instructions>", "user_instructions"),
        ("<turn_aborted>\nThe user interrupted.\n</turn_aborted>", "turn_aborted"),
        ("<skill>\n<name>prune</name>\n</skill>", "skill"),
        ('<subagent_notification>\n{"status": "done"}\n</subagent_notification>', "subagent_notification"),
    ],
)
def test_injected_context_is_the_machines(text: str, kind: str) -> None:
    entry = parse(item("user", text))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.MACHINE, Standing.ASIDE, kind)


def test_a_person_who_quotes_a_tag_is_a_person() -> None:
    text = "<environment_context> is empty in my rollout, why?"
    entry = parse(event("user_message", message=text))
    assert (entry.author, entry.text) == (Author.USER, text)


def test_context_that_a_newer_codex_names_is_the_machines_without_any_tag() -> None:
    named = {"turn_id": TURNS[0], "content_item_kinds": ["goals.reminder"]}
    entry = parse(item("user", "Keep going.", internal_chat_message_metadata_passthrough=named))
    assert (entry.author, entry.message_kind) == (Author.MACHINE, "goals")
    assert parse(item("developer", "Sandbox: none")).author is Author.MACHINE


@pytest.mark.parametrize(
    "before",
    [
        "\n# Files mentioned by the user:\n\n## pear.png: /fields/pear.png\n\n## My request for Codex:\n",
        "# In app browser:\n- Current URL: example.org\n\n## My request for Codex:\n",
        "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request:\n",
    ],
)
def test_of_a_prompt_with_files_and_pages_only_the_persons_words_are_kept(before: str) -> None:
    entry = parse(event("user_message", message=f"{before}Is this pear ripe?\n", local_images=["/fields/pear.png"]))
    assert (entry.author, entry.text) == (Author.USER, "Is this pear ripe?")
    assert [block["type"] for block in entry.blocks] == ["text", "image"]


def test_a_heading_in_somebodys_own_words_stays() -> None:
    text = "Rename the part\n## My request for Codex:\nin the docs"
    assert parse(event("user_message", message=text)).text == text


def test_calls_and_outputs_are_messages_known_by_their_call() -> None:
    arguments = '{"cmd": "ls trees"}'
    call = parse(
        line("response_item", type="function_call", name="exec_command", arguments=arguments, call_id="call_1")
    )
    assert (call.author, call.standing, call.text) == (Author.ASSISTANT, Standing.SAID, "")
    assert call.blocks == [{"type": "tool_call", "name": "exec_command", "call": "call_1", "summary": "ls trees"}]
    printed = "Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno trees"
    output = parse(line("response_item", type="function_call_output", call_id="call_1", output=printed))
    assert (output.author, output.standing, output.message_kind) == (Author.TOOL, Standing.ASIDE, "tool_result")
    assert output.blocks[0]["error"] is True
    assert "no trees" in output.text
    assert len({call.key, output.key, ""}) == 3


@pytest.mark.parametrize(
    ("output", "text", "error"),
    [
        ("two pears", "two pears", False),
        ('{"output":"no pears","metadata":{"exit_code":1}}', "no pears", True),
        ([{"type": "input_text", "text": "a pear"}, {"type": "input_image", "image_url": "data:,"}], "a pear\n", False),
        ({"content": "rotten", "success": False}, "rotten", True),
    ],
)
def test_every_spelling_of_an_output_is_read(output: Any, text: str, error: bool) -> None:
    entry = parse(line("response_item", type="custom_tool_call_output", call_id="call_2", output=output))
    assert (entry.text, entry.blocks[0]["error"]) == (text, error)


def test_shell_calls_searches_and_patches_name_their_tool() -> None:
    calls: list[Record] = [
        {"type": "local_shell_call", "call_id": "c1", "action": {"type": "exec", "command": ["ls", "-a"]}},
        {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "pears"}},
        {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin Patch"},
    ]
    blocks = [parse(line("response_item", **call)).blocks[0] for call in calls]
    assert [(block["name"], block["summary"]) for block in blocks] == [
        ("shell", "ls -a"),
        ("web_search", "pears"),
        ("apply_patch", "*** Begin Patch"),
    ]


def test_a_compaction_leaves_its_summary_and_nothing_of_the_history_it_repeats() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "pears"}]}]
    entry = parse(line("compacted", message="We spoke of pears.", replacement_history=history))
    assert (entry.author, entry.message_kind, entry.text) == (Author.MACHINE, "summary", "We spoke of pears.")
    assert parse(line("compacted", message="", replacement_history=history)).key == ""


def test_replies_have_the_model_and_folder_of_their_turn() -> None:
    reply = messages(PARENT_RECORDS)[1]
    assert reply.model == "gpt-5.5"
    assert {entry.cwd for entry in read(PARENT_RECORDS) if entry.kind == "turn_context"} == {"/fields/orchard"}


def test_flat_rollouts_of_2025_are_read_from_their_items() -> None:
    context = "<environment_context>\n<cwd>/fields/orchard</cwd>\n</environment_context>"
    asked = {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "Ripe?"}]}
    records: list[Record] = [
        {"id": PARENT, "timestamp": "2025-08-01T10:00:00.000Z", "instructions": "Be kind"},
        {"record_type": "state"},
        {**asked, "content": [{"type": "input_text", "text": context}]},
        asked,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Soon."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "call_9"},
        asked,
    ]
    entries = messages(records)
    assert spoken(records) == [("user", "Ripe?"), ("assistant", "Soon."), ("assistant", ""), ("user", "Ripe?")]
    assert len({entry.key for entry in entries}) == 4, "the call belongs to the reply before it"
    assert entries[0].cwd == "/fields/orchard"
    assert parse(records[3]).key_by_place
    assert CODEX.recognises(Head("rollout-2025-08-01T10-00-00-x.jsonl", b"\n".join(map(raw, records))))


def test_the_prompt_log_gives_prompts_of_their_sessions() -> None:
    logged = {"session_id": PARENT, "ts": 1_772_352_000, "text": "When do the pears ripen?"}
    facts = CODEX.locate("/home/mara/.codex/history.jsonl", "/home/mara/.codex")
    entry = parse(logged, facts)
    assert (facts.kind, entry.message_kind, entry.author) == ("prompts", "prompt", Author.USER)
    assert (entry.session_id, entry.stream, entry.at) == (PARENT, PARENT, "2026-03-01T08:00:00.000Z")
    assert parse({**logged, "text": "/status"}, facts).standing is Standing.ASIDE
    assert CODEX.recognises(Head("history.jsonl", raw(logged)))


def test_a_rollout_is_known_by_the_id_in_its_name_wherever_it_lies() -> None:
    name = f"rollout-2026-03-01T08-00-00-{PARENT}.jsonl"
    live = CODEX.locate(f"/home/mara/.codex/sessions/2026/03/01/{name}", "/home/mara/.codex/sessions")
    archived = CODEX.locate(f"/backup/archived_sessions/{name}", "/backup")
    assert live == archived == FACTS
    after_going_back = CODEX.locate(f"/x/rollout-2026-03-01T08-00-00-{PARENT}_{FORK}.jsonl", "/x")
    assert (after_going_back.key, after_going_back.session_id) == (FORK, PARENT)
    assert CODEX.locate("/x/y/orchard.jsonl", "/x") == FileFacts(key="y/orchard.jsonl", kind="session")


def test_only_names_that_codex_gives_are_candidates() -> None:
    names = [f"rollout-2026-03-01T08-00-00-{PARENT}.jsonl", f"rollout-2026-03-01T08-00-00-{PARENT}.jsonl.zst"]
    assert all(CODEX.is_candidate(f"/x/{name}") for name in [*names, "history.jsonl"])
    assert CODEX.is_candidate(f"C:\\Users\\mara\\.codex\\sessions\\{names[0]}")
    assert not any(CODEX.is_candidate(f"/x/{name}") for name in ("session_index.jsonl", "notes.jsonl", "rollout.json"))


def test_it_looks_where_codex_keeps_its_home() -> None:
    moved = Computer(home="/home/mara", system="linux", environment={"CODEX_HOME": "~/codex"})
    assert "/home/mara/codex/sessions" in CODEX.places(moved)
    usual = Computer(home="C:/Users/mara", system="windows")
    assert CODEX.places(usual) == [
        f"C:/Users/mara/.codex/{name}" for name in ("sessions", "archived_sessions", "history.jsonl")
    ]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "hello"}},
        {"type": "message", "id": "a1", "parentId": None, "message": {"role": "user", "content": []}},
        {"role": "user", "content": "hello"},
        {"display": "hello", "timestamp": 1, "project": "/fields"},
    ],
)
def test_it_claims_no_file_of_another_agent(record: Record) -> None:
    assert not CODEX.recognises(Head("history.jsonl", raw(record)))


def test_unknown_types_are_kept_by_their_name_and_are_no_message() -> None:
    for record, kind in (
        (line("security_risk_score", score=1), "security_risk_score"),
        (event("token_count", info=None), "event_msg:token_count"),
        (event("item_completed", item={"type": "Reasoning"}), "event_msg:item_completed:Reasoning"),
        (line("response_item", type="ghost_snapshot"), "response_item:ghost_snapshot"),
    ):
        assert (parse(record).kind, parse(record).key) == (kind, "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
ALL = [*PARENT_RECORDS[:8], *paginated_prompt(TURNS[0], "Ripe?", 1, "item-1"), line("compacted", message="pears")]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(ALL), st.data())
def test_whatever_a_field_holds_nothing_escapes(record: Record, data: st.DataObject) -> None:
    spoilt = {**record, "payload": dict(record["payload"])}
    where = data.draw(st.sampled_from([spoilt, spoilt["payload"]]))
    where[data.draw(st.sampled_from(sorted(where)))] = data.draw(JSON)
    entry = parse(spoilt)
    CODEX.settle(entry, {})
    words = ("", *(block["text"] for block in entry.blocks if block["type"] == "text"))
    assert entry.author is Author.TOOL or not entry.key or entry.text in words


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"7", b'{"type":', b'{"type":' + b"[" * 100_000, b"\xff\xfe", b'{"payload": {"type": }}'],
)
def test_what_is_no_record_is_called_bad(text: bytes) -> None:
    with pytest.raises(BadRecord):
        CODEX.parse(text, FACTS)


def test_odd_signs_and_numbers_are_survived() -> None:
    odd = (
        b'{"timestamp": 1e400, "type": "event_msg", "payload": {"type": "user_message", "message": "a\\ud800\\u0000b"}}'
    )
    assert CODEX.parse(odd, FACTS).text == "a?\ufffdb"
    named_oddly = b'{"type": "event_msg", "payload": {"type": "user_message", "message": "pears", "\\ud800": 1}}'
    assert CODEX.parse(named_oddly, FACTS).text == "pears"


@pytest.mark.skipif(not SAMPLES.exists(), reason="the real transcripts do not lie beside this clone")
@pytest.mark.parametrize(("name", "prompts", "replies"), [("agentv-rollout-1", 2, 8), ("agentv-rollout-2", 10, 33)])
def test_real_rollouts_have_each_prompt_and_reply_once(name: str, prompts: int, replies: int) -> None:
    records = [json.loads(text) for text in (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    entries = messages(records, FileFacts(key=name, kind="session"))
    said = Counter(entry.author for entry in entries if entry.standing is Standing.SAID and entry.text)
    assert said == {Author.USER: prompts, Author.ASSISTANT: replies}
    assert len({(entry.key, entry.uuid) for entry in entries}) == len(entries)


def test_a_reply_is_one_message_with_the_calls_up_to_what_the_first_of_them_gave() -> None:
    def item(**payload: object) -> Record:
        return {"timestamp": "2026-03-01T08:00:01.250Z", "type": "response_item", "payload": payload}

    def call(name: str) -> Record:
        return item(type="function_call", name="shell", arguments="{}", call_id=name)

    def words(name: str) -> Record:
        return item(type="message", role="assistant", id=name, content=[{"type": "output_text", "text": "I look."}])

    first, second = "msg_00000000000000001", "msg_00000000000000002"
    given = item(type="function_call_output", call_id="call_1", output="three pears")
    entries = messages([words(first), call("call_1"), call("call_2"), given, call("call_3"), words(second)])
    own = "codex:call:call_3"
    assert [entry.key for entry in entries] == [first, first, first, "codex:output:call_1", own, second]
    assert len({entry.uuid for entry in entries if entry.uuid}) == 5


@pytest.mark.skipif(not SAMPLES.exists(), reason="the real transcripts do not lie beside this clone")
def test_every_line_of_every_sample_is_read() -> None:
    for path in sorted(SAMPLES.glob("*.jsonl")):
        assert CODEX.recognises(Head(str(path), path.read_bytes()[:65_536]))
        for text in path.read_bytes().splitlines():
            assert CODEX.parse(text, FileFacts(key=path.name, kind="session")).kind != "(no type)"
