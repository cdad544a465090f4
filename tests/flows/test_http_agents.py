"""Agents, grants, bindings and tokens over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from http_houses import House, asked, bearing, furnish
from starlette.testclient import TestClient

from recollect import Memory
from recollect.testing import FrozenClock


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    with asked(house, house.tokens.owner) as opened:
        yield opened


def test_an_agent_and_its_room_are_made_listed_and_removed(client: TestClient) -> None:
    assert client.post("/v1/agents", json={"name": "cleo"}).status_code == 201
    made = client.post("/v1/agents", json={"name": "cleo/kitchen"})
    assert (made.json()["kind"], made.json()["parent"]) == ("room", "cleo")
    assert client.post("/v1/agents", json={"name": "cleo"}).status_code == 409
    assert client.delete("/v1/agents/cleo").status_code == 409  # A room is below it.
    assert client.delete("/v1/agents/cleo/kitchen").json() == {"removed": "cleo/kitchen"}
    assert client.delete("/v1/agents/cleo").status_code == 200
    assert "cleo" not in [one["id"] for one in client.get("/v1/agents").json()["items"]]
    assert client.delete("/v1/agents/cleo").status_code == 404


def test_a_grant_counts_from_the_next_request_on_and_is_taken_back(client: TestClient, house: House) -> None:
    def write() -> int:
        given = {"text": "The house has a cellar.", "scope": "house"}
        return client.post("/v1/records", json=given, headers=bearing(house.tokens.ada)).status_code

    assert write() == 403
    assert client.post("/v1/grants", json={"scope": "ada", "target": "house"}).json()["granted"] is True
    assert write() in (200, 201)
    taken = client.delete("/v1/grants", params={"scope": "ada", "target": "house"})
    assert taken.json() == {"scope": "ada", "target": "house", "granted": False}
    assert write() == 403
    assert client.delete("/v1/grants", params={"scope": "ada", "target": "house"}).status_code == 404


def test_a_binding_moves_history_to_an_agent_and_back(client: TestClient, house: House) -> None:
    def seen_by_bob() -> int:
        return len(client.get("/v1/conversations", headers=bearing(house.tokens.bob)).json()["items"])

    assert seen_by_bob() == 1
    moved = client.post("/v1/bindings", json={"scope": "ada", "source": "claude-code"}).json()
    assert moved == {"source": "claude-code", "below": "", "scope": "ada", "files_moved": 1}
    assert seen_by_bob() == 0
    assert client.delete("/v1/bindings", params={"source": "claude-code"}).json()["files_moved"] == 1
    assert seen_by_bob() == 1
    assert client.post("/v1/bindings", json={"scope": "ada", "source": "nobody"}).status_code == 404


def test_an_agent_sees_its_chain_and_changes_nothing(house: House) -> None:
    with asked(house, house.tokens.bob) as client:
        assert [one["id"] for one in client.get("/v1/agents").json()["items"]] == ["bob"]
        assert client.post("/v1/grants", json={"scope": "bob", "target": "house"}).status_code == 403
        assert client.post("/v1/agents", json={"name": "bob/den"}).status_code == 403


def test_a_token_is_made_shown_once_and_revoked(client: TestClient) -> None:
    made = client.post(
        "/v1/tokens", json={"agent": "ada", "label": "tablet", "read_only": True, "expires": "in 3 days"}
    )
    assert made.status_code == 201
    token = made.json()
    assert (token["agent"], token["may_write"]) == ("ada", False)
    assert token["expires_at"]
    assert token["secret"] not in client.get("/v1/tokens").text
    assert client.get("/v1/records", headers=bearing(token["secret"])).status_code == 200
    assert client.delete(f"/v1/tokens/{token['id']}").json()["revoked_at"]
    assert client.get("/v1/records", headers=bearing(token["secret"])).status_code == 401
    assert client.delete(f"/v1/tokens/{token['id']}").status_code == 409


def test_a_token_of_nobody_or_of_the_past_is_refused(client: TestClient) -> None:
    assert client.post("/v1/tokens", json={"agent": "nobody"}).status_code == 404
    assert client.post("/v1/tokens", json={"expires": "2001-01-01"}).status_code == 400
    assert client.post("/v1/tokens", json={"agnet": "ada"}).status_code == 400


def test_only_a_person_who_may_write_handles_tokens(house: House) -> None:
    for secret in (house.tokens.ada, house.tokens.reader):
        with asked(house, secret) as client:
            assert client.get("/v1/tokens").status_code == 403
            assert client.post("/v1/tokens", json={}).status_code == 403


def test_an_agent_cannot_tell_a_scope_that_is_not_for_it_from_one_that_is_not_there(house: House) -> None:
    with asked(house, house.tokens.ada) as client:
        others = client.get("/v1/records", params={"scope": "bob"})
        nobodys = client.get("/v1/records", params={"scope": "nobody"})
        assert (others.status_code, nobodys.status_code) == (404, 404)
        assert others.json()["detail"].replace("bob", "nobody") == nobodys.json()["detail"]
        for scope in ("ada", "house"):
            assert client.get("/v1/records", params={"scope": scope}).json()["items"]
    with asked(house, house.tokens.owner) as client:
        assert client.get("/v1/records", params={"scope": "bob"}).json()["items"] == []
        assert client.get("/v1/records", params={"scope": "nobody"}).status_code == 404
