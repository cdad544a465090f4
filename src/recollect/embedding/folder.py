"""Models in folders: those that were fetched, and those of the user's own (ONNX, or what sentence-transformers saves).

How a model of the user's own wants to be used is read from files beside it, as sentence-transformers writes them:
`1_Pooling/config.json`, `config_sentence_transformers.json` (prompts), `sentence_bert_config.json` (length).
"""

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy

from recollect.embedding.catalogue import KnownModel, Pooling
from recollect.embedding.embedder import Embedder, Reranker
from recollect.embedding.hashes import Hashes
from recollect.embedding.onnx import Manner, OnnxEmbedder, OnnxReranker, Session, Tokenizer
from recollect.embedding.vectors import Vectors
from recollect.embedding.wordpiece import WordPiece, read_tokenizer_json, read_vocabulary
from recollect.errors import Corrupt, Invalid, NotFound, Unavailable

WEIGHTS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENISERS = ("vocab.txt", "tokenizer.json", "sentencepiece.bpe.model", "spiece.model")
PASSAGE_PROMPTS = ("passage", "document", "corpus")
PLAIN_MODULES = ("Transformer", "Pooling", "Normalize")
"""What an ONNX export with our pooling reproduces. Another module, such as Dense, needs sentence-transformers."""
MAX_TOKENS = 512


def open_known(model: KnownModel, folder: Path, *, use_gpu: bool) -> tuple[Embedder, Session]:
    manner = Manner(
        pooling=model.pooling,
        query_prefix=model.query_prefix,
        passage_prefix=model.passage_prefix,
        max_tokens=model.max_tokens,
    )
    session = Session(folder / model.weights.name, use_gpu=use_gpu)
    return OnnxEmbedder(model.identity, session, read_tokenizer(folder), manner), session


def open_known_reranker(model: KnownModel, folder: Path, *, use_gpu: bool) -> tuple[Reranker, Session]:
    session = Session(folder / model.weights.name, use_gpu=use_gpu)
    return OnnxReranker(model.identity, session, read_tokenizer(folder), model.max_tokens), session


def open_folder(folder: Path, hashes: Hashes, *, use_gpu: bool) -> tuple[Embedder, Session | None]:
    """An embedder out of a folder, by whichever way its files allow."""
    _require_folder(folder)
    weights = _weights(folder)
    if weights and _is_plain(folder):
        manner, session = _manner(folder), Session(weights, use_gpu=use_gpu)
        name = _identity(folder, hashes, repr(manner))
        return OnnxEmbedder(name, session, read_tokenizer(folder), manner), session
    if (folder / "modules.json").is_file() or (folder / "config.json").is_file():
        return _sentence_transformers(folder, hashes, use_gpu), None
    raise NotFound(f"{folder} has no model: neither {WEIGHTS[0]} nor modules.json. Name the folder that a model is in.")


def open_reranker(folder: Path, hashes: Hashes, *, use_gpu: bool) -> tuple[Reranker, Session]:
    _require_folder(folder)
    weights = _weights(folder)
    if not weights:
        raise NotFound(f"{folder} has no {WEIGHTS[0]}. A reranker must be an ONNX export.")
    name = _identity(folder, hashes)
    session = Session(weights, use_gpu=use_gpu)
    return OnnxReranker(name, session, read_tokenizer(folder)), session


def read_tokenizer(folder: Path) -> Tokenizer:
    """Ours where the model is BERT's kind, uncased; else the package `tokenizers`."""
    described = folder / "tokenizer.json"
    if described.is_file():
        return read_tokenizer_json(described) or _foreign_tokenizer(described)
    if (folder / "vocab.txt").is_file():
        if _json(folder / "tokenizer_config.json").get("do_lower_case") is False:
            raise Invalid(
                f"{folder} keeps capitals, which needs a tokenizer.json beside its vocab.txt. Export it again."
            )
        return WordPiece(read_vocabulary(folder / "vocab.txt"))
    raise NotFound(f"{folder} has neither tokenizer.json nor vocab.txt. Copy the tokeniser's files beside the model.")


