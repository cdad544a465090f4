"""The reflection tick: a moment with notes, tools and a diary, without history, that joins nothing. On both engines."""

import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from between import Between, interrupted
from chats import House
from conftest import OpenHouse
from minds import minding, on_sqlite, run, talk, until
from prescriptions import prescriptions

import recollect
from recollect.clock import choose_zone
from recollect.context.your_memory import REFLECTION
from recollect.errors import Invalid, Unavailable
from recollect.llm.model import Usage
from recollect.llm.talking import Abilities, Answer, Request, Stop
from recollect.mind.channel import Said
from recollect.mind.heartbeat.reflecting import CUT_OFF, FORGOTTEN, MOST_STEPS, Reflected, Reflecting
from recollect.mind.heartbeat.reflection_tools import SPEC, ReflectionTools
from recollect.mind.tools import Means, Toolbox
from recollect.notes.memory_tool import MemoryTool
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import HANG, ScriptedTalk, Step, said, use

KEY = "sk-ant-" + "x1Y2" * 10
"""Made up, and built here so that no scanner takes it for a real one."""
ENTRY = "The swifts came back today, two days earlier than last year."


def reflecting(memory: recollect.Memory, model: ScriptedTalk) -> Reflecting:
    memory.notes.prepare()
    seen = memory.as_agent(memory.settings.agent_name)
    means = Means(
        search=seen.search_memory, update_status=seen.update_status, notes=MemoryTool(seen.notes), sql=seen.sql
    )
    tools = ReflectionTools(Toolbox(means), seen.notes.diary)
    return Reflecting(memory.database, memory.settings.house, seen.context, tools, model)


def reflect(memory: recollect.Memory, *steps: Step, model: ScriptedTalk | None = None) -> Reflected:
    return run(reflecting(memory, model or ScriptedTalk(steps)).reflect(memory.clock()))


def write(text: object) -> Answer:
    return use("write_diary", {"text": text})


def entries(memory: recollect.Memory) -> dict[str, str]:
    return {entry.name: entry.text for entry in memory.notes.diary.list()}


def in_words(request: Request) -> str:
    return json.dumps([request.system, *(turn.content for turn in request.turns)], ensure_ascii=False)


def results(request: Request) -> list[str]:
    blocks = [block for turn in request.turns for block in turn.content]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


@pytest.fixture
def vienna(open_house: OpenHouse) -> Iterator[recollect.Memory]:
    yield open_house(zone="Europe/Vienna")
    choose_zone("")


# What becomes of it


def test_it_searches_and_queries_and_writes_an_entry(memory: recollect.Memory, tmp_path: Path) -> None:
    House(memory, tmp_path / "chats").tell("birds", "The swifts are back.", ("assistant", "Earlier than last year."))
    steps = [
        use("search_memory", {"query": "swifts"}, before="Let me see."),
        use("query_memory", {"sql": "SELECT count(*) AS number FROM messages"}),
        write(ENTRY),
        "That was a good day.",
    ]
    model = ScriptedTalk(steps)

    done = reflect(memory, model=model)

    assert entries(memory) == {"2026-03-02T12-00-00": ENTRY}
    assert done.wrote == ("2026-03-02T12-00-00",)
    assert (done.calls, done.reason, done.words) == (4, "", "Let me see.\n\nThat was a good day.")
    assert [(one.name, one.is_error) for one in done.tools] == [
        ("search_memory", False),
        ("query_memory", False),
        ("write_diary", False),
    ]
    found, counted, written = results(model.requests[-1])
    assert "The swifts are back." in found
    assert counted == "number: 2"
    assert written == "Written as 2026-03-02T12-00-00."


def test_a_day_may_leave_no_entry(memory: recollect.Memory) -> None:
    done = reflect(memory, "Nothing to tell.")
    assert (done.wrote, done.calls, done.words, done.reason, done.tools) == ((), 1, "Nothing to tell.", "", ())
    assert entries(memory) == {}


