"""Whether the notes on the disk and their versions agree, and who watches them."""

from datetime import timedelta

from recollect.clock import from_text, local, to_text
from recollect.daemon.status import read_status
from recollect.doctor.findings import Finding, failure, ok, warning
from recollect.lock import is_locked
from recollect.memory import Memory
from recollect.notes.files import Files
from recollect.notes.paths import Kind, kind_of
from recollect.notes.standing import Standing, standing_of
from recollect.notes.store import NoteStore

CONFLICT_DAYS = 7
"""For so long it is told that two wrote the same note at once."""


def notes(memory: Memory) -> list[Finding]:
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
            warning(
                "notes",
                f"{len(standing.behind):,} of {standing.files:,} files are not what was last seen in them, "
                f"first {standing.behind[0]}",
                "`recollect notes list` looks at them all; `recollect up` does it at once.",
            )
        )
    counted = f"{standing.notes:,} notes in {standing.files:,} files, {versions:,} versions"
    return findings or [ok("notes", counted if versions else "none yet")]


def _note_watcher(memory: Memory) -> Finding | None:
    """Whether a running daemon still looks at the notes."""
    runtime = memory.settings.runtime
    status = read_status(runtime) if is_locked(runtime) else None
    if status is None or not status.last_scan_at:
        return None
    looked_at = status.notes_looked_at or status.started_at
    age = memory.clock() - from_text(looked_at)
    if age > timedelta(seconds=max(60.0, status.poll_interval_seconds * 5)):
        return failure(
            "notes watcher",
            f"A dead watcher: nobody has looked at the notes since {local(looked_at):%Y-%m-%d %H:%M:%S}"
            + (f" ({status.notes_problem})" if status.notes_problem else ""),
            "Restart `recollect up`. Until then each read and write of a note looks at its file by itself.",
        )
    if status.notes_problem:
        return warning("notes watcher", f"Looking, but {status.notes_problem}", "It still looks at its interval.")
    if status.notes_restarts:
        return warning(
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
        return warning("notes on disk", f"The folder of notes {first.reason}", "Move away what lies in its place.")
    told = first.reason if first.reason.startswith(first.path) else f"{first.path}: {first.reason}"
    return warning(
        "notes on disk",
        f"{len(standing.problems):,} in the folder cannot be kept or used, first {told}",
        "They stay where they lie. Mend each, or move it out of the folder of notes.",
    )


def _note_conflicts(standing: Standing) -> Finding | None:
    if not standing.conflicts:
        return None
    last = standing.conflicts[-1]
    return warning(
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
            warning(
                "notes diary",
                f"Diary entries that were changed on disk: {len(entries):,}, first {entries[0].path}",
                f"recollect diary restore {entries[0].path.rpartition('/')[2]}, or accept it: recollect notes review",
            )
        )
    if souls:
        findings.append(
            warning(
                "notes review",
                f"Waiting for a look: {len(souls):,}, first {souls[0].path}",
                "recollect notes review shows them.",
            )
        )
    return findings
