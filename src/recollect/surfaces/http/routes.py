"""How a route is written: its description, what it refuses, and the answer it gives.

    router = new_router("records")

    @router.get("/records/{id}", **gives(RecordShape, EXAMPLE, "One record."))
    def read_record(id: Identity, memory: Reader) -> Response:
        return answered(record_json(memory.knowledge.record(id)))

A handler is a plain function: it is run in a thread, and returns the finished answer, so that there is one hop for each
request. Its shape is for the description; tests hold the answers against it.
"""

import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Annotated, Any, cast

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Invalid
from recollect.seen import Seen
from recollect.surfaces.http import bodies
from recollect.surfaces.http.asking import secret_of
from recollect.surfaces.http.guard import OPEN_PATHS
from recollect.surfaces.http.preconditions import check_preconditions
from recollect.surfaces.http.problems import MEDIA_TYPE, shortened
from recollect.surfaces.http.turns import Turns, in_a_thread
from recollect.texts import MOST_REASON_CHARACTERS, clean

PREFIX = "/v1"
MOST_LISTED = 500
JSON = "application/json"
NUL = "\0"
READING = frozenset({"GET", "HEAD"})
MOST_LEVELS = 50
"""Of lists and objects in one another, in what is sent."""
MOST_UNKNOWN = 5
"""Fields that are told by their names."""


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
        if isinstance(value, dict):
            unknown = sorted(str(name) for name in cast("dict[Any, Any]", value).keys() - cls.model_fields.keys())
            if unknown:
                named = ", ".join(repr(name) for name in unknown[:MOST_UNKNOWN])
                more = f" and {len(unknown) - MOST_UNKNOWN:,} more" if len(unknown) > MOST_UNKNOWN else ""
                raise ValueError(f"{named}{more} is not known here. There are: {', '.join(cls.model_fields)}")
        return _cleaned(value)


class LongGiven(Given):
    """What is sent where a long text, pictures or a long list may be in it."""


Why = Annotated[str, Field(max_length=MOST_REASON_CHARACTERS)]
"""The reason of a change."""
Texts = Annotated[tuple[str, ...], Field(fail_fast=True)]
"""A list that is sent. The first wrong one of it is told: an error for each of thousands takes seconds."""


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
    """Refuses parameters that it does not know: a filter that is misspelt would find too much. And preconditions that
    are not compared: who sends one counts on it."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint if inspect.iscoroutinefunction(endpoint) else _threaded(endpoint), **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        fields = _query_fields(self.dependant)
        known = frozenset(fields)
        repeated = frozenset(name for name, kind in fields.items() if "tuple[" in kind or "list[" in kind)
        has_body = self.body_field is not None
        most_bytes = bodies.MOST_BYTES if _takes_long(self) else bodies.USUAL_BYTES
        is_open = self.path in OPEN_PATHS
        changes = not set(self.methods or ()) <= READING
        compared = frozenset(name for name in ("if-match", "if-none-match") if names_header(self.dependant, name))

        async def checked(request: Request) -> Response:
            if request.scope["query_string"]:
                _check_names(request, known, repeated)
            if NUL in request.scope["path"]:
                raise Invalid("The address has a character in it that no name has.")
            if changes:
                check_preconditions(request.headers, compared)
            if has_body:
                await bodies.read_whole(request, most_bytes)
            secret = secret_of(request)
            if is_open or not secret:
                return await handle(request)
            turns: Turns = request.app.state.turns
            async with turns.taken(secret):  # A stream goes on after it.
                return await handle(request)

        return checked


def _threaded(endpoint: Callable[..., Response]) -> Callable[..., Coroutine[Any, Any, Response]]:
    @functools.wraps(endpoint)
    async def answer(**given: Any) -> Response:
        return await in_a_thread(endpoint, **given)

    return answer


def _takes_long(route: APIRoute) -> bool:
    kind = route.body_field.field_info.annotation if route.body_field else None
    return inspect.isclass(kind) and issubclass(kind, LongGiven)


def _query_fields(dependant: Dependant) -> dict[str, str]:
    """The parameters of a route, with the names of their types."""
    fields = {field.alias: str(field.field_info.annotation) for field in dependant.query_params}
    for inner in dependant.dependencies:
        fields |= _query_fields(inner)
    return fields


def names_header(dependant: Dependant, name: str) -> bool:
    named = any(field.alias.lower() == name for field in dependant.header_params)
    return named or any(names_header(inner, name) for inner in dependant.dependencies)


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
    shape: Any,
    example: object,
    description: str = "Done.",
    *,
    status: int = 200,
    also: Mapping[int, str] | None = None,
    etag: bool = False,
) -> dict[str, Any]:
    """The arguments of a route that answers with a shape. `also`: further refusals, by their status. `etag`: the answer
    has the version of what it tells."""
    content = {JSON: {"example": example}}
    responses: dict[int, dict[str, Any]] = {status: {"description": description, "content": content}}
    if etag:
        responses[status]["headers"] = ETAG
    responses |= {number: refusal(words) for number, words in (also or {}).items()}
    if HTTPStatus.PRECONDITION_FAILED in responses:
        responses[HTTPStatus.PRECONDITION_FAILED]["headers"] = ETAG
    return {"response_model": shape, "responses": responses, "status_code": status}


def refusal(words: str) -> dict[str, Any]:
    return {"description": words, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemShape"}}}}


ETAG = {
    "ETag": {
        "description": "The state of what is told, for `If-Match` and `If-None-Match`.",
        "schema": {"type": "string"},
        "example": '"3-1f0c9a2b"',
    }
}
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
    value: object, *, status: int = 200, headers: Mapping[str, str] | None = None, etag: Seen | None = None
) -> Response:
    """As JSON. `etag`: the state of what it tells."""
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
