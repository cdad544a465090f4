"""Bad names, bad texts and bad files for `recollect notes`: a message that names the thing, and nothing lost."""

import os
import subprocess
from pathlib import Path

import pytest
from commands import command, environment, run
from record_commands import refused, told

HUNDRED_MEGABYTES = 100_000_000
BYTES = b"caf\xe9 \xff\xfe"
"""No UTF-8."""


@pytest.fixture
def house(home: Path) -> Path:
    """A home in which `user.md` says `Mara.`"""
    assert run("notes", "write", "user.md", "Mara.", home=home).code == 0
    return home


def is_as_it_was(house: Path) -> bool:
    """Nothing was written, neither here nor outside, and nothing became a version."""
    outside = [path.name for path in house.parent.iterdir() if path.name not in ("home", "user")]
    assert outside == []
    assert (house / "notes" / "user.md").read_text(encoding="utf-8") == "Mara.\n"
    return [one["version"] for one in told(house, "notes", "history", "user.md")] == [1]


# Names


BAD_NAMES = [
    ("../x.md", ["'..'"]),
    ("a/../../../x.md", ["'..'"]),
    ("/etc/x.md", ["'/etc/x.md'", "user.md"]),
    (".git/config", ["'.git'", "hidden"]),
    ("CON", ["'CON'", "device"]),
    ("a/lpt1.md", ["'lpt1.md'", "device"]),
    ("a\x1b[31mb.md", ["\\x1b", "character"]),
    ("a\nb.md", ["\\n", "character"]),
    ("a\u202eb.md", ["\\u202e", "character"]),
    ("a\\b.md", ["character"]),
    ("n" * 1000, ["too long"]),
    ("n" * 300 + ".md", ["longer than"]),
    ("a/b/c/d/e/f/g/h/i/j/k.md", ["levels"]),
    ("a//b.md", ["no name"]),
    ("", ["needs a name"]),
]


def test_what_cannot_be_a_name_is_refused(house: Path) -> None:
    for name, words in BAD_NAMES:
        done = run("notes", "write", name, "x", home=house)
        assert refused(done, 2, *words), done
        assert "\x1b" not in done.err
    assert is_as_it_was(house)


def test_no_command_leaves_the_folder(house: Path) -> None:
    for arguments in (
        ["show", "../recollect.db"],
        ["history", "../recollect.db"],
        ["diff", "../recollect.db"],
        ["undo", "../recollect.db"],
        ["remove", ".."],
        ["move", "user.md", "../user.md"],
        ["move", "..", "x"],
        ["list", ".."],
    ):
        done = run("notes", *arguments, home=house)
        assert refused(done, 2, "'..'"), done
    assert is_as_it_was(house)


def test_an_argument_that_is_no_text_is_refused(house: Path) -> None:
    for arguments in (["write", b"x\xff.md", "x"], ["write", "x.md", b"\xff"], ["show", b"\xff"]):
        done = subprocess.run([*command("notes"), *arguments], env=environment(house), capture_output=True)
        assert done.returncode == 2, done
        assert b"Traceback" not in done.stderr
    assert is_as_it_was(house)


# Texts


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty", "nothing was written"]),
        (b" \n\t\n", ["empty", "nothing was written"]),
        (BYTES, ["UTF-8", "iconv"]),
        (b"a\0b", ["NUL", "user.md"]),
    ],
    ids=["empty", "blank", "bytes", "nul"],
)
def test_a_text_that_cannot_be_a_note_is_refused(content: bytes, words: list[str], house: Path) -> None:
    source = house.parent / "user" / "source"
    source.write_bytes(content)

    assert refused(run("notes", "write", "user.md", "--from", source, home=house), 2, *words)
    with source.open("rb") as stream:
        piped = subprocess.run(
            command("notes", "write", "user.md", "-"), env=environment(house), stdin=stream, capture_output=True
        )
    assert piped.returncode == 2
    assert is_as_it_was(house)


