"""Where the HTTP server listens, by which names it is asked, where it would be in the open, and how many connect."""

import asyncio
import json
import os
import re
import resource
import shutil
import ssl
import stat
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from recollect import listening
from recollect.daemon import serving
from recollect.daemon.serving import HOOK_FILE, hosts_of, listening_of, remove_hook_file, write_hook_file
from recollect.errors import Invalid
from recollect.listening import (
    WANTED_FILES,
    Certificate,
    Limits,
    allow_more_files,
    connections_for_files,
    is_loopback,
    listener,
    place_of,
    serve,
)
from recollect.settings import HttpSettings, Settings, load_settings
from recollect.surfaces.http.places import is_our_host

PATIENCE_SECONDS = 20.0
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def settings(**http: object) -> Settings:
    return Settings(http=HttpSettings(**http))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("listen", "place"),
    [
        ("127.0.0.1:7717", ("127.0.0.1", 7717)),
        (" localhost:80 ", ("127.0.0.1", 80)),
        ("[::1]:0", ("::1", 0)),
        ("house.example:443", ("house.example", 443)),
    ],
)
def test_a_place_is_a_host_and_a_port(listen: str, place: tuple[str, int]) -> None:
    assert place_of(listen, "http.listen", 7717) == place


@pytest.mark.parametrize("listen", ["7717", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "a b:1", "::1:80", "x@y:1"])
def test_what_is_no_place_is_named_with_an_example(listen: str) -> None:
    with pytest.raises(Invalid, match=r"http\.listen is .* such as 127\.0\.0\.1:7717"):
        place_of(listen, "http.listen", 7717)


def test_only_addresses_of_this_computer_are_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "192.168.1.5", "example.org", "localhost.evil.test")))


@pytest.mark.parametrize("listen", ["0.0.0.0:7717", "[::]:7717", "192.168.1.5:7717", "house.example:7717"])
def test_nobody_listens_in_the_open_without_tls_or_an_explicit_word(
    listen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Invalid, match="without TLS"):
        listening_of(settings(listen=listen))
    assert listening_of(settings(listen=listen, is_public=True)).certificate is None
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    monkeypatch.setattr(serving, "check_certificate", lambda _: None)
    chain.touch()
    key.touch()
    chosen = listening_of(settings(listen=listen, certificate=str(chain), private_key=str(key)))
    assert chosen.scheme == "https"


def test_tls_needs_both_files(tmp_path: Path) -> None:
    chain = tmp_path / "chain.pem"
    chain.touch()
    with pytest.raises(Invalid, match="go together"):
        listening_of(settings(certificate=str(chain)))
    with pytest.raises(Invalid, match="no file"):
        listening_of(settings(certificate=str(chain), private_key=str(tmp_path / "missing.pem")))


def test_where_it_is_asked_is_an_address_that_leads_here() -> None:
    assert listening_of(settings(listen="0.0.0.0:1", is_public=True)).address(8) == "http://127.0.0.1:8"
    assert listening_of(settings(listen="[::1]:1")).address(8) == "http://[::1]:8"


def test_it_is_asked_by_its_own_names_and_those_of_the_settings() -> None:
    named = hosts_of(settings(listen="192.168.1.5:1", hosts=["House.Example ", ""]))
    assert named == ("127.0.0.1", "localhost", "::1", "192.168.1.5", "house.example")
    assert "0.0.0.0" not in hosts_of(settings(listen="0.0.0.0:1"))


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("other.example:8443", "other.example"),
        ("Trail.Example.", "trail.example:7717"),
        ("::1", "[::1]:7717"),
        ("[fe80::1]:7717", "[FE80::1]"),
        ("my_house", "my_house:1"),
    ],
)
def test_a_name_of_the_settings_is_read_as_that_of_a_request(written: str, asked: str) -> None:
    assert is_our_host(asked, hosts_of(settings(hosts=[written])))
    assert is_our_host("house.example", hosts_of(settings(listen="House.example.:1")))


@pytest.mark.parametrize(
    "written", ["https://url.example", "a b", "*.example", "me@house.example", ".", "haus.exämple"]
)
def test_what_is_no_name_of_a_host_is_told_with_its_setting_before_anything_listens(written: str) -> None:
    with pytest.raises(Invalid, match=rf"http\.hosts .* has '{re.escape(written)}', .* such as house\.example"):
        listening_of(settings(hosts=["house.example", written]))


def test_the_environment_says_where_to_listen_and_that_nobody_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_LISTEN", " 127.0.0.1:9 ")
    assert load_settings(tmp_path).http.listen == "127.0.0.1:9"
    monkeypatch.setenv("RECOLLECT_LISTEN", "")
    assert load_settings(tmp_path).http.listen == ""
    monkeypatch.delenv("RECOLLECT_LISTEN")
    assert load_settings(tmp_path).http.listen == "127.0.0.1:7717"


