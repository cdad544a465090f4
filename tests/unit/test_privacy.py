"""What is private, ignored or Recollect's own stays out of everything (H10, H11; cases 9, 59)."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import (
    CWD,
    OTHER_SESSION,
    SESSION,
    Folded,
    assistant,
    fold,
    generic,
    jsonl,
    moment,
    queue,
    queued_command,
    raw,
    system,
    text,
    tool_result,
    tool_use,
    user,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.privacy import IGNORE_NAME, OWN_MARK, Ignore
from recollect.history.sources import FileFacts
from recollect.history.sources.generic import Generic
from recollect.history.spans import Span
from recollect.history.vault import unpack

SECRET = "sk-ant-" + "api03-" + "aB3dE5gH7jK9mN1pQ3sT" * 4 + "-xY7zA9bC"


def ignore_file(folder: Path, patterns: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / IGNORE_NAME).write_text(patterns, encoding="utf-8")


def all_of(folded: Folded) -> str:
    """Everything a fold hands on, the vault apart."""
    kept = [folded.contents(), folded.problems, folded.state, folded.titles, folded.title, folded.spans]
    return json.dumps(msgspec.to_builtins(kept, builtin_types=(set,)), ensure_ascii=False, default=sorted)


def vault_of(folded: Folded) -> bytes:
    return b"\n".join(unpack(record.raw) for record in folded.records)


# Ignore files


def test_an_empty_ignore_file_keeps_a_project_and_all_below_it_out(tmp_path: Path) -> None:
    ignore_file(tmp_path / "client")
    ignore = Ignore("")
    assert ignore.keeps_out_project(str(tmp_path / "client"))
    assert ignore.keeps_out_project(str(tmp_path / "client" / "src" / "deep"))
    assert not ignore.keeps_out_project(str(tmp_path / "client-2"))
    assert not ignore.keeps_out_project(str(tmp_path))


def test_patterns_in_a_folder_choose_projects_below_it(tmp_path: Path) -> None:
    ignore_file(tmp_path, "# clients\nclient-*/\n!client-open/\n")
    ignore = Ignore("")
    assert ignore.keeps_out_project(str(tmp_path / "client-a"))
    assert ignore.keeps_out_project(str(tmp_path / "client-a" / "src"))
    assert not ignore.keeps_out_project(str(tmp_path / "client-open"))
    assert not ignore.keeps_out_project(str(tmp_path / "mine"))
    assert not ignore.keeps_out_project(str(tmp_path))


def test_the_ignore_file_of_the_home_names_absolute_paths(tmp_path: Path) -> None:
    ignore_file(tmp_path / "home", f"{tmp_path}/client/\n")
    ignore = Ignore(str(tmp_path / "home"))
    assert ignore.keeps_out_project(str(tmp_path / "client"))
    assert ignore.keeps_out_project(str(tmp_path / "client" / "src"))
    assert not ignore.keeps_out_project(str(tmp_path / "mine"))
    assert ignore.keeps_out_file(str(tmp_path / "client" / "a.jsonl"), str(tmp_path))


def test_an_ignore_file_beside_transcripts_names_transcripts(tmp_path: Path) -> None:
    root, project = tmp_path / "projects", tmp_path / "projects" / "p"
    ignore_file(root, "secret-*/\n")
    ignore_file(project, "draft.jsonl\n")
    ignore = Ignore("")
    assert ignore.keeps_out_file(str(root / "secret-x" / "a.jsonl"), str(root))
    assert ignore.keeps_out_file(str(root / "secret-x" / "s" / "subagents" / "agent-1.jsonl"), str(root))
    assert ignore.keeps_out_file(str(project / "draft.jsonl"), str(root))
    assert not ignore.keeps_out_file(str(project / "a.jsonl"), str(root))


def test_an_ignore_file_above_the_root_does_not_concern_transcripts(tmp_path: Path) -> None:
    ignore_file(tmp_path, "*.jsonl\n")
    assert not Ignore("").keeps_out_file(str(tmp_path / "projects" / "p" / "a.jsonl"), str(tmp_path / "projects"))


def test_what_is_done_in_recollects_home_stays_out_case_9(tmp_path: Path) -> None:
    ignore = Ignore(str(tmp_path / ".recollect"))
    assert ignore.keeps_out_project(str(tmp_path / ".recollect" / "runtime"))
    assert ignore.keeps_out_project(str(tmp_path / ".recollect"))
    assert not ignore.keeps_out_project(str(tmp_path / ".recollect-notes"))
    assert not ignore.keeps_out_project("C:\\code")


def test_records_of_an_ignored_project_leave_a_count_and_nothing_else(tmp_path: Path) -> None:
    ignore_file(tmp_path / "client")
    here = str(tmp_path / "client")
    folded = fold(jsonl(user("open", 1), user("hushed", 2, cwd=here), queue("enqueue", "hushed", 3), user("open", 4)))
    assert folded.said() == ["open", "open"]
    assert folded.counts.private == 2
    assert "hushed" not in all_of(folded)
    assert b"hushed" not in vault_of(folded)


def test_an_unreadable_line_of_an_ignored_project_is_not_kept(tmp_path: Path) -> None:
    ignore_file(tmp_path / "client")
    record = user("hushed", 1, cwd=str(tmp_path / "client"))
    assert b"hushed" not in vault_of(fold(raw(record) + b"\n" + raw(record)[:-3] + b"\n"))


# Private stretches and pauses


def test_a_private_stretch_stays_out_until_it_is_ended() -> None:
    data = jsonl(
        user("before", 1),
        user("hushed\n[private]", 2, 2),
        assistant("hushed", number=3, minutes=3),
        user([tool_result("hushed")], 4, 4),
        {"type": "ai-title", "aiTitle": "hushed", "sessionId": SESSION},
        user(" [/Private] ", 5, 5),
        user("after", 6, 6),
    )
    for sizes in ([], [len(data) // 2], list(range(0, len(data), 97))):
        folded = fold(data, sizes=sizes)
        assert folded.said() == ["before", "after"]
        assert folded.counts.private == 5
        assert "hushed" not in all_of(folded)
        assert b"hushed" not in vault_of(folded)


def test_an_unreadable_line_in_a_private_stretch_is_not_kept() -> None:
    data = jsonl(user("[private]", 1)) + b'{"half": "hushed\n' + raw(user("hushed", 2)) + b"hushed\n"
    assert fold(data).records == []


def test_a_private_stretch_inside_one_message_keeps_that_message_out_only() -> None:
    folded = fold(jsonl(user("[private]\nhushed\n[/private]", 1), user("after", 2)))
    assert folded.said() == ["after"]
    assert folded.counts.private == 1


def test_sub_agents_are_told_of_a_private_stretch_by_its_times() -> None:
    folded = fold(jsonl(user("[private]", 1, 1), user("[/private]", 2, 9)))
    assert [(span.session_id, span.starts_at, span.ends_at) for span in folded.spans] == [
        (SESSION, moment(1), None),
        (SESSION, "", moment(9)),
    ]


@pytest.mark.parametrize(
    "record",
    [
        user("Write [private] on a line of its own.", 1),
        user([tool_result("[private]")], 1),
        assistant("[private]", number=1),
        user("[private]", 1, isMeta=True),
        user("[private]", 1, isSidechain=True),
    ],
    ids=["in a sentence", "tool", "assistant", "meta", "sub-agent"],
)
def test_only_a_person_on_a_line_of_its_own_starts_a_private_stretch(record: dict[str, Any]) -> None:
    folded = fold(jsonl(record, user("after", 2)))
    assert folded.counts.private == 0
    assert "after" in folded.said()


def test_a_private_stretch_of_one_session_is_no_other_sessions() -> None:
    """Several sessions share a file: the prompt log, and generic files."""
    data = jsonl(
        generic("user", "[private]", session="a", at=moment(0)),
        generic("user", "open", session="b", at=moment(1)),
        generic("user", "[/private]", session="b", at=moment(2)),
        generic("user", "hushed", session="a", at=moment(3)),
    )
    folded = fold(data, source=Generic())
    assert "hushed" not in folded.said()
    assert "open" in folded.said()


@pytest.mark.parametrize("mark", ["[private]", "  [Private] \nbetween us", f" {OWN_MARK} summarise"])
def test_a_mark_counts_whoever_is_named_as_its_writer(mark: str) -> None:
    data = jsonl(
        generic("user", mark, name="Mara", session="a", at=moment(0)),
        generic("user", "hushed", name="Mara", session="a", at=moment(1)),
        generic("user", "open", name="Mara", session="b", at=moment(2)),
    )
    folded = fold(data, source=Generic())
    assert folded.said() == ["Mara: open"]


def test_a_private_stretch_in_the_prompt_log_is_no_other_sessions() -> None:
    facts = FileFacts(key="history.jsonl", kind="prompts")
    rows = [("[private]", SESSION), ("open", OTHER_SESSION), ("hushed", SESSION)]
    prompts = [
        {"display": words, "timestamp": 1_772_445_600_000 + number, "project": CWD, "sessionId": session}
        for number, (words, session) in enumerate(rows)
    ]
    assert fold(jsonl(*prompts), facts=facts).said() == ["open"]


def test_a_pause_keeps_every_session_out_and_a_private_time_only_its_own() -> None:
    pause = Span(session_id="", starts_at=moment(5), ends_at=moment(10), reason="pause")
    private = Span(session_id=SESSION, starts_at=moment(5), ends_at=None, reason="private")
    assert pause.covers(SESSION, moment(5))
    assert pause.covers(OTHER_SESSION, moment(10))
    assert not pause.covers(SESSION, moment(4))
    assert not pause.covers(SESSION, moment(11))
    assert private.covers(SESSION, moment(999))
    assert not private.covers(OTHER_SESSION, moment(6))
    assert not private.covers(SESSION, "")


def test_records_in_a_pause_leave_a_count_and_nothing_else() -> None:
    pause = Span(session_id="", starts_at=moment(2), ends_at=moment(3), reason="pause")
    late_title = {"type": "ai-title", "aiTitle": "hushed", "sessionId": SESSION}
    folded = fold(jsonl(user("before", 1, 1), user("hushed", 2, 2), late_title, user("after", 3, 4)), spans=[pause])
    assert folded.said() == ["before", "after"]
    assert (folded.counts.private, folded.title) == (2, "")
    assert b"hushed" not in vault_of(folded)


# Recollect's own calls (case 9)


@pytest.mark.parametrize("first", [user(f"{OWN_MARK}\nhushed", 1), queue("enqueue", f"{OWN_MARK} hushed")])
def test_recollects_own_calls_stay_out_to_the_end_of_the_session_case_9(first: dict[str, Any]) -> None:
    data = jsonl(first, assistant("hushed", number=2)) + b"{hushed\n" + jsonl(user("hushed", 3, 3))
    folded = fold(data, sizes=[len(data) // 2])
    assert (folded.messages, folded.records) == ({}, [])
    assert folded.counts.private == 3


def test_a_call_of_our_own_in_one_session_keeps_no_other_session_out_case_9() -> None:
    data = jsonl(
        generic("user", f"{OWN_MARK} summarise", session="ours", at=moment(0)),
        generic("user", "open", session="theirs", at=moment(1)),
    )
    assert fold(data, source=Generic()).said() == ["open"]


def test_context_that_recollect_injected_is_not_history() -> None:
    injected = '<recollect-context category="knowledge">\n- hushed\n</recollect-context>\nWhat now?'
    folded = fold(jsonl(user(injected, 1), user("<recollect-context>hushed</recollect-context>", 2)))
    assert folded.said() == ["What now?"]
    assert "hushed" not in all_of(folded)


# Secrets (case 59)

PLACES = {
    "prompt": user(f"use {SECRET} please", 1),
    "prompt in blocks": user([text(f"use {SECRET}"), text("please")], 1),
    "words beside a result": user([tool_result(f"key {SECRET}"), text("no")], 1),
    "tool result": user([tool_result(f"ANTHROPIC_API_KEY={SECRET}")], 1, toolUseResult={"stdout": SECRET}),
    "tool result in blocks": user([tool_result([text(f"x {SECRET}")])], 1),
    "long tool result": user([tool_result("x" * 990 + f" {SECRET} " + "y" * 9000)], 1),
    "reply": assistant(f"Your key is {SECRET}.", number=1),
    "result inside a reply": assistant("x", {"type": "tool_result", "content": f"x {SECRET}"}, number=1),
    "tool call": assistant(tool_use("Bash", command=f"curl -H 'x-api-key: {SECRET}' x.org"), number=1),
    "long tool call": assistant(tool_use("Bash", command="x" * 180 + f" {SECRET}"), number=1),
    "tool call by name": assistant(tool_use("Connect", api_key=SECRET, retries=3), number=1),
    "thinking": assistant({"type": "thinking", "thinking": SECRET}, number=1),
    "typed ahead": queue("enqueue", f"use {SECRET}"),
    "absorbed": queue("remove", f"use {SECRET}", reason="absorbed_mid_turn"),
    "queued command": queued_command(f"use {SECRET}", 1),
    "command": user(f"<command-name>/x</command-name><command-args>{SECRET}</command-args>", 1),
    "system line": system("local_command", content=f"<local-command-stdout>{SECRET}</local-command-stdout>"),
    "title": {"type": "custom-title", "customTitle": f"Key {SECRET}", "sessionId": SESSION},
    "title of a leaf": {"type": "summary", "summary": f"Key {SECRET}", "leafUuid": SESSION},
    "prompt log": {"display": f"use {SECRET}", "timestamp": 1_772_445_600_000, "project": CWD},
    "sub-agent": user(f"use {SECRET}", 1, isSidechain=True),
    "meta": user(f"use {SECRET}", 1, isMeta=True),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_credential_leaves_the_vault_wherever_it_stands_case_59(place: str) -> None:
    folded = fold(jsonl(PLACES[place]))
    assert SECRET not in all_of(folded)
    assert SECRET[:60] not in all_of(folded)
    assert SECRET.encode() in vault_of(folded)


@pytest.mark.parametrize("place", PLACES)
def test_without_raw_lines_the_vault_has_no_credential_either_case_59(place: str) -> None:
    folded = fold(jsonl(PLACES[place]), keep_raw=False)
    assert SECRET not in all_of(folded)
    assert SECRET.encode() not in vault_of(folded)
    assert all(isinstance(json.loads(unpack(record.raw)), dict) for record in folded.records)


def test_without_raw_lines_an_unreadable_line_is_masked_too_case_59() -> None:
    broken = raw(user(f"use {SECRET} please", 1))[:-4]
    for line in (broken, b"// " + SECRET.encode(), b'{"a": "\\ud83d", "b": "' + SECRET.encode() + b'"}'):
        folded = fold(line + b"\n", keep_raw=False)
        assert SECRET.encode() not in vault_of(folded)
        assert SECRET not in all_of(folded)


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["user", "tool", "reply", "queue"]))
@settings(max_examples=100, deadline=None)
def test_no_words_around_a_credential_let_it_through_case_59(before: str, after: str, place: str) -> None:
    words = f"{before} {SECRET} {after}"
    record = {
        "user": user(words, 1),
        "tool": user([tool_result(words)], 1),
        "reply": assistant(words, number=1),
        "queue": queued_command(words, 1),
    }[place]
    assert SECRET not in all_of(fold(jsonl(record)))
