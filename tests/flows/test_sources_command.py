"""`recollect sources`: what is here, when it grew, what was left out; `recollect doctor`: a source that fell silent."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from commands import Result, run
from exports import Rollout, chatgpt, document, export_file
from pi_entries import SESSION, TALK
from transcripts import write

CHECKPOINT = f"{SESSION}.checkpoint.3d2f6a10-5d5f-4c8e-9a51-0f7f5d9a2b11.jsonl"
DAY_SECONDS = 86_400


@pytest.fixture
def user(home: Path) -> Path:
    """The home of the person, beside the home of Recollect; `commands.environment` says so."""
    return home.parent / "user"


def save_codex(user: Path, told: Rollout) -> Path:
    return write(user / ".codex" / "sessions" / "2026" / "03" / "02" / told.name, told.raw)


def save_gemini(user: Path) -> Path:
    messages = [
        {"id": "a1", "timestamp": "2026-05-04T10:20:30.000Z", "type": "user", "content": [{"text": "Sow beans?"}]},
        {"id": "a2", "timestamp": "2026-05-04T10:20:40.000Z", "type": "gemini", "content": "In May."},
    ]
    session = {"sessionId": "5ea8d094-1111-4111-8111-111111111111", "projectHash": "0f" * 32, "messages": messages}
    times = {"startTime": "2026-05-04T10:20:00.000Z", "lastUpdated": "2026-05-04T11:00:00.000Z"}
    chats = user / ".gemini" / "tmp" / "greenhouse" / "chats"
    return write(chats / "session-2026-05-04T10-20-5ea8d094.json", json.dumps({**session, **times}).encode())


def save_openclaw(user: Path) -> Path:
    """A session with what OpenClaw lays beside it: a copy from before a compaction, and what happened meanwhile."""
    raw = b"".join(json.dumps(record).encode() + b"\n" for record in TALK)
    sessions = user / ".openclaw" / "agents" / "main" / "sessions"
    write(sessions / CHECKPOINT, raw)
    write(sessions / f"{SESSION}.trajectory.jsonl", b'{"type":"trajectory"}\n')
    return write(sessions / f"{SESSION}.jsonl", raw)


def take_in(home: Path) -> None:
    done = run("up", "--once", home=home)
    assert done.code == 0, done


def sources(home: Path) -> dict[str, dict[str, Any]]:
    done = run("sources", "--json", home=home)
    assert done.code == 0, done
    return {item["name"]: item for item in done.json()}


def findings(done: Result) -> list[tuple[str, str]]:
    return [(item["level"], item["message"]) for item in done.json()["findings"] if item["check"].startswith("source")]


def make_older(path: Path, days: float) -> None:
    moment = path.stat().st_mtime - days * DAY_SECONDS
    os.utime(path, (moment, moment))


# --- What is here -----------------------------------------------------------------------------------------------------


def test_people_read_what_is_here_when_it_grew_and_what_was_left_out(home: Path, user: Path) -> None:
    save_codex(user, Rollout("beans").say(3).note("token_count", 2))
    save_gemini(user)
    save_openclaw(user)
    take_in(home)

    done = run("sources", home=home)

    assert (done.code, done.err) == (0, "")
    rows = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert "conversations" in rows["source"]
    assert "last grew" in rows["source"]
    assert "codex" in rows["Codex"]
    assert "~/.codex/sessions" in rows["Codex"]
    assert " 6 " in rows["Codex"]
    assert "~/.gemini/tmp" in rows["Gemini"]
    assert "~/.openclaw/agents" in done.out
    assert "left out 1 file: a checkpoint of OpenClaw" in done.out
    assert "left out 1 file: a trajectory of OpenClaw" in done.out
    assert "kept, but no messages:" in done.out
    assert "2 token_count" in done.out
    rest = done.out.partition("Known, not found here: ")[2]
    assert "ChatGPT export (chatgpt)" in rest
    assert "Codex" not in rest


def test_programs_read_the_same_as_one_document(home: Path, user: Path) -> None:
    rollout = save_codex(user, Rollout("beans").say(3))
    save_openclaw(user)
    take_in(home)

    found = sources(home)

    codex = found["codex"]
    assert (codex["title"], codex["files"], codex["conversations"], codex["messages"]) == ("Codex", 1, 1, 6)
    (place,) = codex["found"]
    assert (place["path"], place["files"], place["bytes"]) == (
        str(user / ".codex" / "sessions"),
        1,
        rollout.stat().st_size,
    )
    assert place["changed_at"].endswith("Z")
    assert codex["last_message_at"].startswith("2026-03-02T10:")
    assert codex["last_grew_at"] > place["changed_at"][:10]
    assert codex["skipped"]["failed"] == []
    assert (codex["silent_since"], codex["unknown_files"]) == (None, [])
    left_out = found["pi"]["skipped"]["left_out"]
    assert sorted(left_out.values()) == [1, 1]
    assert any("checkpoint" in why for why in left_out)
    assert found["pi"]["messages"] == 4
    assert found["gemini-cli"]["found"] == []
    assert found["gemini-cli"]["last_grew_at"] is None


def test_before_anything_was_taken_in_the_places_are_shown(home: Path, user: Path) -> None:
    save_codex(user, Rollout("beans").say(3))

    done = run("sources", home=home)

    assert done.code == 0
    assert "~/.codex/sessions" in done.out
    assert sources(home)["codex"]["messages"] == 0


def test_where_nothing_is_found_everything_known_is_named(home: Path) -> None:
    done = run("sources", home=home)

    assert (done.code, done.err) == (0, "")
    for name in ("claude-code", "codex", "chatgpt", "claude-ai", "telegram", "opencode", "aider"):
        assert f"({name})" in done.out


def test_an_export_is_taken_in_by_name(home: Path, tmp_path: Path) -> None:
    run("ingest", export_file(tmp_path / "Downloads", document(chatgpt("beans"))), home=home)

    done = run("sources", home=home)

    (row,) = [line for line in done.out.splitlines() if line.startswith("ChatGPT")]
    assert "taken in by name" in row
    assert "4" in row
    assert sources(home)["chatgpt"]["changes"] == "exported again"


def test_a_file_that_could_not_be_read_is_named_with_the_reason(home: Path, user: Path) -> None:
    good = save_codex(user, Rollout("beans").say(3))
    bad = write(good.with_name("rollout-2026-03-03T10-00-00-broken.jsonl"), bytes(range(256)) * 40)
    run("up", "--once", home=home)

    done = run("sources", home=home)

    assert done.code == 0
    assert f"failed ~/{bad.relative_to(user)}" in done.out.replace("\n", "")
    (failed,) = sources(home)["codex"]["skipped"]["failed"]
    assert failed["file"] == str(bad)
    assert "binary" in failed["reason"]


def test_the_folder_of_a_database_is_shown_with_its_own_source(home: Path, user: Path) -> None:
    database = user / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    save_openclaw_database(database)

    found = sources(home)

    assert [place["path"] for place in found["openclaw"]["found"]] == [str(user / ".openclaw" / "agents")]
    assert found["openclaw"]["found"][0]["files"] == 1


def save_openclaw_database(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE transcript_events (session_id, seq, event_json, created_at)")
        database.execute("CREATE TABLE transcript_event_identities (session_id, seq)")
    database.close()


# --- A source that fell silent ----------------------------------------------------------------------------------------


def test_a_source_whose_files_grow_without_a_message_is_a_failure(home: Path, user: Path) -> None:
    told = Rollout("beans").say(3)
    save_codex(user, told)
    take_in(home)
    assert run("doctor", home=home).code == 0
    save_codex(user, told.note("moved_item", 250))
    take_in(home)

    done = run("doctor", home=home)

    assert done.code == 1
    assert "Traceback" not in done.err
    assert "FAIL  source: Codex stopped growing: 250 records since" in done.out
    assert "upgrade Recollect" in done.out
    as_json = run("doctor", "--json", home=home)
    assert (as_json.code, as_json.json()["ok"]) == (1, False)
    assert [level for level, _ in findings(as_json)] == ["failure"]
    listed = run("sources", home=home).out
    assert "grew by 250 records since" in listed
    assert "see recollect doctor" in listed
    assert "250 moved_item" in listed
    assert sources(home)["codex"]["silent_since"] is not None


def test_a_source_that_speaks_again_is_well(home: Path, user: Path) -> None:
    told = Rollout("beans").say(3).note("moved_item", 250)
    save_codex(user, told)
    take_in(home)
    assert run("doctor", home=home).code == 1

    save_codex(user, told.say(1))
    take_in(home)

    assert run("doctor", home=home).code == 0
    assert sources(home)["codex"]["silent_since"] is None


def test_one_quiet_file_among_others_that_speak_is_no_failure(home: Path, user: Path) -> None:
    save_codex(user, Rollout("beans").say(3).note("moved_item", 250))
    take_in(home)
    save_codex(user, Rollout("peas").say(3))
    take_in(home)

    assert run("doctor", home=home).code == 0


def test_a_few_records_that_say_nothing_are_no_failure(home: Path, user: Path) -> None:
    save_codex(user, Rollout("beans").say(3).note("token_count", 60))
    take_in(home)

    assert run("doctor", home=home).code == 0


# --- A source that writes elsewhere -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["thread.jsonl.gz", "threads.db", "session.ndjson"])
def test_newer_files_of_an_unknown_kind_beside_a_source_are_noticed(home: Path, user: Path, name: str) -> None:
    known = save_codex(user, Rollout("beans").say(3))
    take_in(home)
    unknown = write(known.with_name(name), b"\x00" * 100)
    make_older(known, days=3)

    done = run("doctor", "--json", home=home)

    assert done.code == 0
    ((level, message),) = findings(done)
    assert level == "warning"
    assert message.startswith("Codex rests, but files of an unknown kind appear beside it")
    assert str(unknown) in message
    assert sources(home)["codex"]["unknown_files"] == [str(unknown)]
    assert "new files of an unknown kind, such as ~/.codex" in run("sources", home=home).out


def test_files_of_an_unknown_kind_are_no_news_while_the_known_ones_grow(home: Path, user: Path) -> None:
    known = save_codex(user, Rollout("beans").say(3))
    make_older(write(known.with_name("threads.db"), b"\x00" * 100), days=3)
    write(known.with_name("notes.txt"), b"words")
    take_in(home)

    assert [level for level, _ in findings(run("doctor", "--json", home=home))] == ["ok"]


def test_a_database_that_another_source_reads_is_not_of_an_unknown_kind(home: Path, user: Path) -> None:
    session = save_openclaw(user)
    save_openclaw_database(user / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    take_in(home)
    for path in session.parent.iterdir():
        make_older(path, days=3)

    assert [level for level, _ in findings(run("doctor", "--json", home=home))] == ["ok"]


# --- When all is well -------------------------------------------------------------------------------------------------


def test_doctor_is_quiet_when_all_is_well(home: Path, user: Path) -> None:
    save_codex(user, Rollout("beans").say(3).note("token_count", 20))
    save_gemini(user)
    save_openclaw(user)
    take_in(home)

    done = run("doctor", home=home)

    assert (done.code, done.err) == (0, "")
    assert "FAIL" not in done.out
    (line,) = [line for line in done.out.splitlines() if line.startswith("ok    sources:")]
    assert "Codex" in line
    assert "Gemini CLI" in line
    assert "none stopped growing" in line
    assert "all taken in" in done.out
    assert "could not be read" not in done.out
