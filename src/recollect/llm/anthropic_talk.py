"""Models of Anthropic as a mind talks with them, through the official SDK.

The whole conversation is sent each time, without threads of the server's own, so that every byte is known. Answers and
summaries are streamed and put together here from the raw events: the SDK would lose the signature of a summary.
"""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from recollect.errors import Invalid, Unavailable
from recollect.llm.anthropic_access import Access
from recollect.llm.anthropic_betas import betas_for
from recollect.llm.anthropic_card import Card, read_card
from recollect.llm.anthropic_reading import Reading, usage_of
from recollect.llm.anthropic_request import body_of, condensing_body
from recollect.llm.model import BadReply, Usage
from recollect.llm.talking import Abilities, Answer, Condensed, Condensing, Hear, Request
from recollect.tokens import estimate

MOST_CHARACTERS = 1_000_000
"""Of an answer. A longer one is not read to its end."""
ATTEMPTS = 3
"""At a stream that breaks off: the SDK begins anew only before its start."""
FIRST_PAUSE_SECONDS = 0.5
CARD_SECONDS = 10
"""For what a model can do: nobody shall wait long for that."""
NO_CARD = (400, 404, 405, 501)
"""Of who speaks the same API and has no cards: it is not asked again."""

T = TypeVar("T")
Wait = Callable[[float], Awaitable[None]]


