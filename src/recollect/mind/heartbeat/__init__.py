"""The heartbeat: moments of an agent's own, in which it may write first, or look back and write its diary.

`schedule` says when, `awareness` whether it may, by rules alone; only then a small model is asked (`deciding`). A
message that comes of it is a turn of the one conversation like any other. Every yes and every no is an event in runs.
"""