def test_a_second_entry_is_a_new_file_and_the_first_stays_as_it_was_written(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    done = reflect(memory, write("One."), write("Two."), "")
    assert done.wrote == ("2026-03-02T12-00-00", "2026-03-02T12-00-01")

    clock.move(days=1)
    path = "/memories/agents/assistant/diary/2026-03-02T12-00-00.md"
    change = use("memory", {"command": "str_replace", "path": path, "old_str": "One.", "new_str": "None."})
    reflect(memory, change, write("Three."), "")

    assert entries(memory) == {
        "2026-03-02T12-00-00": "One.",
        "2026-03-02T12-00-01": "Two.",
        "2026-03-03T12-00-00": "Three.",
    }


def test_several_tools_of_one_answer_are_all_used_in_their_order(memory: recollect.Memory) -> None:
    blocks = tuple(block for text in ("One.", "Two.") for block in write(text).blocks)
    model = ScriptedTalk([Answer(blocks=blocks, stop=Stop.TOOLS, usage=Usage(), model=""), ""])
    assert len(reflect(memory, model=model).wrote) == 2
    assert list(entries(memory).values()) == ["Two.", "One."]
    answered = [block["tool_use_id"] for block in model.requests[-1].turns[-1].content]
    assert answered == [block["id"] for block in blocks]


def test_its_status_is_its_own_to_change(memory: recollect.Memory) -> None:
    done = reflect(memory, use("update_status", {"updates": {"mood": "content"}}), "")
    assert done.tools[0].line == "set mood"
    assert memory.notes.status.show().fields["mood"].value == "content"


def test_a_credential_in_an_entry_is_masked_and_the_model_is_told(memory: recollect.Memory) -> None:
    model = ScriptedTalk([write(f"The key was {KEY}."), f"I wrote {KEY}."])
    done = reflect(memory, model=model)
    assert KEY not in "".join(entries(memory).values())
    assert KEY not in done.words
    assert "masked: 1" in results(model.requests[-1])[0]


# How it ends


@on_sqlite
def test_endless_tool_calls_come_to_an_end_and_what_was_written_stays(memory: recollect.Memory) -> None:
    model = ScriptedTalk(lambda request: write(f"Entry {len(request.turns)}."))
    done = reflect(memory, model=model)
    assert done.calls == len(model.requests) == MOST_STEPS
    assert len(done.wrote) == len(entries(memory)) == MOST_STEPS
    assert f"{MOST_STEPS} times" in done.reason


@on_sqlite
def test_a_refusal_is_told_and_nothing_is_written(memory: recollect.Memory) -> None:
    refusal = Answer(blocks=write(ENTRY).blocks, stop=Stop.REFUSED, usage=Usage(), model="m", detail="policy")
    done = reflect(memory, refusal)
    assert (done.wrote, done.reason) == ((), "m would not answer this (policy).")
    assert entries(memory) == {}


@on_sqlite
def test_a_call_that_was_cut_off_is_not_made(memory: recollect.Memory) -> None:
    cut = Answer(blocks=write("The sw").blocks, stop=Stop.LENGTH, usage=Usage(), model="")
    assert reflect(memory, cut).reason == CUT_OFF
    assert entries(memory) == {}


@on_sqlite
def test_an_error_of_the_model_is_raised(memory: recollect.Memory) -> None:
    with pytest.raises(Unavailable, match="later"):
        reflect(memory, use("search_memory", {"query": "x"}), Unavailable("later"))


@on_sqlite
def test_an_error_behind_an_entry_is_told_with_it_so_that_nobody_comes_again_for_a_second(
    memory: recollect.Memory,
) -> None:
    done = reflect(memory, write(ENTRY), Unavailable("later"))
    assert (len(done.wrote), done.reason) == (1, "later")


@on_sqlite
def test_it_ends_where_its_tools_left_no_room_for_an_answer(memory: recollect.Memory) -> None:
    memory.notes.write("long.md", "A line of a long page.\n" * 4_000, reason="a test")
    view = use("memory", {"command": "view", "path": "/memories/long.md"})
    model = ScriptedTalk(lambda _: view, abilities=Abilities(most_input_tokens=20_000), name="small")
    done = reflect(memory, model=model)
    assert 1 < done.calls < MOST_STEPS
    assert done.reason == "What its tools found left small no room for an answer."


@on_sqlite
def test_it_can_be_cancelled(memory: recollect.Memory) -> None:
    model = ScriptedTalk([[HANG]])

    async def cancelled() -> None:
        task = asyncio.ensure_future(reflecting(memory, model).reflect(memory.clock()))
        await until(model.asked.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancelled())
    assert model.cancelled == 1


def test_what_was_forgotten_meanwhile_is_not_written_down(memory: recollect.Memory, tmp_path: Path) -> None:
    secret = "The spare key lies under the third pot of thyme."
    House(memory, tmp_path / "chats").tell("keys", secret)
    message = next(iter(memory.history.export())).id

    def step(request: Request) -> Step:
        if len(request.turns) == 1:
            return use("search_memory", {"query": "spare key"}, before="A key?")
        assert secret in results(request)[0]
        memory.forget(message=message)
        return write(secret)

    done = reflect(memory, model=ScriptedTalk(step))

    assert (done.wrote, done.words, done.reason) == ((), "", FORGOTTEN)
    assert entries(memory) == {}


@on_sqlite
def test_no_entry_is_written_after_something_was_forgotten_at_whichever_moment(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    known: list[dict[str, str]] = []

    def forget(house: recollect.Memory) -> None:
        known.append(entries(house))
        house.forget(message=next(iter(house.history.export())).id, verify=False)

    for moment in range(1_000):
        house = open_house()
        House(house, tmp_path / str(moment)).tell("birds", "The swifts are back.")
        memory, between = interrupted(house, sys.maxsize, forget)

        def step(request: Request, moment: int = moment, between: Between = between) -> Step:
            if len(request.turns) > 1:
                return "That was a good day."
            between.left = moment
            return write(ENTRY)

        reflect(memory, model=ScriptedTalk(step))
        if not between.has_happened:
            break
        assert (moment, entries(house)) == (moment, known[-1])
    assert {*map(bool, known)} == {False, True}


# What a model can get wrong


@on_sqlite
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (use("write_diary", {}), "write_diary needs `text`"),
        (write(" \n"), "write_diary needs `text`"),
        (write(7), "write_diary needs `text`"),
        (
            use("burn_diary", {"text": "x"}),
            "There are: search_memory, update_status, memory, query_memory, write_diary",
        ),
        (use("query_memory", {"sql": "SELECT x FROM nowhere"}), "nowhere"),
        (use("memory", {"command": "view", "path": "/memories/none.md"}), "/memories/none.md"),
    ],
    ids=["no text", "a blank text", "a number", "no such tool", "no question", "no such page"],
)
def test_what_a_tool_cannot_do_is_answered_and_not_raised(memory: recollect.Memory, call: Answer, told: str) -> None:
    model = ScriptedTalk([call, "I see."])
    done = reflect(memory, model=model)
    (block,) = model.requests[-1].turns[-1].content
    assert block["is_error"]
    assert told in block["content"]
    assert (done.wrote, done.tools[0].is_error) == ((), True)


