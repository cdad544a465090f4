"""Jobs: what is to be done once, by whoever takes it first, on this computer or another.

A job is known by its kind and its target, so that nothing is queued twice. Who takes one holds a lease on it and renews
it; a lease that ran out is another's to take. Operational: a job that is lost is queued again by who knows of its
target. All of it works inside a session of the caller, so that a job ends in the transaction of what it made.
"""

from recollect.jobs.job import Job, JobCounts, Pause, State, wait_seconds
from recollect.jobs.lease import Presence, Renewal
from recollect.jobs.store import JobStore

__all__ = ["Job", "JobCounts", "JobStore", "Pause", "Presence", "Renewal", "State", "wait_seconds"]
