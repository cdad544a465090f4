"""`recollect mcp` as a process of its own, as agents start it: over standard input and output, in both eras (S2)."""

import asyncio
import json
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import commands
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_asking import ERAS, text_of

import recollect
from recollect.surfaces.mcp.stdio import BLOCK_BYTES, LEAVING_SECONDS, MOST_LINE_BYTES

LEGACY = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return request.param


def client_of(home: Path, era: str, *options: str) -> Client:
    program, *arguments = commands.command("mcp", *options)
    given = StdioServerParameters(command=program, args=arguments, env=commands.environment(home))
    return Client(stdio_client(given), mode=era)


@contextmanager
def started(home: Path, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        commands.command("mcp", *options), env=commands.environment(home), stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def asked(process: "subprocess.Popen[bytes]", message: Any) -> Any:
    assert process.stdin
    assert process.stdout
    process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_an_agent_starts_it_in_a_home_that_is_not_there_yet_and_remembers(home: Path, era: str) -> None:
    async def run() -> None:
        async with client_of(home, era) as client:
            assert len((await client.list_tools()).tools) == 7
            await client.call_tool("remember", {"text": "Swifts nest under the tiles."})
            found = await client.call_tool("search_memory", {"query": "where do swifts nest"})
            assert "Swifts nest under the tiles." in text_of(found)

    asyncio.run(run())
    with recollect.open(home=home) as memory:
        assert [record.text for record in memory.knowledge.records()] == ["Swifts nest under the tiles."]


def test_it_acts_for_the_agent_it_was_started_for(home: Path, era: str) -> None:
    with recollect.open(home=home) as memory:
        for name in ("ada", "bo"):
            memory.agents.add(name)
            memory.as_agent(name).knowledge.remember(f"{name} keeps a swift in mind.")

    async def run() -> None:
        async with client_of(home, era, "--agent", "ada", "--read-only") as client:
            assert "remember" not in [tool.name for tool in (await client.list_tools()).tools]
            text = text_of(await client.call_tool("search_memory", {"query": "swift in mind"}))
            assert "ada keeps" in text
            assert "bo keeps" not in text
            assert (await client.call_tool("remember", {"text": "x is y"})).is_error

    asyncio.run(run())


def test_an_agent_that_is_not_there_is_told_before_anything_is_served(home: Path) -> None:
    result = commands.run("mcp", "--agent", "nobody", home=home)
    assert result.code == 3
    assert result.out == ""
    assert result.explains("nobody")


def test_a_running_daemon_does_the_searches(home: Path) -> None:
    """A process that asks it does not load the search."""
    with recollect.open(home=home) as memory:
        memory.knowledge.remember("Swifts nest under the tiles.")
    with commands.started("up", home=home), started(home) as process:
        commands.wait_for("the daemon", lambda: list((home / "runtime").glob("search.sock")))
        asked(process, LEGACY)
        call = {"name": "search_memory", "arguments": {"query": "swifts"}}
        found = asked(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        assert "Swifts nest under the tiles." in found["result"]["content"][0]["text"]
        maps = Path(f"/proc/{process.pid}/maps")
        if maps.exists():
            assert "numpy" not in maps.read_text()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets of that kind")
def test_a_daemon_that_hangs_keeps_no_other_tool_waiting_and_not_the_end(home: Path) -> None:
    with recollect.open(home=home) as memory:
        memory.settings.runtime.mkdir(exist_ok=True)
        status = memory.settings.runtime / "status.json"
    with tempfile.TemporaryDirectory(prefix="rc-") as folder, socket.socket(socket.AF_UNIX) as hung:
        hung.bind(f"{folder}/search.sock")
        hung.listen(64)
        status.write_text(json.dumps({"socket": f"{folder}/search.sock", "pid": 1}), encoding="utf-8")
        with started(home) as process:
            asked(process, LEGACY)
            assert process.stdin
            for number in range(10, 20):
                process.stdin.write(json.dumps(called(number, "search_memory", query="swifts")).encode() + b"\n")
            assert asked(process, called(30, "remember", text="Swifts nest."))["id"] == 30
            for number in range(10, 20):
                given = {"requestId": number}
                notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": given}
                process.stdin.write(json.dumps(notice).encode() + b"\n")
            _, errors = process.communicate(timeout=LEAVING_SECONDS - 1)
            assert (process.returncode, errors) == (0, b"")


def called(number: int, tool: str, **given: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}}


def test_it_ends_when_its_input_does(home: Path) -> None:
    with started(home) as process:
        assert asked(process, LEGACY)["result"]["serverInfo"]["name"] == "recollect"
        out, errors = process.communicate(timeout=commands.PATIENCE_SECONDS)
        assert (process.returncode, out, errors) == (0, b"", b"")


def test_what_was_asked_before_its_input_ended_is_answered(home: Path) -> None:
    calls = [("remember", {"text": "Swifts nest under the tiles."}), ("search_memory", {"query": "swifts"})]
    asking = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for number, (name, given) in enumerate(calls, 2)
    ]
    lines = [LEGACY, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *asking]
    with started(home) as process:
        given = b"\n".join(json.dumps(line).encode() for line in lines)  # The last one has no end.
        out, errors = process.communicate(given, timeout=commands.PATIENCE_SECONDS)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert sorted(answers) == [1, 2, 3]
    assert all("result" in answer for answer in answers.values())
    assert errors == b""


