"""Real transcripts against numbers that were counted independently: nothing lost, nothing doubled, nothing made up.

The files are other people's conversations and are not part of the repository; they lie beside the clone.
"""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import FrozenClock
from snapshots import conversations_of, messages_of, said_in, snapshot_of

import recollect
from recollect.history.vault import unpack

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "claude-code"
MANIFEST = SAMPLES / "MANIFEST.json"
RAW = "SELECT raw FROM history_lines"

pytestmark = pytest.mark.skipif(
    not MANIFEST.exists(), reason="the real transcripts (shared/transcripts/claude-code) do not lie beside this clone"
)

Open = Callable[[str], recollect.Memory]


@cache
def manifest() -> dict[str, dict[str, Any]]:
    """The transcripts among the files; sidecars have no lines."""
    if not MANIFEST.exists():
        return {}
    entries: dict[str, dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return {name: entry for name, entry in entries.items() if "lines" in entry}


def series(start: str) -> list[Path]:
    folder = next((SAMPLES / "_series").glob(f"{start}*"))
    return sorted(folder.glob("*.jsonl"))


@pytest.fixture
def open_home(tmp_path: Path, clock: FrozenClock, request: pytest.FixtureRequest) -> Open:
    def make(name: str) -> recollect.Memory:
        memory = recollect.open(home=tmp_path / name, clock=clock)
        request.addfinalizer(memory.close)
        return memory

    return make


def uuids_in_vault(memory: recollect.Memory) -> set[str]:
    found: set[str] = set()
    with memory.database.read() as session:
        for (packed,) in session.each(RAW):
            try:
                record = msgspec.json.decode(unpack(packed))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            if isinstance(record.get("uuid"), str):
                found.add(record["uuid"])
    return found


def uuids_in_messages(memory: recollect.Memory) -> set[str]:
    return {block["uuid"] for message in memory.history.export() for block in message.blocks if "uuid" in block}


@pytest.mark.parametrize("name", manifest())
def test_a_file_gives_the_numbers_that_were_counted_independently(name: str, open_home: Open) -> None:
    expected = manifest()[name]
    memory = open_home("home")

    report = memory.history.ingest([SAMPLES / name])

    counts = report.counts
    assert counts.lines == expected["lines"]
    assert counts.parsed == expected["parsed"]
    assert counts.bad == len(expected["bad_lines"])
    assert {problem.line for problem in report.problems if problem.line} == set(expected["bad_lines"])
    assert counts.recovered == expected["objects_recoverable_from_glued_lines"]
    assert counts.types == expected["types"]
    assert counts.blocks == expected.get("blocks", {})
    assert report.failed == 0
    if expected["fmt"] == "claude":
        replies = {message.id for message in memory.history.export() if message.model}
        assert len(replies) == expected["distinct_message_ids"]
        kept = uuids_in_vault(memory)
        assert len(kept) >= expected["distinct_uuids"]
        if not expected["bad_lines"]:
            assert len(kept) == expected["distinct_uuids"]
        assert uuids_in_messages(memory) <= kept

    before = snapshot_of(memory)
    again = memory.history.ingest([SAMPLES / name])
    assert (again.messages_added, again.skipped, again.bytes_read) == (0, 1, 0)
    assert snapshot_of(memory) == before


def replay(memory: recollect.Memory, snapshots: list[Path], path: Path) -> list[recollect.history.IngestReport]:
    """Each snapshot takes the place of the one before it, under one name."""
    reports = []
    for snapshot in snapshots:
        shutil.copyfile(snapshot, path)
        reports.append(memory.history.ingest([path]))
    return reports


def without_titles(conversations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A title stays although the record that gave it is gone from the file: a clean import cannot know it."""
    return [{name: value for name, value in item.items() if name != "title"} for item in conversations]


def place_for(tmp_path: Path) -> Path:
    path = tmp_path / "projects" / "-home-somebody" / "3a782158-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir(parents=True)
    return path


def test_an_append_only_series_is_the_import_of_its_last_snapshot(tmp_path: Path, open_home: Open) -> None:
    path = place_for(tmp_path)
    live, clean = open_home("live"), open_home("clean")

    reports = replay(live, series("append-only"), path)
    clean.history.ingest([path])

    assert [report.ingested for report in reports] == [1] * len(reports)
    assert sum(report.bytes_read for report in reports) == path.stat().st_size
    assert snapshot_of(live) == snapshot_of(clean)


def test_a_rewound_series_keeps_every_message_it_ever_had(tmp_path: Path, open_home: Open) -> None:
    path, snapshots = place_for(tmp_path), series("rewound")
    live, clean = open_home("live"), open_home("clean")
    ever_seen: set[str] = set()
    for snapshot in snapshots:
        replay(live, [snapshot], path)
        ever_seen |= {message.id for message in live.history.export() if not message.gone}
    clean.history.ingest([path])

    after = {message["id"]: message for message in messages_of(live)}
    last = {message["id"]: message for message in messages_of(clean)}
    assert after.keys() == ever_seen
    assert ever_seen > last.keys()
    assert {name for name, message in after.items() if message["gone"]} == ever_seen - last.keys()
    assert {name: message for name, message in after.items() if not message["gone"]} == last
    assert without_titles(conversations_of(live)) == without_titles(conversations_of(clean))
    assert said_in(live) == said_in(clean)
    (listed,) = [item for item in live.history.conversations() if item.conversation.messages > 5][:1]
    asked_for = {message.id for message in live.history.messages(listed.conversation, everything=True)}
    assert asked_for - {message.id for message in live.history.messages(listed.conversation)}


@pytest.mark.parametrize("name", ["append-only", "rewound"])
def test_replaying_a_series_again_adds_nothing(name: str, tmp_path: Path, open_home: Open) -> None:
    path, snapshots = place_for(tmp_path), series(name)
    memory = open_home("home")
    replay(memory, snapshots, path)
    before = snapshot_of(memory)

    reports = replay(memory, snapshots, path)

    assert [report.messages_added for report in reports] == [0] * len(reports)
    after = snapshot_of(memory)
    for part in ("messages", "conversations", "vault"):
        assert after[part] == before[part]


@pytest.mark.parametrize("number", range(1, 8))
def test_each_step_of_the_rewound_series_reads_as_a_clean_import_of_that_step(
    number: int, tmp_path: Path, open_home: Open
) -> None:
    """Also when the longest snapshot came first, so that every step back is a rewrite."""
    path, snapshots = place_for(tmp_path), series("rewound")
    live, clean = open_home("live"), open_home("clean")
    replay(live, [snapshots[6], snapshots[7], snapshots[number - 1]], path)
    clean.history.ingest([path])

    assert [message for message in messages_of(live) if not message["gone"]] == messages_of(clean)
    assert without_titles(conversations_of(live)) == without_titles(conversations_of(clean))


def test_the_order_in_which_files_are_read_does_not_matter(open_home: Open) -> None:
    forwards, backwards = open_home("forwards"), open_home("backwards")
    names = [str(SAMPLES / name) for name in sorted(manifest())]

    first = forwards.history.scan([SAMPLES], names)
    second = backwards.history.scan([SAMPLES], names[::-1])

    assert first.failed == second.failed == 0
    assert messages_of(forwards) == messages_of(backwards)
    assert conversations_of(forwards) == conversations_of(backwards)
    assert forwards.history.figures().vault == backwards.history.figures().vault
