"""Two people with one name do not become one, and one person does not become two."""

from datetime import timedelta
from pathlib import Path

import pytest
from filed import Talk
from transcripts import START

import recollect
from recollect.errors import Invalid
from recollect.librarian.items import Item, Shelf

SISTER = "My sister Anna lives in Graz."
COLLEAGUE = "My colleague Anna wrote the report."
HIKING = "Anna loves hiking."


@pytest.fixture
def talk(memory: recollect.Memory, tmp_path: Path) -> Talk:
    return Talk(memory, tmp_path / "projects", "one", SISTER)


@pytest.fixture
def later(memory: recollect.Memory, tmp_path: Path) -> Talk:
    return Talk(memory, tmp_path / "projects", "two", COLLEAGUE, HIKING, start=START + timedelta(days=1))


def role(talk: Talk, sentence: str, role: str, name: str = "Anna") -> Item:
    text = f"{name} is the user's {role}"
    return talk.item(sentence, text, shelf=Shelf.PERSON, subject=name, attribute="role", value=role)


def about(talk: Talk, sentence: str, name: str = "Anna") -> Item:
    return talk.item(sentence, shelf=Shelf.PERSON, subject=name)


def subjects(memory: recollect.Memory) -> dict[str, str]:
    return {record.text: record.subject for record in memory.knowledge.records()}


def test_a_name_that_is_known_once_means_that_person(memory: recollect.Memory, talk: Talk, later: Talk) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(about(later, HIKING))

    assert subjects(memory)[HIKING] == "Anna"
    assert memory.librarian.questions() == []


