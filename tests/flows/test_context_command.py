"""`recollect context`: the bytes of a context on stdout and nothing else (K10)."""

import hashlib
from pathlib import Path

import pytest
from commands import run
from terminals import on_a_terminal
from transcripts import Transcript


@pytest.fixture
def told(home: Path) -> Path:
    """A home in which three things are known."""
    for text, category in (
        ("Mara speaks plainly.", "identity"),
        ("Beans like </context> lime.", "knowledge"),
        ("Peas do not.", "knowledge"),
    ):
        assert run("remember", text, "--category", category, home=home).code == 0
    return home


def test_the_context_is_printed_as_it_is(told: Path) -> None:
    result = run("context", "--for", "rehydration", "--budget", 500, home=told)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        '<context category="identity" document-count="1">\n- Mara speaks plainly.\n</context>\n'
        '<context category="knowledge" document-count="2">\n- Beans like &lt;/context&gt; lime.\n- Peas do not.\n'
        "</context>\n"
    )
    assert run("context", home=told).out == result.out


def test_programs_get_sections_tokens_fingerprint_and_what_was_left_out(told: Path) -> None:
    text = run("context", "--budget", 60, home=told).out
    made = run("context", "--budget", 60, "--json", home=told).json()
    assert set(made) == {"sections", "tokens", "fingerprint", "left_out", "budget", "records"}
    assert "".join(section["text"] for section in made["sections"]) == text
    assert made["fingerprint"] == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert made["tokens"] == sum(section["tokens"] for section in made["sections"]) <= 60
    assert made["left_out"] == 3 - sum(section["documents"] for section in made["sections"]) > 0
    assert made["budget"] == 60


def test_an_agent_is_told_what_is_its_own(told: Path) -> None:
    assert run("agents", "add", "ada", home=told).code == 0
    assert run("remember", "Ada waters at six.", "--agent", "ada", home=told).code == 0
    assert run("agents", "add", "bert", home=told).code == 0
    assert "Ada waters at six." in run("context", "--agent", "ada", home=told).out
    assert "Ada waters at six." not in run("context", "--agent", "bert", home=told).out


def test_a_topic_and_the_last_messages_can_be_asked_for(told: Path, projects: Path) -> None:
    Transcript("talk").exchanges(2).save(projects)
    assert run("ingest", projects, home=told).code == 0
    out = run("context", "--topic", "peas", "--recent", 1, home=told).out
    assert "- Peas do not.\n" in out
    assert out.endswith(
        '<context category="transcript" document-count="1">\n- Assistant: Answer 1 about beans.\n</context>\n'
    )


def test_an_empty_house_gives_nothing_and_that_is_no_error(home: Path) -> None:
    result = run("context", home=home)
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--budget", "0"], 2, ["budget", "1 or more"]),
        (["--budget", "-3"], 2, ["budget"]),
        (["--budget", "many"], 2, ["--budget"]),
        (["--recent", "-1"], 2, ["recent"]),
        (["--for", "nothing"], 3, ["'nothing'", "conversation, heartbeat, outreach, rehydration"]),
        (["--for", "conversation", "--budget", "0"], 2, ["budget", "1 or more"]),
        (["--for", "conversation", "--budget", "300"], 2, ["300 tokens", "too small", "what is frozen"]),
        (["--for", "conversation", "--topic", "peas"], 2, ["--topic", "rehydration"]),
        (["--diff"], 2, ["rehydration", "--for conversation"]),
        (["--trigger", "Hello"], 2, ["trigger", "--for conversation"]),
        (["--agent", "nobody"], 3, ["nobody", "recollect agents"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_a_wrong_request_is_explained(home: Path, arguments: list[str], code: int, words: list[str]) -> None:
    result = run("context", *arguments, home=home)
    assert result.code == code
    assert result.out == ""
    assert result.explains(*words)


def test_a_person_reads_below_it_how_much_was_left_out(told: Path) -> None:
    seen = on_a_terminal("context", "--budget", 30, home=told).out
    assert "- Peas do not." in seen
    assert "2 left out: a larger --budget shows more." in seen


def test_a_person_of_an_empty_house_reads_how_to_begin(home: Path) -> None:
    assert "recollect remember" in on_a_terminal("context", home=home).out


# Conversations and heartbeats


def test_a_conversation_goes_on_with_the_same_bytes_from_one_call_to_the_next(told: Path, projects: Path) -> None:
    Transcript("talk").exchanges(2).save(projects)
    assert run("ingest", projects, home=told).code == 0
    first = run("context", "--for", "conversation", "--trigger", "Good morning.", home=told)
    assert run("notes", "write", "user.md", "Mara grows beans.", home=told).code == 0
    second = run("context", "--for", "conversation", "--trigger", "And now?", home=told)
    assert (first.code, first.err, second.code) == (0, "", 0)
    assert second.out.startswith(first.out)
    assert "] Assistant: Answer 1 about beans.\n" in first.out
    assert "Mara grows beans." in second.out
    assert second.out.endswith("\nAnd now?\n</trigger>\n")


def test_the_difference_tells_what_is_new_and_what_it_costs(told: Path) -> None:
    first = run("context", "--for", "heartbeat", "--diff", home=told).out
    assert first.startswith("heartbeat of assistant, the first\nThere is none before it.\nTokens: 0 as before")
    assert run("context", "--for", "heartbeat", home=told).code == 0
    assert run("notes", "write", "user.md", "Mara grows beans.", home=told).code == 0
    out = run("context", "--for", "heartbeat", "--diff", home=told).out
    assert "\nIt begins with what is frozen.\n" in out  # The moment at its end is another.
    assert "\nNote: user.md new " in out
    found = run("context", "--for", "heartbeat", "--diff", "--json", home=told).json()
    assert (found["pipeline"], found["agent"], found["reason"]) == ("heartbeat", "assistant", "")
    assert [(note["path"], note["change"]) for note in found["notes"]] == [("user.md", "new")]
    assert found["cached_tokens"] > 0
    assert found["cached_tokens"] + found["new_tokens"] == found["tokens"]


def test_programs_get_the_sections_of_a_conversation(told: Path) -> None:
    made = run("context", "--for", "conversation", "--trigger", "Hello.", "--json", home=told).json()
    assert [section["name"] for section in made["sections"]] == ["system", "board", "trigger"]
    assert set(made) == {"sections", "tokens", "fingerprint", "left_out", "budget", "reason"}
    assert set(made["sections"][0]) == {"name", "tokens", "text", "documents"}
    assert (made["reason"], made["budget"]) == ("first", 48_000)
    text = "".join(section["text"] for section in made["sections"])
    assert made["fingerprint"] == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_pipeline_of_one_s_own_is_asked_for_by_its_name(told: Path) -> None:
    settings = '[[pipelines.brief.sections]]\nname = "known"\nsource = "learnings"\n'
    (told / "recollect.toml").write_text(settings, encoding="utf-8")
    assert "- Peas do not.\n" in run("context", "--for", "brief", home=told).out
    (told / "recollect.toml").write_text(settings.replace("learnings", "nothing"), encoding="utf-8")
    assert run("context", "--for", "brief", home=told).explains("'brief'", "'known'", "'nothing'")
