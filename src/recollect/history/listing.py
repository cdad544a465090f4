"""Conversations as people see them in a list: each with its title, its thread and its file."""

from dataclasses import dataclass

from recollect.history.conversations import Conversation
from recollect.history.store import ThreadStore
from recollect.history.threads import stream_title


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    conversation: Conversation
    title: str
    thread: str
    file: str


NO_TITLE = "(no words of the user)"
"""Shown where a conversation has no title, and nobody said anything to make one of."""


def describe(threads: ThreadStore, found: list[Conversation]) -> list[Listed]:
    titles = threads.titles([name for item in found for name in _title_names(item)])
    files = threads.file_titles(sorted({item.file_id for item in found}))
    roots = threads.roots()
    listed: list[Listed] = []
    for item in found:
        file_title, key = files.get(item.file_id, ("", ""))
        named = next((titles[name] for name in _title_names(item) if name in titles), "")
        listed.append(
            Listed(
                conversation=item,
                title=file_title or named or item.opening or NO_TITLE,
                thread=roots.get(item.session_id, item.session_id) or item.id,
                file=key,
            )
        )
    return listed


def _title_names(conversation: Conversation) -> list[str]:
    """What a title may be kept under, beside that of the file."""
    names = [stream_title(conversation.file_id, conversation.stream)] if conversation.stream else []
    return [*names, conversation.leaf_id] if conversation.leaf_id else names
