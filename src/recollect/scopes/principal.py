"""Who asks, or who acts."""

from dataclasses import dataclass
from enum import StrEnum


class Actor(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    LIBRARIAN = "librarian"
    RULE = "rule"
    """Code that needs no judgement: a marker in a text, an expiry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    actor: Actor
    name: str = ""
    """Of the person or agent. Empty: the one person of the house."""
    scope: str = "house"
    """Where an agent stands. Everybody else acts for the house."""
    may_write: bool = True
    """False: it reads, and changes nothing, whatever it could change otherwise."""

    @property
    def is_confined(self) -> bool:
        """Whether it sees and changes less than everything."""
        return self.actor is Actor.AGENT

    @property
    def called(self) -> str:
        """As others name it: an agent in a room by that room."""
        return self.scope if self.is_confined else self.name


OWNER = Principal(actor=Actor.PERSON)
