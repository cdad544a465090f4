"""Compaction: a summary in the place of the older part of a conversation.

A `Compaction` takes a request that holds exactly the turns to condense and gives back what stands in their place. There
are two: the provider's own (`server`) and ours (`own`), with one contract; `choosing` knows which is to be had, and
`instructing` what either is told. `cutting` says which turns stay as they are, `probe` whether what was promised
survived.
"""

from recollect.mind.compaction.compaction import Compacted, Compaction, standing_for

__all__ = ["Compacted", "Compaction", "standing_for"]
