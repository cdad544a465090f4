"""Scopes: who sees what. The house is the root; agents and rooms hang below it by their parents.

Whoever asks is a `Principal`. A person and Recollect's own parts act for the whole house. An agent sees its own scope
and those above it, never a sibling's and never what lies below; it writes in its own scope, and above it where it was
granted. What this comes to is a `Sight`, made from the tables in the session that uses it; its `condition` is the only
place where visibility becomes SQL. Names are so restricted that they can stand in SQL as they are.
"""

from recollect.scopes.agents import Agents, Described, principal_named
from recollect.scopes.principal import OWNER, Actor, Principal
from recollect.scopes.sight import EVERYTHING, Sight, sight_of
from recollect.scopes.store import HOUSE, Binding, Grant, Scope, ScopeKind, ScopeStore

__all__ = [
    "EVERYTHING",
    "HOUSE",
    "OWNER",
    "Actor",
    "Agents",
    "Binding",
    "Described",
    "Grant",
    "Principal",
    "Scope",
    "ScopeKind",
    "ScopeStore",
    "Sight",
    "principal_named",
    "sight_of",
]
