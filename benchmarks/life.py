"""A made-up life: people, agents and a librarian state, correct, take back and forget things, by chance from one seed.

Everything is told twice, to a house and to the `Ledger`. Each text, value, subject and message carries a word of its
own that occurs nowhere else, so that whatever remains of it can be found by that word.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from ledger import CURRENT, HOUSE, Entry, Key, Ledger, Said
from talks import FOLDERS, Spoken, Talks, Words, stored

import recollect
from recollect.knowledge import Evidence, Kind, Knowledge, Learned, Origin, Statement
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock

SUBJECTS = 120
ATTRIBUTES = ("tea", "editor", "city", "employer", "dentist", "music", "shell", "allergy")
CHAINS = {
    "ada": ("ada", HOUSE),
    "ben": ("ben", HOUSE),
    "cleo": ("cleo", "ada", HOUSE),
    "ada/kitchen": ("ada/kitchen", "ada", HOUSE),
    "ben/desk": ("ben/desk", "ben", HOUSE),
}
"""Who sees what: an agent, or an agent in a room; the nearest scope first."""
GRANTS = {"ada": HOUSE, "cleo": "ada"}
"""Who may write above itself; so may who stands below it."""
EVERYWHERE = (HOUSE, *sorted(CHAINS))
STATEMENTS_IN_A_CONVERSATION = 9


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """A statement of the librarian's, to be made again later on."""

    statement: Statement
    said: Said


@dataclass(kw_only=True)
class Tally:
    """What happened, and what did not go as it must."""

    acts: Counter[str] = field(default_factory=Counter[str])
    surprises: list[str] = field(default_factory=list[str])
    """Outcomes that differ from what the ledger says."""
    resurrected: list[str] = field(default_factory=list[str])
    unwatched: list[str] = field(default_factory=list[str])
    """Writes that had to be denied and were not."""
    forget_seconds: list[float] = field(default_factory=list[float])


