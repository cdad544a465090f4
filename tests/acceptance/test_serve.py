"""`recollect serve` as a real process: what it answers, where it refuses to listen, TLS, and its end."""

import http.client
import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE_SECONDS, end, run, started, wait_for

import recollect

ADDRESS = re.compile(r"answers at (\S+)\. Ctrl-C")
OPENSSL = [
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "recollect.toml").write_text("fetch_models = false\n")
    return folder


@contextmanager
def serving(home: Path, *arguments: object) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """(address, process) of one that listens."""
    with started("serve", *arguments, home=home) as process:
        found = wait_for("its address", lambda: ADDRESS.search(said(home)) or process.poll() is not None)
        assert isinstance(found, re.Match), Path(f"{home}.err").read_text()
        yield found[1], process


def said(home: Path) -> str:
    return Path(f"{home}.out").read_text()


def ask(address: str, path: str, token: str = "", **options: Any) -> tuple[int, Any]:
    request = urllib.request.Request(f"{address}{path}", headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS, **options) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_it_answers_who_has_a_token_and_takes_nothing_in(home: Path) -> None:
    with recollect.open(home) as memory:
        secret = memory.access.create(label="test").secret
        memory.knowledge.remember("The beans are runner beans.")
    with serving(home, "--listen", "127.0.0.1:0") as (address, process):
        assert ask(address, "/health") == (200, {"status": "ok"})
        assert ask(address, "/v1/records")[0] == 401
        code, found = ask(address, "/v1/records", secret)
        assert (code, "runner beans" in json.dumps(found)) == (200, True)
        assert not (home / "runtime" / "hook.curl").exists()
        assert not (home / "runtime" / "status.json").exists()
        assert end(process) == 0
    assert said(home).endswith("Recollect does not listen any more.\n")
    assert Path(f"{home}.err").read_text() == ""


def test_beside_a_daemon_of_the_same_home_both_go_on(home: Path) -> None:
    with serving(home, "--listen", "127.0.0.1:0") as (address, process):
        assert run("up", "--once", "--json", home=home).code == 0
        assert ask(address, "/health")[0] == 200
        assert end(process) == 0


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.1:7717", "recollect.example:7717"])
def test_a_place_that_others_can_reach_is_refused_without_tls_or_a_word(home: Path, listen: str) -> None:
    refused = run("serve", "--listen", listen, home=home)

    assert refused.code == 2
    assert refused.explains(
        f"--listen is '{listen}'", "without TLS", "give --certificate and --private-key", "say --public."
    )
    assert "http." not in refused.err


def test_with_an_explicit_word_it_listens_there(home: Path) -> None:
    """On every address; asked by loopback."""
    with serving(home, "--listen", "0.0.0.0:0", "--public") as (address, process):
        assert address.startswith("http://127.0.0.1:")
        assert ask(address, "/health")[0] == 200
        assert end(process, signal.SIGINT) == 0


def test_another_name_is_answered_only_when_it_was_given(home: Path) -> None:
    def code_for(address: str, host: str) -> int:
        request = urllib.request.Request(f"{address}/health", headers={"Host": host})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    with serving(home, "--listen", "127.0.0.1:0", "--host", "house.example") as (address, process):
        assert code_for(address, "house.example") == 200
        assert code_for(address, "evil.example") >= 400
        assert end(process) == 0


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_with_a_certificate_it_speaks_tls_and_nothing_else(home: Path, tmp_path: Path) -> None:
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*OPENSSL, *names, "-out", str(chain), "-keyout", str(key)], check=True, capture_output=True)
    given = ("--listen", "0.0.0.0:0", "--certificate", chain, "--private-key", key)
    with serving(home, *given) as (address, process):
        assert address.startswith("https://127.0.0.1:")
        assert ask(address, "/health", context=ssl.create_default_context(cafile=str(chain))) == (200, {"status": "ok"})
        with pytest.raises(urllib.error.URLError):
            ask(address, "/health", context=ssl.create_default_context())
        with pytest.raises((OSError, urllib.error.URLError)):
            ask(address.replace("https:", "http:"), "/health")
        assert end(process) == 0


def test_a_certificate_without_its_key_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "chain.pem").touch()

    refused = run("serve", "--listen", "0.0.0.0:0", "--certificate", tmp_path / "chain.pem", home=home)

    assert refused.code == 2
    assert refused.explains("--certificate and --private-key go together")


@pytest.mark.parametrize("option", [(), ("--certificate", "chain.pem", "--private-key", "key.pem")])
def test_what_stands_in_the_settings_is_named_as_a_setting(home: Path, option: tuple[str, ...]) -> None:
    refused = run("serve", *option, home=home, variables={"RECOLLECT_LISTEN": "nowhere"})

    assert refused.code == 2
    assert refused.explains("http.listen is 'nowhere'")


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_files_that_are_no_certificate_with_its_key_are_refused_before_it_says_that_it_answers(
    home: Path, tmp_path: Path
) -> None:
    chain, key, locked = (tmp_path / name for name in ("chain.pem", "key.pem", "locked.pem"))
    subprocess.run([*OPENSSL, "-subj", "/CN=localhost", "-out", chain, "-keyout", key], check=True, capture_output=True)
    subprocess.run(
        ["openssl", "pkey", "-aes256", "-passout", "pass:x", "-in", key, "-out", locked],
        check=True,
        capture_output=True,
    )
    for one, other in ((chain, chain), (key, chain), (tmp_path / "none.pem", key), (chain, locked)):
        (tmp_path / "none.pem").write_text("This is no certificate.\n")
        refused = run("serve", "--listen", "127.0.0.1:0", "--certificate", one, "--private-key", other, home=home)
        assert refused.code == 2, refused
        assert refused.explains(str(one), str(other), "without a password")
        assert not (home / "recollect.db").exists()


def test_a_port_that_somebody_has_is_told_at_once(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run("serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}", home=home)

    assert refused.code == 6
    assert refused.explains("cannot listen", "--listen")


def test_it_ends_while_somebody_sends_half_a_request(home: Path) -> None:
    with serving(home, "--listen", "127.0.0.1:0") as (address, process):
        host, port = address.rpartition("/")[2].split(":")
        with socket.create_connection((host, int(port))) as half:
            half.sendall(b"POST /v1/records HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
            assert end(process) == 0
    assert Path(f"{home}.err").read_text() == ""


@pytest.mark.parametrize("size", [300_000, 5_000_000, 12_000_000])
def test_who_sends_all_of_a_body_that_is_too_large_still_reads_the_refusal(home: Path, size: int) -> None:
    with recollect.open(home=home) as memory:
        secret = memory.access.create().secret
    with serving(home, "--listen", "127.0.0.1:0") as (address, _):
        for _ in range(3):
            line = http.client.HTTPConnection(address.removeprefix("http://"), timeout=PATIENCE_SECONDS)
            headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
            line.request("PATCH", "/v1/status", b" " * size, headers)
            answer = line.getresponse()
            assert (answer.status, json.loads(answer.read())["title"]) == (413, "Content Too Large")
            line.close()
