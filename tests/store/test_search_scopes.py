"""Who searches finds its own and what is above it, whoever else's lies beside it."""

from pathlib import Path

import pytest
from chats import House, days_ago
from conftest import OpenHouse
from hypothesis import given
from hypothesis import strategies as st
from stories.looks import property_with

import recollect
from recollect.errors import Denied, NotFound
from recollect.knowledge import Evidence, Statement


@pytest.fixture
def shared(memory: recollect.Memory, tmp_path: Path) -> House:
    """A house with two agents, one of which has a room."""
    house = House(memory, tmp_path / "chats")
    house.tell("small-talk", "Which paint suits a kitchen wall?", ("assistant", "A washable one."), start=days_ago(20))
    for name in ("ada", "ada/kitchen", "bert"):
        house.memory.agents.add(name)
    house.learn("The hedgehog belongs to everybody.")
    house.learn("The hedgehog of Ada is called Rolf.", scope="ada")
    house.learn("The hedgehog in the kitchen is asleep.", scope="ada/kitchen")
    house.learn("The hedgehog of Bert bites.", scope="bert")
    house.tell("said", "The hedgehog was fed today.", "With beetles.")
    return house


EVERYBODYS = {"The hedgehog belongs to everybody.", "The hedgehog was fed today.", "With beetles."}
SMALL_TALK = {"Which paint suits a kitchen wall?", "A washable one."}


def test_an_agent_finds_its_own_and_what_is_above(shared: House) -> None:
    found = {name: set(shared.texts("hedgehog", agent=name)) - SMALL_TALK for name in ("ada", "ada/kitchen", "bert")}

    assert found["ada"] == EVERYBODYS | {"The hedgehog of Ada is called Rolf."}
    assert found["ada/kitchen"] == found["ada"] | {"The hedgehog in the kitchen is asleep."}
    assert found["bert"] == EVERYBODYS | {"The hedgehog of Bert bites."}
    assert len(set(shared.texts("hedgehog")) - SMALL_TALK) == 6


def test_the_memory_of_an_agent_is_confined(shared: House) -> None:
    ada = shared.memory.as_agent("ada")

    texts = {hit.text for hit in ada.recall.search("hedgehog").hits}

    assert "The hedgehog of Bert bites." not in texts
    assert "The hedgehog of Ada is called Rolf." in texts
    assert {hit.text for hit in ada.search_memory("hedgehog", "facts").hits} == {
        "The hedgehog belongs to everybody.",
        "The hedgehog of Ada is called Rolf.",
    }
    assert ada.recall.search("hedgehog", agent="ada").hits
    with pytest.raises(Denied, match="may not search as 'bert'"):
        ada.recall.search("hedgehog", agent="bert")


@pytest.mark.parametrize(
    "act", ["catch_up", "deepen", "reindex", "drop", "purge", "forget", "waiting", "number", "state"]
)
def test_an_agent_does_not_work_on_the_index(shared: House, act: str) -> None:
    with pytest.raises(Denied, match="ada"):
        getattr(shared.memory.as_agent("ada").recall, act)()
    assert shared.texts("hedgehog")


def test_closing_the_recall_of_an_agent_closes_nothing(shared: House) -> None:
    with shared.memory.as_agent("ada") as ada:
        ada.recall.search("hedgehog")
        ada.recall.close()
    assert shared.texts("hedgehog")


@pytest.mark.parametrize("name", ["otto", "house", "ada/cellar", "Ada", "", "a'b", "\ud800\x00"])
def test_an_agent_that_is_not_there_is_named(shared: House, name: str) -> None:
    if not name:
        assert shared.texts("hedgehog", agent=name)
        return
    with pytest.raises(NotFound):
        shared.texts("hedgehog", agent=name)


def test_a_bound_source_is_found_by_its_agent_alone(shared: House) -> None:
    shared.hits("hedgehog")
    shared.memory.agents.bind("ada", "generic")

    assert "The hedgehog was fed today." in shared.texts("hedgehog", agent="ada")
    assert set(shared.texts("hedgehog beetles", agent="bert")) == {
        "The hedgehog belongs to everybody.",
        "The hedgehog of Bert bites.",
    }
    shared.memory.agents.unbind("generic")
    assert "The hedgehog was fed today." in shared.texts("hedgehog", agent="bert")


