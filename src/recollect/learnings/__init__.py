"""Learnings: what agents marked in what they said, and what people chose from it, made into records.

It follows the feed behind history, reads the messages that have a marker in them and hands what they say to knowledge.
Who may write: only `Learnings` writes the reports, which are derived: a message that is read again gets its own anew.
A learning's id follows from its message and its marker, so that reading a text twice, streamed or whole, makes it once,
and one that was corrected or forgotten is not made again.
"""

from recollect.learnings.learnings import FOLLOWER, Learnings, LearningsReport, MarkerFigures, Reported, Turn

__all__ = ["FOLLOWER", "Learnings", "LearningsReport", "MarkerFigures", "Reported", "Turn"]
