"""Every source, read while it grows: whatever is seen of the files in between, the end is one import of the last state.

Each story of `tests/stories` is told in the true form of its agent, looked at after some of its moves and in the middle
of some writes, and compared with a clean import. What was taken out of a file stays known as gone, and only that may
differ.
"""

from pathlib import Path
from typing import Any

import pytest
from conftest import OpenHouse
from hypothesis import given
from hypothesis import strategies as st
from snapshots import conversations_of, messages_of
from stories import Files, Move, states
from stories.every import STORIES
from stories.looks import EXAMPLES, LOOKS, Look, lay, moves_of, property_with

import recollect
from recollect.history import IngestReport
from recollect.history.messages import Author, Standing
from recollect.history.sources import sources


def grow(memory: recollect.Memory, folder: Path, found: list[Files], looks: list[Look]) -> IngestReport:
    """Read at these moments, and the last state at the end."""
    before: Files = {}
    for number, files in enumerate(found):
        for _, part in sorted(
            (look for look in looks if look[0] % len(found) == number), key=lambda look: look[1] or 2
        ):
            lay(folder, files, before, part)
            memory.history.ingest([folder])
        lay(folder, files, before)
        before = files
    return memory.history.ingest([folder])


def told_by(memory: recollect.Memory) -> dict[str, Any]:
    """All that is not gone."""
    return {
        "messages": [message for message in messages_of(memory) if not message["gone"]],
        "conversations": [item for item in conversations_of(memory) if item["messages"]],
    }


def assert_growing_changes_nothing(
    name: str, open_house: OpenHouse, tmp_path: Path, moves: list[Move], variant: int, looks: list[Look]
) -> None:
    grown, clean = open_house(), open_house()
    folder, at_once = tmp_path / f"{grown.settings.house}/grown", tmp_path / f"{grown.settings.house}/at-once"
    story = STORIES[name](variant)
    found = states(story, moves)

    report = grow(grown, folder, found, looks)
    whole = story.last_files()
    lay(at_once, {} if whole == found[-1] else whole, {})
    last = clean.history.ingest([at_once if at_once.exists() else folder])

    assert report.failed == last.failed == 0, [problem.reason for problem in report.problems + last.problems]
    after = told_by(grown)
    assert after == told_by(clean)
    assert grown.history.ingest([folder]).messages_added == 0
    assert told_by(grown) == after


def test_every_source_has_a_story() -> None:
    assert STORIES.keys() == sources().keys()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_told_in_the_form_of_its_source(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    for variant in range(STORIES[name].variants):
        memory, story = open_house(), STORIES[name](variant)
        for number, move in enumerate(dict.fromkeys(story.moves)):
            story.do((move, number))
        story.do(("prompt", 0))
        story.do(("prompt", 1))
        lay(tmp_path / str(variant), story.files(), {})
        report = memory.history.ingest([tmp_path / str(variant)])
        messages = list(memory.history.export())
        assert report.failed == 0
        assert name in {message.source for message in messages}
        said = [message for message in messages if message.standing is Standing.SAID]
        assert {message.author for message in said} >= {Author.USER}
        assert len(said) >= 3


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_a_source_that_is_read_while_it_grows_is_one_import_of_its_last_state(
    name: str, open_house: OpenHouse, tmp_path: Path
) -> None:
    @property_with(EXAMPLES)
    @given(moves_of(STORIES[name]), st.integers(0, STORIES[name].variants - 1), LOOKS)
    def check(moves: list[Move], variant: int, looks: list[Look]) -> None:
        assert_growing_changes_nothing(name, open_house, tmp_path, moves, variant, looks)

    check()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_the_same_on_the_other_engine(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    @property_with(max(EXAMPLES // 8, 1))
    @given(moves_of(STORIES[name]), st.integers(0, STORIES[name].variants - 1), LOOKS)
    def check(moves: list[Move], variant: int, looks: list[Look]) -> None:
        assert_growing_changes_nothing(name, open_house, tmp_path, moves, variant, looks)

    check()
