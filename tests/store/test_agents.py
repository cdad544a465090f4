"""Agents, rooms, grants and bindings: who is there, who may write where, whose a source is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from transcripts import Transcript, write

import recollect
from recollect import Conflict, Denied, Invalid, NotFound
from recollect.feed import MESSAGE
from recollect.history.store import ThreadStore
from recollect.knowledge import Statement
from recollect.scopes import Binding

SOURCE = "claude-code"


def tell(projects: Path, folder: str, about: str, name: str = "") -> Transcript:
    told = Transcript(name or f"{folder} {about}")
    told.exchanges(2, about)
    write(projects / folder / f"{told.session_id}.jsonl", told.raw)
    return told


def scopes_of_files(memory: recollect.Memory) -> dict[str, str]:
    """Folder → the scope of the file in it."""
    return {file.key.partition("/")[0]: file.scope for file in memory.history.files()}


def titles(memory: recollect.Memory) -> set[str]:
    return {item.title for item in memory.history.conversations()}


def question(about: str) -> str:
    return f"Question 0 about {about}?"


# Who is there


def test_agents_and_rooms_hang_below_the_house_and_each_other(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("helper", parent="ada")
    memory.agents.add("ada/kitchen")
    memory.agents.add("house/hall")

    found = {item.scope.id: item.scope.parent_id for item in memory.agents.list()}

    assert found == {"ada": "house", "helper": "ada", "ada/kitchen": "ada", "house/hall": "house"}


@pytest.mark.parametrize(
    "name", ["", "Ada", "a b", "ada'", "-ada", "ada/", "/ada", "a" * 65, "house", "ada/person", "ä"]
)
def test_a_name_that_could_be_misread_is_refused(memory: recollect.Memory, name: str) -> None:
    memory.agents.add("ada")
    with pytest.raises((Invalid, NotFound)):
        memory.agents.add(name)
    assert len(memory.agents.list()) == 1


def test_an_agent_is_added_once(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    with pytest.raises(Conflict, match="'ada' is there already"):
        memory.agents.add("ada")


def test_nobody_stands_below_somebody_who_is_not_there(memory: recollect.Memory) -> None:
    memory.agents.add("house/hall")
    with pytest.raises(NotFound):
        memory.agents.add("helper", parent="nobody")
    with pytest.raises(NotFound):
        memory.agents.add("nobody/kitchen")
    with pytest.raises(Invalid, match="is a room"):
        memory.agents.add("helper", parent="house/hall")


def test_an_agent_is_removed_with_its_grants(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.grant("ada", "house")
    memory.agents.remove("ada")
    memory.agents.add("ada")

    assert [item.may_write_in for item in memory.agents.list()] == [[]]


def test_an_agent_that_holds_something_stays(memory: recollect.Memory, projects: Path) -> None:
    agents = memory.agents
    for name in ("parent", "child", "bound", "reader", "learner"):
        agents.add(name, **({"parent": "parent"} if name == "child" else {}))
    agents.bind("bound", "codex")
    agents.bind("reader", SOURCE)
    tell(projects, "-read", "beans")
    memory.history.ingest([projects])
    memory.knowledge.learn(Statement(text="Beans want sun.", scope="learner"))

    for name in ("parent", "bound", "reader", "learner", "house", "nobody"):
        with pytest.raises((Conflict, Invalid, NotFound)):
            agents.remove(name)

    agents.remove("child")
    assert len(agents.list()) == 4


# Grants


def test_a_grant_lets_write_above_and_nowhere_else(memory: recollect.Memory) -> None:
    agents = memory.agents
    agents.add("ada")
    agents.add("bob")
    ada = memory.as_agent("ada")
    with pytest.raises(Denied, match="recollect agents grant ada house"):
        ada.knowledge.remember("For everybody.", scope="house")
    with pytest.raises(Denied, match=r"It may write in ada\.$"):
        ada.knowledge.remember("For bob.", scope="bob")

    agents.grant("ada", "house")
    ada.knowledge.remember("For everybody.", scope="house")

    with pytest.raises(Invalid, match="is not above"):
        agents.grant("ada", "bob")
    with pytest.raises(Invalid, match="without a grant"):
        agents.grant("ada", "ada")
    with pytest.raises(NotFound):
        agents.grant("ada", "nobody")
    with pytest.raises(NotFound):
        agents.grant("nobody", "house")


def test_a_grant_that_is_taken_back_is_worth_nothing(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.grant("ada", "house")
    memory.agents.revoke("ada", "house")

    with pytest.raises(Denied):
        memory.as_agent("ada").knowledge.remember("For everybody.", scope="house")
    with pytest.raises(NotFound, match="was not granted"):
        memory.agents.revoke("ada", "house")


# Bindings


def test_a_new_file_is_of_whom_its_source_is_bound_to(memory: recollect.Memory, projects: Path) -> None:
    memory.agents.add("ada")
    memory.agents.bind("ada", SOURCE, "-ada/")
    tell(projects, "-ada", "beans")
    tell(projects, "-house", "peas")
    memory.history.ingest([projects])

    assert scopes_of_files(memory) == {"-ada": "ada", "-house": "house"}


def test_the_longest_prefix_wins(memory: recollect.Memory, projects: Path) -> None:
    for name in ("ada", "bob", "eve"):
        memory.agents.add(name)
    memory.agents.bind("ada", SOURCE)
    memory.agents.bind("eve", SOURCE, "-bob-secret")
    memory.agents.bind("bob", SOURCE, "-bob")
    for folder in ("-ada", "-bob-garden", "-bob-secret"):
        tell(projects, folder, "beans")
    memory.history.ingest([projects])

    assert scopes_of_files(memory) == {"-ada": "ada", "-bob-garden": "bob", "-bob-secret": "eve"}


def test_a_binding_moves_what_is_there_and_tells_who_follows(memory: recollect.Memory, projects: Path) -> None:
    memory.agents.add("ada")
    tell(projects, "-ada", "beans")
    tell(projects, "-house", "peas")
    memory.history.ingest([projects])
    before = memory.feed.newest()

    assert memory.agents.bind("ada", SOURCE, "-ada") == 1

    assert scopes_of_files(memory) == {"-ada": "ada", "-house": "house"}
    moved = {message.id for message in memory.history.export() if "beans" in message.text}
    changes = memory.feed.changes(before, 100)
    assert {change.id for change in changes} == moved
    assert {change.kind for change in changes} == {MESSAGE}
    assert memory.agents.bind("ada", SOURCE, "-ada") == 0
    assert memory.agents.unbind(SOURCE, "-ada") == 1
    assert scopes_of_files(memory) == {"-ada": "house", "-house": "house"}


def test_a_file_that_grows_stays_whose_it_is(memory: recollect.Memory, projects: Path) -> None:
    memory.agents.add("ada")
    told = tell(projects, "-ada", "beans")
    memory.history.ingest([projects])
    memory.agents.bind("ada", SOURCE, "-ada")
    told.exchanges(3, "more beans")
    write(projects / "-ada" / f"{told.session_id}.jsonl", told.raw)
    memory.history.ingest([projects])
    memory.history.ingest([projects], reimport=True)

    assert scopes_of_files(memory) == {"-ada": "ada"}


def test_what_cannot_be_bound_is_refused(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    with pytest.raises(NotFound, match="No source is called 'claude_code'"):
        memory.agents.bind("ada", "claude_code")
    with pytest.raises(NotFound):
        memory.agents.bind("nobody", SOURCE)
    with pytest.raises(NotFound, match="Nothing binds"):
        memory.agents.unbind(SOURCE)
    memory.agents.bind("ada", SOURCE, "x")
    assert memory.agents.list()[0].bound == [Binding(source=SOURCE, prefix="x", scope="ada")]


# As an agent


@pytest.fixture
def divided(memory: recollect.Memory, projects: Path) -> recollect.Memory:
    for name in ("ada", "bob"):
        memory.agents.add(name)
        memory.agents.bind(name, SOURCE, f"-{name}")
    memory.agents.add("ada/kitchen")
    for name in ("house", "ada", "bob"):
        tell(projects, f"-{name}", f"the {name}-word", name)
    memory.history.ingest([projects])
    return memory


def test_an_agent_reads_its_own_and_what_is_above_it(divided: recollect.Memory) -> None:
    everything = {question(f"the {name}-word") for name in ("house", "ada", "bob")}

    assert titles(divided) == everything
    assert titles(divided.as_agent("ada")) == everything - {question("the bob-word")}
    assert titles(divided.as_agent("ada", "kitchen")) == everything - {question("the bob-word")}


def test_an_agent_is_told_that_what_it_cannot_see_is_not_there(divided: recollect.Memory) -> None:
    hidden = next(item for item in divided.history.conversations() if "bob" in item.title)
    ada = divided.as_agent("ada").history

    with pytest.raises(NotFound, match="No conversation is called"):
        ada.conversation(hidden.conversation.id)
    assert ada.messages(hidden.conversation, everything=True) == []
    assert ada.thread(hidden.conversation) == []


def test_threads_are_made_of_what_is_seen(divided: recollect.Memory) -> None:
    sessions = {name: Transcript(name).session_id for name in ("house", "ada", "bob")}
    with divided.database.write() as session:
        links = {(sessions["house"], sessions["bob"], "continued"), (sessions["bob"], sessions["ada"], "continued")}
        ThreadStore(session, divided.settings.house).link(links)

    first = divided.history.conversation(sessions["ada"])
    seen = divided.as_agent("ada").history.conversation(sessions["ada"])

    assert len(divided.history.thread(first.conversation)) == 3
    assert first.thread == min(sessions.values())
    assert [item.title for item in divided.as_agent("ada").history.thread(seen.conversation)] == [seen.title]
    assert seen.thread == sessions["ada"]


def test_a_link_between_what_is_seen_is_followed(divided: recollect.Memory) -> None:
    sessions = [Transcript(name).session_id for name in ("house", "ada")]
    with divided.database.write() as session:
        ThreadStore(session, divided.settings.house).link({(sessions[0], sessions[1], "continued")})
    history = divided.as_agent("ada").history

    assert len(history.thread(history.conversation(sessions[1]).conversation)) == 2


Change = Callable[[recollect.Memory], object]
CHANGES: dict[str, Change] = {
    "ingest": lambda memory: memory.history.ingest(["."]),
    "scan": lambda memory: memory.history.scan([Path()]),
    "recover": lambda memory: memory.history.recover(),
    "pause": lambda memory: memory.history.pause(),
    "resume": lambda memory: memory.history.resume(),
    "claim": lambda memory: memory.history.claim(),
    "queue": lambda memory: memory.history.queue(memory.history.conversations()[0].conversation),
    "archive": lambda memory: memory.history.archive(memory.history.conversations()[0].conversation),
    "raw": lambda memory: memory.history.raw(next(memory.history.export())),
    "feed": lambda memory: memory.feed,
    "add": lambda memory: memory.agents.add("eve"),
    "remove": lambda memory: memory.agents.remove("bob"),
    "grant": lambda memory: memory.agents.grant("ada", "house"),
    "revoke": lambda memory: memory.agents.revoke("ada", "house"),
    "bind": lambda memory: memory.agents.bind("ada", SOURCE),
    "unbind": lambda memory: memory.agents.unbind(SOURCE, "-bob"),
    "as another": lambda memory: memory.as_agent("bob"),
}


def test_an_agent_changes_nothing_of_the_house(divided: recollect.Memory) -> None:
    before = (divided.agents.list(), divided.history.conversations(), divided.history.files())
    for change in CHANGES.values():
        with pytest.raises(Denied):
            change(divided.as_agent("ada"))
    assert (divided.agents.list(), divided.history.conversations(), divided.history.files()) == before
    assert divided.history.paused_since() is None


def test_an_agent_sees_who_is_on_its_own_chain(divided: recollect.Memory) -> None:
    assert [item.scope.id for item in divided.as_agent("ada").agents.list()] == ["ada"]
    assert [item.scope.id for item in divided.as_agent("ada", "kitchen").agents.list()] == ["ada", "ada/kitchen"]


def test_an_agent_is_told_of_no_run_and_no_place(divided: recollect.Memory) -> None:
    ada = divided.as_agent("ada")

    assert divided.runs.latest()
    assert ada.runs.latest() == []
    assert all(not source.places for source in ada.history.sources())
    assert sum(source.messages for source in ada.history.sources()) == 8


def test_a_file_that_could_not_be_read_is_nobodys(divided: recollect.Memory, projects: Path) -> None:
    write(projects / "bob-export.zip", b"PK\x03\x04 not a zip")
    divided.history.ingest([projects / "bob-export.zip"])

    assert any("bob-export" in file.path for file in divided.history.files())
    assert not any("bob-export" in file.path for file in divided.as_agent("ada").history.files())
    assert not any("bob" in seen.path for seen in divided.as_agent("ada").history.seen_paths())


def test_nobody_asks_as_an_agent_that_is_not_there(divided: recollect.Memory) -> None:
    with pytest.raises(NotFound, match="recollect agents"):
        divided.as_agent("eve")
    with pytest.raises(NotFound):
        divided.as_agent("ada", "cellar")
    with pytest.raises(NotFound, match="No agent is called"):
        divided.as_agent("house")
    with pytest.raises(NotFound, match="No agent is called"):
        divided.as_agent("ada/kitchen")


def test_an_agent_that_was_removed_sees_nothing_any_more(divided: recollect.Memory) -> None:
    divided.agents.add("eve")
    eve = divided.as_agent("eve")
    divided.agents.remove("eve")

    with pytest.raises(NotFound):
        eve.history.conversations()
    with pytest.raises(NotFound):
        eve.sql("SELECT 1")


def test_closing_an_agent_closes_nothing(divided: recollect.Memory) -> None:
    with divided.as_agent("ada") as ada:
        assert len(titles(ada)) == 2
    assert len(titles(divided)) == 3


def test_what_a_room_may_not_write_is_refused_with_the_grant_that_would_allow_it(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("ada/kitchen")
    room = memory.as_agent("ada", room="kitchen")
    with pytest.raises(Denied, match=r"^ada/kitchen may not write.*agents grant ada/kitchen house"):
        room.notes.write("garden.md", "Beans.")
    memory.agents.grant("ada/kitchen", "house")
    assert room.notes.write("garden.md", "Beans.").version
