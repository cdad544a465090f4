"""All checks in their order: what the database says against what lies on the disk.

A health check that cannot see "nothing new was stored" is worthless, so it looks for files that grow while their
messages do not.
"""

import os
import shutil
from datetime import timedelta
from pathlib import Path
from shlex import quote

from recollect.clock import Clock, from_text, local
from recollect.daemon.status import read_status
from recollect.doctor.channels import channels
from recollect.doctor.findings import Finding, failure, ok, warning
from recollect.doctor.librarian import librarian
from recollect.doctor.mind import mind
from recollect.doctor.notes import notes
from recollect.errors import RecollectError
from recollect.history.finding import Found, found_at, is_left_out
from recollect.history.places import roots_of, watched_roots
from recollect.history.privacy import Ignore
from recollect.history.retention import cleanup_of
from recollect.history.sources import broken_sources
from recollect.history.store import UNREAD, File, FileStatus
from recollect.lock import is_locked
from recollect.memory import Memory
from recollect.settings import this_computer
from recollect.supervision import State

MIN_FREE_BYTES = 500_000_000
LEAST_FREE_BYTES = 20_000_000
"""With less, what comes next may not fit: nothing more is kept."""
SILENT_BYTES = 200_000
"""A transcript with this many bytes and no message of any kind is probably of a format that moved."""
MAX_BAD_SHARE = 0.05


def examine(memory: Memory) -> list[Finding]:
    roots = watched_roots(memory.settings)
    files = memory.history.files()
    return [
        _database(memory),
        _disk(memory),
        _daemon(memory, memory.clock),
        *_parts(memory),
        _paused(memory),
        *_files(files, roots),
        *_unread(memory, roots),
        _silent(files),
        *_sources(memory),
        _bad_lines(files),
        _last_success(memory),
        _index(memory),
        *notes(memory),
        librarian(memory),
        mind(memory),
        *channels(memory),
        _forgetting(memory),
        *_models(memory),
        *(_cleanup(root) for root in roots_of("claude-code", roots, this_computer())),
    ]


def _database(memory: Memory) -> Finding:
    wrong = memory.database.check()
    if wrong:
        return failure(
            "database",
            f"{memory.database.location} is damaged: {wrong[0]}",
            "Restore a backup, or move it aside and run `recollect ingest` again.",
        )
    return ok("database", f"{memory.database.location} is sound ({memory.database.size_bytes() / 1e6:,.1f} MB)")


def _disk(memory: Memory) -> Finding:
    home = memory.settings.home
    # With a database elsewhere the home may not be made yet.
    free = shutil.disk_usage(next(folder for folder in (home, *home.parents) if folder.exists())).free
    if free < LEAST_FREE_BYTES:
        return failure("disk", f"The disk of {home} is full: {free / 1e6:,.1f} MB are free", "Free some space.")
    if free < MIN_FREE_BYTES:
        return warning("disk", f"Only {free / 1e6:,.0f} MB are free for {home}", "Free some space.")
    return ok("disk", f"{free / 1e9:,.1f} GB free")


def _daemon(memory: Memory, clock: Clock) -> Finding:
    runtime = memory.settings.runtime
    status = read_status(runtime)
    if not is_locked(runtime):
        if status:
            return failure("daemon", "The daemon died without saying so", "Start it again: recollect up.")
        return warning("daemon", "Not running: new messages wait until you ingest", "recollect up keeps watching.")
    if status is None or not status.last_scan_at:
        return ok("daemon", "Running, in its first pass")
    age = clock() - from_text(status.last_scan_at)
    if age > timedelta(seconds=max(60.0, status.poll_interval_seconds * 5)):
        return failure(
            "daemon",
            f"Process {status.pid} has not scanned for {age.total_seconds() / 60:.0f} minutes",
            "Restart it.",
        )
    if status.problem:
        return warning("daemon", f"Running, but {status.problem}", "It still scans at its interval.")
    return ok("daemon", f"Running as process {status.pid}, last scan {local(status.last_scan_at):%H:%M:%S}")