@on_sqlite
@pytest.mark.parametrize("given", ["text", ["text"], 3])
def test_an_input_that_is_no_object_is_answered(memory: recollect.Memory, given: Any) -> None:
    call: dict[str, Any] = {"type": "tool_use", "id": "toolu_x", "name": "write_diary", "input": given}
    model = ScriptedTalk([Answer(blocks=(call,), stop=Stop.TOOLS, usage=Usage(), model=""), ""])
    reflect(memory, model=model)
    assert "an object" in results(model.requests[-1])[0]


@on_sqlite
def test_half_of_a_character_and_blank_words_are_sent_back_sound(memory: recollect.Memory) -> None:
    half, blank = write("A \ud83d half."), said(" ").blocks
    answer = Answer(blocks=(*blank, *half.blocks), stop=Stop.TOOLS, usage=Usage(), model="")
    model = ScriptedTalk([answer, "So \udc00."])
    done = reflect(memory, model=model)
    assert in_words(model.requests[-1]).encode()
    assert [block["type"] for block in model.requests[-1].turns[1].content] == ["tool_use"]
    assert list(entries(memory).values()) == ["A ? half."]
    assert done.words == "So ?."


# What it is shown


def test_it_has_no_history_and_joins_none(memory: recollect.Memory) -> None:
    talk(memory, ScriptedTalk(["Under the third pot."]), "Where is the spare key?")
    before = [message.id for message in memory.history.export()]
    model = ScriptedTalk([use("search_memory", {"query": "spare key"}), write(ENTRY), "A quiet evening."])

    reflect(memory, model=model)

    first, second, _ = model.requests
    assert "spare key" not in in_words(first)
    assert "third pot" not in in_words(first)
    assert "Where is the spare key?" in results(second)[0], "it can be found, though it was said last"
    assert [message.id for message in memory.history.export()] == before
    spoken = ScriptedTalk(["Yes."])
    talk(memory, spoken, "Still there?")
    assert "A quiet evening." not in in_words(spoken.requests[0])
    assert ENTRY not in in_words(spoken.requests[0])


