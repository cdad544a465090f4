"""All SQL on the tables of records and of their stream."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from heapq import merge
from itertools import groupby
from typing import Any

import msgspec

from recollect.database import Row, Session
from recollect.knowledge.records import Category, Event, Evidence, Kind, Origin, Record, State, text_key
from recollect.lineage import folded
from recollect.scopes import EVERYTHING, HOUSE, ScopeStore, Sight

_NAMES = [item.name for item in fields(Record)]
_KEYS = ["subject_key", "attribute_key", "text_key"]
_COLUMNS = ", ".join(_NAMES)
_ALL = [*_NAMES, *_KEYS]
_HOLDS = "house = :house AND believed_until = ''"
"""The version of each record that holds now."""

ADD = f"INSERT INTO knowledge_records (house, {', '.join(_ALL)}) VALUES (:house, {', '.join(f':{n}' for n in _ALL)})"
END = f"UPDATE knowledge_records SET believed_until = :until WHERE {_HOLDS} AND id = :id AND version = :version"
NOW = f"SELECT {_COLUMNS} FROM knowledge_records WHERE {_HOLDS} AND id IN (:values)"
BEGINNING = f"SELECT {_COLUMNS} FROM knowledge_records WHERE {_HOLDS} AND id >= :first AND id < :beyond"
ENDING = f"SELECT {_COLUMNS} FROM knowledge_records WHERE {_HOLDS} AND id LIKE :ending"
VERSIONS = f"SELECT {_COLUMNS} FROM knowledge_records WHERE house = :house AND id IN (:values)"
PAGE = f"""
SELECT {_COLUMNS} FROM knowledge_records WHERE house = :house AND (id > :id OR id = :id AND version > :version)
"""
ABOUT = f"""
SELECT {_COLUMNS} FROM knowledge_records
WHERE {_HOLDS} AND subject_key = :subject AND attribute_key = :attribute AND scope = :scope AND state <> 'retracted'
ORDER BY true_from, CASE WHEN true_until = '' THEN '~' ELSE true_until END, learned_at, id
"""
"""Of those that begin at the same moment, the one that held on is the last."""
SAYING = f"""
SELECT {_COLUMNS} FROM knowledge_records
WHERE {_HOLDS} AND scope = :scope AND text_key = :text_key AND state = 'current'
"""
"""Put in order by who asks: an order in here would make SQLite walk through the scope in that order."""
OF_SUBJECT = "SELECT id FROM knowledge_records WHERE house = :house AND scope = :scope AND subject_key = :subject"
_OF_SCOPE = "FROM knowledge_records WHERE house = :house AND scope = :scope AND subject_key"
SUBJECTS = f"""
WITH RECURSIVE found (name) AS (
    SELECT min(subject_key) {_OF_SCOPE} > ''
    UNION ALL
    SELECT (SELECT min(subject_key) {_OF_SCOPE} > found.name) FROM found WHERE found.name IS NOT NULL
)
SELECT name FROM found WHERE name IS NOT NULL
"""
"""From one to the next in the index: many records are about few subjects."""
HELD = f"SELECT count(*) FROM knowledge_records WHERE {_HOLDS} AND scope = :scope"
OF_ORIGIN = f"SELECT count(*) FROM knowledge_records WHERE {_HOLDS} AND origin = :origin AND state = 'current'"
NUMBERS = f"""
SELECT scope, kind, category, state, count(*) FROM knowledge_records
WHERE {_HOLDS}{{visible}} GROUP BY scope, kind, category, state ORDER BY scope, kind, category, state
"""
COUNT_EVENTS = "SELECT count(*) FROM knowledge_events WHERE house = :house"
EVENTS_SEEN = f"{COUNT_EVENTS} AND record_id IN (SELECT id FROM knowledge_records WHERE {_HOLDS}{{visible}})"
CURRENT = f"""
SELECT (SELECT count(*) FROM knowledge_records WHERE {_HOLDS} AND state = 'current'{{visible}})
    - (SELECT count(*) FROM knowledge_records
        WHERE {_HOLDS} AND state = 'current' AND expires_at <> '' AND expires_at <= :now{{visible}})
