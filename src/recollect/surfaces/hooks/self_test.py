"""Does it work? Something is remembered, and has to come back by the ways that an agent has.

The hook is run by the command that stands in the agent's settings, the MCP server is started or asked as it stands
there. What was remembered for it is forgotten at the end, whatever happened.
"""

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, cast

from recollect.clock import to_text
from recollect.errors import Denied, RecollectError, Unavailable
from recollect.history.privacy import IGNORE_NAME, Ignore
from recollect.ids import new_id
from recollect.memory import Memory
from recollect.scopes import HOUSE
from recollect.surfaces.hooks.tools import BEGINNING, Tool

HOOK_SECONDS = 20.0
SERVER_SECONDS = 60.0
SEARCH = "search_memory"
LIFE = timedelta(hours=1)
"""Of the record, where whoever tests is ended before it is forgotten."""
ANOTHER_PLACE = "Choose another http.listen in this home's settings, start `recollect up`, then install again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    is_well: bool
    detail: str
    milliseconds: float


class SelfTest:
    def __init__(self, memory: Memory, tool: Tool, agent: str, command: str, server: dict[str, Any]) -> None:
        """`memory`: as the person sees it. `command`, `server`: as they stand in the agent's settings."""
        self._memory = memory
        self._tool = tool
        self._agent = agent
        self._command = command
        self._server = server
        self._word = f"selftest{new_id()[-12:]}"
        self._record = ""

    def run(self) -> list[Step]:
        """Every step, those included that failed; after one that remembers nothing the others are left out."""
        steps = [self._step("remember", self._remember)]
        try:
            if steps[0].is_well:
                steps += [self._step("session start", self._begin), self._step("mcp", self._search)]
        finally:
            if self._record:
                steps.append(self._step("forget", self._forget))
        return steps

    def _step(self, name: str, do: Callable[[], str]) -> Step:
        started = time.perf_counter()
        try:
            detail, is_well = do(), True
        except RecollectError as error:
            detail, is_well = str(error), False
        except OSError as error:
            detail, is_well = f"A file could not be made: {error.strerror}.", False
        return Step(
            name=name, is_well=is_well, detail=detail, milliseconds=round((time.perf_counter() - started) * 1e3, 1)
        )

    def _remember(self) -> str:
        try:
            self._record, place = self._kept(HOUSE), "in the house"
        except Denied:  # A person took that from the agent: it writes for itself.
            self._record, place = self._kept(""), "for itself"
        return f"{self._agent} wrote a record {place}"

    def _kept(self, scope: str) -> str:
        name, _, room = self._agent.partition("/")
        learned = self._memory.as_agent(name, room).knowledge.remember(
            f"{self._word} {self._word}",  # No words that stand anywhere else, so that its absence can be proved.
            scope=scope,
            importance=1.0,
            expires_at=to_text(self._memory.clock() + LIFE),
        )
        if learned.record is None:
            raise Unavailable("The record was not kept. `recollect doctor` tells more.")
        return learned.record.id

    def _begin(self) -> str:
        if not self._command:
            raise Unavailable("No hook of ours stands in its settings. Run install again.")
        # A project that is nowhere: the folder for temporary files may be one that is ignored.
        project = os.path.join(os.sep, self._word)
        if Ignore(str(self._memory.settings.home)).keeps_out_project(project):
            raise Unavailable(f"A {IGNORE_NAME} keeps every project out, so no session is told anything. Look into it.")
        given = {
            "session_id": "",  # Without one, nothing notes what was shown: the session never was.
            "transcript_path": os.path.join(project, "none.jsonl"),
            "cwd": project,
            "hook_event_name": BEGINNING,
            "source": "startup",
        }
        with tempfile.TemporaryDirectory() as folder:
            output = self._run_hook(json.dumps(given), folder)
        if self._word not in output:
            raise Unavailable("The hook gave no context with the record in it. `recollect doctor` tells more.")
        return f"the hook gave it back in {len(output.encode()):,} bytes"

    def _run_hook(self, given: str, cwd: str) -> str:
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", self._command],
                check=False,
                input=given.encode(),
                capture_output=True,
                cwd=cwd,
                timeout=HOOK_SECONDS,
            )
            output: Any = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        except subprocess.TimeoutExpired:
            raise Unavailable(f"The hook took longer than {HOOK_SECONDS:g} s. Is the database busy?") from None
        except (OSError, ValueError, KeyError, TypeError):
            raise Unavailable(f"The hook gave no answer: run it by hand: {self._command}") from None
        return str(output)

    def _search(self) -> str:
        try:
            found = asyncio.run(asyncio.wait_for(self._ask_server(), SERVER_SECONDS))
        except TimeoutError:
            raise Unavailable(f"The MCP server took longer than {SERVER_SECONDS:g} s.") from None
        except RecollectError:
            raise
        except Exception as error:  # noqa: BLE001  the client raises groups of whatever its transport raised
            raise Unavailable(_why_unanswered(error, self._server.get("url", ""))) from None
        if self._word not in found:
            raise Unavailable("The MCP server answered, but its search did not find the record.")
        return f"{SEARCH} found it"

    async def _ask_server(self) -> str:
        from mcp import Client, StdioServerParameters

        if "url" in self._server:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            address: str = self._server["url"]
            headers: dict[str, str] = self._server.get("headers") or self._server.get("http_headers", {})
            async with httpx2.AsyncClient(trust_env=False) as http:
                await _check_house(http, address.removesuffix("/mcp"), headers)
                http.headers.update(headers)
                async with Client(streamable_http_client(address, http_client=http)) as client:
                    return await self._find(client)
        started = StdioServerParameters(command=self._server["command"], args=list(self._server["args"]))
        async with Client(started) as client:
            return await self._find(client)

    async def _find(self, client: Any) -> str:
        result = await client.call_tool(SEARCH, {"query": self._word})
        if result.is_error:
            raise Unavailable(f"{SEARCH} was refused: {str(result.content)[:200]}")
        return f"{result.content}{result.structured_content}"

    def _forget(self) -> str:
        done = self._memory.forget(record=self._record)
        if not done.is_verified:
            raise Unavailable(f"It was forgotten, but not all of it is proved yet: receipt {done.receipt}.")
        return "the record is forgotten, everywhere"


