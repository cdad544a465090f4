"""What a session is told when it begins, and what is taken in when it ends."""

import json
import threading
from collections.abc import Iterator
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import pytest
import transcripts
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prescriptions import prescriptions

import recollect
from recollect.clock import to_text
from recollect.database import open_database
from recollect.errors import NotFound
from recollect.showings.store import ShowingStore
from recollect.surfaces.hooks.answering import Answer, answer, hook_named, hook_of, note_shown
from recollect.surfaces.hooks.capturing import Captures, capture, places_of
from recollect.surfaces.hooks.injecting import MOST_BYTES
from recollect.surfaces.hooks.payload import Payload, read_payload
from recollect.surfaces.hooks.tools import TOOLS
from recollect.testing import FrozenClock

AGENT = "claude-code"
BEGIN = hook_named(AGENT, "SessionStart", AGENT)
CWD = "/home/ada/projects/well"


@pytest.fixture
def house(open_house: OpenHouse) -> recollect.Memory:
    return with_agent(open_house())


def with_agent(memory: recollect.Memory) -> recollect.Memory:
    memory.agents.add(AGENT)
    memory.agents.grant(AGENT, "house")
    return memory


def begun(memory: recollect.Memory, **payload: Any) -> str:
    """What the session is told."""
    given = {"session_id": "s-1", "cwd": CWD, "source": "startup", **payload}
    found = answer(memory, BEGIN, json.dumps(given).encode())
    if found.shown:
        note_shown(memory, found.shown)
    if not found.output:
        return ""
    told = json.loads(found.output)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    return told["additionalContext"]


def test_a_session_begins_with_what_is_known_and_how_something_is_kept(house: recollect.Memory) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    text = begun(house)
    assert text.startswith("<recollect-context>\n")
    assert text.endswith("</recollect-context>\n")
    assert "- The well is 14 metres deep.\n" in text
    assert '\n[REMEMBER] {"content": ' in text
    assert prescriptions(text) == []


def test_a_session_of_a_house_that_knows_nothing_is_told_how_something_is_kept(house: recollect.Memory) -> None:
    text = begun(house)
    assert "[REMEMBER]" in text
    assert "below" not in text
    assert prescriptions(text) == []


@pytest.mark.parametrize(
    ("source", "is_told"), [("startup", True), ("clear", True), ("compact", True), ("resume", False)]
)
def test_a_session_that_goes_on_is_told_nothing_again(house: recollect.Memory, source: str, is_told: bool) -> None:
    assert bool(begun(house, source=source)) is is_told


def test_a_session_from_before_there_were_hooks_is_told_when_it_goes_on(
    house: recollect.Memory, transcript: Path
) -> None:
    goes_on = {"source": "resume", "transcript_path": str(transcript)}
    told = begun(house, **goes_on)
    assert "[REMEMBER]" in told
    talk = {
        "type": "user",
        "message": {"role": "user", "content": "What is `<recollect-context>`?\n<recollect-context>\nIt"},
    }
    transcripts.append(transcript, json.dumps(talk).encode() + b"\n")
    assert begun(house, **goes_on) == told, "talk about the element is not what we told"
    attached = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [told]}}
    transcripts.append(transcript, json.dumps(attached).encode() + b"\n")
    assert begun(house, **goes_on) == ""
    transcript.write_bytes(b" " * 70_000_000 + b"\n")
    assert begun(house, **goes_on) == "", "too long to be looked through while an agent waits"


def test_the_same_knowledge_gives_the_same_bytes(house: recollect.Memory, clock: Any) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    house.knowledge.remember("The pump was mended in May.")
    first = begun(house)
    clock.move(days=3)
    assert begun(house, session_id="s-2", source="compact") == first


def test_what_answers_to_the_project_comes_before_what_does_not_fit(house: recollect.Memory) -> None:
    house.knowledge.remember("The well project pumps with solar power.", importance=0.1)
    for number in range(200):
        house.knowledge.remember(f"Fact {number}: " + f"word{number} " * 20, importance=0.6)
    house.recall.catch_up()
    assert "solar power" in begun(house, cwd="/home/ada/well")


