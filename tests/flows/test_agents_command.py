"""`recollect agents`: who sees what, as people and programs manage it."""

from pathlib import Path
from typing import Any

import pytest
from commands import run
from exports import Rollout
from transcripts import Transcript, write


def told(home: Path, *arguments: object) -> Any:
    done = run("agents", *arguments, "--json", home=home)
    assert done.code == 0, done.err
    return done.json()


def test_agents_and_rooms_are_listed_below_the_house(home: Path) -> None:
    assert told(home, "add", "ada")["parent"] == "house"
    assert told(home, "add", "bo", "--parent", "ada")["parent"] == "ada"
    assert told(home, "add", "ada/kitchen")["kind"] == "room"
    assert told(home, "grant", "ada", "house") == {"scope": "ada", "target": "house", "granted": True}

    listed = {item["id"]: item for item in told(home)}

    assert listed.keys() == {"ada", "bo", "ada/kitchen"}
    assert listed["ada"].keys() == {"id", "kind", "parent", "made_at", "may_write_in", "bound"}
    assert (listed["ada"]["may_write_in"], listed["bo"]["may_write_in"]) == (["house"], [])
    rows = run("agents", home=home).out.splitlines()
    assert [row.split()[0] for row in rows] == ["name", "house", "ada", "ada/kitchen", "bo"]
    assert [len(row) - len(row.lstrip()) for row in rows] == [0, 0, 2, 4, 4]
    assert "ada, house" in rows[2]


def test_a_house_without_agents_says_how_to_begin(home: Path) -> None:
    assert "recollect agents add NAME" in run("agents", home=home).out
    assert told(home) == []


def test_a_grant_is_taken_back_and_an_agent_removed(home: Path) -> None:
    told(home, "add", "ada")
    told(home, "grant", "ada", "house")

    assert told(home, "revoke", "ada", "house")["granted"] is False
    assert told(home)[0]["may_write_in"] == []
    assert told(home, "remove", "ada") == {"removed": "ada"}
    assert told(home) == []


def test_a_bound_history_is_seen_by_its_agent_and_those_below(home: Path, projects: Path) -> None:
    Transcript("garden").exchanges(2).save(projects)
    rollout = Rollout("bridge").say(2)
    write(home.parent / "rollouts" / rollout.name, rollout.raw)
    assert run("ingest", projects, home.parent / "rollouts", home=home).code == 0
    told(home, "add", "ada")
    told(home, "add", "bo")

    assert told(home, "bind", "ada", "--source", "codex") == {
        "source": "codex",
        "below": "",
        "scope": "ada",
        "files_moved": 1,
    }
    assert told(home)[0]["bound"] == [{"source": "codex", "below": ""}]
    assert "codex" in run("agents", home=home).out
    by_bo = run("search", "question", "--agent", "bo", "--limit", 50, "--json", home=home).json()
    assert {hit["source"] for hit in by_bo["hits"]} == {"claude-code"}
    by_ada = run("search", "question", "--agent", "ada", "--limit", 50, "--json", home=home).json()
    assert {hit["source"] for hit in by_ada["hits"]} == {"claude-code", "codex"}

    assert told(home, "unbind", "--source", "codex")["files_moved"] == 1
    assert told(home)[0]["bound"] == []


def test_only_files_below_a_prefix_are_bound(home: Path, projects: Path) -> None:
    garden = Transcript("garden").exchanges(2)
    garden.save(projects)
    assert run("ingest", projects, home=home).code == 0
    told(home, "add", "ada")

    assert told(home, "bind", "ada", "--source", "claude-code", "--below", "-home-eve")["files_moved"] == 0
    assert told(home, "bind", "ada", "--source", "claude-code", "--below", garden.key[:10])["files_moved"] == 1
    assert f"claude-code below {garden.key[:10]}" in run("agents", home=home).out
    assert (
        "1 file moved" in run("agents", "unbind", "--source", "claude-code", "--below", garden.key[:10], home=home).out
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["add", "Ada Lovelace"], 2, ["'Ada Lovelace'", "lower-case"]),
        (["add", "house"], 2, ["'house'"]),
        (["add", "ada"], 5, ["'ada'", "there already"]),
        (["add", "eve", "--parent", "nobody"], 3, ["'nobody'"]),
        (["add", "eve", "--parent", "ada/kitchen"], 2, ["room"]),
        (["remove", "nobody"], 3, ["'nobody'", "recollect agents"]),
        (["remove", "house"], 2, ["house"]),
        (["remove", "ada"], 5, ["below it"]),
        (["grant", "ada", "bo"], 2, ["not above"]),
        (["revoke", "ada", "house"], 3, ["not granted"]),
        (["bind", "ada", "--source", "netscape"], 2, ["'netscape'", "claude-code"]),
        (["bind", "nobody", "--source", "codex"], 3, ["'nobody'"]),
        (["bind", "ada"], 2, ["--source"]),
        (["unbind", "--source", "codex"], 3, ["'codex'"]),
        (["frobnicate"], 2, ["frobnicate"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_a_mistake_is_named_with_the_next_step(arguments: list[str], code: int, words: list[str], home: Path) -> None:
    for name in ("ada", "ada/kitchen", "bo"):
        told(home, "add", name)

    done = run("agents", *arguments, home=home)

    assert (done.code, done.out) == (code, "")
    assert done.explains(*words)
    assert run("agents", *arguments, "--json", home=home).json()["error"]["message"]
    assert len(told(home)) == 3


def test_an_agent_for_whom_something_is_kept_is_not_removed(home: Path) -> None:
    told(home, "add", "ada")
    assert run("remember", "Ada has the key.", "--agent", "ada", home=home).code == 0

    done = run("agents", "remove", "ada", home=home)

    assert done.code == 5
    assert done.explains("are kept: 1")
