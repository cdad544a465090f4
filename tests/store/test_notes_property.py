"""Whatever is written, by whom and with which tool, is a version; and two folders of one house come to the same."""

import os
from collections.abc import Callable
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.errors import Conflict, NotFound

OpenHouse = Callable[..., recollect.Memory]

PATHS = ["user.md", "projects/garden.md", "agents/assistant/threads.md"]
ACTS = ["write", "append", "edit", "rename", "delete", "undo", "remove", "move", "look"]

steps = st.lists(
    st.tuples(st.sampled_from(ACTS), st.integers(0, len(PATHS) - 1), st.integers(0, 1)), min_size=1, max_size=14
)


def act(memory: recollect.Memory, name: str, path: str, text: str) -> str:
    """Do it; the text that must be found again, if any."""
    notes, file = memory.notes, memory.notes.folder / path
    if name in ("edit", "rename"):
        file.parent.mkdir(parents=True, exist_ok=True)
        place = file if name == "edit" else file.with_name(".made-elsewhere")
        place.write_text(text, encoding="utf-8")
        os.replace(place, file)
        # What somebody overwrites with a tool of their own before anybody looked was never ours to see.
        notes.look([path])
        return text
    with suppress(NotFound, Conflict):
        if name == "write":
            notes.write(path, text)
            return text
        if name == "append":
            return notes.read(notes.append(path, text).version.path).text
        if name == "delete":
            file.unlink(missing_ok=True)
        elif name == "undo":
            notes.undo(path)
        elif name == "remove":
            notes.remove(path)
        elif name == "move":
            notes.move(path, PATHS[(PATHS.index(path) + 1) % len(PATHS)])
        else:
            notes.look()
    return ""


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_no_text_is_lost_and_all_folders_agree(open_house: OpenHouse, steps: list[tuple[str, int, int]]) -> None:
    first = open_house()
    elsewhere = first.settings.home.with_name(f"{first.settings.home.name}-elsewhere")
    elsewhere.mkdir()
    (elsewhere / "recollect.toml").write_text(f'house = "{first.settings.house}"\n', encoding="utf-8")
    with recollect.open(elsewhere, first.settings.database_url, first.clock) as second:
        written: dict[str, set[str]] = {path: set() for path in PATHS}
        for number, (name, place, who) in enumerate(steps):
            text = act((first, second)[who], name, PATHS[place], f"text {number} of {who}\n")
            written[PATHS[place]] |= {text} if text else set()
        for memory in (first, second, first, second):
            memory.notes.look()
        for path, texts in written.items():
            assert texts <= versions_of(first, path)
        assert on_disk(first) == on_disk(second) == latest(first)


def versions_of(memory: recollect.Memory, path: str) -> set[str]:
    try:
        return {memory.notes.read(path, one.number).text for one in memory.notes.history(path)}
    except NotFound:
        return set()


def on_disk(memory: recollect.Memory) -> dict[str, str]:
    root = memory.notes.folder
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in root.rglob("*.md")
        if ".recollect" not in path.parts
    }


def latest(memory: recollect.Memory) -> dict[str, str]:
    return {one.path: memory.notes.read(one.path).text for one in memory.notes.list()}
