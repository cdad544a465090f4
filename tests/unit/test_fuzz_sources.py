"""Every source with damaged input (`make fuzz`): nothing raises, memory stays bounded, what is readable is kept.

The cases are made from the stories of `tests/stories` by a seed, as many as fit into `FUZZ_SECONDS`, which the tests
here share. A failure names its seed; `FUZZ_SEED=<seed>` begins there. `-rP` shows how many cases each source got.
"""

import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import fold
from damage import Case, damaged_archive, damaged_bytes, damaged_value, encoded, strings_in
from stories import Files
from stories.every import STORIES, told

import recollect
from recollect.history.sources import BadRecord, FileFacts, Head, Opened, source_named
from recollect.testing import FrozenClock

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(3_600)]

SECONDS = float(os.environ.get("FUZZ_SECONDS", "30"))
FIRST_SEED = int(os.environ.get("FUZZ_SEED", "0"))
SHARES = {"records": 0.25, "lines": 0.2, "files": 0.55}
"""Of the time: reading a file through a database is slowest."""
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
LINES = tuple(
    name for name in STORIES if name not in ("chatgpt", "claude-ai", "openclaw", "opencode", "telegram", "aider")
)
"""Sources whose files are their records."""


def cases(what: str, name: str, number_of_tests: int) -> Iterator[Case]:
    """Cases until the time of one test is over, at least ten; says how many there were."""
    until = time.monotonic() + SECONDS * SHARES[what] * WORKERS / number_of_tests
    seed = FIRST_SEED
    while seed < FIRST_SEED + 10 or time.monotonic() < until:
        yield Case(seed, random.Random(f"{what} {name} {seed}"))
        seed += 1
    print(f"{name}: {seed - FIRST_SEED} cases of {what}")  # noqa: T201


def lay(folder: Path, files: Files) -> Path:
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return folder


def records_of(name: str, dice: random.Random) -> tuple[FileFacts, str, list[bytes]]:
    """The records of one file of a story, as the source itself gives them."""
    source = source_named(name)
    files: Files = {}
    named: list[str] = []
    while not named:
        files = told(name, dice)
        named = sorted(path for path, raw in files.items() if source.is_candidate(path) and not is_packed(raw))
    path = dice.choice(named)
    raw = files[path]
    facts = source.locate(f"/home/mara/{path}", "/home/mara")
    facts = source.refine(facts, Head(path, raw))
    with tempfile.TemporaryDirectory() as folder:
        place = lay(Path(folder), files) / path
        with place.open("rb") as file:
            given = source.transcripts(Opened(path, file, lambda _: None, str(place)), facts)
            if given is None:
                return facts, path, raw.splitlines()
            transcripts = [(transcript.facts, list(transcript.records)) for transcript in given]
    facts, records = dice.choice(transcripts)
    return facts, path, records


def is_packed(raw: bytes) -> bool:
    return raw.startswith((b"PK", b"\x28\xb5\x2f\xfd"))


@pytest.mark.parametrize("name", STORIES)
def test_a_record_of_any_shape_is_an_entry_or_a_bad_record(name: str) -> None:
    source = source_named(name)
    for case in cases("records", name, len(STORIES)):
        with case.explained():
            facts, path, records = records_of(name, case.dice)
            memory: dict[str, str] = {}
            for _ in range(20):
                raw = encoded(damaged_value(case.dice.choice(records), case.dice), case.dice)
                case.note(raw)
                head = Head(path, raw)
                source.recognises(head)
                source.refine(facts, head)
                try:
                    entry = source.parse(raw, facts)
                except BadRecord:
                    continue
                source.settle(entry, memory)
                for text in strings_in(entry):
                    assert "\x00" not in text
                    text.encode()
                assert all(isinstance(value, str) for value in memory.values())


@pytest.mark.parametrize("name", LINES)
def test_a_damaged_file_of_lines_reads_the_same_in_whatever_parts(name: str) -> None:
    source = source_named(name)
    for case in cases("lines", name, len(LINES)):
        with case.explained():
            facts, _, records = records_of(name, case.dice)
            whole = b"".join(record + b"\n" for record in records)
            start, data = damaged_bytes(whole, case.dice)
            case.note(data)
            read = fold(data, source=source, facts=facts)
            parts = fold(data, source=source, facts=facts, bytes_at_once=case.dice.randint(7, 900))
            assert without_last_at(parts.contents()) == without_last_at(read.contents())
            kept = {record.start for record in read.records if record.start < start}
            before = fold(whole[: whole.rfind(b"\n", 0, start) + 1], source=source, facts=facts)
            assert kept >= {record.start for record in before.records}


def without_last_at(contents: dict[str, Any]) -> dict[str, Any]:
    """When a message was last added to is told by the parts too, if its records are damaged."""
    for message in contents["messages"]:
        del message["last_at"]
    return contents


def damaged_files(name: str, dice: random.Random) -> tuple[Files, Files, Files]:
    """The files of a story with one of them damaged; that one alone, cut where the damage begins; all of them whole."""
    files = told(name, dice)
    path = dice.choice(sorted(path for path in files if not path.endswith(".project_root")))
    start, data = damaged_bytes(files[path], dice)
    if path.endswith(".zip") and dice.random() < 0.5:
        data = damaged_archive(files[path], dice)
    elif path.endswith(".json") and dice.random() < 0.5:
        start, data = 0, encoded(damaged_value(files[path], dice), dice)
    if path.endswith(".jsonl"):
        start = files[path].rfind(b"\n", 0, start) + 1
    rest = {other: raw for other, raw in files.items() if other != path}
    is_text = not is_packed(data) and not path.endswith((".db", ".sqlite", "-wal", ".zip", ".zst"))
    return {**rest, path: data}, {path: files[path][:start]} if is_text else {}, files


def taken_in(home: Path, folder: Path, clock: FrozenClock) -> set[str]:
    """The messages that somebody gets who has only this folder."""
    with recollect.open(home=home, clock=clock) as memory:
        report = memory.history.ingest([folder])
        assert not [problem.reason for problem in report.problems if "breaks our reader" in problem.reason]
        return {message.id for message in memory.history.export()}


@pytest.mark.parametrize("name", STORIES)
def test_a_damaged_file_is_taken_in_as_far_as_it_can_be_read(name: str, tmp_path: Path, clock: FrozenClock) -> None:
    for case in cases("files", name, len(STORIES)):
        folder = tmp_path / str(case.seed)
        with case.explained():
            files, before, undamaged = damaged_files(name, case.dice)
            case.note(folder)
            found = taken_in(folder / "home", lay(folder / "damaged", files), clock)
            if before:
                readable = taken_in(folder / "home-before", lay(folder / "before", before), clock)
                # What a later text of the same transcript no longer has was not lost by the damage.
                if not readable <= found:
                    readable &= taken_in(folder / "home-undamaged", lay(folder / "undamaged", undamaged), clock)
                assert readable <= found
        case.forget(folder)
