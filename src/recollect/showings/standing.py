"""What showings come to for a record: counts, and the coarse steps in which they count. Values and pure rules only.

Steps are few and far apart, and without a use they only go down: so the order of what is shown comes to rest, and the
same steps give the same bytes.
"""

from dataclasses import dataclass

SINKS_AFTER = (8, 24)
"""Sessions in a row in which it was shown and not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One record in one scope, or in all of them."""

    record_id: str
    version: int = 0
    """The version that `unused` is about."""
    shown: int = 0
    """In how many sessions."""
    used: int = 0
    unused: int = 0
    """In how many sessions in a row it was shown and not used."""
    last_shown_at: str = ""
    last_used_at: str = ""
    last_used_how: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a record stands with those it is shown to."""

    was_used: bool = False
    sunk: int = 0
    """How many steps down: 0, 1 or 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    records: int = 0
    """That were ever shown to somebody."""
    used: int = 0
    """Of these, how many were used."""
    sunk: int = 0
    open_sessions: int = 0
    """In which what was shown can still be used."""


UNKNOWN = Standing()


def standing_of(counted: Counted | None, version: int) -> Standing:
    """`version`: the record's now. One that was said again begins anew: it is not what was passed over."""
    if counted is None:
        return UNKNOWN
    unused = counted.unused if counted.version == version else 0
    return Standing(was_used=counted.used > 0, sunk=sum(unused >= least for least in SINKS_AFTER))


def in_all(counted: list[Counted]) -> dict[str, Counted]:
    """Record → the sum over scopes."""
    sums: dict[str, Counted] = {}
    for one in counted:
        before = sums.get(one.record_id, Counted(record_id=one.record_id))
        latest = max(before, one, key=lambda item: item.last_used_at)
        sums[one.record_id] = Counted(
            record_id=one.record_id,
            version=max(before.version, one.version),
            shown=before.shown + one.shown,
            used=before.used + one.used,
            unused=max(before.unused, one.unused),
            last_shown_at=max(before.last_shown_at, one.last_shown_at),
            last_used_at=latest.last_used_at,
            last_used_how=latest.last_used_how,
        )
    return sums
