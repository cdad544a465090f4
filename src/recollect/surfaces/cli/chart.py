"""A small chart of bars in the terminal: one line for each day, or for weeks or months where there are too many."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

MOST_LINES = 31
"""More do not fit on a screen together with what stands around them."""
LEAST_CELLS = 10
BLOCKS, PLAIN = "█▓░▚", "#=.+"
"""What the first, second, third and fourth part of a bar is drawn with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    label: str
    parts: tuple[float, ...]
    """At most as many as there are marks to draw them with."""
    note: str

    @property
    def sum(self) -> float:
        return sum(self.parts)


def marks() -> str:
    """Only a terminal that shows UTF-8 is given more than ASCII."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
    return BLOCKS if is_utf8 and sys.stdout.isatty() else PLAIN


def drawn(bars: Sequence[Bar], columns: int, with_marks: str) -> list[str]:
    """Lines of no more than so many columns, as long as labels and notes leave ten of them. The longest bar takes all
    the room; one that is not nothing is seen."""
    labels = max((len(bar.label) for bar in bars), default=0)
    notes = max((len(bar.note) for bar in bars), default=0)
    cells = max(columns - labels - notes - 4, LEAST_CELLS)
    most = max((bar.sum for bar in bars), default=0)
    return [
        f"{bar.label:<{labels}}  {_bar(bar, cells, most, with_marks):<{cells}}  {bar.note:>{notes}}".rstrip()
        for bar in bars
    ]


def _bar(bar: Bar, cells: int, most: float, with_marks: str) -> str:
    """Each part ends where the sum up to it does, so that roundings do not add up."""
    if bar.sum <= 0:
        return ""
    line, reached = "", 0.0
    for part, mark in zip(bar.parts, with_marks, strict=False):
        reached += part
        line += mark * (round(reached / most * cells) - len(line))
    biggest = max(range(len(bar.parts)), key=lambda number: bar.parts[number])
    return line or with_marks[biggest]


def periods(days: Mapping[str, Sequence[float]], last: str) -> dict[str, tuple[float, ...]]:
    """The figures of each day from the first that has some to the last, those without any included; added up by week
    or by month where there would be too many lines. The earliest first."""
    if not days:
        return {}
    first, end = date.fromisoformat(min(days)), date.fromisoformat(max(last, *days))
    number = (end - first).days + 1
    name = _of_day if number <= MOST_LINES else _of_week if number <= 7 * (MOST_LINES - 1) else _of_month
    width = max(len(figures) for figures in days.values())
    found: dict[str, list[float]] = {}
    for offset in range(number):
        day = first + timedelta(days=offset)
        sums = found.setdefault(name(day), [0.0] * width)
        for index, figure in enumerate(days.get(day.isoformat(), ())):
            sums[index] += figure
    return {label: tuple(sums) for label, sums in found.items()}


def _of_day(day: date) -> str:
    return f"{day:%a} {day.isoformat()}"


def _of_week(day: date) -> str:
    return f"week of {(day - timedelta(days=day.weekday())).isoformat()}"


def _of_month(day: date) -> str:
    return f"{day:%Y-%m}"
