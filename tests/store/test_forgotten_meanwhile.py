"""Something is forgotten while the librarian works, before any one of its transactions, as another program would do it.
Whatever it had read by then, nothing of that is written down afterwards, and nothing else is missing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from between import interrupted
from conftest import OpenHouse
from exchanging import Chat
from residue import tables_with
from transcripts import START, Transcript

from recollect import Memory
from recollect.knowledge import Origin
from recollect.notes.lines import line_id
from recollect.testing import FrozenClock, ScriptedModel
from recollect.testing.scripted import Script

GRAZ, POT, ANNA, BEANS = (
    "I live in Graz.",
    "Remember that the spare key lies under the third pot of thyme.",
    "My sister Anna works as a nurse.",
    "Runner beans climb best on hazel poles.",
)
CORE = "core/facts.md"

Act = Callable[[Memory], object]


@pytest.fixture
def moments(engine: str) -> range:
    """All of them; on a server, where a house takes longer, some."""
    return range(0, 1_000, 5 if engine.startswith("postgres") else 1)


def told(memory: Memory, folder: Path) -> None:
    """A conversation that has ended."""
    transcript = Transcript("one", start=START)
    for sentence in (GRAZ, POT, ANNA, BEANS):
        transcript.user(sentence)
        transcript.assistant("Very well.")
    memory.history.ingest([transcript.save(folder)])
    assert isinstance(memory.clock, FrozenClock)
    memory.clock.move(days=1)


def forget_message(memory: Memory) -> None:
    message = next(one.id for one in memory.history.export() if POT in one.text)
    memory.forget(message=message, verify=False)


def pages(memory: Memory) -> dict[str, str]:
    """Path → text of every file of the notes. Those that were replaced are held for a while, for who writes on."""
    memory.notes.clear_held()
    root = memory.notes.folder
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.md"))}


def places_of(memory: Memory, words: str) -> list[str]:
    return tables_with(memory, words) + [path for path, text in pages(memory).items() if words in path + text]


# Reading a conversation that has ended


def by_rules(memory: Memory) -> None:
    memory.librarian.process()


def by_a_model(memory: Memory) -> None:
    model = ScriptedModel(_answer)
    memory.librarian_with(lambda: model).process()


def _answer(system: str, prompt: str, schema: type[Any]) -> dict[str, Any]:
    turns = [(turn, one) for turn, one in ((1, GRAZ), (3, POT)) if f"[{turn}]" in prompt and one in prompt]
    items = [{"about": "user", "text": one, "quotes": [{"turn": turn, "words": one}]} for turn, one in turns]
    lines = [{"label": "Told", "text": one, "quotes": [{"turn": turn, "words": one}]} for turn, one in turns]
    return {"title": "Graz", "items": items, "lines": lines}


@pytest.mark.parametrize("work", [by_rules, by_a_model])
def test_a_message_that_is_forgotten_at_any_moment_of_a_reading_is_nowhere(
    work: Act, open_house: OpenHouse, tmp_path: Path, moments: range
) -> None:
    words = "third pot of thyme"
    for moment in moments:
        house = open_house()
        told(house, tmp_path / str(moment))
        memory, between = interrupted(house, moment, forget_message)
        work(memory)
        if not between.has_happened:
            assert words in "".join(pages(house).values())
            assert moment > 20
            break
        work(house)
        assert (moment, places_of(house, words)) == (moment, [])
        assert "Graz" in pages(house)[CORE]
        assert {one.conversation.status for one in house.history.conversations()} == {"archived"}


def test_a_person_who_is_forgotten_at_any_moment_of_a_reading_is_on_no_shelf(
    open_house: OpenHouse, tmp_path: Path, moments: range
) -> None:
    def forget(house: Memory) -> None:
        for record in house.knowledge.records(subject="Anna")[:1]:
            house.forget(subject=record.subject, verify=False)

    for moment in moments:
        house = open_house()
        told(house, tmp_path / str(moment))
        memory, between = interrupted(house, moment, forget)
        by_rules(memory)
        if not between.has_happened:
            break
        was_forgotten = bool(house.forgetting.receipts())
        by_rules(house)
        found = [path for path, text in pages(house).items() if "anna" in path or "as a nurse" in text]
        assert (moment, bool(found)) == (moment, not was_forgotten)


# Reading what was just said


def _answer_of_both(system: str, prompt: str, schema: type[Any]) -> dict[str, Any]:
    """One thing that two messages say together."""
    quotes = [{"turn": turn, "words": one} for turn, one in ((1, GRAZ), (3, POT)) if one in prompt]
    item = {"about": "user", "text": POT.removeprefix("Remember that "), "quotes": quotes}
    return {"items": [item] if POT in prompt else []}


@pytest.mark.parametrize("answer", [None, _answer_of_both])
def test_a_message_that_is_forgotten_at_any_moment_of_a_live_reading_is_nowhere(
    answer: "Script | None", open_house: OpenHouse, tmp_path: Path, moments: range
) -> None:
    for moment in moments:
        house = open_house()
        chat = Chat(house, tmp_path / str(moment))
        said = [*chat.say(GRAZ), *chat.say(POT)]
        memory, between = interrupted(house, moment, forget_message)
        memory.librarian_with((lambda: ScriptedModel(answer)) if answer else None).live().read(said)
        if not between.has_happened:
            assert any("pot of thyme" in record.text for record in house.knowledge.records())
            break
        assert (moment, places_of(house, "pot of thyme")) == (moment, [])


# Reading what people write


def test_a_note_that_is_forgotten_while_it_is_read_tells_nothing(
    open_house: OpenHouse, tmp_path: Path, moments: range
) -> None:
    was_known = set[bool]()

    def is_known(house: Memory) -> bool:
        return any(one.origin is Origin.TOLD for one in house.knowledge.records())

    def forget(house: Memory) -> None:
        was_known.add(is_known(house))
        house.forget(note=CORE, verify=False)

    for moment in moments:
        house = open_house()
        told(house, tmp_path / str(moment))
        by_rules(house)
        page = house.notes.folder / CORE
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("## Facts\n\n", "## Facts\n\n- Keeps bees behind the mill\n"), encoding="utf-8")
        was_known.clear()
        memory, between = interrupted(house, moment, forget)
        memory.librarian.tidy()
        if not between.has_happened:
            assert is_known(house)
            break
        house.librarian.tidy()
        assert (moment, {is_known(house)}) == (moment, was_known)
        assert tables_with(house, line_id(CORE, b"Keeps bees behind the mill")) == []
        assert "Graz" in pages(house)[CORE]
