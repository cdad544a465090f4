"""Every source, read while it grows: whatever is seen of the files in between, the end is one import of the last state.

Each story of `tests/stories` is told in the true form of its agent, looked at after some of its moves and in the middle
of some writes, and compared with a clean import. What was taken out of a file stays known as gone, and only that may
differ.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import conversations_of, messages_of
from stories import Files, Move, Story, states, torn
from stories.every import STORIES

import recollect
from recollect.history import IngestReport
from recollect.history.messages import Author, Standing
from recollect.history.sources import sources

HUNT = int(os.environ.get("GROWING_EXAMPLES", "0"))
"""So many random examples of each source. Without it a few that are always the same: a landing is no time for luck."""
EXAMPLES = HUNT or 12
WHOLE = (".db", ".sqlite", "-wal", ".project_root")
"""Written by a database, which never shows half a change, or in one go."""

Look = tuple[int, float | None]
"""When the files are read: after a move, or while that much of what it writes is there."""

LOOKS = st.lists(st.tuples(st.integers(0, 40), st.none() | st.floats(0, 1)), max_size=5)
NOTHING_SPECIAL = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def property_with(examples: int) -> settings:
    return settings(
        max_examples=examples, deadline=None, derandomize=not HUNT, suppress_health_check=NOTHING_SPECIAL, database=None
    )


def moves_of(story: type[Story]) -> st.SearchStrategy[list[Move]]:
    return st.lists(st.tuples(st.sampled_from(story.moves), st.integers(0, 11)), min_size=1, max_size=14)


def lay(folder: Path, files: Files, before: Files, part: float | None = None) -> None:
    """Make the folder hold these files; with `part`, as they are while they are being written.

    What is written anew under another name takes the place of the old file when it is complete; a move is one step.
    """
    for name, raw in files.items():
        is_changing = raw != before.get(name) and raw not in before.values()
        if part is not None and is_changing and not name.endswith(WHOLE):
            raw = torn(before.get(name, b""), raw, part)
        path = folder / name
        if not path.exists() or path.read_bytes() != raw:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
    if part is None:
        for name in before.keys() - files.keys():
            (folder / name).unlink(missing_ok=True)


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
