"""A person's computer on which `recollect up` really runs."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import commands
from commands import run, started, wait_for
from transcripts import Transcript, write

import recollect
from recollect.clock import system_clock

LATELY = system_clock() - timedelta(hours=4)


class Computer:
    """A person's computer: a HOME, Claude Code's folder in it, and Recollect's home beside it."""

    def __init__(self, folder: Path, librarian: str = "rules") -> None:
        """`librarian`: "none" where what it writes would be found among what a test looks for."""
        self.librarian = librarian
        self.home = folder / "recollect"
        self.user = folder / "user"
        self.claude = self.user / ".claude"
        self.projects = self.claude / "projects"
        self.projects.mkdir(parents=True)
        self.variables: dict[str, str] = {}
        self.configure(poll_interval_seconds=0.5)

    def configure(self, **settings: object) -> None:
        chosen = {"fetch_models": False, **settings, "librarian.model": self.librarian}  # No network in tests.
        lines = [f"{name} = {json.dumps(value)}" for name, value in chosen.items()]
        write(self.home / "recollect.toml", "\n".join(lines).encode())

    def run(self, *arguments: object) -> commands.Result:
        return run(*arguments, home=self.home, variables=self.variables)

    @contextmanager
    def up(self, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
        """A daemon that has finished its first pass."""
        with started("up", *arguments, home=self.home, variables=self.variables) as process:
            wait_for("the first pass", lambda: self._has_looked(process.pid) or process.poll() is not None)
            assert process.poll() is None, self.errors
            yield process

    def _has_looked(self, pid: int) -> bool:
        """A killed daemon leaves its status behind."""
        status = self.status()
        return status.get("pid") == pid and bool(status["last_scan_at"])

    def status(self) -> dict[str, Any]:
        try:
            return json.loads((self.home / "runtime" / "status.json").read_text())
        except (OSError, ValueError):
            return {}

    @property
    def output(self) -> str:
        return Path(f"{self.home}.out").read_text()

    @property
    def errors(self) -> str:
        return Path(f"{self.home}.err").read_text()

    def words(self) -> str:
        """Everything that was said, from the database."""
        with recollect.open(self.home) as memory:
            return "\n".join(message.text for message in memory.history.export())

    def wait_for_words(self, words: str) -> None:
        wait_for(f"{words!r} to be taken in", lambda: words in self.words())

    def finding(self, check: str) -> dict[str, str]:
        findings = {item["check"]: item for item in self.run("doctor", "--json").json()["findings"]}
        return findings[check]


def session(name: str, about: str = "beans", **options: Any) -> Transcript:
    return Transcript(name, start=LATELY, **options).exchanges(3, about=about)