class Life:
    def __init__(self, memory: recollect.Memory, clock: FrozenClock, folder: Path, seed: int) -> None:
        self.memory, self.clock = memory, clock
        self.ledger, self.tally = Ledger(), Tally()
        self.chance = random.Random(seed)
        self.words = Words(self.chance)
        self.talks = Talks(memory, folder, self.chance, self.words)
        self.extractions: list[Extraction] = []
        self.statements = 0
        self._subjects = [f"Person {self.words.new()}" for _ in range(SUBJECTS)]
        self.librarian = Knowledge(
            memory.database, memory.settings.house, clock, Principal(actor=Actor.LIBRARIAN, name="librarian")
        )
        self._make_agents()

    def _make_agents(self) -> None:
        for scope, chain in CHAINS.items():
            self.memory.agents.add(scope, *([] if "/" in scope else [chain[1]]))
        for scope, target in GRANTS.items():
            self.memory.agents.grant(scope, target)
        for scope, name in FOLDERS.items():
            if scope != HOUSE:
                self.memory.agents.bind(scope, "generic", f"{name}/")

    def as_seen_by(self, scope: str) -> recollect.Memory:
        """The house, as the agent sees it that stands there; for the house itself, as the person does."""
        agent, _, room = scope.partition("/")
        return self.memory if scope == HOUSE else self.memory.as_agent(agent, room)

    @property
    def now(self) -> str:
        return stored(self.clock.now)

    # Living

    def live(self, statements: int) -> None:
        """Until so many statements were made, with all that happens between them."""
        acts: list[tuple[Callable[[], None], float]] = [
            (self.librarian_reads, 24),
            (self.person_states, 22),
            (self.agent_states, 13),
            (self.somebody_edits, 7),
            (self.somebody_retracts, 2.5),
            (self.somebody_undoes, 6),
            (self.agent_trespasses, 1),
            (self.librarian_reads_again, 0.5),
            (self.somebody_forgets, 1.2),
            (self.transcripts_come_again, 0.1),
        ]
        names, weights = zip(*acts, strict=True)
        while self.statements < statements:
            self.clock.now += timedelta(
                seconds=self.chance.randrange(1, 10_800), milliseconds=self.chance.randrange(999)
            )
            self.chance.choices(names, weights)[0]()

    # Statements

    def person_states(self) -> None:
        scope = HOUSE if self.chance.random() < 0.85 else self.chance.choice(list(CHAINS))
        self._state(self.memory.knowledge, self._said(scope), by_person=True)

    def agent_states(self) -> None:
        where = self.chance.choice(list(CHAINS))
        scope = GRANTS[where] if where in GRANTS and self.chance.random() < 0.3 else where
        self._state(self.as_seen_by(where).knowledge, self._said(scope), by_person=False)

    def librarian_reads(self) -> None:
        """What was said in a conversation that nobody has read yet, several statements at once."""
        messages = self.talks.next_unread()
        if not messages:
            self.talks.arrive(12, self.clock.now)
            self.tally.acts["conversations taken in"] += 12
            self._look_for_the_forgotten()
            return
        found = [self._extraction(messages) for _ in range(self.chance.randrange(1, STATEMENTS_IN_A_CONVERSATION))]
        self.extractions += found
        self._extract(found)

    def librarian_reads_again(self) -> None:
        """The same statements from the same places: nothing of what was corrected or forgotten may come back."""
        if self.extractions:
            self._extract(self.chance.sample(self.extractions, min(40, len(self.extractions))), again=True)

    def read_everything_again(self) -> None:
        for start in range(0, len(self.extractions), 500):
            self._extract(self.extractions[start : start + 500], again=True)

    def _state(self, knowledge: Knowledge, said: Said, *, by_person: bool) -> None:
        learned = knowledge.learn(self._statement(said))
        self._hear(learned, said, by_person=by_person)
        self.statements += 1
        self.tally.acts["stated"] += 1

    def _extract(self, found: Sequence[Extraction], *, again: bool = False) -> None:
        results = self.librarian.learn_many([one.statement for one in found])
        for one, learned in zip(found, results, strict=True):
            said = replace(one.said, true_from=one.statement.true_from or self.now)
            self._hear(learned, said, by_person=False)
        if not again:
            self.statements += len(found)
        self.tally.acts["extracted again" if again else "extracted"] += len(found)

    def _hear(self, learned: Learned, said: Said, *, by_person: bool) -> None:
        must = self.ledger.learn(said, self.now, by_person=by_person)
        if must.kind == "refused":
            self.tally.acts["refused"] += 1
            if learned.outcome != "refused":
                self.tally.resurrected.append(f"{learned.outcome}: {said}")
            return
        expected = must.entry.name if must.entry else ""
        got = learned.record.id if learned.record else ""
        if must.kind != learned.outcome or (expected and expected != got):
            self.tally.surprises.append(f"{learned.outcome} instead of {must.kind}: {said}")
        self.tally.acts[f"outcome {must.kind}"] += 1
        if must.entry and not expected:
            self.ledger.name(must.entry, got or f"missing {must.entry.number}")
        if must.resumed:
            following = learned.record.replaced_by if learned.record else ""
            self.ledger.name(must.resumed, following or f"missing {must.resumed.number}")

    def _statement(self, said: Said, origin: Origin = Origin.TOLD) -> Statement:
        return Statement(
            text=said.text,
            kind=Kind.FACT,
            subject=said.key[0],
            attribute=said.key[1],
            value=said.value,
            scope=said.scope,
            true_from="" if said.true_from == self.now else said.true_from,
            true_until=said.true_until,
            expires_at=said.expires_at,
            origin=origin,
            sources=tuple(Evidence(message_id=message, quote=quote) for message, quote in said.sources),
        )

    def _said(self, scope: str, at: str = "", sources: tuple[tuple[str, str], ...] = ()) -> Said:
        key = self._key()
        true_from = at or self._true_from()
        true_until = self._later(true_from) if self.chance.random() < 0.05 else ""
        expires_at = self._later(self.now) if self.chance.random() < 0.06 else ""
        value = self._value(scope, key)
        return Said(
            scope=scope,
            key=key,
            text=f"The {key[1]} of {key[0]} is {value}: {self.words.new()}.",
            value=value,
            true_from=true_from,
            true_until=true_until,
            expires_at=expires_at,
            sources=sources,
        )

    def _extraction(self, messages: Sequence[Spoken]) -> Extraction:
        message = self.chance.choice(messages)
        sources = [message]
        if self.chance.random() < 0.2:
            sources.append(self.chance.choice(messages))
        told = tuple((one.id, self._quote(one)) for one in dict.fromkeys(sources))
        said = self._said(message.scope, message.at, told)
        if self.chance.random() < 0.2:
            # It does not say since when: true from when it is read.
            said = replace(said, true_from=self.now, true_until="")
        return Extraction(statement=self._statement(said, Origin.EXTRACTED), said=said)

    def _quote(self, message: Spoken) -> str:
        """Its first words, of which the third one tells it from all others, or more of them."""
        words = message.text.split()
        return " ".join(words[: self.chance.randrange(4, len(words) + 1)])

    def _key(self) -> Key:
        # A few are spoken of often.
        number = int(SUBJECTS * self.chance.random() ** 2)
        return self._subjects[number], self.chance.choice(ATTRIBUTES)

    def _value(self, scope: str, key: Key) -> str:
        """Often what is known already, or was known once."""
        known = [version.said.value for entry in self.ledger.line(scope, key) for version in entry.kept]
        return self.chance.choice(known) if known and self.chance.random() < 0.3 else self.words.new()

    def _true_from(self) -> str:
        """Mostly from now on; else from an earlier or a later time, in days or to the second."""
        kind = self.chance.random()
        if kind < 0.6:
            return self.now
        days = self.chance.randrange(1, 90) * (-1 if kind < 0.93 else 1)
        moment = self.clock.now + timedelta(days=days)
        if self.chance.random() < 0.4:
            moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return stored(moment)

    def _later(self, moment: str) -> str:
        return stored(datetime.fromisoformat(moment) + timedelta(hours=self.chance.randrange(1, 4_000)))

    # Corrections

    def somebody_edits(self) -> None:
        entry = self._some(lambda entry: entry.now.state == CURRENT)
        if entry:
            value = self.words.new()
            text = f"The {entry.now.said.key[1]} is {value} after all: {self.words.new()}."
            editor, by_person = self._editor(entry)
            editor.edit(entry.name, text, value=value, reason="it was wrong")
            self.ledger.edit(entry, text, value, self.now, by_person=by_person)
            self.tally.acts["edited"] += 1

    def somebody_retracts(self) -> None:
        entry = self._some(lambda entry: entry.now.state == CURRENT)
        if entry:
            editor, by_person = self._editor(entry)
            editor.retract(entry.name)
            self.ledger.retract(entry, self.now, by_person=by_person)
            self.tally.acts["retracted"] += 1

    def somebody_undoes(self) -> None:
        entry = self._some(self.ledger.can_undo)
        if entry:
            editor, by_person = self._editor(entry)
            editor.undo(entry.name)
            self.ledger.undo(entry, self.now, by_person=by_person)
            self.tally.acts["undone"] += 1

    def agent_trespasses(self) -> None:
        """An agent changes what it may only see, or may not even see."""
        where = self.chance.choice(list(CHAINS))
        may_write = {where, *(GRANTS[scope] for scope in CHAINS[where] if scope in GRANTS)}
        entry = self._some(lambda entry: entry.now.said.scope not in may_write)
        if entry is None:
            return
        knowledge = self.as_seen_by(where).knowledge
        for act in (lambda: knowledge.edit(entry.name, "mine now"), lambda: knowledge.retract(entry.name)):
            try:
                act()
            except (recollect.Denied, recollect.NotFound):
                continue
            self.tally.unwatched.append(f"{where} changed a record of {entry.now.said.scope}")
        self.tally.acts["trespassed"] += 1

    def _some(self, is_fit: Callable[[Entry], bool]) -> Entry | None:
        """An entry of the last ones, or of any time."""
        names = list(self.ledger.entries)
        recent = names[-60:] if self.chance.random() < 0.5 else names
        for _ in range(20):
            entry = self.ledger.entries[self.chance.choice(recent)] if recent else None
            if entry and is_fit(entry):
                return entry
        return None

    def _editor(self, entry: Entry) -> tuple[Knowledge, bool]:
        """A person, or the agent whose own it is; and whether it is a person."""
        scope = entry.now.said.scope
        by_agent = scope != HOUSE and self.chance.random() < 0.5
        return (self.as_seen_by(scope).knowledge if by_agent else self.memory.knowledge), not by_agent

    # Forgetting

    def somebody_forgets(self) -> None:
        kind = self.chance.choices(["record", "message", "conversation", "subject"], [5, 3, 1.5, 1])[0]
        with_sources = kind in ("record", "subject") and self.chance.random() < 0.3
        name, records, messages = self._target(kind)
        if not name:
            return
        if with_sources:
            messages = {
                message for one in records for message in self.ledger.messages_of(one)
            } & self.talks.there.keys()
        options = {kind: name}
        started = time.perf_counter()
        done = self.memory.forget(**options, with_sources=with_sources)
        self.tally.forget_seconds.append(time.perf_counter() - started)
        if not done.is_verified:
            self.tally.surprises.append(f"forgetting a {kind} left: {done.residue}")
        self.ledger.forget_records(records)
        self.ledger.forget_messages(messages)
        self.talks.drop(messages)
        self.tally.acts[f"forgot a {kind}"] += 1

    def _target(self, kind: str) -> tuple[str, list[str], set[str]]:
        """A name, and the records and messages that it names."""
        if kind == "record":
            entry = self._some(lambda _: True)
            return (entry.name, [entry.name], set()) if entry else ("", [], set())
        if kind == "subject":
            subject = self._subjects[self.chance.randrange(SUBJECTS // 2, SUBJECTS)]
            records = self.ledger.of_subject(subject)
            return subject if records else "", records, set()
        if not self.talks.there:
            return "", [], set()
        message = self.chance.choice(list(self.talks.there.values()))
        if kind == "message":
            return message.id, [], {message.id}
        return message.conversation, [], set(self.talks.conversation(message.conversation))

    # Transcripts

    def transcripts_come_again(self) -> None:
        self.talks.come_again()
        self._look_for_the_forgotten()

    def _look_for_the_forgotten(self) -> None:
        back = self.ledger.gone_messages & self.talks.found
        self.tally.resurrected += [f"message {name}" for name in sorted(back)]
        lost = self.talks.there.keys() - self.talks.found
        self.tally.surprises += [f"message {name} is lost" for name in sorted(lost)]