def test_what_was_shown_is_noted_for_the_session(house: recollect.Memory) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    begun(house)
    figures = house.showings.figures()
    assert (figures.records, figures.open_sessions) == (1, 1)


def test_while_somebody_else_writes_a_session_is_told_all_of_it(
    house: recollect.Memory, engine: str, captures: tuple[Captures, threading.Event], clock: FrozenClock
) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    given = json.dumps({"session_id": "s-1", "cwd": CWD, "source": "startup"}).encode()
    other = open_database(engine)
    with other.write():
        found = answer(house, BEGIN, given)
    other.close()
    assert "14 metres" in found.output
    assert found.shown

    made, done = captures
    clock.move(minutes=5)
    shown = found.shown
    made.do_later(TOOLS[AGENT], lambda: note_shown(house, shown))
    made.do_later(TOOLS[AGENT], done.set)
    assert done.wait(30)
    with house.database.read() as session:
        (noted,) = ShowingStore(session, house.settings.house).sessions()
    assert (noted.session_id, noted.shown_at) == ("s-1", to_text(shown.at))


def test_what_cannot_be_noted_is_no_failure(house: recollect.Memory) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    shown = answer(house, BEGIN, json.dumps({"session_id": "s-1", "source": "startup"}).encode()).shown
    assert shown
    house.agents.remove(AGENT)
    note_shown(house, shown)
    assert house.showings.figures().open_sessions == 0


def test_an_agent_is_told_what_it_may_see_and_nothing_of_others(house: recollect.Memory) -> None:
    house.agents.add("eve")
    house.as_agent("eve").knowledge.remember("Eve keeps the key under the stone.")
    house.as_agent(AGENT).knowledge.remember("Tabs are eight wide.")
    text = begun(house)
    assert "Tabs are eight wide." in text
    assert "stone" not in text


def test_an_agent_that_is_not_there_is_told_nothing_and_it_is_noted(house: recollect.Memory) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    with pytest.raises(NotFound):
        answer(house, hook_named(AGENT, "SessionStart", "nobody"), b"{}")
    assert house.runs.latest("hook", limit=1)[0].detail["agent"] == "nobody"


def test_in_a_project_that_is_ignored_nothing_is_said(house: recollect.Memory, tmp_path: Path) -> None:
    project = tmp_path / "secret"
    project.mkdir()
    assert begun(house, cwd=str(project))
    (project / ".recollectignore").write_text("")
    assert begun(house, cwd=str(project)) == ""


def test_in_our_own_home_nothing_is_said(house: recollect.Memory) -> None:
    assert begun(house, cwd=str(house.settings.home)) == ""


def test_while_taking_in_is_paused_a_session_is_told_that_nothing_is_kept(house: recollect.Memory) -> None:
    house.knowledge.remember("The well is 14 metres deep.")
    house.history.pause()
    text = begun(house)
    assert "14 metres" in text
    assert "what is said now is not kept" in text
    assert "[REMEMBER]" not in text
    assert house.showings.figures().open_sessions == 0
    assert prescriptions(text) == []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.text(st.sampled_from('ab <>&é中文字🎉👩‍👩‍👧\u202e\n\t"\\'), min_size=1, max_size=300).filter(str.strip),
        max_size=60,
    ),
    user=st.sampled_from(["", "Ada", "🎉" * 50]),
)
def test_any_learnings_fit_within_the_limits_of_both_agents(open_house: OpenHouse, texts: list[str], user: str) -> None:
    memory = with_agent(open_house(user_name=user))
    for number, text in enumerate(texts):
        memory.knowledge.remember(f"{number} {text * 3}")
    told = begun(memory)
    assert len(told.encode()) <= MOST_BYTES
    assert len(told.encode("utf-16-le")) // 2 <= 10_000
    lines = told.splitlines()
    assert (lines[0], lines[-1]) == ("<recollect-context>", "</recollect-context>")
    assert told.count("recollect-context>") == 2
    whole = set(memory.context.rehydration(budget_tokens=10**7).text.splitlines())
    assert all(line in whole for line in lines if line.startswith("- "))


