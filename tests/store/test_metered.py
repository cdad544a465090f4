"""A metered model reserves before it asks, settles whatever comes, and leaves an event of each call."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from recollect.database import Database
from recollect.errors import Denied, RecollectError, Unavailable
from recollect.llm import BadReply, Busy, ChatModel, CutOff, Refused, Usage
from recollect.llm.anthropic import AnthropicModel
from recollect.llm.claude_command import ClaudeCommand
from recollect.llm.openai import OpenAIModel
from recollect.runs import Budget, OverBudget, Runs, UnknownPrice
from recollect.runs.metered import Metered, estimated_input
from recollect.testing import FrozenClock
from recollect.testing.anthropic_answers import say
from recollect.testing.anthropic_server import AnthropicServer
from recollect.testing.openai_server import OpenAIServer, SchemaSupport
from recollect.testing.scripted import ScriptedModel

HAIKU = "anthropic:claude-haiku-5-5"


class Note(BaseModel):
    title: str


class Desk:
    """A budget, its events, and a model that is metered by them."""

    def __init__(self, database: Database, clock: FrozenClock, tokens: int = 0, dollars: float = 0) -> None:
        self.budget = Budget(database, "home", clock, tokens, dollars)
        self.runs = Runs(database, "home", clock)

    def metered(self, model: ChatModel, **options: Any) -> Metered:
        return Metered(model, self.budget, self.runs.record, **options)

    def ask(self, model: ChatModel, **options: Any) -> Note:
        metered = self.metered(model, **options)
        return asyncio.run(metered.complete("s" * 300, "p" * 600, Note, most_output_tokens=100)).value


@pytest.fixture
def desk(database: Database, clock: FrozenClock) -> Desk:
    return Desk(database, clock)


def test_a_call_is_counted_as_what_it_took_and_told_as_an_event(desk: Desk):
    model = ScriptedModel([{"title": "A walk"}], name=HAIKU, is_paid=True)
    assert desk.ask(model, purpose="extract").title == "A walk"
    (event,) = desk.runs.latest("model")
    assert event.outcome == "done"
    assert event.detail == {
        "model": HAIKU,
        "answered": HAIKU,
        "purpose": "extract",
        "input_tokens": 300,
        "cached_tokens": 0,
        "written_tokens": 0,
        "output_tokens": 7,
        "dollars": pytest.approx((300 * 0.1 + 7 * 0.5) / 1e6),
    }
    assert (desk.budget.today().tokens, desk.budget.today().dollars) == (307, 0.000_034)


def test_it_passes_for_the_model_it_meters(desk: Desk):
    model = ScriptedModel([], name=HAIKU, is_paid=True)
    metered = desk.metered(model)
    assert (metered.name, metered.is_paid) == (HAIKU, True)
    asyncio.run(metered.close())
    assert model.closed == 1


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (BadReply("no JSON", Usage(input_tokens=250, output_tokens=50, calls=2)), "bad reply"),
        (CutOff("too long", Usage(input_tokens=250, output_tokens=50, calls=1)), "cut off"),
        (Refused("no", Usage(input_tokens=250, output_tokens=50, calls=1)), "refused"),
    ],
)
def test_an_answer_that_cannot_be_used_is_paid_for(desk: Desk, failure: BadReply, outcome: str):
    with pytest.raises(type(failure)):
        desk.ask(ScriptedModel([failure], name=HAIKU, is_paid=True))
    assert desk.budget.today().tokens == 300
    assert desk.runs.latest("model")[0].outcome == outcome


@pytest.mark.parametrize("failure", [Denied("no key"), Busy("later", 3.0)])
def test_what_a_server_turned_away_costs_nothing(desk: Desk, failure: Exception):
    with pytest.raises(RecollectError):
        desk.ask(ScriptedModel([failure], name=HAIKU, is_paid=True))
    assert (desk.budget.today().tokens, desk.budget.today().dollars) == (0, 0)


def test_a_server_that_was_not_reached_costs_nothing_but_one_that_fell_silent_may_have_cost_all(desk: Desk):
    unreached, silent = Unavailable("not there"), Unavailable("no answer in 600 s")
    unreached.__cause__ = ConnectionRefusedError()
    silent.__cause__ = TimeoutError()
    with pytest.raises(Unavailable):
        desk.ask(ScriptedModel([unreached], name=HAIKU, is_paid=True))
    assert desk.budget.today().tokens == 0
    with pytest.raises(Unavailable):
        desk.ask(ScriptedModel([silent], name=HAIKU, is_paid=True))
    assert desk.budget.today().tokens > 1_000


def test_a_call_that_is_given_up_stays_counted(desk: Desk):
    async def run() -> None:
        model = ScriptedModel([], until=threading.Event())
        call = asyncio.ensure_future(desk.metered(model).complete("", "", Note, most_output_tokens=100))
        await asyncio.to_thread(model.asked.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(run())
    assert desk.budget.today().tokens > 500
    assert desk.runs.latest("model")[0].outcome == "cancelled"


def test_who_gives_up_before_anything_was_asked_pays_nothing(desk: Desk):
    async def run() -> None:
        model = ScriptedModel([])
        call = asyncio.ensure_future(desk.metered(model).complete("", "", Note))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert model.requests == []

    asyncio.run(run())
    assert desk.budget.today().tokens == 0


def test_above_the_ceiling_nothing_is_asked(database: Database, clock: FrozenClock):
    model = ScriptedModel(lambda *_: {"title": "x"}, name=HAIKU, is_paid=True)
    desk = Desk(database, clock, tokens=6_000)
    while desk.budget.today().tokens < 2_000:
        desk.ask(model)
    asked = len(model.requests)
    with pytest.raises(OverBudget):
        asyncio.run(desk.metered(model).complete("", "p" * 6_000, Note, most_output_tokens=100))
    assert len(model.requests) == asked == desk.budget.today().calls
    assert desk.budget.today().tokens <= 6_000


def test_a_ceiling_in_money_needs_a_price(database: Database, clock: FrozenClock):
    desk = Desk(database, clock, dollars=1)
    unknown = ScriptedModel(lambda *_: {"title": "x"}, name="https://models.example/v1#m", is_paid=True)
    with pytest.raises(UnknownPrice, match="price_per_million"):
        desk.ask(unknown)
    assert unknown.requests == []
    desk.ask(unknown, per_million=[1, 2])
    assert desk.budget.today().dollars == pytest.approx((300 + 2 * 5) / 1e6, abs=2e-6)


def test_a_model_of_ones_own_costs_no_money_whatever_its_name(database: Database, clock: FrozenClock):
    desk = Desk(database, clock, dollars=0.000_001)
    desk.ask(ScriptedModel([{"title": "x"}], name="unheard-of", is_paid=False))
    assert (desk.budget.today().calls, desk.budget.today().dollars) == (1, 0)


def test_a_price_in_the_settings_counts_also_on_this_computer_where_a_proxy_may_run(
    database: Database, clock: FrozenClock
):
    model = ScriptedModel(lambda *_: {"title": "x"}, name="http://127.0.0.1:4000/v1#m", is_paid=False)
    desk = Desk(database, clock)
    desk.ask(model, per_million=[1, 2])
    assert desk.metered(model, per_million=[1, 2]).is_paid
    assert not desk.metered(model, per_million=[0, 0]).is_paid
    assert desk.budget.today().dollars == pytest.approx((300 + 2 * 5) / 1e6, abs=2e-6)
    with pytest.raises(OverBudget):
        Desk(database, clock, dollars=0.000_001).ask(model, per_million=[1, 2])


def test_the_reservation_covers_a_repair(database: Database, clock: FrozenClock):
    """What a model takes that answers as long as it may, is shown its answer, and does so once more."""
    once = estimated_input(HAIKU, "s" * 300, "p" * 600, Note)
    worst = Usage(input_tokens=2 * once + 100, output_tokens=200, calls=2)
    desk = Desk(database, clock)
    reserved: list[int] = []

    def answer(*_: object) -> Exception:
        reserved.append(desk.budget.today().tokens)
        return BadReply("still wrong", worst)

    with pytest.raises(BadReply):
        desk.ask(ScriptedModel(answer, name=HAIKU, is_paid=True))
    assert desk.budget.today().tokens <= reserved[0]


async def failing(model: ChatModel) -> Usage:
    """What an answer took that could not be used."""
    with pytest.raises(BadReply) as bad:
        await model.complete("s" * 300, "p" * 6_000, Note, most_output_tokens=100)
    await model.close()
    return bad.value.usage


def test_real_adapters_that_have_to_repair_stay_inside_what_was_reserved(desk: Desk):
    counted: list[int] = []

    def wrong(_: object) -> str:
        counted.append(desk.budget.today().tokens)
        return "no JSON, but many words about it " * 8

    with (
        AnthropicServer(respond=lambda body: say(wrong(body))) as anthropic,
        OpenAIServer(schemas=SchemaSupport.IGNORED) as openai,
    ):
        openai.script(wrong, wrong)
        for model in (
            AnthropicModel("claude-haiku-5-5", "k" * 20, base_url=anthropic.url),
            OpenAIModel(openai.base_url, "test-model", "k" * 20),
        ):
            before = desk.budget.today().tokens
            counted.clear()
            usage = asyncio.run(failing(desk.metered(model)))
            assert usage.calls == len(counted) == 2
            taken, reserved = desk.budget.today().tokens - before, counted[0] - before
            assert taken == usage.input_tokens + usage.output_tokens
            assert reserved / 3 < taken <= reserved


def test_a_real_adapter_that_reaches_nobody_costs_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("anthropic._base_client.BaseClient._calculate_retry_timeout", lambda *_, **__: 0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"

    async def at_once(_: float) -> None: ...

    for model in (
        AnthropicModel("claude-haiku-5-5", "k" * 20, base_url=nobody),
        OpenAIModel(f"{nobody}/v1", "test-model", wait=at_once),
        ClaudeCommand(program="no-such-program-of-anybody"),
    ):
        with pytest.raises(Unavailable):
            desk.ask(model)
    assert (desk.budget.today().calls, desk.budget.today().tokens) == (3, 0)
