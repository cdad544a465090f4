"""The index of recall: an inverted index and vectors in ordinary tables, evaluated with numpy.

Who may write: only `Index`. Derived from what is searched, and rebuilt, never repaired. On SQLite it lies in a file of
its own beside the database, on PostgreSQL in tables of the same database, with a lock of its own: no writer of history
ever waits for it. Invariants: rows and how far they reach commit together; a number is given to one document for ever;
a document's vectors belong to the text that is indexed; nothing made by other words or another model is served.
"""

from recollect.recall.index.index import NAME as INDEX_NAME
from recollect.recall.index.index import Index, IndexFigures, open_index
from recollect.recall.index.snapshot import Snapshot, Superseded

__all__ = ["INDEX_NAME", "Index", "IndexFigures", "Snapshot", "Superseded", "open_index"]
