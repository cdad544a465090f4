"""When Claude Code deletes what it wrote, and where its settings say so."""

from pathlib import Path

import pytest

from recollect.history.places import roots_of
from recollect.history.retention import DEFAULT_DAYS, cleanup_of
from recollect.settings import Computer


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    return tmp_path / ".claude"


@pytest.mark.parametrize("root", [".", "projects"])
def test_the_settings_lie_beside_the_projects_whichever_of_the_two_is_watched(claude: Path, root: str) -> None:
    rule = cleanup_of(claude / root)

    assert rule
    assert (rule.settings_file, rule.days, rule.is_default) == (claude / "settings.json", DEFAULT_DAYS, True)


def test_a_project_called_projects_does_not_move_the_settings(claude: Path) -> None:
    (claude / "projects" / "projects").mkdir()

    rule = cleanup_of(claude / "projects")

    assert rule
    assert rule.settings_file == claude / "settings.json"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cleanupPeriodDays": "soon"}', '{"cleanupPeriodDays": true}'])
def test_settings_that_say_nothing_leave_the_default(claude: Path, text: str) -> None:
    (claude / "settings.json").write_text(text)

    rule = cleanup_of(claude / "projects")

    assert rule
    assert (rule.days, rule.is_default) == (DEFAULT_DAYS, True)


def test_another_folder_has_no_rule(tmp_path: Path) -> None:
    assert cleanup_of(tmp_path / "backup") is None


def test_a_folder_called_projects_of_another_agent_is_not_claude_codes(tmp_path: Path) -> None:
    computer = Computer(home=str(tmp_path), system="linux")
    claude, cursor, own = tmp_path / ".claude" / "projects", tmp_path / ".cursor" / "projects", tmp_path / "logs"
    for folder in (claude, cursor, own):
        folder.mkdir(parents=True)
    assert roots_of("claude-code", [claude, cursor, own], computer) == [claude, own]
