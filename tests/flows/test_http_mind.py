"""The conversation over HTTP: said here, answered by whoever has it open, read here. Moments and channels too."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import wait_for
from errands import done
from http_houses import House, asked, furnish
from minds import on_sqlite, talk
from parts import stop
from starlette.testclient import TestClient

from recollect import Memory
from recollect.daemon.minding import Minding, Models
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import ScriptedTalk

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    with asked(house, house.tokens.owner) as opened:
        yield opened


def say(client: TestClient, text: str, **more: Any) -> int:
    answer = client.post("/v1/mind/messages", json={"text": text, **more})
    assert answer.status_code == 202, answer.text
    written = client.get(answer.headers["location"]).json()
    assert (written["entry"], text in written["text"]) == (answer.json()["entry"], True)
    return answer.json()["entry"]


def test_what_is_said_waits_is_answered_in_a_turn_and_read(client: TestClient, house: House) -> None:
    number = say(client, "When do we sow the beans?", images=[{"media_type": "image/png", "data": PNG}])
    waiting = client.get(f"/v1/mind/entries/{number}").json()
    assert (waiting["state"], waiting["turn"], waiting["channel"]) == ("waiting", None, "http")
    assert client.get("/v1/mind").json()["waiting"] == 1
    talk(house.memory, ScriptedTalk(["In May."]), "And the peas?")
    taken = client.get(f"/v1/mind/entries/{number}").json()
    turn = client.get(f"/v1/mind/turns/{taken['turn']}").json()
    assert (taken["state"], turn["state"], turn["reply"]) == ("taken", "done", "In May.")
    assert [one["author"] for one in turn["entries"]] == ["user", "user", "assistant"]
    assert turn["entries"][0]["text"] == "When do we sow the beans? [1 image]"
    assert client.get("/v1/mind").json()["turns"] == 1


def test_what_is_said_to_another_agent_is_found_where_the_answer_says(client: TestClient) -> None:
    say(client, "To the house.")
    say(client, "To Ada.", agent="ada")


def test_the_conversation_is_read_by_pages_and_what_is_new_by_its_number(client: TestClient) -> None:
    numbers = [say(client, f"word {one}") for one in range(5)]
    seen: list[str] = []
    page: dict[str, Any] = {"next": ""}
    while True:
        page = client.get("/v1/mind/entries", params={"limit": 2, "after": page["next"]}).json()
        seen += [one["text"] for one in page["items"]]
        if not page["next"]:
            break
    assert seen == [f"word {one}" for one in range(4, -1, -1)]
    new = client.get("/v1/mind/entries", params={"newer_than": numbers[3]}).json()["items"]
    assert [one["text"] for one in new] == ["word 4"]
    assert client.get("/v1/mind/entries", params={"after": "x"}).status_code == 400


def test_what_waits_is_taken_back_by_its_window(client: TestClient) -> None:
    say(client, "left", address="left")
    number = say(client, "right", address="right")
    assert client.delete("/v1/mind/messages", params={"address": "right"}).json() == {"withdrawn": 1}
    assert client.get(f"/v1/mind/entries/{number}").json()["state"] == "withdrawn"
    assert client.get("/v1/mind").json()["waiting"] == 1


def test_a_message_that_is_sent_again_under_its_key_is_heard_once(client: TestClient) -> None:
    assert say(client, "once", key="k1") == say(client, "once", key="k1")
    assert client.get("/v1/mind").json()["waiting"] == 1


def test_what_cannot_be_said_is_refused(client: TestClient) -> None:
    for given in (
        {"text": " "},
        {"text": "[private] no"},
        {"text": "x", "images": [{"media_type": "image/png", "data": "?"}]},
        {"text": "x", "images": [{"media_type": "image/gif", "data": PNG}]},
    ):
        assert client.post("/v1/mind/messages", json=given).status_code == 400, given
    assert client.post("/v1/mind/messages", json={"text": "x", "agent": "nobody"}).status_code == 404
    client.post("/v1/pause")
    assert client.post("/v1/mind/messages", json={"text": "x"}).status_code == 503
    assert client.get("/v1/mind/turns/1").status_code == 404
    assert client.get("/v1/mind/entries/1").status_code == 404


def test_a_person_alone_speaks_and_one_who_may_only_read_reads(house: House, client: TestClient) -> None:
    number = say(client, "hello")
    with asked(house, house.tokens.reader) as reader:
        assert reader.get(f"/v1/mind/entries/{number}").json()["text"] == "hello"
        assert reader.post("/v1/mind/messages", json={"text": "x"}).status_code == 403
    with asked(house, house.tokens.ada) as agent:
        assert agent.get("/v1/mind/entries").status_code == 403


@on_sqlite
def test_a_daemon_answers_what_is_said_over_http_and_leaves_nothing_to_be_sent(
    client: TestClient, house: House, clock: FrozenClock
) -> None:
    keeper = Minding(house.memory, lambda _: None, Models(mind=lambda: ScriptedTalk(["In May."])), dict)
    keeper.start()
    try:
        number = say(client, "When do we sow the beans?")
        turn = wait_for("a turn", lambda: client.get(f"/v1/mind/entries/{number}").json()["turn"])
        wait_for("its end", lambda: client.get(f"/v1/mind/turns/{turn}").json()["state"] == "done")
    finally:
        stop(keeper.part)
    clock.move(minutes=30)
    checks = {one["check"] for one in client.get("/v1/doctor").json()["findings"] if one["level"] != "ok"}
    assert "http" not in checks


@on_sqlite
def test_without_a_daemon_the_doctor_says_who_lets_it_be_read(
    client: TestClient, house: House, clock: FrozenClock
) -> None:
    say(client, "hello")
    talk(house.memory, ScriptedTalk(["Hello."]), "and hello")
    clock.move(minutes=30)
    found = [one for one in client.get("/v1/doctor").json()["findings"] if one["check"] == "http"]
    assert [one["next_step"] for one in found] == ["recollect up: who asked over HTTP reads them."]


# Moments


@on_sqlite
def test_moments_are_told_and_explained_and_not_had_without_a_model(client: TestClient, house: House) -> None:
    told = client.get("/v1/heartbeat").json()
    assert (told["enabled"], told["due"], told["latest"]) == (False, {}, [])
    explained = client.get("/v1/heartbeat/explain").json()
    assert explained["outcome"] == "look"
    assert explained["rules"]
    answer = client.post("/v1/heartbeat/now", json={})
    assert answer.status_code == 400
    assert "[heartbeat]" in answer.json()["detail"]
    with asked(house, house.tokens.reader) as reader:
        assert reader.get("/v1/heartbeat/explain").status_code == 403


def test_a_moment_by_hand_obeys_the_rules(open_house: Any, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    named = {"model": "anthropic:claude-haiku-5-5"}
    memory = open_house(heartbeat=named, mind=named)
    memory.notes.prepare()
    house = House(memory=memory, tokens=_tokens_of(memory, clock))
    with asked(house, house.tokens.owner) as client:
        considered = done(client, "/v1/heartbeat/now", {})
        assert considered["outcome"] == "quiet"  # Nobody is heard anywhere, so no model was asked.
        assert client.get("/v1/heartbeat").json()["latest"][0]["outcome"] == "quiet"


def _tokens_of(memory: Memory, clock: FrozenClock) -> Any:
    from http_houses import make_tokens

    memory.agents.add("ada")
    memory.agents.add("bob")
    return make_tokens(memory, clock)


# Channels


def test_a_place_is_allowed_listed_and_removed(client: TestClient) -> None:
    made = client.post("/v1/places", json={"channel": "telegram", "address": "123", "name": "phone"})
    assert (made.status_code, made.json()["state"]) == (201, "paired")
    listed = client.get("/v1/channels").json()
    assert [one["address"] for one in listed["places"]] == ["123"]
    assert {one["name"] for one in listed["channels"]} >= {"telegram", "webhook"}
    named = {"channel": "telegram", "address": "123"}
    assert client.delete("/v1/places", params=named).json() == {"removed": named}
    assert client.delete("/v1/places", params=named).status_code == 404
    assert client.post("/v1/places", json={"channel": "telegram", "address": "Kim"}).status_code == 400
    assert client.post("/v1/places", json={"channel": "pigeon", "address": "1"}).status_code == 400


def test_a_code_is_made_only_where_somebody_reads_it(client: TestClient, open_house: Any, clock: FrozenClock) -> None:
    assert client.post("/v1/channels/telegram/pair", json={}).status_code == 400
    assert client.post("/v1/channels/pigeon/pair", json={}).status_code == 400
    memory = open_house(webhook={"url": "http://127.0.0.1:9/x", "listen": "127.0.0.1:0"})
    house = House(memory=memory, tokens=_tokens_of(memory, clock))
    with asked(house, house.tokens.owner) as other:
        made = other.post("/v1/channels/webhook/pair", json={})
        assert made.status_code == 201, made.text
        assert made.json()["code"]
        assert made.json()["link"] == ""
