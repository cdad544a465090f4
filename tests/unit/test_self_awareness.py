"""The agent's page about itself."""

from collections import Counter

from recollect.knowledge import Kind, Origin, Record, Statement
from recollect.knowledge.statements import prepared
from recollect.knowledge.writing import first_version
from recollect.librarian.nights.self_awareness import Awareness, page_text

NOW = "2026-05-04T09:12:00.000Z"


def record(text: str, subject: str, *tags: str) -> Record:
    statement = Statement(text=text, kind=Kind.FACT, subject=subject, tags=tags, origin=Origin.TOLD)
    return first_version(prepared(statement), text, "house", NOW)


def page(*records: Record, dropped: Counter[str] | None = None, questions: int = 0) -> str:
    return page_text(
        "",
        Awareness(
            day="2026-05-04",
            records=records,
            recent=(),
            conversations=1,
            reader="rules",
            questions=questions,
            proposals=0,
            dropped=dropped or Counter(),
            night={},
        ),
    )


def test_one_thing_is_one_thing() -> None:
    text = page(record("a", "garden", "project"), dropped=Counter(quoted=1), questions=1)
    assert "1 thing is known from 1 conversation: 1 fact." in text
    assert "Something is known of 1 project." in text
    assert "1 thing was found and not kept (quoted 1)." in text
    assert "1 question waits in [[questions]]" in text


def test_it_leads_to_no_page_that_is_not_there() -> None:
    assert "[[core/facts]]" not in page(record("a", "garden", "project"))
    assert "[[core/facts]]" in page(record("a", "user", "core"), record("b", "Ines", "person"))
    assert "[[questions]]" not in page()


def test_an_empty_house_is_told_as_one() -> None:
    assert "Nothing is known yet." in page()
