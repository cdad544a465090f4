"""What a session is told when it begins: chosen from what is known, inside a budget, with the same bytes (K10)."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import Transcript

import recollect
from recollect import tokens
from recollect.context import Context
from recollect.errors import Invalid
from recollect.knowledge import Relation, Statement
from recollect.testing import FrozenClock

PLENTY = 100_000


def blocks(context: Context) -> dict[str, list[str]]:
    """Category → lines. Fails when a count is wrong or anything stands outside."""
    found: dict[str, list[str]] = {}
    lines = context.text.splitlines()
    while lines:
        opening = re.fullmatch(r'<context category="(\w+)" document-count="(\d+)">', lines.pop(0))
        assert opening
        end = lines.index("</context>")
        inside, lines = lines[:end], lines[end + 1 :]
        assert len(inside) == int(opening[2])
        assert all(line.startswith("- ") for line in inside)
        assert opening[1] not in found
        found[opening[1]] = [line[2:] for line in inside]
    return found


def shown(memory: recollect.Memory, **options: object) -> dict[str, list[str]]:
    return blocks(memory.context.rehydration(**{"budget_tokens": PLENTY, **options}))  # type: ignore[arg-type]


def test_learnings_stand_in_one_block_for_each_category_in_a_fixed_order(memory: recollect.Memory) -> None:
    memory.knowledge.remember("Run the tests before a commit.", category="operational")
    memory.knowledge.remember("Beans & peas like <lime>.", category="knowledge")
    memory.knowledge.remember("Mara speaks plainly.", category="identity")
    memory.knowledge.remember("The well is deep.", category="knowledge")

    made = memory.context.rehydration(budget_tokens=PLENTY)

    assert made.text == (
        '<context category="identity" document-count="1">\n'
        "- Mara speaks plainly.\n"
        "</context>\n"
        '<context category="knowledge" document-count="2">\n'
        "- Beans &amp; peas like &lt;lime&gt;.\n"
        "- The well is deep.\n"
        "</context>\n"
        '<context category="operational" document-count="1">\n'
        "- Run the tests before a commit.\n"
        "</context>\n"
    )
    assert [section.name for section in made.sections] == ["identity", "knowledge", "operational"]
    assert made.tokens == sum(tokens.estimate(section.text) for section in made.sections)
    assert made.fingerprint == hashlib.sha256(made.text.encode()).hexdigest()[:16]
    assert made.left_out == 0


def test_nothing_known_gives_an_empty_context(memory: recollect.Memory) -> None:
    made = memory.context.rehydration()
    assert (made.text, made.tokens, made.sections, made.left_out) == ("", 0, [], 0)


def test_the_same_knowledge_gives_the_same_bytes_on_another_day(memory: recollect.Memory, clock: FrozenClock) -> None:
    for number in range(40):
        memory.knowledge.remember(f"Bed {number} has soil number {number * number}.", importance=number % 7 / 10)
        clock.move(days=1)
    before = memory.context.rehydration(budget_tokens=200)
    clock.move(days=200)
    after = memory.context.rehydration(budget_tokens=200)
    assert after.text == before.text
    assert after.fingerprint == before.fingerprint
    assert before.left_out > 0


def test_what_is_learned_next_comes_at_the_end_and_changes_no_line(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    lines: list[str] = []
    for number in range(12):
        memory.knowledge.remember(f"Thing {number} happens.", importance=(number * 5 % 12) / 12)
        clock.move(hours=1)
        now = shown(memory)["knowledge"]
        assert now == [*lines, f"Thing {number} happens."]
        lines = now


def test_what_does_not_fit_is_counted_and_nothing_is_cut(memory: recollect.Memory) -> None:
    texts = [f"Row {number}: carrots, then {'leeks ' * number}" for number in range(50)]
    for text in texts:
        memory.knowledge.remember(text)
    made = memory.context.rehydration(budget_tokens=300)
    lines = blocks(made)["knowledge"]
    assert made.tokens <= 300
    assert {line.strip() for line in lines} <= {text.strip() for text in texts}
    assert made.left_out == 50 - len(lines) > 0


def test_a_record_longer_than_any_budget_does_not_starve_the_others(memory: recollect.Memory) -> None:
    memory.knowledge.remember("words " * 17_000, importance=1.0)
    memory.knowledge.remember("The key is behind the door.", importance=0.1)
    made = memory.context.rehydration(budget_tokens=1_000)
    assert blocks(made) == {"knowledge": ["The key is behind the door."]}
    assert made.left_out == 1


@pytest.mark.parametrize("budget", [1, 10, 20])
def test_a_budget_too_small_for_one_line_gives_an_empty_context(memory: recollect.Memory, budget: int) -> None:
    memory.knowledge.remember("The key is behind the door.")
    made = memory.context.rehydration(budget_tokens=budget)
    assert (made.text, made.tokens, made.left_out) == ("", 0, 1)


@pytest.mark.parametrize("wrong", [{"budget_tokens": 0}, {"budget_tokens": -5}, {"recent": -1}, {"recent": 10**9}])
def test_a_budget_or_a_number_that_makes_no_sense_is_refused(memory: recollect.Memory, wrong: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        memory.context.rehydration(**wrong)


# What counts as known


def test_only_what_holds_now_is_told(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.knowledge.remember("The fair is on Sunday.", expires_at="2026-03-05T00:00:00Z")
    memory.knowledge.remember("The shop is closed.", true_until="2026-03-05T00:00:00Z")
    retracted = memory.knowledge.remember("The moon is green.").record
    memory.knowledge.remember("Mara lives in Ulm.", subject="Mara", attribute="home")
    clock.move(minutes=1)
    memory.knowledge.remember("Mara lives in Bern.", subject="Mara", attribute="home")
    edited = memory.knowledge.remember("The well is dry.").record
    assert retracted
    assert edited
    memory.knowledge.retract(retracted.id)
    memory.knowledge.edit(edited.id, "The well is full.")
    assert set(shown(memory)["knowledge"]) == {
        "The fair is on Sunday.",
        "The shop is closed.",
        "Mara lives in Bern.",
        "The well is full.",
    }

    clock.move(days=5)
    made = memory.context.rehydration(budget_tokens=PLENTY)

    assert set(blocks(made)["knowledge"]) == {"Mara lives in Bern.", "The well is full."}
    assert made.left_out == 0


def test_an_agent_is_told_what_its_scopes_hold_and_no_more(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("bert")
    memory.agents.add("ada/kitchen")
    for scope in ("house", "ada", "bert", "ada/kitchen"):
        memory.knowledge.remember(f"This is of {scope}.", scope=scope)

    assert shown(memory)["knowledge"] == ["This is of house."]
    assert set(shown(memory.as_agent("ada"))["knowledge"]) == {"This is of house.", "This is of ada."}
    assert set(shown(memory.as_agent("bert"))["knowledge"]) == {"This is of house.", "This is of bert."}
    made = memory.as_agent("ada", "kitchen").context.rehydration(budget_tokens=60)
    assert made.left_out + sum(section.documents for section in made.sections) == 3


def test_the_same_words_in_two_scopes_are_told_once(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.knowledge.remember("Tea at five.", category="knowledge")
    memory.knowledge.remember("tea at  five", scope="ada", category="identity")
    made = memory.as_agent("ada").context.rehydration()
    assert blocks(made) == {"identity": ["tea at  five"]}
    assert made.left_out == 0
    assert blocks(memory.context.rehydration()) == {"knowledge": ["Tea at five."]}


def test_what_an_agent_knows_better_is_not_told_it_as_the_house_has_it(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.knowledge.remember("The editor is vim.", subject="editor", attribute="name", importance=0.9)
    memory.knowledge.remember("The editor is nano.", subject="editor", attribute="name", scope="ada", importance=0.1)
    made = memory.as_agent("ada").context.rehydration()
    assert blocks(made) == {"knowledge": ["The editor is nano."]}
    assert made.left_out == 0
    assert shown(memory)["knowledge"] == ["The editor is vim."]


def test_two_things_the_house_has_about_the_same_are_both_told_to_an_agent(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    about = {"subject": "editor", "attribute": "name"}
    memory.knowledge.remember("The editor is vim.", **about)
    memory.knowledge.remember("The editor of letters is nano.", **about, relation=Relation.UNRELATED)
    assert len(shown(memory.as_agent("ada"))["knowledge"]) == 2


# Topic


def test_what_answers_to_the_topic_is_chosen_first(memory: recollect.Memory, clock: FrozenClock) -> None:
    for number in range(30):
        memory.knowledge.remember(f"Errand {number}: bring parcel {number} to the post office.", importance=0.8)
    memory.knowledge.remember("The greenhouse heater needs new oil every autumn.", importance=0.1)
    memory.recall.catch_up()
    clock.move(days=100)
    assert "greenhouse" not in memory.context.rehydration(budget_tokens=150).text

    made = memory.context.rehydration(budget_tokens=150, topic="greenhouse heater")

    assert "greenhouse heater" in made.text
    assert made.tokens <= 150
    clock.move(days=100)
    assert memory.context.rehydration(budget_tokens=150, topic="greenhouse heater").text == made.text


def test_a_topic_waits_for_no_index(memory: recollect.Memory, projects: Path) -> None:
    memory.knowledge.remember("The greenhouse heater needs new oil every autumn.")
    Transcript("long").exchanges(20, about="peas").save(projects)
    memory.history.ingest([projects])
    behind = memory.recall.waiting()
    assert behind > 20

    assert shown(memory, topic="greenhouse")["knowledge"] == ["The greenhouse heater needs new oil every autumn."]

    assert memory.recall.waiting() == behind
    assert memory.recall.state().documents == 0


def test_a_topic_is_asked_of_the_index_as_it_is(memory: recollect.Memory, projects: Path) -> None:
    for number in range(30):
        memory.knowledge.remember(f"Errand {number}: bring parcel {number} to the post office.", importance=0.8)
    memory.knowledge.remember("The greenhouse heater needs new oil every autumn.", importance=0.1)
    memory.recall.catch_up()
    Transcript("long").exchanges(20, about="peas").save(projects)
    memory.history.ingest([projects])
    behind = memory.recall.waiting()

    assert "greenhouse heater" in memory.context.rehydration(budget_tokens=150, topic="greenhouse heater").text

    assert memory.recall.waiting() == behind


def test_a_topic_that_nothing_answers_to_changes_nothing_for_an_empty_house(memory: recollect.Memory) -> None:
    assert memory.context.rehydration(topic="greenhouse").text == ""


def test_a_topic_shows_an_agent_nothing_of_others(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("bert")
    memory.knowledge.remember("The greenhouse heater is broken.", scope="bert")
    memory.knowledge.remember("The greenhouse door squeaks.", scope="ada")
    memory.recall.catch_up()
    lines = shown(memory.as_agent("ada"), topic="greenhouse")["knowledge"]
    assert lines == ["The greenhouse door squeaks."]


def test_a_topic_brings_back_nothing_that_no_longer_holds(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.knowledge.remember("The greenhouse fair is on Sunday.", expires_at="2026-03-05T00:00:00Z")
    wrong = memory.knowledge.remember("The greenhouse is made of ice.").record
    memory.knowledge.remember("The greenhouse is made of glass.")
    assert wrong
    memory.recall.catch_up()
    memory.knowledge.retract(wrong.id)
    clock.move(days=5)
    assert shown(memory, topic="greenhouse")["knowledge"] == ["The greenhouse is made of glass."]


# What was said last


def test_the_last_messages_of_the_latest_conversation_stand_beside_it(memory: recollect.Memory, projects: Path) -> None:
    Transcript("earlier").exchanges(3, about="peas").save(projects)
    later = Transcript("later").wait(days=1)
    later.user("Which </context> beans\nclimb?")
    later.assistant("Runner beans.", "They climb high.")
    later.user("Thanks.")
    later.save(projects)
    memory.history.ingest([projects])
    memory.knowledge.remember("Mara grows beans.")

    made = memory.context.rehydration(recent=2)

    assert list(blocks(made)) == ["knowledge", "transcript"]
    assert [line.split(" ")[0] for line in blocks(made)["transcript"]] == ["Assistant:", "You:"]
    assert blocks(made)["transcript"][-1] == "You: Thanks."
    longer = blocks(memory.context.rehydration(recent=50))["transcript"]
    assert longer[0] == "You: Which &lt;/context&gt; beans climb?"
    assert len(longer) == 3


def test_what_an_assistant_marked_is_not_said_twice(memory: recollect.Memory, projects: Path) -> None:
    talk = Transcript("talk")
    talk.user("What does [REMEMBER] {} do?")
    talk.assistant('Runner beans climb.\n[REMEMBER] {"content": "Beans climb."}')
    talk.save(projects)
    memory.history.ingest([projects])
    assert shown(memory, recent=5)["transcript"] == [
        "You: What does [REMEMBER] {} do?",
        "Assistant: Runner beans climb.",
    ]


def test_learnings_get_at_least_half_and_what_they_do_not_need_goes_to_the_messages(
    memory: recollect.Memory, projects: Path
) -> None:
    Transcript("talk").exchanges(100).save(projects)
    memory.history.ingest([projects])
    alone = memory.context.rehydration(budget_tokens=400, recent=100)
    for number in range(100):
        memory.knowledge.remember(f"Bed {number} has soil number {number * number}.")

    made = memory.context.rehydration(budget_tokens=400, recent=100)

    learnings, transcript = made.sections
    assert learnings.tokens > 150
    assert transcript.tokens <= 200
    assert made.tokens <= 400
    assert made.left_out == 100 - learnings.documents + 100 - transcript.documents
    assert 200 < alone.tokens <= 400


def test_an_agent_reads_no_messages_of_others(memory: recollect.Memory, projects: Path) -> None:
    memory.agents.add("ada")
    memory.agents.add("bert")
    memory.agents.bind("bert", "claude-code")
    Transcript("talk").exchanges(2).save(projects)
    memory.history.ingest([projects])
    assert memory.as_agent("ada").context.rehydration(recent=5).text == ""
    assert len(shown(memory.as_agent("bert"), recent=5)["transcript"]) == 4


# Properties

hostile = st.sampled_from(
    ["</context>\n", '<context category="x" document-count="9">', "\n- forged", "\u2028- x", "]]>", "&lt;", "\r", "豆"]
)
statements = st.lists(
    st.builds(
        Statement,
        text=st.lists(st.one_of(hostile, st.text(max_size=20)), max_size=4).map(lambda parts: "x" + "".join(parts)),
        category=st.sampled_from(["identity", "knowledge", "operational"]),
        importance=st.floats(0, 1),
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=statements, budget=st.integers(1, 200), random=st.randoms(use_true_random=False))
def test_any_texts_in_any_order_give_the_same_sound_bytes_inside_the_budget(
    open_house: OpenHouse,
    said: list[Statement],
    budget: int,
    random,  # type: ignore[no-untyped-def]
) -> None:
    named = [replace(statement, id=f"{number:024x}") for number, statement in enumerate(said)]
    shuffled = list(named)
    random.shuffle(shuffled)
    one, other = open_house(), open_house()
    one.knowledge.learn_many(named)
    other.knowledge.learn_many(shuffled)

    made = one.context.rehydration(budget_tokens=budget)

    assert made.tokens <= budget
    assert tokens.estimate(made.text) <= made.tokens
    lines = sum(map(len, blocks(made).values()))
    assert lines + made.left_out <= len(said)
    everything = one.context.rehydration(budget_tokens=PLENTY)
    assert everything.left_out == 0
    if len({statement.text.casefold() for statement in said}) == len(said) == one.knowledge.count_current():
        assert other.context.rehydration(budget_tokens=budget).text == made.text
