"""Crafted input that wants all memory (`make fuzz`): what is held stays within a few times the largest single value."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import zstandard
from builders import fold

import recollect
from recollect.history import IngestReport
from recollect.history.sources import source_named
from recollect.testing import FrozenClock

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(3_600)]

MEGABYTE = 1 << 20
PATHS = {
    "claude-code": "projects/-x/5d0c2b1e-8f3a-4c77-9b52-0a6e1f4d7c01.jsonl",
    "codex": "rollout-2026-03-02T10-00-01-019cadfd-8ce8-7000-8000-000000000001.jsonl",
    "claude-ai": "conversations.json",
    "chatgpt": "conversations.json",
    "pi": "2026-03-02T10-00-00-000Z_0199a213-81c0-7800-8aa1-bbab2a035a53.jsonl",
    "gemini-cli": "session-2026-03-02T10-00-5ea8d094.json",
    "copilot-cli": "session-state/9c791e34-1111-4111-8111-111111111111.jsonl",
    "cursor": "agent-transcripts/4fbed652-1111-4222-8333-0123456789ab.jsonl",
    "telegram": "result.json",
    "aider": ".aider.chat.history.md",
    "opencode": "ses_a.json",
    "generic": "kitchen.jsonl",
}
"""A database has its own limits: what SQLite gives out in one value."""


def peak_of(home: Path, path: Path, name: str, clock: FrozenClock) -> tuple[int, IngestReport]:
    """The most bytes that were held at once while a file was taken in."""
    with recollect.open(home=home, clock=clock) as memory:
        tracemalloc.start()
        try:
            report = memory.history.ingest([path], source=name)
            return tracemalloc.get_traced_memory()[1], report
        finally:
            tracemalloc.stop()


def laid(folder: Path, name: str, raw: bytes) -> Path:
    path = folder / PATHS[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def assert_reader_holds(report: IngestReport) -> None:
    assert not [problem.reason for problem in report.problems if "breaks our reader" in problem.reason]


@pytest.mark.parametrize("name", PATHS)
def test_a_huge_string_costs_a_few_times_its_size(name: str, tmp_path: Path, clock: FrozenClock) -> None:
    size = 8 * MEGABYTE
    raw = b'{"type": "' + b"a" * size + b'", "mapping": {}, "messages": []}\n'
    peak, report = peak_of(tmp_path / "home", laid(tmp_path, name, raw), name, clock)
    assert_reader_holds(report)
    assert peak < 14 * size


@pytest.mark.parametrize("name", PATHS)
def test_a_file_that_is_nothing_but_brackets_is_no_danger(name: str, tmp_path: Path, clock: FrozenClock) -> None:
    size = MEGABYTE
    for opening in (b"[", b'{"messages":', b'[{"mapping":'):
        raw = opening * (size // len(opening))
        peak, report = peak_of(tmp_path / f"home-{len(opening)}", laid(tmp_path, name, raw), name, clock)
        assert_reader_holds(report)
        assert peak < 40 * size


@pytest.mark.parametrize("name", PATHS)
def test_a_file_that_repeats_one_short_line_is_read_block_by_block(
    name: str, tmp_path: Path, clock: FrozenClock
) -> None:
    raw = b'{"type":"x"}\n' * 10_000
    peak, report = peak_of(tmp_path / "home", laid(tmp_path, name, raw), name, clock)
    assert_reader_holds(report)
    assert peak < 60 * MEGABYTE


def test_what_a_packed_file_unpacks_to_is_not_held_in_memory(tmp_path: Path, clock: FrozenClock) -> None:
    """Spaces pack a thousandfold. They are put on the disk, and read from there block by block."""
    size = 150 * MEGABYTE
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        file.write(b"[")
        for _ in range(size // MEGABYTE):
            file.write(b" " * MEGABYTE)
    path = tmp_path / "export.zip"
    path.write_bytes(buffer.getvalue())
    peak, report = peak_of(tmp_path / "home", path, "chatgpt", clock)
    assert_reader_holds(report)
    assert peak < 100 * MEGABYTE

    packed = tmp_path / PATHS["codex"]
    with packed.with_suffix(".jsonl.zst").open("wb") as plain, zstandard.ZstdCompressor().stream_writer(plain) as file:
        for _ in range(size // MEGABYTE):
            file.write(b" " * (MEGABYTE - 1) + b"\n")
    peak, report = peak_of(tmp_path / "other", packed.with_suffix(".jsonl.zst"), "codex", clock)
    assert_reader_holds(report)
    assert peak < 100 * MEGABYTE


def test_an_archive_that_promises_too_much_is_refused_before_it_is_unpacked(tmp_path: Path, clock: FrozenClock) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * MEGABYTE)
    raw = bytearray(buffer.getvalue())
    size = (MEGABYTE + 1).to_bytes(4, "little")
    while size in raw:
        place = raw.index(size)
        raw[place : place + 4] = (4_000_000_000).to_bytes(4, "little")
    path = tmp_path / "export.zip"
    path.write_bytes(bytes(raw))
    peak, report = peak_of(tmp_path / "home", path, "chatgpt", clock)
    assert_reader_holds(report)
    assert any("bomb" in problem.reason for problem in report.problems)
    assert peak < 50 * MEGABYTE


def test_a_number_of_many_digits_and_a_name_of_many_letters_are_only_long(tmp_path: Path) -> None:
    for name in PATHS:
        for value in (b"9" * 200_000, b'"' + b"\\ud800" * 50_000 + b'"', json.dumps("é" * 100_000).encode()):
            raw = b'{"type": "message", "id": %b, "role": %b, "message": {"content": %b}}\n' % (value, value, value)
            result = fold(raw, source=source_named(name))
            assert result.counts.lines == 1
