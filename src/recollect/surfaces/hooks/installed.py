"""What was put into the settings of which agent: `hooks/installed.json` in the home.

Nothing depends on it alone: what is ours is told by itself, and a backup lies beside each file. With it, a file that
nobody else changed becomes what it was to the byte, and one that install made is removed. What is going to be done is
written down before it is: whoever is cut off leaves nothing that the next one does not know of.

It is of all tools and plugins together. Who changes it reads it, does what it writes down and saves it while `alone`:
what was read before a person was asked may be old by the time of the answer.
"""

import os
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from recollect import lock
from recollect.errors import Invalid, RecollectError
from recollect.settings import Settings
from recollect.surfaces.hooks import files
from recollect.surfaces.hooks.targets import Made

FOLDER = "hooks"
NAME = "installed.json"
LOCK = "installed.lock"
"""In the runtime folder: that of the hooks goes when nothing is installed."""


class InstalledFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    before: str
    """Digest of the file without anything of ours. Empty: there was none."""
    after: str
    """Digest of the file with it."""
    earlier: str = ""
    """That of the install before, which may still stand there: this is written down before the file is."""
    backup: str = ""
    made: Made = Made()

    def is_as_left(self, raw: bytes) -> bool:
        """Whether nobody else has changed it since."""
        return files.digest_of(raw) in (self.after, self.earlier)

    def original(self) -> str | None:
        """The file as it was, from its copy."""
        try:
            raw = files.read_bytes(self.backup) if self.backup else None
        except RecollectError:
            return None
        return raw.decode() if raw is not None and files.digest_of(raw) == self.before else None


class InstalledToken(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    secret_digest: str


def digest_of_text(text: str | None) -> str:
    return "" if text is None else files.digest_of(text.encode())


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """What a change of the hooks means for the trust in them, which stands in another file: kept until that is written,
    too."""

    path: str
    after: str
    """Digest of the file of hooks when it is changed. Empty: it is gone."""
    done: str | None = None
    """The same of the file of the trust."""
    moves: dict[str, str] = {}
    gone: list[str] = []

    def and_then(self, text: str | None, moves: dict[str, str], gone: list[str]) -> tuple[dict[str, str], list[str]]:
        """With those of another change of the file, which reads so now."""
        if self.after != digest_of_text(text):
            return moves, gone  # It was never made.
        known = {*self.moves, *self.moves.values()}
        both = {one: moves.get(other, other) for one, other in self.moves.items()}
        both |= {one: other for one, other in moves.items() if one not in known}
        moved = {one: other for one, other in both.items() if one != other}
        return moved, [*self.gone, *(key for key in gone if key not in self.moves)]


class InstalledTool(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    installed_at: str
    files: list[InstalledFile] = []
    folders: list[str] = []
    """That had to be made, the innermost first."""
    tokens: dict[str, InstalledToken] = {}
    """By the file it stands in: each folder of settings has a token of its own."""
    ending: list[InstalledToken] = []
    """Tokens that are to be revoked: whose place another one takes, or that are being made."""
    moves: Moves | None = None
    homes: list[str] = []
    """Where this home was when something was installed. It may have been moved since."""

    def the(self, path: str) -> InstalledFile | None:
        return next((file for file in self.files if file.path == path), None)

    def digests_at(self, path: str) -> tuple[str, ...]:
        """Of every token of ours that may stand in this file."""
        own = [self.tokens[path]] if path in self.tokens else []
        return tuple(token.secret_digest for token in (*own, *self.ending))

    def moves_with(self, other: Moves, text: str | None, trust: str | None) -> Moves:
        """What this change means, and one before it of which nothing stands with the trust yet. `text`, `trust`: of the
        two files now."""
        before = self.moves
        if before is None or before.path != other.path or before.done == digest_of_text(trust):
            return other
        moves, gone = before.and_then(text, other.moves, other.gone)
        return msgspec.structs.replace(other, moves=moves, gone=gone)

    def own_homes(self, home: Path) -> list[str]:
        """Those of its places that no other home has taken."""
        return [place for place in self.homes if place == str(home) or not _is_another(place, home)]

    def is_copied(self, home: Path) -> bool:
        """Whether all of it was installed by the home that this one was copied from, and that is still there."""
        return bool(self.homes) and not self.own_homes(home)


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    version: int = 1
    tools: dict[str, InstalledTool] = {}
    plugins: list[str] = []
    """Folders into which the plugin was written."""

    def with_tool(self, name: str, tool: InstalledTool | None) -> "Installed":
        """None: without it."""
        others = {other: value for other, value in self.tools.items() if other != name}
        return msgspec.structs.replace(self, tools={**others, name: tool} if tool else others)


def _is_another(place: str, home: Path) -> bool:
    try:
        return os.path.exists(os.path.join(place, FOLDER, NAME)) and not os.path.samefile(place, home)
    except OSError:
        return False


def alone(settings: Settings) -> AbstractContextManager[None]:
    """Waits until nobody else installs or uninstalls in this home. Not to be asked for again by who has it."""
    return lock.alone(settings.runtime / LOCK)


def load(home: Path) -> Installed:
    path = home / FOLDER / NAME
    raw = files.read_bytes(str(path))
    if raw is None:
        return Installed()
    try:
        return msgspec.json.decode(raw, type=Installed)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} cannot be read: {error}. Move it away: what is ours is found without it.") from error


def save(home: Path, installed: Installed) -> None:
    """Nothing installed: no file."""
    path = home / FOLDER / NAME
    files.sweep(str(path))
    if not installed.tools and not installed.plugins:
        files.remove(str(path))
        files.remove_empty([str(path.parent)])
        return
    files.make_folder(str(path.parent))
    files.write(str(path), msgspec.json.format(msgspec.json.encode(installed), indent=1) + b"\n")
