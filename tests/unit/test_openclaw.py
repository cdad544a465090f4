"""OpenClaw's database: the sessions that stood in files before (H1, H2, H6)."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
import zstandard
from pi_entries import OTHER, SESSION, TALK, at, header, message, read, text

from recollect.errors import Unreadable
from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.openclaw import OpenClaw
from recollect.history.sources.source import Computer, FileFacts, Head, Opened, Transcript

SOURCE = OpenClaw()
FIRST = """
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, session_key TEXT);
CREATE TABLE session_entries (session_key TEXT PRIMARY KEY, session_id TEXT, entry_json TEXT, updated_at INTEGER);
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, seq));
CREATE TABLE transcript_event_identities (session_id TEXT, event_id TEXT);
"""
NEWEST = """
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT);
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT);
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB,
  PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE transcript_event_identities (session_id TEXT, event_id TEXT);
"""


class Store:
    def __init__(self, folder: Path, schema: str) -> None:
        self.path = folder / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
        self.path.parent.mkdir(parents=True)
        self.is_newest = schema is NEWEST
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute(schema)
        self.reports: list[str] = []

    def name(self, key: str, session_id: str, **entry: Any) -> None:
        whose, windows = ("session_nodes", "session_windows") if self.is_newest else ("session_entries", "sessions")
        column = "current_session_id" if self.is_newest else "session_id"
        known = (key, session_id, json.dumps(entry))
        self.connection.execute(f"INSERT INTO {whose} (session_key, {column}, entry_json) VALUES (?, ?, ?)", known)
        self.connection.execute(f"INSERT INTO {windows} VALUES (?, ?)", (session_id, key))

    def add(self, session_id: str, *events: Any, first: int = 0, packed: bool = False) -> None:
        for number, event in enumerate(events, first):
            line = json.dumps(event)
            if packed:
                row = (session_id, number, None, 1000 + number, zstandard.compress(line.encode()))
                self.connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", row)
            else:
                row = (session_id, number, line, 1000 + number)
                columns = "(session_id, seq, event_json, created_at)"
                self.connection.execute(f"INSERT INTO transcript_events {columns} VALUES (?, ?, ?, ?)", row)

    def read(self) -> list[tuple[Transcript, list[Entry]]]:
        with self.path.open("rb") as file:
            opened = Opened(path=str(self.path), file=file, report=self.reports.append, database=str(self.path))
            transcripts = SOURCE.transcripts(opened, SOURCE.locate(str(self.path), "/"))
            return [(one, [SOURCE.parse(line, one.facts) for line in one.records]) for one in transcripts]


@pytest.fixture(params=[FIRST, NEWEST], ids=["first", "newest"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Store:
    return Store(tmp_path, request.param)


def test_a_session_gives_the_same_messages_as_its_file(store: Store) -> None:
    store.add(SESSION, *TALK)
    ((transcript, found),) = store.read()
    assert found[1:] == [read(record) for record in TALK]
    assert transcript.facts == FileFacts(key=SESSION, kind="session", session_id=SESSION, is_unique=True)


def test_packed_events_are_unpacked(tmp_path: Path) -> None:
    store = Store(tmp_path, NEWEST)
    store.add(SESSION, *TALK[:3])
    store.add(SESSION, *TALK[3:], first=3, packed=True)
    ((_, found),) = store.read()
    assert found[1:] == [read(record) for record in TALK]


def test_an_event_that_cannot_be_unpacked_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path, NEWEST)
    store.add(SESSION, *TALK)
    store.connection.execute("UPDATE transcript_events SET event_json = NULL, event_zstd = x'00ff' WHERE seq = 2")
    ((_, found),) = store.read()
    assert [entry.text for entry in found if entry.key] == ["I look.", "tomato.txt\n", "Yes."]
    assert "event 2" in store.reports[0]


def test_the_users_name_for_a_session_goes_before_a_models(store: Store) -> None:
    store.name("agent:main:main", SESSION, label="Beans", displayName="Talk about beans")
    store.name("agent:main:other", OTHER, displayName="Talk about peas")
    store.add(SESSION, header())
    store.add(OTHER, header(id=OTHER))
    titles = [(found[0].title, found[0].title_by_user, found[0].key) for _, found in store.read()]
    assert titles == [("Beans", True, ""), ("Talk about peas", False, "")]


def test_a_sub_agents_session_belongs_to_the_one_that_called_it(store: Store) -> None:
    store.name("agent:main:main", SESSION)
    store.name(f"agent:main:subagent:{OTHER}", OTHER, spawnedBy="agent:main:main")
    store.add(OTHER, header(id=OTHER), message("user", text("[Subagent Task]: count the beans")), TALK[5])
    ((transcript, found),) = store.read()
    assert (transcript.facts.kind, transcript.facts.session_id, transcript.facts.agent_id) == (
        "subagent",
        SESSION,
        OTHER,
    )
    assert [(entry.author, entry.standing) for entry in found if entry.key] == [
        (Author.MACHINE, Standing.ASIDE),
        (Author.SUBAGENT, Standing.ASIDE),
    ]


def test_a_session_that_grew_is_newer_and_begins_alike(store: Store) -> None:
    store.add(SESSION, *TALK[:3])
    with store.path.open("rb") as file:
        opened = Opened(path=str(store.path), file=file, report=store.reports.append, database=str(store.path))
        facts = SOURCE.locate(str(store.path), "/")
        before = [(one.version, list(one.records)) for one in SOURCE.transcripts(opened, facts)]
        store.add(SESSION, *TALK[3:], first=3)
        after = [(one.version, list(one.records)) for one in SOURCE.transcripts(opened, facts)]
    assert before[0][0] < after[0][0]
    assert after[0][1][: len(before[0][1])] == before[0][1]


def test_an_id_that_is_no_uuid_is_told_by_the_agent_too(store: Store) -> None:
    store.add("nightly", header(id="nightly", timestamp=at(3)))
    ((transcript, _),) = store.read()
    assert transcript.facts.key == "main/nightly"


def test_a_database_of_another_shape_is_refused_with_a_next_step(tmp_path: Path) -> None:
    store = Store(tmp_path, "CREATE TABLE transcript_events (id TEXT, body TEXT)")
    with pytest.raises(Unreadable, match="Update Recollect"):
        store.read()


def test_it_is_recognised_by_its_tables_and_its_name() -> None:
    ours = frozenset({"transcript_events", "transcript_event_identities", "schema_meta"})
    assert SOURCE.recognises(Head(path="/x", start=b"", tables=ours))
    assert not SOURCE.recognises(Head(path="/x", start=b"", tables=frozenset({"transcript_events"})))
    assert SOURCE.is_candidate("/home/mara/.openclaw/agents/main/agent/openclaw-agent.sqlite")
    assert not SOURCE.is_candidate("/home/mara/.openclaw/agents/main/agent/openclaw-agent.sqlite-wal")
    assert "/home/mara/.openclaw/agents" in SOURCE.places(Computer(home="/home/mara", system="linux"))
