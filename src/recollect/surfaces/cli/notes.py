"""notes."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from recollect.errors import Conflict, Invalid, NotFound
from recollect.surfaces.cli.output import amount, print_json, printable, say, short_path, style, warn, when
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.cli.versions import (
    print_content,
    print_diff,
    print_history,
    print_list,
    quoted,
    tell_written,
    told,
    who,
)
from recollect.surfaces.shapes.notes import note_json, version_json

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.notes import Note, Problem, Version

reason_option = click.option("--reason", default="", metavar="R", help="Why. A change of a soul needs one.")
path_argument = click.argument("path")


@click.group(invoke_without_command=True)
@agent_option
@json_option
@click.pass_context
def notes(context: click.Context, agent: str, as_json: bool) -> None:
    """List, read and change notes; without a command, list them.

    Notes are files in `notes` of the home that you and your agents write with any tool. Every version of each is
    kept. PATH is a name in that folder, such as user.md or agents/ada/soul.md.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, folder="", gone=False, agent=agent, as_json=as_json)
    else:
        refuse_before(context, agent, as_json)


def refuse_before(context: click.Context, agent: str, as_json: bool) -> None:
    """An option that was meant for the command and would not reach it."""
    if agent or as_json:
        option = "--agent" if agent else "--json"
        raise click.UsageError(f"Give {option} after the command: {context.invoked_subcommand} … {option}.")


@contextmanager
def opened(place: Place, agent: str, *, to_write: bool = False, is_quiet: bool = False) -> "Generator[Memory]":
    """`to_write`: the folder is made where there is none, and a person is told."""
    with place.opened_as(agent) as memory:
        made = memory.notes.prepare() if to_write else []
        if made and not is_quiet:
            warn(f"Made in {short_path(str(memory.notes.folder))}: {printable(', '.join(made))}.")
        yield memory


def path_in(memory: "Memory", path: str) -> str:
    """A whole path of the computer is the note's own where it lies in the folder, and else not a note. Shells complete
    names with a ./ before them."""
    if not os.path.isabs(path):
        return path.removeprefix("./")
    folder = os.path.realpath(memory.notes.folder)
    given = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    if os.path.commonpath([folder, given]) != folder or given == folder:
        outside = f"{printable(path[:200])!r} is not in the folder of notes, {short_path(folder)}"
        raise Invalid(f"{outside}. Give a name in it, such as user.md.")
    return os.path.relpath(given, folder).replace(os.sep, "/")


@notes.command("list")
@click.argument("folder", default="")
@click.option("--gone", is_flag=True, help="Also those that were removed; `undo` brings one back.")
@agent_option
@json_option
@click.pass_obj
def list_(place: Place, folder: str, gone: bool, agent: str, as_json: bool) -> None:
    """List notes, or those below FOLDER."""
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        # They name what an agent may not see.
        looked = memory.notes.look()
        problems = [] if memory.principal.is_confined else looked.problems
        found = memory.notes.list(path_in(memory, folder) if folder else "", gone=gone, look=False)
    if as_json:
        print_json([version_json(version) for version in found])
    elif found:
        print_list(found)
    else:
        where = f" below {printable(folder)}" if folder else ""
        say(f"No notes{where}. `{place.invocation()} notes write PATH TEXT` makes one.")
    for problem in problems:
        warn(f"Not read as a note: {_told_problem(problem)}")


def _told_problem(problem: "Problem") -> str:
    path, reason = printable(problem.path), printable(problem.reason)
    return reason if reason.startswith(path) else f"{path} {reason}"


@notes.command()
@path_argument
@click.option("--version", "number", type=click.IntRange(min=1), default=None, metavar="N", help="An earlier version.")
@agent_option
@json_option
@click.pass_obj
def show(place: Place, path: str, number: int | None, agent: str, as_json: bool) -> None:
    """Print a note, in a pipe to the byte."""
    with opened(place, agent) as memory:
        note = memory.notes.read(path_in(memory, path), number or 0)
    if as_json:
        print_json(note_json(note))
    else:
        print_content(note.content, note.path)


