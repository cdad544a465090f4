"""Acts of forgetting, as values; and what a capability that keeps something derived has to offer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from recollect.database import Session
from recollect.history.erasing import Reached as HistoryReached
from recollect.lineage import Receipt, ReceiptState
from recollect.notes.erasing import Reached as NotesReached


@dataclass(slots=True)
class Reach:
    """All that goes, by kind of thing; parts add what they derived from what is here."""

    messages: set[str] = field(default_factory=set[str])
    records: set[str] = field(default_factory=set[str])
    scrubbed: set[str] = field(default_factory=set[str])
    """Records that stay, as others than these messages say it too."""


class Part(Protocol):
    """What one capability made from messages and records. It sees them before they go."""

    def origins(self, session: Session, reach: Reach) -> set[tuple[str, str]]:
        """(kind, id) of what of its own goes and lines of notes may come from."""
        ...

    def notes(self, session: Session, reach: Reach) -> dict[str, int]:
        """Notes that go whole: path → the number up to which their versions go."""
        ...

    def reach(self, session: Session, reach: Reach) -> dict[str, int]:
        """How much of its own goes, by name."""
        ...

    def contents(self, session: Session, reach: Reach) -> Iterator[bytes]:
        """What it keeps of these, for the proof that it is gone."""
        ...

    def erase(self, session: Session, reach: Reach) -> dict[str, int]:
        """In the transaction of all; how much went, by name."""
        ...


@dataclass(slots=True)
class Plan:
    """One act, while its session is open."""

    target: str
    reach: Reach = field(default_factory=Reach)
    chosen: set[str] = field(default_factory=set[str])
    """The records that were named, or that a named subject has. Others may be reached with them."""
    history: HistoryReached | None = None
    notes: NotesReached = field(default_factory=NotesReached)
    sources: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, or in a dry run would be."""

    target: str
    dry_run: bool
    removed: dict[str, int]
    reached: dict[str, list[str]]
    """Kind → ids, in a dry run. Afterwards nobody needs them."""
    receipt: str = ""
    state: str = ""
    out_of_reach: list[str] = field(default_factory=list[str])
    """Copies that only their owner can remove."""
    also_in: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Kind → ids of things that stay and have some of the same words."""
    residue: list[str] = field(default_factory=list[str])
    sources: list[str] = field(default_factory=list[str])
    """Messages that records, or lines of notes, came from and that stay."""
    note_lines: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Path → the lines that go out of a note that stays, in a dry run."""
    digest: str = ""
    """Of exactly what would go: the same while nothing came to it, changed or went. In a dry run."""

    @property
    def is_verified(self) -> bool:
        return self.state == ReceiptState.VERIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingFigures:
    receipts: int
    unfinished: int
    """Cut off after the erasing, or something was left."""
    tombstones: int


def told_by(receipt: Receipt) -> Forgotten:
    """What a receipt still says of its act."""
    return Forgotten(
        target=receipt.target,
        dry_run=False,
        removed=receipt.removed,
        reached={},
        receipt=receipt.id,
        state=str(receipt.state),
        out_of_reach=receipt.out_of_reach,
    )
