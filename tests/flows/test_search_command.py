"""`recollect search` and `recollect reindex` as people and programs use them, without a daemon."""

import os
import pty
import shlex
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import commands
import pytest
from commands import PATIENCE_SECONDS, Result, run
from transcripts import START, Transcript, append, line, subagent, write

HIT_KEYS = {
    "kind", "id", "text", "at", "score", "conversation", "session_id", "file", "line",
    "author", "source", "project", "snippet", "highlights", "resume",
}  # fmt: skip


def beans() -> Transcript:
    told = Transcript("garden")
    told.user("When do I sow beans?")
    told.assistant("In the middle of May, after the last frost.")
    told.user("And the leeks, do they need a trench?")
    told.assistant("A trench helps: earth them up as they grow.")
    return told


@pytest.fixture
def house(home: Path, projects: Path) -> Path:
    """A garden, a bridge with a sub-agent, and a log of another program."""
    beans().save(projects)
    bridge = Transcript("bridge", start=START + timedelta(days=20), cwd="/home/ada/the bridge")
    bridge.user("How wide is the arch of the bridge?")
    bridge.assistant("Forty metres from pier to pier.")
    bridge.save(projects)
    helper = subagent(bridge, "a1b2c3d", start=START + timedelta(days=20))
    helper.user("Measure the keystone.")
    helper.assistant("The keystone weighs two tonnes.")
    helper.save(projects)
    write(
        projects.parent / "dinner.jsonl",
        b'{"author": "user", "text": "A chickpea stew for six?", "at": "2026-04-02T17:00:00Z", "id": "1"}\n',
    )
    assert run("ingest", projects, projects.parent / "dinner.jsonl", home=home).code == 0
    return home


def found(home: Path, *arguments: object) -> dict[str, Any]:
    done = run("search", *arguments, "--json", home=home)
    assert done.code == 0, done.err
    assert done.err == ""
    return done.json()


def texts(home: Path, *arguments: object) -> list[str]:
    return [hit["text"] for hit in found(home, *arguments)["hits"]]


# JSON


def test_a_hit_says_what_was_said_where_and_by_whom(house: Path) -> None:
    answer = found(house, "sow beans")
    best = answer["hits"][0]

    assert answer.keys() == {"hits", "milliseconds", "periods", "lacks"}
    assert answer["milliseconds"] > 0
    assert best.keys() >= HIT_KEYS
    assert "why" not in best
    assert (best["kind"], best["text"], best["author"]) == ("message", "When do I sow beans?", "user")
    assert (best["source"], best["project"], best["line"]) == ("claude-code", "/home/ada/garden", 1)
    assert [best["snippet"][start:end] for start, end in best["highlights"]] == ["sow", "beans"]
    assert best["file"].endswith(f"{best['session_id']}.jsonl")
    assert best["resume"] == f"cd /home/ada/garden && claude --resume {best['session_id']}"
    shown = run("show", best["conversation"], "--json", home=house).json()
    assert best["id"] in [message["id"] for message in shown["messages"]]


def test_each_filter_leaves_out_what_it_should(house: Path) -> None:
    everything = texts(house, "beans arch keystone stew", "--limit", 50)
    assert len(everything) == 8

    assert set(texts(house, "beans", "--author", "assistant", "--author", "subagent")) == {
        "In the middle of May, after the last frost.",
        "A trench helps: earth them up as they grow.",
        "Forty metres from pier to pier.",
        "The keystone weighs two tonnes.",
    }
    assert texts(house, "beans", "--source", "generic") == ["A chickpea stew for six?"]
    assert len(texts(house, "beans", "--project", "garden")) == 4
    assert len(texts(house, "beans", "--project", "garden", "--project", "bridge")) == 6
    assert texts(house, "beans", "--status", "archived") == []
    conversation = found(house, "how wide is the arch")["hits"][0]["conversation"]
    assert len(texts(house, "beans", "--conversation", conversation)) == 2
    assert len(texts(house, "beans", "--limit", 3)) == 3


def test_since_begins_and_until_ends_with_the_stretch_it_names(house: Path) -> None:
    day = (START + timedelta(days=20)).date().isoformat()

    assert len(texts(house, "beans", "--since", day)) == 4
    assert len(texts(house, "beans", "--since", day, "--until", day)) == 3
    assert len(texts(house, "beans", "--as-of", START.date().isoformat())) == 4
    assert len(texts(house, "beans", "--until", f"{day}T00:00")) == 4
    assert texts(house, "beans", "--since", "yesterday") == []


def test_a_time_in_the_question_is_told(house: Path) -> None:
    (period,) = found(house, "what was said on 2 April 2026?")["periods"]

    assert (period["start"], period["end"]) == ("2026-04-02T00:00:00.000Z", "2026-04-03T00:00:00.000Z")


def test_explaining_gives_parts_that_add_up(house: Path) -> None:
    for hit in found(house, "sow beans", "--explain")["hits"]:
        assert {"keyword", "closeness"} <= hit["why"].keys()
        assert sum(hit["why"].values()) == pytest.approx(hit["score"], abs=0.01)


