"""The doctor, whatever the database is and wherever it stands."""

import json
from pathlib import Path

import pytest
from transcripts import write

import recollect
from recollect.doctor import examine
from recollect.lock import HomeLock


def test_a_home_that_is_not_made_yet_is_no_failure(engine: str, tmp_path: Path) -> None:
    with recollect.open(home=tmp_path / "not" / "made", database=engine) as memory:
        findings = examine(memory)

    assert [finding for finding in findings if finding.level == "failure"] == []
    assert any(finding.check == "disk" for finding in findings)


@pytest.mark.parametrize("name", ["started_at", "last_scan_at", "notes_looked_at"])
@pytest.mark.parametrize("time", ["yesterday", "2026-13-40T00:00:00.000Z", "2026-01-01T00:00:00"])
def test_a_status_with_a_time_that_is_none_tells_nothing(memory: recollect.Memory, name: str, time: str) -> None:
    now = "2026-03-02T10:00:00.000Z"
    told: dict[str, object] = {"pid": 1, "started_at": now, "roots": [], "last_scan_at": now, name: time}
    lock = HomeLock(memory.settings.runtime)
    lock.acquire()
    write(memory.settings.runtime / "status.json", json.dumps(told).encode())

    (daemon,) = [finding for finding in examine(memory) if finding.check == "daemon"]

    assert daemon.message == "Running, in its first pass"
    lock.release()
