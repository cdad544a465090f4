"""Where the person is: the addresses that are heard and written to. Whoever writes from anywhere else is a stranger.

An address becomes a place when the person names it, or when somebody there sends a code that the person asked for. The
database has no code, only a salted digest of it.
"""

from dataclasses import dataclass, field

from recollect.clock import Clock, to_text
from recollect.database import Database
from recollect.errors import Invalid
from recollect.ids import new_id
from recollect.mind.places.pairing import (
    LIFETIME,
    MOST_TRIES,
    Pairing,
    Tries,
    digest_of,
    folded,
    is_same,
    looks_like_code,
    new_salt,
    new_text,
)
from recollect.mind.places.store import KeptCode, Place, PlaceStore
from recollect.texts import clean

__all__ = ["BLOCKED", "PAIRED", "Code", "Pairing", "Place", "Places", "Tries", "looks_like_code"]

PAIRED, BLOCKED = "paired", "blocked"
MOST_CHARACTERS = 200
"""Of an address: no service has longer ones. A longer name is cut."""
_JOINERS = "\u200c\u200d"
"""Not printed, but part of emoji and of Persian names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    text: str = field(repr=False)
    """Good for one address, once. It is told to the person and kept nowhere."""
    expires_at: str


class Places:
    """Every method asks the database: in an event loop, call it in a thread."""

    def __init__(self, database: Database, house: str, clock: Clock) -> None:
        self._database = database
        self._house = house
        self._clock = clock

    def list(self, channel: str = "") -> list[Place]:
        """The oldest first. Of one channel, or of all."""
        with self._database.read() as session:
            return PlaceStore(session, self._house).list(channel)

    def find(self, channel: str, address: str) -> Place | None:
        """None: a stranger."""
        with self._database.read() as session:
            return PlaceStore(session, self._house).find(channel, address)

    def allow(self, channel: str, address: str, name: str = "") -> Place:
        """By the person's own word, without a code. One that was blocked is so no more."""
        _check(channel, address)
        with self._database.write() as session:
            store = PlaceStore(session, self._house)
            store.allow(channel, address, _name(name), to_text(self._clock()))
            return _there(store.find(channel, address))

    def remove(self, channel: str, address: str) -> bool:
        """Whether it was a place. What was said there stays."""
        with self._database.write() as session:
            return PlaceStore(session, self._house).remove(channel, address)

    def block(self, channel: str, address: str) -> bool:
        """The other side takes nothing any more. Whether that is new."""
        with self._database.write() as session:
            return PlaceStore(session, self._house).set_state(channel, address, BLOCKED)

    def unblock(self, channel: str, address: str) -> bool:
        """Somebody wrote from there again. Whether that is new."""
        with self._database.write() as session:
            return PlaceStore(session, self._house).set_state(channel, address, PAIRED)

    def new_code(self, channel: str) -> Code:
        """The one open code of this channel from now on."""
        _check(channel, "-")
        text, salt, now = new_text(), new_salt(), self._clock()
        kept = KeptCode(
            id=new_id(), salt=salt, digest=digest_of(text, salt), expires_at=to_text(now + LIFETIME), tries=0
        )
        with self._database.write() as session:
            PlaceStore(session, self._house).put_code(channel, kept, to_text(now))
        return Code(text=text, expires_at=kept.expires_at)

    def pair(self, channel: str, address: str, name: str, text: str) -> Pairing:
        """Somebody at this address says that this is the code. Words in which there is nothing are no try.

        The digest takes a while and is made before the transaction, in which the code must still be the same: of two
        who send the right one at once, one is in time. What counts is when it was sent, not how long others wrote.
        """
        _check(channel, address)
        if not folded(text):
            return Pairing.NONE
        with self._database.read() as session:
            kept = PlaceStore(session, self._house).code(channel)
        if kept is None:
            return Pairing.NONE
        is_right, now = is_same(digest_of(text, kept.salt), kept.digest), self._clock()
        with self._database.write() as session:
            store = PlaceStore(session, self._house)
            # A clock that was put back makes no code live longer. Clocks of two computers may differ by a while.
            store.drop_expired(to_text(now), to_text(now + 2 * LIFETIME))
            standing = store.code(channel)
            if standing is None or standing.id != kept.id:
                return Pairing.NONE
            if not is_right:
                _count_try(store, channel, standing)
                return Pairing.WRONG
            store.drop_code(channel)
            store.allow(channel, address, _name(name), to_text(now))
            return Pairing.PAIRED

    def is_code(self, channel: str, text: str) -> bool:
        """Whether this is the code that is open, said where it is not needed: in a place. That is no try, for nobody
        learns from it what he could not have had already."""
        if not looks_like_code(text):
            return False
        with self._database.read() as session:
            kept = PlaceStore(session, self._house).code(channel)
        return kept is not None and is_same(digest_of(text, kept.salt), kept.digest)

    def position(self, channel: str, name: str) -> int:
        """How far what waits under this name was read. 0: nothing of it."""
        with self._database.read() as session:
            return PlaceStore(session, self._house).position(channel, name)

    def move_position(self, channel: str, name: str, position: int) -> None:
        """Also back: a service may count anew."""
        with self._database.write() as session:
            PlaceStore(session, self._house).move_position(channel, name, position, to_text(self._clock()))


def _count_try(store: PlaceStore, channel: str, code: KeptCode) -> None:
    if code.tries + 1 < MOST_TRIES:
        store.count_try(channel, code.id)
    else:
        store.drop_code(channel)


def _check(channel: str, address: str) -> None:
    for what, text in (("channel", channel), ("address", address)):
        if not text.strip() or len(text) > MOST_CHARACTERS or not text.isprintable():
            raise Invalid(
                f"{text[:100]!r} cannot be the {what} of a place: it has 1 to {MOST_CHARACTERS} characters that can be "
                "printed."
            )


def _name(text: str) -> str:
    """On one line, and without what commands a terminal: who sends a code calls himself what he likes."""
    line = clean(" ".join(text.split()))
    return "".join(one for one in line if one.isprintable() or one in _JOINERS)[:MOST_CHARACTERS]


def _there(place: Place | None) -> Place:
    assert place is not None, "It was written in the same transaction."
    return place
