"""The same month, the same words at the same times, under two designs that the mind replaces.

`window`: the last five messages, and everything that might be of use fetched before each message: what a search for the
message finds, notes and status. Since it is fetched, the model does not search.

`rebuilt`: the whole prompt made anew for each message: the time and all notes on top, all the history as text below, as
long as it fits the budget.

Both go through the SDK with marks where they help: behind what stays the same from one message to the next, for an
hour; and, only where the model is going to use a tool, behind all of it, for the second request of that message. So
neither pays for writing what nobody reads.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from mind_costs import ANSWER, Call
from mind_month import BYTES_PER_TOKEN, Exchange
from mind_script import Script

from recollect.llm.anthropic_reading import usage_of
from recollect.llm.talking import Block
from recollect.mind.tool_specs import SEARCH, SPECS
from recollect.testing import FrozenClock
from recollect.testing.anthropic_server import AnthropicServer

WINDOW_MESSAGES = 5
BUDGET_TOKENS = 100_000
MOST_OUTPUT_TOKENS = 8_000
HOUR: Block = {"type": "ephemeral", "ttl": "1h"}
SHORT: Block = {"type": "ephemeral", "ttl": "5m"}
TOOLS = [
    {"type": tool.kind, "name": tool.name}
    if tool.kind
    else {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
    for tool in SPECS
]

Fetched = dict[str, str]
Told = list[tuple[str, str]]
"""(author, text) of all messages so far."""
Body = dict[str, Any]
Design = Callable[[Exchange, Fetched, Told], Body]


def window(exchange: Exchange, fetched: Fetched, told: Told) -> Body:
    system: list[Block] = [
        {"type": "text", "text": fetched["stable"], "cache_control": HOUR},
        {"type": "text", "text": fetched["notes"], "cache_control": HOUR},
    ]
    said = "\n\n".join(f"{author}: {text}" for author, text in told[-WINDOW_MESSAGES:])
    now = f"{exchange.at:%A, %d %B %Y, %H:%M}"
    parts = [fetched["status"], f"What may be of use:\n{fetched['search']}", f"Before this:\n{said}", now]
    prompt = "\n\n".join([*parts, exchange.asked])
    return {"system": system, "messages": [_user(prompt)], "tools": TOOLS}


def rebuilt(exchange: Exchange, fetched: Fetched, told: Told) -> Body:
    head = "\n\n".join([f"{exchange.at:%A, %d %B %Y, %H:%M}", fetched["stable"], fetched["notes"], fetched["status"]])
    room = BUDGET_TOKENS * BYTES_PER_TOKEN - len(head.encode())
    said: list[str] = []
    for author, text in reversed(told):
        line = f"{author}: {text}"
        room -= len(line.encode()) + 2
        if room < 0:
            break
        said.append(line)
    history = "\n\n".join(reversed(said))
    messages = [_user(history, exchange.asked) if history else _user(exchange.asked)]
    tools = [*TOOLS[:-1], {**TOOLS[-1], "cache_control": HOUR}]
    return {"system": [{"type": "text", "text": head}], "messages": messages, "tools": tools}


DESIGNS: dict[str, Design] = {"window": window, "rebuilt": rebuilt}


def _user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


class Replay:
    """One design, message after message."""

    def __init__(self, name: str, model: str, seed: int) -> None:
        self._design = DESIGNS[name]
        self._searches = name != "window"
        self._model = model
        self._clock = FrozenClock()
        self._script = Script(seed)
        self._told: Told = []
        self.calls: list[Call] = []

    def run(
        self, exchanges: Iterable[Exchange], fetched: Iterable[Fetched], say_day: Callable[[int], None]
    ) -> list[Call]:
        import anthropic

        with (
            AnthropicServer(self._script, clock=self._clock, keeps_requests=1) as server,
            anthropic.Anthropic(base_url=server.url, api_key="made-up", max_retries=0) as client,
        ):
            day = 0
            for exchange, found in zip(exchanges, fetched, strict=True):
                if exchange.day != day:
                    day = exchange.day
                    say_day(day)
                self._hold(exchange, found, client, server)
        return self.calls

    def _hold(self, exchange: Exchange, found: Fetched, client: Any, server: AnthropicServer) -> None:
        if exchange.call and exchange.call.name == SEARCH and not self._searches:
            exchange = replace(exchange, call=None)
        self._clock.now = exchange.at
        self._script.exchange = exchange
        body = self._design(exchange, found, self._told)
        if exchange.call:
            body["messages"][0]["content"][-1]["cache_control"] = SHORT
        self._told.append(("user", exchange.asked))
        content = self._asked(client, body, exchange, server)
        for used in [block for block in content if block["type"] == "tool_use"]:
            result = {"type": "tool_result", "tool_use_id": used["id"], "content": found["result"] or "Done."}
            more = [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
            self._asked(client, {**body, "messages": [*body["messages"], *more]}, exchange, server)
            self._told.append(("tool", found["result"]))
        self._told.append(("assistant", exchange.answered))

    def _asked(self, client: Any, body: Body, exchange: Exchange, server: AnthropicServer) -> list[Block]:
        thinking = {"type": "adaptive"}
        message = client.messages.create(model=self._model, max_tokens=MOST_OUTPUT_TOKENS, thinking=thinking, **body)
        told = message.to_dict()
        call = Call(
            at=exchange.at,
            day=exchange.day,
            kind=ANSWER,
            usage=usage_of(told["usage"]),
            missed=server.cache.log[-1].missed,
        )
        self.calls.append(call)
        return told["content"]


def read_fetched(lines: Iterable[str]) -> Iterator[Fetched]:
    return (json.loads(line) for line in lines)