"""
"""All without the expired: each number is counted in an index of its own, and no record is read."""
LISTED = f"""
SELECT {_COLUMNS} FROM knowledge_records
WHERE house = :house AND scope = :scope{{conditions}} ORDER BY learned_at DESC, id DESC LIMIT :limit
"""
LISTED_OF_SUBJECT = f"""
WITH about AS MATERIALIZED (
    SELECT {_COLUMNS} FROM knowledge_records WHERE house = :house AND scope = :scope{{conditions}}
)
SELECT {_COLUMNS} FROM about ORDER BY learned_at DESC, id DESC LIMIT :limit
"""
"""Found by their key and then put in order: few of a scope are about one subject."""
IMPORTANT = f"""
SELECT {_COLUMNS} FROM knowledge_records
WHERE {_HOLDS} AND state = 'current' AND scope = :scope AND (expires_at = '' OR expires_at > :now)
ORDER BY importance DESC, learned_at DESC, id DESC LIMIT :limit
"""
COMMITMENTS = f"""
SELECT {_COLUMNS} FROM knowledge_records
WHERE {_HOLDS} AND state = 'current' AND kind = 'commitment' AND scope = :scope
    AND (expires_at = '' OR expires_at > :now) AND true_from <= :now AND (true_until = '' OR true_until > :now)
ORDER BY learned_at DESC, id DESC LIMIT :limit
"""
DELETE = "DELETE FROM knowledge_records WHERE house = :house AND id = :id"
DELETE_ALL = "DELETE FROM knowledge_records WHERE house = :house"

LAST_EVENT = "SELECT max(number) FROM knowledge_events WHERE house = :house"
_EVENT = "number, record_id, version, at, action, actor, actor_name, reason, content"
ADD_EVENT = f"""
INSERT INTO knowledge_events (house, {_EVENT})
VALUES (:house, :number, :record_id, :version, :at, :action, :actor, :actor_name, :reason, :content)
"""
EVENTS_OF = f"""
SELECT {_EVENT} FROM knowledge_events WHERE house = :house AND record_id = :record_id ORDER BY number
"""
EVENTS_BETWEEN = f"""
SELECT {_EVENT} FROM knowledge_events WHERE house = :house AND at >= :since AND at < :until ORDER BY number LIMIT :limit
"""
NUMBERS_OF = """
SELECT record_id, number FROM knowledge_events
WHERE house = :house AND record_id IN (:values) ORDER BY record_id, number
"""
CHANGED_BY = "SELECT DISTINCT record_id FROM knowledge_events WHERE house = :house AND actor = :actor"
EVERY_EVENT = f"SELECT {_EVENT} FROM knowledge_events WHERE house = :house ORDER BY record_id, number"
BLANK = "UPDATE knowledge_events SET content = '', reason = '' WHERE house = :house AND record_id = :record_id"
BLANK_ONE = "UPDATE knowledge_events SET content = '', reason = '' WHERE house = :house AND number = :number"
REWRITE = "UPDATE knowledge_events SET content = :content WHERE house = :house AND number = :number"
WAS_THERE = "SELECT count(*) FROM knowledge_events WHERE house = :house AND record_id = :record_id"

_CONTENT = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which records are listed. Empty: any."""

    kind: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    subject: str = ""
    attribute: str = ""
    scope: str = ""
    states: tuple[str, ...] = (str(State.CURRENT),)
    as_of: str = ""
    """What was believed then. Empty: now."""
    counting_at: str = ""
    """What is current, and what is replaced only from a later time on."""
    true_at: str = ""
    """What was true then, by what is or was believed."""
    unexpired_at: str = ""

    def conditions(self) -> tuple[str, dict[str, Any]]:
        """SQL that follows other conditions, and what it needs."""
        given: dict[str, Any] = {}
        parts = [" AND believed_until = ''"]
        if self.as_of:
            parts = [" AND believed_from <= :as_of AND (believed_until = '' OR believed_until > :as_of)"]
            if not self.subject:
                # What was believed then had been learned by then: the index on that time says where to begin.
                parts.append(" AND learned_at <= :as_of")
            given["as_of"] = self.as_of
        if self.states:
            names = ", ".join(f"'{State(state)}'" for state in self.states)
            parts.append(f" AND state IN ({names})")
        if self.counting_at:
            parts.append(" AND (state = 'current' OR state = 'replaced' AND true_until > :counting_at)")
            given["counting_at"] = self.counting_at
        if self.true_at:
            parts.append(" AND true_from <= :true_at AND (true_until = '' OR true_until > :true_at)")
            given["true_at"] = self.true_at
        if self.unexpired_at:
            parts.append(" AND (expires_at = '' OR expires_at > :unexpired_at)")
            given["unexpired_at"] = self.unexpired_at
        for name in ("kind", "category"):
            if value := getattr(self, name):
                parts.append(f" AND {name} = :{name}")
                given[name] = value
        for name in ("subject", "attribute"):
            if value := getattr(self, name):
                parts.append(f" AND {name}_key = :{name}")
                given[name] = folded(value)
        for number, tag in enumerate(self.tags):
            parts.append(f" AND tags LIKE :tag_{number} ESCAPE '\\'")
            given[f"tag_{number}"] = _like(msgspec.json.encode(tag).decode())
        return "".join(parts), given


