"""Killed at any moment of reading a large export: in the end the same rows as one clean import.

Real processes and SIGKILL at moments that a seed decides, as in `test_kill.py`. Between two of the kills the export is
replaced by a later one, in which conversations have gone on and others are new; from then on two read it at once.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import commands
import pytest
from acceptance.test_kill import Killer, assert_same, contents
from conftest import Postgres
from exports import Record, chatgpt, document, export_zip

CONVERSATIONS = 600
KILLS = 4
LONG_WORDS = "compost " * 40_000
"""One conversation takes more than one transaction."""


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "killed.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create("template0")
    yield server.url(name)
    server.drop(name)


def export(*, is_later: bool = False) -> list[Record]:
    """Told in a random order, which is the same every time. The later one has all that the earlier one has."""
    told: list[Record] = []
    for number in range(CONVERSATIONS + 100 * is_later):
        grown = 4 if is_later and number % 5 == 0 else 0
        told.append(chatgpt(f"subject {number}", 4 + number % 3 + grown, number * 100))
        if number == 350:
            make_long(told[-1])
    random.Random("export").shuffle(told)
    return told


def make_long(conversation: Record) -> None:
    nodes: list[Any] = list(conversation["mapping"].values())
    for place, node in enumerate(nodes[1:]):
        node["message"]["content"]["parts"].append(f"{place} {LONG_WORDS * 4}")


def kill_some(killer: Killer, arguments: list[object], kills: int, at_once: int) -> None:
    done = rounds = 0
    while done < kills:
        done += killer.kill(*[arguments] * at_once)
        rounds += 1
        if rounds > kills * 2:
            break  # It is read to its end, and quicker than anybody can kill.
    assert done, "no import was still at work when it was to be killed"


def test_kills_in_a_large_export_end_in_the_rows_of_a_clean_import(tmp_path: Path, address: str) -> None:
    home, clean_home = tmp_path / "home", tmp_path / "clean"
    path = tmp_path / "Downloads" / "export.zip"
    arguments: list[object] = ["--db", address, "ingest", path]
    killer = Killer("export", home)
    export_zip(path, document(*export()))
    kill_some(killer, arguments, KILLS // 2, at_once=1)
    later = export(is_later=True)
    export_zip(path, document(*later[: len(later) // 2]), document(*later[len(later) // 2 :]))
    kill_some(killer, arguments, KILLS // 2, at_once=2)

    last = commands.run(*arguments, "--json", home=home)

    assert last.code == 0, last.err
    again = commands.run(*arguments, "--json", home=home).json()
    assert (again["messages_added"], again["skipped"]) == (0, 1)
    commands.run("ingest", path, home=clean_home)
    assert_same(contents(home, address), contents(clean_home, str(clean_home / "recollect.db")))