def test_a_full_house_uses_most_of_the_room_and_stays_below_it(house: recollect.Memory) -> None:
    for number in range(300):
        house.knowledge.remember(f"Fact {number} " + "🎉" * (number % 40))
    size = len(begun(house).encode())
    assert 9_000 < size <= MOST_BYTES


# What a hook is told


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"cwd": 7, "session_id": ["x"]}', b'{"cwd": "x"}']
)
def test_whatever_arrives_on_stdin_is_read(raw: bytes) -> None:
    assert read_payload(raw) == Payload()


def test_odd_names_are_left_out_and_odd_paths_are_kept() -> None:
    given = {"session_id": "a\ud800", "cwd": "/a b/\n'\"$(x)", "transcript_path": "/x\0y", "source": "x" * 999}
    assert read_payload(json.dumps(given).encode()) == Payload(cwd="/a b/\n'\"$(x)")


@pytest.mark.parametrize("header", ["", "claude-code", "emacs Stop a", "claude-code Begin a", "claude-code Stop a b"])
def test_what_is_no_hook_of_ours_is_not_found(header: str) -> None:
    with pytest.raises(NotFound):
        hook_of(header)


# Taking in


@pytest.fixture
def transcript(projects: Path) -> Path:
    session = transcripts.Transcript("well")
    session.user("How deep is the well?")
    session.assistant('14 metres.\n\n[REMEMBER] {"content": "The well is 14 metres deep."}')
    return session.save(projects)


@pytest.mark.parametrize("event", ["Stop", "PreCompact", "SessionEnd"])
def test_the_ends_of_a_session_name_its_transcript(house: recollect.Memory, transcript: Path, event: str) -> None:
    given = json.dumps({"transcript_path": str(transcript), "cwd": CWD}).encode()
    assert answer(house, hook_named(AGENT, event, AGENT), given) == Answer(transcript=str(transcript))


def test_a_transcript_is_taken_in_with_what_its_sub_agents_wrote(house: recollect.Memory, transcript: Path) -> None:
    sub = transcripts.subagent(transcripts.Transcript("well"), "a1")
    sub.user("Look at the pump.")
    sub.assistant("The pump is sound.")
    sub.save(transcript.parents[1])
    assert capture(house, TOOLS[AGENT], str(transcript)) >= 2
    assert "The pump is sound." in {message.text for message in house.history.export()}
    assert [record.text for record in house.knowledge.records()] == ["The well is 14 metres deep."]
    assert capture(house, TOOLS[AGENT], str(transcript)) == 0


def test_nothing_is_taken_in_while_that_is_paused_or_the_project_is_ignored(
    house: recollect.Memory, transcript: Path
) -> None:
    house.history.pause()
    assert capture(house, TOOLS[AGENT], str(transcript)) == 0
    house.history.resume()
    (transcript.parents[1] / ".recollectignore").write_text(f"{transcripts.SLUG}/\n")
    assert capture(house, TOOLS[AGENT], str(transcript)) == 0
    assert list(house.history.export()) == []


def test_nothing_is_taken_in_where_that_is_switched_off(open_house: OpenHouse, transcript: Path) -> None:
    memory = open_house(enabled=False)
    assert capture(memory, TOOLS[AGENT], str(transcript)) == 0
    assert list(memory.history.export()) == []


@pytest.mark.parametrize("name", ["passwd", "relative.jsonl", ""])
def test_what_is_no_transcript_is_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "passwd").write_text("x")
    assert places_of(TOOLS[AGENT], str(tmp_path / name) if name == "passwd" else name) == []
    assert places_of(TOOLS[AGENT], str(tmp_path)) == []


@pytest.fixture
def captures(house: recollect.Memory) -> Iterator[tuple[Captures, threading.Event]]:
    taken = threading.Event()
    made = Captures(house, taken.set)
    yield made, taken
    made.close(10)


def test_a_daemon_takes_it_in_behind_its_answer(
    house: recollect.Memory, transcript: Path, captures: tuple[Captures, threading.Event]
) -> None:
    made, taken = captures
    for _ in range(50):
        made.add(TOOLS[AGENT], str(transcript))
    assert taken.wait(30)
    assert len(list(house.history.export())) == 2


