"""If-Match and If-None-Match of a change, before it is made: one that could not be kept is refused, not passed over."""

from collections.abc import Collection

from starlette.datastructures import Headers

from recollect.errors import Invalid

ANY = "*"
NO_TAG = 'If-Match must be one ETag as it was answered, such as "3-1f0c9a2b".'
IF_MATCH, IF_NONE_MATCH = "if-match", "if-none-match"
_WRITTEN = {IF_MATCH: "If-Match", IF_NONE_MATCH: "If-None-Match"}


def check_preconditions(headers: Headers, compared: Collection[str]) -> None:
    """`compared`: those that the route looks at."""
    given = {name: headers.getlist(name) for name in _WRITTEN if name in headers}
    for name in given:
        if name not in compared:
            raise Invalid(f"{_WRITTEN[name]} is not compared here: nothing was changed. Send it without.")
    if len(given) > 1:
        raise Invalid("If-Match is of what is there, If-None-Match of what is new: send one of them.")
    tags = given.get(IF_MATCH)
    if tags is not None and (len(tags) > 1 or not tags[0].strip()):
        raise Invalid(f"{NO_TAG} Nothing was changed.")
    tags = given.get(IF_NONE_MATCH)
    if tags is not None and [tag.strip() for tag in tags] != [ANY]:
        raise Invalid("If-None-Match of a change must be *: only if it is not there yet. Nothing was changed.")
