"""The models of search, as JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.embedding import Models, ModelState


def models_json(found: "Models") -> dict[str, Any]:
    return {"folder": str(found.folder), "models": [model_json(item) for item in found.listed()]}


def model_json(item: "ModelState") -> dict[str, Any]:
    return {
        "name": item.name,
        "kind": item.kind,
        "what_for": item.purpose,
        "state": item.state,
        "used": item.is_used,
        "bytes": item.size_bytes,
        "licence": item.licence,
        "provenance": item.provenance,
        "package": item.package,
        "place": item.place,
        "lacks": item.lacks,
    }
