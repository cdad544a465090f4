"""One sitting at a terminal: from the first prompt until somebody leaves.

What is typed goes to the mind, or is a command of the terminal. Both go on while an answer comes.
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from recollect.channels.cleaning import cleaned, on_one_line
from recollect.channels.images import image_in
from recollect.channels.page import SAID, Page
from recollect.channels.prompt import Prompt
from recollect.channels.terminal import NAME, Terminal
from recollect.channels.typed import HELP, ToDo, ToSay, path_and_words, understood
from recollect.clock import local
from recollect.errors import RecollectError
from recollect.mind.channel import Image, Said

if TYPE_CHECKING:
    from recollect.mind.mind import Mind, Spoken

SHOWN_BEFORE = 6
"""Messages of before that are shown at the start."""
TYPED_BEFORE = 200
"""Messages of before that are looked through for what the arrow keys bring back."""
MOST_LINES, MOST_CHARACTERS = 8, 600
"""Of a message of before: it is a reminder, `recollect show` has all of it."""
HOW_TO_BEGIN = "Nothing was said yet. Enter sends what you type; /help tells the rest."
ANSWERED_ELSEWHERE = "Another window answers this, and Ctrl-C stops it there."
HOW_TO_LEAVE = "Ctrl-C again or Ctrl-D leaves; /help tells more."


class Sitting:
    def __init__(self, mind: "Mind", page: Page, costs: Callable[[], str]) -> None:
        """`costs` tells in one line what today cost; it is called in a thread."""
        self._mind = mind
        self._page = page
        self._costs = costs
        self._before = self._mind.latest(TYPED_BEFORE)
        typed = [one.text for one in self._before if one.author == "user"]
        self._prompt = Prompt(page, typed, self._stop)
        self._terminal = Terminal(page, self._prompt.draw)
        self._may_leave = False
        """Ctrl-C was pressed just now, at an empty line."""
        self._is_leaving_now = False
        self._leaving: asyncio.Task[None] | None = None
        """While what was said is still answered."""
        self._tasks: set[asyncio.Task[object]] = set()

    async def run(self) -> None:
        """Until the person leaves. Raises what ended the mind, if it was not the person."""
        from prompt_toolkit.patch_stdout import patch_stdout

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._stop)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave_now)
        show_before(self._page, self._before[-SHOWN_BEFORE:])
        if not self._before:
            self._page.note(HOW_TO_BEGIN)
        self._mind.attach(self._terminal)
        running = asyncio.create_task(self._mind.run())
        typing = asyncio.create_task(self._read())
        try:
            # What libraries warn of goes above the line, not through it.
            with self._prompt.held(), patch_stdout(raw=True):
                await asyncio.wait({running, typing}, return_when=asyncio.FIRST_COMPLETED)
                self._prompt.leave()
                await typing
            if not running.done():
                await self._wait_for_answers(running)
        finally:
            self._prompt.close()
            await self._mind.close()
            (ended,) = await asyncio.gather(running, return_exceptions=True)
            self._prompt.draw()
        if isinstance(ended, Exception):
            raise ended

    # Reading

    async def _read(self) -> None:
        self._prompt.draw()
        while True:
            try:
                typed = await self._prompt.read()
            except EOFError:
                return
            self._may_leave = False
            if await self._is_last(typed):
                return
            self._prompt.draw()

    async def _is_last(self, typed: str) -> bool:
        meant = understood(typed)
        try:
            if isinstance(meant, ToSay):
                await self._say(meant.text)
            elif meant:
                return await self._obey(meant)
        except RecollectError as error:
            self._page.problem(str(error))
        return False

    async def _say(self, text: str, images: Sequence[Image] = ()) -> None:
        waits = "waits" if self._terminal.is_answering else ""
        pictures = f"{len(images)} picture" if images else ""
        self._page.said(text, ", ".join(filter(None, (pictures, waits))))
        self._prompt.draw()
        self._terminal.has_asked()
        try:
            await self._mind.hear(Said(text=text, channel=NAME, address=self._terminal.address, images=tuple(images)))
        except RecollectError:
            self._terminal.has_withdrawn(1)
            raise

    async def _obey(self, order: ToDo) -> bool:
        match order.command:
            case "quit" | "exit":
                return True
            case "help" | "?" | "":
                self._page.quietly(HELP)
            case "cancel":
                if not await self._take_back():
                    self._page.note("Nothing waits.")
            case "costs":
                self._page.note(on_one_line(await asyncio.to_thread(self._costs)))
            case "image" if order.rest:
                path, words = path_and_words(order.rest)
                await self._say(words, [await asyncio.to_thread(image_in, path)])
            case "image":
                self._page.note("Which one? /image PATH [words]")
            case _:
                named = on_one_line(order.command, 40)
                self._page.note(
                    f"There is no command /{named}; nothing was sent. /help lists them, //{named} sends it."
                )
        return False

    async def _take_back(self) -> int:
        number = await self._mind.withdraw(NAME, self._terminal.address)
        self._terminal.has_withdrawn(number)
        if number:
            self._page.note(f"Took back {_messages(number)}.")
        return number

    # Stopping and leaving

    def _stop(self) -> None:
        """Ctrl-C: stops the answer; where none comes, clears the line; where that is empty, leaves the second time."""
        if self._leaving:
            self._leave_now()
        elif self._terminal.unanswered:
            self._start(self._interrupt())
        else:
            self._stop_typing()

    async def _interrupt(self) -> None:
        """What still waits is taken back: the answer that comes meanwhile is another window's. Neither is there when
        the answer is complete, or another program gives it."""
        if self._terminal.is_answering:
            if not await self._mind.interrupt():
                self._stop_typing()
        elif not await self._take_back():
            self._page.note(ANSWERED_ELSEWHERE)
            self._stop_typing()
        self._prompt.draw()

    def _stop_typing(self) -> None:
        if not self._prompt.is_empty:
            self._prompt.clear()
        elif self._may_leave:
            self._prompt.leave()
        else:
            self._may_leave = True
            self._page.note(HOW_TO_LEAVE)
            self._prompt.draw()

    def _leave_now(self) -> None:
        self._is_leaving_now = True
        self._prompt.leave()
        if self._leaving:
            self._leaving.cancel()

    async def _wait_for_answers(self, running: "asyncio.Task[None]") -> None:
        """What was said is answered before we go; Ctrl-C goes without. What is not answered then waits in history."""
        if not self._terminal.unanswered or self._is_leaving_now:
            return
        self._leaving = asyncio.create_task(self._terminal.all_answered())
        self._page.note("Leaving when this is answered; Ctrl-C leaves now.")
        self._prompt.close()
        self._prompt.draw()
        await asyncio.wait({running, self._leaving}, return_when=asyncio.FIRST_COMPLETED)
        if self._leaving.cancelled() and await self._mind.interrupt():
            await self._terminal.turn_over()
        self._leaving.cancel()
        if self._terminal.unanswered:
            self._page.note(f"{_messages(self._terminal.unanswered)} not answered yet: that comes with the next chat.")

    def _start(self, work: "Coroutine[object, object, object]") -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _messages(number: int) -> str:
    return "1 message" if number == 1 else f"{number} messages"


def show_before(page: Page, spoken: "Sequence[Spoken]") -> None:
    """The last that was said, so that one knows where one was."""
    for one in spoken:
        mark = SAID if one.author == "user" else "  "
        first, *more = _reminder(one.text)
        page.quietly("\n".join([f"{local(one.at):%d %b %H:%M} {mark}{first}", *(f"{'':15}{line}" for line in more)]))
    if spoken:
        page.quietly("")


def _reminder(text: str) -> list[str]:
    short = cleaned(text).strip()
    lines = short[:MOST_CHARACTERS].split("\n")
    shown = lines[:MOST_LINES]
    if len(short) > MOST_CHARACTERS or len(lines) > MOST_LINES:
        shown[-1] += " …"
    return shown
