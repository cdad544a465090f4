"""What a row of an export must be beyond its types, where something else believes it: notes become files."""

from collections.abc import Callable, Mapping
from typing import Any

import zstandard

from recollect.errors import Invalid
from recollect.notes.paths import checked, scope_of
from recollect.notes.store import unpacked
from recollect.notes.versions import MOST_BYTES, Action, digest_of


def check_version(row: Any) -> None:
    """A version of a note: a name inside the folder, whose it is by that name, and the text that its digest says."""
    if checked(row.path) != row.path or scope_of(row.path) != row.scope or row.number < 1:
        raise Invalid(f"{row.path[:200]!r} is not where a note of {row.scope[:100]!r} lies")
    if row.action not in set(Action):
        raise Invalid(f"nothing is known that is called {row.action[:100]!r} and happens to notes")
    is_gone = not row.digest and not row.content
    if not is_gone and digest_of(_unpacked(row.path, row.content)) != row.digest:
        raise Invalid(f"the content of {row.path} is not what its digest says")


def _unpacked(path: str, content: bytes) -> bytes:
    try:
        # A few bytes may unpack to more than any memory holds.
        if content and not 0 <= zstandard.get_frame_parameters(content).content_size <= MOST_BYTES:
            raise Invalid(f"the content of {path} is larger than a note may be")
        return unpacked(content)
    except zstandard.ZstdError as error:
        raise Invalid(f"the content of {path} cannot be unpacked: {error}") from error


CHECKS: Mapping[str, Callable[[Any], None]] = {"notes_versions": check_version}
