"""Exports, imports and backups of one house."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from recollect.clock import Clock, to_text
from recollect.database import Database, Row
from recollect.database.migrate import known_migrations
from recollect.errors import Conflict, Denied, Invalid, RecollectError
from recollect.ids import new_id
from recollect.lineage import Export as Copy
from recollect.lineage import ReceiptStore
from recollect.scopes import OWNER, Principal
from recollect.settings import Settings
from recollect.transfer import manifest as manifests
from recollect.transfer.home import FILES, home_files, portable, put_home_files
from recollect.transfer.manifest import Manifest
from recollect.transfer.placing import placing
from recollect.transfer.reading import Export, open_export
from recollect.transfer.results import BackedUp, Exported, Imported, Progress
from recollect.transfer.store import TransferStore
from recollect.transfer.tables import CARRIED, Shape, shape_of
from recollect.transfer.writing import new_package, write_file, write_table

BATCH_ROWS = 1_000
BATCH_BYTES = 4_000_000
"""Of text and bytes in one statement for many rows: what bounds memory when rows are pasted files."""


def _silent(_table: str, _rows: int) -> None: ...


def _nothing() -> None: ...


class Transfer:
    """`memory.transfer`. Only who may see all of the house may copy it."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        principal: Principal = OWNER,
        look: Callable[[], object] = _nothing,
    ) -> None:
        """`look`: at the folder of notes, so that an export has what was changed there with other tools, and that the
        folder has what was imported."""
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._principal = principal
        self._look = look

    def export_to(self, path: Path | str, on_progress: Progress = _silent) -> Exported:
        """Write everything of the house into a new folder, or a new file whose name ends in `.zip`."""
        target = self._target(path)
        self._look()
        with placing(target) as made, self._noted("export", target):
            manifest = self._write(made, on_progress)
        members = [*manifest.tables.values(), *manifest.files.values()]
        return Exported(
            path=target,
            house=manifest.house,
            exported_at=manifest.exported_at,
            tables={name: member.rows for name, member in manifest.tables.items()},
            files=list(manifest.files),
            bytes=sum(member.bytes for member in members),
        )

    def _write(self, made: Path, on_progress: Progress) -> Manifest:
        with new_package(made) as package:
            files = {name: write_file(package, name, raw) for name, raw in home_files(self._settings.home).items()}
            with self._database.read() as session:  # One for all tables: the house as it is at one moment.
                store = TransferStore(session, self._house)
                tables = {
                    table: write_table(package, store, shape_of(session, table), on_progress) for table in CARRIED
                }
            manifest = Manifest(
                program_version=version("recollect"),
                schema_version=_newest_schema(),
                house=self._house,
                exported_at=to_text(self._clock()),
                tables=tables,
                files=files,
            )
            with package.member(manifests.NAME) as file:
                file.write(manifests.encode(manifest))
        return manifest

    def import_from(self, path: Path | str, on_progress: Progress = _silent) -> Imported:
        """Take an export into this house, which must hold nothing yet. All of it, or nothing."""
        self._refuse_agents()
        with open_export(_absolute(path)) as export:
            manifest = export.manifest(_newest_schema())
            shapes = self._check(export, manifest)
            with self._database.write() as session:
                store = TransferStore(session, self._house)
                self._refuse_unless_empty(store)
                store.drop_secret()
                for shape in shapes:
                    _add_rows(store, shape, export, manifest, on_progress)
                # Last, so that only a commit can still fail; and a home that has them already keeps its own.
                contents = {name: portable(name, export.content(name, manifest.files[name])) for name in manifest.files}
                put, kept = put_home_files(self._settings.home, contents)
        # What is imported is imported, whatever becomes of the folder: the next who reads a note looks again.
        with suppress(RecollectError):
            self._look()
        return Imported(
            path=export.place,
            from_house=manifest.house,
            house=self._house,
            exported_at=manifest.exported_at,
            tables={name: member.rows for name, member in manifest.tables.items()},
            files=put,
            kept=kept,
        )

    def backup_to(self, path: Path | str) -> BackedUp:
        """Copy the database file as it is at one moment, while others use it."""
        target = self._target(path)
        with placing(target) as made, self._noted("backup", target):
            self._database.backup(made)
            size = made.stat().st_size
        return BackedUp(path=target, bytes=size)

    def _target(self, path: Path | str) -> Path:
        self._refuse_agents()
        return _absolute(path)

    def _refuse_agents(self) -> None:
        if not self._principal.may_write:
            raise Denied("Who may only read makes no copy of the house. A token without --read-only may.")
        if self._principal.is_confined:
            raise Denied(f"{self._principal.name} sees a part of the house; only who sees all of it may copy it.")

    @contextmanager
    def _noted(self, kind: str, target: Path) -> Generator[None]:
        """Noted before it is made: what is copied by a program that is then killed is not forgotten either."""
        copy = Copy(id=new_id(), at=to_text(self._clock()), kind=kind, path=str(target))
        with self._database.write() as session:
            ReceiptStore(session, self._house).note_export(copy)
        try:
            yield
        except BaseException:
            # A note too many does less harm than a message about it in the place of what went wrong.
            with suppress(RecollectError), self._database.write() as session:
                ReceiptStore(session, self._house).drop_export(copy.id)
            raise

    def _check(self, export: Export, manifest: Manifest) -> list[Shape]:
        """All that can be known before the first row is written; the tables as this export has them."""
        unknown = sorted([*(set(manifest.tables) - set(CARRIED)), *(set(manifest.files) - set(FILES))])
        if unknown:
            raise Invalid(f"{export.place} has what no house has: {', '.join(unknown)}. Nothing was imported.")
        with self._database.read() as session:
            self._refuse_unless_empty(TransferStore(session, self._house))
            tables = [table for table in CARRIED if table in manifest.tables]
            shapes = [shape_of(session, table).only(manifest.tables[table].columns) for table in tables]
        for shape in shapes:
            for _ in export.lines(shape.table, manifest.tables[shape.table]):
                pass
        for name, member in manifest.files.items():
            portable(name, export.content(name, member))
        return shapes

    def _refuse_unless_empty(self, store: TransferStore) -> None:
        holdings = store.holdings()
        if holdings:
            listed = ", ".join(f"{table} {number:,}" for table, number in holdings.items())
            raise Conflict(
                f"The house {self._house} in {self._database.location} is not empty (rows: {listed}). Import into a "
                "new one: `recollect --home DIR import …`, or --db with another database. Nothing was imported."
            )


def _add_rows(store: TransferStore, shape: Shape, export: Export, manifest: Manifest, on_progress: Progress) -> None:
    batch: list[Row] = []
    size = done = 0
    for row in export.rows(shape, manifest.tables[shape.table]):
        batch.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            store.add(shape, batch)
            done += len(batch)
            on_progress(shape.table, done)
            batch, size = [], 0
    store.add(shape, batch)
    on_progress(shape.table, done + len(batch))


def _absolute(path: Path | str) -> Path:
    return Path(os.path.abspath(Path(path).expanduser()))


def _newest_schema() -> int:
    return known_migrations()[-1].version
