"""One house gives one answer: on both engines, half deepened or not, built at once or again, while it is being built.

The house is written here from parts of sentences by dice that always fall the same; so are the questions.
"""

import random
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from chats import House, OwnModels, days_ago
from conftest import OpenHouse, Postgres
from house_of_words import WordVectors

import recollect
from recollect.recall import Found
from recollect.testing import FrozenClock

SUBJECTS = ("Caroline", "my neighbour", "the build", "our landlord", "the parser", "Ines", "the greenhouse", "弟")
VERBS = ("repainted", "forgot", "sold", "rewrote", "watered", "broke", "found", "borrowed", "測った")
OBJECTS = (
    "the kitchen fence",
    "src/app/userService.ts",
    "a runner bean",
    "the E0308 error",
    "three tomato seedlings",
    "the rent for the flat",
    "東京の地図",
    "an old bicycle",
    "the README",
    "v2.14.0",
)
TIMES = ("in May", "yesterday", "before the storm", "", "again", "last week", "for the party", "without a word")
REPLIES = ("Yes!", "That is good to hear.", "When was that?", "I would do the same.", "Tell me more.", "はい")
QUESTION_WORDS = ("who", "when did", "what happened to", "why", "tell me about", "", "have I ever said something about")
CONVERSATIONS = 40
DEEP = WordVectors("deep-8", 8)


def sentence(dice: random.Random) -> str:
    parts = (dice.choice(SUBJECTS), dice.choice(VERBS), dice.choice(OBJECTS), dice.choice(TIMES))
    return " ".join(part for part in parts if part) + "."


def tell_stories(house: House, conversations: int = CONVERSATIONS, seed: int = 7) -> None:
    """Conversations of a few turns each, some turns long, some said twice, over half a year."""
    dice = random.Random(seed)
    for number in range(conversations):
        turns: list[str | tuple[str, str]] = []
        for _ in range(dice.randint(2, 5)):
            turns.append(" ".join(sentence(dice) for _ in range(dice.choice((1, 1, 2, 9)))))
            reply = dice.choice(REPLIES) if dice.random() < 0.5 else " ".join(sentence(dice) for _ in range(12))
            turns.append(("assistant", reply))
        start = days_ago(dice.uniform(1, 180)).replace(microsecond=0)
        house.tell(f"story-{seed}-{number}", *turns, start=start, cwd=f"/home/mara/project-{number % 4}")


def questions(count: int) -> list[str]:
    dice = random.Random(11)
    found: list[str] = []
    while len(found) < count:
        words = [dice.choice(QUESTION_WORDS), dice.choice(SUBJECTS), dice.choice(OBJECTS), dice.choice(TIMES)]
        found.append(" ".join(word for word in words if word and dice.random() < 0.8) or "fence")
    return found


Answer = list[tuple[str, float]]


def answer(found: Found) -> Answer:
    return [(hit.id, hit.score) for hit in found.hits]


def answers(house: House, asked: list[str]) -> dict[str, Answer]:
    house.memory.recall.catch_up()
    return {text: answer(house.ask(text, fresh=False)) for text in asked}


def assert_alike(one: dict[str, Answer], other: dict[str, Answer]) -> None:
    """The same hits in the same order with the same scores. Up to ties: equal scores may change places."""
    assert one.keys() == other.keys()
    for text, here in one.items():
        there = other[text]
        assert [score for _, score in here] == pytest.approx([score for _, score in there], abs=2e-4), text
        scores = dict(there)
        for place, (message_id, score) in enumerate(here):
            if there[place][0] != message_id:
                assert scores.get(message_id, here[-1][1]) == pytest.approx(score, abs=2e-4), text


def reopened(memory: recollect.Memory, **models: object) -> recollect.Memory:
    """The same house with other models."""
    own = OwnModels(memory.settings, **models)  # type: ignore[arg-type]
    return recollect.Memory(memory.settings, memory.database, memory.clock, own)


class HalfDeepened:
    """Stops deepening after so many documents."""

    def __init__(self, number: int) -> None:
        self.left = number

    def count(self, number: int) -> None:
        self.left -= number

    def stop(self) -> bool:
        return self.left <= 0


@pytest.fixture
def both(tmp_path: Path, postgres: Postgres, clock: FrozenClock) -> Iterator[list[House]]:
    """The same stories on SQLite and on PostgreSQL: the same files, so the same messages."""
    name = postgres.create()
    with ExitStack() as stack:
        houses: list[House] = []
        for engine, address in (("sqlite", str(tmp_path / "recollect.db")), ("postgres", postgres.url(name))):
            memory = stack.enter_context(recollect.open(home=tmp_path / engine, database=address, clock=clock))
            houses.append(House(memory, tmp_path / "chats"))
            tell_stories(houses[-1])
        yield houses
    postgres.drop(name)


