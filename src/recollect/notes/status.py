"""The status of an agent: a few fields in one file, each with the time at which it was set.

An update sets the fields that it names and leaves the others as they are, also when several update at once. A file that
somebody broke is no status: until the next update the last good version is shown in its place, with what is wrong. The
update goes on from there, and the broken text stays a version and lies beside the status.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.clock import local, to_text
from recollect.errors import Conflict, Invalid, NotFound, Unavailable
from recollect.notes.diary import name_at
from recollect.notes.paths import STATUS, canonical, within
from recollect.notes.plain import Obstructed
from recollect.notes.status_fields import (
    MOST_STATUS_BYTES,
    Field,
    Forms,
    checked_updates,
    field_of,
    merge_status,
    merged,
    parsed,
    rendered,
    updated,
)
from recollect.notes.versions import Note, Written
from recollect.seen import NOTHING, Seen
from recollect.texts import clean

if TYPE_CHECKING:
    from recollect.notes.notes import Notes

__all__ = ["Board", "Field", "Status", "Updated", "merge_status"]

MOST_STEPS_BACK = 100
"""Versions that are read to find when a field without a time last changed. If it is older it is given the oldest."""
MOST_BROKEN = 1000
"""Versions that are read to find one that is a status."""
TRIES = 5
"""Of an update, while others break the file again and again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """What the fields are now."""

    path: str
    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    text: str = ""
    """The file as it stands, or, where that is no status, the last version that was one."""
    number: int = 0
    """The version that this is; 0: there is none yet."""
    seen: Seen = NOTHING
    """The file as it stands."""
    problem: str = ""
    """Why the file as it stands is no status. Empty: it is one, or is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    board: Board
    written: Written
    masked: int = 0
    """Fields in which a credential was masked."""
    problem: str = ""
    """What was wrong with the file that was there."""
    broken: int = 0
    """Which version that is; 0: none, or it was too long or no file at all."""
    aside: str = ""
    """Where it lies now."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The file, and what one goes on from."""

    text: str | None
    good: Note | None
    problem: str = ""
    broken: Note | None = None
    """The file, where it is no status."""

    @property
    def seen(self) -> Seen:
        note = self.broken or self.good
        return note.seen if note else NOTHING

    @property
    def forms(self) -> Forms:
        return parsed(self.good.content).forms if self.good else {}


class _Overtaken(Exception):
    """Somebody broke the file after it was read."""


