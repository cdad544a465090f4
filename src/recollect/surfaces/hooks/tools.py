"""What each coding agent calls its files and its events.

Measured with the real programs (docs/hooks.md). Both speak Claude Code's form of hooks: the same events, the same JSON.
"""

import os
from dataclasses import dataclass
from typing import Literal, TypeAlias

from recollect.errors import NotFound
from recollect.settings import Computer

ToolName: TypeAlias = Literal["claude-code", "codex"]

BEGINNING = "SessionStart"
CAPTURING = ("Stop", "PreCompact", "SessionEnd")
EVENTS = (BEGINNING, *CAPTURING)
RESUMED = "resume"
"""A session that goes on: what was injected at its beginning stands in it."""
MATCHER = "startup|resume|clear|compact"
SECONDS = {BEGINNING: 15, "Stop": 5, "PreCompact": 5, "SessionEnd": 3}
"""After which the agent ends a hook. Ours is done long before; Codex allows no more than 3 at the end of a session."""
SERVER = "recollect"
"""The name of our MCP server in an agent's settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: ToolName
    title: str
    transcripts: str
    """The folder below which it keeps its transcripts."""
    is_by_day: bool
    """Whether sub-agents write beside all other sessions of a day, or in a folder of their session."""

    def hooks_file(self, computer: Computer) -> str:
        if self.name == "codex":
            return os.path.join(_folder(self, computer), "hooks.json")
        return os.path.join(_folder(self, computer), "settings.json")

    def servers_file(self, computer: Computer) -> str:
        """Where its MCP servers stand."""
        if self.name == "codex":
            return os.path.join(_folder(self, computer), "config.toml")
        is_moved = bool(computer.environment.get("CLAUDE_CONFIG_DIR", "").strip())
        return os.path.join(_folder(self, computer) if is_moved else computer.home, ".claude.json")


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(name="claude-code", title="Claude Code", transcripts="projects", is_by_day=False),
        Tool(name="codex", title="Codex", transcripts="sessions", is_by_day=True),
    )
}


def tool_named(name: str) -> Tool:
    if name not in TOOLS:
        raise NotFound(f"No coding agent is known as {name[:100]!r}. Known: {', '.join(TOOLS)}.")
    return TOOLS[name]


def _folder(tool: Tool, computer: Computer) -> str:
    if tool.name == "codex":
        return computer.configured("CODEX_HOME", ".codex")
    return computer.configured("CLAUDE_CONFIG_DIR", ".claude").partition(",")[0]
