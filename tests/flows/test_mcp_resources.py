"""Resources and prompts of MCP: notes and conversations by their addresses, in pages, as who asks may see them (S2)."""

import re
from pathlib import Path
from typing import Any

import pytest
from chats import House, days_ago
from mcp.shared.exceptions import MCPError
from mcp_asking import ERAS, Asker
from mcp_types import INVALID_PARAMS, TextContent, TextResourceContents

import recollect
from recollect.surfaces.mcp.resources import MOST_TOKENS, PAGE
from recollect.tokens import estimate


@pytest.fixture
def house(memory: recollect.Memory, tmp_path: Path) -> House:
    memory.agents.add("ada")
    return House(memory, tmp_path / "chats")


@pytest.fixture(params=ERAS)
def ada(request: pytest.FixtureRequest, house: House) -> Asker:
    return Asker(house.memory.as_agent("ada"), request.param)


def read(asker: Asker, address: str) -> str:
    result = asker.ask(lambda client: client.read_resource(address))
    (content,) = result.contents
    assert isinstance(content, TextResourceContents)
    assert content.text.startswith("<recollect-context>\n")
    assert content.text.endswith("\n</recollect-context>")
    return content.text


def refusal(asker: Asker, address: str) -> Any:
    with pytest.raises(MCPError) as caught:
        asker.ask(lambda client: client.read_resource(address))
    return caught.value.error


def test_notes_and_conversations_are_listed_the_latest_first_in_pages(house: House, ada: Asker) -> None:
    for number in range(PAGE + 5):
        house.memory.notes.write(f"pages/page {number}.md", f"Page {number}\n")
    for number in range(3):
        house.tell(f"chat-{number}", f"Chat {number} about swifts", start=days_ago(9 - number))
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = ada.ask(lambda client, at=cursor: client.list_resources(cursor=at))
        found += page.resources
        assert len(page.resources) <= PAGE
        cursor = page.next_cursor
        if cursor is None:
            break
    addresses = [one.uri for one in found]
    assert len(addresses) == len(set(addresses)) == PAGE + 5 + 3
    assert "recollect://notes/pages/page%207.md" in addresses
    assert [one.title for one in found[-3:]] == [f"Chat {number} about swifts" for number in (2, 1, 0)]
    assert "Page 7" in read(ada, "recollect://notes/pages/page%207.md")
    assert "Chat 1 about swifts" in read(ada, addresses[-2])


def test_a_path_that_has_a_credential_is_no_address(house: House, ada: Asker) -> None:
    key = "sk-ant-" + "x1Y2" * 10
    house.memory.notes.prepare()
    (house.memory.notes.folder / f"{key}.md").write_text("It is in the name.\n", encoding="utf-8")
    house.memory.notes.write("garden.md", "Beans\n")
    listed = ada.ask(lambda client: client.list_resources())
    assert "recollect://notes/garden.md" in [one.uri for one in listed.resources]
    assert key not in listed.model_dump_json()


def test_the_templates_tell_the_form_of_an_address(ada: Asker) -> None:
    listed = ada.ask(lambda client: client.list_resource_templates())
    forms = [template.uri_template for template in listed.resource_templates]
    assert forms == ["recollect://notes/{+path}{?cursor}", "recollect://conversations/{id}{?cursor}"]


def test_what_is_long_names_the_address_of_its_next_part(house: House, ada: Asker) -> None:
    lines = [f"Line {number} of a page that is long enough to be cut" for number in range(4_000)]
    house.memory.notes.write("long.md", "\n".join(lines))
    address, seen = "recollect://notes/long.md", 0
    while address:
        text = read(ada, address)
        assert estimate(text) < MOST_TOKENS * 1.5
        seen += len(re.findall(r"^ *\d+\tLine \d+ of", text, re.MULTILINE))
        following = re.search(r"\[It goes on: (\S+)\]", text)
        address = following[1] if following else ""
    assert seen == len(lines)


@pytest.mark.parametrize(
    "address",
    [
        "recollect://notes/none.md",
        "recollect://notes/../../etc/passwd",
        "recollect://notes/%2e%2e/%2e%2e/etc/passwd",
        "recollect://conversations/none",
        "recollect://records/none",
        "recollect://notes/",
        "file:///etc/passwd",
        "recollect://notes/long.md?cursor=none",
        "recollect://notes/long.md?agent=bo",
        "http://[",
        "x" * 10_000,
    ],
)
def test_an_address_of_nothing_is_refused_with_what_there_is(ada: Asker, address: str) -> None:
    error = refusal(ada, address)
    assert error.code == INVALID_PARAMS
    assert error.data["kind"] in ("NotFound", "Invalid", "Denied")
    assert "Traceback" not in error.message


def test_a_wrong_cursor_of_a_list_is_refused(ada: Asker) -> None:
    with pytest.raises(MCPError) as caught:
        ada.ask(lambda client: client.list_resources(cursor="none"))
    assert caught.value.error.code == INVALID_PARAMS


def test_the_prompt_gives_what_the_agent_may_know_marked_as_ours(house: House, ada: Asker) -> None:
    house.learn("Ada is a gardener.", category="identity")
    listed = ada.ask(lambda client: client.list_prompts())
    assert [prompt.name for prompt in listed.prompts] == ["rehydrate"]
    for given in ({}, {"topic": "gardens"}):
        got = ada.ask(lambda client, given=given: client.get_prompt("rehydrate", given))
        (message,) = got.messages
        assert isinstance(message.content, TextContent)
        assert re.fullmatch(
            r"<recollect-context>\n.*Ada is a gardener\..*</recollect-context>", message.content.text, re.DOTALL
        )


@pytest.mark.parametrize(("name", "given"), [("none", {}), ("rehydrate", {"agent": "bo"})])
def test_another_prompt_or_argument_is_refused(ada: Asker, name: str, given: dict[str, str]) -> None:
    with pytest.raises(MCPError) as caught:
        ada.ask(lambda client: client.get_prompt(name, given))
    assert caught.value.error.code == INVALID_PARAMS
