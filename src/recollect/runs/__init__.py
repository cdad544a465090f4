"""What the system did and what that cost: events, spending, and the ceilings that hold it.

An event per job and per call of a model, with its outcome and duration: diagnostics only, may be lost. Spending is
counted before each call of a model and after it; `runs.metered` puts that around a model. It is
imported by who asks one: nobody else needs asyncio.
"""

from recollect.runs.budget import Budget, Meter, OverBudget, Reservation, UnknownPrice
from recollect.runs.runs import Event, Runs
from recollect.runs.spending import Spending, Spent

__all__ = [
    "Budget",
    "Event",
    "Meter",
    "OverBudget",
    "Reservation",
    "Runs",
    "Spending",
    "Spent",
    "UnknownPrice",
]
