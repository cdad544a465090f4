"""Whatever is asked, the answer is hits or an error of ours that names the thing: no engine's text, no crash."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from chats import NOW, House, days_ago
from hypothesis import given
from hypothesis import strategies as st
from stories.looks import property_with

import recollect
from recollect.errors import Invalid, NotFound, RecollectError

ENGINE_WORDS = (
    "sqlite",
    "psycopg",
    "postgres",
    "syntax error",
    "fts5",
    'near "',
    "codec",
    "sqlstate",
    "traceback",
    "line 1",
)

ODD_QUESTIONS = {
    "a quote": '"',
    "an open quote": '"runner beans',
    "FTS near": "NEAR(beans fence, 5)",
    "FTS near, open": "NEAR(",
    "FTS prefix": "bean*",
    "a star": "*",
    "FTS and, open": "beans AND",
    "FTS operators alone": "AND OR NOT",
    "FTS column": "text:beans",
    "FTS caret": "^beans",
    "a caret": "^",
    "FTS minus": "beans -fence",
    "parentheses": "((((",
    "tsquery": "beans & !fence | (a <-> b):*",
    "like": "%_%",
    "SQL": "'; DROP TABLE history_messages; --",
    "SQL union": "' UNION SELECT name FROM sqlite_master --",
    "SQL parameter": ":house = :house",
    "psycopg parameter": "%s %(name)s %",
    "NUL": "be\x00ans",
    "only NUL": "\x00",
    "lone surrogate": "beans \ud800",
    "only a surrogate": "\udfff",
    "control characters": "\x01\x02\x1b[31m",
    "emoji": "🎉",
    "a family": "👨‍👩‍👧‍👦",
    "only stop words": "to be or not to be",
    "only punctuation": "?!… ---",
    "zero width": "\u200b",
    "right to left": "\u202ebeans\u202c فاصوليا",
    "a regular expression": "(a+)+$ [",
    "a path": "../../../etc/passwd",
    "a template": "{{7*7}} ${HOME} %(x)s",
    "JSON": '{"query": "beans"}',
    "dates out of range": "on 2024-02-30 or 9999-99-99, 99999999999 years ago, in 3000000 days",
    "many dates": "2024-01-01 " * 2_000,
    "100,000 letters": "x" * 100_000,
    "100,000 words": "beans fence " * 8_333,
    "100,000 different words": " ".join(f"w{number:05d}" for number in range(14_300)),
    "100,000 Chinese characters": "东京开会" * 25_000,
    "100,000 marks": "-" * 100_000,
    "100,000 underscores": "_" * 100_000,
    "100,000 apostrophes": "a'" * 50_000,
    "100,000 brackets": "(" * 100_000,
    "100,000 capitals": "AB" * 50_000,
    "100,000 backticks": "`" * 100_000,
}


@pytest.fixture
def house(memory: recollect.Memory, tmp_path: Path) -> House:
    told = House(memory, tmp_path / "chats")
    told.tell("a", "We sow runner beans along the fence.", ("assistant", "Yes, in May!"), start=days_ago(9))
    told.tell("b", "The fence is green 🎉 and high.", start=days_ago(2), cwd="/home/mara/fence")
    told.memory.recall.catch_up()
    return told


def assert_ours(error: RecollectError) -> None:
    message = str(error)
    assert message
    assert len(message) < 1_000
    message.encode()  # It can be printed.
    assert [word for word in ENGINE_WORDS if word in message.lower()] == []


@pytest.mark.parametrize("question", ODD_QUESTIONS.values(), ids=ODD_QUESTIONS.keys())
def test_an_odd_question_is_answered(house: House, question: str) -> None:
    found = house.ask(question, explain=True)
    assert len(found.hits) <= 3
    assert house.best("runner beans") == "We sow runner beans along the fence."  # Nothing was harmed.


@pytest.mark.parametrize(
    "question", ["beans \ud800", "be\x00ans beans", '"beans', "NEAR(beans", "beans AND", "bean*", "^beans"]
)
def test_what_is_odd_does_not_hide_what_is_asked(house: House, question: str) -> None:
    assert house.best(question) == "We sow runner beans along the fence."


@pytest.mark.parametrize("question", ["?!… ---", "\x00", "*", "\udfff"])
def test_a_question_that_says_nothing_finds_nothing_and_says_why(house: House, question: str) -> None:
    found = house.ask(question)
    assert found.hits == []
    assert found.lacks


@pytest.mark.parametrize("question", ["", " ", "\n\t ", "\u3000"])
def test_an_empty_question_is_refused(house: House, question: str) -> None:
    with pytest.raises(Invalid, match="nothing to search for") as caught:
        house.ask(question)
    assert_ours(caught.value)


BAD_OPTIONS: list[tuple[dict[str, Any], type[RecollectError]]] = [
    ({"since": NOW, "until": days_ago(1)}, Invalid),
    ({"since": NOW, "as_of": days_ago(1)}, Invalid),
    ({"since": NOW.replace(tzinfo=None)}, Invalid),
    ({"until": NOW.replace(tzinfo=None)}, Invalid),
    ({"as_of": NOW.replace(tzinfo=None)}, Invalid),
    ({"now": NOW.replace(tzinfo=None)}, Invalid),
    ({"now": datetime.max.replace(tzinfo=UTC)}, Invalid),
    ({"now": datetime.min.replace(tzinfo=UTC)}, Invalid),
    ({"since": "yesterday"}, Invalid),
    ({"authors": ["nobody"]}, Invalid),
    ({"authors": ["tool"]}, Invalid),
    ({"authors": "user"}, Invalid),
    ({"authors": ["' OR 1=1 --"]}, Invalid),
    ({"sources": ["nowhere"]}, Invalid),
    ({"sources": ["\ud800"]}, Invalid),
    ({"statuses": ["done"]}, Invalid),
    ({"statuses": ["\x00"]}, Invalid),
    ({"search_type": "everything"}, Invalid),
    ({"search_type": ""}, Invalid),
    ({"search_type": "\ud800"}, Invalid),
    ({"agent": "otto"}, NotFound),
    ({"agent": "\ud800\x00"}, NotFound),
    ({"conversations": ["nothing"]}, NotFound),
    ({"conversations": [""]}, RecollectError),
    ({"conversations": ["\x00"]}, RecollectError),
    ({"conversations": ["\ud800"]}, RecollectError),
    ({"conversations": ["'; DROP TABLE history_messages; --"]}, NotFound),
    ({"projects": ["\x00"]}, RecollectError),
    ({"projects": ["\ud800"]}, RecollectError),
    ({"limit": 0}, Invalid),
    ({"limit": -1}, Invalid),
    ({"limit": 1_001}, Invalid),
    ({"limit": 10**30}, Invalid),
    ({"limit": 2.5}, Invalid),
    ({"limit": "3"}, Invalid),
]


@pytest.mark.parametrize(("options", "kind"), BAD_OPTIONS, ids=[repr(options)[:60] for options, _ in BAD_OPTIONS])
def test_a_wrong_option_is_named(house: House, options: dict[str, Any], kind: type[RecollectError]) -> None:
    with pytest.raises(kind) as caught:
        house.ask("beans", **options)
    assert_ours(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"projects": ["'; DROP TABLE history_conversations; --"]},
        {"projects": ["%"]},
        {"projects": ["\\"]},
        {"projects": ["no such project"]},
        {"projects": ["x" * 10_000]},
        {"sources": ["telegram"]},
        {"since": NOW + timedelta(days=365)},
        {"until": datetime(1950, 1, 1, tzinfo=UTC)},
    ],
    ids=repr,
)
def test_a_filter_that_nothing_passes_gives_no_hits(house: House, options: dict[str, Any]) -> None:
    assert house.ask("beans", **options).hits == []


@pytest.mark.parametrize("text", [None, 5, b"beans", ["beans"]])
def test_a_question_that_is_no_text_is_refused(house: House, text: Any) -> None:
    with pytest.raises(Invalid) as caught:
        house.ask(text)
    assert_ours(caught.value)


@pytest.mark.parametrize(
    "question", ["last week", "yesterday", "two hundred years ago", "before 1900", "in the year 1"]
)
@pytest.mark.parametrize("year", [1900, 9000])
def test_a_time_phrase_asked_at_the_edge_of_time_is_answered(house: House, question: str, year: int) -> None:
    house.ask(f"beans {question}", now=datetime(year, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "q" * 50_000,
        "deadbeef0" * 10_000,
        "日" * 50_000,
        "a'" * 20_000,
        "x_" * 30_000,
        "AbC" * 20_000,
        "\x00" * 1_000,
        "é" * 9_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_message_that_is_one_endless_word_is_indexed_with_the_rest(house: House, text: str) -> None:
    house.tell("blob", f"Here is the blob: {text}", "The owl comes after it.", start=days_ago(1))
    assert any(found.startswith("Here is the blob") for found in house.by_words("blob"))
    assert house.best("owl") == "The owl comes after it."


def test_an_endless_word_that_does_not_compress_is_indexed_with_the_rest(house: House) -> None:
    """A key in PostgreSQL is compressed, and must then be shorter than a third of a page."""
    word = "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=40_000))
    house.tell("blob", f"Here is the blob: {word}", "The owl comes after it.", start=days_ago(1))
    assert house.best("owl") == "The owl comes after it."
    assert house.best(word).startswith("Here is the blob")


@property_with(60)
@given(st.text(max_size=40))
def test_any_text_is_answered(house: House, text: str) -> None:
    try:
        found = house.ask(text, fresh=False)
    except RecollectError as error:
        assert_ours(error)
        assert not text.strip()
    else:
        assert len(found.hits) <= 3
