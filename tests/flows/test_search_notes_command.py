"""`recollect search` over what is written down."""

import shlex
from pathlib import Path

import pytest
from commands import run

PATH = "projects/my garden/it's.md"


@pytest.fixture
def house(home: Path) -> Path:
    file = home / "notes" / PATH
    file.parent.mkdir(parents=True)
    file.write_text("# Beans\n\nSown in May.\n\n# Shed\n\nThe key hangs behind the can.\n", encoding="utf-8")
    return home


def test_people_read_which_file_and_line_and_how_to_see_more(house: Path) -> None:
    done = run("search", "shed key", "--limit", 1, "--fast", home=house)
    heading, snippet, show, *_ = done.out.splitlines()

    assert heading.split("  ")[1:] == ["✎ Note", f"notes/{PATH}:5"]
    assert snippet == "    # Shed The key hangs behind the can."
    _, *arguments = shlex.split(show)
    assert arguments[-3:] == ["notes", "show", PATH]
    assert "Sown in May." in run(*arguments, home=house).out
    assert "resume" not in done.out


def test_programs_read_the_kind_and_the_place(house: Path) -> None:
    (hit,) = run("search", "shed key", "--type", "notes", "--limit", 1, "--json", home=house).json()["hits"]

    assert (hit["kind"], hit["id"], hit["file"], hit["line"]) == ("note", PATH, f"notes/{PATH}", 5)
    assert (hit["author"], hit["source"], hit["resume"]) == ("note", "notes", "")


def test_what_cannot_be_searched_is_said_in_plain_characters(house: Path) -> None:
    with (house / "notes" / "log.md").open("wb") as file:
        file.truncate(5_000_000)
    (house / "notes" / "bell\x07.md").write_text("ding", encoding="utf-8")

    done = run("search", "shed key", home=house)

    assert done.code == 0
    assert "Note: notes/log.md is not searched: " in done.out
    assert "\x07" not in done.out
