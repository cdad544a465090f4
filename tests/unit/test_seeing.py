"""Readings of history are limited in one place, and one that cannot be limited is refused."""

import pytest

from recollect import Denied
from recollect.history.store.seeing import SEEN, limited, of_seen_files, seen_files
from recollect.scopes import EVERYTHING, Sight

ADA = Sight(scopes=("ada", "house"), writable=frozenset({"ada"}))
READING = f"SELECT id FROM history_messages WHERE house = :house {SEEN} ORDER BY id"


def test_for_those_who_see_everything_a_statement_stays_as_it_is() -> None:
    assert limited(READING, of_seen_files(EVERYTHING)) is READING
    assert limited("SELECT 1", seen_files(EVERYTHING)) == "SELECT 1"


def test_for_others_the_comment_becomes_a_condition() -> None:
    statement = limited(READING, of_seen_files(ADA))

    assert SEEN not in statement
    assert (
        "AND file_id IN (SELECT id FROM history_files WHERE house = :house AND scope IN ('ada', 'house')" in statement
    )


def test_a_statement_that_cannot_be_limited_is_refused() -> None:
    with pytest.raises(Denied):
        limited("SELECT id FROM history_messages WHERE house = :house", of_seen_files(ADA))


def test_containers_and_unread_files_are_never_an_agents() -> None:
    assert seen_files(ADA, "f.").endswith("AND f.kind <> 'container' AND f.source <> '(unread)'")
