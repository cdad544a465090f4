"""From where it may be asked: by which name, and from which page.

A page of the web can make its reader's browser ask a server on this computer: by a name of its own that it lets point
here (then the Host is not ours), or straight (then the Origin is not ours, and Sec-Fetch-Site says so). Pure rules.
"""

from collections.abc import Collection
from urllib.parse import urlsplit

from recollect.listening import split_host

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES = frozenset({"same-origin", "none"})
"""none: the person typed the address."""
USUAL_PORTS = {"http": 80, "https": 443}


def is_our_host(host: str, names: Collection[str]) -> bool:
    found = split_host(host)
    return found is not None and found[0] in names


def is_our_origin(origin: str, host: str, scheme: str) -> bool:
    """Whether a page of this origin is one of this server, which was asked as `host`."""
    try:
        parts = urlsplit(origin)
        given = (parts.hostname or "", parts.port or USUAL_PORTS.get(parts.scheme))
    except ValueError:
        return False
    ours = split_host(host)
    if ours is None or parts.scheme not in USUAL_PORTS or parts.path or parts.query:
        return False
    # Behind a proxy that brings TLS we are asked by http, for a page that is https.
    return given in {(ours[0], ours[1] or USUAL_PORTS[one]) for one in {scheme, parts.scheme} & USUAL_PORTS.keys()}


def is_from_elsewhere(method: str, host: str, scheme: str, origin: str | None, site: str | None) -> bool:
    """Whether another page than one of ours makes this request."""
    if origin is not None and not is_our_origin(origin, host, scheme):
        return True
    return method not in SAFE_METHODS and site is not None and site not in OWN_SITES
