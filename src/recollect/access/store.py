"""All SQL on the table of tokens. Writers work inside the caller's write session."""

from dataclasses import dataclass

from recollect.database import Row, Session

_TOKEN = "id, agent, label, may_write, made_at, expires_at, revoked_at, last_used_at"  # noqa: S105  columns

EVERY = f"SELECT {_TOKEN} FROM access_tokens WHERE house = :house ORDER BY made_at, id"
WITH_DIGEST = f"SELECT {_TOKEN} FROM access_tokens WHERE house = :house AND digest = :digest"
ADD = f"""
INSERT INTO access_tokens (house, digest, {_TOKEN})
VALUES (:house, :digest, :id, :agent, :label, :may_write, :made_at, :expires_at, '', '')
"""
REVOKE = "UPDATE access_tokens SET revoked_at = :at WHERE house = :house AND id = :id AND revoked_at = ''"
NOTE_USE = "UPDATE access_tokens SET last_used_at = :at WHERE house = :house AND id = :id AND last_used_at < :hour"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    id: str
    agent: str
    """Of whom it speaks, `ada` or `ada/kitchen`. Empty: of the person."""
    label: str
    """What it is for, in the words of who made it."""
    may_write: bool
    made_at: str
    expires_at: str = ""
    """Empty: never."""
    revoked_at: str = ""
    """Empty: it was not."""
    last_used_at: str = ""
    """To the hour; empty: never."""
    is_agent_gone: bool = False
    """The agent that it was made for was removed. Not stored: who reads tokens looks for their agents."""

    def is_good(self, now: str) -> bool:
        return not self.revoked_at and not self.is_agent_gone and (not self.expires_at or now < self.expires_at)


class TokenStore:
    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def every(self) -> list[Token]:
        return [_token(row) for row in self._session.rows(EVERY, {"house": self._house})]

    def with_digest(self, digest: str) -> Token | None:
        row = self._session.one(WITH_DIGEST, {"house": self._house, "digest": digest})
        return _token(row) if row else None

    def add(self, token: Token, digest: str) -> None:
        self._session.run(
            ADD,
            {
                "house": self._house,
                "digest": digest,
                "id": token.id,
                "agent": token.agent,
                "label": token.label,
                "may_write": int(token.may_write),
                "made_at": token.made_at,
                "expires_at": token.expires_at,
            },
        )

    def revoke(self, token_id: str, at: str) -> None:
        self._session.run(REVOKE, {"house": self._house, "id": token_id, "at": at})

    def note_use(self, token_id: str, at: str, hour: str) -> None:
        """Unless it was noted since this hour began."""
        self._session.run(NOTE_USE, {"house": self._house, "id": token_id, "at": at, "hour": hour})


def _token(row: Row) -> Token:
    number, agent, label, may_write, made_at, expires_at, revoked_at, last_used_at = row
    return Token(
        id=number,
        agent=agent,
        label=label,
        may_write=bool(may_write),
        made_at=made_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        last_used_at=last_used_at,
    )
