"""Any embedding endpoint that speaks OpenAI's way: `POST {url}/embeddings`.

What is sent: the passages of the messages, masked as everywhere, and the questions. Nothing is sent until a user writes
an address into `deep_model`. Whether a vector depends on its text alone is up to the endpoint.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Any, cast
from urllib.parse import urlsplit

import numpy

from recollect.embedding.vectors import Vectors
from recollect.errors import Denied, Invalid, RecollectError, Unavailable

BATCH = 64
"""Texts in a request. The API allows 2,048, but a small one that fails costs little."""
MAX_CHARACTERS = 6_000
"""Longer texts are cut: the API refuses more than 8,191 tokens, and a character may be more than one."""
TIMEOUT_SECONDS = 60
QUERY_SECONDS = 5
PAUSES_SECONDS = (0.5, 2, 8)
"""Before each new attempt, when the endpoint is busy."""
MAX_PAUSE_SECONDS = 60
BUSY = (408, 409, 425, 429)
FIRST_SERVER_ERROR = 500


class EndpointEmbedder:
    """`address` is `https://host/v1#model`."""

    def __init__(self, address: str, key: Callable[[], str], pause: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(address)
        self._url = parts._replace(fragment="").geturl().rstrip("/") + "/embeddings"
        self._model = parts.fragment
        self._key = key
        self._pause = pause
        self._dimensions = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or not self._model or parts.username:
            raise Invalid(
                f"deep_model {_without_password(address)!r} is not an endpoint. Write https://host/v1#model, and the "
                "key into the environment variable that embedding_key_variable names."
            )
        self.name = address

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self._ask(["."])
        return self._dimensions

    def passages(self, texts: Sequence[str]) -> Vectors:
        found = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]  # The API refuses empty ones.
        for begin in range(0, len(rows), BATCH):
            batch = rows[begin : begin + BATCH]
            found[batch] = self._ask([_sendable(texts[row]) for row in batch])
        return found

    def query(self, text: str) -> Vectors:
        """Asked once and not for long: somebody waits, and a search can do without."""
        if not text.strip():
            return self.passages([text])[0]
        body = self._body([_sendable(text)])
        try:
            return self._vectors(self._post(body, QUERY_SECONDS), 1)[0]
        except _Busy as busy:
            raise Unavailable(f"{self._url} gave no answer: {busy}. Check that it runs.") from busy

    def _body(self, texts: list[str]) -> bytes:
        return json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()

    def _ask(self, texts: list[str]) -> Vectors:
        body = self._body(texts)
        for wait in PAUSES_SECONDS:
            try:
                return self._vectors(self._post(body), len(texts))
            except _Busy as busy:
                self._pause(min(busy.seconds or wait, MAX_PAUSE_SECONDS))
        try:
            return self._vectors(self._post(body), len(texts))
        except _Busy as busy:
            raise Unavailable(
                f"{self._url} gave no answer after {len(PAUSES_SECONDS) + 1} attempts: {busy}. Check that it runs, or "
                "set deep_model to a local model."
            ) from busy

    def _post(self, body: bytes, seconds: float = TIMEOUT_SECONDS) -> Any:
        headers = {"Content-Type": "application/json", "User-Agent": "recollect"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        # The address was checked to be http or https when this embedder was made.
        request = urllib.request.Request(self._url, body, headers, method="POST")  # noqa: S310
        try:
            with _OPENER.open(request, timeout=seconds) as reply:
                return json.loads(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except (OSError, HTTPException) as error:  # No route, no name, a line that broke.
            raise _Busy("it cannot be reached", 0) from error
        except ValueError as error:
            raise self._strange("the reply is not JSON") from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        if error.code in BUSY or error.code >= FIRST_SERVER_ERROR:
            wait = error.headers.get("Retry-After", "")
            return _Busy(f"status {error.code}", float(wait) if wait.isdigit() else 0)
        if error.code in (401, 403):
            return Denied(
                f"{self._url} does not accept the key (status {error.code}). Set the environment variable that "
                "embedding_key_variable names to a key that may use embeddings."
            )
        return Invalid(
            f"{self._url} refused the request for model {self._model!r} (status {error.code}). "
            "Check the address and the model after # in deep_model."
        )

    def _vectors(self, reply: Any, number: int) -> Vectors:
        try:
            items = cast(list[dict[str, Any]], reply["data"])
            found = {int(item["index"]): item["embedding"] for item in items}
            vectors = numpy.array([found[index] for index in range(number)], dtype=numpy.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise self._strange("the reply does not have a vector for each text") from error
        if vectors.ndim != 2 or not vectors.shape[1] or not numpy.isfinite(vectors).all():
            raise self._strange("the reply's vectors are not rows of numbers")
        self._dimensions = self._dimensions or vectors.shape[1]
        if vectors.shape[1] != self._dimensions:
            raise self._strange(f"vectors had {self._dimensions} dimensions and now have {vectors.shape[1]}")
        lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
        return numpy.divide(vectors, lengths, out=vectors, where=lengths > 0)

    def _strange(self, what: str) -> Unavailable:
        return Unavailable(f"{self._url}: {what}. Check that it is an embedding endpoint of OpenAI's kind.")


class _Busy(RecollectError):
    """Worth another attempt. Never leaves this module."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(what)
        self.seconds = seconds


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to wherever it points."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _sendable(text: str) -> str:
    """Half of a surrogate pair, which a broken transcript may hold, is no character that JSON could carry."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()


def _without_password(address: str) -> str:
    scheme, mark, rest = address.partition("://")
    return scheme + mark + rest.rpartition("@")[2]