class RecordStore:
    def __init__(self, session: Session, house: str, sight: Sight = EVERYTHING) -> None:
        self._session = session
        self._house = house
        self._sight = sight

    # Writing

    def add(self, records: Iterable[Record]) -> None:
        self._session.many(ADD, [(self._house, *_values(record)) for record in records])

    def end(self, record: Record, until: str) -> bool:
        """Compare and set: False when another version holds by now."""
        given = self._given(id=record.id, version=record.version, until=until)
        return self._session.run(END, given) == 1

    def delete(self, record_ids: Iterable[str]) -> int:
        return sum(self._session.run(DELETE, self._given(id=record_id)) for record_id in record_ids)

    def delete_all(self) -> None:
        self._session.run(DELETE_ALL, self._given())

    # One record

    def get(self, record_ids: Sequence[str]) -> dict[str, Record]:
        """As they are now."""
        rows = self._session.among(_seen(NOW, self._sight), list(record_ids), self._given()) if record_ids else []
        return {row[0]: _record(row) for row in rows}

    def beginning(self, name: str, limit: int) -> list[Record]:
        """Those whose ids begin so."""
        statement = f"{_seen(BEGINNING, self._sight)} ORDER BY id LIMIT :limit"
        return self._select(statement, first=name, beyond=name + "\U0010ffff", limit=limit)

    def ending(self, name: str, limit: int) -> list[Record]:
        """Those whose ids end so. New ids begin with the time, so their ends tell them apart. Looks at every id."""
        statement = f"{_seen(ENDING, self._sight)} ORDER BY id LIMIT :limit"
        return self._select(statement, ending=f"%{name}", limit=limit)

    def versions(self, record_ids: Sequence[str]) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        statement = f"{_seen(VERSIONS, self._sight)} ORDER BY id, version"
        for row in self._session.among(statement, list(record_ids), self._given()) if record_ids else []:
            found.setdefault(row[0], []).append(_record(row))
        return found

    def page(self, after: tuple[str, int], limit: int) -> list[Record]:
        """All versions of all records, in the order of (id, version)."""
        statement = f"{_seen(PAGE, self._sight)} ORDER BY id, version LIMIT :limit"
        return self._select(statement, id=after[0], version=after[1], limit=limit)

    # Many

    def about(self, scope: str, key: tuple[str, str]) -> list[Record]:
        """What was said of a subject's attribute in a scope and not taken back, in the order in which it was true."""
        given = self._given(scope=scope, subject=key[0], attribute=key[1])
        return [_record(row) for row in self._session.rows(ABOUT, given)]

    def saying(self, scope: str, text: str) -> list[Record]:
        """Current records with these very words."""
        found = self._select(SAYING, scope=scope, text_key=text_key(text))
        return sorted(found, key=lambda record: (record.learned_at, record.id))

    def of_subject(self, subject: str) -> list[str]:
        """Every record that is or ever was about this subject."""
        given = [self._given(scope=scope, subject=folded(subject)) for scope in self._scopes()]
        return sorted({row[0] for one in given for row in self._session.rows(OF_SUBJECT, one)})

    def subjects(self, scope: str) -> list[str]:
        """What records of a scope are or were about, each as it is compared."""
        return [row[0] for row in self._session.rows(SUBJECTS, self._given(scope=scope))]

    def listed(self, chosen: Filter, limit: int) -> list[Record]:
        """The newest first. Scope by scope: each is read in the order of its index, and no further than needed."""
        conditions, given = chosen.conditions()
        statement = (LISTED_OF_SUBJECT if chosen.subject else LISTED).format(conditions=conditions)
        parts = [
            self._select(statement, scope=scope, limit=limit, **given)
            for scope in self._scopes()
            if chosen.scope in ("", scope)
        ]
        return list(merge(*parts, key=lambda record: (record.learned_at, record.id), reverse=True))[:limit]

    def most_important(self, now: str, limit: int) -> list[Record]:
        parts = [self._select(IMPORTANT, scope=scope, now=now, limit=limit) for scope in self._scopes()]
        order = merge(*parts, key=lambda record: (record.importance, record.learned_at, record.id), reverse=True)
        return list(order)[:limit]

    def commitments(self, now: str, limit: int) -> list[Record]:
        """Those that hold, the newest first."""
        parts = [self._select(COMMITMENTS, scope=scope, now=now, limit=limit) for scope in self._scopes()]
        return list(merge(*parts, key=lambda record: (record.learned_at, record.id), reverse=True))[:limit]

    def current(self, now: str) -> int:
        # Scopes are named in any case: without them SQLite would not count in the index of what expires.
        statement = CURRENT.format(visible=Sight(scopes=tuple(self._scopes())).condition("scope"))
        return self._session.value(statement, self._given(now=now))

    def numbers(self) -> list[tuple[str, str, str, str, int]]:
        """(scope, kind, category, state, how many)"""
        rows = self._session.rows(NUMBERS.format(visible=self._sight.condition("scope")), self._given())
        return [(scope, kind, category, state, number) for scope, kind, category, state, number in rows]

    def events(self) -> int:
        """How many events there are, for who does not see everything those of records that are seen."""
        visible = self._sight.condition("scope")
        return self._session.value(EVENTS_SEEN.format(visible=visible) if visible else COUNT_EVENTS, self._given())

    def of_origin(self, origin: str) -> int:
        """How many current records came to be known so."""
        return self._session.value(OF_ORIGIN, self._given(origin=origin))

    def held(self, scope: str) -> int:
        """How many records lie in a scope."""
        return self._session.value(HELD, self._given(scope=scope))

    def _scopes(self) -> Sequence[str]:
        if self._sight.scopes is not None:
            return self._sight.scopes
        return [HOUSE, *(scope.id for scope in ScopeStore(self._session, self._house).every())]

    def _select(self, sql: str, **parameters: Any) -> list[Record]:
        return [_record(row) for row in self._session.rows(sql, self._given(**parameters))]

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


