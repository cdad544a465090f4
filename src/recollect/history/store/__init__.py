"""All SQL on history's tables, one class per table or two. Each works inside one session, for one house."""

from recollect.history.store.conversations import ConversationStore
from recollect.history.store.erasing import ErasingStore, RowKey, VaultRow
from recollect.history.store.files import (
    ARCHIVE,
    CONTAINER,
    THIS_HOST,
    UNREAD,
    File,
    FileStatus,
    FileStore,
    SeenPath,
)
from recollect.history.store.lines import LineStore, Occurrence
from recollect.history.store.messages import MessageStore, SourceTotals
from recollect.history.store.threads import ThreadStore

__all__ = [
    "ARCHIVE",
    "CONTAINER",
    "THIS_HOST",
    "UNREAD",
    "ConversationStore",
    "ErasingStore",
    "File",
    "FileStatus",
    "FileStore",
    "LineStore",
    "MessageStore",
    "Occurrence",
    "RowKey",
    "SeenPath",
    "SourceTotals",
    "ThreadStore",
    "VaultRow",
]
