"""What a history holds, as plain values that two histories can be compared by."""

from dataclasses import asdict
from typing import Any

from recollect import Memory
from recollect.database import Database
from recollect.history.store import CONTAINER
from recollect.history.vault import unpack

TABLES = (
    "history_files",
    "history_paths",
    "history_messages",
    "history_conversations",
    "history_links",
    "history_titles",
    "history_private_spans",
    "feed_changes",
    "feed_state",
    "runs_events",
)
VAULT = "history_lines"


def messages_of(memory: Memory) -> list[dict[str, Any]]:
    """Every message. How often its file was rewritten is left out: it tells of the way, not of the result."""
    found = [asdict(message) for message in memory.history.export()]
    for message in found:
        del message["generation"]
    return found


def conversations_of(memory: Memory) -> list[dict[str, Any]]:
    listed = memory.history.conversations(limit=10_000)
    found = [
        {**asdict(item.conversation), "title": item.title, "thread": item.thread, "key": item.file} for item in listed
    ]
    return sorted(found, key=lambda item: item["id"])


def files_of(memory: Memory) -> list[dict[str, Any]]:
    return [
        {
            "key": file.key,
            "status": file.status,
            "read_to": file.read_to,
            "newlines": file.newlines,
            "session_id": file.session_id,
            "last_entry_at": file.last_entry_at,
            "title": file.title,
            "counts": asdict(file.counts),
        }
        for file in memory.history.files()
    ]


def snapshot_of(memory: Memory) -> dict[str, Any]:
    return {
        "messages": messages_of(memory),
        "conversations": conversations_of(memory),
        "files": files_of(memory),
        "vault": memory.history.figures().vault[:2],
    }


def contents_of(memory: Memory) -> dict[str, Any]:
    """All but the files in which the transcripts lie."""
    containers = {file.key for file in memory.history.files() if file.kind == CONTAINER}
    return {
        "messages": messages_of(memory),
        "conversations": conversations_of(memory),
        "files": [file for file in files_of(memory) if file["key"] not in containers],
        "vault": memory.history.figures().vault[0],
    }


def said_in(memory: Memory) -> list[str]:
    """The words of every conversation, oldest conversation first."""
    words: list[str] = []
    for listed in reversed(memory.history.conversations(limit=10_000)):
        words += [message.text for message in memory.history.messages(listed.conversation)]
    return words


def outside_the_vault(database: Database) -> str:
    """Every value of every table but the vault, as one text to search in."""
    with database.read() as session:
        return "\n".join(repr(row) for table in TABLES for row in session.rows(f"SELECT * FROM {table}"))


def inside_the_vault(database: Database) -> str:
    with database.read() as session:
        rows = session.rows(f"SELECT raw FROM {VAULT} ORDER BY file_id, generation, start_byte")
        return "\n".join(unpack(bytes(row[0])).decode("utf-8", "replace") for row in rows)
