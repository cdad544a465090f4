"""Memory folders on the disk: which there are, what lies in one, and writing into one.

No link is followed but one that leads to a whole folder. Nothing is read that is not a plain file, nor more of it than
a fact can have. A file is written whole beside its place and then moved there.
"""

import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from recollect.clock import to_text
from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.exchange.facts import INDEX
from recollect.exchange.results import Left
from recollect.history.sources import sources
from recollect.settings import Computer

MEMORY = "memory"
MOST_FILE_BYTES = 200_000
"""A fact is short. What is longer is a document, and can be ingested or kept as a note."""
MOST_FILES = 5_000
MOST_DEPTH = 3
MOST_MANIFEST_BYTES = 4_000_000
MOST_INDEX_BYTES = 4_000_000
"""Ours has a line for each of up to 2,000 facts."""
MANIFEST = ".recollect-memory.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    name: str
    """The path below the folder, with slashes."""
    content: bytes


def memory_folders(computer: Computer) -> list[Path]:
    """Those of Claude Code on this computer."""
    projects = [Path(place) for place in sources()["claude-code"].places(computer) if place.endswith("/projects")]
    found: dict[Path, None] = {}
    for folder in projects:
        for named in (folder.parent / "settings.json", folder.parent / "settings.local.json"):
            if own := _configured(named, computer):
                found[own] = None
        with suppress(OSError):
            for entry in sorted(folder.iterdir()):
                if (entry / MEMORY).is_dir():
                    found[entry / MEMORY] = None
    return [folder for folder in found if folder.is_dir()]


def _configured(settings: Path, computer: Computer) -> Path | None:
    """The folder that a person chose for all projects."""
    try:
        with settings.open("rb") as file:
            value: Any = json.loads(file.read(MOST_FILE_BYTES))
    except (OSError, ValueError):
        return None
    chosen: object = cast("dict[str, object]", value).get("autoMemoryDirectory") if isinstance(value, dict) else None
    if not isinstance(chosen, str) or not chosen.strip():
        return None
    return Path(chosen.replace("~", computer.home, 1) if chosen.startswith("~") else chosen)


def real_folder(path: Path) -> Path:
    try:
        real = path.expanduser().resolve(strict=True)
    except FileNotFoundError:
        raise NotFound(f"There is no folder {path}.") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise NotFound(f"There is no folder {path}: {reason}.") from None
    if not real.is_dir():
        raise Invalid(f"{path} is a file. Give the folder in which the facts lie.")
    return real


def project_of(folder: Path) -> str:
    """`-home-ada-garden` of `…/projects/-home-ada-garden/memory`; empty for another folder."""
    return folder.parent.name if folder.name == MEMORY and folder.parent.parent.name == "projects" else ""


def files_of(folder: Path) -> tuple[list[Found], list[Left]]:
    """Every Markdown file in the order of names, and what was passed over."""
    found: list[Found] = []
    left: list[Left] = []
    for name, entry in _entries(folder, "", 1):
        if len(found) == MOST_FILES:
            left.append(Left(file=name, reason=f"there are more than {MOST_FILES:,} files: the rest is left out"))
            break
        content = _content(entry)
        if isinstance(content, str):
            left.append(Left(file=name, reason=content))
        else:
            found.append(Found(name=name, content=content))
    return found, left


def names_of(folder: Path) -> set[str]:
    """Of every Markdown file in it, and of those that an export wrote there, whoever took them away since."""
    manifest = _manifest(folder)
    return {name for name, _ in _entries(folder, "", 1)} | (_owned(manifest).keys() if manifest else set())


def _entries(folder: Path, before: str, depth: int) -> Iterator[tuple[str, Path]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read: {error.strerror or error}.") from error
    for entry in entries:
        name = f"{before}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < MOST_DEPTH:
                yield from _entries(Path(entry.path), f"{name}/", depth + 1)
        elif entry.name.endswith(".md"):
            yield name, Path(entry.path)


def _content(path: Path, most_bytes: int = MOST_FILE_BYTES) -> bytes | str:
    """The bytes of a file; or why it is passed over."""
    try:
        with open(path, "rb", opener=_itself_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return "it is no plain file"
            content = file.read(most_bytes + 1)
    except OSError as error:
        return "it is a link, which is not followed" if path.is_symlink() else f"it cannot be read: {error.strerror}"
    if len(content) > most_bytes:
        return f"it has more than {most_bytes:,} bytes: `recollect ingest` or a note holds such a text"
    return content


def _itself_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def written_at(folder: Path, name: str) -> str:
    """When the file was written last; empty where that cannot be told."""
    try:
        return to_text(datetime.fromtimestamp((folder / name).stat().st_mtime, UTC))
    except (OSError, ValueError, OverflowError):
        return ""


# Writing


def prepared(folder: Path) -> Path:
    """The folder to write into, made if it is not there."""
    try:
        folder = folder.expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise _explained(folder, error) from error


def read_manifest(folder: Path, owner: str) -> dict[str, list[str]]:
    """File → the digests with which it is ours. One that cannot be read owns nothing, and no name leads elsewhere.
    Raises `Conflict` where somebody else exports into this folder."""
    manifest = _manifest(folder)
    if manifest and manifest.owner not in ("", owner):
        raise Conflict(
            f"{folder} holds the export of another house, agent or project. Choose another folder, or remove "
            f"{MANIFEST} there: its files then stay as they are."
        )
    return _owned(manifest) if manifest else {}


class _Manifest(msgspec.Struct):
    format: int
    files: dict[str, list[str]]
    owner: str = ""


def _manifest(folder: Path) -> _Manifest | None:
    content = _content(folder / MANIFEST, MOST_MANIFEST_BYTES)
    try:
        return None if isinstance(content, str) else msgspec.json.decode(content, type=_Manifest)
    except msgspec.DecodeError:
        return None


def _owned(manifest: _Manifest) -> dict[str, list[str]]:
    is_plain = re.compile(r"[^./\\\x00][^/\\\x00]*\.md").fullmatch
    return {name: digests for name, digests in manifest.files.items() if manifest.format == 1 and is_plain(name)}


def write_manifest(folder: Path, files: Mapping[str, Sequence[str]], owner: str) -> None:
    value = {"format": 1, "owner": owner, "files": {name: list(dict.fromkeys(files[name])) for name in sorted(files)}}
    write(folder, MANIFEST, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def digest_at(folder: Path, name: str) -> str | None:
    """Of what lies there now; empty for what we could not have written. None: nothing."""
    path = folder / name
    if not os.path.lexists(path):
        return None
    content = _content(path, MOST_INDEX_BYTES if name == INDEX else MOST_FILE_BYTES)
    return "" if isinstance(content, str) else digest_of(content)


def content_at(folder: Path, name: str) -> bytes | str | None:
    """The bytes of a file, or why it cannot be read. None: nothing lies there."""
    path = folder / name
    return _content(path) if os.path.lexists(path) else None


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(folder: Path, name: str, content: bytes) -> None:
    try:
        opened, temporary = tempfile.mkstemp(prefix=".recollect-", dir=folder)
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(opened)
            os.replace(temporary, folder / name)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise _explained(folder / name, error) from error


def remove(folder: Path, name: str) -> None:
    try:
        os.unlink(folder / name)
    except OSError as error:
        raise _explained(folder / name, error) from error


def _explained(path: Path, error: Exception) -> RecollectError:
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, PermissionError):
        return Denied(f"{path} may not be written: {reason}.")
    return Unavailable(f"{path} cannot be written: {reason}.")
