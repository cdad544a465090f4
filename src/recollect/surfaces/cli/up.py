"""up."""

import os
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import RecollectError
from recollect.surfaces.cli.history import print_report, reading_progress
from recollect.surfaces.cli.output import (
    amount,
    print_json,
    program,
    say,
    short_path,
    shorten,
    style,
    warn,
    when,
    width,
)
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.cli.running import going_on, leave, log_options
from recollect.surfaces.cli.search import catch_up, deepen_all
from recollect.surfaces.shapes.history import report_json

if TYPE_CHECKING:
    from recollect.daemon.indexing import Fetching
    from recollect.daemon.status import DaemonStatus
    from recollect.embedding.models import Announcement
    from recollect.history import IngestReport
    from recollect.listening import App
    from recollect.memory import Memory
    from recollect.welcome import Welcome

LOG = "recollect"


@click.command()
@click.option("--once", is_flag=True, help="Take in what there is, then end.")
@click.option("--deepen", is_flag=True, help="With --once: also wait for the vectors of the deep model, if it is here.")
@log_options
@json_option
@click.pass_obj
def up(place: Place, once: bool, deepen: bool, is_logged: bool, log_level: str, as_json: bool) -> None:
    """Take in what agents wrote, make it searchable, and keep up.

    With no agent's transcripts on this computer it opens a small demo house. Models of search that are not here are
    fetched, which is announced, unless `fetch_models` is false or --once is given. Ctrl-C ends it within five seconds,
    a second one at once.
    """
    from recollect.embedding.unloading import keep_one_heap

    if once:
        _run(place, once=True, deepen=deepen, as_json=as_json)
        return
    if deepen:
        raise click.UsageError("--deepen goes with --once: without it, everything is deepened in the background.")
    keep_one_heap()
    with going_on(place, LOG, place.settings, is_logged=is_logged, level=log_level):
        _run(place, as_json=as_json)


def _run(place: Place, *, once: bool = False, deepen: bool = False, as_json: bool) -> None:
    from recollect.daemon.daemon import Daemon

    summary: dict[str, Any] = {}

    def first_pass(memory: "Memory", roots: list[Path]) -> None:
        if not as_json and not once:
            say(style("Recollect is up.", "bold") + f" Home: {short_path(str(memory.settings.home))}. Ctrl-C ends it.")
        summary.update(_first_pass(memory, roots, place, quiet=as_json))
        if not as_json and not once:
            _announce_mind(memory, place)
        if once:
            summary["filed"] = _file(memory, quiet=as_json)
        if deepen:
            deepen_all(memory, quiet=as_json)
        if not once and memory.settings.http.listen:
            import_module("recollect.surfaces.http.opening")  # Before there are threads (`loading`).

    def open_app(daemon: Daemon, hook_secret: str) -> "App":
        from recollect.surfaces.http.opening import app_of_daemon

        return app_of_daemon(memory, daemon, hook_secret)

    with place.open() as memory:
        settings = memory.settings
        fetching = _fetching(memory, quiet=as_json) if settings.fetch_models and not once else None
        telling = _Telling(place.invocation())
        daemon = Daemon(
            memory,
            notify=_ignore if as_json else telling.say,
            fetching=fetching,
            open_app=open_app,
            on_begun=_ignore if as_json else telling.say_changes,
            give_up=leave,
        )
        left = daemon.run(first_pass, once=once)
        if left:  # The database cannot be closed under threads that are at work with it.
            _leave(daemon.lost, as_json, summary)
    if daemon.lost:
        raise daemon.lost
    _say_goodbye(as_json, summary, once=once)


def _leave(lost: RecollectError | None, as_json: bool, summary: dict[str, Any]) -> None:
    """`lost`: why there is no house for it any more."""
    if lost:
        warn(str(lost))
    else:
        _say_goodbye(as_json, summary)
    leave(lost.exit_code if lost else 0)


def _say_goodbye(as_json: bool, summary: dict[str, Any], *, once: bool = False) -> None:
    if as_json:
        print_json(summary)
    elif not once:
        say()
        say("Recollect is down. Everything read so far is kept.")


def _ignore(*_: object) -> None:
    """With --json nothing but the one document is printed."""


