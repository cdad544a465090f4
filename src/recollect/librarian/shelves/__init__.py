"""Shelves: records and episodes as Markdown notes, and what people change in them.

A shelf is derived: it shows current records, and is made again from them at any time. Only lines with an anchor are the
librarian's; every other line is somebody else's and stays as it is. What somebody changes in an anchored line is a new
version of its record by that person.
"""

from recollect.librarian.shelves.shelves import ShelfReport, Shelves

__all__ = ["ShelfReport", "Shelves"]
