"""What each coding agent calls its files and its events.

Measured with the real programs (docs/hooks.md). Both speak Claude Code's form of hooks: the same events, the same JSON.
"""

import os
from dataclasses import dataclass
from typing import Literal, TypeAlias

from recollect.errors import Invalid, NotFound
from recollect.settings import Computer

ToolName: TypeAlias = Literal["claude-code", "codex"]

BEGINNING = "SessionStart"
CAPTURING = ("Stop", "PreCompact", "SessionEnd")
EVENTS = (BEGINNING, *CAPTURING)
RESUMED = "resume"
"""A session that goes on: what was injected at its beginning stands in it, if there was anything."""
MATCHER = "startup|resume|clear|compact"
SECONDS = {BEGINNING: 15, "Stop": 5, "PreCompact": 5, "SessionEnd": 3}
"""After which the agent ends a hook. Ours is done long before; Codex allows no more than 3 at the end of a session."""
SERVER = "recollect"
"""The name of our MCP server in an agent's settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: ToolName
    title: str
    variable: str
    """Of the environment: which folder is its own."""
    usual: str
    """The folder below the home where that says nothing."""
    transcripts: str
    """The folder below which it keeps its transcripts."""
    is_by_day: bool
    """Whether sub-agents write beside all other sessions of a day, or in a folder of their session."""

    def hooks_file(self, computer: Computer) -> str:
        if self.name == "codex":
            return os.path.join(_folder(self, computer), "hooks.json")
        return os.path.join(_folder(self, computer), "settings.json")

    def servers_file(self, computer: Computer) -> str:
        """Where its MCP servers stand: of those that it may look into, the first that is there."""
        *older, usual = self.servers_files(computer)
        return next((path for path in older if os.path.exists(path)), usual)

    def servers_files(self, computer: Computer) -> list[str]:
        """Claude Code goes on with the file of its first versions where there is one."""
        folder = _folder(self, computer)
        if self.name == "codex":
            return [os.path.join(folder, "config.toml")]
        usual = folder if is_set(computer, self.variable) else computer.home
        return [os.path.join(folder, ".config.json"), os.path.join(usual, ".claude.json")]


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="claude-code",
            title="Claude Code",
            variable="CLAUDE_CONFIG_DIR",
            usual=".claude",
            transcripts="projects",
            is_by_day=False,
        ),
        Tool(
            name="codex",
            title="Codex",
            variable="CODEX_HOME",
            usual=".codex",
            transcripts="sessions",
            is_by_day=True,
        ),
    )
}


def tool_named(name: str) -> Tool:
    if name not in TOOLS:
        raise NotFound(f"No coding agent is known as {name[:100]!r}. Known: {', '.join(TOOLS)}.")
    return TOOLS[name]


def is_set(computer: Computer, variable: str) -> bool:
    return bool(computer.environment.get(variable, "").strip())


def _folder(tool: Tool, computer: Computer) -> str:
    """As the agent reads its variable: it knows no `~` and no list of folders."""
    if not is_set(computer, tool.variable):
        return computer.below_home(tool.usual)
    named = computer.environment[tool.variable].strip()
    if not os.path.isabs(named):
        raise Invalid(
            f"{tool.variable} is {named[:200]!r}, which {tool.title} looks for below whatever folder it is started in. "
            "Set it to a whole path, or unset it."
        )
    # Codex follows the links in what the variable says, and in nothing else; trust is written down by path.
    return os.path.realpath(named) if tool.name == "codex" else named.rstrip("/") or "/"
