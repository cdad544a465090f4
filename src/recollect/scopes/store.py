"""All SQL on the tables of scopes."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recollect.database import Session
from recollect.errors import Invalid, NotFound

HOUSE = "house"
"""The root. It is always there and has no row."""
RESERVED = frozenset({HOUSE, "person", "user", "librarian", "rule", "all", "list", "none"})
MOST_CHARACTERS = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_SCOPE = re.compile(rf"{_NAME.pattern}(/{_NAME.pattern})*")


class ScopeKind(StrEnum):
    HOUSE = "house"
    AGENT = "agent"
    ROOM = "room"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    id: str
    """The name of an agent; for a room that of its parent, a slash and its own."""
    kind: ScopeKind
    parent_id: str
    made_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    scope: str
    target: str
    """A scope above it, in which it may write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    source: str
    prefix: str
    """Of the keys of its files. Empty: all of them."""
    scope: str


def check_name(name: str) -> None:
    """A name can stand in SQL, in a path and on a command line as it is."""
    if not _NAME.fullmatch(name) or len(name) > MOST_CHARACTERS:
        raise Invalid(
            f"{name[:100]!r} cannot be a name: use lower-case letters, digits, '.', '_' and '-', "
            f"{MOST_CHARACTERS} at most, the first a letter or a digit."
        )
    if name in RESERVED:
        raise Invalid(f"{name!r} is a word of Recollect's own. Choose another name.")


EVERY = "SELECT id, kind, parent_id, made_at FROM scopes WHERE house = :house ORDER BY id"
BY_ID = "SELECT id, kind, parent_id, made_at FROM scopes WHERE house = :house AND id = :id"
CHILDREN = "SELECT count(*) FROM scopes WHERE house = :house AND parent_id = :id"
ADD = """
INSERT INTO scopes (house, id, kind, parent_id, made_at) VALUES (:house, :id, :kind, :parent_id, :made_at)
"""
REMOVE = "DELETE FROM scopes WHERE house = :house AND id = :id"
CHAIN = """
WITH RECURSIVE chain (id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM scopes WHERE house = :house AND id = :id
    UNION ALL
    SELECT s.id, s.parent_id, c.depth + 1 FROM scopes s JOIN chain c ON s.id = c.parent_id WHERE s.house = :house
)
SELECT id FROM chain ORDER BY depth
"""
GRANTS = "SELECT scope, target FROM scope_grants WHERE house = :house ORDER BY scope, target"
GRANTS_OF = "SELECT target FROM scope_grants WHERE house = :house AND scope IN (:values)"
GRANT = """
INSERT INTO scope_grants (house, scope, target, granted_at) VALUES (:house, :scope, :target, :granted_at)
ON CONFLICT DO NOTHING
"""
REVOKE = "DELETE FROM scope_grants WHERE house = :house AND scope = :scope AND target = :target"
REVOKE_ALL = "DELETE FROM scope_grants WHERE house = :house AND (scope = :scope OR target = :scope)"
BINDINGS = "SELECT source, prefix, scope FROM scope_bindings WHERE house = :house ORDER BY source, prefix"
BIND = """
INSERT INTO scope_bindings (house, source, prefix, scope, bound_at)
VALUES (:house, :source, :prefix, :scope, :bound_at)
ON CONFLICT (house, source, prefix) DO UPDATE SET scope = excluded.scope, bound_at = excluded.bound_at
"""
UNBIND = "DELETE FROM scope_bindings WHERE house = :house AND source = :source AND prefix = :prefix"

BOUND_SCOPE = f"""
coalesce((
    SELECT b.scope FROM scope_bindings b
    WHERE b.house = {{house}} AND b.source = {{source}} AND substr({{key}}, 1, length(b.prefix)) = b.prefix
    ORDER BY length(b.prefix) DESC LIMIT 1
), '{HOUSE}')
"""
"""For the stores whose things are bound: the scope of a file, by the longest prefix of its key. Fill in house, source
and key with `.format`: columns or parameters."""


class ScopeStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def every(self) -> list[Scope]:
        return [_scope(row) for row in self._session.rows(EVERY, self._given())]

    def get(self, scope_id: str) -> Scope:
        if scope_id == HOUSE:
            return Scope(id=HOUSE, kind=ScopeKind.HOUSE, parent_id="")
        row = self._session.one(BY_ID, self._given(id=scope_id)) if _SCOPE.fullmatch(scope_id) else None
        if row is None:
            raise NotFound(
                f"No agent or room is called {scope_id!r} in this house. `recollect agents` lists them, "
                "`recollect agents add` makes one."
            )
        return _scope(row)

    def add(self, scope: Scope) -> None:
        given = {"id": scope.id, "kind": str(scope.kind), "parent_id": scope.parent_id, "made_at": scope.made_at}
        self._session.run(ADD, self._given(**given))

    def has_children(self, scope_id: str) -> bool:
        return bool(self._session.value(CHILDREN, self._given(id=scope_id)))

    def remove(self, scope_id: str) -> None:
        self._session.run(REMOVE, self._given(id=scope_id))
        self._session.run(REVOKE_ALL, self._given(scope=scope_id))

    def chain(self, scope_id: str) -> list[str]:
        """The scope itself and all above it, the house last. NotFound when it is not there."""
        self.get(scope_id)
        return [*(row[0] for row in self._session.rows(CHAIN, self._given(id=scope_id))), HOUSE]

    def grants(self) -> list[Grant]:
        return [Grant(scope=scope, target=target) for scope, target in self._session.rows(GRANTS, self._given())]

    def granted(self, scopes: list[str]) -> set[str]:
        """Where any of these may write beside its own place."""
        return {row[0] for row in self._session.among(GRANTS_OF, scopes, self._given())}

    def grant(self, grant: Grant, at: str) -> None:
        self._session.run(GRANT, self._given(scope=grant.scope, target=grant.target, granted_at=at))

    def revoke(self, grant: Grant) -> bool:
        return bool(self._session.run(REVOKE, self._given(scope=grant.scope, target=grant.target)))

    def bindings(self) -> list[Binding]:
        rows = self._session.rows(BINDINGS, self._given())
        return [Binding(source=source, prefix=prefix, scope=scope) for source, prefix, scope in rows]

    def bind(self, binding: Binding, at: str) -> None:
        given = {"source": binding.source, "prefix": binding.prefix, "scope": binding.scope, "bound_at": at}
        self._session.run(BIND, self._given(**given))

    def unbind(self, source: str, prefix: str) -> bool:
        return bool(self._session.run(UNBIND, self._given(source=source, prefix=prefix)))

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


def _scope(row: tuple[Any, ...]) -> Scope:
    return Scope(id=row[0], kind=ScopeKind(row[1]), parent_id=row[2], made_at=row[3])
