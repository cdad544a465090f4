"""Learnings: markers in what was taken in become records, once; what cannot be kept is reported."""

import json
from collections import Counter
from pathlib import Path

import pytest
from conftest import OpenHouse
from transcripts import Transcript, append, line

import recollect
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.history import Message
from recollect.knowledge import Category, Origin, Record
from recollect.learnings import FOLLOWER, MarkerFigures
from recollect.testing import FrozenClock

TEA = '[REMEMBER] {"content": "Ada drinks tea.", "category": "identity", "tags": ["drinks"]}'
BEANS = '[REMEMBER] {"content": "Beans climb to the left."}'
BROKEN = '[REMEMBER] {"content": "Beans"'


def marked(fields: object) -> str:
    return f"[REMEMBER] {json.dumps(fields)}"


def told(name: str, *replies: str) -> Transcript:
    transcript = Transcript(name)
    for reply in replies:
        transcript.user("And?")
        transcript.assistant(reply)
    return transcript


def learned(memory: recollect.Memory, **chosen: str) -> list[Record]:
    return sorted(memory.knowledge.records(state="all", **chosen), key=lambda record: record.text)


def reply(memory: recollect.Memory) -> Message:
    (message,) = [message for message in memory.history.export() if message.author == "assistant"]
    return message


def problems(memory: recollect.Memory) -> list[tuple[str, str]]:
    return [(report.message, report.problem) for report in memory.learnings.reports()]


def test_a_marker_in_what_was_taken_in_makes_a_learning(
    memory: recollect.Memory, projects: Path, clock: FrozenClock
) -> None:
    memory.history.ingest([told("tea", f"Noted.\n\n{TEA}").save(projects)])

    (record,) = learned(memory)
    message = reply(memory)
    assert (record.text, record.category, record.tags) == ("Ada drinks tea.", Category.IDENTITY, ("drinks",))
    assert record.origin is Origin.MARKED
    assert [(source.message_id, source.quote) for source in record.sources] == [(message.id, TEA)]
    assert record.true_from == message.at
    assert record.learned_at > record.true_from
    (event,) = memory.knowledge.events(record.id)
    assert (event.actor, event.actor_name) == ("rule", "marker")
    assert [run.detail["learned"] for run in memory.runs.latest(name=FOLLOWER)] == [1]


def test_text_that_is_seen_again_makes_nothing_twice(memory: recollect.Memory, projects: Path) -> None:
    first = told("tea", TEA, BEANS)
    path = first.save(projects)
    memory.history.ingest([path])
    before = learned(memory)

    memory.history.ingest([path])
    memory.history.ingest([path], reimport=True)
    memory.history.ingest([first.fork("copy").save(projects)])
    assert memory.learnings.catch_up().learned == 0
    with memory.database.write() as session:
        session.run("DELETE FROM feed_followers")
    assert memory.learnings.catch_up().learned == 0

    assert learned(memory) == before
    assert len(before) == 2


def test_nothing_is_read_when_nothing_was_touched(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("tea", TEA).save(projects)])
    memory.learnings.catch_up()
    reached = memory.feed.reached(FOLLOWER)

    memory.history.scan([projects])

    assert memory.feed.reached(FOLLOWER) == reached == memory.feed.newest()
    assert len(memory.runs.latest(name=FOLLOWER)) == 1


def test_history_from_before_markers_were_read_is_read_once(open_house: OpenHouse, projects: Path) -> None:
    memory = open_house()
    memory.history.ingest(
        [told(f"tea {number}", marked({"content": f"Fact {number}."})).save(projects) for number in range(3)]
    )
    texts = [record.text for record in learned(memory)]
    with memory.database.write() as session:
        for table in ("knowledge_records", "knowledge_events", "feed_followers", "lineage_edges"):
            session.run(f"DELETE FROM {table} WHERE house = :house", {"house": memory.settings.house})

    assert memory.learnings.catch_up().learned == 3

    assert [record.text for record in learned(memory)] == texts
    assert memory.learnings.catch_up().learned == 0


def test_changes_that_are_gone_are_made_good_by_reading_everything(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("tea", BROKEN).save(projects)])
    with memory.database.write() as session:
        session.run("UPDATE feed_followers SET change = 7")

    memory.history.ingest([told("beans", BEANS).save(projects)])

    assert [record.text for record in learned(memory)] == ["Beans climb to the left."]
    assert len(problems(memory)) == 1
    assert memory.feed.reached(FOLLOWER) == memory.feed.newest()


