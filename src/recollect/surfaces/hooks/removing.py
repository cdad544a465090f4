"""Taking Recollect out of an agent's settings: out of the one folder of settings that an install would change now.

Somebody with several folders (CLAUDE_CONFIG_DIR, CODEX_HOME) has installed into each by itself. What stands in the
others, or is of another home, stays and is named.
"""

import os
import shlex

import msgspec

from recollect.errors import Conflict, NotFound
from recollect.memory import Memory
from recollect.settings import Computer
from recollect.surfaces.hooks import commands, files, installed
from recollect.surfaces.hooks.changes import Change
from recollect.surfaces.hooks.installed import InstalledTool, Moves
from recollect.surfaces.hooks.targets import HooksFile, JsonServers, Made, Target, TomlServers, is_empty
from recollect.surfaces.hooks.tools import Tool

TRIES = 5
"""To write a file that an agent writes at the same moment."""


NOTHING = InstalledTool(agent="", installed_at="")


class Removal:
    """Of one tool, in one home."""

    def __init__(self, memory: Memory, computer: Computer, tool: Tool) -> None:
        """`memory`: as the person sees it."""
        self._memory = memory
        self._home = memory.settings.home
        self._computer = computer
        self._tool = tool
        self._load()

    def _load(self) -> None:
        """What is installed now."""
        self._state = installed.load(self._home)
        known = self._state.tools.get(self._tool.name)
        self._known: InstalledTool | None = None if known and known.is_copied(self._home) else known
        self._moves = Moves(path="", after="")

    def plan(self) -> list[Change]:
        return [self._removal(path) for path in self._paths()]

    def remove(self) -> list[Change]:
        """What was done. Called when the person agreed, which may be long after it was planned."""
        with installed.alone(self._memory.settings):
            self._load()
            return self._remove()

    def _remove(self) -> list[Change]:
        for path in (*self._paths(), commands.script_in(str(self._home))):
            files.sweep(path)
        done = [self._remove_from(path) for path in self._paths()]
        elsewhere = self._elsewhere()
        kept: InstalledTool | None = None
        if self._known:
            files.remove_empty(self._known.folders)
            ended = {path: token for path, token in self._known.tokens.items() if path not in elsewhere}
            for token in (*ended.values(), *self._known.ending):
                revoke(self._memory, token.id)
            if elsewhere:
                kept = msgspec.structs.replace(
                    self._known,
                    ending=[],
                    moves=None,
                    files=[file for file in self._known.files if file.path in elsewhere],
                    folders=[folder for folder in self._known.folders if os.path.isdir(folder)],
                    tokens={path: token for path, token in self._known.tokens.items() if path not in ended},
                )
        plugins = [folder for folder in self._state.plugins if os.path.isdir(folder)]
        self._state = msgspec.structs.replace(self._state.with_tool(self._tool.name, kept), plugins=plugins)
        if not self._state.tools and not self._state.plugins:
            files.remove(commands.script_in(str(self._home)))
        installed.save(self._home, self._state)
        self._known = kept
        return done

    def plugins(self) -> list[str]:
        """The folders with a plugin that are left, as nobody but their owner removes them."""
        return list(self._state.plugins) if self._tool.name == "claude-code" else []

    def copies(self) -> list[str]:
        """Of the files as they were before an install. Somebody changed them since: nobody but their owner removes what
        may be wanted."""
        return [copy for path in self._paths() for copy in files.copies_of(path)]

    def left(self) -> dict[str, str]:
        """Path → why something of Recollect still stands there, and what takes it out."""
        found: dict[str, str] = {}
        for path in self._paths():
            text = files.read_text(path)
            if text is not None and self._target(path).removed(text, Made(), every_home=True) != text:
                found[path] = (
                    "what another home of Recollect put there. Uninstall with its --home; where that home is gone, "
                    "install and uninstall here."
                )
        for path in self._elsewhere():
            found[path] = f"what was installed with another {self._tool.variable}. Uninstall with that one, too."
        return found

    def _elsewhere(self) -> list[str]:
        """Files in other folders of settings in which something of this home stands."""
        here = set(self._paths())
        known = [file.path for file in self._known.files] if self._known else []
        return [path for path in known if path not in here and self._removed(path).kind != "unchanged"]

    def _paths(self) -> list[str]:
        """Where an install would write now, as it was called when one did; hooks first. Also what no install wrote
        down: one that was cut off has written down less than it did."""
        known = {os.path.realpath(file.path): file.path for file in self._known.files} if self._known else {}
        usual = [self._tool.hooks_file(self._computer), *self._tool.servers_files(self._computer)]
        return [known.get(os.path.realpath(path), path) for path in usual]

    def _remove_from(self, path: str) -> Change:
        for _ in range(TRIES):
            change = self._removal(path)
            after = None if change.after is None else change.after.encode()
            before = None if change.before is None else change.before.encode()
            if change.kind != "unchanged":
                self._intend(change)
            if before == after or files.write_over(path, before, after):
                self._remove_backup(change)
                return change
        raise files.written_meanwhile(path)

    def _intend(self, change: Change) -> None:
        """Written down before the files are: what becomes of the trust in the hooks of others cannot be seen later."""
        if self._tool.name != "codex" or not (self._moves.moves or self._moves.gone):
            return
        after = installed.digest_of_text(change.after)
        told = {"after": after} if change.path == self._moves.path else {"done": after}
        self._moves = msgspec.structs.replace(self._moves, **told)
        self._known = msgspec.structs.replace(self._known or NOTHING, moves=self._moves)
        self._state = self._state.with_tool(self._tool.name, self._known)
        installed.save(self._home, self._state)

    def _removal(self, path: str) -> Change:
        change = self._removed(path)
        if change.kind != "unchanged":
            files.check_writable(path)
        target = self._target(path)
        if isinstance(target, HooksFile):
            moves = target.moves(change.before, change.after, every_home=False)
            gone = target.keys(change.before, every_home=False, ours=True)
            beside = files.read_text(self._tool.servers_file(self._computer))
            made = Moves(path=path, after="", moves=moves, gone=gone)
            self._moves = (self._known or NOTHING).moves_with(made, change.before, beside)
        return change

    def _removed(self, path: str) -> Change:
        text = files.read_text(path)
        known = self._known.the(path) if self._known else None
        if text is None:
            return Change(path=path, before=None, after=None)
        if known and known.is_as_left(text.encode()):
            original = known.original()
            if original is not None or not known.before:
                return Change(path=path, before=text, after=original)
        after = self._target(path).removed(text, known.made if known else Made(), every_home=False)
        is_ours = known is not None and not known.before and is_empty(after)
        return Change(path=path, before=text, after=None if is_ours else after)

    def _target(self, path: str) -> Target:
        home = str(self._home)
        older = tuple(self._known.own_homes(self._home)) if self._known else ()
        if os.path.basename(path) == os.path.basename(self._tool.hooks_file(self._computer)):
            scripts = [shlex.quote(commands.script_in(place)) for place in (home, *older)]
            return HooksFile(path=path, script=scripts[0], groups={}, older=tuple(scripts[1:]))
        digests = self._known.digests_at(path) if self._known else ()
        if self._tool.name == "codex":
            gone, moves = tuple(self._moves.gone), self._moves.moves
            return TomlServers(
                path=path, server={}, home=home, secret_digests=digests, older=older, gone=gone, moves=moves
            )
        return JsonServers(path=path, server={}, home=home, secret_digests=digests, older=older)

    def _remove_backup(self, change: Change) -> None:
        """The file is what it was: nobody needs the copy. One that differs stays."""
        known = self._known.the(change.path) if self._known else None
        if not known or not known.backup or change.after is None:
            return
        if files.read_bytes(known.backup) == change.after.encode():
            files.remove(known.backup)


def revoke(memory: Memory, token: str) -> None:
    try:
        memory.access.revoke(token)
    except (NotFound, Conflict):  # Somebody did already.
        return
