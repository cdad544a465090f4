"""claude-memory."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import amount, on_one_line, print_json, say, short_path, style
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.shapes.exchange import memory_export_json, memory_import_json

if TYPE_CHECKING:
    from recollect.exchange import FolderImport, Left, MemoryImport

MOST_LISTED = 20
OUTCOMES = {
    "new": "new",
    "changed": "changed",
    "known": "known already",
    "unchanged": "as before",
    "refused": "forgotten before, and left out",
}


@click.group("claude-memory")
def claude_memory() -> None:
    """Claude Code's own memory folder: read it, or write one.

    Claude Code keeps one fact in each file below ~/.claude/projects/…/memory.
    """


@claude_memory.command("import")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]…")
@click.option("--dry-run", is_flag=True, help="Only tell what would be learned.")
@agent_option
@json_option
@click.pass_obj
def import_(place: Place, folders: tuple[Path, ...], dry_run: bool, agent: str, as_json: bool) -> None:
    """Make a learning of each fact that Claude Code keeps.

    Without FOLDER it reads all folders of memory on this computer. Done again, it makes nothing twice: a file that
    changed takes the place of what it said, and one that is gone takes nothing with it. No file is changed.
    """
    with place.opened_as(agent) as memory:
        done = memory.exchange.import_from(folders, dry_run=dry_run)
    if as_json:
        print_json(memory_import_json(done))
        return
    if not done.folders:
        say("No memory folder of Claude Code was found on this computer. Name one: claude-memory import FOLDER.")
    for folder in done.folders:
        _show_folder(folder, done)
    if dry_run:
        say("Nothing was changed: this was a dry run.")


def _show_folder(folder: "FolderImport", done: "MemoryImport") -> None:
    counts = [f"{len(getattr(folder, name)):,} {words}" for name, words in OUTCOMES.items() if getattr(folder, name)]
    say(f"{style(short_path(folder.folder), 'bold')}: {', '.join(counts) or 'no facts'}")
    for name in [*folder.new, *folder.changed][: MOST_LISTED if done.is_dry else 0]:
        say(f"  {on_one_line(name)}")
    if folder.missing:
        number = amount(len(folder.missing), "file")
        say(f"  {number} not there any more; what was learned stays: {on_one_line(', '.join(folder.missing[:5]))}")
    _show_left(folder.problems)


def _show_left(left: "list[Left]") -> None:
    for one in left[:MOST_LISTED]:
        say(f"  {style(on_one_line(one.file), 'yellow')}: {on_one_line(one.reason)}")
    if len(left) > MOST_LISTED:
        say(f"  … and {len(left) - MOST_LISTED:,} more; --json lists all")


@claude_memory.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--project", default="", metavar="P", help="Only what comes from projects with this in their path.")
@agent_option
@json_option
@click.pass_obj
def export(place: Place, folder: Path, project: str, agent: str, as_json: bool) -> None:
    """Write what is known into FOLDER.

    There is one file for each record, and MEMORY.md. Files that somebody else wrote, or changed since, stay as they
    are. What is forgotten later stays in the folder until the next export.
    """
    with place.opened_as(agent) as memory:
        done = memory.exchange.export_to(folder, project=project)
    if as_json:
        print_json(memory_export_json(done))
        return
    counts = f"{amount(len(done.written), 'file')} written, {len(done.unchanged):,} as before"
    removed = f", {len(done.removed):,} removed" if done.removed else ""
    say(f"{style(short_path(str(done.folder)), 'bold')}: {counts}{removed}")
    if done.left_out:
        say(f"  {amount(done.left_out, 'record')} more than a folder gets: the least important are left out")
    _show_left(done.left)
