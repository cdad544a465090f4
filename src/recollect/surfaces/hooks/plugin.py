"""The plugin for Claude Code: the same hooks and the same server in one folder, with a skill that says what there is.

The folder `plugin/` beside this module has its shape; what is this home's own is filled in when it is written out.
"""

import json
import os
import shlex
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from recollect import __version__
from recollect.errors import Conflict
from recollect.settings import Settings
from recollect.surfaces.hooks import commands, files
from recollect.surfaces.hooks.changes import Change
from recollect.surfaces.hooks.tools import SERVER, Tool

SHAPE = "plugin"
MANIFEST = ".claude-plugin/plugin.json"
NAME = "recollect"
"""In the manifest."""


def plugin_files(settings: Settings, tool: Tool, agent: str) -> dict[str, str]:
    """Name → contents."""
    words = commands.words_of(settings, commands.own_program())
    found = _shape(resources(__package__ or "").joinpath(SHAPE))
    manifest = json.loads(found[MANIFEST])
    script = shlex.quote(commands.script_path(settings))
    hooks: dict[str, Any] = json.loads(found["hooks/hooks.json"])
    hooks["hooks"] = {event: [group] for event, group in commands.hook_groups(script, tool, agent).items()}
    return {
        **found,
        MANIFEST: _json({**manifest, "version": __version__}),
        "hooks/hooks.json": _json(hooks),
        ".mcp.json": _json({"mcpServers": {SERVER: commands.server_command(words, agent)}}),
    }


def check_folder(folder: Path) -> None:
    """It is new or empty, or has this plugin already."""
    is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not is_free and not _is_ours(folder):
        raise Conflict(f"{folder} is there and is no plugin of ours. Name a folder that is new or empty.")


def _is_ours(folder: Path) -> bool:
    try:
        manifest: Any = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and cast(dict[str, Any], manifest).get("name") == NAME


def plan_plugin(folder: Path, contents: dict[str, str]) -> list[Change]:
    check_folder(folder)
    paths = {str(folder / name): text for name, text in contents.items()}
    return [Change(path=path, before=files.read_text(path), after=text) for path, text in paths.items()]


def write_plugin(folder: Path, contents: dict[str, str]) -> None:
    for change in plan_plugin(folder, contents):
        files.make_folder(os.path.dirname(change.path))
        if change.after is not None and change.before != change.after:
            files.write(change.path, change.after.encode(), 0o644)


def _shape(folder: Traversable, below: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for one in folder.iterdir():
        name = f"{below}{one.name}"
        if one.is_dir():
            found |= _shape(one, f"{name}/")
        else:
            found[name] = one.read_text(encoding="utf-8")
    return found


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
