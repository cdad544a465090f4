"""Asking the person before something is forgotten, by a client that can (elicitation), in both eras of the protocol.

Up to 2025-11-25 the server asks while the call waits. From 2026-07-28 on the call ends with the question, and comes
again with the answer and with what we gave it, sealed: an answer that comes without that counts for nothing.
"""

from typing import Any, Literal, TypeAlias

import anyio
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from recollect.mind.tool_results import bounded
from recollect.surfaces.mcp.forgetting import GOOD_SECONDS, Plan

QUESTION = "forget"
MOST_QUESTION_TOKENS = 1_000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"forget": {"type": "boolean", "title": "Forget it for good", "default": False}},
    "required": ["forget"],
}

Context = ServerRequestContext[Any, Any]
Reply: TypeAlias = Literal["agreed", "declined", "unanswered"]


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def can_ask(ctx: Context) -> bool:
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    has_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    return has_forms and (is_modern(ctx) or ctx.session.can_send_request)


async def asked(ctx: Context, params: CallToolRequestParams, plan: Plan) -> Reply | InputRequiredResult:
    """What came back. Or the question, for a client of the later era that was not asked yet."""
    if is_modern(ctx):
        answer = (params.input_responses or {}).get(QUESTION)
        # The state was sealed for this call and this principal: only who was asked about this very plan has it.
        if params.request_state != plan.digest or not isinstance(answer, ElicitResult):
            return InputRequiredResult(input_requests={QUESTION: _question(plan)}, request_state=plan.digest)
        return _reply(answer)
    message = _message(plan)
    with anyio.move_on_after(GOOD_SECONDS):
        try:
            return _reply(await ctx.session.elicit_form(message, SCHEMA, ctx.request_id))
        except (MCPError, ValidationError):  # It said that it can ask, and cannot.
            return "unanswered"
    return "unanswered"


def _question(plan: Plan) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=_message(plan), requested_schema=SCHEMA))


def _message(plan: Plan) -> str:
    text = f"An agent wants this to be forgotten. It cannot be brought back.\n{plan.text}"
    return bounded(text, MOST_QUESTION_TOKENS, "there is more of it.")


def _reply(answer: ElicitResult) -> Reply:
    """A client without a screen says that it can ask, and then cancels."""
    if answer.action == "cancel":
        return "unanswered"
    return "agreed" if answer.action == "accept" and (answer.content or {}).get("forget") is True else "declined"
