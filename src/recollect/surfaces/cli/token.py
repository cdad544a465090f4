"""token."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from recollect.surfaces.cli.output import print_json, printable, say, table, warn, when
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.access import Token

SHOWN_ID = 12


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def token(context: click.Context, as_json: bool) -> None:
    """List the tokens of other programs; make or revoke one.

    They ask over HTTP with it. A token speaks for you or for one agent, who sees and changes only what its scopes
    allow. It is shown once, when it is made; only a digest of it is kept.
    """
    if context.invoked_subcommand is None:
        _list(context.obj, as_json)


@token.command("list")
@json_option
@click.pass_obj
def list_(place: Place, as_json: bool) -> None:
    """List all of them."""
    _list(place, as_json)


@token.command()
@click.option("--agent", default="", metavar="NAME", help="For this agent, or a room of it: ada, ada/kitchen.")
@click.option("--label", default="", metavar="TEXT", help="What it is for.")
@click.option("--read-only", is_flag=True, help="It reads, and changes nothing.")
@click.option("--expires", default="", metavar="WHEN", help="When it ends: a day, `in 30 days`. Default: never.")
@json_option
@click.pass_obj
def create(place: Place, agent: str, label: str, read_only: bool, expires: str, as_json: bool) -> None:
    """Make one. Without --agent it may do all that you may."""
    from recollect.surfaces.times import expiry

    with place.open() as memory:
        made = memory.access.create(agent, label=label, read_only=read_only, expires_at=expiry(expires))
    if as_json:
        print_json({**token_json(made.token), "secret": made.secret})
        return
    say(made.secret)
    warn(f"This is the only time it is shown. It speaks for {_speaks_for(made.token)}{_limits(made.token)}.")
    warn(f"Revoke it with: {place.invocation()} token revoke {made.token.id[-SHOWN_ID:]}")


@token.command()
@click.argument("token_id", metavar="ID")
@json_option
@click.pass_obj
def revoke(place: Place, token_id: str, as_json: bool) -> None:
    """Let one open nothing any more, from now on."""
    with place.open() as memory:
        revoked = memory.access.revoke(token_id)
    if as_json:
        print_json(token_json(revoked))
    else:
        say(f"Revoked: {revoked.id[-SHOWN_ID:]}, which spoke for {_speaks_for(revoked)}.")


def token_json(token: "Token") -> dict[str, Any]:
    return asdict(token)


def _list(place: Place, as_json: bool) -> None:
    with place.open() as memory:
        found = memory.access.list()
        now = memory.clock()
    if as_json:
        print_json([token_json(one) for one in found])
        return
    if not found:
        say(f"No tokens. Make one with: {place.invocation()} token create")
        return
    from recollect.clock import to_text

    rows = [
        (
            one.id[-SHOWN_ID:],
            _speaks_for(one),
            "read and write" if one.may_write else "read",
            _state(one, to_text(now)),
            when(one.last_used_at) if one.last_used_at else "never",
            printable(one.label),
        )
        for one in found
    ]
    table(("id", "speaks for", "may", "state", "last used", "label"), rows)


def _speaks_for(token: "Token") -> str:
    return token.agent or "you"


def _limits(token: "Token") -> str:
    read = "" if token.may_write else ", for reading alone"
    return f"{read}, until {when(token.expires_at)}" if token.expires_at else read


def _state(token: "Token", now: str) -> str:
    if token.revoked_at:
        return f"revoked {when(token.revoked_at)}"
    if token.is_agent_gone:
        return "its agent is gone"
    if not token.is_good(now):
        return f"expired {when(token.expires_at)}"
    return f"until {when(token.expires_at)}" if token.expires_at else "good"
