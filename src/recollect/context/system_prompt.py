"""The system prompt (N5): when and where, who one is, what was written down, and what one remembers with.

Made from values alone, so that the same notes at the same time give the same bytes. Soul and user page are sections of
their own and not repeated here. Each note has a share of the room, whether it needs it or not: one that grows never
moves the cut of another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.clock import LOCAL
from recollect.context.blocks import escaped, readable, tagged
from recollect.context.state import Frozen, Seen
from recollect.context.trimming import Estimate, trimmed
from recollect.context.watching import WRITABLE, Chapter, Shown, chapters
from recollect.context.your_memory import your_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Who talks with whom, and where."""

    agent: str
    user: str
    """The name of the person, or "the user"; as it was given."""
    folder: str
    """Where the agent's own notes lie."""
    computer: str
    version: str
    """Of Recollect."""


def moment(now: datetime) -> str:
    """As the user's clock has it: Monday, 2 March 2026, 13:00 (UTC+01:00)"""
    here = now.astimezone(LOCAL)
    offset = here.isoformat(timespec="minutes")[16:]
    return f"{here:%A}, {here.day} {here:%B} {here.year}, {here:%H:%M} (UTC{offset})"


def system_prompt(
    name: str, around: Surroundings, notes: Mapping[str, Seen], now: datetime, budget_tokens: int, estimate: Estimate
) -> Frozen:
    """Inside the budget, save that what it says without any note always stands: what is left is for the notes."""
    missing = [place for place in WRITABLE if place in notes and not notes[place].digest]
    environment = _environment(around, now)
    memory = your_memory(folder=around.folder, user=escaped(around.user), missing=missing) + "\n"
    written = chapters(now)
    headings = sum(estimate(_heading(chapter)) for chapter in written)
    room = max(budget_tokens - estimate(environment) - estimate(memory) - headings, 0)
    texts: list[str] = []
    left_out = 0
    for chapter in written:
        text, left = _chapter(chapter, notes, room, estimate)
        texts.append(text)
        left_out += left
    return Frozen(name=name, text="".join([environment, *texts, memory]), left_out=left_out)


def _environment(around: Surroundings, now: datetime) -> str:
    lines = (
        "# Environment",
        "",
        f"This was put together on {moment(now)}.",
        f"You are {around.agent}, and you talk with {escaped(around.user)}.",
        f"The computer is {escaped(around.computer)}; your memory is {f'Recollect {around.version}'.strip()}.",
    )
    return "".join(f"{line}\n" for line in lines) + "\n"


def _heading(chapter: Chapter) -> str:
    return f"# {chapter.heading}\n\n\n"


def _chapter(chapter: Chapter, notes: Mapping[str, Seen], room_tokens: int, estimate: Estimate) -> tuple[str, int]:
    """Its text, empty when none of its notes is there; and how many paragraphs are missing."""
    blocks: list[str] = []
    left_out = 0
    for shown in chapter.notes:
        seen = notes.get(shown.place, Seen())
        if seen.digest:
            block, left = _note(shown, seen, int(room_tokens * shown.share), estimate)
            blocks.append(block)
            left_out += left
    text = "".join(blocks)
    return (f"# {chapter.heading}\n\n{text}\n" if text else ""), left_out


def _note(shown: Shown, seen: Seen, budget_tokens: int, estimate: Estimate) -> tuple[str, int]:
    return note_block(seen, budget_tokens, keep_end=shown.keep_end, estimate=estimate)


def note_block(seen: Seen, budget_tokens: int, *, keep_end: bool, estimate: Estimate) -> tuple[str, int]:
    """A note inside its budget, tag and all, and how many of its paragraphs are missing. Empty: there is no word in
    it, or no room even to say what is missing."""
    given = {"path": seen.path}
    around = estimate(tagged("note", given, "x"))
    text = readable(seen.text).strip("\n")
    cut = trimmed(
        text,
        max(budget_tokens - around, 0),
        keep="end" if keep_end else "start",
        name=escaped(seen.path),
        estimate=estimate,
    )
    return (tagged("note", given, cut.text) if cut.text.strip() else ""), cut.left_out_paragraphs
