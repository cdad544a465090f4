"""What must stay out stays out of every table: secrets, paused hours, private stretches, our own calls."""

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import inside_the_vault, messages_of, outside_the_vault, said_in, snapshot_of
from transcripts import START, Transcript, append, line, moment, prompt_log, subagent, tool_use, write

import recollect
from recollect import Unavailable
from recollect.history.privacy import OWN_MARK

# Put together here so that no scanner takes this file for a leak.
SECRETS = [
    "sk-ant-" + "api03-" + "Zq8vK2mX7nB4cR9tY1wE5uH3jL6pD0sF" * 2 + "AA",
    "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5",
    "AKIA" + "Z7QX4MVN2RTP6WKD",
]


def told_with_secrets() -> Transcript:
    """Every place of a transcript that can hold what somebody typed or printed."""
    anthropic, github, amazon = SECRETS
    told = Transcript("secrets")
    told.user(f"My key is {anthropic}, please use it")
    told.queue("enqueue", f"and for git {github}")
    told.assistant(f"I use {amazon} now.", tool_use("Bash", "call_1", command=f"export TOKEN={github}; env"))
    told.tool_result("call_1", f"ANTHROPIC_API_KEY={anthropic}\n" + "x" * 900 + f" {amazon}")
    told.queue("enqueue", f"still waiting with {anthropic}")
    told.custom_title(f"Rotate {github}")
    told.summary(f"About {amazon}", told.last or "")
    told.sidechain(f"Check {anthropic}", f"Checked {github}")
    told.add({"type": "some-new-type", "sessionId": told.session_id, "payload": f"{amazon} and more"})
    return told


def raw_with_secrets() -> bytes:
    told = told_with_secrets()
    broken = f'{{"type":"user","message":"{SECRETS[0]}\n'.encode()
    return told.raw + broken + line(told.records[0])


def without_lengths(memory: recollect.Memory) -> list[dict[str, object]]:
    """Messages but for the length of tool output, which a masked line no longer tells."""
    found = messages_of(memory)
    for message in found:
        for block in message["blocks"]:
            block.pop("characters", None)
    return found


def test_secrets_reach_nothing_but_the_vault(memory: recollect.Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "projects" / told_with_secrets().key, raw_with_secrets())
    log = write(tmp_path / "history.jsonl", prompt_log(("s", f"use {SECRETS[1]}", START)))

    memory.history.ingest([path, log])

    stored = outside_the_vault(memory.database)
    assert "My key is" in stored
    assert [secret for secret in SECRETS if secret in stored] == []
    assert [secret for secret in SECRETS if secret not in inside_the_vault(memory.database)] == []


def test_without_raw_lines_no_secret_is_stored_anywhere(memory: recollect.Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "projects" / told_with_secrets().key, raw_with_secrets())
    log = write(tmp_path / "history.jsonl", prompt_log(("s", f"use {SECRETS[1]}", START)))

    memory.history.ingest([path, log], keep_raw=False)

    stored = outside_the_vault(memory.database) + inside_the_vault(memory.database)
    assert "My key is" in stored
    assert [secret for secret in SECRETS if secret in stored] == []


def test_without_raw_lines_messages_are_the_same(open_house: OpenHouse, tmp_path: Path) -> None:
    path = write(tmp_path / "projects" / told_with_secrets().key, raw_with_secrets())
    with_raw, without, by_setting = open_house(), open_house(), open_house(keep_raw=False)

    with_raw.history.ingest([path])
    without.history.ingest([path], keep_raw=False)
    by_setting.history.ingest([path])
    assert messages_of(without) == messages_of(by_setting) == messages_of(with_raw)

    without.history.ingest([path], keep_raw=False, reimport=True)
    assert messages_of(without) == messages_of(with_raw)
    path.unlink()
    without.history.ingest([path], keep_raw=False, reimport=True)
    assert without_lengths(without) == without_lengths(with_raw)


def test_reading_again_without_raw_lines_masks_what_was_kept(memory: recollect.Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "projects" / told_with_secrets().key, raw_with_secrets())
    memory.history.ingest([path])

    memory.history.ingest([path], reimport=True, keep_raw=False)

    stored = outside_the_vault(memory.database) + inside_the_vault(memory.database)
    assert [secret for secret in SECRETS if secret in stored] == []


