"""/openapi.json: the description of every route, with the token and the refusals that all have in common."""

import zlib
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from recollect.surfaces.http.guard import OPEN_PATHS
from recollect.surfaces.http.preconditions import IF_NONE_MATCH
from recollect.surfaces.http.routes import ETAG, READING, ProblemShape, names_header

DESCRIBED_AT = "/openapi.json"
DESCRIPTION = """\
Everything that a house keeps: what was said, what was learned, what is written down; to find, read, correct and forget.

Each request names who asks: `Authorization: Bearer TOKEN`. `recollect token create [--agent NAME] [--read-only]` makes
a token. An agent's sees and changes what the agent's scopes allow, on every route alike.

Refusals are `application/problem+json`; `detail` names the thing and the next step. A parameter or a field that is not
known is refused. Lists are paged by `limit` and `after`, which takes the `next` of the page before. What has versions
is answered with an `ETag`; with `If-Match` a change is made only if that is still the version.
"""
TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token of `recollect token create`.",
}


def described(app: FastAPI) -> dict[str, Any]:
    return msgspec.json.decode(_unpacked(app))


def description(request: Request) -> Response:
    """Anybody may ask for it, so it is only unpacked."""
    return Response(_unpacked(request.app), media_type="application/json")


def _unpacked(app: FastAPI) -> bytes:
    """Made once, and kept packed: it is asked for seldom, and as objects it takes megabytes of a daemon that idles."""
    packed: bytes = getattr(app.state, "description", b"")
    if not packed:
        packed = app.state.description = zlib.compress(msgspec.json.encode(_description(app)))
    return zlib.decompress(packed)


def _description(app: FastAPI) -> dict[str, Any]:
    value = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    components = value.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas["ProblemShape"] = ProblemShape.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):  # Such refusals are problems like all others.
        schemas.pop(name, None)
    components["securitySchemes"] = {"token": TOKEN}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                _finish(route, value["paths"][route.path_format][method.lower()])
    return value


def _finish(route: APIRoute, operation: dict[str, Any]) -> None:
    operation["security"] = [{"token": []}, {}] if route.path in OPEN_PATHS else [{"token": []}]
    operation["responses"].pop("422", None)
    if set(route.methods or ()) <= READING and names_header(route.dependant, IF_NONE_MATCH):
        operation["responses"]["304"] = {"description": "It is the version that is known.", "headers": ETAG}
    for status, response in route.responses.items():
        for kind, content in response.get("content", {}).items():
            if "example" in content:  # Whole: on the way here every null was dropped from it.
                operation["responses"][str(status)]["content"][kind]["example"] = content["example"]
