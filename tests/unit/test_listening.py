"""Where the HTTP server listens, by which names it is asked, and where it would be in the open."""

import os
import stat
from pathlib import Path

import pytest

from recollect.errors import Invalid
from recollect.listening import is_loopback, place_of
from recollect.serving import HOOK_FILE, hosts_of, listening_of, remove_hook_file, write_hook_file
from recollect.settings import HttpSettings, Settings, load_settings


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
def test_nobody_listens_in_the_open_without_tls_or_an_explicit_word(listen: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="without TLS"):
        listening_of(settings(listen=listen))
    assert listening_of(settings(listen=listen, is_public=True)).certificate is None
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
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