def test_what_was_taken_in_since_is_found(house: Path, projects: Path) -> None:
    assert "Quinces keep until March." not in texts(house, "quinces", "--limit", 50)
    told = beans()
    told.assistant("Quinces keep until March.")
    append(next(projects.rglob(f"{told.session_id}.jsonl")), line(told.records[-1]))
    assert run("ingest", projects, home=house).code == 0

    assert texts(house, "quinces")[0] == "Quinces keep until March."


def test_the_fast_search_and_the_reranking_one_say_what_they_lack(house: Path) -> None:
    assert found(house, "beans")["lacks"] == ["the deep model is not here: `recollect models pull` fetches it"]
    assert found(house, "beans", "--fast")["lacks"] == []
    assert any("reranking" in lack for lack in found(house, "beans", "--rerank")["lacks"])


def test_facts_and_notes_are_empty_and_say_so(house: Path) -> None:
    for kind in ("facts", "notes"):
        answer = found(house, "beans", "--type", kind)
        assert answer["hits"] == []
        assert kind in answer["lacks"][0]
    assert texts(house, "beans", "--type", "conversations") == texts(house, "beans")


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["  "], 2, ["nothing to search for", "recollect search"]),
        (["beans", "--limit", "0"], 2, ["--limit"]),
        (["beans", "--type", "dreams"], 2, ["--type"]),
        (["beans", "--author", "tool"], 2, ["author", "'tool'", "assistant"]),
        (["beans", "--source", "netscape"], 2, ["source", "'netscape'", "claude-code"]),
        (["beans", "--status", "lost"], 2, ["status", "'lost'", "ready"]),
        (["beans", "--since", "purple"], 2, ["'purple'", "2026-05-01"]),
        (["beans", "--since", "2026-05-01", "--until", "2026-04-01"], 2, ["upside down"]),
        (["beans", "--conversation", "zzzz"], 3, ["'zzzz'", "recollect conversations"]),
        (["beans", "--agent", "marvin"], 3, ["'marvin'"]),
        ([], 2, ["QUERY"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_a_mistake_is_named_with_the_next_step(arguments: list[str], code: int, words: list[str], house: Path) -> None:
    done = run("search", *arguments, home=house)

    assert done.code == code
    assert done.out == ""
    assert done.explains(*words)
    assert run("search", *arguments, "--json", home=house).json()["error"]["message"]


@pytest.mark.parametrize("query", ['"', "NEAR(", "a AND", "*", "'; DROP TABLE recall_documents; --", "🫘", "%_\\"])
def test_signs_that_mean_something_to_an_engine_are_only_text(query: str, house: Path) -> None:
    assert run("search", "--", query, home=house).code == 0
    assert len(texts(house, "beans", "--limit", 50)) == 8


def test_a_very_long_question_is_answered(house: Path) -> None:
    assert texts(house, "beans frost " * 8_000)


# For people


def test_people_read_when_who_where_and_how_to_go_on(house: Path) -> None:
    done = run("search", "sow beans", "--limit", 1, home=house)
    heading, snippet, show, resume, _, note = done.out.splitlines()

    assert heading.split("  ")[1:] == ["You", "garden", "claude-code"]
    assert snippet == "    When do I sow beans?"
    assert "the deep model is not here" in note
    _, *arguments = shlex.split(show)
    assert "When do I sow beans?" in run(*arguments, home=house).out
    assert resume.strip().startswith("cd /home/ada/garden && claude --resume ")


def test_what_a_sub_agent_said_is_shown_with_its_session(house: Path) -> None:
    done = run("search", "keystone tonnes", "--author", "subagent", "--limit", 1, home=house)

    assert "Sub-agent" in done.out
    _, *arguments = shlex.split(done.out.splitlines()[2])
    assert "The keystone weighs two tonnes." in run(*arguments, home=house).out


def test_a_log_of_another_program_cannot_be_resumed(house: Path) -> None:
    done = run("search", "chickpea stew", "--source", "generic", home=house)

    assert "recollect show" in done.out
    assert "--resume" not in done.out
    assert found(house, "chickpea stew", "--source", "generic")["hits"][0]["resume"] == ""


def test_a_folder_with_a_space_is_quoted(house: Path) -> None:
    assert "cd '/home/ada/the bridge' && claude" in run("search", "arch", "--limit", 1, home=house).out


def test_the_explanation_is_a_table(house: Path) -> None:
    done = run("search", "sow beans", "--explain", "--limit", 2, home=house)
    heading = next(line for line in done.out.splitlines() if line.startswith("hit"))

    assert {"keyword", "closeness", "score"} <= set(heading.split())


def test_nothing_found_is_no_error_and_says_what_to_do(house: Path, home: Path) -> None:
    done = run("search", "beans", "--since", "yesterday", home=house)

    assert done.code == 0
    assert done.out.startswith("Nothing was found.")
    assert "recollect health" in done.out


def test_an_empty_home_is_searched_without_a_complaint(tmp_path: Path) -> None:
    done = run("search", "beans", home=tmp_path / "new")

    assert (done.code, done.out.startswith("Nothing was found.")) == (0, True)


def seen_on_a_terminal(*arguments: object, home: Path) -> str:
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        commands.command(*arguments),
        env=commands.environment(home, TERM="xterm-256color"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(own, 65_536):
            seen += part
    except OSError:  # Linux says so when the other end is closed.
        pass
    os.close(own)
    assert process.wait(PATIENCE_SECONDS) == 0, seen
    return seen.decode()


def test_matched_words_stand_out_on_a_terminal_only(house: Path) -> None:
    assert "When do I \x1b[1;33msow\x1b[0m \x1b[1;33mbeans\x1b[0m?" in seen_on_a_terminal(
        "search", "sow beans", home=house
    )
    assert "\x1b" not in run("search", "sow beans", home=house).out


def test_a_message_cannot_command_the_terminal(home: Path, projects: Path) -> None:
    told = Transcript("attack", cwd="/home/ada/\x1b[2Jgarden")
    told.user("Beans \x1b]0;owned\x07 and \x1b[31mpeas\x1b[0m")
    told.save(projects)
    assert run("ingest", projects, home=home).code == 0

    done = run("search", "beans peas", home=home)

    assert done.code == 0
    assert not {"\x1b", "\x07"} & set(done.out)


def test_a_bar_is_shown_when_much_is_to_be_indexed(home: Path, projects: Path) -> None:
    Transcript("long", step_seconds=1).exchanges(1_200).save(projects)
    assert run("ingest", projects, home=home).code == 0

    assert "Indexing" in seen_on_a_terminal("search", "question", home=home)
    assert "Indexing" not in seen_on_a_terminal("search", "question", home=home)


# The index


def test_reindexing_changes_the_generation_and_no_answer(house: Path) -> None:
    before = found(house, "arch beans", "--limit", 50)["hits"]
    generation = run("health", "--json", home=house).json()["index"]["generation"]

    done = run("reindex", "--json", home=house)

    assert done.code == 0
    value = done.json()
    assert value.keys() == {"documents", "deepened", "seconds", "generation"}
    assert (value["documents"], value["deepened"], value["generation"] > generation) == (8, 0, True)
    assert found(house, "arch beans", "--limit", 50)["hits"] == before
    assert "8 documents indexed" in run("reindex", home=house).out


def test_deepening_without_the_model_says_so(house: Path) -> None:
    assert "recollect models pull" in run("reindex", "--deepen", home=house).out


def test_an_index_that_was_deleted_by_hand_is_made_again(house: Path) -> None:
    before = found(house, "arch beans", "--limit", 50)["hits"]
    for path in house.glob("recollect.recall.db*"):
        path.unlink()

    assert found(house, "arch beans", "--limit", 50)["hits"] == before


@pytest.mark.parametrize("damage", [b"no database at all" * 500, b""])
def test_a_damaged_index_is_built_again(house: Path, damage: bytes) -> None:
    before = found(house, "arch beans")["hits"]
    for path in house.glob("recollect.recall.db*"):
        path.unlink()
    (house / "recollect.recall.db").write_bytes(damage)

    assert found(house, "arch beans")["hits"] == before


def test_an_index_that_is_damaged_inside_is_built_again(house: Path) -> None:
    before = found(house, "arch beans")["hits"]
    path = house / "recollect.recall.db"
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"x" * (len(content) - 4096))

    assert found(house, "arch beans")["hits"] == before


def finding(home: Path, check: str) -> dict[str, str]:
    findings: Result = run("doctor", "--json", home=home)
    return next(item for item in findings.json()["findings"] if item["check"] == check)


def test_health_and_doctor_tell_how_far_the_index_is(house: Path) -> None:
    index = run("health", "--json", home=house).json()["index"]
    assert (index["documents"], index["waiting"]) == (0, 8)
    stale = finding(house, "index")
    assert (stale["level"], "8 are new" in stale["message"]) == ("warning", True)

    found(house, "beans")

    index = run("health", "--json", home=house).json()["index"]
    assert (index["documents"], index["waiting"], index["deepened"]) == (8, 0, 0)
    assert index["generation"] > 0
    assert (index["deep_model"], index["models"]["e5-small-v2"]) == ("", "not here")
    assert index["bytes"] > 10_000
    assert finding(house, "index")["level"] == "ok"
    assert finding(house, "models")["next_step"].endswith("recollect models pull")
    assert "Index          8 messages, records and notes, 0 waiting" in run("health", home=house).out


def test_days_are_those_of_the_persons_zone(house: Path) -> None:
    done = run("search", "said on 2 April 2026?", "--json", home=house, variables={"TZ": "Asia/Tokyo"})

    assert done.json()["periods"][0]["start"] == "2026-04-01T15:00:00.000Z"
