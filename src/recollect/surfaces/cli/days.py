"""today, week."""

import json
import os
from typing import TYPE_CHECKING, Any, cast

import click

from recollect.errors import Invalid, NotFound
from recollect.surfaces.cli.output import amount, on_one_line, print_json, printable, say, shorten, style, when, width
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recollect.librarian.days import Day, DayLine
    from recollect.memory import Memory
    from recollect.surfaces.shapes.days import Line

MOST_OF_A_GROUP = {"learned": 14, "changed": 8, "doubted": 6}
"""Lines that fit on one screen together."""
HEADINGS = {"learned": "Learned", "changed": "Changed", "doubted": "Waits for you"}
NUMBERS = "numbers.json"


def _options(command: "Callable[..., Any]") -> "Callable[..., Any]":
    for option in (
        click.option("--edit", "edited", nargs=2, metavar="N TEXT", help="Say line N better."),
        click.option(
            "--wrong", type=int, metavar="N", help="Line N is wrong: take it back, or reject what it proposes."
        ),
        click.option("--right", type=int, metavar="N", help="Line N is right: accept what it proposes."),
        click.option("--undo", "undone", type=int, metavar="N", help="Take the last change of line N back."),
        click.option("--all", "everything", is_flag=True, help="All lines, not only those of one screen."),
        json_option,
        click.pass_obj,
    ):
        command = option(command)
    return command


@click.command()
@_options
def today(place: Place, **options: Any) -> None:
    """What today brought: learned, changed, doubted. Each line can be corrected by its number."""
    _tell(place, 1, **options)


@click.command()
@_options
def week(place: Place, **options: Any) -> None:
    """What the last seven days brought. Each line can be corrected by its number."""
    _tell(place, 7, **options)


def _tell(
    place: Place,
    days: int,
    *,
    edited: tuple[str, str] | None,
    wrong: int | None,
    right: int | None,
    undone: int | None,
    everything: bool,
    as_json: bool,
) -> None:
    given = [one for one in (edited, wrong, right, undone) if one is not None]
    if len(given) > 1:
        raise click.UsageError("One correction at a time.")
    with place.open() as memory:
        if given:
            done = _correct(memory, edited, wrong, right, undone)
            if as_json:
                print_json({"done": done})
            else:
                say(done)
            return
        memory.librarian.tidy()
        day = memory.librarian.day(days)
        _keep_numbers(memory.settings.runtime, day.lines)
    if as_json:
        from recollect.surfaces.shapes.days import day_json

        print_json(day_json(day))
    else:
        _print(day, days, everything, place)


# Correcting


def _correct(
    memory: "Memory", edited: tuple[str, str] | None, wrong: int | None, right: int | None, undone: int | None
) -> str:
    from recollect.surfaces.shapes.days import Deed, corrected

    if edited:
        if not edited[0].isdecimal():
            raise Invalid(f"{edited[0]!r} is no number of a line. `recollect today` shows them.")
        return printable(corrected(memory, _numbered(memory.settings.runtime, int(edited[0])), "edit", edited[1]))
    given = {"wrong": wrong, "right": right, "undo": undone}
    deed, number = next((name, number) for name, number in given.items() if number is not None)
    return printable(corrected(memory, _numbered(memory.settings.runtime, number), cast("Deed", deed)))


def _keep_numbers(runtime: "Path", lines: "list[DayLine]") -> None:
    """What each number meant when it was shown. Lost: it is shown again."""
    kept = [{"record": one.record_id, "proposal": one.proposal_id, "question": one.question_id} for one in lines]
    runtime.mkdir(parents=True, exist_ok=True)
    temporary = runtime / f"{NUMBERS}.new"
    temporary.write_text(json.dumps(kept), encoding="utf-8")
    os.replace(temporary, runtime / NUMBERS)


def _numbered(runtime: "Path", number: int) -> "Line":
    from recollect.surfaces.shapes.days import Line

    try:
        kept = json.loads((runtime / NUMBERS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise NotFound("No lines were shown yet: `recollect today` shows and numbers them.") from None
    if not 1 <= number <= len(kept):
        raise NotFound(f"There is no line {number}: the last list had {len(kept):,}.")
    return Line(**kept[number - 1])


# Showing


def _print(day: "Day", days: int, everything: bool, place: Place) -> None:
    span = "Today" if days == 1 else f"Since {when(day.since)[:10]}"
    say(style(f"{span}: {amount(day.conversations, 'conversation')} read.", "bold"))
    if not day.lines:
        say("Nothing was learned, changed or doubted.")
        return
    numbers = {id(line): number for number, line in enumerate(day.lines, 1)}
    for group, heading in HEADINGS.items():
        found = day.of(group)
        shown = found if everything else found[: MOST_OF_A_GROUP[group]]
        if shown:
            say(f"\n{style(heading, 'bold')}")
        for line in shown:
            _print_line(numbers[id(line)], line)
        if len(found) > len(shown):
            say(style(f"     … and {len(found) - len(shown):,} more: --all", "dim"))
    command = f"{place.invocation()} {'today' if days == 1 else 'week'}"
    say(f"\n{command} --wrong N, --edit N TEXT, --undo N, --right N")


def _print_line(number: int, line: "DayLine") -> None:
    about = f"{line.subject}: " if line.subject not in ("", "user") and line.subject not in line.text else ""
    note = f"  ({on_one_line(line.note)})" if line.note else ""
    text = shorten(on_one_line(f"{about}{line.text}"), max(width() - 6 - len(note), 40))
    say(f"{number:4}  {text}{style(note, 'dim')}")
