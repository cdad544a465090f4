"""What was learned is found beside what was said: as it holds now, or as it held then."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from chats import NOW, House, days_ago

import recollect
from recollect.clock import to_text
from recollect.feed import RECORD, FeedStore
from recollect.history.store import MessageStore
from recollect.knowledge import Evidence, Origin, Statement
from recollect.knowledge.store import RecordStore
from recollect.recall import Material
from recollect.recall.index import open_index
from recollect.testing import FrozenClock


@pytest.fixture
def house(memory: recollect.Memory, tmp_path: Path) -> House:
    told = House(memory, tmp_path / "chats")
    told.tell("small-talk", "Which paint suits a kitchen wall?", ("assistant", "A washable one."), start=days_ago(20))
    return told


def found_records(house: House, text: str, **options: Any) -> list[str]:
    return [hit.text for hit in house.hits(text, **options) if hit.kind == "record"]


# What is found


def test_a_record_is_found_by_its_words(house: House) -> None:
    name = house.learn("The hedgehog lives under the shed.")

    best = house.hits("Where does the hedgehog live?")[0]

    assert (best.kind, best.id, best.text) == ("record", name, "The hedgehog lives under the shed.")
    assert (best.author, best.source, best.at) == ("record", "told", to_text(NOW))
    assert (best.conversation, best.session_id, best.file, best.line) == ("", "", "", 0)
    assert best.highlights


def test_a_record_is_found_by_what_it_is_about(house: House) -> None:
    house.learn("She moved to Bergen.", kind="fact", subject="Ada Quill", attribute="home town", value="Bergen")

    best = house.hits("Ada Quill's home town")[0]

    assert best.text == "She moved to Bergen."
    assert best.snippet == "Ada Quill home town: She moved to Bergen."


def test_each_type_of_search_finds_its_kind(house: House) -> None:
    house.tell("a", "The hedgehog sleeps.")
    house.learn("The hedgehog eats beetles.")

    assert {hit.kind for hit in house.hits("hedgehog")} == {"message", "record"}
    assert {hit.kind for hit in house.hits("hedgehog", search_type="facts")} == {"record"}
    assert {hit.kind for hit in house.hits("hedgehog", search_type="conversations")} == {"message"}
    assert house.memory.search_memory("hedgehog", "facts").hits[0].text == "The hedgehog eats beetles."


def test_a_record_leads_to_the_message_it_is_from(house: House) -> None:
    house.tell("a", "Please look after the garden.", "The hedgehog sleeps in the compost.")
    said = house.hits("hedgehog compost")[0]
    statement = Statement(
        text="A hedgehog winters in the compost.",
        origin=Origin.PROMOTED,
        sources=(Evidence(message_id=said.id), Evidence(message_id="gone")),
    )
    house.memory.knowledge.learn(statement)

    (hit,) = house.hits("hedgehog winters", search_type="facts")

    where = (hit.conversation, hit.session_id, hit.file, hit.line, hit.project)
    assert where == (said.conversation, said.session_id, said.file, said.line, said.project)
    assert hit.source == "promoted"


def test_a_record_whose_message_is_gone_is_found_without_a_place(house: House) -> None:
    house.memory.knowledge.learn(Statement(text="Hedgehogs swim.", sources=(Evidence(message_id="gone"),)))
    (hit,) = house.hits("hedgehogs", search_type="facts")
    assert (hit.conversation, hit.file, hit.line) == ("", "", 0)


def test_records_stand_in_no_conversation_and_have_no_author(house: House) -> None:
    house.tell("a", "The hedgehog sleeps.")
    house.learn("The hedgehog eats beetles.")
    conversation = house.hits("hedgehog sleeps", search_type="conversations")[0].conversation

    assert found_records(house, "hedgehog", conversations=[conversation]) == []
    assert found_records(house, "hedgehog", authors=["user"]) == []
    assert found_records(house, "hedgehog", sources=["told"]) == ["The hedgehog eats beetles."]


def test_messages_are_ranked_as_if_there_were_no_records(house: House) -> None:
    house.tell("a", "The hedgehog sleeps.", "Feed the cat.", ("assistant", "The hedgehog wakes in April."))
    before = house.texts("when does the hedgehog wake", search_type="conversations")
    for number in range(20):
        house.learn(f"Parcel {number} goes to dock {number % 3}.")

    assert house.texts("when does the hedgehog wake", search_type="conversations") == before


def test_what_is_evergreen_does_not_fade_and_what_is_dated_does(house: House, clock: FrozenClock) -> None:
    house.learn("The spare key lies under the blue pot.", kind="fact")
    house.learn("The spare rope lies under the blue box.", kind="commitment")
    clock.move(minutes=300 * 24 * 60)

    parts = {hit.text: (hit.why or {})["recency"] for hit in house.hits("spare under blue", explain=True)}

    assert parts["The spare key lies under the blue pot."] == 0.3
    assert parts["The spare rope lies under the blue box."] < 0.01


# Then and now


def test_superseded_text_is_found_only_as_of_its_time(house: House, clock: FrozenClock) -> None:
    about = {"kind": "fact", "subject": "Ada", "attribute": "home town"}
    house.learn("Ada lives in Bergen.", value="Bergen", **about)
    first = clock.now
    clock.move(minutes=60)
    house.learn("Ada lives in Lisbon.", value="Lisbon", **about)
    clock.move(minutes=60)

    assert found_records(house, "Where does Ada live?") == ["Ada lives in Lisbon."]
    assert found_records(house, "Bergen") == ["Ada lives in Lisbon."]
    assert found_records(house, "Where does Ada live?", as_of=first) == ["Ada lives in Bergen."]
    assert found_records(house, "Where does Ada live?", as_of=first + timedelta(minutes=59)) == ["Ada lives in Bergen."]
    assert found_records(house, "Where does Ada live?", as_of=clock.now) == ["Ada lives in Lisbon."]
    assert found_records(house, "Where does Ada live?", as_of=first - timedelta(minutes=1)) == []


def test_an_edited_text_is_found_by_its_new_words(house: House, clock: FrozenClock) -> None:
    name = house.learn("The bin is emptied on Monday.")
    first = clock.now
    clock.move(minutes=5)
    house.memory.knowledge.edit(name, "The bin is emptied on Thursday.")

    (hit,) = house.hits("bin emptied Monday", search_type="facts")

    assert (hit.id, hit.text, hit.at) == (name, "The bin is emptied on Thursday.", to_text(clock.now))
    assert found_records(house, "bin emptied", as_of=first) == ["The bin is emptied on Monday."]


def test_what_was_retracted_is_not_found_until_it_is_restored(house: House, clock: FrozenClock) -> None:
    name = house.learn("The bin is emptied on Monday.")
    first = clock.now
    clock.move(minutes=5)
    house.memory.knowledge.retract(name)
    assert found_records(house, "bin emptied") == []
    assert found_records(house, "bin emptied", as_of=first) == ["The bin is emptied on Monday."]

    clock.move(minutes=5)
    house.memory.knowledge.undo(name)

    assert found_records(house, "bin emptied") == ["The bin is emptied on Monday."]
    assert found_records(house, "bin emptied", as_of=first + timedelta(minutes=7)) == []


def test_what_has_expired_is_found_only_as_of_before(house: House, clock: FrozenClock) -> None:
    house.learn("The plumber comes at noon.", expires_at=to_text(NOW + timedelta(hours=2)))
    assert found_records(house, "plumber noon") == ["The plumber comes at noon."]
    clock.move(minutes=120)

    assert found_records(house, "plumber noon") == []
    assert found_records(house, "plumber noon", as_of=NOW + timedelta(hours=1)) == ["The plumber comes at noon."]
    assert found_records(house, "plumber noon", as_of=NOW + timedelta(hours=2)) == []


def test_what_was_replaced_is_not_shown_even_by_an_index_that_is_behind(house: House, clock: FrozenClock) -> None:
    name = house.learn("The bin is emptied on Monday.")
    assert found_records(house, "bin emptied") == ["The bin is emptied on Monday."]
    clock.move(minutes=5)
    house.memory.knowledge.edit(name, "The bin is emptied on Thursday.")

    assert found_records(house, "bin emptied", fresh=False) == []


def test_another_clock_that_is_behind_does_not_bring_back_what_was_replaced(house: House, clock: FrozenClock) -> None:
    name = house.learn("The bin is emptied on Monday.")
    clock.move(minutes=5)
    house.memory.knowledge.edit(name, "The bin is emptied on Thursday.")

    assert found_records(house, "bin emptied", now=NOW) == ["The bin is emptied on Thursday."]


# Following and forgetting


def forget(house: House, name: str) -> None:
    """As forgetting does: every version goes, and the feed is told."""
    with house.memory.database.write() as session:
        RecordStore(session, house.memory.settings.house).delete([name])
        FeedStore(session, house.memory.settings.house).note(RECORD, [name])


def test_a_built_index_has_the_records_that_a_following_one_has(house: House, clock: FrozenClock) -> None:
    names = [house.learn(f"Parcel {number} goes to dock {number % 3}.") for number in range(5)]
    before = [(hit.id, hit.score) for hit in house.hits("parcel dock", limit=50)]
    clock.move(minutes=5)
    house.memory.knowledge.edit(names[0], "Parcel 0 goes to dock 9.")
    followed = [(hit.id, hit.score) for hit in house.hits("parcel dock", limit=50)]
    then = [(hit.id, hit.score) for hit in house.hits("parcel dock", limit=50, as_of=NOW)]

    house.memory.recall.reindex()

    assert [(hit.id, hit.score) for hit in house.hits("parcel dock", limit=50)] == followed
    assert [(hit.id, hit.score) for hit in house.hits("parcel dock", limit=50, as_of=NOW)] == then
    assert {name for name, _ in before} == {name for name, _ in followed}


def test_records_are_read_page_by_page(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [house.learn(f"Parcel {number} goes to dock {number % 3}.") for number in range(7)]
    for name in names[:3]:
        house.memory.knowledge.edit(name, f"Parcel {name} is lost.")
    monkeypatch.setattr("recollect.recall.material.RECORDS_PAGE", 2)
    monkeypatch.setattr("recollect.recall.index.following.PAGE", 3)
    monkeypatch.setattr("recollect.recall.index.following.BATCH_DOCUMENTS", 2)

    house.memory.recall.reindex()

    assert house.memory.recall.state().documents == 2 + 7 + 3
    assert {hit.id for hit in house.hits("parcel", search_type="facts")} == set(names)


INDEX_TABLES = ("recall_documents", "recall_conversations", "recall_postings")


def traces(memory: recollect.Memory, *wanted: str) -> list[str]:
    """Rows of the index that hold one of these words or ids."""
    index = open_index(memory.database, memory.settings.house)
    try:
        with index.database.read() as session:
            rows = [row for table in INDEX_TABLES for row in session.rows(f"SELECT * FROM {table}")]
    finally:
        index.close()
    texts = [str(value) for row in rows for value in row if isinstance(value, str)]
    return [text for text in texts if any(word in text for word in wanted)]


def test_nothing_of_what_was_forgotten_stays_in_the_index(house: House, clock: FrozenClock) -> None:
    name = house.learn("The zebrafinch nests in the attic.")
    kept = house.learn("The hedgehog nests in the compost.")
    clock.move(minutes=5)
    house.memory.knowledge.edit(name, "The zebrafinch nests in the chimney.")
    house.hits("zebrafinch")
    assert traces(house.memory, "zebrafinch", "chimney", "attic", name)

    forget(house, name)

    assert house.memory.recall.forget() == 2
    assert traces(house.memory, "zebrafinch", "chimney", "attic", name) == []
    assert traces(house.memory, kept)
    assert found_records(house, "zebrafinch chimney") == ["The hedgehog nests in the compost."]
    assert "zebrafinch" not in str(house.hits("zebrafinch attic", as_of=NOW))


def test_nothing_of_what_was_forgotten_stays_in_the_files(house: House) -> None:
    name = house.learn("The zebrafinch nests in the attic.")
    house.hits("zebrafinch")
    forget(house, name)

    house.memory.recall.forget()

    place = house.memory.recall.place()
    place.compact()
    place.settle()
    for path in place.files():
        content = path.read_bytes()
        assert not [word for word in ("zebrafinch", "attic", name) if word.encode() in content]


def test_nothing_of_a_conversation_that_is_gone_stays_in_the_index(house: House) -> None:
    house.tell("a", "The zebrafinch nests in the attic.", "Feed it.")
    told = house.hits("zebrafinch")[0]
    with house.memory.database.write() as session:
        store = MessageStore(session, house.memory.settings.house)
        for message in store.of_conversation(told.conversation):
            store.delete(message.id)

    assert house.memory.recall.forget() == 2
    assert traces(house.memory, "zebrafinch", told.id, told.conversation) == []


def test_a_build_that_was_begun_holds_nothing_of_what_was_forgotten(house: House) -> None:
    name = house.learn("The zebrafinch nests in the attic.")
    house.hits("zebrafinch")
    material = Material(house.memory.feed, house.memory.history, house.memory.knowledge, house.memory.notes)
    index = open_index(house.memory.database, house.memory.settings.house)

    def is_interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.rebuild(material, house.memory.models.static, is_interrupted)
    index.close()
    forget(house, name)
    house.memory.recall.forget()

    assert traces(house.memory, "zebrafinch", name) == []
    house.memory.recall.reindex()
    assert found_records(house, "zebrafinch") == []


def test_forgetting_does_not_build_an_index_where_there_is_none(house: House) -> None:
    assert house.memory.recall.forget() == 0
    assert house.memory.recall.state().generation == 0
