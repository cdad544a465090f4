"""The command that takes a session up again, as a shell reads it."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.sources import sources
from recollect.surfaces.resuming import COMMANDS, resume_command

EXPORTS = ("chatgpt", "claude-ai", "telegram", "generic", "aider", "cursor", "openclaw", "recollect")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("claude-code", "cd /home/ada/garden && claude --resume 0b1f"),
        ("codex", "cd /home/ada/garden && codex resume 0b1f"),
        ("copilot-cli", "cd /home/ada/garden && copilot --resume 0b1f"),
        ("gemini-cli", "cd /home/ada/garden && gemini --resume 0b1f"),
        ("opencode", "cd /home/ada/garden && opencode --session 0b1f"),
        ("pi", "cd /home/ada/garden && pi --session 0b1f"),
    ],
)
def test_each_agent_is_called_in_its_own_way(source: str, expected: str) -> None:
    assert resume_command(source, "0b1f", "/home/ada/garden") == expected


@pytest.mark.parametrize("source", EXPORTS)
def test_what_no_agent_can_take_up_has_no_command(source: str) -> None:
    assert resume_command(source, "0b1f", "/home/ada/garden") == ""


def test_each_source_is_either_resumed_or_not() -> None:
    assert set(sources()) == {*COMMANDS, *EXPORTS}


def test_without_a_folder_it_is_run_where_one_is() -> None:
    assert resume_command("codex", "0b1f", "") == "codex resume 0b1f"


def test_a_folder_that_looks_like_an_option_is_a_folder_to_the_shell(tmp_path: Path) -> None:
    (tmp_path / "-experiments").mkdir()
    command = resume_command("codex", "0b1f", "-experiments")
    assert command == "cd -- -experiments && codex resume 0b1f"
    there = command.replace("codex resume 0b1f", "pwd")
    done = subprocess.run(["sh", "-c", there], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / '-experiments'}\n"


def test_without_a_session_there_is_nothing_to_resume() -> None:
    assert resume_command("codex", "", "/home/ada") == ""


@settings(derandomize=True, deadline=None, database=None)
@given(
    session=st.text(st.characters(exclude_characters="\0"), min_size=1),
    folder=st.text(st.characters(exclude_characters="\0"), min_size=1),
)
def test_a_shell_gets_session_and_folder_as_they_are(session: str, folder: str) -> None:
    command = resume_command("claude-code", session, f"/{folder}")
    if session.startswith("-"):
        assert command == ""
    else:
        assert shlex.split(command) == ["cd", f"/{folder}", "&&", "claude", "--resume", session]
