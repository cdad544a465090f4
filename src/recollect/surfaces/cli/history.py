"""ingest, conversations, show, pause, resume."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import (
    amount,
    is_terminal,
    print_json,
    say,
    short_path,
    shorten,
    style,
    table,
    warn,
    when,
)
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.shapes.history import listed_json, message_json, report_json

if TYPE_CHECKING:
    from recollect.history import IngestReport, Listed, Message

MAX_SHOWN_PROBLEMS = 10
HEADING_CHARACTERS = 100


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False))
@click.option("--source", help="Whose format it is, when it is not recognised.")
@click.option("--reimport", is_flag=True, help="Read again from the start; from the vault where the file is gone.")
@click.option("--no-raw", is_flag=True, help="Keep the raw lines with their secrets masked too.")
@json_option
@click.pass_obj
def ingest(
    place: Place, paths: tuple[Path, ...], source: str | None, reimport: bool, no_raw: bool, as_json: bool
) -> None:
    """Take in transcripts. Only what is new is read; nothing is doubled."""
    with place.open() as memory, reading_progress(not as_json) as (on_total, on_progress):
        report = memory.history.ingest(
            paths,
            source=source,
            reimport=reimport,
            keep_raw=False if no_raw else None,
            on_total=on_total,
            on_progress=on_progress,
        )
    if as_json:
        print_json(report_json(report))
    else:
        print_report(report)
    if report.failed:
        raise click.exceptions.Exit(1)


Advance = Callable[[int], None]


@contextmanager
def reading_progress(wanted: bool) -> Generator[tuple[Advance, Advance]]:
    """A bar with rate and time left, on a terminal only."""
    import sys

    if not wanted or not sys.stderr.isatty():
        yield (lambda _: None), (lambda _: None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("Reading"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("read", total=None)
        yield (lambda total: bar.update(task, total=total)), (lambda read: bar.advance(task, read))


def print_report(report: "IngestReport") -> None:
    counts = report.counts
    megabytes = report.bytes_read / 1e6
    say(
        f"{amount(report.messages_added, 'new message')} from {report.ingested:,} of {amount(report.files, 'file')}"
        f" ({megabytes:,.1f} MB in {report.seconds:.1f} s)"
    )
    notes = [
        (report.skipped, "file", "unchanged or empty"),
        (report.failed, "file", "failed"),
        (report.passed_over, "file", "passed over, no transcripts"),
        (counts.bad, "line", "not one readable record, kept as they are"),
        (counts.recovered, "record", "read out of those lines all the same"),
        (counts.private, "record", "left out as private"),
        (counts.forgotten, "record", "left out because they were forgotten"),
    ]
    for number, noun, what in notes:
        if number:
            say(f"  {amount(number, noun)} {what}")
    for problem in report.problems[:MAX_SHOWN_PROBLEMS]:
        where = f"{short_path(problem.file)}:{problem.line}" if problem.line else short_path(problem.file)
        warn(f"  {where}: {problem.reason}")
    if len(report.problems) > MAX_SHOWN_PROBLEMS:
        warn(f"  … and {len(report.problems) - MAX_SHOWN_PROBLEMS} more; --json lists them all")


@click.command()
@click.option("--status", default="", help="active, ready, queued, processing, archived or skipped.")
@click.option("--project", default="", help="Part of the working folder.")
@click.option("--limit", default=30, type=click.IntRange(min=1), help="At most this many.", show_default=True)
@agent_option
@json_option
@click.pass_obj
def conversations(place: Place, status: str, project: str, limit: int, agent: str, as_json: bool) -> None:
    """List conversations, the latest first."""
    with place.opened_as(agent) as memory:
        found = memory.history.conversations(status=status, project=project, limit=limit)
    if as_json:
        print_json([listed_json(item) for item in found])
        return
    if not found:
        program = place.invocation()
        say(f"No conversations. `{program} up` takes yours in, `{program} ingest PATH` a file or a folder.")
        return
    rows = [
        (
            item.conversation.id[:8],
            when(item.conversation.ended_at),
            item.conversation.messages,
            item.conversation.status,
            os.path.basename(item.conversation.project.rstrip("/")) or "–",
            shorten(item.title, HEADING_CHARACTERS),
        )
        for item in found
    ]
    table(("id", "last said", "messages", "status", "project", "title"), rows, right=(2,))


@click.command()
@click.argument("name", metavar="ID")
@click.option(
    "--all", "everything", is_flag=True, help="Also tool results, machine text, sub-agents, lines that are gone."
)
@click.option("--thread", is_flag=True, help="The whole thread: resumed, forked and continued sessions too.")
@click.option("--ids", is_flag=True, help="Each message with its id, for `promote` and `forget --message`.")
@agent_option
@json_option
@click.pass_obj
def show(place: Place, name: str, everything: bool, thread: bool, ids: bool, agent: str, as_json: bool) -> None:
    """Show one conversation as a readable transcript."""
    from recollect.history.transcript import plain

    with place.opened_as(agent) as memory:
        item = memory.history.conversation(name)
        parts = memory.history.thread(item.conversation) if thread else [item]
        messages = [
            message for part in parts for message in memory.history.messages(part.conversation, everything=everything)
        ]
        files = memory.history.file_keys(messages) if as_json else {}
    if as_json:
        print_json(
            {**listed_json(item), "messages": [message_json(files[message.file_id], message) for message in messages]}
        )
        return
    _print_heading(item, parts)
    if is_terminal():
        _print_coloured(messages, ids)
    else:
        say(plain(messages, ids=ids))


def _print_heading(item: "Listed", parts: "list[Listed]") -> None:
    conversation = item.conversation
    say(style(shorten(item.title, HEADING_CHARACTERS), "bold"))
    facts = [
        when(conversation.started_at),
        amount(sum(part.conversation.messages for part in parts), "message"),
        conversation.status,
        short_path(conversation.project) or "no project",
        amount(len(parts), "conversation") if len(parts) > 1 else "",
    ]
    say(style(" · ".join(fact for fact in facts if fact), "dim"))
    say(style(f"id {conversation.id} · {conversation.source} · {item.file}", "dim"))
    say()


def _print_coloured(messages: "list[Message]", ids: bool) -> None:
    from recollect.history.transcript import paragraphs

    styles = {"day": ("bold",), "pause": ("dim",), "user": ("green", "bold"), "assistant": ("blue", "bold")}
    for paragraph in paragraphs(messages, ids=ids):
        if paragraph.style in ("text", "tool"):
            names = ("dim",) if paragraph.style == "tool" else ()
            for line in paragraph.text.splitlines():
                say("  " + style(line, *names))
        elif paragraph.style in ("day", "pause"):
            say()
            say(style(f"── {paragraph.text} ──", *styles[paragraph.style]))
        else:
            say()
            say(style(paragraph.text, *styles.get(paragraph.style, ("dim",))))
    say()


@click.command()
@json_option
@click.pass_obj
def pause(place: Place, as_json: bool) -> None:
    """Stop taking anything in. What is said until `resume` stays out for good."""
    with place.open() as memory:
        since = memory.history.pause()
    if as_json:
        print_json({"paused": True, "since": since})
    else:
        say(f"Paused since {when(since)}. `recollect resume` goes on.")


@click.command()
@json_option
@click.pass_obj
def resume(place: Place, as_json: bool) -> None:
    """Go on after a pause."""
    with place.open() as memory:
        span = memory.history.resume()
    if as_json:
        print_json({"paused": False, "since": span[0] if span else None, "until": span[1] if span else None})
    elif span:
        say(f"Taking in again. What was said from {when(span[0])} to {when(span[1])} stays out.")
    else:
        say("It was not paused.")
