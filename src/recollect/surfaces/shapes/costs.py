"""What models took, as JSON."""

from typing import TYPE_CHECKING, Any

from recollect.surfaces.shapes.librarian import meter_json

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.runs import Spent, SpentTurn

TURNS = 20
"""Of the latest that a program is told of, unless it asks for another number."""


def costs_json(memory: "Memory", days: int, turns: int) -> dict[str, Any]:
    from recollect.runs import Account

    spending, mind, heartbeat = memory.spending, memory.settings.mind, memory.settings.heartbeat
    spent, in_days = spending.by_day(days), spending.days(days)
    meter = spending.today(Account.MIND, dollars_per_day=mind.dollars_per_day)
    own = spending.today(Account.HEARTBEAT, dollars_per_day=heartbeat.dollars_per_day)
    return {
        "today_is": meter.day,
        "today": meter_json(memory.librarian.meter()),
        "mind_today": meter_json(meter),
        "heartbeat_today": meter_json(own),
        "tokens": sum(one.input_tokens + one.output_tokens for one in spent),
        "cost_usd": round(sum(one.dollars for one in spent), 6),
        "days": [_spent_json(one) for one in spent],
        "turns": [_turn_json(one) for one in spending.by_turn(turns)] if turns else [],
        "compactions": {one.day: one.compactions for one in in_days if one.compactions},
        "asked_known": {one.day: one.asked_known for one in in_days if one.asked_known},
    }


def _counts_json(one: "Spent | SpentTurn") -> dict[str, Any]:
    return {
        "calls": one.calls,
        "open_calls": one.open_calls,
        "input_tokens": one.input_tokens,
        "cached_tokens": one.cached_tokens,
        "written_tokens": one.written_tokens,
        "output_tokens": one.output_tokens,
        "cost_usd": one.dollars,
    }


def _spent_json(one: "Spent") -> dict[str, Any]:
    return {
        "day": one.day,
        "model": one.model,
        "purpose": one.purpose,
        **_counts_json(one),
    }


def _turn_json(one: "SpentTurn") -> dict[str, Any]:
    return {
        "turn": one.turn,
        "at": one.at,
        **_counts_json(one),
        "compaction_tokens": one.compaction_tokens,
        "compaction_cost_usd": one.compaction_dollars,
    }
