"""What people wrote on the shelves and the librarian took over, in words."""

from typing import TYPE_CHECKING

from recollect.surfaces.cli.output import on_one_line, say, warn
from recollect.surfaces.cli.place import Place

if TYPE_CHECKING:
    from recollect.librarian.shelves import ShelfReport

DONE = {
    "edited": "changed",
    "added": "added",
    "proposed": "deleted",
    "removed": "taken out of a day",
    "hidden": "hidden",
    "shown": "shown again",
    "answered": "answered",
    "copied": "copied",
    "overtaken": "changed meanwhile elsewhere, which counts",
}
WAITS = "proposed"


def say_written(report: "ShelfReport", place: Place) -> None:
    """Nothing, where nobody wrote anything."""
    counts = [(number, words) for what, words in DONE.items() if (number := report.read_back[what])]
    if counts:
        (first, words), *others = counts
        parts = [f"{first:,} line{'' if first == 1 else 's'} {words}", *(f"{n:,} {more}" for n, more in others)]
        waits = f" What was deleted waits: {place.invocation()} review" if report.read_back[WAITS] else ""
        say(f"From your notes: {', '.join(parts)}.{waits}")
    for one in report.problems:
        warn(f"{on_one_line(one.path)}: {on_one_line(one.reason)}")
