"""Whether requests only grow, and where they do not."""

import copy
from typing import Any

import httpx2
from anthropic import Anthropic
from anthropic_talk import COMMON, HI, MODEL, WEATHER, after
from hypothesis import given
from hypothesis import strategies as st

from recollect.testing import AnthropicServer
from recollect.testing.prefixes import Break, Difference, PrefixWatch, breaks, first_difference

USE = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo", "days": 2}}


def body(*turns: Any, **changes: Any) -> dict[str, Any]:
    return {**COMMON, "system": "Be kind.", "tools": [WEATHER], "messages": after(*turns), **changes}


def where(earlier: dict[str, Any], later: dict[str, Any]) -> str:
    found = first_difference(earlier, later)
    return found.where if found else ""


def test_a_conversation_that_grows_has_no_break() -> None:
    talk = ["hi", "Hello.", [{"type": "text", "text": "And?"}], "Well.", "?"]
    assert breaks(body(*talk[:length]) for length in (1, 3, 3, 5)) == []


def test_cache_marks_and_the_spelling_of_a_text_are_no_difference() -> None:
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    earlier = body([marked], system=[{**marked, "text": "Be kind."}])
    assert where(earlier, body("hi", "Hello.", "And?")) == ""
    assert where(body("hi"), earlier) == ""
    assert where(body("hi"), body("hi", max_tokens=1, stream=True)) == ""


def test_a_difference_is_named_by_its_place() -> None:
    talk = body("hi", "Hello.", "And?")
    assert where(talk, body("hi", "Hello.", "And?", system="Be rude.")) == "system"
    assert where(talk, body("hi", "Hello.", "And?", tools=[])) == "tools"
    assert where(talk, body("hi", "Hello!", "And?")) == "messages[1].content[0]"
    assert where(talk, body("hi", "Hello.")) == "messages[2]"
    assert where(talk, {**talk, "model": "claude-opus-5-5"}) == "model"
    assert where(talk, {**talk, "thinking": {"type": "adaptive"}}) == "thinking"
    other = copy.deepcopy(talk)
    other["messages"][1]["role"] = "user"
    assert where(talk, other) == "messages[1].role"


def test_only_the_last_message_may_get_more_blocks() -> None:
    one, two = [{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert where(body(one), body(two)) == ""
    assert where(body(one, "x", "y"), body(two, "x", "y")) == "messages[0].content[1]"
    assert where(body(two), body(one)) == "messages[0].content[1]"


def test_the_order_of_the_arguments_of_a_tool_counts() -> None:
    turned = {**USE, "input": {"days": 2, "city": "Oslo"}}
    assert where(body("hi", [USE], "x"), body("hi", [turned], "x")) == "messages[1].content[0]"
    assert where(body("hi", [USE], "x"), body("hi", [dict(reversed(USE.items()))], "x")) == ""


def test_the_text_of_a_difference_is_what_a_person_needs() -> None:
    early, late = "word " * 200 + "at nine " + "word " * 200, "word " * 200 + "at ten " + "word " * 200
    found = first_difference(body(early), body(late))
    assert found
    assert "at nine" in found.earlier_text
    assert "at ten" in found.later_text
    assert len(found.earlier_text) <= 120
    gone = first_difference(body("hi", "Hello.", "And?"), body("hi"))
    assert gone == Difference(
        where="messages[1]", earlier_text='{"role":"assistant","content":"Hello."}', later_text=""
    )


def test_the_requests_of_openai_are_compared_too() -> None:
    chat = {"model": "x", "messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    longer = {**chat, "messages": [*chat["messages"], call]}
    assert where(chat, longer) == ""
    assert where(longer, {**longer, "messages": [*chat["messages"], {**call, "tool_calls": []}]}) == "messages[2]"
    assert where({"instructions": "a", "input": "b"}, {"instructions": "c", "input": "b"}) == "instructions"
    assert where({"input": "b"}, {"input": [{"role": "user", "content": "c"}]}) == "input[0].content[0]"


def test_a_server_tells_where_its_requests_broke() -> None:
    with AnthropicServer() as server, httpx2.Client(verify=False, trust_env=False) as line:
        client = Anthropic(base_url=server.url, api_key="any", http_client=line)
        for talk in (HI, after("hi", "Hello.", "And?"), after("hi", "Hallo.", "And?")):
            client.messages.create(**COMMON, messages=talk)
        (found,) = breaks(server.asked)
    assert found == Break(number=2, where="messages[1].content[0]", earlier_text="Hello.", later_text="Hallo.")
    assert str(found) == "request 2 differs at messages[1].content[0]: 'Hello.' became 'Hallo.'"


def test_a_watch_needs_no_bodies_that_are_kept() -> None:
    watch = PrefixWatch()
    assert watch.take(body("hi")) is None
    assert watch.take(body("ho"))
    assert watch.take(body("ho", "x", "y")) is None
    assert [found.number for found in watch.breaks] == [1]


BLOCKS = st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, st.text(min_size=1, max_size=4)), min_size=1, max_size=3
)
TALKS = st.lists(BLOCKS, min_size=1, max_size=6)


@given(talk=TALKS, more=TALKS)
def test_what_is_appended_never_breaks(talk: list[Any], more: list[Any]) -> None:
    assert breaks([{"model": MODEL, "messages": after(*talk)}, {"model": MODEL, "messages": after(*talk, *more)}]) == []


@given(talk=TALKS, data=st.data())
def test_a_change_is_found_where_it_was_made(talk: list[Any], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(talk) - 1))
    index = data.draw(st.integers(0, len(talk[number]) - 1))
    changed = copy.deepcopy(talk)
    changed[number][index]["text"] += "!"
    found = first_difference({"messages": after(*talk)}, {"messages": after(*changed)})
    assert found
    assert found.where == f"messages[{number}].content[{index}]"
