"""Small commands start fast because nothing heavy is imported on the way."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands import SCRIPT, environment, run
from transcripts import Transcript

HEAVY = (
    "rich",
    "watchfiles",
    "psycopg",
    "pydantic",
    "typer",
    "zstandard",
    "pathspec",
    "asyncio",
    "numpy",
    "onnxruntime",
)


def imported_by(*arguments: str, home: Path) -> set[str]:
    """The top-level modules that a command loads, as `-X importtime` lists them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(SCRIPT), *arguments],
        env=environment(home),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["conversations"], ["conversations", "--json"], ["context", "--recent", "3"]],
    ids=" ".join,
)
def test_nothing_heavy_is_imported_on_the_way(arguments: list[str], home: Path, projects: Path) -> None:
    Transcript("session").exchanges(2, about="豆 – ø").save(projects)
    Transcript("elsewhere", cwd="").exchanges(1).save(projects)
    assert run("ingest", projects, home=home).code == 0

    loaded = imported_by(*arguments, home=home)

    assert "click" in loaded
    assert not loaded & set(HEAVY)


def test_the_version_is_told_without_opening_a_database(home: Path) -> None:
    assert "apsw" not in imported_by("--version", home=home)
    assert not home.exists()


def test_a_search_loads_no_model_that_is_not_here_and_nothing_for_people_in_a_pipe(home: Path, projects: Path) -> None:
    Transcript("session").exchanges(2, about="beans").save(projects)
    assert run("ingest", projects, home=home).code == 0

    loaded = imported_by("search", "beans", home=home)

    assert "numpy" in loaded
    assert not loaded & {
        "onnxruntime",
        "rich",
        "watchfiles",
        "psycopg",
        "pydantic",
        "asyncio",
        "concurrent",
        "multiprocessing",
    }
