"""The command line as other programs and people use it: its JSON, its words, its exit codes."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import commands
import pytest
from commands import Result, run
from transcripts import PROJECT, START, Transcript, subagent, text, thinking, tool_use

from recollect import __version__
from recollect.surfaces.cli.main import COMMANDS, app, main

INGEST_KEYS = {
    "files", "ingested", "skipped", "failed", "messages_added", "lines", "lines_parsed", "lines_bad", "types", "blocks",
    "bytes_read", "seconds", "problems",
}  # fmt: skip
CONVERSATION_KEYS = {
    "id", "session_id", "file", "source", "project", "started_at", "ended_at", "messages", "status", "title", "thread",
}  # fmt: skip
MESSAGE_KEYS = {"id", "author", "at", "text", "blocks", "tools", "cwd", "session_id", "file", "line"}

Call = Callable[..., Result]


def garden() -> Transcript:
    told = Transcript("garden")
    told.user("When do I sow beans?")
    told.assistant(thinking("May."), text("In the middle of May."), tool_use("Bash", "toolu_1", command="cal 5"))
    told.tool_result("toolu_1", "May 2026")
    told.assistant("After the last frost.")
    return told


@pytest.fixture
def call(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """The console script's function, in this process: what is asked of every command need not cost a process each."""
    for name, value in commands.environment(home).items():
        monkeypatch.setenv(name, value)
    time.tzset()

    def call_main(*arguments: object) -> Result:
        monkeypatch.setattr("sys.argv", ["recollect", *(str(argument) for argument in arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Result(int(ended.value.code or 0), shown.out, shown.err)

    yield call_main
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def house(call: Call, projects: Path) -> Path:
    """Two sessions, one of them in another project and with a sub-agent, taken in."""
    first = garden()
    first.save(projects)
    second = Transcript("bridge", start=START + timedelta(days=1), cwd="/home/ada/bridge")
    second.exchanges(3, about="arches")
    second.save(projects)
    helper = subagent(second, "a1b2c3d", start=START + timedelta(days=1, seconds=20))
    helper.user("Look up the span.")
    helper.assistant("Forty metres.")
    helper.save(projects)
    assert call("ingest", projects, "--json").code == 0
    return projects


def listed(call: Call, *arguments: object) -> list[dict[str, Any]]:
    return call("conversations", "--json", *arguments).json()


# One JSON document


def test_ingest_reports_what_it_did(call: Call, projects: Path) -> None:
    garden().save(projects)

    report = call("ingest", projects, "--json").json()

    assert report.keys() >= INGEST_KEYS
    assert (report["files"], report["ingested"], report["skipped"], report["failed"]) == (1, 1, 0, 0)
    assert (report["lines"], report["lines_parsed"], report["lines_bad"]) == (6, 6, 0)
    assert report["messages_added"] == 4
    assert report["types"] == {"user": 2, "assistant": 4}
    assert report["blocks"]["assistant:text"] == 2
    again = call("ingest", projects, "--json").json()
    assert (again["ingested"], again["skipped"], again["messages_added"], again["bytes_read"]) == (0, 1, 0, 0)


def test_a_bad_line_is_named_with_its_number(call: Call, projects: Path) -> None:
    path = garden().save(projects)
    path.write_bytes(path.read_bytes() + b'{"type":"user","uui\n')

    done = call("ingest", path, "--json")

    assert done.code == 0
    assert [(problem["file"], problem["line"]) for problem in done.json()["problems"]] == [(str(path), 7)]


def test_conversations_are_listed_latest_first(call: Call, house: Path) -> None:
    found = listed(call)

    assert [item["project"] for item in found] == ["/home/ada/bridge", PROJECT]
    assert all(item.keys() >= CONVERSATION_KEYS for item in found)
    assert found[1]["title"] == "When do I sow beans?"
    assert (found[1]["messages"], found[1]["status"], found[1]["source"]) == (3, "ready", "claude-code")


def test_conversations_are_chosen_by_status_project_and_number(call: Call, house: Path) -> None:
    assert len(listed(call, "--status", "ready")) == 2
    assert listed(call, "--status", "archived") == []
    assert [item["project"] for item in listed(call, "--project", "BRIDGE")] == ["/home/ada/bridge"]
    assert len(listed(call, "--limit", 1)) == 1


def test_show_gives_the_messages_of_a_conversation(call: Call, house: Path) -> None:
    chosen = listed(call, "--project", "garden")[0]

    shown = call("show", chosen["id"], "--json").json()

    assert shown.keys() >= CONVERSATION_KEYS | {"messages"}
    assert all(message.keys() >= MESSAGE_KEYS for message in shown["messages"])
    assert [message["author"] for message in shown["messages"]] == ["user", "assistant", "assistant"]
    assert shown["messages"][1]["tools"] == ["Bash"]
    assert [block["type"] for block in shown["messages"][1]["blocks"]] == ["thinking", "text", "tool_call"]
    assert shown["messages"][0]["line"] == 1


def test_a_conversation_is_found_by_the_start_of_its_id_and_by_its_session(call: Call, house: Path) -> None:
    chosen = listed(call)[0]

    for name in (chosen["id"][:8], chosen["session_id"], chosen["session_id"][:13]):
        assert call("show", name, "--json").json()["id"] == chosen["id"]


def test_show_tells_the_ids_of_messages_when_asked(call: Call, house: Path) -> None:
    chosen = listed(call, "--project", "garden")[0]
    ids = [message["id"] for message in call("show", chosen["id"], "--json").json()["messages"]]

    assert all(one in call("show", chosen["id"], "--ids").out for one in ids)
    assert not any(one in call("show", chosen["id"]).out for one in ids)


def test_show_all_adds_tools_and_sub_agents(call: Call, house: Path) -> None:
    first, second = listed(call, "--project", "garden")[0], listed(call, "--project", "bridge")[0]

    assert "tool" in [message["author"] for message in call("show", first["id"], "--all", "--json").json()["messages"]]
    everything = call("show", second["id"], "--all", "--json").json()["messages"]
    helpers = [message for message in everything if message["author"] == "subagent"]
    assert helpers
    assert all("/subagents/agent-a1b2c3d.jsonl" in message["file"] for message in helpers)


def test_show_thread_reads_over_silences_and_resumes(call: Call, projects: Path) -> None:
    told = Transcript("long talk").exchanges(2, about="soil")
    told.wait(hours=5)
    told.exchanges(1, about="rain")
    fork = told.fork("long talk resumed")
    fork.exchanges(1, about="hail")
    told.save(projects)
    fork.save(projects)
    call("ingest", projects)
    found = listed(call)
    last = found[0]

    thread = call("show", last["id"], "--thread", "--json").json()["messages"]

    assert len({item["thread"] for item in found}) == 1
    words = " ".join(message["text"] for message in thread)
    assert words.index("soil") < words.index("rain") < words.index("hail")
    assert len({message["id"] for message in thread}) == len(thread)


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["health"], {"conversations", "messages", "files", "vault", "database", "paused_since"}),
        (["sql"], {"views"}),
        (["sql", "SELECT count(*) AS n FROM messages"], {"columns", "rows"}),
        (["pause"], {"paused", "since"}),
        (["resume"], {"paused", "since", "until"}),
        (["doctor"], {"ok", "findings"}),
        (["up", "--once"], {"roots"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_other_command_gives_one_json_document(
    arguments: list[str], keys: set[str], call: Call, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(house.parent))

    done = call(*arguments, "--json")

    assert done.code == 0
    assert done.json().keys() >= keys
    assert done.err == ""


def test_sql_answers_questions(call: Call, house: Path) -> None:
    answer = call("sql", "SELECT author, count(*) AS n FROM messages GROUP BY author ORDER BY author", "--json").json()

    assert answer["columns"] == ["author", "n"]
    assert dict(answer["rows"]) == {"assistant": 5, "machine": 1, "subagent": 1, "tool": 1, "user": 4}
    assert "conversations" in call("sql").out
    assert call("sql", "SELECT author FROM messages", "--limit", 2).out.count("\n") == 3


def test_pause_keeps_everything_out_until_resume(call: Call, projects: Path) -> None:
    garden().save(projects)
    since = call("pause", "--json").json()["since"]

    refused = call("ingest", projects, "--json")

    assert refused.code == 6
    assert refused.explains("paused", "recollect resume")
    assert call("health", "--json").json()["paused_since"] == since
    ended = call("resume", "--json").json()
    assert (ended["paused"], ended["since"]) == (False, since)
    assert call("ingest", projects, "--json").json()["messages_added"] == 4
    assert call("resume").out == "It was not paused.\n"


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["conversations"], 0, []),
        (["frobnicate"], 2, ["frobnicate"]),
        (["ingest"], 2, ["PATHS"]),
        (["conversations", "--limit", "0"], 2, ["--limit"]),
        (["conversations", "--status", "lost"], 2, ["lost", "active"]),
        (["ingest", ".", "--source", "pigeon"], 2, ["pigeon", "claude-code"]),
        (["sql", "SELEC 1"], 2, ["views"]),
        (["sql", "SELECT 1; SELECT 2"], 2, ["One statement"]),
        (["show", "ffffffff"], 3, ["ffffffff", "recollect conversations"]),
        (["ingest", "nowhere.jsonl"], 3, ["nowhere.jsonl", "does not exist"]),
        (["sql", "DELETE FROM messages"], 4, ["Only SELECT", "DELETE is not"]),
        (["sql", "DELETE FROM history_messages"], 4, ["Only SELECT"]),
        (["sql", "SELECT raw FROM history_lines"], 4, ["SELECT"]),
        (["sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
          "--seconds", "0.2"], 6, ["0.2 seconds"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)  # fmt: skip
def test_exit_codes_mean_something(arguments: list[str], code: int, words: list[str], call: Call, house: Path) -> None:
    done = call(*arguments)

    assert done.code == code
    assert done.explains(*words)


def test_an_ambiguous_id_is_a_conflict_that_names_the_choices(call: Call, projects: Path) -> None:
    for number in range(20):
        Transcript(f"session {number}").exchanges(1).save(projects)
    call("ingest", projects)
    first_letters = [item["id"][0] for item in listed(call)]
    letter = max(first_letters, key=first_letters.count)

    done = call("show", letter)

    assert done.code == 5
    assert done.explains("could be", "Give more of the id")


def test_an_error_is_one_json_document_too(call: Call, house: Path) -> None:
    done = call("show", "ffffffff", "--json")

    assert done.code == 3
    assert done.json()["error"]["kind"] == "NotFound"
    assert done.explains("ffffffff")


def test_a_failed_file_is_exit_code_1_and_the_others_are_in(call: Call, projects: Path) -> None:
    garden().save(projects)
    (projects / "other.jsonl").write_text('{"temperature": 21}\n')

    done = call("ingest", projects, "--json")

    assert done.code == 1
    assert (done.json()["failed"], done.json()["messages_added"]) == (1, 4)


# For people


def test_people_read_a_table_and_a_transcript(call: Call, house: Path) -> None:
    table = call("conversations").out.splitlines()
    chosen = listed(call, "--project", "garden")[0]
    shown = call("show", chosen["id"][:8]).out

    assert {"id", "status", "project", "title"} <= set(table[0].split())
    assert chosen["id"][:8] in table[2]
    assert "When do I sow beans?" in table[2]
    assert shown.startswith("When do I sow beans?\n")
    assert "You  10:00" in shown
    assert "→ Bash  cal 5" in shown
    assert "May 2026" in call("show", chosen["id"][:8], "--all").out


def test_an_empty_home_says_what_to_do_next(call: Call) -> None:
    assert "recollect up" in call("conversations").out
    assert "recollect up" in call("doctor").out


def test_advice_is_for_the_home_that_was_asked_about(call: Call, home: Path, tmp_path: Path) -> None:
    """Followed to the letter it must not act on another home, nor on a folder that is not there."""
    other = tmp_path / "an other"
    findings = call("--home", other, "doctor", "--json").json()["findings"]
    steps = [one["next_step"] for one in findings if "recollect" in one["next_step"]]
    told = [*steps, call("--home", other, "conversations").out]
    assert len(told) > 3
    for words in told:
        assert re.findall(r"recollect (?=[a-z-])", words) == re.findall(rf"recollect (?=--home '{other}' )", words)
        assert ".claude/projects" not in words
    assert all(step in call("--home", other, "doctor").out for step in steps)


@pytest.mark.usefixtures("house")
def test_what_a_search_lacks_is_mended_in_the_home_that_was_searched(call: Call, home: Path, tmp_path: Path) -> None:
    other = shutil.copytree(home, tmp_path / "other")
    lacking = call("--home", other, "search", "beans").out.partition("Note: ")[2]
    nothing = call("--home", other, "search", "beans", "--since", "yesterday").out
    for words in (lacking, nothing):
        assert re.findall(r"`\S*recollect .*?`", words)
        assert all(f"recollect --home {other} " in command for command in re.findall(r"`.*?`", words))


def groups(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of the program and of all its commands that have commands of their own."""
    if isinstance(command, click.Group):
        yield path
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            yield from groups(below, (*path, name)) if below else ()


@pytest.mark.parametrize("path", list(groups(app)), ids=" ".join)
def test_no_line_of_a_list_of_commands_is_cut(
    path: tuple[str, ...], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = call(*path, "--help").out
    assert "Commands:" in shown
    assert [line for line in shown.splitlines() if line.endswith("...") and "Usage:" not in line] == []


@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_every_command_has_help(name: str, call: Call) -> None:
    done = call(*([name] if name else []), "--help")

    assert done.code == 0
    assert "Usage: " in done.out
    for hidden in ("None", "Traceback"):
        assert hidden not in done.out
    assert call(*([name] if name else []), "-h").out == done.out


def test_health_and_doctor_are_readable(call: Call, house: Path) -> None:
    assert "2 ready" in call("health").out
    assert "disk against database" in call("doctor").out


def test_health_counts_conversations_without_a_time_too(call: Call, tmp_path: Path) -> None:
    undated = tmp_path / "undated.jsonl"
    undated.write_text(
        '{"role": "user", "content": "What shall I cook?"}\n{"role": "assistant", "content": "A stew."}\n'
    )
    call("ingest", undated)
    counted = call("health", "--json").json()["conversations"]
    assert counted["total"] == sum(counted["by_status"].values()) == 1


# As a process


def test_times_are_those_of_the_persons_clock(home: Path, projects: Path) -> None:
    garden().save(projects)
    run("ingest", projects, home=home)

    tokyo = run("conversations", home=home, variables={"TZ": "Asia/Tokyo"})
    found = run("conversations", "--json", home=home, variables={"TZ": "Asia/Tokyo"}).json()
    shown = run("show", found[0]["id"][:8], home=home, variables={"TZ": "Asia/Tokyo"}).out

    assert "2026-03-02 19:0" in tokyo.out
    assert "You  19:00" in shown
    assert found[0]["started_at"] == "2026-03-02T10:00:00.000Z"


def test_the_console_script_tells_its_version(home: Path) -> None:
    assert run("--version", home=home) == Result(0, f"recollect {__version__}\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed_and_work(shell: str, home: Path) -> None:
    script = run("completion", shell, home=home)
    words = {"COMP_WORDS": "recollect con", "COMP_CWORD": "con" if shell == "fish" else "1"}
    offered = run(home=home, variables={"_RECOLLECT_COMPLETE": f"{shell}_complete", **words})

    assert script.code == 0
    assert "_RECOLLECT_COMPLETE" in script.out
    assert "conversations" in offered.out


@pytest.mark.parametrize("arguments", [["conversations"], ["conversations", "--json"], ["--help"]], ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(arguments: list[str], home: Path, projects: Path) -> None:
    garden().save(projects)
    run("ingest", projects, home=home)
    reading, writing = os.pipe()
    os.close(reading)

    with os.fdopen(writing, "wb") as nobody_reads:
        done = subprocess.run(
            commands.command(*arguments), env=commands.environment(home), stdout=nobody_reads, stderr=subprocess.PIPE
        )

    assert (done.returncode, done.stderr) == (0, b"")


def test_json_is_utf8_whatever_the_locale(home: Path, projects: Path) -> None:
    told = Transcript("豆").exchanges(1, about="豆 – ø 🌱")
    told.save(projects)
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run("ingest", projects, home=home)

    as_json = run("conversations", "--json", home=home, variables=plain)
    as_text = run("conversations", home=home, variables=plain)

    assert json.loads(as_json.out)[0]["title"] == "Question 0 about 豆 – ø 🌱?"
    assert as_text.code == 0, as_text.err
