"""The files of a home that travel with it: what the person wrote, and nothing that says where this computer has things.

`database` and `house` stay out of the settings. An address may hold a password, and in another home both would lead
away from what was imported.
"""

import os
import re
import tomllib
from pathlib import Path

from recollect.errors import Denied, Invalid
from recollect.settings import CONFIG_NAME
from recollect.transfer.placing import explained, placing

FILES = (CONFIG_NAME, ".recollectignore")
LOCAL_SETTINGS = ("database", "house")
_LOCAL_LINE = re.compile(rf"""^\s*["']?({"|".join(LOCAL_SETTINGS)})["']?\s*=.*(\n|$)""", re.MULTILINE)


def home_files(home: Path) -> dict[str, bytes]:
    """Name → contents, of those that are there."""
    found: dict[str, bytes] = {}
    for name in FILES:
        raw = portable(name, _contents(home / name))
        if raw.strip():
            found[name] = raw
    return found


def _contents(path: Path) -> bytes:
    """Empty when it is not there."""
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise Denied(f"{path} may not be read: {error.strerror}. Check its permissions.") from error


def portable(name: str, raw: bytes) -> bytes:
    """Without what is true of one computer only."""
    if name != CONFIG_NAME:
        return raw
    try:
        text = raw.decode()
        settings = tomllib.loads(text)
    except ValueError as error:
        raise Invalid(f"{CONFIG_NAME} is not valid TOML: {error}. Mend that line or move the file away.") from error
    kept = _LOCAL_LINE.sub("", text)
    try:
        is_clean = tomllib.loads(kept) == {key: settings[key] for key in settings if key not in LOCAL_SETTINGS}
    except ValueError:
        is_clean = False
    if not is_clean:
        raise Invalid(f"{CONFIG_NAME}: write `database` and `house` on one line each, so that they can be left out.")
    return kept.encode()


def put_home_files(home: Path, files: dict[str, bytes]) -> tuple[list[str], list[str]]:
    """Which were put into a home, and which it has already with other contents: those stay."""
    put: list[str] = []
    kept: list[str] = []
    for name, raw in files.items():
        path = home / name
        if os.path.lexists(path):
            if portable(name, _contents(path)) != raw:
                kept.append(name)
            continue
        with explained(path):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with placing(path) as made:
            made.write_bytes(raw)
            made.chmod(0o600)
        put.append(name)
    return put, kept