def _parts(memory: Memory) -> list[Finding]:
    """Parts of a running daemon that crashed."""
    runtime = memory.settings.runtime
    status = read_status(runtime) if is_locked(runtime) else None
    findings: list[Finding] = []
    for part in status.parts if status else []:
        times = "once" if part.restarts == 1 else f"{part.restarts:,} times"
        reason = f": {part.problem}" if part.problem else ""
        if part.state is State.RESTARTING:
            findings.append(
                warning(
                    "parts",
                    f"The {part.name} crashed, {times} since the daemon started{reason}",
                    "It begins again by itself, after longer and longer waits. recollect service logs tells more.",
                )
            )
        elif part.restarts and part.problem:
            findings.append(
                warning(
                    "parts",
                    f"The {part.name} runs again since {local(part.since):%H:%M:%S}, after it crashed {times}{reason}",
                    "If that goes on: recollect service logs.",
                )
            )
    return findings


def _paused(memory: Memory) -> Finding:
    since = memory.history.paused_since()
    if since:
        return warning("pause", f"Paused since {local(since):%Y-%m-%d %H:%M}", "recollect resume goes on.")
    return ok("pause", "Not paused")


def _files(files: list[File], roots: list[Path]) -> list[Finding]:
    failed = [file for file in files if file.status is FileStatus.FAILED]
    reading = [file for file in files if file.status is FileStatus.INGESTING]
    findings: list[Finding] = []
    if failed:
        findings.append(
            failure(
                "files",
                f"{len(failed)} could not be read, first {failed[0].key}: {failed[0].reason}",
                _mending(failed[0], roots),
            )
        )
    if reading:
        findings.append(
            warning(
                "files",
                f"{len(reading)} are half read, first {reading[0].key}",
                "recollect ingest finishes them.",
            )
        )
    return findings or [ok("files", f"{len(files)} known, none failed")]


def _mending(failed: File, roots: list[Path]) -> str:
    """Nothing was read from an unread one, so nothing is lost with it."""
    path = quote(failed.path)
    step = f"Mend it and run `recollect ingest {path}`."
    if failed.source != UNREAD:
        return step
    is_watched = _is_below(failed.path, [str(root) for root in roots])
    first = "name it in a .recollectignore beside it, and " if is_watched else ""
    return f"{step} If it is no transcript, {first}run `recollect forget --file {path}`."


def _unread(memory: Memory, roots: list[Path]) -> list[Finding]:
    """Counts against the disk."""
    ignore = Ignore(str(memory.settings.home))
    closed: list[str] = []
    on_disk = [found for root in roots for found in found_at(str(root), ignore, closed.append)]
    findings = [_against_disk(memory, on_disk, closed)]
    if closed:
        findings.append(
            failure(
                "folders",
                f"{len(closed)} may not be read, first {closed[0]}: what agents write there is not taken in",
                f"Check the permissions of {closed[0]}.",
            )
        )
    return findings


def _against_disk(memory: Memory, on_disk: list[Found], closed: list[str]) -> Finding:
    read_to = {file.id: file.read_to for file in memory.history.files()}
    seen = {item.path: item for item in memory.history.seen_paths()}
    new = [one for one in on_disk if one.path not in seen and one.status.st_size and not is_left_out(one.path)]
    grown = [
        found.status.st_size - read_to.get(seen[found.path].file_id, 0)
        for found in on_disk
        if found.path in seen and found.status.st_size > seen[found.path].size
    ]
    if new or grown:
        megabytes = (sum(found.status.st_size for found in new) + sum(max(0, size) for size in grown)) / 1e6
        return warning(
            "disk against database",
            f"{len(new)} files are not taken in yet, {len(grown)} have grown ({megabytes:,.1f} MB)",
            "recollect ingest, or keep `recollect up` running.",
        )
    vanished = sum(not os.path.exists(path) for path in seen if not _is_below(path, closed))
    return ok("disk against database", f"{len(on_disk)} files on disk, all taken in; {vanished} live on only here")


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _silent(files: list[File]) -> Finding:
    silent = [
        file
        for file in files
        if file.read_to > SILENT_BYTES and not file.counts.in_messages and not file.counts.private
    ]
    if silent:
        return failure(
            "format",
            f"{len(silent)} large files gave no message, first {silent[0].key}",
            "Its format may have changed: upgrade Recollect, then `recollect ingest --reimport`.",
        )
    return ok("format", "Files that grow give messages")


