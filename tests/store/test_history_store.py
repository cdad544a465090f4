"""The same words in several files: stored once, whichever file was read first; sessions that belong together."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import conversations_of, messages_of, said_in
from transcripts import START, Transcript, append, line, prompt_log, subagent, write

import recollect
from recollect import Conflict, Invalid, NotFound

ORDERS = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def old_session_kept(told: Transcript) -> Transcript:
    return told.fork("fork")


def session_rewritten(told: Transcript) -> Transcript:
    return told.fork("fork", rewrite_session=True)


def new_uuids(told: Transcript) -> Transcript:
    return told.fork("fork", new_uuids=True)


def in_every_order(open_house: OpenHouse, paths: list[Path]) -> list[recollect.Memory]:
    memories: list[recollect.Memory] = []
    for order in itertools.permutations(paths):
        memory = open_house()
        for path in order:
            memory.history.ingest([path])
        memories.append(memory)
    return memories


def contents_of(memory: recollect.Memory) -> dict[str, object]:
    return {"messages": messages_of(memory), "conversations": conversations_of(memory)}


def test_the_same_uuid_again_is_an_occurrence_and_the_first_copy_counts(
    memory: recollect.Memory, projects: Path
) -> None:
    told = Transcript("beans").exchanges(2)
    replayed = json.loads(json.dumps(told.records))
    for record in replayed:
        record["gitBranch"], record["version"] = "other", "2.1.200"
        if record["type"] == "user":
            record["message"]["content"] = "changed on the way"
    told.wait(minutes=5)
    told.user("And now?")
    told.records += replayed
    path = told.save(projects)

    memory.history.ingest([path])

    assert len(messages_of(memory)) == 5
    assert "changed on the way" not in said_in(memory)
    assert memory.sql("SELECT count(*) FROM occurrences WHERE message_id IS NOT NULL")[1] == [(9,)]
    assert memory.history.conversations()[0].conversation.messages == 5


@pytest.mark.parametrize("at_once", [True, False])
def test_a_queued_text_written_twice_is_said_once(memory: recollect.Memory, projects: Path, at_once: bool) -> None:
    told = Transcript("beans")
    told.user("When?")
    told.queue("enqueue", "Only in the queue")
    told.queue("remove")
    path = told.save(projects)
    if not at_once:
        memory.history.ingest([path])
    append(path, line(told.records[1]))

    memory.history.ingest([path])

    assert said_in(memory) == ["When?", "Only in the queue"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_generic_message_written_twice_is_said_once(memory: recollect.Memory, tmp_path: Path, at_once: bool) -> None:
    record = {
        "id": "m1",
        "session": "s",
        "author": "user",
        "text": "When do I sow beans?",
        "at": "2026-03-02T10:00:00Z",
    }
    path = write(tmp_path / "chat.jsonl", line(record))
    if not at_once:
        memory.history.ingest([path])
    append(path, line(record))

    memory.history.ingest([path])

    assert said_in(memory) == ["When do I sow beans?"]


def test_lines_of_a_nameless_kind_are_the_same_whether_the_folder_or_the_file_is_given(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    by_folder, mixed = open_house(), open_house()
    path = write(tmp_path / "chats" / "june" / "chat.jsonl", line({"author": "user", "text": "one"}))
    by_folder.history.ingest([tmp_path / "chats"])
    mixed.history.ingest([tmp_path / "chats"])
    append(path, line({"author": "assistant", "text": "two"}))

    by_folder.history.ingest([tmp_path / "chats"])
    mixed.history.ingest([path])

    assert messages_of(mixed) == messages_of(by_folder)
    mixed.history.ingest([tmp_path / "chats"], reimport=True)
    assert messages_of(mixed) == messages_of(by_folder)


@pytest.mark.parametrize("make_fork", [old_session_kept, session_rewritten, new_uuids])
def test_a_fork_doubles_nothing_in_any_order(
    open_house: OpenHouse, projects: Path, make_fork: Callable[[Transcript], Transcript]
) -> None:
    told = Transcript("beans").exchanges(3)
    fork = make_fork(told)
    fork.user("A question of the fork only")
    fork.assistant("An answer of the fork only")
    told.user("A question of the original only")
    paths = [told.save(projects), fork.save(projects)]

    first, second = in_every_order(open_house, paths)

    assert len(messages_of(first)) == 9
    assert contents_of(first) == contents_of(second)
    assert len({item["thread"] for item in conversations_of(first)}) == 1
    assert sorted(said_in(first)) == sorted(said_in(second))
    assert len(said_in(first)) == 9


def test_a_fork_of_a_fork_doubles_nothing_in_any_order(open_house: OpenHouse, projects: Path) -> None:
    told = Transcript("beans").exchanges(1)
    child = told.fork("child")
    child.user("From the child")
    grandchild = child.fork("grandchild", rewrite_session=True)
    grandchild.assistant("From the grandchild")
    paths = [one.save(projects) for one in (told, child, grandchild)]

    memories = in_every_order(open_house, paths)

    assert len(messages_of(memories[0])) == 4
    for memory in memories[1:]:
        assert contents_of(memory) == contents_of(memories[0])
    assert len({item["thread"] for item in conversations_of(memories[0])}) == 1


def test_a_branch_left_in_a_fork_is_still_said_in_the_original(open_house: OpenHouse, projects: Path) -> None:
    told = Transcript("beans").exchanges(1)
    turn = told.last
    told.user("Sow in May?")
    told.assistant("Yes.")
    fork = told.fork("fork")
    fork.go_back_to(turn)
    fork.user("Sow in June?")
    fork.assistant("Better not.")
    paths = [told.save(projects), fork.save(projects)]

    first, second = in_every_order(open_house, paths)

    assert contents_of(first) == contents_of(second)
    assert {"Sow in May?", "Sow in June?"} <= set(said_in(first))


def test_a_reply_that_only_the_copy_has_whole_is_whole(open_house: OpenHouse, projects: Path) -> None:
    told = Transcript("beans")
    told.user("When?")
    reply = told.assistant("In May.")
    fork = told.fork("fork")
    fork.assistant("Or June.", message_id=reply)
    paths = [told.save(projects), fork.save(projects)]

    first, second = in_every_order(open_house, paths)

    assert contents_of(first) == contents_of(second)
    assert said_in(first) == ["When?", "In May.\n\nOr June."]


@ORDERS
@given(data=st.data())
def test_files_in_any_order_give_the_same_history(open_house: OpenHouse, tmp_path: Path, data: st.DataObject) -> None:
    told = Transcript("beans")
    told.snapshot()
    told.exchanges(2)
    told.queue("enqueue", "Typed ahead")
    told.queue("remove")
    agent = subagent(told, "a1b2c3")
    agent.user("Look up beans")
    agent.assistant("Found.")
    fork = told.fork("fork", rewrite_session=data.draw(st.booleans(), label="rewritten"))
    fork.exchanges(1, "peas")
    told.wait(hours=3).exchanges(1, "weeds")
    later = fork.fork("later", new_uuids=True)
    later.exchanges(1, "slugs")
    told.continued_in(later.session_id)
    later.summary("Beans in May", told.last or "")
    names = [told, agent, fork, later]
    memories: list[recollect.Memory] = []
    for order in (names, data.draw(st.permutations(names), label="order")):
        memory = open_house()
        folder = tmp_path / memory.settings.house / "projects"
        for one in order:
            memory.history.ingest([one.save(folder)])
        memories.append(memory)

    assert contents_of(memories[0]) == contents_of(memories[1])
    assert len({item["thread"] for item in conversations_of(memories[0])}) == 1


@pytest.mark.parametrize("old_first", [True, False])
def test_a_session_continued_in_another_is_one_thread(
    memory: recollect.Memory, projects: Path, old_first: bool
) -> None:
    old = Transcript("old").exchanges(1)
    new = Transcript("new", start=old.now).exchanges(1, "peas")
    old.continued_in(new.session_id)
    paths = [old.save(projects), new.save(projects)]

    for path in paths if old_first else reversed(paths):
        memory.history.ingest([path])

    latest, earlier = memory.history.conversations()
    assert latest.thread == earlier.thread
    assert [item.conversation.session_id for item in memory.history.thread(latest.conversation)] == [
        old.session_id,
        new.session_id,
    ]


def test_a_fork_that_only_points_back_is_one_thread(memory: recollect.Memory, projects: Path) -> None:
    parent = Transcript("parent").exchanges(1)
    child = Transcript("child", start=parent.now)
    child.fork_context(parent.session_id)
    child.exchanges(1, "peas")
    stranger = Transcript("stranger").exchanges(1, "weeds")
    for one in (child, parent, stranger):
        memory.history.ingest([one.save(projects)])

    threads = {item.conversation.session_id: item.thread for item in memory.history.conversations()}

    assert threads[child.session_id] == threads[parent.session_id]
    assert threads[stranger.session_id] != threads[parent.session_id]


def test_a_title_may_stand_in_another_file(open_house: OpenHouse, projects: Path) -> None:
    told = Transcript("beans").exchanges(1)
    other = Transcript("other").exchanges(1, "peas")
    other.summary("How to sow beans", told.last or "")
    paths = [told.save(projects), other.save(projects)]

    first, second = in_every_order(open_house, paths)

    for memory in (first, second):
        titles = {item.conversation.session_id: item.title for item in memory.history.conversations()}
        assert titles[told.session_id] == "How to sow beans"
        assert titles[other.session_id] == "Question 0 about peas?"


def test_sub_agents_are_kept_out_of_conversations_and_shown_when_asked_for(
    memory: recollect.Memory, projects: Path
) -> None:
    told = Transcript("beans")
    told.user("Ask an agent.")
    agent = subagent(told, "a1b2c3")
    agent.user("Look up beans")
    agent.assistant("Found three kinds.")
    told.wait(minutes=2)
    told.assistant("Three kinds.")
    told.save(projects)
    agent.save(projects)

    memory.history.ingest([projects])

    listed = memory.history.conversations()
    assert [item.conversation.session_id for item in listed] == [told.session_id]
    assert said_in(memory) == ["Ask an agent.", "Three kinds."]
    everything = memory.history.messages(listed[0].conversation, everything=True)
    assert [(message.author, message.text) for message in everything[2:]] == [
        ("machine", "Look up beans"),
        ("subagent", "Found three kinds."),
    ]


@pytest.mark.parametrize("log_first", [True, False])
def test_a_logged_prompt_whose_session_is_there_is_a_repetition(
    memory: recollect.Memory, tmp_path: Path, projects: Path, log_first: bool
) -> None:
    told = Transcript("beans")
    told.user("When do I sow beans?")
    told.assistant("In May.")
    lost = Transcript("lost").session_id
    log = write(
        tmp_path / "claude" / "history.jsonl",
        prompt_log((told.session_id, "When do I sow beans?", START), (lost, "Typed long ago", START)),
    )
    paths = [log, told.save(projects)]

    for path in paths if log_first else reversed(paths):
        memory.history.ingest([path])

    standings = {message["text"]: message["standing"] for message in messages_of(memory) if message["kind"] == "prompt"}
    assert standings == {"When do I sow beans?": "repeated", "Typed long ago": "said"}
    assert sorted(said_in(memory)) == ["In May.", "Typed long ago", "When do I sow beans?"]
    assert {item.conversation.session_id for item in memory.history.conversations()} == {told.session_id, lost}


def test_a_logged_prompt_stays_when_its_session_never_comes(memory: recollect.Memory, tmp_path: Path) -> None:
    lost = Transcript("lost").session_id
    log = write(tmp_path / "history.jsonl", prompt_log((lost, "First", START), (lost, "Second", START)))

    memory.history.ingest([log])
    append(log, prompt_log((lost, "Third", START)))
    memory.history.ingest([log])

    assert said_in(memory) == ["First", "Second", "Third"]
    assert memory.history.conversations()[0].conversation.messages == 3


def test_a_conversation_is_found_by_the_start_of_its_id_or_its_session(
    memory: recollect.Memory, projects: Path
) -> None:
    told = Transcript("beans").exchanges(1).wait(hours=5).exchanges(1)
    single = Transcript("single").exchanges(1)
    told.save(projects)
    single.save(projects)
    memory.history.ingest([projects])
    listed = memory.history.conversations()

    for item in listed:
        assert memory.history.conversation(item.conversation.id) == item
        assert memory.history.conversation(item.conversation.id[:12]) == item
    assert memory.history.conversation(single.session_id).conversation.session_id == single.session_id
    with pytest.raises(Conflict, match="could be 2 conversations"):
        memory.history.conversation(told.session_id)
    for unknown in ("nosuch", "", "%", "_"):
        with pytest.raises(NotFound):
            memory.history.conversation(unknown)


def test_conversations_can_be_chosen_by_project_time_and_number(memory: recollect.Memory, projects: Path) -> None:
    for index, cwd in enumerate(["/home/ada/Garden", "/home/ada/house", "/home/ada/garden/shed"]):
        Transcript(f"t{index}", cwd=cwd).wait(minutes=index * 10).exchanges(1).save(projects)
    memory.history.ingest([projects])
    history = memory.history

    assert len(history.conversations(project="garden")) == 2
    assert len(history.conversations(limit=2)) == 2
    assert [item.conversation.project for item in history.conversations(since="2026-03-02T10:20:00.000Z")] == [
        "/home/ada/garden/shed"
    ]
    with pytest.raises(Invalid, match="No status"):
        history.conversations(status="nosuch")


def test_what_was_done_is_told_by_runs(memory: recollect.Memory, clock: FrozenClock, projects: Path) -> None:
    Transcript("beans").exchanges(1).save(projects)
    write(projects / "bad.jsonl", b"[7]\n")
    memory.history.ingest([projects])
    clock.move(minutes=1)
    memory.runs.record("backup", "done", 0.25, {"bytes": 7})

    assert [(event.name, event.outcome) for event in memory.runs.latest()] == [("backup", "done"), ("ingest", "failed")]
    assert memory.runs.latest(name="backup")[0].milliseconds == 250
    assert memory.runs.latest(name="backup")[0].detail == {"bytes": 7}
    failed = memory.runs.latest(outcome="failed")[0]
    assert (failed.detail["files"], failed.detail["messages_added"]) == (2, 2)
    assert memory.runs.latest(name="nosuch") == []
