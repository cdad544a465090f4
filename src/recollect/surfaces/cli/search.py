"""search, reindex."""

import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recollect.clock import LOCAL
from recollect.surfaces.cli.output import amount, print_json, printable, say, speaker, style, table, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.resuming import resume_command

if TYPE_CHECKING:
    from recollect.asking import Question
    from recollect.memory import Memory

MANY_MESSAGES = 2_000
"""More than this to index before a search is worth a progress bar."""

NOTE_SIGN = "✎ Note"

Progress = Callable[[int], None]


@click.command()
@click.argument("query")
@click.option(
    "--type",
    "search_type",
    type=click.Choice(["conversations", "facts", "both", "notes"]),
    default="both",
    show_default=True,
    help="What is searched: messages, records, notes, or all of these: both.",
)
@click.option("--limit", default=10, type=click.IntRange(1, 1_000), help="At most this many.", show_default=True)
@click.option("--since", default="", help="Said or written then or later: 2026-05-01, 'yesterday', 'last week'.")
@click.option("--until", default="", help="Said or written until the end of then.")
@click.option("--as-of", default="", help="What was known at the end of then.")
@click.option("--agent", default="", help="As this agent sees it.")
@click.option("--author", "authors", multiple=True, help="user, assistant or subagent.")
@click.option("--source", "sources", multiple=True, help="Whose transcripts, as in `recollect sources`.")
@click.option("--project", "projects", multiple=True, help="Part of the working folder.")
@click.option("--status", "statuses", multiple=True, help="Status of the conversation.")
@click.option("--conversation", "conversations", multiple=True, metavar="ID", help="Only in this conversation.")
@click.option("--rerank", is_flag=True, help="Let a model read the best hits again: better, and slower.")
@click.option("--fast", is_flag=True, help="Leave out the deep model: quicker without `recollect up`, and worse.")
@click.option("--explain", is_flag=True, help="Show what each part of the ranking gave.")
@json_option
@click.pass_obj
def search(place: Place, as_json: bool, **options: Any) -> None:
    """Find what was said, learned or written down.

    QUERY is a question or a few words. Times in it count: "what did we say about seeds last week". A running
    `recollect up` answers at once; without it what is new is indexed first. Notes that others changed with their own
    tools are found as they are now.
    """
    found = _found(place, _question(options), quiet=as_json)
    for hit in found["hits"]:
        hit["resume"] = resume_command(hit["source"], hit["session_id"], hit["project"] or hit["cwd"])
    if as_json:
        print_json(found)
    else:
        _print_found(found, place)


def _question(options: dict[str, Any]) -> "Question":
    from recollect.asking import Question

    times = {name: options.pop(name) for name in ("since", "until", "as_of")}
    here = datetime.now(LOCAL)
    offset = here.utcoffset()
    text = options.pop("query")
    return Question(
        text=text,
        zone_seconds=round(offset.total_seconds()) if offset else 0,
        **{name: _moment(value, here, end=name != "since") for name, value in times.items() if value},
        **options,
    )


def _moment(text: str, here: datetime, *, end: bool) -> datetime:
    from recollect.recall import moment_of

    assert here.tzinfo
    return moment_of(text, here, LOCAL, end=end)


def _found(place: Place, question: "Question", *, quiet: bool) -> dict[str, Any]:
    """From the daemon of this home, else by searching here."""
    from recollect.asking import answer, ask_daemon

    found = ask_daemon(place.settings(), question)
    if found is not None:
        return found
    with place.open() as memory:
        catch_up(memory, quiet=quiet)
        return answer(memory, question)


def catch_up(memory: "Memory", *, quiet: bool) -> None:
    """Index what is new, with a bar when that is much."""
    is_watched = not quiet and sys.stderr.isatty()
    waiting = memory.recall.waiting() if is_watched else 0
    with progress("Indexing", waiting >= MANY_MESSAGES) as (on_total, on_progress):
        on_total(waiting)
        memory.recall.catch_up(on_progress)