def test_while_paused_nothing_is_taken_in(memory: recollect.Memory, clock: FrozenClock, projects: Path) -> None:
    Transcript("beans").exchanges(1).save(projects)
    since = memory.history.pause()
    clock.move(minutes=1)

    assert memory.history.pause() == since == memory.history.paused_since() == "2026-03-02T12:00:00.000Z"
    for take in (memory.history.ingest, memory.history.scan):
        with pytest.raises(Unavailable, match=r"paused since .*recollect resume"):
            take([projects])
    assert messages_of(memory) == []


def test_what_was_said_during_a_pause_stays_out_for_ever(
    memory: recollect.Memory, clock: FrozenClock, projects: Path
) -> None:
    told = Transcript("beans", start=clock.now)
    told.user("Before the pause")
    clock.now = told.now
    memory.history.pause()
    told.user("In the pause")
    told.wait(minutes=10)
    told.queue("enqueue", "Typed in the pause")
    clock.now = told.now
    assert memory.history.resume() == ("2026-03-02T12:00:20.000Z", moment(clock.now))
    told.wait(seconds=1)
    told.user("After the pause")
    path = told.save(projects)

    memory.history.ingest([projects])
    assert said_in(memory) == ["Before the pause", "After the pause"]
    memory.history.ingest([projects], reimport=True)

    assert said_in(memory) == ["Before the pause", "After the pause"]
    assert "the pause" in inside_the_vault(memory.database)
    assert "In the pause" not in inside_the_vault(memory.database) + outside_the_vault(memory.database)
    assert "Typed in the pause" not in inside_the_vault(memory.database) + outside_the_vault(memory.database)
    assert memory.history.files()[0].counts.private == 2
    assert path.exists()
    assert memory.history.resume() is None


def test_an_ignore_file_keeps_transcripts_out(memory: recollect.Memory, projects: Path, home: Path) -> None:
    for name in ("beans", "peas", "weeds"):
        Transcript(name).exchanges(1, name).save(projects / name)
    write(projects / ".recollectignore", b"# not these\nbeans/\n")
    write(home / ".recollectignore", f"{projects}/peas/**\n".encode())

    report = memory.history.ingest([projects])

    assert report.files == 1
    assert "weeds" in repr(said_in(memory))
    assert not any(word in repr(messages_of(memory)) for word in ("beans", "peas"))


def test_an_ignore_file_in_a_project_keeps_its_conversations_out(
    memory: recollect.Memory, projects: Path, tmp_path: Path, home: Path
) -> None:
    write(tmp_path / "work" / "secret" / ".recollectignore", b"")
    write(tmp_path / "work" / "mixed" / ".recollectignore", b"inner/\n")
    write(home / ".recollectignore", b"/opt/**\n")
    for name, cwd in {
        "all": tmp_path / "work" / "secret" / "deep",
        "inner": tmp_path / "work" / "mixed" / "inner",
        "outer": tmp_path / "work" / "mixed",
        "opt": Path("/opt/thing"),
    }.items():
        Transcript(name, cwd=str(cwd)).exchanges(1, name).save(projects)

    memory.history.ingest([projects])

    assert {item.conversation.project for item in memory.history.conversations()} == {str(tmp_path / "work" / "mixed")}
    stored = outside_the_vault(memory.database) + inside_the_vault(memory.database)
    assert not any(f"about {name}" in stored for name in ("all", "inner", "opt"))


def private_session() -> tuple[Transcript, Transcript]:
    told = Transcript("diary").exchanges(1, "open things")
    told.user("[private]\nNow something confidential")
    told.assistant("A confidential answer")
    agent = subagent(told, "a1b2c3")
    agent.user("A confidential task")
    agent.assistant("A confidential result")
    told.wait(minutes=3)
    told.user("[/private]")
    told.exchanges(1, "other things")
    agent.wait(minutes=10)
    agent.assistant("An open result")
    return told, agent


