"""Taking in many files: what to read, in which order, what went wrong, and what it all came to.

Start-up scan, watcher hints and manual imports all come through here; `Ingest` deals with one file after the other.
"""

import os
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from recollect.clock import Clock
from recollect.database import Database
from recollect.errors import Denied, Locked, NotFound, RecollectError, Unreadable
from recollect.history.counts import IngestReport, Problem
from recollect.history.detection import Unrecognised
from recollect.history.finding import Found, find, is_left_out
from recollect.history.identity import is_unchanged
from recollect.history.ingest import Ingest
from recollect.history.opening import stamp_of
from recollect.history.sources import source_named
from recollect.history.store import (
    CONTAINER,
    THIS_HOST,
    UNREAD,
    File,
    FileStatus,
    FileStore,
    SeenPath,
)
from recollect.history.streams import Progress
from recollect.history.writing import Writer
from recollect.redaction import mask
from recollect.settings import Settings


class Intake:
    def __init__(self, database: Database, settings: Settings, clock: Clock, closed: set[str] | None = None) -> None:
        """`closed`: folders that may not be read and were reported; a scan, which comes often, does so once."""
        self._closed = set[str]() if closed is None else closed
        self._database = database
        self._settings = settings
        self._house = settings.house
        self._clock = clock
        self._gap = timedelta(minutes=settings.conversation_gap_minutes)

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        source: str | None = None,
        reimport: bool = False,
        keep_raw: bool | None = None,
        guess: bool = True,
        on_total: Progress = lambda _: None,
        on_progress: Progress = lambda _: None,
    ) -> IngestReport:
        """Take in files and folders. `on_total` hears how many bytes there are, `on_progress` how many are done.

        `guess`: in folders, open also documents and archives whose names say nothing; exports are often renamed.
        """
        if source:
            source_named(source)
        started = time.monotonic()
        self._drop_vanished_failures()
        with self._ingest(keep_raw) as ingest:
            found: dict[str, Found] = {}
            denied: list[str] = []
            vanished: dict[str, SeenPath] = {}
            for path in paths:
                place = os.path.abspath(os.path.expanduser(path))
                if reimport:
                    vanished.update((seen.file_id, seen) for seen in self._vanished(place))
                if os.path.exists(place):
                    if not os.access(place, os.R_OK):
                        raise Denied(f"{path} may not be read. Check its permissions.")
                    found.update(
                        (item.path, item) for item in _at(place, ingest, None, denied, guess=guess, named=True)
                    )
                elif not vanished:
                    raise NotFound(f"{path} does not exist. Give a transcript or a folder of transcripts.")
            on_total(sum(item.status.st_size for item in found.values()))
            report = self._take_all(ingest, list(found.values()), source, reimport, on_progress, retry_failed=True)
            _add_denied(report, denied)
            self._closed.update(denied)
            for file_id in vanished:
                report.files += 1
                report.add(ingest.take_from_vault(file_id))
        self._settle(report)
        report.seconds = time.monotonic() - started
        return report

    def scan(self, roots: Sequence[Path], below: Sequence[str] | None = None) -> IngestReport:
        """One pass over the watched folders, or over the changed folders among them."""
        started = time.monotonic()
        denied: list[str] = []
        with self._ingest(None) as ingest:
            found: dict[str, Found] = {}
            for root in (str(root) for root in roots):
                places = [root] if below is None else [place for place in below if _is_at(place, root)]
                items = [item for place in places for item in _at(place, ingest, root if below else None, denied)]
                found.update((item.path, item) for item in items)
            report = self._take_all(ingest, list(found.values()), None, False, lambda _: None, retry_failed=False)
        _add_denied(report, [folder for folder in dict.fromkeys(denied) if folder not in self._closed])
        if below is None:
            self._closed.clear()  # What is open by now, and is closed later, is told again.
        self._closed.update(denied)
        self._settle(report)
        report.seconds = time.monotonic() - started
        return report

    def recover(self) -> IngestReport:
        """Go on with files whose reader died. One that cannot be read is set aside and reported."""
        report = IngestReport()
        with self._database.read() as session:
            interrupted = FileStore(session, self._house).with_status(FileStatus.INGESTING)
        mine = [file for file in interrupted if file.host == THIS_HOST]
        with self._ingest(None) as ingest:
            for file in self._on_disk(mine):
                report.files += 1
                self._recover_one(ingest, file, report)
            for file in mine:
                if file.container_id and self._is_half_read(file):
                    report.add(ingest.take_from_vault(file.id))
        return report

    def _on_disk(self, files: list[File]) -> list[File]:
        """The files to open again: for a transcript inside another file that one."""
        with self._database.read() as session:
            store = FileStore(session, self._house)
            found = [store.get(file.container_id) if file.container_id else file for file in files]
        return list({file.id: file for file in found if file}.values())

    def _is_half_read(self, file: File) -> bool:
        with self._database.read() as session:
            known = FileStore(session, self._house).get(file.id)
            return known is not None and known.status is FileStatus.INGESTING

    def _recover_one(self, ingest: Ingest, file: File, report: IngestReport) -> None:
        if not os.path.exists(file.path):
            report.add(ingest.take_from_vault(file.id))
            return
        try:
            found = Found(file.path, os.path.dirname(file.path), stamp_of(file.path, os.stat(file.path)))
        except OSError as error:
            report.failed += 1
            report.problems.append(Problem(file=file.path, reason=f"{file.path} cannot be read: {error.strerror}."))
            return
        source = None if file.kind == CONTAINER else file.source
        self._take_one(ingest, found, source, False, lambda _: None, report)

    def _take_all(
        self,
        ingest: Ingest,
        found: list[Found],
        source: str | None,
        reimport: bool,
        on_progress: Progress,
        *,
        retry_failed: bool,
    ) -> IngestReport:
        report = IngestReport(files=len(found))
        unchanged = {} if reimport else self._unchanged_paths(retry_failed)
        changed: list[Found] = []
        for item in found:
            seen = unchanged.get(item.path)
            if seen and is_unchanged(seen, item.status):
                report.skipped += 1
                on_progress(item.status.st_size)
            elif is_left_out(item.path):
                report.files -= 1
                on_progress(item.status.st_size)
            else:
                changed.append(item)
        for item in sorted(changed, key=lambda one: one.order):
            self._take_one(ingest, item, source, reimport, on_progress, report)
        return report

    def _take_one(
        self,
        ingest: Ingest,
        found: Found,
        source: str | None,
        reimport: bool,
        on_progress: Progress,
        report: IngestReport,
    ) -> None:
        done = 0

        def advance(read: int) -> None:
            nonlocal done
            done += read
            on_progress(read)

        try:
            outcome = ingest.take(found, source=source, reimport=reimport, progress=advance)
            report.add(outcome)
            if outcome.failure:
                self._fail(report, ingest, found, outcome.failure)
        except FileNotFoundError:
            report.skipped += 1  # It was deleted since it was found.
        except Unrecognised as error:
            if found.is_guess:
                report.files -= 1
                report.passed_over += 1
            else:
                self._fail(report, ingest, found, error)
        except (Unreadable, OSError) as error:
            self._fail(report, ingest, found, error)
        except RecollectError:
            raise  # The database: no other file would fare better.
        except Exception as error:  # noqa: BLE001  a record that breaks our reader must not stop the others
            self._fail(report, ingest, found, error)
        on_progress(max(0, found.status.st_size - done))

    def _fail(self, report: IngestReport, ingest: Ingest, found: Found, error: Exception) -> None:
        path = found.path
        reason = mask(str(error))
        if isinstance(error, OSError):
            reason = f"{path} cannot be read: {error.strerror}."
        elif not isinstance(error, Unreadable):
            reason = f"{path} breaks our reader ({type(error).__name__}: {error}). Please report it; the others go on."
        report.failed += 1
        report.problems.append(Problem(file=path if _is_utf8(path) else ascii(path)[1:-1], reason=reason))
        if _is_utf8(path):
            is_mistake = found.is_named and isinstance(error, Unrecognised)
            ingest.set_aside(found, reason, is_locked=isinstance(error, Locked), only_if_known=is_mistake)

    def _unchanged_paths(self, retry_failed: bool) -> dict[str, SeenPath]:
        """Paths that need no look while they are unchanged: those read to their end and, unless asked, the failed."""
        with self._database.read() as session:
            files = FileStore(session, self._house)
            again = files.with_status(FileStatus.INGESTING)
            if retry_failed:
                again += files.with_status(FileStatus.FAILED)
            pending = {file.id for file in again}
            return {seen.path: seen for seen in files.seen_paths() if seen.file_id not in pending}

    def _drop_vanished_failures(self) -> None:
        """What could never be read and lies nowhere any more is not worth a warning."""
        with self._database.read() as session:
            failed = FileStore(session, self._house).with_status(FileStatus.FAILED)
        gone = [file for file in failed if file.source == UNREAD and not _exists(file)]
        if gone:
            with self._database.write() as session:
                for file in gone:
                    FileStore(session, self._house).drop_unread(file.id)

    def _vanished(self, place: str) -> list[SeenPath]:
        """Files that lay here and lie nowhere any more: only the vault has them."""
        with self._database.read() as session:
            files = FileStore(session, self._house)
            gone = [seen for seen in files.seen_paths() if _is_at(seen.path, place) and not os.path.exists(seen.path)]
            return [seen for seen in gone if not _exists(files.get(seen.file_id))]

    def _settle(self, report: IngestReport) -> None:
        if report.new_files or report.prompts:
            with self._database.write() as session:
                Writer(session, self._house, self._gap).settle_prompts()

    def _ingest(self, keep_raw: bool | None) -> Ingest:
        chosen = self._settings.keep_raw if keep_raw is None else keep_raw
        return Ingest(self._database, self._settings, self._clock, keep_raw=chosen)


def _at(
    place: str,
    ingest: Ingest,
    root: str | None = None,
    denied: list[str] | None = None,
    *,
    guess: bool = False,
    named: bool = False,
) -> list[Found]:
    """The transcripts at a path: itself when it is a file, else those below it. `denied` gets closed folders. `named`:
    a person gave this path."""
    if os.path.isdir(place):
        on_denied = (denied if denied is not None else []).append
        return find(root or place, ingest.ignore, below=place, on_denied=on_denied, guess=guess)
    try:
        status = os.stat(place)
    except PermissionError:
        if denied is not None:
            denied.append(place)
        return []
    except OSError:
        return []
    folder = root or os.path.dirname(place)
    found = Found(place, folder, stamp_of(place, status), is_named=named)
    return [] if ingest.ignore.keeps_out_file(place, folder) else [found]


def _add_denied(report: IngestReport, denied: Sequence[str]) -> None:
    for folder in denied:
        report.failed += 1
        report.problems.append(Problem(file=folder, reason=f"{folder} may not be read. Check its permissions."))


def _is_at(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


def _exists(file: File | None) -> bool:
    return file is None or file.host != THIS_HOST or os.path.exists(file.path)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
