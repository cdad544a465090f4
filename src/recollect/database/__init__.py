"""Where rows live: SQLite by default, PostgreSQL when a house is shared.

Owns the schema as numbered migrations and knows nothing of what the tables mean. Every table's key starts with
the house, so that the same schema shards by house. Only this package imports a database driver.
"""

from recollect.database.database import Column, Database, Parameters, Row, Session
from recollect.database.migrate import migrate
from recollect.errors import Invalid, Unavailable

__all__ = ["Column", "Database", "Parameters", "Row", "Session", "open_database"]


def open_database(url: str) -> Database:
    """The database at a path or URL, brought to this code's schema."""
    database = _connect(url)
    try:
        migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def _connect(url: str) -> Database:
    if url.startswith(("postgresql://", "postgres://")):
        try:
            from recollect.database.postgres import PostgresDatabase
        except ImportError as error:
            raise Unavailable("PostgreSQL needs the driver psycopg: pip install 'recollect[postgres]'.") from error
        return PostgresDatabase(url)
    if "://" in url and not url.startswith("sqlite:///"):
        raise Invalid(f"--db {url.partition('://')[0]}://… is not known: give a file path or postgresql://….")
    from recollect.database.sqlite import open_sqlite

    return open_sqlite(url)
