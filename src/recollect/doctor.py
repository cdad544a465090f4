"""`recollect doctor`: what is well and what is not, from evidence, each finding with the next step.

It compares what the database says with what lies on the disk. A health check that cannot see "nothing new was stored"
is worthless, so it looks for files that grow while their messages do not.
"""

import os
import shutil
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from recollect.clock import Clock, from_text, local, to_text
from recollect.daemon import read_status, watched_roots
from recollect.errors import RecollectError
from recollect.history.finding import found_at, is_left_out
from recollect.history.places import roots_of
from recollect.history.privacy import Ignore
from recollect.history.retention import cleanup_of
from recollect.history.sources import broken_sources
from recollect.history.store import File, FileStatus
from recollect.lock import is_locked
from recollect.memory import Memory
from recollect.notes.files import Files
from recollect.notes.paths import Kind, kind_of
from recollect.notes.standing import Standing, standing_of
from recollect.notes.store import NoteStore
from recollect.settings import this_computer

MIN_FREE_BYTES = 500_000_000
SILENT_BYTES = 200_000
"""A transcript with this many bytes and no message of any kind is probably of a format that moved."""
MAX_BAD_SHARE = 0.05
CONFLICT_DAYS = 7
"""For so long it is told that two wrote the same note at once."""


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    check: str
    level: Level
    message: str
    next_step: str = ""


def examine(memory: Memory) -> list[Finding]:
    roots = watched_roots(memory)
    files = memory.history.files()
    return [
        _database(memory),
        _disk(memory),
        _daemon(memory, memory.clock),
        _paused(memory),
        *_files(files),
        _unread(memory, roots),
        _silent(files),
        *_sources(memory),
        _bad_lines(files),
        _last_success(memory),
        _index(memory),
        *_notes(memory),
        _forgetting(memory),
        *_models(memory),
        *(_cleanup(root) for root in roots_of("claude-code", roots, this_computer())),
    ]


def _ok(check: str, message: str) -> Finding:
    return Finding(check=check, level=Level.OK, message=message)


def _warning(check: str, message: str, next_step: str) -> Finding:
    return Finding(check=check, level=Level.WARNING, message=message, next_step=next_step)


def _failure(check: str, message: str, next_step: str) -> Finding:
    return Finding(check=check, level=Level.FAILURE, message=message, next_step=next_step)


def _database(memory: Memory) -> Finding:
    wrong = memory.database.check()
    if wrong:
        return _failure(
            "database",
            f"{memory.database.location} is damaged: {wrong[0]}",
            "Restore a backup, or move it aside and run `recollect ingest` again.",
        )
    return _ok("database", f"{memory.database.location} is sound ({memory.database.size_bytes() / 1e6:,.1f} MB)")


def _disk(memory: Memory) -> Finding:
    home = memory.settings.home
    # With a database elsewhere the home may not be made yet.
    free = shutil.disk_usage(next(folder for folder in (home, *home.parents) if folder.exists())).free
    if free < MIN_FREE_BYTES:
        return _warning("disk", f"Only {free / 1e6:,.0f} MB are free for {home}", "Free some space.")
    return _ok("disk", f"{free / 1e9:,.1f} GB free")


def _daemon(memory: Memory, clock: Clock) -> Finding:
    runtime = memory.settings.runtime
    status = read_status(runtime)
    if not is_locked(runtime):
        if status:
            return _failure("daemon", "The daemon died without saying so", "Start it again: recollect up.")
        return _warning("daemon", "Not running: new messages wait until you ingest", "recollect up keeps watching.")
    if status is None or not status.last_scan_at:
        return _ok("daemon", "Running, in its first pass")
    age = clock() - from_text(status.last_scan_at)
    if age > timedelta(seconds=max(60.0, status.poll_interval_seconds * 5)):
        return _failure(
            "daemon",
            f"Process {status.pid} has not scanned for {age.total_seconds() / 60:.0f} minutes",
            "Restart it.",
        )
    if status.problem:
        return _warning("daemon", f"Running, but {status.problem}", "It still scans at its interval.")
    return _ok("daemon", f"Running as process {status.pid}, last scan {local(status.last_scan_at):%H:%M:%S}")


def _paused(memory: Memory) -> Finding:
    since = memory.history.paused_since()
    if since:
        return _warning("pause", f"Paused since {local(since):%Y-%m-%d %H:%M}", "recollect resume goes on.")
    return _ok("pause", "Not paused")


def _files(files: list[File]) -> list[Finding]:
    failed = [file for file in files if file.status is FileStatus.FAILED]
    reading = [file for file in files if file.status is FileStatus.INGESTING]
    findings: list[Finding] = []
    if failed:
        findings.append(
            _failure(
                "files",
                f"{len(failed)} could not be read, first {failed[0].key}: {failed[0].reason}",
                f"Mend it and run `recollect ingest {failed[0].path}`.",
            )
        )
    if reading:
        findings.append(
            _warning(
                "files",
                f"{len(reading)} are half read, first {reading[0].key}",
                "recollect ingest finishes them.",
            )
        )
    return findings or [_ok("files", f"{len(files)} known, none failed")]


