"""Keeps the HTTP server of a daemon at work: one thread with an event loop, begun again when it fails.

What is answered there is the surfaces' (`open_app`). While it listens, `hook.curl` in the runtime folder tells the
hooks of coding agents where, with a secret that is new at each start and opens nothing but their own path. It never
ends the daemon (`supervision`): a port that somebody else has is told to `doctor`, and tried again.
"""

import asyncio
import os
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from recollect.errors import Invalid, RecollectError
from recollect.listening import (
    App,
    Certificate,
    Limits,
    check_certificate,
    connections_for_files,
    is_loopback,
    listener,
    name_of,
    place_of,
    serve,
)
from recollect.memory import Memory
from recollect.settings import Settings
from recollect.supervision import Shift, Supervised

USUAL_PORT = 7717
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  compared, not bound
MOST_CONNECTIONS = 256
"""Streams included. Fewer where the process may not open as many files (`connections_for_files`)."""
LEAVING_SECONDS = 2
"""For requests that are being answered when it ends."""
HOOKS_PATH = "/v1/hooks"
HOOK_FILE = "hook.curl"

OpenApp = Callable[[str], App]
"""The secret of the hooks → what answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingProgress:
    is_wanted: bool = False
    address: str = ""
    """Where it listens, such as http://127.0.0.1:7717. Empty: nowhere."""
    problem: str = ""
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where and how, as the settings say it, checked."""

    host: str
    port: int
    certificate: Certificate | None = None

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"

    def address(self, port: int) -> str:
        """With the port that it has by now."""
        host = "127.0.0.1" if self.host in EVERYWHERE else self.host
        return f"{self.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the person who reads an error has written, or can write: settings, unless options were given."""

    listen: str = "http.listen"
    certificate: str = "http.certificate"
    private_key: str = "http.private_key"
    hosts: str = "http.hosts (`recollect serve --host`)"
    public: str = "http.is_public = true (`recollect serve --public`)"


SETTING_NAMES = Names()


def listening_of(settings: Settings, names: Names = SETTING_NAMES) -> Listening:
    """Raises `Invalid` where others than this computer would reach it in plain text, and nobody said that they may,
    and where a name by which it is to be asked is none."""
    http = settings.http
    host, port = place_of(http.listen, names.listen, USUAL_PORT)
    hosts_of(settings, names)
    if bool(http.certificate) != bool(http.private_key):
        raise Invalid(f"{names.certificate} and {names.private_key} go together: TLS needs both files.")
    for name in (http.certificate, http.private_key):
        if name and not Path(name).expanduser().is_file():
            raise Invalid(f"{name} is no file that can be read: TLS needs the certificate and its private key.")
    certificate = (
        Certificate(
            chain=str(Path(http.certificate).expanduser()), private_key=str(Path(http.private_key).expanduser())
        )
        if http.certificate
        else None
    )
    if certificate:
        check_certificate(certificate)
    if not (is_loopback(host) or certificate or http.is_public):
        raise Invalid(
            f"{names.listen} is {http.listen!r}, which others than this computer could reach, without TLS. Write "
            f"127.0.0.1:{port}, or give {names.certificate} and {names.private_key}; where a proxy in front has TLS, "
            f"or in a container, say {names.public}."
        )
    return Listening(host=host, port=port, certificate=certificate)


def hosts_of(settings: Settings, names: Names = SETTING_NAMES) -> tuple[str, ...]:
    """The names by which it may be asked, as those of requests are read. A web page that has its own name lead to this
    computer comes with that name."""
    named = [name_of(host, names.hosts) for host in settings.http.hosts if host.strip()]
    own, _ = place_of(settings.http.listen, names.listen, USUAL_PORT)
    listens = [] if own in EVERYWHERE else [own.removesuffix(".")]
    return tuple(dict.fromkeys([*LOOPBACK_HOSTS, *listens, *named]))


