"""What the application is told of the process it runs in."""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.daemon.serving import LOOPBACK_HOSTS
from recollect.daemon.status import DaemonStatus


def _nobody() -> DaemonStatus | None:
    return None


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    """The names, without a port, by which it may be asked. Any other is a page that points its own name at us."""
    hook_secret: str = ""
    """Opens /v1/hooks and nothing else. Empty: nothing opens it."""
    status: Callable[[], DaemonStatus | None] = _nobody
    """Of the daemon around it, if there is one."""
    wake: Callable[[], None] = _nothing
    """Let the daemon look for what is new at once."""
