"""health, doctor, sql, completion."""

from typing import TYPE_CHECKING, Any

import click

from recollect.surfaces.cli.librarian import librarian_json, librarian_lines
from recollect.surfaces.cli.output import amount, print_json, say, short_path, style, table, when
from recollect.surfaces.cli.place import Place, agent_option, json_option

if TYPE_CHECKING:
    from recollect.memory import Memory

MAX_SHOWN_REPORTS = 10
MAX_LISTED_REPORTS = 100


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
    if forgotten["receipts"]:
        unfinished = f", {forgotten['unfinished']:,} not finished" if forgotten["unfinished"] else ""
        lines.append(("Forgotten", f"{amount(forgotten['receipts'], 'time')}{unfinished}"))
    if value["paused_since"]:
        lines.append(("Paused", f"since {when(value['paused_since'])}"))
    return lines


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


def health_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.history.figures()
    by_author: dict[str, int] = {}
    by_standing: dict[str, int] = {}
    for author, standing, gone, number in figures.messages:
        by_author[author] = by_author.get(author, 0) + number
        kind = "gone" if gone else standing
        by_standing[kind] = by_standing.get(kind, 0) + number
    files = memory.history.files()
    by_status: dict[str, int] = {}
    for file in files:
        by_status[file.status] = by_status.get(file.status, 0) + 1
    attention = [file for file in files if file.status != "idle" or file.counts.bad]
    records, bytes_read, bytes_kept = figures.vault
    return {
        "conversations": {
            "total": figures.conversations,
            "months": figures.months,
            "first_at": figures.first_at,
            "last_at": figures.last_at,
            "by_status": figures.by_status,
        },
        "messages": {
            "total": sum(by_author.values()),
            "by_author": dict(sorted(by_author.items())),
            "by_standing": dict(sorted(by_standing.items())),
        },
        "files": {
            "total": len(files),
            "by_status": by_status,
            "attention": [
                {
                    "file": file.key,
                    "path": file.path,
                    "status": file.status,
                    "reason": file.reason,
                    "lines_bad": file.counts.bad,
                }
                for file in attention
            ],
        },
        "vault": {"records": records, "bytes_read": bytes_read, "bytes_kept": bytes_kept},
        "database": {"location": memory.database.location, "bytes": memory.database.size_bytes()},
        "index": index_json(memory),
        "knowledge": _knowledge_json(memory),
        "notes": _notes_json(memory),
        "librarian": librarian_json(memory),
        "markers": markers_json(memory),
        "forgotten": _forgotten_json(memory),
        "paused_since": memory.history.paused_since(),
    }


def _knowledge_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.knowledge.figures()
    return {
        "records": figures.total,
        "by_state": figures.by_state,
        "by_category": figures.by_category,
        "events": figures.events,
    }


def _notes_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.notes.figures()
    return {
        "notes": figures.notes,
        "versions": figures.versions,
        "bytes": figures.bytes,
        "reviews": figures.reviews,
    }


def _forgotten_json(memory: "Memory") -> dict[str, Any]:
    figures = memory.forgetting.figures()
    return {"receipts": figures.receipts, "unfinished": figures.unfinished, "tombstones": figures.tombstones}


def markers_json(memory: "Memory") -> dict[str, Any]:
    """What agents marked: how much was kept, and what could not be, the latest first."""
    figures = memory.learnings.figures()
    reported = memory.learnings.reports(MAX_LISTED_REPORTS) if figures.reported else []
    return {
        "kept": figures.kept,
        "problems": figures.reported,
        "reported": [
            {
                "message": item.message,
                "conversation": item.conversation,
                "place": item.place,
                "problem": item.problem,
                "excerpt": item.excerpt,
            }
            for item in reported
        ],
    }


def index_json(memory: "Memory") -> dict[str, Any]:
    """How far the search index is. `problem` says why nothing can be told of it."""
    from recollect.errors import RecollectError
    from recollect.recall import IndexState

    problem, models = "", dict[str, str]()
    state = IndexState(documents=0, waiting=0, deepened=0, generation=0, static="", deep="", bytes=0)
    try:
        models = {item.name: str(item.state) for item in memory.models.listed() if item.is_used}
        state = memory.recall.state()
    except RecollectError as error:
        problem = str(error)
    return {
        "documents": state.documents,
        "waiting": state.waiting,
        "deepened": state.deepened,
        "to_deepen": state.documents - state.deepened if state.deep else 0,
        "generation": state.generation,
        "static_model": state.static,
        "deep_model": state.deep,
        "models": models,
        "bytes": state.bytes,
        "problem": problem,
    }


@click.command()
@json_option
@click.pass_obj
def doctor(place: Place, as_json: bool) -> None:
    """Say what is well and what is not.

    Compares what is kept with what lies on the disk, and names the next step. Exit code 1 when something is broken.
    """
    from recollect.doctor import Level, examine

    with place.open() as memory:
        findings = examine(memory)
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
