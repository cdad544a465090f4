"""Install and uninstall that are killed at any of their file operations: the next ones leave nothing of ours."""

import json
import subprocess
import sys
from pathlib import Path

import commands
import pytest

PROGRAM = Path(__file__).parents[1] / "cutting_off.py"


def cut_off(folder: Path, tool: str, kind: str, *more: str) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder / "house"), tool, kind, *more],
        env=commands.environment(folder / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["operations"] > 10
    assert told["left"] == {}


@pytest.mark.parametrize("kind", ["install", "reinstall", "another", "uninstall"])
@pytest.mark.parametrize("tool", ["claude-code", "codex"])
def test_whatever_install_or_uninstall_is_killed_at_every_file_is_in_the_end_as_it_was(
    tmp_path: Path, tool: str, kind: str
) -> None:
    cut_off(tmp_path, tool, kind, "--http")


def test_whatever_uninstall_is_killed_at_the_hooks_of_others_keep_their_trust(tmp_path: Path) -> None:
    cut_off(tmp_path, "codex", "beside")
