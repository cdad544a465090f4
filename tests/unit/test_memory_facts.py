"""Facts of a memory folder: what their files say, and files that say what a record does. Pure."""

from collections.abc import Collection
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from recollect.exchange.facts import (
    INDEX,
    Malformed,
    bytes_of,
    description_of,
    fact_of,
    index_of,
    is_excerpt,
    type_of,
)
from recollect.knowledge.records import Category, Kind, Origin, Record, State, Statement
from recollect.knowledge.statements import prepared

NESTED = """---
name: no-mocks
description: "Never mock the \\"database\\": use a real one"
metadata:
  node_type: memory
  type: feedback
  originSessionId: 4d8d7a33-49fe-4436-af59-80e277f108ec
  modified: 2026-07-30T07:40:18.191Z
---

Integration tests hit a real database. See [[ci]].
"""
FLAT = """---
name: Who she is
description: Mara, writes Go: ten years of it
type: user
---
Mara, writes Go: ten years of it. React is new to her.
"""


def statement(content: str, name: str = "one.md", project: str = "", listed: Collection[str] = ()) -> Statement:
    fact = fact_of(name, content.encode(), project, listed)
    assert fact
    return fact.statement


def record(text: str, **fields: object) -> Record:
    at = "2026-05-01T12:00:00.000Z"
    given: dict[str, object] = {
        "id": "r1", "version": 1, "scope": "house", "kind": Kind.LEARNING, "subject": "", "attribute": "", "value": "",
        "text": text, "category": Category.KNOWLEDGE, "tags": (), "confidence": 1.0, "importance": 0.5,
        "origin": Origin.TOLD, "learned_at": at, "true_from": at, "true_until": "", "expires_at": "",
        "state": State.CURRENT, "replaces": "", "replaced_by": "", "sources": (), "believed_from": at,
    }  # fmt: skip
    return Record(**{**given, **fields})  # type: ignore[arg-type]


def test_front_matter_in_either_form_says_what_it_is_for() -> None:
    nested = statement(NESTED, project="-home-ada")
    assert (
        nested.text == 'Never mock the "database": use a real one\n\nIntegration tests hit a real database. See [[ci]].'
    )
    assert (nested.category, nested.origin) == (Category.OPERATIONAL, Origin.IMPORTED)
    assert nested.tags == ("claude-memory", "project:-home-ada")
    assert nested.true_from == "2026-07-30T07:40:18.191Z"
    flat = statement(FLAT)
    assert flat.text == "Mara, writes Go: ten years of it. React is new to her."
    assert (flat.category, flat.tags, flat.true_from) == (Category.IDENTITY, ("claude-memory",), "")


@pytest.mark.parametrize(
    ("kind", "category", "tags"),
    [
        ("user", Category.IDENTITY, ("claude-memory",)),
        ("feedback", Category.OPERATIONAL, ("claude-memory",)),
        ("project", Category.KNOWLEDGE, ("claude-memory",)),
        ("reference", Category.KNOWLEDGE, ("claude-memory", "reference")),
        ("something new", Category.KNOWLEDGE, ("claude-memory",)),
    ],
)
def test_each_type_has_its_category(kind: str, category: Category, tags: tuple[str, ...]) -> None:
    found = statement(f"---\nname: x\ntype: {kind}\n---\nWords.\n")
    assert (found.category, found.tags) == (category, tags)


@pytest.mark.parametrize(
    "head",
    [
        "description: >-\n  A long line\n  in two parts",
        "description: A long line\n  in two parts",
        "description: 'A long line in two parts'",
        'description: "A long line in two parts"',
    ],
)
def test_a_description_is_read_however_it_is_folded(head: str) -> None:
    assert statement(f"---\nname: x\n{head}\n---\n").text == "A long line in two parts"


def test_a_file_without_front_matter_is_a_fact_in_its_own_words() -> None:
    assert statement("# Building\r\n\r\nUse pnpm.\r\n").text == "# Building\n\nUse pnpm."
    assert fact_of("one.md", b"\n  \n", "") is None


def test_an_index_is_no_fact_but_what_else_stands_in_it_is() -> None:
    listed = "# Memory\n\n- [No mocks](no-mocks.md) — never\n* [[who-she-is]] the user\n"
    names = ("no-mocks.md", "who-she-is.md")
    assert fact_of(INDEX, listed.encode(), "", names) is None
    said = statement(f"{listed}\nBuild with `make`.\n", name=INDEX, listed=names)
    assert said.text == "# Memory\n\n\nBuild with `make`."


@pytest.mark.parametrize(
    "line",
    [
        "- [Well](well.md) — 14 metres",
        "* [Well](./well.md)",
        "+ [Roof](a%20roof.md): tiles",
        "- [Roof](a roof.md)",
        "- [[well]] 14 metres",
        "- [[well.md|the well]]",
        "  - [Bees](team/bees.md)",
    ],
)
def test_a_line_that_names_a_file_of_the_folder_is_of_the_index(line: str) -> None:
    assert fact_of(INDEX, line.encode(), "", ("well.md", "a roof.md", "team/bees.md")) is None


@pytest.mark.parametrize(
    "line",
    [
        "- [ADR 7](docs/adr-7.md) must be read before anybody touches the login",
        "- [Style](https://house.example/style.md) is never broken",
        "- [[cellar]] is 3 metres deep",
        "- [Bees](bees.md) stand behind the shed",
        "- [Well](../well.md)",
        "- [Well](/well.md)",
        "The [well](well.md) is 14 metres deep",
    ],
)
def test_a_line_that_begins_with_a_link_to_something_else_is_a_fact(line: str) -> None:
    said = statement(f"# Memory\n- [Well](well.md)\n{line}\n", name=INDEX, listed=("well.md", "team/bees.md"))
    assert said.text == f"# Memory\n{line}"


