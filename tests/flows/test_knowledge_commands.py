"""remember, promote, records, record and why as people and programs use them."""

import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from commands import Result, command, environment, run
from record_commands import RECORD_KEYS, refused, remember, texts, told
from terminals import on_a_terminal
from transcripts import Transcript

ESCAPE = "\x1b"


@pytest.fixture
def talk(home: Path, projects: Path) -> dict[str, Any]:
    """A conversation that was taken in, as `show --json` gives it."""
    transcript = Transcript("garden")
    transcript.user("When do I sow beans?")
    transcript.assistant("In the middle of May, after the last frost.")
    transcript.save(projects)
    assert run("ingest", projects, home=home).code == 0
    (listed,) = run("conversations", "--json", home=home).json()
    return run("show", listed["id"], "--json", home=home).json()


# Remembering


def test_what_is_remembered_comes_back_with_every_field(home: Path) -> None:
    made = remember(
        home, "Beans are sown in May.", "--category", "operational", "--tag", "garden", "--tag", "beans",
        "--kind", "fact", "--subject", "beans", "--attribute", "sowing", "--value", "May",
        "--importance", "0.9", "--confidence", "0.8", "--reason", "the packet says so",
    )  # fmt: skip

    assert made.keys() == RECORD_KEYS | {"outcome", "reason", "replaced"}
    assert (made["text"], made["version"], made["state"]) == ("Beans are sown in May.", 1, "current")
    assert (made["kind"], made["category"], made["tags"]) == ("fact", "operational", ["garden", "beans"])
    assert (made["subject"], made["attribute"], made["value"]) == ("beans", "sowing", "May")
    assert (made["importance"], made["confidence"], made["scope"]) == (0.9, 0.8, "house")
    assert (made["origin"], made["outcome"], made["replaced"]) == ("told", "new", None)
    (listed,) = told(home, "records")
    assert listed == {key: made[key] for key in RECORD_KEYS}


def test_a_learning_is_plain_knowledge_unless_it_says_otherwise(home: Path) -> None:
    made = remember(home, "Slugs eat marigolds first.")

    assert (made["kind"], made["category"], made["tags"], made["expires_at"]) == ("learning", "knowledge", [], "")


def test_a_text_can_come_from_standard_input(home: Path) -> None:
    text = "Leeks need a trench.\nEarth them up."

    assert told(home, "remember", "-", given=text + "\n")["text"] == text


def test_the_same_words_twice_are_one_record(home: Path) -> None:
    first = remember(home, "Slugs eat marigolds first.")
    again = remember(home, "slugs eat  marigolds first")

    assert (again["outcome"], again["id"]) == ("same", first["id"])
    assert len(told(home, "records")) == 1


def test_a_statement_about_the_same_thing_takes_its_place(home: Path) -> None:
    key = ("--subject", "Ada", "--attribute", "city")
    old = remember(home, "Ada lives in Ghent.", *key)
    new = remember(home, "Ada lives in Porto.", *key)

    assert (new["outcome"], new["replaces"], new["replaced"]["id"]) == ("replaces", old["id"], old["id"])
    assert texts(home) == ["Ada lives in Porto."]
    assert texts(home, "--state", "replaced") == ["Ada lives in Ghent."]
    assert set(texts(home, "--state", "all")) == {"Ada lives in Porto.", "Ada lives in Ghent."}
    done = run("remember", "Ada lives in Lyon.", *key, home=home)
    assert "in place of what was known" in done.out
    assert "before: Ada lives in Porto." in done.out


def test_the_caller_may_say_what_a_statement_replaces_or_refines(home: Path) -> None:
    old = remember(home, "The shed key hangs in the hall.")
    replacing = remember(home, "The shed key lies in the blue pot.", "--replaces", old["id"])
    refining = remember(home, "The shed key lies in the blue pot by the door.", "--refines", replacing["id"])

    assert (replacing["outcome"], refining["outcome"]) == ("replaces", "refines")
    assert texts(home) == ["The shed key lies in the blue pot by the door."]


