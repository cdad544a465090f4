"""What becomes of one update: a message for the agent, a command, or a stranger who is neither heard nor answered.

Whoever calls this takes the next update only after this one is through. What raises `Unavailable` is called again with
the same one: nothing is lost, and nothing is overtaken.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date

from recollect.channels.kinds import Door
from recollect.channels.telegram.attachments import fetched
from recollect.channels.telegram.client import BotClient
from recollect.channels.telegram.errors import SlowDown, TokenRefused
from recollect.channels.telegram.sending import NAME, Sending
from recollect.channels.telegram.updates import Ignored, Incoming, understood
from recollect.errors import Denied, Invalid, RecollectError, Unavailable
from recollect.mind.channel import File, Image, MayHaveArrived, Paused, Said
from recollect.mind.places.places import Pairing, Tries, looks_like_code

GREETING = "You are connected. What you write here is said to {agent}, and the answers come here. /help lists commands."
WRONG_CODE = "That is not the code. Look at it once more; after a few wrong ones a new code is needed."
HELP = """\
/stop stops the answer that is being given
/cancel takes back what waits to be answered
/last shows the last answer again
Everything else is said to {agent}: words, pictures, files. What you edit before it is answered counts as it is then."""
LOCATION = "[Location:"
MOST_REMEMBERED = 500
"""Messages whose last wording is known, for edits."""
MOST_NOTED = 100
"""Strangers in a day that are noted in runs, so that nobody fills them."""
MOST_ATTEMPTS = 5
"""At a sentence of the channel's own; then it goes on without it."""
MOST_FETCHES = 30
FETCH_SECONDS = 600.0
"""At most so often, or for so long, the files of one message are fetched, while the same line brings updates: nobody
else is heard meanwhile."""


@dataclass(frozen=True, slots=True)
class _Heard:
    key: str
    text: str
    changes_answered: bool
    """It was said as a change of words that the agent knows."""


