"""`recollect eval`: a set goes in as transcripts would, and the same figures come out each time."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from commands import run
from recall_sets import MEASURED, QUESTIONS, SESSIONS, locomo_sample, longmemeval_instances, write_lines, write_neutral

from recollect.evaluation import evaluate, open_set
from recollect.settings import Settings

MEASURES = {"any@1", "any@5", "all@5", "recall@5", "recall@10", "ndcg@10", "mrr"}
STATIC_ONLY = Settings(deep_model="", rerank_model="")


def test_a_set_is_taken_in_searched_and_measured(tmp_path: Path) -> None:
    heard: list[int] = []
    data = open_set("recall-set", write_neutral(tmp_path))

    result = evaluate(data, STATIC_ONLY, on_progress=heard.append)
    found = result.to_json()

    assert sum(heard) == found["questions"] == MEASURED
    assert found["searched"] == {"haystacks": 2, "sessions": 5, "turns": 11}
    assert found["left_out"] == {"questions": {"abstention": 1}, "evidence": 0, "turns": 0}
    assert found["turn"]["recall@10"] == 1  # Fewer than ten turns: each must be found and known again.
    assert found["turn"]["any@1"] == 1
    assert found["baselines"]["bm25"]["turn"]["any@1"] == 1
    assert found["models"]["deep"] is None
    assert len(result.milliseconds) == MEASURED


def test_the_same_set_gives_the_same_figures(tmp_path: Path) -> None:
    data = open_set("recall-set", write_neutral(tmp_path))

    first, second = (evaluate(data, STATIC_ONLY).to_json() for _ in range(2))

    assert {**first, "milliseconds": None} == {**second, "milliseconds": None}


def test_nothing_outside_the_haystack_is_found(tmp_path: Path) -> None:
    write_lines(tmp_path / "sessions.jsonl", SESSIONS)
    narrow = {**QUESTIONS[1], "question_id": "narrow", "haystack": ["g/s2"]}
    narrow |= {"evidence_sessions": ["g/s2"], "evidence_turns": ["g/D2:1", "g/D2:2", "g/D2:3"]}
    write_lines(tmp_path / "questions.jsonl", [QUESTIONS[1], narrow])

    found = evaluate(open_set("recall-set", tmp_path), STATIC_ONLY).to_json()

    # Asked about beans, of which the narrow haystack does not speak; the sessions that do are not there to be found.
    assert found["session"]["any@1"] == 1


def test_the_baselines_read_the_names_that_search_reads(tmp_path: Path) -> None:
    write_lines(tmp_path / "sessions.jsonl", SESSIONS)
    named = {**QUESTIONS[0], "question": "Ben?", "haystack": ["g/s1"]}
    named |= {"evidence_sessions": ["g/s1"], "evidence_turns": ["g/D1:2"]}
    write_lines(tmp_path / "questions.jsonl", [named])

    found = evaluate(open_set("recall-set", tmp_path), STATIC_ONLY).to_json()

    assert found["turn"]["any@1"] == found["baselines"]["bm25"]["turn"]["any@1"] == 1


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = open_set("recall-set", write_neutral(tmp_path / "set"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    evaluate(data, STATIC_ONLY)

    assert list(scratch.iterdir()) == []


@pytest.fixture
def house(home: Path) -> Path:
    """A home without models: nothing is fetched, whatever is asked for."""
    home.mkdir(parents=True)
    return home


def offline(*arguments: object, home: Path) -> Any:
    return run(*arguments, home=home, variables={"PIP_NO_INDEX": "1"})


def test_the_json_of_a_recall_set_is_as_promised(tmp_path: Path, house: Path) -> None:
    folder = write_neutral(tmp_path / "set")

    done = offline("eval", "recall-set", "--data", folder, "--no-fetch", "--json", home=house)
    found = done.json()

    assert done.code == 0, done.err
    assert found["questions"] == MEASURED
    assert found["turn"].keys() >= MEASURES
    assert found["session"].keys() >= MEASURES
    assert found["by_type"].keys() == {"single-hop", "multi-hop"}
    assert all(one["turn"].keys() >= MEASURES <= one["session"].keys() for one in found["by_type"].values())
    assert found["milliseconds"].keys() == {"p50", "p95"}
    assert found["baselines"].keys() == {"bm25", "vectors"}
    assert all(one[level].keys() >= MEASURES for one in found["baselines"].values() for level in ("turn", "session"))
    assert list(house.iterdir()) == []


def test_the_official_files_give_the_same_shape(tmp_path: Path, house: Path) -> None:
    locomo, longmemeval = tmp_path / "locomo10.json", tmp_path / "longmemeval_s.json"
    locomo.write_text(json.dumps([locomo_sample()]), encoding="utf-8")
    longmemeval.write_text(json.dumps(longmemeval_instances()), encoding="utf-8")

    first = offline("eval", "locomo", "--data", locomo, "--no-fetch", "--json", home=house).json()
    second = offline("eval", "longmemeval", "--data", longmemeval, "--no-fetch", "--json", home=house).json()

    assert first.keys() == second.keys()
    assert (first["questions"], second["questions"]) == (3, 1)
    assert second["turn"]["any@1"] == 1


def test_people_read_tables(tmp_path: Path, house: Path) -> None:
    folder = write_neutral(tmp_path / "garden")

    done = offline("eval", "recall-set", "--data", folder, "--no-fetch", "--limit", 2, home=house)

    assert done.code == 0, done.err
    assert "garden: 2 questions" in done.out
    for word in ("search", "bm25", "vectors", "single-hop", "recall@10", "ms at the median", "1 question (abstention)"):
        assert word in done.out


def test_a_model_that_cannot_be_fetched_is_said_to_be_missing_and_the_rest_goes_on(tmp_path: Path, house: Path) -> None:
    folder = write_neutral(tmp_path / "set")

    done = offline("eval", "recall-set", "--data", folder, "--json", home=house)

    assert done.code == 0, done.err
    assert done.explains("Fetching", "e5-small-v2", "Without e5-small-v2")
    assert any("e5-small-v2" in lack for lack in done.json()["lacks"])
    assert done.json()["models"]["deep"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["recall-set", "--data", "nowhere"], 3, ["nowhere", "--data"]),
        (["recall-set"], 2, ["--data"]),
        (["squad", "--data", "x"], 2, ["recall-set"]),
        (["recall-set", "--data", ".", "--limit", "0"], 2, ["--limit"]),
    ],
)
def test_wrong_usage_is_explained(house: Path, arguments: list[str], code: int, words: list[str]) -> None:
    done = offline("eval", *arguments, "--no-fetch", home=house)

    assert done.code == code
    assert done.explains(*words)


def test_a_broken_set_is_explained_before_anything_is_done(tmp_path: Path, house: Path) -> None:
    folder = write_neutral(tmp_path / "set")
    (folder / "questions.jsonl").write_text('{"question": "Why?"}\n', encoding="utf-8")

    done = offline("eval", "recall-set", "--data", folder, "--json", home=house)

    assert done.code == 2
    assert done.explains("questions.jsonl, line 1", "Expected {question_id")
    assert "Fetching" not in done.err
