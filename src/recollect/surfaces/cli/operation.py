"""health, doctor, sql; and where a command finds its home."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.surfaces.cli.output import print_json, say, short_path, style, table, when

if TYPE_CHECKING:
    from recollect.memory import Memory

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What `--home` and `--db` say."""

    home: Path | None
    database: str | None

    def open(self) -> "Memory":
        from recollect.memory import open_memory

        return open_memory(self.home, self.database)


def register(app: typer.Typer) -> None:
    for command in (health, doctor, sql):
        app.command()(command)


def health(context: typer.Context, as_json: Json = False) -> None:
    """Figures: what is kept, and how each file stands."""
    place: Place = context.obj
    with place.open() as memory:
        value = health_json(memory)
    if as_json:
        print_json(value)
        return
    conversations: dict[str, Any] = value["conversations"]
    by_status = ", ".join(f"{number:,} {status}" for status, number in conversations["by_status"].items())
    say(f"{style('Conversations', 'bold')}  {conversations['total']:,} in {conversations['months']} months ({by_status})")
    if conversations["first_at"]:
        say(f"               {when(conversations['first_at'])} to {when(conversations['last_at'])}")
    messages = ", ".join(f"{number:,} {author}" for author, number in value["messages"]["by_author"].items())
    say(f"{style('Messages', 'bold')}       {messages or 'none'}")
    vault = value["vault"]
    say(
        f"{style('Vault', 'bold')}          {vault['records']:,} records, {vault['bytes_read'] / 1e6:,.1f} MB kept in "
        f"{vault['bytes_kept'] / 1e6:,.1f} MB"
    )
    say(f"{style('Database', 'bold')}       {short_path(value['database']['location'])}, {value['database']['bytes'] / 1e6:,.1f} MB")
    files: dict[str, Any] = value["files"]
    say(f"{style('Files', 'bold')}          " + ", ".join(f"{number:,} {name}" for name, number in files["by_status"].items()))
    if files["attention"]:
        say()
        rows = [
            (item["status"], item["lines_bad"], item["file"], item["reason"] or f"{item['lines_bad']} unreadable lines")
            for item in files["attention"]
        ]
        table(("state", "bad", "file", "why"), rows, right=(1,))


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
        "paused_since": memory.history.paused_since(),
    }


def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Compare what is kept with what lies on the disk, and say what to do. Exit code 1 when something is broken."""
    from recollect.doctor import Level, examine

    place: Place = context.obj
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
        raise typer.Exit(1)


def sql(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="One SELECT. Without it the views are listed.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most this many rows.")] = 200,
    seconds: Annotated[float, typer.Option(min=0.1, max=300, help="At most this long.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Read-only SQL on views of your history: conversations, messages, files, occurrences, events."""
    from recollect.history.views import VIEWS

    place: Place = context.obj
    with place.open() as memory:
        if not query:
            views = {name: memory.history.sql(f"SELECT * FROM {name}", limit=1)[0] for name in VIEWS}
        else:
            columns, rows = memory.history.sql(query, seconds=seconds, limit=limit)
    if not query:
        if as_json:
            print_json({"views": views})
        else:
            table(("view", "columns"), [(name, ", ".join(columns)) for name, columns in views.items()])
    elif as_json:
        print_json({"columns": columns, "rows": [list(row) for row in rows]})
    else:
        table(columns, [["" if cell is None else " ".join(str(cell).split()) for cell in row] for row in rows])
