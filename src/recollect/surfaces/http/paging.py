"""Lists by pages: `after` is the `next` of the page before, and means nothing else to whoever has it.

It says how many came before and which was the last of them. What is added meanwhile at the head of a list shifts all
the others: the last one is looked for, so that nothing is told twice and nothing is left out.
"""

import base64
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from recollect.errors import Invalid
from recollect.surfaces.http.routes import Shape

T = TypeVar("T")
MOST_DEPTH = 100_000
"""Of a list that is paged through."""


class Page(Shape, Generic[T]):
    items: list[T]
    next: str
    """For `after`. Empty: there is no more."""


class Place(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    number: int
    last: str


def paged(
    fetch: Callable[[int], Sequence[T]], limit: int, after: str, key: Callable[[T], str], to_json: Callable[[T], Any]
) -> dict[str, Any]:
    """`fetch`: the first so many of the list, or all there are."""
    place = _read(after) if after else Place(0, "")
    found = fetch(place.number + limit + 1)
    start = _start(found, place, key)
    if len(found) == place.number + limit + 1 and len(found) <= start + limit:
        found = fetch(start + limit + 1)
        start = _start(found, place, key)
    shown = found[start : start + limit]
    has_more = len(found) > start + limit and start + limit < MOST_DEPTH
    following = _written(Place(start + limit, key(shown[-1]))) if has_more and shown else ""
    return {"items": [to_json(item) for item in shown], "next": following}


def cut(items: Sequence[T], limit: int, after: str, key: Callable[[T], str], to_json: Callable[[T], Any]) -> Any:
    """A page of a list that is here whole."""
    return paged(lambda number: items[:number], limit, after, key, to_json)


def _start(found: Sequence[T], place: Place, key: Callable[[T], str]) -> int:
    """After the one that was last. If it is gone: after so many."""
    if not place.number:
        return 0
    return next((number + 1 for number, item in enumerate(found) if key(item) == place.last), place.number)


def _written(place: Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _read(after: str) -> Place:
    try:
        place = msgspec.json.decode(base64.b64decode(after + "=" * (-len(after) % 4), b"-_", validate=True), type=Place)
    except (ValueError, msgspec.MsgspecError):
        raise Invalid("`after` is not the `next` of a page. Begin without it.") from None
    if not 0 < place.number <= MOST_DEPTH:
        raise Invalid("`after` is not the `next` of a page. Begin without it.")
    return place
