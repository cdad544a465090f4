"""Several processes at once: they edit, learn and forget in one house, beside a daemon that reads and answers."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import commands
import pytest
from commands import end, wait_for
from computers import Computer, session
from knowing import statements
from processes import started_knowing
from residue import residue_of
from transcripts import append, line

import recollect
from recollect.database import sqlite

SECRET = "The spare key of the shed lies under the third pot of thyme"
READ_ON = """
import sys
import recollect
with recollect.open(home=sys.argv[1]) as memory, memory.database.read() as session:
    session.value("SELECT count(*) FROM history_messages")
    print("reading", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    return Computer(tmp_path)


# Who changes a record


def test_of_two_who_edit_the_same_version_one_wins_and_the_other_is_shown_both_texts(home: Path, address: str) -> None:
    with recollect.open(home=home, database=address) as memory:
        record = memory.knowledge.remember("Beans need poles.").record
        assert record
        with (
            started_knowing(home, address, "edit_once", record.id, "ada", 1) as ada,
            started_knowing(home, address, "edit_once", record.id, "bob", 1) as bob,
        ):
            for process in (ada, bob):
                process.go()
            told = {"ada": ada.result(), "bob": bob.result()}
        winner = next(who for who, problem in told.items() if not problem)
        loser = next(who for who, problem in told.items() if problem)
        now = memory.knowledge.record(record.id)
    assert (now.version, now.text) == (2, f"what {winner} says")
    assert f"what {winner} says" in told[loser]
    assert f"what {loser} says" in told[loser]


def test_every_version_has_one_winner_when_two_edit_on_and_on(home: Path, address: str) -> None:
    last = 60
    with recollect.open(home=home, database=address) as memory:
        record = memory.knowledge.remember("Beans need poles.").record
        assert record
        with (
            started_knowing(home, address, "edit", record.id, "ada", last) as ada,
            started_knowing(home, address, "edit", record.id, "bob", last) as bob,
        ):
            for process in (ada, bob):
                process.go()
            won = {"ada": ada.result(), "bob": bob.result()}
        versions = memory.knowledge.versions(record.id)
    assert sorted(won["ada"] + won["bob"]) == list(range(2, len(versions) + 1))
    made_by = {version: who for who, numbers in won.items() for version in numbers}
    assert [one.text for one in versions[1:]] == [f"{made_by[one.version]} {one.version}" for one in versions[1:]]


def timeline(memory: recollect.Memory) -> list[tuple[str, ...]]:
    found = memory.knowledge.records(state="all", limit=10_000)
    return sorted((one.subject, one.attribute, one.true_from, one.true_until, one.value, one.state) for one in found)


def test_who_learns_what_first_makes_no_difference(home: Path, address: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        learners = [stack.enter_context(started_knowing(home, address, "learn", seed)) for seed in range(4)]
        for process in learners:
            process.go()
        assert [process.result() for process in learners] == [len(statements())] * 4
    with recollect.open(home=tmp_path / "alone") as alone, recollect.open(home=home, database=address) as memory:
        alone.knowledge.learn_many(statements())
        assert timeline(memory) == timeline(alone)
        assert len(timeline(memory)) == len(statements())


# Who forgets, beside a daemon


def found(computer: Computer, words: str) -> list[str]:
    done = computer.run("search", words, "--json")
    assert done.code == 0, done.err
    return [hit["text"] for hit in done.json()["hits"]]


def test_what_is_forgotten_beside_a_daemon_is_gone_for_it_too(computer: Computer) -> None:
    told = session("garden").exchanges(50)
    told.user(f"{SECRET}, do not lose it.")
    told.assistant("I will keep that in mind.")
    path = told.save(computer.projects)
    with computer.up() as process:
        wait_for("the socket", lambda: computer.status().get("socket"))
        assert SECRET in found(computer, "spare key of the shed")[0]
        with recollect.open(computer.home) as memory:
            message = next(one.id for one in memory.history.export() if SECRET in one.text)
            searching = [
                subprocess.Popen(
                    commands.command("search", "spare key", "--json"),
                    env=commands.environment(computer.home),
                    stdout=subprocess.DEVNULL,
                )
                for _ in range(2)
            ]
            done = computer.run("forget", "--message", message, "--json")
            assert [one.wait(commands.PATIENCE_SECONDS) for one in searching] == [0, 0]
            assert (done.code, done.json()["state"]) == (0, "verified"), done.err

            assert SECRET not in " ".join(found(computer, "spare key of the shed"))
            told.user("And where do the leeks stand?")
            append(path, line(told.records[-1]))
            computer.wait_for_words("leeks")
            assert "leeks" in " ".join(found(computer, "leeks"))
            computer.run("ingest", computer.projects, "--reimport")
            assert SECRET not in " ".join(found(computer, "spare key of the shed"))
            memory.database.settle()
            assert residue_of(memory, SECRET) == []
            assert [one.state for one in memory.forgetting.verify()] == ["verified"]
        assert end(process) == 0
    assert computer.errors == ""


def test_forgetting_waits_for_who_still_reads_an_older_state(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search index or an export may read for long: what was erased is proved when it is done."""
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 100)
    told = session("garden")
    told.user(f"{SECRET}, do not lose it.")
    told.save(computer.projects)
    assert computer.run("up", "--once").code == 0
    reading = subprocess.Popen(
        [sys.executable, "-c", READ_ON, str(computer.home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=commands.environment(computer.home),
        text=True,
    )
    with reading, recollect.open(computer.home) as memory:
        assert reading.stdout
        assert reading.stdout.readline() == "reading\n"
        message = next(one.id for one in memory.history.export() if SECRET in one.text)

        assert memory.forget(message=message).state == "erased"

        assert all(SECRET not in one.text for one in memory.history.export())
        warned = computer.finding("forgetting")
        assert (warned["level"], "recollect forget --verify" in warned["next_step"]) == ("warning", True)
        assert computer.run("health", "--json").json()["forgotten"]["unfinished"] == 1
        reading.communicate()

        assert computer.run("up", "--once").code == 0

        assert [one.state for one in memory.forgetting.receipts()] == ["verified"]
        assert residue_of(memory, SECRET) == []
    assert computer.finding("forgetting")["level"] == "ok"
    figures = computer.run("health", "--json").json()["forgotten"]
    assert (figures["receipts"], figures["unfinished"]) == (1, 0)
    assert figures["tombstones"] > 0
    assert "Forgotten" in computer.run("health").out


def test_a_daemon_that_starts_finishes_what_was_cut_off(computer: Computer) -> None:
    told = session("garden")
    told.user(f"{SECRET}, do not lose it.")
    told.save(computer.projects)
    assert computer.run("up", "--once").code == 0
    with recollect.open(computer.home) as memory:
        message = next(one.id for one in memory.history.export() if SECRET in one.text)
        memory.forget(message=message, verify=False)
        with computer.up() as process:
            wait_for("the proof", lambda: not memory.forgetting.unfinished())
            assert end(process) == 0
        assert residue_of(memory, SECRET) == []
    assert computer.errors == ""


def test_health_counts_what_is_known(computer: Computer) -> None:
    for words in ("Beans need poles.", "Leeks like sand."):
        assert computer.run("remember", words).code == 0

    value = computer.run("health", "--json").json()

    assert value["knowledge"] == {
        "records": 2,
        "by_state": {"current": 2},
        "by_category": {"knowledge": 2},
        "events": 2,
    }
    assert value["forgotten"] == {"receipts": 0, "unfinished": 0, "tombstones": 0}
    assert "2 current" in computer.run("health").out
