"""A daemon loads its parts before its threads begin: two threads that load at once can fail in Python 3.11."""

import os
from pathlib import Path

from commands import end, wait_for
from computers import Computer, session
from telegrams import Desk, Echo, Service
from transcripts import write
from webhooks import SECRET, VARIABLE

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


def watch(computer: Computer, folder: Path) -> None:
    write(folder / "watch" / "sitecustomize.py", WATCH.encode())
    path = os.pathsep.join(filter(None, (str(folder / "watch"), os.environ.get("PYTHONPATH", ""))))
    computer.variables |= {"PYTHONPATH": path, "LOADED": str(folder / "loaded.txt")}


def loaded_in(folder: Path) -> list[list[str]]:
    """(thread, module)."""
    return [line.split() for line in (folder / "loaded.txt").read_text().splitlines()]


def elsewhere(lines: list[list[str]]) -> list[list[str]]:
    return [one for one in lines if one[0] != "MainThread" and not one[1].startswith(KITS)]


def test_no_thread_loads_a_part(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    watch(computer, tmp_path)
    session("garden").save(computer.projects)
    with computer.up() as process:
        wait_for("the librarian", lambda: computer.status()["librarian"]["filed"])
        wait_for("the notes", lambda: computer.status()["notes_looked_at"])
        computer.variables = {}
        assert computer.run("search", "beans", "--json").json()["hits"]
        assert end(process) == 0
    lines = loaded_in(tmp_path)
    assert ["MainThread", "recollect.librarian.filing"] in lines, "it is watched"
    assert elsewhere(lines) == []


def test_no_thread_loads_a_part_where_it_talks_and_has_moments(tmp_path: Path) -> None:
    with Service() as service, Echo() as model:
        moments = {"schedule": "* * * * *", "reflection": "* * * * *", "model": f"{model.base_url}#test-model"}
        chosen = {f"heartbeat.{name}": value for name, value in moments.items()}
        desk = Desk(tmp_path, service, model, **chosen, **{"webhook.listen": "127.0.0.1:0"})
        desk.variables[VARIABLE] = SECRET
        desk.allow(7)
        watch(desk, tmp_path)
        with desk.up() as process:
            service.write(7, "message 1")
            service.write(7, "/last")
            wait_for("the answers", lambda: len(service.texts(7)) == 2)
            wait_for("the heartbeat", lambda: desk.minding().get("outreach_due_at"))
            assert desk.minding()["channels"] == {"telegram": "", "webhook": "", "heartbeat": ""}
            assert end(process) == 0
    lines = loaded_in(tmp_path)
    assert ["MainThread", "recollect.channels.telegram.hearing"] in lines, "it is watched"
    assert elsewhere(lines) == []
