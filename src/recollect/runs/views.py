"""What `memory.sql` shows of runs. Names and columns are a contract."""

from recollect.scopes import Sight

EVENTS = """
    SELECT id, name, outcome, started_at, milliseconds, detail FROM runs_events WHERE house = '{house}'{seen}
"""


def run_views(house: str, sight: Sight) -> dict[str, str]:
    """An event tells of files and failures of the whole house: for an agent there is none."""
    return {"events": EVENTS.format(house=house, seen="" if sight.scopes is None else " AND 1 = 0")}