def test_after_the_end_nothing_more_is_taken_in(
    house: recollect.Memory, transcript: Path, captures: tuple[Captures, threading.Event]
) -> None:
    made, _ = captures
    made.close(1)
    made.add(TOOLS[AGENT], str(transcript))
    assert list(house.history.export()) == []


def test_a_thread_that_could_not_be_begun_is_begun_by_the_next_hook(
    house: recollect.Memory, transcript: Path, captures: tuple[Captures, threading.Event]
) -> None:
    made, taken = captures
    before = threading.stack_size(1 << 45)  # No thread can be begun with so much.
    try:
        with pytest.raises(RuntimeError):
            made.add(TOOLS[AGENT], str(transcript))
    finally:
        threading.stack_size(before)
    made.do_later(TOOLS[AGENT], lambda: None)
    assert taken.wait(30), "what waited since then, too"
    assert len(list(house.history.export())) == 2


def test_what_has_no_thread_is_closed_all_the_same(house: recollect.Memory, transcript: Path) -> None:
    made = Captures(house, lambda: None)
    before = threading.stack_size(1 << 45)
    try:
        with pytest.raises(RuntimeError):
            made.add(TOOLS[AGENT], str(transcript))
    finally:
        threading.stack_size(before)
    made.close(1)


# What was injected


def test_what_we_told_claude_code_is_in_no_table_when_its_transcript_comes_in(
    house: recollect.Memory, transcript: Path
) -> None:
    house.knowledge.remember("The gardener is called Mr Pemberton.")
    told = begun(house)
    hook = {"type": "hook_success", "hookEvent": "SessionStart", "stdout": json.dumps({"additionalContext": told})}
    context = {"type": "hook_additional_context", "content": [told], "hookEvent": "SessionStart"}
    blob = {"role": "system", "content": [{"type": "text", "text": f"<system-reminder>\n{told}"}]}
    lines = [
        {"type": "attachment", "attachment": hook, "uuid": "a1", "sessionId": transcript.stem},
        {"type": "attachment", "attachment": context, "uuid": "a2", "sessionId": transcript.stem},
        {"type": "api-request-blob", "hash": "x", "message": blob, "sessionId": transcript.stem},
    ]
    added = "".join(json.dumps(line) + "\n" for line in lines)
    transcript.write_text(added + transcript.read_text())
    report = house.history.ingest([transcript])
    assert (report.counts.private, report.messages_added) == (3, 2)
    kept = [raw for message in house.history.export() for raw in house.history.raw(message)]
    assert not any(b"Pemberton" in raw for raw in kept)
    assert len(house.knowledge.records()) == 2


def test_what_we_told_codex_is_in_no_table_when_its_rollout_comes_in(house: recollect.Memory, tmp_path: Path) -> None:
    house.knowledge.remember("The gardener is called Mr Pemberton.")
    told = begun(house)
    thread = "0199a213-81c0-7800-8aa1-bbab2a035a53"
    content = [{"type": "input_text", "text": told}]
    said = [{"type": "output_text", "text": "<recollect-context> is what you were told in."}]
    payloads = [
        ("session_meta", {"id": thread, "cwd": "/home/ada"}),
        ("response_item", {"type": "message", "role": "developer", "content": content}),
        ("event_msg", {"type": "user_message", "message": "What is <recollect-context>?"}),
        ("response_item", {"type": "message", "role": "assistant", "content": said}),
    ]
    path = tmp_path / f"rollout-2026-11-18T08-04-09-{thread}.jsonl"
    lines = [{"timestamp": "2026-11-18T08:04:09.000Z", "type": kind, "payload": payload} for kind, payload in payloads]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = house.history.ingest([path])
    assert report.counts.private == 1
    assert [message.text for message in house.history.export() if "Pemberton" in message.text] == []
    assert report.messages_added == 2, "who speaks about the tag is still heard"


def test_the_skill_of_the_plugin_describes_and_does_not_script() -> None:
    skill = resources("recollect.surfaces.hooks").joinpath("plugin", "skills", "recollect", "SKILL.md")
    assert prescriptions(skill.read_text(encoding="utf-8")) == []
