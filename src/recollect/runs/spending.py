"""What was spent, by day, model and purpose."""

from dataclasses import dataclass
from datetime import timedelta

from recollect.clock import Clock, local, to_text
from recollect.database import Database
from recollect.runs.budget import MICRO
from recollect.runs.store import SpendingStore
from recollect.scopes import OWNER, Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    day: str
    """The person's own, such as `2026-03-02`."""
    model: str
    purpose: str
    calls: int
    open_calls: int
    """Of these, under way or never ended: counted with all that they could have taken."""
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    dollars: float
    """What is known of it: a call whose price nobody knows counts as nothing."""


class Spending:
    def __init__(self, database: Database, house: str, clock: Clock, principal: Principal = OWNER) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal

    def by_day(self, days: int = 30) -> list[Spent]:
        """Of the last so many days, the latest first. An agent is told of nobody's money."""
        if self._principal.is_confined:
            return []
        since = local(to_text(self._clock())).date() - timedelta(days=max(days, 1) - 1)
        with self._database.read() as session:
            rows = SpendingStore(session, self._house).by_day(since.isoformat())
        return [
            Spent(
                day=day,
                model=model,
                purpose=purpose,
                calls=calls,
                open_calls=open_calls,
                input_tokens=input_tokens,
                cached_tokens=cached_tokens,
                output_tokens=output_tokens,
                dollars=microdollars / MICRO,
            )
            for (
                day, model, purpose, calls, open_calls, input_tokens, cached_tokens, output_tokens, microdollars,
            ) in rows
        ]  # fmt: skip
