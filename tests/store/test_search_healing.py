"""Search goes on when the index is damaged, taken away or cannot be written, and when a model is away."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from chats import House, OwnModels, days_ago

import recollect
from recollect.database import open_database
from recollect.errors import Corrupt, Unavailable
from recollect.memory import Memory
from recollect.settings import load_settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def house(home: Path, tmp_path: Path) -> Iterator[House]:
    with recollect.open(home) as memory:
        told = House(memory, tmp_path)
        told.tell("a", *(f"The runner beans number {number} climb." for number in range(30)), start=days_ago(3))
        assert told.best("runner beans number 7") == "The runner beans number 7 climb."
        yield told


def damage(home: Path, how: str) -> None:
    path = home / "recollect.recall.db"
    if how == "taken away":
        for item in home.glob("recollect.recall.db*"):
            item.unlink()
    else:
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))


@pytest.mark.parametrize("how", ["taken away", "overwritten"])
def test_searches_of_many_threads_survive_an_index_that_is_gone(house: House, home: Path, how: str) -> None:
    failures: list[BaseException] = []
    answered = threading.Semaphore(0)
    ended = threading.Event()

    def search() -> None:
        while not ended.is_set():
            try:
                assert house.best("runner beans number 7") == "The runner beans number 7 climb."
                answered.release()
            except BaseException as error:  # noqa: BLE001 - told by the test
                failures.append(error)
                return

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        assert answered.acquire(timeout=60)
    damage(home, how)
    for _ in range(24):
        assert answered.acquire(timeout=60), failures
    ended.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_damage_of_history_does_not_cost_the_index(house: House, home: Path) -> None:
    house.memory.close()
    size = (home / "recollect.recall.db").stat().st_size
    with (home / "recollect.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * 400_000)
    with pytest.raises(Corrupt), recollect.open(home) as memory:
        memory.recall.search("runner beans")
    assert (home / "recollect.recall.db").stat().st_size == size


class Away:
    """A model that an endpoint has and that gives no answer."""

    name, dimensions = "away", 4

    def passages(self, texts: list[str]) -> list[list[float]]:
        import numpy as np

        return np.tile(np.array([0.5, 0.5, 0.5, 0.5], np.float32), (len(texts), 1))  # type: ignore[return-value]

    def query(self, text: str) -> list[float]:
        raise Unavailable("It cannot be reached. Check that it runs.")


def test_a_deep_model_that_gives_no_answer_is_done_without(house: House, home: Path) -> None:
    settings = load_settings(home)
    models = OwnModels(settings, deep=Away())  # type: ignore[arg-type]
    with Memory(settings, open_database(settings.database_url), models=models) as memory:
        assert memory.recall.deepen() > 0
        found = memory.recall.search("runner beans number 7")
    assert found.hits[0].text == "The runner beans number 7 climb."
    assert found.lacks == ["the deep model gave no answer: It cannot be reached. Check that it runs"]


def test_what_was_said_later_is_not_shown_beside_a_hit(house: House) -> None:
    at = days_ago(3) + timedelta(minutes=7, seconds=30)
    hits = house.ask("runner beans number 7", as_of=at, limit=50).hits
    assert len(hits) == 8
    assert hits[0].text == "The runner beans number 7 climb."
    assert (hits[0].before, hits[0].after) == ("The runner beans number 6 climb.", "")


def test_connections_of_threads_that_ended_are_closed(house: House) -> None:
    for _ in range(20):
        thread = threading.Thread(target=lambda: house.ask("beans"))
        thread.start()
        thread.join()
    assert len(house.memory.database._connections) <= 3  # type: ignore[attr-defined]
