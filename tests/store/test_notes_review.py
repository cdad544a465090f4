"""Ways to lose, leak or bring back what stands in notes, each of which once worked."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import OpenHouse

import recollect
from recollect.errors import Conflict, Invalid, NotFound
from recollect.notes.paths import HOLDING, MOST_DEPTH

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def put(memory: recollect.Memory, path: str, text: str) -> Path:
    """As somebody with another tool does."""
    file = memory.notes.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def agent(memory: recollect.Memory, name: str) -> recollect.Memory:
    memory.agents.add(name)
    return memory.as_agent(name)


def paths(memory: recollect.Memory) -> list[str]:
    return [one.path for one in memory.notes.list()]


# Nothing is lost


@pytest.mark.parametrize("is_left", [False, True], ids=["no folder", "an empty folder"])
@pytest.mark.parametrize("path", ["user.md", "new.md"])
def test_whoever_comes_first_to_a_lost_folder_takes_no_note_for_removed(
    memory: recollect.Memory, path: str, is_left: bool
) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    memory.notes.write("garden.md", "Beans.\n")
    shutil.rmtree(memory.notes.folder)
    if is_left:  # As where a disk is not mounted.
        memory.notes.folder.mkdir()

    memory.notes.append(path, "More.\n")

    assert paths(memory) == sorted({"garden.md", "user.md", path})
    assert memory.notes.read("user.md").text.startswith("Likes tea.\n")
    assert (memory.notes.folder / ".gitignore").exists()


def test_what_is_held_and_cannot_be_a_version_survives_a_forgetting(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    held = put(memory, f"{HOLDING}/a/user.md", "x" * 5_000_000)
    memory.notes.clear_held()
    assert held.stat().st_size == 5_000_000


def test_what_lies_too_deep_to_be_asked_for_is_told_and_no_note(memory: recollect.Memory) -> None:
    put(memory, "/".join(["d"] * (MOST_DEPTH - 1)) + "/last.md", "still a note")
    deep = "/".join(["e"] * MOST_DEPTH) + "/lost.md"
    put(memory, deep, "no note")
    looked = memory.notes.look()
    assert [one.path for one in looked.found] == ["/".join(["d"] * (MOST_DEPTH - 1)) + "/last.md"]
    assert [one.path for one in looked.problems] == [deep.removesuffix("/lost.md")]
    assert [one.path for one in memory.notes.look([deep]).problems] == [deep]


def test_a_tree_without_end_keeps_nobody_from_reading(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with recollect.open(home) as memory:
        memory.notes.write("user.md", "Likes tea.\n")
        monkeypatch.chdir(memory.notes.folder)
        for _ in range(1_100):
            os.mkdir("d")
            os.chdir("d")
        found = paths(memory)
        for _ in range(1_100):
            os.chdir("..")
            os.rmdir("d")
    assert found == ["user.md"]


def test_a_database_that_never_saw_a_folder_takes_nothing_in_it_for_removed(tmp_path: Path) -> None:
    """As when a backup is put into a home that is in use."""
    with recollect.open(tmp_path / "old") as old:
        old.notes.write("user.md", "Likes tea.\n")
        old.transfer.backup_to(tmp_path / "backup.db")
    with recollect.open(tmp_path / "new") as new:
        new.notes.write("garden.md", "Beans.\n")
        place = new.database.files()[0]
    for file in place.parent.glob(f"{place.name}*"):
        file.unlink()
    shutil.copy(tmp_path / "backup.db", place)
    with recollect.open(tmp_path / "new") as new:
        assert paths(new) == ["garden.md", "user.md"]


def test_two_computers_of_the_same_name_come_to_the_same(open_house: OpenHouse, tmp_path: Path) -> None:
    """As containers are, each with a disk of its own at the same path."""
    disks, here = [tmp_path / "one", tmp_path / "other"], tmp_path / "here"
    database = open_house().settings.database_url

    def look(disk: Path) -> str:
        disk.mkdir(exist_ok=True)
        disk.rename(here)
        with recollect.open(here / "home", database) as memory:
            memory.notes.look()
            text = memory.notes.read("user.md").text if memory.notes.list() else ""
        here.rename(disk)
        return text

    look(disks[0])
    look(disks[1])
    (disks[0] / "home" / "notes").mkdir(parents=True)
    for text in ("Likes tea.\n", "Likes cocoa.\n"):
        (disks[0] / "home" / "notes" / "user.md").write_text(text)
        assert [look(disk) for disk in (*disks, *disks)] == [text] * 4


def test_a_folder_in_the_place_of_a_note_and_a_note_in_that_of_a_folder_come_to_every_computer(
    memory: recollect.Memory, tmp_path: Path
) -> None:
    with recollect.open(tmp_path / "elsewhere", memory.settings.database_url, memory.clock) as other:
        memory.notes.write("beans", "A page.")
        memory.notes.write("peas/sowing.md", "In March.")
        other.notes.look()
        (memory.notes.folder / "beans").unlink()
        put(memory, "beans/sowing.md", "In May.")
        shutil.rmtree(memory.notes.folder / "peas")
        put(memory, "peas", "A page.")
        for one in (memory, other, other, memory):
            one.notes.look()
        for one in (memory, other):
            assert paths(one) == ["beans/sowing.md", "peas"]
            assert (one.notes.folder / "beans" / "sowing.md").read_text() == "In May."
            assert (one.notes.folder / "peas").read_text() == "A page."
            assert not one.notes.look().problems
        assert memory.notes.read("beans", 1).text == "A page."


# Nothing outside is touched


def test_a_link_in_the_place_of_what_is_held_leads_nowhere(memory: recollect.Memory, tmp_path: Path) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    outside = tmp_path / "outside" / "token" / "secret.md"
    outside.parent.mkdir(parents=True)
    outside.write_text("not a note")
    held = memory.notes.folder / HOLDING
    shutil.rmtree(held, ignore_errors=True)
    held.mkdir()
    (held / "token").symlink_to(outside.parent)
    for _ in range(2):
        memory.notes.clear_held()
    shutil.rmtree(held, ignore_errors=True)
    held.symlink_to(tmp_path / "outside")
    for _ in range(2):
        memory.notes.clear_held()
    assert outside.read_text() == "not a note"
    assert paths(memory) == ["user.md"]
    with pytest.raises(Conflict, match="is a link"):
        memory.notes.write("user.md", "Likes cocoa.\n")
    assert [file.name for file in (tmp_path / "outside").iterdir()] == ["token"]


def test_an_empty_folder_is_not_renamed_to_behind_a_hidden_link(memory: recollect.Memory, tmp_path: Path) -> None:
    memory.notes.prepare()
    (tmp_path / "outside").mkdir()
    (memory.notes.folder / ".link").symlink_to(tmp_path / "outside")
    (memory.notes.folder / "empty").mkdir()
    with pytest.raises(Invalid, match="hidden"):
        memory.notes.tool().execute(
            {"command": "rename", "old_path": "/memories/empty", "new_path": "/memories/.link/x"}
        )
    assert not list((tmp_path / "outside").iterdir())


# Nobody learns of what is another's


def test_an_agent_does_not_learn_how_a_sibling_spells_a_note(memory: recollect.Memory) -> None:
    ada = agent(memory, "ada")
    put(memory, "agents/bea/SOUL.md", "Calm.")
    memory.notes.look()
    for act in (ada.notes.read, ada.notes.history, ada.notes.remove):
        with pytest.raises(NotFound, match=r"agents/bea/soul\.md"):
            act("agents/bea/soul.md")


def test_a_note_that_came_from_another_does_not_say_from_whom(memory: recollect.Memory) -> None:
    ada, bea = agent(memory, "ada"), agent(memory, "bea")
    memory.notes.write("agents/bea/surprise-for-ada.md", "A cake.")
    memory.notes.move("agents/bea/surprise-for-ada.md", "agents/ada/cake.md")
    assert memory.notes.history("agents/ada/cake.md")[0].moved_from == "agents/bea/surprise-for-ada.md"
    assert ada.notes.history("agents/ada/cake.md")[0].moved_from == ""
    assert ada.sql("SELECT path, moved_from FROM note_versions")[1] == [("agents/ada/cake.md", "")]
    assert "ada" not in bea.notes.history("agents/bea/surprise-for-ada.md")[-1].reason


def test_a_look_and_figures_tell_an_agent_of_its_own_and_the_houses(memory: recollect.Memory) -> None:
    ada = agent(memory, "ada")
    put(memory, "agents/bea/secret.md", "A cake.")
    put(memory, "agents/ada/mine.md", "Beans.")
    put(memory, f"{HOLDING}/a/agents/bea/held.md", "x" * 5_000_000)
    looked = ada.notes.look()
    assert ([one.path for one in looked.found], looked.problems) == (["agents/ada/mine.md"], [])
    assert (ada.notes.figures().notes, memory.notes.figures().notes) == (1, 2)


def test_an_agent_of_the_same_name_does_not_inherit_what_was_removed(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.notes.write("agents/ada/threads.md", "Hers.")
    memory.notes.remove("agents/ada/threads.md")
    with pytest.raises(Conflict, match="are kept"):
        memory.agents.remove("ada")


@pytest.mark.parametrize("path", ["Agents/ada/soul.md", "agents/Ada/soul.md", "agents/ada/Rooms/den/x.md", "ROOMS/a/b"])
def test_no_capitals_lead_to_what_is_another_scopes(memory: recollect.Memory, path: str) -> None:
    """To some systems these are the same files."""
    with pytest.raises(Invalid, match="lower-case"):
        memory.notes.write(path, "Mine now.", reason="because")
    put(memory, path, "Mine now.")
    looked = memory.notes.look()
    assert not looked.found
    assert looked.problems


# Rules hold on every way


def test_undo_changes_no_diary_entry_but_back_to_what_it_was(memory: recollect.Memory) -> None:
    path = memory.notes.diary.write("A quiet day.").version.path
    with pytest.raises(Conflict, match="never changed"):
        memory.notes.undo(path)
    file = put(memory, path, "A loud day.")
    assert memory.notes.undo(path).version.number == 3
    with pytest.raises(Conflict, match="never changed"):
        memory.notes.undo(path, 2)
    file.unlink()
    for act in (lambda: memory.notes.undo(path, 2), lambda: memory.notes.write(path, "A new day.")):
        with pytest.raises(Conflict, match="never changed"):
            act()
    memory.notes.undo(path, 1)
    assert file.read_text(encoding="utf-8") == "A quiet day."


def test_no_reason_holds_a_credential_or_what_a_store_cannot_hold(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n", reason="a\0b\ud800")
    memory.notes.remove("user.md", reason=f"it had {SECRET}")
    memory.notes.undo("user.md", reason=f"for {SECRET}")
    assert not [one for one in memory.notes.history("user.md") if SECRET in one.reason or "\0" in one.reason]


def test_a_soul_is_not_removed_without_a_reason(memory: recollect.Memory) -> None:
    memory.notes.write("agents/assistant/soul.md", "Calm.", reason="a beginning")
    with pytest.raises(Invalid, match="say why"):
        memory.notes.remove("agents/assistant/soul.md")
    assert memory.notes.read("agents/assistant/soul.md").text == "Calm."
