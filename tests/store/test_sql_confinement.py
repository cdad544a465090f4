"""`recollect sql`: an agent may read what was said and what was done, and nothing else."""

import re
from contextlib import suppress
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest
from conftest import OpenHouse
from transcripts import Transcript

import recollect
from recollect import Denied, Invalid, Unavailable
from recollect.knowledge import Evidence, Statement
from recollect.notes.paths import folder_of, within

SECRET = "a-word-only-the-vault-has"
VIEWS = [
    "conversations",
    "events",
    "files",
    "messages",
    "note_versions",
    "notes",
    "occurrences",
    "record_events",
    "record_sources",
    "record_versions",
    "records",
]
BASE_TABLES = re.findall(r"^CREATE TABLE (\w+)", files("recollect.database").joinpath("schema.sql").read_text(), re.M)
REFUSED = (Denied, Invalid)


@pytest.fixture
def filled(memory: recollect.Memory, projects: Path) -> recollect.Memory:
    """A history whose vault holds a word that no view shows."""
    told = Transcript("beans")
    told.user("When do I sow beans?", slug=SECRET)
    told.assistant("In May.")
    told.exchanges(3)
    told.save(projects)
    memory.history.ingest([projects])
    first = next(memory.history.export())
    memory.knowledge.learn(Statement(text="Beans want warm soil.", sources=(Evidence(message_id=first.id),)))
    memory.notes.write("garden.md", f"Beans, and {SECRET}.")
    return memory


def is_sqlite(memory: recollect.Memory) -> bool:
    return memory.database.dialect.name == "sqlite"


def contents(memory: recollect.Memory) -> list[object]:
    with memory.database.read() as session:
        return [sorted(session.rows(f"SELECT * FROM {table}"), key=repr) for table in BASE_TABLES]


def assert_refused(memory: recollect.Memory, query: str) -> None:
    """It fails, tells nothing of what lies behind it, and changes nothing."""
    before = contents(memory)
    with pytest.raises(REFUSED) as caught:
        memory.sql(query, seconds=5)
    assert SECRET not in str(caught.value)
    assert contents(memory) == before


def assert_tells_nothing(memory: recollect.Memory, query: str) -> None:
    """It may be answered, but not with what lies outside the views."""
    before = contents(memory)
    try:
        answer = repr(memory.sql(query, seconds=5))
    except REFUSED as error:
        answer = str(error)
    assert SECRET not in answer
    assert SECRET.encode().hex() not in answer
    assert b"\x28\xb5\x2f\xfd".hex() not in answer, "a compressed record of the vault"
    assert "\\x28\\xb5/\\xfd" not in answer, "a compressed record of the vault"
    assert "(\\xb5/\\xfd" not in answer, "a compressed record of the vault"
    assert contents(memory) == before


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_can_be_read(filled: recollect.Memory, view: str) -> None:
    columns, rows = filled.sql(f"SELECT * FROM {view}")

    assert columns
    assert rows
    assert all(len(row) == len(columns) for row in rows)
    assert SECRET not in repr(rows)


def test_ordinary_questions_are_answered(filled: recollect.Memory) -> None:
    sql = filled.sql

    assert sql("SELECT text FROM messages WHERE author = 'user' ORDER BY at LIMIT 1") == (
        ["text"],
        [("When do I sow beans?",)],
    )
    assert sql("SELECT count(*) AS n FROM messages;") == (["n"], [(8,)])
    assert sql(
        "WITH mine AS (SELECT conversation_id, count(*) AS n FROM messages GROUP BY 1) "
        "SELECT c.messages = m.n AS same FROM conversations c JOIN mine m ON m.conversation_id = c.id"
    )[1] in ([(1,)], [(True,)])
    assert sql("SELECT text FROM messages WHERE text LIKE '%nosuchword%'") == (["text"], [])
    assert len(sql("SELECT a.id FROM messages a JOIN occurrences o ON o.message_id = a.id")[1]) == 8
    assert sql("SELECT status FROM conversations") == (["status"], [("ready",)])
    assert sql("SELECT 1 UNION ALL SELECT 2 ORDER BY 1")[1] == [(1,), (2,)]


