"""Whether open commitments survived a compaction (M2), measured on commitments whose fate is known."""

from itertools import product

import pytest
from commitments import (
    ALL,
    ENGLISH,
    GERMAN,
    GESCHICHTE,
    SECOND_ENGLISH,
    SECOND_GERMAN,
    STORY,
    UNSEEN_ENGLISH,
    UNSEEN_GERMAN,
)
from hypothesis import given
from hypothesis import strategies as st

from recollect.mind.compaction.probe import Probe, probed
from recollect.mind.compaction.stems import same_word, words_of

SETS = {
    "English": (ENGLISH, STORY),
    "German": (GERMAN, GESCHICHTE),
    "second English": (SECOND_ENGLISH, STORY),
    "second German": (SECOND_GERMAN, GESCHICHTE),
    "unseen English": (UNSEEN_ENGLISH, STORY),
    "unseen German": (UNSEEN_GERMAN, GESCHICHTE),
}


def survives(commitment: str, *seen: str) -> bool:
    return probed({"one": commitment}, seen).survived == 1


def found(language: str, fate: str) -> list[str]:
    cases, story = SETS[language]
    return [one.commitment for one in cases if survives(one.commitment, f"{story}\n{getattr(one, fate)}", "And now?")]


@pytest.mark.parametrize("language", SETS)
def test_what_was_kept_in_its_words_is_found(language: str) -> None:
    assert found(language, "kept") == [one.commitment for one in SETS[language][0]]


@pytest.mark.parametrize("language", SETS)
def test_most_of_what_was_told_in_other_words_is_found(language: str) -> None:
    assert len(found(language, "paraphrased")) / len(SETS[language][0]) >= 0.75


@pytest.mark.parametrize(("language", "most"), list(zip(SETS, (0, 0, 1, 0, 0, 0), strict=True)))
def test_what_was_dropped_is_missed_although_its_people_are_named(language: str, most: int) -> None:
    assert len(found(language, "dropped")) <= most


@pytest.mark.parametrize("language", ["English", "German"])
def test_all_of_them_in_one_summary_are_told_apart(language: str) -> None:
    cases, story = SETS[language]
    fates = ("kept", "dropped")
    told = [story, *(getattr(one, fates[number % 2]) for number, one in enumerate(cases))]
    probe = probed({str(number): one.commitment for number, one in enumerate(cases)}, ["\n".join(told)])
    assert probe == Probe(asked=12, survived=6, missing_ids=("1", "3", "5", "7", "9", "11"))


def test_words_that_stand_far_apart_are_no_promise() -> None:
    seen = f"She is fond of Tomasz.\n{STORY}\nThere was a letter from the bank.\n{STORY}\nA recommendation: the tiles."
    assert not survives(ENGLISH[3].commitment, seen)


def test_a_paste_without_sentences_is_not_read_as_one_promise() -> None:
    words = [word for case in ENGLISH for word in case.commitment.replace(".", "").split()]
    paste = " ".join(
        f"{word} {' '.join(f'item{number}x{at}' for at in range(90))}" for number, word in enumerate(words)
    )
    assert probed({str(number): case.commitment for number, case in enumerate(ENGLISH)}, [paste]).survived == 0


def test_what_stayed_word_for_word_counts() -> None:
    assert survives(ENGLISH[0].commitment, STORY, "Tell Mr. Okafor he has the signed lease by Friday.")


def test_without_anything_to_see_nothing_survives() -> None:
    assert probed({"a": "Call Ada.", "b": "Feed the cat."}, []) == Probe(asked=2, survived=0, missing_ids=("a", "b"))


def test_a_commitment_without_words_is_not_asked_for() -> None:
    assert probed({"a": "…", "b": "I will do it."}, [STORY]) == Probe(asked=0, survived=0, missing_ids=())


def test_scripts_without_spaces_are_compared_by_pairs() -> None:
    assert survives("金曜日までに請求書を送る", "金曜日までに請求書を送ると約束した。")
    assert not survives("金曜日までに請求書を送る", "天気が良かったので散歩に行きました。")


@pytest.mark.parametrize(
    "pair",
    [
        "send sent",
        "call called",
        "plan planned",
        "reply replied",
        "write writing",
        "schicken geschickt",
        "anrufen angerufen",
        "anzurufen anruft",
        "uberweisen uberweist",
        "zahnarzttermin termin",
    ],
)
def test_forms_of_a_word_are_the_same_word(pair: str) -> None:
    assert same_word(*pair.split())


@pytest.mark.parametrize("pair", ["invoice invoke", "contract contact", "friend friday", "house horse", "lesen lassen"])
def test_words_that_look_alike_are_not(pair: str) -> None:
    assert not same_word(*pair.split())


@pytest.mark.parametrize("spelling", ["14 March", "14. März", "14.3.", "14.03.2026", "2026-03-14", "March 14th"])
def test_a_day_has_one_spelling(spelling: str) -> None:
    assert {word.text for word in words_of(spelling)} == {"14", "~m3"}


@pytest.mark.parametrize("spelling", ["15:00", "3 pm", "3 p.m.", "15 Uhr", "15.00 Uhr"])
def test_an_hour_has_one_spelling(spelling: str) -> None:
    assert [word.text for word in words_of(spelling)] == ["15"]


TEXTS = st.lists(st.sampled_from([case.kept for case in ALL]), max_size=6)
ANY = st.lists(st.text(max_size=60), max_size=6)


@given(ANY, ANY)
def test_each_commitment_is_counted_once(commitments: list[str], seen: list[str]) -> None:
    asked = {str(number): text for number, text in enumerate(commitments)}
    probe = probed(asked, seen)
    assert probe.asked == probe.survived + len(probe.missing_ids)
    assert set(probe.missing_ids) <= set(asked)


@given(TEXTS, st.sampled_from(["\n", " "]))
def test_what_is_seen_word_for_word_survives(seen: list[str], joint: str) -> None:
    asked = {str(number): text for number, text in enumerate(seen)}
    assert probed(asked, [joint.join(seen)]).missing_ids == ()


@given(st.text(max_size=20), st.text(max_size=20))
def test_sameness_has_no_direction(one: str, other: str) -> None:
    for a, b in product(words_of(one), words_of(other)):
        assert same_word(a.text, b.text) == same_word(b.text, a.text)
