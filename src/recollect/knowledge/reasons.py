"""Why a record became what it is, where nobody gave a reason of their own.

Many records have the same one, so it says nothing of what a record says: who looks for the words of a forgotten record
leaves it out, or every other record would seem to hold some of them.
"""

KEPT = "it is kept already"
KNOWN = "it is known already"
KNOWN_LATER = f"{KNOWN}, from a later time on"
NEW = "nothing like it was known"
NEW_KEY = "nothing was known about this"
UNRELATED = "said to be unrelated to what is known"
DECIDED = "who said it decided: "
LATER = "a later statement about "
EARLIER = "learned late, about an earlier time of "
MARKED = "marked in a message"
PROMOTED = "promoted from a message"
MOVED = "its message belongs there now"
IMPORTED = "read from a memory folder: "

_OPENINGS = (KEPT, KNOWN, NEW, NEW_KEY, UNRELATED, DECIDED, LATER, EARLIER, MARKED, PROMOTED, MOVED, IMPORTED)


def is_own(reason: str) -> bool:
    """Whether it is one of these. What follows some of them, subject and attribute, stands in the record too."""
    return reason.startswith(_OPENINGS)
