"""The real Codex beside Recollect: our tools, our hooks, and what is taken in of what it writes.

It runs in a HOME of its own against a model server on this computer (`tests/agents.py`). Skipped only where there is no
Node to install it with.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import pytest
from agents import Codex, text_of
from commands import wait_for
from residue import tables_with

import recollect
from recollect.history.privacy import OWN_TEXT
from recollect.testing.openai_answers import Answer, Call

SECRET_PLACE = "The seed list hangs behind the blue door."
NAMESPACE = f"mcp__{agents.SERVER}"


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[Codex]:
    agents.program("codex")
    yield from agents.codex(tmp_path)


def use_tool(name: str, **given: Any) -> Answer:
    return Answer(text=None, calls=(Call(name=name, namespace=NAMESPACE, given=given),))


def bodies(codex: Codex) -> list[dict[str, Any]]:
    return [request.body for request in codex.model.requests if request.path == "/v1/responses"]


def tools_in(body: dict[str, Any]) -> set[str]:
    return {tool["name"] for group in body["tools"] if group.get("name") == NAMESPACE for tool in group["tools"]}


def results_in(body: dict[str, Any]) -> list[str]:
    """What tools gave, as the model was told it."""
    return [text_of(item["output"]) for item in body["input"] if item["type"] == "function_call_output"]


def injected(body: dict[str, Any]) -> str:
    """What stands in our element in this request; empty when it is not there."""
    words = "\n".join(text_of(item["content"]) for item in body["input"] if item["type"] == "message")
    return words.partition(f"<{OWN_TEXT}>")[2].partition(f"</{OWN_TEXT}>")[0]


def approve_all(codex: Codex) -> None:
    """`codex exec` asks nobody, so a tool that writes is refused unless a person approved it before."""
    text = codex.config.read_text(encoding="utf-8")
    head = f"[mcp_servers.{agents.SERVER}]\n"
    assert text.count(head) == 1
    codex.config.write_text(text.replace(head, f'{head}default_tools_approval_mode = "approve"\n'), encoding="utf-8")


def add_over_http(codex: Codex, address: str) -> None:
    variable = ("--bearer-token-env-var", "RECOLLECT_TOKEN")
    added = codex.run("mcp", "add", agents.SERVER, "--url", f"{address}/mcp", *variable)
    assert added.code == 0, added


# MCP


def test_it_lists_and_calls_our_tools_over_stdio(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    added = codex.run("mcp", "add", agents.SERVER, "--", *codex.mcp_command())
    assert added.code == 0, added
    approve_all(codex)
    codex.model.script(
        use_tool("search_memory", query="Where is the seed list?"),
        use_tool("remember", text="The greenhouse key is under the third pot."),
        "Behind the blue door.",
    )

    codex.ask("Where is the seed list?")

    first, second, third = bodies(codex)
    assert tools_in(first) == set(agents.TOOLS)
    assert SECRET_PLACE in results_in(second)[0]
    assert len(results_in(third)) == 2
    assert "The greenhouse key is under the third pot." in codex.computer.run("records", "--json").out


def test_it_reads_and_adds_without_asking_and_erases_only_when_a_person_approved(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    (known,) = codex.computer.run("records", "--json").json()
    codex.run("mcp", "add", agents.SERVER, "--", *codex.mcp_command())
    codex.model.script(
        use_tool("search_memory", query="Where is the seed list?"),
        use_tool("remember", text="The greenhouse key is under the third pot."),
        use_tool("forget", kind="record", id=known["id"]),
        "Behind the blue door.",
    )

    codex.ask("Where is the seed list?")

    read, added, erased = results_in(bodies(codex)[-1])
    assert SECRET_PLACE in read
    assert "third pot" in added
    assert "requires approval" in erased
    assert SECRET_PLACE in codex.computer.run("records", "--json").out


def test_it_lists_and_calls_our_tools_over_http_with_a_token(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    codex.variables["RECOLLECT_TOKEN"] = codex.computer.run("token", "create", "--json").json()["secret"]
    with agents.server(codex.computer) as address:
        add_over_http(codex, address)
        codex.model.script(use_tool("search_memory", query="Where is the seed list?"), "There.")

        codex.ask("Where is the seed list?")

    first, second = bodies(codex)
    assert tools_in(first) == set(agents.TOOLS)
    assert SECRET_PLACE in results_in(second)[0]


def test_with_a_wrong_token_it_gets_no_tools_and_goes_on(codex: Codex) -> None:
    codex.variables["RECOLLECT_TOKEN"] = f"recollect_{'x' * 43}"
    with agents.server(codex.computer) as address:
        add_over_http(codex, address)

        done = codex.ask("Where is the seed list?")

    assert "All is well." in done.out
    assert tools_in(bodies(codex)[0]) == set()


def test_installed_with_http_it_asks_the_daemon_as_an_agent_of_its_own(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    with agents.daemon(codex.computer):
        codex.config.chmod(0o600)  # A token will stand in it.
        installed = codex.computer.run("install", "codex", "--http", "--yes")
        assert installed.code == 0, installed.out + installed.err
        codex.model.script(
            use_tool("search_memory", query="Where is the seed list?"),
            use_tool("remember", text="The greenhouse key is under the third pot."),
            "There.",
        )

        codex.ask("Where is the seed list?")

        assert SECRET_PLACE in results_in(bodies(codex)[1])[0]
        with recollect.open(codex.computer.home) as memory:
            (kept,) = [record for record in memory.knowledge.records() if "third pot" in record.text]
            assert memory.knowledge.events(kept.id)[0].actor_name == "codex"


# Hooks


def test_after_install_a_session_begins_with_what_is_known_and_is_taken_in(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    with agents.daemon(codex.computer):
        installed = codex.computer.run("install", "codex", "--yes")
        assert installed.code == 0, installed.out
        codex.model.script("The ladder leans on the shed.")

        codex.ask("Where did I leave the ladder?")

        assert SECRET_PLACE in injected(bodies(codex)[0])
        codex.computer.wait_for_words("The ladder leans on the shed.")


def test_its_hooks_run_where_the_variable_of_its_folder_leads_through_a_link(codex: Codex, tmp_path: Path) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    (tmp_path / "link").symlink_to(codex.computer.user)
    codex.variables["CODEX_HOME"] = codex.computer.variables["CODEX_HOME"] = str(tmp_path / "link" / ".codex")
    codex.computer.run("install", "codex", "--yes")

    codex.ask("Where did I leave the ladder?")

    assert SECRET_PLACE in injected(bodies(codex)[0])


def test_without_trust_it_waits_for_a_person_to_look_at_the_hooks(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    installed = codex.computer.run("install", "codex", "--no-trust", "--yes")

    codex.ask("Where did I leave the ladder?")
    codex.ask("Where did I leave the ladder?", "--dangerously-bypass-hook-trust")

    assert "/hooks" in installed.out
    asked = bodies(codex)
    assert [SECRET_PLACE in injected(body) for body in asked] == [False, True]


def test_without_a_daemon_the_hooks_tell_and_take_in_by_themselves(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    codex.computer.run("install", "codex", "--yes")
    codex.model.script("The ladder leans on the shed.")

    codex.ask("Where did I leave the ladder?")

    assert SECRET_PLACE in injected(bodies(codex)[0])
    codex.computer.wait_for_words("The ladder leans on the shed.")


def test_what_we_told_it_is_not_taken_in_and_not_found_as_something_said(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    codex.computer.run("install", "codex", "--yes")
    codex.model.script(use_tool("search_memory", query="seed list"), "The ladder leans on the shed.")
    codex.ask("Where did I leave the ladder?")
    codex.computer.wait_for_words("The ladder leans on the shed.")
    (rollout,) = (codex.folder / "sessions").rglob("rollout-*.jsonl")
    assert f"<{OWN_TEXT}>" in rollout.read_text(encoding="utf-8")

    codex.computer.run("ingest", codex.folder / "sessions")
    codex.computer.run("process")

    with recollect.open(codex.computer.home) as memory:
        said = {message.text for message in memory.history.export() if message.standing == "said" and message.text}
        assert said == {"Where did I leave the ladder?", "The ladder leans on the shed."}
        assert tables_with(memory, f"<{OWN_TEXT}>") == []
        assert [record.text for record in memory.knowledge.records() if "seed list" in record.text] == [SECRET_PLACE]
        hits = memory.recall.search("seed list behind the blue door").hits
        assert {hit.kind for hit in hits if "blue door" in hit.text} == {"record"}


def test_a_marker_in_its_answer_becomes_a_learning(codex: Codex) -> None:
    codex.computer.run("install", "codex", "--yes")
    statement = "Mara waters the tomatoes on Fridays."
    marker = f'[REMEMBER] {{"text": "{statement}", "category": "knowledge"}}'
    codex.model.script(f"I will keep that.\n\n{marker}")

    codex.ask("I water the tomatoes on Fridays.")
    codex.computer.wait_for_words("I will keep that.")

    wait_for("the learning", lambda: statement in codex.computer.run("records", "--json").out)
    codex.ask("What do you know?")
    assert statement in injected(bodies(codex)[-1])


def test_compaction_is_preceded_by_taking_in_and_followed_by_telling_again(codex: Codex) -> None:
    codex.computer.run("remember", SECRET_PLACE)
    codex.computer.run("install", "codex", "--yes")
    codex.config.write_text(f"model_auto_compact_token_limit = 2000\n{codex.config.read_text()}", encoding="utf-8")
    looking = Call(name="exec_command", given={"cmd": "true"})
    codex.model.script(
        Answer(text="Let me look.", calls=(looking,)), "A ladder was looked for.", "The ladder leans on the shed."
    )

    codex.ask("Where did I leave the ladder?")

    begun, _, after = bodies(codex)
    assert SECRET_PLACE in injected(begun)
    assert SECRET_PLACE in injected(after)
    codex.computer.wait_for_words("The ladder leans on the shed.")
    with recollect.open(codex.computer.home) as memory:
        assert tables_with(memory, f"<{OWN_TEXT}>") == []


def test_uninstall_leaves_its_files_as_they_were(codex: Codex) -> None:
    before = codex.config.read_bytes()
    codex.computer.run("install", "codex", "--yes")
    assert codex.config.read_bytes() != before
    codex.ask("Where did I leave the ladder?")

    done = codex.computer.run("uninstall", "codex", "--yes")

    assert done.code == 0, done.err
    assert codex.config.read_bytes() == before
    assert not codex.hooks.exists()
