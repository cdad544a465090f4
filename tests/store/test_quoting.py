"""A record that all may see, from a message that only one agent may read: its words stay with that agent."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from chats import House

import recollect
from recollect.knowledge import Evidence, Record, Statement

WORDS = "the purple heron"
"""Of the message, and in nothing else."""


@pytest.fixture
def record(memory: recollect.Memory, tmp_path: Path) -> str:
    """Learned for the house; then its history was bound to bo. Ada stands beside bo."""
    house = House(memory, tmp_path / "chats")
    house.tell("pond", f"I saw {WORDS} at the pond.", ("assistant", "How rare."))
    for name in ("ada", "bo"):
        memory.agents.add(name)
        memory.agents.grant(name, "house")
    message = next(memory.history.export())
    evidence = Evidence(message_id=message.id, quote=WORDS)
    made = memory.knowledge.learn(Statement(text="There are birds at the pond.", subject="pond", sources=(evidence,)))
    assert made.record
    memory.knowledge.edit(made.record.id, text="There are rare birds at the pond.")
    memory.agents.bind("bo", "generic")
    return made.record.id


def every(memory: recollect.Memory, name: str) -> list[Record]:
    """A record by every path to it."""
    knowledge = memory.knowledge
    chain = knowledge.why(name)
    events = [*knowledge.events(name), *chain.events, *knowledge.events_between("2000-01-01", "2100-01-01")]
    found: list[Record] = [knowledge.record(name), *knowledge.records(subject="pond"), *knowledge.versions(name)]
    found += [chain.record, *chain.versions, *chain.replaced, *chain.replaced_by]
    return [*found, *(one for event in events for one in (event.before, event.after) if one)]


def quotes(records: Iterable[Record]) -> set[str]:
    return {source.quote for record in records for source in record.sources}


def test_the_words_of_a_message_are_quoted_only_to_who_may_read_it(memory: recollect.Memory, record: str) -> None:
    assert quotes(every(memory, record)) == {WORDS}
    assert every(memory.as_agent("bo"), record) == every(memory, record)

    seen = every(memory.as_agent("ada"), record)
    assert len(seen) == len(every(memory, record))
    assert quotes(seen) == {""}
    assert {source.message_id for one in seen for source in one.sources} == {next(memory.history.export()).id}
    assert WORDS not in repr(seen)


CHANGES: dict[str, Callable[[recollect.Memory, str], Record | None]] = {
    "edit": lambda memory, name: memory.knowledge.edit(name, text="There are rare birds."),
    "edit nothing": lambda memory, name: memory.knowledge.edit(name, text="There are rare birds at the pond."),
    "retract": lambda memory, name: memory.knowledge.retract(name),
    "undo": lambda memory, name: memory.knowledge.undo(name),
    "learn again": lambda memory, _: (
        memory.knowledge.remember("There are rare birds at the pond.", subject="pond", scope="house").record
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_who_changes_a_record_is_not_told_words_by_the_answer(
    memory: recollect.Memory, record: str, change: str
) -> None:
    answered = CHANGES[change](memory.as_agent("ada"), record)
    assert answered
    assert WORDS not in repr(answered)
    assert quotes(memory.knowledge.versions(record)) >= {WORDS}, "what is kept stays whole"
