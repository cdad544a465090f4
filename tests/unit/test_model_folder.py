"""A model in a folder of the user's own: what lies in it decides how it is used, and what is missing is explained."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy
import pytest
from tiny_models import TABLE, VOCABULARY, WORDS, WORTH, embedder_onnx, reranker_onnx

from recollect.embedding.embedder import Embedder
from recollect.embedding.folder import open_folder, open_reranker
from recollect.embedding.hashes import Hashes
from recollect.errors import Corrupt, Invalid, NotFound, RecollectError, Unavailable

BERT = {
    "normalizer": {"type": "BertNormalizer", "lowercase": True, "strip_accents": None},
    "model": {"type": "WordPiece", "vocab": {word: number for number, word in enumerate(WORDS)}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my-model"
    made.mkdir()
    (made / "model.onnx").write_bytes(embedder_onnx())
    (made / "vocab.txt").write_text(VOCABULARY, encoding="utf-8")
    return made


def opened(folder: Path) -> Embedder:
    return open_folder(folder, Hashes(folder.parent), use_gpu=False)[0]


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def first_token() -> numpy.ndarray:
    row = TABLE[WORDS.index("[CLS]")]
    return row / numpy.linalg.norm(row)


def test_a_plain_export_with_a_vocabulary_works(folder: Path) -> None:
    found = opened(folder)
    assert found.name.startswith("my-model@")
    assert found.passages(["beans", "watermelon"]).shape == (2, 8)


def test_the_export_may_lie_in_a_folder_of_its_own_and_bring_a_tokenizer_file(folder: Path) -> None:
    plain = opened(folder).query("Sowing beans in 東京")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    (folder / "vocab.txt").unlink()
    write_json(folder / "tokenizer.json", BERT)
    assert numpy.array_equal(opened(folder).query("Sowing beans in 東京"), plain)


def test_whatever_changes_the_vectors_changes_the_name(folder: Path) -> None:
    names = [opened(folder).name, opened(folder).name]
    assert names[0] == names[1]
    write_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "sow: "}})
    names.append(opened(folder).name)
    (folder / "vocab.txt").write_text(VOCABULARY + "more\n", encoding="utf-8")
    names.append(opened(folder).name)
    (folder / "model.onnx").write_bytes(reranker_onnx())
    names.append(opened(folder).name)
    assert len(set(names)) == 4


def test_pooling_prompts_and_length_are_read_from_the_files_beside_it(folder: Path) -> None:
    write_json(folder / "modules.json", [{"type": "sentence_transformers.models.Transformer"}])
    write_json(
        folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    )
    assert opened(folder).query("beans") == pytest.approx(first_token(), abs=1e-6)

    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True, "word_embedding_dimension": 8})
    plain = opened(folder)
    prompts = {"query": "sow: ", "document": "water: "}
    write_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 5})
    found = opened(folder)
    assert numpy.array_equal(found.query("beans"), plain.query("sow: beans"))
    assert numpy.array_equal(found.passages(["beans beans"])[0], plain.query("water: beans"))


def test_a_reranker_may_be_a_folder(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(reranker_onnx())
    found, session = open_reranker(folder, Hashes(folder.parent), use_gpu=False)
    assert session.path == folder / "model.onnx"
    assert found.scores("beans?", ["water"])[0] == WORTH[WORDS.index("water")] + WORTH[WORDS.index("[SEP]")]


@pytest.mark.parametrize(
    ("files", "kind", "words"),
    [
        ({"model.onnx": None}, NotFound, "has no model"),
        ({"vocab.txt": None}, NotFound, "neither tokenizer.json nor vocab.txt"),
        ({"tokenizer_config.json": '{"do_lower_case": false}'}, Invalid, "keeps capitals"),
        ({"tokenizer.json": "{"}, Corrupt, "does not describe a tokeniser"),
        ({"1_Pooling/config.json": '{"pooling_mode_max_tokens": true}'}, Invalid, "pooling_mode_max_tokens"),
        ({"1_Pooling/config.json": "{"}, Corrupt, "cannot be read as JSON"),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    folder: Path, files: dict[str, str | None], kind: type[RecollectError], words: str
) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if content is None:
            path.unlink()
        else:
            path.write_text(content)
    with pytest.raises(kind, match=words) as caught:
        opened(folder)
    assert str(folder) in str(caught.value)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    for open_it in (open_folder, open_reranker):
        with pytest.raises(NotFound, match="no model we know has that name"):
            open_it(tmp_path / "nowhere", Hashes(tmp_path), use_gpu=False)


@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is not None, reason="tokenizers is installed here")
def test_another_tokeniser_says_which_package_it_needs(folder: Path) -> None:
    write_json(folder / "tokenizer.json", {"normalizer": None, "model": {"type": "Unigram", "vocab": []}})
    with pytest.raises(Unavailable, match="pip install tokenizers"):
        opened(folder)


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed here"
)
@pytest.mark.parametrize("with_dense", [True, False])
def test_a_folder_for_sentence_transformers_says_which_package_it_needs(folder: Path, with_dense: bool) -> None:
    kinds = ["Transformer", "Pooling", *(["Dense"] if with_dense else [])]
    write_json(folder / "modules.json", [{"type": f"sentence_transformers.models.{kind}"} for kind in kinds])
    if not with_dense:
        (folder / "model.onnx").unlink()
    with pytest.raises(Unavailable, match="pip install sentence-transformers"):
        opened(folder)


STAND_IN = """
import numpy

class SentenceTransformer:
    prompts = {"query": "sow: ", "document": ""}

    def __init__(self, path, *, device, local_files_only):
        if "broken" in path:
            raise OSError("a text of another library")
        assert local_files_only and device == "cpu"

    def get_sentence_embedding_dimension(self):
        return 2

    def encode(self, text, *, prompt, normalize_embeddings, show_progress_bar):
        assert isinstance(text, str) and normalize_embeddings and not show_progress_bar
        return numpy.array([1.0, 0.0] if prompt == "sow: " else [0.0, 1.0], dtype=numpy.float32)
"""
"""Takes what sentence-transformers takes; that package itself is too large for a test."""


def test_a_folder_for_sentence_transformers_is_handed_to_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder.parent / "packages"
    package.mkdir()
    (package / "sentence_transformers.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(package)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    (folder / "model.onnx").unlink()
    write_json(folder / "modules.json", [])
    found = opened(folder)
    assert (found.name.partition("@")[0], found.dimensions) == ("my-model", 2)
    assert found.query("beans").tolist() == [1, 0]
    assert found.passages(["beans", ""]).tolist() == [[0, 1], [0, 0]]
    assert not found.query("").any()
    with pytest.raises(Corrupt, match="Save the model there anew") as caught:
        opened(folder.rename(folder.parent / "broken"))
    assert "another library" not in str(caught.value)
