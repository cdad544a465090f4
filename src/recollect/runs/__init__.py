"""What the system did and what that cost: events, spending, and the ceilings that hold it.

An event per job and per call of a model, with its outcome and duration: diagnostics only, may be lost. Spending is
counted before each call of a model and after it; `runs.metered` puts that around a model that is asked for an object,
`runs.metered_talk` around one that talks. They are imported by who asks one: nobody else needs asyncio.
"""

from recollect.runs.budget import Account, Budget, Meter, OverBudget, Reservation, UnknownPrice
from recollect.runs.runs import Event, Runs
from recollect.runs.spending import Spending, Spent, SpentDay, SpentTurn

__all__ = [
    "Account",
    "Budget",
    "Event",
    "Meter",
    "OverBudget",
    "Reservation",
    "Runs",
    "Spending",
    "Spent",
    "SpentDay",
    "SpentTurn",
    "UnknownPrice",
]
