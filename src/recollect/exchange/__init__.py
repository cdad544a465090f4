"""Exchange: the memory folder of Claude Code, read into records and written from them.

That folder has one fact in each file, with front matter, and an index. Importing makes a learning of each fact and
keeps which file became which record, so that reading it again makes nothing twice and a changed file takes the place of
what it said before. Exporting writes what its principal may see, and never over a file that somebody else wrote or
changed.

Who may write: `Exchange` keeps the rows of files, through `Knowledge` the records. No file of a folder is changed by an
import, and no record by an export. What was forgotten is not read from a folder again.
"""

from recollect.exchange.exchange import Exchange
from recollect.exchange.results import FolderImport, Left, MemoryExport, MemoryImport

__all__ = ["Exchange", "FolderImport", "Left", "MemoryExport", "MemoryImport"]
