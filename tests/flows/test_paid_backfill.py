"""Many conversations and a model that costs money: the price and three results come first, then the question (L8)."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from commands import environment, run
from standins import StandIn, make_stand_in
from terminals import on_a_terminal
from transcripts import Transcript

NUMBER = 5
USED = {"inputTokens": 1_000, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "outputTokens": 50}


def answer(title: str) -> dict[str, object]:
    """What the program prints: a reading, and what it cost."""
    quotes = [{"turn": 1, "words": "I live in Graz."}]
    found = {"about": "user", "kind": "fact", "text": "Lives in Graz", "quotes": quotes}
    reading = {"title": title, "title_quotes": quotes, "project": "", "items": [found], "lines": [], "people": []}
    reading |= {"questions": [], "carry": ""}
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": json.dumps(reading),
        "structured_output": reading,
        "total_cost_usd": 0.02,
        "modelUsage": {"claude-haiku-5-5": USED},
    }
    return {"out": json.dumps(result), "code": 0}


@pytest.fixture
def claude(tmp_path: Path) -> StandIn:
    program = make_stand_in(tmp_path / "bin", "claude")
    program.plan(*(answer("Graz") for _ in range(NUMBER)))
    return program


@pytest.fixture
def told(home: Path, tmp_path: Path) -> Path:
    """A home with five finished conversations, read by a model that costs money."""
    for number in range(NUMBER):
        transcript = Transcript(f"talk {number}", start=datetime.now(UTC) - timedelta(days=number + 1))
        for sentence in ("I live in Graz.", "What else?", "Thank you."):
            transcript.user(sentence)
            transcript.assistant("Very well.")
        transcript.save(tmp_path / "projects")
    assert run("ingest", tmp_path / "projects", home=home).code == 0
    (home / "recollect.toml").write_text('[librarian]\nmodel = "claude"\n')
    return home


def path_with(claude: StandIn, home: Path) -> str:
    return f"{Path(claude.program).parent}:{environment(home)['PATH']}"


def test_without_a_person_to_ask_nothing_is_paid_and_the_way_on_is_told(told: Path, claude: StandIn) -> None:
    result = run("process", home=told, variables={"PATH": path_with(claude, told)})

    assert result.code == 2
    assert result.explains("5 conversations", "--estimate", "--yes")
    assert run("records", "--json", home=told).json() == []


def test_a_person_sees_the_price_and_three_results_and_may_say_no(told: Path, claude: StandIn) -> None:
    seen = on_a_terminal("process", home=told, typed="n\n", PATH=path_with(claude, told))

    assert seen.code == 1
    assert "5 conversations to read with claude" in seen.out
    assert seen.out.count("Lives in Graz") == 3
    assert "Read all 5?" in seen.out
    assert run("records", "--json", home=told).json() == []


def test_a_person_who_says_yes_pays_for_no_conversation_twice(told: Path, claude: StandIn) -> None:
    seen = on_a_terminal("process", home=told, typed="y\n", PATH=path_with(claude, told))

    assert seen.code == 0
    (record,) = run("records", "--json", home=told).json()
    assert len(record["sources"]) == NUMBER
    costs = run("costs", "--json", home=told).json()
    assert costs["days"][0]["calls"] == NUMBER
    assert costs["cost_usd"] == pytest.approx(0.02 * NUMBER)
