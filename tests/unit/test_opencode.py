"""OpenCode: the database and the export say the same, and what is human in them is told from what is not."""

import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import parse_time
from recollect.errors import Unreadable
from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.opencode import OpenCode
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Opened, Transcript

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, cost real DEFAULT 0 NOT NULL, revert text,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
"""
NOON = 1_794_740_400_000
SOURCE = OpenCode()

Parts = list[dict[str, Any]]


def user(minute: int, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    info = {"role": "user", "time": {"created": NOON + minute * 60_000}, "agent": "build", **info}
    return {"info": info, "parts": list(parts)}


def assistant(minute: int, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    told = {"created": NOON + minute * 60_000, "completed": NOON + minute * 60_000 + 900}
    path = {"cwd": "/home/mara/greenhouse/beds", "root": "/home/mara/greenhouse"}
    info = {"role": "assistant", "mode": "build", "path": path, "cost": 0.0125, "modelID": "tiny", "time": told, **info}
    start, end = {"snapshot": "b3d6", "type": "step-start"}, {"reason": "stop", "type": "step-finish", "cost": 0}
    return {"info": info, "parts": [start, *parts, end] if parts else []}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(status: str, **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"command": "ls beds"}, **state}
    return {"type": "tool", "tool": "bash", "callID": "call_1", "state": state}


class Session:
    """One session, written as OpenCode writes it to either place."""

    def __init__(self, *messages: dict[str, Any], name: str = "a", **info: Any) -> None:
        self.id = f"ses_{name}"
        told = {"created": NOON - 1_000, "updated": NOON}
        base = {"id": self.id, "slug": "kind-otter", "projectID": "p", "directory": "/home/mara/greenhouse"}
        self.info: dict[str, Any] = {**base, "title": "Seedlings", "version": "1.18.34", "time": told, **info}
        self.messages = list(messages)

    def rows(self) -> Iterator[tuple[str, dict[str, Any], list[tuple[str, dict[str, Any]]]]]:
        for number, message in enumerate(self.messages):
            parts = enumerate(message["parts"])
            parts_named = [(f"prt_{self.id[4:]}{number:03d}{place:03d}", part) for place, part in parts]
            yield f"msg_{self.id[4:]}{number:03d}", message["info"], parts_named

    def export(self) -> bytes:
        messages = [
            {
                "info": {**info, "id": name, "sessionID": self.id},
                "parts": [{**part, "id": own, "sessionID": self.id, "messageID": name} for own, part in parts],
            }
            for name, info, parts in self.rows()
        ]
        return json.dumps({"info": self.info, "messages": messages}, indent=2).encode()

    def insert(self, database: sqlite3.Connection, updated: int = NOON, sequence: int = 1) -> None:
        info, told = self.info, self.info["time"]
        revert = json.dumps(info["revert"]) if "revert" in info else None
        row = (self.id, info.get("parentID"), info["directory"], info["title"], revert, told["created"], updated)
        database.execute(
            "INSERT INTO session (id, parent_id, directory, title, revert, time_created, time_updated, project_id,"
            " slug, version) VALUES (?, ?, ?, ?, ?, ?, ?, 'p', 's', '1')",
            row,
        )
        database.execute("INSERT INTO event_sequence VALUES (?, ?, NULL)", (self.id, sequence))
        for name, data, parts in self.rows():
            created = data["time"]["created"]
            compact = json.dumps(data, separators=(",", ":"))
            values = (name, self.id, created, created + 1_000, compact)
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", values)
            for own, part in parts:
                values = (own, name, self.id, created, created, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)


def database_of(path: Path, *sessions: Session, schema: str = SCHEMA) -> Path:
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.executescript(schema)
        for session in sessions:
            session.insert(database)
    database.close()
    return path


def opened(path: str, content: bytes, reports: list[str] | None = None) -> Opened:
    told = reports if reports is not None else []
    return Opened(path=path, file=io.BytesIO(content), report=told.append, database=path)


def read(path: Path, reports: list[str] | None = None) -> list[tuple[Transcript, list[bytes]]]:
    given = SOURCE.transcripts(opened(str(path), path.read_bytes(), reports), SOURCE.locate(str(path), "/"))
    return [(transcript, list(transcript.records)) for transcript in given]


def read_export(session: Session, reports: list[str] | None = None) -> tuple[Transcript, list[bytes]]:
    (transcript,) = SOURCE.transcripts(opened("x.json", session.export(), reports), SOURCE.locate("x.json", ""))
    return transcript, list(transcript.records)


def entries_of(session: Session) -> list[Entry]:
    transcript, records = read_export(session)
    return [SOURCE.parse(record, transcript.facts) for record in records]


def only(message: dict[str, Any]) -> Entry:
    return entries_of(Session(message))[1]


TALK = (
    user(0, text("Count the seedlings.")),
    assistant(
        1, {"type": "reasoning", "text": "hm", "time": {"start": 1}}, text("I look."), tool("completed", output="7")
    ),
    user(2, text("Thank you, Zoë \ud83c\udf31 \u2028 \ud800!")),
    assistant(3, text("Gladly.")),
)


def test_the_export_gives_the_very_records_of_the_database(tmp_path: Path) -> None:
    session = Session(*TALK, revert={"messageID": "msg_a002", "snapshot": "x"})
    ((stored, from_database),) = read(database_of(tmp_path / "opencode.db", session))
    exported, from_export = read_export(session)
    assert from_export == from_database
    assert exported.facts == stored.facts
    assert len(from_database) == 1 + len(TALK) + 1
    assert exported.version <= stored.version


def test_each_session_is_a_transcript_with_its_messages_in_the_order_of_their_times(tmp_path: Path) -> None:
    late, early = user(5, text("second")), user(1, text("first"))
    path = database_of(
        tmp_path / "opencode.db", Session(late, early, name="b"), Session(TALK[0], name="a"), Session(name="c")
    )
    found = {transcript.facts.session_id: records for transcript, records in read(path)}
    assert set(found) == {"ses_a", "ses_b"}, "a session without messages is nothing yet"
    facts = FileFacts(key="k", kind="session", session_id="ses_b")
    assert [SOURCE.parse(record, facts).text for record in found["ses_b"][1:]] == ["first", "second"]


def test_header_tells_title_and_project_and_nothing_that_changes_with_each_message() -> None:
    session = Session(*TALK)
    header = entries_of(session)[0]
    assert (header.title, header.cwd, header.session_id) == ("Seedlings", "/home/mara/greenhouse", "ses_a")
    before = read_export(session)[1]
    session.info["time"] = {"created": NOON - 1_000, "updated": NOON + 99_000}
    session.info["cost"] = 4
    session.messages.append(user(9, text("More?")))
    assert read_export(session)[1][: len(before)] == before


def test_a_title_that_opencode_made_up_from_the_time_is_none() -> None:
    assert entries_of(Session(TALK[0], title="New session - 2026-11-15T22:33:06.251Z"))[0].title == ""


def test_human_words_are_those_not_marked_synthetic_or_ignored() -> None:
    read_note = text("Called the Read tool with the following input: {}", synthetic=True)
    file = {"type": "file", "mime": "text/plain", "filename": "beds.txt", "url": "file:///home/mara/beds.txt"}
    entry = only(user(0, read_note, file, text("Look at"), text("a plugin's note", ignored=True), text("this file.")))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.USER, Standing.SAID, "")
    assert entry.text == "Look at\n\nthis file."
    assert [block["type"] for block in entry.blocks] == ["text", "text", "document"]
    assert entry.at == parse_time(NOON)


@pytest.mark.parametrize(
    ("parts", "author", "kind", "words"),
    [
        ([text("Continue if you have next steps", synthetic=True)], Author.MACHINE, "context", "Continue if you have"),
        ([text("3 tokens saved", ignored=True)], Author.MACHINE, "notice", "3 tokens saved"),
        ([{"type": "subtask", "command": "water", "prompt": "Plan"}], Author.USER, "command", "/water"),
        ([{"type": "subtask", "prompt": "Plan the beds"}], Author.MACHINE, "task", "Plan the beds"),
    ],
)
def test_what_a_program_put_into_a_user_message_is_aside(parts: Parts, author: Author, kind: str, words: str) -> None:
    entry = only(user(0, *parts))
    assert (entry.author, entry.standing, entry.message_kind) == (author, Standing.ASIDE, kind)
    assert entry.text.startswith(words)


def test_a_picture_alone_is_something_said() -> None:
    entry = only(user(0, {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}))
    assert (entry.author, entry.standing, entry.text) == (Author.USER, Standing.SAID, "")
    assert entry.blocks == [{"type": "image", "media_type": "image/png", "bytes": 3}]


def test_the_marker_of_a_compaction_and_a_reply_that_has_not_begun_are_no_messages() -> None:
    assert only(user(0, {"type": "compaction", "auto": True})).key == ""
    assert only(assistant(0)).key == ""
    assert only(assistant(0, text(""))).key == "", "the words are written when they are complete"


def test_a_summary_is_machine_text() -> None:
    entry = only(assistant(0, text("So far: seven seedlings."), summary=True, agent="compaction"))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.MACHINE, Standing.ASIDE, "summary")


def test_an_assistant_has_its_words_its_calls_and_their_results_in_one_message() -> None:
    entry = only(TALK[1])
    assert (entry.author, entry.standing, entry.model) == (Author.ASSISTANT, Standing.SAID, "tiny")
    assert entry.text == "I look."
    assert entry.cwd == "/home/mara/greenhouse/beds"
    assert entry.blocks == [
        {"type": "thinking", "characters": 2},
        {"type": "text", "text": "I look."},
        {"type": "tool_call", "name": "bash", "call": "call_1", "summary": "ls beds"},
        {"type": "tool_result", "call": "call_1", "error": False, "characters": 1},
    ]
    assert "assistant:step-start" in entry.counted_blocks


def test_a_tool_that_runs_has_no_result_yet_and_one_that_failed_has_an_error() -> None:
    assert [block["type"] for block in only(assistant(0, tool("running"))).blocks] == ["tool_call"]
    assert [block["type"] for block in only(assistant(0, tool("pending", raw=""))).blocks] == ["tool_call"]
    failed = only(assistant(0, tool("error", error="refused")))
    assert failed.blocks[1] == {"type": "tool_result", "call": "call_1", "error": True, "characters": 7}
    assert (failed.author, failed.standing) == (Author.ASSISTANT, Standing.SAID)


def test_an_error_without_words_is_machine_text_and_does_not_take_away_words_that_were_said() -> None:
    failure = {"name": "APIError", "data": {"message": "no such model", "statusCode": 400}}
    entry = only(assistant(0, error=failure))
    assert (entry.author, entry.message_kind, entry.text) == (Author.MACHINE, "error", "no such model")
    stopped = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    assert only(assistant(0, error=stopped)).message_kind == "interruption"
    cut = only(assistant(0, text("Half a sent"), error=stopped))
    assert (cut.author, cut.standing, cut.text) == (Author.ASSISTANT, Standing.SAID, "Half a sent")


def test_a_session_started_by_another_is_its_sub_agent() -> None:
    child = Session(*TALK, name="child", parentID="ses_a")
    transcript, _ = read_export(child)
    assert (transcript.facts.kind, transcript.facts.session_id, transcript.facts.agent_id) == (
        "subagent",
        "ses_a",
        "ses_child",
    )
    _, prompt, reply, *_ = entries_of(child)
    assert (prompt.author, prompt.message_kind, prompt.standing) == (Author.MACHINE, "task", Standing.ASIDE)
    assert (reply.author, reply.standing) == (Author.SUBAGENT, Standing.ASIDE)
    assert (reply.session_id, reply.agent_id, reply.key) == ("ses_a", "ses_child", "msg_child001")


def test_what_a_fork_copied_is_the_same_message_and_belongs_to_the_older_session() -> None:
    original = Session(*TALK, name="z")
    later = {"created": NOON + 3_600_000, "updated": NOON + 3_600_000}
    fork = Session(*TALK[:2], user(70, text("Another way.")), name="a", time=later)
    keys, copied = ([entry.key for entry in entries_of(session)[1:]] for session in (original, fork))
    assert copied[:2] == keys[:2]
    assert len({*keys, *copied}) == 5
    assert read_export(original)[0].facts.key < read_export(fork)[0].facts.key


def test_two_sessions_that_began_at_the_same_moment_with_other_words_share_nothing() -> None:
    one, other = Session(user(0, text("Count.")), TALK[1]), Session(user(0, text("Count them.")), TALK[1], name="b")
    assert not {entry.key for entry in entries_of(one)[1:]} & {entry.key for entry in entries_of(other)[1:]}


def test_a_revert_leaves_its_message_and_all_after_it() -> None:
    entries = entries_of(Session(*TALK, revert={"messageID": "msg_a002", "snapshot": "x", "diff": ""}))
    assert entries[-1].back_to == entries[3].key != ""
    assert all(not entry.back_to for entry in entries[:-1])


def test_a_revert_inside_a_message_leaves_what_comes_after_that_message() -> None:
    entries = entries_of(Session(*TALK, revert={"messageID": "msg_a001", "partID": "prt_a001002"}))
    assert entries[-1].back_to == entries[3].key
    at_end = entries_of(Session(*TALK, revert={"messageID": "msg_a003", "partID": "prt_a003001"}))
    assert len(at_end) == 1 + len(TALK)


def test_version_grows_with_a_part_a_message_the_session_and_a_new_title(tmp_path: Path) -> None:
    path = database_of(tmp_path / "opencode.db", Session(*TALK))

    def version_after(change: str) -> str:
        with sqlite3.connect(path) as database:
            database.execute(change)
        database.close()
        ((transcript, _),) = read(path)
        return transcript.version

    versions = [
        read(path)[0][0].version,
        version_after(f"UPDATE part SET time_updated = {NOON + 500_000} WHERE id = 'prt_a001002'"),
        version_after(f"UPDATE message SET time_updated = {NOON + 500_001} WHERE id = 'msg_a001'"),
        version_after(f"UPDATE session SET time_updated = {NOON + 500_002}"),
        version_after("UPDATE event_sequence SET seq = 2"),
    ]
    assert versions == sorted(set(versions))


def test_version_of_an_export_is_the_latest_time_in_it_and_a_sanitised_one_replaces_nothing() -> None:
    session = Session(*TALK)
    version = read_export(session)[0].version
    assert version == f"{NOON + 3 * 60_000 + 900:015d}"
    session.messages.append(user(9, text('More? not a time: "end": 9999999999999')))
    assert version < read_export(session)[0].version == f"{NOON + 9 * 60_000:015d}"
    hidden = Session(*TALK, title="[redacted:session-title:ses_a]")
    assert read_export(hidden)[0].version < f"{1:015d}"


def test_an_unknown_schema_is_named_with_a_next_step(tmp_path: Path) -> None:
    schema = SCHEMA.replace(
        "time_updated integer NOT NULL, data text NOT NULL);\nCREATE TABLE part", "body text);\nCREATE TABLE part"
    )
    with pytest.raises(Unreadable, match=r"no column time_updated in the table message.*opencode export"):
        read(database_of(tmp_path / "opencode.db", schema=schema))


def test_an_older_database_without_a_sequence_of_events_is_read(tmp_path: Path) -> None:
    path = database_of(tmp_path / "opencode.db", Session(*TALK))
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE event_sequence")
        database.execute("DROP TABLE session_message")
    database.close()
    ((_, records),) = read(path)
    assert len(records) == 1 + len(TALK)


def test_sessions_kept_in_the_table_of_a_newer_version_are_reported(tmp_path: Path) -> None:
    path = database_of(tmp_path / "opencode.db", Session(*TALK), Session(name="new"))
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO session_message VALUES ('m', 'ses_new', 'user', 1, 1, 1, '{}')")
    database.close()
    reports: list[str] = []
    assert len(read(path, reports)) == 1
    assert len(reports) == 1
    assert "1 sessions keep their messages in the table session_message" in reports[0]


def test_a_message_that_is_no_json_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = database_of(tmp_path / "opencode.db", Session(*TALK))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE message SET data = '{\"role\":' WHERE id = 'msg_a001'")
        database.execute("UPDATE part SET data = CAST(x'7b2274657874223a22ff227d' AS TEXT) WHERE id = 'prt_a002000'")
        database.execute("UPDATE session SET title = CAST(x'4265ff' AS TEXT)")
    database.close()
    reports: list[str] = []
    ((_, records),) = read(path, reports)
    assert len(records) == len(TALK)
    assert len(reports) == 1
    assert "msg_a001" in reports[0]
    assert '"title":"Be\ufffd"' in records[0].decode()


def test_an_export_that_was_cut_short_gives_what_is_whole_and_says_what_to_do() -> None:
    content = Session(*TALK).export()
    cut = content[: content.index(b'"Gladly."')]
    (transcript,) = SOURCE.transcripts(opened("/tmp/x/ses_a.json", cut), SOURCE.locate("x", ""))
    found: list[bytes] = []
    with pytest.raises(Unreadable, match=r"ses_a\.json: .*run `opencode export` again"):
        found.extend(transcript.records)
    assert len(found) == 4


def test_a_document_without_a_session_is_refused() -> None:
    with pytest.raises(Unreadable, match="does not say first which session it is"):
        list(SOURCE.transcripts(opened("x.json", b'{"messages": [{"info": {}, "parts": []}]}'), SOURCE.locate("x", "")))


def test_recognises_its_database_and_export_and_nothing_else() -> None:
    tables = frozenset({"project", "session", "message", "part", "todo"})
    assert SOURCE.recognises(Head("opencode.db", b"SQLite format 3\x00", tables))
    assert not SOURCE.recognises(Head("x.db", b"SQLite format 3\x00", frozenset({"session", "message"})))
    assert SOURCE.recognises(Head("anything.json", Session(*TALK).export()))
    assert not SOURCE.recognises(Head("x.json", b'{"info": {"id": "1"}, "messages": []}'))
    assert not SOURCE.recognises(Head("x.json", b'[{"info": {"id": "ses_1"}, "messages": []}]'))
    assert not SOURCE.recognises(Head("x.jsonl", b'{"role": "user", "message": {"content": "ses_"}}\n'))


def test_names_and_places() -> None:
    for name in ("opencode.db", "opencode-local.db", "ses_e1ea84234ffe9vcTFElM4DiwIq.json"):
        assert SOURCE.is_candidate(f"/home/mara/.local/share/opencode/{name}")
    for name in ("opencode.db-wal", "auth.json", "opencode.json", "opencode-local.db-shm", "session.json", "store.db"):
        assert not SOURCE.is_candidate(f"/home/mara/.local/share/opencode/{name}")
    assert SOURCE.leaves_out("/home/mara/.local/share/opencode/storage/session/p/ses_a.json")
    assert not SOURCE.leaves_out("/home/mara/exports/ses_a.json")
    linux = Computer(home="/home/mara", system="linux")
    assert SOURCE.places(linux)[0] == "/home/mara/.local/share/opencode/opencode.db"
    moved = Computer(
        home="C:/Users/mara", system="windows", environment={"XDG_DATA_HOME": "D:/data", "OPENCODE_DB": "w.db"}
    )
    assert SOURCE.places(moved)[:2] == ["D:/data/opencode/w.db", "D:/data/opencode/opencode.db"]
    elsewhere = Computer(home="/home/mara", system="macos", environment={"OPENCODE_DB": "/srv/o.db"})
    assert SOURCE.places(elsewhere)[0] == "/srv/o.db"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("type", "text", "synthetic", "ignored", "state", "tool", "callID", "mime", "url", "command", "prompt", "name")
INFO = ("id", "role", "time", "path", "summary", "error", "modelID", "sessionID")


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(INFO, JSON | st.sampled_from(["user", "assistant", True]))),
    JSON
    | st.lists(
        st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON | st.sampled_from(["text", "tool", "file"])))
    ),
    st.sampled_from(["session", "subagent"]),
)
def test_no_shape_of_a_record_raises_anything_but_bad_record(info: Any, parts: Any, kind: str) -> None:
    facts = FileFacts(key="k", kind=kind, session_id="s")
    for record in ({"began": info, "info": info, "parts": parts}, {"session": info}, {"back_to": parts}, info):
        try:
            entry = SOURCE.parse(json.dumps(record).encode(), facts)
        except BadRecord:
            continue
        entry.text.encode()
        assert bool(entry.key) <= bool(entry.blocks)