@pytest.mark.parametrize(
    "query",
    [
        "WITH mine AS (SELECT id FROM messages) SELECT count(*) FROM mine",
        "SELECT count(*) FROM (SELECT id FROM messages) AS mine",
        "WITH a AS (SELECT id FROM messages), b AS (SELECT * FROM a) SELECT count(*) FROM b",
    ],
)
def test_the_rows_of_a_question_within_a_question_can_be_counted(filled: recollect.Memory, query: str) -> None:
    assert filled.sql(query)[1] == [(8,)]


def test_words_that_sound_like_commands_can_be_searched_for(filled: recollect.Memory) -> None:
    query = "SELECT count(*) FROM messages WHERE text LIKE '%set_config%' OR text LIKE '%drop table; delete%'"

    assert filled.sql(query)[1] == [(0,)]


FORMS = [
    "SELECT * FROM {table}",
    "SELECT count(*) FROM {table}",
    "SELECT 1 FROM {table}",
    "SELECT (SELECT count(*) FROM {table})",
    "SELECT id FROM messages WHERE EXISTS (SELECT 1 FROM {table})",
    "WITH t AS (SELECT * FROM {table}) SELECT * FROM t",
    "SELECT id FROM messages UNION ALL SELECT 'x' FROM {table}",
]


@pytest.mark.parametrize("table", BASE_TABLES)
def test_a_table_behind_the_views_cannot_be_read(filled: recollect.Memory, table: str) -> None:
    before = contents(filled)
    for form in FORMS:
        with pytest.raises(REFUSED) as caught:
            filled.sql(form.format(table=table), seconds=5)
        assert SECRET not in str(caught.value)
    assert contents(filled) == before


@pytest.mark.parametrize("view", VIEWS)
def test_a_query_that_calls_itself_like_a_view_gets_no_more_rights(filled: recollect.Memory, view: str) -> None:
    assert_refused(filled, f"WITH {view} AS (SELECT raw FROM history_lines) SELECT raw FROM {view}")
    assert_refused(filled, f"WITH {view} AS (SELECT count(*) AS n FROM history_lines) SELECT n FROM {view}")
    assert_refused(filled, f"SELECT * FROM (SELECT raw FROM history_lines) AS {view}")
    assert_refused(filled, f"SELECT {view}.raw FROM history_lines AS {view}")
    assert_refused(
        filled,
        f"WITH RECURSIVE {view}(raw) AS (SELECT raw FROM history_lines UNION SELECT raw FROM {view}) "
        f"SELECT raw FROM {view}",
    )


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO messages (id) VALUES ('x')",
        "INSERT INTO history_titles (house, leaf_id, title) VALUES ('home', 'x', 'y')",
        "UPDATE history_messages SET text = ''",
        "UPDATE messages SET text = ''",
        "DELETE FROM history_messages",
        "DELETE FROM messages",
        "WITH gone AS (DELETE FROM history_messages RETURNING *) SELECT * FROM gone",
        "DROP TABLE history_messages",
        "DROP VIEW messages",
        "ALTER TABLE history_messages ADD COLUMN x TEXT",
        "CREATE TABLE mine (x TEXT)",
        "CREATE TABLE mine AS SELECT * FROM messages",
        "CREATE TEMP TABLE mine (x TEXT)",
        "CREATE TEMP VIEW mine AS SELECT * FROM history_lines",
        "CREATE INDEX mine ON history_messages (text)",
        "SELECT * INTO mine FROM messages",
        "ATTACH DATABASE ':memory:' AS other",
        "PRAGMA writable_schema = 1",
        "PRAGMA table_info(history_lines)",
        "PRAGMA query_only = 0",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT a",
        "SET ROLE postgres",
        "RESET ROLE",
        "RESET SESSION AUTHORIZATION",
        "SET SESSION AUTHORIZATION postgres",
        "SET TRANSACTION READ WRITE",
        "SHOW data_directory",
        "GRANT SELECT ON history_lines TO PUBLIC",
        "COPY history_lines TO STDOUT",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "LISTEN something",
        "PREPARE p AS SELECT 1",
        "DISCARD ALL",
        "LOCK TABLE history_messages",
        "DO $$ BEGIN END $$",
        "CALL something()",
        "",
        "   ;  ",
        "-- nothing but a comment",
    ],
)
def test_only_a_select_is_run(filled: recollect.Memory, statement: str) -> None:
    assert_refused(filled, statement)


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("delete from x", "DELETE"),
        ("DELETE FROM messages", "DELETE"),
        ("  /* a */ -- b\n /* c */ ; update messages SET text = ''", "UPDATE"),
        ("drop table nothing_of_this_name", "DROP"),
    ],
)
def test_what_is_no_question_is_told_so_and_not_what_else_is_wrong_with_it(
    filled: recollect.Memory, statement: str, word: str
) -> None:
    with pytest.raises(Denied, match=rf"^Only SELECT on these views is allowed: .*messages.* \({word} is not\)\.$"):
        filled.sql(statement)


