"""What a worker asks of whoever reads and files, and what it tells about its work. Values only."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from recollect.database import Session
from recollect.history import Conversation
from recollect.llm import Usage

Prepared = TypeVar("Prepared")
"""What a reading found, until it is filed: the worker only hands it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    kept: int = 0
    """Records that were made, confirmed or changed."""
    dropped: int = 0
    """What was found and no quote supports, or is not worth keeping."""
    usage: Usage = field(default_factory=Usage)


class Desk(Protocol[Prepared]):
    """Reads conversations and files what it finds. The worker says which, when, and that it happens once."""

    def read(self, conversation: Conversation) -> Prepared:
        """May take minutes and ask a model; nothing is open meanwhile. Writes nothing that filing again would repeat.

        Unavailable, Busy, OverBudget, Denied: not the fault of this conversation, all of them wait. Anything else: this
        conversation could not be read, and is tried again a few times before it is set aside.
        """
        ...

    def file(self, session: Session, prepared: Prepared, now: str) -> Filed:
        """All of it inside the given session, which is rolled back when this raises."""
        ...

    def tidy(self) -> None:
        """Let the shelves catch up: when the queue is empty, and now and then before. Cheap when nothing changed."""
        ...

    def close(self) -> None:
        """The worker ends: let go of connections and processes. A desk that is used again opens them again."""
        ...


class Outcome(StrEnum):
    FILED = "filed"
    CHANGED = "changed"
    """More was said meanwhile, or it is not there any more: not filed. What is left of it starts again."""
    LOST = "lost"
    """The lease ran out and another worker took it: not filed by us."""
    LATER = "later"
    """Not its fault: the model cannot be had, or the ceiling is reached. All of the queue waits."""
    FAILED = "failed"
    """Tried again after a while."""
    ASIDE = "aside"
    """Failed too often: not tried again unless somebody asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What became of one conversation that was taken."""

    conversation_id: str
    outcome: Outcome
    attempt: int = 1
    reason: str = ""
    seconds: float = 0.0
    goes_on_at: str = ""
    """When it is tried again, or with LATER all of them. A stored time."""
    filed: Filed = field(default_factory=Filed)


@dataclass(slots=True, kw_only=True)
class Worked:
    """What became of all that one worker took, in one go."""

    processed: int = 0
    failed: int = 0
    """Attempts that failed, the last one of those that were set aside with them."""
    aside: dict[str, str] = field(default_factory=dict[str, str])
    """Conversation → why it was set aside."""
    changed: int = 0
    kept: int = 0
    dropped: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: str = ""
    """Why it ended before the queue was empty. Empty: the queue is."""
    goes_on_at: str = ""
    problem: str = ""
    """Of the shelves, which catch up the next time."""

    def add(self, step: Step) -> None:
        self.processed += step.outcome is Outcome.FILED
        self.failed += step.outcome in (Outcome.FAILED, Outcome.ASIDE)
        self.changed += step.outcome in (Outcome.CHANGED, Outcome.LOST)
        self.kept += step.filed.kept
        self.dropped += step.filed.dropped
        self.usage += step.filed.usage
        if step.outcome is Outcome.ASIDE:
            self.aside[step.conversation_id] = step.reason
        if step.outcome is Outcome.LATER:
            self.stopped, self.goes_on_at = step.reason, step.goes_on_at
