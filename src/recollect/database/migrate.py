"""Numbered, forward-only migrations: `migrations/0001_history.sql`, `0002_….sql`, one text for both engines.

Older code refuses a newer database, and a database whose applied migration was edited afterwards. All missing
migrations are applied in one write transaction, so that two processes that start together do not collide.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from recollect.database.database import Database, Session
from recollect.database.dialect import statements
from recollect.errors import Corrupt, Unavailable

_NAME = re.compile(r"(\d{4})_(\w+)\.sql")

VERSION_TABLE = """
CREATE TABLE IF NOT EXISTS schema_versions (
    version BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL
)
"""
APPLIED = "SELECT version, name, checksum FROM schema_versions ORDER BY version"
RECORD = "INSERT INTO schema_versions (version, name, checksum) VALUES (:version, :name, :checksum)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def known_migrations() -> list[Migration]:
    found: list[Migration] = []
    for item in (Path(__file__).parent / "migrations").iterdir():
        match = _NAME.fullmatch(item.name)
        if match:
            text = item.read_text(encoding="utf-8")
            found.append(Migration(version=int(match[1]), name=match[2], text=text))
    return sorted(found, key=lambda migration: migration.version)


def migrate(database: Database, migrations: list[Migration] | None = None) -> list[int]:
    """Bring the database to this code's schema; the versions applied now."""
    known = known_migrations() if migrations is None else migrations
    with database.read() as session:
        applied = _applied(session)
    _check(database, known, applied)
    if len(applied) == len(known):
        return []
    with database.write() as session:
        session.run(VERSION_TABLE)
        applied = {version: checksum for version, _, checksum in session.rows(APPLIED)}
        _check(database, known, applied)
        missing = [migration for migration in known if migration.version not in applied]
        for migration in missing:
            for statement in statements(database.dialect.schema(migration.text)):
                session.run(statement)
            session.run(RECORD, {"version": migration.version, "name": migration.name, "checksum": migration.checksum})
    return [migration.version for migration in missing]


def _applied(session: Session) -> dict[int, str]:
    if not session.value(session.dialect.count_tables, {"name": "schema_versions"}):
        return {}
    return {version: checksum for version, _, checksum in session.rows(APPLIED)}


def _check(database: Database, known: list[Migration], applied: dict[int, str]) -> None:
    newest = max((migration.version for migration in known), default=0)
    if applied and max(applied) > newest:
        raise Unavailable(
            f"{database.location} was made by a newer Recollect (schema {max(applied)}, this one knows {newest}). "
            "Upgrade Recollect; nothing was changed."
        )
    for migration in known:
        if applied.get(migration.version, migration.checksum) != migration.checksum:
            raise Corrupt(
                f"{database.location}: schema step {migration.version} ({migration.name}) is not the one this "
                "Recollect ships. Use the version of Recollect that made it."
            )