@pytest.mark.parametrize("start", ["/*a*/ " * 20_000, "/*" * 40_000, "--" * 40_000, " " * 90_000])
def test_a_long_beginning_is_read_once(filled: recollect.Memory, start: str) -> None:
    with suppress(Denied, Invalid):  # Whatever it says: it says so before the test is ended.
        filled.sql(f"{start}@ SELECT 1", seconds=5)


def test_a_question_may_have_any_beginning_that_asks(filled: recollect.Memory) -> None:
    for question in (
        "/* delete */ SELECT 1",
        "-- drop\nSELECT 1",
        "VALUES (1)",
        "WITH x AS (SELECT 1) SELECT * FROM x",
    ):
        assert filled.sql(question)[1] == [(1,)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; SELECT 2",
        "SELECT 1; DELETE FROM history_messages",
        "SELECT 1;; SELECT 2",
        "SELECT 1 WHERE 1 = 0; DROP TABLE history_messages",
        "SELECT 1 /* ; */ ; RESET ROLE; SELECT * FROM history_lines",
    ],
)
def test_only_one_statement_is_run(filled: recollect.Memory, query: str) -> None:
    assert_refused(filled, query)


@pytest.mark.parametrize("name", ["sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_stat1", "dbstat"])
def test_the_catalogue_of_sqlite_is_closed(filled: recollect.Memory, name: str) -> None:
    assert_refused(filled, f"SELECT * FROM {name}")
    assert_refused(filled, f"SELECT * FROM main.{name}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM pragma_table_info('history_lines')",
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('x')",
        "SELECT writefile('x', 'y')",
        "SELECT readfile('/etc/passwd')",
        "SELECT raw FROM main.history_lines",
        'SELECT raw FROM "history_lines"',
        "SELECT raw FROM [history_lines]",
        "SELECT messages.* FROM history_lines AS messages",
    ],
)
def test_back_doors_of_sqlite_are_closed(filled: recollect.Memory, query: str) -> None:
    assert_refused(filled, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT rolpassword FROM pg_authid",
        "SELECT * FROM public.history_lines",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT * FROM pg_ls_dir('.')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT set_config('role', 'postgres', false)",
        "SELECT \"set_config\"('role', 'postgres', false)",
        "SELECT pg_catalog.set_config('role', 'postgres', false)",
        "SELECT U&\"set\\005fconfig\"('role', 'postgres', false)",
        "SELECT query_to_xml('SELECT * FROM history_lines', true, true, '')",
        "SELECT table_to_xml('history_lines', true, true, '')",
        "SELECT database_to_xml(true, true, '')",
        "SELECT * FROM ts_stat('SELECT to_tsvector(text) FROM history_messages')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_terminate_backend(1)",
        "SELECT pg_sleep(0)",
        "SELECT nextval('x')",
        "SELECT current_setting('role'), set_config('role', 'none', true), (SELECT count(*) FROM history_lines)",
    ],
)
def test_back_doors_of_postgres_are_closed(filled: recollect.Memory, query: str) -> None:
    assert_refused(filled, query)


