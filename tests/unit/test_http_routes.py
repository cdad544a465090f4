"""`docs/http-routes.md` says for every command and every method by which route it is done, or why by none."""

import re
from importlib import import_module
from pathlib import Path

import click
from fastapi.routing import APIRoute

from recollect.surfaces.cli.main import COMMANDS, app
from recollect.surfaces.http import health
from recollect.surfaces.http.app import ROUTERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "http-routes.md"
SHOWN_BY = {"notes": "list", "diary": "list", "status": "show", "librarian": "status"} | {
    "review": "list",
    "questions": "list",
    "token": "list",
}
"""What a group does without a command is what this command of it does."""
HOOKS = "/v1/hooks"
"""Its routes are the hooks' own affair: that there are some is enough."""
PARTS = {
    "Memory": "recollect.memory",
    "History": "recollect.history",
    "Knowledge": "recollect.knowledge",
    "Notes": "recollect.notes",
    "Status": "recollect.notes.status",
    "Diary": "recollect.notes.diary",
    "Recall": "recollect.recall",
    "Contexts": "recollect.context",
    "Librarian": "recollect.librarian.librarian",
    "Queue": "recollect.librarian.working.queueing",
    "Agents": "recollect.scopes",
    "Access": "recollect.access",
    "Places": "recollect.mind.places.places",
    "Visit": "recollect.mind.visiting",
    "Heartbeat": "recollect.mind.heartbeat.heartbeat",
    "Transfer": "recollect.transfer",
    "Exchange": "recollect.exchange",
    "Forgetting": "recollect.forgetting",
    "Models": "recollect.embedding",
    "Runs": "recollect.runs",
    "Spending": "recollect.runs",
    "Feed": "recollect.feed",
    "Learnings": "recollect.learnings",
    "Showings": "recollect.showings",
}
_ROUTE = re.compile(r"`((?:GET|PUT|POST|PATCH|DELETE) /[^`]*)`")


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def rows(text: str) -> list[tuple[str, str]]:
    """The two cells of each row, without headings and rules."""
    cells = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(row) == 2 for row in cells), cells
    return [(row[0].strip(), row[1].strip(" |")) for row in cells]


def commands() -> set[str]:
    context = click.Context(app)
    found: set[str] = set()
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command
        if not isinstance(command, click.Group):
            found.add(name)
            continue
        found |= {f"{name} {sub}" for sub in command.commands}
        if command.invoke_without_command and name not in SHOWN_BY:
            found.add(name)
    return found


def routes() -> set[str]:
    every = [route for router in (health.router, *ROUTERS) for route in router.routes]
    return {f"{method} {one.path}" for one in every if isinstance(one, APIRoute) for method in one.methods}


def test_every_command_has_a_route_or_a_reason_why_not() -> None:
    told = dict(rows(page().partition("## Commands\n")[2].partition("\n## ")[0]))
    assert {name.strip("`") for name in told} == commands()
    for name, cell in told.items():
        has_routes, has_reason = bool(_ROUTE.search(cell)), cell.startswith("none: ")
        assert has_routes or has_reason, name


def test_every_route_is_told_and_every_route_that_is_told_is_there() -> None:
    told = set(_ROUTE.findall(page()))
    there = {one for one in routes() if HOOKS not in one}
    assert {one for one in told if HOOKS not in one} == there
    assert any(HOOKS in one for one in routes())


def test_every_method_of_the_library_has_a_route_or_a_reason_why_not() -> None:
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", page(), re.MULTILINE | re.DOTALL))
    assert set(sections) == set(PARTS)
    for name, module in PARTS.items():
        kind = getattr(import_module(module), name)
        public = {one for one in vars(kind) if not one.startswith("_")}
        told = [method for cell, _ in rows(sections[name]) for method in re.findall(r"`(\w+)`", cell)]
        assert len(told) == len(set(told)), name
        assert set(told) == public, (name, set(told) ^ public)
        for cell, route in rows(sections[name]):
            assert _ROUTE.search(route) or route.startswith("none: ") or route == "the parts, below", (name, cell)
