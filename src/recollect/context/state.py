"""What the last context of an agent was, so that the next one can begin with the same bytes.

One small file for each agent and pipeline, below `runtime/`. Nothing in it is an only copy: a file that is missing,
damaged or of another house costs a context that is built from the beginning, and nothing else. What stands in it was
masked before.

Who reads one and writes it again is alone with it (`alone`): two programs that ask for the context of an agent at the
same moment get one after the other, and the second begins with the first.
"""

import os
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from recollect.clock import from_text
from recollect.context.alone import FOLDER, alone
from recollect.ids import new_id

FORMAT = 1
"""Raise it when the fields change their meaning, or when the frozen texts do: states of another format are not read."""


class Reason(StrEnum):
    """Why a context does not begin with the bytes of the one before."""

    FIRST = "first"
    RESTART = "restart"
    GAP = "gap"
    COMPACTION = "compaction"
    PIPELINE = "pipeline"
    """Its sections, budgets or names are others now."""
    FORGOTTEN = "forgotten"
    """Something that may be in it was forgotten, or is no longer the agent's to see."""
    TRIMMED = "trimmed"
    """What grows became too long. What is frozen stayed, unless there was no room for the trigger, or to tell what
    changed in it."""


class Kind(StrEnum):
    HEADING = "heading"
    LEFT_OUT = "left out"
    MESSAGE = "message"
    CHANGE = "change"
    TRIGGER = "trigger"


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """A section that stays as it is."""

    name: str
    text: str
    left_out: int = 0
    records: list[str] = []
    """Ids of those that it tells of."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A note as the agent was last told of it. No path: there was none."""

    path: str = ""
    number: int = 0
    digest: str = ""
    text: str = ""
    at: str = ""
    by: str = ""
    """Who wrote it so, and when."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One thing behind what is frozen."""

    kind: Kind
    text: str
    turn: int
    """With which context it came."""
    id: str = ""
    """Of a message; of a change, the note's place in the context."""
    at: str = ""
    conversation: str = ""
    length: int = 0
    digest: str = ""
    """How many characters of the message were told, and which. More of it may come in later."""


class State(msgspec.Struct, kw_only=True):
    format: int = 0
    belongs_to: str = ""
    """House and database."""
    fingerprint: str = ""
    """Of the pipeline and of the settings that show in it."""
    receipts: int = 0
    """How many acts of forgetting there had been."""
    tokens: int = 1
    per_bytes: int = 3
    """The calibration: so many tokens for so many bytes."""
    built_at: str = ""
    """When the frozen sections were made."""
    last_at: str = ""
    """When the last context was made."""
    frozen: list[Frozen] = []
    notes: dict[str, Seen] = {}
    """As they stand in the frozen sections, by their places."""
    told: dict[str, Seen] = {}
    """As the agent knows them by now."""
    items: list[Item] = []
    turn: int = 0
    turn_name: str = ""
    floor_at: str = ""
    """What was said until then is not taken any more."""
    answered: list[str] = []
    """Ids of messages that are not told (again): they stand in the context as triggers, or were left out with a time
    that is still to come."""
    waiting: list[str] = []
    """Triggers whose messages have not come in yet, as they compare."""
    left_out: int = 0
    is_squeezed: bool = False
    """The trigger was so long that frozen sections have less than their budgets."""
    pending: str = ""
    """A reason to build anew that was given since."""

    def copy(self) -> "State":
        return msgspec.structs.replace(
            self,
            told=dict(self.told),
            items=list(self.items),
            answered=list(self.answered),
            waiting=list(self.waiting),
        )


def state_path(runtime: Path, agent: str, pipeline: str) -> Path:
    return runtime / FOLDER / f"{agent.replace('/', '~')}.{pipeline}.json"


def load(path: Path) -> State | None:
    """None: there is none that can be read."""
    try:
        state = msgspec.json.decode(path.read_bytes(), type=State)
        is_dated = not state.format or from_text(state.last_at).tzinfo is not None
    except (OSError, ValueError, RecursionError):
        return None
    return state if is_dated and state.tokens > 0 and state.per_bytes > 0 else None


def save(path: Path, state: State) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    held = path.with_name(f".{path.name}.{new_id()}")
    try:
        with open(os.open(held, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(state))
        os.replace(held, path)
    except BaseException:
        with suppress(OSError):
            held.unlink()
        raise


def keep(path: Path, state: State) -> None:
    """Where there is no room or no right to keep it, there is none: one that is older would be gone on from, and what
    was forgotten might stand in it."""
    try:
        save(path, state)
    except OSError:
        with suppress(OSError):
            path.unlink()


def set_pending(runtime: Path, agent: str, reason: Reason) -> None:
    """All contexts of this agent are built anew when they are next asked for."""
    with alone(runtime):
        for path in _paths(runtime, "*.json"):
            pipeline = path.stem.rpartition(".")[2]
            state = load(path) if path == state_path(runtime, agent, pipeline) else None
            if state:
                state.pending = reason
                keep(path, state)


def drop_states(runtime: Path) -> int:
    """For who forgets: no state says any more what was in a context; how many did."""
    with alone(runtime):
        paths = _paths(runtime, "*.json")
        for path in paths:
            keep(path, State(pending=Reason.FORGOTTEN))
        for held in _paths(runtime, ".*.json.*"):  # Of programs that were killed while they wrote.
            with suppress(OSError):
                held.unlink()
    return len(paths)


def _paths(runtime: Path, pattern: str) -> list[Path]:
    return sorted((runtime / FOLDER).glob(pattern))
