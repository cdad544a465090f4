"""forget of MCP: it asks first, whichever way the client has, and never erases on a first call (S2, K4)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_asking import ERAS, Asker, Person, asked
from mcp_types import ElicitResult

import recollect
from recollect.asking import answer
from recollect.errors import NotFound
from recollect.surfaces.mcp.forgetting import GOOD_SECONDS
from recollect.surfaces.mcp.server import House, build_server
from recollect.testing import FrozenClock


@pytest.fixture
def record(memory: recollect.Memory) -> str:
    """One of ada's own, who may write in the house."""
    memory.agents.add("ada")
    memory.agents.grant("ada", "house")
    learned = memory.as_agent("ada").knowledge.remember("The spare key lies under the pot.", subject="key")
    assert learned.record
    return learned.record.id


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def is_there(memory: recollect.Memory, record: str) -> bool:
    try:
        return memory.knowledge.record(record).text == "The spare key lies under the pot."
    except NotFound:
        return False


def test_without_a_way_to_ask_the_first_call_only_tells_and_the_confirmed_one_forgets(
    memory: recollect.Memory, record: str, era: str
) -> None:
    ada = Asker(memory.as_agent("ada"), era)
    asked = ada.told("forget", kind="record", id=record)
    assert asked["outcome"] == "asked"
    assert asked["removed"] == {}
    assert asked["would_remove"]["records"] == 1
    assert is_there(memory, record)
    text = ada.text("forget", kind="record", id=record)
    assert "Nothing is forgotten yet." in text
    assert "The spare key lies under the pot." in text
    done = ada.told("forget", kind="record", id=record, confirmation=asked["confirmation"])
    assert (done["outcome"], done["verified"], done["removed"]["records"]) == ("forgotten", True, 1)
    assert not is_there(memory, record)
    assert ada.refused("forget", kind="record", id=record, confirmation=asked["confirmation"])[0] == "NotFound"


def test_a_person_who_is_asked_and_agrees_has_it_forgotten(memory: recollect.Memory, record: str, era: str) -> None:
    person = Person()
    told = Asker(memory.as_agent("ada"), era, person).told("forget", kind="record", id=record)
    assert told["outcome"] == "forgotten"
    assert not is_there(memory, record)
    (question,) = person.asked
    assert "The spare key lies under the pot." in question
    assert "cannot be brought back" in question


@pytest.mark.parametrize(
    ("person", "outcome"),
    [
        (lambda: Person("decline"), "declined"),
        (lambda: Person(forget=False), "declined"),
        (lambda: Person(forget=None), "declined"),
        (lambda: Person("cancel"), "unanswered"),
    ],
)
def test_a_person_who_does_not_agree_keeps_it(
    memory: recollect.Memory, record: str, era: str, person: Callable[[], Person], outcome: str
) -> None:
    told = Asker(memory.as_agent("ada"), era, person()).told("forget", kind="record", id=record)
    assert told["outcome"] == outcome
    assert "confirmation" not in told
    assert "The spare key lies under the pot." in told["would_go"]
    assert told["reason"].endswith(f" recollect --home {memory.settings.home} forget {record}")
    assert "person was asked" not in told["reason"]
    assert is_there(memory, record)


def test_a_confirmation_is_for_what_was_told_for_who_asked_and_for_a_while(
    memory: recollect.Memory, record: str, clock: FrozenClock
) -> None:
    ada = Asker(memory.as_agent("ada"))
    other = ada.told("remember", text="The ladder is in the shed.")["id"]
    given = {
        "kind": "record",
        "id": record,
        "confirmation": ada.told("forget", kind="record", id=record)["confirmation"],
    }
    for wrong in ({"id": other}, {"kind": "subject", "id": "key"}, {"confirmation": "AAAA"}, {"confirmation": "no"}):
        assert ada.refused("forget", **{**given, **wrong})[0] == "Invalid"
    # Another process, or another agent, did not give it.
    assert Asker(memory.as_agent("ada")).refused("forget", **given)[0] == "Invalid"
    clock.move(seconds=GOOD_SECONDS + 1)
    assert ada.refused("forget", **given)[0] == "Invalid"
    assert is_there(memory, record)


