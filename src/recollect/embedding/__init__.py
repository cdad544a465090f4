"""Texts in, vectors out: the static default that is always here, better models where the user has them, and a reranker.

Who may write: `Models.pull` and `Models.remove`, in the models folder and nowhere else. That folder is a cache: all of
it can be fetched again.

Invariants. A vector depends on its text and on the model's name alone, never on the texts beside it (an endpoint is
asked for that, but is its own master). Whoever changes a vector changes the name. Weights are used only while their
SHA-256 is the one on record. Nothing is fetched but by `pull`, and never without a word before.

Importing this package is cheap: numpy and onnxruntime are loaded by the first vector.
"""

from recollect.embedding.embedder import Embedder, Reranker
from recollect.embedding.models import Models, ModelState

__all__ = ["Embedder", "ModelState", "Models", "Reranker"]