TRICKS = [
    'SELECT 1 AS "it\'s", {call} AS x, 1 AS "it\'s"',
    "SELECT /*'*/ {call} /*'*/ AS x",
    "SELECT 1 --'\n, {call} AS x --'",
    "SELECT '\\', {call} AS x, '\\'",
    "SELECT $$'$$, {call} AS x, $$'$$",
    "SELECT $a$ '$a$ || 'x', {call} AS x",
    "SELECT U&'\\0027', {call} AS x, U&'\\0027'",
    "SELECT E'\\'', {call} AS x, E'\\''",
    "SELECT 1) AS a, LATERAL (SELECT {call} AS x",
    "SELECT 1 WHERE EXISTS (SELECT {call} FROM messages)",
    "SELECT (SELECT x FROM (VALUES ({call})) AS v(x))",
    "SELECT count(*) FILTER (WHERE {call} <> '') FROM messages",
    "SELECT first_value({call}) OVER (ORDER BY {call}) FROM messages",
    "SELECT id FROM messages ORDER BY {call} LIMIT length({call})",
    "SELECT s.x FROM messages, LATERAL {call} AS s(x)",
    "WITH a AS MATERIALIZED (SELECT {call} AS x) SELECT x FROM a",
    "SELECT CASE WHEN {call} = ANY(ARRAY[{call}]) THEN 1 END",
    "SELECT id FROM messages GROUP BY GROUPING SETS ((id, {call}), ())",
    "SELECT json_object('a': {call})",
    'SELECT ({call})::text COLLATE "C"',
]
"""Ways to call a function, most of them such that a look at the text would take it for something else."""


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize(
    "call",
    [
        "set_config('role', 'none', true)",
        "PG_CATALOG . \"set_config\" /**/ ('role', 'none', true)",
        "(SELECT query_to_xml('SELECT * FROM history_lines', true, true, '')::text)",
        "(SELECT min(word) FROM ts_stat('SELECT to_tsvector(text) FROM history_messages'))",
    ],
)
def test_however_a_function_is_called_that_gives_rights_back_it_is_refused(
    filled: recollect.Memory, trick: str, call: str
) -> None:
    with pytest.raises(REFUSED) as caught:
        filled.sql(trick.format(call=call), seconds=5)

    assert SECRET not in str(caught.value)
    assert "may not be used here" in str(caught.value)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("function", ["mine", "public.mine"])
def test_functions_that_somebody_added_are_not_called(filled: recollect.Memory, function: str) -> None:
    with filled.database.write() as session:
        session.run(
            "CREATE FUNCTION public.mine() RETURNS TEXT LANGUAGE sql IMMUTABLE SECURITY DEFINER "
            "AS 'SELECT encode(min(raw), ''hex'') FROM public.history_lines'"
        )
        session.run("CREATE FUNCTION public.mine(a TEXT, b TEXT) RETURNS TEXT LANGUAGE sql AS 'SELECT public.mine()'")
        session.run("CREATE OPERATOR public.### (FUNCTION = public.mine, LEFTARG = text, RIGHTARG = text)")
    try:
        assert_refused(filled, f"SELECT {function}()")
        assert_refused(filled, "SELECT 'a'::text OPERATOR(public.###) 'b'::text")
        assert_refused(filled, "SELECT 'a'::text ### 'b'::text")
    finally:
        with filled.database.write() as session:
            session.run("DROP OPERATOR public.### (text, text)")
            session.run("DROP FUNCTION public.mine(text, text), public.mine()")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_functions_that_only_reckon_can_be_called(filled: recollect.Memory) -> None:
    (row,) = filled.sql(
        "SELECT string_agg(upper(left(author, 1)), '-' ORDER BY place), count(*) FILTER (WHERE text LIKE '%%May%'), "
        "to_char(max(at::timestamptz), 'YYYY') > '2000', random() < 1, now() > clock_timestamp() - interval '1 day', "
        "jsonb_build_object('a', 1), array_agg(DISTINCT author), 7 % 4, 'set_config' || ' 100%' "
        "FROM (SELECT *, row_number() OVER (ORDER BY line) AS place FROM messages) AS m"
    )[1]

    assert row == ("U-A-U-A-U-A-U-A", 1, True, True, True, {"a": 1}, ["assistant", "user"], 3, "set_config 100%")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_values_that_json_has_no_words_for_come_as_text(filled: recollect.Memory) -> None:
    query = "SELECT inet '1.2.3.4', int4range(1, 2), '{[1,2)}'::int4multirange, ARRAY[inet '::1'], 1.5::numeric, NULL"
    (row,) = filled.sql(query)[1]

    assert row[:4] == ("1.2.3.4", "[1, 2)", "{[1, 2)}", ["::1"])
    assert row[4:] == (Decimal("1.5"), None)
    assert msgspec.json.encode(row)


