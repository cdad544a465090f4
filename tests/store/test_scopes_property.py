"""Whatever agents, rooms, grants, bindings, transcripts and records there are: nobody sees or changes what its chain
does not allow, on any path. What may be seen is worked out here a second time, from the tree alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import Transcript, write

import recollect
from recollect import Denied, NotFound
from recollect.history import Message
from recollect.knowledge import Evidence, Kind, Record, Statement
from recollect.scopes import HOUSE

SOURCE = "claude-code"
FOLDERS = ["-a/", "-a-b/", "-c/"]
PREFIXES = ["", "-a", "-a-b", "-c", "-x"]
TABLES = ["knowledge_records", "knowledge_events", "lineage_edges", "feed_changes", "history_files", "scope_grants"]


@dataclass
class House:
    """What hypothesis thinks up, and what follows from it."""

    parents: dict[str, str] = field(default_factory=dict[str, str])
    """Agent or room → what it stands below."""
    grants: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    early: dict[str, str] = field(default_factory=dict[str, str])
    """Prefix → scope, bound before the transcripts come in."""
    late: dict[str, str] = field(default_factory=dict[str, str])
    """Bound afterwards."""
    folders: list[str] = field(default_factory=list[str])
    """Of the transcripts."""
    records: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """(scope, number of the transcript it is from)"""

    def chain(self, scope: str) -> list[str]:
        return [scope, *self.chain(self.parents[scope])] if scope != HOUSE else [HOUSE]

    def writable(self, scope: str) -> set[str]:
        chain = self.chain(scope)
        return {scope} | {target for one, target in self.grants if one in chain and target in chain}

    def scope_of(self, number: int) -> str:
        """Of a transcript: that of the longest prefix."""
        bound = {**self.early, **self.late}
        fitting = [prefix for prefix in bound if self.folders[number].startswith(prefix)]
        return bound[max(fitting, key=len)] if fitting else HOUSE


@st.composite
def houses(draw: st.DrawFn) -> House:
    made = House()
    for name in draw(st.lists(st.sampled_from(["ada", "bob", "eve", "kim"]), min_size=1, max_size=4, unique=True)):
        made.parents[name] = draw(st.sampled_from([HOUSE, *made.parents]))
    for room in draw(st.lists(st.sampled_from(["hall", "attic"]), max_size=2)):
        parent = draw(st.sampled_from([HOUSE, *made.parents]))
        made.parents[f"{parent}/{room}"] = parent
    scopes = [HOUSE, *made.parents]
    above = [(scope, target) for scope in made.parents for target in made.chain(scope)[1:]]
    made.grants = draw(st.sets(st.sampled_from(above), max_size=3))
    bindings = st.dictionaries(st.sampled_from(PREFIXES), st.sampled_from(scopes), max_size=2)
    made.early, made.late = draw(bindings), draw(bindings)
    made.folders = draw(st.lists(st.sampled_from(FOLDERS), min_size=1, max_size=4))
    numbers = st.integers(0, len(made.folders) - 1)
    made.records = draw(st.lists(st.tuples(st.sampled_from(scopes), numbers), max_size=4))
    return made


class Built:
    """The house for real. Whatever belongs to a transcript or a record holds its word: `file0word`, `record0word`."""

    def __init__(self, memory: recollect.Memory, house: House, projects: Path) -> None:
        self.memory = memory
        self.house = house
        for name, parent in house.parents.items():
            memory.agents.add(name, **({} if "/" in name else {"parent": parent}))
        for scope, target in house.grants:
            memory.agents.grant(scope, target)
        self._bind(house.early)
        self._tell(projects)
        memory.history.ingest([projects])
        self._bind(house.late)
        self.messages: list[Message] = list(memory.history.export())
        self.conversations = memory.history.conversations()
        self.records = [self._learn(number, *record) for number, record in enumerate(house.records)]

    def _bind(self, bindings: dict[str, str]) -> None:
        for prefix, scope in bindings.items():
            self.memory.agents.bind(scope, SOURCE, prefix)

    def _tell(self, projects: Path) -> None:
        leaf, before = "of no file", ""
        for number, folder in enumerate(self.house.folders):
            told = Transcript(f"transcript {number}", cwd=f"/home/ada/file{number}word")
            told.exchanges(1, f"file{number}word")
            told.summary(f"A title by file{number}word", leaf)
            if before:
                told.fork_context(before)
            leaf, before = told.last or "", told.session_id
            write(projects / folder / f"{told.session_id}.jsonl", told.raw)

    def _learn(self, number: int, scope: str, file: int) -> Record:
        source = next(message for message in self.messages if f"file{file}word" in message.text)
        statement = Statement(
            text=f"What is record{number}word.",
            kind=Kind.FACT,
            subject=f"record{number}word",
            attribute="is",
            scope=scope,
            sources=(Evidence(message_id=source.id),),
        )
        made = self.memory.knowledge.learn(statement, reason=f"record{number}word").record
        return self.memory.knowledge.edit(made.id, f"What is record{number}word now.", reason=f"record{number}word")

    def words(self, scope: str | None) -> set[str]:
        """Of what may be seen from a scope; None: of everything."""
        chain = None if scope is None else self.house.chain(scope)
        files = {f"file{n}word" for n in range(len(self.house.folders)) if not chain or self.house.scope_of(n) in chain}
        return files | {f"record{n}word" for n, (own, _) in enumerate(self.house.records) if not chain or own in chain}

    def everybody(self) -> Iterator[tuple[str | None, recollect.Memory]]:
        """The person, every agent, and each in each of its rooms: the scope, and the house as it is seen from there."""
        yield None, self.memory
        for scope in self.house.parents:
            name, _, room = scope.partition("/")
            if name != HOUSE:
                yield scope, self.memory.as_agent(name, room)

    def contents(self) -> list[object]:
        with self.memory.database.read() as session:
            where = f"WHERE house = '{self.memory.settings.house}'"
            return [sorted(session.rows(f"SELECT * FROM {table} {where}"), key=repr) for table in TABLES]


def words_in(answer: object, of: set[str]) -> set[str]:
    text = repr(answer)
    return {word for word in of if word in text}


Answers = dict[str, Callable[[], object]]
"""A way to read, asked for everything there is."""


def told_of_files(built: Built, memory: recollect.Memory) -> Answers:
    history = memory.history
    every = [item.conversation for item in built.conversations]
    ids = [conversation.id for conversation in every]
    return {
        "conversations": history.conversations,
        "conversation": lambda: [if_there(history.conversation, one) for one in ids],
        "messages": lambda: [history.messages(one) for one in every],
        "messages, everything": lambda: [history.messages(one, everything=True) for one in every],
        "message": lambda: [if_there(history.message, message.id) for message in built.messages],
        "thread": lambda: [history.thread(one) for one in every],
        "export": lambda: list(history.export()),
        "page": lambda: history.page("", 1000),
        "documents": lambda: history.documents([message.id for message in built.messages]),
        "projects": lambda: history.projects_of(ids),
        "view of conversations": lambda: memory.sql("SELECT * FROM conversations"),
        "view of messages": lambda: memory.sql("SELECT * FROM messages"),
    }


def told_of_records(built: Built, memory: recollect.Memory) -> Answers:
    knowledge = memory.knowledge
    ids = [record.id for record in built.records]
    return {
        "records": lambda: knowledge.records(state="all"),
        "record": lambda: [if_there(knowledge.record, one) for one in ids],
        "fact": lambda: [knowledge.fact(record.subject, "is") for record in built.records],
        "versions": lambda: [if_there(knowledge.versions, one) for one in ids],
        "events": lambda: [if_there(knowledge.events, one) for one in ids],
        "why": lambda: [if_there(knowledge.why, one) for one in ids],
        "shown": lambda: knowledge.shown(ids),
        "most important": lambda: knowledge.most_important(100),
        "newest": lambda: knowledge.newest(100),
        "view of records": lambda: memory.sql("SELECT * FROM records"),
        "view of versions": lambda: memory.sql("SELECT * FROM record_versions"),
        "view of events": lambda: memory.sql("SELECT * FROM record_events"),
    }


def if_there(read: Callable[[str], object], name: str) -> object:
    try:
        return read(name)
    except NotFound as error:
        return str(error)


def told_without_words(built: Built, memory: recollect.Memory) -> list[object]:
    """What names or counts things without showing them."""
    history = memory.history
    files = sorted({message.file_id for message in built.messages})
    figures = history.figures()
    return [
        {message_id for _, message_id in history.said_after(("", ""), 1000)},
        {row[0] for row in memory.sql("SELECT message_id FROM occurrences")[1]} - {None},
        {file.id for file in history.files()},
        set(history.file_scopes(files)),
        set(history.file_keys(built.messages)),
        {seen.file_id for seen in history.seen_paths()},
        {row[0] for row in memory.sql("SELECT id FROM files")[1]},
        set(history.conversation_ids()),
        figures.conversations,
        sum(number for *_, number in figures.messages),
        sum(source.messages for source in history.sources()),
        sum(source.files for source in history.sources()),
        figures.vault[0],
        {row[0] for row in memory.sql("SELECT record_id FROM record_sources")[1]},
        memory.knowledge.count_current(),
        memory.knowledge.figures().total,
    ]


def expected_without_words(built: Built, seen: set[str]) -> list[object]:
    messages = [message for message in built.messages if words_in(message.text, seen)]
    ids = {message.id for message in messages}
    files = {message.file_id for message in messages}
    conversations = {message.conversation_id for message in messages}
    records = {record.id for record in built.records if record.subject in seen}
    lines = sum(3 if word == "file0word" else 4 for word in seen if word.startswith("file"))
    return [
        *(ids, ids, files, files, files, files, files, conversations),
        *(len(conversations), len(messages), len(messages), len(files), lines),
        *(records, len(records), len(records)),
    ]


PROPERTY = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@PROPERTY
@given(house=houses())
def test_nobody_sees_what_its_chain_does_not_allow(
    open_house: OpenHouse, tmp_path_factory: pytest.TempPathFactory, house: House
) -> None:
    built = Built(open_house(), house, tmp_path_factory.mktemp("projects"))
    every = built.words(None)
    for scope, memory in built.everybody():
        seen = built.words(scope)
        for name, ask in told_of_files(built, memory).items():
            assert words_in(ask(), every) == {word for word in seen if word.startswith("file")}, (scope, name)
        for name, ask in told_of_records(built, memory).items():
            assert words_in(ask(), every) == {word for word in seen if word.startswith("record")}, (scope, name)
        assert told_without_words(built, memory) == expected_without_words(built, seen), scope


@PROPERTY
@given(house=houses())
def test_nobody_changes_what_its_chain_and_its_grants_do_not_allow(
    open_house: OpenHouse, tmp_path_factory: pytest.TempPathFactory, house: House
) -> None:
    built = Built(open_house(), house, tmp_path_factory.mktemp("projects"))
    for scope, memory in built.everybody():
        if scope is None:
            continue
        knowledge, writable = memory.knowledge, house.writable(scope)
        assert knowledge.remember(f"{scope} says this.").record.scope == scope
        for target in [HOUSE, *house.parents]:
            statement = Statement(text=f"{scope} says this in {target}.", scope=target)
            if target in writable:
                assert knowledge.learn(statement).record.scope == target
            else:
                refused(built, partial(knowledge.learn, statement))
        for record in built.records:
            if record.scope in writable:
                knowledge.edit(record.id, f"What is {record.subject} to {scope}.")
            else:
                refused(built, partial(knowledge.edit, record.id, "Changed."))
                refused(built, partial(knowledge.retract, record.id))
                refused(built, partial(knowledge.undo, record.id, version=1))


def refused(built: Built, change: Callable[[], object]) -> None:
    before = built.contents()
    with pytest.raises((Denied, NotFound)):
        change()
    assert built.contents() == before
