"""Where a command finds its home, and the option every command has."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from recollect.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What `--home` and `--db` say."""

    home: Path | None
    database: str | None

    def open(self) -> "Memory":
        from recollect.memory import open_memory

        return open_memory(self.home, self.database)


json_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else."
)
