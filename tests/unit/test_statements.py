"""Statements that no form knows: what is kept of them, and what is left alone."""

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import Corrupt
from recollect.knowledge import Kind
from recollect.librarian.evidence.checking import checked
from recollect.librarian.items import About, Extract, Shelf, Turn
from recollect.librarian.rules import extract
from recollect.librarian.rules.standing import is_event, stands_alone
from recollect.librarian.rules.statement_features import WIDTH, features_of
from recollect.librarian.rules.statement_model import LABELS, PATH, load

ROOT = Path(__file__).resolve().parents[2]
MONDAY = "2026-04-13T09:00:00.000Z"


def read(*said: str, project: str = "") -> Extract:
    turns = [
        Turn(number=number, message_id=f"m{number}", author="user", at=MONDAY, text=text)
        for number, text in enumerate(said, 1)
    ]
    return checked(extract(About(conversation_id="c", project=project), turns), turns)


def kept(*said: str, project: str = "") -> list[tuple[Kind, Shelf, str]]:
    return [(item.kind, item.shelf, item.text) for item in read(*said, project=project).items]


# What is kept


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("our boiler is from 1998 and we heat with oil", Kind.FACT, "boiler"),
        ("the vet visit for our old cat is on Thursday at 4", Kind.COMMITMENT, "vet visit"),
        ("horror films keep me awake, I can't stand them", Kind.PREFERENCE, "Horror films"),
    ],
)
def test_a_statement_without_a_form_is_kept_with_its_kind(said: str, kind: Kind, words: str) -> None:
    found = [item for item in kept(said) if words in item[2]]
    assert [item[0] for item in found] == [kind], kept(said)


def test_a_commitment_has_the_day_that_it_names() -> None:
    (item,) = read("the vet visit for our old cat is on Thursday at 4").items
    assert item.value == "2026-04-16"


def test_the_request_behind_a_statement_is_not_part_of_the_quote() -> None:
    (item,) = read("since we have a toddler and two dogs at home, what floor would you pick?").items
    assert [quote.words for quote in item.quotes] == ["we have a toddler and two dogs at home"]


def test_who_speaks_as_something_is_that() -> None:
    assert "Is a night nurse" in [text for _, _, text in kept("as a night nurse, what can I do about sleep?")]


def test_every_quote_stands_in_its_message() -> None:
    said = "btw our rent is 840 with water included, and my landlord lives in Spain, can you draft a letter?"
    found = read(said)
    assert found.items
    assert all(quote.words in said for item in found.items for quote in item.quotes)


# What is left alone


@pytest.mark.parametrize(
    "said",
    [
        "the tests fail on main since this morning",
        "I'm so tired today",
        "I want to add a button to the header",
        "suppose we lived in a boat and had three parrots",
        "my boat is called Dora, just kidding",
        "he wrote: my rent is 840 and my landlord lives in Spain",
        "if our boiler were from 1998 we would heat with oil",
        "it is from 1998 and runs on oil",
        "they always come at seven",
        "I think I'll take the second one",
        "I just took the train to see my aunt",
        "do you know that our boiler is from 1998?",
        "don't remember this: our boiler is from 1998",
    ],
)
def test_what_is_no_lasting_statement_is_not_kept(said: str) -> None:
    assert kept(said) == []


def test_a_sentence_with_a_secret_is_never_kept() -> None:
    key = "sk-ant-" + "x" * 40
    assert kept(f"our wifi at home has the password {key} and reaches the garden") == []


def test_what_a_form_found_is_not_said_twice() -> None:
    assert len(kept("I live in Haugesund with two cats.")) == 1


@pytest.mark.parametrize(
    "said", ["it has two floors", "that one is mine", "das ist meins", "c'est ma voiture", "他住在北京"]
)
def test_what_points_at_something_else_does_not_stand_alone(said: str) -> None:
    assert not stands_alone(said)


def test_what_happened_once_is_an_event() -> None:
    assert is_event("I spent the afternoon at the lake")
    assert not is_event("I spend my summers at the lake")


# The weights


@given(st.text(max_size=500))
def test_any_text_has_features_and_a_guess(text: str) -> None:
    places = features_of(text)
    assert places
    assert places == sorted(set(places))
    assert all(0 <= place < WIDTH for place in places)
    guess = load().guess(text)
    assert guess.label in LABELS[1:]
    assert 0 <= guess.share <= 1
    assert 0 <= guess.clearness <= 1.000001


def test_the_weights_are_those_of_the_corpus() -> None:
    """By its digest: training again takes longer than a test may."""
    script = runpy.run_path(str(ROOT / "scripts" / "train_statements.py"))
    assert load().digest == script["digest"](script["corpus"]()), "Run scripts/train_statements.py."


def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    torn = tmp_path / "torn.weights"
    torn.write_bytes(PATH.read_bytes()[:-10])
    with pytest.raises(Corrupt, match="torn"):
        load(torn)