@pytest.mark.parametrize("query", ["SELECT $1", "SELECT text FROM messages WHERE id = ?", "SELECT :name", "SELECT @b"])
def test_a_question_with_parameters_is_a_mistake_and_names_no_place(filled: recollect.Memory, query: str) -> None:
    with pytest.raises(Invalid) as caught:
        filled.sql(query)

    assert filled.database.location not in str(caught.value)


def test_a_question_that_is_too_deep_or_too_long_is_a_mistake(filled: recollect.Memory) -> None:
    for query in ("SELECT " + "(" * 90_000 + "1" + ")" * 90_000, "SELECT 1 -- " + "x" * 200_000):
        with pytest.raises(Invalid):
            filled.sql(query)
    assert filled.sql("SELECT 1")[1] == [(1,)]


def test_text_that_postgres_runs_as_a_query_gets_no_more_rights(filled: recollect.Memory) -> None:
    become_owner = "SELECT ''a''::tsquery, ''b''::tsquery WHERE set_' || 'config(''role'', ''none'', true) <> ''x''"
    read_vault = (
        "SELECT ''a''::tsquery, ('''''''' || encode(raw, ''hex'') || '''''''')::tsquery "
        "FROM history_lines ORDER BY start_byte LIMIT 1"
    )
    query = f"SELECT ts_rewrite('a'::tsquery, '{become_owner}'), ts_rewrite('a'::tsquery, '{read_vault}')"

    assert_tells_nothing(filled, query)


