"""A metered model that talks: each call is reserved, settled, counted for its turn, and an event."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.database import Database
from recollect.errors import Denied, RecollectError, Unavailable
from recollect.llm import BadReply, Busy, Usage
from recollect.llm.anthropic_talk import AnthropicTalk
from recollect.llm.talking import (
    Abilities,
    Answer,
    Condensed,
    Condensing,
    Piece,
    Request,
    Stop,
    TalkModel,
    TextPiece,
    ThinkingPiece,
    Tool,
    Turn,
)
from recollect.runs import Account, Budget, OverBudget, Runs, Spending, UnknownPrice
from recollect.runs.metered_talk import CONDENSED_TOKENS, MeteredTalk
from recollect.runs.talk_calls import IMAGE_TOKENS, Call, estimated_request
from recollect.testing import FrozenClock
from recollect.testing.anthropic_server import AnthropicServer
from recollect.testing.scripted_talk import HANG, ScriptedTalk, Step

OPUS = "anthropic:claude-opus-5-5"
HOUR = Abilities(condensing=Condensing.ON_DEMAND, cache_seconds=3_600)


def request(*texts: str, system: str = "You are an agent.", most_output_tokens: int = 1_000) -> Request:
    turns = [Turn(role="user", content=({"type": "text", "text": text},)) for text in texts]
    return Request(system=(system,), tools=(), turns=turns, most_output_tokens=most_output_tokens)


def unheard(_: Piece) -> None: ...


class Desk:
    """A budget of the mind, its events, and a model that is metered by them."""

    def __init__(self, database: Database, clock: FrozenClock, dollars: float = 0) -> None:
        self.budget = Budget(database, "home", clock, 0, dollars, account=Account.MIND)
        self.runs = Runs(database, "home", clock)
        self.spending = Spending(database, "home", clock)
        self.turn = "assistant#1"

    def metered(self, model: TalkModel, per_million: Sequence[float] = ()) -> MeteredTalk:
        return MeteredTalk(model, self.budget, self.runs.record, per_million=per_million, turn=lambda: self.turn)

    def event(self, outcome: str = "") -> dict[str, Any]:
        (event,) = self.runs.latest("model", outcome)
        return {"outcome": event.outcome, **event.detail}


@pytest.fixture
def desk(database: Database, clock: FrozenClock) -> Desk:
    return Desk(database, clock)


def model(*steps: Step, **options: Any) -> ScriptedTalk:
    usual: dict[str, Any] = {"name": OPUS, "is_paid": True, "abilities": HOUR}
    return ScriptedTalk(steps, **usual | options)


def answered(usage: Usage, stop: Stop = Stop.END) -> Answer:
    return Answer(blocks=({"type": "text", "text": "Yes."},), stop=stop, usage=usage, model="claude-opus-5-5")


TAKEN = Usage(
    input_tokens=10_000,
    cached_tokens=8_000,
    written_tokens=1_500,
    written_hour_tokens=1_500,
    output_tokens=200,
    calls=1,
)
PRICE = (8_000 * 0.2 + 1_500 * 8 + 500 * 4 + 200 * 20) / 1e6


# What is counted


def test_an_answer_is_counted_as_what_it_took_for_its_turn_and_told_as_an_event(desk: Desk):
    asked = asyncio.run(desk.metered(model(answered(TAKEN))).answer(request("Hello"), unheard))
    assert asked.blocks[0]["text"] == "Yes."
    assert desk.event() == {
        "outcome": "done",
        "model": OPUS,
        "answered": "claude-opus-5-5",
        "purpose": "mind",
        "turn": "assistant#1",
        "input_tokens": 10_000,
        "cached_tokens": 8_000,
        "written_tokens": 1_500,
        "output_tokens": 200,
        "dollars": pytest.approx(PRICE),
    }
    (turn,) = desk.spending.by_turn()
    assert (turn.turn, turn.calls, turn.open_calls) == ("assistant#1", 1, 0)
    assert (turn.input_tokens, turn.cached_tokens, turn.written_tokens, turn.output_tokens) == (
        10_000,
        8_000,
        1_500,
        200,
    )
    assert turn.dollars == pytest.approx(PRICE, abs=1e-6)


def test_each_kind_of_call_has_its_purpose(desk: Desk):
    async def run() -> None:
        metered = desk.metered(model("Hello.", "In short: we spoke."))
        await metered.answer(request("Hello"), unheard)
        await metered.condense(request("Hello", "and more"), "Be brief.")
        desk.turn = ""
        await metered.warm(request("Hello"))
        await metered.purposed("compaction").answer(request("Hello", "Sum it up."), unheard)

    asyncio.run(run())
    calls = {one.purpose: one.calls for one in desk.spending.by_day()}
    assert calls == {"mind": 1, "compaction": 2, "warm": 1}
    (turn,) = desk.spending.by_turn()
    assert turn.calls == 2
    assert 0 < turn.compaction_tokens < turn.input_tokens + turn.output_tokens


def test_all_that_an_answer_says_is_heard_as_it_comes(desk: Desk):
    pieces: list[Piece] = []
    step = [ThinkingPiece(), TextPiece(text="Good "), "morning."]
    asyncio.run(desk.metered(model(step)).answer(request("Hello"), pieces.append))
    assert pieces == [ThinkingPiece(), TextPiece(text="Good "), TextPiece(text="morning.")]


def test_it_passes_for_the_model_it_meters(desk: Desk):
    inner = model()
    metered = desk.metered(inner)
    assert (metered.name, metered.is_paid) == (OPUS, True)
    assert asyncio.run(metered.abilities()) == HOUR
    asyncio.run(metered.purposed("compaction").close())
    assert inner.closed == 1
    free = ScriptedTalk([], name="http://127.0.0.1:1/v1#m")
    assert [desk.metered(free, prices).is_paid for prices in ((), (0, 0), (1, 2))] == [False, False, True]


@pytest.mark.parametrize(("stop", "outcome"), [(Stop.LENGTH, "cut off"), (Stop.REFUSED, "refused")])
def test_an_answer_that_ends_badly_is_told_so(desk: Desk, stop: Stop, outcome: str):
    asyncio.run(desk.metered(model(answered(TAKEN, stop))).answer(request("Hello"), unheard))
    assert desk.event()["outcome"] == outcome


def test_a_summary_that_failed_is_paid_for_and_told_so(desk: Desk):
    failed = Condensed(block=None, summary="", usage=Usage(input_tokens=900, output_tokens=10, calls=1))
    asyncio.run(desk.metered(model(summaries=[failed])).condense(request("Hello"), ""))
    assert desk.event()["outcome"] == "bad reply"
    assert desk.budget.today().tokens == 910


# What fails


@pytest.mark.parametrize("failure", [Denied("no key"), Busy("later", 3.0)])
def test_what_a_server_turned_away_costs_nothing(desk: Desk, failure: Exception):
    with pytest.raises(RecollectError):
        asyncio.run(desk.metered(model(failure)).answer(request("Hello"), unheard))
    assert (desk.budget.today().tokens, desk.budget.today().dollars) == (0, 0)


def test_a_server_that_was_not_reached_costs_nothing_but_one_that_fell_silent_may_have_cost_all(desk: Desk):
    unreached, silent = Unavailable("not there"), Unavailable("no answer in 600 s")
    unreached.__cause__ = ConnectionRefusedError()
    silent.__cause__ = TimeoutError()
    metered = desk.metered(model(unreached, silent))
    for least in (0, 1_000):
        with pytest.raises(Unavailable):
            asyncio.run(metered.answer(request("Hello"), unheard))
        assert bool(desk.budget.today().tokens) == bool(least)
    assert desk.budget.today().tokens > 1_000


def test_an_answer_that_cannot_be_used_is_paid_for(desk: Desk):
    bad = BadReply("nothing in it", Usage(input_tokens=250, output_tokens=50, calls=1))
    with pytest.raises(BadReply):
        asyncio.run(desk.metered(model([TextPiece(text="I"), bad])).answer(request("Hello"), unheard))
    assert desk.budget.today().tokens == 300
    assert "is_estimated" not in desk.event()


@pytest.mark.parametrize("failure", [Busy("overloaded"), Unavailable("the stream broke")])
def test_a_stream_that_breaks_counts_as_what_was_heard_of_it(desk: Desk, failure: Exception):
    with pytest.raises(Unavailable):
        asyncio.run(desk.metered(model([TextPiece(text="x" * 300), failure])).answer(request("Hello"), unheard))
    assert (desk.event()["output_tokens"], desk.event()["is_estimated"]) == (100, True)
    assert desk.spending.by_turn()[0].open_calls == 0


async def interrupted(metered: MeteredTalk, inner: ScriptedTalk, asked: Request) -> None:
    """Once something was heard of the answer."""
    heard = asyncio.Event()
    call = asyncio.ensure_future(metered.answer(asked, lambda _: heard.set()))
    await heard.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert inner.cancelled == 1


def test_an_answer_that_is_interrupted_counts_what_the_cache_had_as_cached(desk: Desk):
    async def run() -> None:
        inner = model(answered(Usage(input_tokens=1_200, output_tokens=9, calls=1)), [TextPiece(text="x" * 90), HANG])
        metered = desk.metered(inner)
        await metered.abilities()
        await metered.answer(request("Hello" * 200), unheard)
        await interrupted(metered, inner, request("Hello" * 200, "Go on" * 200))

    asyncio.run(run())
    told = desk.event("cancelled")
    assert (told["outcome"], told["output_tokens"], told["is_estimated"]) == ("cancelled", 30, True)
    assert told["cached_tokens"] == 1_200
    assert 0 < told["written_tokens"] == told["input_tokens"] - 1_200 < 1_200
    dollars = (1_200 * 0.2 + told["written_tokens"] * 8 + 30 * 20) / 1e6
    assert told["dollars"] == pytest.approx(dollars)


@pytest.mark.parametrize("other", [request("Another beginning"), request("Hello", "Go on", system="Another agent.")])
def test_an_interrupted_answer_to_another_beginning_counts_as_written_anew(desk: Desk, other: Request):
    async def run() -> None:
        inner = model(answered(Usage(input_tokens=1_200, output_tokens=9, calls=1)), [TextPiece(text="x"), HANG])
        metered = desk.metered(inner)
        await metered.abilities()
        await metered.answer(request("Hello"), unheard)
        await interrupted(metered, inner, other)

    asyncio.run(run())
    told = desk.event("cancelled")
    assert told["cached_tokens"] == 0
    assert told["written_tokens"] == told["input_tokens"] == estimated_request(other)


def test_what_is_thought_and_not_heard_is_counted_by_the_time_it_took():
    call = Call(purpose="mind", turn="", request=request(), more="", most_output_tokens=500, begun=0)
    call.take(TextPiece(text="x" * 30))
    assert call.output_tokens() == 10
    call.take(ThinkingPiece())
    assert call.output_tokens() == 500, "but no more than it may write at all"


def test_who_gives_up_before_anything_was_asked_pays_nothing(desk: Desk):
    async def run() -> None:
        inner = model()
        call = asyncio.ensure_future(desk.metered(inner).answer(request("Hello"), unheard))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert inner.requests == []

    asyncio.run(run())
    assert desk.budget.today().tokens == 0


def test_models_of_anthropic_are_counted_call_by_call_as_their_server_counts(desk: Desk):
    system = "You are an agent. " * 1_000
    opened = request("Hello", system=system)

    async def run(server: AnthropicServer) -> list[Usage]:
        metered = desk.metered(AnthropicTalk("claude-opus-5-5", "k" * 20, base_url=server.url), [4, 20])
        await metered.abilities()
        answer = await metered.answer(opened, unheard)
        said = Turn(role="assistant", content=answer.blocks)
        more = Turn(role="user", content=({"type": "text", "text": "And now?"},))
        longer = replace(opened, turns=[*opened.turns, said, more])
        later = await metered.answer(longer, unheard)
        condensed = await metered.condense(replace(opened, turns=[*opened.turns, said]), "Be brief.")
        warmed = await metered.warm(longer)
        await metered.close()
        return [answer.usage, later.usage, condensed.usage, warmed]

    with AnthropicServer() as server:
        usages = asyncio.run(run(server))
    total = usages[0] + usages[1] + usages[2] + usages[3]
    events = desk.runs.latest("model")
    assert sorted(event.detail["purpose"] for event in events) == ["compaction", "mind", "mind", "warm"]
    (turn,) = desk.spending.by_turn()
    assert (turn.input_tokens, turn.cached_tokens) == (total.input_tokens, total.cached_tokens)
    assert (turn.written_tokens, turn.output_tokens) == (total.written_tokens, total.output_tokens)
    assert usages[1].cached_tokens > 5_000
    assert turn.written_tokens == total.written_hour_tokens > 5_000
    assert turn.dollars == pytest.approx((total.input_tokens * 4 + total.output_tokens * 20) / 1e6, abs=4e-6)


# Ceilings


def test_above_the_ceiling_of_the_mind_nothing_is_asked_and_its_setting_is_named(
    database: Database, clock: FrozenClock
):
    desk = Desk(database, clock, dollars=0.05)
    inner = model("One.", "Two.")
    metered = desk.metered(inner)
    asyncio.run(metered.answer(request("Hello"), unheard))
    long = request("x" * 30_000)
    for asked in (metered.answer(long, unheard), metered.condense(long, ""), metered.warm(long)):
        with pytest.raises(OverBudget, match=r"raise mind\.dollars_per_day"):
            asyncio.run(asked)
    assert (len(inner.requests), inner.condensed, inner.warmed) == (1, [], [])


def test_a_ceiling_in_money_needs_a_price_and_says_where_to_give_it(database: Database, clock: FrozenClock):
    desk = Desk(database, clock, dollars=1)
    inner = model("Hello.", name="https://models.example/v1#m")
    with pytest.raises(UnknownPrice, match=r"mind\.dollars_per_day is 1\. Give mind\.price_per_million"):
        asyncio.run(desk.metered(inner).answer(request("Hello"), unheard))
    assert inner.requests == []
    asyncio.run(desk.metered(inner, [1, 2]).answer(request("Hello"), unheard))
    assert desk.budget.today().dollars > 0


def test_a_model_of_ones_own_costs_no_money_whatever_its_name(database: Database, clock: FrozenClock):
    desk = Desk(database, clock, dollars=0.000_001)
    asyncio.run(desk.metered(model("Hello.", name="unheard-of", is_paid=False)).answer(request("Hi"), unheard))
    assert (desk.budget.today().calls, desk.budget.today().dollars) == (1, 0)


def test_no_call_takes_more_than_was_reserved_for_it(desk: Desk):
    """As if all of it were written to the cache for an hour, and the answer as long as it may be."""
    reserved: list[tuple[int, float]] = []

    def worst(asked: Request) -> Step:
        reserved.append((desk.budget.today().tokens, desk.budget.today().dollars))
        size = estimated_request(asked)
        return answered(
            Usage(input_tokens=size, written_tokens=size, written_hour_tokens=size, output_tokens=1_000, calls=1)
        )

    metered = desk.metered(ScriptedTalk(worst, name=OPUS, is_paid=True))
    asyncio.run(metered.answer(request("Hello", "x" * 90_000), unheard))
    assert (desk.budget.today().tokens, desk.budget.today().dollars) == reserved[0]


# Sizes


def test_an_image_counts_as_an_image_wherever_it_stands_and_not_as_its_letters():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 3_000_000}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [image]}
    empty = estimated_request(request())
    for block in (image, result):
        asked = Request(system=("You are an agent.",), tools=(), turns=[Turn(role="user", content=(block,))])
        assert IMAGE_TOKENS <= estimated_request(asked) - empty < IMAGE_TOKENS + 50


@given(st.lists(st.text(max_size=200), max_size=6), st.text(max_size=300))
def test_a_request_that_goes_on_from_another_is_never_the_smaller_one(texts: list[str], more: str):
    described = Tool(name="search", description=more, schema={"type": "object", "properties": {"query": {}}})
    before, after = request(*texts), request(*texts, more)
    assert estimated_request(before) <= estimated_request(after)
    with_tool = Request(system=after.system, tools=(described,), turns=after.turns)
    assert estimated_request(after) < estimated_request(with_tool)


def test_a_summary_is_reserved_as_long_as_any(desk: Desk):
    reserved: list[int] = []

    def summary(asked: Request, instructions: str) -> str:
        reserved.append(desk.budget.today().tokens)
        return "We spoke."

    asked = request("Hello")
    asyncio.run(desk.metered(model(summaries=summary)).condense(asked, "x" * 300))
    assert reserved == [estimated_request(asked) + 100 + CONDENSED_TOKENS]
