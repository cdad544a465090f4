"""Markdown as Telegram shows it."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from recollect.channels.telegram.entities import Entity, Formatted, is_visible, shown
from recollect.channels.telegram.formatting import MOST_NESTING, formatted
from recollect.texts import clean

MARKS = [
    "*",
    "**",
    "_",
    "~~",
    "`",
    "``",
    "\n",
    "\n\n",
    "    ",
    "> ",
    "- ",
    "1. ",
    "# ",
    "[",
    "](",
    ")",
    "![",
    "<",
    ">",
    "|",
]
MARKS += [
    "\n```\n",
    "\n~~~py\n",
    "\n| a | b |\n|---|---|\n| ",
    " | ",
    "\n---\n",
    "\\",
    "https://example.org/",
    " ",
    "\t",
    "👨‍👩‍👧",
]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "שלום", "слово", "語", "é"]
STYLES = {"bold", "italic", "strikethrough"}


def shown_in(whole: Formatted, entity: Entity) -> str:
    data = whole.text.encode("utf-16-le")[2 * entity.start : 2 * (entity.start + entity.length)]
    return data.decode("utf-16-le")


def found_in(markdown: str) -> list[tuple[str, str]]:
    whole = formatted(markdown)
    return [(entity.kind, shown_in(whole, entity)) for entity in whole.entities]


def pairs(whole: Formatted) -> Iterator[tuple[Entity, Entity]]:
    for index, outer in enumerate(whole.entities):
        for inner in whole.entities[index + 1 :]:
            if inner.start < outer.start + outer.length:
                yield outer, inner


def assert_telegram_takes_it(whole: Formatted) -> None:
    for entity in whole.entities:
        assert entity.start >= 0
        assert entity.length > 0
        assert is_visible(shown_in(whole, entity))
    for outer, inner in pairs(whole):
        assert outer.start <= inner.start
        assert inner.start + inner.length <= outer.start + outer.length
        assert outer.kind != inner.kind
        assert outer.kind not in {"pre", "code"}
        if inner.kind in {"pre", "code"}:
            assert outer.kind == "blockquote"
        assert outer.kind in STYLES | {"blockquote"} or inner.kind in STYLES


@settings(max_examples=400)
@given(st.text(max_size=200) | st.lists(st.sampled_from(MARKS + WORDS), max_size=60).map("".join))
@example("[](javascript:x)")
@example("\ud800 \x00 \x1b[31m")
@example("**`a`** _`b` c_ [`d`](https://x.y)")
def test_any_text_becomes_something_that_telegram_takes(markdown: str) -> None:
    whole = formatted(markdown)
    assert_telegram_takes_it(whole)
    assert whole.text.encode().decode() == whole.text  # No half of a character.
    assert is_visible(whole.text) == is_visible(shown(clean(markdown)))


@settings(max_examples=600)
@given(st.lists(st.sampled_from(MARKS + WORDS), max_size=60).map("".join))
@example("[alpha]: beta")
@example("``` alpha beta\ngamma")
@example("~~~alpha")
@example("| a | b |\n|---|---|\n| alpha | beta | gamma |")
@example("| a | b |\n|---|---|\n| alpha | | alpha")
@example("![alpha](beta) [](gamma)")
def test_no_word_gets_lost(markdown: str) -> None:
    whole = formatted(markdown)
    kept = whole.text + "".join(entity.url + entity.language for entity in whole.entities)
    for word in ("alpha", "beta", "gamma", "delta", "epsilon"):
        assert kept.count(word) >= markdown.count(word)


@given(st.lists(st.sampled_from([*WORDS, " ", "\n", ". ", ", ", "! "]), max_size=60).map("".join))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assume("\n    " not in f"\n{text}")  # Such a line is code in Markdown.
    whole = formatted(text)
    assert whole.text.split() == text.split()
    assert whole.entities == ()


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("**bold** and *italic*", "bold and italic", [("bold", "bold"), ("italic", "italic")]),
        ("~~gone~~ `x = 1`", "gone x = 1", [("strikethrough", "gone"), ("code", "x = 1")]),
        ("***both***", "both", [("bold", "both"), ("italic", "both")]),
        ("**a `b` c**", "a b c", [("bold", "a"), ("code", "b"), ("bold", "c")]),
        ("# Head **bold** `c`", "Head bold c", [("bold", "Head bold"), ("code", "c")]),
        ("[words](https://a.b/c)", "words", [("text_link", "words")]),
        ("[`code`](https://a.b/c)", "code", [("text_link", "code")]),
        ("![a picture](https://a.b/c.png)", "a picture", [("text_link", "a picture")]),
        (
            "[![alt](https://a.b/i.png)](https://a.b)",
            "alt (https://a.b/i.png)",
            [("text_link", "alt (https://a.b/i.png)")],
        ),
        ("[](https://a.b/c)", "https://a.b/c", [("text_link", "https://a.b/c")]),
        ("[page](docs/a.md)", "page (docs/a.md)", []),
        ("[run](javascript:alert(1))", "[run](javascript:alert(1))", []),
        ("<ada@example.org>", "ada@example.org", []),
        ("[Ada](mailto:ada@example.org)", "Ada (ada@example.org)", []),
        ("> said\n> so", "said\nso", [("blockquote", "said\nso")]),
        ("> said `x`", "said x", [("blockquote", "said x"), ("code", "x")]),
        ("> one\n> > two", "one\n\n> two", [("blockquote", "one\n\n> two")]),
        ("```python\nx = 1\n```", "x = 1", [("pre", "x = 1")]),
        ("```\n\n    x\n\n```", "    x", [("pre", "    x")]),
        ("```\na\tb\n```", "a    b", [("pre", "a    b")]),
        ("a\n\n---\n\nb", "a\n\n———\n\nb", []),
        ("<b>no</b> &amp; <script>x</script>", "<b>no</b> & <script>x</script>", []),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name", []),
        ("\\*not\\* so", "*not* so", []),
        ("◆ Noted.", "◆ Noted.", []),
        ("one  \ntwo\nthree", "one\ntwo\nthree", []),
        ("#", "#", []),
        ("a\u2028b\u202ec\x07", "a\nbc", []),
    ],
)
def test_what_becomes_of(markdown: str, text: str, entities: list[tuple[str, str]]) -> None:
    assert formatted(markdown).text == text
    assert found_in(markdown) == entities


def test_lists_are_nested_by_indentation() -> None:
    markdown = "1. one\n   - inner **bold\n     on**\n     1. deepest\n2. two\n\n* other"
    assert formatted(markdown).text == (
        "1. one\n   • inner bold\n     on\n     1. deepest\n2. two\n\n• other"  # As deep as the words above.
    )
    assert found_in(markdown) == [("bold", "bold\n     on")]


def test_a_list_goes_on_with_the_number_it_begins_with() -> None:
    assert formatted("7) seven\n8) eight").text == "7) seven\n8) eight"


def test_a_list_with_empty_lines_keeps_them() -> None:
    assert formatted("- a\n\n  more\n\n- b").text == "• a\n\n  more\n\n• b"


def test_code_in_a_list_is_not_indented_so_that_it_can_be_copied() -> None:
    markdown = "- first:\n  ```sh\n  ls\n    -l\n  ```\n  and **so**\n- second"
    assert formatted(markdown).text == "• first:\nls\n  -l\n  and so\n• second"
    assert found_in(markdown) == [("pre", "ls\n  -l"), ("bold", "so")]


def test_a_list_item_that_is_code_has_its_mark_above_it() -> None:
    assert formatted("- ```\n  x = 1\n  ```").text == "•\nx = 1"
    assert found_in("- ```\n  x = 1\n  ```") == [("pre", "x = 1")]


def test_a_fence_says_its_language_and_the_rest_of_its_line_is_kept() -> None:
    whole = formatted("```python title here\nx\n```")
    assert whole.text == "title here\nx"
    assert whole.entities == (Entity(kind="pre", start=11, length=1, language="python"),)


def test_a_table_is_in_columns_of_a_screen_and_its_links_are_below_it() -> None:
    whole = formatted("| name | 数 |\n|---|--:|\n| [Ada](https://a.b) | 漢字 |\n| `x` | **y** |")
    assert whole.text == "name │ 数\n─────┼─────\nAda  │ 漢字\nx    │ y\nAda"
    assert [(entity.kind, entity.url) for entity in whole.entities] == [("pre", ""), ("text_link", "https://a.b")]
    assert shown_in(whole, whole.entities[1]) == "Ada"


def test_a_table_with_a_cell_too_many_is_shown_as_it_was_written() -> None:
    markdown = "| a | b |\n|---|---|\n| 1 | 2 | 3 |"
    assert found_in(markdown) == [("pre", markdown)]


def test_entities_are_counted_in_units_of_utf_16() -> None:
    whole = formatted("👨‍👩‍👧 **é😀** `שלום`")
    assert [(entity.kind, entity.start, entity.length) for entity in whole.entities] == [
        ("bold", 9, 3),
        ("code", 13, 4),
    ]


def test_as_json_says_only_what_there_is() -> None:
    whole = formatted("**a** [b](https://c.d)\n\n```sh\nls\n```")
    assert [entity.as_json() for entity in whole.entities] == [
        {"type": "bold", "offset": 0, "length": 1},
        {"type": "text_link", "offset": 2, "length": 1, "url": "https://c.d"},
        {"type": "pre", "offset": 5, "length": 2, "language": "sh"},
    ]


def test_an_address_of_5000_characters_is_written_out() -> None:
    address = "https://example.org/" + "a" * 4980
    whole = formatted(f"[long]({address})")
    assert whole.text == f"long ({address})"
    assert whole.entities == ()


@pytest.mark.parametrize("mark", ["> ", "- ", "1. "])
def test_what_is_nested_too_deep_stays_as_it_was_written(mark: str) -> None:
    markdown = mark * (MOST_NESTING + 5) + "the words"
    assert formatted(markdown) == Formatted(text=markdown)


def test_thousands_of_marks_are_no_trouble() -> None:
    for markdown in ("*" * 9000 + "a" + "*" * 9000, "[" * 5000, "![" * 2000, "> " * 5000 + "a", "`a` **b** " * 2000):
        whole = formatted(markdown)
        assert is_visible(whole.text)
        assert re.sub(r"\W", "", whole.text) == re.sub(r"\W", "", markdown)
