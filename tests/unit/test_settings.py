"""Settings come from one file and two variables, and a wrong one is explained (H7)."""

from pathlib import Path

import msgspec
import pytest

from recollect.errors import Denied, Invalid
from recollect.history.places import transcript_roots
from recollect.settings import CONFIG_NAME, Computer, Settings, default_home, load_settings, this_computer


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = ("RECOLLECT_HOME", "RECOLLECT_DB", "RECOLLECT_MODELS", "RECOLLECT_LISTEN")
    for name in (*ours, "CLAUDE_CONFIG_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG_NAME).write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_every_setting_has_the_documented_default(tmp_path: Path) -> None:
    settings = load_settings(tmp_path)
    assert (settings.enabled, settings.watch_paths) == (True, [])
    assert (settings.conversation_gap_minutes, settings.poll_interval_seconds) == (60, 30)
    assert (settings.min_conversation_messages, settings.keep_raw, settings.house) == (5, True, "home")
    assert settings.database_url == str(tmp_path / "recollect.db")
    assert settings.runtime == tmp_path / "runtime"


def test_the_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "conversation_gap_minutes = 90\nwatch_paths = ['/a']\n"))
    assert (settings.conversation_gap_minutes, settings.watch_paths) == (90, ["/a"])
    assert settings.poll_interval_seconds == 30


def test_an_argument_is_stronger_than_the_environment_than_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "database = 'file.db'")
    assert load_settings(tmp_path).database_url == "file.db"
    monkeypatch.setenv("RECOLLECT_DB", "environment.db")
    assert load_settings(tmp_path).database_url == "environment.db"
    assert load_settings(tmp_path, database="argument.db").database_url == "argument.db"


def test_the_home_is_given_or_of_the_environment_or_in_the_persons_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_home() == tmp_path / "person" / ".recollect"
    monkeypatch.setenv("RECOLLECT_HOME", "~/elsewhere")
    assert load_settings().home == tmp_path / "person" / "elsewhere"
    assert load_settings("~/given").home == tmp_path / "person" / "given"


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings("here").home == tmp_path / "here"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("conversation_gap_minuts = 5", "conversation_gap_minuts"),
        ("conversation_gap_minutes = 'long'", "conversation_gap_minutes"),
        ("conversation_gap_minutes = 0", "conversation_gap_minutes"),
        ("conversation_gap_minutes = nan", "conversation_gap_minutes"),
        ("conversation_gap_minutes = inf", "conversation_gap_minutes"),
        ("conversation_gap_minutes = 1e300", "conversation_gap_minutes"),
        ("poll_interval_seconds = -1", "poll_interval_seconds"),
        ("poll_interval_seconds = nan", "poll_interval_seconds"),
        ("min_conversation_messages = -1", "min_conversation_messages"),
        ("min_conversation_messages = 2.5", "min_conversation_messages"),
        ("watch_paths = 'one'", "watch_paths"),
        ("zone = 'Europe/Berlinn'", "Europe/Berlinn"),
        ("zone = '../../etc/passwd'", "zone"),
        ("enabled = 'yes'", "enabled"),
        ("house = ''", "house"),
        ('house = "it\'s"', "house"),
        ("home = '/somewhere'", "home"),
        ("enabled = ", CONFIG_NAME),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it_and_the_file(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(Invalid) as raised:
        load_settings(write(tmp_path, text))
    assert named in str(raised.value)
    assert str(tmp_path / CONFIG_NAME) in str(raised.value)


def test_a_file_that_is_no_text_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_bytes(b"house = '\xff\xfe'")
    with pytest.raises(Invalid, match=CONFIG_NAME):
        load_settings(tmp_path)


def test_a_folder_in_place_of_the_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).mkdir()
    with pytest.raises((Invalid, Denied), match=CONFIG_NAME):
        load_settings(tmp_path)


def test_settings_cannot_be_changed_and_are_fewer_than_thirty(tmp_path: Path) -> None:
    settings = load_settings(tmp_path)
    with pytest.raises(AttributeError):
        settings.house = "other"  # type: ignore[misc]
    assert len(msgspec.structs.fields(Settings)) < 30


def test_transcripts_are_looked_for_where_agents_keep_them_each_folder_once_case_10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert transcript_roots(this_computer()) == []
    person = tmp_path / "person"
    (person / ".claude" / "projects").mkdir(parents=True)
    (person / ".claude" / "history.jsonl").touch()
    (person / ".config").mkdir()
    (person / ".config" / "claude").symlink_to(person / ".claude")
    second = tmp_path / "second"
    (second / "projects").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{second},{tmp_path / 'missing'}")
    assert transcript_roots(this_computer()) == [
        second / "projects",
        person / ".claude" / "projects",
        person / ".claude" / "history.jsonl",
    ]


def test_models_lie_in_the_cache_folder_or_where_they_are_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert load_settings(tmp_path).models == tmp_path / "person" / ".cache" / "recollect" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert load_settings(tmp_path).models == tmp_path / "cache" / "recollect" / "models"
    write(tmp_path, "models_folder = '~/weights'")
    assert load_settings(tmp_path).models == tmp_path / "person" / "weights"
    monkeypatch.setenv("RECOLLECT_MODELS", str(tmp_path / "elsewhere"))
    assert load_settings(tmp_path).models == tmp_path / "elsewhere"


def test_every_system_has_its_own_cache_folder() -> None:
    given = {"XDG_CACHE_HOME": "/xdg", "LOCALAPPDATA": "C:/Users/ada/Local"}
    found = {
        (system, bool(environment)): Computer(home="/home/ada", system=system, environment=environment).cache_folder
        for system in ("linux", "macos", "windows")
        for environment in (given, {})
    }
    assert found == {
        ("linux", True): "/xdg",
        ("linux", False): "/home/ada/.cache",
        ("macos", True): "/home/ada/Library/Caches",
        ("macos", False): "/home/ada/Library/Caches",
        ("windows", True): "C:/Users/ada/Local",
        ("windows", False): "/home/ada/AppData/Local",
    }


def test_a_time_until_models_are_dropped_must_be_sensible(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="models_idle_seconds is 0"):
        load_settings(write(tmp_path, "models_idle_seconds = 0"))
