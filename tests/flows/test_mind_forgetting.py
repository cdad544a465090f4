"""Something is forgotten while a conversation goes on: the next request, the next summary and all files are without it.
On both engines."""

import json
from collections.abc import Sequence
from typing import Any

from conftest import OpenHouse
from minds import Listener, minding, on_sqlite, run, say, talk
from residue import residue_of

import recollect
from recollect.llm.talking import Abilities, Condensing, Request
from recollect.testing.scripted_talk import ScriptedTalk

SECRET = "The spare key of the shed lies under the third pot of thyme"
RETOLD = "Ada told where the second key of her shed is kept, and was relieved"
WEATHER = "It rains until noon, and the wind comes from the west today. "
ON_DEMAND = Abilities(condensing=Condensing.ON_DEMAND)


def in_words(request: Request) -> str:
    return json.dumps([turn.content for turn in request.turns], ensure_ascii=False)


def summary_of(request: Request, instructions: str) -> str:
    """What a model would make of it: in its own words."""
    told = in_words(request)
    about = f" {RETOLD}." if SECRET in told or RETOLD in told else ""
    return f"They spoke about the weather of {len(request.turns)} days.{about}"


def model() -> ScriptedTalk:
    return ScriptedTalk(lambda _: "I see.", summaries=summary_of, abilities=ON_DEMAND)


def house_of(open_house: OpenHouse) -> recollect.Memory:
    return open_house(mind={"model": "scripted", "compact_at_tokens": 6_000})


def rows(memory: recollect.Memory, sql: str) -> list[Any]:
    with memory.database.read() as session:
        return [tuple(row) for row in session.rows(sql, {"house": memory.settings.house})]


def compactions(memory: recollect.Memory) -> list[tuple[str, str]]:
    return rows(memory, "SELECT state, summary FROM mind_compactions WHERE house = :house ORDER BY number")


def message_of(memory: recollect.Memory, words: str) -> str:
    return next(message.id for message in memory.history.export() if words in message.text)


def days(number: int) -> list[str]:
    return [f"Day {day}. {WEATHER * 60}" for day in range(number)]


def assert_clean(requests: Sequence[Request]) -> None:
    for request in requests:
        assert SECRET not in in_words(request)
        assert RETOLD not in in_words(request)


def test_what_is_forgotten_is_not_in_the_next_request_and_a_new_summary_is_made(open_house: OpenHouse) -> None:
    memory, talking, channel = house_of(open_house), model(), Listener()

    async def a_day() -> None:
        async with minding(memory, talking, channel) as mind:
            for text in (f"{SECRET}, keep it.", *days(6)):
                await say(mind, text)
                await mind.settle()
            assert compactions(memory)[-1][0] == "current"
            assert RETOLD in compactions(memory)[-1][1]
            before = len(talking.requests)
            forgotten = memory.forget(message=message_of(memory, SECRET))
            assert forgotten.state == "verified", forgotten
            assert forgotten.removed["compactions"] == sum(state == "forgotten" for state, _ in compactions(memory))
            assert forgotten.removed["mind_entries"] == 1
            condensed = len(talking.condensed)
            for text in days(3):
                await say(mind, text)
                await mind.settle()
            assert_clean(talking.requests[before:])
            assert_clean([request for request, _ in talking.condensed[condensed:]])
            assert len(talking.condensed) > condensed

    run(a_day())
    assert residue_of(memory, SECRET, RETOLD) == []
    state, summary = compactions(memory)[-1]
    assert (state, "weather" in summary) == ("current", True)
    assert [one.state for one in memory.forgetting.verify()] == ["verified"]


@on_sqlite
def test_after_a_restart_nothing_of_it_comes_back(open_house: OpenHouse) -> None:
    memory, first, second = house_of(open_house), model(), model()
    talk(memory, first, f"{SECRET}, keep it.", *days(3))

    assert memory.forget(message=message_of(memory, SECRET)).state == "verified"
    talk(memory, second, "Where is the key?")

    assert "Day 2" in in_words(second.requests[-1])
    assert_clean(second.requests)
    assert residue_of(memory, SECRET) == []


@on_sqlite
def test_the_whole_conversation_can_be_forgotten_and_goes_on(open_house: OpenHouse) -> None:
    memory, first, second = house_of(open_house), model(), model()
    talk(memory, first, f"{SECRET}, keep it.", *days(6))
    conversation = next(iter(memory.history.export())).conversation_id
    assert conversation

    forgotten = memory.forget(conversation=conversation)
    talk(memory, second, "Good morning.")

    assert forgotten.state == "verified", forgotten
    assert {state for state, _ in compactions(memory)} == {"forgotten"}
    assert len(second.requests[0].turns) == 1
    assert_clean(second.requests)
    turns = rows(memory, "SELECT number FROM mind_turns WHERE house = :house ORDER BY number")
    assert turns == [(number,) for number in range(1, 9)], "no number is given twice"
