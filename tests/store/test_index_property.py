"""Whatever happens in a house and whenever somebody follows it: the index is the one that is built at once."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from builders import moment
from house_of_words import HouseOfWords, WordVectors, contents_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.database import Database
from recollect.history import Standing
from recollect.knowledge import State
from recollect.recall.index import Index, open_index

STATIC = WordVectors()
DEEP = WordVectors("deep-8", 8)
MODELS = [STATIC.name, DEEP.name]
QUESTIONS = 3
WORDS = ("bean", "tomato", "shade", "gravel", "ok")
MESSAGES = 12

texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
numbers = st.integers(0, MESSAGES - 1)
conversations = st.sampled_from(["c1", "c2", None])
records = st.sampled_from(["r1", "r2", "r11"])
paths = st.sampled_from(["r1", "m000001", "agents/ada/a@b ü.md"])
pages = st.lists(st.tuples(st.sampled_from(["", "# "]), texts), max_size=4).map(
    lambda lines: "\n\n".join(f"{sign}{text}" for sign, text in lines)
)
events = st.one_of(
    st.tuples(st.just("say"), numbers, texts, conversations),
    st.tuples(st.just("regroup"), numbers, conversations),
    st.tuples(st.just("stand"), numbers, st.sampled_from([Standing.SAID, Standing.ABANDONED])),
    st.tuples(st.just("go"), numbers, st.booleans()),
    st.tuples(st.just("delete"), numbers),
    st.tuples(
        st.just("learn"), records, texts.filter(bool), st.sampled_from(["house", "ada"]), st.sampled_from(list(State))
    ),
    st.tuples(st.just("forget"), records),
    st.tuples(st.just("write"), paths, pages, st.sampled_from([moment(), moment(3)])),
    st.tuples(st.just("remove"), paths),
    st.tuples(st.just("bind"), st.sampled_from(["house", "ada", "bert"])),
    st.tuples(st.just("follow"), st.sampled_from([1, 3, None])),
    st.tuples(st.just("deepen"), st.integers(0, 2)),
    st.sampled_from([("purge",), ("leave",), ("rebuild",), ("look",)]),
)


OpenIndex = Callable[..., Index]


@pytest.fixture
def open_house(database: Database) -> Iterator[OpenIndex]:
    """A function that gives the index of one more house, or a second look at one."""
    first = open_index(database, "first")
    numbers = itertools.count()

    def make(house: str = "") -> Index:
        return Index(first.database, house or f"house-{next(numbers)}", first.stored)

    yield make
    first.close()


class Story:
    """Events, carried out on a house and on an index that follows it now and then."""

    def __init__(self, index: Index) -> None:
        self.history = HouseOfWords()
        self.index = index

    def happen(self, kind: str, *details: object) -> None:
        getattr(self, f"_{kind}")(*details)

    def _say(self, number: int, text: str, conversation: str | None) -> None:
        self.history.say(text, number, conversation=conversation)

    def _regroup(self, number: int, conversation: str | None) -> None:
        self._change(number, conversation_id=conversation)

    def _stand(self, number: int, standing: Standing) -> None:
        self._change(number, standing=standing)

    def _go(self, number: int, gone: bool) -> None:
        self._change(number, gone=gone)

    def _change(self, number: int, **fields: object) -> None:
        if f"m{number:06d}" in self.history.messages:
            self.history.change(f"m{number:06d}", **fields)

    def _delete(self, number: int) -> None:
        self.history.delete(f"m{number:06d}")

    def _learn(self, name: str, text: str, scope: str, state: State) -> None:
        self.history.learn(text, name, scope=scope, state=state)

    def _forget(self, name: str) -> None:
        self.history.forget(name)

    def _write(self, path: str, text: str, at: str) -> None:
        self.history.write(path, text, at)

    def _remove(self, path: str) -> None:
        self.history.remove(path)

    def _bind(self, scope: str) -> None:
        self.history.bind("f1", scope)

    def _follow(self, limit: int | None) -> None:
        self.index.follow(self.history, STATIC, limit)

    def _deepen(self, slices: int) -> None:
        done: list[int] = []
        self.index.deepen(self.history, DEEP, lambda: len(done) >= slices, on_progress=done.append)

    def _purge(self) -> None:
        self.index.purge()

    def _leave(self) -> None:
        self.index.forget()

    def _rebuild(self) -> None:
        self.index.rebuild(self.history, STATIC)

    def _look(self) -> None:
        self.index.snapshot(MODELS)


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(happening=st.lists(events, max_size=30))
def test_an_index_that_followed_equals_one_that_was_built_at_once(
    open_house: OpenIndex, happening: list[tuple[object, ...]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recollect.recall.index.following.BATCH_DOCUMENTS", 3)
        patch.setattr("recollect.recall.index.following.LOADED_THINGS", 2)
        patch.setattr("recollect.recall.index.following.PAGE", 5)
        patch.setattr("recollect.recall.index.deepening.COMMITTED_DOCUMENTS", 2)
        story = Story(open_house())
        for kind, *details in happening:
            story.happen(str(kind), *details)
        story.index.follow(story.history, STATIC)
        story.index.deepen(story.history, DEEP)
    clean = open_house()
    clean.follow(story.history, STATIC)
    clean.deepen(story.history, DEEP)
    assert contents(story.index) == contents(clean)
    assert contents(story.index) == contents(open_house(story.index.house))


def contents(index: Index) -> dict[str, object]:
    return contents_of(index, [STATIC, DEEP], *WORDS[:QUESTIONS])