class Serving:
    def __init__(self, memory: Memory, open_app: OpenApp, tell: Callable[[ServingProgress], None]) -> None:
        """`tell` is called from both threads."""
        self._memory = memory
        self._open_app = open_app
        self._tell = tell
        self._recorded = ""
        self._write_hook_file: Callable[[], None] | None = None
        """While it listens."""
        self._told = threading.Event()
        self.part = Supervised("http", self._work, on_crash=self._note_crash, clock=memory.clock)
        self.progress = ServingProgress(is_wanted=bool(memory.settings.http.listen))

    # Called by the daemon

    def start(self) -> None:
        if self.progress.is_wanted:
            self.part.start()

    def renew(self) -> None:
        """Called now and then: where somebody removed the file of the hooks, they would go the slow way for ever."""
        write = self._write_hook_file
        if write and not is_own_hook_file(self._memory.settings.runtime):
            write()

    def wait_for_word(self, seconds: float) -> None:
        """Until it has said where it listens, or why it does not: usually a moment after it began."""
        if self.progress.is_wanted:
            self._told.wait(seconds)

    # In its thread

    def _work(self, shift: Shift) -> None:
        try:
            asyncio.run(self._live(shift))
        finally:
            self._write_hook_file = None
            remove_hook_file(self._memory.settings.runtime)

    def _note_crash(self, reason: str) -> None:
        self._note(replace(self.progress, address="", problem=reason, restarts=self.part.restarts))

    async def _live(self, shift: Shift) -> None:
        loop, leave = asyncio.get_running_loop(), asyncio.Event()
        shift.on_end(lambda: loop.call_soon_threadsafe(leave.set))
        if shift.ended.is_set():
            return
        chosen = listening_of(self._memory.settings)
        with listener(chosen.host, chosen.port, "The HTTP server", "http.listen", MOST_CONNECTIONS) as place:
            address = chosen.address(place.getsockname()[1])
            secret = secrets.token_urlsafe(32)
            app = self._open_app(secret)
            # Who comes now waits in the line of the socket until it is answered.
            runtime, is_tls = self._memory.settings.runtime, bool(chosen.certificate)
            self._write_hook_file = partial(write_hook_file, runtime, address, secret, is_tls=is_tls)
            self._write_hook_file()
            self._note(replace(self.progress, address=address, problem=""))
            await serve_until(leave, app, place, chosen.certificate)

    def _note(self, progress: ServingProgress) -> None:
        """Each problem is recorded once, however often it is met."""
        if progress.problem and progress.problem != self._recorded:
            with suppress(RecollectError):  # The database may be what fails.
                self._memory.runs.record("http", "failed", 0.0, {"reason": progress.problem})
        self._recorded = progress.problem
        self.progress = progress
        self._tell(progress)
        self._told.set()


async def serve_until(leave: asyncio.Event, app: App, place: socket.socket, certificate: Certificate | None) -> None:
    """Answer there until it is to leave; what fails before that is raised."""
    limits = Limits(connections=connections_for_files(MOST_CONNECTIONS), leaving_seconds=LEAVING_SECONDS)
    serving = asyncio.create_task(serve(app, [place], limits, certificate=certificate, has_lifespan=True))
    leaving = asyncio.create_task(leave.wait())
    try:
        await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        serving.cancel()
        (ended,) = await asyncio.gather(serving, return_exceptions=True)
    if isinstance(ended, Exception):
        raise ended


def write_hook_file(runtime: Path, address: str, secret: str, *, is_tls: bool) -> None:
    """What curl reads with -K: nobody else on this computer may. The secret is in no list of processes this way. The
    first line has our number: a hook that finds nobody by it tells nothing to whoever has the port by now."""
    lines = [_own_line(), f'url = "{address}{HOOKS_PATH}"', f'header = "Authorization: Bearer {secret}"']
    if is_tls:
        lines.append("insecure")  # Its own certificate may be for another name, and it does not leave this computer.
    path = runtime / HOOK_FILE
    temporary = path.with_suffix(".new")
    with suppress(OSError):  # Hooks go the slow way then.
        runtime.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(temporary, path)


def remove_hook_file(runtime: Path, *, also_of_others: bool = False) -> None:
    """`also_of_others`: for who knows that no other daemon runs."""
    if also_of_others or is_own_hook_file(runtime):
        with suppress(OSError):
            (runtime / HOOK_FILE).unlink(missing_ok=True)


def is_own_hook_file(runtime: Path) -> bool:
    """Whether it is there, and of this process."""
    try:
        with open(runtime / HOOK_FILE, encoding="utf-8") as file:
            return file.readline().rstrip("\n") == _own_line()
    except (OSError, UnicodeError):
        return False


def _own_line() -> str:
    return f"# {os.getpid()}"
