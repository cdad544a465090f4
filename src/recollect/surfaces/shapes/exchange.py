"""Imports from and exports into a memory folder, as JSON."""

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from recollect.exchange import MemoryExport, MemoryImport

OUTCOMES = ("new", "changed", "known", "unchanged", "refused", "missing", "problems")


def memory_import_json(done: "MemoryImport") -> dict[str, Any]:
    totals = {name: done.total(name) for name in OUTCOMES}
    return {"dry_run": done.is_dry, **totals, "folders": [msgspec.to_builtins(folder) for folder in done.folders]}


def memory_export_json(done: "MemoryExport") -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "written": done.written,
        "unchanged": done.unchanged,
        "removed": done.removed,
        "left": msgspec.to_builtins(done.left),
        "left_out": done.left_out,
    }
