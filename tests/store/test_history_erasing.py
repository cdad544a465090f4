"""Forgetting, history's side of it: what goes with a message, a conversation or a file, and what stays."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from conftest import OpenHouse
from exports import chatgpt, document, export_file
from forgetting_stories import erase, everything_in, messages_by_id, problems_of, reach_messages
from transcripts import START, Transcript, append, line, prompt_log, subagent, write

from recollect import Memory
from recollect.errors import Conflict, NotFound
from recollect.history import reading
from recollect.history.conversations import Status
from recollect.history.erasing import Erasing, Reached

SECRET = "The spare key lies under the blue flowerpot."
REPLY = "I will not tell anybody where the spare key is."


def talk(name: str = "garden", start: datetime = START) -> Transcript:
    told = Transcript(name, start=start)
    told.user("How do beans climb up a string?")
    told.assistant("They turn around it as they grow.")
    told.user(SECRET)
    told.assistant(REPLY)
    told.user("And how high do they climb then?")
    told.assistant("As high as the string, up to four metres.")
    return told


def said(memory: Memory, text: str) -> str:
    """The id of the one message that says this and counts."""
    [found] = [one.id for one in memory.history.export() if one.text == text and one.standing == "said"]
    return found


def forget(memory: Memory, text: str = SECRET) -> Reached:
    return erase(memory, reach_messages(said(memory, text)))


def left_in(memory: Memory) -> str:
    return everything_in(memory.database, memory.settings.house)


def texts(memory: Memory) -> list[str]:
    return sorted(one.text for one in memory.history.export())


def test_a_forgotten_message_is_in_no_table_and_the_others_stay(memory: Memory, projects: Path) -> None:
    path = talk().save(projects)
    memory.history.ingest([projects])
    before = messages_by_id(memory)
    assert SECRET in left_in(memory)

    reached = forget(memory)

    assert SECRET not in left_in(memory)
    del before[reached.messages[0].id]
    assert messages_by_id(memory) == before
    assert problems_of(memory) == []
    assert reached.copies_on_disk == [str(path)]
    assert any(SECRET.encode() in content for content in reached.contents())


def test_the_file_goes_on_where_it_was_read_to(memory: Memory, projects: Path) -> None:
    told = talk()
    path = told.save(projects)
    memory.history.ingest([projects])
    forget(memory)
    read = len(told.raw)
    told.user("Do they need water?")
    append(path, told.raw[read:])

    report = memory.history.ingest([projects])

    assert report.bytes_read == len(told.raw) - read
    assert report.messages_added == 1
    assert SECRET not in left_in(memory)


@pytest.mark.parametrize("keep_raw", [True, False])
def test_reading_again_from_the_start_leaves_it_out(memory: Memory, projects: Path, keep_raw: bool) -> None:
    talk().save(projects)
    memory.history.ingest([projects], keep_raw=keep_raw)
    forget(memory)
    before = messages_by_id(memory)

    report = memory.history.ingest([projects], reimport=True, keep_raw=keep_raw)

    assert report.counts.forgotten == 1
    assert messages_by_id(memory) == before
    assert SECRET not in left_in(memory)


def test_the_first_line_leaves_no_digest_and_the_moved_file_is_still_known(
    memory: Memory, projects: Path, tmp_path: Path
) -> None:
    path = talk().save(projects)
    memory.history.ingest([projects])
    [before] = memory.history.files()
    forget(memory, "How do beans climb up a string?")
    [file] = memory.history.files()
    assert file.head != before.head
    assert before.head not in left_in(memory)

    moved = tmp_path / "elsewhere" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    memory.history.ingest([moved.parent])

    assert [one.id for one in memory.history.files()] == [file.id]
    assert "How do beans climb" not in left_in(memory)


def test_an_archived_conversation_stays_archived_also_under_its_new_id(memory: Memory, projects: Path) -> None:
    talk().save(projects)
    memory.history.ingest([projects])
    [listed] = memory.history.conversations()
    memory.history.queue(listed.conversation)
    claimed = memory.history.claim()
    assert claimed
    memory.history.archive(claimed)

    forget(memory)
    [kept] = memory.history.conversations()
    assert (kept.conversation.id, kept.conversation.status) == (claimed.id, Status.ARCHIVED)
    forget(memory, "How do beans climb up a string?")

    [renamed] = memory.history.conversations()
    assert renamed.conversation.id != claimed.id
    assert (renamed.conversation.status, renamed.conversation.messages) == (Status.ARCHIVED, 4)
    memory.history.ingest([projects], reimport=True)
    [again] = memory.history.conversations()
    assert again.conversation == renamed.conversation


def test_a_conversation_that_loses_everything_is_gone(memory: Memory, projects: Path) -> None:
    told = talk()
    told.wait(hours=5)
    told.user("Something else, much later.")
    told.save(projects)
    memory.history.ingest([projects])
    later, first = (item.conversation for item in memory.history.conversations())

    reached = erase(memory, lambda erasing: erasing.reach_conversation(first.id))

    assert len(reached.messages) == 6
    assert [item.conversation for item in memory.history.conversations()] == [later]
    assert texts(memory) == ["Something else, much later."]
    memory.history.ingest([projects], reimport=True)
    assert texts(memory) == ["Something else, much later."]


def test_a_conversation_takes_its_sub_agents_and_its_titles_with_it(memory: Memory, projects: Path) -> None:
    told = talk()
    agent = subagent(told, "a0000001", start=START)
    agent.user("Find out who knows about the flowerpot in the yard.")
    agent.assistant("Nobody but the two of us knows about it.")
    agent.save(projects)
    told.ai_title("Where the key lies")
    told.save(projects)
    other = Transcript("other")
    other.summary("All about a flowerpot", str(told.last))
    other.user("Hello there, what is new?")
    other.save(projects)
    memory.history.ingest([projects])
    [listed] = [item for item in memory.history.conversations() if item.conversation.messages == 6]

    erase(memory, lambda erasing: erasing.reach_conversation(listed.conversation.id))

    for ways in (False, True):
        left = left_in(memory)
        assert not [words for words in ("flowerpot", "Nobody but the two", "Where the key lies") if words in left]
        assert texts(memory) == ["Hello there, what is new?"]
        memory.history.ingest([projects], reimport=ways)


def test_prompts_in_the_log_go_too_and_do_not_come_back_with_a_log_read_later(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    told = talk()
    log = prompt_log((told.session_id, SECRET, START), (told.session_id, "And what else was said?", START))
    for is_first in (True, False):
        memory = open_house()
        folder = tmp_path / memory.settings.house
        told.save(folder / "projects")
        if is_first:
            write(folder / "history.jsonl", log)
        memory.history.ingest([folder])
        forget(memory)
        write(folder / "history.jsonl", log)
        report = memory.history.ingest([folder], reimport=True)
        assert report.failed == 0
        assert SECRET not in left_in(memory)
        assert "And what else was said?" in texts(memory)


def test_typed_ahead_words_are_forgotten_in_the_queue_as_well(memory: Memory, projects: Path) -> None:
    told = Transcript("ahead")
    told.user("How do beans climb up a string?")
    told.queue("enqueue", SECRET)
    told.queue("enqueue", "And what do they eat?")
    path = told.save(projects)
    memory.history.ingest([projects])
    reached = forget(memory)
    assert reached.typed_ahead == [SECRET]
    assert SECRET not in left_in(memory)

    read = len(told.raw)
    told.queue("dequeue")
    told.user(SECRET)
    told.queue("popAll", "And what do they eat?")
    append(path, told.raw[read:])
    memory.history.ingest([projects])

    [taken_back] = [one for one in memory.history.export() if one.text == "And what do they eat?"]
    assert taken_back.standing == "withdrawn"
    memory.history.ingest([projects], reimport=True)
    [same] = [one for one in memory.history.export() if one.text == "And what do they eat?"]
    assert same.standing == "withdrawn"


@pytest.mark.parametrize("way", [{}, {"rewrite_session": True}, {"new_uuids": True}])
def test_a_fork_read_later_does_not_bring_it_back(memory: Memory, projects: Path, way: dict[str, bool]) -> None:
    told = talk()
    told.add({"type": "mode", "mode": SECRET, "sessionId": told.session_id})
    told.save(projects)
    memory.history.ingest([projects])
    forget(memory)
    fork = told.fork("fork", **way)
    fork.user("Now on another branch.")
    fork.save(projects)

    memory.history.ingest([projects])

    assert SECRET not in left_in(memory)
    assert "Now on another branch." in texts(memory)


def test_summaries_and_results_that_repeat_it_go_and_who_quotes_it_stays_and_is_named(
    memory: Memory, projects: Path
) -> None:
    told = talk()
    told.tool_result("toolu_1", f"notes.md: {SECRET} " + "and more. " * 300)
    told.user(f"This is a summary: {SECRET}", isCompactSummary=True)
    told.user(f"Did I say {SECRET!r} to you?")
    told.save(projects)
    memory.history.ingest([projects])
    quoting = said(memory, f"Did I say {SECRET!r} to you?")

    reached = forget(memory)

    assert {str(one.author) for one in reached.messages} == {"user", "tool", "machine"}
    assert reached.also_in == [quoting]
    assert left_in(memory).count(SECRET) == 3  # Text, block and record of the message that quotes it.


def test_a_title_made_of_its_words_goes_and_does_not_come_back(memory: Memory, projects: Path) -> None:
    told = talk()
    told.ai_title("The spare key lies under…")
    told.save(projects)
    memory.history.ingest([projects])
    [listed] = memory.history.conversations()
    assert listed.title.startswith("The spare key")

    forget(memory)
    for ways in (False, True):
        [listed] = memory.history.conversations()
        assert listed.title == "How do beans climb up a string?"
        assert "The spare key" not in left_in(memory)
        memory.history.ingest([projects], reimport=ways)


def test_a_forgotten_file_stays_out_and_so_does_a_copy_of_it(memory: Memory, projects: Path, tmp_path: Path) -> None:
    told = talk()
    path = told.save(projects)
    talk("other", start=START + timedelta(days=1)).save(projects)
    memory.history.ingest([projects])

    reached = erase(memory, lambda erasing: erasing.reach_file(str(path)))

    assert [file.key for file in reached.files] == [told.key]
    assert len(memory.history.files()) == 1
    told.user("It goes on, but nobody listens.")
    told.save(projects)
    report = memory.history.ingest([projects])
    assert (report.skipped, report.messages_added) == (2, 0)
    copied = write(tmp_path / "copied" / f"{Transcript('copy').session_id}.jsonl", talk().raw)
    report = memory.history.ingest([copied.parent])
    assert (report.messages_added, report.counts.forgotten) == (0, 6)
    assert len(messages_by_id(memory)) == 6


def test_forgetting_an_export_forgets_every_transcript_in_it(memory: Memory, tmp_path: Path) -> None:
    path = export_file(tmp_path, document(chatgpt("beans"), chatgpt("peas", start=500)))
    memory.history.ingest([path])
    assert messages_by_id(memory)

    erase(memory, lambda erasing: erasing.reach_file(str(path)))

    assert (memory.history.files(), messages_by_id(memory)) == ([], {})
    memory.history.ingest([path], reimport=True)
    assert messages_by_id(memory) == {}


def test_names_that_mean_nothing_or_too_much_are_refused(memory: Memory, projects: Path) -> None:
    talk().save(projects)
    memory.history.ingest([projects])

    for name, kind in (("nope", "message"), ("", "message"), ("nope", "conversation"), ("", "file"), ("nope", "file")):
        with pytest.raises(NotFound, match=f"No {kind} is"):
            erase(memory, lambda erasing: named(erasing, kind, name))  # noqa: B023  run at once
    ids = sorted(messages_by_id(memory))
    with pytest.raises(Conflict, match="several messages"):
        erase(memory, lambda erasing: named(erasing, "message", "msg_"))
    assert sorted(messages_by_id(memory)) == ids


def named(erasing: Erasing, kind: str, name: str) -> Reached:
    if kind == "message":
        return erasing.reach_messages(erasing.of_message(name))
    return erasing.reach_conversation(name) if kind == "conversation" else erasing.reach_file(name)


def test_a_reader_that_had_begun_before_does_not_bring_it_in(
    memory: Memory, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = talk()
    told.save(projects)
    memory.history.ingest([projects])
    fork = told.fork("fork")
    fork.user("Now on another branch.")
    fork.save(projects)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 300)
    done: list[Reached] = []

    def between_two_blocks(_: int) -> None:
        if not done:
            done.append(forget(memory))

    memory.history.ingest([projects], on_progress=between_two_blocks)

    assert done
    assert SECRET not in left_in(memory)
    assert "Now on another branch." in texts(memory)
    assert problems_of(memory) == []


def test_what_follows_a_forgotten_record_keeps_its_time_when_only_the_vault_is_left(
    memory: Memory, tmp_path: Path
) -> None:
    records = [
        {"author": "user", "session": "s", "at": "2026-03-02T10:00:00Z", "text": SECRET, "cwd": "/home/ada/garden"},
        {"author": "assistant", "session": "s", "text": "Nothing was said.", "id": "1"},
    ]
    path = write(tmp_path / "chats" / "s.jsonl", b"".join(line(record) for record in records))
    memory.history.ingest([path.parent], source="generic")
    forget(memory)
    before = messages_by_id(memory)
    path.unlink()

    memory.history.ingest([path.parent, path], reimport=True)

    assert messages_by_id(memory) == before
    [message] = before.values()
    assert message["at"] == "2026-03-02T10:00:00.000Z"
