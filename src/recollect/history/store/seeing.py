"""Limiting readings to what somebody may see.

A reading that somebody may be shown a part of has `SEEN` among its conditions. It is a comment: for those who see
everything the statement runs as it is written. For everybody else it becomes a condition, and a statement without it is
refused, so that one that was forgotten tells nothing.
"""

from recollect.errors import Denied
from recollect.scopes import Sight

SEEN = "/* seen */"


def seen_files(sight: Sight, file: str = "") -> str:
    """For a table of files; `file`: its alias and a dot.

    A container and a file that nobody could read are of no source that could be bound: what may lie in them is
    everybody's, so no agent sees even their names.
    """
    if sight.scopes is None:
        return ""
    return f"{sight.condition(f'{file}scope')} AND {file}kind <> 'container' AND {file}source <> '(unread)'"


def of_seen_files(sight: Sight, column: str = "file_id", house: str = ":house") -> str:
    """For a table whose rows belong to files. `house`: as the statement gives it."""
    if sight.scopes is None:
        return ""
    return f" AND {column} IN (SELECT id FROM history_files WHERE house = {house}{seen_files(sight)})"


def by_seen_file(sight: Sight, column: str) -> str:
    """The same for a statement that reads few rows: each row's file is looked at, not all files gathered before. It
    asks for a value, since an engine may begin with the files where it is asked whether there is one. `column`: with
    the name of its table."""
    if sight.scopes is None:
        return ""
    seen = seen_files(sight, "f.")
    return f" AND (SELECT 1 FROM history_files f WHERE f.house = :house AND f.id = {column}{seen}) = 1"


def limited(statement: str, condition: str) -> str:
    """The statement with this condition where it says SEEN. No condition: everything is seen."""
    if not condition:
        return statement
    if SEEN not in statement:
        raise Denied("This is shown to nobody but a person of the house.")
    return statement.replace(SEEN, condition)
