"""The feed of changes: who follows it has every message as it is, and a change that is seen is one that happened."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import OpenHouse
from followers import Follower, rows_of
from hypothesis import given
from hypothesis import strategies as st
from stories import Files, Move, states
from stories.every import STORIES
from stories.looks import EXAMPLES, LOOKS, Look, lay, moves_of, property_with
from transcripts import START, Transcript, append, line, prompt_log, write

import recollect
from recollect.database import Database, open_database
from recollect.database.dialect import statements
from recollect.database.migrate import known_migrations, migrate
from recollect.feed import MESSAGE, Change, FeedStore
from recollect.history import Message, Standing
from recollect.history.store import MessageStore
from recollect.testing import FrozenClock

LIMITS = st.lists(st.integers(1, 9), max_size=6)
"""How many changes a follower reads in each of its steps; it stops after the last."""


def changed_by(memory: recollect.Memory, act: Callable[[], object]) -> list[Message | None]:
    """What an act made of the messages it touched: as they are now, None for those that are not there any more.

    Whatever is different after it must stand among the changes.
    """
    history = memory.history
    before, cursor = rows_of(history), memory.feed.newest()
    act()
    after, changes = rows_of(history), memory.feed.changes(cursor, 1)
    noted = {change.id for change in _all_changes(memory, cursor)}
    different = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert changes
    assert different <= noted
    found = history.documents(sorted(different))
    return [found.get(message_id) for message_id in sorted(different)]


def _all_changes(memory: recollect.Memory, after: int) -> list[Change]:
    return memory.feed.changes(after, 1_000_000)


def texts(messages: list[Message | None]) -> set[str]:
    return {message.text for message in messages if message}


# Every kind of write


def test_a_new_message_is_a_change(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(2)

    changed = changed_by(memory, lambda: memory.history.ingest([told.save(projects)]))

    assert texts(changed) == {
        "Question 0 about beans?",
        "Answer 0 about beans.",
        "Question 1 about beans?",
        "Answer 1 about beans.",
    }
    assert len(_all_changes(memory, 0)) == 4


def test_a_reply_that_grows_is_a_change_of_that_reply_alone(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans")
    told.user("When do I sow beans?")
    reply = told.assistant("In May.")
    memory.history.ingest([told.save(projects)])
    cursor = memory.feed.newest()
    told.assistant("After the frost.", message_id=reply)

    changed = changed_by(memory, lambda: memory.history.ingest([told.save(projects)]))

    assert texts(changed) == {"In May.\n\nAfter the frost."}
    assert len(_all_changes(memory, cursor)) == 1


def test_a_message_that_a_rewritten_file_no_longer_has_is_a_change(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(4)
    path = told.save(projects)
    memory.history.ingest([path])
    write(path, b"".join(line(record) for record in told.records[:2] + told.records[4:]))

    changed = changed_by(memory, lambda: memory.history.ingest([path]))

    gone = [message for message in changed if message and message.gone]
    assert texts(list(gone)) == {"Question 1 about beans?", "Answer 1 about beans."}


def test_a_branch_that_was_left_is_a_change(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(1)
    root = told.last
    told.exchanges(1, "ladders")
    memory.history.ingest([told.save(projects)])
    told.go_back_to(root)
    told.user("Rather trellises.")

    changed = changed_by(memory, lambda: memory.history.ingest([told.save(projects)]))

    left = [message for message in changed if message and message.standing is Standing.ABANDONED]
    assert texts(list(left)) == {"Question 0 about ladders?", "Answer 0 about ladders."}


def test_a_message_that_comes_into_another_conversation_is_a_change(memory: recollect.Memory, projects: Path) -> None:
    told = Transcript("beans").exchanges(1)
    told.wait(minutes=40).exchanges(1, "ladders")
    told.wait(minutes=40).exchanges(1, "trellises")
    path = told.save(projects)
    memory.history.ingest([path])
    before = {message.id: message.conversation_id for message in memory.history.export()}
    write(path, b"".join(line(record) for record in told.records[:2] + told.records[4:]))

    changed = changed_by(memory, lambda: memory.history.ingest([path]))

    moved = [message for message in changed if message and message.conversation_id != before[message.id]]
    assert {"Question 0 about trellises?", "Answer 0 about trellises."} <= texts(list(moved))


def test_a_message_that_is_kept_out_later_is_a_change(
    memory: recollect.Memory, clock: FrozenClock, projects: Path
) -> None:
    told = Transcript("beans", start=clock.now).wait(minutes=5)
    told.user("In the pause")
    told.wait(minutes=20)
    told.user("After the pause")
    path = told.save(projects)
    memory.history.ingest([path])
    memory.history.pause()
    clock.move(minutes=15)
    memory.history.resume()

    changed = changed_by(memory, lambda: memory.history.ingest([path], reimport=True))

    assert {message.text: message.gone for message in changed if message} == {
        "In the pause": True,
        "After the pause": False,
    }


def test_a_message_that_is_deleted_is_a_change_and_not_there(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([Transcript("beans").exchanges(1).save(projects)])
    message = next(memory.history.export())

    def delete() -> None:
        with memory.database.write() as session:
            MessageStore(session, "home").delete(message.id)

    assert changed_by(memory, delete) == [None]


def test_a_logged_prompt_that_is_found_in_a_transcript_is_a_change(
    memory: recollect.Memory, tmp_path: Path, projects: Path
) -> None:
    told = Transcript("beans")
    told.user("When do I sow beans?")
    log = prompt_log((told.session_id, "When do I sow beans?", START), ("lost", "Typed long ago", START))
    memory.history.ingest([write(tmp_path / "claude" / "history.jsonl", log)])

    changed = changed_by(memory, lambda: memory.history.ingest([told.save(projects)]))

    settled = [message for message in changed if message and message.standing is Standing.REPEATED]
    assert texts(list(settled)) == {"When do I sow beans?"}
    assert "Typed long ago" not in texts(changed)


def test_each_step_of_a_write_is_a_change_by_itself(memory: recollect.Memory, tmp_path: Path, projects: Path) -> None:
    """In a whole import a later step often touches the same message again, and would hide that one was forgotten."""
    told = Transcript("beans")
    told.user("When do I sow beans?")
    log = prompt_log((told.session_id, "When do I sow beans?", START))
    memory.history.ingest([told.save(projects)])
    memory.history.ingest([write(tmp_path / "claude" / "history.jsonl", log)])
    said, logged = sorted(memory.history.export(), key=lambda message: message.standing is Standing.REPEATED)
    steps: list[tuple[str, Callable[[MessageStore], object]]] = [
        (said.id, lambda store: store.set_conversations({said.id: "another"})),
        (said.id, lambda store: store.abandon(said.file_id, said.generation, 0, 1)),
        (said.id, lambda store: store.set_standings(said.file_id, {said.id: Standing.WITHDRAWN})),
        (said.id, lambda store: store.replace([said])),
        (logged.id, lambda store: store.set_standings(logged.file_id, {logged.id: Standing.SAID})),
        (logged.id, lambda store: store.settle_prompts()),
        (logged.id, lambda store: store.delete(logged.id)),
        (logged.id, lambda store: store.insert([logged])),
    ]
    for message_id, step in steps:
        cursor, before = memory.feed.newest(), rows_of(memory.history)
        with memory.database.write() as session:
            step(MessageStore(session, "home"))
        assert rows_of(memory.history) != before
        assert [change.id for change in _all_changes(memory, cursor)] == [message_id]


def test_what_stands_as_it_stood_is_no_change(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([Transcript("beans").exchanges(2).save(projects)])
    cursor = memory.feed.newest()
    messages = list(memory.history.export())
    standings = dict.fromkeys((message.id for message in messages), Standing.SAID)
    standings[messages[0].id] = Standing.WITHDRAWN

    with memory.database.write() as session:
        MessageStore(session, memory.settings.house).set_standings(messages[0].file_id, standings)
        MessageStore(session, memory.settings.house).set_standings("another file", standings)

    assert [change.id for change in _all_changes(memory, cursor)] == [messages[0].id]


def test_reading_what_was_read_is_no_change(memory: recollect.Memory, projects: Path) -> None:
    Transcript("beans").exchanges(2).save(projects)
    memory.history.ingest([projects])
    last = memory.feed.newest()

    memory.history.ingest([projects])

    assert memory.feed.newest() == last > 0


# Whatever happens to the files


def follow_and_compare(
    name: str,
    open_house: OpenHouse,
    tmp_path: Path,
    story: tuple[list[Move], int, list[Look]],
    limits: list[int],
    trims: bool,
) -> None:
    memory = open_house()
    moves, variant, looks = story
    folder = tmp_path / f"{memory.settings.house}/followed"
    early, late = Follower(memory), None
    steps = iter(limits)
    before: Files = {}
    found = states(STORIES[name](variant), moves)
    for number, files in enumerate(found):
        parts = [part for place, part in looks if place % len(found) == number]
        for part in [*sorted(part for part in parts if part is not None), None]:
            lay(folder, files, before, part)
            memory.history.ingest([folder])
            with suppress(StopIteration):
                early.step(next(steps))
            late = late or Follower(memory)
        before = files
        if trims and late:
            late.catch_up(2)
            memory.feed.trim("reader", min(early.cursor, late.cursor))

    for follower in (early, late):
        assert follower
        follower.catch_up(1)
        assert follower.copy == rows_of(memory.history)
        assert follower.cursor == memory.feed.newest()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_who_follows_a_growing_source_has_all_its_messages(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    @property_with(EXAMPLES)
    @given(moves_of(STORIES[name]), st.integers(0, STORIES[name].variants - 1), LOOKS, LIMITS, st.booleans())
    def check(moves: list[Move], variant: int, looks: list[Look], limits: list[int], trims: bool) -> None:
        follow_and_compare(name, open_house, tmp_path, (moves, variant, looks), limits, trims)

    check()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_so_has_who_follows_it_on_the_other_engine(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    @property_with(max(EXAMPLES // 8, 1))
    @given(moves_of(STORIES[name]), st.integers(0, STORIES[name].variants - 1), LOOKS, LIMITS, st.booleans())
    def check(moves: list[Move], variant: int, looks: list[Look], limits: list[int], trims: bool) -> None:
        follow_and_compare(name, open_house, tmp_path, (moves, variant, looks), limits, trims)

    check()


@pytest.mark.parametrize("copy_first", [True, False])
def test_a_message_that_another_file_takes_over_is_followed(
    memory: recollect.Memory, projects: Path, copy_first: bool
) -> None:
    told = Transcript("original").exchanges(3)
    copy = told.fork("copy").exchanges(1, "ladders")
    paths = [copy.save(projects), told.save(projects)]
    follower = Follower(memory)
    for path in paths if copy_first else reversed(paths):
        memory.history.ingest([path])
        follower.catch_up()
        assert follower.copy == rows_of(memory.history)
    assert len(follower.copy) == 8


# Numbers


def note(database: Database, house: str, *message_ids: str) -> int:
    """One transaction that touches these; its number."""
    with database.write() as session:
        store = FeedStore(session, house)
        for message_id in message_ids:
            store.note(MESSAGE, [message_id])
        return store.newest()


def test_a_transaction_has_one_number_and_the_next_a_greater_one(memory: recollect.Memory) -> None:
    first = note(memory.database, "home", "b", "a", "b")
    second = note(memory.database, "home", "a")

    assert 0 < first < second == memory.feed.newest()
    assert [(change.change, change.id) for change in _all_changes(memory, 0)] == [
        (first, "a"),
        (first, "b"),
        (second, "a"),
    ]


def test_a_number_is_never_split_over_two_readings(memory: recollect.Memory) -> None:
    first = note(memory.database, "home", "a", "b", "c")
    second = note(memory.database, "home", "d")
    note(memory.database, "home", "e")

    assert [change.id for change in memory.feed.changes(0, 2)] == ["a", "b", "c"]
    assert [change.id for change in memory.feed.changes(0, 4)] == ["a", "b", "c", "d"]
    assert [change.id for change in memory.feed.changes(first, 1)] == ["d"]
    assert [change.id for change in memory.feed.changes(second, 9)] == ["e"]


def test_a_write_that_fails_leaves_no_change(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([Transcript("beans").exchanges(1).save(projects)])
    before = (memory.feed.newest(), _all_changes(memory, 0), rows_of(memory.history))
    message = next(memory.history.export())

    with suppress(ZeroDivisionError), memory.database.write() as session:
        store = MessageStore(session, "home")
        store.delete(message.id)
        store.set_conversations({message.id: "another"})
        assert FeedStore(session, "home").newest() > before[0]
        1 / 0  # noqa: B018

    assert (memory.feed.newest(), _all_changes(memory, 0), rows_of(memory.history)) == before


def test_each_house_has_changes_of_its_own(open_house: OpenHouse, projects: Path) -> None:
    mine, theirs = open_house(), open_house()
    mine.history.ingest([Transcript("mine").exchanges(1).save(projects)])

    assert mine.feed.newest() > 0
    assert theirs.feed.newest() == 0
    assert theirs.feed.changes(0, 10) == []
    assert mine.feed.id() != theirs.feed.id()
    theirs.feed.trim("reader", mine.feed.newest() + 1)
    assert len(_all_changes(mine, 0)) == 2


# Trimming, and who may not follow any more


def test_trimming_keeps_the_newest_change(memory: recollect.Memory) -> None:
    first = note(memory.database, "home", "a")
    note(memory.database, "home", "b")
    last = note(memory.database, "home", "c", "d")

    memory.feed.trim("reader", first)
    assert len(_all_changes(memory, 0)) == 4
    memory.feed.trim("reader", last + 1)
    memory.feed.trim("reader", last + 1)

    assert [(change.change, change.id) for change in _all_changes(memory, 0)] == [(last, "c"), (last, "d")]
    assert memory.feed.newest() == last
    assert note(memory.database, "home", "a") > last


def test_who_has_read_all_that_was_trimmed_may_follow_and_others_may_not(memory: recollect.Memory) -> None:
    first, second, third, last = (note(memory.database, "home", name) for name in "abcd")
    assert memory.feed.can_follow(0)

    memory.feed.trim("reader", third)

    known = {number: memory.feed.can_follow(number) for number in (0, first, second, third, last, last + 1)}
    assert known == {0: False, first: False, second: True, third: True, last: True, last + 1: False}


def test_a_history_without_changes_can_be_followed_from_its_start(memory: recollect.Memory) -> None:
    assert memory.feed.newest() == 0
    assert memory.feed.can_follow(0)
    assert not memory.feed.can_follow(1)
    memory.feed.trim("reader", 10)
    assert memory.feed.can_follow(0)


def test_a_database_put_back_from_a_backup_is_noticed(memory: recollect.Memory) -> None:
    note(memory.database, "home", "a")
    kept = _all_changes(memory, 0)
    cursor = note(memory.database, "home", "b")
    with memory.database.write() as session:
        session.run("DELETE FROM feed_changes WHERE change > :kept", {"kept": kept[-1].change})
    assert not memory.feed.can_follow(cursor)

    for name in "cdefgh":
        note(memory.database, "home", name)

    assert not memory.feed.can_follow(cursor)
    assert memory.feed.can_follow(kept[-1].change)


def test_what_a_slower_follower_has_not_read_is_kept_for_it(memory: recollect.Memory) -> None:
    first, second, third, last = (note(memory.database, "home", name) for name in "abcd")
    memory.feed.trim("slow", second)

    memory.feed.trim("quick", last)

    assert memory.feed.can_follow(second)
    assert [change.change for change in _all_changes(memory, first)] == [second, third, last]


def test_the_feed_keeps_its_identity(memory: recollect.Memory, engine: str, home: Path, projects: Path) -> None:
    identity = memory.feed.id()
    memory.history.ingest([Transcript("beans").exchanges(1).save(projects)])
    memory.feed.trim("reader", memory.feed.newest())

    with recollect.open(home=home, database=engine) as again:
        assert again.feed.id() == memory.feed.id() == identity


# From before there were changes


def test_what_was_there_before_changes_were_noted_is_read_once_and_followed(
    empty_engine: Callable[[], str], home: Path, projects: Path
) -> None:
    url = empty_engine()
    path = Transcript("beans").exchanges(2).save(projects)
    with recollect.open(home=home, database=url) as memory:
        memory.history.ingest([path])
        as_it_was = rows_of(memory.history)
    go_back_to_the_second_step(url)

    with recollect.open(home=home, database=url) as memory:
        assert rows_of(memory.history) == as_it_was
        assert memory.feed.newest() == 0
        follower = Follower(memory)
        assert follower.copy == as_it_was
        append(path, Transcript("beans").exchanges(3).raw[path.stat().st_size :])
        memory.history.ingest([path])
        follower.catch_up()
        assert follower.copy == rows_of(memory.history)
        assert len(follower.copy) == 6


def go_back_to_the_second_step(url: str) -> None:
    """Make the database one of schema 2."""
    database = open_database(url)
    later = [step for step in known_migrations() if step.version > 2]
    made = [part.split() for step in later for part in statements(database.dialect.schema(step.text))]
    with database.write() as session:
        for words in reversed(made):
            if words[0] == "CREATE":
                kind, name = (words[1], words[2]) if words[1] != "UNIQUE" else (words[2], words[3])
                session.run(f"DROP {kind} IF EXISTS {name}")
            elif words[:2] == ["ALTER", "TABLE"]:
                session.run(f"ALTER TABLE {words[2]} DROP COLUMN {words[5]}")
        session.run("DELETE FROM schema_versions WHERE version > 2")
    assert migrate(database, [step for step in known_migrations() if step.version <= 2]) == []
    database.close()
