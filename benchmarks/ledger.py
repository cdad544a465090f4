"""What must hold after a life of statements, kept by hand: plain lists, no database, nothing of Recollect's own code.

Slow and simple on purpose. `lifecycle.py` tells a house and this ledger the same things and asks both. Its rules:

- Of a subject's attribute one statement holds at a time in each scope: the last one about a time that is not later than
  the one asked for, in whatever order they were learned. A new value ends the one before it; what is learned late about
  an earlier time takes its place there and ends where something was said about a later time.
- The same value again is no new entry; it may add an end, or let hold again what had expired. What is read once more at
  a place it was read at before is nothing new.
- Undo gives back the picture that was there before an act, for everything the act touched.
- What a person corrected, took back or had forgotten is not taken from the same message again.
- What is forgotten was never there, at any moment that is asked for.
- What was read out of several messages together goes with any of them, unless a person touched it or a message said it
  since. It may be read out of the others again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

CURRENT, REPLACED, RETRACTED = "current", "replaced", "retracted"
HOUSE = "house"

Key = tuple[str, str]
"""Subject and attribute."""
Claim = tuple[str, str, str]
"""A message, and what may not be taken from it again: a text, a quote, or all about a key."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A statement, as the ledger hears it."""

    scope: str
    key: Key
    text: str
    value: str
    true_from: str
    true_until: str = ""
    expires_at: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    """Message and quote."""
    said_again: tuple[str, ...] = ()
    """Later times about which the same was said."""

    def claims(self) -> list[set[Claim]]:
        about = " / ".join(self.key)
        return [
            {(message, "text", self.text), (message, "quote", quote), (message, "about", about)}
            for message, quote in self.sources
        ]


@dataclass(frozen=True, kw_only=True)
class Version:
    said: Said
    state: str
    since: str
    barred: frozenset[Claim] = frozenset()
    """What may not come back as long as this version holds."""
    is_gone: bool = False
    """Only forgotten messages said it."""


@dataclass(kw_only=True)
class Entry:
    name: str
    number: int
    learned_at: str
    is_told: bool
    """Somebody said so in person, and did not read it anywhere."""
    versions: list[Version] = field(default_factory=list[Version])
    acts: list[int] = field(default_factory=list[int])
    """The act that made each version."""
    is_persons: bool = False
    """A person wrote it, or changed anything about it."""

    @property
    def now(self) -> Version:
        return self.versions[-1]

    @property
    def kept(self) -> list[Version]:
        return [version for version in self.versions if not version.is_gone]

    def at(self, moment: str) -> Version | None:
        """What was believed then; without a moment, now."""
        found = [version for version in self.versions if not moment or version.since <= moment]
        return found[-1] if found and not found[-1].is_gone else None


@dataclass(kw_only=True)
class Outcome:
    kind: str
    entry: Entry | None = None
    resumed: Entry | None = None
    """What was cut in two by the new entry goes on behind it."""


