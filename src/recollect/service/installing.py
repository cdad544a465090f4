"""Putting the file of the service where the system looks for it, starting it, and taking all of it away again.

Nothing is written before it is known that somebody is there to start it. A file that is not ours is never touched, nor
one of ours that somebody changed. What was made on the way is remembered in the runtime folder, so that it goes too.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from recollect.errors import Conflict, Denied, Unavailable
from recollect.service import launchd, systemd
from recollect.service.launch import Given, Launch
from recollect.settings import Computer

MADE = "service.json"
"""In the runtime folder: what was made."""
COMMAND_SECONDS = 30.0
Tell = Callable[[str], None]


class Kind(StrEnum):
    SYSTEMD = "systemd"
    LAUNCHD = "launchd"


class Made(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    digest: str
    folders: list[str] = []
    """That were not there before, the outermost first."""
    started: str = ""
    """The digest of what was started. Empty: the file was only written, as with `--no-start`, or its start failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    kind: Kind
    file: Path
    is_installed: bool
    """For whichever home."""
    is_ours: bool
    """For this one."""
    home: str
    """Whose it is; empty: nobody's, or not one of Recollect."""
    is_changed: bool
    """Somebody changed the file since."""
    state: str
    """In the words of the system: active, inactive, failed; empty: it cannot be asked."""
    problem: str = ""


def kind_of(computer: Computer) -> Kind:
    if computer.system == "windows":
        raise Unavailable(
            "On Windows there is no service to install. Let the Task Scheduler run `recollect up --log` at logon."
        )
    return Kind.LAUNCHD if computer.system == "macos" else Kind.SYSTEMD


