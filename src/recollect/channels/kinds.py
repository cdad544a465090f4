"""The kinds of channels that a daemon opens: one module each, registered here or by another package through the entry
point group `recollect.channels` (docs/channels/README.md shows how)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from recollect.clock import Clock
from recollect.mind.channel import Channel, Said
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.database import Database
    from recollect.memory import Memory
    from recollect.mind.delivering import Spoken
    from recollect.mind.mind import Mind
    from recollect.mind.places.places import Places

ENTRY_POINT_GROUP = "recollect.channels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a channel is given of the house. All of it may be called in the event loop, but for `places` and `latest`,
    which ask the database: those in a thread."""

    settings: Settings
    clock: Clock
    database: "Database"
    """For a lease, where only one program may read from a service. A channel has no tables of its own."""
    places: "Places"
    hear: Callable[[Said], Awaitable[int]]
    """Raises `Invalid` for what cannot be said, `Unavailable` while taking in is paused or the database is away."""
    withdraw: Callable[[str, str], Awaitable[int]]
    """(channel, address): take back what waits; how many messages."""
    withdraw_key: Callable[[str, str], Awaitable[bool]]
    """(channel, key): take back this message, if it waits still."""
    interrupt: Callable[[], Awaitable[bool]]
    latest: "Callable[[int], list[Spoken]]"
    record: Callable[[str, str, float, dict[str, object]], None]
    """An event for runs: (name, outcome, seconds, detail). Neither tokens nor words of a stranger belong there."""
    tell: Callable[[str], None]
    """What is the matter with the channel, in one sentence; empty: all is well. Shown by `doctor`."""


def door_of(memory: "Memory", mind: "Mind", tell: Callable[[str], None]) -> Door:
    return Door(
        settings=memory.settings,
        clock=memory.clock,
        database=memory.database,
        places=memory.places,
        hear=mind.hear,
        withdraw=mind.withdraw,
        withdraw_key=mind.withdraw_key,
        interrupt=mind.interrupt,
        latest=mind.latest,
        record=memory.runs.record,
        tell=tell,
    )


class Post(Channel, Protocol):
    """A channel that is open."""

    async def run(self) -> None:
        """Read until cancelled. What is raised is told, and the channel is opened anew after a while."""
        ...

    async def close(self) -> None: ...


class Kind(Protocol):
    name: str

    def is_wanted(self, settings: Settings) -> bool:
        """Whether the settings ask for it."""
        ...

    def open(self, door: Door) -> Post:
        """Raises what keeps it from being opened: a token that is not there.

        A kind may also have `needs(settings) -> list[str]`: what is missing, each with what to do about it, for
        `recollect channels`.
        """
        ...


def needs_of(kind: Kind, settings: Settings) -> list[str]:
    needs = getattr(kind, "needs", None)
    return list(needs(settings)) if needs else []


def kinds() -> dict[str, Kind]:
    return _loaded()[0]


def broken_kinds() -> list[str]:
    """What other packages registered and what could not be loaded, with the reason."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[dict[str, Kind], list[str]]:
    from recollect.channels.telegram.telegram import TelegramKind
    from recollect.channels.webhook.webhook import WebhookKind

    found: dict[str, Kind] = {kind.name: kind for kind in (TelegramKind(), WebhookKind())}
    broken: list[str] = []
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda one: one.name):
        try:
            kind: Kind = point.load()()
            found.setdefault(kind.name, kind)
        except Exception as error:  # noqa: BLE001 - somebody else's code stops no channel of ours
            broken.append(f"{point.name} ({point.value}): {type(error).__name__}: {error}")
    return found, broken