class Hearing:
    def __init__(self, door: Door, client: BotClient, sending: Sending) -> None:
        self._door = door
        self._client = client
        self._sending = sending
        self._tries = Tries()
        self._noted: set[str] = set()
        self._noted_on: date | None = None
        self._heard: dict[tuple[str, int], _Heard] = {}
        """By chat and number: how a message was heard last."""
        self._sentence: tuple[tuple[str, int] | None, str] = (None, "")
        """What is to be said in a chat because of an update, worked out once."""
        self._attempts = 0
        self._fetching: tuple[int | None, int, float] = (None, 0, 0.0)
        """The update whose files did not come, how often, and since when."""

    async def take(self, update: dict[str, object]) -> None:
        meant = understood(update)
        if isinstance(meant, Ignored):
            return self._note("ignored", {"channel": NAME, "kind": meant.kind})
        if self._sentence[0] == (meant.chat_id, meant.update_id):  # All is done but to say so.
            return await self._say(meant)
        place = await asyncio.to_thread(self._door.places.find, NAME, meant.chat_id)
        if place is None:
            return await self._take_stranger(meant)
        if place.state == "blocked":
            await asyncio.to_thread(self._door.places.unblock, NAME, meant.chat_id)
        command = self._command(meant)
        if command:
            return await self._answer(meant, command)
        if await asyncio.to_thread(self._door.places.is_code, NAME, meant.text):  # Meant for another chat.
            return await self._answer(meant, self._greet)
        return await self._hear(meant)

    # Strangers

    async def _take_stranger(self, meant: Incoming) -> None:
        code = self._code(meant)
        if code:
            if not self._tries.may(meant.chat_id, self._door.clock()):
                return self._note("stranger", {"channel": NAME, "address": meant.chat_id})
            found = await asyncio.to_thread(self._door.places.pair, NAME, meant.chat_id, meant.name, code)
            if found is Pairing.PAIRED:
                self._door.record("channel", "paired", 0.0, {"channel": NAME, "address": meant.chat_id})
                return await self._answer(meant, self._greet)
            if found is Pairing.WRONG:
                self._note("stranger", {"channel": NAME, "address": meant.chat_id})
                return await self._answer(meant, _saying(WRONG_CODE))
        return self._note("stranger", {"channel": NAME, "address": meant.chat_id})

    def _code(self, meant: Incoming) -> str:
        if meant.is_edit:
            return ""
        if meant.command:
            name, rest = meant.command
            return rest if name == "start" and looks_like_code(rest) else ""
        return meant.text if looks_like_code(meant.text) else ""

    def _note(self, outcome: str, detail: dict[str, object]) -> None:
        """Once a day for each. Its words stay out."""
        today = self._door.clock().date()
        if today != self._noted_on:
            self._noted_on, self._noted = today, set()
        what = f"{outcome} {detail}"
        if what not in self._noted and len(self._noted) < MOST_NOTED:
            self._noted.add(what)
            self._door.record("channel", outcome, 0.0, detail)

    # Commands

    def _command(self, meant: Incoming) -> Callable[[Incoming], Awaitable[str]] | None:
        if meant.is_edit or not meant.command:
            return None
        commands = {
            "start": self._greet,
            "help": _saying(HELP.format(agent=self._door.settings.agent_name)),
            "stop": self._stop,
            "cancel": self._take_back,
            "last": self._show_last,
        }
        return commands.get(meant.command[0])

    async def _greet(self, meant: Incoming) -> str:
        return GREETING.format(agent=self._door.settings.agent_name)

    async def _stop(self, meant: Incoming) -> str:
        """What was said until then comes as the answer; that is enough of one."""
        return "" if await self._door.interrupt() else "No answer is being given."

    async def _take_back(self, meant: Incoming) -> str:
        number = await self._door.withdraw(NAME, meant.chat_id)
        if not number:
            return "Nothing waits."
        return "Took back 1 message." if number == 1 else f"Took back {number} messages."

    async def _show_last(self, meant: Incoming) -> str:
        spoken = await asyncio.to_thread(self._door.latest, 20)
        answers = [one.text for one in spoken if one.author == "assistant"]
        return answers[-1] if answers else "There is no answer yet."

    async def _answer(self, meant: Incoming, work_out: Callable[[Incoming], Awaitable[str]]) -> None:
        """With a sentence that is worked out once, however often it is tried to send it."""
        self._attempts, words = 0, await work_out(meant)
        self._sentence = ((meant.chat_id, meant.update_id), words)
        await self._say(meant)

    async def _say(self, meant: Incoming) -> None:
        _, words = self._sentence
        if not words:
            return
        self._attempts += 1
        try:
            await self._sending.say(meant.chat_id, words, meant.update_id)
        except (MayHaveArrived, Denied):
            return
        except Unavailable:
            if self._attempts < MOST_ATTEMPTS:
                raise

    # What is said to the agent

    async def _hear(self, meant: Incoming) -> None:
        if meant.is_edit and await self._is_nothing_new(meant):
            return None
        images, files, words = await self._fetched(meant)
        text = "\n\n".join(filter(None, (meant.text, words)))
        if meant.replied_to:
            text = f"[In reply to: “{meant.replied_to}”]\n{text}"
        if changes := meant.is_edit and await self._changes_answered(meant):
            text = f"[Edited] {text}"
        said = Said(
            text=text,
            channel=NAME,
            address=meant.chat_id,
            images=tuple(images),
            files=tuple(files),
            key=self._key(meant),
            at=meant.at,
        )
        try:
            await self._door.hear(said)
        except (Invalid, Paused) as error:
            return await self._answer(meant, _saying(str(error)))
        return self._remember(meant, changes=changes)

    def _key(self, meant: Incoming) -> str:
        """Each bot counts the messages of a chat for itself: what the next one brings is new. Two edits may be of one
        second."""
        key = f"{self._client.bot_id}:{meant.key}"
        return f"{key}:{meant.update_id}" if meant.is_edit else key

    def _first_key(self, meant: Incoming) -> str:
        """Of the message before any edit."""
        return f"{self._client.bot_id}:{meant.chat_id}:{meant.message_id}"

    async def _fetched(self, meant: Incoming) -> tuple[tuple[Image, ...], tuple[File, ...], str]:
        """With the message. When only its files fail to come, again and again, it is said without them: else nobody
        would be heard any more."""
        number, failures, since = self._fetching
        if number != meant.update_id:
            failures, since = 0, time.monotonic()
        try:
            return await fetched(self._client, meant.attachments)
        except (SlowDown, TokenRefused):
            raise
        except RecollectError:
            self._fetching = (meant.update_id, failures + 1, since)
            if failures + 1 < MOST_FETCHES and time.monotonic() - since < FETCH_SECONDS:
                raise
        names = ", ".join(one.name for one in meant.attachments)
        return (), (), f"[File {names}: Telegram did not give it; it was not kept.]"

    async def _is_nothing_new(self, meant: Incoming) -> bool:
        """Telegram calls it an edit, too, when it finds the preview of a link, or when a place that is shared moves."""
        if meant.text.startswith(LOCATION):
            return True
        known = self._heard.get((meant.chat_id, meant.message_id))
        if known:
            return known.text == meant.text
        # Heard before this program began. Before its words may stand what it replied to.
        words = await asyncio.to_thread(self._door.heard, NAME, self._first_key(meant))
        return bool(meant.text) and words.rpartition("”]\n")[2] == meant.text

    async def _changes_answered(self, meant: Incoming) -> bool:
        """Whether the agent knows words of this message that hold no longer. What still waits is taken back for what
        it is now: of an edit that waited, the agent may know what was before that."""
        last = self._heard.get((meant.chat_id, meant.message_id))
        if last and last.key != self._key(meant) and await self._door.withdraw_key(NAME, last.key):
            return last.changes_answered
        return not await self._door.withdraw_key(NAME, self._first_key(meant))

    def _remember(self, meant: Incoming, *, changes: bool) -> None:
        self._heard.pop((meant.chat_id, meant.message_id), None)
        self._heard[meant.chat_id, meant.message_id] = _Heard(self._key(meant), meant.text, changes)
        while len(self._heard) > MOST_REMEMBERED:
            del self._heard[next(iter(self._heard))]


def _saying(words: str) -> Callable[[Incoming], Awaitable[str]]:
    async def say(meant: Incoming) -> str:
        return words

    return say
