"""A summary in the words of any model: what is asked, what counts as one, and what is done with the rest (M2)."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prescriptions import prescriptions

from recollect.errors import Invalid
from recollect.llm.model import Busy, Usage
from recollect.llm.talking import Abilities, Answer, Condensing, Request, Stop, SummaryRefused, Tool, Turn
from recollect.mind.compaction import Compacted
from recollect.mind.compaction.choosing import choose
from recollect.mind.compaction.compaction import HEADING
from recollect.mind.compaction.instructing import MOST_INSTRUCTION_TOKENS, instructions_from
from recollect.mind.compaction.own import ASKED, ONCE_MORE, OwnCompaction
from recollect.mind.compaction.trimming import closed, shortened, without_thinking
from recollect.mind.compaction.weighing import exchanges, tokens_of_request, tokens_of_turns
from recollect.notes.starter import COMPACTION_TEXT
from recollect.testing.scripted_talk import ScriptedTalk, said, use

STORY = (
    "They spoke about the kitchen at length, chose the dark tiles in the end, and Mara promised to pay the plumber by "
    "Friday; the tone was light throughout, save for one evening."
)
SEARCH = Tool(name="search_memory", description="Finds.", schema={"type": "object", "properties": {}})


def spoke(role: str, text: str) -> Turn:
    return Turn(role=role, content=({"type": "text", "text": text},))


def talk(number: int, words: str = "and so on ") -> list[Turn]:
    return [spoke(("user", "assistant")[at % 2], f"{at}: {words * 20}") for at in range(2 * number)]


def asking(turns: list[Turn]) -> Request:
    return Request(system=("You are kind.",), tools=(SEARCH,), turns=turns)


def compacted(model: ScriptedTalk, turns: list[Turn], page: str = "") -> Compacted | None:
    return asyncio.run(OwnCompaction(model).compact(asking(turns), instructions_from(page)))


def texts(turn: Turn) -> str:
    return "\n".join(block["text"] for block in turn.content if block["type"] == "text")


def stopped(stop: Stop, *blocks: dict[str, Any]) -> Answer:
    return Answer(blocks=blocks, stop=stop, usage=Usage(), model="")


# --- what is asked


def test_the_conversation_is_sent_as_it_is_with_one_more_turn() -> None:
    model = ScriptedTalk([STORY])
    turns = talk(5)
    found = compacted(model, turns, "Hold on to the tiles.")
    (asked,) = model.requests
    assert found == Compacted(kind="own", summary=STORY, block=None, usage=found.usage if found else Usage())
    assert (asked.system, asked.tools, asked.turns[:-1]) == (("You are kind.",), (SEARCH,), tuple(turns))
    assert asked.turns[-1].role == "user"
    assert "Hold on to the tiles." in texts(asked.turns[-1])
    assert asked.most_output_tokens <= 8_000


def test_calls_that_nobody_answered_are_closed_before_the_model_is_asked() -> None:
    call = use("search_memory", {"query": "tiles"})
    model = ScriptedTalk([STORY])
    assert compacted(model, [*talk(3), spoke("user", "Which?"), Turn(role="assistant", content=call.blocks)])
    first, *_ = model.requests[0].turns[-1].content
    assert (first["type"], first["tool_use_id"]) == ("tool_result", call.blocks[0]["id"])


# --- what counts as a summary

CALL = use("search_memory", {"query": "tiles"}, before="Let me look.")


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        (CALL, Stop.TOOLS),
        (stopped(Stop.LENGTH, {"type": "text", "text": STORY}), Stop.LENGTH),
        (said("Sure!"), Stop.END),
        (said(" \n"), Stop.END),
        (stopped(Stop.END), Stop.END),
        (said(f"<think>{STORY}</think>"), Stop.END),
    ],
    ids=["tool", "cut off", "too short", "blank", "empty", "only thoughts"],
)
def test_what_is_no_summary_gets_a_word_and_a_second_try(answer: Answer, stop: Stop) -> None:
    model = ScriptedTalk([answer, STORY])
    found = compacted(model, talk(20))
    assert found
    assert (found.summary, found.usage.calls) == (STORY, 2)
    first, second = model.requests
    assert second.turns[: len(first.turns)] == first.turns
    assert ONCE_MORE[stop] in texts(second.turns[-1])
    called = [block["id"] for turn in second.turns for block in turn.content if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in second.turns[-1].content if block["type"] == "tool_result"]
    assert answered == called
    assert all(block.get("text", "x").strip() for turn in second.turns for block in turn.content)


@pytest.mark.parametrize("answer", [CALL, said(""), stopped(Stop.LENGTH, {"type": "text", "text": STORY})])
def test_after_a_second_failure_the_conversation_stays_as_it_is(answer: Answer) -> None:
    assert compacted(ScriptedTalk([answer, answer]), talk(20)) is None


def test_a_refusal_is_not_argued_with() -> None:
    model = ScriptedTalk([stopped(Stop.REFUSED, {"type": "text", "text": STORY})])
    assert compacted(model, talk(20)) is None


def test_a_short_conversation_may_have_a_short_summary() -> None:
    found = compacted(ScriptedTalk(["They greeted."]), talk(1, "hi "))
    assert found
    assert found.summary == "They greeted."


@pytest.mark.parametrize("text", [f"<think>Hm.</think>\n\n{STORY}", f"{HEADING}\n\n{STORY}", f"\n{STORY} \n"])
def test_what_stands_around_a_summary_is_left_out(text: str) -> None:
    found = compacted(ScriptedTalk([text]), talk(20))
    assert found
    assert found.summary == STORY


@pytest.mark.parametrize("error", [Busy("later"), SummaryRefused("no"), Invalid("no such field")])
def test_what_the_model_raises_is_raised(error: Exception) -> None:
    model = ScriptedTalk(lambda _: error)
    with pytest.raises(type(error)):
        compacted(model, talk(1))


# --- a conversation that is too long


def limited(most_tokens: int, *, says_so: bool) -> ScriptedTalk:
    """A model that takes no more than so many tokens, and perhaps does not say so."""

    def answer(request: Request) -> Any:
        return Invalid("prompt is too long") if tokens_of_request(request) > most_tokens else STORY

    abilities = Abilities(most_input_tokens=most_tokens if says_so else 1_000_000)
    return ScriptedTalk(answer, abilities=abilities)


@pytest.mark.parametrize("says_so", [True, False])
def test_what_is_too_long_is_condensed_in_steps(says_so: bool) -> None:
    model = limited(8_000, says_so=says_so)
    turns = talk(60)
    assert 8_000 < tokens_of_turns(turns) < 16_000
    found = compacted(model, turns)
    assert found
    assert found.summary == STORY
    taken = [one for one in model.requests if tokens_of_request(one) <= 8_000]
    assert [HEADING in texts(one.turns[0]) for one in taken] == [number > 0 for number in range(len(taken))]
    sent = [turn for one in taken for turn in one.turns if turn in turns]
    assert sent == turns
    assert found.usage.calls == len(taken) == (3 if says_so else len(taken))


def test_a_refusal_for_another_reason_is_raised_after_a_few_tries() -> None:
    model = ScriptedTalk(lambda _: Invalid("no such field"))
    with pytest.raises(Invalid, match="no such field"):
        compacted(model, talk(200))
    assert len(model.requests) == 5


def test_a_single_message_that_is_too_long_is_shortened() -> None:
    model = limited(8_000, says_so=True)
    turns = [spoke("user", "Look: " + "x" * 1_000_000 + " That was it."), spoke("assistant", "I see."), *talk(3)]
    assert compacted(model, turns)
    sent = texts(model.requests[0].turns[0])
    assert (sent[:6], sent[-12:], "[…]" in sent) == ("Look: ", "That was it.", True)


def test_a_model_without_room_to_answer_is_given_less() -> None:
    def answer(request: Request) -> Any:
        return STORY if len(request.turns) < 30 else stopped(Stop.LENGTH)

    assert compacted(ScriptedTalk(answer), talk(60))
    assert compacted(ScriptedTalk(lambda _: stopped(Stop.LENGTH)), talk(60)) is None


# --- instructions


@pytest.mark.parametrize("page", ["", " \n\t", "x" * (4 * MOST_INSTRUCTION_TOKENS)])
def test_a_page_that_says_nothing_or_too_much_is_replaced(page: str) -> None:
    assert instructions_from(page) == instructions_from(COMPACTION_TEXT)


def test_the_page_is_taken_as_it_is() -> None:
    text = instructions_from("# Mine\n\nBraces {like} these, 100 % and 🦔 stay.\n")
    assert text.endswith("# Mine\n\nBraces {like} these, 100 % and 🦔 stay.")


def test_our_words_describe_and_do_not_script() -> None:
    for text in (instructions_from(""), ASKED, HEADING, *ONCE_MORE.values()):
        assert prescriptions(text) == []


# --- who condenses


@pytest.mark.parametrize(
    ("condensing", "tokens", "failed", "kind"),
    [
        (Condensing.ON_DEMAND, 10, (), "on-demand"),
        (Condensing.ON_DEMAND, 90_000, ("on-demand",), "own"),
        (Condensing.THRESHOLD, 90_000, (), "threshold"),
        (Condensing.THRESHOLD, 60_000, (), "own"),
        (Condensing.THRESHOLD, 90_000, ("threshold",), "own"),
        (Condensing.NONE, 90_000, (), "own"),
    ],
)
def test_the_provider_condenses_where_it_can(
    condensing: Condensing, tokens: int, failed: tuple[str, ...], kind: str
) -> None:
    least = 50_000 if condensing is Condensing.THRESHOLD else 0
    abilities = Abilities(condensing=condensing, least_condensed_tokens=least)
    assert choose(ScriptedTalk(abilities=abilities), abilities, tokens, failed=failed).kind == kind


# --- turns

WORDS = st.text(max_size=200)


def made(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


IMAGE = {"type": "base64", "media_type": "image/png", "data": "A" * 9_000}
BLOCKS = st.one_of(
    made("text", text=WORDS),
    made("thinking", thinking=WORDS, signature=st.just("s")),
    made("image", source=st.just(IMAGE)),
    made(
        "tool_use", id=st.just("t"), name=st.just("n"), input=st.fixed_dictionaries({"a": st.lists(WORDS, max_size=2)})
    ),
    made("tool_result", tool_use_id=st.just("t"), content=WORDS | st.lists(made("text", text=WORDS), max_size=2)),
)
ROLES = st.sampled_from(["user", "assistant"])
CONTENTS = st.lists(BLOCKS, min_size=1, max_size=3).map(tuple)
TURNS = st.lists(st.builds(Turn, role=ROLES, content=CONTENTS), max_size=6)


@given(TURNS)
def test_exchanges_are_the_same_turns_and_part_no_result_from_its_call(turns: list[Turn]) -> None:
    found = exchanges(turns)
    assert [turn for one in found for turn in one] == turns
    for one in found[1:]:
        assert one[0].role == "user"
        assert all(block["type"] != "tool_result" for block in one[0].content)


@given(TURNS, st.integers(min_value=1, max_value=2_000))
def test_shortened_turns_fit_or_are_as_short_as_they_get(turns: list[Turn], most: int) -> None:
    before = json.dumps([turn.content for turn in turns])
    found = shortened(turns, most)
    assert tokens_of_turns(found) <= max(most, tokens_of_turns(shortened(turns, 1)))
    assert [block["type"] != "thinking" for turn in found for block in turn.content].count(False) == 0
    assert json.dumps([turn.content for turn in turns]) == before
    if tokens_of_turns(without_thinking(turns)) <= most:
        assert found == without_thinking(turns)


@given(TURNS)
def test_closed_turns_end_without_an_open_call(turns: list[Turn]) -> None:
    found = closed(turns)
    assert found[: len(turns)] == tuple(turns)
    last = found[-1] if found else None
    assert not (last and last.role == "assistant" and any(block["type"] == "tool_use" for block in last.content))


def test_images_weigh_what_a_provider_counts_and_not_their_bytes() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000_000}}
    assert tokens_of_turns([Turn(role="user", content=(image,))]) < 2_000
