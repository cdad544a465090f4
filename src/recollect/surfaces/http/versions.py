"""ETag, If-Match and If-None-Match: the version of a thing, and changes that are made only to the one that was seen."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Header
from starlette.responses import Response

from recollect.errors import Conflict, Invalid
from recollect.surfaces.http.problems import PreconditionFailed

ANY = "*"
_TAG = re.compile(r'"([0-9]{1,9})"')

IfMatch = Annotated[
    str,
    Header(
        alias="If-Match",
        max_length=200,
        description='The `ETag` that was read, such as `"3"`. Another version by now: 412, and nothing is changed.',
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


def seen_version(given: str) -> int | None:
    """The version that If-Match names. None: none, or any. A weak tag, and more than one, name no version."""
    tag = given.strip()
    if not tag or tag == ANY:
        return None
    found = _TAG.fullmatch(tag)
    if not found:
        raise Invalid('If-Match must be one ETag as it was answered, such as "3".')
    return int(found[1])


def is_known(given: str, version: int) -> bool:
    """Whether If-None-Match names the version that is there."""
    tags = {tag.strip().removeprefix("W/") for tag in given.split(",")}
    return bool({f'"{version}"', ANY} & tags)


def not_changed(version: int) -> Response:
    return Response(status_code=304, headers={"etag": f'"{version}"'})


@contextmanager
def compared(expected: int | None) -> Generator[None]:
    """Where a version was named, another one by now is a precondition that failed, not a conflict."""
    try:
        yield
    except Conflict as error:
        if expected is None:
            raise
        raise PreconditionFailed(str(error)) from None