def test_a_request_of_no_form_is_told_so_and_keeps_nobody_waiting(home: Path) -> None:
    lines = [
        json.dumps(LEGACY).encode(),
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":[1]}',
        b'{"id":"3","method":"ping"}',
        b'{"jsonrpc":"2.0","id":2.5,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":5,"method":"ping"}',
    ]
    with started(home) as process:
        out, errors = process.communicate(b"\n".join(lines) + b"\n", timeout=LEAVING_SECONDS - 1)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert {name: answer.get("error", {}).get("code") for name, answer in answers.items()} == {
        1: None,
        2: -32600,
        "3": -32600,
        None: -32600,
        5: None,
    }
    assert errors == b""


def test_a_request_that_is_too_long_is_told_so_by_its_id(home: Path) -> None:
    long = "x" * MOST_LINE_BYTES
    given = {"name": "remember", "arguments": {"text": long, "id": 99}}
    longer = {**given, "text": "x" * 4 * BLOCK_BYTES}
    message = {"jsonrpc": "2.0", "method": "tools/call"}
    lines = [
        json.dumps(LEGACY),
        json.dumps({**message, "id": 2, "params": given}),
        json.dumps({**message, "params": longer, "id": "three"}),
        json.dumps({"params": longer, "id": 4, **message}),
        json.dumps({"params": {**given, "id": 98}, **message}),
        '{"jsonrpc":"2.0","id":5,"method":"ping"}',
        json.dumps({"params": given, **message, "id": 6}),
    ]
    with started(home) as process:  # The last one has no end.
        out, errors = process.communicate("\n".join(lines).encode(), timeout=commands.PATIENCE_SECONDS)
    answers = [(one["id"], one.get("error", {}).get("code")) for one in map(json.loads, out.splitlines())]
    refused = [(2, -32600), ("three", -32600), (4, -32600), (None, -32600), (6, -32600)]
    assert [one for one in answers if one[1]] == refused
    assert [one for one in answers if not one[1]] == [(1, None), (5, None)]
    assert errors == b""


def test_it_ends_by_a_signal_while_its_input_is_silent(home: Path) -> None:
    with started(home) as process:
        asked(process, LEGACY)
        process.send_signal(signal.SIGTERM)
        assert process.wait(commands.PATIENCE_SECONDS) == 0
        assert process.stderr
        assert process.stderr.read() == b""


def test_what_cannot_be_read_stops_nothing(home: Path) -> None:
    with started(home) as process:
        asked(process, LEGACY)
        assert process.stdin
        for nonsense in (b"no json", b"\xff\xfe{}", b"[" * 100_000, b"", b'{"jsonrpc": "2.0"}'):
            process.stdin.write(nonsense + b"\n")
        assert "error" in asked(process, {"jsonrpc": "2.0", "id": 7, "method": "none"})
        assert "error" in asked(process, {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": 5}})
        listed = asked(process, {"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
        assert len(listed["result"]["tools"]) == 7
