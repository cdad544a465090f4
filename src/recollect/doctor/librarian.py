"""Whether finished conversations are read: somebody can, something waits, and nothing was set aside unseen."""

from datetime import timedelta

from recollect.clock import local, to_text
from recollect.doctor.findings import Finding, failure, ok, warning
from recollect.lock import is_locked
from recollect.memory import Memory

CHECK = "librarian"
LATE = timedelta(hours=6)
"""What is ready for longer than this, while a daemon runs that reads by itself, is not being read."""


def librarian(memory: Memory) -> Finding:
    desk = memory.librarian
    if desk.reader == "none":
        return ok(CHECK, "The librarian is off, as the settings say.")
    problem = desk.problem()
    if problem:
        return failure(CHECK, f"Nobody can read: {problem}", "Mend [librarian] in recollect.toml.")
    state = desk.status()
    if state.counts.aside:
        some = "; ".join(f"{job.target[:8]}: {job.reason}" for job in state.aside[:3])
        return warning(
            CHECK,
            f"{state.counts.aside:,} conversations are set aside, as they could not be read: {some}.",
            "recollect librarian status tells all; recollect process ID tries one again.",
        )
    if state.paused:
        return warning(
            CHECK,
            f"The librarian is paused since {local(state.paused.since):%Y-%m-%d %H:%M}.",
            "recollect librarian resume",
        )
    return _waiting(memory) or ok(CHECK, _told(memory))


def _waiting(memory: Memory) -> Finding | None:
    """A queue that nobody works through."""
    late = to_text(memory.clock() - LATE - timedelta(minutes=memory.settings.conversation_gap_minutes))
    waiting = memory.history.conversations(status="ready", limit=1_000) if memory.librarian.works_by_itself else []
    old = [listed for listed in waiting if listed.conversation.ended_at < late]
    if not old or not is_locked(memory.settings.runtime):
        return None
    return warning(
        CHECK,
        f"{len(old):,} conversations are ready for hours, and the daemon does not read them.",
        "recollect librarian status; restarting recollect up helps when its thread died.",
    )


def _told(memory: Memory) -> str:
    figures, state = memory.librarian.figures(), memory.librarian.status()
    return f"{figures['conversations']:,} conversations are read, {state.counts.queued:,} are queued."
