"""Agents and rooms as people manage them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.scopes.principal import OWNER, Actor, Principal
from recollect.scopes.sight import sight_of
from recollect.scopes.store import HOUSE, Binding, Grant, Scope, ScopeKind, ScopeStore, check_name

Rescope = Callable[[Session, str], int]
"""Give the files of a source the scopes that the bindings say; how many changed theirs. History's part of a binding."""
Holds = Callable[[Session, str], int]
"""How many things lie in a scope."""
SourceNames = Callable[[], list[str]]
"""What can be bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    scope: Scope
    may_write_in: list[str] = field(default_factory=list[str])
    bound: list[Binding] = field(default_factory=list[Binding])


def principal_named(store: ScopeStore, name: str, room: str = "") -> Principal:
    """An agent, in a room of its own or not."""
    scope = store.get(name)
    if scope.kind is not ScopeKind.AGENT:
        raise NotFound(
            f"No agent is called {name!r} in this house. `recollect agents` lists them, "
            "`recollect agents add` makes one."
        )
    if room:
        scope = store.get(f"{name}/{room}")
    return Principal(actor=Actor.AGENT, name=name, scope=scope.id)


class Agents:
    """`memory.agents`. Only a person may change anything here."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        rescope: Rescope,
        holds: Holds,
        source_names: SourceNames,
        principal: Principal = OWNER,
        after_binding: Callable[[], None] = lambda: None,
    ) -> None:
        """`after_binding`: what was learned from the files that moved follows them."""
        self._database = database
        self._house = house
        self._clock = clock
        self._rescope = rescope
        self._holds = holds
        self._source_names = source_names
        self._principal = principal
        self._after_binding = after_binding

    def principal(self, name: str, room: str = "") -> Principal:
        """The agent of this name, as one who asks. `room`: in this room of its own."""
        with self._database.read() as session:
            return principal_named(ScopeStore(session, self._house), name, room)

    def list(self) -> list[Described]:
        """What there is; for an agent, what is on its own chain."""
        with self._database.read() as session:
            store = ScopeStore(session, self._house)
            sight = sight_of(session, self._house, self._principal)
            grants, bindings = store.grants(), store.bindings()
            return [
                Described(
                    scope=scope,
                    may_write_in=[grant.target for grant in grants if grant.scope == scope.id],
                    bound=[binding for binding in bindings if binding.scope == scope.id],
                )
                for scope in store.every()
                if sight.sees(scope.id)
            ]

    def add(self, name: str, parent: str = HOUSE) -> Scope:
        """An agent, or with a slash in its name a room: `ada`, `ada/kitchen`, `house/hall`."""
        with self._database.write() as session:
            store = ScopeStore(session, self._house)
            scope = self._new(store, name, parent)
            store.add(scope)
        return scope

    def check_new(self, name: str, parent: str = HOUSE) -> None:
        """Whether it could be added. Raises where not."""
        with self._database.read() as session:
            self._new(ScopeStore(session, self._house), name, parent)

    def _new(self, store: ScopeStore, name: str, parent: str) -> Scope:
        self._refuse_agents()
        owner, slash, own = name.rpartition("/")
        check_name(own)
        if slash and parent not in (HOUSE, owner):
            raise Invalid(f"{name!r} is a room of {owner!r}: it cannot stand below {parent!r}.")
        kind, parent = (ScopeKind.ROOM, owner) if slash else (ScopeKind.AGENT, parent)
        above = store.get(parent)
        if kind is ScopeKind.AGENT and above.kind is ScopeKind.ROOM:
            raise Invalid(f"{parent!r} is a room. An agent stands below the house or below another agent.")
        if any(found.id == name for found in store.every()):
            raise Conflict(f"{name!r} is there already. `recollect agents` shows it.")
        return Scope(id=name, kind=kind, parent_id=parent, made_at=to_text(self._clock()))

    def remove(self, name: str) -> None:
        """One in which nothing lies, so that nothing is lost."""
        self._refuse_agents()
        with self._database.write() as session:
            store = ScopeStore(session, self._house)
            store.get(name)
            if name == HOUSE:
                raise Invalid("The house itself cannot be removed.")
            if store.has_children(name):
                raise Conflict(f"{name!r} has agents or rooms below it. Remove them first.")
            if any(binding.scope == name for binding in store.bindings()):
                raise Conflict(f"A source is bound to {name!r}. `recollect agents unbind` frees it.")
            held = self._holds(session, name)
            if held:
                raise Conflict(f"Files, records or notes of {name!r} are kept: {held:,}. Forget them first.")
            store.remove(name)

    def grant(self, name: str, target: str) -> Grant:
        """Let an agent or room write in a scope above it."""
        self._refuse_agents()
        grant = Grant(scope=name, target=target)
        with self._database.write() as session:
            store = ScopeStore(session, self._house)
            store.get(target)
            if target == name:
                raise Invalid(f"{name!r} may write in itself without a grant.")
            if target not in store.chain(name)[1:]:
                raise Invalid(f"{target!r} is not above {name!r}: it could not even see it.")
            store.grant(grant, to_text(self._clock()))
        return grant

    def revoke(self, name: str, target: str) -> Grant:
        self._refuse_agents()
        grant = Grant(scope=name, target=target)
        with self._database.write() as session:
            if not ScopeStore(session, self._house).revoke(grant):
                raise NotFound(f"{name!r} was not granted to write in {target!r}. `recollect agents` lists the grants.")
        return grant

    def bind(self, name: str, source: str, prefix: str = "") -> int:
        """A source's history, or that part of it whose keys begin so, is this agent's; how many files moved."""
        self._refuse_agents()
        known = self._source_names()
        if source not in known:
            raise NotFound(f"No source is called {source[:100]!r}. Known: {', '.join(known)}.")
        with self._database.write() as session:
            store = ScopeStore(session, self._house)
            store.get(name)
            store.bind(Binding(source=source, prefix=prefix, scope=name), to_text(self._clock()))
            moved = self._rescope(session, source)
        self._after_binding()
        return moved

    def unbind(self, source: str, prefix: str = "") -> int:
        """It is the house's again, or that of a shorter prefix; how many files moved."""
        self._refuse_agents()
        with self._database.write() as session:
            if not ScopeStore(session, self._house).unbind(source, prefix):
                raise NotFound(f"Nothing binds {source!r} with {prefix!r}. `recollect agents` lists what is bound.")
            moved = self._rescope(session, source)
        self._after_binding()
        return moved

    def _refuse_agents(self) -> None:
        if self._principal.is_confined or not self._principal.may_write:
            raise Denied(f"{self._principal.name or 'Who only reads'} may not change who sees what: only a person may.")
