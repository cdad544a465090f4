"""Killed while it forgets, or while it learns: all of an act has happened, or nothing, and the rest is done later.

Real processes (`tests/knowing.py`), killed with SIGKILL at moments that a seed decides.
"""

import random
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import Postgres
from processes import started_knowing
from residue import residue_of
from transcripts import START, Transcript

import recollect
from recollect.forgetting import Forgotten
from recollect.knowledge import Evidence, Knowledge, Origin, Statement
from recollect.scopes import Actor, Principal

KILLS = 5
TALKS = 10
EXCHANGES = 60
MOST_SECONDS = 1.5
"""Between the first work of a process and its end by a kill."""


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "home" / "killed.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create()
    yield server.url(name)
    server.drop(name)


class Killer:
    """Starts processes and kills each at a moment of its own, counted from when its work began."""

    def __init__(self, home: Path, address: str, seed: str, longest: float = MOST_SECONDS) -> None:
        self._home, self._address = home, address
        self._dice = random.Random(seed)
        self._longest = self._window = longest

    def kill(self, task: str, *given: object) -> bool:
        """Whether it was still at work."""
        with started_knowing(self._home, self._address, task, *given) as process:
            process.go()
            try:
                process.wait(self._dice.uniform(0, self._window))
            except subprocess.TimeoutExpired:
                process.kill()
                self._window = min(self._longest, self._window * 1.3)
                return True
            self._window *= 0.8  # It is quicker than that: come earlier the next time.
            return False


def fill(memory: recollect.Memory, projects: Path) -> None:
    """Talks of which every message has words of its own, and records that came from some of them."""
    for number in range(TALKS):
        transcript = Transcript(f"talk {number}", start=START + timedelta(days=number))
        for turn in range(EXCHANGES):
            transcript.user(f"What about the word-{number}-{turn}-that-was-asked for, in the shed?")
            transcript.assistant(f"It is the word-{number}-{turn}-that-was-said now, and no other.")
        transcript.save(projects)
    memory.history.ingest([projects])
    librarian = Knowledge(memory.database, memory.settings.house, memory.clock, Principal(actor=Actor.LIBRARIAN))
    librarian.learn_many(
        [
            Statement(
                text=f"It is known that {message.text}",
                origin=Origin.EXTRACTED,
                sources=(Evidence(message_id=message.id, quote=message.text),),
            )
            for message in list(memory.history.export())[::9]
        ]
    )
    memory.recall.catch_up()


def contents(memory: recollect.Memory) -> dict[str, Any]:
    with memory.database.read() as session:
        events = session.rows("SELECT record_id, version, action, content FROM knowledge_events ORDER BY number")
    return {
        "messages": {message.id: message.text for message in memory.history.export()},
        "versions": {(one.id, one.version): one for one in memory.knowledge.pages(("", 0), 10_000)},
        "events": events,
        "receipts": len(memory.forgetting.receipts()),
    }


def choose(memory: recollect.Memory, dice: random.Random, kind: str) -> str:
    if kind == "record":
        return dice.choice(memory.knowledge.records(limit=1_000)).id
    if kind == "message":
        return dice.choice([message.id for message in memory.history.export()])
    listed = dice.choice(memory.history.conversations(limit=1_000)).conversation
    return listed.id if kind == "conversation" else listed.file_id


def words_of(before: dict[str, Any], told: Forgotten) -> list[str]:
    """Of what goes; but what a message that stays says is said there."""
    texts = [before["messages"][message_id] for message_id in told.reached["message"]]
    if not texts:
        return [f"It is known that {before['versions'][(record, 1)].text[17:50]}" for record in told.reached["record"]]
    return [next(word for word in text.split() if word.startswith("word-")) for text in texts]


def forget_and_kill(address: str, tmp_path: Path, seed: str, kills: int) -> None:
    home, projects = tmp_path / "home", tmp_path / "claude" / "projects"
    dice, killer = random.Random(f"what {seed}"), Killer(home, address, f"when {seed}")
    forgotten: list[str] = []
    killed = 0
    with recollect.open(home=home, database=address) as memory:
        fill(memory, projects)
        for number in range(kills):
            kind = ("message", "conversation", "record", "file")[number % 4]
            name = choose(memory, dice, kind)
            told = memory.forget(**{kind: name}, dry_run=True)
            before = contents(memory)
            killed += killer.kill("forget", kind, name)
            after = contents(memory)
            if after["receipts"] == before["receipts"]:
                assert after == before
                continue
            gone, records = set(told.reached["message"]), set(told.reached["record"])
            assert after["messages"].items() == {
                (one, text) for one, text in before["messages"].items() if one not in gone
            }
            assert after["versions"].keys() == {key for key in before["versions"] if key[0] not in records}
            assert memory.forgetting.receipts()[-1].state in ("erased", "verified")
            forgotten += words_of(before, told)
            assert {one.state for one in memory.forgetting.verify()} == {"verified"}
            assert residue_of(memory, *forgotten) == []
        assert killed
        memory.history.ingest([projects], reimport=True)
        memory.recall.catch_up()
        assert residue_of(memory, *forgotten) == []


def test_a_killed_forget_has_erased_all_or_nothing_and_is_finished_later(tmp_path: Path, address: str) -> None:
    forget_and_kill(address, tmp_path, "a few", KILLS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_hundreds_of_killed_forgets(tmp_path: Path, address: str, seed: int) -> None:
    forget_and_kill(address, tmp_path, str(seed), 20)


def assert_stream_and_records_agree(memory: recollect.Memory) -> None:
    versions = memory.knowledge.pages(("", 0), 100_000)
    with memory.database.read() as session:
        told = session.rows("SELECT DISTINCT record_id, version FROM knowledge_events ORDER BY record_id, version")
        numbers = session.rows("SELECT number FROM knowledge_events ORDER BY number")
    assert [(one.id, one.version) for one in versions] == told
    assert [number for (number,) in numbers] == list(range(1, len(numbers) + 1))
    by_record: dict[str, list[Any]] = {}
    for one in versions:
        by_record.setdefault(one.id, []).append(one)
    for record in by_record.values():
        assert [one.version for one in record] == list(range(1, len(record) + 1))
        assert [one.believed_until for one in record] == [*(one.believed_from for one in record[1:]), ""]
    memory.knowledge.rebuild()
    assert memory.knowledge.pages(("", 0), 100_000) == versions


def test_kills_of_who_learns_edits_and_undoes_never_part_records_from_their_stream(
    tmp_path: Path, address: str
) -> None:
    home = tmp_path / "home"
    killer = Killer(home, address, "changes", longest=0.8)
    with recollect.open(home=home, database=address) as memory:
        killed = 0
        for number in range(KILLS):
            killed += killer.kill("change", number, 5_000)
            assert_stream_and_records_agree(memory)
        assert killed
        assert memory.knowledge.figures().total
