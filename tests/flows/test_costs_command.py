"""`recollect costs`: what models took by day and by turn, drawn for people, whole for programs (M10)."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from commands import run
from terminals import on_a_terminal

import recollect
from recollect.clock import system_clock
from recollect.llm import Usage
from recollect.runs import Account, Budget, Runs

OPUS = "anthropic:claude-opus-5-5"
HAIKU = "anthropic:claude-haiku-5-5"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As for the command, so that both have the same days."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def spent(home: Path) -> Path:
    """A home whose mind and librarian spent something today, and the mind something three days ago."""
    home.mkdir(parents=True)
    (home / "recollect.toml").write_text("[mind]\ndollars_per_day = 2\n[librarian]\ndollars_per_day = 0.5\n")
    with recollect.open(home) as memory:
        for days in (3, 0):
            now = system_clock() - timedelta(days=days)
            budget = Budget(memory.database, "home", lambda now=now: now, account=Account.MIND)
            runs = Runs(memory.database, "home", lambda now=now: now)
            turn = f"assistant#{9 - days}"
            took(budget, "mind", OPUS, 50_000, 0.3, turn)
            took(budget, "compaction", OPUS, 90_000, 0.2, turn)
            runs.record("compaction", "done", 1, {})
        took(Budget(memory.database, "home", system_clock), "librarian", HAIKU, 9_000, 0.05, "")
        runs.record("asked_known", "done", 0, {"questions": 2})
    return home


def took(budget: Budget, purpose: str, model: str, size: int, dollars: float, turn: str) -> None:
    usage = Usage(
        input_tokens=size, cached_tokens=size // 10 * 9, written_tokens=size // 100, output_tokens=400, calls=1
    )
    budget.settle(budget.reserve(purpose, model, size, 400, dollars, turn=turn), usage, dollars)


def today() -> str:
    return system_clock().date().isoformat()


def test_programs_are_told_days_turns_compactions_and_both_ceilings(spent: Path):
    value = run("costs", "--json", home=spent).json()
    assert (value["today"]["cost_usd"], value["today"]["dollars_per_day"]) == (0.05, 0.5)
    assert (value["mind_today"]["cost_usd"], value["mind_today"]["share"]) == (0.5, 0.25)
    assert (value["tokens"], value["cost_usd"]) == (291_000, 1.05)
    first = next(one for one in value["days"] if one["purpose"] == "mind")
    assert (first["day"], first["model"], first["cached_tokens"], first["written_tokens"]) == (
        today(),
        OPUS,
        45_000,
        500,
    )
    latest, earlier = value["turns"]
    assert (latest["turn"], earlier["turn"]) == ("assistant#9", "assistant#6")
    assert (latest["cost_usd"], latest["compaction_tokens"], latest["compaction_cost_usd"]) == (0.5, 90_400, 0.2)
    assert value["compactions"][today()] == 1
    assert value["asked_known"] == {today(): 2}
    assert len(run("costs", "--json", "--turns", 1, home=spent).json()["turns"]) == 1


def test_a_pipe_is_given_plain_letters_and_the_turns_that_were_asked_for(spent: Path):
    shown = run("costs", "--turns", 1, home=spent).out
    assert shown.isascii()
    lines = shown.splitlines()
    assert lines[0].startswith("Librarian  today 1 call, 9,400 tokens, $0.0500 of $0.50 a day")
    assert lines[1].startswith("Mind       today 2 calls, 140,800 tokens, $0.50 of $2.00 a day (25%)")
    (bar,) = (line for line in lines if line.endswith("$0.5500"))
    assert bar.count("#") > bar.count("=") > bar.count(".") - 1 > 0
    assert "# conversation  = compactions  . librarian" in lines
    assert sum("$0.0000" in line for line in lines) == 2, "days on which nothing was spent are there"
    assert "assistant#9" in shown
    assert "assistant#6" not in shown
    assert lines[-2:] == [
        "In all: 291,000 tokens, 90% of the input cached, $1.05",
        "The agent asked 2 questions whose answer it had.",
    ]


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_the_chart_is_as_wide_as_it_and_nothing_wider(spent: Path, columns: int):
    seen = on_a_terminal("costs", "--turns", 5, home=spent, COLUMNS=str(columns), NO_COLOR="1").out
    lengths = [len(line) for line in seen.splitlines()]
    assert max(lengths) == columns
    assert "█ conversation  ▓ compactions  ░ librarian" in seen


def test_a_terminal_that_shows_no_utf8_is_given_ascii(spent: Path):
    seen = on_a_terminal("costs", home=spent, PYTHONIOENCODING="latin-1", NO_COLOR="1").out
    assert seen.isascii()
    assert "# conversation" in seen


def test_a_model_that_costs_nothing_is_drawn_by_its_tokens(home: Path):
    with recollect.open(home) as memory:
        took(
            Budget(memory.database, "home", system_clock, account=Account.MIND),
            "mind",
            "http://x/v1#m",
            4_000,
            0,
            "a#1",
        )
    shown = run("costs", home=home).out
    (bar,) = (line for line in shown.splitlines() if "###" in line)
    assert bar.endswith("4.4k")
    assert "\nIn all: 4,400 tokens" in shown
