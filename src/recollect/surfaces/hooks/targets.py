"""The files of an agent that install changes, each with what is wanted in it. Pure: text in, text out.

What is ours is told by itself: a hook by its command, a server by its name and how it is started. So a file that was
changed since, by its program or a person, loses exactly what is ours.
"""

import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from recollect.errors import Conflict, Invalid
from recollect.surfaces.hooks.jsontext import MARK, Path, read_json, with_child, with_other, without_child
from recollect.surfaces.hooks.tomltext import (
    Names,
    Tables,
    piece_for,
    table_at,
    with_other_names,
    with_tables,
    without_tables,
)
from recollect.surfaces.hooks.tools import SERVER

HOOKS = "hooks"
SERVERS = "mcpServers"
TOML_SERVERS = "mcp_servers"
STATE = ("hooks", "state")
"""Where Codex writes down which hooks are trusted."""
TRUSTED = "trusted_hash"
REACHED_BY = frozenset({"type", "command", "args", "url", "headers", "http_headers"})
SCRIPT = "recollect-hook"
NEW_FILE = "{}\n"
BLANK_SETTINGS = "settings.json"
_OURS = re.compile(rf"/{SCRIPT}['\"]* (?:claude-code|codex) [A-Za-z]+ \S+$")
_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")

Group = dict[str, Any]
"""A matcher and its handlers, as an agent's settings have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a text was given that is no single thing of ours: remembered for taking it away."""

    containers: tuple[Path, ...] = ()
    """Objects and arrays that were not there."""
    piece: str = ""
    """Of a TOML file, what was added, as it was."""
    trust: tuple[str, ...] = ()
    """Digests of the hooks that were trusted."""


