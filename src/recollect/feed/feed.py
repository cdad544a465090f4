"""The feed as its followers see it."""

from recollect.database import Database
from recollect.feed.store import Change, FeedStore


class Feed:
    """`memory.feed`: the changes of one house."""

    def __init__(self, database: Database, house: str) -> None:
        self._database = database
        self._house = house

    def id(self) -> str:
        """The identity of these changes. Another one: the database is another, and what followed is void."""
        with self._database.read() as session:
            state = FeedStore(session, self._house).state()
        if state:
            return state[0]
        with self._database.write() as session:
            return FeedStore(session, self._house).begin()

    def newest(self) -> int:
        """The number of the newest change; 0 when there was none since changes are noted."""
        with self._database.read() as session:
            return FeedStore(session, self._house).newest()

    def waiting(self, after: int) -> int:
        """How many things were touched after a change."""
        with self._database.read() as session:
            return FeedStore(session, self._house).number(after)

    def changes(self, after: int, limit: int) -> list[Change]:
        """What was touched after a change, in order: about `limit`, more where one transaction touched more."""
        with self._database.read() as session:
            return FeedStore(session, self._house).after(after, limit)

    def can_follow(self, after: int) -> bool:
        """Whether `changes(after)` misses nothing. If not, the database was put back to an older state, or the
        changes were trimmed for somebody who had read on: begin anew."""
        with self._database.read() as session:
            return FeedStore(session, self._house).is_known(after)

    def reached(self, follower: str) -> int | None:
        """How far a follower is. None: it never followed."""
        with self._database.read() as session:
            return FeedStore(session, self._house).reached(follower)

    def reach(self, follower: str, change: int) -> None:
        """A follower is so far. It keeps others from dropping what it has not read, and drops nothing itself."""
        with self._database.write() as session:
            FeedStore(session, self._house).set_reached(follower, change)

    def trim(self, follower: str, reached: int) -> None:
        """A follower is so far: what no follower needs any more is dropped. The newest change always stays."""
        with self._database.write() as session:
            store = FeedStore(session, self._house)
            store.set_reached(follower, reached)
            slowest = store.slowest()
            if slowest is not None:
                store.forget(slowest)
