"""A daemon loads its parts before its threads begin: two threads that load at once can fail in Python 3.11."""

from pathlib import Path

from commands import end, wait_for
from computers import Computer, session
from transcripts import write

WATCH = """
import os, sys, threading

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("recollect"):
            with open(os.environ["LOADED"], "a") as file:
                file.write(f"{threading.current_thread().name} {name}\\n")

sys.meta_path.insert(0, Watch())
"""
KITS = ("recollect.llm", "recollect.embedding", "recollect.database")
"""They stand for libraries that may never be needed."""


def test_no_thread_loads_a_part(tmp_path: Path) -> None:
    computer, loaded = Computer(tmp_path), tmp_path / "loaded.txt"
    write(tmp_path / "watch" / "sitecustomize.py", WATCH.encode())
    computer.variables |= {"PYTHONPATH": str(tmp_path / "watch"), "LOADED": str(loaded)}
    session("garden").save(computer.projects)
    with computer.up() as process:
        wait_for("the librarian", lambda: computer.status()["librarian"]["filed"])
        wait_for("the notes", lambda: computer.status()["notes_looked_at"])
        computer.variables = {}
        assert computer.run("search", "beans", "--json").json()["hits"]
        assert end(process) == 0
    lines = [line.split() for line in loaded.read_text().splitlines()]
    assert ["MainThread", "recollect.librarian.filing"] in lines, "it is watched"
    elsewhere = [name for thread, name in lines if thread != "MainThread" and not name.startswith(KITS)]
    assert elsewhere == []
