"""Install and uninstall, as the tests of both do it."""

from pathlib import Path
from typing import Any

import commands


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def user_of(home: Path) -> Path:
    """HOME of the person."""
    folder = home.parent / "user"
    folder.mkdir(exist_ok=True)
    return folder


def install(tool: str, home: Path, *more: object, is_untested: bool = True, **given: Any) -> dict[str, Any]:
    """Without the test that it makes of itself, unless a test is about that."""
    done = commands.run("install", tool, "--yes", "--json", *more, home=home, is_untested=is_untested, **given)
    assert done.code == 0, done.err + done.out
    return done.json()


def uninstall(tool: str, home: Path, **given: Any) -> commands.Result:
    """As a person reads it."""
    done = commands.run("uninstall", tool, "--yes", home=home, **given)
    assert done.code == 0, done.err + done.out
    return done


def everything(folder: Path) -> dict[str, bytes]:
    """Of a person's folder. What the models' cache keeps there is none of ours."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }
