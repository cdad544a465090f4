"""service: install, uninstall, status, logs."""

import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Conflict, Denied, NotFound
from recollect.surfaces.cli.output import print_json, say, short_path, style, warn
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.service import Given, Installed, Installer
    from recollect.settings import Settings


@click.group()
def service() -> None:
    """Let `recollect up` run by itself, from the login on.

    A systemd user unit, or a launchd agent on a Mac. Nothing needs an administrator.
    """


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Show the file, and write nothing.")
@click.option("--no-start", is_flag=True, help="Only write the file.")
@click.option(
    "--environment",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="NAME=value lines for the service: keys of models, a database with a password. Only you may read it.",
)
@click.option("--no-environment", is_flag=True, help="Without the file that an earlier install was given.")
@click.option("--no-db", is_flag=True, help="Without the database that an earlier install was given.")
@click.pass_obj
def install(
    place: Place, only_print: bool, no_start: bool, environment: Path | None, no_environment: bool, no_db: bool
) -> None:
    """Write the file of the service, and start it.

    A second time changes nothing: the environment file and the database that it was given stay until it is given
    others.
    """
    from recollect.service import launch_of
    from recollect.settings import is_default_home

    settings = place.settings()
    installer = _installer(settings)
    given = _given(place, installer, environment, no_environment, no_db)
    launch = launch_of(
        settings.home,
        given.database,
        is_default_home=is_default_home(settings.home),
        environment_file=given.environment_file,
    )
    if only_print:
        sys.stdout.write(installer.content(launch).decode())
        return
    if not no_start:
        _check_nobody_runs(installer, settings)
    installer.install(launch, starts=not no_start)
    say(f"The log: {short_path(str(_log(settings)))}, or {place.invocation()} service logs")
    if installer.lingers() is False:
        say("It runs while you are logged in. To let it run from the start of the computer: loginctl enable-linger")


@service.command()
@click.option("--force", is_flag=True, help="Also when somebody changed the file, or it is for another home.")
@click.pass_obj
def uninstall(place: Place, force: bool) -> None:
    """Stop the service, and take away what was installed. Everything that was kept stays."""
    _installer(place.settings()).uninstall(is_forced=force)


@service.command()
@json_option
@click.pass_obj
def status(place: Place, as_json: bool) -> None:
    """Show whether it is installed and runs."""
    from recollect.daemon.status import read_status
    from recollect.lock import is_locked

    settings = place.settings()
    found = _installer(settings).look()
    is_running = is_locked(settings.runtime)
    told = read_status(settings.runtime) if is_running else None
    value: dict[str, Any] = {
        **asdict(found),
        "file": str(found.file),
        "is_running": is_running,
        "pid": told.pid if told else None,
        "parts": [asdict(part) for part in told.parts] if told else [],
        "log": str(_log(settings)),
    }
    if as_json:
        print_json(value)
        return
    say(f"{style('Installed', 'bold')}  {_installed(found, place)}")
    whose = ", for that home" if found.is_installed and not found.is_ours and found.state else ""
    say(f"{style('Service', 'bold')}    {found.state or found.problem}{whose}")
    running = f"process {told.pid}" if told else "yes, in its first pass" if is_running else "no"
    say(f"{style('Running', 'bold')}    {running}")
    for part in value["parts"]:
        problem = f": {part['problem']}" if part["problem"] else ""
        say(f"  {part['name']:12} {part['state']}, begun again {part['restarts']} times{problem}")
    say(f"{style('Log', 'bold')}        {short_path(value['log'])}")


def _installed(found: "Installed", place: Place) -> str:
    if not found.is_installed:
        return f"no; {place.invocation()} service install"
    file = short_path(str(found.file))
    if not found.is_ours:
        return f"not for this home; {file} is that of {short_path(found.home) if found.home else 'somebody else'}"
    return f"{file}, changed since" if found.is_changed else file


@service.command()
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on with what is written. Ctrl-C ends it.")
@click.option("--lines", "-n", default=50, show_default=True, type=click.IntRange(0, 1_000_000), help="How many.")
@click.pass_obj
def logs(place: Place, follows: bool, lines: int) -> None:
    """Show the end of the daemon's log."""
    from recollect.logs import follow, last_lines

    path = _log(place.settings())
    _check_readable(path, may_lack=follows)
    if not follows:
        for line in last_lines(path, lines):
            say(line)
        return
    with suppress(KeyboardInterrupt):  # That is how it ends.
        for line in follow(path, last=lines):
            say(line)


def _check_readable(path: Path, *, may_lack: bool) -> None:
    try:
        path.open("rb").close()
    except FileNotFoundError:
        if not may_lack:
            raise NotFound(f"{path} is not there yet. `recollect up --log` and the service write it.") from None
    except OSError as error:
        raise Denied(f"{path} cannot be read: {error.strerror}. Look at who may enter its folder.") from error


def _given(
    place: Place, installer: "Installer", environment: Path | None, no_environment: bool, no_db: bool
) -> "Given":
    """What is given now, else what was given before: who installs again after an upgrade keeps the keys."""
    from recollect.service import Given
    from recollect.settings import given_database

    if (environment and no_environment) or (place.database and no_db):
        raise click.UsageError("Give one and not the other: --environment or --no-environment, --db or --no-db.")
    before = installer.given()
    database = "" if no_db else given_database(place.database)
    if not environment and not no_environment and before.environment_file:
        environment = before.environment_file
        warn(f"As before: --environment {short_path(str(environment))}; --no-environment leaves it out.")
    if not database and not no_db and before.database:
        database = before.database
        warn(f"As before: --db {database}; --no-db leaves it out.")
    return Given(database=database, environment_file=environment)


def _check_nobody_runs(installer: "Installer", settings: "Settings") -> None:
    """A home has one daemon. The service would end at once beside one that somebody started by hand."""
    from recollect.lock import holder_of, is_locked

    if not is_locked(settings.runtime) or installer.look().state in ("", "active"):
        return
    holder = holder_of(settings.runtime)
    process, ending = (f" (process {holder})", f", or with: kill {holder}") if holder else ("", "")
    raise Conflict(
        f"`recollect up` runs already for {settings.home}{process}, and a home has one. End it where it was started, "
        f"with Ctrl-C{ending}. Then install the service again; with --no-start it begins at the next login."
    )


def _log(settings: "Settings") -> Path:
    from recollect.logs import log_path

    return log_path(settings.runtime)


def _installer(settings: "Settings") -> "Installer":
    from recollect.service import Installer
    from recollect.settings import this_computer

    return Installer(this_computer(), settings.runtime, say)
