"""The words of a title that may be proposed for a search after the first pass."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.listing import NO_TITLE
from recollect.welcome import plain_words


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("A seed list for two sisters", ["seed", "list", "for", "two", "sisters"]),
        ("OK, we're going: “Ada's garden”, (again)?", ["OK", "going", "garden", "again"]),
        ("--help me!", ["help", "me"]),
        ("beans beans beans", ["beans"]),
        ("See http://localhost:3000/6e or #8 of mix_audit, sub-agents", ["See", "or", "of", "mix_audit", "sub-agents"]),
        ("\x1b[31mred\x1b[0m beans $(rm) `ls`", ["beans", "ls"]),
        ("豆" * 100, ["豆" * 24]),
        ("Écris à l'été", ["Écris"]),
        ("", []),
        (" – …", []),
        (NO_TITLE, []),
    ],
)  # fmt: skip
def test_words_are_left_out_that_a_shell_would_want_quoted(title: str, expected: list[str]) -> None:
    assert plain_words(title) == expected


def test_only_words_are_taken_that_a_list_of_conversations_shows() -> None:
    assert plain_words("beans " + "and more " * 20 + "lentils") == ["beans", "and", "more"]


@settings(derandomize=True, deadline=None, database=None)
@given(st.text())
def test_whatever_a_title_is_its_words_are_one_plain_argument(title: str) -> None:
    asked = " ".join(plain_words(title))
    assert shlex.split(shlex.quote(asked)) == [asked]
    assert not asked.startswith("-")
    assert asked.isprintable()
    assert "'" not in asked
