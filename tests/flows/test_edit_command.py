"""`recollect edit` and `undo`, and records as agents keep and change them."""

import subprocess
from pathlib import Path

import pytest
from commands import PATIENCE_SECONDS, Result, command, environment, run
from record_commands import RECORD_KEYS, refused, remember, texts, told
from terminals import on_a_terminal

# Changing


def test_an_edit_makes_a_version_and_undo_brings_the_old_one_back(home: Path) -> None:
    made = remember(home, "Beans are sown in April.", "--tag", "garden")

    edited = told(home, "edit", made["id"], "Beans are sown in May.", "--importance", "0.9")
    undone = told(home, "undo", made["id"], "--reason", "it was right")
    chosen = told(home, "undo", made["id"], "--to", 2)

    assert (edited["id"], edited["version"], edited["text"]) == (made["id"], 2, "Beans are sown in May.")
    assert (edited["importance"], edited["tags"]) == (0.9, ["garden"])
    assert (undone["version"], undone["text"], undone["importance"]) == (3, "Beans are sown in April.", 0.5)
    assert (chosen["version"], chosen["text"], chosen["importance"]) == (4, "Beans are sown in May.", 0.9)
    assert len(told(home, "record", made["id"])["versions"]) == 4
    assert "Restored, version 5: " in run("undo", made["id"], home=home).out


def test_a_person_is_told_what_an_edit_did_not_do(home: Path) -> None:
    made = remember(home, "Beans are sown in May.")

    assert "Nothing to change, version 1: " in run("edit", made["id"], "Beans are sown in May.", home=home).out
    again = run("remember", "Beans are sown in May.", "--tag", "garden", home=home).out
    assert "Known already" in again
    assert "`edit` changes them" in again
    assert "Taken back, version 3, retracted: " in run("edit", made["id"], "--retract", home=home).out
    assert "Changed, version 4, retracted: " in run("edit", made["id"], "Beans wait for June.", home=home).out


def test_tags_are_replaced_or_taken_away(home: Path) -> None:
    made = remember(home, "Beans are sown in May.", "--tag", "garden")

    assert told(home, "edit", made["id"], "--tag", "beans", "--tag", "may")["tags"] == ["beans", "may"]
    assert told(home, "edit", made["id"], "--tag", "")["tags"] == []


def test_a_retracted_record_counts_no_more_and_can_come_back(home: Path) -> None:
    made = remember(home, "Beans are sown in April.")

    gone = told(home, "edit", made["id"], "--retract", "--reason", "wrong")

    assert gone["state"] == "retracted"
    assert texts(home) == []
    assert texts(home, "--state", "retracted") == ["Beans are sown in April."]
    assert told(home, "undo", made["id"])["state"] == "current"
    assert texts(home) == ["Beans are sown in April."]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, ["Nothing is to be changed"]),
        (["  "], 2, ["text is empty"]),
        (["x", "--retract"], 2, ["--retract"]),
        (["--category", "gossip"], 2, ["'gossip'", "knowledge, identity, operational"]),
        (["--importance", "2"], 2, ["0 to 1"]),
        (["x", "--version", "7"], 5, ["Beans are sown in April."]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_an_edit_that_cannot_be_leaves_the_record_as_it_was(
    arguments: list[str], code: int, words: list[str], home: Path
) -> None:
    made = remember(home, "Beans are sown in April.")

    assert refused(run("edit", made["id"], *arguments, home=home), code, *words)
    assert told(home, "records") == [{key: made[key] for key in RECORD_KEYS}]


def test_undo_names_a_version_that_was_never_there(home: Path) -> None:
    made = remember(home, "Beans are sown in April.")

    assert refused(run("undo", made["id"], "--to", 9, home=home), 3, "9")


def test_of_two_processes_that_change_one_version_one_wins_and_the_other_reads_both_texts(
    home: Path, engine: str
) -> None:
    made = run("--db", engine, "remember", "Beans are sown in April.", "--json", home=home).json()
    wanted = ["Beans are sown in May.", "Beans are sown in June."]
    processes = [
        subprocess.Popen(
            command("--db", engine, "edit", made["id"], text, "--version", 1),
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for text in wanted
    ]
    done = [Result(process.wait(PATIENCE_SECONDS), *process.communicate()) for process in processes]

    assert sorted(result.code for result in done) == [0, 5], done
    (winner,) = [text for text, result in zip(wanted, done, strict=True) if result.code == 0]
    (loser,) = [result for result in done if result.code == 5]
    assert refused(loser, 5, *wanted)
    value = run("--db", engine, "record", made["id"], "--json", home=home).json()
    assert (value["text"], [version["version"] for version in value["versions"]]) == (winner, [1, 2])


def test_an_editor_opens_on_a_terminal_and_its_text_is_kept(home: Path, tmp_path: Path) -> None:
    made = remember(home, "Beans are sown in April.")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/April/May/ "$1"\n', encoding="utf-8")
    editor.chmod(0o755)

    done = on_a_terminal("edit", made["id"], home=home, EDITOR=str(editor))

    assert done.code == 0, done.out
    assert texts(home) == ["Beans are sown in May."]
    unchanged = on_a_terminal("edit", made["id"], home=home, EDITOR="true")
    assert (unchanged.code, "Nothing was changed" in unchanged.out) == (2, True)


# As an agent


def test_an_agent_keeps_its_own_and_reads_what_is_above_it(home: Path) -> None:
    for name in ("ada", "bo"):
        assert run("agents", "add", name, home=home).code == 0
    house = remember(home, "The gate is green.")
    own = remember(home, "Ada has the key.", "--agent", "ada")

    assert (house["scope"], own["scope"]) == ("house", "ada")
    assert texts(home, "--agent", "ada") == ["Ada has the key.", "The gate is green."]
    assert texts(home, "--agent", "bo") == ["The gate is green."]
    assert texts(home, "--scope", "ada") == ["Ada has the key."]
    assert refused(run("record", own["id"], "--agent", "bo", home=home), 3, own["id"])
    assert refused(run("why", own["id"], "--agent", "bo", home=home), 3, own["id"])
    assert "scope" in run("records", home=home).out.splitlines()[0].split()


def test_an_agent_may_not_write_above_it_without_a_grant(home: Path) -> None:
    assert run("agents", "add", "ada", home=home).code == 0
    house = remember(home, "The gate is green.")

    for arguments in (
        ["remember", "The gate is blue.", "--scope", "house"],
        ["edit", house["id"], "The gate is blue."],
        ["edit", house["id"], "--retract"],
        ["undo", house["id"]],
    ):
        assert refused(run(*arguments, "--agent", "ada", home=home), 4, "ada", "recollect agents grant ada house")
    assert texts(home) == ["The gate is green."]

    assert run("agents", "grant", "ada", "house", home=home).code == 0
    assert told(home, "edit", house["id"], "The gate is blue.", "--agent", "ada")["text"] == "The gate is blue."
    event = told(home, "record", house["id"])["events"][-1]
    assert (event["actor"], event["actor_name"]) == ("agent", "ada")
    assert "edited by ada" in run("why", house["id"], home=home).out
