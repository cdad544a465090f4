"""Which files were found to be what they should be.

Reading tens of megabytes for their SHA-256 would double the time of a cold search. So the result is remembered in the
models folder, with the file's size and time of change: a file that changed is read again. The memory is a cache; where
it cannot be written, files are read each time.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

NAME = "checked.json"
CHUNK_BYTES = 1 << 20


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


class Hashes:
    """SHA-256 of files, remembered in a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def of(self, path: Path) -> str:
        """The file's SHA-256; raises OSError when it cannot be read."""
        facts = os.stat(path)
        key = os.path.abspath(path)
        known = self._read()
        entry = known.get(key)
        if isinstance(entry, list) and cast(list[Any], entry)[:2] == [facts.st_size, facts.st_mtime_ns]:
            return str(cast(list[Any], entry)[2])
        found = sha256_of(path)
        self._write({**known, key: [facts.st_size, facts.st_mtime_ns, found]})
        return found

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast(dict[str, Any], known) if isinstance(known, dict) else {}

    def _write(self, known: dict[str, Any]) -> None:
        """Whole or not at all. Two processes that write at once may lose an entry; it is then found again."""
        there = {path: entry for path, entry in known.items() if os.path.exists(path)}
        temporary = self._path.with_name(f".{NAME}-{os.urandom(4).hex()}")
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(there, indent=1), encoding="utf-8")
            os.replace(temporary, self._path)