def test_a_marker_that_was_cut_is_kept_when_it_is_complete(memory: recollect.Memory, projects: Path) -> None:
    whole = told("tea", TEA)
    path = projects / whole.key
    path.parent.mkdir(parents=True)
    path.write_bytes(whole.raw[:-60])
    memory.history.ingest([path])
    assert learned(memory) == []

    append(path, whole.raw[-60:])
    memory.history.ingest([path])

    assert [record.text for record in learned(memory)] == ["Ada drinks tea."]
    assert problems(memory) == []


def test_a_reply_that_grows_by_a_block_is_read_again(memory: recollect.Memory, projects: Path) -> None:
    growing = Transcript("tea")
    growing.user("And?")
    name = growing.assistant(f"```\n{TEA}")
    path = growing.save(projects)
    memory.history.ingest([path])
    assert [problem for _, problem in problems(memory)] == ["in code"]

    growing.assistant(TEA, message_id=name)
    append(path, line(growing.records[-1]))
    memory.history.ingest([path])

    assert [record.text for record in learned(memory)] == ["Ada drinks tea."]
    assert [problem for _, problem in problems(memory)] == ["in code"]


def test_a_reply_that_is_said_anew_is_reported_no_more(memory: recollect.Memory, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    record = {"id": "r1", "author": "assistant", "at": "2026-03-02T10:00:00Z"}
    path.write_text(json.dumps({**record, "text": BROKEN}) + "\n")
    memory.history.ingest([path], source="generic")
    assert [problem for _, problem in problems(memory)] == ["the text ends inside its object"]

    path.write_text(json.dumps({**record, "text": BROKEN + "}"}) + "\n")
    memory.history.ingest([path], source="generic", reimport=True)

    assert problems(memory) == []
    assert [record.text for record in learned(memory)] == ["Beans"]


def test_only_what_an_assistant_said_counts(memory: recollect.Memory, projects: Path) -> None:
    transcript = Transcript("tea")
    transcript.user(TEA)
    before = transcript.last
    transcript.user("One way")
    transcript.assistant(BEANS)
    transcript.go_back_to(before)
    transcript.user("Another way")
    transcript.assistant("Fine.")
    transcript.sidechain("Look", marked({"content": "A sub-agent's."}))
    memory.history.ingest([transcript.save(projects)])

    assert learned(memory) == []
    assert problems(memory) == []


def test_what_cannot_be_kept_is_reported_with_its_place(memory: recollect.Memory, projects: Path) -> None:
    text = f"Well.\n{BROKEN}\n\n> {TEA}\n\n{marked({'content': 'Odd.', 'category': 'odd'})}"
    memory.history.ingest([told("tea", text).save(projects)])

    message = reply(memory)
    reports = memory.learnings.reports()
    assert [(report.place, report.problem) for report in reports] == [
        (text.index(BROKEN), "invalid JSON"),
        (text.index(TEA), "in a quote"),
        (text.index('[REMEMBER] {"content": "Odd'), "unknown category"),
    ]
    assert {(report.message, report.conversation) for report in reports} == {(message.id, message.conversation_id)}
    assert reports[1].excerpt.startswith(TEA)
    assert [(record.text, record.category) for record in learned(memory)] == [("Odd.", Category.KNOWLEDGE)]
    assert memory.learnings.figures() == MarkerFigures(kept=1, reported=3)


def test_a_text_full_of_broken_markers_is_a_few_reports(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("tea", "[REMEMBER] {\n" * 5_000).save(projects)])

    assert memory.learnings.figures().reported == 20


def test_what_was_corrected_or_retracted_is_not_learned_again(memory: recollect.Memory, projects: Path) -> None:
    path = told("tea", TEA, BEANS).save(projects)
    memory.history.ingest([path])
    tea, beans = learned(memory)

    memory.knowledge.edit(tea.id, "Ada drinks coffee.")
    memory.knowledge.retract(beans.id)
    memory.history.ingest([path], reimport=True)

    assert [record.text for record in memory.knowledge.records()] == ["Ada drinks coffee."]
    assert len(learned(memory)) == 2


