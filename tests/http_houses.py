"""A house that is asked over HTTP: what lies in it, the tokens that open it, and whoever asks."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from transcripts import Transcript, write

from recollect import Memory
from recollect.clock import to_text
from recollect.daemon.status import DaemonStatus
from recollect.surfaces.http.app import create_app
from recollect.surfaces.http.surroundings import Surroundings
from recollect.testing import FrozenClock

PLANTED = "zanzibarquokka"
"""Stands in everything that is ada's alone, and in no request."""
MCP = "/mcp"
HOOK_SECRET = "h" * 43
UNTOLD = {"access_tokens", "notes_copies"}
"""When a token was last used; when the files of notes were last looked at."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    owner: str
    reader: str
    """A person's that may only read."""
    ada: str
    bob: str
    ada_reader: str
    expired: str
    revoked: str
    wrong: str = "recollect_" + "x" * 43


@dataclass(frozen=True, kw_only=True)
class House:
    memory: Memory
    tokens: Tokens
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """What stands in the place of each parameter of a path, all of it ada's."""

    def app(self, status: DaemonStatus | None = None, **options: Any) -> FastAPI:
        """`status`: of the daemon around it."""
        return create_app(self.memory, Surroundings(hook_secret=HOOK_SECRET, status=lambda: status), **options)


def bearing(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"} if secret else {}


def make_tokens(memory: Memory, clock: FrozenClock) -> Tokens:
    """The clock goes on by an hour, so that one of them has expired."""
    make, soon = memory.access.create, to_text(clock() + timedelta(minutes=1))
    tokens = Tokens(
        owner=make().secret,
        reader=make(read_only=True).secret,
        ada=make("ada").secret,
        bob=make("bob").secret,
        ada_reader=make("ada", read_only=True).secret,
        expired=make("ada", expires_at=soon).secret,
        revoked="",
    )
    revoked = make("ada")
    memory.access.revoke(revoked.token.id)
    clock.move(hours=1)
    return replace(tokens, revoked=revoked.secret)


def furnish(memory: Memory, clock: FrozenClock, folder: Path) -> House:
    """A house with two agents; of everything there is, something is ada's alone."""
    for name in ("house", "ada"):
        words = f"the {PLANTED}" if name == "ada" else "the garden"
        told = Transcript(name).exchanges(2, words)
        write(folder / f"-{name}" / f"{told.session_id}.jsonl", told.raw)
    memory.agents.add("ada")
    memory.agents.add("bob")
    memory.agents.bind("ada", "claude-code", "-ada")
    memory.history.ingest([folder])
    memory.notes.prepare()
    ada = memory.as_agent("ada")
    record = ada.knowledge.remember(f"The {PLANTED} sleeps.", subject=f"{PLANTED}", attribute="habit").record
    assert record
    ada.knowledge.edit(record.id, f"The {PLANTED} sleeps at noon.")
    memory.knowledge.remember("The house has a garden.")
    note = ada.notes.write(f"agents/ada/{PLANTED}.md", f"Of the {PLANTED}.\n").version
    ada.notes.write(note.path, f"More of the {PLANTED}.\n")
    ada.notes.diary.write(f"A day with the {PLANTED}.")
    ada.update_status({"animal": PLANTED})
    memory.notes.write("user.md", "Kim\n")
    conversation = ada.history.conversations(project="", limit=10)
    own = next(one for one in conversation if PLANTED in one.title)
    message = ada.history.messages(own.conversation)[0]
    memory.recall.catch_up()
    ids = {
        "records/{id}": record.id,
        "conversations/{id}": own.conversation.id,
        "messages/{id}": message.id,
        "path": note.path,
        "name": "latest",
        "pipeline": "conversation",
    }
    return House(memory=memory, tokens=make_tokens(memory, clock), ids=ids)


@contextmanager
def asked(house: House, secret: str = "", **options: Any) -> Iterator[TestClient]:
    with TestClient(house.app(**options), base_url="http://localhost", headers=bearing(secret)) as client:
        yield client


# All routes


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request that a route is made for."""

    method: str
    path: str
    template: str
    body: Any = None
    query: dict[str, Any] = field(default_factory=dict[str, Any])

    def made(self, client: TestClient, secret: str = "") -> Any:
        return client.request(self.method, self.path, json=self.body, params=self.query, headers=bearing(secret))


def calls_of(app: FastAPI, house: House) -> list[Call]:
    """One of each route, from its own description: the examples of its body and its parameters."""
    described = app.openapi()["paths"]
    found: list[Call] = []
    for route in app.routes:
        path = str(getattr(route, "path", ""))
        if path == MCP:
            found.append(Call(method="POST", path=path, template=path, body={"jsonrpc": "2.0"}))
        if not isinstance(route, APIRoute):
            continue
        for method in sorted(route.methods):
            operation = described.get(route.path_format, {}).get(method.lower(), {})
            found.append(
                Call(
                    method=method,
                    path=_filled(path, house),
                    template=path,
                    body=_body(app, operation, house),
                    query=_query(operation),
                )
            )
    return found


def _filled(path: str, house: House) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1].partition(":")[0]
        longest = [key for key in house.ids if path[: found.end()].endswith(key)]
        return house.ids.get(longest[0] if longest else name, "ada")

    return re.sub(r"\{([^}]+)\}", value, path)


def _body(app: FastAPI, operation: dict[str, Any], house: House) -> Any:
    """Ada's things where the example names some."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    given = content.get("example") or next(iter(content.get("examples", [])), None) or _example_in(app, content)
    if not isinstance(given, dict):
        return given
    own = {
        "record": house.ids["records/{id}"],
        "path": house.ids["path"],
        "name": "latest",
        **({"version": 1} if operation["operationId"].startswith(("accept", "undo")) else {}),
    }
    return {name: own.get(name, value) for name, value in given.items()}


def _example_in(app: FastAPI, content: dict[str, Any]) -> Any:
    schema = content["schema"]
    if "$ref" in schema:
        schema = app.openapi()["components"]["schemas"][schema["$ref"].rpartition("/")[2]] | schema
    return next(iter(schema.get("examples", [])), {})


def _query(operation: dict[str, Any]) -> dict[str, Any]:
    """Those that must be there."""
    return {
        one["name"]: (one.get("example") or next(iter(one["schema"].get("examples", ["garden"]))))
        for one in operation.get("parameters", [])
        if one["in"] == "query" and one.get("required")
    }


# What is kept


def everything_kept(memory: Memory) -> dict[str, list[str]]:
    """Every row of every table, but for when somebody last looked."""
    with memory.database.read() as session:
        tables = [name for name in _tables() if name not in UNTOLD]
        return {name: sorted(map(repr, session.rows(f"SELECT * FROM {name}"))) for name in tables}


def _tables() -> list[str]:
    """As `schema.sql` names them."""
    schema = files("recollect.database").joinpath("schema.sql").read_text(encoding="utf-8")
    return re.findall(r"^CREATE TABLE (\w+)", schema, re.MULTILINE)