class Ledger:
    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.forgotten: set[str] = set()
        self.gone_messages: set[str] = set()
        self._barred_for_good: set[Claim] = set()
        self._by_key: dict[tuple[str, Key], list[Entry]] = {}
        self._by_message: dict[str, list[Entry]] = {}
        self._last_act: dict[tuple[str, Key], int] = {}
        self._acts = self._made = 0
        self._is_by_person = False
        self._touched: dict[int, list[Entry]] = {}
        self._cuts: set[int] = set()

    # Learning

    def learn(self, said: Said, now: str, *, by_person: bool) -> Outcome:
        """What must become of a statement. A new entry has no name until `name` gives it the one of the house."""
        if not by_person and self.is_barred(said):
            return Outcome(kind="refused")
        # What was forgotten is no evidence, whoever names it.
        there = tuple(source for source in said.sources if source[0] not in self.gone_messages)
        said = replace(said, sources=there)
        line = self.line(said.scope, said.key)
        known = self._read_there_before(line, said)
        if known:
            return Outcome(kind="same", entry=known)
        self._act(by_person=by_person)
        before = next((entry for entry in reversed(line) if entry.now.said.true_from <= said.true_from), None)
        after = next((entry for entry in line if entry.now.said.true_from > said.true_from), None)
        if before and _says(before, said) and _reaches(before, said.true_from):
            return Outcome(kind="same", entry=self._confirm(before, said, now))
        again = [moment for moment in before.now.said.said_again if moment > said.true_from] if before else []
        ends_before = after and said.true_until and said.true_until < after.now.said.true_from
        if after and _says(after, said) and not again and not ends_before:
            if before:
                self._close(before, said.true_from, now)
            return Outcome(kind="same", entry=self._confirm(after, said, now))
        return self._insert(said, now, before, after, again)

    def is_barred(self, said: Said) -> bool:
        return bool(said.sources) and all(
            message in self.gone_messages or any(self._is_claim_barred(claim) for claim in claims)
            for (message, _), claims in zip(said.sources, said.claims(), strict=True)
        )

    def _is_claim_barred(self, claim: Claim) -> bool:
        derived = self._by_message.get(claim[0], [])
        return claim in self._barred_for_good or any(claim in entry.now.barred for entry in derived)

    def name(self, entry: Entry, name: str) -> None:
        entry.name = name
        self.entries[name] = entry

    def _insert(self, said: Said, now: str, before: Entry | None, after: Entry | None, again: list[str]) -> Outcome:
        entry = self._new(said, now, is_told=not said.sources)
        resumed: Entry | None = None
        until = after.now.said.true_from if after else ""
        if before and again:
            rest = replace(before.now.said, true_from=again[0], said_again=tuple(again[1:]))
            resumed = self._new(rest, now, is_told=before.is_told)
            self._write(resumed, replace(before.now, said=rest, since=now))
            until = again[0]
            self._cuts.add(self._acts)
        if until:
            said = replace(said, true_until=min(said.true_until, until) if said.true_until else until)
        self._write(entry, Version(said=said, state=REPLACED if until else CURRENT, since=now))
        if before:
            self._close(before, said.true_from, now)
        return Outcome(kind="replaces" if before or after else "new", entry=entry, resumed=resumed)

    def _new(self, said: Said, now: str, *, is_told: bool) -> Entry:
        self._made += 1
        entry = Entry(name="", number=self._made, learned_at=now, is_told=is_told)
        self._by_key.setdefault((said.scope, said.key), []).append(entry)
        return entry

    def _close(self, entry: Entry, moment: str, now: str) -> None:
        said = entry.now.said
        until = max(moment, said.true_from)
        closed = replace(
            said,
            true_until=min(said.true_until, until) if said.true_until else until,
            said_again=tuple(one for one in said.said_again if one < until),
        )
        self._write(entry, replace(entry.now, said=closed, state=REPLACED, since=now))

    def _confirm(self, entry: Entry, said: Said, now: str) -> Entry:
        old = entry.now.said
        known = {message for message, _ in old.sources}
        new = tuple(source for source in said.sources if source[0] not in known)
        moments = sorted({old.true_from, *old.said_again, said.true_from})
        more = replace(old, sources=(*old.sources, *new), true_from=moments[0], said_again=tuple(moments[1:]))
        if new or not said.sources:
            if _is_expired(old, now) and not _is_expired(said, now):
                more = replace(more, expires_at=said.expires_at)
            if entry.now.state == CURRENT and not old.true_until and said.true_until > old.true_from:
                more = replace(more, true_until=said.true_until)
        if more != old:
            self._write(entry, replace(entry.now, said=more, since=now))
        return entry

    def _read_there_before(self, line: Sequence[Entry], said: Said) -> Entry | None:
        """An entry that has this very value from these very messages: reading them once more tells nothing new."""
        messages = {message for message, _ in said.sources}
        for entry in line:
            there = {message for message, _ in entry.now.said.sources}
            if messages and messages <= there and _says(entry, said):
                return entry
        return None

    # Correcting

    def edit(self, entry: Entry, text: str, value: str, now: str, *, by_person: bool) -> None:
        self._act(by_person=by_person)
        corrected = replace(entry.now.said, text=text, value=value)
        self._write(entry, replace(entry.now, said=corrected, since=now, barred=self._with_claims(entry)))

    def retract(self, entry: Entry, now: str, *, by_person: bool) -> None:
        self._act(by_person=by_person)
        self._write(entry, replace(entry.now, state=RETRACTED, since=now, barred=self._with_claims(entry)))

    def can_undo(self, entry: Entry) -> bool:
        """Whether its last change is the last one of its whole line: then it is plain what was there before. Not so
        where an entry was cut in two (both halves say the same, and either may go on) and where another was taken back,
        or it would itself be taken back once more (what stands before it may go on, or leave a gap)."""
        act, place = entry.acts[-1], (entry.now.said.scope, entry.now.said.key)
        others = [one for one in self._by_key[place] if one not in self._touched[act]]
        is_plain = act not in self._cuts and all(one.now.state != RETRACTED for one in others)
        if entry.now.state != RETRACTED and len(entry.kept) > 1 and entry.kept[-2].state == RETRACTED:
            return False
        return is_plain and self._last_act[place] == act

    def undo(self, entry: Entry, now: str, *, by_person: bool) -> None:
        touched = self._touched[entry.acts[-1]]
        self._act(by_person=by_person)
        for other in touched:
            if len(other.kept) > 1:
                self._write(other, replace(other.kept[-2], since=now))
            else:
                self._write(other, replace(other.now, state=RETRACTED, since=now, barred=self._with_claims(other)))

    # Forgetting

    def forget_records(self, names: Iterable[str], messages: set[str] | None = None) -> None:
        """They may not be taken from these messages again; None: from no message."""
        for name in list(names):
            entry = self.entries.pop(name)
            self.forgotten.add(name)
            for version in entry.versions:
                claims = version.barred.union(*version.said.claims())
                self._barred_for_good |= {claim for claim in claims if messages is None or claim[0] in messages}
            place = entry.now.said.scope, entry.now.said.key
            self._by_key[place].remove(entry)
            self._last_act[place] = 0

    def forget_messages(self, messages: set[str]) -> list[str]:
        """What came from them alone goes too, and what they said together with others; what others say too, or was
        told in person, loses their quotes and the versions that only they said. The names of those that went."""
        alone = [name for name, entry in self.entries.items() if _is_from_alone(entry, entry.now, messages)]
        self.forget_records(alone)
        groundless = [name for name, entry in self.entries.items() if _lost_its_ground(entry, messages)]
        self.forget_records(groundless, messages)
        gone = alone + groundless
        self.gone_messages |= messages
        for entry in self.entries.values():
            if _messages(entry) & messages:
                entry.versions = [
                    replace(version, is_gone=version.is_gone or _is_from_alone(entry, version, messages))
                    for version in entry.versions
                ]
                entry.versions = [_without(version, messages) for version in entry.versions]
        return gone

    def of_subject(self, subject: str) -> list[str]:
        return [name for name, entry in self.entries.items() if entry.now.said.key[0] == subject]

    # Asking

    def fact(self, scopes: Sequence[str], key: Key, now: str, *, as_of: str = "", true_at: str = "") -> str | None:
        """The name of the entry that holds. `scopes`: the nearest first."""
        moment = true_at or as_of or now
        for scope in scopes:
            found = [
                (version.said.true_from, version.since, entry.number, entry.name)
                for entry in self._by_key.get((scope, key), [])
                if (version := entry.at(as_of)) and _holds(version, moment)
            ]
            if found:
                return max(found)[-1]
        return None

    def listed(self, scopes: Sequence[str], now: str, *, as_of: str = "", true_at: str = "") -> dict[str, str]:
        """Name and text of what is believed."""
        found: dict[str, str] = {}
        for name, entry in self.entries.items():
            version = entry.at(as_of)
            if version is None or version.said.scope not in scopes or version.state == RETRACTED:
                continue
            said = version.said
            # What is replaced only from a later time on is told until then.
            if not true_at and version.state == REPLACED and said.true_until <= (as_of or now):
                continue
            if _is_expired(said, as_of or now):
                continue
            if true_at and not _is_true(version, true_at):
                continue
            found[name] = said.text
        return found

    def seen(self, scopes: Sequence[str]) -> set[str]:
        return {name for name, entry in self.entries.items() if entry.now.said.scope in scopes}

    def messages_of(self, name: str) -> set[str]:
        """Where it was ever read."""
        return _messages(self.entries[name])

    def keys(self) -> list[tuple[str, Key]]:
        return [place for place, entries in self._by_key.items() if entries]

    # Keeping

    def line(self, scope: str, key: Key) -> list[Entry]:
        """What was said of a key and not taken back, in the order in which it was true."""
        there = [entry for entry in self._by_key.get((scope, key), []) if entry.now.state != RETRACTED]
        # Of those that begin at the same moment, the one that held on is the last.
        return sorted(
            there, key=lambda one: (one.now.said.true_from, one.now.said.true_until or "~", one.now.since, one.number)
        )

    def _act(self, *, by_person: bool) -> None:
        self._acts += 1
        self._is_by_person = by_person

    def _write(self, entry: Entry, version: Version) -> None:
        entry.is_persons |= self._is_by_person
        entry.versions.append(version)
        entry.acts.append(self._acts)
        self._touched.setdefault(self._acts, []).append(entry)
        self._last_act[version.said.scope, version.said.key] = self._acts
        for message, _ in version.said.sources:
            if entry not in self._by_message.setdefault(message, []):
                self._by_message[message].append(entry)

    def _with_claims(self, entry: Entry) -> frozenset[Claim]:
        return entry.now.barred.union(*entry.now.said.claims())


