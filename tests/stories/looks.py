"""Stories read while they are told: which moves, when somebody looks, and the files that lie there at that moment."""

import os
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from stories import Files, Move, Story, torn

HUNT = int(os.environ.get("GROWING_EXAMPLES", "0"))
"""So many random examples of each source. Without it a few that are always the same: a landing is no time for luck."""
EXAMPLES = HUNT or 5
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


def moves_of(story: type[Story], least: int = 1) -> st.SearchStrategy[list[Move]]:
    return st.lists(st.tuples(st.sampled_from(story.moves), st.integers(0, 11)), min_size=least, max_size=14)


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