def _fetching(memory: "Memory", quiet: bool) -> "Fetching":
    """How models are fetched in the background: each thing that happens is a line of its own."""
    from recollect.daemon.indexing import Fetching
    from recollect.surfaces.cli.models import announce
    from recollect.welcome import deepen_demo

    def on_announce(what: "Announcement") -> None:
        _clear_line()
        announce(what)

    def on_problem(problem: str) -> None:
        _clear_line()
        warn(f"Search goes on without better models. {problem}")

    def on_done(names: list[str]) -> None:
        deepen_demo(memory)
        if names and not quiet:
            _clear_line()
            say(f"Ready: {' and '.join(names)}. Messages are deepened now.")

    return Fetching(on_announce=on_announce, on_problem=on_problem, on_done=on_done)


def _clear_line() -> None:
    """The line that tells how things are on a terminal gives way; the next look writes it again."""
    if sys.stdout.isatty():
        sys.stdout.write("\r\x1b[K")
        sys.stdout.flush()


def _first_pass(memory: "Memory", roots: list[Path], place: Place, quiet: bool) -> dict[str, Any]:
    from recollect.welcome import welcome

    since = memory.history.paused_since()
    if since or not memory.settings.enabled:
        if not quiet:
            say(f"Paused since {when(since)}: nothing is read until `recollect resume`." if since else "Not enabled.")
        return {"roots": [str(root) for root in roots], "paused_since": since}
    if not roots:
        _show_demo(memory, quiet)
        return {"roots": []}
    for root in roots:
        if not quiet:
            say(f"Reading {short_path(str(root))}")
    existing = [root for root in roots if os.access(root, os.R_OK)]
    for root in roots:
        if root not in existing:
            why = "may not be read: check its permissions" if os.path.exists(root) else "does not exist"
            warn(f"recollect: {root} {why}; it is watched for.")
    with reading_progress(not quiet) as (on_total, on_progress):
        report = memory.history.ingest(existing, guess=False, on_total=on_total, on_progress=on_progress)
    _index(memory, quiet)
    result = welcome(memory, existing)
    if not quiet:
        print_report(report)
        _print_result(result, place)
        _announce_librarian(memory, place)
    return {"roots": [str(root) for root in roots], **report_json(report), **asdict(result)}


def _index(memory: "Memory", quiet: bool) -> None:
    """What was read can be found. History is kept all the same when that fails."""
    try:
        catch_up(memory, quiet=quiet)
    except RecollectError as error:
        warn(f"recollect: nothing can be searched yet. {error}")


def _announce_mind(memory: "Memory", place: Place) -> None:
    """By which ways the agent can be talked with while this runs."""
    from recollect.channels.kinds import wanted_kinds

    wanted = [kind.name for kind in wanted_kinds(memory.settings)]
    if not memory.settings.mind.model:
        if wanted or memory.settings.heartbeat.model:
            by = f" by {' and '.join(wanted)}" if wanted else ""
            path = short_path(str(memory.settings.config_path))
            warn(f"[mind] in {path} names no model, so nobody answers{by}.")
        return
    if wanted:
        by = " and ".join(wanted)
        say(f"You can talk with {memory.settings.agent_name} by {by}. See: {place.invocation()} channels")
    if memory.settings.heartbeat.model:
        say(f"It may write to you first. See: {place.invocation()} heartbeat --explain")


def _announce_librarian(memory: "Memory", place: Place) -> None:
    librarian = memory.librarian
    problem = librarian.problem() if librarian.reader != "none" else ""
    if problem:
        warn(f"Conversations are kept and not filed: {problem}")
    elif librarian.reader != "none" and not librarian.works_by_itself:
        warn(
            f"Conversations are filed only when you say so, with {place.invocation()} process: {librarian.reader} "
            "costs money, and [librarian] in recollect.toml has no ceiling (dollars_per_day, tokens_per_day)."
        )
    elif librarian.works_by_itself:
        by = "by rules, without a model" if librarian.reader == "rules" else f"by {librarian.reader}"
        say(f"Finished conversations are filed {by}. See: {style(f'{place.invocation()} today', 'cyan')}")
    say()


