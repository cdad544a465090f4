"""service: install, uninstall, status, logs."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Conflict, NotFound
from recollect.surfaces.cli.output import print_json, say, short_path, style
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.service import Installer
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
@click.pass_obj
def install(place: Place, only_print: bool, no_start: bool, environment: Path | None) -> None:
    """Write the file of the service, and start it. A second time changes nothing."""
    from recollect.service import launch_of
    from recollect.settings import given_database, is_default_home

    settings = place.settings()
    launch = launch_of(
        settings.home,
        given_database(place.database),
        is_default_home=is_default_home(settings.home),
        environment_file=environment,
    )
    installer = _installer(settings)
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
@click.option("--force", is_flag=True, help="Also when somebody changed the file.")
@click.pass_obj
def uninstall(place: Place, force: bool) -> None:
    """Stop the service, and take away what was installed. Everything that was kept stays."""
    _installer(place.settings()).uninstall(is_forced=force)


@service.command()
@json_option
@click.pass_obj
def status(place: Place, as_json: bool) -> None:
    """Show whether it is installed and runs."""
    from recollect.daemon import read_status
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
    installed = short_path(str(found.file)) if found.is_installed else f"no; {place.invocation()} service install"
    say(f"{style('Installed', 'bold')}  {installed}{', changed since' if found.is_changed else ''}")
    say(f"{style('Service', 'bold')}    {found.state or found.problem}")
    running = f"process {told.pid}" if told else "yes, in its first pass" if is_running else "no"
    say(f"{style('Running', 'bold')}    {running}")
    for part in value["parts"]:
        problem = f": {part['problem']}" if part["problem"] else ""
        say(f"  {part['name']:12} {part['state']}, begun again {part['restarts']} times{problem}")
    say(f"{style('Log', 'bold')}        {short_path(value['log'])}")


@service.command()
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on with what is written. Ctrl-C ends it.")
@click.option("--lines", "-n", default=50, show_default=True, type=click.IntRange(0, 1_000_000), help="How many.")
@click.pass_obj
def logs(place: Place, follows: bool, lines: int) -> None:
    """Show the end of the daemon's log."""
    from recollect.logs import follow, last_lines

    path = _log(place.settings())
    if not path.exists() and not follows:
        raise NotFound(f"{path} is not there yet. `recollect up --log` and the service write it.")
    for line in last_lines(path, lines):
        say(line)
    if follows:
        for line in follow(path):
            say(line)


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
