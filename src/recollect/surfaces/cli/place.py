"""Where a command finds its home, and the options that many commands have."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

_PROGRAM = re.compile(r"(?<![\w/.~-])recollect (?=[a-z])")
"""How advice of the library begins a command."""

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What `--home` and `--db` say."""

    home: Path | None
    database: str | None

    def open(self) -> "Memory":
        from recollect.memory import open_memory

        return open_memory(self.home, self.database)

    @contextmanager
    def opened_as(self, agent: str) -> "Generator[Memory]":
        """As this agent sees and changes it, `ada` or in a room of its own `ada/kitchen`. Empty: as the person does."""
        with self.open() as memory:
            name, _, room = agent.partition("/")
            yield memory.as_agent(name, room) if agent else memory

    def folder(self) -> Path:
        """The home, also where its settings cannot be read."""
        from recollect.settings import home_folder

        return home_folder(self.home)

    def settings(self) -> "Settings":
        from recollect.settings import load_settings

        return load_settings(self.home, self.database)

    def invocation(self) -> str:
        """How the next command for the same home begins. An address of a database is not repeated: it may hold a
        password."""
        from recollect.surfaces.cli.output import program

        words = [program(), *(["--home", _typed(str(self.home))] if self.home else [])]
        if self.database and "://" not in self.database:
            words += ["--db", _typed(self.database)]
        return " ".join(words)

    def for_this_home(self, advice: str) -> str:
        """Followed to the letter, it must not act on another home."""
        begins = self.invocation()
        return _PROGRAM.sub(lambda _: f"{begins} ", advice)


def _typed(path: str) -> str:
    """As a shell reads it, which opens `~` only where nothing is quoted."""
    from shlex import quote

    from recollect.surfaces.cli.output import short_path

    short = short_path(path)
    return short if quote(short.removeprefix("~")) == short.removeprefix("~") else quote(path)


json_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else."
)

agent_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--agent", default="", metavar="NAME", help="As this agent sees and may change it."
)
