"""Records: made, changed, replaced, undone, and told where they are from. On both engines."""

from dataclasses import replace
from datetime import timedelta

import pytest

import recollect
from recollect.clock import to_text
from recollect.errors import Conflict, Invalid, NotFound
from recollect.knowledge import Evidence, Learned, Origin, Record, Relation, State, Statement
from recollect.knowledge.knowledge import Knowledge
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock

MARCH, APRIL, MAY, JUNE = (f"2025-0{month}-01T00:00:00.000Z" for month in (3, 4, 5, 6))


def kept(learned: Learned) -> Record:
    assert learned.record
    return learned.record


def lives_in(memory: recollect.Memory, town: str, true_from: str = "", **options: object) -> Learned:
    return memory.knowledge.remember(
        f"Ada lives in {town}.",
        kind="fact",
        subject="Ada",
        attribute="home town",
        value=town,
        true_from=true_from,
        **options,  # type: ignore[arg-type]
    )


def librarian(memory: recollect.Memory) -> Knowledge:
    principal = Principal(actor=Actor.LIBRARIAN)
    return Knowledge(memory.database, memory.settings.house, memory.clock, principal)


def extracted(text: str, message: str = "m1", **fields: object) -> Statement:
    source = Evidence(message_id=message, quote=text)
    return replace(Statement(text=text, origin=Origin.EXTRACTED, sources=(source,)), **fields)


def test_a_record_has_all_that_was_said_of_it(memory: recollect.Memory) -> None:
    made = kept(
        memory.knowledge.remember(
            "Beans need a pole.",
            kind="procedure",
            category="operational",
            tags=["garden", "beans", "garden"],
            importance=0.8,
            confidence=0.9,
            expires_at="2030-01-01",
        )
    )
    read = memory.knowledge.record(made.id)
    assert read == made
    assert (read.version, read.kind, read.category, read.tags) == (1, "procedure", "operational", ("garden", "beans"))
    assert (read.importance, read.confidence, read.origin, read.scope) == (0.8, 0.9, "told", "house")
    assert read.expires_at == "2030-01-01T00:00:00.000Z"


def test_another_value_of_the_same_closes_the_one_before(memory: recollect.Memory) -> None:
    paris = kept(lives_in(memory, "Paris", MARCH))
    lyon = lives_in(memory, "Lyon", MAY)

    assert (lyon.outcome, kept(lyon).replaces) == ("replaces", paris.id)
    assert lyon.replaced
    assert (lyon.replaced.state, lyon.replaced.true_until, lyon.replaced.replaced_by) == (
        State.REPLACED,
        MAY,
        kept(lyon).id,
    )
    fact = memory.knowledge.fact("ada", "Home  Town")
    assert fact
    assert fact.value == "Lyon"
    then = memory.knowledge.fact("Ada", "home town", true_at=APRIL)
    assert then
    assert then.value == "Paris"


def test_what_is_learned_late_takes_its_place_in_the_past(memory: recollect.Memory) -> None:
    lives_in(memory, "Lyon", MAY)
    late = lives_in(memory, "Paris", MARCH)

    assert (kept(late).state, kept(late).true_until) == (State.REPLACED, MAY)
    now = memory.knowledge.fact("Ada", "home town")
    then = memory.knowledge.fact("Ada", "home town", true_at=APRIL)
    assert now
    assert then
    assert (now.value, then.value) == ("Lyon", "Paris")


def test_belief_and_truth_are_asked_apart(memory: recollect.Memory, clock: FrozenClock) -> None:
    lives_in(memory, "Paris", MARCH)
    before = to_text(clock())
    clock.move(hours=1)
    lives_in(memory, "Lyon", APRIL)

    believed = memory.knowledge.fact("Ada", "home town", as_of=before, true_at=MAY)
    known_now = memory.knowledge.fact("Ada", "home town", true_at=MAY)
    assert believed
    assert known_now
    assert (believed.value, known_now.value) == ("Paris", "Lyon")
    assert [record.value for record in memory.knowledge.records(as_of=before)] == ["Paris"]


def test_the_same_said_again_is_no_second_record(memory: recollect.Memory) -> None:
    first = kept(lives_in(memory, "Paris", MARCH))
    again = lives_in(memory, "paris", APRIL)
    assert (again.outcome, kept(again).id) == ("same", first.id)
    assert len(memory.knowledge.records()) == 1
    assert [event.action for event in memory.knowledge.events(first.id)] == ["created", "confirmed"]


def test_who_says_it_may_decide(memory: recollect.Memory) -> None:
    first = kept(memory.knowledge.remember("Deploys are on Friday."))
    refined = memory.knowledge.remember("Deploys are on Friday at noon.", relation=Relation.REFINES, other=first.id)
    assert (kept(refined).id, kept(refined).version) == (first.id, 2)
    replaced = memory.knowledge.remember("Deploys are on Monday.", relation=Relation.REPLACES, other=first.id)
    assert memory.knowledge.record(first.id).state is State.REPLACED
    apart = memory.knowledge.remember("Deploys are on Monday.", relation=Relation.UNRELATED)
    assert kept(apart).id != kept(replaced).id


