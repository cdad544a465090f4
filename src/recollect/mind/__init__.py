"""Mind: one conversation of an agent and its user, across all channels and for ever.

`Mind` is the door. What is said is history before it goes anywhere (`log`), and waits until a turn takes it; one turn
is in flight at a time (`turns`). `conversation` is the array that the model is sent: it only grows at its end, until
its older part is condensed (`compaction`). All of it can be made again from history and from `mind_compactions`; what
lies in the runtime folder (`state`) only saves time.

Who may write: only this package writes the tables `mind_…`. Invariants: one turn in flight for an agent, whoever runs
it; no byte of a request changes between rebuilds; no answer is sent twice; nothing that a user said is lost.
"""
