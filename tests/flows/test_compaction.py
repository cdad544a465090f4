"""One contract for every compaction (M2): by the provider on demand, by its threshold, and in words of our own, over
Anthropic's API, over OpenAI's, and with a scripted model."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from recollect.errors import Denied
from recollect.llm.anthropic_talk import AnthropicTalk
from recollect.llm.openai_talk import OpenAITalk
from recollect.llm.talking import (
    Abilities,
    Answer,
    Condensing,
    Piece,
    Request,
    Stop,
    SummaryRefused,
    TalkModel,
    Tool,
    Turn,
)
from recollect.mind.compaction import Compacted, Compaction, standing_for
from recollect.mind.compaction.choosing import choose
from recollect.mind.compaction.instructing import instructions_from
from recollect.mind.compaction.trimming import without_thinking
from recollect.mind.compaction.weighing import tokens_of_request
from recollect.testing import AnthropicServer, OpenAIServer
from recollect.testing.anthropic_answers import Answer as ServerAnswer
from recollect.testing.anthropic_answers import fail, say, think
from recollect.testing.openai_answers import Fault
from recollect.testing.scripted_talk import ScriptedTalk

T = TypeVar("T")

SYSTEM = ("You are Mara's assistant.", "Your notes: the kitchen, the boat.")
SEARCH = Tool(
    name="search_memory",
    description="Finds what was said.",
    schema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
PAGE = "Hold on to the hedgehog."
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
STORY = (
    "We spoke about the kitchen, chose the dark tiles after a long back and forth, and I promised to remind her of the "
    "plumber on Friday. There was a picture of a hedgehog, and much laughter about it."
)
LATER = (
    "The kitchen is done, as told before: dark tiles, a plumber on Friday. Since then the boat got its name, and we "
    "quarrelled a little about the weather and made up the same evening."
)


@dataclass(kw_only=True)
class Setting:
    model: TalkModel
    tell: Callable[..., object]
    """The summaries that the model makes next. An empty one fails."""
    deny: Callable[[], object]
    sent: Callable[[], str]
    """The last request as it went out, as one text."""
    words: int
    """How often a message repeats itself: the threshold wants a long conversation."""


@contextmanager
def anthropic(name: str, words: int) -> Generator[Setting]:
    with AnthropicServer() as server:

        def tell(*texts: str) -> None:
            server.script(*(say(text) if text else ServerAnswer() for text in texts))

        yield Setting(
            model=AnthropicTalk(name, "any", base_url=server.url),
            tell=tell,
            deny=lambda: server.script(fail(401)),
            sent=lambda: json.dumps(server.asked[-1], ensure_ascii=False),
            words=words,
        )


@contextmanager
def openai() -> Generator[Setting]:
    with OpenAIServer() as server:
        yield Setting(
            model=OpenAITalk(server.base_url, "test-model"),
            tell=server.script,
            deny=lambda: server.script(Fault(status=401)),
            sent=lambda: json.dumps(server.requests[-1].body, ensure_ascii=False),
            words=20,
        )


@contextmanager
def scripted(condensing: Condensing) -> Generator[Setting]:
    told: list[Any] = []
    asked: list[str] = []

    def tell(request: Request, instructions: str = "") -> Any:
        asked.append(json.dumps([[turn.content for turn in request.turns], instructions], ensure_ascii=False))
        return told.pop(0) if told else "OK."

    yield Setting(
        model=ScriptedTalk(tell, summaries=tell, abilities=Abilities(condensing=condensing)),
        tell=lambda *texts: told.extend(texts),
        deny=lambda: told.append(Denied("no")),
        sent=lambda: asked[-1],
        words=20,
    )


SETTINGS: dict[str, Callable[[], Any]] = {
    "on-demand": lambda: anthropic("claude-haiku-5-5", 20),
    "threshold": lambda: anthropic("claude-haiku-4-5", 6_000),
    "own over Anthropic": lambda: anthropic("claude-haiku-4-5", 20),
    "own over OpenAI": openai,
    "scripted on-demand": lambda: scripted(Condensing.ON_DEMAND),
    "scripted own": lambda: scripted(Condensing.NONE),
}


def spoke(role: str, *blocks: Any) -> Turn:
    told = tuple({"type": "text", "text": block} if isinstance(block, str) else block for block in blocks)
    return Turn(role=role, content=told)


def talk(first: int, words: int) -> list[Turn]:
    """With an image, and with calls of a tool in the middle of an answer."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    call = {"type": "tool_use", "id": f"toolu_{first}", "name": "search_memory", "input": {"query": "tiles 🦔"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{first}", "content": "dark ones " * words}
    return [
        spoke("user", f"{first}: Look at this hedgehog.", image),
        spoke("assistant", "A fine one. Let me see about the tiles.", call),
        spoke("user", result),
        spoke("assistant", "You liked the dark ones. " + "They are dark. " * words),
        spoke("user", "مرحبا, and remind me of the plumber. " + "Please do. " * words),
        spoke("assistant", "On Friday. " + "I will. " * words),
    ]


