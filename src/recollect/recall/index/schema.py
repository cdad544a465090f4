"""Makes the tables of the index. There are no migrations: what another version made is dropped, and built anew."""

from pathlib import Path

from recollect.database import Database, Session
from recollect.database.dialect import statements

SCHEMA_VERSION = 6
"""Raise it with every change of schema.sql or of a format in formats.py."""
TABLES = (
    "recall_schema",
    "recall_generations",
    "recall_documents",
    "recall_conversations",
    "recall_postings",
    "recall_blocks",
    "recall_vectors",
)

VERSION = "SELECT version FROM recall_schema"
RECORD = "INSERT INTO recall_schema (version) VALUES (:version)"
DROP = "DROP TABLE IF EXISTS {table}"


def make_tables(database: Database) -> None:
    """The tables as this code knows them. Two processes that start together do not collide."""
    with database.read() as session:
        if _version(session) == SCHEMA_VERSION:
            return
    with database.write() as session:
        if _version(session) == SCHEMA_VERSION:
            return
        for table in TABLES:
            session.run(DROP.format(table=table))
        text = (Path(__file__).with_name("schema.sql")).read_text(encoding="utf-8")
        for statement in statements(database.dialect.schema(text)):
            session.run(statement)
        session.run(RECORD, {"version": SCHEMA_VERSION})


def _version(session: Session) -> int | None:
    if not session.value(session.dialect.count_tables, {"name": "recall_schema"}):
        return None
    return session.value(VERSION)
