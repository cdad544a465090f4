"""The real Claude Code beside Recollect: our tools, our hooks, our plugin, and what is taken in of what it writes.

It runs in a HOME of its own against a model server on this computer (`tests/agents.py`). Skipped only where there is no
Node to install it with.
"""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import pytest
from agents import ClaudeCode, text_of
from commands import wait_for
from residue import tables_with

import recollect
from recollect.history.privacy import OWN_TEXT
from recollect.surfaces import hooks
from recollect.surfaces.hooks.tools import EVENTS
from recollect.testing.anthropic_answers import say, use_tool

SECRET_PLACE = "The seed list hangs behind the blue door."
TOOL = "mcp__recollect__"


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[ClaudeCode]:
    agents.program("claude")
    yield from agents.claude_code(tmp_path)


def tools_in(body: dict[str, Any]) -> dict[str, Any]:
    return {tool["name"]: tool for tool in body["tools"] if "recollect" in tool["name"]}


def results_in(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What tools gave, as the model was told it."""
    return [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


def injected(body: dict[str, Any]) -> str:
    """What stands in our element in this request; empty when it is not there."""
    words = "\n".join(text_of(message["content"]) for message in body["messages"])
    return words.partition(f"<{OWN_TEXT}>")[2].partition(f"</{OWN_TEXT}>")[0]


def add_over_http(claude: ClaudeCode, address: str, secret: str) -> None:
    header = f"Authorization: Bearer {secret}"
    added = claude.run("mcp", "add", "--scope", "user", "-t", "http", agents.SERVER, f"{address}/mcp", "-H", header)
    assert added.code == 0, added


# MCP


def test_it_lists_and_calls_our_tools_over_stdio(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    added = claude.run("mcp", "add", "--scope", "user", agents.SERVER, "--", *claude.mcp_command())
    assert added.code == 0, added
    claude.model.script(
        use_tool(f"{TOOL}search_memory", {"query": "Where is the seed list?"}),
        use_tool(f"{TOOL}remember", {"text": "The greenhouse key is under the third pot."}),
        say("Behind the blue door."),
    )

    claude.ask("Where is the seed list?", "--allowedTools", f"mcp__{agents.SERVER}")

    first, second, third = claude.model.asked
    assert set(tools_in(first)) == {f"{TOOL}{name}" for name in agents.TOOLS}
    (found,) = results_in(second)
    assert SECRET_PLACE in text_of(found["content"])
    assert not any(result.get("is_error") for result in results_in(third))
    known = claude.computer.run("records", "--json").out
    assert "The greenhouse key is under the third pot." in known


def test_it_lists_and_calls_our_tools_over_http_with_a_token(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    claude.variables["RECOLLECT_TOKEN"] = claude.computer.run("token", "create", "--json").json()["secret"]
    with agents.server(claude.computer) as address:
        add_over_http(claude, address, "${RECOLLECT_TOKEN}")
        claude.model.script(use_tool(f"{TOOL}search_memory", {"query": "Where is the seed list?"}), say("There."))

        claude.ask("Where is the seed list?", "--allowedTools", f"mcp__{agents.SERVER}")

    first, second = claude.model.asked
    assert set(tools_in(first)) == {f"{TOOL}{name}" for name in agents.TOOLS}
    assert SECRET_PLACE in text_of(results_in(second)[0]["content"])


def test_with_the_settings_of_its_first_versions_it_has_our_tools_after_install(claude: ClaudeCode) -> None:
    (claude.computer.claude / ".config.json").write_text("{}")
    claude.computer.run("install", "claude-code", "--yes")

    claude.ask("Where is the seed list?")

    assert len(tools_in(claude.model.asked[0])) == len(agents.TOOLS)


def test_with_a_wrong_token_it_gets_no_tools_and_goes_on(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    with agents.server(claude.computer) as address:
        add_over_http(claude, address, f"recollect_{'x' * 43}")

        done = claude.ask("Where is the seed list?")

    assert "OK." in done.out
    assert tools_in(claude.model.asked[0]) == {}
    assert SECRET_PLACE not in json.dumps(claude.model.asked)


def test_installed_with_http_it_asks_the_daemon_as_an_agent_of_its_own(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    with agents.daemon(claude.computer):
        installed = claude.computer.run("install", "claude-code", "--http", "--yes")
        assert installed.code == 0, installed.out
        assert json.loads(claude.servers.read_text())["mcpServers"][agents.SERVER]["type"] == "http"
        claude.model.script(
            use_tool(f"{TOOL}search_memory", {"query": "Where is the seed list?"}),
            use_tool(f"{TOOL}remember", {"text": "The greenhouse key is under the third pot."}),
            say("There."),
        )

        claude.ask("Where is the seed list?", "--allowedTools", f"mcp__{agents.SERVER}")

        assert SECRET_PLACE in text_of(results_in(claude.model.asked[1])[0]["content"])
        with recollect.open(claude.computer.home) as memory:
            (kept,) = [record for record in memory.knowledge.records() if "third pot" in record.text]
            assert memory.knowledge.events(kept.id)[0].actor_name == "claude-code"


# Hooks


def test_after_install_a_session_begins_with_what_is_known_and_is_taken_in(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    with agents.daemon(claude.computer):
        installed = claude.computer.run("install", "claude-code", "--yes")
        assert installed.code == 0, installed.out
        claude.model.script(say("The ladder leans on the shed."))

        claude.ask("Where did I leave the ladder?")

        assert SECRET_PLACE in injected(claude.model.asked[0])
        assert "hook_non_blocking_error" not in claude.transcript()
        claude.computer.wait_for_words("The ladder leans on the shed.")


def test_without_a_daemon_the_hooks_tell_and_take_in_by_themselves(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    claude.computer.run("install", "claude-code", "--yes")
    claude.model.script(say("The ladder leans on the shed."))

    claude.ask("Where did I leave the ladder?")

    assert SECRET_PLACE in injected(claude.model.asked[0])
    claude.computer.wait_for_words("The ladder leans on the shed.")


def test_a_daemon_that_was_killed_is_no_obstacle(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    with agents.daemon(claude.computer) as process:
        claude.computer.run("install", "claude-code", "--yes")
        process.kill()
        process.wait()
    assert (claude.computer.home / "runtime" / "hook.curl").exists()

    claude.ask("Where did I leave the ladder?")

    assert SECRET_PLACE in injected(claude.model.asked[0])
    claude.computer.wait_for_words("Where did I leave the ladder?")


def test_a_daemon_that_hangs_holds_nothing_up(claude: ClaudeCode) -> None:
    with agents.daemon(claude.computer) as process:
        claude.computer.run("install", "claude-code", "--yes")
        process.send_signal(signal.SIGSTOP)

        done = claude.ask("Where did I leave the ladder?")

        process.send_signal(signal.SIGCONT)
        assert "OK." in done.out
        assert injected(claude.model.asked[0]) == ""
        claude.computer.wait_for_words("Where did I leave the ladder?")


def test_what_we_told_it_is_not_taken_in_and_not_found_as_something_said(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    claude.computer.run("install", "claude-code", "--yes")
    claude.model.script(use_tool(f"{TOOL}search_memory", {"query": "seed list"}), say("The ladder leans on the shed."))
    claude.ask("Where did I leave the ladder?", "--allowedTools", f"mcp__{agents.SERVER}")
    claude.computer.wait_for_words("The ladder leans on the shed.")
    assert f"<{OWN_TEXT}>" in claude.transcript()

    claude.computer.run("ingest", claude.computer.projects)
    claude.computer.run("process")

    with recollect.open(claude.computer.home) as memory:
        said = {message.text for message in memory.history.export() if message.standing == "said" and message.text}
        assert said == {"Where did I leave the ladder?", "The ladder leans on the shed."}
        assert tables_with(memory, f"<{OWN_TEXT}>") == []
        assert [record.text for record in memory.knowledge.records() if "seed list" in record.text] == [SECRET_PLACE]
        hits = memory.recall.search("seed list behind the blue door").hits
        assert {hit.kind for hit in hits if "blue door" in hit.text} == {"record"}


def test_a_marker_in_its_answer_becomes_a_learning(claude: ClaudeCode) -> None:
    claude.computer.run("install", "claude-code", "--yes")
    statement = "Mara waters the tomatoes on Fridays."
    marker = f'[REMEMBER] {{"text": "{statement}", "category": "knowledge"}}'
    claude.model.script(say(f"I will keep that.\n\n{marker}"))

    claude.ask("I water the tomatoes on Fridays.")
    claude.computer.wait_for_words("I will keep that.")

    wait_for("the learning", lambda: statement in claude.computer.run("records", "--json").out)
    claude.ask("What do you know?")
    assert statement in injected(claude.model.asked[-1])


def test_compaction_is_preceded_by_taking_in_and_followed_by_telling_again(claude: ClaudeCode) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    claude.computer.run("install", "claude-code", "--yes")
    claude.model.script(say("The ladder leans on the shed."))
    claude.ask("Where did I leave the ladder?")
    claude.model.script(say("<summary>A ladder was looked for.</summary>"))
    session = claude.latest().stem

    claude.ask("/compact", "--resume", session)
    claude.ask("And the rake?", "--resume", session)

    assert SECRET_PLACE in injected(claude.model.asked[-1])
    assert "recollect-hook claude-code PreCompact claude-code] completed successfully" in claude.transcript()
    claude.computer.wait_for_words("And the rake?")
    with recollect.open(claude.computer.home) as memory:
        assert tables_with(memory, f"<{OWN_TEXT}>") == []


def test_a_session_from_before_the_install_is_told_once_when_it_goes_on(claude: ClaudeCode) -> None:
    claude.ask("Where is the seed list?")
    claude.computer.run("remember", SECRET_PLACE)
    claude.computer.run("install", "claude-code", "--yes")

    claude.ask("And now?", "--continue")
    claude.ask("And once more?", "--continue")

    first, second, third = claude.model.asked
    assert injected(first) == ""
    assert SECRET_PLACE in injected(second)
    assert json.dumps(third["messages"]).count(f"<{OWN_TEXT}>") == 1


def test_uninstall_leaves_its_settings_as_they_were(claude: ClaudeCode) -> None:
    before = b'{\n  "model": "sonnet",\n  "hooks": {"Stop": []}\n}'
    claude.settings.write_bytes(before)
    claude.computer.run("install", "claude-code", "--yes")
    assert claude.settings.read_bytes() != before
    claude.ask("Where did I leave the ladder?")

    done = claude.computer.run("uninstall", "claude-code", "--yes")

    assert done.code == 0, done.err
    assert claude.settings.read_bytes() == before
    assert agents.SERVER not in json.loads(claude.servers.read_text()).get("mcpServers", {})


# The plugin


def test_the_plugin_that_is_shipped_is_accepted(claude: ClaudeCode) -> None:
    shipped = Path(hooks.__file__).with_name("plugin")

    valid = claude.run("plugin", "validate", "--strict", shipped)

    assert valid.code == 0, valid.out
    assert "mcpServers: recollect" in valid.out
    assert "skills: recollect:recollect" in valid.out


def test_the_plugin_is_accepted_and_brings_tools_and_hooks(claude: ClaudeCode, tmp_path: Path) -> None:
    claude.computer.run("remember", SECRET_PLACE)
    folder = tmp_path / "plugin"
    made = claude.computer.run("install", "claude-code", "--plugin", folder, "--yes")
    assert made.code == 0, made.err

    valid = claude.run("plugin", "validate", "--strict", folder)
    claude.model.script(
        use_tool("mcp__plugin_recollect_recollect__search_memory", {"query": "seed list"}),
        say("The ladder leans on the shed."),
    )
    claude.ask(
        "Where did I leave the ladder?", "--plugin-dir", folder, "--allowedTools", "mcp__plugin_recollect_recollect"
    )

    assert valid.code == 0, valid.out
    assert all(f"hooks: {event} " in valid.out or f"{event} command" in valid.out for event in EVENTS), valid.out
    first, second = claude.model.asked
    assert len(tools_in(first)) == len(agents.TOOLS)
    assert SECRET_PLACE in text_of(results_in(second)[0]["content"])
    assert SECRET_PLACE in injected(first)
    claude.computer.wait_for_words("The ladder leans on the shed.")