class Status:
    """`memory.notes.status`, that of the agent who acts."""

    def __init__(self, notes: "Notes") -> None:
        self._notes = notes

    @property
    def path(self) -> str:
        return within(self._notes.own_folder, STATUS)

    def show(self) -> Board:
        found = self._found()
        if found.good is None:
            return Board(path=self.path, seen=found.seen, problem=found.problem)
        forms = found.forms
        fields = {name: field_of(name, form) for name, form in forms.items()}
        times = self._times(found.good, {name: forms[name] for name, one in fields.items() if not one.has_time})
        return Board(
            path=found.good.path,
            fields={name: replace(one, at=times.get(name, one.at)) for name, one in fields.items()},
            text=found.good.text,
            number=found.good.number,
            seen=found.seen,
            problem=found.problem,
        )

    def update(self, updates: Mapping[str, object], *, expected_version: int | Seen | None = None) -> Updated:
        """Set each of these fields at the time it is now; None removes one. `expected_version`: what the
        board that was read has as `seen`; if the file is another by now, `Changed` is raised."""
        checked, masked = checked_updates(updates)
        moved, aside = _Found(None, None), ""
        for _ in range(TRIES):
            found = self._found()
            try:
                written = self._write(found, moved.forms, checked, expected_version)
            except _Overtaken:
                continue
            except Obstructed as error:
                if expected_version is not None:
                    raise
                moved, aside = found, self._move_aside(error)
                continue
            if found.problem:
                aside = self._keep_aside(found.text or "")
            return Updated(
                board=self.show(),
                written=written,
                masked=masked,
                problem=found.problem or moved.problem,
                broken=found.broken.number if found.broken else 0,
                aside=aside,
            )
        raise Unavailable(f"{self.path} is broken by another program all the time. Try again when it is done.")

    def _write(
        self, found: _Found, moved: Forms, updates: Mapping[str, object], expected_version: int | Seen | None
    ) -> Written:
        """`moved`: what the status was before something else lay in its place."""
        at = local(to_text(self._notes.clock())).isoformat(timespec="seconds")

        def change(now: str | None) -> str:
            is_as_found = now == found.text
            forms = merged({}, moved, found.forms if is_as_found else _forms(now))
            changed = updated(forms, updates, at)
            if now is not None and changed == forms and not moved and not (is_as_found and found.problem):
                return now
            whole = rendered(changed)
            if len(whole) > max(MOST_STATUS_BYTES, len(rendered(forms))):
                raise Invalid(
                    f"{self.path} would have {len(whole):,} bytes; {MOST_STATUS_BYTES:,} at most. Remove fields with "
                    "null, or write a page and name it here."
                )
            return whole.decode()

        return self._notes.change(self.path, change, is_whole=True, expected_version=expected_version)

    # Reading

    def _found(self) -> _Found:
        try:
            note = self._notes.find(self.path)
        except Obstructed as error:
            return _Found(None, next(self._good_ones(self._latest_number()), None), str(error))
        if note is None:
            return _Found(None, None)
        problem = parsed(note.content).problem
        if not problem:
            return _Found(note.text, note)
        good = next(self._good_ones(note.number - 1), None)
        return _Found(note.text, good, f"{note.path} is no status: {problem}", note)

    def _latest_number(self) -> int:
        listed = self._notes.list(self._notes.own_folder, gone=True)
        return max((version.number for version in listed if canonical(version.path) == self.path), default=0)

    def _good_ones(self, number: int, most: int = MOST_BROKEN) -> Iterator[Note]:
        """Versions that are a status, the latest first, from this one on."""
        for place in range(number, max(number - most, 0), -1):
            try:
                note = self._notes.read(self.path, place)
            except NotFound:  # It was forgotten.
                continue
            if not note.is_gone and not parsed(note.content).problem:
                yield note

    def _times(self, good: Note, untimed: Forms) -> dict[str, str]:
        """When each of these fields last changed."""
        times = dict.fromkeys(untimed, good.at)
        for note in self._good_ones(good.number - 1, MOST_STEPS_BACK) if untimed else ():
            before = parsed(note.content).forms
            untimed = {name: form for name, form in untimed.items() if before.get(name) == form}
            if not untimed:
                break
            times |= dict.fromkeys(untimed, note.at)
        return times

    # What is no status

    def _keep_aside(self, text: str) -> str:
        """Put a broken text beside the status; where. To the byte it is a version."""
        for place in self._places_aside():
            try:
                return self._notes.create(place, clean(text), reason=f"{STATUS} was broken").version.path
            except Conflict:
                continue
            except Invalid:  # Too long, once its characters are readable.
                break
        return ""

    def _move_aside(self, error: Obstructed) -> str:
        """What lies in the place of the file and cannot be a note is moved beside it as it is."""
        target = self._notes.folder / self.path
        if not _is_plain(self._notes.folder, self._notes.own_folder) or not os.path.lexists(target):
            raise error
        for place in self._places_aside():
            beside = self._notes.folder / place
            if not os.path.lexists(beside):
                os.rename(target, beside)
                return place
        raise error

    def _places_aside(self) -> Iterator[str]:
        for seconds in range(3600):
            name = name_at(self._notes.clock() + timedelta(seconds=seconds))
            yield within(self._notes.own_folder, f"status.broken-{name}.json")


def _forms(text: str | None) -> Forms:
    """Of a text that somebody wrote since the file was read. It was not UTF-8 if a character was replaced."""
    found = parsed(text.encode()) if text is not None else None
    if found and (found.problem or "\ufffd" in (text or "")):
        raise _Overtaken
    return found.forms if found else {}


def _is_plain(root: "os.PathLike[str]", folder: str) -> bool:
    """Whether all folders down to this one are folders, and no links."""
    places = [os.path.join(root, *folder.split("/")[:depth]) for depth in range(1, folder.count("/") + 2)]
    return all(stat.S_ISDIR(os.lstat(place).st_mode) for place in places if os.path.lexists(place))