def test_the_numbers_of_changes_tell_an_agent_nothing_of_what_others_did(memory: recollect.Memory) -> None:
    for name in ("ada", "bob"):
        memory.agents.add(name)
    ada, bob = memory.as_agent("ada"), memory.as_agent("bob")
    first = kept(ada.knowledge.remember("Beans need a pole."))
    bob.knowledge.remember("Peas need a net.")
    ada.knowledge.edit(first.id, "Runner beans need a pole.")
    bob.knowledge.remember("Cress needs nothing.")
    ada.knowledge.edit(first.id, "Runner beans need a long pole.")
    second = kept(ada.knowledge.remember("Kale needs frost."))

    in_sql = "SELECT number FROM record_events WHERE record_id = '{}' ORDER BY number"
    for asking, numbers in ((ada, ([1, 2, 3], [1])), (memory, ([1, 3, 5], [6]))):
        for record, expected in zip((first, second), numbers, strict=True):
            assert [event.number for event in asking.knowledge.events(record.id)] == expected
            assert [event.number for event in asking.knowledge.why(record.id).events] == expected
            assert asking.sql(in_sql.format(record.id))[1] == [(number,) for number in expected]
    between = ada.knowledge.events_between("2000", "3000")
    assert [event.number for event in between] == [1, 2, 3, 1]
    assert ada.sql("SELECT sum(number) FROM record_events")[1] == [(7,)]


def test_an_edit_makes_a_version_and_keeps_the_one_before(memory: recollect.Memory) -> None:
    record = kept(memory.knowledge.remember("Beans need a pole."))
    edited = memory.knowledge.edit(record.id, "Runner beans need a pole.", reason="only those")
    assert (edited.version, edited.text) == (2, "Runner beans need a pole.")
    assert [version.text for version in memory.knowledge.versions(record.id)] == [
        "Beans need a pole.",
        "Runner beans need a pole.",
    ]
    last = memory.knowledge.events(record.id)[-1]
    assert last.before
    assert last.after
    assert (last.reason, last.before.text, last.after.text) == ("only those", record.text, edited.text)


def test_an_edit_of_an_old_version_conflicts_and_shows_both(memory: recollect.Memory) -> None:
    record = kept(memory.knowledge.remember("Beans need a pole."))
    memory.knowledge.edit(record.id, "Runner beans need a pole.", expected_version=1)
    with pytest.raises(Conflict, match=r"Runner beans.*Dwarf beans"):
        memory.knowledge.edit(record.id, "Dwarf beans need none.", expected_version=1)
    assert memory.knowledge.record(record.id).text == "Runner beans need a pole."


def test_undo_takes_back_the_last_change_and_redoes_it(memory: recollect.Memory) -> None:
    record = kept(memory.knowledge.remember("one"))
    memory.knowledge.edit(record.id, "two")
    memory.knowledge.edit(record.id, "three")
    assert memory.knowledge.undo(record.id).text == "two"
    assert memory.knowledge.undo(record.id).text == "three"
    assert memory.knowledge.undo(record.id, version=1).text == "one"
    with pytest.raises(NotFound):
        memory.knowledge.undo(record.id, version=99)


def test_undoing_a_replacement_brings_back_what_it_replaced(memory: recollect.Memory) -> None:
    paris, lyon = kept(lives_in(memory, "Paris", MARCH)), kept(lives_in(memory, "Lyon", MAY))

    memory.knowledge.undo(lyon.id)
    back = memory.knowledge.record(paris.id)
    assert (back.state, back.true_until, back.replaced_by) == (State.CURRENT, "", "")
    assert memory.knowledge.record(lyon.id).state is State.RETRACTED

    memory.knowledge.undo(lyon.id)
    assert memory.knowledge.record(lyon.id).state is State.CURRENT
    assert memory.knowledge.record(paris.id).state is State.REPLACED

    memory.knowledge.undo(paris.id)
    assert memory.knowledge.record(paris.id).state is State.CURRENT
    assert memory.knowledge.record(lyon.id).state is State.RETRACTED


def test_what_was_corrected_is_not_extracted_again(memory: recollect.Memory) -> None:
    reader = librarian(memory)
    claim = extracted("Ada lives in Paris.", kind="fact", subject="Ada", attribute="home town")
    record = kept(reader.learn(claim))
    memory.knowledge.edit(record.id, "Ada lives in Lyon.")

    assert reader.learn(claim).outcome == "refused"
    in_other_words = replace(claim, text="Paris is where Ada lives.")
    assert reader.learn(in_other_words).outcome == "refused"
    assert memory.knowledge.record(record.id).text == "Ada lives in Lyon."
    anew = replace(claim, sources=(Evidence(message_id="m2", quote="I moved back to Paris"),))
    assert reader.learn(anew).outcome == "replaces"


