"""One hook in, one answer out: the same for the daemon's route and for `recollect hook`.

At the beginning of a session it is told what is known; at its ends its transcript is named, for the caller to take in.
Nothing is said in a project that is ignored (`.recollectignore`): Recollect has no part in what goes on there. While
taking in is paused a session is still told what is known, and that nothing of it is kept.

An answer only reads: an agent waits for it, and must not wait for somebody who writes. What was shown is noted by the
caller afterwards.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from recollect.errors import NotFound, RecollectError, reason_of
from recollect.history.privacy import Ignore
from recollect.memory import Memory
from recollect.surfaces.hooks.capturing import stands_in, takes_in
from recollect.surfaces.hooks.injecting import injection
from recollect.surfaces.hooks.payload import Payload, read_payload
from recollect.surfaces.hooks.tools import BEGINNING, EVENTS, RESUMED, Tool, tool_named

HEADER = "Recollect-Hook"
"""TOOL EVENT AGENT: curl can take the address from a file, but add nothing to it."""
_HEADER_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    tool: Tool
    event: str
    agent: str
    """As which the agent sees and changes things: `claude-code`, or in a room of its own `ada/kitchen`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a session was told, for `note_shown`."""

    agent: str
    session_id: str
    records: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    output: str = ""
    """What the agent reads: JSON, or nothing."""
    transcript: str = ""
    """What is to be taken in."""
    shown: Shown | None = None
    """What is to be noted."""


def hook_of(header: str) -> Hook:
    """Raises NotFound for what is no hook of ours."""
    words = header.split(" ")
    if len(words) != _HEADER_WORDS:
        raise NotFound(f"{header[:100]!r} names no hook. {HEADER} is TOOL EVENT AGENT.")
    return hook_named(*words)


def hook_named(tool: str, event: str, agent: str) -> Hook:
    if event not in EVENTS:
        raise NotFound(f"No hook is called {event[:100]!r}. There are: {', '.join(EVENTS)}.")
    return Hook(tool=tool_named(tool), event=event, agent=agent)


def answer(memory: Memory, hook: Hook, raw: bytes) -> Answer:
    """`memory`: as the person sees it. What cannot be answered is told in `runs` and raised."""
    given = read_payload(raw)
    if hook.event != BEGINNING:
        return Answer(transcript=given.transcript_path)
    is_told = given.source == RESUMED and stands_in(hook.tool, given.transcript_path)
    if is_told or _is_ignored(memory, given.cwd):
        return Answer()
    try:
        return _beginning(memory, hook, given)
    except RecollectError as error:
        with suppress(RecollectError):  # The database may be what is broken.
            told: dict[str, object] = {"tool": hook.tool.name, "agent": hook.agent, "reason": reason_of(error)}
            memory.runs.record("hook", "failed", 0.0, told)
        raise


def _is_ignored(memory: Memory, cwd: str) -> bool:
    """Looked up anew each time: the file may have been written a moment ago."""
    return bool(cwd) and Ignore(str(memory.settings.home)).keeps_out_project(cwd)


def note_shown(memory: Memory, shown: Shown) -> None:
    """What cannot be noted is lost: it changes the order in which records are shown, and nothing else."""
    with suppress(RecollectError):
        _seen_by(memory, shown.agent).showings.note_shown(shown.session_id, shown.records, at=shown.at)


def _beginning(memory: Memory, hook: Hook, given: Payload) -> Answer:
    is_kept = takes_in(memory)
    made = injection(_seen_by(memory, hook.agent), given.cwd, is_kept=is_kept)
    output = {"hookSpecificOutput": {"hookEventName": hook.event, "additionalContext": made.text}}
    is_noted = is_kept and given.session_id and made.records
    shown = Shown(agent=hook.agent, session_id=given.session_id, records=made.records, at=memory.clock())
    return Answer(output=json.dumps(output, ensure_ascii=False), shown=shown if is_noted else None)


def _seen_by(memory: Memory, agent: str) -> Memory:
    name, _, room = agent.partition("/")
    return memory.as_agent(name, room)
