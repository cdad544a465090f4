"""The thread that keeps a daemon's index, and what it tells."""

from pathlib import Path

from commands import wait_for
from parts import stop

import recollect
from recollect.daemon.indexing import Indexing, IndexProgress


def test_a_problem_that_two_tasks_meet_is_told_once(tmp_path: Path) -> None:
    """Something lies in the place of the index."""
    told: list[str] = []

    def tell(figures: IndexProgress) -> None:
        told.append(figures.problem)

    with recollect.open(tmp_path / "home") as memory:
        (tmp_path / "home" / "recollect.recall.db").mkdir()
        indexing = Indexing(memory, tell)
        indexing.catch_up()
        before = len(told)
        indexing.start()
        wait_for("the other task", lambda: len(told) > before)
        stop(indexing.part)

    assert "recollect.recall.db" in told[-1]
    assert set(told) == {told[0]}
