"""Models that compute the vector of a text once, however many haystacks hold it.

In LongMemEval one session stands in dozens of haystacks, each of which has a home and an index of its own. Questions
are always computed, so that the time of a search is the true one.
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.embedding import Embedder, Models

if TYPE_CHECKING:
    from recollect.embedding.vectors import Vectors
    from recollect.settings import Settings

MOST_REMEMBERED = 150_000
"""Vectors: 230 MB at 384 dimensions. Beyond that the oldest are forgotten, and computed again when they come back."""


class RememberingEmbedder:
    """An embedder; its vectors are those of the one behind it, to the bit."""

    def __init__(self, behind: Embedder, most: int = MOST_REMEMBERED) -> None:
        self._behind = behind
        self._most = most
        self._known: dict[bytes, Vectors] = {}

    @property
    def name(self) -> str:
        return self._behind.name

    @property
    def dimensions(self) -> int:
        return self._behind.dimensions

    def passages(self, texts: Sequence[str]) -> "Vectors":
        import numpy

        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        computed = dict(zip(new, self._behind.passages(list(new.values())), strict=True)) if new else {}
        rows = [computed[key] if key in computed else self._known[key] for key in keys]
        self._remember({key: row.copy() for key, row in computed.items()})
        return numpy.stack(rows) if rows else self._behind.passages([])

    def query(self, text: str) -> "Vectors":
        return self._behind.query(text)

    def _remember(self, more: "dict[bytes, Vectors]") -> None:
        self._known |= more
        for key in list(self._known)[: max(0, len(self._known) - self._most)]:
            del self._known[key]


class RememberingModels(Models):
    """The models of some settings, shared by all homes of one evaluation."""

    def __init__(self, settings: "Settings") -> None:
        super().__init__(settings)
        self._remembering: dict[str, RememberingEmbedder] = {}

    @property
    def static(self) -> Embedder:
        return self._remembered(super().static)

    @property
    def deep(self) -> Embedder | None:
        found = super().deep
        return self._remembered(found) if found else None

    def _remembered(self, behind: Embedder) -> Embedder:
        return self._remembering.setdefault(behind.name, RememberingEmbedder(behind))
