"""Transfer: a whole house out of its database and into another one, and a copy of the database while it runs.

An export is every row that cannot be made again, one file of JSON lines for each table, with the files of the home and
a manifest that says how many of what there are and their digests. It is the same whichever engine it came from, and
goes into an empty house on either. `docs/export-format.md` is the contract.

Nothing half is ever found under the name that was asked for: a copy is made beside it and moved there when it is whole,
and an import is one transaction. Each copy is noted, as forgetting does not reach it.
"""

from recollect.transfer.results import BackedUp, Exported, Imported
from recollect.transfer.transfer import Transfer

__all__ = ["BackedUp", "Exported", "Imported", "Transfer"]
