"""The application of a running daemon, or of a house that is served alone."""

from typing import TYPE_CHECKING

from recollect.daemon.serving import hosts_of
from recollect.surfaces.http.app import create_app
from recollect.surfaces.http.surroundings import Surroundings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from recollect.daemon.daemon import Daemon
    from recollect.memory import Memory
    from recollect.settings import Settings


def app_of_daemon(memory: "Memory", daemon: "Daemon", hook_secret: str) -> "FastAPI":
    surroundings = Surroundings(
        hosts=hosts_of(memory.settings),
        hook_secret=hook_secret,
        status=lambda: daemon.status,
        wake=daemon.wake,
    )
    return create_app(memory, surroundings)


def app_alone(memory: "Memory", settings: "Settings") -> "FastAPI":
    """Without a daemon around it. `settings`: where those of the command differ from those of the home."""
    return create_app(memory, Surroundings(hosts=hosts_of(settings)))
