"""What a service runs: the program by its absolute path, and the few variables it needs.

A file of a service can be read by everybody on the computer and is shown by its tools, so no credential goes into it:
an address of a database with a password is refused. It belongs into a file that only its owner may read.
"""

import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from recollect.errors import Denied, Invalid, NotFound

HOME, DATABASE = "RECOLLECT_HOME", "RECOLLECT_DB"
SECRET_PARAMETERS = ("password", "sslpassword")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    program: tuple[str, ...]
    """Absolute path and arguments."""
    runtime: Path
    """Of the home: where its log lies."""
    variables: dict[str, str] = field(default_factory=dict[str, str])
    environment_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a file of a service was made from, read out of it again: so a later install knows what an earlier one was
    given, and nothing else has to remember it."""

    home: str = ""
    """Empty: the default one."""
    database: str = ""
    environment_file: Path | None = None


def given_of(variables: Mapping[str, str], environment_file: str) -> Given:
    return Given(
        home=variables.get(HOME, ""),
        database=variables.get(DATABASE, ""),
        environment_file=Path(environment_file) if environment_file else None,
    )


def launch_of(home: Path, database: str, *, is_default_home: bool, environment_file: Path | None = None) -> Launch:
    """`database`: as it was given beside the settings, which the service reads by itself; empty: it was not."""
    variables: dict[str, str] = {}
    if not is_default_home:
        variables[HOME] = str(home)
    if database:
        variables[DATABASE] = _without_secret(database)
    return Launch(
        program=(*_program(), "up", "--log"),
        runtime=home / "runtime",
        variables={name: _on_one_line(value) for name, value in variables.items()},
        environment_file=_kept_secret(environment_file) if environment_file else None,
    )


def _program() -> tuple[str, ...]:
    """The command beside the interpreter that runs this, else the interpreter itself. Not what links lead to: a virtual
    environment is known by where its interpreter lies. -P: nothing is imported from the folder it is started in."""
    interpreter = os.path.abspath(sys.executable)
    command = os.path.join(os.path.dirname(interpreter), "recollect")
    found = (command,) if os.access(command, os.X_OK) else (interpreter, "-P", "-m", "recollect.surfaces.cli.main")
    return tuple(_on_one_line(word) for word in found)


def _without_secret(database: str) -> str:
    if "://" not in database:
        return os.path.abspath(os.path.expanduser(database))
    address = urlsplit(database)
    if address.password or parse_qs(address.query).keys() & set(SECRET_PARAMETERS):
        raise Denied(
            "The address of the database has a password in it, and everybody on this computer could read it in the "
            "file of the service. Write RECOLLECT_DB=… into a file that only you may read (chmod 600), and install "
            "with --environment FILE instead of --db."
        )
    return database


def _kept_secret(path: Path) -> Path:
    path = Path(os.path.abspath(path.expanduser()))
    _on_one_line(str(path))
    try:
        status = path.stat()
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"{path} is not there. Write one NAME=value on each line of it, then chmod 600.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Denied(f"{path} cannot be read as UTF-8 text ({type(error).__name__}).") from error
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise Denied(f"Others may read {path}. Make it yours alone: chmod 600 {path}")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#") and not _VARIABLE.match(line.lstrip()):
            raise Invalid(f"{path}, line {number}, is not NAME=value.")
    return path


def _on_one_line(text: str) -> str:
    if not text.isprintable():
        raise Invalid(f"{text!r} has a character in it that no file of a service can hold.")
    return text
