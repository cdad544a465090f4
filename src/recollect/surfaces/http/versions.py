"""ETag, If-Match and If-None-Match: the state of a thing, and changes that are made only to the one that was seen."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Header
from starlette.responses import Response

from recollect.errors import Changed, Invalid
from recollect.notes.versions import THERE
from recollect.seen import MARK_CHARACTERS, NOTHING, Seen
from recollect.surfaces.http.preconditions import ANY, NO_TAG

_TAG = re.compile(rf'"(?:0|([1-9][0-9]{{0,9}})-([0-9a-f]{{{MARK_CHARACTERS}}}))"')

IfMatch = Annotated[
    str,
    Header(
        alias="If-Match",
        max_length=200,
        description='The `ETag` that was read, such as `"3-1f0c9a2b"`. Another by now: 412, and nothing is changed.',
        examples=[""],
    ),
]
IfNoneMatch = Annotated[
    str,
    Header(
        alias="If-None-Match",
        max_length=200,
        description="The `ETag` that is known already: then 304 without a body.",
        examples=[""],
    ),
]
OnlyNew = Annotated[
    str,
    Header(alias="If-None-Match", max_length=200, description="`*`: only if it is not there yet.", examples=[""]),
]
CHANGED = {412: "Somebody else changed it first. `detail` has both texts; nothing was changed."}


def seen_version(given: str) -> Seen | int | None:
    """What If-Match names; THERE: any version. None: there is no If-Match (an empty one came no further than the
    route). A weak tag, more than one, and a number alone name nothing that was seen."""
    tag = given.strip()
    if not tag:
        return None
    if tag == ANY:
        return THERE
    found = _TAG.fullmatch(tag)
    if not found:
        raise Invalid(f"{NO_TAG} Nothing was changed.")
    return Seen(int(found[1]), found[2]) if found[1] else NOTHING


def named_version(given: str) -> Seen | int | None:
    """The same of what is named by its id, and so is there in any case."""
    expected = seen_version(given)
    return None if expected == THERE else expected


def is_known(given: str, now: Seen) -> bool:
    """Whether If-None-Match names what is there."""
    tags = {tag.strip().removeprefix("W/") for tag in given.split(",")}
    return bool({f'"{now}"', ANY} & tags)


def not_changed(now: Seen) -> Response:
    return Response(status_code=304, headers={"etag": f'"{now}"'})


@contextmanager
def beside(yours: str) -> Generator[None]:
    """A refusal has what was to be written beside what is there."""
    try:
        yield
    except Changed as error:
        raise error.beside(yours) from None
