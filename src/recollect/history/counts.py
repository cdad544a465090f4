"""What was read, counted: per file for its whole life, and per run for the report."""

from dataclasses import dataclass, field

from recollect.errors import Unreadable


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
    forgotten: int = 0
    """Records left out because they were forgotten: see `burial`."""
    types: dict[str, int] = field(default_factory=dict[str, int])
    silent_types: dict[str, int] = field(default_factory=dict[str, int])
    """Those of the records that belong to no message: kept, not shown."""
    blocks: dict[str, int] = field(default_factory=dict[str, int])

    def count_record(self, kind: str, blocks: tuple[str, ...], by: int = 1) -> None:
        add_to(self.types, kind, by)
        for block in blocks:
            add_to(self.blocks, block, by)

    def add(self, other: "Counts") -> None:
        self.lines += other.lines
        self.parsed += other.parsed
        self.bad += other.bad
        self.recovered += other.recovered
        self.in_messages += other.in_messages
        self.private += other.private
        self.forgotten += other.forgotten
        for kind, number in other.types.items():
            add_to(self.types, kind, number)
        for kind, number in other.silent_types.items():
            add_to(self.silent_types, kind, number)
        for block, number in other.blocks.items():
            add_to(self.blocks, block, number)


def add_to(counts: dict[str, int], name: str, by: int) -> None:
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


@dataclass(slots=True)
class Outcome:
    """What became of one file."""

    skipped: bool = False
    is_new_file: bool = False
    is_prompt_log: bool = False
    messages_added: int = 0
    bytes_read: int = 0
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list[Problem])
    failure: Unreadable | None = None
    """Why the rest of the file could not be read, although a part of it was."""

    def add(self, other: "Outcome") -> None:
        self.is_new_file |= other.is_new_file
        self.is_prompt_log |= other.is_prompt_log
        self.messages_added += other.messages_added
        self.bytes_read += other.bytes_read
        self.counts.add(other.counts)
        self.problems += other.problems

    def settle(self) -> None:
        """A file of which nothing was read is one that was skipped."""
        self.skipped = not self.bytes_read and not self.counts.lines and self.failure is None


@dataclass(slots=True)
class IngestReport:
    """What one import did."""

    files: int = 0
    ingested: int = 0
    skipped: int = 0
    failed: int = 0
    passed_over: int = 0
    """Files in a folder that turned out to be no transcripts, though their names allowed it. Not among `files`."""
    new_files: int = 0
    prompts: int = 0
    """Prompt logs among the files that were read."""
    messages_added: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, outcome: Outcome) -> None:
        self.skipped += outcome.skipped
        self.ingested += not outcome.skipped and outcome.failure is None
        self.new_files += outcome.is_new_file
        self.prompts += outcome.is_prompt_log
        self.messages_added += outcome.messages_added
        self.bytes_read += outcome.bytes_read
        self.counts.add(outcome.counts)
        self.problems += outcome.problems