def test_a_confirmation_given_to_one_is_none_for_another_of_the_same_server(
    memory: recollect.Memory, record: str
) -> None:
    memory.agents.add("bo")
    memory.agents.grant("bo", "house")
    shared = memory.knowledge.remember("The well is deep.").record
    assert shared
    now = [memory.as_agent("ada")]
    server = build_server(House(seen=lambda _: now[0], search=answer))

    given = {"kind": "record", "id": shared.id}
    first: Any = asked(server, lambda client: client.call_tool("forget", given))
    now[0] = memory.as_agent("bo")
    confirmation = first.structured_content["confirmation"]
    second = asked(server, lambda client: client.call_tool("forget", {**given, "confirmation": confirmation}))
    assert second.is_error
    assert memory.knowledge.record(shared.id)


def test_what_changed_since_it_was_told_is_not_forgotten(memory: recollect.Memory, record: str) -> None:
    ada = Asker(memory.as_agent("ada"))
    asked = ada.told("forget", kind="subject", id="key")
    memory.as_agent("ada").knowledge.remember("The key is old.", subject="key")
    assert ada.refused("forget", kind="subject", id="key", confirmation=asked["confirmation"])[0] == "Invalid"
    assert is_there(memory, record)


def test_what_comes_to_it_while_the_person_is_asked_keeps_all_of_it(memory: recollect.Memory, record: str) -> None:
    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> ElicitResult:
            memory.as_agent("ada").knowledge.remember("The key is old.", subject="key")
            return await super().__call__(context, params)

    assert Asker(memory.as_agent("ada"), "legacy", Slow()).refused("forget", kind="subject", id="key")[0] == "Conflict"
    assert is_there(memory, record)


NOTE = "/memories/agents/ada/x.md"


def written_twice(ada: Asker, text: str) -> None:
    ada.text("notes", command="create", path=NOTE, file_text=f"{text} one\n")
    ada.text("notes", command="str_replace", path=NOTE, old_str="one", new_str="two")


def test_a_note_that_is_written_anew_is_not_what_was_told_before(
    memory: recollect.Memory, record: str, era: str
) -> None:
    ada = Asker(memory.as_agent("ada"), era)
    written_twice(ada, "old")
    given = {"kind": "note", "id": NOTE, "confirmation": ada.told("forget", kind="note", id=NOTE)["confirmation"]}
    assert ada.told("forget", **given)["outcome"] == "forgotten"
    written_twice(ada, "new")
    assert ada.refused("forget", **given)[0] == "Invalid"
    assert memory.notes.read("agents/ada/x.md").text == "new two\n"


def test_a_yes_to_one_note_is_none_to_the_next_at_its_path(memory: recollect.Memory, record: str) -> None:
    ada = Asker(memory.as_agent("ada"))
    server = build_server(House(seen=lambda _: memory.as_agent("ada"), search=answer))
    yes = ElicitResult(action="accept", content={"forget": True})

    async def agreed(client: Client, state: str | None = None) -> Any:
        call = client.session.call_tool
        given = {"kind": "note", "id": NOTE}
        responses: Any = {"forget": yes} if state else None
        return await call("forget", given, input_responses=responses, request_state=state, allow_input_required=True)

    written_twice(ada, "old")
    first = asked(server, agreed, elicitation_callback=Person())
    done = asked(server, lambda client: agreed(client, first.request_state), elicitation_callback=Person())
    assert done.structured_content["outcome"] == "forgotten"
    written_twice(ada, "new")
    again = asked(server, lambda client: agreed(client, first.request_state), elicitation_callback=Person())
    assert again.result_type == "input_required"
    assert memory.notes.read("agents/ada/x.md").text == "new two\n"


def test_who_looks_once_more_at_what_would_go_can_still_have_it_forgotten(
    memory: recollect.Memory, record: str, era: str
) -> None:
    ada = Asker(memory.as_agent("ada"), era)
    asked = ada.told("forget", kind="record", id=record)
    ada.text("read_memory", kind="record", id=record)
    ada.text("context", topic="key")
    assert "The spare key lies under the pot." in asked["would_go"]
    done = ada.told("forget", kind="record", id=record, confirmation=asked["confirmation"])
    assert (done["outcome"], done["verified"]) == ("forgotten", True)


