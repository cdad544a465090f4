"""Notes: what is written down. Files in the home that people and agents edit with any tool, every version in the
database.

Who may write: whoever may write in the scope of a note, and anybody who can write the files. The versions are the
truth; the folder is a copy of the latest ones that others may change, on one computer or on several. Whatever stood in
a file when we looked or wrote is a version, and none is changed later: only forgetting removes. Nothing outside the
folder is read or written, and nothing in it that is a link.
"""

from recollect.notes.notes import NoteFigures, Notes
from recollect.notes.versions import Action, Looked, Note, Problem, Version, Written

__all__ = ["Action", "Looked", "Note", "NoteFigures", "Notes", "Problem", "Version", "Written"]
