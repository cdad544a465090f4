"""`recollect forget` as people and programs use it."""

from pathlib import Path
from typing import Any

import pytest
from commands import Result, run
from terminals import on_a_terminal
from transcripts import Transcript

SECRET = "The spare key lies under the third flower pot."
QUESTION = "Where did I leave the spare key of the greenhouse?"


def told(home: Path, *arguments: object) -> Any:
    done = run(*arguments, "--json", home=home)
    assert done.code == 0, done.err
    return done.json()


def is_in_a_file_of(home: Path, text: str) -> list[str]:
    return [str(path) for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def remember(home: Path, text: str, *arguments: object) -> str:
    return told(home, "remember", text, *arguments)["id"]


@pytest.fixture
def talk(home: Path, projects: Path) -> dict[str, Any]:
    """A conversation with a secret, as `show --json` gives it."""
    transcript = Transcript("greenhouse")
    transcript.user(QUESTION)
    transcript.assistant(SECRET)
    transcript.user("And how often are the tomatoes watered?")
    transcript.assistant("Every second evening, at the roots.")
    transcript.save(projects)
    assert run("ingest", projects, home=home).code == 0
    (listed,) = told(home, "conversations")
    return told(home, "show", listed["id"])


# A record


def test_a_record_goes_with_all_its_versions_and_leaves_a_receipt(home: Path) -> None:
    name = remember(home, SECRET)
    told(home, "edit", name, "The spare key lies in the blue watering can.")

    gone = told(home, "forget", name)

    assert (gone["target"], gone["dry_run"], gone["verified"], gone["residue"]) == ("record", False, True, [])
    assert (gone["removed"]["records"], gone["removed"]["record_versions"]) == (1, 2)
    assert told(home, "records", "--state", "all") == []
    assert is_in_a_file_of(home, "flower pot") == is_in_a_file_of(home, "watering can") == []
    (receipt,) = told(home, "forget", "--receipts")
    assert (receipt["id"], receipt["target"], receipt["state"]) == (gone["receipt"], "record", "verified")
    assert "probes" not in receipt
    done = run("record", name, home=home)
    assert done.code == 3
    assert done.explains("was forgotten", "recollect forget --receipts")


def test_a_dry_run_lists_what_would_go_and_changes_nothing(home: Path, talk: dict[str, Any]) -> None:
    said = talk["messages"][1]
    name = told(home, "promote", said["id"])["id"]

    plan = told(home, "forget", name, "--dry-run")
    wider = told(home, "forget", name, "--with-sources", "--dry-run")
    read = run("forget", name, "--dry-run", home=home).out

    assert (plan["dry_run"], plan["verified"], plan["receipt"]) == (True, False, "")
    assert (plan["reached"]["record"], plan["reached"]["message"], plan["sources"]) == ([name], [], [said["id"]])
    assert wider["reached"]["message"] == [said["id"]]
    assert read.startswith("This would go: 1 record, 1 version.\n")
    assert f"Records\n  {name[-8:]}  {SECRET}\n" in read
    assert "unless --with-sources is given" in read
    assert told(home, "records")[0]["id"] == name
    assert told(home, "forget", "--receipts") == []


def test_a_subject_goes_with_every_record_about_it(home: Path) -> None:
    remember(home, "Eve grows dahlias.", "--subject", "Eve", "--attribute", "garden")
    remember(home, "Eve moved to the coast.", "--subject", "eve")
    remember(home, "The gate is green.")

    gone = told(home, "forget", "--subject", "Eve")

    assert gone["removed"]["records"] == 2
    assert [record["text"] for record in told(home, "records")] == ["The gate is green."]


def test_what_was_forgotten_may_be_told_again_by_a_person(home: Path) -> None:
    told(home, "forget", remember(home, SECRET))

    assert remember(home, SECRET)


# History


def test_a_message_goes_with_the_learning_made_of_it_and_stays_away(
    home: Path, projects: Path, talk: dict[str, Any]
) -> None:
    said = talk["messages"][1]
    told(home, "promote", said["id"])
    assert told(home, "search", "spare key", "--limit", 50)["hits"]

    gone = told(home, "forget", "--message", said["id"])

    assert (gone["target"], gone["verified"]) == ("message", True)
    assert (gone["removed"]["messages"], gone["removed"]["records"]) == (1, 1)
    assert any("source file" in place for place in gone["out_of_reach"])
    assert told(home, "records", "--state", "all") == []
    assert is_in_a_file_of(home, "flower pot") == []
    assert run("ingest", projects, "--reimport", home=home).code == 0
    assert is_in_a_file_of(home, "flower pot") == []
    assert [message["text"] for message in told(home, "show", talk["id"])["messages"]][:1] == [QUESTION]


@pytest.mark.parametrize("target", ["conversation", "file"])
def test_a_conversation_or_a_file_goes_as_a_whole(
    target: str, home: Path, projects: Path, talk: dict[str, Any]
) -> None:
    gone = told(home, "forget", f"--{target}", talk["id"] if target == "conversation" else talk["file"])

    assert (gone["removed"]["messages"], gone["verified"]) == (4, True)
    assert is_in_a_file_of(home, "flower pot") == is_in_a_file_of(home, "second evening") == []
    assert run("ingest", projects, "--reimport", home=home).code == 0
    assert told(home, "conversations") == []


# Notes


def test_a_dry_run_names_the_note_that_would_go(home: Path) -> None:
    for text in (SECRET, "In the blue watering can."):
        assert run("notes", "write", "keys.md", text, home=home).code == 0

    plan = told(home, "forget", "--note", "keys.md", "--dry-run")
    read = run("forget", "--note", "keys.md", "--dry-run", home=home).out

    assert (plan["target"], plan["reached"]["note"]) == ("note", ["keys.md"])
    assert read.startswith("This would go: 1 note, 2 note versions.\n")
    assert "Notes, also under the names they had before\n  keys.md\n" in read
    assert run("notes", "show", "keys.md", home=home).out == "In the blue watering can.\n"


def test_a_note_goes_with_its_versions_and_its_file_and_may_be_written_anew(home: Path) -> None:
    for text in (SECRET, "In the blue watering can."):
        assert run("notes", "write", "keys.md", text, home=home).code == 0

    gone = told(home, "forget", "--note", "keys.md")

    assert (gone["target"], gone["verified"], gone["removed"]["note_versions"]) == ("note", True, 2)
    assert is_in_a_file_of(home, "flower pot") == is_in_a_file_of(home, "watering can") == []
    assert not (home / "notes" / "keys.md").exists()
    assert run("notes", "write", "keys.md", "On the hook.", home=home).code == 0
    assert len(told(home, "notes", "history", "keys.md")) == 1


# People


def test_people_read_what_went_and_what_is_out_of_reach(home: Path, talk: dict[str, Any]) -> None:
    done = run("forget", "--message", talk["messages"][1]["id"], home=home)

    assert done.code == 0, done.err
    assert done.out.startswith("Forgotten: ")
    assert "1 message" in done.out
    assert "nothing of it is left" in done.out
    assert "Out of reach, for you to remove\n  source file" in done.out
    receipt = done.out.splitlines()[-1].split()[1]
    assert receipt in run("forget", "--receipts", home=home).out


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 1, 1), ("\n", 1, 1), ("y\n", 0, 0)])
def test_on_a_terminal_one_is_shown_what_goes_and_asked(answer: str, code: int, left: int, home: Path) -> None:
    name = remember(home, SECRET)

    seen = on_a_terminal("forget", name, home=home, typed=answer)

    assert seen.code == code, seen.out
    assert SECRET in seen.out
    assert "Forget all this for good? [y/N]" in seen.out
    assert ("Nothing was forgotten." in seen.out) == bool(left)
    assert len(told(home, "records")) == left


