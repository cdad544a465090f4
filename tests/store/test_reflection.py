"""A night prunes and promotes inside its share, touches nothing that a person wrote, and can be undone as a whole."""

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import OpenHouse
from filed import Talk
from transcripts import START

import recollect
from recollect.errors import Conflict
from recollect.knowledge import Kind, State
from recollect.librarian.items import EpisodeLine
from recollect.librarian.nights.reflection import Reflection
from recollect.testing import FrozenClock

TEA = "I drink tea in the morning."
TEA_AGAIN = "I drink tea, in the morning!"
REPORT = "I will send the report by 2 January."
UV = "we install with uv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "projects"


def night_of(memory: recollect.Memory) -> Reflection:
    return Reflection(memory.database, memory.settings, memory.clock)


def current(memory: recollect.Memory) -> list[str]:
    return sorted(record.text for record in memory.knowledge.records())


def twice(memory: recollect.Memory, folder: Path) -> None:
    """The same thing in two spellings."""
    talk = Talk(memory, folder, "one", TEA, TEA_AGAIN)
    talk.file(talk.item(TEA), talk.item(TEA_AGAIN))


def test_what_is_there_twice_in_other_spelling_becomes_one_with_both_its_sources(
    memory: recollect.Memory, folder: Path
) -> None:
    twice(memory, folder)

    night_of(memory).run()

    (record,) = memory.knowledge.records()
    assert (record.text, len(record.sources)) == (TEA, 2)


