"""What /v1/doctor, runs, costs, markers, sql and models answer, for the description."""

from typing import Any

from recollect.surfaces.http.librarian import SpentShape
from recollect.surfaces.http.routes import Shape


class FindingShape(Shape):
    check: str
    level: str
    """ok, warning or failure."""
    message: str
    next_step: str


class DoctorShape(Shape):
    ok: bool
    findings: list[FindingShape]


class EventShape(Shape):
    id: str
    name: str
    outcome: str
    started_at: str
    milliseconds: int
    detail: dict[str, Any]


class CountsShape(Shape):
    calls: int
    open_calls: int
    input_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    cost_usd: float


class DayShape(CountsShape):
    day: str
    model: str
    purpose: str


class TurnShape(CountsShape):
    turn: str
    at: str
    compaction_tokens: int
    compaction_cost_usd: float


class CostsShape(Shape):
    today_is: str
    today: SpentShape
    """Of the librarian."""
    mind_today: SpentShape
    heartbeat_today: SpentShape
    tokens: int
    cost_usd: float
    days: list[DayShape]
    turns: list[TurnShape]
    compactions: dict[str, int]
    asked_known: dict[str, int]


class ReportShape(Shape):
    message: str
    conversation: str
    place: int
    problem: str
    excerpt: str


class MarkersShape(Shape):
    kept: int
    problems: int
    reported: list[ReportShape]


class ViewsShape(Shape):
    views: dict[str, list[str]]


class RowsShape(Shape):
    columns: list[str]
    rows: list[list[Any]]


class ModelShape(Shape):
    name: str
    kind: str
    what_for: str
    state: str
    used: bool
    bytes: int
    licence: str
    provenance: str
    package: str
    place: str
    lacks: str


class ModelsShape(Shape):
    folder: str
    models: list[ModelShape]


class RemovedShape(Shape):
    removed: list[str]
    folder: str


_SPENT: dict[str, Any] = {
    "calls": 0,
    "tokens": 0,
    "cost_usd": 0.0,
    "tokens_per_day": 0,
    "dollars_per_day": 0.0,
    "share": None,
    "goes_on_at": "",
}
DOCTOR: dict[str, Any] = {
    "ok": True,
    "findings": [{"check": "database", "level": "ok", "message": "It answers.", "next_step": ""}],
}
EVENT: dict[str, Any] = {
    "id": "0199a7f0c3de7b6c8a52d1f4e6b7a890",
    "name": "ingest",
    "outcome": "done",
    "started_at": "2026-02-21T09:30:00.000Z",
    "milliseconds": 120,
    "detail": {"files": 2},
}
COSTS: dict[str, Any] = {
    "today_is": "2026-02-21",
    "today": _SPENT,
    "mind_today": _SPENT,
    "heartbeat_today": _SPENT,
    "tokens": 0,
    "cost_usd": 0.0,
    "days": [],
    "turns": [],
    "compactions": {},
    "asked_known": {},
}
MARKERS: dict[str, Any] = {"kept": 4, "problems": 0, "reported": []}
ROWS: dict[str, Any] = {"columns": ["count(*)"], "rows": [[420]]}
MODELS: dict[str, Any] = {
    "folder": "/home/mia/.recollect/models",
    "models": [
        {
            "name": "bge-small-en-v1.5",
            "kind": "deep",
            "what_for": "better vectors",
            "state": "ready",
            "used": True,
            "bytes": 133000000,
            "licence": "MIT",
            "provenance": "BAAI",
            "package": "",
            "place": "/home/mia/.recollect/models/bge-small-en-v1.5",
            "lacks": "",
        }
    ],
}
