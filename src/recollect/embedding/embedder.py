"""What search asks of a model, whichever it is and wherever it runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # The annotations are all that needs numpy here, and importing it takes longer than a small command.
    from recollect.embedding.vectors import Vectors


class Embedder(Protocol):
    """Gives each text a vector of unit length, or zeros where a text says nothing."""

    @property
    def name(self) -> str:
        """Identity: another name whenever the vectors would be others."""
        ...

    @property
    def dimensions(self) -> int: ...

    def passages(self, texts: Sequence[str]) -> "Vectors":
        """Vectors of what is searched: one row for each text, which depends on that text alone."""
        ...

    def query(self, text: str) -> "Vectors":
        """The vector of a question: one row, without the outer dimension."""
        ...


class Reranker(Protocol):
    """Reads a question and a passage together. Slower than comparing vectors, and a better judge."""

    @property
    def name(self) -> str: ...

    def scores(self, question: str, passages: Sequence[str]) -> "Vectors":
        """One number for each passage; higher answers the question better. They are logits, not shares."""
        ...
