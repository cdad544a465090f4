"""The terminal as a channel: the words of an answer as they come, and who still waits for one.

An address is one window: the computer and the process that shows it. What was meant for a window that is closed is
shown in the next one; what is meant for another that is open stays for that one.
"""

import asyncio
import os
import socket
from collections.abc import Callable

from recollect.channels.page import Page
from recollect.errors import Unavailable
from recollect.mind.channel import Again, Began, KeptMark, Reply, Shown, Thinking, ToolResult, ToolUse, Words

NAME = "terminal"


def own_address() -> str:
    return f"{socket.gethostname()}/{os.getpid()}"


def is_open_elsewhere(address: str) -> bool:
    """Whether another window shows what goes there. One of another computer counts as open: nobody here can know."""
    computer, _, process = address.rpartition("/")
    if not computer or not process.isdecimal():
        return False
    if computer != socket.gethostname():
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return int(process) != os.getpid()


class Terminal:
    def __init__(self, page: Page, draw: Callable[[], None], address: str = "") -> None:
        """`draw` brings the page before the person's eyes, and must not wait."""
        self.address = address or own_address()
        self.unanswered = 0
        """Messages of this window."""
        self._page = page
        self._draw = draw
        self._taken = 0
        self._answered, self._over = asyncio.Event(), asyncio.Event()
        self._answered.set()
        self._over.set()

    @property
    def name(self) -> str:
        return NAME

    @property
    def is_answering(self) -> bool:
        return self._taken > 0

    def has_asked(self) -> None:
        self.unanswered += 1
        self._answered.clear()
        if not self.is_answering:
            self._page.waiting()

    def has_withdrawn(self, messages: int) -> None:
        self._settle(messages)

    async def all_answered(self) -> None:
        await self._answered.wait()

    async def turn_over(self) -> None:
        await self._over.wait()

    def takes(self, address: str) -> bool:
        return not is_open_elsewhere(address)

    def show(self, address: str, shown: Shown) -> None:
        if address != self.address:
            return
        match shown:
            case Began():
                self._taken = max(1, min(shown.messages, self.unanswered))
                self._over.clear()
                self._page.waiting()
            case Words():
                self._page.words(shown.text)
            case Again():
                self._page.again()
            case KeptMark():
                self._page.kept()
            case Thinking():
                self._page.thinking()
            case ToolUse():
                self._page.asked(shown)
            case ToolResult():
                self._page.answered(shown)
        try:
            self._draw()
        except OSError:  # The terminal is gone. The turn goes on, and its answer waits for another window.
            return

    async def deliver(self, address: str, reply: Reply) -> None:
        is_own = address == self.address
        if not is_own:
            self._page.note("This answers what you said before:")
        was_shown = is_own and reply.was_shown
        if reply.state == "failed":
            self._page.problem(reply.text.rpartition("\n\n")[2] if was_shown else reply.text)
        elif not was_shown:
            self._page.words(reply.text)
        self._page.end(_remark(reply))
        if is_own:
            self._settle(self._taken)
            self._taken = 0
            self._over.set()
        try:
            self._draw()
        except OSError as error:
            raise Unavailable("The terminal is gone. The answer is kept: recollect chat shows it.") from error

    def _settle(self, messages: int) -> None:
        self.unanswered = max(0, self.unanswered - messages)
        if self.unanswered:
            self._page.waiting()
        else:
            self._page.waits_no_more()
            self._answered.set()


def _remark(reply: Reply) -> str:
    if reply.state == "stopped":
        return "stopped"
    return "What you said is kept, and is answered with what you say next." if reply.is_kept else reply.remark
