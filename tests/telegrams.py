"""`recollect up` with a bot of Telegram, on a computer of its own: a service in bad weather and a model that says which
messages it was shown."""

import itertools
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from commands import started
from computers import Computer

import recollect
from recollect.channels.telegram.sending import NAME, SENT_AGAIN
from recollect.testing.loopback import Request, Response
from recollect.testing.openai_answers import Answer
from recollect.testing.openai_server import OpenAIServer
from recollect.testing.telegram_server import TelegramServer

TOKEN_VARIABLE = "BOT_OF_THE_TESTS"
CONDENSING = "[From the program that keeps this conversation"
NUMBERED = re.compile(r"^message (\d+)$", re.MULTILINE)
ANSWER = re.compile(r"^Answer \d+ to:((?: \d+)+)$")

Step = Callable[[str], None]


def _nothing(step: str) -> None:
    pass


class Service(TelegramServer):
    """Writes down what it gave a bot for each message, and tells at which step of the talk it is."""

    def __init__(self) -> None:
        super().__init__(keeps_requests=0)
        self.on_step: Step = _nothing
        self.doubts: Counter[tuple[int, str]] = Counter()
        """By chat and words: how often the bot could not know whether they had arrived."""
        self.answered: set[int] = set()
        """The numbers that some answer named."""
        self.faults: Counter[str] = Counter()
        self._counting = threading.Lock()

    def answer(self, request: Request) -> Response:
        method = request.path.rpartition("/")[2]
        self.on_step(f"{method} asked")
        response = super().answer(request)
        with self._counting:
            self._count(method, request, response)
        self.on_step(f"{method} done")
        return response

    def _count(self, method: str, request: Request, response: Response) -> None:
        is_cut = response.hang_up_after is not None
        if is_cut or response.status != 200:
            self.faults[f"{method} {'cut' if is_cut else response.status}"] += 1
        if method != "sendMessage":
            return
        words = without_mark(request.body["text"])
        if is_cut or response.status >= 500:
            self.doubts[int(request.body["chat_id"]), words] += 1
        elif response.status == 200:
            self.answered.update(numbers_in(words))


def without_mark(text: str) -> str:
    return text.removeprefix(SENT_AGAIN).lstrip()


def numbers_in(answer: str) -> list[int]:
    found = ANSWER.match(answer)
    return [int(one) for one in found[1].split()] if found else []


class Echo(OpenAIServer):
    """Answers with the numbers of the messages since its last answer. No two of its answers are the same."""

    def __init__(self, *, unheard: str = "") -> None:
        """`unheard`: what nobody may ever show it."""
        super().__init__(tells_usage=False)
        self._keeps_requests = 20  # Each of them has the whole conversation in it.
        self._unheard = unheard.encode()
        self._count = itertools.count(1)
        self.on_step: Step = _nothing
        self.is_shown_too_much = False
        self.condensings = 0

    def answer(self, request: Request) -> Response:
        self.is_shown_too_much |= bool(self._unheard) and self._unheard in request.raw
        self.on_step("model asked")
        return super().answer(request)

    def next_step(self) -> object:
        return super().next_step() or self._spoken

    def _spoken(self, request: Request) -> Answer:
        text = words_since_last_answer(request.body)
        if CONDENSING in text:
            self.condensings += 1
            return Answer(text="We counted messages, and all of them were answered. " * 12)
        numbers = NUMBERED.findall(text)
        return Answer(
            text=f"Answer {next(self._count)} to: {' '.join(numbers)}" if numbers else "Nothing was numbered."
        )


def words_since_last_answer(body: Mapping[str, Any]) -> str:
    found: list[str] = []
    for message in reversed(body["messages"]):
        if message["role"] == "assistant":
            break
        content = message["content"]
        found.append(content if isinstance(content, str) else "\n".join(one.get("text", "") for one in content))
    return "\n".join(reversed(found))


class Desk(Computer):
    """A computer with a bot, and who may write to it."""

    def __init__(self, folder: Path, service: TelegramServer, model: OpenAIServer, **settings: object) -> None:
        super().__init__(folder, librarian="none")
        self.variables = {TOKEN_VARIABLE: service.token}
        self.chosen: dict[str, object] = {
            "poll_interval_seconds": 1.0,
            "mind.model": f"{model.base_url}#test-model",
            "telegram.token_variable": TOKEN_VARIABLE,
            "telegram.api_url": service.url,
            **settings,
        }
        self.configure(**self.chosen)

    def allow(self, *chats: int) -> None:
        with recollect.open(self.home) as memory:
            for chat in chats:
                memory.places.allow(NAME, str(chat), f"chat {chat}")

    def started(self) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """A daemon that may not have begun with anything yet."""
        return started("up", home=self.home, variables=self.variables)

    def minding(self) -> dict[str, Any]:
        return self.status().get("minding", {})
