"""What can go wrong, as one small tree, and what each kind means to a caller.

RecollectError
├── Invalid       the request itself is wrong            exit 2, HTTP 400
├── NotFound      the named thing is not there           exit 3, HTTP 404
├── Denied        it is there, but may not be touched    exit 4, HTTP 403
├── Conflict      it stands against what is there        exit 5, HTTP 409
│   └── Changed   another version is there by now        exit 5, HTTP 412
├── Unavailable   not now: busy, full, paused, offline   exit 6, HTTP 503
├── Corrupt       stored data does not read back         exit 1, HTTP 500
└── Unreadable    one foreign file cannot be read        exit 1, HTTP 500

A message names the thing and the next step. Expected outcomes are values, not errors.
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from recollect.seen import Seen


class RecollectError(Exception):
    """Something Recollect can explain."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500


class Invalid(RecollectError):
    exit_code = 2
    http_status = 400


class NotFound(RecollectError):
    exit_code = 3
    http_status = 404


class Denied(RecollectError):
    exit_code = 4
    http_status = 403


class Conflict(RecollectError):
    exit_code = 5
    http_status = 409


class Changed(Conflict):
    """Somebody else changed it since it was read: raised only where versions are compared. It has both texts."""

    http_status = 412

    def __init__(self, thing: str, expected: "int | Seen", now: "Seen", current: str, yours: str = "") -> None:
        """`expected`: what was seen; less than 0: any version. `now`: what is there."""
        self.thing, self.expected, self.now, self.current, self.yours = thing, expected, now, current, yours
        says = f" It says: {current!r}." if now.number else ""
        told = f" Yours: {yours!r}." if yours else ""
        super().__init__(f"{thing} {_stands(expected, now)}.{says}{told} Nothing was changed: read it first.")

    def beside(self, yours: str) -> "Changed":
        """The same, with what was to be written."""
        return Changed(self.thing, self.expected, self.now, self.current, yours)


def _stands(expected: "int | Seen", now: "Seen") -> str:
    number = expected if isinstance(expected, int) else expected.number
    if not now.number:
        return "is not there"
    if number == now.number:
        return f"is at version {number} as before, and something of that was forgotten"
    return f"is at version {now.number} by now" + (f", not {number}" if number >= 0 else "")


class Unavailable(RecollectError):
    exit_code = 6
    http_status = 503


class Corrupt(RecollectError):
    exit_code = 1
    http_status = 500


class Damaged(Corrupt):
    """What is derived is not sound, or not there any more: it is made anew."""


class Unreadable(RecollectError):
    """One file cannot be taken in; the others can."""

    exit_code = 1
    http_status = 500


class Locked(Unreadable):
    """Another program holds the file at this moment."""


def reason_of(error: Exception) -> str:
    """What may be told of it anywhere. The words of an error that is not ours may be somebody's own, or have a token in
    them: of such a one its kind is told."""
    return str(error) if isinstance(error, RecollectError) else type(error).__name__
