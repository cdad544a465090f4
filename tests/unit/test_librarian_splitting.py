"""Long conversations in parts."""

from datetime import timedelta
from itertools import pairwise

from builders import START
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import tokens
from recollect.clock import to_text
from recollect.librarian.extraction.splitting import LEAST_BUDGET_TOKENS, Part, carried_tokens, halved, split
from recollect.librarian.items import Turn
from recollect.librarian.reading import rendered


def turn(number: int, text: str, author: str = "user", minutes: float = 0, tools: tuple[str, ...] = ()) -> Turn:
    at = to_text(START + timedelta(minutes=minutes))
    return Turn(number=number, message_id=f"m{number}", author=author, at=at, text=text, tools=tools)


def taken(part: Part) -> int:
    shown = [turns for turns in (part.repeated, part.turns) if turns]
    return sum(tokens.estimate(rendered(turns, user="User")) for turns in shown)


CHARACTERS = st.sampled_from("ab .\n\n<&é語\u2028\r!?")
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=300),
    st.tuples(st.text(CHARACTERS, min_size=1, max_size=12), st.integers(1, 2_000)).map(lambda two: two[0] * two[1]),
)
TURNS = st.lists(
    st.tuples(TEXTS, st.sampled_from(["user", "assistant"]), st.floats(0, 200), st.integers(0, 9)), max_size=8
).map(
    lambda given: [
        turn(number, text, author, minutes, ("Bash " + "&<é" * 50,) * calls)
        for number, (text, author, minutes, calls) in enumerate(given, 1)
    ]
)


@settings(max_examples=60, deadline=None)
@given(TURNS, st.integers(1, 6_000))
def test_every_character_is_in_a_part_and_every_part_in_its_budget(turns: list[Turn], budget: int) -> None:
    parts = split(turns, budget)
    assert parts == split(turns, budget)
    pieces = [piece for part in parts for piece in part.turns]
    for one in turns:
        own = [piece for piece in pieces if piece.number == one.number]
        assert "".join(piece.text for piece in own) == one.text
        assert sum((piece.tools for piece in own), ()) == one.tools
    least = max(budget, LEAST_BUDGET_TOKENS)
    for number, part in enumerate(parts):
        assert part.turns
        assert taken(part) + (carried_tokens(budget) if number else 0) <= least


@settings(max_examples=60, deadline=None)
@given(TURNS.filter(bool))
def test_halving_ends_and_loses_nothing(turns: list[Turn]) -> None:
    waiting = [Part(turns=tuple(turns))]
    done: list[Part] = []
    for _ in range(4_000):
        if not waiting:
            break
        part = waiting.pop(0)
        halves = halved(part)
        if halves is None or len(done) + len(waiting) > 40:
            done.append(part)
        else:
            assert all(half.turns and half.turns != part.turns for half in halves)
            waiting = [*halves, *waiting]
    assert not waiting
    assert "".join(piece.text for part in done for piece in part.turns) == "".join(one.text for one in turns)


def test_a_short_conversation_is_one_part() -> None:
    turns = [turn(1, "Hello."), turn(2, "Hello.", "assistant")]
    assert split(turns, 8_000) == [Part(turns=tuple(turns))]
    assert split([], 8_000) == []


def test_a_cut_is_made_at_the_longest_pause_before_the_budget_is_full() -> None:
    turns = [
        turn(number, "words " * 150, "user" if number % 2 else "assistant", number + (120 if number > 7 else 0))
        for number in range(1, 15)
    ]
    first, second = split(turns, 3_000)[:2]
    assert first.turns[-1].number == 7
    assert second.turns[0].number == 8


def test_without_a_pause_a_cut_is_made_before_a_new_request() -> None:
    turns = [turn(number, "words " * 200, "assistant" if number % 3 else "user", number) for number in range(1, 30)]
    parts = split(turns, 4_000)
    assert len(parts) > 2
    assert all(part.turns[0].author == "user" for part in parts[1:])


def test_a_part_repeats_the_end_of_the_one_before() -> None:
    turns = [turn(number, f"Sentence {number}. " * 20, minutes=number) for number in range(1, 60)]
    for before, after in pairwise(split(turns, 3_000)):
        assert after.repeated
        assert after.repeated[-1].text == before.turns[-1].text


def test_one_endless_turn_is_divided_at_sentences_and_its_end_is_repeated() -> None:
    text = "This is a sentence of some length that somebody said. " * 2_000
    parts = split([turn(1, text)], 4_000)
    assert len(parts) > 5
    for before, after in pairwise(parts):
        assert before.turns[-1].text.endswith(". ")
        assert after.repeated[-1].text
        assert before.turns[-1].text.endswith(after.repeated[-1].text)
        assert after.repeated[-1].text.startswith("This")


def test_a_part_is_halved_at_a_good_place_until_it_is_short() -> None:
    first, second = halved(Part(turns=tuple(turn(number, "words " * 40) for number in range(1, 9)))) or ((), ())
    assert isinstance(first, Part)
    assert isinstance(second, Part)
    assert len(first.turns) == len(second.turns) == 4
    assert second.repeated
    assert halved(Part(turns=(turn(1, "short"),))) is None


def test_two_megabytes_in_one_turn_are_split_in_reasonable_time() -> None:
    parts = split([turn(1, "word " * 400_000)], 20_000)
    assert sum(len(piece.text) for part in parts for piece in part.turns) == 2_000_000
