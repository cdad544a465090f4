"""One subject's attribute has one value at a time, whatever is said, taken back and undone. On both engines."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.clock import to_text
from recollect.errors import Conflict, RecollectError
from recollect.knowledge import Evidence, Knowledge, Learned, Origin, Record, Relation, State, Statement
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock

OpenHouse = Callable[..., recollect.Memory]

MONTHS = [f"2025-0{month}-01T00:00:00.000Z" for month in range(1, 8)]
JANUARY, FEBRUARY, MARCH, APRIL, MAY, JUNE, JULY = MONTHS


def lives_in(memory: recollect.Memory, town: str, true_from: str = "", **options: object) -> Learned:
    return memory.knowledge.remember(
        f"Ada lives in {town}.",
        kind="fact",
        subject="Ada",
        attribute="home",
        value=town,
        true_from=true_from,
        **options,  # type: ignore[arg-type]
    )


def kept(learned: Learned) -> Record:
    assert learned.record
    return learned.record


def stays(memory: recollect.Memory) -> list[tuple[str, str, str, str]]:
    """(value, state, from, until) of what is not taken back, in the order of time."""
    found = memory.knowledge.records(subject="Ada", state="all", expired=True, limit=1_000)
    line = [one for one in found if one.state is not State.RETRACTED]
    line.sort(key=lambda one: (one.true_from, one.true_until or "~"))
    return [(one.value, str(one.state), one.true_from, one.true_until) for one in line]


# Saying


def test_of_many_statements_of_one_moment_the_last_one_holds(memory: recollect.Memory) -> None:
    towns = ["Paris", "Lyon", "Rome", "Oslo", "Bern", "Graz"]
    statements = [
        Statement(text=f"Ada lives in {town}.", subject="Ada", attribute="home", value=town) for town in towns
    ]
    memory.knowledge.learn_many(statements)
    assert [record.value for record in memory.knowledge.records()] == ["Graz"]


def test_what_ended_may_begin_again(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY, true_until=MARCH)
    assert lives_in(memory, "Paris", MAY).outcome == "replaces"
    assert stays(memory) == [("Paris", "replaced", JANUARY, MARCH), ("Paris", "current", MAY, "")]


def test_an_end_that_is_learned_later_is_kept(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY)
    assert lives_in(memory, "Paris", JANUARY, true_until=MARCH).outcome == "same"
    assert stays(memory) == [("Paris", "current", JANUARY, MARCH)]


def test_an_earlier_stay_at_the_same_place_is_a_stay_of_its_own(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", MAY)
    lives_in(memory, "Paris", JANUARY, true_until=FEBRUARY)
    assert stays(memory) == [("Paris", "replaced", JANUARY, FEBRUARY), ("Paris", "current", MAY, "")]


@pytest.mark.parametrize("subject", ["", "Lift"])
def test_what_expired_and_is_said_again_holds_again(memory: recollect.Memory, clock: FrozenClock, subject: str) -> None:
    about = {"subject": subject, "attribute": "state" if subject else ""}
    memory.knowledge.remember("The lift is out of order.", expires_at=to_text(clock()), **about)
    clock.move(hours=1)
    assert memory.knowledge.records() == []
    assert memory.knowledge.remember("The lift is out of order.", **about).outcome == "same"
    assert [record.expires_at for record in memory.knowledge.records()] == [""]


def test_who_reads_an_expired_claim_again_where_it_stood_does_not_renew_it(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    claim = Statement(
        text="The lift is out of order.", expires_at=to_text(clock()), sources=(Evidence(message_id="m1"),)
    )
    memory.knowledge.learn(claim)
    memory.knowledge.learn(Statement(text=claim.text, sources=claim.sources))
    assert memory.knowledge.records() == []


def test_who_reads_old_messages_again_does_not_bring_back_what_they_said(memory: recollect.Memory) -> None:
    reader = librarian(memory)
    homes = [
        replace(claim(f"Ada lives in {town}.", town), subject="Ada", attribute="home", value=town)
        for town in ("Paris", "Rome")
    ]
    for statement in (*homes, *homes):
        reader.learn(statement)
    assert [record.value for record in memory.knowledge.records()] == ["Rome"]
    assert [len(memory.knowledge.versions(record.id)) for record in memory.knowledge.records(state="all")] == [1, 2]


@pytest.mark.parametrize("relation", [Relation.SAME, Relation.REFINES, Relation.REPLACES])
def test_what_was_taken_back_is_no_base_for_more(memory: recollect.Memory, relation: Relation) -> None:
    record = kept(memory.knowledge.remember("one"))
    memory.knowledge.retract(record.id)
    with pytest.raises(Conflict, match="retracted"):
        memory.knowledge.remember("two", relation=relation, other=record.id)


def test_a_record_is_replaced_in_its_own_scope(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.grant("ada", "house")
    record = kept(memory.knowledge.remember("The bins go out on Monday."))
    ada = memory.as_agent("ada").knowledge
    with pytest.raises(Conflict, match="must lie there too"):
        ada.remember("The bins go out on Friday.", other=record.id)
    assert ada.remember("The bins go out on Friday.", other=record.id, scope="house").outcome == "replaces"


def test_the_reason_of_one_record_is_not_told_in_another(memory: recollect.Memory) -> None:
    paris = kept(lives_in(memory, "Paris", JANUARY))
    lives_in(memory, "Zanzibar", MAY, reason="Zanzibar is what she told me")
    assert "Zanzibar" not in "".join(event.reason for event in memory.knowledge.events(paris.id))


# Undoing


def test_undoing_what_was_learned_late_lets_the_one_before_go_on(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY)
    lives_in(memory, "Rome", MAY)
    before = stays(memory)
    lyon = kept(lives_in(memory, "Lyon", MARCH))
    with_lyon = stays(memory)

    memory.knowledge.undo(lyon.id)
    assert stays(memory) == before
    memory.knowledge.undo(lyon.id)
    assert stays(memory) == with_lyon


def test_undoing_the_last_one_brings_back_what_was_learned_late(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY)
    rome = kept(lives_in(memory, "Rome", MAY))
    lives_in(memory, "Lyon", MARCH)

    memory.knowledge.undo(rome.id)
    assert stays(memory) == [("Paris", "replaced", JANUARY, MARCH), ("Lyon", "current", MARCH, "")]


def test_undoing_a_replacement_in_the_past_goes_on_until_the_next(memory: recollect.Memory) -> None:
    paris = kept(lives_in(memory, "Paris", JANUARY))
    lives_in(memory, "Lyon", MARCH)
    lives_in(memory, "Rome", MAY)
    before = stays(memory)

    assert memory.knowledge.undo(paris.id).true_until == MAY
    assert stays(memory) == [("Paris", "replaced", JANUARY, MAY), ("Rome", "current", MAY, "")]
    memory.knowledge.undo(paris.id)
    assert stays(memory) == before


def test_what_comes_back_after_something_else_was_said_takes_its_place_in_time(memory: recollect.Memory) -> None:
    paris = kept(lives_in(memory, "Paris", JANUARY))
    memory.knowledge.retract(paris.id)
    lives_in(memory, "Lyon", MARCH)

    memory.knowledge.undo(paris.id)
    assert stays(memory) == [("Paris", "replaced", JANUARY, MARCH), ("Lyon", "current", MARCH, "")]


def test_an_end_by_its_own_word_outlives_an_undo(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY, true_until=FEBRUARY)
    lyon = kept(lives_in(memory, "Lyon", MARCH))
    memory.knowledge.undo(lyon.id)
    assert stays(memory) == [("Paris", "current", JANUARY, FEBRUARY)]


def test_undoing_a_confirmation_takes_back_the_end_and_the_times_it_added(memory: recollect.Memory) -> None:
    paris = kept(lives_in(memory, "Paris", JANUARY))
    assert kept(lives_in(memory, "Paris", MAY)).restated == (MAY,)
    assert memory.knowledge.undo(paris.id).restated == ()

    lives_in(memory, "Lyon", MARCH)
    assert stays(memory) == [("Paris", "replaced", JANUARY, MARCH), ("Lyon", "current", MARCH, "")]

    lives_in(memory, "Lyon", MARCH, true_until=JUNE)
    assert stays(memory)[-1] == ("Lyon", "current", MARCH, JUNE)
    lyon = memory.knowledge.records(subject="Ada")[0]
    memory.knowledge.undo(lyon.id)
    assert stays(memory)[-1] == ("Lyon", "current", MARCH, "")


@pytest.mark.parametrize("which", ["Paris", "Rome"])
def test_a_beginning_that_moved_moves_back_whichever_of_the_two_is_undone(memory: recollect.Memory, which: str) -> None:
    lives_in(memory, "Paris", JANUARY)
    lives_in(memory, "Rome", MAY)
    before = stays(memory)
    lives_in(memory, "Rome", MARCH)
    moved = stays(memory)
    assert moved == [("Paris", "replaced", JANUARY, MARCH), ("Rome", "current", MARCH, "")]

    everything = memory.knowledge.records(subject="Ada", state="all")
    undone = next(one for one in everything if one.value == which)
    assert memory.knowledge.undo(undone.id).value == which
    assert stays(memory) == before
    rome = next(one for one in everything if one.value == "Rome")
    assert memory.knowledge.why(rome.id).events[-1].reason == "back to version 1", "its own, not that of the other"
    memory.knowledge.undo(undone.id)
    assert stays(memory) == moved


def test_an_end_that_was_taken_back_does_not_come_again_when_what_made_it_is_forgotten(
    memory: recollect.Memory,
) -> None:
    lives_in(memory, "Paris", JANUARY)
    lyon = kept(lives_in(memory, "Lyon", FEBRUARY))
    memory.knowledge.undo(lyon.id)
    memory.forget(record=lyon.id)
    rome = kept(lives_in(memory, "Rome", MARCH))

    memory.knowledge.undo(rome.id)
    assert stays(memory) == [("Paris", "current", JANUARY, "")]


def test_an_end_stays_when_what_made_it_is_forgotten(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY)
    rome = kept(lives_in(memory, "Rome", MARCH))
    memory.forget(record=rome.id)
    lyon = kept(lives_in(memory, "Lyon", FEBRUARY))

    memory.knowledge.undo(lyon.id)
    assert stays(memory) == [("Paris", "replaced", JANUARY, MARCH)]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_is_said_and_undone_there_is_one_value_at_a_time(open_house: OpenHouse, data: st.DataObject) -> None:
    memory = open_house()
    for _ in range(data.draw(st.integers(2, 12))):
        say_or_undo(memory, data)
        line = stays(memory)
        for (_, state, _, until), (_, _, begins, _) in pairwise(line):
            assert state == "replaced", line
            assert until <= begins, line
        assert not line or line[-1][1] == "current", line
    before = memory.knowledge.pages(("", 0), 1_000)
    memory.knowledge.rebuild()
    assert memory.knowledge.pages(("", 0), 1_000) == before


def say_or_undo(memory: recollect.Memory, data: st.DataObject) -> None:
    records = memory.knowledge.records(subject="Ada", state="all", limit=1_000)
    action = data.draw(st.sampled_from(["say", "say", "undo", "undo to", "edit"]))
    name = data.draw(st.sampled_from(sorted(record.id for record in records))) if records else ""
    try:
        if action == "say" or not name:
            lives_in(memory, data.draw(st.sampled_from(["Paris", "Lyon", "Rome"])), data.draw(st.sampled_from(MONTHS)))
        elif action == "edit":
            town = data.draw(st.sampled_from(["Oslo", "Bern"]))
            memory.knowledge.edit(name, f"Ada lives in {town}.", value=town)
        else:
            memory.knowledge.undo(name, version=data.draw(st.integers(1, 3)) if action == "undo to" else None)
    except RecollectError:
        return  # Refused with a reason.


# Correct once, stays corrected


def librarian(memory: recollect.Memory) -> Knowledge:
    return memory.knowledge.seen_by(Principal(actor=Actor.LIBRARIAN))


def claim(text: str, message: str = "m1") -> Statement:
    return Statement(text=text, origin=Origin.EXTRACTED, sources=(Evidence(message_id=message, quote=text),))


def test_a_correction_that_is_undone_and_done_again_stays(memory: recollect.Memory) -> None:
    reader = librarian(memory)
    record = kept(reader.learn(claim("Beans need a pole.")))
    memory.knowledge.edit(record.id, "Beans need none.")
    for expected in ("same", "refused", "same", "refused"):
        memory.knowledge.undo(record.id)
        assert reader.learn(claim("Beans need a pole.")).outcome == expected


def test_what_was_undone_as_a_whole_is_not_extracted_again(memory: recollect.Memory) -> None:
    reader = librarian(memory)
    record = kept(reader.learn(claim("Beans need a pole.")))
    memory.knowledge.undo(record.id)
    assert reader.learn(claim("Beans need a pole.")).outcome == "refused"
    memory.knowledge.undo(record.id)
    assert reader.learn(claim("Beans need a pole.")).outcome == "same"


def test_what_two_corrections_bar_is_barred_until_both_are_undone(memory: recollect.Memory) -> None:
    reader = librarian(memory)
    source = (Evidence(message_id="m1", quote="Beans need a pole, peas a net."),)
    beans, peas = (
        Statement(text="Beans need a pole.", sources=source),
        Statement(text="Peas need a net.", sources=source),
    )
    records = [kept(reader.learn(statement)) for statement in (beans, peas)]
    for record in records:
        memory.knowledge.retract(record.id)
    memory.knowledge.undo(records[0].id)
    assert reader.learn(peas).outcome == "refused"


def test_a_replacement_that_was_undone_is_not_extracted_again(memory: recollect.Memory) -> None:
    paris = kept(lives_in(memory, "Paris", JANUARY))
    moved = Statement(
        text="Ada lives in Rome.",
        subject="Ada",
        attribute="home",
        value="Rome",
        true_from=MARCH,
        sources=(Evidence(message_id="m1", quote="Rome it is"),),
    )
    librarian(memory).learn(moved)
    memory.knowledge.undo(paris.id)
    assert librarian(memory).learn(moved).outcome == "refused"
    assert stays(memory) == [("Paris", "current", JANUARY, "")]


# Between scopes


def test_what_an_agent_corrects_is_corrected_for_itself_alone(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    ada = memory.as_agent("ada")
    for act in ("retract", "forget"):
        said = claim("Beans need a pole.", f"message of {act}")
        record = kept(ada.knowledge.learn(said))
        ada.knowledge.retract(record.id) if act == "retract" else ada.forget(record=record.id, verify=False)
        assert ada.knowledge.learn(said).outcome == "refused"
        assert librarian(memory).learn(replace(said, scope="ada")).outcome == "refused"
        assert librarian(memory).learn(said).outcome != "refused"


def test_a_record_that_moves_takes_its_place_among_what_is_said_there(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    paris = kept(lives_in(memory, "Paris", JANUARY))
    rome = kept(lives_in(memory, "Rome", MARCH))
    oslo = kept(lives_in(memory, "Oslo", MAY, scope="ada"))

    moved = memory.knowledge.move(rome.id, "ada")
    assert (moved.state, moved.true_until, moved.replaced_by, moved.replaces) == (State.REPLACED, MAY, oslo.id, "")
    left = memory.knowledge.record(paris.id)
    assert (left.state, left.true_until, left.replaced_by) == (State.CURRENT, "", "")

    memory.knowledge.move(paris.id, "ada")
    assert [stay[0] for stay in stays(memory)] == ["Paris", "Rome", "Oslo"]
    assert [stay[1] for stay in stays(memory)] == ["replaced", "replaced", "current"]


def test_an_end_stays_when_what_made_it_was_forgotten(memory: recollect.Memory) -> None:
    lives_in(memory, "Paris", JANUARY)
    rome = kept(lives_in(memory, "Rome", MARCH))
    memory.forget(record=rome.id)
    lyon = kept(lives_in(memory, "Lyon", MAY))

    memory.knowledge.undo(lyon.id)

    assert stays(memory) == [("Paris", "replaced", JANUARY, MARCH)]
    assert memory.knowledge.fact("Ada", "home", true_at=JUNE) is None
