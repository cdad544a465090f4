"""export, import, backup."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import click

from recollect.surfaces.cli.output import amount, print_json, say, short_path, warn
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.transfer import backed_up_json, exported_json, imported_json


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def export(place: Place, path: Path, as_json: bool) -> None:
    """Write everything into a new folder, or a new .zip file.

    JSON lines, one file for each table, and the files you wrote in the home. It holds what was said as it was said, so
    only you may read it. What is forgotten later stays in it.
    """
    with place.open() as memory, _progress() as on_progress:
        done = memory.transfer.export_to(path, on_progress)
    if as_json:
        print_json(exported_json(done))
        return
    say(f"Exported {_rows(done.tables)} and {amount(len(done.files), 'file')} to {short_path(str(done.path))}.")
    say("Forgetting does not reach a copy: delete it when it is no longer needed.")


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path, readable=False))
@json_option
@click.pass_obj
def import_(place: Place, path: Path, as_json: bool) -> None:
    """Take in an export: a folder or a .zip file.

    The house must be empty: give a new --home, or a new database with --db. All of it is taken in, or nothing.
    """
    with place.open() as memory, _progress() as on_progress:
        done = memory.transfer.import_from(path, on_progress)
    if as_json:
        print_json(imported_json(done))
        return
    say(f"Imported {_rows(done.tables)} and {amount(len(done.files), 'file')} into the house {done.house}.")
    for name in done.kept:
        warn(f"recollect: {name} of this home is another one than that of the export, and stays as it is.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def backup(place: Place, file: Path, as_json: bool) -> None:
    """Copy the database into a new file, while it is in use.

    To restore it: put it in the place of recollect.db while nothing runs, or use it with --db. For SQLite; on
    PostgreSQL use pg_dump, or export.
    """
    with place.open() as memory:
        done = memory.transfer.backup_to(file)
    if as_json:
        print_json(backed_up_json(done))
    else:
        say(f"Copied {done.bytes / 1e6:,.1f} MB to {short_path(str(done.path))}.")


def _rows(tables: dict[str, int]) -> str:
    return f"{amount(sum(tables.values()), 'row')} of {amount(sum(1 for rows in tables.values() if rows), 'table')}"


@contextmanager
def _progress() -> Generator[Callable[[str, int], None]]:
    """One line that changes, on a terminal only, and is gone at the end."""
    is_watched = sys.stderr.isatty()

    def show(table: str, rows: int) -> None:
        if is_watched:
            sys.stderr.write(f"\r\x1b[K{table}  {rows:,}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if is_watched:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