def _unread(memory: Memory, roots: list[Path]) -> Finding:
    """Counts against the disk."""
    read_to = {file.id: file.read_to for file in memory.history.files()}
    seen = {item.path: item for item in memory.history.seen_paths()}
    ignore = Ignore(str(memory.settings.home))
    on_disk = [found for root in roots for found in found_at(str(root), ignore)]
    new = [one for one in on_disk if one.path not in seen and one.status.st_size and not is_left_out(one.path)]
    grown = [
        found.status.st_size - read_to.get(seen[found.path].file_id, 0)
        for found in on_disk
        if found.path in seen and found.status.st_size > seen[found.path].size
    ]
    if new or grown:
        megabytes = (sum(found.status.st_size for found in new) + sum(max(0, size) for size in grown)) / 1e6
        return _warning(
            "disk against database",
            f"{len(new)} files are not taken in yet, {len(grown)} have grown ({megabytes:,.1f} MB)",
            "recollect ingest, or keep `recollect up` running.",
        )
    vanished = sum(not os.path.exists(path) for path in seen)
    return _ok("disk against database", f"{len(on_disk)} files on disk, all taken in; {vanished} live on only here")


def _silent(files: list[File]) -> Finding:
    silent = [
        file
        for file in files
        if file.read_to > SILENT_BYTES and not file.counts.in_messages and not file.counts.private
    ]
    if silent:
        return _failure(
            "format",
            f"{len(silent)} large files gave no message, first {silent[0].key}",
            "Its format may have changed: upgrade Recollect, then `recollect ingest --reimport`.",
        )
    return _ok("format", "Files that grow give messages")


def _sources(memory: Memory) -> list[Finding]:
    """A source that stopped growing while its files change: its format, or its folder, moved."""
    findings: list[Finding] = []
    known = memory.history.sources()
    for source in known:
        if source.silent_since:
            findings.append(
                _failure(
                    "source",
                    f"{source.title} stopped growing: {source.silent_records:,} records since "
                    f"{local(source.silent_since):%Y-%m-%d %H:%M}, and no message among them",
                    "Its format may have changed: upgrade Recollect, then `recollect ingest --reimport`.",
                )
            )
        if source.moved:
            findings.append(
                _warning(
                    "source",
                    f"{source.title} rests, but files of an unknown kind appear beside it: {source.moved[0]}",
                    "It may write elsewhere now: upgrade Recollect, then look at `recollect sources`.",
                )
            )
    findings += [
        _warning("source", f"A source of another package does not load: {why}", "Upgrade or remove that package.")
        for why in broken_sources()
    ]
    here = [source.title for source in known if source.places]
    return findings or [_ok("sources", f"{', '.join(here) or 'none'} found here, none stopped growing")]


def _bad_lines(files: list[File]) -> Finding:
    lines = sum(file.counts.lines for file in files)
    bad = sum(file.counts.bad for file in files)
    if lines and bad / lines > MAX_BAD_SHARE:
        return _warning("lines", f"{bad:,} of {lines:,} lines are not readable", "recollect health lists the files.")
    return _ok("lines", f"{lines:,} read, {bad:,} unreadable and kept as they are")


def _last_success(memory: Memory) -> Finding:
    done = [event for name in ("ingest", "scan") for event in memory.runs.latest(name, "done", 1)]
    if not done:
        return _warning("last success", "Nothing was taken in yet", "recollect ingest ~/.claude/projects")
    latest = max(done, key=lambda event: event.started_at)
    return _ok("last success", f"{latest.name} at {local(latest.started_at):%Y-%m-%d %H:%M}")


def _index(memory: Memory) -> Finding:
    """Whether everything that was said can be found, and by what."""
    runtime = memory.settings.runtime
    try:
        state = memory.recall.state()
    except RecollectError as error:
        return _failure(
            "index", f"Nothing can be searched: {error}", "Nothing is lost: the index is made from history."
        )
    figures = (
        f"{state.documents:,} messages, records and notes, {state.deepened:,} of them deepened "
        f"({state.bytes / 1e6:,.1f} MB)"
    )
    is_running = is_locked(runtime)
    status = read_status(runtime) if is_running else None
    if status and status.index_problem:
        return _warning("index", f"{figures}, but {status.index_problem}", "recollect up tries again by itself.")
    if state.waiting and not is_running:
        return _warning(
            "index",
            f"{figures}; {state.waiting:,} are new or changed since",
            "The next search indexes them first; `recollect up` does it at once.",
        )
    if state.deep and state.deepened < state.documents and not is_running:
        return _warning("index", figures, "recollect reindex --deepen, or keep `recollect up` running.")
    return _ok("index", f"{figures}, {state.waiting:,} waiting")