def test_a_block_of_code_gets_no_more_rights(filled: recollect.Memory) -> None:
    block = (
        "DO $$ DECLARE found TEXT; BEGIN EXECUTE 'RESET ' || 'ROLE'; "
        "EXECUTE 'SELECT encode(raw, ''hex'') FROM history_lines ORDER BY start_byte LIMIT 1' INTO found; "
        "RAISE EXCEPTION '%', found; END $$"
    )

    assert_tells_nothing(filled, block)
    assert_refused(filled, block)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "table",
    [
        "pg_stats",
        "pg_class",
        "pg_catalog.pg_class",
        "pg_views",
        "pg_roles",
        "pg_database",
        "pg_locks",
        "pg_stat_activity",
        "pg_stat_user_tables",
        "information_schema.tables",
        "pg_show_all_settings()",
        "pg_stat_get_activity(NULL)",
        "pg_options_to_table(NULL)",
    ],
)
def test_the_catalogue_of_postgres_is_closed(filled: recollect.Memory, form: str, table: str) -> None:
    with pytest.raises(Denied, match="may not be used here"):
        filled.sql(form.format(table=table))


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "value",
    [
        "pg_stat_get_tuples_inserted(16384::oid)",
        "pg_get_viewdef('messages'::regclass)",
        "pg_get_viewdef(16384::oid)",
        "current_setting('data_directory')",
        "obj_description(16384::oid)",
        "pg_current_snapshot()",
        "txid_current_snapshot()",
        "age('3'::xid)",
        "'messages'::regclass",
        "to_regclass('messages')",
        "regclass('messages'::text)",
        "1259::regclass",
        "(id || 'x')::regclass",
        "ARRAY[1259]::regclass[]",
        "CAST('1259' AS regclass)::int",
        "10::regrole",
        "2205::regtype",
        "makeaclitem(10, 10, 'SELECT', false)",
        "pg_typeof(id)",
        "NULL::pg_class",
        "(json_populate_record(NULL::pg_aggregate, '{\"aggfnoid\": 2803}')).aggfnoid",
        "json_populate_record(NULL::pg_aggregate, '{\"aggfnoid\": 2803}')",
        "(SELECT x.a FROM json_to_record('{\"a\": 1259}') AS x(a regclass))",
        "(SELECT array_agg(x) FROM json_to_recordset('[{}]') AS x(a pg_aggregate))",
    ],
)
def test_no_value_names_or_counts_what_the_catalogue_of_postgres_knows(filled: recollect.Memory, value: str) -> None:
    with pytest.raises(Denied, match="may not be used here"):
        filled.sql(f"SELECT {value} FROM messages")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_views_of_another_question_are_not_told(filled: recollect.Memory) -> None:
    with filled.database.write() as session:
        session.run("CREATE TEMP VIEW other AS SELECT 1 AS n")
        schema = session.value("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()")
        session.run(f"GRANT SELECT ON {schema}.other TO PUBLIC")
    try:
        with pytest.raises(Denied, match="other may not be used here"):
            filled.sql(f"SELECT n FROM {schema}.other")
    finally:
        with filled.database.write() as session:
            session.run("DROP VIEW other")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM generate_series(1, 3) AS n, (VALUES (1), (2)) AS v(x), LATERAL unnest(ARRAY[x, n]) AS u",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT count(*) FROM n, messages",
        "SELECT m, to_jsonb(m), row_to_json(m), array_agg(m) OVER () FROM messages AS m",
        "SELECT x.a, y.b FROM json_to_recordset('[{}]') AS x(a int), jsonb_to_record('{}') AS y(b text)",
        "SELECT id FROM messages LEFT JOIN pg_temp.records AS r USING (id) WHERE r.id IS NULL",
        "SELECT to_tsvector('english', text) @@ websearch_to_tsquery('german', 'beans') FROM messages",
        "SELECT text::varchar(2201), format('%s', text), concat_ws(', ', id, text) FROM messages",
        "SELECT date_trunc('day', at::timestamptz) AT TIME ZONE 'UTC', age(at::timestamptz) FROM messages",
        "SELECT json_object_agg(id, text) OVER (), extract(hour FROM now()) FROM messages",
        "SELECT * FROM jsonb_each('{\"a\": 1}') CROSS JOIN string_to_table('a b', ' ') AS t(word)",
        "SELECT now() - interval '1 day' < '2026-01-01'::date, to_char(now(), 'YYYY'), current_date",
    ],
)
def test_what_needs_nothing_of_the_catalogue_is_answered(filled: recollect.Memory, query: str) -> None:
    columns, rows = filled.sql(query)

    assert columns
    assert rows


def test_a_query_without_end_is_stopped(filled: recollect.Memory) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT sum(x) FROM n"

    with pytest.raises(Unavailable, match=r"longer than 0\.3 seconds"):
        filled.sql(endless, seconds=0.3)

    assert filled.sql("SELECT 1")[1] == [(1,)]


def test_no_more_rows_come_than_were_asked_for(filled: recollect.Memory) -> None:
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5000) SELECT x FROM n"

    assert filled.sql(many, limit=7)[1] == [(number,) for number in range(1, 8)]
    assert len(filled.sql(many)[1]) == 1000


def test_a_query_without_end_gives_its_first_rows(filled: recollect.Memory) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000) SELECT x FROM n"

    assert len(filled.sql(endless, limit=5, seconds=5)[1]) == 5


def test_a_mistake_is_explained_and_names_the_views(filled: recollect.Memory) -> None:
    for query in ("SELEC 1", "SELECT nosuchcolumn FROM messages", "SELECT * FROM nosuchtable"):
        with pytest.raises(Invalid, match=", ".join(VIEWS)):
            filled.sql(query)


def test_a_query_never_waits_for_a_writer(filled: recollect.Memory) -> None:
    with filled.database.write() as session:
        session.run("DELETE FROM history_messages")
        assert filled.sql("SELECT count(*) FROM messages")[1] == [(8,)]
        session.run("INSERT INTO history_titles (house, leaf_id, title) VALUES ('home', 'x', 'y')")


