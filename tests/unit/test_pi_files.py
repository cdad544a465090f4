"""Which files are Pi's or OpenClaw's, what their names tell, and real ones from beginning to end (H1, H2)."""

import json
from pathlib import Path
from typing import Any

import pytest
from pi_entries import NAME, OTHER, SESSION, SOURCE, SUBAGENT, TALK, at, header, raw, read, text, version_1

from recollect.history.messages import Author, Standing
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "openclaw-pi"


@pytest.mark.parametrize(
    ("path", "session_id"),
    [
        (f"/home/mara/.pi/agent/sessions/--greenhouse--/{NAME}", SESSION),
        ("/backup/2026-03-02T10-00-00-000Z_nightly.jsonl", "nightly"),
        (f"/home/mara/.openclaw/agents/main/sessions/{OTHER}.jsonl", OTHER),
        (f"/home/mara/.openclaw/agents/main/sessions/{OTHER}-topic-17.jsonl", OTHER),
        (f"/x/sessions/{OTHER}.jsonl.reset.2026-03-02T10-00-00.000Z", OTHER),
        (f"/x/sessions/{OTHER}.jsonl.deleted.2026-03-02T10-00-00.000Z", OTHER),
        (f"/x/sessions/{OTHER}.jsonl.bak.2026-03-02T10-00-00.000Z", OTHER),
        (f"/x/session-sqlite-import-archive/agent_main_main.{OTHER}.jsonl.imported-1783000000000", OTHER),
        (f"C:\\Users\\mara\\.pi\\agent\\sessions\\--C--x--\\{NAME}", SESSION),
    ],
)
def test_a_file_is_known_by_its_name_wherever_it_lies(path: str, session_id: str) -> None:
    assert SOURCE.is_candidate(path)
    assert not SOURCE.leaves_out(path)
    facts = SOURCE.locate(path, "/")
    name = path.replace("\\", "/").rpartition("/")[2]
    assert facts == FileFacts(key=name, kind="session", session_id=session_id, is_unique=True)


def test_a_reset_session_is_another_file_than_one_that_takes_its_name() -> None:
    live, reset = f"/s/{OTHER}.jsonl", f"/s/{OTHER}.jsonl.bak.2026-03-02T10-00-00.000Z"
    assert SOURCE.locate(live, "/s").key != SOURCE.locate(reset, "/s").key


def test_a_name_that_says_nothing_is_known_by_its_place() -> None:
    live = SOURCE.locate("/home/mara/.openclaw/agents/main/sessions/nightly.jsonl", "/home/mara/.openclaw/agents")
    backup = SOURCE.locate("/backup/main/sessions/nightly.jsonl", "/backup")
    assert live == backup == FileFacts(key="main/sessions/nightly.jsonl", kind="session")
    assert SOURCE.locate("/some/folder/chat.jsonl", "/some").key == "folder/chat.jsonl"


@pytest.mark.parametrize(
    ("below", "agent_id"),
    [("7f3a/run-0/session.jsonl", "7f3a/run-0"), (f"forks/2026-03-02T11-00-00-000Z_{OTHER}.jsonl", OTHER)],
)
def test_files_below_a_session_are_its_sub_agents(below: str, agent_id: str) -> None:
    folder = NAME.removesuffix(".jsonl")
    facts = SOURCE.locate(f"/home/mara/.pi/agent/sessions/--x--/{folder}/{below}", "/home/mara")
    assert (facts.kind, facts.session_id, facts.agent_id) == ("subagent", SESSION, agent_id)
    assert (facts.is_unique, facts.key) == (True, f"{folder}/{below}")
    assert facts.key > NAME, "a copy in it gives way to the session's own"


def test_nothing_in_a_sub_agents_file_is_said() -> None:
    found = [read(record, SUBAGENT) for record in TALK]
    authors = [(e.author, e.standing, e.message_kind, e.agent_id) for e in found if e.key]
    assert authors == [
        (Author.MACHINE, Standing.ASIDE, "task", "a/run-0"),
        (Author.SUBAGENT, Standing.ASIDE, "", "a/run-0"),
        (Author.TOOL, Standing.ASIDE, "tool_result", "a/run-0"),
        (Author.SUBAGENT, Standing.ASIDE, "", "a/run-0"),
    ]
    assert read(header(id=OTHER), SUBAGENT).session_id == SESSION


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (f"/s/{SESSION}.checkpoint.{OTHER}.jsonl", "checkpoint"),
        (f"/s/{SESSION}.trajectory.jsonl", "trajectory"),
        (f"/s/--x--/{NAME[:-6]}/subagent-artifacts/1_worker_0_transcript.jsonl", "sub-agent"),
        ("C:\\s\\subagent-artifacts\\5f31_worker.jsonl", "sub-agent"),
    ],
)
def test_copies_are_left_out_with_a_reason(path: str, why: str) -> None:
    assert why in SOURCE.leaves_out(path)


