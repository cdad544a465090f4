"""How what was installed stands, for `recollect doctor`: the settings of the agents against what install did to them.

By the paths that install wrote down: the daemon is asked, too, and its environment may name other folders than the
person's. A plugin is looked at as a folder of settings is.
"""

import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

from recollect.doctor import Finding
from recollect.doctor.findings import failure, ok, warning
from recollect.errors import Invalid, NotFound, RecollectError
from recollect.memory import Memory
from recollect.settings import Computer
from recollect.surfaces.hooks import commands, files, installed, switched_off
from recollect.surfaces.hooks.installed import InstalledToken, InstalledTool
from recollect.surfaces.hooks.targets import SCRIPT, HooksFile, is_our_server, registered_secret, server_in
from recollect.surfaces.hooks.tools import EVENTS, TOOLS, Tool
from recollect.surfaces.hooks.trust import untrusted

CHECK = "hooks"
HOOKS_FILES = ("settings.json", "hooks.json")
NO_PROGRAM = "which is not there or may not be run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One folder of settings, or one plugin."""

    tool: Tool
    files: list[str]
    again: str
    """The command that puts it right."""
    without: str
    """What to do for whoever does not want it any more."""
    homes: tuple[str, ...] = ()
    """Where this home is and was. Empty: what any home put there counts."""
    tokens: dict[str, InstalledToken] = field(default_factory=dict[str, InstalledToken])

    def hooks_file(self, path: str) -> HooksFile:
        scripts = [shlex.quote(commands.script_in(home)) for home in self.homes] or [SCRIPT]
        return HooksFile(path=path, script=scripts[0], groups={}, older=tuple(scripts[1:]))


def installs(memory: Memory, computer: Computer) -> list[Finding]:
    """In all agents and plugins. `memory`: as the person sees it."""
    home = memory.settings.home
    try:
        state = installed.load(home)
    except RecollectError as error:
        return [failure(CHECK, str(error), "Afterwards install again: recollect install claude-code, or codex.")]
    tools = {name: known for name, known in state.tools.items() if name in TOOLS and not known.is_copied(home)}
    plugins = [folder for folder in state.plugins if os.path.isdir(folder)]
    if not tools and not plugins:
        return [ok(CHECK, "Installed in no coding agent")]
    places = [place for name, known in tools.items() for place in _folders(memory, computer, TOOLS[name], known)]
    places += [_plugin(folder) for folder in plugins]
    titles = [*(TOOLS[name].title for name in tools), *plugins]
    return [one for place in places for one in _found(memory, place)] or [
        ok(CHECK, f"All that was installed stands in {', '.join(titles)}")
    ]


# The places


def _folders(memory: Memory, computer: Computer, tool: Tool, known: InstalledTool) -> Iterator[Place]:
    home, usual = memory.settings.home, computer.below_home(tool.usual)
    by_folder: dict[str, list[str]] = {}
    for path in _paths(computer, tool, known):
        folder = os.path.dirname(path)
        # Claude Code keeps one of its usual files beside its usual folder.
        by_folder.setdefault(usual if folder == computer.home else folder, []).append(path)
    for folder, paths in by_folder.items():
        tokens = {path: token for path, token in known.tokens.items() if path in paths}
        variable = "" if folder == usual else f"{tool.variable}={shlex.quote(folder)} "
        yield Place(
            tool=tool,
            files=paths,
            again=f"{variable}recollect install {_as(tool, known.agent)}{' --http' if tokens else ''}",
            without=f"{variable}recollect uninstall {tool.name}",
            homes=tuple(dict.fromkeys([str(home), *known.own_homes(home)])),
            tokens=tokens,
        )


def _paths(computer: Computer, tool: Tool, known: InstalledTool) -> list[str]:
    if known.files:
        return [file.path for file in known.files]
    try:  # Where all of it stood there already, install had no file to write down.
        return [tool.hooks_file(computer), tool.servers_file(computer)]
    except Invalid:
        return []


def _plugin(folder: str) -> Place:
    tool, hooks = TOOLS["claude-code"], os.path.join(folder, "hooks", "hooks.json")
    return Place(
        tool=tool,
        files=[hooks, os.path.join(folder, ".mcp.json")],
        again=f"recollect install {_as(tool, _agent_in(hooks))} --plugin {shlex.quote(folder)}",
        without=f"remove {folder}",
    )