def test_another_house_is_invisible(open_house: OpenHouse, projects: Path) -> None:
    mine, theirs = open_house(), open_house()
    Transcript("mine").exchanges(2, "my garden").save(projects / "mine")
    Transcript("theirs").exchanges(2, "their vault").save(projects / "theirs")
    for house, folder, about in ((mine, "mine", "my garden"), (theirs, "theirs", "their vault")):
        house.history.ingest([projects / folder])
        first = next(house.history.export())
        house.knowledge.learn(Statement(text=f"About {about}.", sources=(Evidence(message_id=first.id),)), reason=about)
        house.notes.write("garden.md", f"About {about}.", reason=about)

    for view in VIEWS:
        rows = mine.sql(f"SELECT * FROM {view}")[1]
        assert rows
        assert "their vault" not in repr(rows)
    assert mine.sql("SELECT count(*) FROM messages")[1] == [(4,)]
    assert mine.sql("SELECT count(*) FROM conversations")[1] == [(1,)]


@pytest.mark.parametrize(
    "condition",
    ["CAST(text AS INTEGER) > 0", "CAST(id AS INTEGER) > 0", "1 / (length(text) - length(text)) > 0", "text ~ text"],
)
def test_a_condition_is_never_tried_on_rows_of_another_house(
    open_house: OpenHouse, projects: Path, condition: str
) -> None:
    mine, theirs = open_house(), open_house()
    Transcript("theirs").exchanges(2, "(their secret").save(projects)
    theirs.history.ingest([projects])

    try:
        answer = repr(mine.sql(f"SELECT text FROM messages WHERE {condition}"))
    except Invalid as error:
        answer = str(error)

    assert "their secret" not in answer
    assert "division" not in answer
    assert "invalid" not in answer


@pytest.fixture
def divided(memory: recollect.Memory, projects: Path) -> recollect.Memory:
    """A house with two agents. Each has a transcript, a record and a note of its own, and so has the house; each
    transcript gives the one before it a title."""
    leaf = "of no file"
    for name in ("house", "ada", "bob"):
        told = Transcript(name)
        told.exchanges(2, f"the {name}-word")
        told.summary(f"A title with the {name}-word", leaf)
        leaf = told.last or ""
        path = projects / f"-{name}" / f"{told.session_id}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(told.raw)
    memory.agents.add("ada")
    memory.agents.add("bob")
    memory.agents.bind("ada", "claude-code", "-ada/")
    memory.history.ingest([projects])
    memory.agents.bind("bob", "claude-code", "-bob/")
    for name in ("house", "ada", "bob"):
        first = memory.sql(f"SELECT id FROM messages WHERE text LIKE '%{name}-word%' ORDER BY at")[1][0][0]
        statement = Statement(text=f"The {name}-word.", scope=name, sources=(Evidence(message_id=first),))
        memory.knowledge.learn(statement, reason=f"the {name}-word")
        memory.notes.write(within(folder_of(name), f"{name}-word.md"), f"The {name}-word.", reason=f"the {name}-word")
    return memory


def test_an_agent_sees_its_own_and_that_of_the_house(divided: recollect.Memory) -> None:
    ada = divided.as_agent("ada")
    for view in VIEWS:
        every = divided.sql(f"SELECT * FROM {view}")[1]
        columns, rows = ada.sql(f"SELECT * FROM {view}")

        assert columns
        assert "bob-word" not in repr(rows)
        assert every
        assert len(rows) * 3 == (0 if view == "events" else len(every) * 2), view


def test_an_agent_is_not_told_by_an_error_what_it_may_not_see(divided: recollect.Memory) -> None:
    for condition in ("CAST(text AS INTEGER) > 0", "1 / (length(text) - length(text)) > 0"):
        try:
            answer = repr(divided.as_agent("ada").sql(f"SELECT text FROM messages WHERE {condition}"))
        except Invalid as error:
            answer = str(error)
        assert "bob-word" not in answer


def test_an_agent_cannot_read_a_table_behind_the_views(divided: recollect.Memory) -> None:
    ada = divided.as_agent("ada")
    for table in BASE_TABLES:
        with pytest.raises(REFUSED):
            ada.sql(f"SELECT * FROM {table}")