def test_an_answer_that_nobody_was_asked_for_forgets_nothing(memory: recollect.Memory, record: str) -> None:
    """A client of the later era sends the answer along with its first call, with a state of its own making or none."""
    server = build_server(House(seen=lambda _: memory.as_agent("ada"), search=answer))
    person = Person("decline")

    async def forced(client: Client, state: str | None = None) -> Any:
        yes = ElicitResult(action="accept", content={"forget": True})
        return await client.session.call_tool(
            "forget",
            {"kind": "record", "id": record},
            input_responses={"forget": yes},
            request_state=state,
            allow_input_required=True,
        )

    first = asked(server, forced, elicitation_callback=person)
    assert first.result_type == "input_required"
    assert is_there(memory, record)
    with pytest.raises(MCPError, match="requestState"):
        asked(server, lambda client: forced(client, "v1.made-up"), elicitation_callback=person)
    assert is_there(memory, record)


def test_a_state_that_was_given_for_one_call_is_none_for_another(memory: recollect.Memory, record: str) -> None:
    other = memory.as_agent("ada").knowledge.remember("The ladder is in the shed.").record
    assert other
    server = build_server(House(seen=lambda _: memory.as_agent("ada"), search=answer))

    async def crossed(client: Client) -> Any:
        call = client.session.call_tool
        first: Any = await call("forget", {"kind": "record", "id": other.id}, allow_input_required=True)
        yes = ElicitResult(action="accept", content={"forget": True})
        return await call(
            "forget",
            {"kind": "record", "id": record},
            input_responses={"forget": yes},
            request_state=first.request_state,
            allow_input_required=True,
        )

    with pytest.raises(MCPError, match="requestState"):
        asked(server, crossed, elicitation_callback=Person())
    assert is_there(memory, record)


def test_an_agent_forgets_no_history_and_nothing_that_it_may_not_write(memory: recollect.Memory, record: str) -> None:
    memory.agents.add("bo")
    bo = Asker(memory.as_agent("bo"))
    house = memory.knowledge.remember("The well is deep.").record
    assert house
    assert bo.refused("forget", kind="record", id=house.id)[0] == "Denied"
    assert bo.refused("forget", kind="record", id=record)[0] == "NotFound"
    for kind in ("message", "conversation", "file"):
        assert bo.refused("forget", kind=kind, id="x")[0] == "Invalid"
    assert bo.refused("forget", kind="record", id=house.id, with_sources=True)[0] == "Invalid"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "note", "id": "/memories"}, "Notes are forgotten one by one, each by its path, such as"),
        ({"kind": "note", "id": "none.md"}, "No note is called 'none.md'. search_memory finds what there is"),
        ({"kind": "subject", "id": "moon"}, "No record is about 'moon'. search_memory finds what there is"),
    ],
)
def test_what_cannot_be_forgotten_is_told_with_what_an_agent_can_do(
    memory: recollect.Memory, record: str, given: dict[str, str], words: str
) -> None:
    _, told = Asker(memory.as_agent("ada")).refused("forget", **given)
    assert told.startswith(words)
    assert "recollect " not in told


def test_who_may_only_read_forgets_nothing(memory: recollect.Memory, record: str, era: str) -> None:
    reading = memory.acting_for(replace(memory.as_agent("ada").principal, may_write=False))
    for person in (None, Person()):
        assert Asker(reading, era, person).refused("forget", kind="record", id=record)[0] == "Denied"
    assert is_there(memory, record)


def test_a_person_forgets_a_note_by_the_path_that_tools_show(memory: recollect.Memory, era: str) -> None:
    memory.notes.write("secrets.md", "The combination is on the door.\n")
    person = Person()
    told = Asker(memory, era, person).told("forget", kind="note", id="/memories/secrets.md")
    assert told["outcome"] == "forgotten"
    assert memory.notes.find("secrets.md") is None
    assert "/memories/secrets.md" in person.asked[0]
