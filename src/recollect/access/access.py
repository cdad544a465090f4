"""Tokens as people make and revoke them, and whom each speaks for."""

import hashlib
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace

from recollect.access.store import Token, TokenStore
from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from recollect.ids import new_id
from recollect.scopes import OWNER, Principal, ScopeStore, principal_named

PREFIX = "recollect_"
SECRET_BYTES = 32
HOUR_CHARACTERS = 13
"""Of a time as text: 2026-02-21T02. Use is noted once an hour, so that reading does not write each time."""
MOST_LABEL_CHARACTERS = 200
_SECRET = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    token: Token
    secret: str
    """Shown now and never again."""


def looks_like_secret(text: str) -> bool:
    return bool(_SECRET.fullmatch(text))


class Access:
    """`memory.access`."""

    def __init__(self, database: Database, house: str, clock: Clock, principal: Principal = OWNER) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal

    def create(
        self, agent: str = "", *, label: str = "", read_only: bool = False, expires_at: str = "", token_id: str = ""
    ) -> Created:
        """A token that speaks for this agent, `ada` or in a room of its own `ada/kitchen`; without one, for the person.
        `expires_at`: a stored time; empty: never. `token_id`: a new one, for whoever has written it down before."""
        self._refuse_agents()
        now = to_text(self._clock())
        if expires_at and expires_at <= now:
            raise Invalid(f"A token that expires at {expires_at} is good for nothing by now. Give a time to come.")
        if len(label) > MOST_LABEL_CHARACTERS or not label.isprintable():
            raise Invalid(f"A label has at most {MOST_LABEL_CHARACTERS} characters, on one line.")
        secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        token = Token(
            id=token_id or new_id(),
            agent=agent,
            label=label,
            may_write=not read_only,
            made_at=now,
            expires_at=expires_at,
        )
        with self._database.write() as session:
            if agent:
                _principal(ScopeStore(session, self._house), token)
            TokenStore(session, self._house).add(token, _digest(secret))
        return Created(token=token, secret=secret)

    def revoke(self, name: str) -> Token:
        """By its id, or by the beginning or the end of it: it opens nothing from now on."""
        self._refuse_agents()
        with self._database.write() as session:
            store = TokenStore(session, self._house)
            token = _with_agent(ScopeStore(session, self._house), _named(store.every(), name))
            if token.revoked_at:
                raise Conflict(f"Token {token.id} was revoked at {token.revoked_at}.")
            now = to_text(self._clock())
            store.revoke(token.id, now)
        return replace(token, revoked_at=now)

    def holder(self, secret: str) -> Principal | None:
        """For whom who shows this secret speaks. None: it is unknown, revoked or expired, or its agent is gone."""
        if not looks_like_secret(secret):
            return None
        now = to_text(self._clock())
        with self._database.read() as session:
            token = TokenStore(session, self._house).with_digest(_digest(secret))
            if token is None or not token.is_good(now):
                return None
            try:
                principal = _principal(ScopeStore(session, self._house), token)
            except NotFound:
                return None
        return principal

    def note_use(self, secret: str) -> None:
        """Its first use in this hour. A write, which may have to wait: for when whoever asked has an answer."""
        now = to_text(self._clock())
        with suppress(Unavailable), self._database.write() as session:  # It says nothing that anybody depends on.
            store = TokenStore(session, self._house)
            token = store.with_digest(_digest(secret))
            if token:
                store.note_use(token.id, now, now[:HOUR_CHARACTERS])

    def _refuse_agents(self) -> None:
        if self._principal.is_confined or not self._principal.may_write:
            raise Denied(f"{self._principal.name or 'Who asks'} may not handle tokens: only a person may.")

    # Last, as its name is that of a type

    def list(self) -> list[Token]:
        """All of them, the oldest first, those that are good no more included."""
        self._refuse_agents()
        with self._database.read() as session:
            scopes = ScopeStore(session, self._house)
            return [_with_agent(scopes, token) for token in TokenStore(session, self._house).every()]


def _with_agent(store: ScopeStore, token: Token) -> Token:
    """With what became of the agent that it speaks for."""
    try:
        _principal(store, token)
    except NotFound:
        return replace(token, is_agent_gone=True)
    return token


def _principal(store: ScopeStore, token: Token) -> Principal:
    if not token.agent:
        return replace(OWNER, may_write=token.may_write)
    name, _, room = token.agent.partition("/")
    if store.get(token.agent).made_at > token.made_at:
        raise NotFound(f"Token {token.id} was made for another {token.agent!r}, who is gone.")
    return replace(principal_named(store, name, room), may_write=token.may_write)


def _named(tokens: list[Token], name: str) -> Token:
    found = [token for token in tokens if name and (token.id.startswith(name) or token.id.endswith(name))]
    if len(found) == 1:
        return found[0]
    if found:
        raise Invalid(f"{len(found)} tokens have ids like {name[:100]!r}. Give more of it: `recollect token list`.")
    raise NotFound(f"No token has the id {name[:100]!r}. `recollect token list` shows them.")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
