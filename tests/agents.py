"""The real Claude Code and the real Codex, each on a person's computer of its own, with a model of ours behind it.

`scripts/install_agents` puts them into `.venv/agents` (part of `make install-dev`). They run in the HOME of a
`Computer`, see nothing of the person who runs the tests, and ask no one but the servers of `recollect.testing` on this
computer.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE_SECONDS, SCRIPT, end, environment, started, wait_for
from computers import Computer

from recollect.testing.anthropic_server import AnthropicServer
from recollect.testing.openai_server import OpenAIServer

FOLDER = Path(sys.prefix) / "agents" / "bin"
MODEL = "claude-sonnet-5"
TOOLS = ("search_memory", "read_memory", "context", "remember", "update_status", "notes", "forget")
SERVER = "recollect"
GRACE_MILLISECONDS = 60_000
"""How long Codex waits for MCP servers before its first request: a busy computer starts ours slowly."""


def program(name: str) -> str:
    """Where `RECOLLECT_TEST_AGENTS` says, else where they were installed for the tests."""
    found = shutil.which(name, path=os.environ.get("RECOLLECT_TEST_AGENTS") or str(FOLDER))
    if found:
        return found
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip(f"{name} needs Node and npm to be installed with, and they are not here")
    pytest.fail(f"{name} is not installed for the tests. Run: sh scripts/install_agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a run of an agent ended."""

    code: int
    out: str
    err: str

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]


class _Agent:
    """What both have in common: a computer, a folder they work in, and nothing of whoever runs the tests."""

    name = ""

    def __init__(self, computer: Computer) -> None:
        self.computer = computer
        self.project = computer.user / "greenhouse"
        self.project.mkdir()
        self.variables: dict[str, str] = {}
        """Beside those that it always has."""

    def _environment(self) -> dict[str, str]:
        """Without RECOLLECT_HOME: what was installed must know its house by itself."""
        scratch = self.computer.user / "tmp"
        scratch.mkdir(exist_ok=True)
        own = {"TMPDIR": str(scratch), "CLAUDE_CODE_TMPDIR": str(scratch), **self._own_variables()}
        found = environment(self.computer.home, **own, **self.variables)
        del found["RECOLLECT_HOME"]
        return found

    def _own_variables(self) -> dict[str, str]:
        return {}

    def run(self, *arguments: object) -> Said:
        done = subprocess.run(
            [program(self.name), *map(str, arguments)],
            env=self._environment(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_SECONDS,
        )
        return Said(code=done.returncode, out=done.stdout, err=done.stderr)

    def mcp_command(self, *options: str) -> list[str]:
        return [str(SCRIPT), "--home", str(self.computer.home), "mcp", *options]


class ClaudeCode(_Agent):
    name = "claude"

    def __init__(self, computer: Computer, model: AnthropicServer) -> None:
        super().__init__(computer)
        self.model = model

    @property
    def settings(self) -> Path:
        return self.computer.claude / "settings.json"

    @property
    def servers(self) -> Path:
        return self.computer.user / ".claude.json"

    def _own_variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "k" * 20,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "ENABLE_TOOL_SEARCH": "false",  # Else the model is told only the names of MCP tools.
            "MCP_CONNECTION_NONBLOCKING": "false",  # A busy computer starts our server slowly.
        }

    def ask(self, prompt: str, *arguments: object) -> Said:
        """One prompt, answered by the model server; the answer on stdout."""
        done = self.run("-p", prompt, "--model", MODEL, *arguments)
        assert done.code == 0, done
        return done

    def latest(self) -> Path:
        """The session that it wrote last; the file is named by its id."""
        return max(self.computer.projects.rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)

    def transcript(self) -> str:
        return self.latest().read_text(encoding="utf-8")


class Codex(_Agent):
    name = "codex"

    def __init__(self, computer: Computer, model: OpenAIServer) -> None:
        super().__init__(computer)
        self.model = model
        self.folder = computer.user / ".codex"
        self.folder.mkdir()
        self.config.write_text(
            'model = "test-model"\n'
            'model_provider = "loopback"\n'
            f"mcp_optional_startup_grace_ms = {GRACE_MILLISECONDS}\n\n"
            "[model_providers.loopback]\n"
            'name = "loopback"\n'
            f'base_url = "{model.base_url}"\n'
            'wire_api = "responses"\n'
            'env_key = "LOOPBACK_KEY"\n',
            encoding="utf-8",
        )

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"

    @property
    def hooks(self) -> Path:
        return self.folder / "hooks.json"

    def _own_variables(self) -> dict[str, str]:
        return {"LOOPBACK_KEY": "k" * 20}

    def ask(self, prompt: str, *arguments: object) -> Said:
        """One prompt, answered by the model server; what happened as lines of JSON on stdout."""
        done = self.run("exec", "--json", "--skip-git-repo-check", *arguments, prompt)
        assert done.code == 0, done
        return done


@contextmanager
def daemon(computer: Computer) -> Iterator["subprocess.Popen[bytes]"]:
    """`recollect up` that listens. What runs later is told the same place."""
    computer.variables["RECOLLECT_LISTEN"] = "127.0.0.1:0"
    with computer.up() as process:
        address: str = wait_for("the server", lambda: computer.status()["serving"]["address"])
        computer.variables["RECOLLECT_LISTEN"] = address.partition("//")[2]
        yield process
        if process.poll() is None:
            assert end(process) == 0


@contextmanager
def server(computer: Computer) -> Iterator[str]:
    """`recollect serve`; where, as an address."""
    with started("serve", "--listen", "127.0.0.1:0", home=computer.home, variables=computer.variables) as process:
        yield wait_for("the server", lambda: re.findall(r"answers at (http://\S+?)\. ", computer.output))[0]
        assert end(process) == 0


def claude_code(folder: Path) -> Iterator[ClaudeCode]:
    with AnthropicServer() as model:
        yield ClaudeCode(Computer(folder), model)


def codex(folder: Path) -> Iterator[Codex]:
    with OpenAIServer() as model:
        yield Codex(Computer(folder), model)


def text_of(content: Any) -> str:
    """All words of a message, whatever its form."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or part.get("content") or "") for part in content)
