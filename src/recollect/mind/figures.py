"""How the conversations of a house stand, without opening one."""

from dataclasses import dataclass

from recollect.database import Row, Session

WAITING = """
SELECT agent, count(*), min(at) FROM mind_entries
WHERE house = :house AND turn = 0 AND state = 'waiting' GROUP BY agent ORDER BY agent
"""
OPEN = "SELECT count(*) FROM mind_turns WHERE house = :house AND state = 'open'"
TURNS = "SELECT count(*) FROM mind_turns WHERE house = :house"
UNSURE = """
SELECT count(*) FROM mind_deliveries
WHERE house = :house AND (state = 'unsure' OR (state = 'sending' AND at < :late))
"""
WAITING_ANSWERS = """
SELECT d.channel, count(*), min(t.ended_at) FROM mind_deliveries d
JOIN mind_turns t ON t.house = d.house AND t.agent = d.agent AND t.number = d.turn
WHERE d.house = :house AND d.state IN ('waiting', 'again') AND t.ended_at <> '' AND t.ended_at < :late
GROUP BY d.channel ORDER BY d.channel
"""
"""By the end of their turn: the time of a delivery is that of the last try."""
REFUSED_ANSWERS = """
SELECT channel, count(*), max(at) FROM mind_deliveries
WHERE house = :house AND state = 'refused' AND at >= :since GROUP BY channel ORDER BY channel
"""
LAST = """
SELECT state, reason, ended_at FROM mind_turns WHERE house = :house AND state <> 'open' ORDER BY ended_at DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MindFigures:
    turns: int
    waiting: int
    """Messages that no turn took yet."""
    waiting_since: str
    open_turns: int
    """In flight, or cut off."""
    unsure: int
    """Answers of which nobody knows whether they arrived."""
    failed_reason: str
    """Why the last turn failed; empty: it did not."""
    failed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """Answers of one channel that did not arrive."""

    channel: str
    number: int
    at: str
    """Since when the oldest waits; when the newest was refused."""


def figures_of(session: Session, house: str, late: str) -> MindFigures:
    """`late`: what was begun to be sent before this time is not being sent any more."""
    given = {"house": house}
    waiting = session.rows(WAITING, given)
    last = session.one(LAST, given)
    has_failed = bool(last) and last[0] in ("failed", "refused")
    return MindFigures(
        turns=int(session.value(TURNS, given) or 0),
        waiting=sum(row[1] for row in waiting),
        waiting_since=min((row[2] for row in waiting), default=""),
        open_turns=int(session.value(OPEN, given) or 0),
        unsure=int(session.value(UNSURE, {**given, "late": late}) or 0),
        failed_reason=str(last[1]) if last and has_failed else "",
        failed_at=str(last[2]) if last and has_failed else "",
    )


def waiting_answers(session: Session, house: str, late: str) -> list[Stuck]:
    """By channel, those that were there before `late`."""
    return [_stuck(row) for row in session.rows(WAITING_ANSWERS, {"house": house, "late": late})]


def refused_answers(session: Session, house: str, since: str) -> list[Stuck]:
    """By channel, those that an address took no more, at `since` or later."""
    return [_stuck(row) for row in session.rows(REFUSED_ANSWERS, {"house": house, "since": since})]


def _stuck(row: Row) -> Stuck:
    return Stuck(channel=str(row[0]), number=int(row[1]), at=str(row[2]))
