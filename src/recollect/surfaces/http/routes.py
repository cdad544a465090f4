"""How a route is written: its description, what it refuses, and the answer it gives.

    router = new_router("records")

    @router.get("/records/{id}", **gives(RecordShape, EXAMPLE, "One record."))
    def read_record(id: RecordId, memory: Reader) -> Response:
        return answered(record_json(memory.knowledge.record(id)))

A handler is a plain function: FastAPI runs it in a thread, and it returns the finished answer, so that there is one hop
for each request. Its shape is for the description; tests hold the answers against it.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, cast

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, model_validator
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.surfaces.http.problems import MEDIA_TYPE, shortened
from recollect.texts import clean

PREFIX = "/v1"
MOST_LISTED = 500
JSON = "application/json"
NUL = "\0"
IF_MATCH = "if-match"
MOST_LEVELS = 50
"""Of lists and objects in one another, in what is sent."""


class Shape(BaseModel):
    """What is answered. Every field is always there unless its shape says otherwise."""

    model_config = ConfigDict(
        extra="forbid", use_attribute_docstrings=True, json_schema_serialization_defaults_required=True
    )


class PartialShape(Shape):
    """Fields with a default may not be there."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)


class Given(BaseModel):
    """What is sent. A field that is not known is refused: it would be lost without a word."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _without_what_cannot_be_kept(cls, value: Any) -> Any:
        """Half an emoji, and what ends a string in C: databases refuse them."""
        return _cleaned(value)


def _cleaned(value: Any, levels: int = MOST_LEVELS) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | dict) and not levels:
        raise ValueError(f"it is nested too deeply: {MOST_LEVELS} levels at most")
    if isinstance(value, list):
        return [_cleaned(one, levels - 1) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return {_cleaned(name): _cleaned(one, levels - 1) for name, one in pairs}
    return value


class ProblemShape(BaseModel):
    """RFC 9457. `detail` names the thing and the next step."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})

    type: str
    title: str
    status: int
    detail: str


class Route(APIRoute):
    """Refuses parameters that it does not know: a filter that is misspelt would find too much. And If-Match, where
    no versions are compared: who sends it counts on it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        fields = _query_fields(self.dependant)
        known = frozenset(fields)
        repeated = frozenset(name for name, kind in fields.items() if "tuple[" in kind or "list[" in kind)
        compares = set(self.methods or ()) <= {"GET", "HEAD"} or _names_header(self.dependant, IF_MATCH)

        async def checked(request: Request) -> Response:
            if request.scope["query_string"]:
                _check_names(request, known, repeated)
            if NUL in request.scope["path"]:
                raise Invalid("The address has a character in it that no name has.")
            if not compares and IF_MATCH in request.headers:
                raise Invalid("If-Match is not compared here: nothing was changed. Send it without.")
            return await handle(request)

        return checked


def _query_fields(dependant: Dependant) -> dict[str, str]:
    """The parameters of a route, with the names of their types."""
    fields = {field.alias: str(field.field_info.annotation) for field in dependant.query_params}
    for inner in dependant.dependencies:
        fields |= _query_fields(inner)
    return fields


def _names_header(dependant: Dependant, name: str) -> bool:
    named = any(field.alias.lower() == name for field in dependant.header_params)
    return named or any(_names_header(inner, name) for inner in dependant.dependencies)


def _check_names(request: Request, known: frozenset[str], repeated: frozenset[str]) -> None:
    pairs = request.query_params.multi_items()
    given = [name for name, _ in pairs]
    unknown = sorted(set(given) - known)
    if unknown:
        names = ", ".join(sorted(known)) or "none"
        raise Invalid(shortened(f"The parameter {unknown[0]!r} is not known here. There are: {names}."))
    if any(NUL in value for _, value in pairs):
        raise Invalid("A parameter has a character in it that no text has.")
    twice = [name for name in known - repeated if given.count(name) > 1]
    if twice:
        raise Invalid(f"The parameter {twice[0]!r} is given more than once.")


def new_router(tag: str) -> APIRouter:
    return APIRouter(prefix=PREFIX, tags=[tag], route_class=Route, responses=PROBLEMS, redirect_slashes=False)


def gives(
    shape: Any, example: object, description: str = "Done.", *, status: int = 200, also: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The arguments of a route that answers with a shape. `also`: further refusals, by their status."""
    content = {JSON: {"example": example}}
    responses: dict[int, dict[str, Any]] = {status: {"description": description, "content": content}}
    responses |= {number: refusal(words) for number, words in (also or {}).items()}
    return {"response_model": shape, "responses": responses, "status_code": status}


def refusal(words: str) -> dict[str, Any]:
    return {"description": words, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemShape"}}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: refusal("The request itself is wrong; `detail` names the field."),
    401: refusal("No token, or one that nobody is known by."),
    403: refusal("It is there, but not for this token."),
    404: refusal("It is not there, or this token may not see it."),
    429: refusal("Too often. `Retry-After` says when to come again."),
    503: refusal("Not now: busy, full or paused. `Retry-After` says when to come again."),
    "default": refusal("Any other refusal."),
}


def answered(
    value: object, *, status: int = 200, headers: Mapping[str, str] | None = None, etag: str | int | None = None
) -> Response:
    """As JSON. `etag`: the version of what it tells."""
    given = dict(headers or {})
    if etag is not None:
        given["etag"] = f'"{etag}"'
    return Response(msgspec.json.encode(value), status, given, JSON)


def nothing() -> Response:
    return Response(status_code=204)


Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="At most this many.", examples=[30])]
After = Annotated[
    str, Query(max_length=4_000, description="`next` of the page before. Empty: the first page.", examples=[""])
]
Identity = Annotated[
    str,
    Path(
        min_length=1,
        max_length=200,
        description="An id, or as much of its beginning as is not ambiguous.",
        examples=["0199a7f0c3de7b6c8a52d1f4e6b7a890"],
    ),
]
