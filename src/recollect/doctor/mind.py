"""Whether what was said to the mind is answered, and its answers arrive."""

from datetime import timedelta

from recollect.clock import local, to_text
from recollect.doctor.findings import Finding, ok, warning
from recollect.memory import Memory

CHECK = "mind"
LATE = timedelta(minutes=10)
"""What waits for longer than this waits for a program that runs the turns."""


def mind(memory: Memory) -> Finding:
    stands = memory.mind_figures()
    if not memory.settings.mind.model and not stands.turns and not stands.waiting:
        return ok(CHECK, "No model is set for `recollect chat`.")
    late = to_text(memory.clock() - LATE)
    wait = "1 message waits" if stands.waiting == 1 else f"{stands.waiting:,} messages wait"
    if stands.waiting and stands.waiting_since < late:
        since = f"{local(stands.waiting_since):%Y-%m-%d %H:%M}"
        return warning(CHECK, f"{wait} for an answer since {since}.", "recollect chat")
    if stands.failed_reason:
        when = f"{local(stands.failed_at):%Y-%m-%d %H:%M}"
        return warning(
            CHECK, f"The last turn failed, {when}: {stands.failed_reason}", "recollect chat answers it with the next."
        )
    if stands.unsure:
        return warning(
            CHECK,
            f"Nobody knows if some answers arrived, as a program ended while it sent them: {stands.unsure:,}.",
            "recollect chat shows what was said last.",
        )
    return ok(CHECK, f"{stands.turns:,} turns, and {wait if stands.waiting else 'nothing waits'}.")
