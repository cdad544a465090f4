"""The status board: what is going on, as far as the agent may see it. And what is so at this moment.

The board is frozen with the prompt. What changes from minute to minute (the time, how long ago somebody spoke, the
queue) goes with each trigger, so that nothing before it has to change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.clock import from_text, local
from recollect.context.blocks import escaped, line_of, tagged
from recollect.context.system_prompt import moment
from recollect.history import Author, History, Message, Status
from recollect.knowledge.records import Record

MOST_COUNTED = 100
"""Conversations in the queue: how many more there are says nothing new."""
MOST_COMMITMENTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """How things stand now."""

    now: datetime
    contact_at: str = ""
    """When a user last said something. Empty: never."""
    queue: int = 0
    being_read: int = 0
    last: Message | None = None
    """What was said last, for who wants to be aware of it."""
    is_active: bool = False
    """A conversation goes on."""


def live(history: History, now: datetime, gap_minutes: float, *, is_aware: bool) -> Live:
    users = history.latest(1, author=str(Author.USER))
    waiting = history.waiting(MOST_COUNTED)
    last = history.latest(1) if is_aware else []
    return Live(
        now=now,
        contact_at=users[-1].at if users else "",
        queue=waiting[Status.READY] + waiting[Status.QUEUED],
        being_read=waiting[Status.PROCESSING],
        last=last[-1] if last else None,
        is_active=bool(last) and (now - from_text(last[-1].at)).total_seconds() <= gap_minutes * 60,
    )


def board_text(agents: list[str], standing: Live, promised: Sequence[Record]) -> str:
    """`promised`: the newest first, one more than are shown where there are more."""
    contact = f"{local(standing.contact_at):%Y-%m-%d %H:%M}" if standing.contact_at else "none so far"
    lines = [f"- Agents: {', '.join(agents)}\n", f"- Last contact: {contact}\n", f"- Queue: {_queue(standing)}\n"]
    lines.append(f"- Open commitments: {'' if promised else 'none'}".rstrip() + "\n")
    lines += [f"  {_promise(record)}" for record in reversed(promised[:MOST_COMMITMENTS])]
    if len(promised) > MOST_COMMITMENTS:
        lines.append("  - [… older ones left out: the archive has them]\n")
    return "".join(lines)


def _promise(record: Record) -> str:
    since = f"{local(record.true_from or record.learned_at):%Y-%m-%d}"
    until = f", until {local(record.expires_at):%Y-%m-%d}" if record.expires_at else ""
    return f"{line_of(record.text).rstrip()} (since {since}{until})\n"


def _queue(standing: Live) -> str:
    if not standing.queue and not standing.being_read:
        return "empty"
    number = f"{standing.queue}" if standing.queue < MOST_COUNTED else f"{MOST_COUNTED} or more"
    waiting = f"{number} conversation{'' if standing.queue == 1 else 's'} waiting"
    return f"{waiting}, {standing.being_read} being read" if standing.being_read else waiting


def now_text(standing: Live, user: str, *, is_aware: bool) -> str:
    """What goes with a trigger."""
    parts = [f"{moment(standing.now)}."]
    if standing.contact_at:
        parts.append(f"Last contact with {escaped(user)}: {_ago(standing.contact_at, standing.now)}.")
    parts.append(f"Queue: {_queue(standing)}.")
    if is_aware:
        parts.append(_awareness(standing, user))
    return tagged("now", {}, " ".join(parts))


def _awareness(standing: Live, user: str) -> str:
    if standing.last is None:
        return "No conversation so far."
    speaker = user if standing.last.author is Author.USER else "an assistant"
    going_on = "A conversation is going on" if standing.is_active else "No conversation is going on"
    return f"{going_on}; the last word was that of {escaped(speaker)}, {_ago(standing.last.at, standing.now)}."


def _ago(at: str, now: datetime) -> str:
    seconds = max((now - from_text(at)).total_seconds(), 0.0)  # Computers differ about the time.
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        number = int(seconds // length)
        if number:
            return f"{number:,} {unit}{'' if number == 1 else 's'} ago"
    return "moments ago"
