"""What was found in a conversation becomes records once, and never in the place of what a person wrote."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from filed import Talk
from transcripts import START

import recollect
from recollect.knowledge import Kind, Origin, Relation, State
from recollect.librarian.episodes import EpisodeStore, Line
from recollect.librarian.items import Doubt, EpisodeLine, Item, Shelf
from recollect.testing import FrozenClock

BERLIN = "I live in Berlin."
MUNICH = "I moved to Munich last week."
TEA = "I always drink tea in the morning."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "projects"


def lives(talk: Talk, sentence: str, city: str, **fields: object) -> Item:
    return talk.item(sentence, f"Lives in {city}", attribute="lives in", value=city, **fields)


def texts(memory: recollect.Memory, **chosen: str) -> list[str]:
    return sorted(record.text for record in memory.knowledge.records(**chosen))  # type: ignore[arg-type]


def lines_of(memory: recollect.Memory, talk: Talk) -> list[Line]:
    with memory.database.read() as session:
        store = EpisodeStore(session, memory.settings.house)
        return store.lines([talk.conversation.id]).get(talk.conversation.id, [])


def test_a_record_carries_its_quote_its_time_its_shelf_and_how_it_came_to_be_known(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", BERLIN)

    filed = talk.file(lives(talk, BERLIN, "Berlin"))

    record = memory.knowledge.record(filed.records[0])
    assert (record.origin, record.kind, record.subject, record.tags) == (Origin.EXTRACTED, Kind.FACT, "user", ("core",))
    assert [(one.message_id, one.quote) for one in record.sources] == [(talk.messages[0].id, BERLIN)]
    assert record.true_from == talk.messages[0].at


def test_the_same_conversation_filed_again_changes_nothing(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", BERLIN, TEA)
    items = (lives(talk, BERLIN, "Berlin"), talk.item(TEA, kind=Kind.PREFERENCE))
    first = talk.file(*items)
    before = [(record.id, record.version) for record in memory.knowledge.records()]

    second = talk.file(*items)

    assert second.records == first.records
    assert [(record.id, record.version) for record in memory.knowledge.records()] == before


def test_what_a_second_reading_no_longer_finds_is_withdrawn_and_what_it_finds_again_is_back(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", BERLIN, TEA)
    city, tea = lives(talk, BERLIN, "Berlin"), talk.item(TEA, kind=Kind.PREFERENCE)
    kept = talk.file(city, tea).records

    talk.file(city)
    assert texts(memory) == ["Lives in Berlin"]
    talk.file(city, tea)

    assert texts(memory) == [TEA, "Lives in Berlin"]
    assert memory.knowledge.record(kept[1]).state is State.CURRENT


def test_what_two_conversations_say_stays_when_one_of_them_no_longer_does(
    memory: recollect.Memory, folder: Path
) -> None:
    first, second = Talk(memory, folder, "one", TEA), Talk(memory, folder, "two", TEA, start=START + timedelta(days=1))
    first.file(first.item(TEA))
    second.file(second.item(TEA))
    assert len(memory.knowledge.records()) == 1

    first.file()

    (record,) = memory.knowledge.records()
    assert [source.message_id for source in record.sources] == [second.messages[0].id]


def test_what_no_conversation_says_any_more_is_withdrawn(memory: recollect.Memory, folder: Path) -> None:
    first, second = Talk(memory, folder, "one", TEA), Talk(memory, folder, "two", TEA, start=START + timedelta(days=1))
    first.file(first.item(TEA))
    second.file(second.item(TEA))

    first.file()
    second.file()

    assert texts(memory) == []


def every_version(memory: recollect.Memory) -> list[tuple[str, int, str]]:
    return sorted((record.id, record.version, record.text) for record in memory.knowledge.records(state="all"))


def test_what_another_conversation_refined_or_replaced_stays_so_when_either_is_read_again(
    memory: recollect.Memory, folder: Path
) -> None:
    early = Talk(memory, folder, "early", TEA, "I use vim.", start=START - timedelta(days=1))
    late = Talk(memory, folder, "late", "Green tea, that is.", "I use emacs now.")
    known = [early.item(TEA), early.item("I use vim.")]
    tea, vim = early.file(*known).records
    better = [
        late.item("Green tea, that is.", "I drink green tea", relation=Relation.REFINES, other=tea),
        late.item("I use emacs now.", relation=Relation.REPLACES, other=vim),
    ]
    late.file(*better)
    before = every_version(memory)

    early.file(*known)
    late.file(*better)

    assert every_version(memory) == before
    assert texts(memory) == ["I drink green tea", "I use emacs now."]


def test_what_was_so_before_and_is_so_again_has_the_same_id_whenever_it_is_read(
    memory: recollect.Memory, folder: Path
) -> None:
    told = [(BERLIN, "Berlin"), (MUNICH, "Munich"), (BERLIN, "Berlin")]
    talks = [
        Talk(memory, folder, f"day {number}", said, start=START + timedelta(days=number - 9))
        for number, (said, _) in enumerate(told)
    ]
    items = [lives(talk, *one) for talk, one in zip(talks, told, strict=True)]
    for talk, item in zip(talks, items, strict=True):
        talk.file(item)
    before = {name for name, _, _ in every_version(memory)}

    talks[2].file()
    talks[2].file(items[2])

    assert {name for name, _, _ in every_version(memory)} == before
    assert texts(memory) == ["Lives in Berlin"]
    assert texts(memory, state="replaced") == ["Lives in Berlin", "Lives in Munich"]


def test_a_second_reading_that_finds_another_value_leaves_one_and_a_third_with_both_has_them_in_order(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", BERLIN, MUNICH)
    berlin, munich = lives(talk, BERLIN, "Berlin"), lives(talk, MUNICH, "Munich")
    talk.file(berlin)

    talk.file(munich)
    assert texts(memory, state="all") == ["Lives in Berlin", "Lives in Munich"]
    assert texts(memory) == ["Lives in Munich"]
    talk.file(berlin, munich)

    assert texts(memory) == ["Lives in Munich"]
    assert texts(memory, state="replaced") == ["Lives in Berlin"]


def test_what_is_withdrawn_here_and_said_there_is_so_from_when_on_it_is_said_there(
    memory: recollect.Memory, folder: Path
) -> None:
    early, late = (Talk(memory, folder, f"{days}", BERLIN, start=START - timedelta(days=days)) for days in (9, 3))
    between = Talk(memory, folder, "between", MUNICH, start=START - timedelta(days=6))
    late.file(lives(late, BERLIN, "Berlin"))
    late.file()

    early.file(lives(early, BERLIN, "Berlin"))
    between.file(lives(between, MUNICH, "Munich"))

    (berlin,) = memory.knowledge.records(state="replaced")
    assert texts(memory) == ["Lives in Munich"]
    assert (berlin.true_from, berlin.sources[0].message_id) == (early.messages[0].at, early.messages[0].id)


@pytest.mark.parametrize("seed", [2, 8, 12, 29, 43, 134])
def test_whatever_earlier_readings_found_only_the_last_ones_count(
    open_house: Callable[..., recollect.Memory], folder: Path, seed: int
) -> None:
    """And who reads once more changes nothing."""
    chance = random.Random(seed)
    told = [chance.sample(SENTENCES, chance.randint(1, 4)) for _ in range(4)]
    last = [[sentence for sentence in said if chance.random() < 0.7] for said in told]
    fresh, used = ([*_talks(open_house(), folder, told)] for _ in range(2))
    for talk, said in zip(fresh, last, strict=True):
        talk.file(*_found(talk, said))
    for _ in range(6):
        number = chance.randrange(4)
        used[number].file(*_found(used[number], [one for one in told[number] if chance.random() < 0.5]))
    order = chance.sample(range(4), 4)
    for number in order:
        used[number].file(*_found(used[number], last[number]))
    before = every_version(used[0].memory)

    for number in order:
        used[number].file(*_found(used[number], last[number]))

    assert texts(used[0].memory) == texts(fresh[0].memory)
    assert every_version(used[0].memory) == before


SENTENCES = [*(f"I live in {city}." for city in ("Berlin", "Munich", "Bern")), TEA, "I use vim.", "I like cats."]


def _talks(memory: recollect.Memory, folder: Path, told: list[list[str]]) -> Iterator[Talk]:
    for number, said in enumerate(told):
        yield Talk(memory, folder, f"day {number}", *said, start=START - timedelta(days=20 - number))


def _found(talk: Talk, sentences: list[str]) -> list[Item]:
    return [
        lives(talk, one, one.removeprefix("I live in ")[:-1]) if one.startswith("I live") else talk.item(one)
        for one in sentences
    ]


def test_what_is_found_again_does_not_take_the_place_of_what_a_person_wrote_meanwhile(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", MUNICH)
    talk.file(lives(talk, MUNICH, "Munich"))
    talk.file()
    memory.knowledge.remember(
        "Lives in Bern", subject="user", attribute="lives in", value="Bern", true_from="2026-01-01T00:00:00Z"
    )

    filed = talk.file(lives(talk, MUNICH, "Munich"))

    assert filed.outcomes == {"proposed": 1}
    assert texts(memory) == ["Lives in Bern"]


def test_a_later_statement_replaces_the_earlier_one_in_whatever_order_they_are_filed(
    memory: recollect.Memory, folder: Path
) -> None:
    early, late = (
        Talk(memory, folder, "early", BERLIN, start=START - timedelta(days=30)),
        Talk(memory, folder, "late", MUNICH),
    )
    late.file(lives(late, MUNICH, "Munich"))
    early.file(lives(early, BERLIN, "Berlin"))

    fact = memory.knowledge.fact("user", "lives in")
    assert fact is not None
    assert fact.value == "Munich"
    assert texts(memory, state="replaced") == ["Lives in Berlin"]


def test_what_a_person_corrected_is_not_read_again_where_it_was_read(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", BERLIN)
    (name,) = talk.file(lives(talk, BERLIN, "Berlin")).records
    memory.knowledge.edit(name, "Lives in Bern", value="Bern")

    filed = talk.file(lives(talk, BERLIN, "Berlin"))

    assert texts(memory) == ["Lives in Bern"]
    assert filed.outcomes.get("proposed", 0) == 0
    assert memory.librarian.proposals() == []


def test_what_a_person_wrote_is_not_replaced_but_proposed_to_them_once(memory: recollect.Memory, folder: Path) -> None:
    memory.knowledge.remember("Lives in Bern", subject="user", attribute="lives in", value="Bern")
    talk = Talk(memory, folder, "one", MUNICH, start=memory.clock() - timedelta(hours=2))

    filed = [talk.file(lives(talk, MUNICH, "Munich")) for _ in range(2)]

    assert filed[0].outcomes == {"proposed": 1}
    assert texts(memory) == ["Lives in Bern"]
    assert [proposal.text for proposal in memory.librarian.proposals()] == ["Lives in Munich"]


def test_an_accepted_proposal_takes_the_place_of_what_the_person_wrote(memory: recollect.Memory, folder: Path) -> None:
    told = memory.knowledge.remember("Lives in Bern", subject="user", attribute="lives in", value="Bern").record
    assert told is not None
    talk = Talk(memory, folder, "one", MUNICH, start=memory.clock() - timedelta(hours=2))
    talk.file(lives(talk, MUNICH, "Munich"))
    (proposal,) = memory.librarian.proposals()

    memory.librarian.accept(proposal.id)

    assert texts(memory) == ["Lives in Munich"]
    assert memory.knowledge.record(told.id).state is State.REPLACED
    assert memory.librarian.proposals() == []


def test_a_rejected_proposal_is_not_made_again(memory: recollect.Memory, folder: Path) -> None:
    memory.knowledge.remember("Lives in Bern", subject="user", attribute="lives in", value="Bern")
    talk = Talk(memory, folder, "one", MUNICH)
    talk.file(lives(talk, MUNICH, "Munich"))

    memory.librarian.reject(memory.librarian.proposals()[0].id)
    talk.file(lives(talk, MUNICH, "Munich"))

    assert memory.librarian.proposals() == []
    assert texts(memory) == ["Lives in Bern"]


def test_what_a_person_retracted_does_not_come_back(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", TEA)
    (name,) = talk.file(talk.item(TEA)).records
    memory.knowledge.retract(name)

    filed = talk.file(talk.item(TEA))

    assert filed.outcomes == {"refused": 1}
    assert texts(memory) == []


def test_what_a_person_retracted_is_heard_when_it_is_said_anew_and_not_from_older_words(
    memory: recollect.Memory, folder: Path, clock: FrozenClock
) -> None:
    talk = Talk(memory, folder, "one", TEA)
    older = Talk(memory, folder, "two", TEA, start=START - timedelta(days=3))
    (name,) = talk.file(talk.item(TEA)).records
    memory.knowledge.retract(name)

    assert older.file(older.item(TEA)).outcomes == {"refused": 1}
    clock.move(days=2)
    later = Talk(memory, folder, "three", TEA, start=START + timedelta(days=1))
    filed = [later.file(later.item(TEA)) for _ in range(2)]

    assert texts(memory) == [TEA]
    assert filed[0].records == filed[1].records


def test_what_was_forgotten_does_not_come_back(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", TEA, BERLIN)
    (name,) = talk.file(talk.item(TEA)).records
    memory.forget(record=name)

    assert talk.file(talk.item(TEA)).outcomes == {"refused": 1}
    assert texts(memory) == []


def test_an_agents_conversation_is_filed_in_its_own_scope(memory: recollect.Memory, folder: Path) -> None:
    memory.agents.add("ada")
    talk = Talk(memory, folder, "one", TEA)

    talk.file(talk.item(TEA), scope="ada")

    assert [record.scope for record in memory.knowledge.records()] == ["ada"]
    with memory.database.read() as session:
        (episode,) = EpisodeStore(session, memory.settings.house).get([talk.conversation.id]).values()
    assert episode.page == "agents/ada/episodes/2026-03/2026-03-02.md"


def test_a_line_of_an_episode_that_a_person_changed_stays_when_it_is_read_again(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", TEA)
    told = [EpisodeLine(label="Asked", text="about tea", quotes=(talk.said(TEA),))]
    talk.file(lines=told, title="Tea")
    changed = lines_of(memory, talk)[1]
    with memory.database.write() as session:
        store = EpisodeStore(session, memory.settings.house)
        store.change_line(replace(changed, text="Mine", author="person"))

    talk.file(lines=told, title="Tea")

    assert [line.text for line in lines_of(memory, talk)] == ["Tea", "Mine"]


def test_a_forgotten_message_takes_its_line_of_the_episode_its_question_and_its_proposal_with_it(
    memory: recollect.Memory, folder: Path
) -> None:
    memory.knowledge.remember("Lives in Bern", subject="user", attribute="lives in", value="Bern")
    talk = Talk(memory, folder, "one", MUNICH, TEA)
    told = [EpisodeLine(label="", text="Moved to Munich", quotes=(talk.said(MUNICH),))]
    talk.file(
        lives(talk, MUNICH, "Munich"), lines=told, doubts=[Doubt(text="Which quarter?", quotes=(talk.said(MUNICH),))]
    )

    forgotten = memory.forget(message=talk.messages[0].id)

    assert forgotten.is_verified
    assert {name: forgotten.removed[name] for name in ("episode_lines", "questions", "proposals")} == {
        "episode_lines": 2,
        "questions": 1,
        "proposals": 1,
    }
    assert lines_of(memory, talk) == []
    assert memory.librarian.proposals() == []


def test_a_record_read_out_of_two_messages_goes_when_one_of_them_does(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", TEA, BERLIN)
    both = Item(
        shelf=Shelf.CORE, kind=Kind.FACT, text="Drinks tea in Berlin", quotes=(talk.said(TEA), talk.said(BERLIN))
    )
    talk.file(both)

    forgotten = memory.forget(message=talk.messages[0].id)

    assert texts(memory) == []
    assert forgotten.is_verified


def test_an_answer_to_an_open_question_is_kept(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", MUNICH)
    talk.file(doubts=[Doubt(text="Which quarter of Munich?", quotes=(talk.said(MUNICH),))])
    (question,) = memory.librarian.questions()

    memory.librarian.answer(question.id, "Giesing")

    assert texts(memory) == ["Which quarter of Munich? Giesing"]
    assert memory.librarian.questions() == []
    talk.file(doubts=[Doubt(text="Which quarter of Munich?", quotes=(talk.said(MUNICH),))])
    assert memory.librarian.questions() == []


def test_an_answer_goes_with_the_message_that_raised_its_question(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", MUNICH, TEA)
    talk.file(doubts=[Doubt(text="Which quarter of Munich?", quotes=(talk.said(MUNICH),))])
    memory.librarian.answer(memory.librarian.questions()[0].id, "Giesing")

    forgotten = memory.forget(message=talk.said(MUNICH).message_id)

    assert texts(memory, state="all") == []
    assert forgotten.is_verified


def episodes(memory: recollect.Memory) -> list[str]:
    with memory.database.read() as session:
        return [one.conversation_id for one in EpisodeStore(session, memory.settings.house).page("", 100)]


def test_an_episode_of_which_all_is_forgotten_is_not_counted_any_more(memory: recollect.Memory, folder: Path) -> None:
    talk = Talk(memory, folder, "one", TEA)
    talk.file(title="Tea")

    memory.forget(conversation=talk.conversation.id)

    assert episodes(memory) == []
    assert memory.librarian.figures()["conversations"] == 0


def test_a_conversation_that_lost_its_first_message_is_one_episode_when_it_is_read_again(
    memory: recollect.Memory, folder: Path
) -> None:
    talk = Talk(memory, folder, "one", TEA, BERLIN, MUNICH)
    told = [EpisodeLine(label="", text=sentence, quotes=(talk.said(sentence),)) for sentence in (BERLIN, MUNICH)]
    talk.file(lines=told)
    changed = replace(lines_of(memory, talk)[2], text="Mine", author="person")
    with memory.database.write() as session:
        EpisodeStore(session, memory.settings.house).change_line(changed)
    memory.forget(message=talk.messages[0].id)
    (listed,) = memory.history.conversations()
    talk.conversation, talk.messages = listed.conversation, memory.history.messages(listed.conversation)

    talk.file(lines=told)

    assert episodes(memory) == [listed.conversation.id]
    assert [line.text for line in lines_of(memory, talk)] == ["A talk", BERLIN, "Mine"]