def test_the_index_of_a_folder_inside_names_its_own_files() -> None:
    names = ("roof.md", "team/house/roof.md", "well.md")
    inside = f"team/house/{INDEX}"
    assert fact_of(inside, b"- [Roof](roof.md) - new\n- [Well](../../well.md)\n", "", names) is None
    other = "- [Well](../well.md) is deep"
    assert statement(f"- [Roof](roof.md) is new\n{other}\n", name=inside, listed=names).text == other


@pytest.mark.parametrize(
    ("line", "is_entry"),
    [
        ("- [Gone](gone.md) — it was here", True),
        ("- [Gone](gone.md)", True),
        ("* [Gone](gone.md): it was here", True),
        ("- [Gone](gone.md) is what everybody reads first", False),
        ("- [Gone](docs/gone.md) — it is elsewhere", False),
        ("- [Gone](https:gone.md) — it is elsewhere", False),
    ],
)
def test_a_line_in_the_form_of_an_index_names_a_file_that_may_be_gone(line: str, is_entry: bool) -> None:
    assert statement(f"- Prefers tabs\n{line}\n", name=INDEX).text == (
        "- Prefers tabs" if is_entry else f"- Prefers tabs\n{line}"
    )


def test_what_is_no_index_is_taken_as_it_is() -> None:
    names = ("roof.md",)
    assert statement("- [Roof](roof.md)\n", name="team/NOT-MEMORY.md", listed=names).text == "- [Roof](roof.md)"


@pytest.mark.parametrize(
    "content",
    [
        b"---\nname: x\nno end",
        b"---\nname: x\n!!! what is this\n---\nWords.",
        b"\xff\xfe\x00w",
        b'---\nname: x\nmetadata:\n  recollect: "1"\n  kind: "nothing known"\n---\nWords.',
        b'---\nname: x\nmetadata:\n  recollect: "1"\n  kind: fact\n  category: identity\n  importance: x\n---\nW.',
    ],
)
def test_what_cannot_be_read_is_told(content: bytes) -> None:
    with pytest.raises(Malformed):
        fact_of("one.md", content, "")


def test_the_digest_is_of_what_is_said_and_not_of_when() -> None:
    one, other = (fact_of("a.md", NESTED.replace("2026-07", month).encode(), "") for month in ("2026-07", "2026-08"))
    assert one
    assert other
    assert one.digest == other.digest
    changed = fact_of("a.md", NESTED.replace("real", "true").encode(), "")
    assert changed
    assert changed.digest != one.digest


# Writing

texts = (
    st.text(min_size=1, max_size=400)
    .map(lambda text: text.strip())
    .filter(lambda text: any(sign.isprintable() and not sign.isspace() for sign in text))
)
names = st.text(max_size=20)


@given(
    text=texts,
    kind=st.sampled_from(list(Kind)),
    category=st.sampled_from(list(Category)),
    tags=st.lists(
        st.text(min_size=1, max_size=12).filter(lambda tag: tag.isprintable() and bool(tag.strip())), max_size=4
    ),
    importance=st.floats(0, 1),
    subject=names,
    value=st.text(max_size=60),
)
def test_a_record_written_and_read_again_says_the_same(
    text: str, kind: Kind, category: Category, tags: list[str], importance: float, subject: str, value: str
) -> None:
    given = prepared(
        Statement(
            text=text,
            kind=kind,
            category=category,
            tags=tuple(tags),
            importance=importance,
            subject=subject,
            attribute="home" if subject.strip() else "",
            value=value,
            origin=Origin.IMPORTED,
            true_from="2026-05-01T12:00:00.000Z",
        )
    )
    fields = ("kind", "category", "tags", "importance", "subject", "attribute", "value")
    one = record(given.text, **{name: getattr(given, name) for name in fields})

    content = bytes_of(one, "one")

    fact = fact_of("one.md", content, "-home-ada")
    assert fact
    assert fact.statement == given
    assert bytes_of(one, "one") == content
    head = yaml.safe_load(content.decode().split("\n---\n", 1)[0])
    assert head["name"] == "one"
    assert head["description"] == description_of(given.text)
    assert head["metadata"]["type"] == type_of(one)
    assert head["metadata"]["tags"] == list(given.tags)
    assert head["metadata"].get("value", "") == given.value
    assert len(index_of([("one.md", one)]).splitlines()) == 1


def test_a_description_is_the_first_paragraph_or_the_beginning_of_it() -> None:
    assert description_of("Use pnpm.\n\nBecause of the\nlock file.") == "Use pnpm."
    long = description_of("word " * 100)
    assert long.endswith("word…")
    assert len(long) <= 151
    assert is_excerpt(long, "word " * 100)
    assert not is_excerpt("something else", "word " * 100)


def test_the_index_has_the_users_facts_first() -> None:
    entries = [
        ("a.md", record("Alpha.")),
        ("b.md", record("Beta.", tags=("reference",))),
        ("c.md", record("Gamma.", category=Category.OPERATIONAL)),
        ("d.md", record("Delta\x1b[31m.", category=Category.IDENTITY)),
    ]
    assert index_of(entries).decode().splitlines() == [
        "- [d](d.md) — Delta\ufffd[31m.",
        "- [c](c.md) — Gamma.",
        "- [a](a.md) — Alpha.",
        "- [b](b.md) — Beta.",
    ]


@given(content=st.binary(max_size=300), head=st.sampled_from([b"", b"---\n", b'---\nmetadata:\n  recollect: "1"\n']))
def test_any_bytes_are_a_fact_or_nothing_or_told(content: bytes, head: bytes) -> None:
    fact = None
    with suppress(Malformed):
        fact = fact_of("one.md", head + content, "")
    assert fact is None or fact.statement.text
