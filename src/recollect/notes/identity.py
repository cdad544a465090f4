"""The name by which a folder of notes is known among all that are copies of the same notes.

It is made up, and lies in the home beside the folder: computers may have the same name, and homes the same path, and a
database may be put beside a folder that it has never seen.
"""

import os
import uuid
from contextlib import suppress
from pathlib import Path

from recollect.notes.exchange import link_or_move

FILE = Path("runtime", "notes-folder")
"""In the home."""


def folder_name(home: Path) -> str:
    """Made when it is first asked for. Empty: it cannot be kept here."""
    file = home / FILE
    made = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
    try:
        if not file.exists():
            file.parent.mkdir(mode=0o700, exist_ok=True)
            made.write_text(uuid.uuid4().hex, encoding="utf-8")
            with suppress(FileExistsError):  # Another process was first.
                link_or_move(made, file)
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    finally:
        with suppress(OSError):
            os.unlink(made)