class Target(Protocol):
    """One file. `text` is None where there is none."""

    @property
    def path(self) -> str: ...

    def has_all(self, text: str) -> bool:
        """Whether everything is there as it is wanted, and nothing of ours besides."""
        ...

    def added(self, text: str | None) -> tuple[str, Made]:
        """To a text that has nothing of ours."""
        ...

    def removed(self, text: str, made: Made, *, every_home: bool) -> str:
        """Without what is ours. `every_home`: also what another home of Recollect put there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFile:
    """`hooks` of a JSON file: event → groups."""

    path: str
    script: str
    """How the commands of this home begin, quoted for a shell."""
    groups: dict[str, Group]
    older: tuple[str, ...] = ()
    """How they began where this home was before it was moved."""

    def has_all(self, text: str) -> bool:
        if self._is_blank(text):
            return False
        found = hooks_in(self.path, text)
        ours = [(event, place) for event, place, _ in self.handlers(text, every_home=True)]
        return len(ours) == len(self.groups) and all(
            group in found.get(event, []) for event, group in self.groups.items()
        )

    def added(self, text: str | None) -> tuple[str, Made]:
        changed = NEW_FILE if text is None or self._is_blank(text) else text
        made: list[Path] = []
        if HOOKS not in _json(self.path, changed):
            changed = with_child(changed, (), HOOKS, {})
            made.append((HOOKS,))
        for event, group in self.groups.items():
            if event not in hooks_in(self.path, changed):
                changed = with_child(changed, (HOOKS,), event, [])
                made.append((HOOKS, event))
            changed = with_child(changed, (HOOKS, event), len(hooks_in(self.path, changed)[event]), group)
        return changed, Made(containers=tuple(made))

    def removed(self, text: str, made: Made, *, every_home: bool) -> str:
        if self._is_blank(text):
            return text
        own = self.handlers(text, every_home=False)
        emptied = set(made.containers)
        for event, group, handler in reversed(self.handlers(text, every_home=every_home)):
            path: Path = (HOOKS, event, group)
            beside = hooks_in(self.path, text)[event][group][HOOKS]
            if (event, group, handler) not in own:  # What the other home made for it, nobody else takes away.
                emptied |= {(HOOKS,), (HOOKS, event)}
            text = without_child(text, (*path, HOOKS, handler) if len(beside) > 1 else path)
        return _without_empty(text, tuple(emptied))

    def replaced(self, text: str) -> str | None:
        """With ours in the place of what is ours already: Codex knows the hooks of others by their places. None: it
        does not stand there once for each event, and by itself."""
        if self._is_blank(text):
            return None
        found, places = hooks_in(self.path, text), self.handlers(text, every_home=True)
        if sorted(event for event, _, _ in places) != sorted(self.groups):
            return None
        if any(len(found[event][group][HOOKS]) != 1 for event, group, _ in places):
            return None
        for event, group, _ in places:
            text = with_other(text, (HOOKS, event, group), self.groups[event])
        return text

    def keys(self, text: str | None, *, every_home: bool, ours: bool) -> list[str]:
        """By which Codex knows our hooks, or those of others, in their order."""
        if text is None or self._is_blank(text):
            return []
        own = set(self.handlers(text, every_home=every_home))
        return [
            key_of(self.path, event, place, number)
            for event, groups in sorted(hooks_in(self.path, text).items())
            for place, group in enumerate(groups)
            for number, _ in enumerate(_list(_dict(group).get(HOOKS)))
            if ((event, place, number) in own) is ours
        ]

    def commands(self, text: str | None, *, every_home: bool) -> dict[str, str]:
        """Event → what runs ours."""
        if text is None or self._is_blank(text):
            return {}
        found = hooks_in(self.path, text)
        return {
            event: found[event][place][HOOKS][number]["command"]
            for event, place, number in self.handlers(text, every_home=every_home)
        }

    def moves(self, before: str | None, after: str | None, *, every_home: bool) -> dict[str, str]:
        """Which hooks of others get another place when one text follows the other."""
        old, new = (self.keys(text, every_home=every_home, ours=False) for text in (before, after))
        pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
        return {one: other for one, other in pairs if one != other}

    def _is_blank(self, text: str) -> bool:
        """Claude Code takes such settings for none; of Codex that is not known."""
        return self.path.endswith(BLANK_SETTINGS) and not text.strip(f"{MARK} \t\r\n")

    def handlers(self, text: str, *, every_home: bool) -> list[tuple[str, int, int]]:
        """(event, place of the group, place in the group) of what is ours."""
        return [
            (event, place, number)
            for event, groups in hooks_in(self.path, text).items()
            for place, group in enumerate(groups)
            for number, handler in enumerate(_list(_dict(group).get(HOOKS)))
            if self._is_ours(_dict(handler).get("command"), every_home)
        ]

    def _is_ours(self, command: Any, every_home: bool) -> bool:
        if not isinstance(command, str):
            return False
        is_own = any(command.startswith(f"{script} ") for script in (self.script, *self.older))
        return is_own or (every_home and bool(_OURS.search(command)))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonServers:
    """`mcpServers` of a JSON file."""

    path: str
    server: dict[str, Any]
    home: str
    secret_digests: tuple[str, ...] = ()
    """Of the tokens that this home put there."""
    older: tuple[str, ...] = ()
    """Where this home was before it was moved."""

    def has_all(self, text: str) -> bool:
        return _dict(_json(self.path, text).get(SERVERS)).get(SERVER) == self.server

    def added(self, text: str | None) -> tuple[str, Made]:
        changed, made = text or NEW_FILE, ()
        found = _json(self.path, changed)
        if SERVERS not in found:
            changed, made = with_child(changed, (), SERVERS, {}), ((SERVERS,),)
        elif not isinstance(found[SERVERS], dict):
            raise Invalid(f"{self.path}: {SERVERS} is no object. Mend it; nothing was changed.")
        elif SERVER in found[SERVERS]:
            raise _another(self.path)
        return with_child(changed, (SERVERS,), SERVER, self.server), Made(containers=made)

    def removed(self, text: str, made: Made, *, every_home: bool) -> str:
        servers = _dict(_json(self.path, text).get(SERVERS))
        emptied = made.containers
        is_own = is_our_server(servers.get(SERVER), (self.home, *self.older), self.secret_digests)
        if is_own or (every_home and is_our_server(servers.get(SERVER))):
            text = without_child(text, (SERVERS, SERVER))
            emptied = emptied if is_own else (*emptied, (SERVERS,))
        return _without_empty(text, emptied)


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlServers:
    """`[mcp_servers.recollect]`, and where hooks have to be trusted, the trust in ours."""

    path: str
    server: dict[str, Any]
    home: str
    secret_digests: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    trust: Tables = field(default_factory=dict[Names, dict[str, Any]])
    unwanted: tuple[str, ...] = ()
    """Digests of hooks that install trusted and nobody wants it to any more."""
    gone: tuple[str, ...] = ()
    """Keys of our hooks that are taken out: whoever trusted them, nothing stands there now."""
    moves: dict[str, str] = field(default_factory=dict[str, str])
    """Keys of the hooks of others that got another place."""

    @property
    def _tables(self) -> Tables:
        return {(TOML_SERVERS, SERVER): self.server, **self.trust}

    def has_all(self, text: str) -> bool:
        found = toml_in(self.path, text)
        state = table_at(found, STATE) or {}
        if any(_dict(value).get(TRUSTED) in self.unwanted for value in state.values()):
            return False
        if any(key in state for key in self.moves):
            return False
        return all(table_at(found, names) == values for names, values in self._tables.items())

    def added(self, text: str | None) -> tuple[str, Made]:
        mark, before = _split(text or "")
        if table_at(toml_in(self.path, before), (TOML_SERVERS, SERVER)) is not None:
            raise _another(self.path)
        digests = tuple(str(values[TRUSTED]) for values in self.trust.values())
        try:
            made = Made(piece=piece_for(before, self._tables), trust=digests)
            return mark + with_tables(before, self._tables), made
        except Invalid as error:
            raise Invalid(f"{self.path}: {error}. Mend it; nothing was changed.") from error

    def removed(self, text: str, made: Made, *, every_home: bool) -> str:
        mark, text = _split(text)
        found = toml_in(self.path, text)
        server = table_at(found, (TOML_SERVERS, SERVER))
        state = table_at(found, STATE) or {}
        names: list[Names] = [
            (*STATE, key)
            for key, value in state.items()
            if isinstance(value, dict) and (_dict(value).get(TRUSTED) in made.trust or key in self.gone)
        ]
        is_own = is_our_server(server, (self.home, *self.older), self.secret_digests)
        if is_own or (every_home and is_our_server(server)):
            names.insert(0, (TOML_SERVERS, SERVER))
        try:
            left = without_tables(text, names, made.piece) if names else text
            return mark + with_other_names(left, STATE, self.moves)
        except Invalid as error:
            raise Invalid(f"{self.path}: {error}. Take it out by hand; nothing was changed.") from error


def server_in(path: str, text: str) -> dict[str, Any]:
    """Our MCP server as it stands in a file; empty when it does not."""
    if path.endswith(".toml"):
        return table_at(toml_in(path, text), (TOML_SERVERS, SERVER)) or {}
    return _dict(_dict(_json(path, text or "{}").get(SERVERS)).get(SERVER))


def has_hooks_off(path: str, text: str) -> bool:
    """Whether Claude Code is told to run no hook at all."""
    return bool(text.strip(f"{MARK} \t\r\n")) and bool(_json(path, text).get("disableAllHooks"))


def beside_ours(server: dict[str, Any]) -> dict[str, Any]:
    """What somebody else wrote into our entry, such as which tools are approved: not how it is reached."""
    return {name: value for name, value in server.items() if name not in REACHED_BY}


def registered_secret(server: dict[str, Any]) -> str:
    headers = _dict(server.get("headers")) or _dict(server.get("http_headers"))
    return str(headers.get("Authorization", "")).removeprefix("Bearer ")


def is_our_server(server: Any, homes: tuple[str, ...] = (), secret_digests: tuple[str, ...] = ()) -> bool:
    """`homes`: only if it is of one of these. Empty: of any."""
    values = _dict(server)
    args = [str(argument) for argument in _list(values.get("args"))]
    if "command" in values:
        is_recollect = "mcp" in args and "--agent" in args and "--home" in args
        return is_recollect and (not homes or args[args.index("--home") + 1 :][:1] in [[home] for home in homes])
    secret = registered_secret(values)
    if not secret.startswith("recollect_"):
        return False
    return not homes or hashlib.sha256(secret.encode()).hexdigest() in secret_digests


def is_empty(text: str) -> bool:
    """Whether nothing stands in a file, not even a comment."""
    return not text.strip(f"{MARK}{{}} \t\r\n")


def _another(path: str) -> Conflict:
    return Conflict(
        f"{path} has an MCP server called {SERVER!r} that install did not put there. Take it out or give it another "
        "name, then install again; nothing was changed."
    )


def _without_empty(text: str, containers: tuple[Path, ...]) -> str:
    for path in sorted(containers, key=len, reverse=True):
        place: Any = read_json(text)
        for name in path:
            place = _dict(place).get(str(name))
        if place is not None and not place:
            text = without_child(text, path)
    return text


def hooks_in(path: str, text: str) -> dict[str, list[Any]]:
    """Event → groups."""
    found = _json(path, text).get(HOOKS, {})
    if not isinstance(found, dict) or not all(isinstance(groups, list) for groups in _dict(found).values()):
        raise Invalid(f"{path}: {HOOKS} is not an object of lists. Mend it or move the file away; nothing was changed.")
    return cast(dict[str, list[Any]], found)


def _json(path: str, text: str) -> dict[str, Any]:
    try:
        return read_json(text)
    except ValueError as error:
        raise Invalid(f"{path} is not valid JSON: {error}. Mend it or move it away; nothing was changed.") from error


def toml_in(path: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(MARK))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Invalid(f"{path} is not valid TOML: {error}. Mend it or move it away; nothing was changed.") from error


def _split(text: str) -> tuple[str, str]:
    """The mark that some editors begin a file with, and the rest."""
    return (MARK, text[len(MARK) :]) if text.startswith(MARK) else ("", text)


def key_of(path: str, event: str, group: int, handler: int) -> str:
    """By which Codex knows a hook: by its place."""
    return f"{path}:{snake(event)}:{group}:{handler}"


def snake(event: str) -> str:
    """As Codex calls it."""
    return _SNAKE.sub("_", event).lower()


def _dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []
