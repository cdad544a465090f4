"""Which servers are one's own: on this computer or in its private network. They cost nothing."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_own_server(url: str) -> bool:
    """By the address alone; no name is looked up."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_private and not address.is_unspecified