def _says(entry: Entry, said: Said) -> bool:
    return entry.now.said.value == said.value


def _reaches(entry: Entry, moment: str) -> bool:
    until = entry.now.said.true_until
    return not until or until > moment


def _is_true(version: Version, moment: str) -> bool:
    said = version.said
    return said.true_from <= moment and (not said.true_until or said.true_until > moment)


def _is_expired(said: Said, moment: str) -> bool:
    return bool(said.expires_at) and said.expires_at <= moment


def _holds(version: Version, moment: str) -> bool:
    return version.state != RETRACTED and _is_true(version, moment) and not _is_expired(version.said, moment)


def _messages(entry: Entry) -> set[str]:
    return {message for version in entry.versions for message, _ in version.said.sources}


def _is_from_alone(entry: Entry, version: Version, messages: set[str]) -> bool:
    """Whether these messages, and nobody else, say it."""
    sources = {message for message, _ in version.said.sources}
    return not entry.is_told and bool(sources) and sources <= messages


def _lost_its_ground(entry: Entry, messages: set[str]) -> bool:
    """Whether they were among those that first said it, together, and nobody said it since."""
    if entry.is_told or entry.is_persons or not entry.kept:
        return False
    together = {message for message, _ in entry.kept[0].said.sources}
    since = {message for message, _ in entry.now.said.sources} - together - messages
    return bool(together & messages) and not since


def _without(version: Version, messages: set[str]) -> Version:
    kept = tuple(source for source in version.said.sources if source[0] not in messages)
    return replace(version, said=replace(version.said, sources=kept))
