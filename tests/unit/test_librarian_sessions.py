"""A model that is closed and opened anew every few prompts (L8)."""

import asyncio

from pydantic import BaseModel

from recollect.librarian.extraction.sessions import PROMPTS, Cycled
from recollect.llm import ChatModel
from recollect.testing import ScriptedModel


class Word(BaseModel):
    word: str = ""


def asked(times: int, prompts: int = PROMPTS) -> list[ScriptedModel]:
    """The models that were opened for so many prompts."""
    opened: list[ScriptedModel] = []

    def open_one() -> ChatModel:
        opened.append(ScriptedModel(lambda *_: {"word": "yes"}))
        return opened[-1]

    async def ask() -> None:
        model = Cycled(open_one, prompts)
        for number in range(times):
            await model.complete("", f"prompt {number}", Word)
        await model.close()
        await model.close()

    asyncio.run(ask())
    return opened


def test_a_session_serves_fifteen_prompts_and_then_the_next_begins() -> None:
    opened = asked(2 * PROMPTS + 1)
    assert [len(model.requests) for model in opened] == [PROMPTS, PROMPTS, 1]
    assert [model.closed for model in opened] == [1, 1, 1]


def test_no_prompt_is_lost_where_a_session_ends() -> None:
    opened = asked(5, prompts=2)
    assert [request.prompt for model in opened for request in model.requests] == [f"prompt {n}" for n in range(5)]
