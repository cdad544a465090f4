"""Search over everything that was said, by words, meaning, time and context, with no network and no key.

`Recall` is the door. `words`, `passages` and `time_phrases` read texts; `index/` keeps what they say; `keyword`,
`closeness`, `lending`, `periods`, `decay` and `diversity` each judge one thing, `ranking` adds them up by a recipe of
`recipes`, `search` makes hits of the best. Derived: everything here is built from history and can be built again.
"""

from recollect.recall.hits import Found, Hit
from recollect.recall.query import moment_of
from recollect.recall.recall import IndexState, Recall

__all__ = ["Found", "Hit", "IndexState", "Recall", "moment_of"]
