"""Running the user's own agent as a model: one process for each prompt, which leaves nothing behind.

It runs in an empty folder that is gone afterwards, in a process group of its own that is killed when time is up or when
nobody waits any more. The prompt goes in by its standard input and opens with a mark, so that a transcript of it would
not be taken for history (`history.privacy`), and the environment says that it is our call, for hooks of ours.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from recollect.errors import Unavailable
from recollect.llm.answers import NotAsAsked, read_answer
from recollect.llm.model import BadReply, Reply, T, Usage
from recollect.logs import quoted
from recollect.redaction import mask
from recollect.settings import this_computer

OWN_MARK = "<recollect-own-call/>"
"""The same as `history.privacy` looks for, which stands above this package; a test compares them."""
OWN_VARIABLE = "RECOLLECT_OWN_CALL"
NESTED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT")
"""Left behind by an agent that started us: its own call inside of it would take itself for a part of it."""
MOST_BYTES = 4_000_000
"""Of all that a program prints: an answer and what is told around it."""
MOST_CHARACTERS = 1_000_000
"""Of an answer."""
MOST_SHOWN_AGAIN = 20_000
MOST_WORDS = 300
"""Characters of a program's message that are shown."""
TIMEOUT_SECONDS = 600

REPAIR = """

You have answered this before, and your answer could not be used.

Your answer:
{answer}

What is wrong with it:
{complaint}

Answer again, with the whole object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a program left when it ended."""

    code: int
    out: str
    errors: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model answered through a program."""

    text: str
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A folder for one call, and an empty one in it to work in."""

    folder: Path
    work: Path

    def put(self, name: str, text: str) -> str:
        """A file beside the empty folder; its path."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@contextmanager
def desk() -> Generator[Desk]:
    with tempfile.TemporaryDirectory(prefix="recollect-call-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        yield Desk(folder=folder, work=work)


class Command:
    """What the person's own programs have in common as models."""

    kind: ClassVar[str]
    """Of the program, as in the settings."""

    def __init__(self, model: str, program: str, timeout_seconds: float) -> None:
        """`model`: empty is the one that the program takes by itself."""
        self._model = model
        self._program = program
        self._timeout_seconds = timeout_seconds

    @property
    def name(self) -> str:
        return f"{self.kind}:{self._model}" if self._model else self.kind

    @property
    def is_paid(self) -> bool:
        return True

    async def close(self) -> None:
        """Each prompt is a process of its own: nothing is held."""


def find_program(program: str, install: str) -> str:
    found = shutil.which(program)
    if not found:
        missing = FileNotFoundError(program)
        raise Unavailable(f"The program {program} is not here. Install it: {install}, and log in.") from missing
    return found


async def run(
    arguments: Sequence[str], prompt: str, work: Path, *, environment: Mapping[str, str], timeout_seconds: float
) -> Ran:
    """To its end, or `Unavailable` when that is too late. `environment` goes above that of this process."""
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=work,
            env=_environment(environment),
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"{arguments[0]} could not be started: {error.strerror}. Check its installation.") from error
    try:
        async with asyncio.timeout(timeout_seconds):
            _, out, errors = await asyncio.gather(
                _write(process, f"{OWN_MARK}\n{prompt}"), _read(process.stdout), _read(process.stderr)
            )
            code = await process.wait()
    except TimeoutError as error:
        name = Path(arguments[0]).name
        raise Unavailable(f"{name} gave no answer in {timeout_seconds:g} seconds, and was stopped.") from error
    finally:
        await _stop(process)
    return Ran(code=code, out=out, errors=errors)


async def ask_twice(name: str, ask: Callable[[str], Awaitable[Said]], prompt: str, schema: type[T]) -> Reply[T]:
    """Asks, and once more with what was wrong."""
    first = await ask(prompt)
    try:
        return _reply(first, schema, first.usage)
    except NotAsAsked as wrong:
        again = prompt + REPAIR.format(answer=first.text[:MOST_SHOWN_AGAIN], complaint=wrong.complaint)
    try:
        second = await ask(again)
    except BadReply as error:
        error.usage = first.usage + error.usage
        raise
    except Unavailable as error:
        raise BadReply(f"{name} answered wrongly, and could not be asked again: {error}", first.usage) from error
    usage = first.usage + second.usage
    try:
        return _reply(second, schema, usage)
    except NotAsAsked as wrong:
        raise BadReply(f"{name} answered twice what is no {schema.__name__}:\n{wrong.complaint}", usage) from None


def shown(text: str) -> str:
    """A program's message as we show it: quoted, short, in one line, without a key that it may repeat."""
    words = " ".join(mask(text).split())
    return quoted(words[:MOST_WORDS] + ("…" if len(words) > MOST_WORDS else ""))


def _reply(said: Said, schema: type[T], usage: Usage) -> Reply[T]:
    if len(said.text) > MOST_CHARACTERS:
        raise BadReply(f"{said.model} answered more than {MOST_CHARACTERS:,} characters; it was not read.", usage)
    return Reply(value=read_answer(said.text, schema), text=said.text, usage=usage, model=said.model)


def _environment(above: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in this_computer().environment.items() if name not in NESTED}
    return {**inherited, **above, OWN_VARIABLE: "1"}


async def _write(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stdin
    with suppress(BrokenPipeError, ConnectionResetError):  # It ended without reading: its exit code says why.
        process.stdin.write(text.encode("utf-8", "replace"))
        await process.stdin.drain()
    process.stdin.close()


async def _read(stream: asyncio.StreamReader | None) -> str:
    """As much as is kept; the rest is passed over, so that the program can end."""
    assert stream
    kept = bytearray()
    while piece := await stream.read(65_536):
        kept += piece[: max(0, MOST_BYTES - len(kept))]
    return kept.decode("utf-8", "replace")


async def _stop(process: asyncio.subprocess.Process) -> None:
    """With all that it started, also what outlived it. The group has its number."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
