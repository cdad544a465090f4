"""The diary of an agent: entries that are written once and never changed.

An entry is a file named after the second in which it was written, in the zone of the person, or the next second that
is free. Anybody can change a file: such a change stays a version, the entry goes on to show what was first written,
and says so, until somebody puts it back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

from recollect.clock import LOCAL, from_text, local, to_text
from recollect.errors import Conflict, Invalid, NotFound, Unavailable
from recollect.notes.paths import DIARY, within
from recollect.notes.versions import Action, Version, Written

if TYPE_CHECKING:
    from recollect.notes.notes import Notes

ENDING = ".md"
NAME_FORMAT = "%m-%dT%H-%M-%S"
SETTLING_MINUTES = 10
"""An editor saves several times while somebody writes: an entry made with another tool is whole after so long."""
MOST_SECONDS_ON = 3600
"""How far the next free second is looked for."""
LATEST = "latest"
SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry, as it was first written."""

    name: str
    path: str
    at: str
    """What its name says; where that is no time, when it was first seen."""
    text: str
    original: Version
    latest: Version

    @property
    def is_changed(self) -> bool:
        """Whether somebody changed or removed its file since. `latest` is that change."""
        return self.latest.digest != self.original.digest

    @property
    def is_gone(self) -> bool:
        return self.latest.is_gone


class Diary:
    """`memory.notes.diary`, that of the agent who acts."""

    def __init__(self, notes: "Notes") -> None:
        self._notes = notes

    @property
    def folder(self) -> str:
        return within(self._notes.own_folder, DIARY)

    def write(self, text: str, at: datetime | None = None, *, forgotten: int | None = None) -> Written:
        """A new entry. `at`: another time than now to name it after. `forgotten`: as in `Notes.change`."""
        if not text.strip():
            raise Invalid("A diary entry needs some text.")
        if at is not None and at.tzinfo is None:
            raise Invalid(f"The time {at} of a diary entry has no zone. Give it one.")
        first = at or self._notes.clock()
        for seconds in range(MOST_SECONDS_ON):
            path = f"{self.folder}/{name_at(first + timedelta(seconds=seconds))}{ENDING}"
            # A name that once had an entry is not used again: its first version would be taken for the new one.
            if self._was_there(path):
                continue
            try:
                return self._notes.create(path, text, forgotten=forgotten)
            except Conflict:
                if self._notes.find(path) is None:
                    raise
        raise Unavailable(f"All seconds of an hour after {name_at(first)} have a diary entry. Choose another time.")

    def list(self, limit: int = 20, since: datetime | None = None) -> list[Entry]:
        """The newest first."""
        found = [(time_of(version), version) for version in self._notes.list(self.folder)]
        if since:
            found = [(at, version) for at, version in found if at >= to_text(since)]
        found.sort(key=lambda pair: (pair[0], pair[1].path), reverse=True)
        return [self._entry(version) for _, version in found[: max(limit, 0)]]

    def show(self, name: str = LATEST) -> Entry:
        """By its name, the beginning of it, or `latest`. One whose file was removed is shown by its whole name."""
        return self._entry(self._find(name))

    def restore(self, name: str) -> Entry:
        """Put the file back to what was first written. What it was changed to stays a version."""
        entry = self.show(name)
        if entry.is_changed:
            self._notes.undo(entry.path, entry.original.number, reason="The diary entry as it was first written")
        return self.show(entry.name)

    def _find(self, name: str) -> Version:
        listed = sorted(self._notes.list(self.folder, gone=True), key=lambda one: (time_of(one), one.path))
        there = [one for one in listed if not one.is_gone]
        if name == LATEST and there:
            return there[-1]
        wanted = name.removeprefix(f"{self.folder}/").removesuffix(ENDING)
        whole = [one for one in listed if name_of(one) == wanted]
        begun = [one for one in there if wanted and name_of(one).startswith(wanted)]
        if not whole and len(begun) > 1:
            names = ", ".join(name_of(one) for one in begun[:SHOWN_NAMES])
            raise Invalid(f"{len(begun)} diary entries begin with {name!r}, such as {names}. Name one of them.")
        for found in whole or begun:
            return found
        if name == LATEST:
            raise NotFound(f"There is no entry in {self.folder} yet. `recollect diary write` writes one.")
        raise NotFound(
            f"There is no diary entry {name!r} in {self.folder}. `recollect diary list` shows what there is."
        )

    def _entry(self, latest: Version) -> Entry:
        original = latest if latest.number == 1 else original_of(self._notes.history(latest.path))
        note = self._notes.read(latest.path, original.number)
        return Entry(
            name=name_of(latest),
            path=latest.path,
            at=time_of(original),
            text=note.text,
            original=original,
            latest=latest,
        )

    def _was_there(self, path: str) -> bool:
        try:
            return bool(self._notes.history(path))
        except NotFound:
            return False


def original_of(versions: Sequence[Version]) -> Version:
    """The version of an entry that counts: the first, or, where that was made with another tool, the last that was
    found within a few minutes after it."""
    first = versions[0]
    until = to_text(from_text(first.at) + timedelta(minutes=SETTLING_MINUTES))
    found = takewhile(lambda one: one.action is Action.FOUND and one.at <= until, versions)
    whole = [one for one in found if not one.is_gone]
    return whole[-1] if whole else first


def name_at(moment: datetime) -> str:
    shown = local(to_text(moment))
    return f"{shown.year:04d}-{shown.strftime(NAME_FORMAT)}"


def name_of(version: Version) -> str:
    """Below the diary's folder, without its ending."""
    return version.path.rpartition(f"/{DIARY}/")[2].removesuffix(ENDING)


def time_of(version: Version) -> str:
    name = name_of(version).rpartition("/")[2]
    try:
        return to_text(datetime.strptime(name, f"%Y-{NAME_FORMAT}").replace(tzinfo=LOCAL))
    except (OverflowError, OSError, ValueError):
        return version.at
