"""What the next context would share with the last one, and what that costs.

A provider caches a prompt from its beginning: what stands before the first byte that differs is read from there, if it
is still held; everything behind it is paid anew.
"""

from dataclasses import dataclass, field

from recollect.context.blocks import Context
from recollect.context.building import Built
from recollect.context.calibration import Calibration
from recollect.context.state import Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedNote:
    path: str
    change: str
    """new, changed or removed."""
    at: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    pipeline: str
    agent: str
    since: str
    """When the last context was made. Empty: there was none."""
    reason: str
    """Why the next one does not begin with all the bytes of the last one. Empty: it does."""
    tokens: int
    """Of the next one."""
    cached_tokens: int
    """Of these, those with which the last one began too."""
    new_tokens: int
    lost_tokens: int
    """Of the last one, what the next one does not begin with."""
    sections: list[str] = field(default_factory=list[str])
    """Those that are other than they were, grown ones included."""
    notes: list[ChangedNote] = field(default_factory=list[ChangedNote])
    messages: int = 0
    """How many would be added."""


def difference_of(
    pipeline: str, agent: str, last: Context | None, since: str, built: Built, counted: Calibration
) -> Difference:
    text = last.text if last else ""
    shared = len(shared_beginning(text, built.context.text).encode())
    is_all = shared == len(built.context.text.encode())
    cached = built.context.tokens if is_all else shared * counted.tokens // counted.per_bytes
    before = {section.name: section.text for section in last.sections} if last else {}
    after = {section.name: section.text for section in built.context.sections}
    return Difference(
        pipeline=pipeline,
        agent=agent,
        since=since,
        reason=str(built.reason or ""),
        tokens=built.context.tokens,
        cached_tokens=cached,
        new_tokens=max(built.context.tokens - cached, 0),
        lost_tokens=max((last.tokens if last else 0) - cached, 0) if shared < len(text.encode()) else 0,
        sections=[name for name in {**after, **before} if before.get(name, "") != after.get(name, "")],
        notes=[_changed(before_, after_) for _, before_, after_ in built.changed],
        messages=built.messages,
    )


def _changed(before: Seen, after: Seen) -> ChangedNote:
    change = "removed" if not after.digest else "changed" if before.digest else "new"
    return ChangedNote(path=after.path or before.path, change=change, at=after.at, by=after.by)


def shared_beginning(one: str, other: str) -> str:
    if other.startswith(one):
        return one
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return one[:low]
