"""Taking files in: only what is new is read, nothing is lost, nothing is doubled, whatever happens to the file."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import conversations_of, files_of, messages_of, said_in, snapshot_of
from transcripts import Transcript, append, line, thinking, tool_use, write

import recollect
from recollect.history import IngestReport

DATABASE_PROPERTY = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def rich_session(name: str = "garden") -> Transcript:
    """A session with one of everything that has to be put together from several records."""
    told = Transcript(name)
    told.snapshot()
    told.user("When do I sow beans? 🌱 Käferbohnen …")
    told.queue("enqueue", "And peas?")
    reply = told.assistant(thinking("hm"), "In May.", tool_use("Bash", "call_1", command="date"))
    told.tool_result("call_1", "Mon May 4")
    told.assistant("It is May.", message_id=reply)
    told.queue("dequeue")
    told.user("And peas?")
    told.sidechain("Look up peas", "Peas go in March.")
    told.assistant("In March.")
    told.queue("enqueue", "never mind")
    told.queue("popAll", "never mind")
    told.queue("enqueue", "Only ever in the queue")
    told.queue("remove")
    told.ai_title("Beans")
    told.wait(hours=2)
    before = told.last
    told.user("Water them?")
    told.assistant("Twice a week.")
    told.go_back_to(before)
    told.user("Water them daily?")
    told.custom_title("Beans and peas")
    told.assistant("No.")
    told.summary("Elsewhere", "00000000-0000-4000-8000-000000000000")
    return told


def clean_import(open_house: OpenHouse, *paths: Path) -> recollect.Memory:
    """A new house that takes these in at once."""
    memory = open_house()
    memory.history.ingest(paths)
    return memory


def test_a_file_becomes_messages_and_conversations(memory: recollect.Memory, projects: Path) -> None:
    told = rich_session()
    path = told.save(projects)

    report = memory.history.ingest([path])

    assert (report.files, report.ingested, report.skipped, report.failed) == (1, 1, 0, 0)
    assert report.bytes_read == path.stat().st_size
    assert report.counts.lines == report.counts.parsed == len(told.records)
    assert report.counts.types["assistant"] == 8
    assert said_in(memory) == [
        "When do I sow beans? 🌱 Käferbohnen …",
        "In May.\n\nIt is May.",
        "And peas?",
        "In March.",
        "Only ever in the queue",
        "Water them daily?",
        "No.",
    ]
    first, second = reversed(memory.history.conversations())
    assert (first.conversation.messages, second.conversation.messages) == (5, 2)
    assert first.title == second.title == "Beans and peas"
    assert first.file == told.key
    assert first.conversation.project == told.cwd


def test_a_reply_on_several_lines_is_one_message_with_its_blocks_in_order(
    memory: recollect.Memory, projects: Path
) -> None:
    told = rich_session()
    memory.history.ingest([told.save(projects)])

    reply = next(message for message in memory.history.export() if message.text.startswith("In May."))

    assert [block["type"] for block in reply.blocks] == ["thinking", "text", "tool_call", "text"]
    assert reply.tools == ["Bash"]
    assert len(memory.history.raw(reply)) == 4
    assert all(raw + b"\n" in told.raw for raw in memory.history.raw(reply))


def test_an_unchanged_file_is_not_opened(memory: recollect.Memory, projects: Path) -> None:
    path = rich_session().save(projects)
    memory.history.ingest([projects])
    before = snapshot_of(memory)
    path.chmod(0o000)  # Whoever opens it now fails, unless it is root; then the figures tell.

    report = memory.history.ingest([projects])

    assert (report.skipped, report.ingested, report.failed, report.bytes_read) == (1, 0, 0, 0)
    assert snapshot_of(memory) == before


def test_a_file_that_was_only_touched_is_not_taken_in_again(memory: recollect.Memory, projects: Path) -> None:
    path = rich_session().save(projects)
    memory.history.ingest([projects])
    before = snapshot_of(memory)
    os.utime(path, ns=(1, 1))

    report = memory.history.ingest([projects])

    assert (report.skipped, report.bytes_read) == (1, 0)
    assert snapshot_of(memory) == before


def test_of_a_grown_file_only_the_new_bytes_are_read(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(20)
    path = told.save(projects)
    memory.history.ingest([path])
    size = path.stat().st_size
    told.exchanges(1)
    told.save(projects)

    report = memory.history.ingest([path])

    assert report.bytes_read == path.stat().st_size - size
    assert report.messages_added == 2
    assert len(messages_of(memory)) == 42


def test_half_a_last_line_waits_for_its_other_half(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(2)
    whole = told.raw
    cut = len(whole) - 30
    path = write(projects / told.key, whole[:cut])

    first = memory.history.ingest([path])
    again = memory.history.ingest([path])
    append(path, whole[cut:])
    last = memory.history.ingest([path])

    assert (first.messages_added, again.messages_added, last.messages_added) == (3, 0, 1)
    assert first.counts.bad == last.counts.bad == 0
    assert again.bytes_read == 0


def test_half_a_first_line_is_not_a_failure(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(1)
    path = write(projects / told.key, told.raw[:40])

    report = memory.history.ingest([projects])
    append(path, told.raw[40:])
    after = memory.history.ingest([projects])

    assert (report.failed, report.problems) == (0, [])
    assert after.messages_added == 2


def test_a_whole_last_line_without_an_end_is_taken_and_may_be_glued_to_the_next(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path
) -> None:
    told = Transcript("beans").exchanges(3)
    lines = [line(record) for record in told.records]
    path = write(projects / told.key, b"".join(lines[:3]).rstrip(b"\n"))
    first = memory.history.ingest([path])
    append(path, b"".join(lines[3:]))
    second = memory.history.ingest([path])

    assert (first.messages_added, second.messages_added) == (3, 3)
    assert snapshot_of(memory) == snapshot_of(clean_import(open_house, path))
    assert memory.history.files()[0].counts.bad == 1
    assert memory.history.files()[0].counts.recovered == 2


@DATABASE_PROPERTY
@given(data=st.data())
def test_any_sequence_of_appends_gives_the_rows_of_one_clean_import(
    open_house: OpenHouse, tmp_path: Path, data: st.DataObject
) -> None:
    raw = rich_session().raw
    if data.draw(st.booleans(), label="glued"):
        at = data.draw(st.integers(5, 9), label="glued line")
        lines = raw.split(b"\n")
        raw = b"\n".join(lines[:at]) + b"".join(lines[at : at + 2]) + b"\n" + b"\n".join(lines[at + 2 :])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(raw) - 1), max_size=6), label="cuts"))
    grown, clean = open_house(), open_house()
    name = f"{grown.settings.house}/projects/slug/{rich_session().session_id}.jsonl"
    path = write(tmp_path / name, b"")

    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        append(path, raw[start:end])
        grown.history.ingest([path])
    clean.history.ingest([path])

    assert snapshot_of(grown) == snapshot_of(clean)


def test_lines_that_a_shrunk_file_no_longer_has_stay_and_are_marked(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(4)
    path = told.save(projects)
    memory.history.ingest([path])
    before = {message["id"] for message in messages_of(memory)}
    told.records = told.records[:4]
    told.save(projects)

    memory.history.ingest([path])

    after = {message["id"]: message["gone"] for message in messages_of(memory)}
    assert set(after) == before
    assert sum(after.values()) == 4
    listed = memory.history.conversations()[0].conversation
    assert listed.messages == len(memory.history.messages(listed)) == 4
    assert len(memory.history.messages(listed, everything=True)) == 8
    assert memory.sql("SELECT count(*) FROM occurrences WHERE gone = 1")[1] == [(4,)]


@pytest.mark.parametrize("hours_of_silence", [0, 3])
def test_lines_come_back_when_the_file_is_restored(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path, hours_of_silence: int
) -> None:
    told = Transcript("beans").exchanges(2).wait(hours=hours_of_silence).exchanges(2, "peas")
    whole = told.raw
    path = told.save(projects)
    memory.history.ingest([path])
    write(path, b"".join(line(record) for record in told.records[:4]))
    memory.history.ingest([path])

    write(path, whole)
    memory.history.ingest([path])

    clean = clean_import(open_house, path)
    assert messages_of(memory) == messages_of(clean)
    assert conversations_of(memory) == conversations_of(clean)


def test_lines_come_back_when_the_file_is_restored_from_its_middle(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path
) -> None:
    told = Transcript("beans").exchanges(4)
    path = told.save(projects)
    memory.history.ingest([path])
    lines = [line(record) for record in told.records]
    write(path, b"".join(lines[:2] + lines[5:]))
    memory.history.ingest([path])
    assert sum(message["gone"] for message in messages_of(memory)) == 3

    told.save(projects)
    memory.history.ingest([path])

    clean = clean_import(open_house, path)
    assert messages_of(memory) == messages_of(clean)
    assert conversations_of(memory) == conversations_of(clean)
    assert memory.history.figures().vault == clean.history.figures().vault


def test_a_file_replaced_by_another_of_the_same_size_is_noticed(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans")
    told.user("When do I sow beans?")
    path = told.save(projects)
    other = Transcript("beans2")
    other.user("When do I sow PEAS?!")
    other.records[0]["sessionId"] = told.session_id
    memory.history.ingest([path])
    status = path.stat()
    write(path, other.raw)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))

    memory.history.ingest([path])

    assert path.stat().st_size == status.st_size
    assert said_in(memory) == ["When do I sow PEAS?!"]
    assert {message["text"]: message["gone"] for message in messages_of(memory)} == {
        "When do I sow beans?": True,
        "When do I sow PEAS?!": False,
    }


def test_a_file_moved_to_another_project_is_the_same_file(
    memory: recollect.Memory, open_house: OpenHouse, projects: Path
) -> None:
    told = Transcript("beans").exchanges(3)
    path = told.save(projects)
    memory.history.ingest([projects])
    moved = projects / "-home-ada-worktree" / path.name
    moved.parent.mkdir()
    path.rename(moved)

    report = memory.history.ingest([projects])
    append(moved, b"".join(line(record) for record in told.exchanges(1).records[-2:]))
    grown = memory.history.ingest([projects])

    assert (report.bytes_read, report.messages_added) == (0, 0)
    assert (grown.messages_added, len(memory.history.files())) == (2, 1)
    assert memory.history.files()[0].key == f"-home-ada-worktree/{path.name}"
    clean = clean_import(open_house, projects)
    assert [item["id"] for item in messages_of(memory)] == [item["id"] for item in messages_of(clean)]
    assert [item["id"] for item in conversations_of(memory)] == [item["id"] for item in conversations_of(clean)]


def test_a_file_whose_first_line_changed_can_still_be_moved(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(3)
    path = told.save(projects)
    memory.history.ingest([projects])
    del told.records[:2]
    told.save(projects)
    memory.history.ingest([projects])
    moved = projects / "-elsewhere" / path.name
    moved.parent.mkdir()
    path.rename(moved)

    memory.history.ingest([projects])

    assert [file.key for file in memory.history.files()] == [f"-elsewhere/{path.name}"]
    assert len(said_in(memory)) == 4


@pytest.mark.parametrize("backup_first", [True, False])
@pytest.mark.parametrize("backup_is_older", [True, False])
def test_a_copy_in_a_backup_is_the_same_file(
    memory: recollect.Memory, tmp_path: Path, projects: Path, backup_first: bool, backup_is_older: bool
) -> None:
    told = Transcript("beans").exchanges(3)
    backup = tmp_path / "backup" / "2026-03" / "projects"
    if backup_is_older:
        told.save(backup)
        told.exchanges(1)
    else:
        told.exchanges(1)
        told.save(backup)
    told.save(projects)
    folders = [backup, projects] if backup_first else [projects, backup]

    for folder in folders:
        memory.history.ingest([folder])

    assert [(file["key"], file["read_to"]) for file in files_of(memory)] == [(told.key, len(told.raw))]
    assert len(messages_of(memory)) == 8
    assert len(memory.history.conversations()) == 1


def test_a_file_that_vanished_deletes_nothing(memory: recollect.Memory, projects: Path) -> None:
    path = rich_session().save(projects)
    memory.history.ingest([projects])
    before = snapshot_of(memory)
    path.unlink()

    memory.history.ingest([projects])
    memory.history.scan([projects])

    assert snapshot_of(memory) == before


def test_a_file_that_comes_back_is_not_doubled(memory: recollect.Memory, tmp_path: Path, projects: Path) -> None:
    path = rich_session().save(projects)
    memory.history.ingest([projects])
    before = snapshot_of(memory)
    shutil.copy2(path, tmp_path / "kept")
    path.unlink()
    memory.history.ingest([projects])
    shutil.copy2(tmp_path / "kept", path)

    report = memory.history.ingest([projects])

    assert report.messages_added == 0
    assert snapshot_of(memory) == before


def test_taking_the_same_folder_in_again_adds_nothing(memory: recollect.Memory, projects: Path) -> None:
    rich_session().save(projects)
    Transcript("peas").exchanges(3).save(projects)
    memory.history.ingest([projects])
    before = snapshot_of(memory)

    reports: list[IngestReport] = [memory.history.ingest([projects]), memory.history.scan([projects])]

    assert [(report.ingested, report.messages_added) for report in reports] == [(0, 0), (0, 0)]
    assert snapshot_of(memory) == before


def test_one_bad_file_does_not_stop_the_others(memory: recollect.Memory, projects: Path) -> None:
    Transcript("beans").exchanges(1).save(projects)
    write(projects / "a" / "binary.jsonl", bytes(range(256)) * 10)
    write(projects / "b" / "empty.jsonl", b"")
    write(projects / "c" / "array.jsonl", b'[{"role": "user"}]\n')

    report = memory.history.ingest([projects])

    assert (report.files, report.ingested, report.skipped, report.failed) == (4, 1, 1, 2)
    assert {Path(problem.file).name for problem in report.problems} == {"binary.jsonl", "array.jsonl"}
    assert len(messages_of(memory)) == 2


def test_one_bad_line_does_not_stop_the_file(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(2)
    lines = [line(record) for record in told.records]
    spliced = lines[1][:50] + lines[2]
    path = write(projects / told.key, lines[0] + b"// my own comment\n" + spliced + b"\x00" * 300 + lines[3])

    report = memory.history.ingest([path])

    assert report.failed == 0
    assert (report.counts.lines, report.counts.bad) == (4, 2)
    assert said_in(memory) == ["Question 0 about beans?", "Question 1 about beans?", "Answer 1 about beans."]
    assert {problem.line for problem in report.problems} == {2, 3}
    assert memory.history.figures().vault[0] == 5


def test_a_record_that_breaks_a_rule_of_ours_stops_nothing(memory: recollect.Memory, projects: Path) -> None:
    odd = Transcript("odd")
    odd.assistant({"type": "tool_call"}, {"type": "other"}, {"type": "thinking"})
    odd.user([{"type": "tool_call", "name": None}])
    odd.save(projects)
    Transcript("zero time", start=datetime(1, 1, 1, tzinfo=UTC)).exchanges(2).save(projects)
    Transcript("good").exchanges(2).save(projects)

    report = memory.history.ingest([projects])

    assert report.failed == 0
    assert len(memory.history.conversations()) == 3


def test_an_abandoned_reply_that_is_completed_with_the_rewind_stays_abandoned(
    open_house: OpenHouse, projects: Path
) -> None:
    told = Transcript("rewound")
    told.user("start")
    answer = told.assistant("first answer")
    told.user("left behind")
    told.assistant("one", "two", "three", message_id="msg_" + "7" * 24)
    before_rewind = len(told.records) - 2
    told.go_back_to(told.records[1]["uuid"])
    told.user("said instead")
    path = projects / told.key
    grown, clean = open_house(), open_house()
    write(path, b"".join(line(record) for record in told.records[:before_rewind]))
    grown.history.ingest([projects])
    told.save(projects)
    grown.history.ingest([projects])
    clean.history.ingest([projects])

    assert answer
    assert messages_of(grown) == messages_of(clean)
    assert conversations_of(grown) == conversations_of(clean)
    assert grown.history.conversations()[0].conversation.messages == 3
