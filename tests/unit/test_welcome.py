"""The search that is proposed after the first pass."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.welcome import search_for


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("A seed list for two sisters", "search 'A seed list for two sisters'"),
        ("beans", "search beans"),
        ("When do I sow the beans, and where?", "search 'When do I sow the beans'"),
        ("Ada's garden", """search 'Ada'"'"'s garden'"""),
        ("--help me!", "search 'help me'"),
        ("豆" * 100, f"search {'豆' * 60}"),
        ("\x1b[31mred\x1b[0m beans", "search '[31mred [0m beans'"),
        ("", "conversations"),
        (" – …", "search –"),
    ],
)
def test_the_first_words_of_a_title_are_searched_for(title: str, expected: str) -> None:
    words = shlex.split(search_for(title))
    assert words == shlex.split(expected)


@settings(derandomize=True, deadline=None, database=None)
@given(st.text())
def test_any_title_becomes_a_command_that_a_shell_and_we_understand(title: str) -> None:
    command, *query = shlex.split(search_for(title))
    assert command == ("search" if query else "conversations")
    assert len(query) <= 1
    assert all(words.strip() and not words.startswith("-") and words.isprintable() for words in query)