def test_a_private_stretch_stays_out_with_its_sub_agents(memory: recollect.Memory, projects: Path) -> None:
    told, agent = private_session()
    told.save(projects)
    agent.save(projects)

    memory.history.ingest([projects])
    for _ in range(2):
        assert said_in(memory) == [
            "Question 0 about open things?",
            "Answer 0 about open things.",
            "Question 0 about other things?",
            "Answer 0 about other things.",
        ]
        stored = outside_the_vault(memory.database) + inside_the_vault(memory.database)
        assert "onfidential" not in stored
        assert "An open result" in stored
        memory.history.ingest([projects], reimport=True)


def test_a_private_stretch_lasts_until_it_is_ended(memory: recollect.Memory, projects: Path) -> None:
    told, agent = private_session()
    cut = next(index for index, record in enumerate(told.records) if "[/private]" in repr(record))
    path = write(projects / told.key, b"".join(line(record) for record in told.records[:cut]))
    agent.save(projects)
    memory.history.ingest([projects])
    assert len(said_in(memory)) == 2

    append(path, b"".join(line(record) for record in told.records[cut:]))
    memory.history.ingest([projects])

    assert len(said_in(memory)) == 4
    assert "onfidential" not in outside_the_vault(memory.database) + inside_the_vault(memory.database)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(cut=st.integers(1, 9), late_seconds=st.sampled_from([0, 1, 30, 90]))
def test_a_private_stretch_is_the_same_however_the_file_is_read(
    open_house: OpenHouse, tmp_path: Path, cut: int, late_seconds: int
) -> None:
    """Times run backwards in one pair of lines of twenty: what stands after the end is open, whatever its time."""
    told, _ = private_session()
    told.now -= timedelta(seconds=late_seconds + 60)
    told.user("Written after the end, timed before it")
    lines = [line(record) for record in told.records]
    cut = min(cut, len(lines) - 1)
    grown, clean = open_house(), open_house()
    path = write(tmp_path / grown.settings.house / "projects" / told.key, b"".join(lines[:cut]))
    grown.history.ingest([path])
    append(path, b"".join(lines[cut:]))

    grown.history.ingest([path])
    clean.history.ingest([path])

    assert snapshot_of(grown) == snapshot_of(clean)
    clean.history.ingest([path], reimport=True)
    assert snapshot_of(grown) == snapshot_of(clean)


def test_our_own_calls_are_no_history(memory: recollect.Memory, projects: Path, home: Path) -> None:
    marked = Transcript("marked")
    marked.snapshot()
    marked.user(f"{OWN_MARK}\nSummarise this conversation")
    marked.assistant("A summary of our own")
    at_home = Transcript("at home", cwd=str(home / "librarian")).exchanges(2, "our own")
    quoting = Transcript("quoting")
    quoting.user(f"What does {OWN_MARK} mean?")
    for one in (marked, at_home, quoting):
        one.save(projects)

    memory.history.ingest([projects])

    assert said_in(memory) == [f"What does {OWN_MARK} mean?"]
    stored = outside_the_vault(memory.database) + inside_the_vault(memory.database)
    assert "our own" not in stored
    assert "Summarise this" not in stored


def test_what_stands_before_the_first_working_folder_of_an_ignored_project_stays_out_too(
    memory: recollect.Memory, projects: Path, tmp_path: Path
) -> None:
    secret_project = tmp_path / "secret"
    secret_project.mkdir()
    (secret_project / ".recollectignore").touch()
    transcript = Transcript("early", cwd=str(secret_project))
    transcript.queue("enqueue", "typed before anything else")
    transcript.user("first line with a working folder")
    transcript.save(projects)

    report = memory.history.ingest([projects])

    assert (report.counts.private, report.messages_added) == (2, 0)
    assert memory.history.figures().vault[0] == 0


@pytest.mark.parametrize("kind", ["generic", "prompt log"])
def test_a_private_mark_without_a_session_pauses_nothing(memory: recollect.Memory, projects: Path, kind: str) -> None:
    at = moment(START)
    if kind == "generic":
        write(projects / "notes.jsonl", line({"author": "user", "text": "[private]\nsecret", "at": at}))
    else:
        write(
            projects / "history.jsonl", line({"display": "[private]\nsecret", "timestamp": at, "project": "/home/ada"})
        )
    memory.history.ingest([projects])
    Transcript("open").exchanges(2).save(projects)

    memory.history.ingest([projects])

    assert memory.history.paused_since() is None
    assert len(said_in(memory)) == 4
