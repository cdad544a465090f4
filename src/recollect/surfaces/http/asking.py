"""Who asks: the parameters by which a route gets the house as its caller sees it.

    def list_records(memory: Reader) -> Response: …

`Reader`: any token. `Writer`: one that may write. `Owner`: one of a person. `OwnerWriter`: both. The guard has found
out who it is by then. A route of /v1 without one of these four is refused when the application is made, so that none
is open by oversight.
"""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from recollect.errors import Denied
from recollect.memory import Memory
from recollect.scopes import Principal

PRINCIPAL = "principal"
"""Its name in the state of a request."""


def principal_of(request: Request) -> Principal:
    return getattr(request.state, PRINCIPAL)


def bearer(given: list[str]) -> str:
    """The token in a header. Empty: there is none."""
    if len(given) != 1:
        return ""
    scheme, _, secret = given[0].partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def secret_of(request: Request) -> str:
    """For what goes on after the request, and has to ask again who it is."""
    return bearer(request.headers.getlist("authorization"))


async def as_reader(request: Request) -> Memory:
    """Not in a thread: it asks the database nothing."""
    memory: Memory = request.app.state.memory
    return memory.acting_for(principal_of(request))


async def as_writer(request: Request) -> Memory:
    check_may_write(principal_of(request))
    return await as_reader(request)


async def as_owner(request: Request) -> Memory:
    check_is_person(principal_of(request))
    return await as_reader(request)


async def as_owner_writer(request: Request) -> Memory:
    check_is_person(principal_of(request))
    return await as_writer(request)


def check_may_write(principal: Principal) -> None:
    if not principal.may_write:
        raise Denied("This token may only read. `recollect token create` makes one that may write.")


def check_is_person(principal: Principal) -> None:
    if principal.is_confined:
        raise Denied("This is for a person of the house, and the token is an agent's.")


Reader = Annotated[Memory, Depends(as_reader)]
Writer = Annotated[Memory, Depends(as_writer)]
Owner = Annotated[Memory, Depends(as_owner)]
OwnerWriter = Annotated[Memory, Depends(as_owner_writer)]
WAYS_IN = (as_reader, as_writer, as_owner, as_owner_writer)
