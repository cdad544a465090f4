"""Where the sources' transcripts lie on this computer."""

import os
from dataclasses import dataclass
from pathlib import Path

from recollect.history.sources import sources
from recollect.settings import Computer


@dataclass(frozen=True, slots=True)
class Place:
    """A folder or file in which a source keeps transcripts."""

    source: str
    path: Path


def found_places(computer: Computer) -> list[Place]:
    """Those that exist, each once, by what they really are."""
    found: dict[Path, Place] = {}
    for source in sources().values():
        for path in source.places(computer):
            real = Path(os.path.realpath(path))
            if real.exists():
                found.setdefault(real, Place(source.name, real))
    return list(found.values())


def transcript_roots(computer: Computer) -> list[Path]:
    return [place.path for place in found_places(computer)]