def test_a_hundred_megabytes_are_refused_from_wherever_they_come(house: Path) -> None:
    source = house.parent / "user" / "huge.md"
    source.touch()
    os.truncate(source, HUNDRED_MEGABYTES)

    assert refused(run("notes", "write", "user.md", "--from", source, home=house), 2, "huge.md", "4,000,000")
    assert refused(run("notes", "write", "user.md", "--from", "/dev/zero", home=house), 2, "/dev/zero")
    assert is_as_it_was(house)


def test_a_source_that_cannot_be_read_is_named(house: Path) -> None:
    folder = house.parent / "user"
    (folder / "loop").symlink_to(folder / "loop")

    assert refused(run("notes", "write", "user.md", "--from", folder, home=house), 2, str(folder))
    assert refused(run("notes", "write", "user.md", "--from", folder / "loop", home=house), 2, "loop")
    assert refused(run("notes", "write", "user.md", "--from", folder / "absent", home=house), 3, "absent")
    assert is_as_it_was(house)


# Files that are no notes


def test_what_lies_in_the_way_is_named_and_stays_as_it_is(house: Path) -> None:
    folder = house / "notes"
    secret = house.parent / "user" / "secret"
    secret.write_text("not ours\n", encoding="utf-8")
    (folder / "folder.md").mkdir()
    (folder / "link.md").symlink_to(secret)
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "out").symlink_to(secret.parent)
    os.mkfifo(folder / "pipe.md")
    (folder / "huge.md").touch()
    os.truncate(folder / "huge.md", HUNDRED_MEGABYTES)

    for name, word in (
        ("folder.md", "folder"),
        ("link.md", "link"),
        ("loop.md", "link"),
        ("out/secret", "link"),
        ("pipe.md", "plain file"),
        ("huge.md", "100 MB"),
        ("user.md/below.md", "user.md is a file"),
    ):
        for arguments in (["show", name], ["write", name, "x"], ["remove", name]):
            done = run("notes", *arguments, home=house)
            assert refused(done, 5, name, word), (arguments, done)
    listed = run("notes", "list", home=house)
    assert [one for one in ("huge.md", "link.md", "loop.md", "out", "pipe.md") if one not in listed.err] == []
    assert [one["path"] for one in told_but_warned(house)] == ["agents/assistant/COMPACTION.md", "user.md"]
    assert secret.read_text(encoding="utf-8") == "not ours\n"
    assert (folder / "huge.md").stat().st_size == HUNDRED_MEGABYTES
    assert (folder / "link.md").is_symlink()


def told_but_warned(house: Path) -> list[dict[str, object]]:
    """The one JSON document, while people are told of files that are no notes."""
    return run("notes", "list", "--json", home=house).json()


def test_bytes_that_are_no_text_are_kept_and_given_back(house: Path) -> None:
    (house / "notes" / "old.md").write_bytes(BYTES)
    (house / "notes" / "image.png").write_bytes(b"\x89PNG\0")

    shown = subprocess.run(command("notes", "show", "old.md"), env=environment(house), capture_output=True, check=True)
    assert shown.stdout == BYTES
    value = told(house, "notes", "show", "old.md")
    assert (value["is_utf8"], value["text"]) == (False, "caf\ufffd \ufffd\ufffd")
    assert run("notes", "write", "old.md", "Café.", home=house).code == 0
    assert run("notes", "undo", "old.md", home=house).code == 0
    assert (house / "notes" / "old.md").read_bytes() == BYTES
    assert refused(run("notes", "write", "image.png", "x", "--append", home=house), 5, "image.png")
    (house / "notes" / "image.png").write_bytes(b"\x89PNG\0\0")
    assert refused(run("notes", "diff", "image.png", home=house), 2, "image.png", "not text")


@pytest.mark.parametrize("what", ["file", "link"])
def test_the_folder_itself_may_be_something_else(what: str, home: Path) -> None:
    home.mkdir()
    if what == "file":
        (home / "notes").write_text("mine\n", encoding="utf-8")
    else:
        (home / "notes").symlink_to("notes")

    for arguments in (["notes"], ["notes", "write", "user.md", "x"], ["diary", "write", "x"], ["status", "set", "a=1"]):
        done = run(*arguments, home=home)
        assert done.code in (4, 5), done
        assert done.explains("notes")
    assert (home / "notes").is_symlink() or (home / "notes").read_text(encoding="utf-8") == "mine\n"
