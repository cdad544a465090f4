"""Transformers in ONNX files: one that gives vectors, one that reads a question and a passage together.

Texts go through the model one at a time. Models quantised to int8 as they run take their scale from the whole batch, so
that a vector would depend on the texts beside it; one by one it does not. Several texts go through side by side, each
on a thread of its own: small models gain nothing from many threads on one text.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numpy
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

from recollect.embedding.catalogue import Pooling
from recollect.embedding.vectors import Vectors
from recollect.errors import Corrupt, Unavailable

runtime = cast(Any, onnxruntime)  # It has no types.
native: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
NATIVE_ERRORS: tuple[type[Exception], ...] = (
    ValueError,
    *(getattr(native, name) for name in ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf")),
    *(getattr(native, name) for name in ("NoSuchFile", "NotImplemented", "RuntimeException")),
)
"""What onnxruntime raises; these have no ancestor of their own."""
MAX_THREADS = 4
"""Texts side by side. More would take the computer from its owner."""
GPU_PROVIDERS = ("CUDAExecutionProvider", "ROCMExecutionProvider", "DmlExecutionProvider", "CoreMLExecutionProvider")
PROCESSOR = "CPUExecutionProvider"
ONLY_ERRORS = 3


Given = TypeVar("Given")
Made = TypeVar("Made")


def side_by_side(make: Callable[[Given], Made], given: Sequence[Given]) -> list[Made]:
    """What is made of each, in order."""
    threads = min(os.cpu_count() or 1, MAX_THREADS, len(given))
    if threads < 2:
        return [make(item) for item in given]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(make, given))


class Tokenizer(Protocol):
    def marked(self, text: str, limit: int) -> list[int]: ...

    def pair(self, first: str, second: str, limit: int) -> tuple[list[int], list[int]]: ...


class Session:
    """A model's file, loaded when it is first run and dropped when nobody uses it. Safe to share between threads."""

    def __init__(self, path: Path, *, use_gpu: bool = False, seconds: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._use_gpu = use_gpu
        self._seconds = seconds
        self._lock = threading.Lock()
        self._session: Any = None
        self._inputs: frozenset[str] = frozenset()
        self._last_used = 0.0

    @property
    def is_loaded(self) -> bool:
        return self._session is not None

    def run(self, ids: Sequence[int], types: Sequence[int] | None = None) -> Vectors:
        """What the model makes of one text: its first output."""
        session, inputs = self._loaded()
        given = {
            "input_ids": numpy.array([ids], dtype=numpy.int64),
            "attention_mask": numpy.ones((1, len(ids)), dtype=numpy.int64),
            "token_type_ids": numpy.array([types or [0] * len(ids)], dtype=numpy.int64),
        }
        try:
            found = session.run(None, {name: value for name, value in given.items() if name in inputs})[0]
        except NATIVE_ERRORS as error:
            raise Corrupt(f"{self.path} could not be run. It expects other inputs: {', '.join(inputs)}.") from error
        self._last_used = self._seconds()
        return numpy.asarray(found, dtype=numpy.float32)

    def unload_idle(self, seconds: float) -> bool:
        """Drop the model from memory if nobody used it for so long. A run that is under way keeps it until it ends."""
        with self._lock:
            if self._session is None or self._seconds() - self._last_used < seconds:
                return False
            self._session = None
            return True

    def _loaded(self) -> tuple[Any, frozenset[str]]:
        with self._lock:
            if self._session is None:
                self._session = self._load()
                self._inputs = frozenset(item.name for item in self._session.get_inputs())
            self._last_used = self._seconds()
            return self._session, self._inputs

    def _load(self) -> Any:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        # Threads that wait in a busy loop would keep the processor hot between two texts.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = ONLY_ERRORS
        if not self.path.is_file():
            raise Unavailable(f"{self.path} is gone. Fetch it again with `recollect models pull`.")
        try:
            return runtime.InferenceSession(str(self.path), options, providers=self._providers())
        except NATIVE_ERRORS as error:
            raise Corrupt(
                f"{self.path} is not a model that onnxruntime can load. Fetch it again with `recollect models pull`."
            ) from error

    def _providers(self) -> list[str]:
        offered = cast(list[str], runtime.get_available_providers())
        wanted = [name for name in GPU_PROVIDERS if name in offered] if self._use_gpu else []
        return [*wanted, PROCESSOR]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a model wants to be used; its own description says so."""

    pooling: Pooling = Pooling.MEAN
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512


class OnnxEmbedder:
    def __init__(self, name: str, session: Session, tokenizer: Tokenizer, manner: Manner) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._manner = manner
        self._dimensions = 0

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self._dimensions = len(self._embed("."))
        return self._dimensions

    def passages(self, texts: Sequence[str]) -> Vectors:
        found = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        vectors = side_by_side(self._embed, [self._manner.passage_prefix + texts[row] for row in rows])
        for row, vector in zip(rows, vectors, strict=True):
            found[row] = vector
        return found

    def query(self, text: str) -> Vectors:
        if not text.strip():
            return numpy.zeros(self.dimensions, dtype=numpy.float32)
        return self._embed(self._manner.query_prefix + text)

    def _embed(self, text: str) -> Vectors:
        output = self._session.run(self._tokenizer.marked(text, self._manner.max_tokens))[0]
        if output.ndim == 1:  # The model pools by itself.
            pooled = output
        else:  # One text and no padding: every token counts.
            pooled = output[0] if self._manner.pooling is Pooling.FIRST else output.mean(axis=0)
        length = float(numpy.linalg.norm(pooled))
        return pooled / length if length else pooled


class OnnxReranker:
    def __init__(self, name: str, session: Session, tokenizer: Tokenizer, max_tokens: int = 512) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        def score(passage: str) -> float:
            ids, types = self._tokenizer.pair(question, passage, self._max_tokens)
            return float(self._session.run(ids, types).ravel()[-1])

        return numpy.array(side_by_side(score, passages), dtype=numpy.float32)
