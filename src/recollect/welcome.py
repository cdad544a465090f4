"""What a person hears after the first pass: what is safe now, what would have been deleted next, one thing to try."""

import shlex
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from recollect.clock import to_text
from recollect.demo import demo_transcripts
from recollect.history import Listed
from recollect.history.places import roots_of
from recollect.history.retention import cleanup_of, next_to_go
from recollect.memory import Memory, open_memory
from recollect.settings import this_computer

SHOWN_DOOMED = 3
SEARCHED_WORDS = 6
SEARCHED_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DoomedConversation:
    id: str
    title: str
    deleted_at: str
    is_overdue: bool
    days_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome:
    conversations: int
    months: int
    first_at: str
    last_at: str
    next_to_be_deleted: list[DoomedConversation]
    try_this: str


def welcome(memory: Memory, roots: list[Path]) -> Welcome:
    figures = memory.history.figures()
    listed = memory.history.conversations(limit=1_000_000)
    return Welcome(
        conversations=figures.conversations,
        months=figures.months,
        first_at=figures.first_at,
        last_at=figures.last_at,
        next_to_be_deleted=_doomed(memory, roots, {item.conversation.file_id: item for item in reversed(listed)}),
        try_this=f"recollect {search_for(listed[0].title)}" if listed else "recollect conversations",
    )


def search_for(title: str) -> str:
    """A search that finds the conversation with this title: its first words, as a shell takes them."""
    words = "".join(character if character.isprintable() else " " for character in title).split()
    asked = " ".join(words[:SEARCHED_WORDS])[:SEARCHED_CHARACTERS].strip(" .,;:!?…-")
    return f"search {shlex.quote(asked)}" if asked else "conversations"


def _doomed(memory: Memory, roots: list[Path], by_file: dict[str, Listed]) -> list[DoomedConversation]:
    now = memory.clock()
    seen = {item.path: item.file_id for item in memory.history.seen_paths() if item.file_id in by_file}
    doomed: list[DoomedConversation] = []
    for root in roots_of("claude-code", roots, this_computer()):
        rule = cleanup_of(root)
        below = [path for path in seen if path.startswith(f"{root}/")]
        for item in next_to_go(below, rule, now, SHOWN_DOOMED) if rule else []:
            listed = by_file[seen[item.path]]
            doomed.append(
                DoomedConversation(
                    id=listed.conversation.id,
                    title=listed.title,
                    deleted_at=to_text(item.deleted_at),
                    is_overdue=item.deleted_at <= now,
                    days_left=max(0, (item.deleted_at - now) // timedelta(days=1)),
                )
            )
    return sorted(doomed, key=lambda item: item.deleted_at)[:SHOWN_DOOMED]


def open_demo(memory: Memory) -> tuple[Path, list[Listed]]:
    """Make the demo house, in a home of its own below the real one; its conversations."""
    home = memory.settings.home / "demo"
    with open_memory(home, str(home / "recollect.db")) as demo:
        demo.history.ingest([demo_transcripts()])
        demo.librarian.process()
        demo.recall.catch_up()
        return home, demo.history.conversations(limit=20)
