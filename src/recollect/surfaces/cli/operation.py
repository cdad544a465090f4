"""health, doctor, sql, completion."""

from dataclasses import replace
from typing import Any

import click

from recollect.surfaces.cli.librarian import librarian_lines
from recollect.surfaces.cli.output import amount, print_json, say, short_path, style, table, when
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.shapes.health import MAX_LISTED_REPORTS, health_json

MAX_SHOWN_REPORTS = 10


@click.command()
@json_option
@click.pass_obj
def health(place: Place, as_json: bool) -> None:
    """Show what is kept, and how files stand."""
    with place.open() as memory:
        value = health_json(memory)
    if as_json:
        print_json(value)
        return
    for name, text in _health_lines(value):
        say(f"{style(f'{name:13}', 'bold')}  {text}")
    files = value["files"]
    if files["attention"]:
        say()
        rows = [
            (
                item["status"],
                item["lines_bad"],
                item["file"],
                item["reason"] or f"{item['lines_bad']} unreadable lines",
            )
            for item in files["attention"]
        ]
        table(("state", "bad", "file", "why"), rows, right=(1,))
    _print_marker_reports(value["markers"])


def _print_marker_reports(markers: dict[str, Any]) -> None:
    reported = markers["reported"][:MAX_SHOWN_REPORTS]
    if not reported:
        return
    say()
    rows = [(item["message"][:12], item["conversation"][:8], item["problem"], item["excerpt"]) for item in reported]
    table(("message", "in", "marker", "it says"), rows)
    if markers["problems"] > len(reported):
        say(f"… and {markers['problems'] - len(reported):,} more; --json lists the latest {MAX_LISTED_REPORTS}")


def _health_lines(value: dict[str, Any]) -> list[tuple[str, str]]:
    conversations, vault, database = value["conversations"], value["vault"], value["database"]
    by_status = _listing(conversations["by_status"])
    lines = [
        ("Conversations", f"{conversations['total']:,} in {amount(conversations['months'], 'month')} ({by_status})")
    ]
    if conversations["first_at"]:
        lines.append(("", f"{when(conversations['first_at'])} to {when(conversations['last_at'])}"))
    lines += [
        ("Messages", _listing(value["messages"]["by_author"])),
        (
            "Vault",
            f"{vault['records']:,} records, {_size(vault['bytes_read'])} in {_size(vault['bytes_kept'])}",
        ),
        ("Database", f"{short_path(database['location'])}, {_size(database['bytes'])}"),
        ("Files", _listing(value["files"]["by_status"])),
        ("Index", _index_line(value["index"])),
    ]
    knowledge, forgotten, markers = value["knowledge"], value["forgotten"], value["markers"]
    if knowledge["records"]:
        lines.append(("Records", f"{_listing(knowledge['by_state'])}; {_listing(knowledge['by_category'])}"))
    notes = value["notes"]
    if notes["versions"]:
        lines.append(("Notes", f"{notes['notes']:,} in {amount(notes['versions'], 'version')}"))
    for name, text in librarian_lines(value["librarian"]):
        lines.append(("Librarian", text) if name == "Reader" else ("", f"{name}: {text}"))
    if markers["kept"] or markers["problems"]:
        lines.append(("Markers", f"{markers['kept']:,} kept, {markers['problems']:,} to look at"))
    if value["showings"]["records"]:
        lines.append(("Shown", _shown_line(value["showings"])))
    if forgotten["receipts"]:
        unfinished = f", {forgotten['unfinished']:,} not finished" if forgotten["unfinished"] else ""
        lines.append(("Forgotten", f"{amount(forgotten['receipts'], 'time')}{unfinished}"))
    if value["paused_since"]:
        lines.append(("Paused", f"since {when(value['paused_since'])}"))
    lines.append(("Daemon", _listing_of_parts(value["parts"])))
    return lines + [("", line) for line in _part_lines(value["parts"])]


def _listing_of_parts(parts: list[dict[str, Any]]) -> str:
    running = [part["name"] for part in parts if part["state"] == "running"]
    return f"running: {', '.join(running)}" if parts else "not running"


