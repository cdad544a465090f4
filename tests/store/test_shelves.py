"""Records and episodes as notes that people read and edit. On both engines."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from filed import Talk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interrupting import InterruptingClock
from transcripts import START

import recollect
from recollect.clock import to_text
from recollect.knowledge import Kind, Origin, Record, State, Statement
from recollect.librarian.episodes import EpisodeStore
from recollect.librarian.items import Doubt, EpisodeLine, Shelf
from recollect.librarian.questions import Question, QuestionKind, QuestionStore
from recollect.librarian.shelves import ShelfReport
from recollect.librarian.shelves.anchors import AnchorKind, anchor_of
from recollect.librarian.shelves.store import ShelfStore
from recollect.lineage import EdgeStore
from recollect.notes.lines import NOTE_LINE, line_id, words_of
from recollect.scopes import Actor
from recollect.testing import FrozenClock

OpenHouse = Callable[..., recollect.Memory]
CORE = "core/facts.md"
GARDEN = "projects/garden/overview.md"
NINA = "relationships/nina/overview.md"
DAY = "episodes/2026-03/2026-03-02.md"
TEA, BEANS, POLES = "Ada drinks tea in the morning", "Runner beans climb", "Hazel poles hold them"


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def catch_up(memory: recollect.Memory) -> ShelfReport:
    return memory.librarian.shelves.catch_up()


def learn(memory: recollect.Memory, text: str, shelf: Shelf = Shelf.CORE, **fields: object) -> Record:
    chosen: dict[str, object] = {
        "kind": Kind.FACT,
        "subject": "user",
        "true_from": "2026-03-02T09:00:00.000Z",
        **fields,
    }
    tags = (str(shelf), *chosen.pop("tags", ()))  # type: ignore[misc]
    learned = memory.knowledge.learn(Statement(text=text, tags=tags, origin=Origin.EXTRACTED, **chosen))  # type: ignore[arg-type]
    assert learned.record
    return learned.record


def text_of(memory: recollect.Memory, path: str) -> str:
    return memory.notes.read(path).text


def edit(memory: recollect.Memory, path: str, old: str, new: str) -> None:
    """As a person does with any editor."""
    file = memory.notes.folder / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def line_of(memory: recollect.Memory, path: str, words: str) -> str:
    return next(line for line in text_of(memory, path).splitlines() if words in line)


@pytest.fixture
def talk(memory: recollect.Memory, projects: Path) -> Talk:
    talk = Talk(memory, projects, "beans", BEANS, POLES, TEA)
    talk.file(
        talk.item(BEANS, shelf=Shelf.PROJECT, subject="Garden"),
        talk.item(TEA, kind=Kind.PREFERENCE),
        title="What beans need",
        title_quotes=(talk.said(BEANS),),
        project="garden",
        lines=[
            EpisodeLine(label="Asked", text="what beans climb on", quotes=(talk.said(BEANS),)),
            EpisodeLine(label="Found", text="hazel poles hold them", quotes=(talk.said(POLES),)),
        ],
    )
    return talk


def test_a_conversation_stands_on_the_page_of_its_day_and_what_it_gave_on_its_shelves(talk: Talk) -> None:
    memory = talk.memory
    report = catch_up(memory)
    assert sorted(report.written) == [CORE, DAY, GARDEN]
    name = talk.conversation.id
    records = {record.text: record.id for record in memory.knowledge.records()}
    assert text_of(memory, DAY) == (
        '---\ntitle: "2026-03-02"\nkind: "episodes"\nlibrarian: "test"\nupdated: "2026-03-02"\n'
        'tags: ["recollect/episodes"]\n---\n\n# 2026-03-02\n\n'
        f"## 10:00 What beans need <!--c:{name}-->\n\n"
        f"to 10:01 · 6 messages · [[projects/garden/overview|garden]] · `recollect show {name[:8]}` <!--m:{name}-->\n"
        f"- Asked: what beans climb on <!--c:{name}.1-->\n"
        f"- Found: hazel poles hold them <!--c:{name}.2-->\n"
    )
    assert text_of(memory, GARDEN).partition("# Garden\n")[2] == (
        f"\n## Facts\n\n- {BEANS} ([[episodes/2026-03/2026-03-02|2026-03-02]]) <!--r:{records[BEANS]}-->\n"
        f"\n## Activity\n\n- [[episodes/2026-03/2026-03-02|2026-03-02]] What beans need <!--c:{name}-->\n"
    )
    assert f"## Preferences\n\n- {TEA}" in text_of(memory, CORE)


def test_nothing_new_makes_no_version_and_all_of_it_made_again_is_the_same(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    before = {one.path: (one.number, text_of(memory, one.path)) for one in memory.notes.list()}
    assert catch_up(memory) == ShelfReport()
    assert memory.librarian.shelves.render_all() == ShelfReport()
    assert {one.path: (one.number, text_of(memory, one.path)) for one in memory.notes.list()} == before


def test_the_same_reading_filed_again_makes_no_version(talk: Talk) -> None:
    memory = talk.memory
    again = {"title": "Beans", "project": "garden", "title_quotes": (talk.said(BEANS),)}
    lines = [EpisodeLine(label="", text="beans were planted", quotes=(talk.said(BEANS),))]
    items = [talk.item(BEANS, shelf=Shelf.PROJECT, subject="Garden"), talk.item(TEA, kind=Kind.PREFERENCE)]
    talk.file(*items, lines=lines, **again)
    catch_up(memory)
    talk.file(*items, lines=lines, **again)
    assert catch_up(memory) == ShelfReport()


def test_front_matter_is_yaml_and_says_that_no_model_read(memory: recollect.Memory) -> None:
    learn(memory, "The gate squeaks", Shelf.PROJECT, subject='The "old" house: a\\b')
    [path] = catch_up(memory).written
    front = yaml.safe_load(text_of(memory, path).split("---\n")[1])
    assert front == {
        "title": 'The "old" house: a\\b',
        "kind": "project",
        "librarian": "rules, without a model",
        "updated": "2026-03-02",
        "tags": ["recollect/project"],
    }


def test_a_person_is_shown_as_they_are_now_with_what_was_before(memory: recollect.Memory) -> None:
    known = {"shelf": Shelf.PERSON, "subject": "Nina", "attribute": "lives in"}
    first = learn(memory, "Nina lives in Porto", value="Porto", **known)  # type: ignore[arg-type]
    catch_up(memory)
    later = learn(memory, "Nina lives in Lisbon", value="Lisbon", true_from="2026-05-01T08:00:00.000Z", **known)  # type: ignore[arg-type]
    memory.clock.move(days=90)  # type: ignore[attr-defined]
    assert catch_up(memory).written == [NINA]
    assert text_of(memory, NINA).partition("# Nina\n")[2] == (
        f"\n## Facts\n\n- Nina lives in Lisbon <!--r:{later.id}-->\n"
        f"\n## Revision history\n\n- 2026-05-01: was “Nina lives in Porto” <!--h:{first.id}-->\n"
        f"  - now “Nina lives in Lisbon” <!--h:{first.id}.1-->\n"
    )


def test_a_milestone_is_written_once_and_an_insight_follows_its_record(memory: recollect.Memory) -> None:
    mile = learn(memory, "The greenhouse stands!", Shelf.MILESTONE)
    seen = learn(memory, "Seeds want warmth before light", Shelf.INSIGHT)
    milestone, insight = (
        "milestones/2026-03/2026-03-02-the-greenhouse-stands.md",
        "insights/2026-03-02-seeds-want-warmth-before-light.md",
    )
    assert sorted(catch_up(memory).written) == [insight, milestone]
    memory.knowledge.edit(mile.id, "The greenhouse stands, at last")
    memory.knowledge.edit(seen.id, "Seeds want warmth first")
    assert catch_up(memory).written == [insight]
    assert "- The greenhouse stands! <!--" in text_of(memory, milestone)
    assert "- Seeds want warmth first <!--" in text_of(memory, insight)
    memory.knowledge.retract(mile.id)
    assert catch_up(memory).removed == [milestone]


def test_pages_of_records_of_an_agent_or_a_room_lie_in_its_folder(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    learn(memory, "Ada keeps bees", scope="ada")
    memory.agents.add("house/hall")
    learn(memory, "The hall has two doors", scope="house/hall")
    assert catch_up(memory).written == [f"agents/ada/{CORE}", f"rooms/hall/{CORE}"]


def test_a_record_that_changes_its_subject_leaves_the_page_it_stood_on(memory: recollect.Memory) -> None:
    found = learn(memory, "It has a pond", Shelf.PROJECT, subject="Garden")
    catch_up(memory)
    with memory.database.write() as session:
        from recollect.knowledge.writing import Writer

        writer = Writer(session, memory.settings.house, memory.principal, to_text(memory.clock()))
        writer.change(found, "edited", "", {"subject": "Park"})
    report = catch_up(memory)
    assert (report.written, report.removed) == (["projects/park/overview.md"], [GARDEN])


def test_a_very_large_page_is_bounded_and_says_so(memory: recollect.Memory) -> None:
    statements = [
        Statement(
            text=f"Fact {n}",
            kind=Kind.FACT,
            subject="user",
            tags=("core",),
            origin=Origin.EXTRACTED,
            true_from=f"2026-03-02T09:{n // 60:02d}:{n % 60:02d}Z",
        )
        for n in range(220)
    ]
    memory.knowledge.learn_many(statements)
    catch_up(memory)
    lines = text_of(memory, CORE).splitlines()
    assert sum(line.startswith("- Fact") for line in lines) == 200
    assert any("Only the latest 200" in line for line in lines)
    assert "- Fact 219 " in text_of(memory, CORE)
    assert catch_up(memory) == ShelfReport()


# What people write


def test_words_that_somebody_gave_a_line_are_a_version_of_its_record_by_them(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    edit(memory, CORE, TEA, "Ada drinks coffee by now")
    report = catch_up(memory)
    assert (report.written, report.read_back) == ([], {"edited": 1})
    record = memory.knowledge.records(tags=["core"])[0]
    event = memory.knowledge.events(record.id)[-1]
    assert (record.text, record.version) == ("Ada drinks coffee by now", 2)
    assert (event.actor, event.reason) == (Actor.PERSON, f"edited in {CORE}")
    assert catch_up(memory) == ShelfReport()


def test_what_an_agent_writes_on_a_shelf_is_that_agents_version(memory: recollect.Memory) -> None:
    record = learn(memory, TEA)
    catch_up(memory)
    memory.notes.prepare()
    agent = memory.as_agent("assistant")
    agent.notes.change(CORE, lambda now: (now or "").replace("tea", "cocoa"))
    catch_up(memory)
    event = memory.knowledge.events(record.id)[-1]
    assert (event.actor, event.actor_name) == (Actor.AGENT, "assistant")
    assert memory.knowledge.record(record.id).text == TEA.replace("tea", "cocoa")


def test_of_two_who_change_the_same_the_later_one_wins(memory: recollect.Memory, clock: FrozenClock) -> None:
    record = learn(memory, TEA)
    catch_up(memory)
    edit(memory, CORE, "tea", "milk")
    memory.notes.look()
    clock.move(minutes=1)
    memory.knowledge.edit(record.id, TEA.replace("tea", "wine"))
    assert catch_up(memory).read_back == {"overtaken": 1}
    assert "wine" in text_of(memory, CORE)
    assert "milk" in memory.notes.read(CORE, 2).text
    clock.move(minutes=1)
    memory.knowledge.edit(record.id, TEA.replace("tea", "beer"))
    clock.move(minutes=1)
    edit(memory, CORE, "wine", "water")
    assert catch_up(memory).read_back == {"edited": 1}
    assert memory.knowledge.record(record.id).text == TEA.replace("tea", "water")


def test_a_line_that_somebody_deleted_stays_away_until_it_is_decided(memory: recollect.Memory) -> None:
    record, other = learn(memory, TEA), learn(memory, BEANS)
    catch_up(memory)
    line = line_of(memory, CORE, TEA)
    edit(memory, CORE, f"{line}\n", "")
    assert catch_up(memory).read_back == {"proposed": 1}
    memory.librarian.shelves.render_all()
    assert TEA not in text_of(memory, CORE)
    assert memory.knowledge.record(record.id).state is State.CURRENT
    [proposal] = memory.librarian.proposals()
    assert (proposal.record_id, proposal.path) == (record.id, CORE)
    memory.librarian.reject(proposal.id)
    assert line in text_of(memory, CORE)
    edit(memory, CORE, f"{line}\n", "")
    catch_up(memory)
    memory.librarian.accept(memory.librarian.proposals()[0].id)
    assert memory.knowledge.record(record.id).state is State.RETRACTED
    assert TEA not in text_of(memory, CORE)
    assert other.text in text_of(memory, CORE)


def test_who_puts_a_deleted_line_back_withdraws_the_proposal(memory: recollect.Memory) -> None:
    learn(memory, TEA)
    learn(memory, BEANS)
    catch_up(memory)
    line = line_of(memory, CORE, TEA)
    edit(memory, CORE, f"{line}\n", "")
    catch_up(memory)
    memory.notes.undo(CORE)
    catch_up(memory)
    assert memory.librarian.proposals() == []
    assert line in text_of(memory, CORE)


def test_a_point_that_somebody_adds_is_told_and_becomes_a_line_of_its_record(memory: recollect.Memory) -> None:
    learn(memory, "It has a pond", Shelf.PROJECT, subject="Garden")
    catch_up(memory)
    edit(memory, GARDEN, "## Facts\n\n", "## Facts\n\n- It has frogs\n")
    memory.notes.folder.joinpath(GARDEN).write_text(text_of(memory, GARDEN) + "\n## Mine\n\n- Not a fact\n")
    assert catch_up(memory).read_back == {"added": 1}
    [told] = [record for record in memory.knowledge.records() if record.origin is Origin.TOLD]
    assert (told.text, told.subject, told.kind, told.tags) == ("It has frogs", "Garden", Kind.FACT, ("project",))
    text = text_of(memory, GARDEN)
    assert text.count("It has frogs") == 1
    assert f"- It has frogs <!--r:{told.id}-->" in text
    assert text.endswith("\n## Mine\n\n- Not a fact\n")
    assert catch_up(memory) == ShelfReport()


def test_a_line_that_somebody_copied_from_another_page_is_theirs_and_goes_with_its_record(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    copied = line_of(memory, CORE, TEA)
    memory.notes.folder.joinpath(GARDEN).write_text(
        f"{text_of(memory, GARDEN)}\n## Mine\n\n{copied}\n", encoding="utf-8"
    )
    assert catch_up(memory).read_back == {"copied": 1}
    text = text_of(memory, GARDEN)
    assert TEA in text
    assert copied not in text
    assert memory.librarian.proposals() == []
    memory.forget(record=anchor_of(copied).id)  # type: ignore[union-attr]
    assert TEA not in every_text(memory)


def test_lines_of_an_episode_stay_as_somebody_left_them_when_it_is_read_again(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    edit(memory, DAY, "what beans climb on", "what to build for beans")
    edit(memory, DAY, f"{line_of(memory, DAY, 'hazel poles')}\n", "my own line\n")
    edit(memory, DAY, "What beans need", "Beans")
    catch_up(memory)
    quoted = [EpisodeLine(label="Asked", text="something else", quotes=(talk.said(BEANS),))]
    talk.file(title="Read again", project="garden", lines=[*quoted, *quoted, *quoted])
    catch_up(memory)
    text = text_of(memory, DAY)
    assert "## 10:00 Beans <!--" in text
    assert "Asked: what to build for beans" in text
    assert "hazel poles" not in text
    assert text.count("something else") == 1
    assert "my own line" in text
    assert "]] Beans <!--c:" in text_of(memory, GARDEN)


def test_what_somebody_deleted_from_the_activity_of_a_project_stays_away(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    line = line_of(memory, GARDEN, "What beans need")
    edit(memory, GARDEN, f"{line}\n", "")
    assert catch_up(memory).read_back == {"hidden": 1}
    memory.librarian.shelves.render_all()
    assert "What beans need" not in text_of(memory, GARDEN)
    memory.notes.undo(GARDEN, 1)
    catch_up(memory)
    memory.librarian.shelves.render_all()
    assert line in text_of(memory, GARDEN)


def test_a_note_that_somebody_deleted_is_not_made_again_until_it_is_decided(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    for path in (CORE, GARDEN, DAY):
        (memory.notes.folder / path).unlink()
    catch_up(memory)
    learn(memory, "It has a pond", Shelf.PROJECT, subject="Garden")
    memory.librarian.shelves.render_all()
    assert [one.path for one in memory.notes.list()] == []
    for proposal in memory.librarian.proposals():
        memory.librarian.reject(proposal.id)
    assert TEA in text_of(memory, CORE)
    assert BEANS in text_of(memory, GARDEN)
    memory.notes.undo(DAY)
    catch_up(memory)
    assert "hazel poles" in text_of(memory, DAY)


def test_a_folder_that_was_lost_comes_back_and_nothing_is_proposed(talk: Talk) -> None:
    import shutil

    memory = talk.memory
    catch_up(memory)
    shutil.rmtree(memory.notes.folder)
    catch_up(memory)
    assert TEA in text_of(memory, CORE)
    assert memory.librarian.proposals() == []


def test_a_shelf_that_cannot_be_written_is_reported_and_the_others_go_on(memory: recollect.Memory) -> None:
    learn(memory, "It has a pond", Shelf.PROJECT, subject="Garden")
    learn(memory, TEA)
    catch_up(memory)
    memory.notes.folder.joinpath(CORE).write_bytes(b"\xff\xfe not text")
    blocked = memory.notes.folder / "relationships/nina/overview.md"
    blocked.mkdir(parents=True)
    blocked.joinpath("x.md").write_text("mine")
    learn(memory, "It has frogs", Shelf.PROJECT, subject="Garden")
    learn(memory, BEANS)
    learn(memory, "Nina plays chess", Shelf.PERSON, subject="Nina")
    report = catch_up(memory)
    assert report.written == [GARDEN]
    assert {problem.path for problem in report.problems} == {CORE, NINA}
    memory.notes.undo(CORE)
    assert catch_up(memory).written == [CORE]
    assert BEANS in text_of(memory, CORE)


def test_notes_of_somebody_else_at_the_place_of_a_shelf_are_kept_and_told_nothing_from(
    memory: recollect.Memory,
) -> None:
    mine = "---\nmine: yes\n---\n## Facts\n\n- Written long before\n"
    memory.notes.write(GARDEN, mine)
    assert catch_up(memory) == ShelfReport()
    assert text_of(memory, GARDEN) == mine
    learn(memory, "It has a pond", Shelf.PROJECT, subject="Garden")
    catch_up(memory)
    text = text_of(memory, GARDEN)
    assert "- Written long before" in text
    assert "- It has a pond <!--r:" in text
    assert len(memory.knowledge.records()) == 1


def test_names_that_differ_in_case_or_hyphens_share_a_page_and_others_do_not(memory: recollect.Memory) -> None:
    for name in ("night-garden", "Night Garden", "night_garden", "Night & Garden"):
        learn(memory, f"{name} blooms", Shelf.PROJECT, subject=name)
    written = catch_up(memory).written
    assert len(written) == 2
    assert text_of(memory, "projects/night-garden/overview.md").count("blooms") == 3


# Questions


def ask(memory: recollect.Memory, text: str) -> Question:
    question = Question(
        id=f"{len(text):024x}", scope="house", kind=QuestionKind.OPEN, text=text, asked_at="2026-03-02T09:00:00.000Z"
    )
    with memory.database.write() as session:
        QuestionStore(session, memory.settings.house).ask(question)
    return question


def test_a_question_is_answered_in_its_note_and_the_answer_is_used(memory: recollect.Memory) -> None:
    first, second = ask(memory, "Which soil is best?"), ask(memory, "When does the market open?")
    catch_up(memory)
    edit(
        memory,
        "questions.md",
        str(anchor_of(line_of(memory, "questions.md", "soil"))),
        f"<!--q:{first.id}-->\n  > the black one",
    )
    report = catch_up(memory)
    assert report.read_back == {"answered": 1}
    [record] = memory.knowledge.records()
    assert record.text == "Which soil is best? the black one"
    text = text_of(memory, "questions.md")
    assert "soil" not in text
    assert "black" not in text
    assert second.text in text
    memory.librarian.answer(second.id, "at eight")
    assert "questions.md" not in [one.path for one in memory.notes.list()]


# Forgetting


def every_text(memory: recollect.Memory) -> str:
    """All versions of all notes, and all files."""
    found: list[str] = []
    for head in memory.notes.list(gone=True):
        found += [memory.notes.read(head.path, one.number).text for one in memory.notes.history(head.path)]
    files = [file for file in memory.notes.folder.rglob("*.md") if file.is_file()]
    return "\n".join([*found, *(file.read_text(encoding="utf-8") for file in files)])


def test_what_was_forgotten_is_on_no_shelf_and_does_not_come_back(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    edit(memory, DAY, "hazel poles hold them", "hazel poles of two metres hold them")
    catch_up(memory)
    assert memory.forget(message=talk.said(POLES).message_id).is_verified
    for _ in range(2):
        assert "azel poles" not in every_text(memory)
        assert "what beans climb on" in text_of(memory, DAY)
        catch_up(memory)
        memory.librarian.shelves.render_all()
    assert memory.forget(message=talk.said(BEANS).message_id).is_verified
    catch_up(memory)
    text = every_text(memory)
    assert not any(words in text for words in ("beans", "Beans", BEANS))
    assert TEA in text_of(memory, CORE)


def test_a_person_who_is_forgotten_leaves_no_word_in_any_version_and_no_note_of_their_name(
    memory: recollect.Memory,
) -> None:
    for name, other in (("Nina Zephyr", "Porto"), ("Otto Quill", "Turin")):
        known: dict[str, object] = {"shelf": Shelf.PERSON, "subject": name, "attribute": "lives in"}
        learn(memory, f"Lives in {other}", value=other, **known)  # type: ignore[arg-type]
        catch_up(memory)
        later = "2026-03-02T10:00:00.000Z"
        learn(memory, f"Lives in Lisbon after {other}", value="Lisbon", true_from=later, **known)  # type: ignore[arg-type]
        catch_up(memory)
    _, second = (f"relationships/{name}/overview.md" for name in ("nina-zephyr", "otto-quill"))
    edit(memory, second, "## Facts\n\n", "## Facts\n\n- Plays the oboe\n")
    memory.notes.folder.joinpath(second).write_text(text_of(memory, second) + "my own words\n")
    catch_up(memory)
    assert memory.forget(subject="Nina Zephyr").is_verified
    assert memory.forget(subject="Otto Quill").is_verified
    catch_up(memory)
    text = every_text(memory)
    assert not any(word in text for word in ("Porto", "Turin", "Lisbon", "oboe", "Nina Zephyr", "Otto Quill"))
    assert [one.path for one in memory.notes.list(gone=True)] == [second]
    assert "my own words" in text_of(memory, second)


def test_a_milestone_that_is_forgotten_takes_the_note_of_its_words_with_it(memory: recollect.Memory) -> None:
    mile = learn(memory, "The greenhouse stands at last", Shelf.MILESTONE)
    catch_up(memory)
    assert memory.forget(record=mile.id).is_verified
    catch_up(memory)
    assert memory.notes.list(gone=True) == []
    with memory.database.read() as session:
        assert ShelfStore(session, memory.settings.house).paths() == []


def test_a_conversation_that_is_forgotten_takes_its_project_with_it_where_nothing_else_is_known(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    assert memory.forget(conversation=talk.conversation.id).is_verified
    catch_up(memory)
    assert [one.path for one in memory.notes.list(gone=True) if one.path == GARDEN] == []
    assert memory.notes.list() == []
    assert "eans" not in every_text(memory)
    with memory.database.read() as session:
        assert GARDEN not in ShelfStore(session, memory.settings.house).paths()


def test_every_line_of_a_shelf_has_an_edge_from_what_it_goes_with(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    edit(memory, CORE, TEA, "Ada drinks coffee by now")
    catch_up(memory)
    notes = [memory.notes.read(head.path) for head in memory.notes.list()]
    lines = [line_id(note.path, line) for note in notes for line in words_of(note.content) if b"<!--" in line]
    with memory.database.read() as session:
        edges = EdgeStore(session, memory.settings.house).origins_of(NOTE_LINE, lines)
    assert {edge.to_id for edge in edges} == set(lines)


def test_only_pages_of_what_changed_are_written(memory: recollect.Memory, projects: Path) -> None:
    for number in range(12):
        start = START + timedelta(days=number)
        talk = Talk(memory, projects, f"talk {number}", f"Plot {number} has roses", start=start)
        talk.file(
            talk.item(f"Plot {number} has roses", shelf=Shelf.PROJECT, subject=f"Plot {number}"), title=f"Talk {number}"
        )
    assert len(catch_up(memory).written) == 24
    talk = Talk(memory, projects, "one more", "Plot 3 has a bench", start=START + timedelta(days=3, hours=5))
    talk.file(talk.item("Plot 3 has a bench", shelf=Shelf.PROJECT, subject="plot 3"), title="One more")
    assert catch_up(memory).written == ["episodes/2026-03/2026-03-05.md", "projects/plot-3/overview.md"]
    assert text_of(memory, "episodes/2026-03/2026-03-05.md").index("Talk 3") < text_of(
        memory, "episodes/2026-03/2026-03-05.md"
    ).index("One more")


def test_a_later_conversation_is_appended_to_the_activity_whenever_it_is_read(
    memory: recollect.Memory, projects: Path
) -> None:
    for day in (2, 0, 1):
        talk = Talk(memory, projects, f"day {day}", "Peas are sown", start=START + timedelta(days=day))
        talk.file(title=f"Day {day}", project="Garden")
        catch_up(memory)
    lines = [line for line in text_of(memory, GARDEN).splitlines() if anchor_of(line)]
    assert [line.split("]] ")[1][:5] for line in lines] == ["Day 0", "Day 1", "Day 2"]


def test_a_feed_that_was_trimmed_or_lost_means_a_look_at_everything(talk: Talk) -> None:
    memory = talk.memory
    catch_up(memory)
    memory.feed.reach("shelves", 12345)
    assert catch_up(memory) == ShelfReport()
    with memory.database.read() as session:
        episode = EpisodeStore(session, memory.settings.house).get([talk.conversation.id])[talk.conversation.id]
    with memory.database.write() as session:
        EpisodeStore(session, memory.settings.house).save(replace(episode, messages=7))
    memory.feed.reach("shelves", 12345)
    assert catch_up(memory).written == [DAY]


def test_a_doubt_of_a_conversation_is_asked_in_the_note_of_questions(talk: Talk) -> None:
    memory = talk.memory
    talk.file(title="Again", doubts=[Doubt(text="Which poles?", quotes=(talk.said(POLES),))])
    catch_up(memory)
    assert "- [ ] Which poles? <!--q:" in text_of(memory, "questions.md")
    assert '\nlibrarian: "asks"\n' in text_of(memory, "questions.md")
    memory.forget(message=talk.said(POLES).message_id)
    catch_up(memory)
    assert "Which poles?" not in every_text(memory)


# Whatever happens


def test_what_somebody_writes_while_the_librarian_writes_is_not_lost(home: Path, engine: str) -> None:
    """In each moment in which the clock is asked for the time."""
    clock = InterruptingClock()
    with recollect.open(home=home, database=engine, clock=clock) as memory:
        for asked in range(5):
            record = learn(memory, f"{TEA} {asked}")
            catch_up(memory)
            learn(memory, f"{BEANS} {asked}")
            wanted = f"Ada drinks cocoa {asked}"

            def happen(left: int, now: str = record.text, wanted: str = wanted) -> None:
                if left:
                    clock.then = lambda: happen(left - 1, now, wanted)
                else:
                    edit(memory, CORE, now, wanted)

            happen(asked + 1)
            catch_up(memory)
            has_happened = clock.then is None
            clock.then = None
            catch_up(memory)
            text = text_of(memory, CORE)
            assert (wanted in text, memory.knowledge.record(record.id).text == wanted) == (has_happened, has_happened)
            assert f"{BEANS} {asked}" in text
            assert catch_up(memory) == ShelfReport()


class Killed(Exception):
    pass


def test_who_is_cut_off_at_any_moment_goes_on_to_the_same_end(home: Path, engine: str) -> None:
    clock = InterruptingClock()
    ends = 0
    with recollect.open(home=home, database=engine, clock=clock) as memory:
        for asked in range(1, 14, 2):
            record, away = learn(memory, f"{TEA} {asked}"), learn(memory, f"Away {asked}")
            catch_up(memory)
            edit(memory, CORE, f"{TEA} {asked}", f"- Told {asked}\n- Cocoa {asked}".removeprefix("- "))
            edit(memory, CORE, f"{line_of(memory, CORE, f'Away {asked}')}\n", "")
            learn(memory, f"{BEANS} {asked}")

            def happen(left: int) -> None:
                if not left:
                    raise Killed
                clock.then = lambda: happen(left - 1)

            happen(asked + 1)
            with suppress(Killed):
                catch_up(memory)
                ends += 1
            clock.then = None
            catch_up(memory)
            assert catch_up(memory) == ShelfReport()
            texts = [one.text for one in memory.knowledge.records(limit=100)]
            assert texts.count(f"Cocoa {asked}") == texts.count(f"Told {asked}") == 1
            assert memory.knowledge.record(record.id).version <= 2
            assert [one.record_id for one in memory.librarian.proposals()].count(away.id) == 1
            lines = _lines(memory, CORE)
            for words in ("Cocoa", "Told", BEANS):
                assert sum(f"{words} {asked} " in line for line in lines) == 1
    assert 0 < ends < 7


def test_two_computers_with_one_house_show_the_same_shelves_and_take_in_what_is_written_on_either(
    memory: recollect.Memory, tmp_path: Path, engine: str, clock: FrozenClock
) -> None:
    record = learn(memory, TEA)
    catch_up(memory)
    with recollect.open(home=tmp_path / "other", database=engine, clock=clock) as other:
        catch_up(other)
        edit(other, CORE, TEA, "Ada drinks cocoa")
        learn(memory, BEANS)
        assert catch_up(memory).written == [CORE]
        clock.move(minutes=1)
        catch_up(other)
        catch_up(memory)
        assert memory.knowledge.record(record.id).text == "Ada drinks cocoa"
        for one in (memory, other):
            assert catch_up(one) == ShelfReport()
            text = one.notes.folder.joinpath(CORE).read_text(encoding="utf-8")
            assert "cocoa" in text
            assert BEANS in text


WORDS = ["ponds", "frogs", "newts", "herons", "reeds", "mud"]
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["learn", "learn", "edit", "retract", "reword", "delete", "add", "write", "catch up", "decide"]
        ),
        st.integers(0, 1_000),
        st.sampled_from(WORDS),
    ),
    min_size=4,
    max_size=14,
)


def step(memory: recollect.Memory, what: str, number: int, word: str) -> None:
    known = sorted(memory.knowledge.records(limit=100), key=lambda record: record.id)
    chosen = known[number % len(known)] if known else None
    file = memory.notes.folder / (GARDEN if number % 2 else CORE)
    lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    ours = [place for place, line in enumerate(lines) if anchor_of(line) and line.startswith("- ")]
    if what == "learn":
        shelf, subject = (Shelf.PROJECT, "Garden") if number % 2 else (Shelf.CORE, "user")
        learn(memory, f"There are {number} {word}", shelf, subject=subject, kind=list(Kind)[number % 4])
    elif what == "edit" and chosen:
        memory.knowledge.edit(chosen.id, f"Now there are {number} {word}")
    elif what == "retract" and chosen:
        memory.knowledge.retract(chosen.id)
    elif what == "catch up":
        catch_up(memory)
    elif what == "decide":
        for proposal in memory.librarian.proposals():
            (memory.librarian.accept if number % 2 else memory.librarian.reject)(proposal.id)
    elif lines:
        place = ours[number % len(ours)] if ours else len(lines)
        if what == "reword" and ours:
            lines[place] = f"- I say {number} {word} {anchor_of(lines[place])}"
        elif what == "delete" and ours:
            del lines[place]
        else:
            lines.insert(place, f"{'- ' if what == 'add' else ''}My own {number} {word}")
        file.write_text("\n".join(lines), encoding="utf-8")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_whatever_people_and_the_librarian_do_both_find_what_they_wrote(
    open_house: OpenHouse, clock: FrozenClock, steps: list[tuple[str, int, str]]
) -> None:
    memory = open_house()
    for what, number, word in steps:
        clock.move(seconds=1)
        step(memory, what, number, word)
    plain = {line for path in (CORE, GARDEN) for line in _lines(memory, path) if line.startswith("My own")}
    catch_up(memory)
    assert catch_up(memory) == ShelfReport()
    assert memory.librarian.shelves.render_all() == ShelfReport()
    texts = [line for path in (CORE, GARDEN) for line in _lines(memory, path)]
    assert plain <= set(texts)
    shown = Counter(anchor.id for line in texts if (anchor := anchor_of(line)) and anchor.kind is AnchorKind.RECORD)
    withheld = {proposal.record_id for proposal in memory.librarian.proposals()}
    assert shown.keys() == {record.id for record in memory.knowledge.records(limit=100)} - withheld
    for record in memory.knowledge.records(limit=100):
        assert record.id in withheld or any(record.text in line and record.id in line for line in texts)


def _lines(memory: recollect.Memory, path: str) -> list[str]:
    file = memory.notes.folder / path
    return file.read_text(encoding="utf-8").split("\n") if file.exists() else []
