"""What was shown in a session and later used is logged, for each scope of its own, and is bounded (S6, K4)."""

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import OpenHouse
from transcripts import Transcript, tool_use

import recollect
from recollect.errors import Invalid
from recollect.scopes import OWNER
from recollect.showings import Counted, Figures
from recollect.showings.looking import KEPT_DAYS, LARGE_MESSAGES, MOST_SESSIONS, OPEN_DAYS
from recollect.showings.showings import MOST_IN_SESSION
from recollect.showings.store import ShowingStore
from recollect.testing import FrozenClock

PORT = "The invoice database runs on port 5433, not on the default."
ANSWER = "The invoice database answers on port 5433."
HOST = "Staging lives at kestrel.internal behind the VPN."


def learned(memory: recollect.Memory, text: str = PORT, **options: object) -> str:
    record = memory.knowledge.remember(text, **options).record  # type: ignore[arg-type]
    assert record
    return record.id


def session(clock: FrozenClock, name: str = "one", answer: str = ANSWER, question: str = "Where is it?") -> Transcript:
    transcript = Transcript(name, start=clock.now + timedelta(seconds=5))
    transcript.user(question)
    transcript.assistant(answer)
    return transcript


def counts(memory: recollect.Memory, record_id: str) -> tuple[int, int, int]:
    found = memory.showings.counted([record_id]).get(record_id, Counted(record_id=record_id))
    return found.shown, found.used, found.unused


def rows(memory: recollect.Memory) -> dict[str, int]:
    tables = ("showings_sessions", "showings_records", "showings_counts")
    with memory.database.read() as opened:
        house = {"house": memory.settings.house}
        return {
            table[9:]: opened.value(f"SELECT count(*) FROM {table} WHERE house = :house", house) for table in tables
        }


