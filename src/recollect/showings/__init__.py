"""Showings: which records an agent was shown in a session, and which of them it then used.

Who shows records notes it here; after each intake it is looked for what the session's assistant said later
(`use`). What that comes to is counted for each record and scope; rehydration lets sink what is never used. Single
showings are kept for two weeks at most.

Who may write: only `Showings`, and forgetting. Nothing here is knowledge: whatever is lost, is cut off or was judged
wrongly changes the order in which records are shown, and nothing else. What an agent was shown counts for its own scope
alone, and is judged by messages that it may read itself.
"""

from recollect.showings.showings import Showings
from recollect.showings.standing import Counted, Figures, Standing, standing_of

__all__ = ["Counted", "Figures", "Showings", "Standing", "standing_of"]
