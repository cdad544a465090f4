"""With the fetched weights (`make test-model`): the models are what they are said to be.

They are looked for where the person who runs this keeps them; fetch them first with `recollect models pull`.
"""

import os
from functools import cache

import numpy
import pytest

from recollect.embedding import Embedder, Models, Reranker
from recollect.embedding.models import State
from recollect.settings import Settings

pytestmark = pytest.mark.model

FOLDER = os.environ.get(
    "RECOLLECT_MODELS", ""
)  # Read now: each test has another one, so that none sees this by chance.
DEEP = ["e5-small-v2", "bge-small-en-v1.5"]
TEXTS = [
    "We moved the database to the new server last night.",
    "I baked sourdough bread on Sunday.",
    "The greenhouse needs water twice a day in July. " * 20,
    "ok",
    "東京",
]


@cache
def models(deep: str = "e5-small-v2") -> Models:
    made = Models(Settings(models_folder=FOLDER, deep_model=deep))
    absent = [item.name for item in made.listed() if item.is_used and item.state is not State.READY]
    if absent:
        pytest.fail(f"{', '.join(absent)} not in {made.folder}: recollect models pull {absent[0]}")
    return made


def embedder(name: str) -> Embedder:
    found = models(name).deep
    assert found
    return found


def reranker() -> Reranker:
    found = models().reranker
    assert found
    return found


@pytest.mark.parametrize("name", DEEP)
def test_a_vector_does_not_depend_on_the_texts_beside_it(name: str) -> None:
    together = embedder(name).passages(TEXTS)
    assert together.shape == (len(TEXTS), 384)
    assert numpy.linalg.norm(together, axis=1) == pytest.approx(numpy.ones(len(TEXTS)), abs=1e-5)
    for row, text in enumerate(TEXTS):
        assert numpy.array_equal(together[row], embedder(name).passages([text])[0])


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("When did we migrate postgres?", 0),
        ("What did I make in the kitchen at the weekend?", 1),
        ("How often do the plants have to be irrigated?", 2),
    ],
)
def test_what_answers_a_question_lies_nearest(name: str, question: str, right: int) -> None:
    found = embedder(name)
    assert int((found.passages(TEXTS) @ found.query(question)).argmax()) == right


@pytest.mark.parametrize("name", DEEP)
def test_a_model_that_was_dropped_gives_the_same_vectors_again(name: str) -> None:
    before = embedder(name).query("beans")
    assert models(name).unload_idle(0) >= 1
    assert numpy.array_equal(embedder(name).query("beans"), before)


def test_the_reranker_gives_the_scores_of_its_model_card_within_the_error_of_int8() -> None:
    passages = [
        "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
        "Berlin is well known for its museums.",
    ]
    scores = reranker().scores("How many people live in Berlin?", passages)
    assert scores == pytest.approx(numpy.array([9.218911, -4.0780287]), abs=0.3)


def test_the_reranker_reads_a_passage_that_is_too_long_and_a_question_that_is_too_long() -> None:
    long = "The greenhouse needs water. " * 500
    assert numpy.isfinite(reranker().scores("water? " * 2000, [long, "", "ok"])).all()
