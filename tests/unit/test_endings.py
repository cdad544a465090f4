"""What is said to hold no more, and which part of a conversation that goes on is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.librarian.evidence.checking import checked
from recollect.librarian.items import About, Ending, Turn
from recollect.librarian.live.passages import (
    MOST_RULED_TURNS,
    MOST_SHOWN_CHARACTERS,
    MOST_SHOWN_TURNS,
    answered_questions,
    asked_passage,
    ruled_passage,
)
from recollect.librarian.rules import extract

AT = "2026-03-02T10:00:00.000Z"


def turns_of(*said: str, author: str = "user") -> list[Turn]:
    return [
        Turn(number=number, message_id=f"m{number}", author=author, at=AT, text=text)
        for number, text in enumerate(said, 1)
    ]


def endings_of(*said: str) -> list[Ending]:
    turns = turns_of(*said)
    return checked(extract(About(conversation_id="c"), turns), turns).endings


@pytest.mark.parametrize(
    ("said", "attribute", "value", "held", "text"),
    [
        ("I no longer live in Bern.", "lives in", "Bern", "Lives in Bern", "No longer lives in Bern"),
        ("I don't live in Bern any more.", "lives in", "Bern", "Lives in Bern", "Doesn't live in Bern any more"),
        ("We’re no longer based in Oslo.", "lives in", "Oslo", "We're based in Oslo", "We're no longer based in Oslo"),
        ("I'm not vegan anymore.", "", "", "Is vegan", "Is not vegan anymore"),
        ("Marta is no longer my boss.", "role", "boss", "Marta is their boss", "Marta is no longer their boss"),
        ("Ich wohne nicht mehr in Bern.", "lives in", "Bern", "Ich wohne in Bern", "Ich wohne nicht mehr in Bern"),
        ("Ich habe keinen Hund mehr.", "", "", "Ich habe einen Hund", "Ich habe keinen Hund mehr"),
        ("Ya no vivo en Madrid.", "lives in", "Madrid", "Vivo en Madrid", "Ya no vivo en Madrid"),
        ("Je n'habite plus à Paris.", "lives in", "Paris", "J'habite à Paris", "Je n'habite plus à Paris"),
        ("Ik woon niet meer in Utrecht.", "lives in", "Utrecht", "Ik woon in Utrecht", "Ik woon niet meer in Utrecht"),
    ],
)
def test_an_end_says_what_held_until_then(said: str, attribute: str, value: str, held: str, text: str) -> None:
    (ending,) = endings_of(said)

    assert (ending.item.attribute, ending.item.value) == (attribute, value)
    assert (ending.held, ending.item.text) == (held, text)
    assert ending.item.quotes[0].words.rstrip(".") == said.rstrip(".")


@pytest.mark.parametrize(
    "said",
    [
        "Do I no longer live in Bern?",
        "If I no longer live in Bern, what happens to my permit?",
        "I don't know anymore.",
        "My friend said I no longer live in Bern, just kidding.",
        "The server no longer answers on port 80.",
        "I don't think this works anymore.",
        "> I no longer live in Bern.",
    ],
)
def test_what_is_not_meant_or_was_never_a_fact_does_not_end(said: str) -> None:
    assert endings_of(said) == []


def test_an_end_that_is_taken_back_or_said_to_hold_again_is_none() -> None:
    assert endings_of("I no longer live in Bern.", "Scratch that.") == []
    assert endings_of("I no longer live in Bern.", "I live in Bern.") == []
    assert len(endings_of("I no longer live in Bern.", "I'm allergic to peanuts.")) == 1


def test_what_ended_was_right_until_then_and_is_not_taken_back() -> None:
    turns = turns_of("I work at Acme.", "I no longer work at Acme.")

    assert [item.value for item in extract(About(conversation_id="c"), turns).items if item.attribute] == ["Acme"]


# What is read of a conversation that goes on


@given(number=st.integers(0, 2 * MOST_RULED_TURNS))
def test_rules_read_the_latest_turns_in_order_and_never_more_than_their_limit(number: int) -> None:
    turns = turns_of(*("word" for _ in range(number)))

    passage = ruled_passage(turns)

    read = [*passage.before, *passage.turns]
    assert read == turns[-MOST_RULED_TURNS:]
    assert bool(passage.before) == (number > MOST_RULED_TURNS)


@given(
    lengths=st.lists(st.integers(0, MOST_SHOWN_CHARACTERS), max_size=30),
    first=st.integers(0, 30),
)
def test_a_model_is_given_all_that_is_new_and_little_else(lengths: list[int], first: int) -> None:
    turns = turns_of(*("x" * length for length in lengths))
    first = min(first, len(turns))
    new = {turn.message_id for turn in turns[first:]}

    passage = asked_passage(turns, new)

    assert list(passage.turns) == turns[first:]
    assert list(passage.before) == turns[first - len(passage.before) : first]
    assert len(passage.before) <= MOST_SHOWN_TURNS
    assert sum(len(turn.text) for turn in passage.before) <= MOST_SHOWN_CHARACTERS


@pytest.mark.parametrize(
    "asked", ["Where do you live?", "Where do you live? 🙂", "**Where?**", "どこに住んでいますか？"]
)
def test_what_a_person_says_next_answers_a_question(asked: str) -> None:
    question = Turn(number=1, message_id="q", author="assistant", at=AT, text=asked)
    answer = Turn(number=2, message_id="a", author="user", at=AT, text="In Bern.")
    more = Turn(number=3, message_id="b", author="user", at=AT, text="And I like it.")

    assert answered_questions([question, answer, more], {"a", "b"}) == {"a": AT}
    assert answered_questions([question, answer, more], {"b"}) == {}
