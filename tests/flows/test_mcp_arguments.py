"""Whatever is given to a tool, there is a result: an answer or a refusal in words, never a failure inside (S2)."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_asking import ERAS, Asker, text_of
from stories.looks import property_with

from recollect.surfaces.mcp import specs
from recollect.surfaces.mcp.paging import cursor_of
from recollect.surfaces.mcp.server import BROKEN, ERROR_KIND
from recollect.testing import temporary_memory

STANDING = specs.Standing(is_person=False, may_write=True, writes_in_house=True)
TOOLS = {tool.name: tool for tool in specs.tools_for(STANDING)}
KINDS = ("Invalid", "NotFound", "Denied", "Conflict")

TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", " ", "\x00", "\ud800", "/memories", "/memories/a.md", "/memories/../x", "a\n" * 50, "[REMEMBER] x", "%", "-1"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CURSORS = st.builds(cursor_of, TEXTS, st.integers(-5, 2**65), st.integers(0, 2**65)) | TEXTS


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What the schema asks for, mostly."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "string": TEXTS,
        "integer": st.integers(-3, 200),
        "boolean": st.booleans(),
        "array": st.lists(TEXTS | st.integers(-5, 50), max_size=3),
        "object": st.dictionaries(TEXTS, JSON, max_size=3),
    }
    return kinds[schema["type"]]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    tool = TOOLS[draw(st.sampled_from(sorted(TOOLS)))]
    arguments: dict[str, Any] = {}
    for name, schema in tool.input_schema["properties"].items():
        is_required = name in tool.input_schema.get("required", [])
        if draw(st.integers(0, 9)) < (9 if is_required else 4):
            wanted = CURSORS if name == "cursor" else fitting(schema)
            arguments[name] = draw(JSON if draw(st.integers(0, 5)) == 0 else wanted)
    return tool.name, arguments


@pytest.fixture(scope="module", params=ERAS)
def asker(request: pytest.FixtureRequest) -> Iterator[Asker]:
    with temporary_memory() as memory:
        memory.agents.add("ada")
        memory.agents.grant("ada", "house")
        memory.knowledge.remember("Swifts nest under the tiles.")
        memory.notes.write("a.md", "one\ntwo\nthree\n")
        yield Asker(memory.as_agent("ada"), request.param)


@property_with(60)
@given(call=calls())
def test_whatever_a_tool_is_given_it_answers_or_refuses_in_words(
    asker: Asker, call: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = call
    result = asker.ask(lambda client: client.call_tool(tool, _sendable(arguments)))
    text = text_of(result)
    assert text != BROKEN
    if result.is_error:
        assert (result.meta or {})[ERROR_KIND] in KINDS
        assert "Traceback" not in text
        assert len(text) < 3_000
    elif TOOLS[tool].output_schema:
        assert result.structured_content is not None


def _sendable(value: Any) -> Any:
    """A half character cannot be put on a wire in UTF-8; an escape in JSON can, and is replaced on arrival."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_sendable(one) for one in value]
    return {_sendable(name): _sendable(one) for name, one in value.items()} if isinstance(value, dict) else value