def test_another_role_is_another_person_until_somebody_says_otherwise(
    memory: recollect.Memory, talk: Talk, later: Talk
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    filed = later.file(role(later, COLLEAGUE, "colleague"))

    assert subjects(memory)["Anna is the user's colleague"] == "Anna (colleague)"
    assert filed.outcomes == {"new": 1, "asked": 1}
    (question,) = memory.librarian.questions()
    assert "Anna, colleague, the same person as Anna (sister)" in question.text


def test_a_role_that_changed_by_the_words_that_say_so_is_the_same_persons(
    memory: recollect.Memory, talk: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    now = "Anna is now my business partner."
    later = Talk(memory, tmp_path / "projects", "two", now, start=START + timedelta(minutes=90))

    later.file(role(later, now, "business partner"))

    assert memory.librarian.questions() == []
    fact = memory.knowledge.fact("Anna", "role")
    assert fact is not None
    assert fact.value == "business partner"


def test_two_of_one_name_in_one_conversation_are_two(memory: recollect.Memory, tmp_path: Path) -> None:
    talk = Talk(memory, tmp_path / "projects", "one", SISTER, COLLEAGUE)

    talk.file(role(talk, SISTER, "sister"), role(talk, COLLEAGUE, "colleague"))

    assert set(subjects(memory).values()) == {"Anna", "Anna (colleague)"}
    assert len(memory.librarian.questions()) == 1


def test_yes_makes_both_one_now_and_in_what_is_read_later(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"), about(later, HIKING))
    (question,) = memory.librarian.questions()

    memory.librarian.answer(question.id, "yes, she is")

    assert set(subjects(memory).values()) == {"Anna"}
    again = Talk(memory, tmp_path / "projects", "three", COLLEAGUE, start=START + timedelta(days=2))
    again.file(role(again, COLLEAGUE, "colleague"))
    assert set(subjects(memory).values()) == {"Anna"}
    assert memory.librarian.questions() == []


def test_no_keeps_both_and_is_not_asked_again(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    memory.librarian.answer(memory.librarian.questions()[0].id, "no")

    again = Talk(memory, tmp_path / "projects", "three", COLLEAGUE, start=START + timedelta(days=2))
    again.file(role(again, COLLEAGUE, "colleague"))

    assert set(subjects(memory).values()) == {"Anna", "Anna (colleague)"}
    assert memory.librarian.questions() == []


def test_an_answer_that_is_neither_yes_nor_no_changes_nothing(
    memory: recollect.Memory, talk: Talk, later: Talk
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    (question,) = memory.librarian.questions()

    with pytest.raises(Invalid, match="neither yes nor no"):
        memory.librarian.answer(question.id, "perhaps")

    assert memory.librarian.questions() == [question]


def test_what_is_said_of_a_name_that_two_have_waits_until_somebody_says_which(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    memory.librarian.answer(memory.librarian.questions()[0].id, "no")
    third = Talk(memory, tmp_path / "projects", "three", HIKING, start=START + timedelta(days=2))

    third.file(about(third, HIKING))

    assert HIKING not in subjects(memory)
    (question,) = memory.librarian.questions()
    memory.librarian.answer(question.id, "Anna (colleague)")
    assert subjects(memory)[HIKING] == "Anna (colleague)"


def test_what_was_filed_for_one_of_a_name_stays_theirs_when_it_is_read_again_after_another_came_up(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    between = Talk(memory, tmp_path / "projects", "between", HIKING, start=START + timedelta(hours=5))
    between.file(about(between, HIKING))
    later.file(role(later, COLLEAGUE, "colleague"))

    filed = between.file(about(between, HIKING))

    assert filed.outcomes == {"same": 1}
    assert subjects(memory)[HIKING] == "Anna"


def test_what_was_answered_holds_when_the_conversation_is_read_again(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    memory.librarian.answer(memory.librarian.questions()[0].id, "no")
    third = Talk(memory, tmp_path / "projects", "three", HIKING, start=START + timedelta(days=2))
    third.file(about(third, HIKING))
    memory.librarian.answer(memory.librarian.questions()[0].id, "Anna (colleague)")

    third.file(about(third, HIKING))

    assert subjects(memory)[HIKING] == "Anna (colleague)"


@pytest.mark.parametrize(("words", "answer"), [("Anna is now my colleague.", ""), (COLLEAGUE, "yes")])
def test_who_had_another_role_before_is_still_known_by_it(
    memory: recollect.Memory, talk: Talk, tmp_path: Path, words: str, answer: str
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later = Talk(memory, tmp_path / "projects", "two", words, start=START + timedelta(minutes=90))
    later.file(role(later, words, "colleague"))
    if answer:
        memory.librarian.answer(memory.librarian.questions()[0].id, answer)

    talk.file(role(talk, SISTER, "sister"))

    assert memory.librarian.questions() == []
    assert subjects(memory) == {"Anna is the user's colleague": "Anna"}


def test_an_answer_that_names_somebody_who_was_made_one_with_another_means_that_one(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    third = Talk(memory, tmp_path / "projects", "three", HIKING, start=START + timedelta(days=2))
    third.file(about(third, HIKING))
    same, which = memory.librarian.questions()
    memory.librarian.answer(same.id, "yes")

    memory.librarian.answer(which.id, "Anna (colleague)")

    assert set(subjects(memory).values()) == {"Anna"}


def test_a_dropped_question_leaves_both_people_known(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    memory.librarian.drop_question(memory.librarian.questions()[0].id)
    third = Talk(memory, tmp_path / "projects", "three", HIKING, start=START + timedelta(days=2))

    assert third.file(about(third, HIKING)).outcomes == {"asked": 1}


def test_a_name_in_other_letters_is_the_same_name(memory: recollect.Memory, talk: Talk, later: Talk) -> None:
    memory.knowledge.remember("ANNA plays chess", subject="ANNA", tags=["person"])
    talk.file(role(talk, SISTER, "sister", name="anna"))
    later.file(about(later, HIKING))

    assert set(subjects(memory).values()) == {"ANNA"}


def test_questions_about_somebody_who_is_forgotten_go_with_them(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister"))
    later.file(role(later, COLLEAGUE, "colleague"))
    third = Talk(memory, tmp_path / "projects", "three", HIKING, start=START + timedelta(days=2))
    third.file(about(third, HIKING))
    assert len(memory.librarian.questions()) == 2

    forgotten = memory.forget(subject="Anna (colleague)")

    assert memory.librarian.questions() == []
    assert forgotten.removed["questions"] == 2
    assert forgotten.is_verified


def test_a_name_that_has_parentheses_of_its_own_is_told_apart_too(
    memory: recollect.Memory, talk: Talk, later: Talk, tmp_path: Path
) -> None:
    talk.file(role(talk, SISTER, "sister", name="Anna (HR)"))
    later.file(role(later, COLLEAGUE, "colleague", name="Anna (HR)"))
    third = Talk(memory, tmp_path / "projects", "three", HIKING, start=START + timedelta(days=2))

    assert third.file(about(third, HIKING, name="Anna (HR)")).outcomes == {"asked": 1}
