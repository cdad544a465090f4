"""Agents and rooms, as JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.scopes import Described, Scope


def described_json(item: "Described") -> dict[str, Any]:
    bound = [{"source": binding.source, "below": binding.prefix} for binding in item.bound]
    return {**scope_json(item.scope), "may_write_in": item.may_write_in, "bound": bound}


def scope_json(scope: "Scope") -> dict[str, Any]:
    return {"id": scope.id, "kind": scope.kind, "parent": scope.parent_id, "made_at": scope.made_at}
