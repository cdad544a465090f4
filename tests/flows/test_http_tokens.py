"""Every route of the application with every kind of token: no leak, and no write."""

from pathlib import Path
from typing import Any

import pytest
from http_houses import HOOK_SECRET, PLANTED, Call, House, asked, calls_of, everything_kept, furnish

from recollect import Memory
from recollect.daemon.serving import HOOKS_PATH
from recollect.surfaces.http.app import ROUTERS, create_app
from recollect.surfaces.http.guard import OPEN_PATHS
from recollect.surfaces.http.surroundings import Surroundings
from recollect.testing import FrozenClock

STREAMS = ("/v1/events",)
"""They do not end; their own tests try them."""


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


def guarded(house: House) -> list[Call]:
    found = calls_of(house.app(), house)
    assert len(found) > 30
    return [call for call in found if call.template not in OPEN_PATHS]


def test_nobody_without_a_good_token_learns_or_changes_anything(house: House) -> None:
    tokens = house.tokens
    before = everything_kept(house.memory)
    with asked(house) as client:
        for secret in ("", tokens.wrong, tokens.expired, tokens.revoked, HOOK_SECRET, "x", tokens.owner[:-1]):
            for call in guarded(house):
                if call.template.startswith(HOOKS_PATH) and secret == HOOK_SECRET:
                    continue
                answer = call.made(client, secret)
                assert answer.status_code in (401, 429), (call, answer.text)
                assert answer.headers["content-type"] == "application/problem+json"
                assert PLANTED not in answer.text
    assert everything_kept(house.memory) == before


def test_the_secret_of_the_hooks_opens_nothing_else_and_no_token_opens_the_hooks(house: House) -> None:
    with asked(house) as client:
        for call in guarded(house):
            for secret in (
                (house.tokens.owner, house.tokens.ada) if call.template.startswith(HOOKS_PATH) else (HOOK_SECRET,)
            ):
                assert call.made(client, secret).status_code in (401, 429), call


def test_a_token_for_reading_changes_nothing_on_any_route(house: House) -> None:
    for secret in (house.tokens.reader, house.tokens.ada_reader):
        with asked(house) as client:
            client.get("/v1/notes", headers={"authorization": f"Bearer {secret}"})
            before = everything_kept(house.memory)
            for call in guarded(house):
                if call.template.startswith((HOOKS_PATH, *STREAMS)):
                    continue
                answer = call.made(client, secret)
                assert answer.status_code < 500, (call, answer.text)
                after = everything_kept(house.memory)
                changed = [name for name in before if before[name] != after[name]]
                assert not changed, (call, answer.status_code, changed)


def test_another_agent_neither_sees_nor_changes_what_is_an_agents_own(house: House) -> None:
    def adas() -> Any:
        ada = house.memory.as_agent("ada")
        records = [one for one in ada.knowledge.records(state="all", limit=1000) if one.scope == "ada"]
        notes = [(one.path, one.number) for one in ada.notes.list("agents/ada", gone=True)]
        return records, notes, ada.history.conversations(limit=100)

    before = adas()
    with asked(house) as client:
        for call in guarded(house):
            if call.template.startswith((HOOKS_PATH, *STREAMS)):
                continue
            answer = call.made(client, house.tokens.bob)
            assert answer.status_code < 500, (call, answer.text)
            told = answer.text.replace(house.ids["path"], "")  # What he asked for by name may be named in the refusal.
            assert PLANTED not in told, (call, answer.text)
            assert PLANTED not in str(answer.headers)
    assert adas() == before


def test_its_own_agent_sees_it(house: House) -> None:
    """Else the test before would show nothing."""
    with asked(house, house.tokens.ada) as client:
        assert PLANTED in client.get(f"/v1/records/{house.ids['records/{id}']}").text
        assert PLANTED in client.get(f"/v1/notes/files/{house.ids['path']}").text
        assert PLANTED in client.get(f"/v1/conversations/{house.ids['conversations/{id}']}/messages").text
        assert PLANTED in client.post("/v1/search", json={"query": "what sleeps at noon"}).text


def test_a_token_that_is_revoked_opens_nothing_from_the_next_request_on(house: House) -> None:
    made = house.memory.access.create("ada")
    with asked(house, made.secret) as client:
        assert client.get("/v1/records").status_code == 200
        house.memory.access.revoke(made.token.id)
        assert client.get("/v1/records").status_code == 401


def test_a_route_that_does_not_say_who_may_ask_is_refused(memory: Memory) -> None:
    async def open_to_all() -> None: ...

    router = ROUTERS[0]
    router.add_api_route("/open", open_to_all)
    try:
        with pytest.raises(RuntimeError, match="/v1/open does not say who may ask"):
            create_app(memory, Surroundings())
    finally:
        router.routes.pop()
