"""Commands that read history, asked as an agent sees the house."""

from pathlib import Path

import pytest
from commands import run
from transcripts import Transcript

import recollect


@pytest.fixture
def divided(home: Path, projects: Path) -> Path:
    """A home in which the sibling's history is bound to it."""
    for name in ("house", "sibling"):
        told = Transcript(name).exchanges(1, f"the {name}-word")
        folder = projects / f"-{name}"
        folder.mkdir()
        (folder / f"{told.session_id}.jsonl").write_bytes(told.raw)
    with recollect.open(home=home) as memory:
        memory.agents.add("ada")
        memory.agents.add("sibling")
        memory.agents.bind("sibling", "claude-code", "-sibling")
        memory.history.ingest([projects])
    return home


def test_conversations_are_those_that_the_agent_sees(divided: Path) -> None:
    assert len(run("conversations", "--json", home=divided).json()) == 2
    seen = run("conversations", "--agent", "ada", "--json", home=divided).json()
    assert [item["title"] for item in seen] == ["Question 0 about the house-word?"]


def test_a_conversation_of_a_sibling_is_not_there(divided: Path) -> None:
    session = Transcript("sibling").session_id

    assert "sibling-word" in run("show", session, home=divided).out
    refused = run("show", session, "--agent", "ada", home=divided)
    assert refused.code == 3
    assert refused.explains("No conversation is called")
    assert "sibling-word" not in refused.err + refused.out


def test_sql_asks_of_what_the_agent_sees(divided: Path) -> None:
    query = "SELECT count(*) AS number FROM messages"

    assert run("sql", query, "--json", home=divided).json()["rows"] == [[4]]
    assert run("sql", query, "--agent", "ada", "--json", home=divided).json()["rows"] == [[2]]


def test_sql_without_a_query_lists_what_was_said_and_what_was_learned(divided: Path) -> None:
    views = run("sql", "--agent", "ada", "--json", home=divided).json()["views"]

    assert {"messages", "records", "record_versions", "record_events", "record_sources"} <= views.keys()
    assert "scope" in views["files"]
    assert views["record_sources"] == ["record_id", "message_id"]


def test_an_unknown_agent_is_named(divided: Path) -> None:
    for arguments in (["conversations"], ["show", "x"], ["sql", "SELECT 1"]):
        refused = run(*arguments, "--agent", "nobody", home=divided)
        assert refused.code == 3
        assert refused.explains("nobody", "recollect agents")
