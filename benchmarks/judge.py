"""Asks a house and the ledger the same, and counts where they differ."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import zstandard
from ledger import HOUSE
from life import CHAINS, EVERYWHERE, Life
from talks import WORD, stored

import recollect
from recollect.database import Database
from recollect.testing import FrozenClock

MOST = 100_000
ZSTANDARD = b"\x28\xb5\x2f\xfd"
SHOWN = 30
"""Mistakes of each kind that are told in words."""


@dataclass(kw_only=True)
class Score:
    asked: int = 0
    wrong: list[str] = field(default_factory=list[str])

    def expect(self, is_right: bool, what: object) -> None:
        self.asked += 1
        if not is_right:
            self.wrong.append(str(what))

    @property
    def accuracy(self) -> float:
        return 1 - len(self.wrong) / self.asked if self.asked else 1.0


class Judge:
    """Of one life. Its scores add up over all checkpoints."""

    def __init__(self, life: Life, home: Path) -> None:
        self._life, self._home = life, home
        self._chance = life.chance
        self.current, self.belief, self.truth = Score(), Score(), Score()
        self.leaks, self.residue, self.stream, self.rebuilt = Score(), Score(), Score(), Score()

    # Facts

    def check_current(self, facts: int) -> None:
        life, now = self._life, self._life.now
        for scope in EVERYWHERE:
            knowledge, chain = life.as_seen_by(scope).knowledge, self._chain(scope)
            got = {record.id: record.text for record in knowledge.records(limit=MOST)}
            must = life.ledger.listed(chain, now)
            for name in must.keys() | got.keys():
                self.current.expect(
                    got.get(name) == must.get(name),
                    f"{scope} lists {name} as {got.get(name)!r} instead of {must.get(name)!r}",
                )
        for scope, key in self._keys(facts):
            record = life.as_seen_by(scope).knowledge.fact(*key)
            expected = life.ledger.fact(self._chain(scope), key, now)
            got_name = record.id if record else None
            self.current.expect(got_name == expected, f"{scope} {key}: {got_name} instead of {expected}")

    def check_past(self, facts: int, lists: int) -> None:
        """What was believed, and what was true, at moments drawn by chance."""
        life = self._life
        for scope, key in self._keys(facts):
            knowledge, chain = life.as_seen_by(scope).knowledge, self._chain(scope)
            as_of, true_at = self._moment(), self._moment()
            for score, when in (
                (self.belief, {"as_of": as_of}),
                (self.truth, {"true_at": true_at}),
                (self.truth, {"as_of": as_of, "true_at": true_at}),
            ):
                record = knowledge.fact(*key, **when)
                expected = life.ledger.fact(chain, key, life.now, **when)
                got = record.id if record else None
                said = record.text if record else ""
                entry = life.ledger.entries.get(expected or "")
                version = entry.at(when.get("as_of", "")) if entry else None
                words = version.said.text if version else ""
                score.expect((got, said) == (expected, words), f"{scope} {key} {when}: {got} instead of {expected}")
        for _ in range(lists):
            scope = self._chance.choice(EVERYWHERE)
            self._check_lists(scope, self._moment())

    def _check_lists(self, scope: str, moment: str) -> None:
        knowledge, chain = self._life.as_seen_by(scope).knowledge, self._chain(scope)
        for score, when in ((self.belief, {"as_of": moment}), (self.truth, {"true_at": moment})):
            got = {record.id: record.text for record in knowledge.records(**when, limit=MOST)}
            must = self._life.ledger.listed(chain, self._life.now, **when)
            different = {name for name in got.keys() | must.keys() if got.get(name) != must.get(name)}
            score.expect(
                not different,
                f"{scope} {when}: {len(different)} of {len(must)} differ, as {min(different, default='')}",
            )

    # Scopes

    def check_scopes(self, searches: int) -> None:
        """Nobody may see more than its chain allows, on any path."""
        for scope in CHAINS:
            memory = self._life.as_seen_by(scope)
            records = self._life.ledger.seen(self._chain(scope))
            messages = {name for name, one in self._life.talks.there.items() if one.scope in self._chain(scope)}
            self._check_paths(scope, memory, records, messages)
            self._check_hidden(scope, memory, records, messages, searches)

    def _check_paths(self, scope: str, memory: recollect.Memory, records: set[str], messages: set[str]) -> None:
        listed = {record.id for record in memory.knowledge.records(state="all", expired=True, limit=MOST)}
        self._expect_same(f"{scope} lists", listed, records)
        for query in ("SELECT id FROM records", "SELECT id FROM record_versions"):
            self._expect_same(f"{scope} {query}", _column(memory, query), records)
        # Of what was forgotten the events stay, blank: only a person sees those.
        self._expect_same(f"{scope} events", _column(memory, "SELECT record_id FROM record_events"), records)
        sources = _column(memory, "SELECT record_id FROM record_sources")
        self.leaks.expect(sources <= records, f"{scope} sees sources of {len(sources - records)} records")
        self._expect_same(f"{scope} messages", _column(memory, "SELECT id FROM messages"), messages)

    def _check_hidden(
        self, scope: str, memory: recollect.Memory, records: set[str], messages: set[str], searches: int
    ) -> None:
        hidden = sorted(self._life.ledger.entries.keys() - records)
        allowed = self._words(self._chain(scope))
        for name in self._chance.sample(hidden, min(searches, len(hidden))):
            said = self._life.ledger.entries[name].now.said
            self.leaks.expect(not _is_found(memory, name), f"{scope} reads {name} by its id")
            found = memory.recall.search(said.text, limit=20)
            seen = {hit.id for hit in found.hits}
            self.leaks.expect(seen <= records | messages, f"{scope} finds {sorted(seen - records - messages)}")
        context = memory.context.rehydration(4_000)
        shown = _words_in("".join(section.text for section in context.sections).encode())
        self.leaks.expect(shown <= allowed, f"the context of {scope} holds {sorted(shown - allowed)[:5]}")

    def _expect_same(self, what: str, got: set[str], must: set[str]) -> None:
        self.leaks.expect(got == must, f"{what} {len(got - must)} too many and {len(must - got)} too few")

    # Traces

    def check_residue(self) -> None:
        """No word of anything forgotten may be left in a table, packed or not, or in the bytes of a file."""
        allowed = self._words(EVERYWHERE)
        databases = (self._life.memory.database, self._life.memory.recall.place())
        for database in databases:
            for place, words in _words_of_tables(database):
                self.residue.expect(words <= allowed, f"{place}: {sorted(words - allowed)[:5]}")
        paths = {*self._home.rglob("*"), *(path for database in databases for path in database.files())}
        for path in sorted(paths):
            if path.is_file():
                # Where a page was written over, parts of two words may stand side by side.
                words = _words_in(path.read_bytes()) & self._life.words.made
                self.residue.expect(words <= allowed, f"{path.name}: {sorted(words - allowed)[:5]}")

    def _words(self, scopes: Sequence[str]) -> set[str]:
        """The words of all that is there and lies in these scopes."""
        texts = [one.text for one in self._life.talks.there.values() if one.scope in scopes]
        for entry in self._life.ledger.entries.values():
            for version in entry.kept:
                said = version.said
                if said.scope in scopes:
                    texts += [said.text, said.value, *said.key, *(quote for _, quote in said.sources)]
        return _words_in("\n".join(texts).encode())

    # The stream

    def check_stream(self) -> None:
        """Each version has its event, and the stream alone makes the same records again."""
        memory = self._life.memory
        versions = memory.sql("SELECT id, version FROM record_versions", seconds=60, limit=10 * MOST)[1]
        events = memory.sql(
            "SELECT record_id, version FROM record_events WHERE action <> 'forgotten'", seconds=60, limit=10 * MOST
        )[1]
        there = {name for name, _ in versions}
        told = {(name, version) for name, version in events if name in there}
        missing = set(versions) - told
        self.stream.expect(not missing, f"{len(missing)} versions have no event")
        entries, counts = self._life.ledger.entries, Counter(name for name, _ in versions)
        for name in self._sample(there):
            self.stream.expect(counts[name] == len(entries[name].kept), f"{name} has {counts[name]} versions")
        before = _rows(memory.database)
        memory.knowledge.rebuild()
        self.rebuilt.expect(_rows(memory.database) == before, "the rebuilt records differ")

    def _sample(self, names: set[str]) -> list[str]:
        return self._chance.sample(sorted(names & self._life.ledger.entries.keys()), min(100, len(names)))

    # Drawing

    def _keys(self, number: int) -> Iterable[tuple[str, tuple[str, str]]]:
        """Who asks, and about what: mostly about what was said where they stand."""
        keys = self._life.ledger.keys()
        for scope, key in self._chance.choices(keys, k=number):
            below = [one for one, chain in CHAINS.items() if scope in chain]
            yield self._chance.choice([scope, HOUSE, *below]), key

    def _chain(self, scope: str) -> Sequence[str]:
        return CHAINS.get(scope, EVERYWHERE)

    def _moment(self) -> str:
        """Any time of this life; now and then the very moment of a change."""
        entries = list(self._life.ledger.entries.values())
        if self._chance.random() < 0.3:
            return self._chance.choice(self._chance.choice(entries).versions).since
        begin = min(entry.learned_at for entry in entries[:50])
        clock: FrozenClock = self._life.clock
        span = clock.now - clock.now.fromisoformat(begin)
        return stored(clock.now - timedelta(seconds=self._chance.random() * span.total_seconds()))


def _column(memory: recollect.Memory, query: str) -> set[str]:
    return {row[0] for row in memory.sql(query, seconds=60, limit=10 * MOST)[1]}


def _is_found(memory: recollect.Memory, name: str) -> bool:
    try:
        memory.knowledge.why(name)
    except recollect.NotFound:
        return False
    return True


def _rows(database: Database) -> list[Any]:
    with database.read() as session:
        return session.rows("SELECT * FROM knowledge_records ORDER BY id, version")


def _words_in(content: bytes) -> set[str]:
    return {found.decode() for found in WORD.findall(content)}


def _words_of_tables(database: Database) -> Iterable[tuple[str, set[str]]]:
    with database.read() as session:
        for table in session.tables():
            if not re.fullmatch(r"[a-z_0-9]+", table):
                continue
            words: set[str] = set()
            for row in session.each(f"SELECT * FROM {table}"):
                words |= _words_in(b"\n".join(_plain(value) for value in row))
            yield table, words


def _plain(value: Any) -> bytes:
    if isinstance(value, bytes | memoryview):
        content = bytes(value)
        return zstandard.ZstdDecompressor().decompress(content) if content.startswith(ZSTANDARD) else content
    return str(value).encode("utf-8", "surrogatepass")
