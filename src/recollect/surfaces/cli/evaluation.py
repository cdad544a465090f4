"""eval."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.surfaces.cli.output import amount, print_json, say, style, table, warn
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.settings import Settings

SHOWN = ("any@1", "any@5", "all@5", "recall@5", "recall@10", "ndcg@10", "mrr")
TYPE_TURN = ("any@5", "recall@10")
TYPE_SESSION = ("any@1", "any@5", "all@5")


@click.command("eval")
@click.argument("kind", metavar="SET", type=click.Choice(["recall-set", "locomo", "longmemeval"]))
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, readable=False),
    help="The folder of a recall set, or the official file.",
)
@click.option("--rerank", is_flag=True, help="Let the cross-encoder order the best hits again.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Only so many questions, spread evenly over the set, always the same."
)
@click.option("--no-fetch", is_flag=True, help="Go on without models that are not here.")
@json_option
@click.pass_obj
def evaluate(
    place: Place, kind: str, data: Path, rerank: bool, limit: int | None, no_fetch: bool, as_json: bool
) -> None:
    """Measure how well search finds the evidence of a set.

    SET, a public set of questions, is recall-set, locomo or longmemeval. The set is taken in like transcripts, into
    a home of its own that is deleted afterwards; yours is not touched. Questions without an answer in the set are
    left out.
    """
    from recollect.evaluation import evaluate as run
    from recollect.evaluation import open_set
    from recollect.settings import load_settings

    opened = open_set(kind, data, limit)
    settings = load_settings(place.home, place.database)
    missing = _missing(settings, rerank, no_fetch)
    with _asking(opened.questions) as on_progress:
        result = run(opened, settings, rerank=rerank, on_progress=on_progress)
    found: dict[str, Any] = {"set": kind, "limit": limit, **result.to_json()}
    found["lacks"] = list(dict.fromkeys([*missing, *found["lacks"]]))
    if as_json:
        print_json(found)
    else:
        _show(found, data.name)


eval = evaluate  # noqa: A001 - the name under which the command is looked up


def _missing(settings: "Settings", rerank: bool, no_fetch: bool) -> list[str]:
    """Fetch the models that default settings use and that are not here; what is missing all the same."""
    from recollect.embedding import Models
    from recollect.embedding.catalogue import Kind
    from recollect.errors import Unavailable
    from recollect.surfaces.cli.models import announce, show_bytes

    models = Models(settings)
    wanted = {Kind.DEEP, Kind.RERANKER} if rerank else {Kind.DEEP}
    for item in models.listed():
        if item.lacks and item.kind in wanted and not no_fetch:
            try:
                models.pull(item.name, on_announce=announce, on_progress=show_bytes)
            except Unavailable as error:
                warn(str(error))
    missing = [f"Without {item.name}, {item.lacks}." for item in models.listed() if item.lacks and item.kind in wanted]
    for line in missing:
        warn(line)
    return missing


@contextmanager
def _asking(questions: int) -> Generator[Callable[[int], None]]:
    """A bar with the time left, on a terminal only."""
    import sys

    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("ask", total=questions)
        yield lambda number: bar.advance(task, number)


def _show(found: dict[str, Any], name: str) -> None:
    searched, times = found["searched"], found["milliseconds"]
    asked = amount(found["questions"], "question")
    turns, haystacks = amount(searched["turns"], "turn"), amount(searched["haystacks"], "haystack")
    say(f"{style(name, 'bold')}: {asked} to {turns} in {haystacks}, {'with' if found['rerank'] else 'without'} rerank")
    for level in ("turn", "session"):
        say()
        systems = {"search": found, **found["baselines"]}
        rows = [(system, *_percent(means[level])) for system, means in systems.items()]
        table((f"{level}s, %", *SHOWN), rows, right=range(1, len(SHOWN) + 1))
    say()
    levels = [*(f"turn {name}" for name in TYPE_TURN), *(f"session {name}" for name in TYPE_SESSION)]
    headings = ("type", "questions", *levels)
    table(headings, [_type_row(name, one) for name, one in found["by_type"].items()], right=range(1, len(headings)))
    say()
    say(f"A search took {times['p50']} ms at the median, {times['p95']} ms at the 95th percentile.")
    used = [f"{kind} {name}" for kind, name in found["models"].items() if name]
    say(f"Models: {', '.join(used)}.")
    for line in _left_out(found["left_out"]):
        say(line)
    for lack in found["lacks"]:
        say(style(lack, "yellow"))


def _percent(means: dict[str, float], names: tuple[str, ...] = SHOWN) -> list[str]:
    return [f"{100 * means[name]:.1f}" if means else "–" for name in names]


def _type_row(name: str, one: dict[str, Any]) -> tuple[str, ...]:
    turn, session = _percent(one["turn"], TYPE_TURN), _percent(one["session"], TYPE_SESSION)
    return (name, f"{one['questions']:,}", *turn, *session)


def _left_out(left_out: dict[str, Any]) -> list[str]:
    lines = [f"Left out: {amount(number, 'question')} ({reason})." for reason, number in left_out["questions"].items()]
    if left_out["evidence"]:
        lines.append(f"Left out: {amount(left_out['evidence'], 'reference')} to evidence that is not in the haystack.")
    if left_out["turns"]:
        lines.append(f"Not taken in: {amount(left_out['turns'], 'turn')}.")
    return lines
