"""Phrases about time in a question become intervals. The examples are asked on Wednesday, 12 June 2024, at 15:30."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.time_phrases import asks_about_past, find_periods

NOW = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def days(text: str, now: datetime = NOW) -> list[tuple[str, str]]:
    """First and last day of each period, as dates."""
    return [
        (f"{period.start:%Y-%m-%d}", f"{period.end - timedelta(microseconds=1):%Y-%m-%d}")
        for period in find_periods(text, now)
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        # Days near now
        ("what did I say today?", "2024-06-12", "2024-06-12"),
        ("yesterday's plan", "2024-06-11", "2024-06-11"),
        ("the day before yesterday", "2024-06-10", "2024-06-10"),
        ("the day after tomorrow", "2024-06-14", "2024-06-14"),
        ("what I wrote this morning", "2024-06-12", "2024-06-12"),
        ("yesterday evening", "2024-06-11", "2024-06-11"),
        # Counted back
        ("3 days ago", "2024-06-09", "2024-06-09"),
        ("three days ago", "2024-06-09", "2024-06-09"),
        ("a couple of days ago", "2024-06-09", "2024-06-10"),
        ("a few days ago", "2024-06-07", "2024-06-10"),
        ("several days ago", "2024-06-04", "2024-06-09"),
        ("two weeks ago", "2024-05-26", "2024-06-02"),
        ("four years ago", "2019-12-13", "2020-12-11"),
        ("a month or so ago", "2024-04-27", "2024-05-27"),
        # Up to now, and by the calendar
        ("in the last 2 weeks", "2024-05-29", "2024-06-12"),
        ("over the past few months", "2024-01-12", "2024-06-12"),
        ("in the past month", "2024-05-12", "2024-06-12"),
        ("in the next three days", "2024-06-12", "2024-06-15"),
        ("last week", "2024-06-03", "2024-06-09"),
        ("this week", "2024-06-10", "2024-06-16"),
        ("next week", "2024-06-17", "2024-06-23"),
        ("last month", "2024-05-01", "2024-05-31"),
        ("last quarter", "2024-01-01", "2024-03-31"),
        ("last year", "2023-01-01", "2023-12-31"),
        ("last weekend", "2024-06-08", "2024-06-09"),
        ("over the weekend", "2024-06-08", "2024-06-09"),
        ("this weekend", "2024-06-15", "2024-06-16"),
        # Weekdays
        ("last Friday", "2024-06-07", "2024-06-07"),
        ("on Friday", "2024-06-07", "2024-06-07"),
        ("on Wednesday", "2024-06-12", "2024-06-12"),
        ("last Wednesday", "2024-06-05", "2024-06-05"),
        ("next Friday", "2024-06-14", "2024-06-14"),
        ("on Sun", "2024-06-09", "2024-06-09"),
        # Months, seasons, years
        ("in May", "2024-05-01", "2024-05-31"),
        ("in july", "2023-07-01", "2023-07-31"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("last May", "2024-05-01", "2024-05-31"),
        ("last June", "2023-06-01", "2023-06-30"),
        ("early March", "2024-03-01", "2024-03-10"),
        ("mid-March", "2024-03-11", "2024-03-20"),
        ("late March 2022", "2022-03-21", "2022-03-31"),
        ("at the end of October", "2023-10-24", "2023-10-31"),
        ("the third week of October", "2023-10-15", "2023-10-21"),
        ("the last weekend of April", "2024-04-27", "2024-04-28"),
        ("the first half of April 2021", "2021-04-01", "2021-04-15"),
        ("the beginning of 2024", "2024-01-01", "2024-03-31"),
        ("in 2019", "2019-01-01", "2019-12-31"),
        ("in the nineties", "1990-01-01", "1999-12-31"),
        ("in the 1980s", "1980-01-01", "1989-12-31"),
        ("the late 90s", "1996-08-31", "1999-12-31"),
        ("Q3 2023", "2023-07-01", "2023-09-30"),
        ("the third quarter of 2023", "2023-07-01", "2023-09-30"),
        ("in Q1", "2024-01-01", "2024-03-31"),
        ("last summer", "2023-06-01", "2023-08-31"),
        ("in the spring", "2024-03-01", "2024-05-31"),
        ("the summer of 2021", "2021-06-01", "2021-08-31"),
        # Dates
        ("7 May 2023", "2023-05-07", "2023-05-07"),
        ("3 April, 2021", "2021-04-03", "2021-04-03"),
        ("the 7th of May", "2024-05-07", "2024-05-07"),
        ("May 7th", "2024-05-07", "2024-05-07"),
        ("on may 7", "2024-05-07", "2024-05-07"),
        ("October 4,2021", "2021-10-04", "2021-10-04"),
        ("Friday, May 7 2021", "2021-05-07", "2021-05-07"),
        ("May 3-5, 2023", "2023-05-03", "2023-05-05"),
        ("2023-05-07", "2023-05-07", "2023-05-07"),
        ("2023-05-07T12:30:00Z", "2023-05-07", "2023-05-07"),
        ("2023-05", "2023-05-01", "2023-05-31"),
        ("7.5.2023", "2023-05-07", "2023-05-07"),
        ("07. 05. 2023", "2023-05-07", "2023-05-07"),
        ("25/07/2023", "2023-07-25", "2023-07-25"),
        ("29 February", "2024-02-29", "2024-02-29"),
        # Holidays
        ("at Christmas", "2023-12-24", "2023-12-26"),
        ("New Year's Eve 2020", "2019-12-31", "2020-01-01"),
        ("last Easter", "2024-03-29", "2024-04-01"),
        ("Easter 2023", "2023-04-07", "2023-04-10"),
        ("at Thanksgiving", "2023-11-23", "2023-11-24"),
        ("Thanksgiving 2018", "2018-11-22", "2018-11-23"),
        # Vague
        ("the other day", "2024-06-04", "2024-06-11"),
        ("recently", "2024-04-28", "2024-06-12"),
        ("a while ago", "2023-06-13", "2024-05-29"),
        # With one end
        ("since June", "2024-06-01", "2024-06-30"),
        ("since May 2023", "2023-05-01", "2024-06-12"),
        ("from May 2023 on", "2023-05-01", "2024-06-12"),
        ("before 2020", "1900-01-01", "2019-12-31"),
        ("until the end of March", "1900-01-01", "2024-03-31"),
        ("after May 3, 2023", "2023-05-04", "2024-06-12"),
        ("before the 9/14 concert", "1900-01-01", "2023-09-13"),
        ("between 9/14 and 9/17", "2023-09-14", "2023-09-17"),
        # Two together
        ("between March and May 2022", "2022-03-01", "2022-05-31"),
        ("between July 3 and July 9 2021", "2021-07-03", "2021-07-09"),
        ("from Monday to Friday", "2024-06-03", "2024-06-07"),
        ("from December to February", "2023-12-01", "2024-02-29"),
        ("from 2019 to 2021", "2019-01-01", "2021-12-31"),
        ("two days before 27 June 2023", "2023-06-25", "2023-06-25"),
        ("3 days after 27 June 2023", "2023-06-30", "2023-06-30"),
        ("the week before 27 June 2023", "2023-06-20", "2023-06-26"),
        ("the week of May 7", "2024-05-06", "2024-05-12"),
        ("the weekend before 15 July 2023", "2023-07-08", "2023-07-09"),
        ("the Friday before 15 July 2023", "2023-07-14", "2023-07-14"),
        ("the Friday before 14 July 2023", "2023-07-07", "2023-07-07"),
        ("the Friday after 14 July 2023", "2023-07-21", "2023-07-21"),
        ("last weekend before 4 March 2019", "2019-03-02", "2019-03-03"),
    ],
)
def test_a_phrase_about_time_is_an_interval(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "may I ask something?",
        "this may help",
        "what came before may be wrong",
        "they march on",
        "wait a second",
        "my last question",
        "the last time we spoke",
        "we sat in the sun",
        "the people wed",
        "page not found in 404",
        "version 2023.1",
        "Windows 2019",
        "in 2000 lines of code",
        "it took 1/2 cup and 24/7 support",
        "April said hello to June and August",
        "Spring Boot and a fall in prices",
        "an easter egg",
        "every Friday and each Monday",
        "who waters the pots on Tuesday evenings?",
        "how many weeks ago were the seeds sown?",
        "how long ago was it?",
        "which one did I use most recently?",
        "the first three of them",
        "notes-2023-05-07.md and yesterday.log",
        "logs/2023/05/07/app.txt",
        "/var/log/2023-05-07",
        "`since yesterday`",
        "```\ntoday = now()\n```",
        "git log --since yesterday_evening",
        "date=2023-05-07",
        "https://example.org/2023-05-07",
        "id 4412023-05-07",
        "10.0.2023.1",
        "$1,999 or #2023",
    ],
)
def test_other_words_are_no_time(text: str) -> None:
    assert find_periods(text, NOW) == []


def test_a_date_that_can_be_read_in_two_ways_gives_both() -> None:
    found = find_periods("on 05/07/2023", NOW)

    assert [(period.start.month, period.start.day) for period in found] == [(5, 7), (7, 5)]
    assert len({period.span for period in found}) == 1


def test_a_period_says_which_words_it_came_from_and_of_what_kind_they_are() -> None:
    text = "Did I, since last Easter, see her yesterday or in May 2023?"

    found = find_periods(text, NOW)

    assert [(period.text, period.kind) for period in found] == [
        ("since last Easter", "open"),
        ("yesterday", "relative"),
        ("May 2023", "named"),
    ]
    assert all(text[slice(*period.span)] == period.text for period in found)


def test_days_are_those_of_the_zone_and_results_are_in_utc() -> None:
    late = datetime(2024, 6, 12, 22, 30, tzinfo=UTC)

    [here] = find_periods("today", late, BERLIN)
    [there] = find_periods("today", late, UTC)

    assert (here.start, here.end) == (
        datetime(2024, 6, 12, 22, tzinfo=UTC),
        datetime(2024, 6, 13, 22, tzinfo=UTC),
    )
    assert there.start == datetime(2024, 6, 12, tzinfo=UTC)
    assert here.start.tzinfo is UTC


def test_a_day_on_which_the_clocks_change_has_another_length() -> None:
    [spring] = find_periods("on 31 March 2024", NOW, BERLIN)
    [autumn] = find_periods("on 27 October 2024", NOW, BERLIN)

    assert (spring.end - spring.start, autumn.end - autumn.start) == (timedelta(hours=23), timedelta(hours=25))


def test_vague_words_have_more_slack_than_dates() -> None:
    [date], [month], [vague] = (find_periods(text, NOW) for text in ("7 May 2023", "in May 2023", "a while ago"))

    assert date.slack < month.slack < vague.slack


def test_around_doubles_the_slack() -> None:
    [sharp], [rough] = find_periods("Easter 2023", NOW), find_periods("around Easter 2023", NOW)

    assert rough.slack == 2 * sharp.slack


def test_beside_the_day_of_a_statement_other_phrases_are_meant_from_that_day() -> None:
    assert days("Which beds had she dug last week, as she wrote on 20 March 2019?") == [
        ("2019-03-11", "2019-03-17"),
        ("2019-03-20", "2019-03-20"),
    ]


@pytest.mark.parametrize("text", ["31 April 2023 at 25:00", "99/99/2023", "2023-13-45", "9999 years ago", "9999-12-31"])
def test_what_no_calendar_has_does_not_fail(text: str) -> None:
    assert all(period.start < period.end for period in find_periods(text, NOW))


@pytest.mark.parametrize("year", [1, 9999])
def test_a_clock_at_the_edge_of_the_calendar_does_not_fail(year: int) -> None:
    for text in (
        "last year",
        "next decade",
        "since 2019",
        "a while ago",
        "last May",
        "two weeks ago",
        "next Christmas",
    ):
        for zone in (UTC, BERLIN):
            edge = datetime(year, 1 if year == 1 else 12, 2 if year == 1 else 30, tzinfo=UTC)
            assert all(period.start < period.end for period in find_periods(text, edge, zone))


@pytest.mark.parametrize(
    "text",
    [
        "what did we decide last week?",
        "in May 2023",
        "before 2020",
        "two years ago",
        "when did I move?",
        "how long ago was it?",
        "what did I use to like, back then?",
        "what was the plan at that time?",
    ],
)
def test_a_question_about_the_past_is_known(text: str) -> None:
    assert asks_about_past(text, NOW)


@pytest.mark.parametrize(
    "text",
    ["", "what is the plan for today?", "this week", "recently", "since June", "next Friday", "my favourite colour"],
)
def test_a_question_about_now_is_not_about_the_past(text: str) -> None:
    assert not asks_about_past(text, NOW)


PHRASES = [
    *[
        "today",
        "yesterday",
        "tonight",
        "last night",
        "3 days ago",
        "a few weeks ago",
        "several months ago",
        "two years ago",
    ],
    *[
        "last week",
        "last month",
        "last year",
        "last weekend",
        "last summer",
        "last Friday",
        "on Monday",
        "next Tuesday",
    ],
    *[
        "in May",
        "early March",
        "Q2 2021",
        "in 2019",
        "7 May 2023",
        "May 7th",
        "2023-05-07",
        "05/07/2023",
        "at Christmas",
    ],
    *[
        "since June",
        "before March 2020",
        "after Easter",
        "until yesterday",
        "between May and July",
        "from 2019 to 2021",
    ],
    *["two days before 27 June 2023", "the week before Christmas", "recently", "a while ago", "the other day"],
]
moments = st.datetimes(datetime(1972, 1, 1), datetime(2090, 1, 1), timezones=st.sampled_from([UTC, BERLIN]))  # noqa: DTZ001
parts = st.sampled_from(
    [*PHRASES, "and", "to", "between", "from", "before", "after", "the", "of", "may", "march", "x", "7"]
)


@given(st.lists(parts, max_size=8).map(" ".join), moments, st.sampled_from([UTC, BERLIN, ZoneInfo("Asia/Kathmandu")]))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_a_period_always_ends_after_it_starts_and_quotes_the_text(text: str, now: datetime, zone: ZoneInfo) -> None:
    for period in find_periods(text, now, zone):
        assert period.start < period.end
        assert period.slack >= timedelta()
        assert text[slice(*period.span)] == period.text != ""


@given(
    st.sampled_from(["today", "yesterday", "3 days ago", "last week", "last Friday", "a few weeks ago", "recently"]),
    moments,
)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_what_is_relative_moves_with_now(text: str, now: datetime) -> None:
    now = now.astimezone(UTC)
    [early], [late] = find_periods(text, now), find_periods(text, now + timedelta(weeks=1))

    assert (late.start - early.start, late.end - early.end) == (timedelta(weeks=1), timedelta(weeks=1))


@given(
    st.sampled_from(["7 May 2023", "2023-05-07", "in May 2023", "Q2 2021", "Easter 2019", "before May 2020"]),
    moments,
    moments,
)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_what_has_a_year_does_not_move(text: str, now: datetime, later: datetime) -> None:
    assert find_periods(text, now) == find_periods(text, later)


@given(st.text(st.sampled_from("bcdfghjklmpqxz .,?!\n'\"()-/"), max_size=200), moments)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_text_without_digits_and_words_of_time_has_no_period(text: str, now: datetime) -> None:
    assert find_periods(text, now) == []


@given(st.text(max_size=300), moments)
@settings(max_examples=300, derandomize=True, deadline=None)
def test_no_text_makes_it_fail(text: str, now: datetime) -> None:
    asks_about_past(text, now)
    assert all(period.start < period.end for period in find_periods(text, now))