def asking(turns: Sequence[Turn]) -> Request:
    return Request(system=SYSTEM, tools=(SEARCH,), turns=turns)


def unheard(_: Piece) -> None:
    pass


def after(name: str, told: Callable[[Setting, Compaction], Awaitable[T]]) -> T:
    """What comes of a conversation with this kind of compaction, chosen as the mind does."""

    async def whole(setting: Setting) -> T:
        abilities = await setting.model.abilities()
        tokens = tokens_of_request(asking(talk(1, setting.words)))
        compaction = choose(setting.model, abilities, tokens)
        assert compaction.kind == name.removeprefix("scripted ").partition(" ")[0]
        try:
            return await told(setting, compaction)
        finally:
            await setting.model.close()

    with SETTINGS[name]() as setting:
        return asyncio.run(whole(setting))


def standing(found: Compacted, model_takes: str) -> Turn:
    return standing_for(found.kind, found.summary, found.block, accepts=model_takes)


async def takes(model: TalkModel) -> str:
    return (await model.abilities()).condensing.value


@pytest.fixture(params=SETTINGS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_summary_stands_for_what_was_said_and_the_rest_follows_word_for_word(name: str) -> None:
    async def told(setting: Setting, compaction: Compaction) -> None:
        older, recent = talk(1, setting.words), talk(2, 3)
        if name != "threshold":
            setting.tell(STORY)
        found = await compaction.compact(asking(older), instructions_from(PAGE))
        assert found
        assert "hedgehog" in setting.sent()
        assert PAGE in setting.sent()
        assert found.summary.strip()
        assert name == "threshold" or found.summary == STORY
        assert found.usage.calls == 1
        assert found.usage.input_tokens > 500
        assert found.usage.output_tokens > 5
        turns = [standing(found, await takes(setting.model)), *recent, spoke("user", "And now?")]
        answer = await setting.model.answer(asking(turns), unheard)
        assert answer.stop is Stop.END
        assert json.dumps(found.summary, ensure_ascii=False)[1:-1] in setting.sent()
        for text in (
            "2: Look at this hedgehog.",
            "مرحبا, and remind me of the plumber.",
            "dark ones dark ones",
            "And now?",
        ):
            assert text in setting.sent()
        assert "1: Look" not in setting.sent().replace(found.summary, "").replace(json.dumps(found.summary)[1:-1], "")

    after(name, told)


def test_a_second_summary_folds_in_the_first(name: str) -> None:
    async def told(setting: Setting, compaction: Compaction) -> None:
        if name != "threshold":
            setting.tell(STORY, LATER)
        first = await compaction.compact(asking(talk(1, setting.words)), instructions_from(PAGE))
        assert first
        turns = [standing(first, await takes(setting.model)), *talk(2, setting.words)]
        second = await compaction.compact(asking(turns), instructions_from(PAGE))
        assert second
        assert json.dumps(first.summary, ensure_ascii=False)[1:-1] in setting.sent()
        assert second.summary.strip()
        assert name == "threshold" or second.summary == LATER
        later = [standing(second, await takes(setting.model)), spoke("user", "And now?")]
        assert (await setting.model.answer(asking(later), unheard)).stop is Stop.END

    after(name, told)


def test_one_that_fails_gives_nothing_and_the_conversation_goes_on(name: str) -> None:
    async def told(setting: Setting, compaction: Compaction) -> None:
        turns = talk(1, 20)  # For a threshold this is too short.
        if name != "threshold":
            setting.tell(*[""] * (2 if compaction.kind == "own" else 1))
        before = json.dumps([turn.content for turn in turns])
        assert await compaction.compact(asking(turns), instructions_from(PAGE)) is None
        assert json.dumps([turn.content for turn in turns]) == before
        answer = await setting.model.answer(asking([*turns, spoke("user", "And now?")]), unheard)
        assert answer.stop is Stop.END

    after(name, told)


def test_what_the_provider_refuses_is_raised(name: str) -> None:
    async def told(setting: Setting, compaction: Compaction) -> None:
        setting.deny()
        with pytest.raises(Denied):
            await compaction.compact(asking(talk(1, setting.words)), instructions_from(PAGE))

    after(name, told)


def test_a_turn_that_was_interrupted_at_a_tool_can_be_condensed(name: str) -> None:
    async def told(setting: Setting, compaction: Compaction) -> None:
        if name != "threshold":
            setting.tell(STORY)
        turns = [*talk(1, setting.words), *talk(2, 3)[:2]]
        assert await compaction.compact(asking(turns), instructions_from(PAGE))

    after(name, told)


def test_the_summary_of_one_kind_is_told_in_words_to_a_model_of_another(name: str) -> None:
    async def told(setting: Setting, compaction: Compaction) -> Compacted | None:
        if name != "threshold":
            setting.tell(STORY)
        return await compaction.compact(asking(talk(1, setting.words)), instructions_from(PAGE))

    found = after(name, told)
    assert found

    async def elsewhere(setting: Setting, _: Compaction) -> Answer:
        turns = [standing(found, await takes(setting.model)), spoke("user", "And now?")]
        try:
            answer = await setting.model.answer(asking(turns), unheard)
        except SummaryRefused:  # Of the same kind, and made by somebody else.
            answer = await setting.model.answer(asking([standing(found, ""), *turns[1:]]), unheard)
        assert json.dumps(found.summary, ensure_ascii=False)[1:-1] in setting.sent()
        return answer

    others = [other for other in ("on-demand", "own over OpenAI") if other != name]
    assert {after(other, elsewhere).stop for other in others} == {Stop.END}


# --- thinking, which is bound to what stood before it


async def thought(model: TalkModel, server: AnthropicServer, turns: list[Turn], text: str) -> list[Turn]:
    """The turns, and an answer that was thought about."""
    server.script(think("They ask about the boat.") + say(text))
    answer = await model.answer(asking(turns), unheard)
    assert [block["type"] for block in answer.blocks] == ["thinking", "text"]
    return [*turns, Turn(role="assistant", content=answer.blocks)]


@pytest.mark.parametrize("failed", [(), ("on-demand",)], ids=["on-demand", "own"])
def test_thinking_behind_a_summary_stays_only_where_the_provider_made_it(failed: tuple[str, ...]) -> None:
    async def told(model: TalkModel, server: AnthropicServer) -> None:
        older = await thought(model, server, [*talk(1, 20), spoke("user", "The boat?")], "It floats.")
        whole = await thought(model, server, [*older, spoke("user", "Sure?")], "Yes.")
        server.script(say(STORY))
        compaction = choose(model, await model.abilities(), 1_000, failed=failed)
        found = await compaction.compact(asking(older), instructions_from(PAGE))
        assert found
        kept = whole[len(older) :]
        kept = without_thinking(kept) if failed else kept
        turns = [standing(found, "on-demand"), *kept, spoke("user", "And now?")]
        assert (await model.answer(asking(turns), unheard)).stop is Stop.END
        await model.close()

    with AnthropicServer() as server:
        asyncio.run(told(AnthropicTalk("claude-haiku-5-5", "any", base_url=server.url), server))


def test_the_providers_cache_is_read_by_our_own_compaction() -> None:
    async def told(setting: Setting, _: Compaction) -> None:
        turns = talk(1, 2_000)
        await setting.model.answer(asking(turns[:-1]), unheard)
        setting.tell(STORY)
        found = await choose(setting.model, Abilities(), 0).compact(asking(turns), instructions_from(PAGE))
        assert found
        assert found.usage.cached_tokens > found.usage.input_tokens * 0.5

    after("threshold", told)
