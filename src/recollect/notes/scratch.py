"""Scratch pages: what an agent writes down for a while.

A page that nobody changed for two weeks expires, unless it is promoted: moved to where it stays. Both are versions, as
every change is, with who, when and why, and both can be undone.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.clock import to_text
from recollect.errors import Conflict, Invalid, NotFound
from recollect.notes.paths import SCRATCH, Kind, checked, kind_of, within
from recollect.notes.versions import Action, Version, Written
from recollect.scopes import Actor, Principal

if TYPE_CHECKING:
    from recollect.notes.notes import Notes

EXPIRES_AFTER_DAYS = 14
EXPIRY = Principal(actor=Actor.RULE, name="expiry")


class Scratch:
    """`memory.notes.scratch`, that of the agent who acts."""

    def __init__(self, notes: "Notes") -> None:
        self._notes = notes

    @property
    def folder(self) -> str:
        return within(self._notes.own_folder, SCRATCH)

    def write(self, name: str, text: str) -> Written:
        return self._notes.write(self._path(name), text)

    def promote(self, name: str, to: str, *, reason: str = "") -> list[Version]:
        """Move a page, or a folder of pages, out of scratch. `to`: a path in the notes."""
        target = checked(to)
        if kind_of(target) is Kind.SCRATCH:
            raise Invalid(f"{target} is a scratch page too, and would expire. Name a place outside of {SCRATCH}.")
        return self._notes.move(self._path(name), target, reason=reason, action=Action.PROMOTED)

    def expire(self) -> list[Version]:
        """Remove the pages that nobody changed for so long: those of every agent if a person or the system asks, else
        the agent's own."""
        below = self.folder if self._notes.principal.is_confined else ""
        pages = [page for page in self._notes.list(below) if kind_of(page.path) is Kind.SCRATCH]
        until = to_text(self._notes.clock() - timedelta(days=EXPIRES_AFTER_DAYS))
        old = [page for page in pages if page.at <= until]
        return [version for page in old for version in self._remove(page)]

    def _remove(self, page: Version) -> list[Version]:
        ruled = self._notes.seen_by(EXPIRY)
        reason = f"Unchanged for {EXPIRES_AFTER_DAYS} days"
        try:
            removed = ruled.remove(page.path, reason=reason, action=Action.EXPIRED)
        except (Conflict, NotFound):  # It went just now, or something else lies in its place: the others expire.
            return []
        if any(version.number > page.number + 1 for version in removed):
            # Somebody wrote in it in the moment between.
            ruled.undo(page.path, reason="It was changed just before it expired")
            return []
        return removed

    def _path(self, name: str) -> str:
        """Given by its name, or by its whole path."""
        return name if kind_of(name) is Kind.SCRATCH else within(self.folder, checked(name))