class AnthropicTalk:
    """A `TalkModel`. `base_url`: a server that speaks the same API; empty: Anthropic's own."""

    def __init__(
        self,
        model: str,
        key: str,
        *,
        base_url: str = "",
        timeout_seconds: float = 600,
        wait: Wait = asyncio.sleep,
    ) -> None:
        """`timeout_seconds` is for all of an answer, with its retries."""
        self._access = Access(model, key, base_url, timeout_seconds, part="mind")
        self._wait = wait
        self._card: Card | None = None
        self._thinks: bool | None = None
        """Fixed by the first answer: to begin or end it in a conversation would cost the provider's cache."""

    @property
    def name(self) -> str:
        return self._access.name

    @property
    def is_paid(self) -> bool:
        return not self._access.is_own

    async def abilities(self) -> Abilities:
        return (await self._known()).abilities

    async def answer(self, request: Request, hear: Hear) -> Answer:
        thinks = await self._is_thinking()
        body = body_of(self._access.model, request, thinks=thinks)
        reading, lost = await self._asked(body, betas_for(request.turns), hear)
        self._thinks = thinks
        return reading.answer(self._access.model, lost)

    async def condense(self, request: Request, instructions: str) -> Condensed:
        kind = (await self.abilities()).condensing
        if kind is Condensing.NONE:
            raise Invalid(f"{self.name} condenses no conversation by itself, or cannot be asked now whether it does.")
        thinks = await self._is_thinking()
        body = condensing_body(self._access.model, request, instructions, kind, thinks=thinks)
        reading, lost = await self._asked(body, betas_for(request.turns, kind), _unheard)
        found = [block for block in reading.blocks if block["type"] == "compaction" and block.get("content")]
        block = found[-1] if found else None
        summary = str(block["content"]) if block else ""
        return Condensed(block=block, summary=summary, usage=lost + reading.usage)

    async def warm(self, request: Request) -> Usage:
        """Not streamed: the API has nothing to stream at no tokens."""
        thinks = await self._is_thinking()
        body = body_of(self._access.model, replace(request, most_output_tokens=0), thinks=thinks)

        async def once() -> Usage:
            betas = _betas(betas_for(request.turns))
            message = await self._access.connected().beta.messages.create(**body, stream=False, **betas)
            return usage_of(message.usage.to_dict(warnings=False))

        return await self._in_time(self._explained(once))

    async def close(self) -> None:
        await self._access.close()

    async def _is_thinking(self) -> bool:
        return (await self._known()).thinks if self._thinks is None else self._thinks

    async def _known(self) -> Card:
        """The plainest where the API cannot be asked now; then it is asked again at the next occasion."""
        if self._card is None:
            # The SDK takes seconds to load, while which somebody may type.
            await asyncio.to_thread(importlib.import_module, "recollect.llm.anthropic_session")
            self._card = await self._read_card()
        return self._card or Card()

    async def _read_card(self) -> Card | None:
        import httpx2
        from anthropic import APIError, APIStatusError

        from recollect.llm.anthropic_session import TooLong

        client = self._access.connected().with_options(max_retries=0, timeout=CARD_SECONDS)
        try:
            told = await client.beta.models.retrieve(self._access.model)
            return read_card(told.to_dict(warnings=False))
        except APIStatusError as error:
            return Card() if error.status_code in NO_CARD else None
        except (APIError, httpx2.TransportError):
            return None
        except (TooLong, ValueError, AttributeError, TypeError, RecursionError):  # No answer of Anthropic's API.
            return Card()

    async def _asked(self, body: dict[str, Any], betas: list[str], hear: Hear) -> tuple[Reading, Usage]:
        """What was read, and what attempts cost that were lost. A thought that was heard does not hinder another
        attempt: it says nothing twice."""
        return await self._in_time(self._attempts(body, betas, hear))

    async def _in_time(self, asking: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(self._access.timeout_seconds):
                return await asking
        except TimeoutError:
            seconds = self._access.timeout_seconds
            raise Unavailable(f"{self.name} gave no whole answer in {seconds:g} seconds.") from None

    async def _attempts(self, body: dict[str, Any], betas: list[str], hear: Hear) -> tuple[Reading, Usage]:
        lost = Usage()
        input_estimate = sum(estimate(str(message["content"])) for message in body["messages"])
        for attempt in range(ATTEMPTS):
            reading = Reading(hear, input_estimate)
            try:
                await self._explained(lambda reading=reading: self._stream(body, betas, reading))
            except Unavailable:
                if not reading.is_open or reading.is_heard or attempt + 1 == ATTEMPTS:
                    raise
                lost += reading.usage if reading.is_begun else Usage()
                await self._wait(FIRST_PAUSE_SECONDS * 2**attempt)
                continue
            except BadReply as error:
                error.usage = lost + reading.usage if reading.is_begun else lost
                raise
            return reading, lost
        raise AssertionError("the last attempt returns or raises")

    async def _stream(self, body: dict[str, Any], betas: list[str], reading: Reading) -> None:
        stream = await self._access.connected().beta.messages.create(**body, stream=True, **_betas(betas))
        reading.is_open = True
        async with stream:
            async for event in stream:
                reading.take(event.to_dict(warnings=False))
                if reading.characters > MOST_CHARACTERS:
                    raise BadReply(f"{self.name} answered more than {MOST_CHARACTERS:,} characters; it was not read.")
        if not reading.is_begun:
            raise BadReply(f"{self.name} sent no answer. Check that the address is one of Anthropic's API.")
        if not reading.is_ended:
            raise Unavailable(f"{self.name} broke off in its answer.")

    async def _explained(self, once: Callable[[], Awaitable[T]]) -> T:
        """What goes wrong in the SDK, as an error of ours."""
        import httpx2
        from anthropic import APIError

        from recollect.llm.anthropic_session import TooLong, explained

        try:
            return await once()
        except TooLong:
            raise BadReply(f"{self.name} sent more than an answer can be; it was not read.") from None
        except (APIError, httpx2.TransportError) as error:
            raise explained(error, self._access) from None
        except (ValueError, AttributeError, TypeError, KeyError, RecursionError):  # At what the API never sends.
            raise BadReply(f"{self.name} sent what is no answer of Anthropic's API. Check the address.") from None


def _betas(names: list[str]) -> dict[str, Any]:
    return {"betas": names} if names else {}


def _unheard(_piece: object) -> None:
    """For who waits for the whole."""
