"""Showings: the one object by which it is noted what was shown and used, and by which that is looked for."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.errors import Invalid, RecollectError
from recollect.history import History
from recollect.knowledge.store import RecordStore
from recollect.scopes import OWNER, Principal, sight_of
from recollect.showings.looking import Looking
from recollect.showings.standing import Counted, Figures, in_all
from recollect.showings.store import ALL_SCOPES, ShowingStore

NAME = "showings"
MOST_IN_SESSION = 200
"""Records of one session; further ones are not followed."""
MOST_NAME_CHARACTERS = 200
TENDED_MINUTES = 60
"""How often what is over is closed. Nothing waits for it."""
_WORD = re.compile(r"[a-z][a-z0-9_-]{0,39}")

RecordRun = Callable[[str, str, float, dict[str, object]], None]


class Showings:
    """`memory.showings`. What it notes is about the scope of its principal."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        history: History,
        record_run: RecordRun = lambda name, outcome, seconds, detail: None,
        principal: Principal = OWNER,
    ) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._looking = Looking(database, house, history)
        self._record_run = record_run
        self._principal = principal
        self._problem = ""
        self._tended_at: datetime | None = None

    # Noting

    def note_shown(
        self,
        session_id: str,
        record_ids: Sequence[str],
        *,
        purpose: str = "session-start",
        at: datetime | None = None,
    ) -> None:
        """These records were put before the agent in this session. Twice in one session counts once. Who may only read,
        and a session without a name, leaves nothing. `at`: when, where it is noted afterwards."""
        name = session_id.strip()
        if len(name) > MOST_NAME_CHARACTERS or not name.isprintable():
            raise Invalid(
                f"{name[:50]!r} cannot be a session's id: give {MOST_NAME_CHARACTERS} printable characters at most."
            )
        _check_word("purpose", purpose)
        if not name or not record_ids or not self._principal.may_write:
            return
        with self._database.write() as session:
            store, scope = ShowingStore(session, self._house), self._principal.scope
            known = store.shown_in(scope, name)
            new = [one for one in dict.fromkeys(record_ids) if one not in known]
            versions = self._versions(session, new[: MOST_IN_SESSION - len(known)])
            if versions:
                store.add(scope, name, purpose, versions, to_text(at) if at else self._now())

    def note_used(self, record_ids: Sequence[str], *, how: str) -> None:
        """An agent opened these records. `how`: by which tool."""
        _check_word("how", how)
        if not record_ids or not self._principal.may_write:
            return
        with self._database.write() as session:
            versions = self._versions(session, list(dict.fromkeys(record_ids))[:MOST_IN_SESSION])
            ShowingStore(session, self._house).use(self._principal.scope, versions, how, self._now())

    def _versions(self, session: Session, record_ids: Sequence[str]) -> dict[str, int]:
        """Of those that are there and may be seen: nothing is noted of a record that was forgotten meanwhile."""
        records = RecordStore(session, self._house, sight_of(session, self._house, self._principal))
        found = records.get(record_ids)
        return {name: found[name].version for name in record_ids if name in found}

    # Looking

    def after_intake(self) -> None:
        """Look what was used. What fails is recorded and tried again next time: history must go on without it."""
        if self._principal.is_confined:
            return
        started = time.monotonic()
        try:
            self.catch_up()
            problem = ""
        except RecollectError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - one message that breaks our reader must not stop an import
            problem = f"{type(error).__name__}: {error}"
        if problem and problem != self._problem:
            with suppress(RecollectError):
                self._record_run(NAME, "failed", time.monotonic() - started, {"reason": problem})
        self._problem = problem

    def catch_up(self) -> int:
        """What was used since the last look; how much. Now and then also what is over."""
        now = self._clock()
        used = self._looking.look(now)
        if self._tended_at is None or abs(now - self._tended_at) >= timedelta(minutes=TENDED_MINUTES):
            self._looking.tend(now)
            self._tended_at = now
        return used

    # Reading

    def counted(self, record_ids: Sequence[str]) -> dict[str, Counted]:
        """Record → how often it was shown and used: to this agent, or for a person to anybody."""
        with self._database.read() as session:
            return in_all(ShowingStore(session, self._house).counted(record_ids, self._seen_scope))

    def figures(self) -> Figures:
        with self._database.read() as session:
            return ShowingStore(session, self._house).figures(self._seen_scope)

    @property
    def _seen_scope(self) -> str:
        return self._principal.scope if self._principal.is_confined else ALL_SCOPES

    def _now(self) -> str:
        return to_text(self._clock())


def _check_word(name: str, value: str) -> None:
    if not _WORD.fullmatch(value):
        raise Invalid(f"{value[:50]!r} cannot be the {name} of a showing: use a short word such as session-start.")
