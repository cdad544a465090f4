"""Putting Recollect into an agent's settings, and taking it out.

First everything is read and checked and what would change is told; nothing is touched before. Files are read again when
they are written, as an agent that runs writes some of them all the time.
"""

import hashlib
import os
import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from recollect.access import looks_like_secret
from recollect.clock import to_text
from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError
from recollect.memory import Memory
from recollect.scopes import HOUSE
from recollect.serving import listening_of
from recollect.settings import Computer
from recollect.surfaces.hooks import commands, files, installed
from recollect.surfaces.hooks.changes import Change
from recollect.surfaces.hooks.installed import InstalledFile, InstalledTool
from recollect.surfaces.hooks.targets import (
    HooksFile,
    JsonServers,
    Made,
    Target,
    TomlServers,
    hook_command,
    is_empty,
    registered_secret,
    server_in,
    trust_of,
)
from recollect.surfaces.hooks.tools import BEGINNING, Tool

TRIES = 5
"""To write a file that an agent writes at the same moment."""
UNKNOWN_SECRET = "recollect_" + "0" * 43
"""In the place of a token that is made when everybody agreed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    agent: str
    is_http: bool = False
    is_trusted: bool = True
    """Of Codex: whether agreeing to install agrees to the hooks, too."""


class Installation:
    """Of one tool, in one home."""

    def __init__(self, memory: Memory, computer: Computer, tool: Tool, options: Options) -> None:
        """`memory`: as the person sees it."""
        self._memory = memory
        self._settings = memory.settings
        self._computer = computer
        self._tool = tool
        self._options = options
        self._program = commands.own_program()
        commands.check_text(self._settings, self._program)
        self._words = commands.words_of(self._settings, self._program)
        self._state = installed.load(self._settings.home)
        self._known = self._state.tools.get(tool.name)

    # What would change

    def plan(self) -> list[Change]:
        """What install would do to the agent's files. Raises where one of them cannot be changed."""
        secret = self._registered_secret() or (UNKNOWN_SECRET if self._options.is_http else "")
        return [change for change, _ in self._changes(secret)]

    def notes(self) -> list[str]:
        """What else it would do, in sentences."""
        said = [] if self._has_agent() else [f"The agent {self._options.agent!r} is added to the house."]
        if not self._is_granted():
            said.append(f"{self._options.agent!r} may write in the house, so that what it remembers serves all.")
        if self._options.is_http and not self._registered_secret():
            said.append(f"A token of {self._options.agent!r} is made and stands in the settings of {self._tool.title}.")
        return said

    def _changes(self, secret: str) -> list[tuple[Change, InstalledFile | None]]:
        """Each with what is to be kept of it; None where nothing changes."""
        script = shlex.quote(commands.script_path(self._settings))
        groups = commands.hook_groups(script, self._tool, self._options.agent)
        hooks_path = self._tool.hooks_file(self._computer)
        hooks = self._change(HooksFile(path=hooks_path, script=script, groups=groups))
        trust = {}
        if self._tool.name == "codex" and self._options.is_trusted:
            trust = trust_of(hooks_path, hooks[0].after or "", groups)
        return [hooks, self._change(self._servers(secret, trust))]

    def _servers(self, secret: str, trust: Any = None) -> Target:
        path, home = self._tool.servers_file(self._computer), str(self._settings.home)
        digest = self._known.secret_digest if self._known else ""
        server: dict[str, Any] = commands.server_command(self._words, self._options.agent)
        if self._tool.name == "codex":
            if secret:
                server = {"url": self._address(), "http_headers": {"Authorization": f"Bearer {secret}"}}
            return TomlServers(path=path, server=server, home=home, secret_digest=digest, trust=trust or {})
        server = {"type": "stdio", **server}
        if secret:
            server = {"type": "http", "url": self._address(), "headers": {"Authorization": f"Bearer {secret}"}}
        return JsonServers(path=path, server=server, home=home, secret_digest=digest)

    def _address(self) -> str:
        if not self._settings.http.listen:
            raise Invalid("http.listen is empty: nobody would answer. Set it in recollect.toml, or leave --http out.")
        chosen = listening_of(self._settings)
        return f"{chosen.address(chosen.port)}/mcp"

    def _change(self, target: Target) -> tuple[Change, InstalledFile | None]:
        text = files.read_text(target.path)
        if text is not None and target.has_all(text):
            return Change(path=target.path, before=text, after=text), None
        known = self._known.the(target.path) if self._known else None
        files.check_writable(target.path)
        base, before, backup = self._base(target, text, known)
        after, made = target.added(base)
        kept = InstalledFile(
            path=target.path, before=before, after=files.digest_of(after.encode()), backup=backup, made=made
        )
        return Change(path=target.path, before=text, after=after), kept

    def _base(self, target: Target, text: str | None, known: InstalledFile | None) -> tuple[str | None, str, str]:
        """The file without anything of ours, its digest, and where a copy of it lies."""
        if text is None:
            return None, "", ""
        if known and files.digest_of(text.encode()) == known.after:
            original = _original(known)
            if original is not None or not known.before:
                return original, known.before, known.backup
        base = target.removed(text, known.made if known else Made(), every_home=True)
        return base, files.digest_of(base.encode()), ""

    # Doing it

    def prepare(self, plugin: str = "") -> None:
        """The agent and the script: all that a plugin needs, whose folder is remembered."""
        self._add_agent()
        text, path = commands.script_text(self._settings, self._words), commands.script_path(self._settings)
        files.make_folder(str(self._settings.home / installed.FOLDER))
        if files.read_text(path) != text or not os.access(path, os.X_OK):
            files.remove(path)
            files.write(path, text.encode(), 0o700)
        if plugin and plugin not in self._state.plugins:
            self._state = msgspec.structs.replace(self._state, plugins=[*self._state.plugins, plugin])
            installed.save(self._settings.home, self._state)

    def apply(self) -> list[Change]:
        """What was done. Called when the person agreed."""
        if self._options.is_http and not self._registered_secret():
            self._check_private()
        self.prepare()
        old_token = self._known.token if self._known else ""
        secret = self._registered_secret()
        token, digest = (old_token, self._known.secret_digest if self._known else "") if secret else ("", "")
        if self._options.is_http and not secret:
            made = self._memory.access.create(self._options.agent, label=f"recollect install {self._tool.name}")
            secret, token = made.secret, made.token.id
            digest = hashlib.sha256(secret.encode()).hexdigest()
        done = self._write(secret, token, digest)
        if old_token and old_token != token:
            self._revoke(old_token)
        return done

    def _write(self, secret: str, token: str, digest: str) -> list[Change]:
        now = self._memory.clock()
        known = self._known or InstalledTool(agent="", installed_at=to_text(now))
        kept = msgspec.structs.replace(known, agent=self._options.agent, token=token, secret_digest=digest)
        done: list[Change] = []
        for place in range(len(self._changes(secret))):
            change, file, folders = self._write_one(secret, place, now)
            if file is not None:
                others = [one for one in kept.files if one.path != change.path]
                kept = msgspec.structs.replace(kept, files=[*others, file], folders=[*folders, *kept.folders])
            done.append(change)
            self._save(kept)
        return done

    def _write_one(self, secret: str, place: int, now: datetime) -> tuple[Change, InstalledFile | None, list[str]]:
        """One file, from what stands in it at that moment; with the folders that had to be made."""
        for _ in range(TRIES):
            change, file = self._changes(secret)[place]
            if file is None or change.after is None:
                return change, None, []
            folders = files.make_folder(os.path.dirname(os.path.realpath(change.path)))
            copy, before = "", None
            if change.before is not None:
                before = change.before.encode()
                copy = files.back_up(change.path, before, now)
                is_original = files.digest_of(before) == file.before
                file = msgspec.structs.replace(file, backup=copy if is_original else file.backup)
            if files.write_over(change.path, before, change.after.encode()):
                return change, file, folders
            if copy:
                files.remove(copy)
        raise _written_meanwhile(self._changes(secret)[place][0].path)

    def _save(self, tool: InstalledTool) -> None:
        if self._known != tool:
            self._state, self._known = self._state.with_tool(self._tool.name, tool), tool
            installed.save(self._settings.home, self._state)

    def _check_private(self) -> None:
        path = self._tool.servers_file(self._computer)
        if not files.is_private(path):
            raise Denied(
                f"{path} can be read by others, and a token would stand in it. `chmod 600` it, or leave --http."
            )

    def _registered_secret(self) -> str:
        """The token that stands in the settings already, if it is ours and good. Empty: none is wanted, or there."""
        if not self._options.is_http or not self._known or not self._known.token:
            return ""
        secret = registered_secret(self._server_entry())
        holder = self._memory.access.holder(secret) if looks_like_secret(secret) else None
        return secret if holder is not None and self._known.agent == self._options.agent else ""

    def _server_entry(self) -> dict[str, Any]:
        """As it stands in the settings now."""
        path = self._tool.servers_file(self._computer)
        return server_in(path, files.read_text(path) or "")

    def registered(self) -> tuple[str, dict[str, Any]]:
        """The command of the hook that begins a session, and the MCP server, as the agent finds them."""
        path = self._tool.hooks_file(self._computer)
        script = shlex.quote(commands.script_path(self._settings))
        return hook_command(path, files.read_text(path) or "{}", script), self._server_entry()

    def of_plugin(self) -> tuple[str, dict[str, Any]]:
        """The same of the plugin."""
        script = shlex.quote(commands.script_path(self._settings))
        groups = commands.hook_groups(script, self._tool, self._options.agent)
        command: str = groups[BEGINNING]["hooks"][0]["command"]
        return command, commands.server_command(self._words, self._options.agent)

    def _has_agent(self) -> bool:
        name, _, room = self._options.agent.partition("/")
        try:
            self._memory.agents.principal(name, room)
        except NotFound:
            return False
        return True

    def _is_granted(self) -> bool:
        """What a person took away later stays away."""
        if self._known and self._known.agent == self._options.agent:
            return True
        found = [one for one in self._memory.agents.list() if one.scope.id == self._options.agent]
        return bool(found) and HOUSE in found[0].may_write_in

    def _add_agent(self) -> None:
        is_granted = self._is_granted()
        if not self._has_agent():
            self._memory.agents.add(self._options.agent)
        if not is_granted:
            self._memory.agents.grant(self._options.agent, HOUSE)

    def _revoke(self, token: str) -> None:
        try:
            self._memory.access.revoke(token)
        except (NotFound, Conflict):  # Somebody did already.
            return

    # Taking it out

    def plan_removal(self) -> list[Change]:
        return [self._removal(path) for path in self._paths()]

    def remove(self) -> list[Change]:
        done = [self._remove_from(path) for path in self._paths()]
        if self._known:
            files.remove_empty(self._known.folders)
            if self._known.token:
                self._revoke(self._known.token)
        plugins = [folder for folder in self._state.plugins if os.path.isdir(folder)]
        self._state = msgspec.structs.replace(self._state.with_tool(self._tool.name, None), plugins=plugins)
        if not self._state.tools and not self._state.plugins:
            files.remove(commands.script_path(self._settings))
        installed.save(self._settings.home, self._state)
        return done

    def plugins(self) -> list[str]:
        """The folders with a plugin that are left, as nobody but their owner removes them."""
        return list(self._state.plugins) if self._tool.name == "claude-code" else []

    def _remove_from(self, path: str) -> Change:
        for _ in range(TRIES):
            change = self._removal(path)
            after = None if change.after is None else change.after.encode()
            before = None if change.before is None else change.before.encode()
            if before == after or files.write_over(path, before, after):
                self._remove_backup(change)
                return change
        raise _written_meanwhile(path)

    def _paths(self) -> list[str]:
        """Those that are known to be changed, and those where an install would write now: one that was cut off has
        written down less than it did."""
        known = [file.path for file in self._known.files] if self._known else []
        usual = [self._tool.hooks_file(self._computer), self._tool.servers_file(self._computer)]
        return list(dict.fromkeys([*known, *usual]))

    def _removal(self, path: str) -> Change:
        change = self._removed(path)
        if change.before != change.after:
            files.check_writable(path)
        return change

    def _removed(self, path: str) -> Change:
        text = files.read_text(path)
        known = self._known.the(path) if self._known else None
        if text is None:
            return Change(path=path, before=None, after=None)
        if known and files.digest_of(text.encode()) == known.after:
            original = _original(known)
            if original is not None or not known.before:
                return Change(path=path, before=text, after=original)
        after = self._target(path).removed(text, known.made if known else Made(), every_home=False)
        is_ours = known is not None and not known.before and is_empty(after)
        return Change(path=path, before=text, after=None if is_ours else after)

    def _target(self, path: str) -> Target:
        if path.endswith((".toml", ".claude.json")):
            target = self._servers("")
        else:
            script = shlex.quote(commands.script_path(self._settings))
            target = HooksFile(path=path, script=script, groups={})
        return target

    def _remove_backup(self, change: Change) -> None:
        """The file is what it was: nobody needs the copy. One that differs stays."""
        known = self._known.the(change.path) if self._known else None
        if not known or not known.backup or change.after is None:
            return
        if files.read_bytes(known.backup) == change.after.encode():
            files.remove(known.backup)


def _written_meanwhile(path: str) -> Conflict:
    return Conflict(f"{path} is being written by another program all the time. End the agent, then try again.")


def _original(known: InstalledFile) -> str | None:
    """The file as it was, from its copy."""
    try:
        raw = files.read_bytes(known.backup) if known.backup else None
    except RecollectError:
        return None
    return raw.decode() if raw is not None and files.digest_of(raw) == known.before else None