def test_the_same_words_in_two_messages_are_one_learning_from_both(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("one", TEA).save(projects)])
    memory.history.ingest([told("two", TEA).save(projects)])

    (record,) = learned(memory)
    assert len(record.sources) == 2

    memory.knowledge.edit(record.id, "Ada drinks coffee.")
    memory.history.ingest([projects], reimport=True)
    assert [one.text for one in learned(memory)] == ["Ada drinks coffee."]


def test_an_expired_learning_is_kept_and_not_shown(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("tea", marked({"content": "Milk is in.", "expires": "2026-03-01"})).save(projects)])

    assert memory.knowledge.records() == []
    assert [record.text for record in memory.knowledge.records(expired=True)] == ["Milk is in."]


def test_a_later_marker_about_the_same_takes_the_place_of_the_earlier(memory: recollect.Memory, projects: Path) -> None:
    about = {"subject": "ada", "attribute": "drink"}
    first = marked({"content": "Ada drinks tea.", "value": "tea", **about})
    later = marked({"content": "Ada drinks coffee.", "value": "coffee", **about})
    memory.history.ingest([told("tea", first, later).save(projects)])

    fact = memory.knowledge.fact("Ada", "drink")
    assert fact
    assert fact.value == "coffee"


def test_a_learning_belongs_to_those_who_could_read_its_message(memory: recollect.Memory, projects: Path) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    memory.agents.bind("ada", "claude-code")
    memory.history.ingest([told("tea", TEA).save(projects)])

    assert [record.scope for record in learned(memory)] == ["ada"]
    assert memory.as_agent("bob").knowledge.records() == []
    with pytest.raises(Denied):
        memory.as_agent("ada").learnings.catch_up()
    with pytest.raises(Denied):
        memory.as_agent("ada").learnings.reports()


def test_a_learning_follows_its_message_into_another_scope(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("tea", TEA).save(projects)])
    memory.agents.add("ada")
    memory.agents.add("bob")
    bob = memory.as_agent("bob")
    (record,) = bob.knowledge.records()
    memory.knowledge.edit(record.id, "Ada drinks green tea.")
    before = memory.knowledge.rebuild()

    memory.agents.bind("ada", "claude-code")

    assert bob.knowledge.records(state="all") == []
    assert bob.recall.search("green tea", search_type="facts").hits == []
    assert bob.sql("SELECT count(*) FROM record_versions")[1] == [(0,)]
    assert [event.action for event in memory.knowledge.events(record.id)] == ["created", "edited", "moved"]
    assert {version.scope for version in memory.knowledge.versions(record.id)} == {"ada"}
    assert memory.knowledge.rebuild() == before
    assert [found.text for found in memory.as_agent("ada").knowledge.records()] == ["Ada drinks green tea."]


def test_a_failure_to_learn_does_not_fail_the_import(memory: recollect.Memory, projects: Path) -> None:
    with memory.database.write() as session:
        session.run("ALTER TABLE knowledge_marker_reports RENAME TO elsewhere")

    report = memory.history.ingest([told("tea", TEA).save(projects)])
    assert (report.failed, report.messages_added) == (0, 2)
    memory.history.scan([projects])
    assert [run.outcome for run in memory.runs.latest(name=FOLLOWER)] == ["failed"]

    with memory.database.write() as session:
        session.run("ALTER TABLE elsewhere RENAME TO knowledge_marker_reports")
    memory.history.scan([projects])
    assert [record.text for record in learned(memory)] == ["Ada drinks tea."]


# Live turns


def test_a_live_turn_and_its_transcript_make_one_learning(open_house: OpenHouse, projects: Path) -> None:
    path = told("tea", f"Noted.\n{TEA}\n{BROKEN}").save(projects)
    there = open_house()
    there.history.ingest([path])
    message = reply(there)
    memory = open_house()

    turn = memory.learnings.from_turn(message.id, message.text, at=message.at)
    (record,) = learned(memory)
    assert turn.reading.display == f"Noted.\n{BROKEN}"
    assert [one.outcome for one in turn.learned] == ["new"]
    assert [report.excerpt for report in memory.learnings.reports()] == [""]
    memory.history.ingest([path])

    assert learned(memory) == [record]
    assert record.id == learned(there)[0].id
    assert [report.excerpt for report in memory.learnings.reports()] == [BROKEN]


