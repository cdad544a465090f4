"""A proxy that the environment names and that cannot be used, told in words instead of an error of the library."""

from collections.abc import Generator
from contextlib import contextmanager

from recollect.errors import Unavailable


@contextmanager
def proxies_explained() -> Generator[None]:
    """Around what opens a client that asks the environment for its proxy."""
    try:
        yield
    except (ImportError, ValueError):
        raise Unavailable(
            "The proxy that the environment names (ALL_PROXY, HTTPS_PROXY, HTTP_PROXY) cannot be used: only http:// "
            "and https:// ones can. Name another, or none."
        ) from None
