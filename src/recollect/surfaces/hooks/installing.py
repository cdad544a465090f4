"""Putting Recollect into an agent's settings; removing.py takes it out.

First everything is read and checked and what would change is told; nothing is touched before. Files are read again when
they are written, as an agent that runs writes some of them all the time.
"""

import hashlib
import os
import shlex
from dataclasses import dataclass
from typing import Any

import msgspec

from recollect.access import looks_like_secret
from recollect.clock import to_text
from recollect.daemon.serving import listening_of
from recollect.errors import Denied, Invalid, NotFound
from recollect.ids import new_id
from recollect.memory import Memory
from recollect.scopes import HOUSE
from recollect.settings import Computer
from recollect.surfaces.hooks import commands, files, installed, remarks, switched_off
from recollect.surfaces.hooks.changes import Change
from recollect.surfaces.hooks.installed import InstalledFile, InstalledToken, InstalledTool, Moves
from recollect.surfaces.hooks.removing import TRIES, revoke
from recollect.surfaces.hooks.targets import (
    HooksFile,
    JsonServers,
    Made,
    Target,
    TomlServers,
    beside_ours,
    is_empty,
    registered_secret,
    server_in,
)
from recollect.surfaces.hooks.tomltext import Tables
from recollect.surfaces.hooks.tools import BEGINNING, Tool
from recollect.surfaces.hooks.trust import trust_in, trust_of

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
        self._load()

    def _load(self) -> None:
        """What is installed now. What was found in the files before belongs to what was installed then."""
        self._state = installed.load(self._settings.home)
        known = self._state.tools.get(self._tool.name)
        self._known = None if known and known.is_copied(self._settings.home) else known
        self._moves = Moves(path="", after="")

    # What would change

    def plan(self) -> list[Change]:
        """What install would do to the agent's files. Raises where one of them cannot be changed."""
        secret = self._registered_secret() or (UNKNOWN_SECRET if self._options.is_http else "")
        if secret == UNKNOWN_SECRET:
            self._check_private()
        if not self._has_agent():
            self._memory.agents.check_new(self._options.agent)
        return [change for change, _ in self._changes(secret)]

    def notes(self) -> list[str]:
        """What else it would do, in sentences."""
        said = [] if self._has_agent() else [f"The agent {self._options.agent!r} is added to the house."]
        if not self._is_granted():
            said.append(f"{self._options.agent!r} may write in the house, so that what it remembers serves all.")
        if self._options.is_http and not self._registered_secret():
            said.append(f"A token of {self._options.agent!r} is made and stands in the settings of {self._tool.title}.")
        return said

    def warnings(self) -> list[str]:
        """What keeps it from working, though the self-test passes."""
        if self._tool.name != "codex":
            path = self._tool.hooks_file(self._computer)
            return switched_off.told_of_claude_code(self._tool, path, files.read_text(path) or "{}")
        # As they would be: what stood there before ours came counts for ours, too.
        hooks, servers = self.plan()
        return switched_off.told_of_codex(
            self._tool, servers.path, servers.after or "", self._hooks_file(), hooks.after or "{}"
        )

    def remarks(self, *, is_plugin: bool = False) -> list[str]:
        """What else a person would wonder about in the sessions that follow."""
        said = remarks.not_taken_in(self._memory)
        if self._tool.name == "codex":
            return said + remarks.of_codex(self._hooks_file(), *self.plan())
        if is_plugin:
            others = [self._tool.hooks_file(self._computer)] if self.registered()[0] else []
        else:
            others = [folder for folder in self._state.plugins if os.path.isdir(folder)]
        return said + remarks.told_twice(others)

    def _changes(self, secret: str) -> list[tuple[Change, InstalledFile | None]]:
        """Each with what is to be kept of it; None where nothing changes."""
        target = self._hooks_file()
        hooks = self._change(target)
        change = hooks[0]
        stays = target.keys(change.after, every_home=True, ours=True)
        found = target.keys(change.before, every_home=True, ours=True)
        moves = target.moves(change.before, change.after, every_home=True)
        gone = [key for key in found if key not in stays]
        self._moves = Moves(path=target.path, after="", moves=moves, gone=gone)
        if self._known:
            beside = files.read_text(self._tool.servers_file(self._computer))
            self._moves = self._known.moves_with(self._moves, change.before, beside)
        trust: Tables = {}
        if self._tool.name == "codex" and self._options.is_trusted:
            trust = self._with_what_stands_beside(trust_of(target.path, change.after or "", target.groups))
        return [hooks, self._change(self._servers(secret, trust))]

    def _hooks_file(self) -> HooksFile:
        script = shlex.quote(commands.script_path(self._settings))
        return HooksFile(
            path=self._tool.hooks_file(self._computer),
            script=script,
            groups=commands.hook_groups(script, self._tool, self._options.agent),
            older=tuple(shlex.quote(commands.script_in(home)) for home in self._older()),
        )

    def _with_what_stands_beside(self, trust: Tables) -> Tables:
        """A hook of ours that somebody switched off stays so."""
        path = self._tool.servers_file(self._computer)
        known = trust_in(path, files.read_text(path) or "")
        return {names: {**known.get(names[-1], {}), **values} for names, values in trust.items()}

    def _older(self) -> tuple[str, ...]:
        return tuple(self._known.own_homes(self._settings.home)) if self._known else ()

    @property
    def _token(self) -> InstalledToken | None:
        """That of this folder of settings."""
        return self._known.tokens.get(self._tool.servers_file(self._computer)) if self._known else None

    def _servers(self, secret: str, trust: Tables) -> Target:
        path, home = self._tool.servers_file(self._computer), str(self._settings.home)
        digests = self._known.digests_at(path) if self._known else ()
        server: dict[str, Any] = commands.server_command(self._words, self._options.agent)
        others = beside_ours(self._server_entry())
        if self._tool.name == "codex":
            if secret:
                server = {"url": self._address(), "http_headers": {"Authorization": f"Bearer {secret}"}}
            server = {**server, **others}
            known = self._known.the(path) if self._known else None
            return TomlServers(
                path=path,
                server=server,
                home=home,
                secret_digests=digests,
                older=self._older(),
                trust=trust,
                unwanted=known.made.trust if known and not self._options.is_trusted else (),
                gone=tuple(self._moves.gone),
                moves=self._moves.moves,
            )
        server = {"type": "stdio", **server}
        if secret:
            server = {"type": "http", "url": self._address(), "headers": {"Authorization": f"Bearer {secret}"}}
        return JsonServers(
            path=path, server={**server, **others}, home=home, secret_digests=digests, older=self._older()
        )

    def _address(self) -> str:
        if not self._settings.http.listen:
            raise Invalid("http.listen is empty: nobody would answer. Set it in recollect.toml, or leave --http out.")
        chosen = listening_of(self._settings)
        if not chosen.port:
            raise Invalid(
                "http.listen has port 0, another one at each start. Choose one in recollect.toml, or leave --http out."
            )
        return f"{chosen.address(chosen.port)}/mcp"

    def _change(self, target: Target) -> tuple[Change, InstalledFile | None]:
        text = files.read_text(target.path)
        if text is not None and target.has_all(text):
            return Change(path=target.path, before=text, after=text), None
        known = self._known.the(target.path) if self._known else None
        files.check_writable(target.path)
        base, before, backup = self._base(target, text, known)
        after, made = target.added(base)
        if isinstance(target, HooksFile) and text is not None:
            after = target.replaced(text) or after
        kept = InstalledFile(
            path=target.path, before=before, after=files.digest_of(after.encode()), backup=backup, made=made
        )
        return Change(path=target.path, before=text, after=after), kept

    def _base(self, target: Target, text: str | None, known: InstalledFile | None) -> tuple[str | None, str, str]:
        """The file without anything of ours, its digest, and where a copy of it lies."""
        if text is None:
            return None, "", ""
        if known and known.is_as_left(text.encode()):
            original = known.original()
            if original is not None or not known.before:
                return original, known.before, known.backup
        base = target.removed(text, known.made if known else Made(), every_home=True)
        if known and not known.before and is_empty(base):  # Nothing but ours ever stood there.
            return None, "", ""
        digest = files.digest_of(base.encode())
        is_copied = known is not None and known.before == digest and known.original() is not None
        return base, digest, known.backup if known and is_copied else ""

    # Doing it

    def prepare(self, plugin: str) -> None:
        """All that a plugin needs, whose folder is remembered."""
        with installed.alone(self._settings):
            self._load()
            self._prepare()
            if plugin not in self._state.plugins:
                self._state = msgspec.structs.replace(self._state, plugins=[*self._state.plugins, plugin])
                installed.save(self._settings.home, self._state)

    def _prepare(self) -> None:
        """The agent and the script."""
        self._add_agent()
        text, path = commands.script_text(self._settings, self._words), commands.script_path(self._settings)
        files.make_folder(str(self._settings.home / installed.FOLDER))
        if files.read_text(path) != text or not os.access(path, os.X_OK):
            files.remove(path)
            files.write(path, text.encode(), 0o700)

    def apply(self) -> list[Change]:
        """What was done. Called when the person agreed, which may be long after it was planned."""
        with installed.alone(self._settings):
            self._load()
            return self._apply()

    def _apply(self) -> list[Change]:
        if self._options.is_http and not self._registered_secret():
            self._check_private()
        for path in (*self._paths(), commands.script_path(self._settings)):
            files.sweep(path)
        self._prepare()
        done = self._write(self._agreed_secret())
        self._end_tokens()
        return done

    def _agreed_secret(self) -> str:
        """Of the token that is to stand in the settings. All that is going to be is written down before it is."""
        secret, path = self._registered_secret(), self._tool.servers_file(self._computer)
        kept, home = self._kept(), str(self._settings.home)
        kept = msgspec.structs.replace(
            kept, agent=self._options.agent, homes=list(dict.fromkeys([*kept.own_homes(self._settings.home), home]))
        )
        if secret:
            self._save(kept)
            return secret
        tokens = {place: one for place, one in kept.tokens.items() if place != path}
        ending = [*kept.ending, *([kept.tokens[path]] if path in kept.tokens else [])]
        if self._options.is_http:
            token = InstalledToken(id=new_id(), secret_digest="")
            self._save(msgspec.structs.replace(kept, ending=[*kept.ending, token]))
            label = f"recollect install {self._tool.name}"
            secret = self._memory.access.create(self._options.agent, label=label, token_id=token.id).secret
            digest = hashlib.sha256(secret.encode()).hexdigest()
            tokens[path] = InstalledToken(id=token.id, secret_digest=digest)
        self._save(msgspec.structs.replace(kept, tokens=tokens, ending=ending))
        return secret

    def _end_tokens(self) -> None:
        """All of it is written: nothing stands in the settings of what there was before."""
        kept = self._kept()
        for token in kept.ending:
            revoke(self._memory, token.id)
        self._save(msgspec.structs.replace(kept, ending=[], moves=None))

    def _kept(self) -> InstalledTool:
        return self._known or InstalledTool(agent="", installed_at=to_text(self._memory.clock()))

    def _paths(self) -> list[str]:
        return [self._tool.hooks_file(self._computer), self._tool.servers_file(self._computer)]

    def _write(self, secret: str) -> list[Change]:
        return [self._write_one(secret, place) for place in range(len(self._changes(secret)))]

    def _write_one(self, secret: str, place: int) -> Change:
        """One file, from what stands in it at that moment."""
        for _ in range(TRIES):
            change, file = self._changes(secret)[place]
            if file is None or change.after is None:
                return change
            folder = os.path.dirname(os.path.realpath(change.path))
            before = None if change.before is None else change.before.encode()
            copy = self._backup(change.path, before)
            if before is not None and copy and files.digest_of(before) == file.before:
                file = msgspec.structs.replace(file, backup=copy)
            self._intend(change, file, files.missing_folders(folder))
            files.make_folder(folder)
            if copy and before is not None:
                files.write(copy, before)
            if files.write_over(change.path, before, change.after.encode()):
                return change
            if copy:
                files.remove(copy)
        raise files.written_meanwhile(self._changes(secret)[place][0].path)

    def _intend(self, change: Change, file: InstalledFile, folders: list[str]) -> None:
        kept = self._kept()
        moves, after = kept.moves, installed.digest_of_text(change.after)
        if change.path == self._moves.path:
            moves = msgspec.structs.replace(self._moves, after=after)
        elif moves:
            moves = msgspec.structs.replace(moves, done=after)
        known = kept.the(change.path)
        if known and change.before is not None and known.is_as_left(change.before.encode()):
            file = msgspec.structs.replace(file, earlier=files.digest_of(change.before.encode()))
        others = [one for one in kept.files if one.path != change.path]
        folders = list(dict.fromkeys([*folders, *kept.folders]))
        self._save(msgspec.structs.replace(kept, files=[*others, file], folders=folders, moves=moves))

    def _backup(self, path: str, before: bytes | None) -> str:
        """Where a copy is to lie. Empty: it is what we wrote there ourselves and a copy lies of what was before, or
        there is one."""
        known = self._known.the(path) if self._known else None
        if before is None:
            return ""
        is_copied = known is not None and known.original() is not None
        if known and known.is_as_left(before) and (not known.before or is_copied):
            return ""
        if known and is_copied and known.before == files.digest_of(before):
            return ""
        return files.backup_place(path, self._memory.clock())

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
        if not self._options.is_http or not self._token:
            return ""
        secret = registered_secret(self._server_entry())
        if hashlib.sha256(secret.encode()).hexdigest() != self._token.secret_digest:
            return ""
        holder = self._memory.access.holder(secret) if looks_like_secret(secret) else None
        return secret if holder is not None and holder.scope == self._options.agent else ""

    def _server_entry(self) -> dict[str, Any]:
        """As it stands in the settings now."""
        path = self._tool.servers_file(self._computer)
        return server_in(path, files.read_text(path) or "")

    def registered(self) -> tuple[str, dict[str, Any]]:
        """The command of the hook that begins a session, and the MCP server, as the agent finds them."""
        target = self._hooks_file()
        found = target.commands(files.read_text(target.path), every_home=False)
        return found.get(BEGINNING, ""), self._server_entry()

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
