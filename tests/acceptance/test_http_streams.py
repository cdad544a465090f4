"""A thousand clients that follow the events of a real server at once: held or refused, and the server is well after."""

import asyncio
import json
import re
import resource
import signal
from pathlib import Path

import psutil
import pytest
from commands import end, started, wait_for

import recollect
from recollect.surfaces.http.streams import MOST_STREAMS

ADDRESS = re.compile(r"answers at http://127.0.0.1:(\d+)\.")
CLIENTS = 1_000
FIRST = 40
"""Who are there before the crowd comes."""
PATIENCE_SECONDS = 60.0
HELD, REFUSED = "200", "503"


def _room_for_clients() -> bool:
    """Each is a file of this process. The server's own limit stays what it is for everybody."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CLIENTS + 300
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return False
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return True


class Client:
    """One that follows, by hand: a library would bring its own limits."""

    def __init__(self) -> None:
        self.status = ""
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def follow(self, port: int, secret: str) -> None:
        try:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n\r\n"
            self.writer.write(head.encode())
            line = await self.reader.readline()
            self.status = line.split(b" ")[1].decode() if line else REFUSED
        except OSError:
            self.status = REFUSED

    async def until(self, words: bytes) -> None:
        assert self.reader
        await self.reader.readuntil(words)

    def leave(self) -> None:
        if self.writer:
            self.writer.close()


async def _ask(port: int, secret: str, path: str) -> tuple[str, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer {secret}\r\n\r\n"
    writer.write(head.encode())
    whole = await reader.read()
    writer.close()
    return whole.split(b" ")[1].decode(), whole


def test_a_thousand_clients_that_follow_leave_the_server_well(tmp_path: Path) -> None:
    if not _room_for_clients():
        pytest.skip(f"this system gives a process fewer than {CLIENTS + 300} open files")
    home = tmp_path / "home"
    with recollect.open(home=home) as memory:
        secret = memory.access.create().secret
        with started("serve", "--listen", "127.0.0.1:0", home=home) as process:
            found = wait_for("its address", lambda: ADDRESS.search(Path(f"{home}.out").read_text()))
            port = int(found[1])
            asyncio.run(asyncio.wait_for(_crowd(memory, port, secret), PATIENCE_SECONDS))
            wait_for("all lines to be closed", lambda: len(psutil.Process(process.pid).net_connections("tcp")) < 20)
            assert end(process, signal.SIGTERM) == 0


async def _crowd(memory: recollect.Memory, port: int, secret: str) -> None:
    clients = [Client() for _ in range(CLIENTS)]
    for client in clients[:FIRST]:
        await client.follow(port, secret)
        assert client.status == HELD
    await asyncio.gather(*(client.follow(port, secret) for client in clients[FIRST:]))
    held = [client for client in clients if client.status == HELD]
    assert {client.status for client in clients} <= {HELD, REFUSED}
    assert FIRST <= len(held) <= MOST_STREAMS
    for client in clients:
        if client.status == REFUSED:
            client.leave()
    # Those who are held are told what happens, and others can still ask.
    for client in held:
        await client.until(b"event: here")
    record = await asyncio.to_thread(lambda: memory.knowledge.remember("The beans are in.").record)
    assert record
    for client in held:
        await client.until(record.id.encode())
    status, whole = REFUSED, b""
    while status == REFUSED:  # Until the last of those who were refused is gone.
        status, whole = await _ask(port, secret, "/v1/records")
    assert status == "200"
    assert record.id.encode() in whole
    for client in clients:
        client.leave()
    # All of them left: there is room again, and nothing of them stays open.
    again = Client()
    while again.status != HELD:
        again = Client()
        await again.follow(port, secret)
    again.leave()
    status, whole = await _ask(port, secret, "/health")
    assert json.loads(whole.partition(b"\r\n\r\n")[2])["status"] == "ok"
