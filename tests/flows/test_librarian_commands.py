"""The commands of the librarian as people run them (L1, L8, L11)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from commands import run
from transcripts import Transcript

from recollect.testing import OpenAIServer
from recollect.testing.openai_answers import Fault

TEA = "Remember that I am allergic to peanuts."
CITY = "I live in Graz."
PROCESSED = {"processed", "skipped", "failed", "tokens", "cost_usd"}


def talk(folder: Path, name: str, *sentences: str, days_ago: float = 1) -> Transcript:
    transcript = Transcript(name, start=datetime.now(UTC) - timedelta(days=days_ago))
    for sentence in sentences:
        transcript.user(sentence)
        transcript.assistant("Thank you, I understand that.")
    transcript.save(folder)
    return transcript


@pytest.fixture
def told(home: Path, tmp_path: Path) -> Path:
    """A home with one finished conversation."""
    talk(tmp_path / "projects", "one", TEA, CITY, "That is all for now, thank you.")
    assert run("ingest", tmp_path / "projects", home=home).code == 0
    return home


@pytest.fixture
def filed(told: Path) -> Path:
    assert run("process", home=told).code == 0
    return told


def facts(home: Path) -> Path:
    return home / "notes" / "core" / "facts.md"


def records(home: Path) -> list[str]:
    return sorted(record["text"] for record in run("records", "--json", home=home).json())


def line_of(home: Path, words: str) -> int:
    lines = run("today", "--json", home=home).json()["lines"]
    return next(line["n"] for line in lines if words in line["text"])


# Processing


def test_process_reads_what_is_ready_and_tells_what_it_did(told: Path) -> None:
    result = run("process", "--json", home=told)

    value = result.json()
    assert result.code == 0
    assert value.keys() >= PROCESSED
    assert (value["processed"], value["failed"], value["tokens"], value["cost_usd"]) == (1, 0, 0, 0)
    assert "peanuts" in facts(told).read_text()
    assert [one["status"] for one in run("conversations", "--json", home=told).json()] == ["archived"]


def test_a_conversation_in_which_the_user_said_nothing_has_no_title_on_its_page(home: Path, tmp_path: Path) -> None:
    transcript = Transcript("silent", start=datetime.now(UTC) - timedelta(days=1))
    for number in range(6):
        transcript.assistant(f"I have fixed part {number} of the pump.")
    transcript.save(tmp_path / "projects")
    run("ingest", tmp_path / "projects", home=home)

    assert run("process", "--json", home=home).json()["processed"] == 1

    (page,) = (home / "notes" / "episodes").rglob("*.md")
    assert " A conversation <!--" in page.read_text()


def test_process_again_finds_nothing_to_do_and_named_again_changes_nothing(filed: Path) -> None:
    before = facts(filed).read_bytes()
    assert run("process", "--json", home=filed).json()["processed"] == 0
    conversation = run("conversations", "--json", home=filed).json()[0]["id"]

    again = run("process", conversation[:10], "--json", home=filed).json()

    assert again["processed"] == 1
    assert facts(filed).read_bytes() == before


def test_queue_only_queues_and_a_later_process_reads(told: Path) -> None:
    assert run("process", "--queue-only", "--json", home=told).json()["queued"] == 1
    assert [one["status"] for one in run("conversations", "--json", home=told).json()] == ["queued"]
    assert run("process", "--json", home=told).json()["processed"] == 1


def test_an_estimate_reads_nothing_and_costs_nothing_without_a_model(told: Path) -> None:
    value = run("process", "--estimate", "--json", home=told).json()
    assert (value["conversations"], value["tokens"], value["cost_usd"]) == (1, 0, 0)
    assert records(told) == []


def test_a_conversation_that_nobody_knows_is_not_found(told: Path) -> None:
    result = run("process", "nobody", home=told)
    assert result.code == 3
    assert result.explains("nobody", "recollect conversations")


def test_a_paused_librarian_reads_nothing_until_it_is_resumed(told: Path) -> None:
    assert run("librarian", "pause", home=told).code == 0
    paused = run("process", home=told)
    assert paused.code == 6
    assert paused.explains("paused", "librarian resume")
    assert run("librarian", "status", "--json", home=told).json()["paused_since"]
    run("librarian", "resume", home=told)
    assert run("process", "--json", home=told).json()["processed"] == 1


def test_a_librarian_that_is_off_says_how_to_choose_one(told: Path) -> None:
    (told / "recollect.toml").write_text('[librarian]\nmodel = "none"\n')
    result = run("process", home=told)
    assert result.code == 2
    assert result.explains("librarian.model", "rules")


def test_status_tells_who_reads_what_waits_and_what_was_kept(filed: Path) -> None:
    value = run("librarian", "status", "--json", home=filed).json()
    assert (value["reader"], value["ready"], value["queued"], value["set_aside"]) == ("rules", 0, 0, 0)
    assert value["read"]["conversations"] == 1
    assert value["read"]["kept"] >= 1
    assert "rules, without a model" in run("librarian", home=filed).out


# Days


def test_today_numbers_each_line_and_a_number_corrects_it(filed: Path) -> None:
    number = line_of(filed, "peanuts")
    assert f"{number:4}  " in run("today", home=filed).out

    changed = run("today", "--edit", number, "Allergic to walnuts", home=filed)

    assert changed.code == 0
    assert "Allergic to walnuts" in records(filed)
    assert "walnuts" in facts(filed).read_text()
    assert "peanuts" not in facts(filed).read_text()


def test_what_is_wrong_is_taken_back_by_its_number_and_comes_back_by_undo(filed: Path) -> None:
    number = line_of(filed, "peanuts")
    run("today", "--wrong", number, home=filed)
    assert not any("peanuts" in text for text in records(filed))
    assert "peanuts" not in facts(filed).read_text()

    run("today", "--undo", number, home=filed)

    assert any("peanuts" in text for text in records(filed))


def test_a_number_that_was_not_shown_is_not_found(filed: Path) -> None:
    assert run("today", "--wrong", 1, home=filed).code == 3
    run("today", home=filed)
    assert run("today", "--wrong", 99, home=filed).explains("no line 99")
    assert run("today", "--edit", "x", "y", home=filed).code == 2


def test_week_has_the_lines_of_seven_days(filed: Path) -> None:
    assert any("peanuts" in line["text"] for line in run("week", "--json", home=filed).json()["lines"])


def test_no_text_of_a_record_commands_the_terminal(home: Path) -> None:
    run("remember", "Likes \x1b[31mred", "--subject", "Ev\x1b[31mil", home=home)

    shown = run("today", home=home).out

    assert "Ev[31mil: Likes [31mred" in shown
    assert "\x1b" not in shown


def test_a_line_that_waits_for_a_decision_cannot_be_undone(filed: Path) -> None:
    page = facts(filed)
    page.write_text("".join(line for line in page.read_text().splitlines(True) if "peanuts" not in line))
    lines = run("today", "--json", home=filed).json()["lines"]
    number = next(line["n"] for line in lines if line["proposal"])

    assert run("today", "--undo", number, home=filed).explains("--right")

    assert any("peanuts" in text for text in records(filed))


def test_a_deleted_line_is_shown_as_the_proposal_that_right_accepts_and_wrong_rejects(filed: Path) -> None:
    page = facts(filed)
    whole = page.read_text()
    page.write_text("".join(line for line in whole.splitlines(True) if "peanuts" not in line))
    number = line_of(filed, "No longer so: ")

    assert run("today", "--wrong", number, home=filed).out == "Rejected.\n"
    assert any("peanuts" in text for text in records(filed))

    page.write_text("".join(line for line in whole.splitlines(True) if "peanuts" not in line))
    assert run("today", "--right", line_of(filed, "No longer so: "), home=filed).out == "Accepted.\n"
    assert not any("peanuts" in text for text in records(filed))


# Review and questions


def test_a_line_that_was_deleted_waits_for_review_and_is_taken_back_when_accepted(filed: Path) -> None:
    page = facts(filed)
    page.write_text("".join(line for line in page.read_text().splitlines(True) if "peanuts" not in line))

    (waiting,) = run("review", "--json", home=filed).json()
    assert (waiting["kind"], waiting["path"]) == ("retract", "core/facts.md")
    assert run("review", "accept", 1, 1, home=filed).code == 0

    assert not any("peanuts" in text for text in records(filed))
    assert run("review", "list", "--json", home=filed).json() == []


def test_a_rejected_review_brings_the_line_back(filed: Path) -> None:
    page = facts(filed)
    whole = page.read_text()
    page.write_text("".join(line for line in whole.splitlines(True) if "peanuts" not in line))
    assert len(run("review", "--json", home=filed).json()) == 1

    run("review", "reject", 1, home=filed)

    assert "peanuts" in page.read_text()


def test_a_line_that_was_edited_is_a_new_version_by_a_person(filed: Path) -> None:
    page = facts(filed)
    page.write_text(page.read_text().replace("peanuts", "walnuts"))
    run("process", home=filed)

    (record,) = [one for one in run("records", "--json", home=filed).json() if "walnuts" in one["text"]]
    events = run("record", record["id"], "--history", "--json", home=filed).json()["events"]
    assert events[-1]["actor"] == "person"


def test_process_tells_what_it_took_from_the_notes(filed: Path) -> None:
    page = facts(filed)
    kept = [line for line in page.read_text().splitlines(True) if "peanuts" not in line]
    page.write_text("".join(kept).replace("Graz", "Linz"))

    shown = run("process", home=filed).out

    assert "From your notes: 1 line changed, 1 deleted." in shown
    assert "recollect review" in shown
    assert "From your notes" not in run("process", home=filed).out


def test_process_tells_which_note_it_could_not_follow(filed: Path) -> None:
    page = facts(filed)
    page.unlink()
    page.mkdir()
    assert run("process", home=filed).explains("core/facts.md")


def test_a_folder_of_notes_that_cannot_be_had_keeps_no_conversation_from_being_read(told: Path) -> None:
    (told / "notes").write_text("no folder")
    result = run("process", home=told)
    assert "1 conversation read" in result.out
    assert result.explains("not all up to date", "Move it away")


def test_questions_are_listed_and_a_number_that_is_not_there_is_not_found(filed: Path) -> None:
    assert run("questions", "--json", home=filed).json() == []
    assert run("questions", "answer", 1, "yes", home=filed).code == 3


# Nights and costs


def test_a_night_is_told_and_can_be_undone(filed: Path) -> None:
    night = run("reflect", "--json", home=filed).json()
    assert (filed / "notes" / "agents" / "assistant" / "self-awareness.md").exists()

    shown = run("reflect", "--nights", home=filed).out.splitlines()[-1].split()[0]
    undone = run("reflect", "--undo", shown, "--json", home=filed).json()

    assert (undone["id"], undone["state"]) == (night["id"], "undone")
    assert run("reflect", "--undo", home=filed).explains("No night changed")
    assert not (filed / "notes" / "agents" / "assistant" / "self-awareness.md").exists()
    assert [one["state"] for one in run("reflect", "--nights", "--json", home=filed).json()] == ["undone"]


def test_a_night_that_changed_no_record_says_what_it_wrote(filed: Path) -> None:
    shown = run("reflect", home=filed).out
    assert "no record was changed; written: agents/assistant/self-awareness.md." in shown


def test_costs_are_nothing_where_no_model_was_asked(filed: Path) -> None:
    value = run("costs", "--json", home=filed).json()
    assert (value["days"], value["tokens"], value["cost_usd"]) == ([], 0, 0)


# A model


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as opened:
        yield opened


def with_model(home: Path, server: OpenAIServer, **more: object) -> None:
    lines = [f'model = "{server.url}/v1#tiny"', *(f"{name} = {value}" for name, value in more.items())]
    (home / "recollect.toml").write_text("[librarian]\n" + "\n".join(lines) + "\n")


def test_an_estimate_tells_tokens_and_money_and_asks_nothing(told: Path, server: OpenAIServer) -> None:
    with_model(told, server, price_per_million="[1.0, 2.0]")

    value = run("process", "--estimate", "--json", home=told).json()

    assert value["input_tokens"] > 100
    assert server.requests == []


def test_at_the_ceiling_it_stops_cleanly_and_says_when_it_goes_on(told: Path, server: OpenAIServer) -> None:
    with_model(told, server, tokens_per_day=10)

    result = run("process", "--json", home=told)

    value = result.json()
    assert result.code == 6
    assert (value["processed"], value["failed"]) == (0, 0)
    assert value["goes_on_at"]
    assert server.requests == []
    assert [one["status"] for one in run("conversations", "--json", home=told).json()] == ["queued"]


@pytest.mark.parametrize("program", ["claude", "codex:gpt-6-luna"])
def test_a_command_line_that_is_not_installed_is_told_before_it_is_needed(told: Path, program: str) -> None:
    (told / "recollect.toml").write_text(f'[librarian]\nmodel = "{program}"\n')
    problem = run("librarian", "--json", home=told, variables={"PATH": str(told)}).json()["problem"]
    assert f"The program {program.partition(':')[0]} is not here." in problem


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ('model = "gpt5"', ("not filed", "which is no model")),
        ('model = "anthropic:claude-haiku-5-5"', ("not filed", "ANTHROPIC_API_KEY")),
        ('model = "https://models.example/v1#m"', ("only when you say so", "dollars_per_day")),
    ],
)
def test_up_says_at_the_start_why_nothing_is_filed(
    told: Path, tmp_path: Path, settings: str, words: tuple[str, ...]
) -> None:
    watched = f'fetch_models = false\nwatch_paths = ["{tmp_path / "projects"}"]\n'
    (told / "recollect.toml").write_text(f"{watched}[librarian]\n{settings}\n")
    result = run("up", "--once", home=told, variables={"ANTHROPIC_API_KEY": ""})
    assert result.code == 0
    assert result.explains(*words)


def test_what_was_set_aside_before_is_told_of_by_a_later_process(told: Path, server: OpenAIServer) -> None:
    (told / "recollect.toml").write_text(f'[librarian]\nmodel = "{server.url}/v1#test-model"\n')
    server.script(*[Fault(status=418, message="a teapot")] * 10)
    assert run("process", home=told).explains("set aside", "a teapot")

    later = run("process", home=told)

    assert later.code == 0
    assert "1 conversation was set aside before" in later.out
    assert "recollect librarian" in later.out


def test_a_model_that_is_not_there_sets_nothing_aside(told: Path, server: OpenAIServer) -> None:
    (told / "recollect.toml").write_text(f'[librarian]\nmodel = "{server.url}/v1#no-such-model"\n')

    result = run("process", home=told)

    assert result.code == 6
    assert result.explains("no-such-model", "librarian.model")
    assert len(server.requests) == 1
    (told / "recollect.toml").unlink()
    assert run("process", "--json", home=told).json()["processed"] == 1


def test_a_model_without_a_key_is_told_before_anything_is_queued(filed: Path) -> None:
    (filed / "recollect.toml").write_text('[librarian]\nmodel = "anthropic:claude-haiku-5-5"\n')

    result = run("process", "--all", "--yes", home=filed)

    assert result.code == 4
    assert result.explains("ANTHROPIC_API_KEY")
    assert [one["status"] for one in run("conversations", "--json", home=filed).json()] == ["archived"]
