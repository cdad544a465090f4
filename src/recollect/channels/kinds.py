"""The kinds of channels that a daemon opens: one module each, registered here or by another package through the entry
point group `recollect.channels` (docs/channels/README.md shows how)."""

from collections.abc import Awaitable, Callable, Mapping
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
    """What a channel is given of the house. All of it may be called in the event loop, but for `places`, `heard` and
    `latest`, which ask the database: those in a thread."""

    settings: Settings
    clock: Clock
    database: "Database"
    """For a lease, where only one program may read from a service. A channel has no tables of its own."""
    places: "Places"
    hear: Callable[[Said], Awaitable[int]]
    """Raises `Invalid` for what cannot be said, `Paused` for what stays out, `Unavailable` while the database is
    away."""
    heard: Callable[[str, str], str]
    """(channel, key): the words that were heard under it. Empty: none, or they were forgotten."""
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
        heard=mind.heard,
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
    try:
        return list(needs(settings)) if needs else []
    except Exception as error:  # noqa: BLE001 - somebody else's code stops no channel of ours
        return [f"It cannot tell what is missing ({type(error).__name__}): that is a fault of its package."]


def wanted_kinds(settings: Settings, found: Mapping[str, Kind] | None = None) -> list[Kind]:
    """Those that the settings ask for. One of another package that cannot even say so is none, and stops nobody."""
    return [kind for kind in (kinds() if found is None else found).values() if is_wanted(kind, settings)]


def is_wanted(kind: Kind, settings: Settings) -> bool:
    try:
        return bool(kind.is_wanted(settings))
    except Exception as error:  # noqa: BLE001 - somebody else's code stops no channel of ours
        problem = f"{kind.name}: it cannot tell whether it is wanted ({type(error).__name__})"
        if problem not in broken_kinds():
            _loaded()[1].append(problem)
        return False


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
