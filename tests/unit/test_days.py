"""What a day brought, from the stream and from what waits."""

from datetime import UTC, datetime

from recollect.clock import from_text
from recollect.knowledge import Event, Evidence, Kind, Origin, Record, State
from recollect.knowledge.statements import prepared
from recollect.knowledge.writing import first_version
from recollect.librarian.days import CHANGED, DOUBTED, LEARNED, lines_of, period
from recollect.librarian.proposals import Proposal
from recollect.librarian.questions import Question, QuestionKind

NOW = "2026-03-02T12:00:00.000Z"


def record(text: str, **changes: object) -> Record:
    from dataclasses import replace

    from recollect.knowledge import Statement

    statement = Statement(text=text, kind=Kind.FACT, origin=Origin.EXTRACTED, sources=(Evidence(message_id="m"),))
    made = first_version(prepared(statement), text.replace(" ", "-").casefold(), "house", NOW)
    return replace(made, **changes)  # type: ignore[arg-type]


def event(of: Record, action: str, actor: str = "librarian", version: int = 1) -> Event:
    return Event(
        number=1, record_id=of.id, version=version, at=NOW, action=action, actor=actor, actor_name="", reason=""
    )


def told(events: list[Event], *records: Record) -> list[tuple[str, str, str]]:
    lines = lines_of(events, {one.id: one for one in records}, [], [])
    return [(line.group, line.text, line.note) for line in lines]


def test_what_was_made_today_is_learned_and_what_was_said_again_is_not_told() -> None:
    new, old = record("new"), record("old")
    assert told([event(new, "created"), event(old, "confirmed", version=2)], new, old) == [(LEARNED, "new", "")]


def test_what_a_person_corrected_is_told_as_changed_with_how() -> None:
    old = record("old")
    assert told([event(old, "edited", "person", 2)], old) == [(CHANGED, "old", "corrected")]


def test_what_was_learned_and_taken_back_on_one_day_is_told_as_changed() -> None:
    gone = record("gone", state=State.RETRACTED)
    assert told([event(gone, "created"), event(gone, "retracted", "person", 2)], gone) == [
        (CHANGED, "gone", "taken back")
    ]


def test_a_forgotten_record_is_not_told() -> None:
    assert told([event(record("gone"), "created")]) == []


def test_what_waits_is_doubted_with_what_it_needs() -> None:
    known = record("Lives in Bern")
    proposal = Proposal.to_retract(known, "core/facts.md", NOW)
    question = Question(id="q", scope="house", kind=QuestionKind.OPEN, text="Which quarter?", asked_at=NOW)
    lines = lines_of([], {known.id: known}, [proposal], [question])
    assert [(line.group, line.text, bool(line.proposal_id), line.question_id) for line in lines] == [
        (DOUBTED, "No longer so: Lives in Bern", True, ""),
        (DOUBTED, "Which quarter?", False, "q"),
    ]


def test_a_week_begins_at_the_midnight_six_days_ago_where_the_person_is() -> None:
    since, until = period(datetime(2026, 3, 8, 15, 0, tzinfo=UTC), 7)
    begun = from_text(since).astimezone()
    assert (begun.hour, begun.minute, f"{begun:%Y-%m-%d}") == (0, 0, "2026-03-02")
    assert until > "2026-03-08T15:00:00.000Z"
