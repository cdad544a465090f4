"""Where the webhook listens: on this computer alone."""

from recollect.errors import Invalid
from recollect.listening import is_loopback, place_of

USUAL_PORT = 8765


def listening_place(listen: str) -> tuple[str, int]:
    """(host, port) of `webhook.listen`. Nothing but this computer: what comes from elsewhere has to come by TLS, and
    that is another program's work."""
    host, port = place_of(listen, "webhook.listen", USUAL_PORT)
    if not is_loopback(host):
        raise Invalid(
            f"webhook.listen is {listen!r}, which others than this computer could reach, without TLS. Write "
            f"127.0.0.1:{port} and put a proxy that has TLS in front, such as Caddy, nginx or a tunnel."
        )
    return host, port
