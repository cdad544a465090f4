"""A database file that is removed or replaced while it is open: nothing is written into it or in its place."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import recollect
from recollect.database import Database, open_database
from recollect.errors import Unavailable

ADD = "INSERT INTO history_titles (house, leaf_id, title) VALUES ('home', :leaf_id, '')"
LEAVES = "SELECT leaf_id FROM history_titles ORDER BY leaf_id"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "recollect.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = open_database(str(path))
    add(opened, "before")
    yield opened
    opened.close()


def add(database: Database, leaf: str) -> None:
    with database.write() as session:
        session.run(ADD, {"leaf_id": leaf})


def leaves_of(database: Database) -> list[str]:
    with database.read() as session:
        return [row[0] for row in session.rows(LEAVES)]


def remove(path: Path) -> None:
    for file in path.parent.glob("*.db*"):
        file.unlink()


def replace(path: Path) -> None:
    remove(path)
    open_database(str(path)).close()


def remove_its_folder(path: Path) -> None:
    remove(path)
    path.parent.rmdir()


def in_a_thread(work: Callable[[], object]) -> list[BaseException]:
    """What it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told by the test
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised


@pytest.mark.parametrize("take_away", [remove, replace, remove_its_folder])
def test_nothing_more_is_written_and_no_thread_opens_another_file(
    database: Database, path: Path, take_away: Callable[[Path], None]
) -> None:
    take_away(path)
    there = path.exists()

    with pytest.raises(Unavailable, match="was removed or replaced"):
        add(database, "after")
    for work in (lambda: leaves_of(database), lambda: add(database, "after"), lambda: database.beside("recall")):
        (error,) = in_a_thread(work)
        assert isinstance(error, Unavailable)
    with pytest.raises(Unavailable):
        database.query({}, "SELECT 1", 1.0, 1)
    with pytest.raises(Unavailable):
        database.backup(path.with_name("copy"))

    assert path.exists() == there
    assert path.parent.exists() == (take_away is not remove_its_folder)
    assert leaves_of(database) == ["before"], "who had it open still reads what was in it"


def test_a_file_that_is_put_back_is_written_again(database: Database, path: Path, tmp_path: Path) -> None:
    path.rename(tmp_path / "aside.db")
    with pytest.raises(Unavailable):
        add(database, "while it was away")
    (tmp_path / "aside.db").rename(path)

    add(database, "after")

    assert leaves_of(database) == ["after", "before"]


def test_a_house_without_its_database_says_so_and_makes_no_index(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "home") as memory:
        memory.knowledge.remember("The cellar key hangs behind the door.")
        memory.recall.catch_up()
        for file in memory.settings.home.glob("*.db*"):
            file.unlink()

        with pytest.raises(Unavailable, match=r"recollect\.db was removed"):
            memory.knowledge.remember("The attic key lies under the stone.")
        with pytest.raises(Unavailable, match=r"recollect\.db was removed"):
            memory.recall.catch_up()

        assert list(memory.settings.home.glob("*.db*")) == []
