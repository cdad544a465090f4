"""The status: fields that many update at once, in a file that anybody may break. On both engines."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.clock import to_text
from recollect.errors import Invalid
from recollect.notes import Action
from recollect.testing import FrozenClock
from tests.conftest import OpenHouse
from tests.interrupting import InterruptingClock

PATH = "agents/assistant/status.json"


def file_of(memory: recollect.Memory) -> Path:
    return memory.notes.folder / PATH


def values(memory: recollect.Memory) -> dict[str, object]:
    return {name: field.value for name, field in memory.notes.status.show().fields.items()}


def by_hand(memory: recollect.Memory, content: bytes) -> None:
    file_of(memory).parent.mkdir(parents=True, exist_ok=True)
    file_of(memory).write_bytes(content)


def asides(memory: recollect.Memory) -> list[Path]:
    return sorted(file_of(memory).parent.glob("status.broken-*"))


def test_there_is_no_status_until_a_field_is_set(memory: recollect.Memory) -> None:
    board = memory.notes.status.show()
    assert (board.fields, board.text, board.number, board.problem) == ({}, "", 0, "")
    assert not file_of(memory).exists()


def test_an_update_sets_each_field_with_its_time_and_leaves_the_others(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    memory.notes.status.update({"mood": "fine", "tasks": ["beans"]})
    early = clock.now
    clock.move(minutes=5)
    updated = memory.notes.status.update({"mood": "tired"})

    fields = updated.board.fields
    assert [(one.name, one.value, one.at) for one in fields.values()] == [
        ("mood", "tired", to_text(clock.now)),
        ("tasks", ["beans"], to_text(early)),
    ]
    assert (updated.problem, updated.aside, updated.written.version.number) == ("", "", 2)
    text = file_of(memory).read_text(encoding="utf-8")
    assert text == memory.notes.status.show().text
    stored = msgspec.json.decode(text)
    assert datetime.fromisoformat(stored["mood"]["at"]) == clock.now
    assert datetime.fromisoformat(stored["mood"]["at"]).utcoffset() == clock.now.astimezone().utcoffset()
    assert text.endswith("}\n")


def test_times_are_in_the_zone_of_the_person(memory: recollect.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        memory.notes.status.update({"mood": "fine"})
    finally:
        monkeypatch.undo()
        time.tzset()
    board = memory.notes.status.show()
    assert '"at": "2026-03-02T17:30:00+05:30"' in board.text
    assert board.fields["mood"].at == "2026-03-02T12:00:00.000Z"


def test_null_removes_a_field(memory: recollect.Memory) -> None:
    memory.notes.status.update({"mood": "fine", "task": "beans"})
    assert memory.notes.status.update({"mood": None}).written.is_new
    assert values(memory) == {"task": "beans"}
    assert not memory.notes.status.update({"mood": None}).written.is_new


def test_a_value_written_by_hand_has_the_time_at_which_it_was_seen_to_change(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    by_hand(memory, b'{"mood": "fine", "weather": {"sky": "grey"}}')
    memory.notes.look()
    seen = to_text(clock.now)
    clock.move(minutes=1)
    memory.notes.status.update({"task": "beans"})

    board = memory.notes.status.show()
    assert (board.fields["mood"].value, board.fields["mood"].at, board.fields["mood"].has_time) == ("fine", seen, False)
    assert board.fields["weather"].value == {"sky": "grey"}
    assert board.fields["task"].at == to_text(clock.now)
    assert '"mood": "fine"' in board.text


@pytest.mark.parametrize(
    "broken", [b'{"mood": "fi', b"", b"[1, 2]", b'{"mood": "caf\xe9"}', b"\x00\x01\x02", b"{}" * 1000]
)
def test_a_broken_file_is_kept_aside_and_the_last_good_one_goes_on(memory: recollect.Memory, broken: bytes) -> None:
    memory.notes.status.update({"mood": "fine", "task": "beans"})
    by_hand(memory, broken)

    board = memory.notes.status.show()
    assert "no status" in board.problem
    assert values(memory) == {"mood": "fine", "task": "beans"}
    assert file_of(memory).read_bytes() == broken

    updated = memory.notes.status.update({"task": "peas"})
    assert values(memory) == {"mood": "fine", "task": "peas"}
    assert "no status" in updated.problem
    assert memory.notes.status.show().problem == ""
    assert memory.notes.read(PATH, updated.broken).content == broken
    assert [memory.notes.folder / updated.aside] == asides(memory)
    kept = asides(memory)[0].read_bytes()
    assert kept == broken or b"\0" in broken or b"\xe9" in broken


@pytest.mark.parametrize("broken", [b'{"mood": "fi', b'{"mood": "caf\xe9"}'])
def test_a_file_that_breaks_while_it_is_updated_loses_nothing(home: Path, engine: str, broken: bytes) -> None:
    clock = InterruptingClock()
    with recollect.open(home=home, database=engine, clock=clock) as memory:
        memory.notes.status.update({"mood": "fine"})
        clock.then = lambda: by_hand(memory, broken)
        updated = memory.notes.status.update({"task": "beans"})
        assert values(memory) == {"mood": "fine", "task": "beans"}
        assert memory.notes.read(PATH, updated.broken).content == broken


def test_a_file_that_is_changed_while_it_is_updated_keeps_both_changes(home: Path, engine: str) -> None:
    clock = InterruptingClock()
    with recollect.open(home=home, database=engine, clock=clock) as memory:
        memory.notes.status.update({"mood": "fine"})
        clock.then = lambda: by_hand(memory, b'{"mood": "tired", "hat": "on"}')
        memory.notes.status.update({"task": "beans"})
        assert values(memory) == {"mood": "tired", "hat": "on", "task": "beans"}


def test_two_broken_files_of_the_same_second_lie_side_by_side(memory: recollect.Memory) -> None:
    for number in (1, 2):
        by_hand(memory, b"broken %d" % number)
        memory.notes.status.update({"number": number})
    assert [file.read_bytes() for file in asides(memory)] == [b"broken 1", b"broken 2"]
    assert values(memory) == {"number": 2}


def test_what_is_no_note_at_all_is_moved_aside(memory: recollect.Memory) -> None:
    memory.notes.status.update({"mood": "fine"})
    file_of(memory).unlink()
    file_of(memory).mkdir()
    (file_of(memory) / "inside.md").write_text("Still here.", encoding="utf-8")
    assert "folder" in memory.notes.status.show().problem
    assert values(memory) == {"mood": "fine"}

    updated = memory.notes.status.update({"task": "beans"})
    assert values(memory) == {"mood": "fine", "task": "beans"}
    assert "folder" in updated.problem
    assert (memory.notes.folder / updated.aside / "inside.md").read_text(encoding="utf-8") == "Still here."
    assert memory.notes.read(f"{updated.aside}/inside.md").text == "Still here."


def test_a_file_of_a_hundred_megabytes_is_moved_aside(memory: recollect.Memory) -> None:
    memory.notes.status.update({"mood": "fine"})
    with file_of(memory).open("wb") as file:
        file.truncate(100_000_000)
    assert "MB" in memory.notes.status.show().problem

    updated = memory.notes.status.update({"task": "beans"})
    assert values(memory) == {"mood": "fine", "task": "beans"}
    assert (memory.notes.folder / updated.aside).stat().st_size == 100_000_000


def test_a_link_is_moved_aside_and_never_followed(memory: recollect.Memory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"mine": 1}', encoding="utf-8")
    memory.notes.status.update({"mood": "fine"})
    file_of(memory).unlink()
    file_of(memory).symlink_to(elsewhere)

    updated = memory.notes.status.update({"task": "beans"})
    assert values(memory) == {"mood": "fine", "task": "beans"}
    assert "link" in updated.problem
    assert elsewhere.read_text(encoding="utf-8") == '{"mine": 1}'


def test_a_status_that_somebody_removed_begins_anew(memory: recollect.Memory) -> None:
    memory.notes.status.update({"mood": "fine"})
    file_of(memory).unlink()
    assert memory.notes.status.show().fields == {}
    memory.notes.status.update({"task": "beans"})
    assert values(memory) == {"task": "beans"}


def test_the_capitals_of_other_tools_are_read(memory: recollect.Memory) -> None:
    by_hand(memory, b"{}")
    file_of(memory).rename(file_of(memory).with_name("STATUS.json"))
    memory.notes.status.update({"mood": "fine"})
    assert values(memory) == {"mood": "fine"}
    assert [file.name for file in file_of(memory).parent.glob("*.json")] == ["STATUS.json"]


def test_credentials_do_not_reach_a_status(memory: recollect.Memory) -> None:
    key = "sk-ant-" + "api03-" + "Zx9" * 12
    updated = memory.notes.status.update({"note": f"It is {key}.", "mood": "fine"})
    assert updated.masked == 1
    assert key not in file_of(memory).read_text(encoding="utf-8")


def test_a_status_stays_short_enough_for_a_prompt(memory: recollect.Memory) -> None:
    for number in range(4):
        memory.notes.status.update({f"page {number}": "x" * 45_000})
    with pytest.raises(Invalid, match="200,000"):
        memory.notes.status.update({"page 5": "x" * 45_000})
    memory.notes.status.update({"page 1": None})
    memory.notes.status.update({"page 5": "x" * 45_000})


def test_each_agent_has_a_status_of_its_own(memory: recollect.Memory) -> None:
    for name in ("ada", "bob"):
        memory.agents.add(name)
        memory.as_agent(name).notes.status.update({"name": name})
    assert values(memory.as_agent("ada")) == {"name": "ada"}
    assert values(memory) == {}
    version = memory.notes.history("agents/ada/status.json")[-1]
    assert (version.actor, version.actor_name, version.action) == ("agent", "ada", Action.WRITTEN)


def test_writers_at_the_same_time_all_win_their_fields(memory: recollect.Memory) -> None:
    def write(writer: int) -> None:
        for step in range(5):
            memory.notes.seen_by(memory.principal).status.update({f"field {writer}": step})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert values(memory) == {f"field {writer}": 4 for writer in range(4)}
    assert len(memory.notes.history(PATH)) == 20


def test_a_file_edited_while_another_computer_updates_is_merged_field_by_field(
    memory: recollect.Memory, engine: str, clock: FrozenClock, tmp_path: Path
) -> None:
    memory.notes.status.update({"mood": "fine", "task": "beans", "place": "home", "hat": "on"})
    with recollect.open(home=tmp_path / "other", database=engine, clock=clock) as other:
        clock.move(minutes=1)
        other.notes.status.update({"task": "peas", "weather": "grey", "hat": None})
        stored = msgspec.json.decode(file_of(memory).read_bytes())
        stored["mood"]["value"] = "tired"
        stored["room"] = "den"
        del stored["place"]
        by_hand(memory, msgspec.json.encode(stored))

        expected = {"mood": "tired", "task": "peas", "room": "den", "weather": "grey"}
        assert values(memory) == expected
        assert values(other) == expected
        assert file_of(memory).read_bytes() == file_of(other).read_bytes()
    actions = [version.action for version in memory.notes.history(PATH)]
    assert actions == [Action.WRITTEN, Action.WRITTEN, Action.FOUND, Action.MERGED]


NAMES = st.sampled_from(["mood", "task", "place"])
STEPS = st.tuples(
    st.sampled_from(["one", "two", "hand"]), st.dictionaries(NAMES, st.none() | st.integers(0, 9), min_size=1)
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=6))
def test_whoever_updates_in_turn_each_field_ends_with_its_latest_value(
    open_house: OpenHouse, clock: FrozenClock, steps: list[tuple[str, dict[str, int | None]]]
) -> None:
    """Two writers through us, and one who edits the file."""
    memory = open_house()
    other = memory.notes.seen_by(memory.principal)
    expected: dict[str, object] = {}
    for writer, updates in steps:
        clock.move(seconds=1)
        if writer == "hand":
            stored: dict[str, object] = {}
            if file_of(memory).exists():
                stored |= msgspec.json.decode(file_of(memory).read_bytes())
            stored |= {name: value for name, value in updates.items() if value is not None}
            by_hand(memory, msgspec.json.encode(stored))
            expected |= {name: value for name, value in updates.items() if value is not None}
        else:
            (memory.notes if writer == "one" else other).status.update(updates)
            expected = {name: value for name, value in {**expected, **updates}.items() if value is not None}
    assert values(memory) == expected


def test_an_agent_updates_its_status_through_the_one_object_it_holds(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.as_agent("ada").update_status({"mood": "fine"})
    assert (memory.notes.folder / "agents/ada/status.json").exists()
    assert [one.path for one in memory.notes.list()] == ["agents/ada/status.json"]