def _agent_in(path: str) -> str:
    """As which agent our hooks there speak; nothing else says so of a plugin."""
    try:
        ours = HooksFile(path=path, script=SCRIPT, groups={}).commands(files.read_text(path), every_home=True)
    except RecollectError:
        return ""
    return next((command.split()[-1] for command in ours.values()), "")


def _as(tool: Tool, agent: str) -> str:
    return tool.name if agent in ("", tool.name) else f"{tool.name} --agent {agent}"


# What stands there


def _found(memory: Memory, place: Place) -> Iterator[Finding]:
    for path in place.files:
        try:
            is_of_hooks = os.path.basename(path) in HOOKS_FILES
            yield from _hooks(memory, place, path) if is_of_hooks else _server(memory, place, path)
            yield from _untrusted(place, path)
            for told in _switched_off(place, path):
                yield warning(place.tool.name, told, f"Take that out there; without Recollect: {place.without}")
        except RecollectError as error:
            yield failure(place.tool.name, str(error), place.again)


def _hooks(memory: Memory, place: Place, path: str) -> Iterator[Finding]:
    ours = place.hooks_file(path).commands(files.read_text(path), every_home=not place.homes)
    lacking = [event for event in EVENTS if event not in ours]
    if lacking:
        yield _gone(place, f"{path} has no hook of ours for {', '.join(lacking)}")
    for script in dict.fromkeys(commands.first_word(command) for command in ours.values()):
        if not shutil.which(script):
            yield failure(place.tool.name, f"The hooks in {path} run {script}, {NO_PROGRAM}", place.again)
        elif not shutil.which(program := commands.program_in(files.read_text(script) or "")):
            yield failure(place.tool.name, f"{script} starts {program or 'nothing'}, {NO_PROGRAM}", place.again)

    for agent in dict.fromkeys(command.split()[-1] for command in ours.values()):
        if not _has_agent(memory, agent):
            said = f"The hooks in {path} speak as {agent}, an agent that is not in the house"
            yield failure(place.tool.name, said, f"{place.again}; without Recollect: {place.without}")


def _has_agent(memory: Memory, agent: str) -> bool:
    name, _, room = agent.partition("/")
    try:
        memory.agents.principal(name, room)
    except NotFound:
        return False
    return True


def _untrusted(place: Place, path: str) -> Iterator[Finding]:
    """Codex asks nobody by itself, and says nothing of it."""
    if place.tool.name != "codex" or os.path.basename(path) not in HOOKS_FILES:
        return
    configuration = os.path.join(os.path.dirname(path), "config.toml")
    hooks, text = place.hooks_file(path), files.read_text(path) or "{}"
    lacking = untrusted(configuration, files.read_text(configuration) or "", hooks, text)
    if lacking:
        said = f"Codex does not run our hooks in {path} for {', '.join(lacking)}: nobody agreed to them"
        yield warning(
            place.tool.name, said, f"Type /hooks in Codex, or {place.again}; without Recollect: {place.without}"
        )


def _server(memory: Memory, place: Place, path: str) -> Iterator[Finding]:
    server = server_in(path, files.read_text(path) or "")
    token = place.tokens.get(path)
    if not is_our_server(server, place.homes, (token.secret_digest,) if token else ()):
        yield _gone(place, f"{path} has no MCP server of ours")
    elif "command" not in server:
        if memory.access.holder(registered_secret(server)) is None:
            yield failure(place.tool.name, f"The token in {path} opens nothing any more", place.again)
    elif not shutil.which(str(server["command"])):
        yield failure(place.tool.name, f"The MCP server in {path} is {server['command']}, {NO_PROGRAM}", place.again)


def _gone(place: Place, message: str) -> Finding:
    """Somebody may have meant it."""
    return warning(place.tool.name, message, f"{place.again}; without Recollect: {place.without}")


def _switched_off(place: Place, path: str) -> list[str]:
    """Of a plugin nothing: the settings of whoever loads it are not known."""
    text, is_of_hooks = files.read_text(path) or "", os.path.basename(path) in HOOKS_FILES
    if not place.homes or is_of_hooks == (place.tool.name == "codex"):
        return []
    if is_of_hooks:
        return switched_off.told_of_claude_code(place.tool, path, text)
    hooks = place.hooks_file(os.path.join(os.path.dirname(path), "hooks.json"))
    return switched_off.told_of_codex(place.tool, path, text, hooks, files.read_text(hooks.path) or "{}")
