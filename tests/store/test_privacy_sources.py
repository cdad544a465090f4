"""What is private, paused or ignored stays out, however a source tells and repeats it."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from snapshots import inside_the_vault, outside_the_vault
from transcripts import Transcript, subagent

import recollect
from recollect.testing import FrozenClock

SESSION = "aaaaaaaa-1111-4111-8111-111111111111"
THREAD = "0199aaaa-0000-7000-8000-000000000001"


def at(minute: int) -> str:
    return f"2026-01-01T00:{minute:02d}:00.000Z"


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def assert_kept_out(memory: recollect.Memory, word: str = "hedgehog") -> None:
    assert word not in inside_the_vault(memory.database)
    assert word not in outside_the_vault(memory.database)


def words(memory: recollect.Memory) -> list[str]:
    return sorted(message.text for message in memory.history.export() if not message.gone)


def codex(*said: tuple[str, str]) -> list[dict[str, Any]]:
    """Each prompt stands twice, as the model saw it first."""
    records: list[dict[str, Any]] = [
        {"timestamp": at(0), "type": "session_meta", "payload": {"id": THREAD, "cwd": "/fields"}}
    ]
    for minute, (role, text) in enumerate(said, 1):
        kind = "input_text" if role == "user" else "output_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        event = {"type": "user_message" if role == "user" else "agent_message", "message": text}
        records.append({"timestamp": at(minute), "type": "response_item", "payload": item})
        records.append({"timestamp": at(minute), "type": "event_msg", "payload": event})
    return records


def test_a_prompt_that_stands_twice_is_private_in_both_places(memory: recollect.Memory, tmp_path: Path) -> None:
    said = codex(("user", "Hello."), ("user", "[private]\nthe hedgehog"), ("assistant", "a hedgehog"))
    lines(tmp_path / f"rollout-2026-01-01T00-00-00-{THREAD}.jsonl", *said)
    memory.history.ingest([tmp_path])
    assert words(memory) == ["Hello."]
    assert_kept_out(memory)


def test_what_repeats_a_private_stretch_stays_out_too(memory: recollect.Memory, tmp_path: Path) -> None:
    said = codex(("user", "Hello."), ("user", "[private]\nthe hedgehog"), ("user", "[/private]"), ("user", "Bye."))
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the hedgehog"}]}]
    compacted = {"message": "They spoke of a hedgehog.", "replacement_history": history}
    said.insert(-2, {"timestamp": at(9), "type": "compacted", "payload": compacted})
    lines(tmp_path / f"rollout-2026-01-01T00-00-00-{THREAD}.jsonl", *said)
    memory.history.ingest([tmp_path])
    assert words(memory) == ["Bye.", "Hello."]
    assert_kept_out(memory)


def gemini(number: int, kind: str, text: str) -> dict[str, Any]:
    return {"id": f"{number:08d}-0000-4000-8000-000000000000", "timestamp": at(number), "type": kind, "content": text}


HEADER = {"sessionId": SESSION, "projectHash": "abc", "startTime": at(0), "lastUpdated": at(0)}


def test_a_sub_agents_file_that_sorts_first_is_read_after_its_session(memory: recollect.Memory, tmp_path: Path) -> None:
    chats = tmp_path / "p" / "chats"
    agent = {**HEADER, "sessionId": "bbbbbbbb", "kind": "subagent"}
    lines(chats / SESSION / "bbbbbbbb.jsonl", agent, gemini(3, "user", "find the hedgehog"))
    private = gemini(2, "user", "[private]\nthe hedgehog")
    lines(chats / "session-2026-01-01T00-00-aaaaaaaa.jsonl", HEADER, gemini(1, "user", "Hello."), private)
    memory.history.ingest([tmp_path])
    assert words(memory) == ["Hello."]
    assert_kept_out(memory)


def test_in_an_archive_too(memory: recollect.Memory, tmp_path: Path) -> None:
    told = Transcript("told")
    told.user("Hello.")
    told.user("[private]\nthe hedgehog")
    agent = subagent(told, "a1234567")
    agent.user("find the hedgehog")
    with zipfile.ZipFile(tmp_path / "backup.zip", "w") as archive:
        archive.writestr(f"projects/{agent.key}", agent.raw)
        archive.writestr(f"projects/{told.key}", told.raw)
    memory.history.ingest([tmp_path / "backup.zip"])
    assert words(memory) == ["Hello."]
    assert_kept_out(memory)


@pytest.mark.parametrize("form", ["lines", "document"])
def test_a_project_that_is_named_behind_its_messages_is_ignored(
    form: str, memory: recollect.Memory, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".recollectignore").touch()
    said, folder = gemini(1, "user", "the hedgehog"), {"directories": [str(project)]}
    chats = tmp_path / "p" / "chats"
    if form == "lines":
        lines(chats / "session-2026-01-01T00-00-aaaaaaaa.jsonl", HEADER, said, {"$set": folder})
    else:
        lines(chats / "session-2026-01-01T00-00-aaaaaaaa.json", {**HEADER, "messages": [said], **folder})
    memory.history.ingest([chats])
    assert_kept_out(memory)


def message(number: int, who: str, text: str) -> dict[str, Any]:
    moment = str(1_767_225_600 + number * 60)
    return {"id": number, "type": "message", "date_unixtime": moment, "from_id": who, "from": who, "text": text}


def chat(path: Path, *messages: tuple[int, str, str]) -> Path:
    return lines(path, {"name": "Bot", "type": "bot_chat", "id": 77, "messages": [message(*one) for one in messages]})


def test_a_later_stretch_of_a_chat_that_begins_inside_a_private_one(memory: recollect.Memory, tmp_path: Path) -> None:
    first = [(1, "user5", "One."), (2, "user5", "[private]"), (3, "user5", "the hedgehog"), (4, "user5", "[/private]")]
    memory.history.ingest([chat(tmp_path / "a" / "result.json", *first)])
    memory.history.ingest([chat(tmp_path / "b" / "result.json", *first[2:], (5, "user5", "Five."))])
    assert words(memory) == ["Five.", "One."]
    assert_kept_out(memory)


def test_what_stayed_out_at_the_end_costs_nothing_of_what_comes_next(memory: recollect.Memory, tmp_path: Path) -> None:
    first = [(1, "user5", "One."), (2, "user5", "[private]"), (3, "user5", "the hedgehog"), (4, "user5", "[/private]")]
    later = [(number, "user5", f"Number {number}.") for number in range(5, 20)]
    memory.history.ingest([chat(tmp_path / "a" / "result.json", *first)])
    memory.history.ingest([chat(tmp_path / "b" / "result.json", *later)])
    assert words(memory) == sorted(["One.", *(text for _, _, text in later)])


def test_somebody_else_cannot_make_a_chat_private(memory: recollect.Memory, tmp_path: Path) -> None:
    told = [message(1, "user9", "[private]"), message(2, "user5", "Mine.")]
    chats = [{"name": "Bo", "type": "personal_chat", "id": 9, "messages": told}]
    account = {"personal_information": {"user_id": 5}, "chats": {"list": chats}}
    memory.history.ingest([lines(tmp_path / "result.json", account)])
    assert "Mine." in words(memory)


def test_lines_without_a_time_that_were_written_during_a_pause_stay_out(
    memory: recollect.Memory, clock: FrozenClock, tmp_path: Path
) -> None:
    def said(text: str) -> dict[str, Any]:
        return {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}

    path = tmp_path / "agent-transcripts" / SESSION / f"{SESSION}.jsonl"
    lines(path, said("Before."))
    os.utime(path, (clock().timestamp(),) * 2)
    memory.history.ingest([tmp_path])
    clock.move(minutes=1)
    memory.history.pause()
    clock.move(minutes=1)
    lines(path, said("Before."), said("the hedgehog"))
    os.utime(path, (clock().timestamp(),) * 2)
    clock.move(minutes=1)
    memory.history.resume()
    memory.history.ingest([tmp_path])
    clock.move(minutes=1)
    lines(path, said("Before."), said("the hedgehog"), said("After."))
    os.utime(path, (clock().timestamp(),) * 2)
    memory.history.ingest([tmp_path])
    assert words(memory) == ["After.", "Before."]
    assert_kept_out(memory)


def test_going_back_into_a_private_stretch_leaves_nothing_of_what_was_said_openly(
    memory: recollect.Memory, tmp_path: Path
) -> None:
    private = gemini(2, "user", "[private]\nthe hedgehog")
    back = {"$rewindTo": private["id"]}
    ended = gemini(3, "user", "[/private]")
    records = [HEADER, gemini(1, "user", "Hello."), private, ended, back, gemini(4, "user", "Again.")]
    lines(tmp_path / "chats" / "session-2026-01-01T00-00-aaaaaaaa.jsonl", *records)
    memory.history.ingest([tmp_path])
    standings = {message.text: message.standing for message in memory.history.export()}
    assert standings == {"Hello.": "said", "Again.": "said"}