def test_a_title_that_another_agent_gave_is_not_shown(divided: recollect.Memory) -> None:
    titles = {row[0] for row in divided.sql("SELECT title FROM conversations")[1]}
    seen = {row[0] for row in divided.as_agent("ada").sql("SELECT title FROM conversations")[1]}

    assert "A title with the bob-word" in titles, "it is the title of ada's conversation"
    assert seen == {"A title with the ada-word", "Question 0 about the ada-word?"}


def test_an_answer_that_would_take_all_memory_is_refused(memory: recollect.Memory, engine: str) -> None:
    is_server = engine.startswith("postgresql")
    long = "SELECT repeat('x', 30000000) AS text"
    if not is_server:  # One value is never so long there.
        long = "SELECT printf('%.*c', 900000, 'x') AS text FROM json_each('[" + "1," * 29 + "1]')"
    with pytest.raises(Invalid, match="20 MB"):
        memory.sql(long)
    if not is_server:
        with pytest.raises(Invalid, match="not text"):
            memory.sql("SELECT cast(x'ff' AS text) AS text")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT array_fill(1, ARRAY[6000000])",
        "SELECT jsonb_build_array(repeat('x', 30000000))",
        "SELECT x, ROW(repeat('x', 5000000)) FROM generate_series(1, 5) AS x",
        "SELECT array_agg('1e130000'::numeric) FROM generate_series(1, 200)",
        "SELECT repeat('x', 1000000) AS a, repeat('x', 1000000) AS a FROM generate_series(1, 20)",
    ],
)
def test_whatever_kind_its_values_are_of_an_answer_is_not_too_large(memory: recollect.Memory, query: str) -> None:
    with pytest.raises(Invalid, match="20 MB"):
        memory.sql(query)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("query", ["SELECT 1) AS a, (SELECT 2", "SELECT 1) AS asked LIMIT 1) AS query) AS counted --"])
def test_a_question_is_whole_in_itself(memory: recollect.Memory, query: str) -> None:
    with pytest.raises(Invalid, match="syntax error"):
        memory.sql(query)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_value_that_a_type_forbids_is_a_mistake_of_the_question(memory: recollect.Memory) -> None:
    with pytest.raises(Invalid, match="check constraint"):
        memory.sql("SELECT (-1)::information_schema.cardinal_number")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("value", ["'infinity'::timestamp", "'24:00:00'::time", "'0099-01-01 BC'::date"])
def test_a_time_that_python_has_not_is_a_mistake_of_the_question(memory: recollect.Memory, value: str) -> None:
    with pytest.raises(Invalid, match=r"SQL: .*(too|must)"):
        memory.sql(f"SELECT {value}")


# Work that runs long, and values that are long


def test_a_question_is_stopped_in_time_whatever_it_compares(filled: recollect.Memory) -> None:
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000)"
    long = "(SELECT text FROM messages ORDER BY length(text) DESC LIMIT 1)"
    for condition in (f"{long} LIKE '%b%e%a%n%x%y%z%'", f"replace({long}, 'a', 'b') = ''", f"upper({long}) = ''"):
        with pytest.raises(Unavailable, match=r"longer than 0\.3 seconds"):
            filled.sql(f"{many} SELECT count(*) FROM n WHERE x < 0 OR {condition}", seconds=0.3)
    assert filled.sql("SELECT count(*) FROM messages")[1] == [(8,)]


def test_what_is_stored_can_be_read_however_long_it_is(memory: recollect.Memory, projects: Path) -> None:
    text = "A line about beans. " * 100_000
    told = Transcript("beans")
    told.user(text)
    told.assistant("Long.")
    told.save(projects)
    memory.history.ingest([projects])

    assert memory.sql("SELECT text FROM messages WHERE author = 'user'")[1] == [(text,)]
    assert memory.sql("SELECT text FROM messages ORDER BY length(text) DESC LIMIT 1")[1] == [(text,)]
    assert memory.sql("SELECT max(length(upper(text))) FROM messages")[1] == [(len(text),)]
