"""What was read, counted: per file for its whole life, and per run for the report."""

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Counts:
    lines: int = 0
    parsed: int = 0
    bad: int = 0
    """Lines that are not one readable record."""
    recovered: int = 0
    """Records read out of bad lines all the same."""
    in_messages: int = 0
    """Records that belong to a message. A file that grows without any has a format we no longer know."""
    private: int = 0
    """Records left out on purpose: see `privacy`."""
    types: dict[str, int] = field(default_factory=dict[str, int])
    blocks: dict[str, int] = field(default_factory=dict[str, int])

    def count_record(self, kind: str, blocks: tuple[str, ...], by: int = 1) -> None:
        _add(self.types, kind, by)
        for block in blocks:
            _add(self.blocks, block, by)

    def add(self, other: "Counts") -> None:
        self.lines += other.lines
        self.parsed += other.parsed
        self.bad += other.bad
        self.recovered += other.recovered
        self.in_messages += other.in_messages
        self.private += other.private
        for kind, number in other.types.items():
            _add(self.types, kind, number)
        for block, number in other.blocks.items():
            _add(self.blocks, block, number)


def _add(counts: dict[str, int], name: str, by: int) -> None:
    number = counts.get(name, 0) + by
    if number:
        counts[name] = number
    else:
        counts.pop(name, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    file: str
    reason: str
    line: int | None = None
