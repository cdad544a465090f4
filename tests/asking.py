"""What the tests of models that talk ask with, whoever the provider is."""

from dataclasses import replace

from recollect.llm.talking import Block, Turn


class Waits(list[float]):
    """The pauses that were asked for; none is made."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def user(*blocks: Block | str) -> Turn:
    return Turn(role="user", content=tuple(text(one) if isinstance(one, str) else one for one in blocks))


def assistant(*blocks: Block | str) -> Turn:
    return replace(user(*blocks), role="assistant")