class Installer:
    def __init__(self, computer: Computer, runtime: Path, tell: Tell, user: int | None = None) -> None:
        """`tell`: each thing that is done, in words."""
        self._kind = kind_of(computer)
        self._runtime = runtime
        self._default_home = computer.below_home(".recollect")
        self._tell = tell
        self._domain = f"gui/{os.getuid() if user is None else user}"
        folder = (
            computer.below_home("Library", "LaunchAgents")
            if self._kind is Kind.LAUNCHD
            else f"{computer.configured('XDG_CONFIG_HOME', '.config')}/systemd/user"
        )
        self.file = Path(folder) / (launchd.NAME if self._kind is Kind.LAUNCHD else systemd.NAME)

    def content(self, launch: Launch) -> bytes:
        if self._kind is Kind.LAUNCHD:
            return launchd.plist_bytes(launch)
        return systemd.unit_text(launch).encode()

    # Installing

    def given(self) -> Given:
        """What the service of this home was given when it was installed. Nothing: there is none."""
        content = self._read()
        return self._given(content) if content and self._is_of_this_home(content) else Given()

    def install(self, launch: Launch, *, starts: bool = True) -> bool:
        """Whether anything was written."""
        content = self.content(launch)
        before = self._read()
        if before is not None and before != content:
            self._check_ours(before)
        if starts:
            self._check_supervisor()
        is_written = before != content
        if is_written:
            self._write(content)
        else:
            self._tell(f"{self.file} is as it should be")
        if starts:
            self._start(content)
        return is_written

    def _write(self, content: bytes) -> None:
        made = self._made()
        folders = made.folders if made else []
        lacking = [folder for folder in reversed(self.file.parents) if not folder.exists()]
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            temporary = self.file.with_name(f".{self.file.name}.new")
            temporary.write_bytes(content)
            temporary.chmod(0o644)
            os.replace(temporary, self.file)
        except OSError as error:
            raise Denied(f"{error.filename or self.file} cannot be written: {error.strerror}.") from error
        self._remember(content, [*folders, *(str(folder) for folder in lacking)])
        self._tell(f"Wrote {self.file}")

    def _remember(self, content: bytes, folders: list[str], *, is_started: bool = False) -> None:
        digest = _digest(content)
        made = Made(file=str(self.file), digest=digest, folders=folders, started=digest if is_started else "")
        try:
            self._runtime.mkdir(parents=True, exist_ok=True)
            (self._runtime / "logs").mkdir(exist_ok=True)  # launchd does not make it.
            (self._runtime / MADE).write_bytes(msgspec.json.encode(made))
        except OSError as error:
            raise Denied(f"{error.filename or self._runtime} cannot be written: {error.strerror}.") from error

    def _start(self, content: bytes) -> None:
        made = self._made()
        is_new = made is None or made.started != _digest(content)
        self._bring_into_force(is_new)
        if is_new:
            self._remember(content, made.folders if made else [], is_started=True)

    def _bring_into_force(self, is_new: bool) -> None:
        if self._kind is Kind.LAUNCHD:
            if is_new:
                self._ask(["launchctl", "bootout", f"{self._domain}/{launchd.LABEL}"], is_needed=False)
            if is_new or not self._is_known():
                self._do(["launchctl", "bootstrap", self._domain, str(self.file)])
            return
        if is_new:
            self._do(["systemctl", "--user", "daemon-reload"])
        self._do(["systemctl", "--user", "enable", systemd.NAME])
        self._do(["systemctl", "--user", "restart" if is_new else "start", systemd.NAME])

    # Taking away

    def uninstall(self, *, is_forced: bool = False) -> bool:
        """Whether there was anything. Without somebody to stop it the file goes all the same."""
        content, made = self._read(), self._made()
        if content is None:
            self._tell(f"{self.file} is not there")
            self._forget(made)
            return False
        self._check_ours(content, is_forced=is_forced)
        self._stop()
        try:
            self.file.unlink()
        except OSError as error:
            raise Denied(f"{self.file} cannot be removed: {error.strerror}.") from error
        self._tell(f"Removed {self.file}")
        if self._kind is Kind.SYSTEMD and shutil.which("systemctl"):
            self._ask(["systemctl", "--user", "daemon-reload"], is_needed=False)
        self._forget(made)
        return True

    def _stop(self) -> None:
        if self._kind is Kind.LAUNCHD:
            command = ["launchctl", "bootout", f"{self._domain}/{launchd.LABEL}"]
        else:
            command = ["systemctl", "--user", "disable", "--now", systemd.NAME]
        if shutil.which(command[0]) is None:
            self._tell(f"{command[0]} was not found, so nothing was stopped")
            return
        done = self._ask(command, is_needed=False)
        self._tell(" ".join(command) + ("" if done.returncode == 0 else f" ({_words(done)})"))
        if self._kind is Kind.SYSTEMD and done.returncode:  # No session: the link that enabled it would stay.
            with suppress(OSError):
                (self.file.parent / "default.target.wants" / systemd.NAME).unlink()

    def _forget(self, made: Made | None) -> None:
        for folder in reversed(made.folders if made else []):
            wants = Path(folder) / "default.target.wants"
            for empty in (wants, Path(folder)):
                with suppress(OSError):  # Somebody has something in it by now.
                    empty.rmdir()
        with suppress(OSError):
            (self._runtime / MADE).unlink()

    # Looking

    def look(self) -> Installed:
        content, made = self._read(), self._made()
        is_ours = content is not None and self._is_ours(content, made)
        state = problem = ""
        try:
            self._check_supervisor()
            state = self._state()
        except Unavailable as error:
            problem = str(error)
        return Installed(
            kind=self._kind,
            file=self.file,
            is_installed=content is not None,
            is_ours=is_ours,
            home=self._home_in(content) if content is not None and self._mark in content else "",
            is_changed=content is not None and is_ours and made is not None and made.digest != _digest(content),
            state=state,
            problem=problem,
        )

    def lingers(self) -> bool | None:
        """Whether the services of this person run while nobody is logged in. None: that cannot be known, or needs
        nothing."""
        if self._kind is not Kind.SYSTEMD or shutil.which("loginctl") is None:
            return None
        done = self._ask(["loginctl", "show-user", str(os.getuid()), "--property=Linger"], is_needed=False)
        return {"Linger=yes": True, "Linger=no": False}.get(done.stdout.strip())

    def _state(self) -> str:
        if self._kind is Kind.LAUNCHD:
            return "active" if self._is_known() else "inactive"
        return self._ask(["systemctl", "--user", "is-active", systemd.NAME], is_needed=False).stdout.strip()

    def _is_known(self) -> bool:
        return self._ask(["launchctl", "print", f"{self._domain}/{launchd.LABEL}"], is_needed=False).returncode == 0

    # The file and what is known of it

    def _read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Denied(f"{self.file} cannot be read: {error.strerror}.") from error

    def _given(self, content: bytes) -> Given:
        return (launchd if self._kind is Kind.LAUNCHD else systemd).given_in(content)

    def _home_in(self, content: bytes) -> str:
        return self._given(content).home or self._default_home

    def _is_of_this_home(self, content: bytes) -> bool:
        """By what it says: what was remembered in the home may be gone with it, and then nobody knows either whether
        somebody changed the file."""
        home = os.path.realpath(self._home_in(content))
        return self._mark in content and home == os.path.realpath(self._runtime.parent)

    def _is_ours(self, content: bytes, made: Made | None) -> bool:
        return (made is not None and made.digest == _digest(content)) or self._is_of_this_home(content)

    @property
    def _mark(self) -> bytes:
        return (launchd.MARK if self._kind is Kind.LAUNCHD else systemd.MARK).encode()

    def _made(self) -> Made | None:
        try:
            made = msgspec.json.decode((self._runtime / MADE).read_bytes(), type=Made)
        except (OSError, msgspec.MsgspecError):
            return None
        return made if made.file == str(self.file) else None

    def _check_ours(self, content: bytes, *, is_forced: bool = False) -> None:
        if self._mark not in content:
            raise Conflict(f"{self.file} was not written by Recollect, so it stays. Move it away first.")
        made = self._made()
        if not self._is_ours(content, made) and not is_forced:
            raise Conflict(
                f"{self.file} is the service of another home of Recollect, {self._home_in(content)}, so it stays. "
                "Uninstall it from there (--home), or: recollect service uninstall --force"
            )
        if made and made.digest != _digest(content) and not is_forced:
            raise Conflict(
                f"{self.file} was changed since it was installed, so it stays. Keep what you need of it, then: "
                "recollect service uninstall --force"
            )

    # The system

    def _check_supervisor(self) -> None:
        """Raises where nobody is there who would start it."""
        if self._kind is Kind.LAUNCHD:
            if shutil.which("launchctl") is None:
                raise Unavailable("launchctl was not found, so there is nobody to start the service.")
            return
        if shutil.which("systemctl") is None:
            raise Unavailable(
                "systemctl was not found: this system is not run by systemd. Let its own supervisor run "
                "`recollect up --log`, or see --print for what it would be told."
            )
        done = self._ask(["systemctl", "--user", "show-environment"], is_needed=False)
        if done.returncode:
            raise Unavailable(
                f"There is no systemd session of yours here ({_words(done)}). Log in by yourself, not by sudo or su, "
                "or let your services run without a login: loginctl enable-linger. --no-start only writes the file."
            )

    def _do(self, command: Sequence[str]) -> None:
        self._ask(command)
        self._tell(" ".join(command))

    def _ask(self, command: Sequence[str], *, is_needed: bool = True) -> "subprocess.CompletedProcess[str]":
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=COMMAND_SECONDS, stdin=subprocess.DEVNULL, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"{' '.join(command)} could not be run ({type(error).__name__}).") from error
        if is_needed and done.returncode:
            raise Unavailable(f"{' '.join(command)} failed: {_words(done)}")
        return done


def _words(done: "subprocess.CompletedProcess[str]") -> str:
    """What it said, on one line."""
    return " ".join((done.stderr or done.stdout).split())[:300].rstrip(".") or f"exit code {done.returncode}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
