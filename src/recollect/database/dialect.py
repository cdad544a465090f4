"""The named differences between the two engines. No other code may ask which engine runs.

SQL is written once with `:name` parameters; schema text uses `{bytes}` and `{key}` for the two column
types that differ, and `{clustered}` after a table. Keys compare byte by byte on both engines, so that
order never depends on a locale.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    name: str
    bytes_type: str
    key_type: str
    clustered: str
    """Follows a table's columns: its rows are small and lie in the order of the key."""
    count_tables: str
    """How many tables have the name `:name`."""
    tables: str
    """The names of all tables."""
    columns: str
    """Of the table `:name`, in order: name, type, whether it may be null, has a default, and its place in the key."""
    among: str
    """Follows a column: whether its value is one of the list `:values`."""

    def schema(self, text: str) -> str:
        text = text.replace("{bytes}", self.bytes_type).replace("{key}", self.key_type)
        return text.replace("{clustered}", self.clustered)


SQLITE = Dialect(
    name="sqlite",
    bytes_type="BLOB",
    key_type="TEXT",
    clustered="WITHOUT ROWID",
    count_tables="SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = :name",
    tables="SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    columns="""
SELECT name, lower(type), "notnull" = 0, dflt_value IS NOT NULL, pk FROM pragma_table_info(:name) ORDER BY cid
""",
    among="IN (SELECT value FROM json_each(:values))",
)
POSTGRES = Dialect(
    name="postgres",
    bytes_type="BYTEA",
    key_type='TEXT COLLATE "C"',
    clustered="",
    count_tables="SELECT count(*) FROM information_schema.tables "
    "WHERE table_schema = current_schema() AND table_name = :name",
    tables="SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name",
    columns="""
SELECT a.attname, format_type(a.atttypid, NULL), NOT a.attnotnull, a.atthasdef,
    coalesce(array_position(string_to_array(i.indkey::text, ' '), a.attnum::text), 0)
FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = to_regclass(CAST(:name AS text)) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
""",
    among="= ANY(:values)",
)


@lru_cache(maxsize=512)
def named_for_postgres(sql: str) -> str:
    """`:name` becomes `%(name)s`; a literal percent sign is doubled."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@lru_cache(maxsize=512)
def positional_for_postgres(sql: str) -> str:
    """`:name` becomes `%s`, for rows given as tuples in the order the names stand in the text."""
    return _PARAMETER.sub("%s", sql.replace("%", "%%"))


def statements(script: str) -> list[str]:
    """The statements of a schema script, without comments. A statement ends with `;` at a line's end."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    parts = re.split(r";[ \t]*(?:\n|$)", "\n".join(lines))
    return [part.strip() for part in parts if part.strip()]
