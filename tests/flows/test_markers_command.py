"""Markers as people meet them: `show` has a ◆ in their place, `health` tells which could not be kept."""

from pathlib import Path

import pytest
from commands import end, run, started, wait_for
from transcripts import Transcript

TEA = '[REMEMBER] {"content": "Ada drinks tea.", "tags": ["drinks"]}'
BROKEN = '[REMEMBER] {"content": "half'


@pytest.fixture
def told(projects: Path) -> Transcript:
    transcript = Transcript("tea")
    transcript.user("What do I drink?")
    transcript.assistant(f"Tea.\n\n{TEA}\n\nAlways.", f"{BROKEN}\n\nLike this: `{TEA}`")
    transcript.save(projects)
    return transcript


def test_show_has_a_sign_where_something_was_kept(told: Transcript, home: Path, projects: Path) -> None:
    assert run("ingest", projects, home=home).code == 0

    shown = run("show", told.session_id, home=home).out

    assert "  Tea. ◆\n  \n  Always.\n" in shown
    assert BROKEN in shown
    assert shown.count("[REMEMBER]") == 2


def test_show_as_json_has_both_texts(told: Transcript, home: Path, projects: Path) -> None:
    assert run("ingest", projects, home=home).code == 0

    question, answer = run("show", told.session_id, "--json", home=home).json()["messages"]

    assert "display" not in question
    assert answer["text"].startswith(f"Tea.\n\n{TEA}\n\nAlways.")
    assert answer["display"] == f"Tea.\n\nAlways.\n\n{BROKEN}\n\nLike this: `{TEA}`"
    assert answer["marks"] == [len("Tea.")]


def test_health_tells_what_could_not_be_kept_and_where(told: Transcript, home: Path, projects: Path) -> None:
    assert run("ingest", projects, home=home).code == 0

    markers = run("health", "--json", home=home).json()["markers"]
    people = run("health", home=home).out

    _, answer = run("show", told.session_id, "--json", home=home).json()["messages"]
    assert (markers["kept"], markers["problems"]) == (1, 2)
    assert [item["problem"] for item in markers["reported"]] == ["invalid JSON", "not at the start of a line"]
    assert {item["message"] for item in markers["reported"]} == {answer["id"]}
    broken = markers["reported"][0]
    assert answer["text"][broken["place"] :].startswith(BROKEN)
    assert broken["excerpt"].startswith(BROKEN)
    assert run("show", broken["conversation"], home=home).code == 0
    assert "1 kept, 2 to look at" in people
    assert "invalid JSON" in people


def test_a_house_without_markers_says_nothing_of_them(home: Path, projects: Path) -> None:
    Transcript("beans").exchanges(1).save(projects)
    assert run("ingest", projects, home=home).code == 0

    assert "to look at" not in run("health", home=home).out
    assert run("health", "--json", home=home).json()["markers"] == {"kept": 0, "problems": 0, "reported": []}


def test_up_learns_in_its_first_pass_and_while_it_watches(home: Path, projects: Path, told: Transcript) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text(f'watch_paths = ["{projects}"]\npoll_interval_seconds = 1\n')

    def texts() -> set[str]:
        return {record["text"] for record in run("records", "--json", home=home).json()}

    with started("up", home=home) as process:
        wait_for("the first learning", lambda: (home / "recollect.db").exists() and texts() == {"Ada drinks tea."})
        later = Transcript("beans")
        later.user("And beans?")
        later.assistant('[REMEMBER] {"content": "Beans climb."}')
        later.save(projects)
        wait_for("the second learning", lambda: "Beans climb." in texts())
        assert end(process) == 0