def test_people_read_what_was_kept_and_how_to_learn_more(home: Path) -> None:
    done = run("remember", "Slugs eat marigolds first.", home=home)

    first, *_, last = done.out.splitlines()
    assert first == "Remembered: Slugs eat marigolds first."
    _, *arguments = shlex.split(last)
    assert "Slugs eat marigolds first." in run(*arguments, home=home).out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["remember", "  "], 2, ["text is empty"]),
        (["remember", ""], 2, ["text is empty"]),
        (["remember"], 2, ["TEXT"]),
        (["remember", "x", "--category", "gossip"], 2, ["'gossip'", "knowledge, identity, operational"]),
        (["remember", "x", "--kind", "rumour"], 2, ["'rumour'", "fact", "learning"]),
        (["remember", "x", "--importance", "7"], 2, ["importance", "0 to 1"]),
        (["remember", "x", "--confidence", "much"], 2, ["--confidence"]),
        (["remember", "x", "--attribute", "city"], 2, ["subject"]),
        (["remember", "x", "--tag", " "], 2, ["tag"]),
        (["remember", "x", "--expires", "purple"], 2, ["'purple'", "2026-05-01"]),
        (["remember", "x", "--expires", "2020-01-01"], 2, ["'2020-01-01'", "was over at 2020-01-02 00:00"]),
        (["remember", "x", "--replaces", "zzzz"], 3, ["'zzzz'", "recollect records"]),
        (["remember", "x", "--replaces", "a", "--refines", "b"], 2, ["--replaces", "--refines"]),
        (["remember", "x", "--agent", "marvin"], 3, ["'marvin'", "recollect agents"]),
        (["remember", "x", "--scope", "attic"], 3, ["'attic'"]),
        (["promote", "zzzz"], 3, ["'zzzz'"]),
        (["records", "--category", "gossip"], 2, ["'gossip'", "knowledge, identity, operational"]),
        (["records", "--kind", "rumour"], 2, ["'rumour'", "fact"]),
        (["records", "--state", "lost"], 2, ["'lost'", "retracted"]),
        (["records", "--as-of", "purple"], 2, ["'purple'"]),
        (["records", "--limit", "0"], 2, ["--limit"]),
        (["record", "zzzz"], 3, ["'zzzz'", "recollect records"]),
        (["record", ""], 3, ["recollect records"]),
        (["why", "zzzz"], 3, ["'zzzz'", "recollect records"]),
        (["edit", "zzzz", "x"], 3, ["'zzzz'", "recollect records"]),
        (["undo", "zzzz"], 3, ["'zzzz'", "recollect records"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_a_mistake_is_named_with_the_next_step(arguments: list[str], code: int, words: list[str], home: Path) -> None:
    assert refused(run(*arguments, home=home), code, *words)
    assert run(*arguments, "--json", home=home).json()["error"]["message"]
    assert told(home, "records", "--state", "all") == []


def test_a_text_of_ten_megabytes_is_refused_and_nothing_is_kept(home: Path) -> None:
    known = remember(home, "Slugs eat marigolds first.")
    huge = "All the beans. " * 700_000

    assert refused(run("remember", "-", home=home, given=huge), 2, "10,500,000 bytes", "1,000,000")
    assert refused(run("edit", known["id"], "-", home=home, given=huge), 2, "1,000,000")
    assert told(home, "records", "--state", "all") == [{key: known[key] for key in RECORD_KEYS}]


def test_input_that_is_no_text_is_refused(home: Path) -> None:
    done = subprocess.run(
        command("remember", "-"), env=environment(home), input=b"\xff\xfe\x00", capture_output=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"not UTF-8" in done.stderr


@pytest.mark.parametrize(("option", "code"), [("--scope", 3), ("--agent", 3), ("--reason", 2), ("--tag", 2)])
def test_an_argument_that_is_no_text_is_refused(option: str, code: int, home: Path) -> None:
    arguments = [*command("remember", "x", option), b"\xff"]
    done = subprocess.run(arguments, env=environment(home), capture_output=True, text=True, check=False)

    assert refused(Result(done.returncode, done.stdout, done.stderr), code)
    assert told(home, "records") == []


def test_a_statement_that_is_no_text_is_refused(home: Path) -> None:
    arguments = [*command("remember", "--json"), b"\xff\xfe"]
    done = subprocess.run(arguments, env=environment(home), capture_output=True, text=True, check=False)

    assert refused(Result(done.returncode, "", done.stderr), 2, "not UTF-8")
    assert told(home, "records") == []


# Promoting


def test_a_message_becomes_a_learning_that_knows_where_it_is_from(home: Path, talk: dict[str, Any]) -> None:
    said = talk["messages"][1]

    made = told(home, "promote", said["id"], "--tag", "garden", "--category", "operational")

    assert (made["text"], made["origin"]) == ("In the middle of May, after the last frost.", "promoted")
    assert (made["tags"], made["category"]) == (["garden"], "operational")
    assert [source["message"] for source in made["sources"]] == [said["id"]]


def test_a_message_is_promoted_in_better_words(home: Path, talk: dict[str, Any]) -> None:
    said = talk["messages"][1]

    made = told(home, "promote", said["id"], "--text", "Beans are sown in the middle of May.")

    assert made["text"] == "Beans are sown in the middle of May."
    assert told(home, "why", made["id"])["sources"][0]["message"] == said["id"]
    assert refused(run("promote", said["id"], "--text", " ", home=home), 2, "text is empty")


# Listing


@pytest.fixture
def garden(home: Path) -> Path:
    remember(home, "Beans are sown in May.", "--tag", "garden", "--tag", "beans", "--subject", "beans")
    remember(home, "Ada prefers tea.", "--kind", "preference", "--category", "identity", "--subject", "Ada")
    remember(home, "Water on Fridays.", "--category", "operational", "--tag", "garden", "--expires", "in 30 days")
    return home


def test_records_are_listed_newest_first_and_narrowed(garden: Path) -> None:
    assert texts(garden) == ["Water on Fridays.", "Ada prefers tea.", "Beans are sown in May."]
    assert texts(garden, "--limit", 1) == ["Water on Fridays."]
    assert texts(garden, "--kind", "preference") == ["Ada prefers tea."]
    assert texts(garden, "--category", "operational") == ["Water on Fridays."]
    assert texts(garden, "--tag", "garden") == ["Water on Fridays.", "Beans are sown in May."]
    assert texts(garden, "--tag", "garden", "--tag", "beans") == ["Beans are sown in May."]
    assert texts(garden, "--subject", "ada") == ["Ada prefers tea."]
    assert texts(garden, "--scope", "house", "--tag", "beans") == ["Beans are sown in May."]
    assert texts(garden, "--tag", "weeds") == []


def test_people_read_a_table_whose_ids_name_the_records(garden: Path) -> None:
    done = run("records", home=garden)

    heading, *rows = done.out.splitlines()
    assert heading.split() == ["id", "learned", "category", "kind", "text"]
    assert len(rows) == 3
    assert rows[0].endswith("Water on Fridays. #garden")
    for row, text in zip(rows, texts(garden), strict=True):
        assert text in run("record", row.split()[0], home=garden).out


def test_an_empty_list_says_how_to_begin(home: Path) -> None:
    done = run("records", home=home)

    assert (done.code, done.out.startswith("No records. `recollect remember TEXT`")) == (0, True)


def test_what_was_believed_and_what_was_true_is_answered_for_a_day(home: Path) -> None:
    key = ("--subject", "Ada", "--attribute", "city")
    remember(home, "Ada lives in Ghent.", *key, "--true-from", "2020-01-01")
    remember(home, "Ada lives in Porto.", *key, "--true-from", "2024-06-01")

    assert texts(home, "--true-at", "2022-05-01") == ["Ada lives in Ghent."]
    assert texts(home, "--true-at", "2024-06-01") == ["Ada lives in Porto."]
    assert texts(home, "--true-at", "2019-05-01") == []
    assert texts(home, "--as-of", "today") == ["Ada lives in Porto."]
    assert texts(home, "--as-of", "yesterday") == []


def test_a_statement_holds_on_the_day_until_whose_end_it_is_true(home: Path) -> None:
    remember(home, "The shed is rented.", "--true-from", "2024-01-01", "--true-until", "2024-01-31")

    assert texts(home, "--true-at", "2024-01-31") == ["The shed is rented."]
    assert texts(home, "--true-at", "2024-02-01") == []


def test_what_was_true_before_what_is_known_is_kept_as_that(home: Path) -> None:
    key = ("--subject", "Ada", "--attribute", "city")
    remember(home, "Ada lives in Porto.", *key, "--true-from", "2024-06-01")

    done = run("remember", "Ada lives in Ghent.", *key, "--true-from", "2020-01-01", home=home)

    assert done.out.startswith("Remembered as what was true until 2024-06-01 00:00: Ada lives in Ghent.\n")
    assert texts(home) == ["Ada lives in Porto."]
    assert texts(home, "--true-at", "2022-05-01") == ["Ada lives in Ghent."]


def test_days_are_those_of_the_persons_zone(home: Path) -> None:
    given = ("--true-from", "2026-05-01", "--true-until", "2026-05-01", "--json")
    made = run("remember", "The gate is open.", *given, home=home, variables={"TZ": "Asia/Tokyo"}).json()

    assert (made["true_from"], made["true_until"]) == ("2026-04-30T15:00:00.000Z", "2026-05-01T15:00:00.000Z")


def test_an_expired_learning_is_left_out_until_it_is_asked_for(garden: Path) -> None:
    (water, *_) = told(garden, "records")
    in_days = datetime.fromisoformat(water["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29) < in_days <= timedelta(days=30)

    ended = told(garden, "edit", water["id"], "--expires", "now")

    assert ended["expires_at"] < water["expires_at"]
    assert "Water on Fridays." not in texts(garden)
    assert "Water on Fridays." in texts(garden, "--expired")
    assert "Water on Fridays." in run("record", water["id"], home=garden).out
    assert told(garden, "edit", water["id"], "--expires", "never")["expires_at"] == ""
    assert "Water on Fridays." in texts(garden)


# One record


def test_a_record_is_told_with_versions_events_and_sources(home: Path, talk: dict[str, Any]) -> None:
    said = talk["messages"][1]
    made = told(home, "promote", said["id"])
    told(home, "edit", made["id"], "Sow beans in the middle of May.", "--reason", "shorter")

    value = told(home, "record", made["id"], "--history")

    assert value.keys() >= RECORD_KEYS | {"versions", "events", "sources"}
    assert [version["text"] for version in value["versions"]] == [said["text"], "Sow beans in the middle of May."]
    assert [(event["version"], event["actor"], event["reason"]) for event in value["events"]][-1] == (
        2,
        "person",
        "shorter",
    )
    (source,) = value["sources"]
    assert (source["message"], source["there"]) == (said["id"], True)
    assert told(home, "record", made["id"]) == value


def test_people_read_a_record_with_each_change_of_it(home: Path) -> None:
    made = remember(home, "Beans are sown in April.", "--tag", "garden", "--subject", "beans")
    told(home, "edit", made["id"], "Beans are sown in May.", "--tag", "garden", "--tag", "beans", "--reason", "frost")

    short = run("record", made["id"], home=home).out
    whole = run("record", made["id"], "--history", home=home).out

    assert short.splitlines()[0] == "Beans are sown in May."
    assert made["id"] in short
    assert "garden, beans" in short
    assert "April" not in short
    assert whole.startswith(short)
    assert "edited by you (version 2): frost" in whole
    assert "- Beans are sown in April." in whole
    assert "+ Beans are sown in May." in whole
    assert "tags: garden → garden, beans" in whole


def test_why_tells_words_message_decision_and_what_was_replaced(home: Path, talk: dict[str, Any]) -> None:
    said = talk["messages"][1]
    old = remember(home, "Beans are sown in April.")
    made = told(home, "promote", said["id"])
    new = remember(home, "Beans are sown in mid May.", "--replaces", old["id"], "--reason", "asked the neighbour")

    promoted, replaced = told(home, "why", made["id"]), told(home, "why", new["id"])

    assert promoted.keys() == {"record", "sources", "events", "versions", "replaced", "replaced_by"}
    (source,) = promoted["sources"]
    assert source.keys() == {"message", "quote", "at", "author", "file", "line", "conversation", "there"}
    assert (source["author"], source["line"], source["conversation"]) == ("assistant", said["line"], talk["id"])
    assert (source["at"], source["file"]) == (said["at"], said["file"])
    assert [record["id"] for record in replaced["replaced"]] == [old["id"]]
    assert replaced["events"][0]["reason"] == "asked the neighbour"
    assert [record["id"] for record in told(home, "why", old["id"])["replaced_by"]] == [new["id"]]


def test_people_read_the_whole_chain(home: Path, talk: dict[str, Any]) -> None:
    old = remember(home, "Beans are sown in April.")
    made = told(home, "promote", talk["messages"][1]["id"], "--text", "Beans are sown in May.")
    new = remember(home, "Sow beans in mid May.", "--replaces", old["id"], "--reason", "asked the neighbour")

    promoted = run("why", made["id"], home=home).out
    replaced = run("why", new["id"], home=home).out

    assert promoted.startswith("Beans are sown in May.\n")
    assert "“In the middle of May, after the last frost.”" in promoted
    assert "Assistant" in promoted
    assert ".jsonl:2" in promoted
    shown = next(line for line in promoted.splitlines() if " show " in line)
    assert "When do I sow beans?" in run(*shlex.split(shown)[1:], home=home).out
    assert "created by you" in promoted
    assert "asked the neighbour" in replaced
    assert "In place of\n  Beans are sown in April." in replaced
    assert "Replaced by\n  Sow beans in mid May." in run("why", old["id"], home=home).out


def test_a_record_cannot_command_the_terminal(home: Path) -> None:
    made = remember(home, "Beans \x1b]0;owned\x07 and \x1b[31mpeas\x1b[0m", "--tag", "green", "--reason", "\x1b[2J!")

    for arguments in (["records"], ["record", made["id"], "--history"], ["why", made["id"]], ["undo", made["id"]]):
        assert not {ESCAPE, "\x07"} & set(run(*arguments, home=home).out)


@pytest.mark.parametrize("arguments", [["records"], ["record"], ["why"]], ids=" ".join)
def test_there_are_colours_on_a_terminal_and_nowhere_else(arguments: list[str], home: Path) -> None:
    made = remember(home, "Beans are sown in May.")
    named = arguments if arguments == ["records"] else [*arguments, made["id"]]

    assert ESCAPE in on_a_terminal(*named, home=home).out
    assert ESCAPE not in run(*named, home=home).out
