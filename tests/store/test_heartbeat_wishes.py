"""Wishes are learnings: kept once, read back as they are now, and gone when they are gone."""

from datetime import timedelta

import pytest
from conftest import FrozenClock

import recollect
from recollect.clock import to_text
from recollect.knowledge import Learned, Record
from recollect.mind.heartbeat.keeping import Standing, Wishes

TOPIC = "the dentist"


class Listener:
    """An agent who hears what is said now."""

    def __init__(self, memory: recollect.Memory, clock: FrozenClock) -> None:
        memory.agents.add("ada")
        self.memory = memory
        self.seen = memory.as_agent("ada")
        self.wishes = Wishes(self.seen.knowledge, clock)
        self.clock = clock

    def hears(self, message_id: str, text: str) -> Learned | None:
        taken = self.wishes.take(message_id, text, self.clock(), answers_outreach=True, topic=TOPIC)
        return taken[0] if taken else None

    def keeps(self, message_id: str, text: str) -> Record:
        learned = self.hears(message_id, text)
        assert learned
        assert learned.record
        return learned.record

    def number(self) -> int:
        return len(self.memory.knowledge.records(tags=["heartbeat"], state="all", expired=True))

    @property
    def standing(self) -> Standing:
        return self.wishes.standing(self.clock())


@pytest.fixture
def ada(memory: recollect.Memory, clock: FrozenClock) -> Listener:
    return Listener(memory, clock)


def test_not_now_holds_twelve_hours_and_no_longer(ada: Listener) -> None:
    said_at = ada.clock()
    ada.hears("message-1", "not now")
    assert ada.standing == Standing(not_before=said_at + timedelta(hours=12))
    ada.clock.move(hours=11, minutes=59)
    assert ada.standing.not_before
    ada.clock.move(minutes=1)
    assert ada.standing == Standing()


def test_a_wish_is_a_learning_of_the_agent_that_names_its_message(ada: Listener) -> None:
    record = ada.keeps("message-1", "Don't ask me about my ex. It hurts.")
    assert (record.kind, record.category, record.scope) == ("learning", "operational", "ada")
    assert record.tags == ("heartbeat", "never about")
    assert record.text == "The person asked not to be written to about: my ex"
    kept = ada.memory.knowledge.record(record.id)
    assert [(one.message_id, one.quote) for one in kept.sources] == [("message-1", "Don't ask me about my ex.")]


def test_what_is_no_wish_is_not_kept(ada: Listener) -> None:
    assert ada.hears("message-1", "Thanks, all is well.") is None
    assert ada.number() == 0


def test_a_message_is_kept_once(ada: Listener) -> None:
    for text in ("not now", "never about this", "stop messaging me first", "You can write again"):
        record = ada.keeps(text, text)
        again = ada.hears(text, text)
        assert again
        assert again.outcome == "same"
        assert again.record == record
    assert ada.number() == 4


def test_what_was_retracted_is_not_made_again_from_the_same_message(ada: Listener) -> None:
    for text in ("not now", "never about this", "stop messaging me first"):
        ada.memory.knowledge.retract(ada.keeps(text, text).id)
        ada.hears(text, text)
    assert ada.standing == Standing()
    assert ada.number() == 3


def test_what_was_forgotten_is_not_made_again_from_the_same_message(ada: Listener) -> None:
    for text in ("not now", "never about this", "stop messaging me first"):
        ada.memory.forget(record=ada.keeps(text, text).id)
        refused = ada.hears(text, text)
        assert refused
        assert refused.outcome == "refused"
    assert ada.standing == Standing()
    assert ada.number() == 0


def test_said_again_after_it_was_retracted_it_holds_again(ada: Listener) -> None:
    ada.memory.knowledge.retract(ada.keeps("message-1", "never about this").id)
    ada.keeps("message-2", "never about this")
    assert ada.standing.unwelcome_topics == (TOPIC,)


def test_said_twice_it_is_one_learning_and_one_word_takes_it_back(ada: Listener) -> None:
    first = ada.keeps("message-1", "never about this")
    ada.clock.move(hours=1)
    second = ada.keeps("message-2", "never about this")
    assert second.id == first.id
    ada.memory.knowledge.retract(first.id)
    ada.hears("message-1", "never about this")
    ada.hears("message-2", "never about this")
    assert ada.standing == Standing()


def test_a_later_not_now_waits_longer(ada: Listener) -> None:
    ada.hears("message-1", "not now")
    ada.clock.move(hours=3)
    ada.hears("message-2", "not now")
    assert ada.standing.not_before == ada.clock() + timedelta(hours=12)


