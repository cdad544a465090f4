"""The index: what it holds after following, whatever the way there."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from house_of_words import HouseOfWords, WordVectors, contents_of

from recollect.database import Database
from recollect.history import Author, Standing
from recollect.recall import index as recall_index
from recollect.recall.index import Index, Superseded, generations, schema
from recollect.recall.index.blocks import BlockVectors
from recollect.recall.index.formats import AUTHORS, POSTING_DOCUMENTS

STATIC = WordVectors()
DEEP = WordVectors("deep-8", 8)

OpenIndex = Callable[..., Index]


@pytest.fixture
def open_index(database: Database) -> Iterator[OpenIndex]:
    opened: list[Index] = []

    def make(house: str = "home") -> Index:
        opened.append(recall_index.open_index(database, house))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def index(open_index: OpenIndex) -> Index:
    return open_index()


@pytest.fixture
def history() -> HouseOfWords:
    return HouseOfWords()


def found(index: Index, term: str) -> list[str]:
    snapshot = index.snapshot()
    return sorted(snapshot.document_ids(snapshot.postings(term)[0]))


def nearest(index: Index, text: str, count: int = 3, model: WordVectors = STATIC) -> list[str]:
    snapshot = index.snapshot([model.name])
    return snapshot.document_ids(snapshot.nearest(model.name, model.query(text), None, count)[0])


def test_an_index_that_never_followed_is_empty_and_can_be_asked(index: Index) -> None:
    snapshot = index.snapshot([STATIC.name])
    assert snapshot.documents == 0
    assert snapshot.postings("bean")[0].tolist() == []
    assert snapshot.nearest(STATIC.name, STATIC.query("bean"), None, 3)[0].tolist() == []
    assert snapshot.docs_of(["m1"]) == {}
    assert index.figures() is None
    assert index.consumed() is None
    assert index.deepen(HouseOfWords(), DEEP) == 0


def test_what_was_said_is_found_by_its_words_and_by_its_vector(index: Index, history: HouseOfWords) -> None:
    bean = history.say("the bean climbs the trellis, bean after bean")
    tomato = history.say("tomatoes want shade and gravel")

    assert index.follow(history, STATIC) == 2

    snapshot = index.snapshot([STATIC.name])
    docs, frequencies = snapshot.postings("bean")
    assert snapshot.document_ids(docs) == [bean]
    assert frequencies.tolist() == [3]
    assert snapshot.docs_of([tomato, "m9"]) == {tomato: 1 - int(docs[0])}
    assert nearest(index, "shade gravel", 1) == [tomato]
    assert snapshot.terms_with_prefix("tr", 5) == ["trelli"]
    facts = snapshot.facts
    assert [AUTHORS[author] for author in facts.author] == ["user", "assistant"]
    assert [snapshot.sources[source] for source in facts.source] == ["claude-code"] * 2
    assert facts.asking.tolist() == [0, 0]
    assert (facts.at[1] - facts.at[0]) == 60_000


def test_only_what_users_assistants_and_subagents_said_in_words_is_a_document(
    index: Index, history: HouseOfWords
) -> None:
    kept = [
        history.say("bean said by a user"),
        history.say("bean said by an agent", author=Author.SUBAGENT, standing=Standing.ASIDE, conversation=None),
    ]
    history.say("bean in a tool result", author=Author.TOOL, standing=Standing.ASIDE)
    history.say("bean on a branch that was left", standing=Standing.ABANDONED)
    history.say("bean that no file has any more", gone=True)
    history.say(" \n")

    index.follow(history, STATIC)

    assert found(index, "bean") == kept
    figures = index.figures()
    assert figures
    assert figures.documents == 2


def test_a_message_that_did_not_change_costs_nothing(index: Index, history: HouseOfWords) -> None:
    bean = history.say("bean")
    index.follow(history, STATIC)
    before = index.snapshot()

    history.change(bean, tools=["Bash"])
    assert index.follow(history, STATIC) == 1

    assert index.snapshot() is before


def test_a_changed_text_is_found_by_its_new_words_only(index: Index, history: HouseOfWords) -> None:
    bean = history.say("bean", conversation="c1")
    index.follow(history, STATIC)

    history.change(bean, text="tomato")
    index.follow(history, STATIC)

    assert (found(index, "bean"), found(index, "tomato")) == ([], [bean])
    assert nearest(index, "bean") == [bean]
    assert index.snapshot([STATIC.name]).passage_spread(STATIC.name)[0] == 1


def test_a_message_that_moved_to_another_conversation_keeps_its_number(index: Index, history: HouseOfWords) -> None:
    ids = [history.say(f"bean {number}") for number in range(3)]
    index.follow(history, STATIC)
    before = index.snapshot()

    history.change(ids[2], conversation_id="c2")
    index.follow(history, STATIC)

    after = index.snapshot()
    assert after.docs_of(ids) == before.docs_of(ids)
    numbers = after.conversation_ordinals(["c1", "c2", "c3"])
    assert sorted(numbers) == ["c1", "c2"]
    assert after.conversation_keys(list(numbers.values())) == {number: key for key, number in numbers.items()}
    assert after.document_ids(after.conversation_documents([numbers["c2"]])) == [ids[2]]
    assert after.document_ids(after.conversation_documents(list(numbers.values()))) == ids
    docs = np.array([after.docs_of(ids)[name] for name in ids])
    assert after.neighbours(docs, 1).tolist() == [docs[1], -1, -1]
    assert before.neighbours(docs, 1).tolist() == [docs[1], docs[2], -1]


@pytest.mark.parametrize("how", ["deleted", "gone"])
def test_a_message_that_is_gone_is_not_found(index: Index, history: HouseOfWords, how: str) -> None:
    bean, other = history.say("bean"), history.say("bean tomato")
    index.follow(history, STATIC)
    index.deepen(history, DEEP)

    if how == "deleted":
        history.delete(bean)
    else:
        history.change(bean, gone=True)
    index.follow(history, STATIC)

    assert found(index, "bean") == [other]
    assert nearest(index, "bean") == [other]
    assert nearest(index, "bean", model=DEEP) == [other]
    assert index.snapshot().docs_of([bean]) == {}


def test_purging_leaves_nothing_of_the_dead_in_the_tables(index: Index, history: HouseOfWords) -> None:
    for number in range(700):
        history.say(f"bean {'secretword' if number % 2 else 'tomato'} number{number}")
    index.follow(history, STATIC)
    for message_id in [f"m{number:06d}" for number in range(1, 700, 2)]:
        history.delete(message_id)
    index.follow(history, STATIC)
    before = contents_of(index, [STATIC], "bean")
    terms = index.snapshot().terms_with_prefix("secret", 5)

    assert index.purge() == 350
    assert index.purge() == 0

    assert (terms, index.snapshot().terms_with_prefix("secret", 5)) == (["secretword"], [])
    assert contents_of(index, [STATIC], "bean") == before
    figures = index.figures()
    assert figures
    assert (figures.documents, figures.dead) == (350, 0)


def test_many_dead_documents_are_purged_without_being_asked(
    index: Index, history: HouseOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.recall.index.purging.AT_LEAST_DEAD", 3)
    ids = [history.say(f"bean{letter}") for letter in "bcdfghjkmn"]
    index.follow(history, STATIC)
    for message_id in ids[:4]:
        history.delete(message_id)
    index.follow(history, STATIC)
    assert index.snapshot().terms_with_prefix("bean", 20) == [f"bean{letter}" for letter in "ghjkmn"]


def test_houses_in_one_database_know_nothing_of_each_other(open_index: OpenIndex, history: HouseOfWords) -> None:
    one, other = open_index("one"), open_index("other")
    history.say("bean")
    one.follow(history, STATIC)
    other.follow(HouseOfWords("other feed"), STATIC)
    assert (found(one, "bean"), found(other, "bean")) == (["m000000"], [])

    history.say("tomato")
    other.follow(history, STATIC)
    one.drop()

    assert one.figures() is None
    assert one.snapshot().documents == 0
    assert found(other, "tomato") == ["m000001"]


def test_blocks_of_documents_and_of_postings_are_crossed(open_index: OpenIndex, history: HouseOfWords) -> None:
    number = POSTING_DOCUMENTS + 700
    for item in range(number):
        history.say(f"bean w{item % 97}")
    index, rebuilt = open_index("one"), open_index("two")
    index.follow(history, STATIC, limit=5_000)
    history.change("m000600", text="tomato")
    index.follow(history, STATIC)
    rebuilt.follow(history, STATIC)

    snapshot = index.snapshot([STATIC.name])
    docs, frequencies = snapshot.postings("bean")
    assert len(docs) == len(frequencies) == number - 1
    assert np.all(np.diff(docs) > 0)
    asked = ["w5", "bean w96"]
    assert contents_of(index, [STATIC], *asked) == contents_of(rebuilt, [STATIC], *asked)


def test_a_search_among_allowed_documents_finds_the_best_of_those(index: Index, history: HouseOfWords) -> None:
    for number in range(1_500):
        history.say(f"bean w{number % 50} v{number % 7}")
    index.follow(history, STATIC)
    snapshot = index.snapshot([STATIC.name])
    asked = STATIC.query("w3 v2")
    allowed = np.arange(snapshot.documents) % 11 == 4

    docs, similarities = snapshot.nearest(STATIC.name, asked, allowed, 7)

    every = snapshot.similarities(STATIC.name, asked, np.arange(snapshot.documents))
    best = np.sort(every[allowed])[::-1][:7]
    assert similarities.tolist() == best.tolist()
    assert allowed[docs].all()
    assert snapshot.nearest(STATIC.name, asked, np.zeros(snapshot.documents, np.bool_), 7)[0].tolist() == []
    assert snapshot.nearest(STATIC.name, asked, allowed, 0)[0].tolist() == []


def test_stored_similarities_are_those_of_the_vectors_up_to_rounding(index: Index, history: HouseOfWords) -> None:
    texts = [f"bean w{number} v{number % 7}" for number in range(200)]
    for text in texts:
        history.say(text)
    index.follow(history, STATIC)
    snapshot = index.snapshot([STATIC.name])
    asked = STATIC.query("w3 v2")
    exact = STATIC.passages(texts) @ asked
    docs = np.array([snapshot.docs_of([f"m{number:06d}"])[f"m{number:06d}"] for number in range(200)])
    assert np.allclose(snapshot.similarities(STATIC.name, asked, docs), exact, atol=0.01)
    count, mean, covariance = snapshot.passage_spread(STATIC.name)
    assert count == 200
    assert np.isclose(mean @ asked, exact.mean(), atol=0.003)
    assert np.isclose(np.sqrt(asked @ covariance @ asked), exact.std(), atol=0.003)


def test_both_implementations_of_vectors_find_the_same(index: Index, history: HouseOfWords) -> None:
    """On PostgreSQL; on SQLite there is only one."""
    for number in range(600):
        history.say(f"bean w{number % 90} v{number % 7}" + " gravel and sand." * (number % 80))
    index.follow(history, STATIC)
    blocks = Index(index.database, "blocks", BlockVectors())
    blocks.follow(history, STATIC)
    for text in ("w3 v2", "gravel", "nothing of it"):
        asked = STATIC.query(text)
        snapshots = [one.snapshot([STATIC.name]) for one in (index, blocks)]
        best = [snapshot.nearest(STATIC.name, asked, None, 9) for snapshot in snapshots]
        assert np.allclose(best[0][1], best[1][1], atol=1e-5)
        every = [snapshot.similarities(STATIC.name, asked, np.arange(601)) for snapshot in snapshots]
        assert np.allclose(every[0], every[1], atol=1e-5, equal_nan=True)
        assert np.isnan(every[0][600])
        allowed = np.arange(600) % 5 == 2
        among = [snapshot.nearest(STATIC.name, asked, allowed, 9) for snapshot in snapshots]
        assert np.allclose(among[0][1], among[1][1], atol=1e-5)
        assert allowed[among[0][0]].all()
    spreads = [snapshot.passage_spread(STATIC.name) for snapshot in snapshots]
    assert spreads[0][0] == spreads[1][0]
    assert np.array_equal(spreads[0][2], spreads[1][2])


def test_vectors_that_lie_elsewhere_are_recognised(index: Index, history: HouseOfWords) -> None:
    class Elsewhere(BlockVectors):
        name = "elsewhere"

    history.say("bean")
    index.follow(history, STATIC)
    before = index.figures()
    other = Index(index.database, index.house, Elsewhere())
    other.follow(history, STATIC)
    figures = other.figures()
    assert figures
    assert before
    assert figures.generation > before.generation


def test_a_large_index_is_searched_by_an_index_of_vectors(
    index: Index, history: HouseOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(400):
        history.say(f"bean w{number}")
    index.follow(history, STATIC)
    exact = nearest(index, "w30 w31", 5)
    monkeypatch.setattr("recollect.recall.index.pgvector.EXACT_PASSAGES", 100)
    index.settle()
    index.settle()
    snapshot = index.snapshot([STATIC.name])
    assert nearest(index, "w30 w31", 5) == exact
    allowed = np.arange(snapshot.documents) % 3 == 0
    docs, similarities = snapshot.nearest(STATIC.name, STATIC.query("w30"), allowed, 50)
    assert len(docs) == 50
    assert allowed[docs].all()
    assert np.all(np.diff(similarities) <= 0)
    index.rebuild(history, STATIC)
    index.settle()
    index.follow(history, STATIC)
    assert nearest(index, "w30 w31", 5) == exact
    index.drop()
    assert index.figures() is None


def test_a_long_message_is_found_by_each_of_its_passages(index: Index, history: HouseOfWords) -> None:
    filler = "gravel and sand. " * 60
    long = history.say(f"{filler}\n\nlantern harvest north. {filler}\n\nbeetle ladder shade. {filler}")
    history.say("lantern")
    index.follow(history, STATIC)
    assert long in nearest(index, "lantern harvest north", 2)
    assert index.snapshot([STATIC.name]).passage_spread(STATIC.name)[0] > 3


def test_equal_texts_tie_exactly_and_in_the_same_order_in_every_build(
    open_index: OpenIndex, history: HouseOfWords
) -> None:
    numbers = list(range(600))
    for number in numbers[::3] + numbers[1::3] + numbers[2::3]:
        history.say("ok" if number % 2 else f"bean {number}", number)
    one, other = open_index("one"), open_index("two")
    one.follow(HouseOfWords(), STATIC)
    one.follow(history, STATIC)
    history.change("m000001", text="fine")
    one.follow(history, STATIC)
    history.change("m000001", text="ok")
    one.follow(history, STATIC)
    other.follow(history, STATIC)
    snapshots = [index.snapshot([STATIC.name]) for index in (one, other)]
    best = [snapshot.nearest(STATIC.name, STATIC.query("ok"), None, 5) for snapshot in snapshots]
    assert len(set(best[0][1].tolist())) == 1
    ids = [snapshot.document_ids(docs) for snapshot, (docs, _) in zip(snapshots, best, strict=True)]
    assert ids[0] == ids[1]


# Generations


def test_a_change_of_the_words_the_model_or_the_history_is_recognised(
    open_index: OpenIndex, history: HouseOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.say("bean")
    index = open_index()
    numbers: list[int] = []

    def follow(feed: HouseOfWords, static: WordVectors) -> None:
        index.follow(feed, static)
        figures = index.figures()
        assert figures
        numbers.append(figures.generation)
        assert found(index, "bean") == ["m000000"]

    follow(history, STATIC)
    follow(history, STATIC)
    follow(history, WordVectors("other words"))
    monkeypatch.setattr(generations, "TEXT_VERSION", generations.TEXT_VERSION + 1)
    follow(history, WordVectors("other words"))
    history.feed = "another database"
    follow(history, WordVectors("other words"))
    history.log = []
    follow(history, WordVectors("other words"))
    assert numbers[0] == numbers[1]
    assert numbers[1:] == sorted(set(numbers))
    snapshot = index.snapshot([STATIC.name, "other words"])
    assert snapshot.passage_spread(STATIC.name)[0] == 0
    assert snapshot.passage_spread("other words")[0] == 1


def test_another_schema_is_dropped_and_made_anew(
    open_index: OpenIndex, history: HouseOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.say("bean")
    open_index().follow(history, STATIC)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    index = open_index()
    assert index.figures() is None
    index.follow(history, STATIC)
    assert found(index, "bean") == ["m000000"]


class Interrupted(Exception):
    pass


class Interrupting(WordVectors):
    """Does something in the middle of embedding: what another process may do at that moment."""

    def __init__(self, act: Callable[[], object], at_call: int = 1, name: str = STATIC.name) -> None:
        super().__init__(name)
        self._act = act
        self._calls_left = at_call

    def passages(self, texts):
        self._calls_left -= 1
        if self._calls_left == 0:
            self._act()
        return super().passages(texts)


def fail() -> None:
    raise Interrupted


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.recall.index.following.BATCH_DOCUMENTS", 8)
    monkeypatch.setattr("recollect.recall.index.following.LOADED_THINGS", 4)
    monkeypatch.setattr("recollect.recall.index.following.PAGE", 20)


@pytest.mark.usefixtures("small_batches")
def test_the_old_generation_serves_until_the_new_one_is_whole(open_index: OpenIndex, history: HouseOfWords) -> None:
    for number in range(50):
        history.say(f"bean w{number}")
    index, other_process = open_index(), open_index()
    index.follow(history, STATIC)
    seen: list[int] = []

    def look() -> None:
        seen.append(len(found(other_process, "bean")))
        history.say("bean said while it was built")
        other_process.follow(history, STATIC)
        seen.append(len(found(other_process, "bean")))

    before = index.snapshot()
    index.rebuild(history, Interrupting(look, at_call=3))

    assert seen == [50, 51]
    assert len(found(index, "bean")) == 51
    figures = index.figures()
    assert figures
    assert figures.generation > before.generation
    with pytest.raises(Superseded):
        before.postings("bean")


@pytest.mark.usefixtures("small_batches")
def test_a_rebuild_that_was_interrupted_goes_on_where_it_was(open_index: OpenIndex, history: HouseOfWords) -> None:
    for number in range(100):
        history.say(f"bean w{number}")
    index = open_index()
    index.follow(history, STATIC)
    with pytest.raises(Interrupted):
        index.rebuild(history, Interrupting(fail, at_call=10))
    assert len(found(index, "bean")) == 100
    embedded: list[str] = []

    class Counting(WordVectors):
        def passages(self, texts):
            embedded.extend(texts)
            return super().passages(texts)

    index.rebuild(history, Counting())

    assert embedded == [f"bean w{number}" for number in range(60, 100)]
    clean = open_index("clean")
    clean.follow(history, STATIC)
    asked = ["w7"]
    assert contents_of(index, [STATIC], *asked) == contents_of(clean, [STATIC], *asked)


def test_a_dropped_generation_leaves_no_row(open_index: OpenIndex, history: HouseOfWords, database: Database) -> None:
    history.say("bean tomato")
    index = open_index()
    index.follow(history, STATIC)
    index.rebuild(history, STATIC)
    index.follow(history, STATIC)
    figures = index.figures()
    assert figures
    tables = [table for table in schema.TABLES if table not in ("recall_schema", "recall_vectors")]
    with index.database.read() as session:
        for table in tables:
            assert session.rows(f"SELECT DISTINCT generation FROM {table}") == [(figures.generation,)], table


def test_changes_that_every_generation_has_followed_may_be_forgotten(index: Index, history: HouseOfWords) -> None:
    history.say("bean")
    index.follow(history, STATIC)
    assert index.consumed() == 1
    history.say("tomato")
    with pytest.raises(Interrupted):
        index.rebuild(history, Interrupting(fail))
    history.say("shade")
    index.follow(history, STATIC)
    assert index.consumed() == 2
    index.rebuild(history, STATIC)
    assert index.consumed() == 3


# Two at once


@pytest.mark.usefixtures("small_batches")
def test_two_followers_at_once_do_not_double(open_index: OpenIndex, history: HouseOfWords) -> None:
    for number in range(60):
        history.say(f"bean w{number}")
    slow, quick, clean = open_index(), open_index(), open_index("clean")
    slow.follow(history, Interrupting(lambda: quick.follow(history, STATIC, limit=20), at_call=2))
    for number in range(30):
        history.change(f"m{number:06d}", text=f"tomato w{number}")
    slow.follow(history, Interrupting(lambda: quick.follow(history, STATIC), at_call=3))
    clean.follow(history, STATIC)
    asked = ["w7"]
    assert contents_of(slow, [STATIC], *asked) == contents_of(clean, [STATIC], *asked)
    snapshot = slow.snapshot()
    assert len(np.unique(snapshot.postings("bean")[0])) == len(snapshot.postings("bean")[0]) == 30


def test_a_snapshot_shows_nothing_of_a_later_commit(open_index: OpenIndex, history: HouseOfWords) -> None:
    for number in range(40):
        history.say(f"bean w{number}")
    index, fresh = open_index(), open_index()
    index.follow(history, STATIC)
    earlier = index.snapshot([STATIC.name])
    docs = np.arange(earlier.documents)
    asked = STATIC.query("w30")

    def look() -> list[object]:
        return [
            [part.tolist() for part in earlier.postings("bean")],
            [part.tolist() for part in earlier.nearest(STATIC.name, asked, None, 5)],
            earlier.neighbours(docs, 1).tolist(),
            earlier.alive.tolist(),
        ]

    before = look()
    history.say("bean w30")
    history.change("m000003", text="tomato")
    history.change("m000004", conversation_id="c2")
    history.delete("m000005")
    index.follow(history, STATIC)
    assert look() == before
    assert contents_of(index, [STATIC], "w30") == contents_of(fresh, [STATIC], "w30")


# Deepening


def test_deepening_starts_with_the_latest_and_goes_on_where_it_was_stopped(
    index: Index, history: HouseOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.recall.index.deepening.COMMITTED_DOCUMENTS", 4)
    for number in range(10):
        history.say(f"bean w{number}")
    index.follow(history, STATIC)
    progress: list[int] = []

    assert index.deepen(history, DEEP, lambda: bool(progress), on_progress=progress.append) == 4

    snapshot = index.snapshot([DEEP.name])
    docs = np.array([snapshot.docs_of([f"m{number:06d}"])[f"m{number:06d}"] for number in range(10)])
    known = ~np.isnan(snapshot.similarities(DEEP.name, DEEP.query("bean"), docs))
    assert known.tolist() == [False] * 6 + [True] * 4
    totals: list[int] = []
    assert index.deepen(history, DEEP, on_total=totals.append) == 6
    assert index.deepen(history, DEEP, on_total=totals.append) == 0
    assert totals == [6, 0]
    figures = index.figures()
    assert figures
    assert figures.with_vectors == {STATIC.name: 10, DEEP.name: 10}
    assert nearest(index, "w3", 1, DEEP) == ["m000003"]


def test_vectors_of_another_deep_model_are_dropped_and_never_mixed(index: Index, history: HouseOfWords) -> None:
    for number in range(10):
        history.say(f"bean w{number}")
    index.follow(history, STATIC)
    other = WordVectors("deep-12", 12)
    index.deepen(history, DEEP)
    index.snapshot([DEEP.name])
    index.deepen(history, other)
    figures = index.figures()
    assert figures
    assert figures.with_vectors == {STATIC.name: 10, other.name: 10}
    snapshot = index.snapshot([DEEP.name, other.name])
    assert snapshot.nearest(DEEP.name, DEEP.query("w3"), None, 3)[0].tolist() == []
    assert nearest(index, "w3", 1, other) == ["m000003"]
    history.delete("m000003")
    index.follow(history, STATIC)
    index.deepen(history, DEEP)
    assert nearest(index, "w4", 1, DEEP) == ["m000004"]
    assert "m000003" not in nearest(index, "w3", 10, DEEP)


def test_a_text_that_changed_while_it_was_deepened_gets_no_vector_of_the_old_one(
    open_index: OpenIndex, history: HouseOfWords
) -> None:
    history.say("bean")
    index, other_process = open_index(), open_index()
    index.follow(history, STATIC)

    def change() -> None:
        history.change("m000000", text="tomato")
        other_process.follow(history, STATIC)

    assert index.deepen(history, Interrupting(change, name="deep-16")) == 0
    history.messages["m000000"] = replace(history.messages["m000000"], text="not followed yet")
    assert index.deepen(history, WordVectors("deep-16")) == 0
    history.change("m000000", text="shade")
    index.follow(history, STATIC)
    assert index.deepen(history, WordVectors("deep-16")) == 1


def test_two_who_deepen_at_once_do_not_double(open_index: OpenIndex, history: HouseOfWords) -> None:
    for number in range(5):
        history.say(f"bean w{number}")
    index, other_process = open_index(), open_index()
    index.follow(history, STATIC)
    deep = WordVectors("deep-16")
    assert index.deepen(history, Interrupting(lambda: other_process.deepen(history, deep), name=deep.name)) == 0
    assert index.snapshot([deep.name]).passage_spread(deep.name)[0] == 5
