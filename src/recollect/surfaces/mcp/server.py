"""The server: each request of the protocol as one call of the house, as who asks, in a thread (S3).

It is the SDK's own `Server`, of both eras: what it lists depends on who asks, and its lists have pages, neither of
which the layer above it (`MCPServer`) offers; see docs/decisions/0043-mcp.md. Whatever an agent can get wrong is a
result that says so. Of what breaks inside nothing is told but that it did.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from mcp.server import Server, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    TextResourceContents,
)

from recollect import __version__
from recollect.errors import Conflict, Corrupt, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.memory import Memory
from recollect.mind.tool_results import MOST_ERROR_TOKENS, bounded, one_line
from recollect.notes.paths import folder_of
from recollect.scopes import HOUSE
from recollect.surfaces.mcp import asking_person, forgetting, resources, specs
from recollect.surfaces.mcp.advice import for_agent
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import Arguments
from recollect.surfaces.mcp.contexts import context
from recollect.surfaces.mcp.reading import read_memory
from recollect.surfaces.mcp.searching import Search, search_memory
from recollect.surfaces.mcp.specs import Standing
from recollect.surfaces.mcp.writing import check_may_write, notes, remember, update_status

NAME = "recollect"
BROKEN = "Something is broken here. `recollect doctor` looks for what it is."
ERROR_KIND = "recollect/error"
"""In `_meta` of a result that is an error: the one of `KINDS` that it is."""
KINDS = (Invalid, NotFound, Denied, Conflict, Unavailable)
"""Clients are told of these. What is none of them, data that does not read back, is not to be had now."""
PROMPT = Prompt(
    name="rehydrate",
    title="What is known",
    description="What this session can know from its beginning on.",
    arguments=[PromptArgument(name="topic", description="What the session is about.", required=False)],
)

Context = ServerRequestContext[Any, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Where requests are answered from."""

    seen: Callable[[Context], Memory]
    """The house as who asks sees it. It asks the database nothing."""
    search: Search
    turn: Callable[[Context], AbstractAsyncContextManager[None]] = lambda _: nullcontext()
    """Entered for as long as a call is worked on, and not while it waits for somebody: who asks much waits there."""
    searching: CapacityLimiter | None = None
    """How many searches are worked on at once, in threads of their own: what they wait for keeps no other tool."""


def build_server(house: House) -> Server[Any]:
    serving = _Serving(house)
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="Recollect",
        instructions=specs.INSTRUCTIONS,
        on_list_tools=serving.list_tools,
        on_call_tool=serving.call_tool,
        on_list_resources=serving.list_resources,
        on_list_resource_templates=serving.list_templates,
        on_read_resource=serving.read_resource,
        on_list_prompts=serving.list_prompts,
        on_get_prompt=serving.get_prompt,
    )
    security = RequestStateSecurity(
        keys=[forgetting.new_key()],
        ttl=forgetting.GOOD_SECONDS,
        bind_principal=lambda ctx: forgetting.identity_of(house.seen(ctx).principal),
    )
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return server


def standing_of(memory: Memory) -> Standing:
    principal = memory.principal
    writes_in_house = (
        principal.is_confined
        and principal.may_write
        and any(HOUSE in described.may_write_in for described in memory.agents.list())
    )
    return Standing(
        is_person=not principal.is_confined,
        may_write=principal.may_write,
        writes_in_house=writes_in_house,
        folder=folder_of(principal.scope) if principal.is_confined else "",
    )