def _file(memory: "Memory", quiet: bool) -> int:
    """Let the librarian read what is ready, where it does so by itself; how many conversations that were."""
    from recollect.surfaces.cli.librarian import work

    librarian = memory.librarian
    if not librarian.works_by_itself:
        return 0
    librarian.queue.recover()
    librarian.queue.ready()
    worked = work(librarian, None, as_json=quiet)
    if not quiet and worked.processed:
        say(f"The librarian read {amount(worked.processed, 'conversation')}: {amount(worked.kept, 'record')}.")
    if worked.stopped or worked.problem:
        warn(f"recollect: {worked.stopped or worked.problem}")
    return worked.processed


def _print_result(result: "Welcome", place: Place) -> None:
    kept = f"{amount(result.conversations, 'conversation')} from {amount(result.months, 'month')}"
    say()
    say(style(f"{kept} {'is' if result.conversations == 1 else 'are'} safe now.", "bold", "green"))
    if result.first_at:
        say(f"The oldest is from {when(result.first_at)}.")
    if result.next_to_be_deleted:
        say("Claude Code would have deleted next:")
        for item in result.next_to_be_deleted:
            left = (
                "overdue" if item.is_overdue else f"in {amount(item.days_left, 'day')}" if item.days_left else "today"
            )
            say(f"  {left:>11}  {shorten(item.title, 70)}")
    say(f"Try: {style(result.try_this.replace('recollect', place.invocation(), 1), 'cyan')}")


def _show_demo(memory: "Memory", quiet: bool) -> None:
    """No agent of this computer wrote anything yet."""
    from recollect.welcome import open_demo

    home, found, first_command = open_demo(memory)
    if quiet:
        return
    say(style("DEMO HOUSE", "bold", "yellow") + ": no agent's transcripts were found on this computer, so here are")
    say(f"{len(found)} made-up conversations, kept apart in {short_path(str(home))}. Nothing of yours is in it.")
    say()
    for item in found:
        say(f"  {item.conversation.id[:8]}  {when(item.conversation.started_at)}  {shorten(item.title, 70)}")
    say()
    command = f"{program()} --home {short_path(str(home))} {first_command}"
    say(f"Try: {style(command, 'cyan')}")
    say(f"The librarian's shelves: {short_path(str(home / 'notes'))}")
    say("Your own appear by themselves as soon as an agent writes on this computer; exports: recollect ingest FILE.")
    say()


class _Telling:
    """Each change is a line of its own. On a terminal one more line, which is written over, tells how things stand."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._address = ""
        self._troubles: dict[str, str] = {}
        self._failed = ""

    def say(self, status: "DaemonStatus", report: "IngestReport") -> None:
        is_terminal = sys.stdout.isatty()
        failed = report.problems[-1].reason if report.failed else ""
        if is_terminal and failed and failed != self._failed:
            _say_line(status.last_change_at, failed)
        elif not is_terminal and (report.ingested or report.failed):
            news = f"{amount(report.messages_added, 'new message')} from {amount(report.ingested, 'file')}"
            _say_line(status.last_change_at, f"{news}. {failed}".rstrip())
        self._failed = failed or self._failed
        self.say_changes(status)
        if is_terminal:
            _write_over(status)

    def say_changes(self, status: "DaemonStatus") -> None:
        """Where it is asked, and what is the matter: whole, as the next step stands at the end."""
        from recollect.daemon.status import problems_of

        if status.serving.address not in ("", self._address):
            _clear_line()
            say(f"Programs ask it at {status.serving.address}, with a token: {self._program} token create")
        self._address = status.serving.address
        troubles = problems_of(status)
        for part, words in troubles.items():
            if words != self._troubles.get(part, ""):
                _say_line(status.last_scan_at, f"{part}: {words or 'All is well again.'}")
        self._troubles = troubles


def _say_line(at: str, words: str) -> None:
    _clear_line()
    say(f"{when(at)}  {words}")


def _write_over(status: "DaemonStatus") -> None:
    line = f"Watching {amount(len(status.roots), 'folder')}, last look {when(status.last_scan_at)[-5:]}"
    if status.messages_added:
        line += f", {amount(status.messages_added, 'new message')}, the last at {when(status.last_change_at)[-5:]}"
    if status.librarian.filed:
        line += f", {amount(status.librarian.filed, 'conversation')} filed"
    if status.to_deepen:
        line += f", {status.to_deepen:,} to deepen"
    sys.stdout.write(f"\r\x1b[K{shorten(line, width() - 1)}")
    sys.stdout.flush()
