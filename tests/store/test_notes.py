"""Notes: files that anybody may change, and every version of them. On both engines."""

import os
import shutil
from pathlib import Path

import pytest

import recollect
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.notes import Action, Note
from recollect.notes.folder import Folder
from recollect.notes.versions import MOST_BYTES, OUTSIDE


def texts(memory: recollect.Memory, path: str) -> list[str]:
    """What stood in a note, in every version in which it was there."""
    return [memory.notes.read(path, one.number).text for one in memory.notes.history(path) if not one.is_gone]


def file(memory: recollect.Memory, path: str) -> Path:
    return memory.notes.folder / path


def edit(memory: recollect.Memory, path: str, text: str) -> None:
    """As somebody with another tool does."""
    place = file(memory, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def replaced_by_rename(memory: recollect.Memory, path: str, text: str) -> None:
    """As most editors save."""
    made = file(memory, path).with_name(".swap")
    made.write_text(text, encoding="utf-8")
    os.replace(made, file(memory, path))


def agent(memory: recollect.Memory, name: str) -> recollect.Memory:
    memory.agents.add(name)
    return memory.as_agent(name)


def test_a_write_is_a_version_with_author_and_time_and_stands_in_the_file(memory: recollect.Memory) -> None:
    made = memory.notes.write("user.md", "Likes tea.\n", reason="she said so")
    assert file(memory, "user.md").read_text(encoding="utf-8") == "Likes tea.\n"
    (version,) = memory.notes.history("user.md")
    assert version == made.version
    assert (version.number, version.actor, version.action, version.reason) == (1, "person", "written", "she said so")
    assert version.at == "2026-03-02T12:00:00.000Z"


def test_the_same_text_again_makes_no_version(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    assert not memory.notes.write("user.md", "Likes tea.\n").is_new
    assert len(memory.notes.history("user.md")) == 1


@pytest.mark.parametrize("change", [edit, replaced_by_rename], ids=["in place", "by a rename"])
def test_a_change_with_another_tool_is_a_version_before_it_is_read(memory: recollect.Memory, change: object) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    change(memory, "user.md", "Likes cocoa.\n")  # type: ignore[operator]
    assert memory.notes.read("user.md").text == "Likes cocoa.\n"
    found = memory.notes.history("user.md")[-1]
    assert (found.actor, found.action, found.number) == (OUTSIDE, Action.FOUND, 2)


def test_an_edit_of_the_same_length_in_the_same_moment_is_noticed(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    before = os.stat(file(memory, "user.md"))
    edit(memory, "user.md", "Likes pie.\n")
    os.utime(file(memory, "user.md"), ns=(before.st_atime_ns, before.st_mtime_ns))
    assert memory.notes.read("user.md").text == "Likes pie.\n"


def test_a_look_finds_what_is_new_changed_and_gone(memory: recollect.Memory) -> None:
    memory.notes.write("kept.md", "stays")
    memory.notes.write("gone.md", "goes")
    edit(memory, "projects/garden/overview.md", "# Garden\n")
    edit(memory, "kept.md", "stays, changed")
    file(memory, "gone.md").unlink()
    looked = memory.notes.look()
    assert [(one.path, one.is_gone) for one in looked.found] == [
        ("gone.md", True),
        ("kept.md", False),
        ("projects/garden/overview.md", False),
    ]
    again = memory.notes.look()
    assert (again.found, again.put_back, again.problems) == ([], [], [])


def test_what_was_removed_with_another_tool_can_be_restored(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    file(memory, "user.md").unlink()
    assert memory.notes.find("user.md") is None
    memory.notes.undo("user.md")
    assert file(memory, "user.md").read_text(encoding="utf-8") == "Likes tea.\n"


def test_the_later_writer_wins_the_file_and_both_texts_stay(memory: recollect.Memory) -> None:
    seen = memory.notes.write("user.md", "Likes tea.\n").version.number
    memory.notes.write("user.md", "Likes cocoa.\n", expected=seen)
    later = memory.notes.write("user.md", "Likes juice.\n", expected=seen)
    assert memory.notes.read("user.md").text == "Likes juice.\n"
    assert later.unseen
    assert memory.notes.read("user.md", later.unseen.number).text == "Likes cocoa.\n"
    assert later.version.unseen == 2
    assert texts(memory, "user.md") == ["Likes tea.\n", "Likes cocoa.\n", "Likes juice.\n"]


def test_a_text_that_was_saved_while_we_wrote_is_kept(memory: recollect.Memory) -> None:
    """Between the look and the write: the file that is replaced is read once more."""
    memory.notes.write("user.md", "one")

    def slow(_: str | None) -> str:
        edit(memory, "user.md", "saved in between")
        return "two"

    written = memory.notes.change("user.md", slow)
    assert memory.notes.read("user.md").text == "two"
    assert texts(memory, "user.md") == ["one", "saved in between", "two"]
    assert written.unseen
    assert written.unseen.actor == OUTSIDE


def test_a_text_that_is_written_into_the_old_file_after_it_was_replaced_is_kept(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "one")
    with open(file(memory, "user.md"), "r+", encoding="utf-8") as slow_editor:
        memory.notes.write("user.md", "two")
        slow_editor.write("still typing")
    memory.notes.look()
    assert memory.notes.read("user.md").text == "two"
    assert "still typing" in texts(memory, "user.md")


def test_nothing_is_left_beside_the_notes_in_the_end(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "one")
    memory.notes.write("user.md", "two")
    assert (memory.notes.folder / ".recollect").exists()
    memory.notes.clear_held()
    assert not (memory.notes.folder / ".recollect").exists()


def test_undo_goes_back_one_by_one_and_to_any_version(memory: recollect.Memory) -> None:
    for text in ("one", "two", "three"):
        memory.notes.write("user.md", text)
    assert [memory.notes.undo("user.md") and memory.notes.read("user.md").text for _ in range(2)] == ["two", "one"]
    memory.notes.undo("user.md", 3)
    assert memory.notes.read("user.md").text == "three"
    with pytest.raises(NotFound, match="no version 99"):
        memory.notes.undo("user.md", 99)


def test_undoing_the_first_version_removes_the_note_and_undoing_that_brings_it_back(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "one")
    memory.notes.undo("user.md")
    assert not file(memory, "user.md").exists()
    memory.notes.undo("user.md")
    assert memory.notes.read("user.md").text == "one"


def test_a_diff_shows_the_last_change_or_any(memory: recollect.Memory) -> None:
    for text in ("tea\n", "tea\nmilk\n", "tea\nmilk\nhoney"):
        memory.notes.write("user.md", text)
    assert memory.notes.diff("user.md").splitlines()[-1] == "+honey"
    assert [line for line in memory.notes.diff("user.md", 1, 3).splitlines() if line[1:].isalpha()] == [
        " tea",
        "+milk",
        "+honey",
    ]


def test_moving_a_folder_keeps_the_history_of_each_note(memory: recollect.Memory) -> None:
    memory.notes.write("projects/garden/overview.md", "beans")
    memory.notes.write("projects/garden/tools.txt", "spade")
    moved = memory.notes.move("projects/garden", "projects/allotment")
    assert [one.path for one in moved] == ["projects/allotment/overview.md", "projects/allotment/tools.txt"]
    assert moved[0].moved_from == "projects/garden/overview.md"
    assert not file(memory, "projects/garden").exists()
    assert [one.is_gone for one in memory.notes.history("projects/garden/overview.md")] == [False, True]
    with pytest.raises(Conflict, match="there already"):
        memory.notes.move("projects/allotment/tools.txt", "projects/allotment/overview.md")


def test_a_lost_folder_is_filled_again(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    memory.notes.write("agents/assistant/threads.md", "one thread")
    shutil.rmtree(memory.notes.folder)
    assert memory.notes.look().put_back == ["agents/assistant/threads.md", "user.md"]
    assert memory.notes.read("user.md").text == "Likes tea.\n"
    assert len(memory.notes.history("user.md")) == 1


def test_two_folders_of_one_house_come_to_the_same(memory: recollect.Memory, tmp_path: Path) -> None:
    """As two computers do that share a database."""
    here = memory.notes
    with recollect.open(tmp_path / "elsewhere", memory.settings.database_url, memory.clock) as other:
        there = other.notes
        here.write("user.md", "Likes tea.\n")
        assert there.read("user.md").text == "Likes tea.\n"
        there.write("user.md", "Likes cocoa.\n")
        here.look()
        assert file(memory, "user.md").read_text(encoding="utf-8") == "Likes cocoa.\n"
        edit(memory, "user.md", "edited here\n")
        edit(other, "user.md", "edited there\n")
        here.look()
        there.look()
        here.look()
        assert file(memory, "user.md").read_text(encoding="utf-8") == "edited there\n"
        assert file(other, "user.md").read_text(encoding="utf-8") == "edited there\n"
        assert "edited here\n" in texts(memory, "user.md")
        assert here.history("user.md")[-1].unseen == 3
        here.remove("user.md")
        there.look()
        assert not file(other, "user.md").exists()


# Who sees what


def test_an_agent_sees_its_own_folder_and_the_houses_and_never_a_siblings(memory: recollect.Memory) -> None:
    ada, bea = agent(memory, "ada"), agent(memory, "bea")
    memory.notes.write("user.md", "Likes tea.\n")
    ada.notes.write("agents/ada/soul.md", "I am Ada.\n", reason="first words")
    edit(memory, "agents/ada/dev-notes.md", "hers alone")
    assert [one.path for one in ada.notes.list()] == ["agents/ada/dev-notes.md", "agents/ada/soul.md", "user.md"]
    assert [one.path for one in bea.notes.list()] == ["user.md"]
    assert bea.notes.find("agents/ada/soul.md") is None
    for path in ("agents/ada/soul.md", "agents/ada/dev-notes.md"):
        with pytest.raises(NotFound):
            bea.notes.read(path)
        with pytest.raises(NotFound):
            bea.notes.read(path, 1)
        with pytest.raises(NotFound):
            bea.notes.history(path)
        with pytest.raises(Denied):
            bea.notes.write(path, "mine now", reason="none")
    with pytest.raises(NotFound):
        bea.notes.remove("agents/ada")
    with pytest.raises(Denied):
        bea.notes.undo("agents/ada/soul.md")


def test_writing_in_the_house_needs_a_grant(memory: recollect.Memory) -> None:
    ada = agent(memory, "ada")
    with pytest.raises(Denied, match="recollect agents grant ada house"):
        ada.notes.write("user.md", "Likes tea.\n")
    memory.agents.grant("ada", "house")
    assert ada.notes.write("user.md", "Likes tea.\n").version.actor_name == "ada"


def test_the_nearest_note_of_a_name_counts(memory: recollect.Memory) -> None:
    ada = agent(memory, "ada")
    memory.notes.write("user.md", "of the house")
    nearest = ada.notes.nearest("user.md")
    assert nearest
    assert nearest.path == "user.md"
    ada.notes.write("agents/ada/user.md", "her own")
    nearest = ada.notes.nearest("user.md")
    assert nearest
    assert nearest.text == "her own"
    assert ada.notes.nearest("threads.md") is None


def test_the_names_of_other_tools_are_read_and_written_as_they_are(memory: recollect.Memory) -> None:
    edit(memory, "USER.md", "Likes tea.\n")
    assert memory.notes.read("user.md").path == "USER.md"
    memory.notes.write("user.md", "Likes cocoa.\n")
    assert os.listdir(memory.notes.folder) == ["USER.md"] or not file(memory, "user.md").exists()
    assert memory.notes.read("user.md").text == "Likes cocoa.\n"


# The first time


def test_the_first_use_makes_two_files_and_nothing_else(memory: recollect.Memory) -> None:
    assert memory.notes.prepare() == [".gitignore", "agents/assistant/COMPACTION.md"]
    made = sorted(path.relative_to(memory.notes.folder).as_posix() for path in memory.notes.folder.rglob("*"))
    assert made == [".gitignore", "agents", "agents/assistant", "agents/assistant/COMPACTION.md"]
    assert memory.notes.prepare() == []
    memory.notes.remove("agents/assistant/COMPACTION.md")
    assert memory.notes.prepare() == [], "who removed it does not want it"


def test_the_houses_own_agent_may_write_the_user_page(memory: recollect.Memory) -> None:
    memory.notes.prepare()
    own = memory.as_agent(memory.settings.agent_name)
    assert own.notes.write("user.md", "Likes tea.\n").is_new


# What may be written


def test_a_soul_needs_a_reason_and_waits_for_review(memory: recollect.Memory) -> None:
    ada = agent(memory, "ada")
    with pytest.raises(Invalid, match="say why"):
        ada.notes.write("agents/ada/soul.md", "I am Ada.")
    ada.notes.write("agents/ada/soul.md", "I am Ada.", reason="first words")
    (waiting,) = memory.notes.reviews()
    assert (waiting.path, waiting.reason) == ("agents/ada/soul.md", "first words")
    with pytest.raises(Denied):
        ada.notes.accept("agents/ada/soul.md", 1)
    memory.notes.accept("agents/ada/soul.md", 1)
    assert memory.notes.reviews() == []
    edit(memory, "agents/ada/soul.md", "I am somebody else.")
    memory.notes.look()
    assert [one.actor for one in memory.notes.reviews()] == [OUTSIDE]


def test_a_diary_entry_cannot_be_changed_through_us(memory: recollect.Memory) -> None:
    path = "agents/assistant/diary/2026-03-02T12-00-00.md"
    memory.notes.write(path, "A quiet day.")
    for act in (
        lambda: memory.notes.write(path, "A loud day."),
        lambda: memory.notes.append(path, "And more."),
        lambda: memory.notes.remove(path),
        lambda: memory.notes.move(path, "elsewhere.md"),
    ):
        with pytest.raises(Conflict, match="never changed"):
            act()
    assert texts(memory, path) == ["A quiet day."]


def test_credentials_are_masked_before_they_are_written(memory: recollect.Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    written = memory.notes.write("tools.md", f"token: {secret}\nThe deploy key is in 1Password.\n")
    assert written.masked == 1
    assert secret not in file(memory, "tools.md").read_text(encoding="utf-8")
    assert "1Password" in memory.notes.read("tools.md").text


@pytest.mark.parametrize("text", ["nul \0 inside", "half \ud800 character", "x" * (MOST_BYTES + 1)], ids=str.__len__)
def test_what_is_no_text_or_too_long_is_refused_and_nothing_happens(memory: recollect.Memory, text: str) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    with pytest.raises(Invalid, match=r"user\.md"):
        memory.notes.write("user.md", text)
    assert texts(memory, "user.md") == ["Likes tea.\n"]


def test_bytes_that_are_no_text_are_kept_as_they_are(memory: recollect.Memory) -> None:
    memory.notes.folder.mkdir(parents=True)
    for name, raw in (("picture.png", b"\x89PNG\0\1\2"), ("latin.md", "caf\xe9".encode("latin-1"))):
        file(memory, name).write_bytes(raw)
        note = memory.notes.read(name)
        assert (note.content, note.is_utf8) == (raw, False)
        assert note.is_text == (name == "latin.md")
        memory.notes.write(name, "text now")
        memory.notes.undo(name)
        assert file(memory, name).read_bytes() == raw


def obstacles(memory: recollect.Memory) -> dict[str, str]:
    """Things that lie where a note should; path → what a message about it says."""
    root = memory.notes.folder
    root.mkdir(parents=True, exist_ok=True)
    with open(root / "huge.md", "wb") as huge:
        huge.truncate(100_000_000)
    (root / "folder.md").mkdir()
    (root / "link.md").symlink_to(memory.settings.home / "recollect.toml")
    (root / "loop.md").symlink_to("loop.md")
    (root / "out").symlink_to(memory.settings.home)
    os.mkfifo(root / "pipe.md")
    return {
        "huge.md": "100 MB",
        "folder.md": "is a folder",
        "link.md": "is a link",
        "loop.md": "is a link",
        "out/user.md": "link",
        "pipe.md": "plain file",
        "user.md/below.md": "is a file, not a folder",
    }


def test_what_is_no_note_is_named_left_alone_and_in_nobodys_way(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    for path, message in obstacles(memory).items():
        with pytest.raises(Conflict, match=message):
            memory.notes.read(path)
        with pytest.raises(Conflict, match=message):
            memory.notes.write(path, "text")
        with pytest.raises(Conflict, match=message):
            memory.notes.remove(path)
    before = sorted(os.listdir(memory.notes.folder))
    looked = memory.notes.look()
    assert {one.path for one in looked.problems} == {"huge.md", "link.md", "loop.md", "out", "pipe.md"}
    assert (looked.found, looked.put_back) == ([], [])
    assert sorted(os.listdir(memory.notes.folder)) == before
    assert memory.notes.read("user.md").text == "Likes tea.\n"
    assert (memory.notes.folder / "huge.md").stat().st_size == 100_000_000


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_not_taken_for_deleted(memory: recollect.Memory) -> None:
    memory.notes.write("projects/garden.md", "beans")
    place = file(memory, "projects")
    place.chmod(0)
    try:
        looked = memory.notes.look()
    finally:
        place.chmod(0o700)
    assert looked.found == []
    assert "projects" in [one.path for one in looked.problems]


def test_a_folder_that_became_a_link_is_not_taken_for_deleted(memory: recollect.Memory) -> None:
    memory.notes.write("projects/garden.md", "beans")
    os.rename(file(memory, "projects"), memory.settings.home / "elsewhere")
    file(memory, "projects").symlink_to(memory.settings.home / "elsewhere")
    looked = memory.notes.look()
    assert looked.found == []
    assert [one.path for one in looked.problems] == ["projects"]


def test_a_failure_after_the_file_was_put_in_place_takes_it_back(memory: recollect.Memory) -> None:
    """The transaction fails: file and versions are as they were."""
    memory.notes.write("user.md", "one")
    folder: Folder = memory.notes._folder  # pyright: ignore[reportPrivateUsage]

    def fail(path: str) -> None:
        with folder.writing() as writing:
            head = folder.settle(writing, path)
            made = memory.notes._writer._next(writing, path, head, b"two", Action.WRITTEN, "")  # pyright: ignore[reportPrivateUsage]
            folder.write(writing, made, b"two")
            assert file(memory, path).read_bytes() == b"two"
            raise RuntimeError("the power went out")

    for path in ("user.md", "new.md"):
        with pytest.raises(RuntimeError):
            fail(path)
    assert file(memory, "user.md").read_text(encoding="utf-8") == "one"
    assert not file(memory, "new.md").exists()
    assert texts(memory, "user.md") == ["one"]
    assert memory.notes.find("new.md") is None


def test_a_note_that_was_put_in_place_by_a_process_that_died_is_taken_for_found(memory: recollect.Memory) -> None:
    """Killed between the file and the commit: the text is there, and so is the one that it replaced."""
    memory.notes.write("user.md", "one")
    edit(memory, "user.md", "typed by hand")
    memory.notes._folder.files.place("user.md", b"two")  # pyright: ignore[reportPrivateUsage]
    memory.notes.look()
    assert memory.notes.read("user.md").text == "two"
    assert set(texts(memory, "user.md")) == {"one", "two", "typed by hand"}


def test_a_note_and_its_text_know_what_they_are() -> None:
    note = Note(path="a.md", number=1, scope="house", at="", actor="person", action=Action.WRITTEN, digest="x")
    assert note.is_text
    assert note.text == ""


def test_sql_tells_which_notes_there_are_and_to_an_agent_only_of_those_it_sees(memory: recollect.Memory) -> None:
    ada = agent(memory, "ada")
    memory.notes.write("user.md", "Likes tea.\n")
    memory.notes.write("agents/ada/threads.md", "one")
    memory.notes.write("agents/assistant/threads.md", "two")
    memory.notes.remove("user.md")
    _, rows = memory.sql("SELECT path, number, actor FROM notes ORDER BY path")
    assert [tuple(row) for row in rows] == [
        ("agents/ada/threads.md", 1, "person"),
        ("agents/assistant/threads.md", 1, "person"),
    ]
    _, rows = ada.sql("SELECT path, number, is_gone FROM note_versions ORDER BY path, number")
    assert [tuple(row) for row in rows] == [("agents/ada/threads.md", 1, 0), ("user.md", 1, 0), ("user.md", 2, 1)]


def test_what_is_no_text_is_not_changed_in_part(memory: recollect.Memory) -> None:
    memory.notes.folder.mkdir(parents=True)
    file(memory, "latin.md").write_bytes(b"caf\xe9")
    with pytest.raises(Conflict, match="not UTF-8"):
        memory.notes.append("latin.md", "more")
    assert file(memory, "latin.md").read_bytes() == b"caf\xe9"


def test_a_file_in_the_place_of_the_folder_is_named(memory: recollect.Memory) -> None:
    memory.settings.home.mkdir(parents=True, exist_ok=True)
    memory.notes.folder.write_text("not a folder", encoding="utf-8")
    for act in (memory.notes.look, memory.notes.prepare, lambda: memory.notes.write("user.md", "text")):
        with pytest.raises(Conflict, match="is no folder"):
            act()


def test_a_home_that_was_moved_knows_what_its_files_were(tmp_path: Path) -> None:
    """A note that is deleted while nobody looks stays deleted, wherever the home is by then."""
    with recollect.open(tmp_path / "here") as memory:
        memory.notes.write("user.md", "Likes tea.\n")
        memory.notes.write("kept.md", "stays")
    os.rename(tmp_path / "here", tmp_path / "there")
    (tmp_path / "there/notes/user.md").unlink()
    with recollect.open(tmp_path / "there") as memory:
        memory.notes.look()
        assert [one.path for one in memory.notes.list()] == ["kept.md"]


def test_a_change_that_a_person_took_back_waits_for_no_review(memory: recollect.Memory) -> None:
    memory.notes.write("agents/ada/soul.md", "I am Ada.", reason="first words")
    edit(memory, "agents/ada/soul.md", "I am somebody else.")
    memory.notes.look()
    assert [one.number for one in memory.notes.reviews()] == [2]
    memory.notes.undo("agents/ada/soul.md")
    assert memory.notes.reviews() == []


def test_a_version_that_never_was_cannot_have_been_seen(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    with pytest.raises(Invalid, match="no version 99: the latest is 1"):
        memory.notes.write("user.md", "Likes cocoa.\n", expected=99)
    assert texts(memory, "user.md") == ["Likes tea.\n"]


def test_who_writes_over_a_change_that_nobody_had_looked_at_is_told(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    edit(memory, "user.md", "Likes pie.\n")
    written = memory.notes.write("user.md", "Likes cocoa.\n")
    assert written.unseen
    assert written.unseen.actor == OUTSIDE
    assert memory.notes.append("user.md", "And honey.\n").unseen is None


def test_a_folder_that_was_removed_comes_back_with_its_notes(memory: recollect.Memory) -> None:
    memory.notes.write("garden/long-gone.md", "old")
    memory.notes.remove("garden/long-gone.md")
    memory.clock.move(days=30)  # type: ignore[attr-defined]
    for name in ("beans", "herbs/thyme"):
        memory.notes.write(f"garden/{name}.md", name)
    memory.notes.remove("garden")
    assert [one.path for one in memory.notes.bring_back("garden")] == ["garden/beans.md", "garden/herbs/thyme.md"]
    shutil.rmtree(file(memory, "garden"))
    memory.notes.look()
    assert len(memory.notes.bring_back("garden")) == 2
    assert file(memory, "garden/herbs/thyme.md").read_text(encoding="utf-8") == "herbs/thyme"
    with pytest.raises(NotFound):
        memory.notes.bring_back("nowhere")


@pytest.mark.parametrize("name", ["first.md", "last.md"])
def test_a_file_that_got_another_name_remembers_the_one_it_had(memory: recollect.Memory, name: str) -> None:
    """Whichever of the two is looked at first."""
    memory.notes.write("middle.md", "Likes tea.\n")
    os.rename(file(memory, "middle.md"), file(memory, name))
    memory.notes.look()
    assert memory.notes.history(name)[-1].moved_from == "middle.md"
    shutil.copy(file(memory, name), file(memory, "copied.md"))
    memory.notes.look()
    assert memory.notes.history("copied.md")[-1].moved_from == ""


def test_what_editors_leave_beside_a_note_is_no_note(memory: recollect.Memory) -> None:
    memory.notes.write("user.md", "Likes tea.\n")
    for name in ("user.md~", "#user.md#", "4913", "user.md.tmp", ".user.md.swp"):
        file(memory, name).write_text("left over", encoding="utf-8")
    looked = memory.notes.look()
    assert (looked.found, looked.problems) == ([], [])
    with pytest.raises(Invalid, match="for a moment"):
        memory.notes.write("draft.tmp", "text")
