"""How the notes stand, for `recollect doctor`: the files against the versions, and what somebody should look at.

Reads only. What a look would make a version stays as it is, so that it shows when nobody looks any more.
"""

from dataclasses import dataclass

from recollect.errors import RecollectError
from recollect.notes.files import Files
from recollect.notes.paths import Kind, kind_of
from recollect.notes.status_fields import parsed
from recollect.notes.store import NoteStore
from recollect.notes.versions import Problem, Version, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    files: int
    """In the folder, that may be notes."""
    notes: int
    """That are there by their latest versions."""
    behind: list[str]
    """Notes whose file is not what their latest version says: nobody has looked since."""
    problems: list[Problem]
    """What lies in the folder and cannot be kept, or cannot be used."""
    conflicts: list[Version]
    """Those that took the place of one that their writer had not seen; the oldest first."""
    reviews: list[Version]


def standing_of(store: NoteStore, files: Files, since: str) -> Standing:
    """`since`: from when on conflicts are told."""
    seen = files.walk()
    latest = {path: digest for path, (_, digest) in store.heads().items() if digest}
    problems = list(seen.problems)
    known = [path for path in latest if not _is_unknown(path, seen.unknown)]
    behind = [path for path in sorted({*seen.files, *known}) if _is_behind(files, path, latest.get(path, ""), problems)]
    problems += [
        Problem(path=path, reason=f"{path} is no status: {wrong}")
        for path, note in store.notes([path for path in latest if kind_of(path) is Kind.STATUS]).items()
        if (wrong := parsed(note.content).problem)
    ]
    return Standing(
        files=len(seen.files),
        notes=len(latest),
        behind=behind,
        problems=problems,
        conflicts=store.unseen_since(since),
        reviews=store.for_review(),
    )


def _is_behind(files: Files, path: str, digest: str, problems: list[Problem]) -> bool:
    try:
        found = files.read(path)
    except RecollectError as error:
        problems.append(Problem(path=path, reason=str(error)))
        return False
    return (digest_of(found.content) if found else "") != digest


def _is_unknown(path: str, unknown: list[str]) -> bool:
    return any(not place or path == place or path.startswith(f"{place}/") for place in unknown)