def test_what_moved_a_moment_ago_is_not_shown_by_an_index_that_is_behind(shared: House) -> None:
    shared.hits("hedgehog")
    shared.memory.agents.bind("ada", "generic")

    texts = shared.texts("hedgehog beetles", agent="bert", fresh=False)

    assert EVERYBODYS & set(texts) == {"The hedgehog belongs to everybody."}


def test_a_record_from_a_message_of_somebody_else_does_not_lead_there(shared: House) -> None:
    said = shared.hits("hedgehog fed today", search_type="conversations")[0]
    shared.memory.knowledge.learn(Statement(text="Hedgehogs eat beetles.", sources=(Evidence(message_id=said.id),)))
    shared.memory.agents.bind("ada", "generic")

    (hit,) = shared.hits("hedgehogs eat", agent="bert", limit=1)
    assert (hit.text, hit.conversation, hit.file, hit.line) == ("Hedgehogs eat beetles.", "", "", 0)
    assert shared.hits("hedgehogs eat", agent="ada", limit=1)[0].conversation == said.conversation


def test_words_of_others_do_not_weigh_for_an_agent(shared: House) -> None:
    """What others said must not be told by the scores either: a rare word is rare among what the agent may see."""
    before = [(hit.text, (hit.why or {})["keyword"]) for hit in shared.hits("hedgehog", agent="bert", explain=True)]
    for number in range(30):
        shared.learn(f"Another hedgehog, number {number}.", scope="ada")

    after = [(hit.text, (hit.why or {})["keyword"]) for hit in shared.hits("hedgehog", agent="bert", explain=True)]

    assert after == before


def test_conversations_of_others_cannot_be_named(shared: House) -> None:
    conversation = shared.hits("hedgehog fed", search_type="conversations")[0].conversation
    shared.memory.agents.bind("ada", "generic")
    with pytest.raises(NotFound):
        shared.hits("hedgehog", agent="bert", conversations=[conversation])


AGENTS = ("ada", "bert", "cleo")
PLACES = ("house", "ada", "ada/attic", "bert", "cleo", "cleo/attic")
PARENTS = st.fixed_dictionaries({"bert": st.sampled_from(["house", "ada"]), "cleo": st.sampled_from(["house", "bert"])})
LEARNED = st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 3)), min_size=1, max_size=12)


def test_no_hit_ever_lies_outside_the_chain(open_house: OpenHouse, tmp_path: Path) -> None:
    @property_with(8)
    @given(PARENTS, LEARNED, st.sampled_from([*PLACES[1:], ""]))
    def check(parents: dict[str, str], learned: list[tuple[str, int]], bound: str) -> None:
        memory = open_house()
        house = House(memory, tmp_path / memory.settings.house)
        house.tell("said", "The hedgehog was fed.", ("assistant", "With beetles, as the hedgehog likes."))
        for name in AGENTS:
            memory.agents.add(name, parents.get(name, "house"))
        for room in ("ada/attic", "cleo/attic"):
            memory.agents.add(room)
        scopes = {
            house.learn(f"Hedgehog fact {place} {kind} {number}.", scope=place): place
            for number, (place, kind) in enumerate(learned)
        }
        if bound:
            memory.agents.bind(bound, "generic")
        above = {"house": "", "ada": "house", "ada/attic": "ada", "cleo/attic": "cleo", **parents}
        for place in PLACES[1:]:
            chain, here = set[str](), place
            while here:
                chain.add(here)
                here = above[here]
            found = house.hits("hedgehog fact", agent=place, limit=50)
            assert {scopes[hit.id] for hit in found if hit.kind == "record"} == chain & set(scopes.values())
            assert len([hit for hit in found if hit.kind == "record"]) == sum(s in chain for s in scopes.values())
            said = [hit for hit in found if hit.kind == "message"]
            assert len(said) == (2 if (bound or "house") in chain else 0)
            assert all(not hit.before and not hit.after for hit in found if hit.kind == "record")

    check()