@notes.command()
@path_argument
@click.argument("text", required=False)
@click.option("--from", "file", metavar="FILE", help="The text is what this file holds.")
@click.option("--append", is_flag=True, help="Add it at the end.")
@click.option("--expect", type=int, metavar="N", help="The version you have seen: tells whether there is a later one.")
@reason_option
@agent_option
@json_option
@click.pass_obj
def write(
    place: Place,
    path: str,
    text: str | None,
    file: str | None,
    append: bool,
    expect: int | None,
    reason: str,
    agent: str,
    as_json: bool,
) -> None:
    """Write a note, or with --append add to its end.

    TEXT is all of it from now on; - reads it from standard input. What it replaces stays a version. With --expect a
    later version than N is replaced too, and named. `remove` takes a note away.
    """
    from recollect.surfaces.cli.texts import given_text

    if append and expect is not None:
        raise click.UsageError("--append replaces nothing: leave --expect out.")
    content = given_text(text, file)
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        name = path_in(memory, path)
        if append:
            written = memory.notes.append(name, content, reason=reason)
        else:
            written = memory.notes.write(name, content, reason=reason, expected=expect)
    tell_written(written, place.invocation(), as_json)


@notes.command()
@path_argument
@reason_option
@agent_option
@json_option
@click.pass_obj
def edit(place: Place, path: str, reason: str, agent: str, as_json: bool) -> None:
    """Change a note in your editor, $VISUAL or $EDITOR.

    It opens a copy. When you leave it the note is written; who wrote it meanwhile is told, and that text kept. Where
    it cannot be written, your copy stays.
    """
    from recollect.surfaces.cli.texts import check_editor, decoded, edited

    check_editor()
    with opened(place, agent) as memory:
        name = path_in(memory, path)
        before = memory.notes.find(name)
    _check_edit(name, before, reason)
    content, number = (before.content, before.number) if before else (b"", 0)
    # Nothing is held open while somebody types, which may be for hours.
    with edited(content, os.path.basename(name)) as made:
        if made == content:
            say("Nothing was changed.") if not as_json else print_json({"path": name, "is_new": False})
            return
        text = decoded(made, "What you wrote")
        with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
            written = memory.notes.write(name, text, reason=reason, expected=number)
    tell_written(written, place.invocation(), as_json)


def _check_edit(name: str, before: "Note | None", reason: str) -> None:
    """Refuse at once what could not be written after all the typing."""
    from recollect.notes.paths import Kind, kind_of

    kind = kind_of(name)
    if kind is Kind.SOUL and not reason.strip():
        raise Invalid(f"{printable(name)} is who an agent is: say why it changes, with --reason.")
    if kind is Kind.DIARY and before:
        raise Conflict(f"{printable(name)} is a diary entry, and those are never changed. Write another one.")


@notes.command()
@path_argument
@agent_option
@json_option
@click.pass_obj
def history(place: Place, path: str, agent: str, as_json: bool) -> None:
    """List the versions of a note, the latest last."""
    with opened(place, agent) as memory:
        found = memory.notes.history(path_in(memory, path))
    if as_json:
        print_json([version_json(version) for version in found])
    else:
        print_history(found)


@notes.command()
@path_argument
@click.argument("older", type=click.IntRange(min=1), required=False, metavar="[OLD")
@click.argument("newer", type=click.IntRange(min=1), required=False, metavar="[NEW]]")
@agent_option
@json_option
@click.pass_obj
def diff(place: Place, path: str, older: int | None, newer: int | None, agent: str, as_json: bool) -> None:
    """Show what changed between two versions.

    Without OLD: the last change. Without NEW: from OLD to the latest.
    """
    with opened(place, agent) as memory:
        text = memory.notes.diff(path_in(memory, path), older or 0, newer or 0)
    if as_json:
        print_json({"path": path, "older": older, "newer": newer, "diff": text})
    else:
        print_diff(text)


@notes.command()
@path_argument
@click.option("--to", "number", type=click.IntRange(min=1), metavar="N", help="This version. Default: the one before.")
@reason_option
@agent_option
@json_option
@click.pass_obj
def undo(place: Place, path: str, number: int | None, reason: str, agent: str, as_json: bool) -> None:
    """Bring an earlier version back, as a new one.

    Once more goes back one more. `notes history` lists the versions, --to chooses one. A folder that was removed
    comes back with its notes.
    """
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        name = path_in(memory, path)
        if not number and memory.notes.is_folder(name):
            _tell_all("Restored", memory.notes.bring_back(name, reason=reason), as_json)
            return
        written = memory.notes.undo(name, number or 0, reason=reason)
    tell_written(written, place.invocation(), as_json, _restored_word(written.version))


