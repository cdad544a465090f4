"""Exports, imports and backups, as JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.transfer.results import BackedUp, Exported, Imported


def exported_json(done: "Exported") -> dict[str, Any]:
    told = {"path": str(done.path), "house": done.house, "exported_at": done.exported_at}
    return {**told, **_counts(done.tables), "files": done.files, "bytes": done.bytes}


def imported_json(done: "Imported") -> dict[str, Any]:
    told = {"path": str(done.path), "house": done.house, "exported_at": done.exported_at}
    return {**told, "from_house": done.from_house, **_counts(done.tables), "files": done.files, "kept": done.kept}


def backed_up_json(done: "BackedUp") -> dict[str, Any]:
    return {"path": str(done.path), "bytes": done.bytes}


def _counts(tables: dict[str, int]) -> dict[str, Any]:
    return {"rows": sum(tables.values()), "tables": tables}