def test_an_undone_retraction_holds_again_at_once(ada: Listener) -> None:
    record = ada.keeps("message-1", "stop messaging me first")
    assert ada.standing.is_unwelcome
    ada.memory.knowledge.retract(record.id)
    assert not ada.standing.is_unwelcome
    ada.memory.knowledge.undo(record.id)
    assert ada.standing.is_unwelcome


def test_an_edited_wish_is_what_it_says_now(ada: Listener) -> None:
    topic = ada.keeps("message-1", "don't ask me about my ex")
    wait = ada.keeps("message-2", "not now")
    later = ada.clock() + timedelta(days=3)
    ada.memory.knowledge.edit(topic.id, "The person asked not to be written to about: football")
    ada.memory.knowledge.edit(wait.id, expires_at=to_text(later))
    assert ada.standing == Standing(not_before=later, unwelcome_topics=("football",))
    ada.hears("message-1", "don't ask me about my ex")
    assert ada.standing.unwelcome_topics == ("football",)


def test_not_now_without_an_end_holds_for_good(ada: Listener) -> None:
    ada.memory.knowledge.edit(ada.keeps("message-1", "not now").id, expires_at="")
    assert ada.standing == Standing(is_unwelcome=True)


def test_you_can_write_again_lifts_what_was_asked_before_it_and_no_topic(ada: Listener) -> None:
    for text in ("stop messaging me first", "not now", "never about this"):
        ada.hears(text, text)
    ada.clock.move(hours=1)
    lift = ada.keeps("message-4", "You can write again.")
    assert ada.standing == Standing(unwelcome_topics=(TOPIC,))
    ada.clock.move(hours=1)
    ada.hears("message-5", "stop messaging me first")
    assert ada.standing.is_unwelcome
    ada.memory.knowledge.retract(lift.id)
    assert ada.standing.not_before  # What was lifted holds again with what was asked since.


def test_a_topic_is_welcome_again_when_it_is_said(ada: Listener) -> None:
    ada.hears("message-1", "don't ask me about my ex")
    ada.hears("message-2", "don't ask me about football")
    ada.clock.move(days=1)
    ada.hears("message-3", "You can ask me about my ex again")
    assert ada.standing == Standing(unwelcome_topics=("football",))
    ada.clock.move(days=1)
    ada.hears("message-4", "don't ask me about my ex")
    assert ada.standing.unwelcome_topics == ("my ex", "football")


def test_a_topic_for_some_days_is_free_after_them(ada: Listener) -> None:
    ada.hears("message-1", "Don't ask me about the exam for two days")
    assert ada.standing.unwelcome_topics == ("the exam",)
    ada.clock.move(days=2)
    assert ada.standing == Standing()


def test_a_wish_that_is_over_when_it_is_read_is_not_kept(ada: Listener) -> None:
    said_at = ada.clock()
    ada.clock.move(hours=13)
    assert ada.wishes.take("message-1", "not now", said_at, answers_outreach=True, topic="") == []
    assert ada.number() == 0


def test_a_person_can_keep_a_wish_by_hand(ada: Listener) -> None:
    ada.memory.knowledge.remember("Please no messages about: the lottery", tags=["heartbeat", "never about"])
    ada.memory.knowledge.remember("I want to be left alone.", tags=["heartbeat", "never"])
    assert ada.standing == Standing(is_unwelcome=True, unwelcome_topics=("the lottery",))


def test_what_another_agent_was_asked_counts_for_that_one(ada: Listener) -> None:
    ada.memory.agents.add("bob")
    ada.hears("message-1", "stop messaging me first")
    assert Wishes(ada.memory.as_agent("bob").knowledge, ada.clock).standing(ada.clock()) == Standing()


def test_a_wish_moved_out_of_sight_is_not_made_again(ada: Listener) -> None:
    ada.memory.agents.add("bob")
    record = ada.keeps("message-1", "not now")
    ada.memory.knowledge.move(record.id, "bob")
    assert ada.hears("message-1", "not now") is None
    assert ada.standing == Standing()


def test_of_two_wishes_in_the_same_words_one_can_be_forgotten(ada: Listener) -> None:
    first = ada.keeps("message-1", "not now")
    second = ada.keeps("message-2", "not now")
    assert first.id != second.id
    assert ada.memory.forget(record=first.id).state == "verified"
    assert ada.standing.not_before