def test_an_agent_marks_only_for_itself(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    turn = memory.as_agent("ada").learnings.from_turn("m1", TEA, scope="house")
    assert turn.learned == []
    assert [problem for _, problem in problems(memory)] == ["not kept: Denied"]

    (kept,) = memory.as_agent("ada").learnings.from_turn("m1", TEA).learned
    assert kept.record
    assert kept.record.scope == "ada"


# Promotion


def test_a_person_promotes_a_message(memory: recollect.Memory, projects: Path) -> None:
    transcript = Transcript("beans")
    transcript.user("Which way do beans climb?")
    transcript.assistant("To the left.", f"Always.\n\n{TEA}")
    memory.history.ingest([transcript.save(projects)])
    message = reply(memory)

    outcome = memory.promote(message.id[:8], category="operational", tags=["garden"])

    assert outcome.record
    assert outcome.record.text == "To the left.\n\nAlways."
    assert (outcome.record.category, outcome.record.tags) == (Category.OPERATIONAL, ("garden",))
    assert outcome.record.origin is Origin.PROMOTED
    assert [(one.message_id, one.quote) for one in outcome.record.sources] == [(message.id, "To the left.\n\nAlways.")]
    (event,) = memory.knowledge.events(outcome.record.id)
    assert event.actor == "person"


def test_a_promoted_text_may_be_edited_first(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([told("beans", "They climb to the left, I think.").save(projects)])
    message = reply(memory)

    own = memory.promote(message.id, "Beans climb to the left.")
    part = memory.promote(message.id, "They climb to the left")

    assert own.record
    assert own.record.sources[0].quote == ""
    assert part.record
    assert part.record.sources[0].quote == "They climb to the left"


def test_what_cannot_be_promoted_is_explained(memory: recollect.Memory, projects: Path) -> None:
    transcript = Transcript("beans")
    transcript.user("Which way?")
    transcript.assistant(TEA)
    transcript.tool_result("toolu_1", "left")
    memory.history.ingest([transcript.save(projects)])
    messages = {message.author: message for message in memory.history.export()}

    with pytest.raises(NotFound, match="No message is called 'nowhere'"):
        memory.promote("nowhere")
    with pytest.raises(NotFound):
        memory.promote("")
    with pytest.raises(Invalid, match="only what a user or an assistant said"):
        memory.promote(messages["tool"].id)
    with pytest.raises(Invalid, match="text is empty"):
        memory.promote(messages["assistant"].id)
    with pytest.raises(Invalid, match="No category is called"):
        memory.promote(messages["user"].id, category="odd")


def test_the_start_of_an_id_must_mean_one_message(memory: recollect.Memory, projects: Path) -> None:
    """Of seventeen ids two begin with the same digit."""
    memory.history.ingest([Transcript("beans").exchanges(20).save(projects)])
    starts = Counter(message.id[0] for message in memory.history.export())

    with pytest.raises(Conflict, match="Give more of the id"):
        memory.promote(starts.most_common(1)[0][0])


def test_an_agent_promotes_only_what_it_sees_and_for_itself(memory: recollect.Memory, projects: Path) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    memory.agents.bind("ada", "claude-code")
    memory.history.ingest([told("beans", "They climb to the left.").save(projects)])
    message = reply(memory)

    with pytest.raises(NotFound):
        memory.as_agent("bob").promote(message.id)
    assert (memory.as_agent("ada").promote(message.id).record or pytest.fail("not kept")).scope == "ada"
    by_person = memory.promote(message.id, "To the left.").record
    assert by_person
    assert by_person.scope == "ada"


# Forgetting


def test_a_forgotten_learning_is_not_made_again(memory: recollect.Memory, projects: Path) -> None:
    path = told("tea", TEA, BEANS).save(projects)
    memory.history.ingest([path])
    tea, _ = learned(memory)

    memory.forget(record=tea.id)
    memory.history.ingest([path], reimport=True)
    with memory.database.write() as session:
        session.run("DELETE FROM feed_followers WHERE name = :name", {"name": FOLLOWER})
    memory.learnings.catch_up()

    assert [record.text for record in learned(memory)] == ["Beans climb to the left."]


def test_nothing_is_reported_of_a_forgotten_message(memory: recollect.Memory, projects: Path) -> None:
    path = told("tea", f"{BROKEN}\n{TEA}").save(projects)
    memory.history.ingest([path])
    assert len(problems(memory)) == 1

    memory.forget(message=reply(memory).id)
    memory.history.ingest([path], reimport=True)

    assert problems(memory) == []
    assert learned(memory) == []
