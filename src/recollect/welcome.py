"""What a person hears after the first pass: what is safe now, what would have been deleted next, one thing to try."""

import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from recollect.clock import to_text
from recollect.demo import demo_transcripts
from recollect.errors import RecollectError
from recollect.history import Listed
from recollect.history.listing import NO_TITLE
from recollect.history.places import roots_of
from recollect.history.retention import cleanup_of, next_to_go
from recollect.memory import Memory, open_memory
from recollect.settings import this_computer

SHOWN_DOOMED = 3
TRIED_CONVERSATIONS = 10
"""The latest: each may cost a search, and a person waits."""
SEARCHED_WORDS = 4
READ_CHARACTERS = 100
"""Of a title: a list shows as much of it, so that the words are known again."""
LONGEST_WORD = 24
"""Characters. Scripts without spaces write whole sentences as one word."""
SHOWN_OF_ID = 8
DATABASE = "recollect.db"
"""Of the demo house, whatever that of the real one is."""
_AROUND_WORDS = "\"'“”‘’«»()[]{}<>*_`.,;:!?…-–—"
_PLAIN_WORD = re.compile(r"(?=..)[^\W\d_]+(?:[-._][^\W\d_]+)*")


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
        try_this=f"recollect {first_command(memory, listed)}",
    )


def first_command(memory: Memory, listed: list[Listed]) -> str:
    """What to type first: a search for words of a title that gives the conversation with this title before all others;
    where none of the latest can be found so, what shows the latest."""
    for item in listed[:TRIED_CONVERSATIONS]:
        with suppress(RecollectError):  # Without an index nothing is found, and everything is shown all the same.
            words = " ".join(memory.recall.rarest(plain_words(item.title), SEARCHED_WORDS))
            if words and _first_found(memory, words) == item.conversation.id:
                return f"search {shlex.quote(words)}"
    return f"show {listed[0].conversation.id[:SHOWN_OF_ID]}" if listed else "conversations"


def plain_words(title: str) -> list[str]:
    """Those that a shell takes as they are, and a person types gladly: no numbers, no apostrophes, no addresses."""
    read = "" if title == NO_TITLE else title[:READ_CHARACTERS]
    stripped = (word.strip(_AROUND_WORDS) for word in read.split())
    return list(dict.fromkeys(word[:LONGEST_WORD] for word in stripped if _PLAIN_WORD.fullmatch(word)))


def _first_found(memory: Memory, words: str) -> str:
    """The conversation of the first hit. Without the deep model: loading it takes longer than all the rest here."""
    hits = memory.recall.search(words, limit=1, fast=True, fresh=False).hits
    return hits[0].conversation if hits else ""


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


def open_demo(memory: Memory) -> tuple[Path, list[Listed], str]:
    """Make the demo house, in a home of its own below the real one; its conversations, and what to type first."""
    home = _demo_home(memory)
    with open_memory(home, str(home / DATABASE)) as demo:
        demo.history.ingest([demo_transcripts()])
        demo.librarian.process()
        demo.recall.catch_up()
        found = demo.history.conversations(limit=20)
        return home, found, first_command(demo, found)


def deepen_demo(memory: Memory) -> None:
    """Where there is one: the models of search may not have been here when it was made. They are few messages."""
    home = _demo_home(memory)
    if (home / DATABASE).exists():
        with suppress(RecollectError), open_memory(home, str(home / DATABASE)) as demo:
            demo.recall.deepen()


def _demo_home(memory: Memory) -> Path:
    return memory.settings.home / "demo"