def test_a_commitment_whose_date_is_long_over_is_taken_back(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", REPORT)
    talk.file(talk.item(REPORT, kind=Kind.COMMITMENT, value="2026-01-02"))

    night = night_of(memory).run()

    assert night is not None
    assert night.counts == {"expired": 1}
    assert current(memory) == []


def test_what_a_person_confirmed_or_wrote_is_not_pruned(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", REPORT, TEA, TEA_AGAIN)
    names = talk.file(
        talk.item(REPORT, kind=Kind.COMMITMENT, value="2026-01-02"), talk.item(TEA), talk.item(TEA_AGAIN)
    ).records
    for name in names:
        memory.knowledge.edit(name, importance=0.9)

    night = night_of(memory).run()

    assert night is not None
    assert night.changes == ()
    assert len(current(memory)) == 3


def test_what_three_conversations_said_becomes_firmer(memory: recollect.Memory, folder: Path) -> None:
    for number in range(3):
        talk = Talk(memory, folder, f"day {number}", TEA, start=START + timedelta(days=number))
        talk.file(talk.item(TEA))

    night = night_of(memory).run()

    (record,) = memory.knowledge.records()
    assert night is not None
    assert (record.importance, night.counts) == (0.8, {"promoted": 1})


def test_what_episodes_of_several_days_tell_becomes_a_fact_by_an_event_that_says_so(
    memory: recollect.Memory, folder: Path
) -> None:
    for number in range(3):
        talk = Talk(memory, folder, f"day {number}", f"Yes, {UV}.", start=START + timedelta(days=number))
        line = EpisodeLine(label="Decided", text=UV, quotes=(talk.said(UV),))
        talk.file(lines=[line], project="garden")

    night_of(memory).run()

    (record,) = memory.knowledge.records()
    assert (record.text, record.subject, len(record.sources)) == (UV, "garden", 3)
    assert [event.action for event in memory.knowledge.events(record.id)] == ["promoted"]


def test_one_night_changes_no_more_than_its_share_and_the_next_goes_on(open_house: OpenHouse, folder: Path) -> None:
    memory = open_house(librarian={"night_share": 0.1})
    sentences = [f"I will do thing {number} by 2 January." for number in range(40)]
    talk = Talk(memory, folder, "one", *sentences)
    talk.file(*(talk.item(one, kind=Kind.COMMITMENT, value="2026-01-02") for one in sentences))

    nights = [night_of(memory).run() for _ in range(2)]

    assert [night.counts if night else None for night in nights] == [
        {"expired": 4, "waiting": 36},
        {"expired": 3, "waiting": 33},
    ]


def test_a_night_is_undone_as_a_whole_and_not_repeated(memory: recollect.Memory, folder: Path) -> None:
    twice(memory, folder)
    before = {record.id: (record.text, record.sources) for record in memory.knowledge.records()}
    reflection = night_of(memory)
    reflection.run()

    night, stay = reflection.undo()

    after = {record.id: (record.text, record.sources) for record in memory.knowledge.records()}
    assert (after, stay, night.state) == (before, 0, "undone")
    again = reflection.run()
    assert again is not None
    assert again.changes == ()


def test_what_somebody_went_on_from_stays_when_the_night_is_undone(memory: recollect.Memory, folder: Path) -> None:
    twice(memory, folder)
    reflection = night_of(memory)
    reflection.run()
    (record,) = memory.knowledge.records()
    memory.knowledge.edit(record.id, "I drink green tea in the morning.")

    _, stay = reflection.undo()

    assert stay == 1
    assert memory.knowledge.record(record.id).text == "I drink green tea in the morning."


def test_a_night_is_not_undone_twice(memory: recollect.Memory, folder: Path) -> None:
    twice(memory, folder)
    reflection = night_of(memory)
    night = reflection.run()
    assert night is not None
    reflection.undo()

    with pytest.raises(Conflict, match="undone"):
        reflection.undo(night.id)


def test_by_the_schedule_there_is_one_night_a_day_once_something_was_read(
    memory: recollect.Memory, folder: Path, clock: FrozenClock
) -> None:
    reflection = night_of(memory)
    assert reflection.run(by_schedule=True) is None
    twice(memory, folder)

    nights = [reflection.run(by_schedule=True) is not None for _ in range(2)]
    clock.move(days=1)
    nights.append(reflection.run(by_schedule=True) is not None)

    assert nights == [True, False, True]


def test_a_pruned_record_is_back_when_its_conversation_is_read_again_only_if_nobody_pruned_it(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", REPORT)
    item = talk.item(REPORT, kind=Kind.COMMITMENT, value="2026-01-02")
    (name,) = talk.file(item).records
    night_of(memory).run()

    talk.file(item)

    assert memory.knowledge.record(name).state is State.RETRACTED


def test_what_was_made_one_with_another_is_found_in_either_spelling(memory: recollect.Memory, folder: Path) -> None:
    twice(memory, folder)
    night_of(memory).run()
    talk = Talk(memory, folder, "one", TEA, TEA_AGAIN)
    later = Talk(memory, folder, "two", TEA_AGAIN, start=START + timedelta(days=1))

    talk.file(talk.item(TEA_AGAIN))
    later.file(later.item(TEA_AGAIN))

    (record,) = memory.knowledge.records()
    assert (record.text, len(record.sources)) == (TEA, 3)


def test_what_a_night_changed_more_than_once_is_put_back(memory: recollect.Memory, folder: Path) -> None:
    for number in range(40):
        memory.knowledge.remember(f"Thing {number}")
    spellings = (TEA, TEA_AGAIN, "I drink: tea in the morning")
    for number, said in enumerate(spellings):
        talk = Talk(memory, folder, f"day {number}", said, start=START + timedelta(days=number))
        talk.file(talk.item(said))
    before = {record.id: (record.text, record.sources) for record in memory.knowledge.records()}
    reflection = night_of(memory)
    reflection.run()
    assert len(memory.knowledge.records()) == len(before) - 2

    _, stay = reflection.undo()

    assert stay == 0
    assert {record.id: (record.text, record.sources) for record in memory.knowledge.records()} == before


def test_a_night_is_undone_as_far_as_what_it_changed_is_not_forgotten(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", TEA, TEA_AGAIN)
    talk.file(talk.item(TEA), talk.item(TEA_AGAIN))
    reflection = night_of(memory)
    reflection.run()
    memory.forget(message=talk.said(TEA).message_id)

    _, stay = reflection.undo()

    assert stay == 1
    assert TEA_AGAIN in current(memory)


def test_what_a_night_made_of_episodes_stays_when_one_of_them_is_read_again(
    memory: recollect.Memory, folder: Path
) -> None:
    talks = [
        Talk(memory, folder, f"day {number}", f"Yes, {UV}.", start=START + timedelta(days=number))
        for number in range(3)
    ]
    for talk in talks:
        talk.file(lines=[EpisodeLine(label="Decided", text=UV, quotes=(talk.said(UV),))])
    night_of(memory).run()
    before = memory.knowledge.records()

    talks[0].file(lines=[EpisodeLine(label="Decided", text=UV, quotes=(talks[0].said(UV),))])

    assert memory.knowledge.records() == before
