"""Functions of ours in the place of SQLite's own in a stranger's SELECT: the same answers, in bounded time."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recollect
from recollect.database.functions import ALLOWED_FUNCTIONS, add_bounded_functions
from recollect.errors import Denied, Invalid

CALLS = {
    "like": "?1 LIKE ?2",
    "like with an escape": "?1 LIKE ?2 ESCAPE ?3",
    "glob": "?1 GLOB ?2",
    "instr": "instr(?1, ?2)",
    "replace": "replace(?1, ?2, ?3)",
    "trim": "trim(?1, ?2)",
    "ltrim": "ltrim(?1, ?2)",
    "rtrim": "rtrim(?1, ?2)",
}
TEXTS = st.text(st.sampled_from("aAbäÄ%_*?[]^-\\ \N{HONEYBEE}"), max_size=8)
VALUES = st.none() | TEXTS | st.integers(-1_000, 1_000) | st.floats(allow_nan=False) | st.binary(max_size=0)


@pytest.fixture(scope="module")
def own() -> apsw.Connection:
    return apsw.Connection(":memory:")


@pytest.fixture(scope="module")
def bounded() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    add_bounded_functions(connection, lambda: False)
    return connection


def answer(connection: apsw.Connection, call: str, given: tuple[Any, ...]) -> Any:
    try:
        return connection.execute(f"SELECT {call} FROM (SELECT ?1, ?2, ?3)", given).fetchall()[0][0]
    except (apsw.SQLError, Invalid):
        return "refused"


@pytest.mark.parametrize("name", CALLS)
@given(values=st.tuples(VALUES, VALUES, VALUES))
@example(values=("a%b", "a\\%b", "\\"))
@example(values=("abc", "", None))
@example(values=("aXbX", "X", 1.5))
def test_each_answers_as_the_one_of_sqlite_does(
    own: apsw.Connection, bounded: apsw.Connection, name: str, values: tuple[Any, ...]
) -> None:
    expected, ours = answer(own, CALLS[name], values), answer(bounded, CALLS[name], values)
    if ours == "refused" and name == "like with an escape" and values[2] in ("%", "_"):
        return  # An escape that is a wildcard means nothing. We say so.
    assert ours == expected


def test_every_function_that_is_allowed_is_one_of_sqlite(own: apsw.Connection) -> None:
    known = {str(row[0]) for row in own.execute("SELECT name FROM pragma_function_list")}
    assert ALLOWED_FUNCTIONS - known <= {"coalesce", "iif", "if", "likelihood", "likely", "unlikely"}
    assert not ALLOWED_FUNCTIONS & {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zeroblob"}


def test_who_is_late_is_stopped_before_a_comparison() -> None:
    connection = apsw.Connection(":memory:")
    add_bounded_functions(connection, lambda: True)
    with pytest.raises(apsw.InterruptError):
        connection.execute("SELECT 'a' LIKE 'a'").fetchall()


DIGITS = "WITH RECURSIVE n(x) AS (SELECT 200 UNION ALL SELECT x + 1 FROM n WHERE x < 2000)"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT 'a' LIKE '" + "%a" * 300 + "'", "500 bytes"),
        ("SELECT 'a' GLOB '" + "*a" * 300 + "'", "500 bytes"),
        ("SELECT 'a' LIKE 'a' ESCAPE 'ab'", "one character"),
        ("SELECT hex(randomblob(100000))", "not authorized"),
        (f"{DIGITS} SELECT median(x) FROM n", "not authorized"),
        ("SELECT length(replace(printf('%.*c', 900000, 'a'), 'a', printf('%.*c', 900000, 'b')))", "too large"),
        ("SELECT length(printf('%.*c', 30000000, 'a'))", "too large"),
        (f"{DIGITS} SELECT trim('a', group_concat(char(x), '')) FROM n", "can be trimmed"),
        ("SELECT " + ", ".join(["1"] * 300), "too many columns"),
        ("SELECT 1 WHERE " + " OR ".join(["abs(1)"] * 301), "300 functions"),
        ("SELECT 1 -- " + "x" * 200_000, "200,000 characters"),
    ],
)
def test_a_select_for_which_sqlite_could_not_be_stopped_is_refused(tmp_path: Path, query: str, words: str) -> None:
    with recollect.open(tmp_path) as memory, pytest.raises((Denied, Invalid), match=words):
        memory.sql(query, seconds=5)