def test_undoing_a_correction_lets_it_be_read_again(memory: recollect.Memory) -> None:
    reader = librarian(memory)
    record = kept(reader.learn(extracted("Beans need a pole.")))
    memory.knowledge.edit(record.id, "Beans need none.")
    memory.knowledge.undo(record.id)
    assert reader.learn(extracted("Beans need a pole.")).outcome == "same"


def test_a_retracted_record_is_kept_and_not_shown(memory: recollect.Memory) -> None:
    record = kept(memory.knowledge.remember("one"))
    memory.knowledge.retract(record.id, reason="wrong")
    assert memory.knowledge.records() == []
    assert [found.id for found in memory.knowledge.records(state="retracted")] == [record.id]
    assert memory.knowledge.undo(record.id).state is State.CURRENT


def test_records_are_made_again_from_the_stream_alone(memory: recollect.Memory, clock: FrozenClock) -> None:
    reader = librarian(memory)
    for town in ("Paris", "Lyon", "Rome"):
        clock.move(hours=1)
        lives_in(memory, town)
    reader.learn(extracted("Beans need a pole."))
    reader.learn(extracted("Beans need a pole.", "m2"))
    record = kept(memory.knowledge.remember("one", tags=["a", "ü%_"]))
    memory.knowledge.edit(record.id, "two")
    memory.knowledge.undo(record.id)
    before = memory.knowledge.pages(("", 0), 1_000)

    assert memory.knowledge.rebuild() == 5
    assert memory.knowledge.pages(("", 0), 1_000) == before


def test_an_expired_learning_is_shown_only_when_asked_for(memory: recollect.Memory, clock: FrozenClock) -> None:
    memory.knowledge.remember("The lift is out of order.", expires_at=to_text(clock()))
    assert memory.knowledge.records() == []
    assert len(memory.knowledge.records(expired=True)) == 1


def test_tags_are_matched_whole(memory: recollect.Memory) -> None:
    memory.knowledge.remember("one", tags=["50%_off", 'say "hi"'])
    memory.knowledge.remember("two", tags=["50x_off"])
    assert [record.text for record in memory.knowledge.records(tags=["50%_off"])] == ["one"]
    assert [record.text for record in memory.knowledge.records(tags=['say "hi"'])] == ["one"]


def test_a_credential_is_masked_before_it_is_kept(memory: recollect.Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    record = kept(memory.knowledge.remember(f"The token is {secret}."))
    assert secret not in record.text


def test_bad_input_is_named(memory: recollect.Memory) -> None:
    knowledge = memory.knowledge
    for wrong, words in (
        ({"text": "  "}, "empty"),
        ({"text": "x" * 10_000_000}, "10,000,000 bytes"),
        ({"text": "x", "category": "misc"}, "knowledge, identity, operational"),
        ({"text": "x", "kind": "gossip"}, "procedure"),
        ({"text": "x", "importance": 2.0}, "from 0 to 1"),
        ({"text": "x", "attribute": "colour"}, "subject"),
        ({"text": "x", "expires_at": "soon"}, "no time"),
        ({"text": "x", "tags": [" "]}, "tag"),
    ):
        with pytest.raises(Invalid, match=words):
            knowledge.remember(**wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="records"):
        knowledge.record("nothing-like-it")
    with pytest.raises(NotFound):
        knowledge.edit("ffffffff", "x")
    assert knowledge.figures().total == 0


def test_a_record_is_called_by_a_part_of_its_id(memory: recollect.Memory) -> None:
    records = [kept(memory.knowledge.remember(text)) for text in ("one", "two")]
    assert memory.knowledge.record(records[0].id[-8:]) == records[0]
    with pytest.raises(Conflict, match=r"several"):
        memory.knowledge.record(records[0].id[:6])


def test_what_is_replaced_only_later_counts_until_then(memory: recollect.Memory, clock: FrozenClock) -> None:
    lives_in(memory, "Paris", MARCH)
    lives_in(memory, "Lyon", to_text(clock() + timedelta(days=30)))

    assert {record.value for record in memory.knowledge.records()} == {"Paris", "Lyon"}
    hits = memory.recall.search("where does Ada live", search_type="facts").hits
    assert {hit.text.rpartition(" ")[2] for hit in hits} == {"Paris.", "Lyon."}
    assert "Paris" in memory.context.rehydration().text
    assert "Lyon" not in memory.context.rehydration().text

    clock.move(days=31)
    assert [record.value for record in memory.knowledge.records()] == ["Lyon"]
    hits = memory.recall.search("where does Ada live", search_type="facts").hits
    assert [hit.text.rpartition(" ")[2] for hit in hits] == ["Lyon."]
    assert "Paris" not in memory.context.rehydration().text
