"""Killed in the middle of an export, an import or a backup: nothing half is found, and the next try does it all."""

import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import commands
import pytest
from packages import tables_of
from transcripts import Transcript

import recollect
from recollect.transfer.placing import TEMPORARY
from recollect.transfer.store import TransferStore

KILLS = 5
EXCHANGES = 1_500
FEWEST_IN_THE_MIDDLE = 2
"""Of the kills of imports: the others may come when all is done."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export whose rows are some work."""
    folder = tmp_path_factory.mktemp("sound")
    projects = folder / "claude" / "projects"
    for number in range(4):
        Transcript(f"session {number}").exchanges(EXCHANGES, about="beans").save(projects)
    with recollect.open(home=folder / "home") as memory:
        memory.history.ingest([projects])
        memory.transfer.export_to(folder / "export")
    return folder / "export"


def seconds_of(*arguments: object, home: Path) -> float:
    began = time.monotonic()
    done = commands.run(*arguments, home=home)
    assert done.code == 0, done.err
    return time.monotonic() - began


def kill_after(seconds: float, *arguments: object, home: Path) -> bool:
    """Whether it was still at work."""
    with commands.started(*arguments, home=home) as process:
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        assert code in (0, -signal.SIGKILL), Path(f"{home}.err").read_text()
        return code != 0


def leftovers(folder: Path) -> list[Path]:
    return list(folder.glob(f"{TEMPORARY}*"))


def is_empty(home: Path, address: str) -> bool:
    with recollect.open(home=home, database=address) as memory:
        assert memory.database.check() == []
        with memory.database.read() as session:
            return not TransferStore(session, memory.settings.house).holdings()


def new_home(folder: Path, number: int) -> Path:
    """With a house of its own, so that one database will do."""
    home = folder / f"home-{number}"
    home.mkdir()
    (home / "recollect.toml").write_text(f'house = "house-{number}"\n', encoding="utf-8")
    return home


def test_an_import_that_is_killed_at_any_moment_is_whole_or_leaves_an_empty_house(
    sound: Path, tmp_path: Path, address: str
) -> None:
    dice = random.Random("kills of imports")
    start = seconds_of("--version", home=tmp_path / "clean")
    whole = seconds_of("--db", address, "import", sound, home=tmp_path / "clean")
    killed = 0
    for number in range(KILLS):
        home = new_home(tmp_path, number)
        was_killed = kill_after(dice.uniform(start, whole), "--db", address, "import", sound, home=home)
        if was_killed and is_empty(home, address):
            killed += 1
            assert commands.run("--db", address, "import", sound, home=home).code == 0
        assert commands.run("--db", address, "export", tmp_path / f"again {number}", home=home).code == 0
        assert tables_of(tmp_path / f"again {number}") == tables_of(sound)
    assert killed >= FEWEST_IN_THE_MIDDLE


@pytest.mark.parametrize("name", ["copy", "copy.zip"])
def test_a_killed_export_has_no_name(sound: Path, tmp_path: Path, address: str, name: str) -> None:
    home, place = tmp_path / "home", tmp_path / "place"
    place.mkdir()
    assert commands.run("--db", address, "import", sound, home=home).code == 0
    with commands.started("--db", address, "export", place / name, home=home) as process:
        commands.wait_for("the work to begin", lambda: leftovers(place) or process.poll() is not None)
        process.kill()
        code = process.wait()

    assert code == -signal.SIGKILL
    assert leftovers(place)
    assert not (place / name).exists()

    done = commands.run("--db", address, "export", place / name, home=home)

    assert done.code == 0, done.err
    assert [path.name for path in place.iterdir()] == [name]
    if name.endswith(".zip"):
        shutil.unpack_archive(place / name, place / "copy")
    assert tables_of(place / "copy") == tables_of(sound)


def test_an_export_that_is_killed_at_any_moment_is_whole_or_not_there(sound: Path, tmp_path: Path) -> None:
    home, dice = tmp_path / "home", random.Random("kills of exports")
    assert commands.run("import", sound, home=home).code == 0
    start = seconds_of("--version", home=home)
    whole = seconds_of("export", tmp_path / "first", home=home)
    for number in range(KILLS):
        target = tmp_path / f"copy {number}"
        if not kill_after(dice.uniform(start, whole), "export", target, home=home) or target.exists():
            assert tables_of(target) == tables_of(sound)


def test_a_killed_backup_has_no_name(sound: Path, tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "place"
    place.mkdir()
    assert commands.run("import", sound, home=home).code == 0
    with commands.started("backup", place / "copy.db", home=home) as process:
        commands.wait_for("the work to begin", lambda: leftovers(place) or process.poll() is not None)
        process.kill()
        process.wait()

    if (place / "copy.db").exists():  # It was quicker than the kill.
        (place / "copy.db").unlink()
    assert commands.run("backup", place / "copy.db", home=home).code == 0
    assert [path.name for path in place.iterdir()] == ["copy.db"]
    assert not is_empty(tmp_path / "other", str(place / "copy.db"))
