"""When the agent may write first: every rule by itself, all together, and what no clock may change."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import Invalid
from recollect.mind.heartbeat.awareness import (
    ACTIVE_MINUTES,
    MOST_UNANSWERED,
    RECENT_HOURS,
    UNANSWERED_HOURS,
    Facts,
    Limits,
    Outreach,
    QuietHours,
    Verdict,
    barred,
    judge,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 5, 6, 12, tzinfo=BERLIN)
RULES = [
    "paused",
    "turn",
    "place",
    "unwelcome",
    "not now",
    "quiet hours",
    "active",
    "undelivered",
    "recent",
    "unanswered",
    "per day",
]
NIGHT = QuietHours(start=time(22), end=time(8))
LIMITS = Limits(quiet=NIGHT, most_per_day=2)
FREE = Facts(
    now=NOON,
    spoke_at=NOON - timedelta(days=1),
    last_word_at=NOON - timedelta(days=1),
    outreaches=(),
    is_turn_open=False,
    waiting=0,
    undelivered=0,
    has_place=True,
)


def wrote(hours_ago: float, *, is_answered: bool = False, now: datetime = NOON) -> Outreach:
    return Outreach(turn=1, at=now.astimezone(UTC) - timedelta(hours=hours_ago), is_answered=is_answered)


def denied(facts: Facts, limits: Limits = LIMITS) -> list[str]:
    return [verdict.rule for verdict in judge(facts, limits) if not verdict.is_allowed]


def verdict_of(rule: str, facts: Facts, limits: Limits = LIMITS) -> Verdict:
    return next(verdict for verdict in judge(facts, limits) if verdict.rule == rule)


def test_nothing_speaks_against_a_quiet_noon() -> None:
    assert denied(FREE) == []
    assert denied(replace(FREE, spoke_at=None, last_word_at=None)) == []


@pytest.mark.parametrize(
    ("rules", "facts"),
    [
        (["paused"], replace(FREE, paused_since="2026-05-01T10:00:00.000Z")),
        (["turn"], replace(FREE, is_turn_open=True)),
        (["turn"], replace(FREE, waiting=2)),
        (["place"], replace(FREE, has_place=False)),
        (["unwelcome"], replace(FREE, is_unwelcome=True)),
        (["not now"], replace(FREE, not_before=NOON + timedelta(minutes=1))),
        (["quiet hours"], replace(FREE, now=NOON.replace(hour=22))),
        (["active"], replace(FREE, last_word_at=NOON - timedelta(minutes=ACTIVE_MINUTES - 1))),
        (["undelivered"], replace(FREE, undelivered=1)),
        (["recent"], replace(FREE, outreaches=(wrote(RECENT_HOURS - 0.1, is_answered=True),))),
        (["unanswered"], replace(FREE, outreaches=(wrote(RECENT_HOURS + 1),))),
        (["per day"], replace(FREE, outreaches=(wrote(5, is_answered=True), wrote(11, is_answered=True)))),
    ],
)
def test_each_rule_denies_by_itself(rules: list[str], facts: Facts) -> None:
    assert denied(facts) == rules


@pytest.mark.parametrize(
    "facts",
    [
        replace(FREE, not_before=NOON),
        replace(FREE, now=NOON.replace(hour=8)),
        replace(FREE, now=NOON.replace(hour=21, minute=59)),
        replace(FREE, last_word_at=NOON - timedelta(minutes=ACTIVE_MINUTES)),
        replace(FREE, outreaches=(wrote(RECENT_HOURS, is_answered=True),)),
        replace(FREE, outreaches=(wrote(UNANSWERED_HOURS),)),
        replace(FREE, outreaches=(wrote(5, is_answered=True), wrote(12.1, is_answered=True))),  # That was yesterday.
    ],
)
def test_each_rule_ends_at_its_border(facts: Facts) -> None:
    assert denied(facts) == []


def test_every_rule_is_judged_in_one_order_and_says_why() -> None:
    worst = replace(
        FREE,
        now=NOON.replace(hour=23),
        last_word_at=NOON.replace(hour=23),
        outreaches=(wrote(-10),) * 3,
        is_turn_open=True,
        undelivered=1,
        has_place=False,
        paused_since="yesterday",
        not_before=NOON + timedelta(days=1),
        is_unwelcome=True,
    )
    assert denied(worst) == RULES
    for facts in (FREE, worst):
        verdicts = judge(facts, LIMITS)
        assert [verdict.rule for verdict in verdicts] == RULES
        assert all(verdict.reason.endswith(".") for verdict in verdicts)


def test_distance_grows_with_each_message_that_is_not_answered() -> None:
    for number, hours in enumerate((12, 24, 48, 96), start=1):
        older = tuple(wrote(200 + 100 * one) for one in range(number - 1))
        facts = replace(FREE, spoke_at=NOON - timedelta(days=60))
        just_before = replace(facts, outreaches=(wrote(hours - 0.1), *older))
        assert verdict_of("unanswered", just_before).until == NOON + timedelta(hours=0.1)
        assert denied(replace(facts, outreaches=(wrote(hours), *older))) == []


def test_who_never_answers_hears_no_more_until_they_speak() -> None:
    silent = replace(
        FREE,
        spoke_at=NOON - timedelta(days=900),
        outreaches=tuple(wrote(24 * 300 + 200 * one) for one in range(MOST_UNANSWERED)),
    )
    verdict = verdict_of("unanswered", silent)
    assert (verdict.is_allowed, verdict.until) == (False, None)
    assert denied(replace(silent, spoke_at=NOON - timedelta(days=1))) == []


def test_only_what_came_since_an_answer_is_counted() -> None:
    mixed = (wrote(13), wrote(100, is_answered=True), wrote(200), wrote(300))
    assert denied(replace(FREE, spoke_at=NOON - timedelta(hours=90), outreaches=mixed)) == []
    assert "message with which" in verdict_of("unanswered", replace(FREE, outreaches=mixed)).reason


def test_none_a_day_is_none_at_all() -> None:
    assert denied(FREE, Limits(quiet=None, most_per_day=0)) == ["per day"]


def test_the_day_is_that_of_the_person() -> None:
    early = datetime(2026, 5, 6, 0, 30, tzinfo=BERLIN)  # The 5th in UTC.
    facts = replace(FREE, now=early, outreaches=(wrote(5, is_answered=True, now=early),))
    assert denied(facts, Limits(quiet=None, most_per_day=1)) == []


# Quiet hours


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("22:00-08:00", time(22), time(8)),
        (" 9:30 – 17:15 ", time(9, 30), time(17, 15)),
        ("22:00-24:00", time(22), time(0)),
    ],
)
def test_quiet_hours_are_read(text: str, start: time, end: time) -> None:
    assert QuietHours.parse(text) == QuietHours(start=start, end=end)


def test_without_quiet_hours_there_are_none() -> None:
    assert QuietHours.parse("") is None
    assert denied(replace(FREE, now=NOON.replace(hour=3)), Limits(quiet=None, most_per_day=2)) == []


@pytest.mark.parametrize(
    "text", ["night", "22-8", "22:00", "25:00-08:00", "22:60-08:00", "22:00-08:00-09:00", "08:00-08:00"]
)
def test_what_are_no_hours_is_refused_by_the_name_of_the_setting(text: str) -> None:
    with pytest.raises(Invalid, match=r"heartbeat\.quiet_hours is .*(Write|write) "):
        QuietHours.parse(text)


@given(st.times(), st.times(), st.times())
def test_every_time_of_the_day_is_in_the_hours_or_in_the_others(start: time, end: time, shown: time) -> None:
    if start != end:
        moment = datetime.combine(NOON.date(), shown, tzinfo=BERLIN)
        night, day = QuietHours(start=start, end=end), QuietHours(start=end, end=start)
        assert night.contains(moment) != day.contains(moment)
        if night.contains(moment):
            over = night.end_after(moment)
            assert over > moment
            assert over.timetz().replace(tzinfo=None) == end


@pytest.mark.parametrize("day", [(3, 28), (3, 29), (10, 24), (10, 25), (5, 6)])
def test_quiet_hours_follow_the_clock_on_the_wall_when_the_clocks_change(day: tuple[int, int]) -> None:
    start = datetime(2026, *day, tzinfo=BERLIN).astimezone(UTC)
    for number in range(24 * 12):
        now = (start + timedelta(minutes=5 * number)).astimezone(BERLIN)
        verdict = verdict_of("quiet hours", replace(FREE, now=now))
        assert verdict.is_allowed == (8 <= now.hour < 22)
        if verdict.until:
            over = verdict.until
            assert over.astimezone(UTC) > now.astimezone(UTC)
            assert (over.hour, over.minute) == (8, 0)


# Clocks

instants = st.integers(-100 * 24 * 60, 100 * 24 * 60).map(
    lambda minutes: NOON.astimezone(UTC) + timedelta(minutes=minutes)
)
outreaches = st.lists(st.builds(Outreach, turn=st.just(1), at=instants, is_answered=st.booleans()), max_size=8).map(
    lambda found: tuple(sorted(found, key=lambda one: one.at, reverse=True))
)


@given(instants, st.one_of(st.none(), instants), st.one_of(st.none(), instants), outreaches)
def test_a_clock_that_was_set_back_never_allows_more(
    now: datetime, spoke_at: datetime | None, last_word_at: datetime | None, written: tuple[Outreach, ...]
) -> None:
    """As if all that lies in the future were just now."""
    facts = replace(FREE, now=now.astimezone(BERLIN), spoke_at=spoke_at, last_word_at=last_word_at, outreaches=written)
    clamped = replace(
        facts,
        spoke_at=spoke_at and min(spoke_at, now),
        last_word_at=last_word_at and min(last_word_at, now),
        outreaches=tuple(replace(one, at=min(one.at, now)) for one in written),
    )
    assert judge(facts, LIMITS) == judge(clamped, LIMITS)
    if any(one.at > now for one in written):
        assert "recent" in denied(facts)
    if last_word_at and last_word_at > now:
        assert "active" in denied(facts)


@given(instants, st.one_of(st.none(), instants), outreaches)
def test_a_rule_that_names_a_time_allows_from_then_on(
    now: datetime, last_word_at: datetime | None, written: tuple[Outreach, ...]
) -> None:
    past = tuple(one for one in written if one.at <= now)
    word = last_word_at if last_word_at and last_word_at <= now else None
    facts = replace(FREE, now=now.astimezone(BERLIN), spoke_at=None, last_word_at=word, outreaches=past)
    for verdict in judge(facts, LIMITS):
        if verdict.until:
            assert verdict.until.astimezone(UTC) > now
            assert verdict_of(verdict.rule, replace(facts, now=verdict.until)).is_allowed


def test_hours_are_counted_as_they_pass_and_not_as_they_are_shown() -> None:
    before = datetime(2026, 3, 29, 0, 30, tzinfo=BERLIN)
    now = datetime(2026, 3, 29, 5, tzinfo=BERLIN)  # Three hours and a half later: the clocks went forward.
    facts = replace(FREE, now=now, outreaches=(Outreach(turn=1, at=before, is_answered=True),))
    assert verdict_of("recent", facts).until == datetime(2026, 3, 29, 5, 30, tzinfo=BERLIN)


# Topics


@pytest.mark.parametrize(
    ("topic", "message", "unwelcome", "found"),
    [
        ("ex", "How are you after the talk with your ex?", ["my ex"], "my ex"),
        ("health", "Did you go running today?", ["my runs"], "my runs"),
        ("Anna's wedding", "Have you chosen a present?", ["the wedding of Anna"], "the wedding of Anna"),
        ("work", "How was the exam?", ["the exam", "work"], "the exam"),
        ("weather", "Rain at five.", ["my ex", "football"], ""),
        ("football", "A friend of Anna plays.", ["Anna's divorce"], ""),
        ("experiments", "The expo begins.", ["my ex"], ""),
        ("anything", "Hello", [""], ""),
        ("", "", ["my ex"], ""),
    ],
)
def test_a_topic_is_touched_when_all_its_telling_words_are_said(
    topic: str, message: str, unwelcome: list[str], found: str
) -> None:
    assert barred(topic, message, unwelcome) == found