def test_what_the_assistant_says_after_it_was_shown_counts_as_used(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    used, other = learned(memory), learned(memory, HOST)
    transcript = session(clock)
    memory.showings.note_shown(transcript.session_id, [used, other])
    assert counts(memory, used) == (1, 0, 0)

    memory.history.ingest([transcript.save(projects)])

    assert counts(memory, used) == (1, 1, 0)
    assert counts(memory, other) == (1, 0, 0)
    found = memory.showings.counted([used])[used]
    assert (found.last_used_how, found.last_shown_at[:10]) == ("said", "2026-03-02")
    assert memory.showings.figures() == Figures(records=2, used=1, sunk=0, open_sessions=1)


def test_a_session_that_goes_on_is_looked_at_again_and_a_use_counts_once(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    used = learned(memory)
    transcript = session(clock, answer="Let me look.")
    memory.showings.note_shown(transcript.session_id, [used])
    memory.history.ingest([transcript.save(projects)])
    assert counts(memory, used) == (1, 0, 0)
    for _ in range(3):
        transcript.user("And?")
        transcript.assistant(ANSWER)
        memory.history.ingest([transcript.save(projects)])
        assert counts(memory, used) == (1, 1, 0)


def test_a_session_without_the_showing_and_a_transcript_from_before_it_tell_nothing(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    record = learned(memory)
    before = session(clock)
    memory.history.ingest([session(clock, "another").save(projects), before.save(projects)])
    clock.move(hours=1)
    memory.showings.note_shown(before.session_id, [record])
    before.user("Again?")
    before.assistant(ANSWER)
    memory.history.ingest([before.save(projects)])
    assert counts(memory, record) == (1, 0, 0)


def test_what_is_asked_of_a_tool_is_a_use_and_what_a_tool_gave_out_is_none(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    port, host = learned(memory), learned(memory, HOST)
    transcript = session(clock, answer="Looking.")
    transcript.tool_result("call-0", "staging: kestrel.internal")
    transcript.assistant(tool_use("Bash", "call-1", command="psql -p 5433 invoice"))
    transcript.assistant("Staging is kestrel.internal.")
    memory.showings.note_shown(transcript.session_id, [port, host])
    memory.history.ingest([transcript.save(projects)])
    assert (counts(memory, port), counts(memory, host)) == ((1, 1, 0), (1, 0, 0))


def test_shown_twice_in_a_session_counts_once(memory: recollect.Memory) -> None:
    record, later = learned(memory), learned(memory, HOST)
    memory.showings.note_shown("one", [record, record])
    memory.showings.note_shown("one", [record, later], purpose="compact")
    memory.showings.note_shown("two", [record])
    assert (counts(memory, record), counts(memory, later)) == ((2, 0, 0), (1, 0, 0))


def test_after_some_days_without_use_it_counts_as_unused_where_anybody_answered(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    record = learned(memory)
    answered = session(clock, answer="Nothing of the kind.")
    memory.showings.note_shown(answered.session_id, [record])
    memory.showings.note_shown("a session that nobody took up", [record])
    memory.history.ingest([answered.save(projects)])
    assert counts(memory, record) == (2, 0, 0)

    clock.move(days=OPEN_DAYS, minutes=1)
    memory.learn()

    assert counts(memory, record) == (2, 0, 1)
    assert memory.showings.figures().open_sessions == 0
    clock.move(hours=2)
    memory.learn()
    assert counts(memory, record) == (2, 0, 1)


def test_a_late_use_takes_back_that_it_was_not_used(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    record = learned(memory)
    transcript = session(clock, answer="Nothing of the kind.")
    memory.showings.note_shown(transcript.session_id, [record])
    memory.history.ingest([transcript.save(projects)])
    clock.move(days=OPEN_DAYS + 1)
    memory.learn()
    assert counts(memory, record) == (1, 0, 1)
    transcript.wait(days=OPEN_DAYS + 1)
    transcript.user("And now?")
    transcript.assistant(ANSWER)
    memory.history.ingest([transcript.save(projects)])
    assert counts(memory, record) == (1, 1, 0)


def test_a_record_that_was_opened_is_used_and_its_open_showings_are_not_in_vain(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    record = learned(memory)
    transcript = session(clock, answer="Nothing of the kind.")
    memory.showings.note_shown(transcript.session_id, [record])
    memory.showings.note_used([record, record, "no such record"], how="read_memory")
    memory.history.ingest([transcript.save(projects)])
    clock.move(days=OPEN_DAYS + 1)
    memory.learn()
    assert counts(memory, record) == (1, 1, 0)
    assert memory.showings.counted([record])[record].last_used_how == "read_memory"


def test_a_record_that_was_changed_begins_anew(memory: recollect.Memory, projects: Path, clock: FrozenClock) -> None:
    record = learned(memory)
    for number in range(3):
        transcript = session(clock, f"session {number}", answer="Nothing of the kind.")
        memory.showings.note_shown(transcript.session_id, [record])
        memory.history.ingest([transcript.save(projects)])
        clock.move(hours=1)
    memory.knowledge.edit(record, "The invoice database runs on port 6544.")
    transcript = session(clock, "afterwards", answer="Nothing of the kind.")
    memory.showings.note_shown(transcript.session_id, [record])
    memory.history.ingest([transcript.save(projects)])
    clock.move(days=OPEN_DAYS + 1)
    memory.learn()
    found = memory.showings.counted([record])[record]
    assert (found.version, found.unused, found.shown) == (2, 1, 4)


# Bounds


def test_old_showings_are_dropped_and_what_they_came_to_stays(memory: recollect.Memory, clock: FrozenClock) -> None:
    record = learned(memory)
    memory.showings.note_shown("one", [record])
    clock.move(days=KEPT_DAYS, minutes=1)
    memory.showings.note_shown("two", [record])
    memory.learn()
    assert rows(memory) == {"sessions": 1, "records": 1, "counts": 1}
    assert counts(memory, record) == (2, 0, 0)


def test_a_session_follows_so_many_records_and_a_house_so_many_sessions(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    records = [learned(memory, f"Bed {number} has soil {number}.") for number in range(MOST_IN_SESSION + 5)]
    for _ in range(2):
        memory.showings.note_shown("one", records)
        memory.showings.note_shown("one", records[::-1])
    assert rows(memory)["records"] == MOST_IN_SESSION
    with memory.database.write() as opened:
        store = ShowingStore(opened, memory.settings.house)
        for number in range(5):
            store.add("house", f"later {number}", "session-start", {records[0]: 1}, "2026-03-02T13:00:00.000Z")
        assert store.prune("", 4, 100) == 2
    assert rows(memory)["sessions"] == 4
    assert MOST_SESSIONS >= 1_000


def test_a_large_session_is_not_read_again_with_each_line(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    record = learned(memory)
    transcript = Transcript("large", start=clock.now + timedelta(seconds=5), step_seconds=0.01)
    transcript.exchanges(LARGE_MESSAGES // 2 + 1)
    memory.showings.note_shown(transcript.session_id, [record])
    memory.history.ingest([transcript.save(projects)])
    transcript.user("Where?")
    transcript.assistant(ANSWER)
    clock.move(minutes=1)
    memory.history.ingest([transcript.save(projects)])
    assert counts(memory, record) == (1, 0, 0)
    clock.move(minutes=30)
    memory.learn()
    assert counts(memory, record) == (1, 1, 0)


@pytest.mark.parametrize(
    ("session_id", "purpose"), [("x" * 201, "session-start"), ("a\x00b", "session-start"), ("one", "Not A Word")]
)
def test_a_session_or_a_purpose_that_is_no_name_is_refused(
    memory: recollect.Memory, session_id: str, purpose: str
) -> None:
    with pytest.raises(Invalid):
        memory.showings.note_shown(session_id, [learned(memory)], purpose=purpose)
    with pytest.raises(Invalid):
        memory.showings.note_used([], how=f"{purpose} {session_id}")


def test_nothing_is_noted_without_a_session_or_of_records_that_are_not_there(memory: recollect.Memory) -> None:
    memory.showings.note_shown(" ", [learned(memory)])
    memory.showings.note_shown("one", ["no such record"])
    memory.showings.note_shown("one", [])
    assert rows(memory) == {"sessions": 0, "records": 0, "counts": 0}


# Scopes


def test_what_an_agent_is_shown_counts_for_it_alone(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    ada, bob = memory.as_agent("ada"), memory.as_agent("bob")
    shared, own = learned(memory), learned(memory, HOST, scope="ada")
    transcript = session(clock)
    ada.showings.note_shown(transcript.session_id, [shared, own])
    bob.showings.note_shown("another", [shared, own])
    memory.history.ingest([transcript.save(projects)])

    assert (counts(ada, shared), counts(ada, own)) == ((1, 1, 0), (1, 0, 0))
    assert (counts(bob, shared), counts(bob, own)) == ((1, 0, 0), (0, 0, 0))
    assert counts(memory, shared) == (2, 1, 0)
    assert (ada.showings.figures().records, bob.showings.figures().records) == (2, 1)


def test_a_session_that_an_agent_may_not_read_tells_it_nothing(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    memory.agents.bind("ada", "claude-code")
    ada, bob = memory.as_agent("ada"), memory.as_agent("bob")
    record = learned(memory)
    transcript = session(clock)
    ada.showings.note_shown(transcript.session_id, [record])
    bob.showings.note_shown(transcript.session_id, [record])
    memory.history.ingest([transcript.save(projects)])
    assert (counts(ada, record), counts(bob, record)) == ((1, 1, 0), (1, 0, 0))


def test_who_may_only_read_leaves_nothing(memory: recollect.Memory) -> None:
    from dataclasses import replace

    reading = memory.acting_for(replace(OWNER, may_write=False))
    record = learned(memory)
    reading.showings.note_shown("one", [record])
    reading.showings.note_used([record], how="read_memory")
    assert rows(memory) == {"sessions": 0, "records": 0, "counts": 0}


def test_what_was_shown_to_an_agent_goes_with_it(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.agents.add("ada")
    memory.as_agent("ada").showings.note_shown("one", [learned(memory)])
    memory.agents.remove("ada")
    memory.learn()
    assert rows(memory) == {"sessions": 0, "records": 0, "counts": 0}


def test_houses_do_not_see_each_others_showings(open_house: OpenHouse) -> None:
    one, other = open_house(), open_house()
    record = learned(one)
    one.showings.note_shown("one", [record])
    assert rows(other) == {"sessions": 0, "records": 0, "counts": 0}
    assert counts(other, record) == (0, 0, 0)


# Forgetting, and what goes wrong


def test_forgetting_a_record_takes_what_was_shown_of_it(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    memory.agents.add("ada")
    gone, stays = learned(memory), learned(memory, HOST)
    for one in (memory, memory.as_agent("ada")):
        one.showings.note_shown("one", [gone, stays])
    told = memory.forget(record=gone, dry_run=True)
    assert told.removed["showings"] == 4

    forgotten = memory.forget(record=gone)

    assert forgotten.is_verified
    assert forgotten.removed["showings"] == 4
    assert counts(memory, gone) == (0, 0, 0)
    assert counts(memory, stays) == (2, 0, 0)
    assert rows(memory) == {"sessions": 2, "records": 2, "counts": 2}
    transcript = session(clock, "one")
    memory.history.ingest([transcript.save(projects)])
    memory.showings.note_shown("two", [gone])
    memory.showings.note_used([gone], how="read_memory")
    assert counts(memory, gone) == (0, 0, 0)


def test_forgetting_a_conversation_takes_what_was_shown_in_its_session(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    record = learned(memory)
    transcript = session(clock)
    memory.showings.note_shown(transcript.session_id, [record])
    memory.showings.note_shown("another", [record])
    memory.history.ingest([transcript.save(projects)])
    (listed,) = memory.history.conversations()
    memory.forget(conversation=listed.conversation.id)
    assert rows(memory) == {"sessions": 1, "records": 1, "counts": 1}


def test_a_look_that_is_cut_off_is_made_again_and_loses_no_knowledge(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    """The second statement of a use fails: the first is taken back with it."""
    record = learned(memory)
    transcript = session(clock)
    memory.showings.note_shown(transcript.session_id, [record])
    with memory.database.write() as opened:
        opened.run("ALTER TABLE showings_counts RENAME COLUMN last_used_how TO broken")

    report = memory.history.ingest([transcript.save(projects)])
    memory.learn()

    with memory.database.write() as opened:
        opened.run("ALTER TABLE showings_counts RENAME COLUMN broken TO last_used_how")
        assert opened.rows("SELECT state FROM showings_records") == [("open",)]
    assert report.messages_added == 2
    assert [event.outcome for event in memory.runs.latest("showings")] == ["failed"]
    assert memory.knowledge.record(record).text == PORT
    memory.learn()
    assert counts(memory, record) == (1, 1, 0)


def test_an_export_carries_what_was_used_and_not_the_single_showings(
    memory: recollect.Memory, open_house: OpenHouse, tmp_path: Path
) -> None:
    record = learned(memory)
    memory.showings.note_shown("one", [record])
    memory.showings.note_used([record], how="read_memory")
    memory.transfer.export_to(tmp_path / "export")
    other = open_house()
    other.transfer.import_from(tmp_path / "export")
    assert counts(other, record) == (1, 1, 0)
    assert rows(other) == {"sessions": 0, "records": 0, "counts": 1}
