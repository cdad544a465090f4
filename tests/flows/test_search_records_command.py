"""`recollect search` over what was learned: by type, by date, as an agent."""

import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from commands import run
from transcripts import Transcript

import recollect
from recollect.knowledge import Evidence, Statement
from recollect.testing import FrozenClock


@pytest.fixture
def house(home: Path, projects: Path) -> Path:
    """A garden in which something was learned, corrected, and learned by an agent alone."""
    told = Transcript("garden", cwd="/home/ada/garden")
    told.user("When do I sow beans?")
    told.assistant("In the middle of May.")
    told.save(projects)
    clock = FrozenClock(datetime.now(UTC) - timedelta(days=10))
    with recollect.open(home, clock=clock) as memory:
        memory.history.ingest([projects])
        said = memory.recall.search("sow beans").hits[0]
        statement = Statement(
            text="Beans are sown in April.", subject="beans", attribute="sown", sources=(Evidence(message_id=said.id),)
        )
        record = memory.knowledge.learn(statement).record
        assert record
        clock.move(minutes=5 * 24 * 60)
        memory.knowledge.edit(record.id, "Beans are sown in May.")
        memory.agents.add("ada")
        memory.agents.add("bert")
        memory.knowledge.remember("Ada hides the bean seeds in the tin.", scope="ada")
    return home


def hits(home: Path, *arguments: object) -> list[dict[str, Any]]:
    done = run("search", *arguments, "--json", home=home)
    assert (done.code, done.err) == (0, "")
    return done.json()["hits"]


def texts(home: Path, *arguments: object) -> set[str]:
    return {hit["text"] for hit in hits(home, "beans sown", *arguments)}


def test_people_read_that_it_is_a_record_and_how_it_came_to_be(house: Path) -> None:
    done = run("search", "beans sown", "--type", "facts", "--limit", 1, home=house)
    heading, snippet, why, show, *_ = done.out.splitlines()

    assert heading.split("  ")[1:] == ["◆ Record", "garden", "told"]
    assert snippet == "    Beans are sown in May."
    _, command, *arguments = shlex.split(why)
    assert command == "why"
    assert "Beans are sown in May." in run(command, *arguments, home=house).out
    _, *arguments = shlex.split(show)
    assert "When do I sow beans?" in run(*arguments, home=house).out
    assert "--resume" not in done.out


def test_programs_read_the_kind_and_where_it_is_from(house: Path) -> None:
    (record,) = [hit for hit in hits(house, "beans sown in May", "--type", "facts") if "May" in hit["text"]]
    (said,) = hits(house, "sow beans", "--author", "user")

    assert (record["kind"], record["author"], record["source"], record["resume"]) == ("record", "record", "told", "")
    assert (record["conversation"], record["line"]) == (said["conversation"], said["line"])


def test_types_and_dates_are_kept(house: Path) -> None:
    said = {"When do I sow beans?", "In the middle of May."}
    then = (datetime.now(UTC) - timedelta(days=7)).isoformat()

    assert texts(house, "--type", "conversations") == said
    assert texts(house, "--type", "facts") == {"Beans are sown in May.", "Ada hides the bean seeds in the tin."}
    assert texts(house, "--type", "facts", "--as-of", then) == {"Beans are sown in April."}


def test_an_agent_finds_what_it_may_see(house: Path) -> None:
    assert "Ada hides the bean seeds in the tin." in texts(house, "--agent", "ada")
    assert "Ada hides the bean seeds in the tin." not in texts(house, "--agent", "bert")
    assert "Beans are sown in May." in texts(house, "--agent", "bert")
