"""Contexts when things go wrong around them: files that are no notes, clocks that err, no room, several at once."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import OpenHouse
from transcripts import Transcript
from turns import Talk, section

import recollect
from recollect.context import Context, Pipeline, SectionSpec
from recollect.context.pipelines import DEFAULTS
from recollect.context.state import Reason, State, drop_states, keep, load
from recollect.errors import Invalid
from recollect.testing import FrozenClock

CONVERSATION = DEFAULTS["conversation"]
LONG = "\n\n".join(f"Paragraph {number} about the garden." for number in range(2_000))


@pytest.fixture
def talk(memory: recollect.Memory, clock: FrozenClock, projects: Path) -> Talk:
    return Talk(memory, clock, projects)


# Files that are no notes


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    path.symlink_to("/etc/hosts")


def a_giant(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100_000_000)


@pytest.mark.parametrize("obstruct", [a_folder, a_link, a_giant])
def test_what_is_no_note_keeps_no_context_from_being_made(
    open_house: OpenHouse, obstruct: Callable[[Path], None]
) -> None:
    memory = open_house()
    memory.notes.write("user.md", "Mara.\n")
    first = memory.context.conversation("One.")
    page = memory.notes.folder / "user.md"
    page.unlink()
    obstruct(page)
    second = memory.context.conversation("Two.")
    assert second.text.startswith(first.text)
    assert "change=" not in second.text  # The note is neither changed nor removed: it cannot be seen.
    memory.context.restarted()
    assert section(memory.context.conversation("Three."), "user") == ""
    page.rmdir() if page.is_dir() else page.unlink()
    page.write_text("Mara is back.\n", encoding="utf-8")
    assert 'change="new"' in memory.context.conversation("Four.").added


def test_a_note_that_is_no_text_any_more_was_not_removed(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Mara.\n")
    memory.context.conversation("One.")
    (memory.notes.folder / "user.md").write_bytes(bytes(range(256)))
    told = memory.context.conversation("Two.").added
    assert '<note path="user.md" change="changed" at="2026-03-02 12:00" by="another program"/>\n' in told


def test_a_note_that_gives_way_to_that_of_the_house_is_told_as_removed(memory: recollect.Memory) -> None:
    memory.notes.write("soul.md", "Calm.\n", reason="first")
    memory.notes.write("agents/assistant/soul.md", "Merry.\n", reason="first")
    memory.context.conversation("One.")
    memory.notes.remove("agents/assistant/soul.md", reason="no more")
    told = memory.context.conversation("Two.").added
    assert 'path="agents/assistant/soul.md" change="removed"' in told
    assert 'path="soul.md" change="new"' in told
    memory.notes.write("agents/assistant/soul.md", "Wild.\n", reason="again")
    assert "removed" not in memory.context.conversation("Three.").added


# Clocks that err


def test_a_message_of_a_clock_that_is_ahead_hides_nothing_that_is_said_after_it(
    memory: recollect.Memory, clock: FrozenClock, projects: Path
) -> None:
    sections = tuple(replace(one, messages=4) for one in CONVERSATION.sections)
    talk = Talk(memory, clock, projects, pipeline=replace(CONVERSATION, name="short", sections=sections))
    Transcript("ahead", start=clock.now + timedelta(days=9_000)).exchanges(1, "the future").save(projects)
    talk.take_in()
    made = [talk.turn(f"Question {number}?") for number in range(12)]
    assert [one.reason for one in made].count("trimmed") >= 2
    for number in range(1, 12):
        assert f"Reply number {number}." in made[number].added
    assert "the future" not in made[-1].text


def test_no_contact_was_in_the_future(talk: Talk, clock: FrozenClock) -> None:
    talk.said("Hello?", "Yes.")
    clock.move(seconds=-5)
    assert "Last contact with the user: moments ago." in talk.memory.context.conversation("Well?").text


def test_a_clock_that_was_put_back_far_is_a_gap(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.context.conversation("One.")
    clock.move(minutes=-30)
    assert memory.context.conversation("Two.").reason == ""
    clock.move(days=-400)
    assert memory.context.conversation("Three.").reason == "gap"


# What is kept


@pytest.mark.parametrize("last_at", ["2026-03-02", "2026-03-02T12:00:00", "yesterday"])
def test_a_state_with_a_time_of_no_zone_is_damaged(home: Path, clock: FrozenClock, last_at: str) -> None:
    with recollect.open(home=home, clock=clock) as memory:
        memory.context.conversation("One.")
        path = home / "runtime" / "contexts" / "assistant.conversation.json"
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "last_at": last_at}), encoding="utf-8")
        assert memory.context.conversation("Two.").reason == "first"
        path.write_bytes(b'{"other": ' + b"[" * 100_000)
        assert memory.context.conversation("Three.").reason == "first"


@pytest.mark.skipif(os.name == "nt", reason="no limit on the size of files")
def test_a_state_that_cannot_be_written_leaves_none_that_is_older(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "contexts" / "ada.conversation.json"
    keep(path, State(turn_name="The code is 4711."))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        drop_states(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not path.exists()
    keep(path, State(turn_name="Another."))
    drop_states(tmp_path)
    found = load(path)
    assert found
    assert (found.turn_name, found.pending) == ("", Reason.FORGOTTEN)


def test_of_contexts_asked_for_at_once_each_begins_with_the_one_before(
    home: Path, engine: str, memory: recollect.Memory, clock: FrozenClock
) -> None:
    memory.context.conversation("First.")

    def ask(name: str) -> list[Context]:
        with recollect.open(home=home, database=engine, clock=clock) as opened:
            return [opened.context.conversation(f"{name} {number}.") for number in range(4)]

    with ThreadPoolExecutor(3) as pool:
        made = [one for many in pool.map(ask, ("Ada", "Bert", "Cleo")) for one in many]
    for before, after in pairwise(sorted(made, key=lambda one: len(one.text))):
        assert (after.text.startswith(before.text), after.reason) == (True, "")


# Room


def test_sections_without_a_budget_share_that_of_the_pipeline(memory: recollect.Memory) -> None:
    for name in ("MEMORY.md", "user.md"):
        memory.notes.write(name, LONG)
    pipeline = Pipeline(
        name="own",
        budget_tokens=2_000,
        sections=(
            SectionSpec(name="memory", source="note:MEMORY.md"),
            SectionSpec(name="user", source="note:user.md"),
            SectionSpec(name="history", source="history"),
            SectionSpec(name="trigger", source="trigger"),
        ),
    )
    made = memory.context.build(pipeline, "Hello.")
    assert made.tokens <= 2_000 - 400  # A part is left to what grows.
    assert "Paragraph 0 about the garden." in section(made, "memory")
    after = memory.context.build(pipeline, "A question that is longer than the one before it.")
    assert (after.text.startswith(made.text), after.reason) == (True, "")


def test_notes_make_room_for_a_long_trigger_and_come_back_after_it(talk: Talk) -> None:
    for name in ("MEMORY.md", "user.md", "agents/assistant/soul.md"):
        talk.memory.notes.write(name, LONG, reason="a test")
    long = "words and more words\n" * 5_900
    usual = talk.turn("Hello.")
    made = talk.turn(long)
    assert (made.reason, long in made.text) == ("trimmed", True)
    assert made.tokens <= made.budget_tokens
    after = talk.turn("Thanks.")
    assert after.reason == "trimmed"
    assert section(after, "soul") == section(usual, "soul")
    assert talk.turn("And?").reason == ""


def test_the_budget_that_an_error_asks_for_is_enough(memory: recollect.Memory) -> None:
    for name in ("MEMORY.md", "user.md", "agents/assistant/soul.md"):
        memory.notes.write(name, LONG, reason="a test")
    long = "words and more words\n" * 8_000
    with pytest.raises(Invalid, match="too small") as error:
        memory.context.conversation(long)
    needed = int(str(error.value).partition("Give a budget of ")[2].split()[0].replace(",", ""))
    assert memory.context.conversation(long, budget_tokens=needed).tokens <= needed


def test_what_is_too_much_to_be_told_at_once_is_counted(
    memory: recollect.Memory, clock: FrozenClock, projects: Path
) -> None:
    sections = tuple(replace(one, messages=5) for one in CONVERSATION.sections)
    talk = Talk(memory, clock, projects, pipeline=replace(CONVERSATION, name="short", sections=sections))
    first = talk.memory.context.build(talk.pipeline)
    Transcript("burst", start=clock.now + timedelta(seconds=1)).exchanges(9).save(projects)
    talk.take_in()
    clock.move(minutes=20)
    made = talk.memory.context.build(talk.pipeline)
    assert (made.text.startswith(first.text), made.reason) == (True, "")
    assert "[… 8 earlier messages left out: the archive has them]\n" in made.added
    assert made.left_out == 8
    assert "Question 4 about" in made.added
    assert "Answer 3 about" not in made.added
    assert talk.turn("Well?").text.count("earlier messages left out") == 1


def test_learnings_keep_a_budget_that_is_counted_from_real_usage(memory: recollect.Memory) -> None:
    for number in range(40):
        memory.knowledge.remember(f"Fact {number} about bed {number * 7} and its soil.")
    for _ in range(30):
        memory.runs.record("usage", "done", 0.0, {"model": "m", "bytes": 10_000, "tokens": 9_000})
    learnings = SectionSpec(name="known", source="learnings", budget_tokens=300)
    made = memory.context.build(Pipeline(name="own", budget_tokens=400, sections=(learnings,)))
    assert 0 < made.tokens <= 300


def test_what_is_the_same_costs_nothing_new(memory: recollect.Memory) -> None:
    made = memory.context.heartbeat()
    found = memory.context.difference("heartbeat")
    assert (found.cached_tokens, found.new_tokens, found.lost_tokens) == (made.tokens, 0, 0)


# Who sees what


@pytest.mark.parametrize("source", ["board", "learnings"])
def test_a_record_that_becomes_that_of_another_agent_leaves_the_context(memory: recollect.Memory, source: str) -> None:
    memory.agents.add("ada")
    promise = memory.knowledge.remember("Water the beans.", kind="commitment").record
    other = memory.knowledge.remember("Buy lime.", kind="commitment").record
    assert promise
    assert other
    sections = (SectionSpec(name="known", source=source), SectionSpec(name="trigger", source="trigger"))
    pipeline = Pipeline(name="own", budget_tokens=2_000, sections=sections)
    first = memory.context.build(pipeline, "One.")
    assert "Water the beans." in first.text
    memory.knowledge.edit(other.id, text="Buy sand.")
    memory.knowledge.retract(other.id, reason="done")
    assert memory.context.build(pipeline, "Two.").reason == ""
    memory.knowledge.move(promise.id, "ada")
    made = memory.context.build(pipeline, "Three.")
    assert (made.reason, "Water the beans." in made.text) == ("forgotten", False)


def test_no_agent_is_told_the_name_of_another_that_changed_a_note_of_the_house(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("bert")
    memory.agents.grant("bert", "house")
    ada, bert = memory.as_agent("ada"), memory.as_agent("bert")
    for agent in (ada, bert):
        agent.context.conversation("One.")
    bert.notes.write("user.md", "Mara.\n")
    assert 'by="another agent">\nMara.\n' in ada.context.conversation("Two.").added
    assert 'by="bert">\nMara.\n' in bert.context.conversation("Two.").added


# Words


def test_a_folder_that_is_called_like_a_key_is_masked(talk: Talk) -> None:
    key = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cE3gI5kM7oQ9sU1wY3" + "-AA"
    talk.said("Hello.", "Yes.")
    talk.clock.move(minutes=1)
    other = Talk(talk.memory, talk.clock, talk.projects, "other")
    other.transcript.cwd = f"/home/mara/{key}"
    other.said("Here?", "Here.")
    made = talk.memory.context.conversation("Well?")
    assert "[Another conversation, in [masked:anthropic-key]]" in made.text


def test_a_heartbeat_without_a_trigger_needs_none(memory: recollect.Memory) -> None:
    beat = DEFAULTS["heartbeat"]
    made = memory.context.build(replace(beat, sections=beat.sections[:-1]))
    assert [one.name for one in made.sections] == ["system", "board"]


def test_history_that_begins_later_has_its_heading(talk: Talk) -> None:
    first = talk.turn("One.")
    made = talk.turn("Two.")
    assert "# Recent History\n\n[2026-03-02 12:00] Assistant: Reply number 1.\n" in section(made, "history")
    assert talk.turn("Three.").text.count("# Recent History") == 1
    assert made.text.startswith(first.text)


def test_a_name_is_escaped_once_and_words_of_a_pipeline_are_masked(open_house: OpenHouse) -> None:
    memory = open_house(user_name="Mara & <Co>")
    key = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cE3gI5kM7oQ9sU1wY3" + "-AA"
    words = SectionSpec(name="words", source=f"text:The key is {key}.", order=5)
    made = memory.context.build(replace(CONVERSATION, name="own", sections=(*CONVERSATION.sections, words)), "Hello.")
    assert "you talk with Mara &amp; &lt;Co&gt;." in made.text
    assert '<trigger from="Mara &amp; &lt;Co&gt;"' in made.text
    assert "The key is [masked:" in section(made, "words")


def test_what_was_trimmed_is_not_trimmed_again_in_the_next_turn(
    memory: recollect.Memory, clock: FrozenClock, projects: Path
) -> None:
    """Also where what was told of notes, and not what was said, was too much."""
    usual = CONVERSATION
    sections = [replace(one, budget_tokens=1_500) if one.source == "history" else one for one in usual.sections]
    talk = Talk(memory, clock, projects, pipeline=replace(usual, name="short", sections=tuple(sections)))
    reasons: list[str] = []
    for number in range(40):
        if number % 3 == 0:
            memory.notes.write("user.md", f"In turn {number} she likes {'very ' * (number % 7)} much tea.\n")
        reasons.append(str(talk.turn(f"Words {number}.", f"A reply. {'And more. ' * 8}").reason))
    trimmed = [place for place, reason in enumerate(reasons) if reason == "trimmed"]
    assert len(trimmed) > 2
    assert all(later - before > 2 for before, later in pairwise(trimmed))
