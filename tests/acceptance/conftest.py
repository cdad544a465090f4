"""Where several processes find one house."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Postgres


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a database, once on each engine. Processes that use it may be killed."""
    if request.param == "sqlite":
        yield str(tmp_path / "shared.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.lend()
    yield server.url(name)
    server.give_back(name)