def test_nobody_is_asked_who_said_yes(home: Path) -> None:
    name = remember(home, SECRET)

    seen = on_a_terminal("forget", name, "--yes", home=home)

    assert (seen.code, "[y/N]" in seen.out) == (0, False)
    assert told(home, "records") == []


# Later


def test_it_is_looked_for_again_by_a_receipt(home: Path) -> None:
    first = told(home, "forget", remember(home, SECRET))["receipt"]
    second = told(home, "forget", remember(home, "The gate's code is seven three nine one."))["receipt"]

    assert [item["receipt"] for item in told(home, "forget", "--verify")] == [first, second]
    (one,) = told(home, "forget", "--verify", first)
    assert (one["receipt"], one["verified"], one["residue"]) == (first, True, [])
    assert "nothing left" in run("forget", "--verify", home=home).out


def test_a_copy_that_somebody_laid_into_the_home_is_found(home: Path) -> None:
    told(home, "forget", remember(home, SECRET))
    (home / "copied.txt").write_text(f"note to self: {SECRET}", encoding="utf-8")

    done = run("forget", "--verify", home=home)

    assert done.code == 1
    assert done.explains("still there", "copied.txt")
    assert run("forget", "--verify", "--json", home=home).json()[0]["residue"]


def test_without_anything_forgotten_there_is_nothing_to_tell(home: Path) -> None:
    assert run("forget", "--receipts", home=home).out.startswith("Nothing was forgotten yet")
    assert run("forget", "--verify", home=home).out.startswith("Nothing was forgotten yet")


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, ["Name one thing"]),
        (["abc", "--subject", "x"], 2, ["Name one thing"]),
        (["abc", "--receipts"], 2, ["Name one thing"]),
        (["abc", "--note", "x.md"], 2, ["Name one thing", "--note"]),
        (["--note", "x.md"], 3, ["x.md", "recollect notes list --gone"]),
        (["--note", "../x.md"], 2, ["../x.md"]),
        (["--verify", "--receipts"], 2, ["Name one thing"]),
        (["zzzz"], 3, ["'zzzz'", "recollect records"]),
        (["--message", "zzzz"], 3, ["'zzzz'"]),
        (["--conversation", "zzzz"], 3, ["'zzzz'"]),
        (["--file", "zzzz"], 3, ["'zzzz'"]),
        (["--subject", "zzzz"], 3, ["'zzzz'"]),
        (["--verify", "zzzz"], 3, ["'zzzz'", "recollect forget --receipts"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_a_mistake_is_named_and_nothing_goes(arguments: list[str], code: int, words: list[str], home: Path) -> None:
    remember(home, SECRET)

    done: Result = run("forget", *arguments, home=home)

    assert (done.code, done.out) == (code, "")
    assert done.explains(*words)
    assert run("forget", *arguments, "--json", home=home).json()["error"]["message"]
    assert len(told(home, "records")) == 1


def test_an_agent_forgets_its_own_and_nothing_else(home: Path, talk: dict[str, Any]) -> None:
    assert run("agents", "add", "ada", home=home).code == 0
    house = remember(home, "The gate is green.")
    own = remember(home, SECRET, "--agent", "ada")

    assert run("forget", house, "--agent", "ada", home=home).code == 4
    assert run("forget", "--message", talk["messages"][0]["id"], "--agent", "ada", home=home).code == 4
    assert told(home, "forget", own, "--agent", "ada")["verified"]
    assert [record["text"] for record in told(home, "records")] == ["The gate is green."]