async def _check_house(http: Any, address: str, headers: dict[str, str]) -> None:
    """All homes have the same usual port. The token is sent only where `/health` is answered as by a Recollect, and
    tells whether it is of this home."""
    unknown = await http.get(f"{address}/health")
    if not _is_recollect(unknown):
        raise Unavailable(f"Another program answers at {address}. {ANOTHER_PLACE}")
    known = await http.get(f"{address}/health", headers=headers)
    if known.status_code == HTTPStatus.UNAUTHORIZED:
        raise Unavailable(f"The Recollect of another home answers at {address}. {ANOTHER_PLACE}")


def _is_recollect(answer: Any) -> bool:
    try:
        return answer.status_code == HTTPStatus.OK and isinstance(answer.json()["status"], str)
    except (ValueError, KeyError, TypeError):
        return False


def _why_unanswered(error: Exception, address: str) -> str:
    """`address`: of the daemon; empty: the server is a program."""
    from httpx2 import NetworkError, TimeoutException

    reasons = _reasons(error)
    if address and any(isinstance(reason, NetworkError | TimeoutException) for reason in reasons):
        return f"Nobody answers at {address}. Start `recollect up`, then install again."
    hint = "`recollect up` answers it; is it running?" if address else "Start it by hand."
    return f"The MCP server did not answer ({', '.join(type(reason).__name__ for reason in reasons)}). {hint}"


def _reasons(error: BaseException) -> list[BaseException]:
    """What stands in a group, and in the groups of it."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [reason for one in group.exceptions for reason in _reasons(one)]
    return [error]
