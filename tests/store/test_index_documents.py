"""Things that are several documents, that are somebody's, that end: how the index keeps records and scopes."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from house_of_words import HouseOfWords, WordVectors, contents_of

from recollect.database import Database
from recollect.knowledge import Kind, State
from recollect.recall import index as recall_index
from recollect.recall.index import Index, Snapshot
from recollect.recall.index.formats import FOREVER, Floats, milliseconds
from recollect.recall.index.writing import MOST_SCOPES

STATIC = WordVectors()
DEEP = WordVectors("deep-8", 8)
LATER = "2026-06-01T00:00:00.000Z"

OpenIndex = Callable[[], Index]


@pytest.fixture
def open_index(database: Database) -> Iterator[OpenIndex]:
    opened: list[Index] = []

    def make() -> Index:
        opened.append(recall_index.open_index(database, "home"))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def index(open_index: OpenIndex) -> Index:
    return open_index()


@pytest.fixture
def house() -> HouseOfWords:
    return HouseOfWords()


def having(snapshot: Snapshot, term: str) -> list[str]:
    return sorted(snapshot.document_ids(snapshot.postings(term)[0]))


# Records


def test_each_version_that_was_believed_is_a_document(index: Index, house: HouseOfWords) -> None:
    house.learn("bean shade", "r1")
    house.learn("bean gravel", "r1", LATER)
    house.learn("bean tomato", "r1", LATER, state=State.RETRACTED)

    assert index.follow(house, STATIC) == 1

    snapshot = index.snapshot()
    assert having(snapshot, "bean") == ["r1@1", "r1@2"]
    docs = snapshot.docs_of(["r1@1", "r1@2"])
    ends = [int(snapshot.facts.until[docs[name]]) for name in ("r1@1", "r1@2")]
    assert ends == [milliseconds(LATER), milliseconds(LATER)]


def test_a_new_version_ends_the_one_before_and_leaves_its_text_alone(index: Index, house: HouseOfWords) -> None:
    house.learn("bean shade", "r1")
    index.follow(house, STATIC)
    before = index.snapshot()
    house.learn("bean gravel", "r1", LATER)

    index.follow(house, STATIC)

    after = index.snapshot()
    doc = before.docs_of(["r1@1"])["r1@1"]
    assert after.docs_of(["r1@1"]) == {"r1@1": doc}
    assert (int(before.facts.until[doc]), int(after.facts.until[doc])) == (FOREVER, milliseconds(LATER))


def test_a_forgotten_record_dies_with_all_its_versions_and_no_other(index: Index, house: HouseOfWords) -> None:
    for name in ("r1", "r11", "r2"):
        house.learn(f"bean {name} shade", name)
        house.learn(f"bean {name} gravel", name, LATER)
    index.follow(house, STATIC)
    house.forget("r1")

    index.follow(house, STATIC)

    assert having(index.snapshot(), "bean") == ["r11@1", "r11@2", "r2@1", "r2@2"]


def test_records_are_deepened_with_the_messages(index: Index, house: HouseOfWords) -> None:
    house.say("bean tomato")
    house.learn("bean shade", "r1")
    house.learn("bean gravel", "r1", LATER)
    index.follow(house, STATIC)

    assert index.deepen(house, DEEP) == 3

    snapshot = index.snapshot([DEEP.name])
    docs, _ = snapshot.nearest(DEEP.name, DEEP.query("bean gravel"), None, 1)
    assert snapshot.document_ids(docs) == ["r1@2"]


def test_versions_are_no_neighbours(index: Index, house: HouseOfWords) -> None:
    house.learn("bean shade", "r1")
    house.learn("bean gravel", "r1", LATER)
    index.follow(house, STATIC)

    snapshot = index.snapshot()

    assert snapshot.neighbours(np.flatnonzero(snapshot.alive), 1).tolist() == [-1, -1]


def test_what_does_not_fade_and_what_expires_is_known(index: Index, house: HouseOfWords) -> None:
    house.learn("bean", "r1", expires_at=LATER)
    house.learn("bean", "r2", kind=Kind.COMMITMENT)
    house.say("bean")
    index.follow(house, STATIC)

    facts, docs = index.snapshot().facts, index.snapshot().docs_of(["r1@1", "r2@1", "m000000"])

    assert {name: bool(facts.evergreen[doc]) for name, doc in docs.items()} == {
        "r1@1": True,
        "r2@1": False,
        "m000000": False,
    }
    assert int(facts.expires[docs["r1@1"]]) == milliseconds(LATER)
    assert int(facts.expires[docs["m000000"]]) == FOREVER


# Scopes


def test_what_is_bound_to_somebody_else_keeps_its_number(index: Index, house: HouseOfWords) -> None:
    house.say("bean")
    index.follow(house, STATIC)
    before = index.snapshot().docs_of(["m000000"])
    house.bind("f1", "ada")

    index.follow(house, STATIC)

    snapshot = index.snapshot()
    assert snapshot.docs_of(["m000000"]) == before
    assert snapshot.scopes[snapshot.facts.scope[before["m000000"]]] == "ada"


def test_a_limited_snapshot_is_as_if_nothing_else_were_there(index: Index, house: HouseOfWords) -> None:
    for number in range(6):
        house.say(f"bean w{number}", file_id="f2" if number % 2 else "f1")
    house.learn("bean of ada", "r1", scope="ada")
    house.bind("f2", "ada")
    index.follow(house, STATIC)

    limited = index.snapshot([STATIC.name]).limited_to(["house"])

    assert having(limited, "bean") == ["m000000", "m000002", "m000004"]
    docs, _ = limited.nearest(STATIC.name, STATIC.query("bean w1"), None, 10)
    assert sorted(limited.document_ids(docs)) == ["m000000", "m000002", "m000004"]
    everything = np.ones(limited.documents, np.bool_)
    docs, _ = limited.nearest(STATIC.name, STATIC.query("bean of ada"), everything, 10)
    assert len(docs) == 3
    first = np.array([limited.docs_of(["m000000"])["m000000"]])
    assert limited.document_ids(limited.neighbours(first, 1)) == ["m000002"]


def test_a_snapshot_of_which_everything_may_be_seen_is_not_limited(index: Index, house: HouseOfWords) -> None:
    house.say("bean")
    index.follow(house, STATIC)
    snapshot = index.snapshot()
    assert snapshot.limited_to(["house", "ada"]) is snapshot
    assert not snapshot.limited_to([]).alive.any()


def test_what_lies_in_one_scope_too_many_is_shown_to_nobody_confined(
    index: Index, house: HouseOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.recall.index.writing.MOST_SCOPES", 2)
    for number, scope in enumerate(("house", "ada", "bert", "cleo")):
        house.learn("bean", f"r{number}", scope=scope)
    index.follow(house, STATIC)

    snapshot = index.snapshot()

    assert having(snapshot, "bean") == ["r0@1", "r1@1", "r2@1", "r3@1"]
    assert having(snapshot.limited_to(["ada", "bert"]), "bean") == ["r1@1"]
    assert MOST_SCOPES < 1 << 16


# Forgetting


class Interrupted(WordVectors):
    """Does something once, in the middle of its work."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act: Callable[[], object] | None = act

    def passages(self, texts: list[str]) -> Floats:
        act, self._act = self._act, None
        if act:
            act()
        return super().passages(texts)


