"""How a haystack is written down so that it can be taken in, and what a result gathers."""

from datetime import UTC, datetime

from recollect.evaluation import Haystack, LeftOut, Question, Result, Session, Turn
from recollect.evaluation.harness import present, written


def session(name: str, at: datetime | None, *said: tuple[str, str]) -> Session:
    turns = tuple(Turn(id=f"{name}/{n}", speaker=speaker, text=text) for n, (speaker, text) in enumerate(said))
    return Session(id=name, at=at, turns=turns)


NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)


def test_turns_are_a_second_apart_and_speakers_with_a_name_are_users() -> None:
    haystack = Haystack(
        sessions=(session("a", NOON, ("Ada", "Hello"), ("assistant", "Hi"), ("user", "Beans?")),), questions=()
    )

    assert [line for line, _ in written(haystack)] == [
        {"session": "a", "id": "0", "at": "2023-05-08T12:00:00.000Z", "author": "user", "text": "Hello", "name": "Ada"},
        {"session": "a", "id": "1", "at": "2023-05-08T12:00:01.000Z", "author": "assistant", "text": "Hi"},
        {"session": "a", "id": "2", "at": "2023-05-08T12:00:02.000Z", "author": "user", "text": "Beans?"},
    ]
    assert [turn.id for _, turn in written(haystack)] == ["a/0", "a/1", "a/2"]


def test_without_a_date_sessions_are_a_day_apart_and_always_the_same_days() -> None:
    haystack = Haystack(sessions=(session("a", None, ("user", "x")), session("b", None, ("user", "y"))), questions=())

    assert [line["at"] for line, _ in written(haystack)] == ["2020-01-01T09:00:00.000Z", "2020-01-02T09:00:00.000Z"]


def test_the_present_is_the_end_of_the_latest_session_wherever_it_stands() -> None:
    late, early = session("a", NOON, ("user", "x"), ("user", "y")), session("b", NOON.replace(year=2020), ("user", "z"))

    assert present(Haystack(sessions=(late, early), questions=())) == NOON.replace(second=2)
    assert present(Haystack(sessions=(), questions=())).year == 2020


def asked(name: str, type_name: str, *turns: str) -> Question:
    return Question(
        id=name,
        type=type_name,
        text="?",
        at=None,
        evidence_sessions=frozenset({"s1"}),
        evidence_turns=frozenset(turns),
    )


def test_a_result_has_means_over_all_and_over_each_type() -> None:
    result = Result(left_out=LeftOut(), rerank=False, models={"static": "letters"})
    session_of = {"s1/0": "s1", "s1/1": "s1", "s2/0": "s2"}

    result.search.take(asked("a", "easy", "s1/0"), ["s1/0", "s2/0"], session_of)
    result.search.take(asked("b", "hard", "s1/0"), ["s2/0", "s1/1"], session_of)
    result.milliseconds += [3.0, 1.0]
    found = result.to_json()

    assert (found["questions"], found["turn_questions"]) == (2, 2)
    assert (found["turn"]["any@1"], found["session"]["any@1"], found["session"]["any@5"]) == (0.5, 0.5, 1.0)
    assert found["by_type"]["easy"]["turn"]["mrr"] == 1
    assert found["by_type"]["hard"]["turn"]["mrr"] == 0
    assert found["by_type"]["hard"]["session"]["mrr"] == 0.5
    assert found["milliseconds"] == {"p50": 1.0, "p95": 3.0}


def test_a_question_with_evidence_by_session_alone_counts_for_sessions_alone() -> None:
    result = Result(left_out=LeftOut(), rerank=False, models={})

    result.search.take(asked("a", "easy"), ["s1/0"], {"s1/0": "s1"})
    found = result.to_json()

    assert (found["questions"], found["turn_questions"]) == (1, 0)
    assert found["turn"] == {}
    assert found["session"]["any@1"] == 1
