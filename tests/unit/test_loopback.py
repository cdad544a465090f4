"""The base of the servers that stand in for a provider: what is sent, and what breaks."""

import json
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest

from recollect.testing import LoopbackServer
from recollect.testing.loopback import BEFORE_ANYTHING, Request, Response, as_json

PIECES = (b"one ", b"two ", b"three")


class Echo(LoopbackServer):
    def answer(self, request: Request) -> Response:
        step = self.next_step()
        if isinstance(step, Response):
            return step
        if isinstance(step, Exception):
            raise step
        return as_json({"path": request.path, "query": dict(request.query), "body": request.body})


@pytest.fixture
def server() -> Iterator[Echo]:
    with Echo() as server:
        yield server


def test_a_request_is_answered_and_kept(server: Echo) -> None:
    reply = httpx2.post(server.url + "/here?a=1", json={"words": "grün"}, headers={"X-Name": "value"})
    assert reply.json() == {"path": "/here", "query": {"a": "1"}, "body": {"words": "grün"}}
    (request,) = server.requests
    assert (request.method, request.headers["x-name"], request.body) == ("POST", "value", {"words": "grün"})


def test_a_body_in_chunks_is_read(server: Echo) -> None:
    whole = json.dumps({"long": "x" * 50_000}).encode()
    pieces = (whole[at : at + 999] for at in range(0, len(whole), 999))
    assert httpx2.post(server.url, content=pieces).json()["body"] == json.loads(whole)


def test_broken_json_has_no_body(server: Echo) -> None:
    assert httpx2.post(server.url, content=b"{").json()["body"] is None


WHOLE = (
    b'POST /whole HTTP/1.1\r\nhost: here\r\ncontent-length: 7\r\n\r\n{"a":1}',
    b'POST /whole HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
)


@pytest.mark.parametrize("sent", WHOLE)
def test_a_request_whose_sender_dies_in_its_body_is_none(server: Echo, sent: bytes) -> None:
    address = urlsplit(server.url)
    begin = sent.index(b"\r\n\r\n") + 4
    for length in range(begin, len(sent) + 1):
        with socket.create_connection((address.hostname or "", address.port or 0)) as line:
            line.sendall(sent[:length])
            line.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda line=line: line.recv(4096), b""))
        assert bool(answer) is (length == len(sent))
    assert [request.path for request in server.requests] == ["/whole"]


def test_pieces_arrive_one_by_one(server: Echo) -> None:
    server.script(Response(body=PIECES, pause_seconds=0.001))
    with httpx2.stream("GET", server.url) as reply:
        assert b"".join(reply.iter_raw()) == b"".join(PIECES)
        assert reply.headers["transfer-encoding"] == "chunked"


def test_one_connection_carries_several_requests(server: Echo) -> None:
    with httpx2.Client() as client:
        server.script(Response(body=PIECES))
        texts = [client.get(server.url).text for _ in range(3)]
    assert texts[0] == "one two three"
    assert texts[1] == texts[2]


def test_head_has_no_body(server: Echo) -> None:
    with httpx2.Client() as client:
        assert client.head(server.url).content == b""
        assert client.get(server.url).status_code == 200


@pytest.mark.parametrize("after", [BEFORE_ANYTHING, 0, 1, 3])
def test_a_line_breaks_where_it_is_told_to(server: Echo, after: int) -> None:
    server.script(Response(body=PIECES, hang_up_after=after))
    with pytest.raises(httpx2.TransportError):
        httpx2.get(server.url)
    assert httpx2.get(server.url).status_code == 200


def test_a_bug_of_the_server_is_told_to_the_client(server: Echo) -> None:
    server.script(KeyError("colour"))
    reply = httpx2.get(server.url)
    assert (reply.status_code, "KeyError('colour')" in reply.text) == (500, True)


def test_leaving_ends_what_still_waits_and_all_threads() -> None:
    before = set(threading.enumerate())
    failures: list[Exception] = []

    def ask(url: str) -> None:
        try:
            httpx2.get(url, timeout=60)
        except httpx2.TransportError as error:
            failures.append(error)

    with Echo() as server, httpx2.Client() as idle:
        idle.get(server.url)
        server.script(Response(wait_seconds=600))
        waiting = threading.Thread(target=ask, args=(server.url,))
        waiting.start()
        while len(server.requests) < 2:
            threading.Event().wait(0.001)
    waiting.join()
    assert len(failures) == 1
    assert set(threading.enumerate()) == before


def test_steps_that_nobody_asked_for_are_counted(server: Echo) -> None:
    server.script(Response(), Response())
    httpx2.get(server.url)
    assert server.unused_steps == 1
