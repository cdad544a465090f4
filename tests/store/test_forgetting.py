"""Forgetting takes everything along, leaves nothing, and is not undone. On both engines."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from residue import residue_of
from transcripts import START, Transcript

import recollect
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.knowledge import Evidence, Knowledge, Learned, Origin, Record, Relation, Statement
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock

OpenHouse = Callable[..., recollect.Memory]
SECRET = "The spare key of the shed lies under the third pot of thyme"
OTHER = "Runner beans climb best on hazel poles of two metres"


def kept(learned: Learned) -> Record:
    assert learned.record
    return learned.record


def librarian(memory: recollect.Memory) -> Knowledge:
    principal = Principal(actor=Actor.LIBRARIAN)
    return Knowledge(memory.database, memory.settings.house, memory.clock, principal)


def statement(text: str, *messages: str) -> Statement:
    sources = tuple(Evidence(message_id=message, quote=text) for message in messages)
    return Statement(text=text, origin=Origin.EXTRACTED, sources=sources)


def said(memory: recollect.Memory, words: str) -> str:
    return next(message.id for message in memory.history.export() if words in message.text)


def talk(projects: Path, name: str = "shed") -> Path:
    transcript = Transcript(name)
    transcript.user(f"{SECRET}, do not lose it.")
    transcript.assistant("I will keep that in mind.")
    transcript.user(f"{OTHER}, remember that.")
    transcript.assistant("Noted: hazel poles.")
    return transcript.save(projects)


def test_a_forgotten_message_is_nowhere(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    message = said(memory, SECRET)
    record = kept(librarian(memory).learn(statement(SECRET, message)))
    assert memory.recall.search("spare key of the shed").hits

    forgotten = memory.forget(message=message)

    assert forgotten.state == "verified", forgotten
    assert (forgotten.removed["messages"], forgotten.removed["records"]) == (1, 1)
    assert residue_of(memory, SECRET) == []
    assert all(SECRET not in hit.text for hit in memory.recall.search("spare key of the shed").hits)
    with pytest.raises(NotFound, match="forgotten"):
        memory.knowledge.record(record.id)
    assert [OTHER in message.text for message in memory.history.export()].count(True) == 1


def test_a_dry_run_tells_all_and_changes_nothing(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    message = said(memory, SECRET)
    record = kept(librarian(memory).learn(statement(SECRET, message)))
    before = [one.id for one in memory.history.export()]

    told = memory.forget(message=message, dry_run=True)

    assert told.reached["message"] == [message]
    assert told.reached["record"] == [record.id]
    assert any("shed" in place or ".jsonl" in place for place in told.out_of_reach)
    assert [one.id for one in memory.history.export()] == before
    assert memory.knowledge.record(record.id) == record
    assert memory.forgetting.receipts() == []


def test_what_was_forgotten_does_not_come_back(memory: recollect.Memory, projects: Path) -> None:
    path = talk(projects)
    memory.history.ingest([path])
    message = said(memory, SECRET)
    claim = statement(SECRET, message)
    librarian(memory).learn(claim)
    memory.forget(message=message)

    memory.history.ingest([path], reimport=True)

    assert residue_of(memory, SECRET) == []
    assert librarian(memory).learn(claim).outcome == "refused"
    assert [one.state for one in memory.forgetting.verify()] == ["verified"]


def test_a_record_that_others_say_too_loses_only_the_quote(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    message, other = said(memory, SECRET), said(memory, OTHER)
    sources = (Evidence(message_id=message, quote=SECRET), Evidence(message_id=other, quote=OTHER))
    learned = librarian(memory).learn(Statement(text="Poles are of hazel wood.", sources=sources))

    forgotten = memory.forget(message=message)

    assert forgotten.removed["scrubbed_records"] == 1
    assert [source.message_id for source in memory.knowledge.record(kept(learned).id).sources] == [other]
    assert residue_of(memory, SECRET) == []
    before = memory.knowledge.pages(("", 0), 100)
    memory.knowledge.rebuild()
    assert memory.knowledge.pages(("", 0), 100) == before


def test_a_version_that_nothing_else_says_goes_whole(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    message, other = said(memory, SECRET), said(memory, OTHER)
    reader = librarian(memory)
    first = kept(reader.learn(statement(f"It is known that {SECRET}", message)))
    better = Statement(text="There is a key.", sources=(Evidence(message_id=other, quote=OTHER),))
    reader.learn(better, relation=Relation.REFINES, other=first.id)

    forgotten = memory.forget(message=message)

    assert (forgotten.state, forgotten.removed["scrubbed_records"]) == ("verified", 1)
    assert residue_of(memory, SECRET) == []
    assert [version.text for version in memory.knowledge.versions(first.id)] == ["There is a key."]
    before = memory.knowledge.pages(("", 0), 100)
    memory.knowledge.rebuild()
    assert memory.knowledge.pages(("", 0), 100) == before
    assert memory.knowledge.undo(first.id).state == "retracted"


def test_a_record_goes_with_all_its_versions(memory: recollect.Memory) -> None:
    record = kept(memory.knowledge.remember("something else entirely"))
    memory.knowledge.edit(record.id, SECRET, reason=f"because {SECRET}")
    memory.knowledge.edit(record.id, "and something else again")

    forgotten = memory.forget(record=record.id)

    assert forgotten.removed["record_versions"] == 3
    assert residue_of(memory, SECRET) == []
    assert memory.knowledge.rebuild() == 0
    with memory.database.read() as session:
        events = session.rows("SELECT action, content, reason FROM knowledge_events ORDER BY number")
    assert [action for action, _, _ in events] == ["created", "edited", "edited", "forgotten"]
    assert {content + reason for _, content, reason in events} == {""}


def test_a_record_may_go_with_the_messages_it_came_from(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    record = kept(librarian(memory).learn(statement(SECRET, said(memory, SECRET))))
    told = memory.forget(record=record.id, dry_run=True)
    assert len(told.sources) == 1

    forgotten = memory.forget(record=record.id, with_sources=True)

    assert forgotten.removed["messages"] == 1
    assert residue_of(memory, SECRET) == []


def test_what_goes_only_with_the_messages_of_another_may_be_read_again(
    memory: recollect.Memory, projects: Path
) -> None:
    memory.history.ingest([talk(projects)])
    shared, other = said(memory, SECRET), said(memory, OTHER)
    chosen = kept(librarian(memory).learn(statement(SECRET, shared)))
    bystander = kept(librarian(memory).learn(statement("There is a shed.", shared, other)))

    forgotten = memory.forget(record=chosen.id, with_sources=True)

    assert forgotten.is_verified, forgotten
    assert memory.knowledge.records() == [], "what was read out of both goes with either"
    assert librarian(memory).learn(statement("There is a shed.", shared)).outcome == "refused"
    again = kept(librarian(memory).learn(statement("There is a shed.", shared, other)))
    assert again.id != bystander.id
    assert [source.message_id for source in again.sources] == [other]
    assert librarian(memory).learn(statement(SECRET, shared)).outcome == "refused"


def test_words_that_a_message_still_has_are_named_and_no_residue(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    record = kept(librarian(memory).learn(statement(SECRET, said(memory, SECRET))))

    forgotten = memory.forget(record=record.id)

    assert forgotten.state == "verified"
    assert forgotten.also_in["message"] == [said(memory, SECRET)]


def test_records_that_share_only_our_own_words_are_not_named(memory: recollect.Memory, clock: FrozenClock) -> None:
    for town in ("Paris", "Lyon", "Nantes"):
        clock.move(days=1)
        memory.knowledge.remember(f"The shop is in {town}.", subject="shop", attribute="town", value=town)
    memory.knowledge.remember(OTHER)
    record = kept(memory.knowledge.remember(SECRET))
    fact = kept(memory.knowledge.remember("Ada drinks tea.", subject="Ada", attribute="drink"))
    clock.move(days=1)
    memory.knowledge.remember("Ada drinks cocoa.", subject="Ada", attribute="drink")

    assert memory.forget(record=record.id).also_in == {}
    assert memory.forget(record=fact.id).also_in == {}
    assert kept(memory.knowledge.remember("Said for a reason", reason="Told over the fence"))
    told = kept(memory.knowledge.remember("Said again", reason="Told over the fence"))
    assert list(memory.forget(record=told.id).also_in) == ["record"]


def test_a_subject_goes_with_everything_known_about_it(memory: recollect.Memory) -> None:
    for town in ("Paris", "Lyon"):
        memory.knowledge.remember(f"Ada lives in {town}.", subject="Ada", attribute="home", value=town)
    memory.knowledge.remember("Beans need a pole.", subject="beans")

    forgotten = memory.forget(subject=" ADA ")

    assert forgotten.removed["records"] == 2
    assert [record.subject for record in memory.knowledge.records(state="all")] == ["beans"]
    with pytest.raises(NotFound, match="subject"):
        memory.forget(subject="Ada")


@pytest.mark.parametrize("what", ["conversation", "file"])
def test_a_conversation_or_a_file_goes_whole(memory: recollect.Memory, projects: Path, what: str) -> None:
    path, other = talk(projects), Transcript("seeds", start=START + timedelta(days=-1))
    other.user("When are the seeds of the marrow to be sown?")
    other.assistant("In the middle of May, after the last frost.")
    memory.history.ingest([path, other.save(projects)])
    listed = memory.history.conversations()[0]
    name = listed.conversation.id if what == "conversation" else str(path)
    forgotten = memory.forget(conversation=name) if what == "conversation" else memory.forget(file=name)

    assert forgotten.state == "verified", forgotten
    assert forgotten.removed["messages"] == 4
    memory.history.ingest([path.parent], reimport=True)
    assert len(list(memory.history.export())) == 2


def test_what_goes_is_what_was_told_or_nothing_does(memory: recollect.Memory) -> None:
    shed = kept(memory.knowledge.remember(SECRET, subject="shed"))
    told = memory.forget(subject="shed", dry_run=True)
    more = kept(memory.knowledge.remember("The shed is green.", subject="shed"))
    with pytest.raises(Conflict, match="Nothing was forgotten"):
        memory.forget(subject="shed", as_told=told.digest)
    assert memory.knowledge.record(shed.id)
    assert memory.knowledge.record(more.id)
    again = memory.forget(subject="shed", dry_run=True)
    assert again == memory.forget(subject="shed", dry_run=True)
    assert memory.forget(subject="shed", as_told=again.digest).removed["records"] == 2


def test_one_thing_is_named_and_found(memory: recollect.Memory) -> None:
    with pytest.raises(Invalid, match="one thing"):
        memory.forget()
    with pytest.raises(Invalid, match="one thing"):
        memory.forget(record="a", message="b")
    for kind in ("record", "message", "conversation", "file", "subject"):
        with pytest.raises(NotFound):
            memory.forget(**{kind: "abcdef012345"})


def test_an_agent_forgets_its_own_and_no_history(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    memory.agents.add("ada")
    ada = memory.as_agent("ada")
    own, above = kept(ada.knowledge.remember(SECRET)), kept(memory.knowledge.remember(OTHER))

    with pytest.raises(Denied):
        ada.forget(message=said(memory, SECRET))
    with pytest.raises(Denied):
        ada.forget(record=above.id)
    assert ada.forget(record=own.id).removed["records"] == 1


def test_an_act_that_was_cut_off_is_finished_later(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    memory.recall.catch_up()
    memory.forget(message=said(memory, SECRET), verify=False)
    assert [receipt.state for receipt in memory.forgetting.unfinished()] == ["erased"]

    assert [done.state for done in memory.forgetting.verify()] == ["verified"]
    assert memory.forgetting.unfinished() == []
    assert residue_of(memory, SECRET) == []


def test_the_verifier_finds_what_is_left(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    memory.forget(message=said(memory, SECRET))
    with memory.database.write() as session:
        session.run(
            "INSERT INTO history_titles (house, leaf_id, title) VALUES ('home', 'x', :title)", {"title": f"“{SECRET}”"}
        )
    memory.settings.home.mkdir(exist_ok=True)
    memory.settings.home.joinpath("left.txt").write_text(f"a note: {SECRET}", encoding="utf-8")

    found = memory.forgetting.verify()[0]

    assert found.state == "residue"
    assert any("history_titles" in place for place in found.residue)
    assert any("left.txt" in place for place in found.residue)


GARDEN = ["bean", "pole", "thyme", "shed", "hazel", "compost", "ladder", "frost", "seed", "marrow"]
WORDS = st.lists(st.sampled_from(GARDEN), min_size=1, max_size=9)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_forgets_leave_no_trace(
    open_house: OpenHouse, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    memory, folder = open_house(), tmp_path_factory.mktemp("projects")
    texts: dict[str, str] = {}
    for number in range(data.draw(st.integers(1, 3))):
        transcript = Transcript(f"talk {number}")
        for turn in range(data.draw(st.integers(1, 4))):
            mark = f"token-{memory.settings.house}-{number}-{turn}-of-this-house"
            transcript.user(f"{' '.join(data.draw(WORDS))} {mark}")
            transcript.assistant(f"Yes: {' '.join(data.draw(WORDS))}.")
        transcript.save(folder)
    memory.history.ingest([folder])
    for message in memory.history.export():
        if "token-" in message.text:
            texts[message.id] = message.text.rpartition(" ")[2]
            librarian(memory).learn(statement(f"It says {texts[message.id]}.", message.id))
    memory.recall.catch_up()
    chosen = data.draw(st.lists(st.sampled_from(sorted(texts)), min_size=1, max_size=3, unique=True))

    for message_id in chosen:
        forgotten = memory.forget(message=message_id)
        assert forgotten.state == "verified", forgotten
    memory.history.ingest([folder], reimport=data.draw(st.booleans()))
    memory.recall.catch_up()

    for message_id in chosen:
        assert residue_of(memory, texts[message_id]) == []
    left = {message.id for message in memory.history.export() if "token-" in message.text}
    assert left == set(texts) - set(chosen)
    assert len(memory.knowledge.records()) == len(left)


def test_a_forgotten_quote_does_not_come_back_with_anothers_help(memory: recollect.Memory, projects: Path) -> None:
    memory.history.ingest([talk(projects)])
    message, other = said(memory, SECRET), said(memory, OTHER)
    sources = (Evidence(message_id=message, quote=SECRET), Evidence(message_id=other, quote=OTHER))
    claim = Statement(text="Poles are of hazel wood.", origin=Origin.EXTRACTED, sources=sources)
    librarian(memory).learn(claim)
    memory.forget(message=message)

    again = kept(librarian(memory).learn(claim))

    assert [source.message_id for source in again.sources] == [other]
    assert librarian(memory).learn(statement("Poles are of hazel wood.", message)).outcome == "refused"
    assert residue_of(memory, SECRET) == []


def test_what_was_told_in_person_stays_when_a_message_that_says_it_goes(
    memory: recollect.Memory, projects: Path
) -> None:
    memory.history.ingest([talk(projects)])
    told = kept(memory.knowledge.remember("Poles are of hazel wood."))
    librarian(memory).learn(statement("Poles are of hazel wood.", said(memory, OTHER)))

    memory.forget(message=said(memory, OTHER))

    assert memory.knowledge.record(told.id).text == "Poles are of hazel wood."
    assert memory.knowledge.record(told.id).sources == ()
