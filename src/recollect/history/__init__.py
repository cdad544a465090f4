"""What happened: every message of every source, immutable, with the raw record it came from.

`sources/` turn records into entries, `folding` gathers them into messages, `writing` stores them, `conversations`
groups them, `History` is the door. Canonical: messages and the vault. Derived: conversations. Operational: how far
each file is read. Nothing here deletes what a source file no longer has.
"""

from recollect.history.conversations import Conversation, Status
from recollect.history.counts import Counts, IngestReport, Problem
from recollect.history.figures import Figures
from recollect.history.history import History
from recollect.history.listing import NO_TITLE, Listed
from recollect.history.messages import Author, Message, Standing

__all__ = [
    "NO_TITLE",
    "Author",
    "Conversation",
    "Counts",
    "Figures",
    "History",
    "IngestReport",
    "Listed",
    "Message",
    "Problem",
    "Standing",
    "Status",
]
