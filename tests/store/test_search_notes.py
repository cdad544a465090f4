"""What is written down is found beside what was said and learned, whoever wrote it with whatever tool."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from chats import NOW, House, OwnModels, days_ago
from house_of_words import WordVectors

import recollect
from recollect.clock import to_text
from recollect.feed import NOTE, FeedStore
from recollect.notes import Notes
from recollect.recall import Hit
from recollect.recall.index import open_index
from recollect.testing import FrozenClock

PAGE = "# Garden\n\nBeans go under glass in May.\n\n## Shed\n\nThe hedgehog sleeps behind the watering can.\n"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def house(memory: recollect.Memory, tmp_path: Path) -> House:
    told = House(memory, tmp_path / "chats")
    told.tell("small-talk", "Which paint suits a kitchen wall?", ("assistant", "A washable one."), start=days_ago(20))
    for name in ("ada", "bert"):
        memory.agents.add(name)
    return told


@pytest.fixture
def notes(house: House) -> Notes:
    return house.memory.notes


def found(house: House, text: str, **options: object) -> list[str]:
    """Paths of the notes that have a word of the question."""
    return [hit.id for hit in house.hits(text, **options) if hit.kind == "note" and hit.highlights]


def put(notes: Notes, path: str, text: str | bytes) -> Path:
    """As an editor does."""
    file = notes.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


# What is found


def test_a_hit_in_a_note_names_the_file_and_the_line(house: House, notes: Notes) -> None:
    notes.write("projects/a@b ü/overview.md", PAGE)

    best = house.hits("Where does the hedgehog sleep?")[0]

    assert (best.kind, best.id, best.line) == ("note", "projects/a@b ü/overview.md", 5)
    assert best.file == "notes/projects/a@b ü/overview.md"
    assert (best.author, best.source, best.at) == ("note", "notes", to_text(NOW))
    assert (best.conversation, best.session_id, best.project) == ("", "", "")
    assert best.text == "## Shed\n\nThe hedgehog sleeps behind the watering can."
    assert best.before == "# Garden\n\nBeans go under glass in May."
    assert best.highlights


def test_each_type_of_search_finds_its_kind_and_both_finds_all(house: House, notes: Notes) -> None:
    house.tell("a", "The hedgehog sleeps.")
    house.learn("The hedgehog eats beetles.")
    notes.write("user.md", "Has a hedgehog.")

    kinds = {
        name: {hit.kind for hit in house.hits("hedgehog", search_type=name) if hit.highlights}
        for name in ("conversations", "facts", "notes", "both")
    }

    assert kinds == {
        "conversations": {"message"},
        "facts": {"record"},
        "notes": {"note"},
        "both": {"message", "record", "note"},
    }
    assert "note" in {hit.kind for hit in house.memory.search_memory("hedgehog").hits}
    assert found(house, "hedgehog", sources=["notes"]) == ["user.md"]
    assert found(house, "hedgehog", authors=["user"]) == []


def test_the_diary_is_found_by_the_agent_who_keeps_it(house: House) -> None:
    ada = house.memory.as_agent("ada")
    entry = ada.notes.diary.write("Today the hedgehog came back.")

    assert [hit.id for hit in ada.search_memory("hedgehog").hits[:1]] == [entry.version.path]
    assert found(house, "hedgehog", agent="bert") == []


def test_what_somebody_changes_with_another_tool_is_found_as_it_is_now(house: House, notes: Notes) -> None:
    file = put(notes, "user.md", "Has a hedgehog.")
    assert found(house, "hedgehog") == ["user.md"]

    put(notes, "user.md", "Has a tortoise.")
    assert (found(house, "hedgehog"), found(house, "tortoise")) == ([], ["user.md"])

    file.unlink()
    assert found(house, "tortoise") == []


def test_a_search_makes_no_folder(house: House, notes: Notes) -> None:
    assert house.ask("hedgehog", search_type="notes").lacks == [
        "there are no notes to search; `recollect notes write` writes one"
    ]
    assert not notes.folder.exists()


def test_the_folder_is_looked_at_only_for_who_may_find_notes(house: House, notes: Notes) -> None:
    put(notes, "user.md", "Has a hedgehog.")
    house.hits("hedgehog", search_type="conversations")
    house.hits("hedgehog", authors=["user"])
    assert found(house, "hedgehog", fresh=False) == []
    assert found(house, "hedgehog", search_type="notes") == ["user.md"]


def test_a_status_and_what_is_no_text_are_not_found(house: House, notes: Notes) -> None:
    put(notes, "agents/ada/status.json", '{"mood": "hedgehog"}')
    put(notes, "photo.md", b"hedgehog\0\xff")
    put(notes, "user.md", "Has a hedgehog.")
    assert found(house, "hedgehog") == ["user.md"]


def test_a_credential_that_was_typed_into_a_file_stays_there(house: House, notes: Notes) -> None:
    put(notes, "keys.md", f"The hedgehog's token is {KEY} and that is all.")
    (hit,) = [hit for hit in house.hits("hedgehog token") if hit.kind == "note"]

    assert KEY not in str(hit)
    assert "[masked:" in hit.text
    assert not traces(house.memory, KEY.lower(), KEY)


def test_messages_are_ranked_as_if_there_were_no_notes(house: House, notes: Notes) -> None:
    house.tell("a", "The hedgehog sleeps.", "Feed the cat.", ("assistant", "The hedgehog wakes in April."))
    before = house.texts("when does the hedgehog wake", search_type="conversations")
    for number in range(10):
        notes.write(f"parcels/{number}.md", f"Parcel {number} goes to dock {number % 3}.")

    assert house.texts("when does the hedgehog wake", search_type="conversations") == before


# When


def recency(hits: list[Hit]) -> dict[str, float]:
    return {hit.id: (hit.why or {})["recency"] for hit in hits if hit.kind == "note"}


def test_days_and_the_diary_fade_and_other_notes_do_not(house: House, notes: Notes, clock: FrozenClock) -> None:
    entry = house.memory.as_agent("ada").notes.diary.write("The spare key lies under the blue pot.").version.path
    notes.write("agents/ada/daily/2025-06-01.md", "The spare rope lies under the blue box.")
    notes.write("user.md", "The spare saw hangs under the blue roof.")

    now = recency(house.hits("spare under blue", explain=True))
    clock.move(days=300)
    later = recency(house.hits("spare under blue", explain=True))

    assert (now[entry], later[entry]) == (0.3, pytest.approx(0.0003, abs=1e-3))
    assert now["agents/ada/daily/2025-06-01.md"] < 0.01
    assert (now["user.md"], later["user.md"]) == (0.3, 0.3)


def test_a_note_counts_from_when_it_was_written_as_it_is(house: House, notes: Notes, clock: FrozenClock) -> None:
    notes.write("user.md", "Has a hedgehog.")
    notes.write("agents/ada/daily/2026-03-02.md", "Fed the hedgehog.")
    clock.move(days=5)
    notes.write("user.md", "Has a tame hedgehog.")
    notes.write("agents/ada/diary/2025-01-01T10-00-00.md", "Saw a hedgehog.")

    assert len(found(house, "hedgehog", as_of=clock.now)) == 3
    assert found(house, "hedgehog", as_of=NOW) == ["agents/ada/daily/2026-03-02.md"]
    assert found(house, "hedgehog", as_of=NOW - timedelta(minutes=1)) == []


def test_a_range_of_time_holds_what_is_from_then(house: House, notes: Notes) -> None:
    notes.write("agents/ada/diary/2025-01-01T10-00-00.md", "Saw a hedgehog.")
    notes.write("user.md", "Has a hedgehog.")

    assert found(house, "hedgehog", until=days_ago(100)) == ["agents/ada/diary/2025-01-01T10-00-00.md"]
    assert found(house, "hedgehog", since=days_ago(100)) == ["user.md"]


# Who


def test_notes_of_a_sibling_are_never_found(house: House, notes: Notes) -> None:
    house.memory.agents.add("ada/den")
    for path in ("user.md", "agents/ada/soul.md", "agents/ada/rooms/den/plan.md", "agents/bert/soul.md"):
        notes.write(path, f"Something about a hedgehog in {path}.", reason="a test")

    assert set(found(house, "hedgehog")) == {
        "user.md",
        "agents/ada/soul.md",
        "agents/ada/rooms/den/plan.md",
        "agents/bert/soul.md",
    }
    assert set(found(house, "hedgehog", agent="ada")) == {"user.md", "agents/ada/soul.md"}
    assert set(found(house, "hedgehog", agent="bert")) == {"user.md", "agents/bert/soul.md"}
    assert "agents/ada/rooms/den/plan.md" in found(house, "hedgehog", agent="ada/den")


def test_a_note_that_moved_is_its_new_owners_at_once(house: House, notes: Notes) -> None:
    notes.write("agents/ada/plan.md", "The hedgehog gets a house.")
    assert found(house, "hedgehog", agent="ada") == ["agents/ada/plan.md"]
    notes.move("agents/ada/plan.md", "agents/bert/plan.md")

    assert found(house, "hedgehog", agent="ada", fresh=False) == []
    assert found(house, "hedgehog", agent="ada") == []
    assert found(house, "hedgehog", agent="bert") == ["agents/bert/plan.md"]


def test_files_that_cannot_be_read_are_told_to_who_may_know_of_them(house: House, notes: Notes) -> None:
    notes.write("user.md", "Has a hedgehog.")
    big = put(notes, "agents/bert/big.md", "")
    with big.open("wb") as file:
        file.truncate(5_000_000)

    for agent, is_told in (("", True), ("bert", True), ("ada", False)):
        answer = house.ask("hedgehog", agent=agent)
        assert answer.hits[0].id == "user.md"
        assert any("notes/agents/bert/big.md is not searched" in lack for lack in answer.lacks) is is_told
        assert ("bert" in str(answer.lacks)) is is_told


def test_a_folder_that_cannot_be_read_fails_no_search(house: House, notes: Notes) -> None:
    notes.write("user.md", "Has a hedgehog.")
    shutil.rmtree(notes.folder)
    notes.folder.write_bytes(b"This is a file.")

    answer = house.ask("hedgehog")
    asked = house.ask("hedgehog", agent="ada")

    assert answer.hits[0].id == asked.hits[0].id == "user.md"
    assert any("notes could not be looked at: " in lack for lack in answer.lacks)
    assert "the files of the notes could not be looked at" in asked.lacks


# Following, building, forgetting


def traces(memory: recollect.Memory, *wanted: str) -> list[str]:
    """Rows of the index that hold one of these words or paths."""
    index = open_index(memory.database, memory.settings.house)
    tables = ("recall_documents", "recall_conversations", "recall_postings")
    try:
        with index.database.read() as session:
            rows = [row for table in tables for row in session.rows(f"SELECT * FROM {table}")]
    finally:
        index.close()
    texts = [str(value) for row in rows for value in row if isinstance(value, str)]
    return [text for text in texts if any(word in text for word in wanted)]


def test_an_index_that_is_behind_shows_what_still_stands(house: House, notes: Notes) -> None:
    notes.write("garden.md", PAGE)
    assert found(house, "hedgehog beans") == ["garden.md", "garden.md"]
    notes.write("garden.md", "# News\n\n" + PAGE.replace("Beans go", "Peas go"))

    (hit,) = [hit for hit in house.hits("hedgehog beans", fresh=False) if hit.kind == "note"]

    assert (hit.line, hit.text) == (7, "## Shed\n\nThe hedgehog sleeps behind the watering can.")


def test_a_built_index_has_the_notes_that_a_following_one_has(
    house: House, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.learn("Parcels are heavy.")
    for number in range(7):
        notes.write(f"parcels/{number}.md", f"# Parcel {number}\n\nTo dock {number % 3}.\n\n# Weight\n\nHeavy.\n")
    house.hits("parcel")
    notes.write("parcels/1.md", "# Parcel 1\n\nLost.\n\n# Weight\n\nHeavy.\n")
    notes.remove("parcels/2.md")
    followed = [(hit.id, hit.line, hit.score) for hit in house.hits("parcel dock", limit=50)]
    documents = house.memory.recall.state().documents
    monkeypatch.setattr("recollect.recall.index.following.PAGE", 3)
    monkeypatch.setattr("recollect.recall.index.following.BATCH_DOCUMENTS", 2)

    house.memory.recall.reindex()

    assert documents == house.memory.recall.state().documents == 2 + 1 + 6 * 2
    assert [(hit.id, hit.line, hit.score) for hit in house.hits("parcel dock", limit=50)] == followed
    assert house.memory.recall.number() == 2 + 1 + 6


def test_sections_that_stay_keep_their_deep_vectors(house: House, notes: Notes) -> None:
    memory = house.memory
    models = OwnModels(memory.settings, deep=WordVectors("deep-8", 8))
    asked = House(recollect.Memory(memory.settings, memory.database, memory.clock, models), house.folder)
    notes.write("garden.md", PAGE)
    asked.hits("hedgehog")
    recall = asked.memory.recall
    assert recall.deepen() == 2 + 2

    notes.write("garden.md", "# News\n\nNone.\n\n" + PAGE)
    recall.catch_up()

    assert (recall.state().deepened, recall.deepen()) == (4, 1)
    recall.close()


def test_nothing_of_a_note_whose_rows_are_gone_stays_in_the_index(house: House, notes: Notes) -> None:
    notes.write("birds.md", "The zebrafinch nests in the attic.")
    notes.write("user.md", "Has a hedgehog.")
    house.hits("zebrafinch")
    assert traces(house.memory, "zebrafinch", "attic", "birds.md")

    notes.remove("birds.md")
    house.hits("zebrafinch")
    with house.memory.database.write() as session:
        session.run("DELETE FROM notes_versions WHERE path = 'birds.md'")
        FeedStore(session, house.memory.settings.house).note(NOTE, ["birds.md"])

    assert house.memory.recall.forget() == 1
    assert traces(house.memory, "zebrafinch", "attic", "birds.md") == []
    assert found(house, "hedgehog") == ["user.md"]
