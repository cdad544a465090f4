"""Every refusal as application/problem+json, by the one table of `recollect.errors`.

What is told is our own words. Of an error that is not ours nothing is told but that it happened: its words may be
somebody's own, or have a token in them.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import Changed, Invalid, RecollectError

TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
"""Ours: Python's change between its versions, and programs compare `type`."""
MEDIA_TYPE = "application/problem+json"
AGAIN_SECONDS = 5
"""After which one may come again when it is not possible now."""
BROKEN = "Something is broken here. `recollect doctor` looks for what it is."
MOST_NAMED = 5
"""Fields that one refusal names."""
MOST_CHARACTERS = 2_000
"""Of what a refusal tells, so that it does not send back all it was given."""


class Unauthorized(RecollectError):
    """Nobody is known by this token."""

    http_status = 401


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, fields: Mapping[str, object] | None = None
) -> Response:
    """`fields`: what a program may want beside the words."""
    title = TITLES.get(status, "Refused")
    kind = title.lower().replace(" ", "-")
    value = {"type": f"urn:recollect:{kind}", "title": title, "status": status, "detail": detail, **(fields or {})}
    return Response(msgspec.json.encode(value), status, _headers(status, headers), MEDIA_TYPE)


def _headers(status: int, given: Mapping[str, str] | None) -> dict[str, str]:
    headers = dict(given or {})
    if status == HTTPStatus.UNAUTHORIZED:
        headers.setdefault("www-authenticate", 'Bearer realm="recollect"')
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers.setdefault("retry-after", str(AGAIN_SECONDS))
    return headers


def of_error(error: Exception) -> Response:
    """The answer to anything that was raised."""
    if isinstance(error, RecollectError):
        return problem(error.http_status, shortened(str(error)), headers=_tag_of(error), fields=_both_states(error))
    if isinstance(error, RequestValidationError):
        return problem(Invalid.http_status, _wrong_fields(error.errors()))
    if isinstance(error, HTTPException):
        return problem(error.status_code, error.detail, headers=error.headers)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, BROKEN)


def _both_states(error: Exception) -> dict[str, object]:
    """Of a thing that somebody else changed: for a program that puts both together."""
    if not isinstance(error, Changed):
        return {}
    yours = {"yours": error.yours} if error.yours else {}
    return {"version": error.now.number, "current": error.current, **yours}


def _tag_of(error: Exception) -> dict[str, str]:
    return {"etag": f'"{error.now}"'} if isinstance(error, Changed) and error.now.number else {}


async def answer_error(request: Request, error: Exception) -> Response:
    """As FastAPI and Starlette want it."""
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND and error.detail == "Not Found":
        return problem(HTTPStatus.NOT_FOUND, "There is nothing here. /openapi.json tells what there is.")
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        words = f"{request.method} is not done here. /openapi.json tells what is."
        return problem(error.status_code, words, headers=error.headers)
    return of_error(error)


def shortened(words: str) -> str:
    return words if len(words) <= MOST_CHARACTERS else words[: MOST_CHARACTERS - 1] + "…"


def _wrong_fields(errors: Sequence[Any]) -> str:
    """`The field "limit" of the query: Input should be greater than or equal to 1.` What was given is not repeated."""
    told = [_told(error) for error in errors[:MOST_NAMED]]
    if len(errors) > MOST_NAMED:
        told.append(f"{len(errors) - MOST_NAMED} more fields are wrong.")
    return shortened(" ".join(told))


def _told(error: Any) -> str:
    if error["type"] == "json_invalid":
        return f"The body is no JSON: {error['ctx']['error']}, at character {error['loc'][-1]}."
    return _wrong_field(error["loc"], error["msg"].removeprefix("Value error, "))


def _wrong_field(place: Sequence[object], message: str) -> str:
    where, *names = [str(part) for part in place] or ["request"]
    named = ".".join(names)
    return f'"{named}" of the {where}: {message}.' if named else f"The {where}: {message}."
