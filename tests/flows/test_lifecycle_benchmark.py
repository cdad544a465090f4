"""The benchmark of a whole life of knowledge: a short one comes out as it must, and what is broken is counted."""

import importlib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from conftest import FrozenClock

import recollect

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STATEMENTS = 120
SEED = 3


@pytest.fixture
def lifecycle(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("lifecycle")


@pytest.fixture
def lived(
    lifecycle: ModuleType, memory: recollect.Memory, clock: FrozenClock, home: Path, tmp_path: Path
) -> SimpleNamespace:
    """A short life, and its judge."""
    life: Any = lifecycle.Life(memory, clock, tmp_path / "transcripts", SEED)
    life.live(STATEMENTS)
    return SimpleNamespace(life=life, judge=lifecycle.Judge(life, home), ledger=life.ledger, memory=memory)


def change(memory: recollect.Memory, sql: str, **parameters: Any) -> None:
    with memory.database.write() as session:
        assert session.run(sql, parameters), "nothing was broken"


def some_record(lived: SimpleNamespace, scope: str = "house") -> str:
    return next(name for name in lived.ledger.listed([scope], lived.life.now))


def test_a_short_life_comes_out_as_it_must(
    lifecycle: ModuleType, memory: recollect.Memory, clock: FrozenClock, home: Path, tmp_path: Path
) -> None:
    life = lifecycle.Life(memory, clock, tmp_path / "transcripts", SEED)
    judge = lifecycle.Judge(life, home)
    for act in (life.somebody_forgets, life.transcripts_come_again):
        life.live(life.statements + STATEMENTS // 2)
        act()
    lifecycle.live(life, judge, life.statements + STATEMENTS, lambda _: None)
    assert lifecycle.mistakes(life, judge) == []
    assert lifecycle.is_as_it_must(lifecycle.summary(life, judge))
    assert judge.truth.asked > STATEMENTS


def test_the_same_seed_gives_the_same_life(lifecycle: ModuleType, tmp_path: Path) -> None:
    acts = []
    for name in ("one", "two"):
        clock = FrozenClock()
        with recollect.open(home=tmp_path / name, clock=clock) as memory:
            life = lifecycle.Life(memory, clock, tmp_path / f"{name}-transcripts", SEED)
            life.live(STATEMENTS // 2)
            acts.append(
                (life.tally.acts, life.now, sorted(entry.now.said.text for entry in life.ledger.entries.values()))
            )
    assert acts[0] == acts[1]


def test_a_changed_fact_is_counted(lived: SimpleNamespace) -> None:
    lived.judge.check_current(50)
    assert lived.judge.current.wrong == []
    change(
        lived.memory,
        "UPDATE knowledge_records SET text = 'something else' WHERE id = :id AND believed_until = ''",
        id=some_record(lived),
    )
    lived.judge.check_current(0)
    assert lived.judge.current.wrong


def test_a_changed_past_is_counted(lived: SimpleNamespace) -> None:
    lived.judge.check_past(50, 10)
    assert lived.judge.belief.wrong == lived.judge.truth.wrong == []
    change(lived.memory, "UPDATE knowledge_records SET believed_from = '2099-01-01T00:00:00.000Z' WHERE version = 1")
    lived.judge.check_past(0, 20)
    assert lived.judge.belief.wrong
    change(lived.memory, "UPDATE knowledge_records SET true_from = '2020-01-01T00:00:00.000Z' WHERE true_until = ''")
    lived.judge.check_past(0, 20)
    assert lived.judge.truth.wrong


def test_a_record_that_lies_in_the_wrong_scope_is_counted(lived: SimpleNamespace) -> None:
    lived.judge.check_scopes(3)
    assert lived.judge.leaks.wrong == []
    name = some_record(lived, "ben")
    change(lived.memory, "UPDATE knowledge_records SET scope = 'house' WHERE id = :id", id=name)
    lived.judge.check_scopes(0)
    assert any("ada" in wrong for wrong in lived.judge.leaks.wrong)


@pytest.mark.parametrize("place", ["table", "file"])
def test_words_that_were_left_behind_are_counted(lived: SimpleNamespace, home: Path, place: str) -> None:
    lived.judge.check_residue()
    assert lived.judge.residue.wrong == []
    left = lived.life.words.new()
    if place == "file":
        home.mkdir(exist_ok=True)
        (home / "left-behind.txt").write_text(f"… {left} …", encoding="utf-8")
    else:
        change(lived.memory, "UPDATE knowledge_records SET tags = :tags", tags=f'["{left}"]')
    lived.judge.check_residue()
    assert any(left in wrong for wrong in lived.judge.residue.wrong)


def test_a_corrected_claim_that_comes_back_is_counted(lived: SimpleNamespace) -> None:
    lived.life.read_everything_again()
    assert lived.life.tally.resurrected == []
    change(lived.memory, "DELETE FROM lineage_tombstones")
    lived.life.read_everything_again()
    assert lived.life.tally.resurrected


def test_a_version_without_its_event_is_counted(lived: SimpleNamespace) -> None:
    lived.judge.check_stream()
    assert lived.judge.stream.wrong == lived.judge.rebuilt.wrong == []
    change(lived.memory, "DELETE FROM knowledge_events WHERE record_id = :id", id=some_record(lived))
    lived.judge.check_stream()
    assert lived.judge.stream.wrong
    assert lived.judge.rebuilt.wrong
