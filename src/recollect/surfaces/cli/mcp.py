"""mcp."""

from dataclasses import replace

import click

from recollect.surfaces.cli.place import Place, agent_option


@click.command()
@agent_option
@click.option("--read-only", is_flag=True, help="Without the tools that write.")
@click.pass_obj
def mcp(place: Place, agent: str, read_only: bool) -> None:
    """Serve an agent over MCP, on standard input and output.

    For programs that start it, such as Claude Code: `recollect install` tells them how. It sees and changes what the
    agent NAME may; without one, what you may. A running `recollect up` does its searches, as it has the models loaded,
    and serves the same at /mcp over HTTP.
    """
    with place.open() as memory:
        name, _, room = agent.partition("/")
        seen = memory.as_agent(name, room) if agent else memory
        if read_only:
            seen = memory.acting_for(replace(seen.principal, may_write=False))
        # Last: the SDK takes longer to load than all the rest, and whoever named no agent of this house waits for it
        # in vain.
        from recollect.surfaces.mcp.stdio import serve

        serve(seen)
