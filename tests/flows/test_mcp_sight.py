"""What a sibling has is never seen, and who may only read writes nothing, by any tool, resource or prompt (S2, K4)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chats import House
from mcp.shared.exceptions import MCPError
from mcp_asking import ERAS, Asker, Person

import recollect

SECRET = "purple heron"
"""In everything that is bo's, and in nothing else."""


@pytest.fixture
def bo(memory: recollect.Memory, tmp_path: Path) -> dict[str, str]:
    """An agent with things of its own; their names, by kind. Ada stands beside it, and may write in the house."""
    for name in ("ada", "bo"):
        memory.agents.add(name)
        memory.agents.grant(name, "house")
    house = House(memory, tmp_path / "chats")
    memory.agents.bind("bo", "generic")
    house.tell("secret", f"I saw a {SECRET} at the pond.", ("assistant", f"A {SECRET}, how rare."))
    own = memory.as_agent("bo")
    record = own.knowledge.remember(f"The {SECRET} nests at the pond.", subject="heron", attribute="nest").record
    assert record
    own.notes.write("agents/bo/birds.md", f"# Birds\n\nThe {SECRET} nests here.\n")
    own.update_status({"seen": SECRET})
    listed = own.history.conversations()[0]
    return {
        "message": own.history.messages(listed.conversation)[0].id,
        "conversation": listed.conversation.id,
        "record": record.id,
        "note": "agents/bo/birds.md",
    }


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def calls_about(things: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Every tool, in every way that could show or touch something of bo's."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_memory", {"query": "heron at the pond", "search_type": kind})
        for kind in ("conversations", "facts", "both")
    ]
    calls += [("read_memory", {"kind": kind, "id": name, "neighbours": 20}) for kind, name in things.items()]
    calls += [("context", {"topic": "heron at the pond", "recent": 100, "budget_tokens": 20_000})]
    path = f"/memories/{things['note']}"
    calls += [
        ("notes", {"command": "view", "path": "/memories"}),
        ("notes", {"command": "view", "path": "/memories/agents"}),
        ("notes", {"command": "view", "path": "/memories/agents/bo"}),
        ("notes", {"command": "view", "path": path}),
        ("notes", {"command": "view", "path": "/memories/agents/bo/status.json"}),
        ("notes", {"command": "create", "path": path, "file_text": "x"}),
        ("notes", {"command": "create", "path": "/memories/agents/bo/more.md", "file_text": "x"}),
        ("notes", {"command": "str_replace", "path": path, "old_str": "nests", "new_str": "x"}),
        ("notes", {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
        ("notes", {"command": "rename", "old_path": path, "new_path": "/memories/agents/ada/stolen.md"}),
        ("notes", {"command": "delete", "path": path}),
        ("notes", {"command": "delete", "path": "/memories/agents/bo"}),
        ("remember", {"text": "The heron left.", "replaces": things["record"]}),
        ("remember", {"text": "The heron left the pond.", "subject": "heron", "attribute": "nest"}),
        ("forget", {"kind": "record", "id": things["record"]}),
        ("forget", {"kind": "subject", "id": "heron"}),
        ("forget", {"kind": "note", "id": path}),
    ]
    return calls


def test_nothing_of_a_sibling_is_seen_or_touched_by_any_tool(
    memory: recollect.Memory, bo: dict[str, str], era: str
) -> None:
    ada = Asker(memory.as_agent("ada"), era)
    for tool, given in calls_about(bo):
        result = ada.call(tool, **given)
        assert SECRET not in result.model_dump_json().lower(), (tool, given)
        if tool == "forget" and not result.is_error:  # Of what ada remembered a moment ago under the same name.
            told = result.structured_content or {}
            assert told["would_remove"]["records"] == 1
    own = memory.as_agent("bo")
    assert own.knowledge.record(bo["record"]).state == "current"
    assert SECRET in own.notes.read(bo["note"]).text
    assert own.notes.history(bo["note"])[-1].number == 1
    assert own.notes.find("agents/bo/more.md") is None


def test_nothing_of_a_sibling_is_seen_in_resources_and_prompts(
    memory: recollect.Memory, bo: dict[str, str], era: str
) -> None:
    ada = Asker(memory.as_agent("ada"), era)
    listed = ada.ask(lambda client: client.list_resources())
    assert not any("bo" in one.uri.split("/") or bo["conversation"] in one.uri for one in listed.resources)
    assert SECRET not in listed.model_dump_json()
    for address in (f"recollect://notes/{bo['note']}", f"recollect://conversations/{bo['conversation']}"):
        with pytest.raises(MCPError) as caught:
            ada.ask(lambda client, address=address: client.read_resource(address))
        assert caught.value.error.data["kind"] == "NotFound"
    prompt = ada.ask(lambda client: client.get_prompt("rehydrate", {"topic": "heron"}))
    assert SECRET not in prompt.model_dump_json()


def test_the_one_whose_they_are_sees_them(memory: recollect.Memory, bo: dict[str, str], era: str) -> None:
    own = Asker(memory.as_agent("bo"), era)
    for kind, name in bo.items():
        assert SECRET in own.text("read_memory", kind=kind, id=name)
    kinds = {hit["kind"] for hit in own.told("search_memory", query="purple heron")["hits"] if SECRET in hit["text"]}
    assert kinds == {"message", "record", "note"}
    assert SECRET in own.text("context")


def test_who_may_only_read_writes_nothing_by_any_tool(memory: recollect.Memory, bo: dict[str, str], era: str) -> None:
    principal = replace(memory.as_agent("bo").principal, may_write=False)
    path = f"/memories/{bo['note']}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"text": "x is y"}),
        ("update_status", {"updates": {"a": 1}}),
        ("notes", {"command": "create", "path": "/memories/new.md", "file_text": "x"}),
        ("notes", {"command": "delete", "path": path}),
        ("forget", {"kind": "record", "id": bo["record"]}),
    ]
    before = (memory.knowledge.figures(), memory.notes.figures())
    for person in (None, Person()):
        reader = Asker(memory.acting_for(principal), era, person)
        for tool, given in calls:
            assert reader.refused(tool, **given)[0] == "Denied", tool
    assert SECRET in reader.text("notes", command="view", path=path)
    assert SECRET in reader.text("search_memory", query="purple heron")
    assert (memory.knowledge.figures(), memory.notes.figures()) == before


def test_a_person_who_may_only_read_looks_at_notes_without_making_any(memory: recollect.Memory, era: str) -> None:
    reader = Asker(memory.acting_for(replace(memory.principal, may_write=False)), era)
    reader.call("notes", command="view", path="/memories")
    reader.call("context")
    reader.call("search_memory", query="anything")
    assert reader.refused("remember", text="x is y")[0] == "Denied"
    assert memory.notes.figures().versions == 0
    assert memory.agents.list() == [one for one in memory.agents.list() if one.scope.id == "house"]
