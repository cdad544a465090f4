"""Where the sources' transcripts lie on this computer."""

import os
from dataclasses import dataclass
from pathlib import Path

from recollect.history.sources import sources
from recollect.settings import Computer, Settings, this_computer


@dataclass(frozen=True, slots=True)
class Place:
    """A folder or file in which a source keeps transcripts."""

    source: str
    path: Path


def found_places(computer: Computer) -> list[Place]:
    """Those that exist, by what they really are, for each source once."""
    found: dict[Place, None] = {}
    for source in sources().values():
        for path in source.places(computer):
            real = Path(os.path.realpath(path))
            if os.path.exists(real):  # `Path.exists` raises below a folder that may not be read.
                found[Place(source.name, real)] = None
    return list(found)


def roots_of(source: str, roots: list[Path], computer: Computer) -> list[Path]:
    """Those of the roots that may be this source's: its own places, and what is nobody's place."""
    places = found_places(computer)
    own = {place.path for place in places if place.source == source}
    others = {place.path for place in places} - own
    return [root for root in roots if Path(os.path.realpath(root)) not in others]


def transcript_roots(computer: Computer) -> list[Path]:
    return list(dict.fromkeys(place.path for place in found_places(computer)))


def watched_roots(settings: Settings) -> list[Path]:
    """The folders of the settings, else those of the agents found on this computer."""
    configured = settings.watch_paths
    return [Path(path).expanduser() for path in configured] if configured else transcript_roots(this_computer())
