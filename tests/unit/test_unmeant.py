"""Messages of which nothing is kept as a whole, and what the next message takes back."""

import pytest

from recollect.librarian.items import About, Extract, Turn
from recollect.librarian.rules import extract


def read(*said: str) -> Extract:
    turns = [
        Turn(number=number, message_id=f"m{number}", author="user", at="2026-06-09T10:00:00.000000Z", text=text)
        for number, text in enumerate(said, 1)
    ]
    return extract(About(conversation_id="c"), turns)


def kept(*said: str) -> list[str]:
    return [item.text for item in read(*said).items]


@pytest.mark.parametrize(
    "said",
    [
        "my cat says she has decided to run for mayor, draft her programme",
        "I live in a cardboard box from now on",
        "I'm allergic to `Any`",
        'river in Poland, 4 letters, "I live in Poznan"',
        "For the role play I'm a guest and I have a nut allergy",
        "asking for a friend: I have celiac disease, can I eat oats",
        "Dear Sir or Madam, I live in Leeds and I am a nurse",
        "sure, because I love being paged at 3am",
        "remind me who gets what this year",
    ],
)
def test_nothing_is_kept_of_what_is_not_meant(said: str) -> None:
    assert not kept(said)


@pytest.mark.parametrize("said", ["I'm allergic to cats", "Dear Claude, I live in Porto", "my dog is called Rex"])
def test_what_only_looks_like_play_is_kept(said: str) -> None:
    assert kept(said)


@pytest.mark.parametrize(
    "after", ["scratch that", "no wait, I meant Leicester", "😂😂 your face", "ok that's enough silliness for today"]
)
def test_what_the_next_message_takes_back_is_not_kept(after: str) -> None:
    assert kept("I live in Leeds") == ["Lives in Leeds"]
    assert not kept("I live in Leeds", after)


def test_only_the_last_statement_is_gone_where_one_word_was_wrong() -> None:
    assert kept("I have a sister in Oslo. I'm vegan", "typo, I meant vegetarian") == ["Has a sister in Oslo"]


def test_of_two_numbers_for_one_thing_the_last_is_kept() -> None:
    said = kept("We use Postgres 15 in production", "We use Postgres 16 in production")
    assert said == ["We use Postgres 16 in production"]


def test_nobody_is_called_i_am() -> None:
    found = read("I'm the head of lending at the Harbourside Library")
    assert not found.people
    assert [item.text for item in found.items] == ["Is the head of lending at the Harbourside Library"]


def test_a_colleague_in_passing_is_a_person() -> None:
    found = read(
        "Joost, a colleague, sells his old bike, I am going to look at it on saturday",
        "Juno (my niece) gets the microscope",
    )
    assert [(person.name, person.role) for person in found.people] == [("Joost", "colleague"), ("Juno", "niece")]


def test_what_is_told_of_others_in_a_chat_about_a_poem_or_a_game_is_invented() -> None:
    made_up = kept("write a limerick about a baker", "now one more verse, he lives in Bergen and is allergic to flour")
    assert made_up == []
    assert kept("write me some lines for Brother Oak, he's a sleepy otter monk who hates plums") == []
    assert kept("help me rhyme this poem", "I live in Bergen") == ["Lives in Bergen"]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("My appointment with the notary is on 3 June", "oh wait, just looked, it's the 9th of June not the 3rd"),
        ("Der Termin beim Notar ist am 3. Juni", "danke. Ach Quatsch, der Termin ist am 9. Juni"),
    ],
)
def test_a_day_that_is_put_right_in_a_later_message_is_gone(first: str, later: str) -> None:
    (wrong,) = kept(first)
    assert wrong not in kept(first, "what do I bring?", later)


@pytest.mark.parametrize(
    "said", ["my legs are like lead this morning", "a friend swears by cold showers and raw garlic"]
)
def test_what_holds_for_a_day_or_is_held_by_others_is_not_kept(said: str) -> None:
    assert kept(said) == []