@pytest.mark.parametrize(
    "path", ["/s/sessions.json", "/s/sessions.json.bak.17", f"/s/{OTHER}.jsonl.lock", "/s/x.jsonl.reset.md", "/s/a.txt"]
)
def test_other_names_are_no_candidates(path: str) -> None:
    assert not SOURCE.is_candidate(path)


def test_a_checkpoint_in_a_session_id_is_no_checkpoint() -> None:
    assert not SOURCE.leaves_out("/s/my.checkpoint.jsonl")


def recognised(*records: Any) -> bool:
    return SOURCE.recognises(Head(path="/s/x.jsonl", start=b"\n".join(raw(record) for record in records)))


@pytest.mark.parametrize(
    "record",
    [
        header(),
        version_1(TALK[2]),
        *TALK[1:],
        {"kind": "header", "version": 1, "sessionId": OTHER, "generation": "g"},
    ],
)
def test_its_entries_are_recognised_with_and_without_a_header(record: dict[str, Any]) -> None:
    assert recognised(record)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "session.start", "id": "1", "parentId": None, "timestamp": at(1), "data": {"sessionId": "s"}},
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "x"}},
        {"type": "session_meta", "timestamp": at(1), "payload": {"id": "x", "cwd": "/x"}},
        {"role": "user", "message": {"content": text("x")}},
        {"author": "user", "text": "x"},
        {"type": "message", "role": "user", "content": "x", "id": "1"},
        {"version": 1, "recordType": "message", "message": {"role": "assistant"}},
        {"type": "session", "title": "x"},
    ],
)
def test_files_of_others_are_not_claimed(record: dict[str, Any]) -> None:
    assert not recognised(record)


def test_droids_sessions_are_not_claimed() -> None:
    assert not recognised({"type": "session_start", "id": "1", "cwd": "/x"}, TALK[2])


def test_cold_archives_of_openclaw_hold_the_entries_as_text() -> None:
    event = {"kind": "event", "row": {"seq": 3, "event_json": json.dumps(TALK[2]), "created_at": 1}}
    assert read(event) == read(TALK[2])
    opening = read({"kind": "header", "version": 1, "sessionId": OTHER, "generation": "g"})
    assert (opening.session_id, opening.kind, opening.key) == (OTHER, "cold header", "")
    with pytest.raises(BadRecord):
        read({"kind": "event", "row": None})


@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
def test_the_places_are_the_same_on_every_system(system: str) -> None:
    places = SOURCE.places(Computer(home="/home/mara", system=system))
    assert "/home/mara/.pi/agent/sessions" in places
    assert {f"/home/mara/.{name}/agents" for name in ("openclaw", "clawdbot", "moltbot")} <= set(places)


def test_the_places_follow_the_programs_own_variables() -> None:
    named = {
        "PI_CODING_AGENT_DIR": "~/pi",
        "PI_CODING_AGENT_SESSION_DIR": "/data/pi-sessions/",
        "OPENCLAW_STATE_DIR": "/data/claw",
        "OPENCLAW_PROFILE": "work",
    }
    places = SOURCE.places(Computer(home="/home/mara", system="linux", environment=named))
    assert {"/home/mara/pi/sessions", "/data/pi-sessions", "/data/claw/agents"} <= set(places)
    assert "/home/mara/.openclaw-work/agents" in places


@pytest.mark.skipif(not SAMPLES.exists(), reason="the real transcripts do not lie beside this clone")
def test_every_entry_of_the_samples_is_understood() -> None:
    for path in sorted(SAMPLES.glob("*.jsonl")):
        lines = path.read_bytes().splitlines()
        facts = SOURCE.locate(str(path), str(SAMPLES))
        records = [json.loads(line) for line in lines]
        found = [SOURCE.parse(line, facts) for line in lines]
        assert SOURCE.recognises(Head(path=str(path), start=lines[0]))
        assert sum(bool(e.key) for e in found) == sum(r["type"] in ("message", "compaction") for r in records)
        assert len({e.key for e in found if e.key}) == sum(bool(e.key) for e in found)
        users = sum(r["type"] == "message" and r["message"]["role"] in ("user", "bashExecution") for r in records)
        assert sum(e.author is Author.USER for e in found) == users
        assert all(e.at for e in found if e.key)
