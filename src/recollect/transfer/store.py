"""All SQL of exports and imports. It is put together from the names that the schema has, never from those of a file."""

from collections.abc import Iterator, Sequence

from recollect.database import Row, Session
from recollect.feed import MESSAGE, NOTE, RECORD, FeedStore
from recollect.transfer.tables import CARRIED, HOUSE, MAY_BE_THERE, Shape

COUNT = "SELECT count(*) FROM {table} WHERE house = :house"
ROWS = "SELECT {columns} FROM {table} WHERE house = :house ORDER BY {key}"
ADD = "INSERT INTO {table} (house, {columns}) VALUES (:house, {values})"
DROP_SECRET = "DELETE FROM lineage_keys WHERE house = :house"  # noqa: S105  a statement

FOLLOWED = {"history_messages": (MESSAGE, "id"), "knowledge_records": (RECORD, "id"), "notes_versions": (NOTE, "path")}
"""Tables whose rows others follow, and the column by which: the search index, the search for markers."""


class TransferStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def rows(self, shape: Shape) -> Iterator[Row]:
        """Every row of the house in the order of the key, one by one."""
        # Added to zero, the one number that the engines keep differently, -0.0, is 0.0 on both.
        columns = [f"{column.name} + 0.0" if column.type is float else column.name for column in shape.columns]
        # The house's own key may be nothing but the house: then there is one row, in any order.
        text = ROWS.format(columns=", ".join(columns), table=shape.table, key=", ".join(shape.key or [HOUSE]))
        return self._session.each(text, {"house": self._house})

    def holdings(self) -> dict[str, int]:
        """What the house holds already, that an import would mix with: table → rows."""
        found: dict[str, int] = {}
        for table in CARRIED:
            number = self._session.value(COUNT.format(table=table), {"house": self._house})
            if number and table not in MAY_BE_THERE:
                found[table] = number
        return found

    def drop_secret(self) -> None:
        """Nothing was hashed with it, as the house holds nothing; that of the export takes its place."""
        self._session.run(DROP_SECRET, {"house": self._house})

    def add(self, shape: Shape, rows: Sequence[Row]) -> None:
        names = shape.names
        text = ADD.format(table=shape.table, columns=", ".join(names), values=", ".join(f":{name}" for name in names))
        self._session.many(text, [(self._house, *row) for row in rows])
        if shape.table in FOLLOWED:
            kind, column = FOLLOWED[shape.table]
            place = names.index(column)
            # A store of its own for each call: each gives its rows one number, and followers read numbers whole.
            FeedStore(self._session, self._house).note(kind, {row[place] for row in rows})
