"""An embedding endpoint of OpenAI's kind, spoken to over a real connection, by the rules of its API."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy
import pytest
from tiny_models import serve

from recollect.embedding.endpoint import BATCH, MAX_CHARACTERS, EndpointEmbedder
from recollect.errors import Denied, Invalid, Unavailable

KEY = "a-key-of-the-tests"
MODEL = "tiny-embedding-3"
MAX_INPUTS = 2048
LONGEST_INPUT = 8191


class Endpoint:
    """Refuses what the API refuses, answers in an order of its own, and fails when it is told to."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[list[str]] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.reply: bytes | None = None
        self.dimensions = 3

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body: dict[str, Any] = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        status, headers = self.failures.pop(0) if self.failures else (self._check(handler, body), {})
        if status == 200:
            self.requests.append(body["input"])
        raw = self.reply if self.reply is not None else json.dumps(self._vectors(body["input"])).encode()
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(raw))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(raw)

    def _check(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> int:
        texts = body["input"]
        if handler.path != "/v1/embeddings" or body["model"] != MODEL:
            return 404
        if handler.headers["Authorization"] != f"Bearer {KEY}":
            return 401
        is_right = 0 < len(texts) <= MAX_INPUTS and all(text and len(text) <= LONGEST_INPUT for text in texts)
        return 200 if is_right and handler.headers["Content-Type"] == "application/json" else 400

    def _vectors(self, texts: list[str]) -> dict[str, Any]:
        data = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 4.0, 0.5][: self.dimensions]}
            for index, text in enumerate(texts)
        ]
        return {"object": "list", "model": MODEL, "data": data[::-1], "usage": {"total_tokens": 1}}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    with serve(made.answer) as url:
        made.url = f"{url}/v1"
        yield made


def embedder(
    endpoint: Endpoint, pauses: list[float] | None = None, key: str = KEY, model: str = MODEL
) -> EndpointEmbedder:
    waits: list[float] = [] if pauses is None else pauses
    return EndpointEmbedder(f"{endpoint.url}#{model}", lambda: key, waits.append)


def expected(text: str) -> numpy.ndarray:
    vector = numpy.array([len(text), 4.0, 0.5], dtype=numpy.float32)
    return vector / numpy.linalg.norm(vector)


def test_each_text_gets_its_own_vector_whatever_the_order_of_the_reply(endpoint: Endpoint) -> None:
    texts = ["beans", "a longer one", "b"]
    found = embedder(endpoint).passages(texts)
    assert found.dtype == numpy.float32
    assert all(found[row] == pytest.approx(expected(text)) for row, text in enumerate(texts))
    assert embedder(endpoint).query("beans") == pytest.approx(expected("beans"))


def test_many_texts_go_in_several_requests(endpoint: Endpoint) -> None:
    texts = ["x" * (number % 90 + 1) for number in range(2 * BATCH + 5)]
    asked = embedder(endpoint)
    assert asked.dimensions == 3
    endpoint.requests.clear()
    found = asked.passages(texts)
    assert [len(request) for request in endpoint.requests] == [BATCH, BATCH, 5]
    assert all(found[row] == pytest.approx(expected(text)) for row, text in enumerate(texts))


def test_empty_texts_are_not_sent_and_long_ones_are_cut(endpoint: Endpoint) -> None:
    found = embedder(endpoint).passages(["", "beans", " \n", "x" * 100_000])
    assert [bool(row.any()) for row in found] == [False, True, False, True]
    assert endpoint.requests[-1] == ["beans", "x" * MAX_CHARACTERS]


def test_half_a_surrogate_pair_is_not_sent(endpoint: Endpoint) -> None:
    embedder(endpoint).query("beans \ud83d in May")
    assert endpoint.requests[-1] == ["beans ? in May"]


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_a_busy_endpoint_is_asked_again_after_a_pause(endpoint: Endpoint, status: int) -> None:
    pauses: list[float] = []
    endpoint.failures = [(status, {}), (status, {})]
    assert embedder(endpoint, pauses).passages(["beans"])[0] == pytest.approx(expected("beans"))
    assert pauses == [0.5, 2]


