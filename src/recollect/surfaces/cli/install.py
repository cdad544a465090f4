"""install, uninstall: Recollect in a coding agent's settings."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Invalid
from recollect.surfaces.cli.output import is_terminal, print_json, say, style
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.surfaces.hooks.changes import Change
    from recollect.surfaces.hooks.installing import Installation
    from recollect.surfaces.hooks.self_test import Step
    from recollect.surfaces.hooks.tools import Tool

TOOL = "claude-code or codex."
MADE = {"made": "Makes", "changed": "Changes", "removed": "Removes", "unchanged": "Leaves as it is"}
FAILED = 1
yes_option = click.option("--yes", "is_agreed", is_flag=True, help="Do it without asking.")
dry_run_option = click.option("--dry-run", "is_dry", is_flag=True, help="Only show what would change.")


@click.command()
@click.argument("tool", metavar="TOOL")
@click.option("--agent", default="", metavar="NAME", help="As which agent it sees things. Default: the tool's name.")
@click.option("--http", "is_http", is_flag=True, help="Ask the daemon over HTTP with a token, in place of stdio.")
@click.option("--plugin", type=click.Path(path_type=Path), metavar="FOLDER", help="Write a plugin for Claude Code.")
@click.option("--no-trust", is_flag=True, help="Codex: leave it to /hooks in Codex to agree to the hooks.")
@yes_option
@dry_run_option
@json_option
@click.pass_obj
def install(
    place: Place,
    tool: str,
    agent: str,
    is_http: bool,
    plugin: Path | None,
    no_trust: bool,
    is_agreed: bool,
    is_dry: bool,
    as_json: bool,
) -> None:
    """Let a coding agent have this memory: claude-code or codex.

    Its sessions begin with what is known and are taken in when they end, and it has the MCP tools. Shows what changes
    in its settings and asks first; each changed file is backed up beside itself. At the end something is remembered
    and has to come back. `recollect uninstall` takes it all out again.
    """
    from recollect.settings import this_computer
    from recollect.surfaces.hooks.installing import Installation, Options
    from recollect.surfaces.hooks.tools import tool_named

    named = tool_named(tool)
    _check(named, plugin, is_http, is_agreed=is_agreed or is_dry, as_json=as_json)
    with place.open() as memory:
        options = Options(agent=agent or tool, is_http=is_http, is_trusted=not no_trust)
        installation = Installation(memory, this_computer(), named, options)
        warnings, remarks = installation.warnings(), installation.remarks(is_plugin=plugin is not None)
        told_first = [*warnings, *remarks]
        if plugin:
            if not as_json:
                _show([], _in_red(told_first))
            result = _write_plugin(
                memory, installation, named, options.agent, plugin, is_agreed=is_agreed, is_dry=is_dry, as_json=as_json
            )
            result["warnings"] = told_first
        else:
            changes = installation.plan()
            has_changes = any(change.kind != "unchanged" for change in changes) or bool(installation.notes())
            if not as_json:
                _show(changes, [*installation.notes(), *_in_red(told_first)])
            if is_dry or (has_changes and not is_agreed and not _agrees()):
                told = {"applied": False, "files": _files(changes), "warnings": told_first}
                _tell(as_json, {"tool": tool, "agent": options.agent, **told})
                return
            changes = installation.apply()
            command, server = installation.registered()
            steps = _tested(memory, named, options.agent, command, server, as_json)
            result = {"applied": True, "files": _files(changes), "warnings": told_first, **steps}
    _tell(as_json, {"tool": tool, "agent": options.agent, **result})
    if result.get("ok") is False:
        if not as_json:
            say(style(f"It is installed, but does not work yet. {_way_back(place, tool, plugin)}", "red"))
        raise click.exceptions.Exit(FAILED)
    if not as_json and result["applied"]:
        has_it = _has_it(named, plugin, is_off=bool(warnings), is_remarked=bool(remarks))
        say(f"{has_it} {_way_back(place, tool, plugin)}")


@click.command()
@click.argument("tool", metavar="TOOL")
@yes_option
@dry_run_option
@json_option
@click.pass_obj
def uninstall(place: Place, tool: str, is_agreed: bool, is_dry: bool, as_json: bool) -> None:
    """Take Recollect out of a coding agent's settings.

    A file that nobody else changed since becomes what it was, to the byte; of any other, exactly what install added is
    taken out. Of several folders of settings, only the one that install would change now. What the agent learned stays.
    """
    from recollect.settings import this_computer
    from recollect.surfaces.hooks.removing import Removal
    from recollect.surfaces.hooks.tools import tool_named

    named = tool_named(tool)
    _check(named, None, False, is_agreed=is_agreed or is_dry, as_json=as_json)
    with place.open() as memory:
        removal = Removal(memory, this_computer(), named)
        changes = removal.plan()
        if not as_json:
            _show(changes, [])
        has_changes = any(change.kind != "unchanged" for change in changes)
        if is_dry or (has_changes and not is_agreed and not _agrees()):
            _tell(as_json, {"tool": tool, "applied": False, "files": _files(changes)})
            return
        changes = removal.remove()
        plugins, left, copies = removal.plugins(), removal.left(), removal.copies()
    told = {"files": _files(changes), "plugins": plugins, "left": list(left), "copies": copies}
    _tell(as_json, {"tool": tool, "applied": True, **told})
    if not as_json:
        for folder in plugins:
            say(f"The plugin in {folder} is left, and works where it is loaded. Remove the folder to be without it.")
        for copy in copies:
            say(
                f"{copy} is a copy from before an install, and may hold keys. Remove it if you do not want it any more."
            )
        for path, reason in left.items():
            say(f"{path} still has {reason}")
        if any(change.kind != "unchanged" for change in changes):
            if not left:
                say(f"{named.title} has no Recollect in its settings from its next session on.")
                say("A session that is open may tell of a missing hook until it ends.")
            say("What it learned is still here.")
        elif not left:
            say(f"Nothing of ours stood in the settings of {named.title}.")


def _check(tool: "Tool", plugin: Path | None, is_http: bool, *, is_agreed: bool, as_json: bool) -> None:
    if as_json and not is_agreed:
        raise Invalid("With --json nobody can be asked: give --yes, or --dry-run to see what would change.")
    if plugin and tool.name != "claude-code":
        raise Invalid(f"A plugin is for claude-code, not for {tool.name}.")
    if plugin and is_http:
        raise Invalid("A plugin is a folder that others may read: no token is written into it. Leave --http out.")


def _in_red(warnings: list[str]) -> list[str]:
    return [style(warning, "red") for warning in warnings]


def _has_it(tool: "Tool", plugin: Path | None, *, is_off: bool, is_remarked: bool) -> str:
    who = f"`claude --plugin-dir {shlex.quote(str(plugin))}`" if plugin else tool.title
    if is_off:
        return f"The test ran it by itself: {who} has all of it once what is switched off, as said above, is on again."
    but = ", but for what is said above" if is_remarked else ""
    return f"{who} has it{but}." if plugin else f"{who} has it from its next session on{but}."


def _way_back(place: Place, tool: str, plugin: Path | None) -> str:
    if plugin:
        return f"To be without it, remove {plugin}; uninstall leaves that folder alone."
    return f"`{place.invocation()} uninstall {tool}` takes it out again."


def _agrees() -> bool:
    """An answer may come through a pipe, too. Ctrl-C and Ctrl-D at a terminal stop the command, as everywhere."""
    try:
        return click.confirm("Go on?", default=True)
    except click.Abort as stopped:
        if sys.stdin.isatty() or isinstance(stopped.__context__, KeyboardInterrupt):
            raise
        say()
        raise Invalid("Nobody is here to ask: --yes goes on without an answer. Nothing was changed.") from None


def _write_plugin(
    memory: "Memory",
    installation: "Installation",
    tool: "Tool",
    agent: str,
    folder: Path,
    *,
    is_agreed: bool,
    is_dry: bool,
    as_json: bool,
) -> dict[str, Any]:
    from recollect.surfaces.hooks.plugin import plan_plugin, plugin_files, write_plugin

    contents = plugin_files(memory.settings, tool, agent)
    changes = plan_plugin(folder, contents)
    files = _files(changes)
    if not as_json:
        say("\n".join([f"{MADE[change.kind]}: {change.path}" for change in changes] + installation.notes()))
    if is_dry or (not is_agreed and not _agrees()):
        return {"applied": False, "files": files}
    write_plugin(folder, contents)
    installation.prepare(str(folder.resolve()))
    command, server = installation.of_plugin()
    steps = _tested(memory, tool, agent, command, server, as_json)
    return {"applied": True, "files": files, **steps}


def _tested(
    memory: "Memory", tool: "Tool", agent: str, command: str, server: dict[str, Any], as_json: bool
) -> dict[str, Any]:
    from recollect.surfaces.hooks.self_test import SelfTest

    steps = SelfTest(memory, tool, agent, command, server).run()
    if not as_json:
        for step in steps:
            mark = style("✓", "green") if step.is_well else style("✗", "red")
            say(f"{mark} {step.name}: {step.detail} ({step.milliseconds:,.0f} ms)")
    return {"self_test": [_step(step) for step in steps], "ok": all(step.is_well for step in steps)}


def _step(step: "Step") -> dict[str, Any]:
    return {"step": step.name, "ok": step.is_well, "detail": step.detail, "milliseconds": step.milliseconds}


def _files(changes: "list[Change]") -> list[dict[str, Any]]:
    return [{"path": change.path, "change": change.kind, "diff": change.diff} for change in changes]


def _show(changes: "list[Change]", notes: list[str]) -> None:
    for change in changes:
        if change.before is None and change.after is None:
            continue
        say(f"{MADE[change.kind]}: {change.path}")
        for line in change.diff.splitlines():
            say(style(line, *_colour(line)))
    for note in notes:
        say(note)


def _colour(line: str) -> list[str]:
    return {"+": ["green"], "-": ["red"], "@": ["cyan"]}.get(line[:1], []) if is_terminal() else []


def _tell(as_json: bool, value: dict[str, Any]) -> None:
    if as_json:
        print_json(value)
    elif not value["applied"]:
        say("Nothing was changed.")
