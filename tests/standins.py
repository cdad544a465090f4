"""Programs that stand in for a person's command-line agents: they note each call, and print what a test says."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = """#!{python} -IS
import json, os, subprocess, sys, time
from pathlib import Path
here = Path({folder!r})
number = len(list(here.glob("call-*.json")))
plans = json.loads((here / "plans.json").read_text())
plan = plans[min(number, len(plans) - 1)]
given = "" if plan.get("is_deaf") else sys.stdin.buffer.read().decode()
files = {{}}
for flag in ("--system-prompt-file", "--output-schema"):
    if flag in sys.argv:
        files[flag] = Path(sys.argv[sys.argv.index(flag) + 1]).read_text()
for word in sys.argv:
    if word.startswith("model_instructions_file="):
        files["instructions"] = Path(json.loads(word.partition("=")[2])).read_text()
call = dict(arguments=sys.argv[1:], given=given, folder=os.getcwd(), files=files, seen=os.listdir("."))
call["environment"] = dict(os.environ)
call["pids"] = [os.getpid()]
if plan.get("hangs"):
    call["pids"].append(subprocess.Popen(["sleep", "600"]).pid)
part = here / "part"
part.write_text(json.dumps(call))
part.rename(here / f"call-{{number}}.json")
if plan.get("hangs"):
    time.sleep(600)
sys.stdout.write(plan.get("out", "") * plan.get("times", 1))
sys.stderr.write(plan.get("errors", ""))
sys.exit(plan.get("code", 0))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    folder: Path
    program: str
    """Its path."""

    def plan(self, *steps: dict[str, Any]) -> None:
        """For each call what it prints and how it ends; the last step for all that follow."""
        (self.folder / "plans.json").write_text(json.dumps(steps))

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("call-*.json"))]


def make_stand_in(folder: Path, name: str) -> StandIn:
    folder.mkdir(parents=True)
    program = folder / name
    program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
    program.chmod(0o755)
    return StandIn(folder=folder, program=str(program))