def test_the_endpoint_may_say_how_long_to_wait_within_reason(endpoint: Endpoint) -> None:
    pauses: list[float] = []
    endpoint.failures = [(429, {"Retry-After": "7"}), (429, {"Retry-After": "86400"}), (503, {"Retry-After": "soon"})]
    embedder(endpoint, pauses).passages(["beans"])
    assert pauses == [7, 60, 8]


def test_an_endpoint_that_stays_busy_is_unavailable(endpoint: Endpoint) -> None:
    pauses: list[float] = []
    endpoint.failures = [(503, {})] * 20
    with pytest.raises(Unavailable, match=r"embeddings gave no answer after 4 attempts: status 503.*deep_model"):
        embedder(endpoint, pauses).passages(["beans"])
    assert pauses == [0.5, 2, 8]
    assert len(endpoint.failures) == 16


def test_a_question_is_asked_once_because_somebody_waits(endpoint: Endpoint) -> None:
    endpoint.failures = [(503, {})] * 10
    pauses: list[float] = []
    with pytest.raises(Unavailable, match="gave no answer"):
        embedder(endpoint, pauses).query("beans")
    assert pauses == []
    assert len(endpoint.failures) == 9


def test_nobody_there_is_unavailable() -> None:
    with serve(lambda handler: None) as url:
        pass
    with pytest.raises(Unavailable, match=f"{url}/v1/embeddings gave no answer"):
        EndpointEmbedder(f"{url}/v1#m", lambda: "", lambda _: None).query("beans")


@pytest.mark.parametrize("key", ["", "a wrong one"])
def test_a_wrong_key_is_denied_at_once_and_not_repeated(endpoint: Endpoint, key: str) -> None:
    pauses: list[float] = []
    with pytest.raises(Denied, match="embedding_key_variable") as caught:
        embedder(endpoint, pauses, key=key).query("beans")
    assert not pauses
    assert endpoint.url in str(caught.value)
    assert "a wrong one" not in str(caught.value)


def test_an_unknown_model_is_explained(endpoint: Endpoint) -> None:
    with pytest.raises(Invalid, match=r"'other'.*after # in deep_model"):
        embedder(endpoint, model="other").query("beans")


def test_the_key_is_not_carried_to_another_address(endpoint: Endpoint) -> None:
    endpoint.failures = [(302, {"Location": "/v1/elsewhere"}), (307, {"Location": "/v1/elsewhere"})]
    for _ in range(2):
        with pytest.raises(Invalid, match="refused the request"):
            embedder(endpoint).query("beans")
    assert not endpoint.failures
    assert not endpoint.requests


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>",
        b"{}",
        b"[]",
        b'{"data": []}',
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": 3}]}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
    ],
)
def test_a_strange_reply_is_explained(endpoint: Endpoint, reply: bytes) -> None:
    endpoint.reply = reply
    with pytest.raises(Unavailable, match="Check that it is an embedding endpoint"):
        embedder(endpoint).query("beans")


def test_vectors_that_change_their_length_are_refused(endpoint: Endpoint) -> None:
    asked = embedder(endpoint)
    asked.query("beans")
    endpoint.dimensions = 2
    with pytest.raises(Unavailable, match="had 3 dimensions and now have 2"):
        asked.query("beans")


@pytest.mark.parametrize(
    "address", ["https://host/v1", "https://#m", "ftp://host/v1#m", "https://ada:secret@host/v1#m", "host/v1#m"]
)
def test_an_address_must_name_a_host_and_a_model_and_no_password(address: str) -> None:
    with pytest.raises(Invalid, match="https://host/v1#model") as caught:
        EndpointEmbedder(address, lambda: "")
    assert "secret" not in str(caught.value)
