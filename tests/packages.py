"""Exports as tests look at them and damage them."""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transcripts import Transcript

from recollect import Memory

Change = Callable[[bytes], bytes]


def tell(memory: Memory, projects: Path) -> None:
    """A house with something in most of its tables."""
    Transcript("garden").exchanges(4, about="beans").save(projects)
    other = Transcript("bridge", cwd="/home/ada/bridge")
    other.user("Ärger mit Bögen 🌉, and a\u0301 ﬁnal ﷺ")
    other.assistant("Keep calm.")
    other.save(projects)
    memory.history.ingest([projects])
    memory.knowledge.remember("Beans go out in May", tags=["garden"], importance=0.1 + 0.2)
    record = memory.knowledge.remember("The bridge is 40 metres long", subject="bridge", attribute="length").record
    memory.knowledge.edit(record.id, "The bridge is 41 metres long")
    memory.agents.add("ada")


def rows_of(package: Path, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (package / "tables" / f"{table}.jsonl").read_bytes().splitlines()]


def tables_of(package: Path) -> dict[str, bytes]:
    """The bytes of each table. That of copies is left out: each copy adds a row to it."""
    paths = (package / "tables").iterdir()
    return {path.stem: path.read_bytes() for path in paths if path.stem != "lineage_exports"}


def manifest_of(package: Path) -> dict[str, Any]:
    return json.loads((package / "manifest.json").read_bytes())


def change_manifest(package: Path, **changes: Any) -> None:
    path = package / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}), encoding="utf-8")


def change_table(package: Path, table: str, change: Change) -> None:
    """As somebody would who knows the format: the manifest agrees with what it is now."""
    path = package / "tables" / f"{table}.jsonl"
    raw = change(path.read_bytes())
    path.write_bytes(raw)
    tables = manifest_of(package)["tables"]
    tables[table] |= {"bytes": len(raw), "rows": raw.count(b"\n"), "sha256": hashlib.sha256(raw).hexdigest()}
    change_manifest(package, tables=tables)


def zipped(package: Path) -> Path:
    """The same files in a zip file made by somebody else."""
    return Path(shutil.make_archive(str(package), "zip", package))


def unzipped(package: Path) -> Path:
    folder = package.with_suffix("")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    return folder
