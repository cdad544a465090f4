"""After each exchange of a conversation that goes on: what was said is found, known, changed and ended."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import OpenHouse
from exchanging import Chat, state_of, told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.history import Status
from recollect.knowledge import State
from recollect.mind.afterwards import Afterwards
from recollect.mind.channel import Said
from recollect.testing import FrozenClock, ScriptedModel, ScriptedTalk

SENTENCES = (
    "I live in Bern.",
    "I moved to Basel.",
    "I don't live in Bern anymore.",
    "Actually, I live in Chur, not in Bern.",
    "I work at Acme as a nurse.",
    "I no longer work at Acme.",
    "I'm allergic to peanuts.",
    "My sister Marta lives in Graz.",
    "Scratch that.",
    "What is the weather like?",
    "We have a dog called Rex.",
    "We no longer have a dog.",
    "I prefer tea over coffee.",
    "Remember that the spare key is under the blue pot.",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def chat(memory: recollect.Memory, folder: Path) -> Chat:
    return Chat(memory, folder)


# Add, update, delete


def test_a_fact_is_known_after_its_exchange_and_the_conversation_still_goes_on(chat: Chat) -> None:
    lived = chat.exchange("I live in Bern.")

    record = chat.memory.knowledge.record(lived.records[0])
    assert (record.text, record.attribute, record.value) == ("Lives in Bern", "lives in", "Bern")
    assert [source.quote for source in record.sources] == ["I live in Bern."]
    assert lived.outcomes == {"new": 1}
    assert chat.conversation.status is Status.ACTIVE
    assert chat.memory.librarian.figures()["conversations"] == 0


def test_a_later_statement_takes_the_place_of_an_earlier_one_and_both_are_dated(chat: Chat) -> None:
    chat.exchange("I live in Bern.")
    chat.end()
    later = chat.another("later")
    later.exchange("I moved to Basel.")

    states = {record.value: record.state for record in chat.memory.knowledge.records(state="all")}
    assert states == {"Bern": State.REPLACED, "Basel": State.CURRENT}
    (bern,) = [one for one in chat.memory.knowledge.records(state="all") if one.value == "Bern"]
    assert bern.true_from < bern.true_until


def test_what_is_put_right_in_the_same_conversation_is_put_right_at_once(chat: Chat) -> None:
    chat.exchange("I live in Bern.")
    chat.exchange("Wait, I live in Basel.")

    assert [text for text in told(chat.memory) if "Lives" in text] == ["Lives in Basel"]


def test_what_was_taken_back_is_not_known_any_more(chat: Chat) -> None:
    chat.exchange("I live in Bern.")
    lived = chat.exchange("Scratch that.")

    assert lived.outcomes == {"withdrawn": 1}
    assert told(chat.memory) == []


@pytest.mark.parametrize(
    ("before", "after", "ended"),
    [
        ("I live in Bern.", "I don't live in Bern anymore.", "Lives in Bern"),
        ("I work at Acme.", "I no longer work at Acme.", "Works at Acme"),
        ("I'm vegan.", "I'm not vegan anymore.", "Is vegan"),
        ("I have a dog called Rex.", "We no longer have a dog.", "Has a dog called Rex"),
        ("Ich wohne in Bern.", "Ich wohne nicht mehr in Bern.", "Ich wohne in Bern"),
    ],
)
def test_what_is_said_to_hold_no_more_ends(
    open_house: OpenHouse, folder: Path, before: str, after: str, ended: str
) -> None:
    memory = open_house()
    first = Chat(memory, folder, "first")
    first.exchange(before)
    assert told(memory) == [ended]
    first.clock.move(days=3)
    second = Chat(memory, folder, "second")

    second.exchange(after)

    (old,) = [record for record in memory.knowledge.records(state="all") if record.text == ended]
    (new,) = memory.knowledge.records()
    assert (old.state, old.replaced_by, old.true_until) == (State.REPLACED, new.id, new.true_from)
    assert [source.quote for source in new.sources] == [after]


@pytest.mark.parametrize(
    ("said", "ended"),
    [("I live in Bern.", "I don't live in Bern anymore."), ("We have a dog.", "We no longer have a dog.")],
)
def test_what_ended_and_is_said_again_holds_again(open_house: OpenHouse, folder: Path, said: str, ended: str) -> None:
    chat = Chat(open_house(), folder)
    for number, sentence in enumerate((said, ended, said)):
        chat.clock.move(days=1)
        chat.another(f"chat {number}").exchange(sentence)

    (holds,) = chat.memory.knowledge.records()
    assert holds.sources[0].quote == said
    assert len(chat.memory.knowledge.records(state="all")) == 3


def test_an_end_of_something_else_ends_nothing(chat: Chat) -> None:
    chat.exchange("I live in Basel.")
    chat.exchange("I don't live in Bern anymore.")

    assert "Lives in Basel" in told(chat.memory)


def test_an_end_that_was_taken_back_lets_what_it_ended_go_on(chat: Chat) -> None:
    chat.exchange("I live in Bern.")
    chat.clock.move(days=1)
    second = chat.another("second")
    second.exchange("I don't live in Bern anymore.")
    assert "Lives in Bern" not in told(chat.memory)

    second.exchange("Scratch that.")

    assert told(chat.memory) == ["Lives in Bern"]


def test_what_a_person_wrote_is_only_proposed_to_end(chat: Chat) -> None:
    chat.memory.knowledge.remember("Lives in Bern", kind="fact", subject="user", attribute="lives in", value="Bern")
    chat.clock.move(minutes=5)
    later = chat.another("later")

    later.exchange("I don't live in Bern anymore.")

    assert told(chat.memory) == ["Lives in Bern"]
    assert len(chat.memory.librarian.proposals()) == 1


def test_what_was_forgotten_does_not_come_back_with_the_next_exchange(chat: Chat) -> None:
    (said, _) = chat.say("I live in Bern.")
    chat.live.read([said])
    chat.memory.forget(message=said)

    chat.exchange("I prefer tea over coffee.")

    assert told(chat.memory) == ["Prefers tea over coffee"]


# The whole reading comes anyway


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.sampled_from(SENTENCES), min_size=3, max_size=6))
def test_reading_after_each_exchange_and_then_the_whole_gives_what_the_whole_alone_gives(
    open_house: OpenHouse, folder: Path, said: list[str]
) -> None:
    alone, live = Chat(open_house(), folder, "alone"), Chat(open_house(), folder, "live")
    for sentence in said:
        alone.say(sentence)
        live.exchange(sentence)
    while_it_went_on = state_of(live.memory)
    alone.end()
    live.end()

    assert state_of(live.memory) == state_of(alone.memory) == while_it_went_on


def test_a_conversation_that_is_being_read_as_a_whole_is_left_to_that(chat: Chat) -> None:
    new = chat.say("I live in Bern.")
    for number in range(4):
        new += chat.say(f"Question {number}?")
    chat.clock.move(hours=2)
    assert chat.memory.librarian.queue_ready().queued == 1

    assert chat.live.read(new).records == []
    assert told(chat.memory) == []
    assert chat.conversation.status is Status.QUEUED


def test_a_conversation_that_was_read_and_goes_on_is_read_on(chat: Chat) -> None:
    for sentence in ("I live in Bern.", "I work at Acme.", "Thanks."):
        chat.exchange(sentence)
    chat.clock.move(minutes=61)
    chat.memory.librarian.process([chat.conversation.id])
    assert chat.conversation.status is Status.ARCHIVED
    first = told(chat.memory)

    chat.exchange("I prefer tea over coffee.")

    assert chat.conversation.status is Status.ACTIVE
    assert told(chat.memory) == sorted([*first, "Prefers tea over coffee"])


def test_the_same_messages_read_twice_change_nothing(chat: Chat) -> None:
    new = chat.say("I live in Bern.")
    chat.live.read(new)
    before = [(record.id, record.version) for record in chat.memory.knowledge.records()]

    lived = chat.live.read(new)

    assert lived.outcomes == {"same": 1}
    assert [(record.id, record.version) for record in chat.memory.knowledge.records()] == before


# Who reads, and what it may cost


def _answer(words: str, turn: int, **more: Any) -> str:
    item = {"about": "user", "text": words, "quotes": [{"turn": turn, "words": words}], **more}
    return json.dumps({"items": [item]})


def test_a_model_is_asked_about_what_is_new_and_shown_a_little_before_it(
    memory: recollect.Memory, folder: Path
) -> None:
    model = ScriptedModel([_answer("I live in Bern", 1), _answer("I keep bees", 21)])
    chat = Chat(memory, folder, librarian=memory.librarian_with(lambda: model))
    chat.exchange("I live in Bern")
    for number in range(9):
        chat.say(f"The story goes on, part {number}.")

    lived = chat.exchange("I keep bees")

    assert len(model.requests) == 2
    shown, _, new = model.requests[1].prompt.partition("<history>")
    assert "I keep bees" in new
    assert "part 8" not in new
    assert "part 8" in shown
    assert "part 3" not in shown
    assert "I live in Bern" in shown  # What is on file.
    assert lived.outcomes == {"new": 1}
    assert lived.usage.calls == 1
    assert told(memory) == ["I keep bees", "I live in Bern"]


def test_a_model_may_replace_what_it_found_an_exchange_ago(memory: recollect.Memory, folder: Path) -> None:
    replaced = _answer("We have no dog any more", 3, relation="replaces", known="k1")
    model = ScriptedModel([_answer("We have a dog", 1), replaced])
    chat = Chat(memory, folder, librarian=memory.librarian_with(lambda: model))

    chat.exchange("We have a dog")
    lived = chat.exchange("We have no dog any more")

    assert lived.outcomes == {"replaces": 1}
    assert told(memory) == ["We have no dog any more"]


def test_a_model_that_costs_money_reads_only_under_a_ceiling(open_house: OpenHouse, folder: Path) -> None:
    for number, ceiling in enumerate(({}, {"librarian": {"tokens_per_day": 100_000}})):
        memory = open_house(**ceiling)
        model = ScriptedModel([_answer("I live in Bern", 1)], is_paid=True)
        chat = Chat(memory, folder, f"chat {number}", memory.librarian_with(lambda model=model: model))

        chat.exchange("I live in Bern")

        assert len(model.requests) == number
        assert len(told(memory)) == number


def test_nobody_reads_where_the_settings_say_none_or_the_librarian_is_paused(
    open_house: OpenHouse, folder: Path
) -> None:
    nobody, paused = open_house(librarian={"model": "none"}), open_house()
    paused.librarian.queue.pause()
    for number, memory in enumerate((nobody, paused)):
        assert Chat(memory, folder, f"chat {number}").exchange("I live in Bern.").records == []


# Questions whose answer was known


def asked_known(memory: recollect.Memory) -> list[dict[str, Any]]:
    return [event.detail for event in memory.runs.latest("asked_known")]


def test_a_question_whose_answer_was_on_record_is_counted_once(chat: Chat) -> None:
    chat.exchange("I live in Bern.")
    chat.exchange("What a day.", "Indeed. Where do you live? 🙂")
    answer = chat.say("I live in Bern, as I said.")

    assert chat.live.read(answer).questions == 1
    chat.live.read(answer)
    chat.exchange("Anyway.")

    assert asked_known(chat.memory) == [{"questions": 1}]


def test_a_question_whose_answer_was_not_known_is_not_counted(chat: Chat) -> None:
    chat.exchange("What a day.", "Indeed. Where do you live?")
    chat.exchange("I live in Bern.", "And where do you work?")
    chat.exchange("I work at Acme.")

    assert asked_known(chat.memory) == []


def test_what_is_said_again_without_a_question_is_not_counted(chat: Chat) -> None:
    chat.exchange("I live in Bern.")
    chat.exchange("What a day.", "Where does the time go? It flies.")
    chat.exchange("I live in Bern.")

    assert asked_known(chat.memory) == []


# Off the path of the turn


class Slow:
    """A reading that waits until it is let go on, and notes what it was given."""

    def __init__(self, error: Exception | None = None) -> None:
        self.go_on = threading.Event()
        self.begun = threading.Event()
        self.given: list[list[str]] = []
        self.at_once = 0
        self.most_at_once = 0
        self.error = error

    def read(self, message_ids: Any) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.given.append(list(message_ids))
        self.begun.set()
        self.go_on.wait(10)
        self.at_once -= 1
        if self.error:
            raise self.error

    def stop(self) -> None:
        self.go_on.set()


class Asked(list[Any]):
    """Requests of a model; tells that one came."""

    def __init__(self) -> None:
        super().__init__()
        self.came = threading.Event()

    def append(self, one: Any) -> None:
        super().append(one)
        self.came.set()


def test_an_exchange_is_found_and_known_when_the_work_has_settled(chat: Chat) -> None:
    memory = chat.memory
    afterwards = Afterwards(memory.recall.catch_up, chat.live, memory.runs.record)

    async def talk() -> None:
        afterwards.after(chat.say("My bicycle is a red Brompton."))
        await afterwards.settle()

    asyncio.run(talk())

    assert memory.recall.waiting() == 0
    assert any("Brompton" in hit.text for hit in memory.recall.search("Brompton").hits)


def test_what_comes_in_a_burst_is_read_together_and_never_two_at_once(memory: recollect.Memory) -> None:
    reading, indexed = Slow(), list[int]()
    afterwards = Afterwards(lambda: indexed.append(1), reading, memory.runs.record)

    async def talk() -> None:
        afterwards.after(["1"])
        await asyncio.to_thread(reading.begun.wait, 10)
        for number in range(2, 21):
            afterwards.after([str(number)])
        reading.go_on.set()
        await afterwards.settle()

    asyncio.run(talk())

    assert reading.given == [["1"], [str(number) for number in range(2, 21)]]
    assert reading.most_at_once == 1
    assert len(indexed) == 4  # Before and after each reading.


def test_an_error_is_recorded_once_and_reaches_nobody(memory: recollect.Memory) -> None:
    reading = Slow(ValueError("what somebody said"))
    reading.go_on.set()
    afterwards = Afterwards(lambda: None, reading, memory.runs.record)

    async def talk() -> None:
        for number in range(3):
            afterwards.after([str(number)])
            await afterwards.settle()

    asyncio.run(talk())

    events = memory.runs.latest("afterwards")
    assert [event.detail for event in events] == [{"step": "read", "reason": "ValueError"}]
    assert len(reading.given) == 3


def test_closing_ends_the_wait_for_a_model_and_leaves_what_waits(memory: recollect.Memory, folder: Path) -> None:
    never = threading.Event()
    model = ScriptedModel([_answer("I live in Bern", 1)], until=never)
    model.requests = asked = Asked()
    chat = Chat(memory, folder, librarian=memory.librarian_with(lambda: model))
    afterwards = Afterwards(memory.recall.catch_up, chat.live, memory.runs.record)

    async def talk() -> None:
        afterwards.after(chat.say("I live in Bern"))
        await asyncio.to_thread(asked.came.wait, 10)
        afterwards.after(["more"])
        await asyncio.wait_for(afterwards.close(), 10)
        afterwards.after(["too late"])
        await afterwards.settle()

    asyncio.run(talk())

    assert told(memory) == []
    assert memory.runs.latest("afterwards") == []
    assert [event.outcome for event in memory.runs.latest("model")] == ["cancelled"]


def test_what_is_said_to_the_mind_is_known_and_found_after_its_turn(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    model = ScriptedTalk(["Good to know. And where do you work?", "Fine. Where do you live?", "As you said."])

    async def talk() -> None:
        mind = memory.mind(open_model=lambda: model)
        for words in ("I live in Bern.", "I work at Acme.", "I live in Bern."):
            clock.move(minutes=1)
            await mind.hear(Said(text=words, channel="test"))
            await mind.turn()
            await mind.settle()
        await mind.close()

    asyncio.run(talk())

    assert told(memory) == ["Lives in Bern", "Works at Acme"]
    assert asked_known(memory) == [{"questions": 1}]
    assert memory.recall.waiting() == 0