class ForeignTokenizer:
    """The package `tokenizers`, for models with other vocabularies than BERT's."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._lock = threading.Lock()  # Where to cut is a state of the tokeniser.

    def marked(self, text: str, limit: int) -> list[int]:
        with self._lock:
            self._tokenizer.enable_truncation(limit)
            return cast(list[int], self._tokenizer.encode(text).ids)

    def pair(self, first: str, second: str, limit: int) -> tuple[list[int], list[int]]:
        with self._lock:
            self._tokenizer.enable_truncation(limit // 2)
            ends = [end for _, end in self._tokenizer.encode(first, add_special_tokens=False).offsets]
            self._tokenizer.enable_truncation(limit, strategy="only_second")
            found = self._tokenizer.encode(first[: max(ends, default=0)], second)
        return cast(list[int], found.ids), cast(list[int], found.type_ids)


class SentenceTransformersEmbedder:
    """Whatever sentence-transformers can load, for those who have it installed."""

    def __init__(self, name: str, model: Any, prompts: dict[str, str]) -> None:
        self.name = name
        self._model = model
        self.dimensions = int(model.get_sentence_embedding_dimension())
        self._query_prompt = prompts.get("query", "")
        self._passage_prompt = next((prompts[key] for key in PASSAGE_PROMPTS if key in prompts), "")

    def passages(self, texts: Sequence[str]) -> Vectors:
        found = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        for row, text in enumerate(texts):  # One by one: padding in a batch moves the last digits.
            if text.strip():
                found[row] = self._embed(text, self._passage_prompt)
        return found

    def query(self, text: str) -> Vectors:
        return self._embed(text, self._query_prompt) if text.strip() else self.passages([""])[0]

    def _embed(self, text: str, prompt: str) -> Vectors:
        return self._model.encode(text, prompt=prompt, normalize_embeddings=True, show_progress_bar=False)


def _identity(folder: Path, hashes: Hashes, manner: str = "") -> str:
    """The folder's name and a short hash of all that decides on the vectors: weights, tokeniser, the way of use."""
    deciding = [path for path in sorted(folder.rglob("*")) if path.is_file() and _decides(path)]
    digest = hashlib.sha256(manner.encode())
    for path in deciding:
        digest.update(f"{path.relative_to(folder).as_posix()} {hashes.of(path)}\n".encode())
    return f"{folder.name}@{digest.hexdigest()[:8]}"


def _decides(path: Path) -> bool:
    return ".onnx" in path.name or path.suffix in (".safetensors", ".bin") or path.name in TOKENISERS


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise NotFound(
            f"{folder} is not a folder, and no model we know has that name. `recollect models` lists those we know."
        )


def _weights(folder: Path) -> Path | None:
    return next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)


def _is_plain(folder: Path) -> bool:
    modules = _json_value(folder / "modules.json")
    if not isinstance(modules, list):
        return True
    kinds = [str(module.get("type", "")) for module in cast(list[dict[str, Any]], modules)]
    return all(kind.rpartition(".")[2] in PLAIN_MODULES for kind in kinds)


def _manner(folder: Path) -> Manner:
    pooling = _json(folder / "1_Pooling" / "config.json")
    chosen = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value is True]
    if chosen and chosen not in (["pooling_mode_mean_tokens"], ["pooling_mode_cls_token"]):
        raise Invalid(f"{folder} pools by {', '.join(chosen)}; we know mean_tokens and cls_token. Use another model.")
    prompts = cast(dict[str, str], _json(folder / "config_sentence_transformers.json").get("prompts") or {})
    return Manner(
        pooling=Pooling.FIRST if chosen == ["pooling_mode_cls_token"] else Pooling.MEAN,
        query_prefix=prompts.get("query", ""),
        passage_prefix=next((prompts[key] for key in PASSAGE_PROMPTS if key in prompts), ""),
        max_tokens=int(_json(folder / "sentence_bert_config.json").get("max_seq_length") or MAX_TOKENS),
    )


def _foreign_tokenizer(path: Path) -> ForeignTokenizer:
    try:
        from tokenizers import (  # pyright: ignore[reportMissingImports]
            Tokenizer as Foreign,  # pyright: ignore[reportUnknownVariableType]
        )
    except ImportError as error:
        raise Unavailable(f"{path} needs the package tokenizers. Install it: pip install tokenizers.") from error
    return ForeignTokenizer(cast(Any, Foreign).from_file(str(path)))


def _sentence_transformers(folder: Path, hashes: Hashes, use_gpu: bool) -> SentenceTransformersEmbedder:
    try:
        from sentence_transformers import (  # pyright: ignore[reportMissingImports]
            SentenceTransformer,  # pyright: ignore[reportUnknownVariableType]
        )
    except ImportError as error:
        raise Unavailable(
            f"{folder} has no plain ONNX export, so it needs sentence-transformers. Install it: "
            "pip install sentence-transformers. Or export the model to ONNX as model.onnx in that folder."
        ) from error
    try:
        model = cast(Any, SentenceTransformer)(str(folder), device=None if use_gpu else "cpu", local_files_only=True)
    except (KeyError, OSError, RuntimeError, ValueError) as error:
        raise Corrupt(f"{folder} could not be loaded by sentence-transformers. Save the model there anew.") from error
    prompts = cast(dict[str, str], getattr(model, "prompts", None) or {})
    return SentenceTransformersEmbedder(_identity(folder, hashes, repr(sorted(prompts.items()))), model, prompts)


def _json_value(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Corrupt(f"{path} cannot be read as JSON. Take the model's files anew.") from error


def _json(path: Path) -> dict[str, Any]:
    value = _json_value(path)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
