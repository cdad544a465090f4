"""Transformers: pooling, prefixes, length, pairs; loaded when used, dropped when idle. With a real, tiny ONNX model."""

from pathlib import Path

import numpy
import pytest
from tiny_models import DIMENSIONS, TABLE, WORDS, WORTH, embedder_onnx, reranker_onnx

from recollect.embedding.catalogue import Pooling
from recollect.embedding.onnx import Manner, OnnxEmbedder, OnnxReranker, Session
from recollect.embedding.wordpiece import WordPiece
from recollect.errors import Corrupt, Unavailable

PIECES = WordPiece({word: number for number, word in enumerate(WORDS)})


class Seconds:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(embedder_onnx())
    return path


def rows(*words: str) -> numpy.ndarray:
    return TABLE[[WORDS.index(word) for word in words]]


def unit(vector: numpy.ndarray) -> numpy.ndarray:
    return vector / numpy.linalg.norm(vector)


def test_a_vector_is_the_mean_of_all_tokens_with_unit_length(file: Path) -> None:
    embedder = OnnxEmbedder("tiny@1", Session(file), PIECES, Manner())
    expected = unit(rows("[CLS]", "sow", "beans", "[SEP]").mean(axis=0))
    assert embedder.dimensions == DIMENSIONS
    assert embedder.query("Sow beans") == pytest.approx(expected, abs=1e-6)


def test_a_model_may_want_the_first_token_instead(file: Path) -> None:
    embedder = OnnxEmbedder("tiny@1", Session(file), PIECES, Manner(pooling=Pooling.FIRST))
    assert embedder.query("Sow beans") == pytest.approx(unit(rows("[CLS]")[0]), abs=1e-6)


def test_questions_and_passages_get_the_prefixes_of_the_model(file: Path) -> None:
    manner = Manner(query_prefix="sow: ", passage_prefix="water: ")
    embedder = OnnxEmbedder("tiny@1", Session(file), PIECES, manner)
    plain = OnnxEmbedder("tiny@1", Session(file), PIECES, Manner())
    assert numpy.array_equal(embedder.query("beans"), plain.query("sow: beans"))
    assert numpy.array_equal(embedder.passages(["beans"])[0], plain.query("water: beans"))


def test_a_long_text_is_cut_where_the_model_ends(file: Path) -> None:
    embedder = OnnxEmbedder("tiny@1", Session(file), PIECES, Manner(max_tokens=5))
    assert numpy.array_equal(embedder.query("beans " * 4000), embedder.query("beans beans beans"))


def test_a_vector_does_not_depend_on_the_texts_beside_it(file: Path) -> None:
    embedder = OnnxEmbedder("tiny@1", Session(file), PIECES, Manner())
    texts = ["beans", "", "sowing watermelon in may", "東京", "beans"]
    together = embedder.passages(texts)
    assert together.shape == (5, DIMENSIONS)
    assert all(numpy.array_equal(together[row], embedder.passages([text])[0]) for row, text in enumerate(texts))
    assert not together[1].any()
    assert not embedder.query(" \n").any()
    assert embedder.passages([]).shape == (0, DIMENSIONS)


def test_a_reranker_reads_the_passage_and_not_the_question(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(reranker_onnx())
    reranker = OnnxReranker("tiny@1", Session(tmp_path / "model.onnx"), PIECES)
    after = WORTH[WORDS.index("[SEP]")]
    expected = [WORTH[WORDS.index(word)] + after for word in ("beans", "may", "water")]
    assert reranker.scores("sow beans?", ["beans", "May", "water"]) == pytest.approx(expected)
    assert reranker.scores("sow beans?", []).shape == (0,)


def test_an_idle_model_is_dropped_and_loaded_again_when_it_is_used(file: Path) -> None:
    seconds = Seconds()
    session = Session(file, seconds=seconds)
    embedder = OnnxEmbedder("tiny@1", session, PIECES, Manner())
    assert not session.is_loaded
    before = embedder.query("beans")
    seconds.now += 299
    assert not session.unload_idle(300)
    embedder.query("beans")
    seconds.now += 299
    assert not session.unload_idle(300)
    seconds.now += 1
    assert session.unload_idle(300)
    assert not session.is_loaded
    assert not session.unload_idle(300)
    assert numpy.array_equal(embedder.query("beans"), before)
    assert session.is_loaded


def test_a_file_that_is_no_model_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with pytest.raises(Unavailable, match="models pull"):
        Session(path).run([1])
    path.write_bytes(b"not a model")
    with pytest.raises(Corrupt, match="models pull"):
        Session(path).run([1])


def test_a_model_that_fails_at_a_text_is_explained(file: Path) -> None:
    with pytest.raises(Corrupt, match="could not be run"):
        Session(file).run([len(WORDS) + 1])