class _Serving:
    def __init__(self, house: House) -> None:
        self._house = house
        self._confirmations = forgetting.Confirmations()

    # Tools

    async def list_tools(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        memory = self._house.seen(ctx)
        standing = await self._asked(ctx, memory, lambda: standing_of(memory))
        return ListToolsResult(tools=specs.tools_for(standing))

    async def call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        memory = self._house.seen(ctx)
        try:
            if params.name == specs.FORGET:
                return await self._forget(memory, ctx, params)
            limiter = self._house.searching if params.name == specs.SEARCH else None
            return _result(await self._in_turn(ctx, lambda: self._answer(memory, params), limiter))
        except RecollectError as error:
            return _refusal(memory, error)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001  the boundary of the protocol: one call that breaks stops no other
            await _record(memory, params.name, error)
            return CallToolResult(content=[TextContent(text=BROKEN)], is_error=True)

    def _answer(self, memory: Memory, params: CallToolRequestParams) -> Answer:
        standing = standing_of(memory)
        given = _arguments(memory, standing, params)
        if params.name == specs.SEARCH:
            return search_memory(memory, given, self._house.search)
        if params.name == specs.READ:
            return read_memory(memory, given)
        if params.name == specs.REMEMBER:
            return remember(memory, given, writes_in_house=standing.writes_in_house)
        if params.name == specs.STATUS:
            return update_status(memory, given)
        if params.name == specs.NOTES:
            return notes(memory, given)
        return context(memory, given)

    async def _forget(
        self, memory: Memory, ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        plan, answer = await self._in_turn(ctx, lambda: self._begin_to_forget(memory, params))
        if answer is not None:
            return _result(answer)
        if not asking_person.can_ask(ctx):
            return _result(forgetting.unconfirmed(memory, plan, self._confirmations))
        reply = await asking_person.asked(ctx, params, plan)
        if isinstance(reply, InputRequiredResult):
            return reply
        if reply != "agreed":
            return _result(forgetting.kept(memory, plan, is_answered=reply == "declined"))
        return _result(await self._in_turn(ctx, lambda: forgetting.erased(memory, plan)))

    def _begin_to_forget(self, memory: Memory, params: CallToolRequestParams) -> tuple[forgetting.Plan, Answer | None]:
        given = _arguments(memory, standing_of(memory), params)
        plan = forgetting.planned(memory, given)
        return plan, forgetting.confirmed(memory, given, plan, self._confirmations)

    # Resources

    async def list_resources(self, ctx: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        memory = self._house.seen(ctx)
        cursor = (params.cursor if params else None) or ""
        found, following = await self._asked(ctx, memory, lambda: resources.listed(memory, cursor))
        return ListResourcesResult(resources=found, next_cursor=following or None)

    async def list_templates(self, ctx: Context, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def read_resource(self, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        memory = self._house.seen(ctx)
        text, media_type = await self._asked(ctx, memory, lambda: resources.read(memory, params.uri))
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text=text, mime_type=media_type)])

    # Prompts

    async def list_prompts(self, ctx: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        memory = self._house.seen(ctx)
        text = await self._asked(ctx, memory, lambda: _prompt_text(memory, params))
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=PROMPT.description, messages=[message])

    # How each of them is worked on

    async def _in_turn(self, ctx: Context, work: Callable[[], T], limiter: CapacityLimiter | None = None) -> T:
        async with self._house.turn(ctx):
            return await _in_thread(work, limiter)

    async def _asked(self, ctx: Context, memory: Memory, work: Callable[[], T]) -> T:
        """For requests whose errors are those of the protocol."""
        try:
            return await self._in_turn(ctx, work)
        except RecollectError as error:
            code = INTERNAL_ERROR if isinstance(error, Unavailable | Corrupt) else INVALID_PARAMS
            raise MCPError(code=code, message=_words(memory, error), data={"kind": kind_of(error)}) from None
        except Exception as error:  # noqa: BLE001  the boundary of the protocol: one request that breaks stops no other
            await _record(memory, "request", error)
            raise MCPError(code=INTERNAL_ERROR, message=BROKEN) from None


def _prompt_text(memory: Memory, params: GetPromptRequestParams) -> str:
    if params.name != PROMPT.name:
        raise Invalid(f"There is no prompt {one_line(params.name)!r}. There is: {PROMPT.name}.")
    return context(memory, Arguments(PROMPT.name, params.arguments or {}, ("topic",))).shown


def _arguments(memory: Memory, standing: Standing, params: CallToolRequestParams) -> Arguments:
    """What was given to a tool that is there for who asks."""
    given = params.arguments or {}
    if params.name in specs.WRITING or (params.name == specs.NOTES and given.get("command") in specs.COMMANDS[1:]):
        check_may_write(memory, params.name)
    tools = {tool.name: tool for tool in specs.tools_for(standing)}
    if params.name not in tools:
        raise Invalid(f"There is no tool {one_line(params.name)!r}. There are: {', '.join(tools)}.")
    return Arguments(params.name, given, specs.arguments_of(tools[params.name]))


# Results


def _result(answer: Answer) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=answer.shown)], structured_content=answer.told or None)


def _refusal(memory: Memory, error: RecollectError) -> CallToolResult:
    meta: Any = {ERROR_KIND: kind_of(error)}
    return CallToolResult(content=[TextContent(text=_words(memory, error))], is_error=True, _meta=meta)


def kind_of(error: RecollectError) -> str:
    return next((kind.__name__ for kind in KINDS if isinstance(error, kind)), Unavailable.__name__)


def _words(memory: Memory, error: RecollectError) -> str:
    return bounded(for_agent(memory, str(error)), MOST_ERROR_TOKENS, "it is too long.")


async def _in_thread(work: Callable[[], T], limiter: CapacityLimiter | None = None) -> T:
    """All that takes long, in one hop."""
    return await anyio.to_thread.run_sync(work, limiter=limiter)


async def _record(memory: Memory, what: str, error: Exception) -> None:
    """The kind alone: its words may be somebody's own."""
    told: dict[str, object] = {"tool": what[:50], "error": type(error).__name__}
    with suppress(RecollectError):  # The database may be what is broken.
        await _in_thread(lambda: memory.runs.record("mcp", "failed", 0.0, told))
