"""What a new folder of notes begins with. Everything else appears when somebody first writes it.

`COMPACTION.md` is a page of the agent like any other, and may be changed by whoever works with it. It describes what
is worth keeping and scripts nothing.
"""

COMPACTION_TEXT = """\
# What to hold on to

A long conversation is condensed from time to time. What happened lately stays word for word; of what lies further back
a summary remains. These lines are about that summary: what I would miss if it were gone.

- **The story.** How one thing led to another, in the order it happened, so that the conversation goes on rather than
  begins again.
- **The tone.** How we speak with each other: what was light and what was serious, what hurt, what we laughed about.
- **Open threads.** What was begun and not finished, questions without an answer yet, what somebody is waiting for.
- **Promises.** What was agreed, by whom and until when, in both directions.
- **Decisions and their reasons.** What was chosen, what was turned down, and why; the reason outlasts the choice.
- **Corrections.** What I had wrong and was told, together with how it really is.

Exact figures, dates, names and addresses live in the notes, and the words themselves in the archive. A summary that
points there is worth more than one that carries them along and gets them slightly wrong.
"""

GITIGNORE_TEXT = """\
# Notes are private. Without these lines, a repository around this folder would take them in.
*
"""