def _sources(memory: Memory) -> list[Finding]:
    """A source that stopped growing while its files change: its format, or its folder, moved."""
    findings: list[Finding] = []
    known = memory.history.sources()
    for source in known:
        if source.silent_since:
            findings.append(
                failure(
                    "source",
                    f"{source.title} stopped growing: {source.silent_records:,} records since "
                    f"{local(source.silent_since):%Y-%m-%d %H:%M}, and no message among them",
                    "Its format may have changed: upgrade Recollect, then `recollect ingest --reimport`.",
                )
            )
        if source.moved:
            findings.append(
                warning(
                    "source",
                    f"{source.title} rests, but files of an unknown kind appear beside it: {source.moved[0]}",
                    "It may write elsewhere now: upgrade Recollect, then look at `recollect sources`.",
                )
            )
    findings += [
        warning("source", f"A source of another package does not load: {why}", "Upgrade or remove that package.")
        for why in broken_sources()
    ]
    here = [source.title for source in known if source.places]
    return findings or [ok("sources", f"{', '.join(here) or 'none'} found here, none stopped growing")]


def _bad_lines(files: list[File]) -> Finding:
    lines = sum(file.counts.lines for file in files)
    bad = sum(file.counts.bad for file in files)
    if lines and bad / lines > MAX_BAD_SHARE:
        return warning("lines", f"{bad:,} of {lines:,} lines are not readable", "recollect health lists the files.")
    return ok("lines", f"{lines:,} read, {bad:,} unreadable and kept as they are")


def _last_success(memory: Memory) -> Finding:
    done = [event for name in ("ingest", "scan") for event in memory.runs.latest(name, "done", 1)]
    if not done:
        return warning(
            "last success",
            "Nothing was taken in yet",
            "`recollect up` takes in what your agents wrote, `recollect ingest PATH` a file or a folder.",
        )
    latest = max(done, key=lambda event: event.started_at)
    return ok("last success", f"{latest.name} at {local(latest.started_at):%Y-%m-%d %H:%M}")


def _index(memory: Memory) -> Finding:
    """Whether everything that was said can be found, and by what."""
    runtime = memory.settings.runtime
    try:
        state = memory.recall.state()
    except RecollectError as error:
        return failure("index", f"Nothing can be searched: {error}", "Nothing is lost: the index is made from history.")
    figures = (
        f"{state.documents:,} messages, records and notes, {state.deepened:,} of them deepened "
        f"({state.bytes / 1e6:,.1f} MB)"
    )
    is_running = is_locked(runtime)
    status = read_status(runtime) if is_running else None
    if status and status.index_problem:
        return warning("index", f"{figures}, but {status.index_problem}", "recollect up tries again by itself.")
    if state.waiting and not is_running:
        return warning(
            "index",
            f"{figures}; {state.waiting:,} are new or changed since",
            "The next search indexes them first; `recollect up` does it at once.",
        )
    if state.deep and state.deepened < state.documents and not is_running:
        return warning("index", figures, "recollect reindex --deepen, or keep `recollect up` running.")
    return ok("index", f"{figures}, {state.waiting:,} waiting")


def _forgetting(memory: Memory) -> Finding:
    figures = memory.forgetting.figures()
    if figures.unfinished:
        number = "1 act of forgetting is" if figures.unfinished == 1 else f"{figures.unfinished:,} acts are"
        return warning(
            "forgetting",
            f"{number} not finished: what was forgotten is gone from the tables, but traces may be left in the files",
            "recollect forget --verify finishes and proves it.",
        )
    return ok(
        "forgetting", f"{figures.receipts:,} done, each of them proved" if figures.receipts else "Nothing was forgotten"
    )


def _models(memory: Memory) -> list[Finding]:
    listed = memory.models.listed()
    lacking = [
        warning("models", f"{item.name} is {item.state}: without it, {item.lacks}", "recollect models pull")
        for item in listed
        if item.lacks
    ]
    here = ", ".join(item.name for item in listed if item.is_used)
    return lacking or [ok("models", f"{here} are here" if here else "none are used")]


def _cleanup(root: Path) -> Finding:
    rule = cleanup_of(root)
    if rule is None:
        return ok("clean-up", f"{root}: no rule known")
    if rule.days >= 3650:
        return ok("clean-up", f"{root}: kept for {rule.days:,.0f} days")
    return warning(
        "clean-up",
        f"Claude Code deletes transcripts in {root} {rule.days:g} days after their last change",
        f'Keep `recollect up` running, or set "cleanupPeriodDays": 36500 in {rule.settings_file}.',
    )
