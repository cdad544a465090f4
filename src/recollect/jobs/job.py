"""What a job is, and how long to wait before it is tried again. Values and pure rules."""

from dataclasses import dataclass
from enum import StrEnum

FIRST_WAIT_SECONDS = 30.0
"""After the first failure; doubled by each further one."""
LONGEST_WAIT_SECONDS = 3_600.0


class State(StrEnum):
    QUEUED = "queued"
    """To be taken once it is due."""
    HELD = "held"
    """Somebody has a lease on it. One that ran out is another's to take."""
    ASIDE = "aside"
    """Given up, with its reason, until somebody adds it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    kind: str
    target: str
    """What it is about. With the kind it is the job's name: there is never a second one."""
    state: State
    place: str
    """The least is taken first."""
    attempts: int
    """How often it was taken and not handed back. Counted when it is taken, so that what kills its worker counts."""
    queued_at: str
    due_at: str
    """Not before. Empty: at once."""
    owner: str
    lease_until: str
    claim: int
    """Raised by each taking: who took it earlier cannot end it any more."""
    reason: str
    """Why it was put off or set aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    since: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    queued: int = 0
    """Those that wait for their time are among them."""
    held: int = 0
    aside: int = 0


def wait_seconds(failures: int) -> float:
    """How long to wait after so many failures in a row."""
    doubled = FIRST_WAIT_SECONDS * 2.0 ** min(max(failures - 1, 0), 30)
    return min(doubled, LONGEST_WAIT_SECONDS)
