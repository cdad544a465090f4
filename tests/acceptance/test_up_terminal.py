"""What `recollect up` says on a terminal about where it is asked, and about what is the matter."""

import socket
from pathlib import Path

from commands import PATIENCE_SECONDS
from terminals import Desk, sitting_at

NARROW = 50


def configure(home: Path, *, seconds: float) -> None:
    home.mkdir(parents=True)
    (home / "recollect.toml").write_text(f"fetch_models = false\npoll_interval_seconds = {seconds}\n")


def letters(shown: str) -> str:
    """The same for each width of the window."""
    return "".join(shown.split())


def end(desk: Desk) -> None:
    desk.type("\x03")
    assert desk.leaves() == 0


def test_who_has_the_port_is_told_at_once_and_whole_in_place_of_the_address(home: Path) -> None:
    configure(home, seconds=10 * PATIENCE_SECONDS)  # No second look tells it in the time of this test.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with sitting_at("up", home=home, columns=NARROW, RECOLLECT_LISTEN=f"127.0.0.1:{port}") as desk:
            desk.see("http: ", "has it.")
            assert letters("Programs ask it at") not in letters(desk.screen.text)
            assert letters(
                f"http: The HTTP server cannot listen on 127.0.0.1 port {port}: Address already in use. "
                "Choose another port in http.listen, or end the program that has it."
            ) in letters(desk.screen.text)
            end(desk)


def test_a_port_that_is_free_again_is_told_with_the_address(home: Path) -> None:
    configure(home, seconds=0.2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with sitting_at("up", home=home, columns=200, RECOLLECT_LISTEN=address) as desk:
            desk.see("http: The HTTP server cannot listen", "Watching")
            taken.close()
            desk.see(f"Programs ask it at http://{address}, with a token: ", "http: All is well again.")
            assert desk.screen.text.count("cannot listen") == 1
            end(desk)


def test_the_address_is_told_with_the_port_that_was_found(home: Path) -> None:
    configure(home, seconds=10 * PATIENCE_SECONDS)
    with sitting_at("up", home=home, columns=200, RECOLLECT_LISTEN="127.0.0.1:0") as desk:
        desk.see("Programs ask it at http://127.0.0.1:", "token create")
        assert "127.0.0.1:0," not in desk.screen.text
        end(desk)
