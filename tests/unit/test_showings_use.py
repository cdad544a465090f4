"""Whether what was shown was used, as far as words can tell; and the steps in which that counts (S6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from showing_examples import NOT_USED, USED, Example

from recollect.showings.standing import SINKS_AFTER, Counted, Standing, in_all, standing_of
from recollect.showings.use import Shown, Spoken, signs_of, used_among, words_of

SHOWN_AT = "2026-05-01T12:00:00.000Z"
PORT = "The invoice database runs on port 5433, not on the default."


def at(second: int) -> str:
    return f"2026-05-01T12:00:{second:02d}.000Z"


def spoken(*exchange: tuple[str, str], first: int = 1) -> list[Spoken]:
    return [
        Spoken(at=at(place), text=words, is_assistant=who == "a") for place, (who, words) in enumerate(exchange, first)
    ]


def is_used(record: str, *exchange: tuple[str, str]) -> bool:
    return bool(used_among([Shown(record_id="one", text=record, at=SHOWN_AT)], spoken(*exchange)))


def judged(examples: list[Example], outcome: bool) -> set[str]:
    return {name for name, record, exchange in examples if is_used(record, *exchange) is outcome}


def test_the_rule_is_as_good_as_it_is_said_to_be_on_examples_it_was_not_made_for() -> None:
    """Precision 15 of 17, recall 15 of 20, at the first try; the mistakes are named so that a change shows itself."""
    assert judged(NOT_USED, True) == {"the same tool, another use", "a version that is everywhere"}
    assert judged(USED, False) == {
        "a port nobody named",
        "a preference said in the answer",
        "advice that is followed without a word of it",
        "a tone that is kept",
        "in Japanese",
    }
    assert (len(USED), len(NOT_USED)) == (20, 20)


def test_a_value_counts_only_with_another_word_of_the_record_beside_it() -> None:
    assert is_used(PORT, ("a", "The database answers on port 5433."))
    assert not is_used(PORT, ("a", "There are 5433 birds."))
    assert not is_used(PORT, ("a", "There are 5433 birds. They sing. All day. The port is closed."))


@pytest.mark.parametrize("who", ["u", "t"])
def test_what_a_user_or_a_tool_said_before_tells_nothing(who: str) -> None:
    assert not is_used(PORT, (who, "5433"), ("a", "The database answers on port 5433."))
    assert is_used(PORT, ("a", "The database answers on port 5433."), (who, "5433"))


def test_what_the_assistant_said_before_it_was_shown_tells_nothing() -> None:
    shown = [Shown(record_id="one", text=PORT, at=at(10))]
    words = "The database answers on port 5433."
    assert used_among(shown, spoken(("a", words), first=5)) == set()
    assert used_among(shown, [*spoken(("a", words), first=5), *spoken(("a", words), first=11)]) == set()
    assert used_among(shown, spoken(("a", words), first=11)) == {"one"}


def test_a_word_that_many_of_the_shown_records_have_tells_of_none_of_them() -> None:
    texts = {str(number): f"Greenhouse {name} belongs to Lindqvist." for number, name in enumerate(("A", "B", "C"))}
    shown = [Shown(record_id=name, text=text, at=SHOWN_AT) for name, text in texts.items()]
    said = spoken(("a", "Yes, the greenhouse belongs to Lindqvist."))
    assert used_among(shown, said) == set()
    assert used_among(shown[:1], said) == {"0"}


def test_only_the_record_whose_words_are_said_was_used() -> None:
    shown = [
        Shown(record_id="port", text=PORT, at=SHOWN_AT),
        Shown(record_id="host", text="Staging lives at kestrel.internal behind the VPN.", at=SHOWN_AT),
    ]
    assert used_among(shown, spoken(("u", "Staging?"), ("a", "Staging is kestrel.internal."))) == {"host"}


def test_words_of_an_ordinary_length_do_not_make_a_long_record_used() -> None:
    record = " ".join(f"word{chr(97 + one)}{chr(97 + two)}" for one in range(26) for two in range(10))
    assert not is_used(record, ("a", "wordaa and wordab and wordac stand here"))


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_judged_and_the_same_way_each_time(record: str, said: str) -> None:
    first = is_used(record, ("a", said))
    assert is_used(record, ("a", said)) is first
    assert not is_used(record, ("u", record), ("a", record))
    for sign in signs_of(record):
        assert sign.forms & words_of(record)


# Steps


def counted(unused: int, used: int = 0, version: int = 1) -> Counted:
    return Counted(record_id="one", version=version, shown=50, used=used, unused=unused)


def test_a_record_sinks_in_two_steps_and_a_use_takes_both_back() -> None:
    first, second = SINKS_AFTER
    steps = [standing_of(counted(number), 1).sunk for number in range(second + 10)]
    assert steps == [0] * first + [1] * (second - first) + [2] * 10
    assert standing_of(counted(0, used=1), 1) == Standing(was_used=True, sunk=0)
    assert standing_of(None, 1) == Standing()


def test_another_version_of_a_record_was_not_passed_over() -> None:
    assert standing_of(counted(30), 2) == Standing()
    assert standing_of(counted(30, used=2), 2) == Standing(was_used=True)


def test_counts_of_several_scopes_are_added_up() -> None:
    one = Counted(record_id="one", version=1, shown=3, used=1, unused=2, last_used_at=at(1), last_used_how="said")
    other = Counted(record_id="one", version=2, shown=4, used=1, last_used_at=at(2), last_used_how="read_memory")
    assert in_all([one, other])["one"] == Counted(
        record_id="one",
        version=2,
        shown=7,
        used=2,
        unused=2,
        last_used_at=at(2),
        last_used_how="read_memory",
    )
