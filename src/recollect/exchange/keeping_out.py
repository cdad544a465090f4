"""What stays out of an import, as it stays out of history: ignored projects and files, and what is private or our own.

A folder of Claude Code is named after its project, with a hyphen for each sign that is no letter or digit. Where that
project lies, the transcripts beside the facts say, else the folders of this computer that such a name fits.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from recollect.exchange.folders import Found, project_of
from recollect.history.privacy import IGNORE_NAME, Ignore, keeps_itself_out
from recollect.markers import OWN_TEXT

MOST_NAME_CHARACTERS = 200
"""Of a longer path the name has the beginning."""
MOST_LINES = 50
MOST_LINE_BYTES = 1_000_000
IGNORED = f"a {IGNORE_NAME} keeps it out"
PRIVATE = "it is marked as private"
OURS = "it is what Recollect told an agent"
PAUSED = "it was written while taking in was paused"
_NO_LETTER = re.compile(r"[^a-zA-Z0-9]")
_OWN_LINE = re.compile(rf"^[ \t]*<{OWN_TEXT}>", re.MULTILINE)


class KeptOut(Exception):
    """It is no business of ours; the message says why."""


def keeps_out_folder(ignore: Ignore, folder: Path) -> bool:
    """Whether all of a folder of facts belongs to a project that is ignored."""
    project = project_of(folder)
    places = _projects(folder, project) if project else [str(folder)]
    return any(ignore.keeps_out_project(place) for place in places)


def check_file(ignore: Ignore, folders: tuple[Path, ...], file: Found) -> None:
    """Raises `KeptOut` with the reason. `folders`: the one it lies in, by each of its names."""
    for folder in folders:
        root = folder.parent.parent if project_of(folder) else folder
        if ignore.keeps_out_file(str(folder / file.name), str(root)):
            raise KeptOut(IGNORED)
    text = file.content.decode("utf-8-sig", "replace")
    if keeps_itself_out(text):
        raise KeptOut(PRIVATE)
    if _OWN_LINE.search(text):
        raise KeptOut(OURS)


def _projects(folder: Path, project: str) -> list[str]:
    """All that it may be: what nobody can tell apart is kept out with the one that is."""
    said = {cwd for path in _transcripts(folder.parent) for cwd in _cwds(path) if _is_named(cwd, project)}
    fitting = sorted(said) or list(_fitting(os.sep, project.removeprefix("-")))
    return fitting or [project.replace("-", os.sep)]  # It is gone: what its name most likely says.


def _transcripts(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and path.is_file())
    return []


def _cwds(transcript: Path) -> Iterator[str]:
    """The working folders in the first lines of a transcript."""
    with suppress(OSError), transcript.open("rb") as file:
        for _ in range(MOST_LINES):
            line = file.readline(MOST_LINE_BYTES)
            if not line:
                return
            with suppress(ValueError, RecursionError):
                told: Any = json.loads(line)
                cwd: object = cast("dict[str, Any]", told).get("cwd") if isinstance(told, dict) else None
                if isinstance(cwd, str):
                    yield cwd


def _is_named(path: str, project: str) -> bool:
    name = _NO_LETTER.sub("-", path)
    return name == project or (len(name) > MOST_NAME_CHARACTERS and project.startswith(name[:MOST_NAME_CHARACTERS]))


def _fitting(above: str, rest: str) -> Iterator[str]:
    """The folders whose path is written so."""
    try:
        names = sorted(entry.name for entry in os.scandir(above) if entry.is_dir())
    except OSError:
        return
    for name in names:
        written = _NO_LETTER.sub("-", name)
        if written == rest:
            yield os.path.join(above, name)
        elif rest.startswith(f"{written}-"):
            yield from _fitting(os.path.join(above, name), rest[len(written) + 1 :])