@contextmanager
def progress(what: str, wanted: bool) -> Generator[tuple[Progress, Progress]]:
    """A bar that counts messages, with the time left, on a terminal only."""
    if not wanted or not sys.stderr.isatty():
        yield (lambda _: None), (lambda _: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield (lambda total: bar.update(task, total=total)), (lambda number: bar.advance(task, number))


# For people


def _print_found(found: dict[str, Any], place: Place) -> None:
    hits, program = found["hits"], place.invocation()
    for period in found["periods"]:
        say(style(f"“{printable(period['text'])}”: {when(period['start'])} to {when(period['end'])}", "dim"))
    for number, hit in enumerate(hits, 1):
        _print_hit(number, hit, program)
    if not hits:
        say(f"Nothing was found. Try other words or fewer filters; `{program} health` tells what is kept.")
    if hits and "why" in hits[0]:
        _print_reasons(hits)
    for lack in found["lacks"]:
        say(style(f"Note: {printable(place.for_this_home(lack))}.", "dim"))


def _print_hit(number: int, hit: dict[str, Any], program: str) -> None:
    say(style(f"{number:>2}. ", "dim") + style("  ".join(fact for fact in _facts(hit) if fact), "bold"))
    say(f"    {_highlighted(hit['snippet'], hit['highlights'])}")
    for command in _next_steps(hit, program):
        say("    " + style(printable(command), "cyan"))
    say()


def _facts(hit: dict[str, Any]) -> list[str]:
    """When, by whom, and where."""
    if hit["kind"] == "note":
        return [when(hit["at"]), NOTE_SIGN, printable(f"{hit['file']}:{hit['line']}")]
    project = hit["project"].rstrip("/").rpartition("/")[2]
    return [when(hit["at"]), speaker(hit["author"]), printable(project), hit["source"]]


def _next_steps(hit: dict[str, Any], program: str) -> list[str]:
    """Commands that show more of it, or go on from there."""
    if hit["kind"] == "note":
        return [f"{program} notes show {shlex.quote(hit['id'])}"]
    # What a sub-agent said belongs to no conversation: it is shown with the session it worked for.
    shown = hit["conversation"][:8] or (f"{hit['session_id']} --all" if hit["session_id"] else "")
    steps = [f"{program} why {hit['id']}"] if hit["kind"] == "record" else []
    steps += [f"{program} show {shown}"] if shown else []
    return [*steps, hit["resume"]] if hit["resume"] else steps


def _highlighted(text: str, marks: list[list[int]]) -> str:
    shown: list[str] = []
    reached = 0
    for start, end in marks:
        shown += [printable(text[reached:start]), style(printable(text[start:end]), "bold", "yellow")]
        reached = end
    return "".join([*shown, printable(text[reached:])])


def _print_reasons(hits: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for hit in hits for name in hit["why"]))
    rows = [
        (number, *(f"{hit['why'][name]:.2f}" if name in hit["why"] else "–" for name in names), f"{hit['score']:.2f}")
        for number, hit in enumerate(hits, 1)
    ]
    table(("hit", *names, "score"), rows, right=range(len(names) + 2))
    say()


@click.command()
@click.option("--deepen", is_flag=True, help="Also wait for the vectors of the deep model.")
@json_option
@click.pass_obj
def reindex(place: Place, deepen: bool, as_json: bool) -> None:
    """Build the search index anew.

    The old one serves until the new one is whole. Ctrl-C stops it; the next time it goes on from there.
    """
    import time

    started = time.perf_counter()
    with place.open() as memory:
        with progress("Indexing", not as_json) as (on_total, on_progress):
            on_total(memory.recall.number())
            memory.recall.reindex(on_progress, on_progress)
        if deepen:
            deepen_all(memory, quiet=as_json)
        state = memory.recall.state()
    seconds = round(time.perf_counter() - started, 3)
    if as_json:
        value = {"documents": state.documents, "deepened": state.deepened}
        print_json({**value, "seconds": seconds, "generation": state.generation})
        return
    say(f"{amount(state.documents, 'document')} indexed, {state.deepened:,} deepened, in {seconds:.1f} s.")
    if state.deep and state.deepened < state.documents:
        advice = "`recollect up` deepens the rest in the background, or `recollect reindex --deepen` now."
        say(place.for_this_home(advice))


def deepen_all(memory: "Memory", *, quiet: bool) -> None:
    """Until all messages have the vectors of the deep model, if it is here."""
    if memory.models.deep is None:
        if not quiet:
            say("The deep model is not here, so nothing is deepened. `recollect models pull` fetches it.")
        return
    with progress("Deepening", not quiet) as (on_total, on_progress):
        memory.recall.deepen(on_total=on_total, on_progress=on_progress)