def _restored_word(version: "Version") -> str:
    return "Gone, as it was before" if version.is_gone else "Restored"


@notes.command()
@path_argument
@click.argument("to")
@reason_option
@agent_option
@json_option
@click.pass_obj
def move(place: Place, path: str, to: str, reason: str, agent: str, as_json: bool) -> None:
    """Give a note, or a folder of notes, another name."""
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        moved = memory.notes.move(path_in(memory, path), path_in(memory, to), reason=reason)
    _tell_all("Moved", moved, as_json)


@notes.command()
@path_argument
@reason_option
@agent_option
@json_option
@click.pass_obj
def remove(place: Place, path: str, reason: str, agent: str, as_json: bool) -> None:
    """Take a note, or a folder of notes, away.

    Its versions stay, and `undo` brings it back. `recollect forget` is for good.
    """
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        name = path_in(memory, path)
        removed = memory.notes.remove(name, reason=reason)
    _tell_all("Removed", removed, as_json)
    if not as_json:
        undone = removed[0].path if len(removed) == 1 else name
        say("  " + style(f"{place.invocation()} notes undo {quoted(undone)}", "cyan"))


@notes.command()
@path_argument
@click.argument("to")
@reason_option
@agent_option
@json_option
@click.pass_obj
def promote(place: Place, path: str, to: str, reason: str, agent: str, as_json: bool) -> None:
    """Keep a page of scratch for good, under another name.

    PATH is the page's, or its name in scratch. Pages of scratch go when nobody changed them for 14 days.
    """
    with opened(place, agent, to_write=True, is_quiet=as_json) as memory:
        promoted = memory.notes.scratch.promote(path_in(memory, path), path_in(memory, to), reason=reason)
    _tell_all("Promoted", promoted, as_json)


@notes.command()
@click.option("--accept", "accepted", multiple=True, metavar="PATH[@N]", help="It is well: version N, or all of PATH.")
@agent_option
@json_option
@click.pass_obj
def review(place: Place, accepted: tuple[str, ...], agent: str, as_json: bool) -> None:
    """List changes that wait for a look, or accept them.

    Changes of a soul, and of diary entries with another tool. `notes diff` shows one, `notes undo` and `diary
    restore` take it back.
    """
    with opened(place, agent) as memory:
        memory.notes.look()
        waiting = memory.notes.reviews()
        done = [version for given in accepted for version in _chosen(memory, given, waiting)]
        shown = [memory.notes.accept(one.path, one.number) for one in done] if accepted else waiting
    if as_json:
        print_json([version_json(version) for version in shown])
    elif accepted:
        _tell_all("Accepted", shown, as_json)
    elif shown:
        _print_reviews(shown, place.invocation())
    else:
        say("Nothing waits for review.")


def _chosen(memory: "Memory", given: str, waiting: "list[Version]") -> "list[Version]":
    """A name may have an @ of its own: the last part counts only where it is a number."""
    path, at, number = given.rpartition("@")
    wanted = int(number) if at and number.isascii() and number.isdigit() else 0
    name = path_in(memory, path if wanted else given)
    found = [version for version in waiting if version.path == name and wanted in (0, version.number)]
    if not found:
        raise NotFound(f"No change of {printable(given)!r} waits for review. `recollect notes review` lists them.")
    return found


def _print_reviews(waiting: "list[Version]", program: str) -> None:
    for version in waiting:
        path = quoted(version.path)
        changed = f"version {version.number}, {when(version.at)} by {who(version)}"
        say(f"{style(printable(version.path), 'bold')}, {changed}: {told(version)}")
        if version.number > 1:
            say("  " + style(f"{program} notes diff {path} {version.number - 1} {version.number}", "cyan"))
        say("  " + style(f"{program} notes review --accept {path}@{version.number}", "cyan"))


def _tell_all(word: str, versions: "list[Version]", as_json: bool) -> None:
    if as_json:
        print_json([version_json(version) for version in versions])
        return
    for version in versions[:20]:
        came = f" from {printable(version.moved_from)}" if version.moved_from else ""
        say(f"{style(word, 'green')}: {printable(version.path)}{came}, version {version.number}")
    if len(versions) > 20:
        say(f"… and {amount(len(versions) - 20, 'more note')}.")