def test_a_build_during_which_something_was_forgotten_begins_anew(open_index: OpenIndex, house: HouseOfWords) -> None:
    house.say("bean")
    house.learn("shade", "r1")
    index, other_process = open_index(), open_index()
    index.follow(house, STATIC)

    def forget() -> None:
        house.forget("r1")
        other_process.follow(house, STATIC)
        other_process.forget()

    index.rebuild(house, Interrupted(forget))

    assert index.snapshot().terms_with_prefix("", 10) == ["bean"]
    figures = index.figures()
    assert figures
    assert (figures.documents, figures.dead) == (1, 0)
    with index.database.read() as session:
        assert session.value("SELECT count(*) FROM recall_generations") == 1


def test_conversations_that_lost_their_last_document_lose_their_keys(index: Index, house: HouseOfWords) -> None:
    house.say("bean", conversation="c1")
    house.say("shade", conversation="c2")
    house.learn("gravel", "r1")
    index.follow(house, STATIC)
    house.delete("m000000")
    house.forget("r1")
    index.follow(house, STATIC)
    before = contents_of(index, [STATIC], "bean")

    assert index.forget() == 2

    with index.database.read() as session:
        assert session.rows("SELECT key FROM recall_conversations") == [("c2",)]
        assert session.rows("SELECT document_id FROM recall_documents") == [("m000001",)]
    assert contents_of(index, [STATIC], "bean") == before
    house.say("bean", 0, conversation="c1")
    index.follow(house, STATIC)
    assert having(index.snapshot(), "bean") == ["m000000"]
