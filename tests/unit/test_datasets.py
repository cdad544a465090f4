"""Sets of questions: the neutral format and the official files, whole and broken."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_sets import (
    MEASURED,
    QUESTIONS,
    SESSIONS,
    locomo_sample,
    longmemeval_instances,
    write_lines,
    write_neutral,
)

from recollect.errors import Invalid, NotFound
from recollect.evaluation import Haystack, open_set
from recollect.evaluation.datasets import spread


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def questions(haystacks: list[Haystack]) -> list[str]:
    return [question.id for haystack in haystacks for question in haystack.questions]


# The neutral format


def test_questions_with_the_same_haystack_are_asked_together(tmp_path: Path) -> None:
    found = open_set("recall-set", write_neutral(tmp_path))
    first, second = found.haystacks()

    assert [session.id for session in first.sessions] == ["g/s1", "g/s2", "g/s3"]
    assert [question.id for question in first.questions] == ["g/q0", "g/q1"]
    assert [session.id for session in second.sessions] == ["g/s2", "g/s1"]
    assert [question.id for question in second.questions] == ["g/q3"]


def test_a_session_stands_at_the_date_its_haystack_gives_it(tmp_path: Path) -> None:
    first, second = open_set("recall-set", write_neutral(tmp_path)).haystacks()

    assert first.sessions[1].at == datetime(2023, 6, 20, 9, tzinfo=UTC)
    assert second.sessions[0].at == datetime(2023, 6, 19, 9, tzinfo=UTC)
    assert second.questions[0].at == datetime(2023, 6, 21, 9, tzinfo=UTC)
    assert first.questions[0].at is None


def test_questions_to_be_refused_and_those_without_evidence_are_left_out_and_counted(tmp_path: Path) -> None:
    write_lines(tmp_path / "sessions.jsonl", SESSIONS)
    nowhere = {**QUESTIONS[0], "question_id": "x", "evidence_sessions": ["else"], "evidence_turns": ["else/1"]}
    refused = {**QUESTIONS[0], "question_id": "y_abs"}
    write_lines(tmp_path / "questions.jsonl", [*QUESTIONS, nowhere, refused])

    found = open_set("recall-set", tmp_path)

    assert found.questions == MEASURED
    assert found.left_out.questions == {"abstention": 2, "no evidence": 1}
    assert found.left_out.evidence == 2


def test_a_limit_takes_questions_from_all_over_the_set_and_always_the_same(tmp_path: Path) -> None:
    write_lines(tmp_path / "sessions.jsonl", SESSIONS)
    write_lines(tmp_path / "questions.jsonl", [{**QUESTIONS[0], "question_id": f"q{n}"} for n in range(10)])

    found = open_set("recall-set", tmp_path, limit=4)

    assert found.questions == 4
    assert questions(list(found.haystacks())) == questions(list(found.haystacks())) == ["q0", "q2", "q5", "q7"]
    assert open_set("recall-set", tmp_path, limit=99).questions == 10


@given(st.integers(1, 500), st.integers(1, 600))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_a_spread_has_as_many_places_as_asked_for_and_even_steps(total: int, limit: int) -> None:
    places = spread(total, limit)

    assert len(set(places)) == len(places) == min(total, limit)
    assert places[0] == 0
    if limit <= total:
        steps = [after - before for before, after in zip(places, [*places[1:], total], strict=True)]
        assert max(steps) - min(steps) <= 1


@pytest.mark.parametrize(
    ("file", "line", "expected"),
    [
        ("sessions.jsonl", "{", "line 4"),
        ("sessions.jsonl", '{"session_id": "a"}', "turns"),
        ("sessions.jsonl", '{"session_id": "a", "turns": [{"turn_id": 3}]}', "Expected {session_id"),
        ("sessions.jsonl", '{"session_id": "a", "at": "soon", "turns": []}', "ISO 8601"),
        ("sessions.jsonl", '{"session_id": "g/s1", "turns": []}', "was there before"),
        ("questions.jsonl", "[]", "Expected {question_id"),
        (
            "questions.jsonl",
            json.dumps({**QUESTIONS[0], "haystack": ["nowhere"]}),
            "session nowhere, which is not in sessions.jsonl",
        ),
        ("questions.jsonl", json.dumps({**QUESTIONS[0], "haystack": ["g/s1", "g/s1"]}), "stands twice"),
    ],
)
def test_a_broken_line_is_named_with_what_was_expected(tmp_path: Path, file: str, line: str, expected: str) -> None:
    write_neutral(tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")
    number = len(SESSIONS) + 1 if file == "sessions.jsonl" else len(QUESTIONS) + 1

    with pytest.raises(Invalid) as refused:
        open_set("recall-set", tmp_path)

    assert f"{tmp_path / file}, line {number}" in str(refused.value)
    assert expected in str(refused.value)


# LoCoMo


def test_locomo_becomes_what_the_neutral_copy_has(tmp_path: Path) -> None:
    found = open_set("locomo", write(tmp_path / "locomo10.json", [locomo_sample()]))
    [haystack] = found.haystacks()

    assert [session.id for session in haystack.sessions] == ["g/s1", "g/s2", "g/s3"]
    assert [session.at for session in haystack.sessions] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 6, 20, 9, tzinfo=UTC),
        datetime(2023, 8, 2, 18, 30, tzinfo=UTC),
    ]
    assert haystack.sessions[1].turns[0].id == "g/D2:1"
    assert haystack.sessions[1].turns[0].speaker == "Ben"
    assert haystack.sessions[2].turns[0].text.endswith("this week! [shared a photo: a photo of a basket]")
    assert [(question.id, question.type) for question in haystack.questions] == [
        ("g/q0", "single-hop"),
        ("g/q1", "multi-hop"),
        ("g/q2", "adversarial"),
    ]


def test_untidy_references_of_locomo_are_read_and_those_that_lead_nowhere_counted(tmp_path: Path) -> None:
    found = open_set("locomo", write(tmp_path / "locomo10.json", [locomo_sample()]))
    [haystack] = found.haystacks()
    _, two, untidy = haystack.questions

    assert two.evidence_turns == {"g/D1:1", "g/D3:1"}
    assert two.evidence_sessions == {"g/s1", "g/s3"}
    assert untidy.evidence_turns == {"g/D1:2"}
    assert found.left_out.evidence == 2
    assert found.left_out.questions == {"no evidence": 1}


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != name}


def test_a_broken_locomo_file_is_named_with_the_element_and_what_was_expected(tmp_path: Path) -> None:
    sample = locomo_sample()
    sample["conversation"]["session_2_date_time"] = "last Tuesday"
    for broken, expected in (
        ([locomo_sample(), without(locomo_sample(), "qa")], "element 2"),
        ([sample], "1:56 pm on 8 May, 2023"),
        ({"data": []}, "is not an array"),
    ):
        path = write(tmp_path / "locomo10.json", broken)
        with pytest.raises(Invalid, match=expected) as refused:
            open_set("locomo", path)
        assert str(path) in str(refused.value)


# LongMemEval


def test_longmemeval_is_one_haystack_for_each_question(tmp_path: Path) -> None:
    found = open_set("longmemeval", write(tmp_path / "longmemeval_s.json", longmemeval_instances()))
    haystack, refused = found.haystacks()
    [question] = haystack.questions

    assert refused.questions == ()
    assert found.left_out.questions == {"abstention": 1}
    assert [session.id for session in haystack.sessions] == ["answer_1", "noise", "noise#2"]
    assert haystack.sessions[0].at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert question.at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert (question.evidence_sessions, question.evidence_turns) == ({"answer_1"}, {"answer_1/0"})


def test_a_broken_longmemeval_file_is_named_with_the_element_and_what_was_expected(tmp_path: Path) -> None:
    good, other = longmemeval_instances()
    for broken, expected in (
        ([good, {**other, "haystack_dates": []}], "element 2: 3 ids, 0 dates and 3 sessions"),
        ([{**good, "question_date": "May"}], "Expected such as '2023/05/30"),
        ([{**good, "haystack_dates": ["2023/13/45 (Sat) 99:99"] * 3}], "is no time"),
        ([without(good, "question")], "element 1"),
        ([3], "element 1"),
    ):
        path = write(tmp_path / "longmemeval_s.json", broken)
        with pytest.raises(Invalid, match="Expected") as refused:
            open_set("longmemeval", path)
        assert expected in str(refused.value)


def test_a_file_that_ends_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "longmemeval_s.json", longmemeval_instances())
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")

    with pytest.raises(Invalid, match="ends in the middle"):
        open_set("longmemeval", path)


# All of them


@pytest.mark.parametrize("kind", ["recall-set", "locomo", "longmemeval"])
def test_a_set_that_is_not_there_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(NotFound, match="nothing-here"):
        open_set(kind, tmp_path / "nothing-here")


def test_a_folder_where_a_file_is_expected_and_the_other_way_round_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "some.json", [])

    with pytest.raises(Invalid, match="is a folder"):
        open_set("locomo", tmp_path)
    with pytest.raises(Invalid, match="is a file"):
        open_set("recall-set", file)
    with pytest.raises(Invalid, match="no question with evidence"):
        open_set("locomo", file)
    with pytest.raises(Invalid, match="recall-set, locomo, longmemeval"):
        open_set("squad", file)
