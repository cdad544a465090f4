"""Colours and bars on a terminal, plain text everywhere else."""

import os
import pty
import subprocess
from pathlib import Path

import pytest
from commands import PATIENCE_SECONDS, command, environment, run
from transcripts import Transcript

import recollect

ESCAPE = "\x1b["


def on_a_terminal(*arguments: object, home: Path, **variables: str) -> str:
    """What a person sees."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments),
        env=environment(home, TERM="xterm-256color", **variables),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(own, 65_536)
        except OSError:  # Linux says so when the other end is closed.
            break
        if not part:
            break
        seen += part
    os.close(own)
    assert process.wait(PATIENCE_SECONDS) == 0, seen
    return seen.decode()


@pytest.fixture
def house(home: Path, projects: Path) -> Path:
    Transcript("garden").exchanges(3).save(projects)
    assert run("ingest", projects, home=home).code == 0
    return home


@pytest.mark.parametrize("arguments", [["conversations"], ["health"], ["doctor"], ["show"], ["sql"]], ids=" ".join)
def test_there_are_colours_on_a_terminal_and_nowhere_else(arguments: list[str], house: Path) -> None:
    if arguments == ["show"]:
        arguments = ["show", run("conversations", "--json", home=house).json()[0]["id"]]

    assert ESCAPE in on_a_terminal(*arguments, home=house)
    assert ESCAPE not in run(*arguments, home=house).out
    assert ESCAPE not in on_a_terminal(*arguments, home=house, NO_COLOR="1")


def test_json_has_no_colours_on_a_terminal_either(house: Path) -> None:
    assert ESCAPE not in on_a_terminal("conversations", "--json", home=house)


def test_ingest_shows_a_bar_on_a_terminal_only(home: Path, projects: Path) -> None:
    Transcript("garden").exchanges(300).save(projects)

    seen = on_a_terminal("ingest", projects, home=home)
    piped = run("ingest", projects, "--reimport", home=home)

    assert "Reading" in seen
    assert "600 new messages" in seen
    assert "Reading" not in piped.out + piped.err
    assert ESCAPE not in piped.out + piped.err


def test_the_library_works_as_its_docstring_says(house: Path, tmp_path: Path, projects: Path) -> None:
    with recollect.open(tmp_path / "library") as memory:
        memory.history.ingest([projects])
        titles = [listed.title for listed in memory.history.conversations(limit=5)]

    assert titles == ["Question 0 about beans?"]
    assert recollect.__doc__
    assert "memory.history.conversations(limit=5)" in recollect.__doc__
    with pytest.raises(recollect.NotFound, match="nothing-like-it"), recollect.open(house) as memory:
        memory.history.conversation("nothing-like-it")
    with pytest.raises(AttributeError, match="frobnicate"):
        recollect.frobnicate  # noqa: B018


def test_an_export_tells_on_a_terminal_how_far_it_is_and_nowhere_else(house: Path, tmp_path: Path) -> None:
    told = on_a_terminal("export", tmp_path / "one", home=house)

    assert "history_messages  6" in told
    assert "history_messages" not in run("export", tmp_path / "two", home=house).err
