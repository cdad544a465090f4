"""How an agent calls Recollect: the program, the script of its hooks, the MCP server. Absolute and quoted, so that it
works from any folder and with any name of a home."""

import os
import shlex
import sys
import tomllib
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from recollect.errors import Invalid
from recollect.settings import Settings
from recollect.surfaces.hooks.installed import FOLDER
from recollect.surfaces.hooks.targets import HOOKS, SCRIPT, Group
from recollect.surfaces.hooks.tools import BEGINNING, EVENTS, MATCHER, SECONDS, Tool

PROGRAM_LINE = "set -- "
"""How the line of the script begins that names the program."""


def own_program() -> list[str]:
    """How this program is started, from anywhere."""
    for path in (Path(sys.argv[0]), Path(sys.executable).with_name("recollect")):
        if path.name == "recollect" and os.access(path, os.X_OK) and path.is_file():
            return [os.path.abspath(path)]
    # -P: else what lies in the folder of a project would be imported in the place of what we import.
    return [sys.executable, "-P", "-m", "recollect.surfaces.cli.main"]


def words_of(settings: Settings, program: list[str]) -> list[str]:
    """The program with its home and, where the settings do not say it, its database."""
    return [*program, "--home", str(settings.home), *_database(settings)]


def _database(settings: Settings) -> list[str]:
    try:
        configured = tomllib.loads(settings.config_path.read_text(encoding="utf-8")).get("database", "")
    except OSError:
        configured = ""
    if settings.database == configured:
        return []
    if "://" in settings.database:
        raise Invalid(
            "The address of a database is not written into the settings of other programs: it may hold a password. "
            f"Write `database = …` into {settings.config_path}, then install without --db and RECOLLECT_DB."
        )
    return ["--db", os.path.abspath(os.path.expanduser(settings.database))]


def server_command(words: list[str], agent: str) -> dict[str, Any]:
    return {"command": words[0], "args": [*words[1:], "mcp", "--agent", agent]}


def script_path(settings: Settings) -> str:
    return script_in(str(settings.home))


def script_in(home: str) -> str:
    return os.path.join(home, FOLDER, SCRIPT)


def script_text(settings: Settings, words: list[str]) -> str:
    text = resources(__package__ or "").joinpath(SCRIPT).read_text(encoding="utf-8")
    return text.replace("@RUNTIME@", shlex.quote(str(settings.runtime))).replace("@PROGRAM@", shlex.join(words))


def program_in(script_text: str) -> str:
    """What a script starts where no daemon answers. Empty: it is none of ours any more."""
    for line in script_text.splitlines():
        if line.startswith(PROGRAM_LINE):
            return first_word(line.removeprefix(PROGRAM_LINE))
    return ""


def first_word(command: str) -> str:
    """As a shell reads it."""
    try:
        return next(iter(shlex.split(command)), "")
    except ValueError:  # Somebody changed it, and left a quote open.
        return ""


def hook_groups(script: str, tool: Tool, agent: str) -> dict[str, Group]:
    """Event → what stands in the settings for it. `script`: quoted."""
    groups: dict[str, Group] = {}
    for event in EVENTS:
        handler = {"type": "command", "command": f"{script} {tool.name} {event} {agent}", "timeout": SECONDS[event]}
        groups[event] = {**({"matcher": MATCHER} if event == BEGINNING else {}), HOOKS: [handler]}
    return groups


def check_text(settings: Settings, program: list[str]) -> None:
    """JSON and TOML hold text alone."""
    for name in (str(settings.home), *program):
        if not name.isprintable() or any("\ud800" <= character <= "\udfff" for character in name):
            raise Invalid(f"{name!a} cannot stand in a settings file: use a path that is printable UTF-8 text.")