def test_both_engines_give_the_same_hits(both: list[House]) -> None:
    asked = questions(200)
    here, there = (answers(house, asked) for house in both)
    assert all(here.values())
    assert_alike(here, there)


def test_both_engines_give_the_same_hits_through_filters(both: list[House]) -> None:
    choices = (
        {"authors": ["user"]},
        {"projects": ["project-2"]},
        {"since": days_ago(60), "until": days_ago(20)},
        {"as_of": days_ago(90), "limit": 3},
        {"projects": ["project-1"], "authors": ["assistant"], "limit": 50},
    )
    for options in choices:
        here, there = ({text: answer(house.ask(text, **options)) for text in questions(12)} for house in both)
        assert any(here.values())
        assert_alike(here, there)


def test_both_engines_give_the_same_hits_when_half_is_deepened(both: list[House]) -> None:
    asked = questions(60)
    told: list[dict[str, Answer]] = []
    states: list[tuple[int, int]] = []
    for house in both:
        plain = answers(house, asked)
        memory = reopened(house.memory, deep=DEEP)
        half = HalfDeepened(memory.recall.state().documents // 2)
        memory.recall.deepen(half.stop, on_progress=half.count)
        told.append(answers(House(memory, house.folder), asked))
        states.append((memory.recall.state().deepened, memory.recall.state().documents))
        assert told[-1] != plain  # The deep model has a say.
        memory.recall.close()
    assert states[0] == states[1]
    assert states[0][0] > 0
    assert_alike(*told)


def test_an_index_that_is_dropped_and_built_again_answers_alike(memory: recollect.Memory, tmp_path: Path) -> None:
    house = House(memory, tmp_path / "chats")
    tell_stories(house, 20)
    memory.recall.catch_up()
    tell_stories(house, 20, seed=8)
    asked = questions(500)
    before = answers(house, asked)
    memory.recall.drop()
    assert memory.recall.state().documents == 0
    assert answers(house, asked) == before


def test_an_index_that_followed_changes_answers_like_one_built_again(memory: recollect.Memory, tmp_path: Path) -> None:
    """Messages changed, grew and vanished in between."""
    house = House(memory, tmp_path / "chats")
    tell_stories(house, 12)
    memory.recall.catch_up()
    tell_stories(house, 6, seed=8)
    memory.recall.catch_up()
    for number in range(6):
        house.tell(
            f"story-8-{number}", f"Only the userServiceNumber{number} is left of it.", start=days_ago(number + 1)
        )
    asked = [*questions(100), "userServ", "runn", "neigh", "测", "number", "seedl"]
    before = answers(house, asked)
    memory.recall.reindex()
    assert answers(house, asked) == before


def test_deepening_in_pieces_answers_like_deepening_at_once(open_house: OpenHouse, tmp_path: Path) -> None:
    asked = questions(40)
    told: list[dict[str, Answer]] = []
    for sizes in ((1_000,), (5, 40, 1_000)):
        memory = reopened(open_house(), deep=DEEP)
        house = House(memory, tmp_path / "chats")
        tell_stories(house, 12)
        memory.recall.catch_up()
        for size in sizes:
            half = HalfDeepened(size)
            memory.recall.deepen(half.stop, on_progress=half.count)
        assert memory.recall.state().deepened == memory.recall.state().documents
        told.append(answers(house, asked))
        memory.recall.close()
        shutil.rmtree(house.folder)
    assert_alike(*told)


def search_until(is_over: threading.Event, house: House, asked: list[str]) -> list[tuple[str, Answer]]:
    """Everything that was answered meanwhile: each question at least once."""
    told: list[tuple[str, Answer]] = []
    while not told or not is_over.is_set():
        told += [(text, answer(house.ask(text))) for text in asked]
    return told


def test_searching_while_the_index_is_built_anew_never_fails(memory: recollect.Memory, tmp_path: Path) -> None:
    house = House(memory, tmp_path / "chats")
    tell_stories(house, 12)
    asked = questions(10)
    before = answers(house, asked)
    is_over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        searches = [pool.submit(search_until, is_over, house, asked) for _ in range(2)]
        try:
            for _ in range(6):
                memory.recall.reindex()
        finally:
            is_over.set()
    told = [item for search in searches for item in search.result()]
    assert [text for text, found in told if found != before[text]] == []


def test_searching_while_somebody_tells_more_never_fails(memory: recollect.Memory, tmp_path: Path) -> None:
    house = House(memory, tmp_path / "chats")
    tell_stories(house, 6)
    is_over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(search_until, is_over, house, questions(5))
        try:
            for number in range(8):
                text = f"The hedgehog number{number} sleeps."
                house.tell(f"more-{number}", text, start=days_ago(1) + timedelta(hours=number))
                assert house.best(f"number{number}") == text
        finally:
            is_over.set()
    assert [text for text, found in search.result() if not found] == []
