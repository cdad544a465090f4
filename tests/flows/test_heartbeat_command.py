"""`recollect heartbeat`: when moments of the agent's own come, what it sees in one, and what came of it (M7, M8)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Result, run

import recollect
from recollect.lock import HomeLock
from recollect.testing import OpenAIServer
from recollect.testing.openai_server import Answer, Call

YES = {"reason": "The boat leaves at four.", "reach_out": True, "topic": "boat", "message": "Your boat leaves at four."}
NO = {"reason": "Nothing has come of it.", "reach_out": False}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def set_up(home: Path, heartbeat: str = "", mind: str = "") -> None:
    """With Telegram, by which it would write."""
    home.mkdir(parents=True, exist_ok=True)
    text = f'[mind]\nmodel = "{mind}"\n[heartbeat]\nquiet_hours = ""\n{heartbeat}\n'
    text += '[telegram]\ntoken_variable = "TELEGRAM_TOKEN"\n'
    (home / "recollect.toml").write_text(text, encoding="utf-8")


def with_models(home: Path, server: OpenAIServer, more: str = "") -> None:
    """Both are named, and there is a place to write to."""
    model = f"{server.base_url}#test-model"
    set_up(home, f'model = "{model}"\n{more}', model)
    with recollect.open(home=home) as memory:
        memory.places.allow("telegram", "7")


def told(home: Path, *arguments: str) -> Any:
    done = run("heartbeat", *arguments, "--json", home=home)
    assert done.code == 0, done.err
    return done.json()


def shown(home: Path, *arguments: str) -> Result:
    done = run("heartbeat", *arguments, home=home)
    assert done.code == 0, done.err
    return done


# Settings


def test_without_a_model_it_says_what_to_write_and_where(home: Path) -> None:
    said = shown(home)
    assert 'model = "anthropic:' in said.out
    assert str(home / "recollect.toml") in said.out
    assert told(home)["enabled"] is False
    refused = run("heartbeat", "--now", home=home)
    assert refused.code == 2
    assert refused.explains("no model is named", str(home / "recollect.toml"))
    assert run("heartbeat", "--explain", home=home).explains("no model is named")


def test_without_a_mind_it_says_that_nobody_would_answer(home: Path, server: OpenAIServer) -> None:
    set_up(home, f'model = "{server.base_url}#test-model"')
    refused = run("heartbeat", "--now", home=home)
    assert refused.code == 2
    assert refused.explains("[mind]", "names no model")
    assert shown(home).explains("[mind]", "names no model")
    assert shown(home, "--now", "--reflect").out.startswith("It wrote nothing."), "A look back needs no answer."


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('schedule = "every hour"', ["heartbeat.schedule", "'every hour'", "five fields"]),
        ('reflection = "0 25 * * *"', ["heartbeat.reflection", "bad hour"]),
        ('quiet_hours = "22-8"', ["heartbeat.quiet_hours", "22:00-08:00"]),
        ('modle = "x"', ["modle", "[heartbeat] has: model"]),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_write(home: Path, setting: str, words: list[str]) -> None:
    home.mkdir(parents=True)
    (home / "recollect.toml").write_text(f"[heartbeat]\n{setting}\n", encoding="utf-8")
    for arguments in ([], ["--explain"]):
        refused = run("heartbeat", *arguments, home=home)
        assert refused.code == 2
        assert refused.explains(*words)


def test_options_that_do_not_go_together_are_wrong_usage(home: Path) -> None:
    assert run("heartbeat", "--reflect", home=home).code == 2
    assert run("heartbeat", "--now", "--reflect", "--explain", home=home).code == 2
    assert run("heartbeat", "--agent", "nobody", home=home).code == 3


# When


def test_it_tells_when_the_next_moments_are_due_and_that_a_daemon_has_them(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    said = shown(home)
    assert "Next it considers writing first: " in said.out
    assert "Next it looks back: " in said.out
    assert said.explains("No daemon runs for this home", " up")
    lock = HomeLock(home / "runtime")
    lock.acquire()
    try:
        assert shown(home).err == ""
        assert told(home)["daemon_runs"] is True
    finally:
        lock.release()


# What it sees


def test_looking_asks_nobody_and_leaves_nothing_behind(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    said = shown(home, "--explain")
    assert "The rules would let it ask the model. Nobody was asked" in said.out
    assert "a place by telegram" in said.out
    assert server.requests == []
    assert told(home)["latest"] == []


def test_what_the_person_asked_for_is_shown(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    assert "asked not to be written to about: nothing." in shown(home, "--explain").out
    text = "The person asked not to be written to about: the boat"
    assert run("remember", text, "--tag", "heartbeat", "--tag", "never about", home=home).code == 0
    assert "asked not to be written to about: the boat." in shown(home, "--explain").out
    assert told(home, "--explain")["saw"]["unwelcome_topics"] == ["the boat"]
    server.script(YES)
    assert "It would have written about 'the boat', which is not wanted." in shown(home, "--now").out


def test_every_reason_is_told_to_its_end(home: Path, server: OpenAIServer) -> None:
    with_models(home, server, "most_per_day = 0")
    reason = "because " * 100 + "of the boat."
    run("pause", home=home)
    assert "heartbeat.most_per_day is 0: it never writes first." in shown(home, "--now", "--explain").out
    run("resume", home=home)
    with_models(home, server)
    server.script({**NO, "reason": reason})
    assert reason in shown(home, "--now").out


# What comes of it


def test_a_message_that_it_writes_is_shown_with_why_and_waits_for_a_daemon(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    server.script(YES)
    said = shown(home, "--now", "--explain")
    assert "The model decided to write first: The boat leaves at four." in said.out
    assert "│ Your boat leaves at four." in said.out
    assert said.explains("goes out when `recollect up` runs")
    latest = told(home)["latest"][0]
    assert (latest["kind"], latest["outcome"], latest["reason"]) == ("heartbeat", "yes", YES["reason"])
    events = run("sql", "SELECT outcome FROM events WHERE name = 'heartbeat'", "--json", home=home)
    assert "yes" in events.out


def test_a_moment_that_passes_says_so(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    server.script(NO)
    assert told(home, "--now")["outcome"] == "no"
    server.script(NO)
    assert shown(home, "--now").out == "It let the moment pass. Nothing has come of it.\n"


def test_a_model_that_is_none_ends_with_the_code_of_its_error(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    path = home / "recollect.toml"
    path.write_text(path.read_text().replace(f'model = "{server.base_url}#test-model"\n\n', 'model = "gpt"\n'))
    failed = run("heartbeat", "--now", home=home)
    assert failed.code == 2
    assert "heartbeat.model is 'gpt'" in failed.out
    assert run("heartbeat", "--now", "--reflect", "--json", home=home).json()["outcome"] == "failed"


def test_a_look_back_names_the_entry_and_it_is_found(home: Path, server: OpenAIServer) -> None:
    with_models(home, server)
    server.script(Answer(calls=(Call(name="write_diary", given={"text": "A zeppelin came by."}),)), "Done.")
    said = shown(home, "--now", "--reflect").out
    assert said.startswith("It wrote its diary.")
    name = said.splitlines()[1].split()[0]
    assert "A zeppelin came by." in run("diary", "show", name, home=home).out
    assert name in run("search", "zeppelin", home=home).out


def test_only_by_channels_that_are_set_up_and_only_for_the_houses_own_agent(home: Path) -> None:
    home.mkdir()
    settings = '[mind]\nmodel = "anthropic:claude-haiku-5-5"\n[heartbeat]\nmodel = "anthropic:claude-haiku-5-5"\n'
    (home / "recollect.toml").write_text(settings, encoding="utf-8")
    with recollect.open(home=home) as memory:
        memory.places.allow("telegram", "7")
        memory.agents.add("ada")

    quiet = run("heartbeat", "--explain", home=home)
    refused = run("heartbeat", "--now", "--agent", "ada", home=home)

    assert "A message would go to: nowhere." in quiet.out
    assert (refused.code, refused.explains("ada cannot write first", "--reflect")) == (2, True)
