"""The diary: written once, shown as it was written, whatever happens to its files. On both engines."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.clock import to_text
from recollect.errors import Conflict, Invalid, NotFound
from recollect.notes import Action, Version
from recollect.notes.diary import name_at, original_of
from recollect.testing import FrozenClock


def file_of(memory: recollect.Memory, path: str) -> Path:
    return memory.notes.folder / path


def version(number: int, action: Action, minute: float, digest: str = "d") -> Version:
    at = to_text(FrozenClock().now + timedelta(minutes=minute))
    return Version(path="p", number=number, scope="s", at=at, actor="a", action=action, digest=digest)


def test_an_entry_is_a_file_named_after_its_second_in_the_persons_zone(
    memory: recollect.Memory, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        path = memory.notes.diary.write("Planted beans.\n").version.path
        entry = memory.notes.diary.show()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert path == "agents/assistant/diary/2026-03-02T17-30-00.md"
    assert file_of(memory, path).read_text(encoding="utf-8") == "Planted beans.\n"
    assert (entry.text, entry.at, entry.is_changed) == ("Planted beans.\n", to_text(clock.now), False)


def test_entries_of_one_second_take_the_next_free_ones(memory: recollect.Memory, clock: FrozenClock) -> None:
    names = [memory.notes.diary.write(text).version.path[-22:-3] for text in ("One", "Two", "Three")]
    assert names == [name_at(clock.now + timedelta(seconds=seconds)) for seconds in range(3)]
    assert [entry.text for entry in memory.notes.diary.list()] == ["Three", "Two", "One"]


def test_writers_of_the_same_second_all_get_a_file(memory: recollect.Memory) -> None:
    def write(text: str) -> None:
        memory.notes.seen_by(memory.principal).diary.write(text)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, map(str, range(8))))
    assert sorted(entry.text for entry in memory.notes.diary.list()) == sorted(map(str, range(8)))


def test_a_second_that_had_an_entry_once_is_not_used_again(memory: recollect.Memory) -> None:
    first = memory.notes.diary.write("One").version.path
    file_of(memory, first).unlink()
    second = memory.notes.diary.write("Two").version.path
    assert second != first
    assert [entry.text for entry in memory.notes.diary.list()] == ["Two"]


def test_an_entry_can_be_of_another_time(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.notes.diary.write("Today")
    memory.notes.diary.write("Yesterday", at=clock.now - timedelta(days=1))
    assert [entry.text for entry in memory.notes.diary.list()] == ["Today", "Yesterday"]
    assert [entry.text for entry in memory.notes.diary.list(limit=1)] == ["Today"]
    assert [entry.text for entry in memory.notes.diary.list(since=clock.now - timedelta(hours=1))] == ["Today"]
    with pytest.raises(Invalid, match="zone"):
        memory.notes.diary.write("Whenever", at=datetime(2026, 1, 1))  # noqa: DTZ001


def test_an_entry_needs_text(memory: recollect.Memory) -> None:
    with pytest.raises(Invalid, match="text"):
        memory.notes.diary.write(" \n")


def test_an_entry_is_never_changed_through_us(memory: recollect.Memory) -> None:
    path = memory.notes.diary.write("Planted beans.").version.path
    with pytest.raises(Conflict, match="diary"):
        memory.notes.write(path, "Planted peas.")
    with pytest.raises(Conflict, match="diary"):
        memory.notes.remove(path)
    assert memory.notes.diary.show().text == "Planted beans."


def test_a_change_on_the_disk_is_kept_told_and_can_be_put_back(memory: recollect.Memory) -> None:
    path = memory.notes.diary.write("Planted beans.").version.path
    file_of(memory, path).write_text("Planted peas.", encoding="utf-8")

    entry = memory.notes.diary.show()
    assert (entry.text, entry.is_changed, entry.is_gone, entry.latest.number) == ("Planted beans.", True, False, 2)
    assert memory.notes.read(path, 2).text == "Planted peas."
    assert [one.path for one in memory.notes.reviews()] == [path]

    restored = memory.notes.diary.restore(entry.name)
    assert not restored.is_changed
    assert file_of(memory, path).read_text(encoding="utf-8") == "Planted beans."
    assert [one.action for one in memory.notes.history(path)] == [Action.WRITTEN, Action.FOUND, Action.RESTORED]


def test_a_removed_entry_is_not_listed_and_can_be_put_back(memory: recollect.Memory) -> None:
    path = memory.notes.diary.write("Planted beans.").version.path
    file_of(memory, path).unlink()
    assert memory.notes.diary.list() == []
    name = Path(path).stem
    entry = memory.notes.diary.show(name)
    assert (entry.text, entry.is_gone) == ("Planted beans.", True)
    assert memory.notes.diary.restore(name).text == "Planted beans."
    assert file_of(memory, path).read_text(encoding="utf-8") == "Planted beans."


def test_an_entry_made_with_an_editor_may_be_saved_several_times(memory: recollect.Memory, clock: FrozenClock) -> None:
    path = "agents/assistant/diary/2026-03-02T09-00-00.md"
    file_of(memory, path).parent.mkdir(parents=True)
    for text in ("Planted", "Planted beans."):
        file_of(memory, path).write_text(text, encoding="utf-8")
        memory.notes.look()
        clock.move(minutes=2)
    assert (memory.notes.diary.show().text, memory.notes.diary.show().is_changed) == ("Planted beans.", False)

    clock.move(minutes=20)
    file_of(memory, path).write_text("Planted nothing at all.", encoding="utf-8")
    assert (memory.notes.diary.show().text, memory.notes.diary.show().is_changed) == ("Planted beans.", True)


def test_the_original_is_what_stood_there_when_it_was_whole() -> None:
    found, written, gone = Action.FOUND, Action.WRITTEN, ""
    assert original_of([version(1, written, 0), version(2, found, 1)]).number == 1
    assert original_of([version(1, found, 0), version(2, found, 9), version(3, found, 11)]).number == 2
    assert original_of([version(1, found, 0), version(2, found, 1, gone)]).number == 1
    assert original_of([version(1, found, 0), version(2, found, 1, gone), version(3, found, 2)]).number == 3
    assert original_of([version(1, found, 0), version(2, Action.RESTORED, 1), version(3, found, 2)]).number == 1


def test_an_entry_is_found_by_the_beginning_of_its_name(memory: recollect.Memory, clock: FrozenClock) -> None:
    with pytest.raises(NotFound, match="diary write"):
        memory.notes.diary.show()
    first = memory.notes.diary.write("One").version.path
    clock.move(days=1)
    memory.notes.diary.write("Two")
    name = Path(first).name
    assert [memory.notes.diary.show(given).text for given in (name, first, name[:10], "latest")] == [
        "One",
        "One",
        "One",
        "Two",
    ]
    with pytest.raises(Invalid, match="2 diary entries"):
        memory.notes.diary.show("20")
    with pytest.raises(NotFound):
        memory.notes.diary.show("1999")
    with pytest.raises(NotFound):
        memory.notes.diary.show("")


def test_an_entry_with_a_name_of_its_own_has_the_time_at_which_it_was_seen(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    path = file_of(memory, "agents/assistant/diary/on beans.md")
    path.parent.mkdir(parents=True)
    path.write_text("They climb.", encoding="utf-8")
    entry = memory.notes.diary.show("on beans")
    assert (entry.text, entry.at) == ("They climb.", to_text(clock.now))


def test_agents_do_not_see_each_others_diaries(memory: recollect.Memory) -> None:
    for name in ("ada", "bob"):
        memory.agents.add(name)
        memory.as_agent(name).notes.diary.write(f"I am {name}.")
    assert [entry.text for entry in memory.as_agent("ada").notes.diary.list()] == ["I am ada."]
    with pytest.raises(NotFound):
        memory.as_agent("bob").notes.read(memory.as_agent("ada").notes.diary.show().path)
