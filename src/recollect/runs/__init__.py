"""What the system did: one event per job, with its outcome and duration. Diagnostics only; may be lost."""

from recollect.runs.runs import Event, Runs

__all__ = ["Event", "Runs"]
