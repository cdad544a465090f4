"""Schemas in the subset that every provider takes, and the object in what a model wrote."""

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.lib._pydantic import to_strict_json_schema
from pydantic import BaseModel, Field, create_model

from recollect.errors import Invalid
from recollect.llm.answers import MOST_COMPLAINTS, NotAsAsked, object_text, read_answer
from recollect.llm.schemas import strict_schema
from recollect.testing.openai_schema import check_format, plain_value


class Mood(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Quote(BaseModel):
    turn: Annotated[int, Field(ge=1)]
    words: Annotated[str, Field(min_length=1, max_length=500, pattern="^.*$")]


class Item(BaseModel):
    kind: Literal["fact", "decision"]
    only: Literal["this"] = "this"
    mood: Mood = Field(Mood.GOOD, description="How it was said.")
    text: str = Field(description="One line.")
    share: float | None = Field(None, ge=0, le=1)
    quotes: Annotated[list[Quote], Field(min_length=1)]
    first: Quote | None = None


class Found(BaseModel):
    """What was found."""

    items: list[Item] = []
    best: Item = Field(description="The best of them.")
    is_done: bool = False


class Branch(BaseModel):
    name: str
    below: list["Branch"] = []


def _objects(value: Any) -> list[dict[str, Any]]:
    found = [value] if isinstance(value, dict) and value.get("type") == "object" else []
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found += _objects(inner)
    return found


@pytest.mark.parametrize("model", [Found, Item, Quote, Branch])
def test_every_field_is_required_no_other_is_allowed_and_nothing_is_limited(model: type[BaseModel]) -> None:
    made = strict_schema(model.model_json_schema())
    check_format({"name": "x", "schema": made, "strict": True})  # As the API checks it.
    for one in _objects(made):
        assert one["required"] == list(one["properties"])
        assert one["additionalProperties"] is False
    text = json.dumps(made)
    assert not any(f'"{word}"' in text for word in ("default", "minimum", "minLength", "pattern", "minItems", "title"))


@pytest.mark.parametrize("model", [Found, Item, Quote])
def test_objects_are_those_of_the_official_sdk(model: type[BaseModel]) -> None:
    ours, theirs = strict_schema(model.model_json_schema()), to_strict_json_schema(model)
    assert ours["required"] == theirs["required"]
    for name, definition in ours.get("$defs", {}).items():
        assert definition.get("required") == theirs["$defs"][name].get("required")
        assert definition.get("enum") == theirs["$defs"][name].get("enum")


def test_a_schema_that_is_strict_already_stays_as_it_is() -> None:
    for model in (Found, Item, Branch):
        made = strict_schema(model.model_json_schema())
        assert strict_schema(made) == made


def test_the_given_schema_is_not_changed() -> None:
    given_schema = Found.model_json_schema()
    before = json.dumps(given_schema)
    strict_schema(given_schema)
    assert json.dumps(given_schema) == before


def test_descriptions_stay_also_beside_a_reference() -> None:
    made = strict_schema(Found.model_json_schema())
    assert made["description"] == "What was found."
    assert made["properties"]["best"] == {"description": "The best of them.", "anyOf": [{"$ref": "#/$defs/Item"}]}
    assert made["$defs"]["Item"]["properties"]["only"]["enum"] == ["this"]


@pytest.mark.parametrize(
    "field", [dict[str, int], Any, tuple[int, str], list[Any], dict[str, Any], list[dict[str, str]]]
)
def test_what_not_every_provider_can_be_asked_for_is_refused_by_the_name_of_the_field(field: Any) -> None:
    with pytest.raises(Invalid, match=r"the answer\.odd"):
        strict_schema(create_model("M", odd=(field, ...)).model_json_schema())


def test_the_answer_must_be_an_object() -> None:
    with pytest.raises(Invalid, match="object"):
        strict_schema({"type": "array", "items": {"type": "string"}})


LEAVES = st.sampled_from([str, int, bool, float, str | None, Mood, Literal["a", "b"], Quote, Quote | None])
FIELDS = st.recursive(LEAVES, lambda inner: inner.map(lambda kind: list[kind]) | inner.map(lambda kind: kind | None))


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "of_it"]), st.tuples(FIELDS, st.booleans()), min_size=1))
def test_the_least_value_of_a_strict_schema_is_one_of_the_model(fields: dict[str, Any]) -> None:
    made: dict[str, Any] = {
        name: (kind | None, None) if has_default else (kind, ...) for name, (kind, has_default) in fields.items()
    }
    model = create_model("Made", **made)
    schema = strict_schema(model.model_json_schema())
    check_format({"name": "x", "schema": schema, "strict": True})
    least = plain_value(schema)
    assert set(least) == set(fields)
    if "Quote" not in json.dumps(schema):  # Whose limits only pydantic knows.
        model.model_validate(least)


# What a model wrote.

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES = st.dictionaries(TEXTS, TEXTS | st.integers() | st.none() | st.lists(TEXTS, max_size=2), max_size=4)
WRAPS = [
    "{}",
    " \n{}\n",
    "```json\n{}\n```",
    "```\n{}\n```\n\nThat is all.",
    "<think>\nhm, { or } ?\n</think>\n\n{}",
    "hm, { or } ?</think>{}",
    "<think>x</think>\nHere it is:\n```json\n{}\n```",
    "Here it is: {}",
    "Here it is:\n{}\nGood luck!",
]


@given(VALUES, st.sampled_from(WRAPS), st.sampled_from([None, 1]), st.booleans())
def test_an_object_is_found_in_whatever_stands_around_it(
    value: dict[str, Any], wrap: str, indent: int | None, is_ascii: bool
) -> None:
    written = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    assert json.loads(object_text(wrap.replace("{}", written))) == value


@given(st.text(max_size=200))
def test_any_text_is_an_object_or_a_complaint(text: str) -> None:
    with pytest.raises(NotAsAsked) as caught:
        read_answer(text, Quote)
    assert caught.value.complaint.startswith("- ")
    assert caught.value.is_shapeless


def test_a_complaint_says_where_and_what_but_not_what_was_written() -> None:
    secret = "x" * 501
    with pytest.raises(NotAsAsked) as caught:
        read_answer(json.dumps({"turn": 0, "words": secret}), Quote)
    assert caught.value.complaint.splitlines() == [
        "- turn: Input should be greater than or equal to 1",
        "- words: String should have at most 500 characters",
    ]
    assert not caught.value.is_shapeless


@pytest.mark.parametrize("written", ["{}", '{"error": "too hard"}', '{"Found": {"items": []}}', '{"type": "object"}'])
def test_an_object_without_any_of_the_fields_is_another_one_even_where_all_may_be_missing(written: str) -> None:
    class Lenient(BaseModel):
        items: list[Item] = []
        title: str = ""

    with pytest.raises(NotAsAsked, match="none of the fields items, title") as caught:
        read_answer(written, Lenient)
    assert caught.value.is_shapeless
    assert read_answer('{"title": ""}', Lenient) == Lenient()


def test_many_complaints_are_cut() -> None:
    wrong = {"items": [{"kind": "x"}] * 20, "best": {}}
    with pytest.raises(NotAsAsked) as caught:
        read_answer(json.dumps(wrong), Found)
    lines = caught.value.complaint.splitlines()
    assert len(lines) == MOST_COMPLAINTS + 1
    assert lines[-1].endswith("more")
    assert caught.value.is_shapeless