def test_the_system_keeps_its_bytes_between_two_moments_of_an_unchanged_house(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    model = ScriptedTalk(lambda _: "")
    for minutes in (0, 50, 24 * 60):
        clock.move(minutes=minutes)
        reflect(memory, model=model)
    first, second, third = (request.system for request in model.requests)
    assert first == second
    other = [
        (before, after)
        for before, after in zip("".join(first).split("\n"), "".join(third).split("\n"), strict=True)
        if before != after
    ]
    assert [before for before, _ in other] == ["This was put together on Monday, 2 March 2026, 12:00 (UTC+00:00)."]
    assert [tool.name for tool in model.requests[0].tools] == [
        "search_memory",
        "update_status",
        "memory",
        "query_memory",
        "write_diary",
    ]
    assert len({repr(request.tools) for request in model.requests}) == 1


def test_each_request_of_a_moment_goes_on_from_the_one_before(memory: recollect.Memory) -> None:
    model = ScriptedTalk([use("search_memory", {"query": "x"}), write(ENTRY), ""])
    reflect(memory, model=model)
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert (after.system, after.tools) == (before.system, before.tools)
        assert after.turns[: len(before.turns)] == before.turns
    assert [turn.role for turn in model.requests[-1].turns] == ["user", "assistant", "user", "assistant", "user"]


@on_sqlite
def test_a_moment_asked_for_again_is_shown_the_same(memory: recollect.Memory, clock: FrozenClock) -> None:
    model, now = ScriptedTalk(lambda _: ""), clock.now
    moment = reflecting(memory, model)
    run(moment.reflect(now))
    clock.move(minutes=2)
    run(moment.reflect(now))
    assert model.requests[0] == model.requests[1]


def test_a_pipeline_of_one_s_own_without_room_for_the_moment_is_named(home: Path, clock: FrozenClock) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text(
        '[[pipelines.heartbeat.sections]]\nname = "trigger"\nshown = false\n', encoding="utf-8"
    )
    with recollect.open(home=home, clock=clock) as memory, pytest.raises(Invalid, match=r"'heartbeat'.*trigger"):
        reflect(memory)


@on_sqlite
def test_what_it_is_told_describes_and_does_not_script(memory: recollect.Memory) -> None:
    model = ScriptedTalk([""])
    reflect(memory, model=model)
    (turn,) = model.requests[0].turns
    shown = [block["text"] for block in turn.content]
    assert REFLECTION.strip() in "".join(shown)
    for text in (*model.requests[0].system, *shown, REFLECTION, SPEC.description):
        assert prescriptions(text) == []
    assert prescriptions(SPEC.schema["properties"]["text"]["description"]) == []


# Names of entries across the changes of the clock


@pytest.mark.parametrize(
    ("moments", "names"),
    [
        pytest.param(
            [datetime(2026, 3, 28, 20, 30, tzinfo=UTC), datetime(2026, 3, 29, 19, 30, tzinfo=UTC)],
            ["2026-03-28T21-30-00", "2026-03-29T21-30-00"],
            id="the same hour in the evening before and after spring",
        ),
        pytest.param(
            [datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)],
            ["2026-03-29T01-59-59", "2026-03-29T03-00-00"],
            id="the hour that is not there",
        ),
        pytest.param(
            [datetime(2026, 10, 24, 19, 30, tzinfo=UTC), datetime(2026, 10, 25, 20, 30, tzinfo=UTC)],
            ["2026-10-24T21-30-00", "2026-10-25T21-30-00"],
            id="the same hour in the evening before and after autumn",
        ),
        pytest.param(
            [datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)],
            ["2026-10-25T02-30-00", "2026-10-25T02-30-01"],
            id="the hour that is there twice",
        ),
    ],
)
def test_entries_are_named_in_the_persons_zone_across_both_changes_of_the_clock(
    vienna: recollect.Memory, clock: FrozenClock, moments: list[datetime], names: list[str]
) -> None:
    wrote: list[str] = []
    for number, moment in enumerate(moments):
        clock.now = moment
        wrote += reflect(vienna, write(f"Entry {number}."), "").wrote
    assert wrote == names
    assert entries(vienna) == {name: f"Entry {number}." for number, name in enumerate(names)}


# Beside a conversation


@on_sqlite
def test_a_diary_entry_is_there_for_the_next_turn_to_find(memory: recollect.Memory) -> None:
    reflect(memory, write(ENTRY), "")
    model = ScriptedTalk([use("search_memory", {"query": "swifts"}), "They are back."])

    async def asked() -> None:
        async with minding(memory, model) as mind:
            await mind.hear(Said(text="Are they back?", channel="terminal"))
            await mind.turn()

    run(asked())
    assert ENTRY in results(model.requests[-1])[0]
