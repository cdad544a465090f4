"""The feed: which things were touched, in the order of commits. What an index reads to follow them.

Who may write: every store that adds, changes or deletes a thing that others follow, in its own transaction. Rows say
which thing, not what became of it: who follows reads the thing as it is by then.
"""

from recollect.feed.feed import Feed
from recollect.feed.store import MESSAGE, NOTE, RECORD, Change, FeedStore

__all__ = ["MESSAGE", "NOTE", "RECORD", "Change", "Feed", "FeedStore"]