def _part_lines(parts: list[dict[str, Any]]) -> list[str]:
    """What is not simply running or off."""
    shown = [part for part in parts if part["restarts"] or part["state"] not in ("running", "off")]
    return [
        f"{part['name']}: {part['state']} since {when(part['since'])}, "
        f"begun again {amount(part['restarts'], 'time')}{': ' if part['problem'] else ''}{part['problem']}"
        for part in shown
    ]


def _shown_line(showings: dict[str, Any]) -> str:
    return (
        f"{amount(showings['records'], 'record')} to sessions: {showings['used']:,} used, {showings['sunk']:,} sunk, "
        f"{amount(showings['open_sessions'], 'session')} still open"
    )


def _index_line(index: dict[str, Any]) -> str:
    if index["problem"]:
        return index["problem"]
    figures = (
        f"{index['documents']:,} messages, records and notes, {index['waiting']:,} waiting, {_size(index['bytes'])}"
    )
    models = f"{index['deepened']:,} deepened by {index['deep_model']}" if index["deep_model"] else "no deep model"
    return f"{figures}, {models}"


def _listing(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items()) or "none"


def _size(number: int) -> str:
    return f"{number / 1e6:,.1f} MB" if number >= 1e5 else f"{number / 1e3:,.1f} kB"


@click.command()
@json_option
@click.pass_obj
def doctor(place: Place, as_json: bool) -> None:
    """Say what is well and what is not.

    Compares what is kept with what lies on the disk, and names the next step. Exit code 1 when something is broken.
    """
    from recollect.doctor import Level, examine
    from recollect.settings import this_computer
    from recollect.surfaces.hooks.standing import installs

    with place.open() as memory:
        found = [*examine(memory), *installs(memory, this_computer())]
    findings = [replace(one, next_step=place.for_this_home(one.next_step)) for one in found]
    broken = any(finding.level is Level.FAILURE for finding in findings)
    if as_json:
        print_json({"ok": not broken, "findings": findings})
    else:
        marks = {
            Level.OK: style("ok  ", "green"),
            Level.WARNING: style("note", "yellow"),
            Level.FAILURE: style("FAIL", "red", "bold"),
        }
        for finding in findings:
            say(f"{marks[finding.level]}  {finding.check}: {finding.message}")
            if finding.next_step:
                say(f"      {style(finding.next_step, 'dim')}")
    if broken:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("query", default="")
@click.option(
    "--limit", default=200, type=click.IntRange(1, 100_000), help="At most this many rows.", show_default=True
)
@click.option("--seconds", default=10.0, type=click.FloatRange(0.1, 300), help="At most this long.", show_default=True)
@agent_option
@json_option
@click.pass_obj
def sql(place: Place, query: str, limit: int, seconds: float, agent: str, as_json: bool) -> None:
    """Ask with read-only SQL.

    The views are conversations, messages, files and occurrences: your history without the vault; records,
    record_versions, record_events and record_sources: what was learned; and events: what the system did.
    Without QUERY the views and their columns are listed.
    """
    with place.opened_as(agent) as memory:
        if not query:
            views = memory.views()
            _show_views({name: memory.sql(f"SELECT * FROM {name}", limit=1)[0] for name in views}, as_json)
            return
        columns, rows = memory.sql(query, seconds=seconds, limit=limit)
    if as_json:
        print_json({"columns": columns, "rows": [list(row) for row in rows]})
    else:
        table(columns, [["" if cell is None else " ".join(str(cell).split()) for cell in row] for row in rows])


def _show_views(views: dict[str, list[str]], as_json: bool) -> None:
    if as_json:
        print_json({"views": views})
    else:
        table(("view", "columns"), [(name, ", ".join(columns)) for name, columns in views.items()], is_whole=True)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    For example: eval "$(recollect completion bash)"
    """
    from click.shell_completion import get_completion_class

    from recollect.surfaces.cli.main import app

    found = get_completion_class(shell)
    if found is not None:
        say(found(app, {}, "recollect", "_RECOLLECT_COMPLETE").source())
