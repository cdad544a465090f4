"""`recollect status`: fields with their times (N7)."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run
from record_commands import refused, told

FILE = "agents/assistant/status.json"


def values(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: field["value"] for name, field in shown["fields"].items()}


def test_fields_are_set_merged_and_taken_away(home: Path) -> None:
    first = told(home, "status", "set", "mood=content", "cups=2", 'plan={"a": [1, null]}', "done=true", "n=007")
    second = told(home, "status", "set", "cups=3", "--unset", "done")

    assert values(first) == {"mood": "content", "cups": 2, "plan": {"a": [1, None]}, "done": True, "n": "007"}
    assert values(second) == {"mood": "content", "cups": 3, "plan": {"a": [1, None]}, "n": "007"}
    assert second["fields"]["mood"] == first["fields"]["mood"]
    assert values(told(home, "status")) == values(second)
    on_disk = json.loads((home / "notes" / FILE).read_text(encoding="utf-8"))
    assert on_disk["cups"]["value"] == 3
    assert list(on_disk) == ["mood", "cups", "plan", "n"]


def test_a_value_can_be_text_that_reads_as_json(home: Path) -> None:
    assert values(told(home, "status", "set", "version=1.10", "empty=", "--text")) == {"version": "1.10", "empty": ""}
    assert values(told(home, "status", "set", "empty=null")) == {"version": "1.10"}


def test_people_see_fields_and_times(home: Path) -> None:
    assert "No status" in run("status", home=home).out
    assert run("status", "set", "mood=calm \x1b[31m", "plan=[1, 2]", home=home).code == 0

    shown = run("status", "show", home=home).out
    assert "calm [31m" in shown
    assert "[1,2]" in shown


def test_a_broken_file_is_reported_kept_and_gone_on_from(home: Path) -> None:
    assert run("status", "set", "mood=content", home=home).code == 0
    (home / "notes" / FILE).write_text('{"mood": ', encoding="utf-8")

    shown = run("status", home=home)
    assert "content" in shown.out
    assert "status.json" in shown.err
    after = run("status", "set", "cups=1", home=home)
    assert after.code == 0
    assert "status.broken-" in after.err
    assert values(told(home, "status")) == {"mood": "content", "cups": 1}
    (aside,) = (home / "notes" / "agents/assistant").glob("status.broken-*")
    assert aside.read_text(encoding="utf-8") == '{"mood": '


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["KEY=VALUE"]),
        (["mood"], ["'mood'", "KEY=VALUE"]),
        (["=fine"], ["KEY=VALUE"]),
        (["mood=a", "--unset", "mood"], ["'mood'"]),
        (["k" * 101 + "=1"], ["100"]),
        (["deep=" + "[" * 50 + "]" * 50], ["'deep'", "nested"]),
    ],
)
def test_what_cannot_be_set_leaves_the_status_as_it_was(arguments: list[str], words: list[str], home: Path) -> None:
    assert run("status", "set", "mood=content", home=home).code == 0
    before = (home / "notes" / FILE).read_bytes()

    assert refused(run("status", "set", *arguments, home=home), 2, *words)
    assert (home / "notes" / FILE).read_bytes() == before


def test_each_agent_has_a_status_of_its_own(home: Path) -> None:
    assert run("agents", "add", "ada", home=home).code == 0

    assert values(told(home, "status", "set", "mood=hers", "--agent", "ada")) == {"mood": "hers"}
    assert values(told(home, "status", "show")) == {}
    assert refused(run("status", "--agent", "ada", "set", "mood=mine", home=home), 2, "after the command")
