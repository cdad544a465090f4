"""The official client of MCP, as tests ask with it: in memory or over HTTP, in both eras of the protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

import recollect
from recollect.asking import answer
from recollect.surfaces.mcp.server import ERROR_KIND, House, build_server

ERAS = ("legacy", "auto")
"""With a handshake, up to 2025-11-25; without one, from 2026-07-28 on."""
T = TypeVar("T")


class Person:
    """Who is asked by the client before something is forgotten."""

    def __init__(self, action: str = "accept", forget: bool | None = True) -> None:
        self.asked: list[str] = []
        self._action: Any = action
        self._content: Any = None if forget is None else {"forget": forget}

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return ElicitResult(action=self._action, content=self._content if self._action == "accept" else None)


def asked(server: Any, work: Callable[[Client], Awaitable[T]], **options: Any) -> T:
    """One connection, and what the work gave or refused. A refusal leaves the connection first, which would put it
    into a group of its own."""

    async def ask() -> T | MCPError:
        async with Client(server, **options) as client:
            try:
                return await work(client)
            except MCPError as error:
                return error

    outcome = asyncio.run(ask())
    if isinstance(outcome, MCPError):
        raise outcome
    return outcome


class Asker:
    """One agent with one server. Each call is a connection of its own."""

    def __init__(
        self, memory: recollect.Memory, era: str = "auto", person: Person | None = None, search: Any = answer
    ) -> None:
        self.memory = memory
        self._era = era
        self._person = person
        self._server = build_server(House(seen=lambda _: memory, search=search))

    def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        return asked(self._server, work, mode=self._era, elicitation_callback=self._person)

    def call(self, tool: str, **given: Any) -> CallToolResult:
        return self.ask(lambda client: client.call_tool(tool, given))

    def text(self, tool: str, **given: Any) -> str:
        """What a model is told."""
        result = self.call(tool, **given)
        assert not result.is_error, result
        return text_of(result)

    def told(self, tool: str, **given: Any) -> dict[str, Any]:
        """What a program is told."""
        result = self.call(tool, **given)
        assert not result.is_error, result
        assert result.structured_content is not None
        return result.structured_content

    def refused(self, tool: str, **given: Any) -> tuple[str, str]:
        """(kind of the error, its words)"""
        result = self.call(tool, **given)
        assert result.is_error, result
        assert result.structured_content is None
        return str((result.meta or {}).get(ERROR_KIND, "")), text_of(result)


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