def test_the_file_of_the_hooks_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    write_hook_file(runtime, "http://127.0.0.1:7", "secret", is_tls=False)
    path = runtime / HOOK_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    number, url, header = path.read_text().splitlines()
    assert number == f"# {os.getpid()}"
    assert (url, header) == ('url = "http://127.0.0.1:7/v1/hooks"', 'header = "Authorization: Bearer secret"')
    remove_hook_file(runtime)
    remove_hook_file(runtime)
    assert not path.exists()


def test_the_file_of_the_hooks_of_another_daemon_stays(tmp_path: Path) -> None:
    path = tmp_path / HOOK_FILE
    path.write_text('# 1\nurl = "http://127.0.0.1:7/v1/hooks"\n')

    remove_hook_file(tmp_path)
    assert path.exists()

    remove_hook_file(tmp_path, also_of_others=True)
    assert not path.exists()


# How many may connect


@pytest.fixture
def files() -> Iterator[Callable[[int], None]]:
    """A function that says how many files this process may open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda soft: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_more_files_are_allowed_as_far_as_the_system_does(files: Callable[[int], None]) -> None:
    files(256)

    allow_more_files()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == (WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard))


@pytest.mark.parametrize(("allowed", "connections"), [(64, 8), (256, 32), (300, 76), (1_024, 256)])
def test_connections_leave_files_for_all_else(files: Callable[[int], None], allowed: int, connections: int) -> None:
    files(allowed)

    assert connections_for_files(256) == connections


# Who connects


async def answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def served(test: Callable[[int], Awaitable[None]], limits: Limits, certificate: Certificate | None = None) -> None:
    """`test` gets the port."""

    async def run() -> None:
        with listener("127.0.0.1", 0, "A test", "nothing") as place:
            serving = asyncio.create_task(serve(answer, [place], limits, certificate=certificate))
            try:
                await asyncio.wait_for(test(place.getsockname()[1]), PATIENCE_SECONDS)
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)

    asyncio.run(run())


@asynccontextmanager
async def connected(port: int, context: ssl.SSLContext | None = None) -> AsyncGenerator[Line]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        yield reader, writer
    finally:
        writer.close()


async def told(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes]:
    """(status, headers, body) of an answer after which the line is closed."""
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    return first.split(" ")[1], dict(line.lower().split(": ", 1) for line in lines), body.encode()


def test_more_connections_than_may_be_are_told_so_and_many_more_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "TOLD_CONNECTIONS", 1)

    async def test(port: int) -> None:
        async with connected(port) as first:
            async with connected(port), connected(port) as third, connected(port) as fourth:
                with suppress(ConnectionError):
                    assert await fourth[0].read() == b"", "closed, without a word"
                third[1].write(REQUEST)
                status, headers, body = await told(third[0])
                assert (status, headers["content-type"]) == ("503", "application/problem+json")
                assert int(headers["retry-after"]) > 0
                assert json.loads(body)["type"] == "urn:recollect:service-unavailable"
            first[1].write(REQUEST)
            assert (await told(first[0]))[0] == "200"

    served(test, Limits(connections=2))


def test_there_is_room_again_when_others_have_left() -> None:
    async def test(port: int) -> None:
        for _ in range(listening.TOLD_CONNECTIONS + 5):
            async with connected(port) as (reader, writer):
                writer.write(REQUEST)
                assert (await told(reader))[0] == "200"

    served(test, Limits(connections=2))


def test_what_is_no_request_is_a_problem_like_all_others() -> None:
    async def test(port: int) -> None:
        for wrong in (b"\x00\x01\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET  / HTTP/9.9\r\nHost: x\r\n\r\n"):
            async with connected(port) as (reader, writer):
                writer.write(wrong)
                status, headers, body = await told(reader)
            assert (status, headers["content-type"]) == ("400", "application/problem+json")
            assert json.loads(body)["status"] == 400

    served(test, Limits())


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_who_never_shakes_hands_is_let_go(tmp_path: Path) -> None:
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    made = ["-subj", "/CN=localhost", "-days", "2", "-out", str(chain), "-keyout", str(key)]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made], check=True, capture_output=True)

    async def test(port: int) -> None:
        async with connected(port) as (silent, _):
            with suppress(ConnectionError):
                assert await silent.read() == b""
        context = ssl.create_default_context(cafile=str(chain))
        context.check_hostname = False
        async with connected(port, context) as (reader, writer):
            writer.write(REQUEST)
            assert (await told(reader))[0] == "200"

    served(test, Limits(head_seconds=0.5), Certificate(chain=str(chain), private_key=str(key)))
