"""systemctl, loginctl and launchctl as a service meets them: small programs that write down what they were asked."""

import json
import os
import sys
from pathlib import Path
from typing import Any

PROGRAM = """#!{python}
import json, os, sys
from pathlib import Path

folder = Path({folder!r})
asked = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
with open(folder / "asked.jsonl", "a") as file:
    file.write(json.dumps(asked) + "\\n")
state = folder / "state"
if (folder / "no-session").exists() and asked[:2] == ["systemctl", "--user"]:
    sys.exit("Failed to connect to bus: No medium found")
failing = folder / "failing"
if failing.exists() and failing.read_text() in asked:
    sys.exit("Connection timed out")
units = Path(os.environ["HOME"]) / ".config" / "systemd" / "user"
link = units / "default.target.wants" / "recollect.service"
match asked:
    case ["systemctl", "--user", "enable", _] if not link.is_symlink():
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(units / "recollect.service")
    case ["systemctl", "--user", "start" | "restart", _]:
        state.write_text("active")
    case ["systemctl", "--user", "disable", "--now", _]:
        link.unlink(missing_ok=True)
        if link.parent.exists():
            link.parent.rmdir()
        state.write_text("inactive")
    case ["systemctl", "--user", "is-active", _]:
        print(state.read_text() if state.exists() else "inactive")
    case ["loginctl", "show-user", *_]:
        print("Linger=no")
    case ["launchctl", "bootstrap", *_]:
        state.write_text("active")
    case ["launchctl", "bootout", *_]:
        if not state.exists():
            sys.exit("Boot-out failed: 3: No such process")
        state.unlink()
    case ["launchctl", "print", *_]:
        sys.exit(0 if state.exists() else 113)
"""


class Supervisor:
    """Programs of these names in a folder of their own."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir(parents=True)
        for name in names:
            program = self.programs / name
            program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
            program.chmod(0o755)

    @property
    def path(self) -> str:
        """With nothing else in it but a shell's own folder."""
        return str(self.programs)

    @property
    def asked(self) -> list[list[str]]:
        try:
            return [json.loads(line) for line in (self.folder / "asked.jsonl").read_text().splitlines()]
        except FileNotFoundError:
            return []

    def fail(self, word: str = "") -> None:
        """Whatever it is asked with this word in it fails from now on. Empty: nothing does."""
        (self.folder / "failing").write_text(word)

    def end_session(self) -> None:
        (self.folder / "no-session").touch()


def everything_below(folder: Path) -> dict[str, Any]:
    """Path → content, links and folders too."""
    found: dict[str, Any] = {}
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root) / name
            found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else None
    return found