def _notes(memory: Memory) -> list[Finding]:
    """Files against versions, and what somebody should look at."""
    since = to_text(memory.clock() - timedelta(days=CONFLICT_DAYS))
    with memory.database.read() as session:
        store = NoteStore(session, memory.settings.house)
        standing, (versions, _) = standing_of(store, Files(memory.notes.folder), since), store.count()
    watcher = _note_watcher(memory)
    findings = [finding for finding in (watcher, _note_problems(standing), _note_conflicts(standing)) if finding]
    findings += _note_reviews(standing)
    if standing.behind and (watcher or not is_locked(memory.settings.runtime)):
        findings.append(
            _warning(
                "notes",
                f"{len(standing.behind):,} of {standing.files:,} files are not what was last seen in them, "
                f"first {standing.behind[0]}",
                "`recollect notes list` looks at them all; `recollect up` does it at once.",
            )
        )
    counted = f"{standing.notes:,} notes in {standing.files:,} files, {versions:,} versions"
    return findings or [_ok("notes", counted if versions else "none yet")]


def _note_watcher(memory: Memory) -> Finding | None:
    """Whether a running daemon still looks at the notes."""
    runtime = memory.settings.runtime
    status = read_status(runtime) if is_locked(runtime) else None
    if status is None or not status.last_scan_at:
        return None
    looked_at = status.notes_looked_at or status.started_at
    age = memory.clock() - from_text(looked_at)
    if age > timedelta(seconds=max(60.0, status.poll_interval_seconds * 5)):
        return _failure(
            "notes watcher",
            f"A dead watcher: nobody has looked at the notes since {local(looked_at):%Y-%m-%d %H:%M:%S}"
            + (f" ({status.notes_problem})" if status.notes_problem else ""),
            "Restart `recollect up`. Until then each read and write of a note looks at its file by itself.",
        )
    if status.notes_problem:
        return _warning("notes watcher", f"Looking, but {status.notes_problem}", "It still looks at its interval.")
    if status.notes_restarts:
        return _warning(
            "notes watcher",
            f"It had to be started again, {status.notes_restarts} times since {local(status.started_at):%H:%M}",
            "It works now. If that goes on: recollect sql \"SELECT detail FROM events WHERE name = 'notes'\"",
        )
    return None


def _note_problems(standing: Standing) -> Finding | None:
    if not standing.problems:
        return None
    first = standing.problems[0]
    if not first.path:
        return _warning("notes on disk", f"The folder of notes {first.reason}", "Move away what lies in its place.")
    told = first.reason if first.reason.startswith(first.path) else f"{first.path}: {first.reason}"
    return _warning(
        "notes on disk",
        f"{len(standing.problems):,} in the folder cannot be kept or used, first {told}",
        "They stay where they lie. Mend each, or move it out of the folder of notes.",
    )


def _note_conflicts(standing: Standing) -> Finding | None:
    if not standing.conflicts:
        return None
    last = standing.conflicts[-1]
    return _warning(
        "notes conflicts",
        f"Two wrote a note at once ({len(standing.conflicts):,} in {CONFLICT_DAYS} days), last {last.path}",
        f"Both texts are kept: recollect notes diff {last.path} {last.unseen} {last.number}",
    )


def _note_reviews(standing: Standing) -> list[Finding]:
    entries = [one for one in standing.reviews if kind_of(one.path) is Kind.DIARY]
    souls = [one for one in standing.reviews if one not in entries]
    findings: list[Finding] = []
    if entries:
        findings.append(
            _warning(
                "notes diary",
                f"Diary entries that were changed on disk: {len(entries):,}, first {entries[0].path}",
                f"recollect diary restore {entries[0].path.rpartition('/')[2]}, or accept it: recollect notes review",
            )
        )
    if souls:
        findings.append(
            _warning(
                "notes review",
                f"Waiting for a look: {len(souls):,}, first {souls[0].path}",
                "recollect notes review shows them.",
            )
        )
    return findings


def _forgetting(memory: Memory) -> Finding:
    figures = memory.forgetting.figures()
    if figures.unfinished:
        number = "1 act of forgetting is" if figures.unfinished == 1 else f"{figures.unfinished:,} acts are"
        return _warning(
            "forgetting",
            f"{number} not finished: what was forgotten is gone from the tables, but traces may be left in the files",
            "recollect forget --verify finishes and proves it.",
        )
    return _ok(
        "forgetting", f"{figures.receipts:,} done, each of them proved" if figures.receipts else "Nothing was forgotten"
    )


def _models(memory: Memory) -> list[Finding]:
    listed = memory.models.listed()
    lacking = [
        _warning("models", f"{item.name} is {item.state}: without it, {item.lacks}", "recollect models pull")
        for item in listed
        if item.lacks
    ]
    here = ", ".join(item.name for item in listed if item.is_used)
    return lacking or [_ok("models", f"{here} are here" if here else "none are used")]


def _cleanup(root: Path) -> Finding:
    rule = cleanup_of(root)
    if rule is None:
        return _ok("clean-up", f"{root}: no rule known")
    if rule.days >= 3650:
        return _ok("clean-up", f"{root}: kept for {rule.days:,.0f} days")
    return _warning(
        "clean-up",
        f"Claude Code deletes transcripts in {root} {rule.days:g} days after their last change",
        f'Keep `recollect up` running, or set "cleanupPeriodDays": 36500 in {rule.settings_file}.',
    )
