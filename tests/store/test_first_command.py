"""What is proposed to be typed first, after the first pass: it finds the conversation that it takes its words from."""

import shlex
from datetime import timedelta
from pathlib import Path

import pytest
from transcripts import START, Transcript

from recollect import Memory
from recollect.errors import Unavailable
from recollect.history import Listed
from recollect.recall import Recall
from recollect.welcome import first_command, open_demo


def told(name: str, title: str, *, days: int = 0) -> Transcript:
    story = Transcript(name, start=START + timedelta(days=days))
    story.user(title)
    story.assistant("That can be done.")
    return story


def listed(memory: Memory, projects: Path, *stories: Transcript) -> list[Listed]:
    for story in stories:
        story.save(projects)
    memory.history.ingest([projects])
    memory.recall.catch_up()
    return memory.history.conversations(limit=100)


def command_of(memory: Memory, projects: Path, *stories: Transcript) -> list[str]:
    return shlex.split(first_command(memory, listed(memory, projects, *stories)))


def test_the_words_that_tell_most_are_searched_for(memory: Memory, projects: Path) -> None:
    others = [told(f"other {day}", f"A little list of tasks for day {day}", days=day) for day in range(5)]
    latest = told("latest", "OK, we're going to make a little list: tasks for lentils, medlars, quinces", days=9)
    assert command_of(memory, projects, *others, latest) == ["search", "going lentils medlars quinces"]


def test_a_conversation_that_its_title_does_not_find_gives_way_to_the_next(memory: Memory, projects: Path) -> None:
    old, latest = told("old", "Where do the medlars grow?"), told("latest", "Where do the quinces grow?", days=9)
    latest.custom_title("Medlars")
    old_id = "".join(item.conversation.id for item in listed(memory, projects, old))
    assert command_of(memory, projects, latest) == ["search", "medlars grow"]
    assert [hit.conversation for hit in memory.recall.search("medlars grow", limit=1).hits] == [old_id]


def test_where_no_title_finds_anything_the_latest_is_shown(memory: Memory, projects: Path) -> None:
    old, latest = told("old", "What is it?"), told("latest", "Is it so?", days=3)
    kind, name = command_of(memory, projects, old, latest)
    shown = memory.history.conversations(limit=1)[0]
    assert kind == "show"
    assert shown.title == "Is it so?"
    assert shown.conversation.id.startswith(name)


def test_without_an_index_the_latest_is_shown(memory: Memory, projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[str]:
        raise Unavailable("The index cannot be opened.")

    monkeypatch.setattr(Recall, "rarest", fail)
    assert command_of(memory, projects, told("medlars", "Where do the medlars grow?"))[0] == "show"


def test_without_conversations_they_are_listed(memory: Memory) -> None:
    assert first_command(memory, []) == "conversations"


def test_the_demo_house_is_searched_by_telling_words(memory: Memory) -> None:
    _, found, command = open_demo(memory)
    assert found[0].title == "A seed list for two sisters"
    assert command == "search 'seed list two sisters'"
