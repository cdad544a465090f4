"""`recollect`: the options every command has, and the one table from errors to exit codes.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied, 5 conflict, 6 unavailable.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from recollect import __version__
from recollect.errors import RecollectError
from recollect.surfaces.cli import daemon, history, operation

app = typer.Typer(
    name="recollect",
    help="Keeps what you and your agents said, for ever, as conversations you can read and search.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"recollect {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[
        Path | None, typer.Option(help="Where everything is kept [RECOLLECT_HOME, else ~/.recollect].")
    ] = None,
    db: Annotated[
        str | None, typer.Option(help="Database file or postgresql://… [RECOLLECT_DB, else recollect.db in the home].")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = operation.Place(home=home, database=db)


history.register(app)
operation.register(app)
daemon.register(app)


def main() -> None:
    arguments = sys.argv[1:]
    try:
        app(standalone_mode=True)
    except RecollectError as error:
        _explain(str(error), type(error).__name__, "--json" in arguments)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _explain("Stopped. What was done so far is kept; run it again to go on.", "Interrupted", False)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _explain(message: str, kind: str, as_json: bool) -> None:
    from recollect.surfaces.cli.output import print_json

    if as_json:
        print_json({"error": {"kind": kind, "message": message}})
    sys.stderr.write(f"recollect: {message}\n")


if __name__ == "__main__":
    main()
