"""Search over everything that was said, learned or written down, by words, meaning, time and context, with no network
and no key.

`Recall` is the door; `upkeep` keeps its index, `material` says what is in it, `viewer` what of that somebody may see.
`words`, `passages`, `sections` and `time_phrases` read texts, `noted` reads notes; `index/` keeps what they say;
`keyword`, `closeness`, `lending`, `periods`, `decay` and `diversity` each judge one thing, `ranking` adds them up by a
recipe of `recipes`, `search` takes the best and `showing` makes hits of them. Derived: everything here is built from
history, knowledge and notes and can be built again.
"""

from recollect.recall.hits import Found, Hit
from recollect.recall.material import Material
from recollect.recall.query import moment_of
from recollect.recall.recall import Recall, open_recall
from recollect.recall.upkeep import IndexState

__all__ = ["Found", "Hit", "IndexState", "Material", "Recall", "moment_of", "open_recall"]