class EventStore:
    """The stream. Rows are only added; forgetting blanks their content and leaves them."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house
        self._last = 0

    def append(self, event: Event) -> int:
        """Give the event its number, and keep it; the number."""
        if not self._last:
            self._last = self._session.value(LAST_EVENT, {"house": self._house}) or 0
        self._last += 1
        given = {name: getattr(event, name) for name in ("record_id", "version", "at", "action", "actor", "actor_name")}
        content = _packed(event.after) if event.after else ""
        self._session.run(
            ADD_EVENT, {"house": self._house, "number": self._last, "reason": event.reason, "content": content, **given}
        )
        return self._last

    def of_record(self, record_id: str) -> list[Event]:
        rows = self._session.rows(EVENTS_OF, {"house": self._house, "record_id": record_id})
        events: list[Event] = []
        before: Record | None = None
        for row in rows:
            event = _event(row, before)
            events.append(event)
            before = event.after
        return events

    def between(self, since: str, until: str, limit: int) -> list[Event]:
        """What happened in a time, in order; what each was before is left out."""
        given = {"house": self._house, "since": since, "until": until, "limit": limit}
        return [_event(row, None) for row in self._session.rows(EVENTS_BETWEEN, given)]

    def numbered_within(self, events: Sequence[Event]) -> list[Event]:
        """With the place of each among those of its record for its number. The number in the house is for who sees
        everything: it counts what all others do."""
        places: dict[int, int] = {}
        named = sorted({event.record_id for event in events})
        rows = self._session.among(NUMBERS_OF, named, {"house": self._house}) if named else []
        for _, numbers in groupby(rows, key=lambda row: row[0]):
            places.update((number, place) for place, (_, number) in enumerate(numbers, start=1))
        return [replace(event, number=places[event.number]) for event in events]

    def changed_by(self, actor: str) -> set[str]:
        """Every record that such a one ever wrote, confirmed or changed."""
        return {row[0] for row in self._session.rows(CHANGED_BY, {"house": self._house, "actor": actor})}

    def each(self) -> Iterator[Event]:
        """All of them, record by record, those of each in order."""
        for row in self._session.each(EVERY_EVENT, {"house": self._house}):
            yield _event(row, None)

    def was_there(self, record_id: str) -> bool:
        return bool(self._session.value(WAS_THERE, {"house": self._house, "record_id": record_id}))

    def rewrite(self, number: int, after: Record) -> None:
        """An event without a part of what it said."""
        self._session.run(REWRITE, {"house": self._house, "number": number, "content": _packed(after)})

    def blank_one(self, number: int) -> None:
        self._session.run(BLANK_ONE, {"house": self._house, "number": number})

    def blank(self, record_ids: Iterable[str]) -> int:
        """Forget what these events said; how many there are."""
        given = [{"house": self._house, "record_id": record_id} for record_id in record_ids]
        return sum(self._session.run(BLANK, one) for one in given)


def _seen(sql: str, sight: Sight) -> str:
    return sql + sight.condition("scope")


def _like(part: str) -> str:
    escaped = part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _values(record: Record) -> tuple[Any, ...]:
    values: list[Any] = []
    for name in _NAMES:
        value = getattr(record, name)
        if name in ("tags", "sources", "restated"):
            value = msgspec.json.encode(value).decode()
        elif name in ("kind", "category", "origin", "state"):
            value = str(value)
        values.append(value)
    return (*values, folded(record.subject), folded(record.attribute), text_key(record.text))


def _record(row: Row) -> Record:
    values = dict(zip(_NAMES, row, strict=True))
    values["tags"] = tuple(msgspec.json.decode(values["tags"], type=list[str]))
    values["sources"] = tuple(msgspec.json.decode(values["sources"], type=list[Evidence]))
    values["restated"] = tuple(msgspec.json.decode(values["restated"], type=list[str]))
    return _with_words(values)


def _with_words(values: dict[str, Any]) -> Record:
    values["kind"], values["category"] = Kind(values["kind"]), Category(values["category"])
    values["origin"], values["state"] = Origin(values["origin"]), State(values["state"])
    return Record(**values)


def _packed(record: Record) -> str:
    """A version as the stream keeps it: until when it is believed is told by the event after it."""
    content = msgspec.to_builtins(record)
    del content["believed_until"]
    return msgspec.json.encode(content).decode()


def _event(row: Row, before: Record | None) -> Event:
    number, record_id, version, at, action, actor, actor_name, reason, content = row
    after: Record | None = None
    if content:
        values = _CONTENT.decode(content)
        values["tags"], values["restated"] = tuple(values["tags"]), tuple(values["restated"])
        values["sources"] = tuple(Evidence(**source) for source in values["sources"])
        after = _with_words(values)
    return Event(
        number=number,
        record_id=record_id,
        version=version,
        at=at,
        action=action,
        actor=actor,
        actor_name=actor_name,
        reason=reason,
        before=before,
        after=after,
    )
