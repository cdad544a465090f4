"""Lists by pages: `after` is the `next` of the page before, and means nothing else to whoever has it.

It says how many came before and which were the last of them. What is added meanwhile at the head of a list shifts all
the others, and so does what leaves it: it goes on after the last one that is still there, so that nothing is told twice
and nothing is left out.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from pydantic import ConfigDict, Field

from recollect.errors import Invalid
from recollect.surfaces.http.routes import Shape

T = TypeVar("T")
MOST_DEPTH = 100_000
"""Of a list that is paged through."""
MOST_REMEMBERED = 200
"""Of the last ones. When all of them have left the list, so many are told again rather than one left out."""
MARK_CHARACTERS = 8


class Page(Shape, Generic[T]):
    model_config = ConfigDict(use_attribute_docstrings=False)  # It takes some 3 ms of the start for each kind of list.

    items: list[T]
    next: str = Field(description="For `after`. Empty: there is no more.")


class Place(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    number: int
    last: str
    """Marks of the last ones, one after the other."""


def paged(
    fetch: Callable[[int], Sequence[T]], limit: int, after: str, key: Callable[[T], str], to_json: Callable[[T], Any]
) -> dict[str, Any]:
    """`fetch`: the first so many of the list, or all there are."""
    place = _read(after) if after else Place(0, "")
    asked = place.number + limit + 1
    found = fetch(asked)
    start = _start(found, place, key)
    while len(found) == asked and (asked <= MOST_DEPTH if start is None else asked <= start + limit):
        asked = start + limit + 1 if start else 2 * asked
        found = fetch(asked)
        start = _start(found, place, key)
    if start is None:
        start = max(0, place.number - len(place.last) // MARK_CHARACTERS)
    shown = found[start : start + limit]
    has_more = bool(shown) and len(found) > start + limit
    marks = place.last + "".join(_mark(key(item)) for item in shown)
    following = _written(Place(start + limit, marks[-MOST_REMEMBERED * MARK_CHARACTERS :])) if has_more else ""
    return {"items": [to_json(item) for item in shown], "next": following}


def cut(items: Sequence[T], limit: int, after: str, key: Callable[[T], str], to_json: Callable[[T], Any]) -> Any:
    """A page of a list that is here whole."""
    return paged(lambda number: items[:number], limit, after, key, to_json)


def _start(found: Sequence[T], place: Place, key: Callable[[T], str]) -> int | None:
    """After the last of those that were told and are still there. None: none of them is."""
    if not place.number:
        return 0
    marks = {place.last[at : at + MARK_CHARACTERS]: at for at in range(0, len(place.last), MARK_CHARACTERS)}
    places = {marks[mark]: number for number, item in enumerate(found) if (mark := _mark(key(item))) in marks}
    return places[max(places)] + 1 if places else None


def _mark(key: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest())[:MARK_CHARACTERS].decode()


def _written(place: Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _read(after: str) -> Place:
    try:
        place = msgspec.json.decode(base64.b64decode(after + "=" * (-len(after) % 4), b"-_", validate=True), type=Place)
    except (ValueError, msgspec.MsgspecError):
        raise Invalid("`after` is not the `next` of a page. Begin without it.") from None
    if place.number > MOST_DEPTH:
        raise Invalid(f"A list is paged through up to {MOST_DEPTH:,}. Choose what you need of it, or export all.")
    if place.number < 1:
        raise Invalid("`after` is not the `next` of a page. Begin without it.")
    return place
