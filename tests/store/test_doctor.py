"""The doctor, whatever the database is and wherever it stands."""

from pathlib import Path

import recollect
from recollect.doctor import examine


def test_a_home_that_is_not_made_yet_is_no_failure(engine: str, tmp_path: Path) -> None:
    with recollect.open(home=tmp_path / "not" / "made", database=engine) as memory:
        findings = examine(memory)

    assert [finding for finding in findings if finding.level == "failure"] == []
    assert any(finding.check == "disk" for finding in findings)
