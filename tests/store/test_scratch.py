"""Scratch pages: two weeks, unless they are promoted. On both engines."""

from pathlib import Path

import pytest

import recollect
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.notes import Action
from recollect.testing import FrozenClock
from tests.interrupting import InterruptingClock

FOLDER = "agents/assistant/scratch"


def test_a_page_that_nobody_changed_for_two_weeks_expires(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.notes.scratch.write("old.md", "An idea.")
    memory.notes.scratch.write("kept/young.md", "An idea.")
    memory.notes.write("agents/assistant/scratch.md", "No scratch page.")
    clock.move(days=13)
    memory.notes.scratch.write("kept/young.md", "A better idea.")
    assert memory.notes.scratch.expire() == []
    clock.move(days=1)

    (gone,) = memory.notes.scratch.expire()
    assert (gone.path, gone.action, gone.is_gone) == (f"{FOLDER}/old.md", Action.EXPIRED, True)
    assert (gone.actor, gone.actor_name, gone.reason) == ("rule", "expiry", "Unchanged for 14 days")
    assert not (memory.notes.folder / gone.path).exists()
    assert memory.notes.find(f"{FOLDER}/kept/young.md")
    assert memory.notes.scratch.expire() == []


def test_an_expired_page_can_be_brought_back_for_two_more_weeks(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.notes.scratch.write("old.md", "An idea.")
    clock.move(days=15)
    memory.notes.scratch.expire()
    memory.notes.undo(f"{FOLDER}/old.md")
    assert memory.notes.scratch.expire() == []
    assert memory.notes.read(f"{FOLDER}/old.md").text == "An idea."


def test_a_change_with_another_tool_counts(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.notes.scratch.write("old.md", "An idea.")
    clock.move(days=15)
    (memory.notes.folder / FOLDER / "old.md").write_text("A better idea.", encoding="utf-8")
    assert memory.notes.scratch.expire() == []
    assert memory.notes.read(f"{FOLDER}/old.md").text == "A better idea."


def test_a_page_that_is_changed_in_the_moment_it_expires_stays(home: Path, engine: str) -> None:
    clock = InterruptingClock()
    with recollect.open(home=home, database=engine, clock=clock) as memory:
        memory.notes.scratch.write("old.md", "An idea.")
        file = memory.notes.folder / FOLDER / "old.md"
        clock.move(days=15)
        clock.then = lambda: file.write_text("A better idea.", encoding="utf-8")
        assert memory.notes.scratch.expire() == []
        assert file.read_text(encoding="utf-8") == "A better idea."


def test_a_promoted_page_stays_and_tells_where_it_came_from(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.notes.scratch.write("beans.md", "They climb.")
    (moved,) = memory.notes.scratch.promote("beans.md", "projects/garden/beans.md", reason="It grew.")
    assert (moved.path, moved.action, moved.moved_from) == (
        "projects/garden/beans.md",
        Action.PROMOTED,
        f"{FOLDER}/beans.md",
    )
    assert (moved.actor, moved.reason) == ("person", "It grew.")
    clock.move(days=30)
    assert memory.notes.scratch.expire() == []
    assert memory.notes.read("projects/garden/beans.md").text == "They climb."
    assert memory.notes.history(f"{FOLDER}/beans.md")[-1].is_gone


def test_a_promotion_that_cannot_be_is_refused(memory: recollect.Memory) -> None:
    memory.notes.scratch.write("beans.md", "They climb.")
    memory.notes.write("user.md", "Likes beans.")
    with pytest.raises(Invalid, match="scratch"):
        memory.notes.scratch.promote("beans.md", f"{FOLDER}/peas.md")
    with pytest.raises(Conflict):
        memory.notes.scratch.promote("beans.md", "user.md")
    with pytest.raises(NotFound):
        memory.notes.scratch.promote("peas.md", "peas.md")
    assert memory.notes.read(f"{FOLDER}/beans.md").text == "They climb."


def test_an_agent_lets_only_its_own_pages_expire(memory: recollect.Memory, clock: FrozenClock) -> None:
    for name in ("ada", "bob"):
        memory.agents.add(name)
        memory.as_agent(name).notes.scratch.write("idea.md", name)
    clock.move(days=15)
    assert [one.path for one in memory.as_agent("ada").notes.scratch.expire()] == ["agents/ada/scratch/idea.md"]
    assert [one.path for one in memory.notes.scratch.expire()] == ["agents/bob/scratch/idea.md"]


def test_an_agent_promotes_only_where_it_may_write(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    notes = memory.as_agent("ada").notes
    notes.scratch.write("idea.md", "Beans.")
    with pytest.raises(Denied):
        notes.scratch.promote("idea.md", "ideas.md")
    (moved,) = notes.scratch.promote("agents/ada/scratch/idea.md", "agents/ada/ideas.md")
    assert (moved.actor, moved.actor_name) == ("agent", "ada")
