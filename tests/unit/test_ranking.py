"""Documents in order, by parts that add up; on an index in memory, with an embedder made of words."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from builders import moment
from house_of_words import HouseOfWords, WordVectors

from recollect.database import open_database
from recollect.history import Author
from recollect.recall import keyword, ranking
from recollect.recall.index import Index, open_index
from recollect.recall.keyword import Term
from recollect.recall.periods import Span
from recollect.recall.ranking import Asked, Corpus, Ranking, rank
from recollect.recall.recipes import STANDARD, Recipe
from recollect.recall.words import query_terms

STATIC, DEEP = WordVectors(), WordVectors("deep-8", 8)
FILLER = [f"topic{number} weather{number % 7} garden{number % 5}" for number in range(30)]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    database = open_database(str(tmp_path / "recollect.db"))
    opened = open_index(database, "home")
    yield opened
    opened.close()
    database.close()


class Ranked:
    """A house, and what is asked of it."""

    def __init__(self, index: Index, recipe: Recipe = STANDARD) -> None:
        self.index = index
        self.house = HouseOfWords()
        self.recipe = recipe

    def ask(self, text: str, *, is_deep: bool = False, allowed: list[str] | None = None, **fields: object) -> Ranking:
        self.index.follow(self.house, STATIC)
        if is_deep:
            self.index.deepen(self.house, DEEP)
        snapshot = self.index.snapshot([STATIC.name, DEEP.name])
        corpus = Corpus(snapshot, self.recipe)
        found = snapshot.postings_of(query_terms(text))
        terms = [
            Term((word,), keyword.weight(len(corpus.alive), len(docs)), docs, frequencies)
            for word, (docs, frequencies) in found.items()
            if len(docs)
        ]
        mask = None
        if allowed is not None:
            mask = np.zeros(snapshot.documents, bool)
            mask[list(snapshot.docs_of(allowed).values())] = True
        deep = (DEEP.name, DEEP.query(text)) if is_deep else None
        asked = Asked(terms=terms, static=(STATIC.name, STATIC.query(text)), deep=deep, allowed=mask, **fields)
        return rank(corpus, asked)

    def ids(self, found: Ranking) -> list[str]:
        return self.index.snapshot().document_ids(found.docs)

    def parts(self, found: Ranking, message_id: str) -> dict[str, float]:
        place = self.ids(found).index(message_id)
        return {name: float(values[place]) for name, values in found.parts.items()}


@pytest.fixture
def ranked(index: Index) -> Ranked:
    return Ranked(index)


def fill(house: HouseOfWords) -> None:
    for number, text in enumerate(FILLER):
        house.say(text, conversation=f"filler-{number // 10}", author=Author.USER)


def at(number: int) -> int:
    return round(datetime.fromisoformat(moment(number)).timestamp() * 1000)


def test_nothing_indexed_ranks_nothing(ranked: Ranked) -> None:
    found = ranked.ask("beans")
    assert len(found.docs) == len(found.scores) == 0


def test_the_document_with_the_words_comes_first(ranked: Ranked) -> None:
    fill(ranked.house)
    wanted = ranked.house.say("we sow purple beans along the fence", conversation="c")
    assert ranked.ids(ranked.ask("purple beans"))[0] == wanted


def test_the_parts_add_up_to_the_score_and_the_scores_descend(ranked: Ranked) -> None:
    fill(ranked.house)
    ranked.house.say("we sow purple beans along the fence", conversation="c")
    found = ranked.ask("purple beans", now=at(100), is_deep=True)
    assert found.scores == pytest.approx(sum(found.parts.values()), abs=1e-4)
    assert (np.diff(found.scores) <= 0).all()
    assert {"keyword", "closeness", "conversation", "author", "recency"} <= set(found.parts)


def test_every_document_of_a_small_house_is_ranked(ranked: Ranked) -> None:
    fill(ranked.house)
    assert sorted(ranked.ids(ranked.ask("beans"))) == sorted(ranked.house.messages)


def test_only_what_is_allowed_is_ranked_and_its_neighbours_lend(ranked: Ranked) -> None:
    fill(ranked.house)
    question = ranked.house.say("when do we sow the purple beans", conversation="c")
    answer = ranked.house.say("yes in may", conversation="c")
    found = ranked.ask("purple beans", allowed=[answer])
    assert ranked.ids(found) == [answer]
    assert ranked.parts(found, answer)["keyword"] > 0
    assert question not in ranked.ids(found)


def test_what_died_is_not_ranked(ranked: Ranked) -> None:
    fill(ranked.house)
    gone = ranked.house.say("purple beans", conversation="c")
    ranked.ask("purple beans")
    ranked.house.delete(gone)
    assert gone not in ranked.ids(ranked.ask("purple beans"))


def test_equal_documents_are_ordered_by_identity(index: Index) -> None:
    ranked = Ranked(index)
    fill(ranked.house)
    same = [ranked.house.say("purple beans", conversation=f"same-{number}", author=Author.USER) for number in range(6)]
    found = ranked.ask("purple beans")
    best = found.docs[:6]
    identities = index.snapshot().facts.identity[best]
    assert sorted(ranked.ids(found)[:6]) == sorted(same)
    assert len(set(found.scores[:6].tolist())) == 1
    assert (np.diff(identities.astype(np.float64)) > 0).all()


def test_a_past_time_in_the_question_counts_instead_of_recency(ranked: Ranked) -> None:
    fill(ranked.house)
    early = ranked.house.say("purple beans", conversation="a", at=moment(10), author=Author.USER)
    late = ranked.house.say("purple beans", conversation="b", at=moment(2_000_000), author=Author.USER)
    span = Span(at(0), at(20), 60_000)
    found = ranked.ask("purple beans", periods=[span], now=at(2_000_000))
    assert "recency" not in found.parts
    assert ranked.ids(found)[:2] == [early, late]
    assert ranked.parts(found, early)["period"] == pytest.approx(STANDARD.period)


def test_the_newer_of_two_equals_comes_first_unless_time_does_not_matter(ranked: Ranked) -> None:
    fill(ranked.house)
    early = ranked.house.say("purple beans", conversation="a", at=moment(10), author=Author.USER)
    late = ranked.house.say("purple beans", conversation="b", at=moment(2_000_000), author=Author.USER)
    assert ranked.ids(ranked.ask("purple beans", now=at(2_000_000)))[:2] == [late, early]
    assert "recency" not in ranked.ask("purple beans").parts


def test_a_conversation_about_it_lifts_all_of_its_turns(ranked: Ranked) -> None:
    fill(ranked.house)
    for number in range(6):
        ranked.house.say(f"purple beans row {number}", conversation="about", author=Author.USER)
    inside = ranked.house.say("thanks a lot", conversation="about", author=Author.USER)
    outside = ranked.house.say("thanks a lot", conversation="other", author=Author.USER)
    found = ranked.ask("purple beans")
    assert ranked.parts(found, inside)["conversation"] > ranked.parts(found, outside)["conversation"]


def test_documents_without_deep_vectors_are_ranked_by_the_static_ones(ranked: Ranked) -> None:
    fill(ranked.house)
    ranked.ask("beans", is_deep=True)
    new = ranked.house.say("purple beans", conversation="new", author=Author.USER)
    ranked.index.follow(ranked.house, STATIC)
    snapshot = ranked.index.snapshot([STATIC.name, DEEP.name])
    asked = Asked(
        terms=[], static=(STATIC.name, STATIC.query("purple beans")), deep=(DEEP.name, DEEP.query("purple beans"))
    )
    assert ranked.ids(rank(Corpus(snapshot, STANDARD), asked))[0] == new


def test_a_model_that_knows_nothing_gives_no_closeness(ranked: Ranked) -> None:
    fill(ranked.house)
    ranked.index.follow(ranked.house, STATIC)
    snapshot = ranked.index.snapshot([STATIC.name])
    found = rank(Corpus(snapshot, STANDARD), Asked(terms=[], static=("unknown", STATIC.query("beans"))))
    assert set(found.parts["closeness"].tolist()) == {0.0}


def test_in_a_large_house_the_candidates_give_the_same_best(ranked: Ranked, monkeypatch: pytest.MonkeyPatch) -> None:
    """A house is large when it has more than so many documents: here, twenty."""
    fill(ranked.house)
    for number in range(60):
        words = " ".join(["purple", "beans", "fence", "may"][: 1 + number % 4])
        ranked.house.say(f"{words} note{number}", conversation=f"large-{number // 4}", author=Author.USER)
    span = Span(at(0), at(20), 60_000)
    for fields in ({}, {"now": at(100)}, {"periods": [span]}):
        whole = ranked.ask("purple beans by the fence", is_deep=True, **fields)
        with monkeypatch.context() as patch:
            patch.setattr(ranking, "LOOKED_AT_WHOLE", 20)
            patch.setattr(ranking, "CANDIDATES", 25)
            some = ranked.ask("purple beans by the fence", is_deep=True, **fields)
        assert len(some.docs) < len(whole.docs)
        assert ranked.ids(some)[:5] == ranked.ids(whole)[:5]


def test_a_tie_among_candidates_does_not_depend_on_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "LOOKED_AT_WHOLE", 5)
    monkeypatch.setattr(ranking, "CANDIDATES", 8)
    found: list[list[str]] = []
    for name, order in (("one", range(40)), ("other", range(39, -1, -1))):
        database = open_database(str(tmp_path / f"{name}.db"))
        opened = open_index(database, "home")
        ranked = Ranked(opened)
        for number in order:
            ranked.house.say("go on", number, conversation=f"c{number}")
            ranked.ask("go on")
        found.append(sorted(ranked.ids(ranked.ask("go on"))))
        opened.close()
        database.close()
    assert found[0] == found[1]
