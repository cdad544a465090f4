"""serve."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.surfaces.cli.output import say
from recollect.surfaces.cli.place import Place
from recollect.surfaces.cli.running import going_on, leave, log_options

if TYPE_CHECKING:
    from recollect.daemon.serving import Names
    from recollect.settings import Settings

LOG = "serve"
"""A daemon of the same home has a log of its own."""


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Where. Default: http.listen of the settings.")
@click.option("--certificate", type=click.Path(path_type=Path, dir_okay=False), help="For TLS: the chain, as PEM.")
@click.option("--private-key", type=click.Path(path_type=Path, dir_okay=False), help="For TLS: its key, as PEM.")
@click.option("--public", is_flag=True, help="Others may reach it without TLS: a proxy in front has it.")
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="A further name by which it may be asked.")
@log_options
@click.pass_obj
def serve(
    place: Place,
    listen: str | None,
    certificate: Path | None,
    private_key: Path | None,
    public: bool,
    hosts: tuple[str, ...],
    is_logged: bool,
    log_level: str,
) -> None:
    """Answer over HTTP and MCP, for a house that is shared.

    It does nothing else: nothing is watched or filed here; `recollect up` on the computers of the agents does that.
    Who asks needs a token: `recollect token create`. Ctrl-C ends it within five seconds, a second one at once.
    """
    from recollect.daemon.serving import listening_of
    from recollect.embedding.unloading import keep_one_heap
    from recollect.surfaces.http.alone import Alone

    keep_one_heap()
    is_by_options = bool(listen or certificate or private_key)

    def checked() -> "Settings":
        chosen = _changed(place.settings(), listen, certificate, private_key, public, hosts)
        listening_of(chosen, _names(listen, is_by_options=is_by_options))
        return chosen

    with going_on(place, LOG, checked, is_logged=is_logged, level=log_level):
        chosen = checked()  # What is wrong is told before a home is made.
        with place.open() as memory:
            alone = Alone(memory, chosen, give_up=leave)
            say(f"Recollect answers at {alone.address}. Ctrl-C ends it.")
            left = alone.run()
            say("Recollect does not listen any more.")
            if left:  # The database cannot be closed under threads that are at work with it.
                leave(0)


def _names(listen: str | None, *, is_by_options: bool) -> "Names":
    """An address of the settings keeps its name there: an option did not give it."""
    from recollect.daemon.serving import SETTING_NAMES, Names

    if not is_by_options:
        return SETTING_NAMES
    listen_name = "--listen" if listen else SETTING_NAMES.listen
    return Names(listen=listen_name, certificate="--certificate", private_key="--private-key", public="--public")


def _changed(
    settings: "Settings",
    listen: str | None,
    certificate: Path | None,
    private_key: Path | None,
    public: bool,
    hosts: tuple[str, ...],
) -> "Settings":
    import msgspec

    from recollect.settings import HttpSettings

    http = settings.http
    changed = msgspec.structs.replace(
        http,
        listen=listen or http.listen or HttpSettings().listen,
        certificate=str(certificate) if certificate else http.certificate,
        private_key=str(private_key) if private_key else http.private_key,
        is_public=public or http.is_public,
        hosts=[*http.hosts, *hosts],
    )
    return msgspec.structs.replace(settings, http=changed)
