"""The line that is typed, below a page that grows.

prompt_toolkit draws one small area at the end of the output: the unfinished rest of the answer, what the agent does at
this moment, and the line itself. Finished lines are written above it and belong to the terminal from then on.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from recollect.channels.page import SAID, Page

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.output import Output

ROWS_KEPT = 6
"""Of the screen, for the line and what stands around it."""
LEAST_ROWS = 2
MOST_CHARACTERS = 20_000
"""Of an unfinished paragraph, looked at for each drawing."""
REDRAW_SECONDS = 0.03
"""Words come faster than anybody reads them."""


class Prompt:
    def __init__(self, page: Page, before: Sequence[str], on_stop: Callable[[], None]) -> None:
        """`before`: what was said earlier, the oldest first; the arrow keys go through it. `on_stop`: Ctrl-C was
        pressed."""
        self._page = page
        self._on_stop = on_stop
        self._is_closed = False
        self._output = _output()
        self._session = self._opened(before)

    def _opened(self, before: Sequence[str]) -> "PromptSession[str]":
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory

        session: PromptSession[str] = PromptSession(
            self._message,
            multiline=True,
            prompt_continuation=" " * len(SAID),
            key_bindings=self._keys(),
            history=InMemoryHistory(list(before)),
            erase_when_done=True,
            reserve_space_for_menu=0,
            enable_suspend=True,
            output=self._output,
        )
        session.app.min_redraw_interval = REDRAW_SECONDS
        return session

    def held(self) -> AbstractContextManager[None]:
        """Between two lines too, the terminal does not write by itself what is typed."""
        return self._session.input.raw_mode()

    async def read(self) -> str:
        """What was typed until Enter. `EOFError`: Ctrl-D, or `leave`."""
        return await self._session.prompt_async(handle_sigint=False)

    def draw(self) -> None:
        app = self._session.app
        text = self._page.take_all() if self._is_closed else self._page.take_finished()
        if text:
            if app.is_running:
                app.renderer.erase()
            self._output.write_raw(text)
            self._output.flush()
        app.invalidate()

    @property
    def is_empty(self) -> bool:
        return not self._session.default_buffer.text

    def clear(self) -> None:
        self._session.default_buffer.reset()
        self._session.app.invalidate()

    def leave(self) -> None:
        """As if Ctrl-D was pressed."""
        app = self._session.app
        if app.is_running and not app.is_done:
            app.exit(exception=EOFError())

    def close(self) -> None:
        """Nothing is typed any more: from now on words are written as they come."""
        self._is_closed = True

    def _message(self) -> "StyleAndTextTuples":
        size = self._output.get_size()
        rows = max(LEAST_ROWS, size.rows - ROWS_KEPT)
        shown = in_rows(self._page.rest(MOST_CHARACTERS), size.columns)[-rows:]
        parts: StyleAndTextTuples = [("", f"{row}\n") for row in shown]
        parts += [("dim", f"{line}\n") for line in self._page.doing[-rows:]]
        return [*parts, ("bold", SAID)]

    def _keys(self) -> "KeyBindings":
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()

        def send(event: "KeyPressEvent") -> None:
            event.current_buffer.validate_and_handle()

        def new_line(event: "KeyPressEvent") -> None:
            event.current_buffer.insert_text("\n")

        def stop(event: "KeyPressEvent") -> None:
            self._on_stop()

        keys.add("enter")(send)
        keys.add("escape", "enter")(new_line)
        keys.add("c-c")(stop)
        return keys


def in_rows(text: str, columns: int) -> list[str]:
    """As a terminal breaks it: where the row is full."""
    from prompt_toolkit.utils import get_cwidth

    rows: list[str] = []
    row: list[str] = []
    taken = 0
    for character in text:
        width = get_cwidth(character)
        if taken + width > columns:
            rows.append("".join(row))
            row, taken = [], 0
        row.append(character)
        taken += width
    return [*rows, "".join(row)] if row else rows


def _output() -> "Output":
    """Where the cursor is, we do not ask: terminals that do not answer would cost a second each time."""
    from prompt_toolkit.output import create_output
    from prompt_toolkit.output.vt100 import Vt100_Output

    output = create_output(sys.stdout)
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
