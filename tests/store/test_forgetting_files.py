"""What was forgotten is not in the bytes of any file either, whatever it looked like. On both engines."""

import base64
import random
from pathlib import Path

import pytest
from residue import residue_of
from transcripts import Transcript

import recollect

SHORT = "PIN zq4711vw"
TEXTS = {
    "short": SHORT,
    "emoji": "🦖🪴🧄🥕🫑🥒🪵🧿🫠🫥🫡",
    "without spaces": "秘密の鍵は庭の小屋の三番目の鉢の下にあります",
    "base64": "zqlook " + base64.b64encode(random.Random(1).randbytes(30_000)).decode(),
    "long": " ".join(f"zq{number}vw" for number in range(12_000)),
    "a table": "\n".join(f'| "zq{number}vw" |---|' for number in range(200)),
}


def fill(projects: Path, words: str) -> None:
    """Enough around it that rows move from page to page."""
    for number in range(4):
        transcript = Transcript(f"talk {number}").exchanges(60, about=f"the beans of bed {number}")
        if number == 2:
            transcript.user(words)
        transcript.exchanges(60, about=f"the leeks of bed {number}").save(projects)


@pytest.mark.parametrize("kind", TEXTS)
def test_nothing_is_left_in_the_files(memory: recollect.Memory, projects: Path, kind: str) -> None:
    words = TEXTS[kind]
    fill(projects, words)
    memory.history.ingest([projects])
    memory.recall.catch_up()
    message = next(one.id for one in memory.history.export() if one.text == words)

    forgotten = memory.forget(message=message)

    assert forgotten.state == "verified", forgotten.residue
    parts = words.split() if kind in ("short", "long") else [words[:12], words[-12:]]
    assert residue_of(memory, *(part for part in parts[:: len(parts) // 50 + 1] if part != "PIN")) == []


def test_a_record_that_was_edited_often_leaves_nothing(memory: recollect.Memory) -> None:
    record = memory.knowledge.remember("zqfirst").record
    assert record
    for number in range(60):
        memory.knowledge.edit(record.id, f"zqedit{number} " + f"zqword{number} " * number, reason=f"zqreason{number}")
    memory.recall.catch_up()

    assert memory.forget(record=record.id).state == "verified"

    told = ["zqfirst", *(f"zq{kind}{number}" for kind in ("edit", "word", "reason") for number in range(1, 60))]
    assert residue_of(memory, *told) == []


def test_records_that_are_alike_are_no_traces_of_each_other(memory: recollect.Memory, projects: Path) -> None:
    fill(projects, SHORT)
    memory.history.ingest([projects])
    listed = memory.history.conversations()[0].conversation

    assert memory.forget(conversation=listed.id).residue == []


def test_many_acts_are_proved_at_once_and_each_is_told_what_is_its_own(memory: recollect.Memory) -> None:
    said = ["Runner beans climb on hazel poles.", "Leeks like a sandy bed.", "The quinces are ripe in October.", SHORT]
    for words in said:
        record = memory.knowledge.remember(words).record
        assert record
        memory.forget(record=record.id, verify=False)
    memory.settings.home.mkdir(exist_ok=True)
    left = memory.settings.home / "left.txt"
    left.write_text(f"a note: {said[1]}", encoding="utf-8")

    proved = memory.forgetting.verify()

    assert [one.state for one in proved] == ["verified", "residue", "verified", "verified"]
    left.unlink()
    assert {one.state for one in memory.forgetting.verify()} == {"verified"}
    assert memory.forgetting.figures().unfinished == 0
