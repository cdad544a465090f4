"""What gets a place in a context: by importance, recency, relevance and diversity, and never more than fits (K10)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from recollect.context.blocks import line_of, section_of
from recollect.context.choosing import Candidate, chosen, latest_that_fit, likeness, recency
from recollect.knowledge import Category, Kind, Origin, Record, State

PLENTY = 100_000


def record(number: int, text: str = "", **fields: object) -> Record:
    at = f"2026-05-01T00:00:{number % 60:02d}.000Z"
    made = Record(
        id=f"record-{number:04d}",
        version=1,
        scope="house",
        kind=Kind.LEARNING,
        subject="",
        attribute="",
        value="",
        text=text or f"Fact {number} is about thing{number} and nothing{number} else{number}",
        category=Category.KNOWLEDGE,
        tags=(),
        confidence=1.0,
        importance=0.5,
        origin=Origin.TOLD,
        learned_at=at,
        true_from=at,
        true_until="",
        expires_at="",
        state=State.CURRENT,
        replaces="",
        replaced_by="",
        sources=(),
        believed_from=at,
    )
    return replace(made, **fields)  # pyright: ignore[reportArgumentType]


def candidate(number: int, text: str = "", relevance: float = 0.0, **fields: object) -> Candidate:
    made = record(number, text, **fields)
    return Candidate(record=made, line=line_of(made.text), relevance=relevance)


def names(taken: list[Candidate]) -> list[str]:
    return [one.record.id for one in taken]


def cost(taken: list[Candidate]) -> int:
    sections = {one.record.category for one in taken}
    return sum(section_of(name, [one.line for one in taken if one.record.category is name]).tokens for name in sections)


words = st.lists(st.sampled_from(["bean", "soil", "rain", "豆", "<b>", "&", "\n"]), min_size=1, max_size=30)
some_candidates = st.lists(
    st.builds(
        lambda number, said, importance, category, relevance, kind: candidate(
            number,
            " ".join(said) + " end",
            relevance,
            importance=importance,
            category=category,
            kind=kind,
        ),
        st.integers(0, 500),
        words,
        st.floats(0, 1),
        st.sampled_from(list(Category)),
        st.floats(0, 1),
        st.sampled_from([Kind.LEARNING, Kind.SUMMARY]),
    ),
    max_size=12,
    unique_by=lambda one: one.record.id,
)


@given(some_candidates, st.integers(0, 400))
def test_no_budget_is_exceeded(candidates: list[Candidate], budget: int) -> None:
    taken = chosen(candidates, budget)
    assert cost(taken) <= budget
    assert len(set(names(taken))) == len(taken)


@given(some_candidates, st.integers(0, 400), st.randoms(use_true_random=False))
def test_the_order_in_which_they_come_changes_nothing(candidates: list[Candidate], budget: int, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert chosen(shuffled, budget) == chosen(candidates, budget)


@given(some_candidates)
def test_everything_is_taken_where_there_is_room_the_oldest_first(candidates: list[Candidate]) -> None:
    taken = chosen(candidates, PLENTY)
    assert taken == sorted(candidates, key=lambda one: (one.record.learned_at, one.record.id))


@given(some_candidates, st.integers(0, 400))
def test_nothing_that_would_still_fit_is_left(candidates: list[Candidate], budget: int) -> None:
    taken = chosen(candidates, budget)
    assert all(cost([*taken, one]) > budget for one in candidates if one not in taken)


def test_the_important_come_before_the_rest() -> None:
    candidates = [candidate(number, importance=number / 10) for number in range(10)]
    budget = cost(candidates[7:])
    assert names(chosen(candidates, budget)) == ["record-0007", "record-0008", "record-0009"]


def test_what_answers_to_the_topic_comes_before_what_is_important() -> None:
    asked, important = candidate(1, relevance=1.0, importance=0.2), candidate(2, importance=1.0)
    assert chosen([asked, important], cost([asked])) == [asked]


def test_of_two_that_matter_equally_the_later_one_is_taken() -> None:
    old = candidate(1, learned_at="2026-01-01T00:00:00.000Z")
    new = candidate(2, learned_at="2026-06-01T00:00:00.000Z")
    assert chosen([old, new], cost([new])) == [new]


def test_importance_outweighs_any_age_of_what_is_evergreen() -> None:
    old = candidate(1, importance=0.9, learned_at="2016-01-01T00:00:00.000Z")
    new = candidate(2, importance=0.5, learned_at="2026-06-01T00:00:00.000Z")
    assert chosen([old, new], cost([old])) == [old]


def test_what_is_dated_fades_by_half_in_thirty_days_and_what_is_evergreen_to_no_less_than_half() -> None:
    month_old, years_old = "2026-05-02T00:00:00.000Z", "2016-06-01T00:00:00.000Z"
    newest = "2026-06-01T00:00:00.000Z"
    assert recency(record(1, kind=Kind.SUMMARY, learned_at=month_old), newest) == 0.5
    assert recency(record(1, kind=Kind.SUMMARY, learned_at=years_old), newest) < 0.001
    assert recency(record(1, learned_at=month_old), newest) == 0.75
    assert 0.5 <= recency(record(1, learned_at=years_old), newest) < 0.501
    assert recency(record(1, learned_at=newest), newest) == 1.0


def test_what_says_the_same_again_waits_behind_what_says_something_else() -> None:
    first = candidate(1, "Ada waters the beans every morning at six", importance=0.95)
    again = candidate(2, "Ada waters the beans every morning at six o'clock", importance=0.9)
    other = candidate(3, "The key of the shed hangs behind the kitchen door", importance=0.5)
    assert chosen([first, again, other], cost([first, other])) == [first, other]


def test_different_things_about_the_same_do_not_count_as_repetition() -> None:
    one = frozenset(["ada", "likes", "black", "tea", "with", "milk", "in", "the", "morning"])
    other = frozenset(["ada", "likes", "the", "window", "open", "in", "the", "night"])
    assert likeness(one, other) == 0.0
    assert likeness(one, one) == 1.0


def test_a_huge_record_takes_no_room_from_the_others() -> None:
    huge = candidate(1, "bean " * 20_000, importance=1.0)
    small = [candidate(number) for number in range(2, 12)]
    assert chosen([huge, *small], 1_000) == small


def test_the_tags_of_a_block_are_paid_for() -> None:
    one = candidate(1, "x")
    assert chosen([one], cost([one])) == [one]
    assert chosen([one], cost([one]) - 1) == []


def test_the_latest_lines_that_fit_are_kept_in_their_order() -> None:
    lines = [line_of(f"{number} said", "You") for number in range(100)]
    budget = section_of("transcript", lines[-10:]).tokens
    assert latest_that_fit(lines, "transcript", budget) == lines[-10:]


def test_a_line_that_is_too_long_leaves_room_for_those_before_it() -> None:
    lines = [line_of("early"), line_of("x" * 10_000), line_of("late")]
    assert latest_that_fit(lines, "transcript", 200) == [lines[0], lines[2]]
    assert latest_that_fit(lines, "transcript", 1) == []
