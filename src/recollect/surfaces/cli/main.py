"""`recollect`: the options every command has, and the one table from errors to exit codes.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied, 5 conflict, 6 unavailable.
A command's module is imported when the command runs, so that a small one starts fast.
"""

import errno
import io
import os
import sys
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import click

from recollect import __version__
from recollect.errors import RecollectError, Unavailable
from recollect.surfaces.cli.place import Place

COMMANDS = {
    "ingest": "history",
    "conversations": "history",
    "show": "history",
    "search": "search",
    "remember": "knowledge",
    "promote": "knowledge",
    "records": "knowledge",
    "record": "knowledge",
    "why": "knowledge",
    "edit": "knowledge",
    "undo": "knowledge",
    "forget": "forgetting",
    "context": "context",
    "notes": "notes",
    "diary": "diary",
    "status": "status",
    "process": "librarian",
    "librarian": "librarian",
    "today": "days",
    "week": "days",
    "review": "review",
    "questions": "review",
    "reflect": "nights",
    "chat": "chat",
    "heartbeat": "heartbeat",
    "channels": "channels",
    "agents": "agents",
    "sources": "sources",
    "pause": "history",
    "resume": "history",
    "up": "up",
    "serve": "serve",
    "service": "service",
    "mcp": "mcp",
    "install": "install",
    "uninstall": "install",
    "hook": "hook",
    "token": "token",
    "health": "operation",
    "costs": "costs",
    "doctor": "operation",
    "sql": "operation",
    "models": "models",
    "reindex": "search",
    "export": "transfer",
    "import": "transfer",
    "backup": "transfer",
    "claude-memory": "exchange",
    "eval": "evaluation",
    "completion": "operation",
}
"""Command → its module beside this one."""


DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)
INTERRUPTED = 130
"""What shells expect of a program that Ctrl-C ended."""


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        return getattr(import_module(f"recollect.surfaces.cli.{COMMANDS[cmd_name]}"), name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where everything is kept. Default: $RECOLLECT_HOME, else ~/.recollect.",
)
@click.option("--db", help="Database file or postgresql://…  Default: $RECOLLECT_DB, else recollect.db in the home.")
@click.version_option(__version__, prog_name="recollect", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context, home: Path | None, db: str | None) -> None:
    """Keeps what you and your agents said, for ever, and what was learned: to read, find, correct and forget."""
    context.obj = Place(home=home, database=db)


def main() -> None:
    as_json = "--json" in sys.argv
    _prepare_streams()
    stdout = sys.stdout
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except RecollectError as error:
        _explain(str(error), type(error).__name__, as_json)
        code = error.exit_code
    except click.ClickException as error:
        if as_json:
            _explain(error.format_message(), "Usage", as_json)
        else:
            error.show()
        code = error.exit_code
    except UnicodeEncodeError:
        if all(_is_text(argument) for argument in sys.argv):
            raise
        _explain("An argument is not UTF-8 text. Give it in the encoding of your terminal, UTF-8.", "Usage", as_json)
        code = click.UsageError.exit_code
    except (click.Abort, KeyboardInterrupt):
        _explain("Stopped. Nothing is left half done; run it again to go on.", "Interrupted", as_json)
        code = INTERRUPTED
    except BrokenPipeError:
        code = _reader_left()
    except OSError as error:
        if error.errno not in DISK_IS_FULL:
            raise
        _write_nowhere()
        _explain("The disk is full. Free some space and try again.", Unavailable.__name__, as_json=False)
        code = Unavailable.exit_code
    except SystemExit as stop:  # Where click sees a broken pipe first, it puts something else in the place of stdout.
        code = stop.code if sys.stdout is stdout else _reader_left()
    sys.exit(code)


def _is_text(argument: str) -> bool:
    """Python hands bytes that are no text through as half characters: right for paths, for nothing else."""
    return not any("\ud800" <= character <= "\udfff" for character in argument)


def _prepare_streams() -> None:
    """A program may start us without them. Their numbers must not go to files of ours, so they lead nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  open as long as we run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _reader_left() -> int:
    """Who reads our output, such as `head`, has enough: that is no error."""
    _write_nowhere()
    return 0


def _write_nowhere() -> None:
    """What is still to be written cannot be, and must not fail when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _explain(message: str, kind: str, as_json: bool) -> None:
    if as_json:
        from recollect.surfaces.cli.output import print_json

        print_json({"error": {"kind": kind, "message": message}})
    sys.stderr.write(f"recollect: {message}\n")


if __name__ == "__main__":
    main()
