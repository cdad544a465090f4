"""How the librarian stands and what came of its work, as JSON; and which conversations it is to read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.history import Listed
    from recollect.librarian.librarian import Estimate, Librarian
    from recollect.librarian.shelves import ShelfReport
    from recollect.librarian.working.queueing import Queued
    from recollect.librarian.working.work import Worked
    from recollect.memory import Memory
    from recollect.runs import Meter

READ_STATUSES = ("ready", "queued", "processing", "archived")
NOBODY = 'The librarian is off: librarian.model is "none" in recollect.toml. Choose rules, or a model.'
READ_WITHOUT_ASKING = 3
"""Conversations that a model which costs money reads without being told twice."""
MOST_COUNTED = 1_000_000


def meter_json(meter: "Meter") -> dict[str, Any]:
    return {
        "calls": meter.calls,
        "tokens": meter.tokens,
        "cost_usd": meter.dollars,
        "tokens_per_day": meter.tokens_per_day,
        "dollars_per_day": meter.dollars_per_day,
        "share": meter.share,
        "goes_on_at": meter.goes_on_at,
    }


def librarian_json(memory: "Memory") -> dict[str, Any]:
    librarian = memory.librarian
    state, meter = librarian.status(), librarian.meter()
    waiting = memory.history.waiting(MOST_COUNTED)
    return {
        "reader": librarian.reader,
        "works_by_itself": librarian.works_by_itself,
        "problem": librarian.problem(),
        "ready": waiting.get("ready", 0),  # type: ignore[call-overload]
        "queued": state.counts.queued,
        "processing": state.counts.held,
        "set_aside": state.counts.aside,
        "paused_since": state.paused.since if state.paused else None,
        "next_due_at": state.next_due_at,
        "read": librarian.figures(),
        "aside": [{"conversation": job.target, "attempts": job.attempts, "reason": job.reason} for job in state.aside],
        "today": meter_json(meter),
        "questions": len(librarian.open_questions()),
        "reviews": len(librarian.proposals()),
    }


def estimate_json(estimate: "Estimate") -> dict[str, Any]:
    return {
        "reader": estimate.reader,
        "conversations": estimate.conversations,
        "input_tokens": estimate.input_tokens,
        "output_tokens": estimate.output_tokens,
        "tokens": estimate.input_tokens + estimate.output_tokens,
        "cost_usd": estimate.dollars,
    }


def queued_json(queued: "Queued") -> dict[str, Any]:
    return {
        "queued": queued.queued,
        "already": queued.already,
        "skipped": queued.skipped,
        "refused": queued.refused,
    }


def worked_json(librarian: "Librarian", queued: "Queued", worked: "Worked", written: "ShelfReport") -> dict[str, Any]:
    return {
        "processed": worked.processed,
        "skipped": queued.skipped,
        "failed": worked.failed,
        "tokens": worked.usage.input_tokens + worked.usage.output_tokens,
        "cost_usd": librarian.price_of(worked.usage),
        "records": worked.kept,
        "dropped": worked.dropped,
        "changed": worked.changed,
        "aside": worked.aside,
        "refused": queued.refused,
        "stopped": worked.stopped,
        "goes_on_at": worked.goes_on_at,
        "problem": worked.problem,
        "notes": written_json(written),
    }


def written_json(report: "ShelfReport") -> dict[str, Any]:
    """What people wrote on the shelves, and the librarian took over."""
    problems = [{"path": one.path, "reason": one.reason} for one in report.problems]
    return {"taken": dict(report.read_back), "problems": problems}


# What is to be read


def chosen_of(memory: "Memory", ids: Sequence[str], everything: bool) -> list[str]:
    if ids:
        return [memory.history.conversation(name).conversation.id for name in ids]
    if everything:
        aside = memory.librarian.queue.aside()
        return list(dict.fromkeys([*memory.history.conversation_ids(statuses=READ_STATUSES), *aside]))
    return memory.history.conversation_ids(statuses=("ready", "queued", "processing"))


def long_enough(memory: "Memory", chosen: Sequence[str]) -> "list[Listed]":
    """Those that are long enough to be read."""
    least = memory.settings.min_conversation_messages
    found = [memory.history.conversation(name) for name in chosen]
    return [listed for listed in found if listed.conversation.messages >= least]


def check_price(memory: "Memory", librarian: "Librarian", chosen: Sequence[str]) -> "list[Listed]":
    """Those that would be paid for, if they are so many that somebody should be asked first; else none."""
    model = librarian.open_model()
    if model is None or not model.is_paid:
        return []
    listed = long_enough(memory, chosen)
    return listed if len(listed) > READ_WITHOUT_ASKING else []


def costly(librarian: "Librarian", number: int) -> str:
    return f"{number:,} conversations would be read by {librarian.reader}, which costs money."


def taken_over(librarian: "Librarian") -> "ShelfReport":
    """What people wrote meanwhile. Shelves that cannot be had keep no conversation from being read; the worker says so
    when it comes to them."""
    from recollect.errors import RecollectError
    from recollect.librarian.shelves import ShelfReport

    try:
        return librarian.tidy()
    except RecollectError:
        return ShelfReport()
