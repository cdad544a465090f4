"""What of a note is searched, and when it is from. Pure."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from house_of_words import HouseOfWords

from recollect.notes import Note
from recollect.recall.noted import Noted, noted, noted_document

WRITTEN = "2026-03-02T12:00:00.000Z"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bq2Rn4vXk9Zt1\n" * 4 + "-----END RSA PRIVATE KEY-----"


@pytest.fixture(autouse=True)
def in_honolulu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ten hours behind UTC, all year."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Pacific/Honolulu")
        time.tzset()
        yield
    time.tzset()


def note(path: str = "user.md", text: str = "Likes beans.") -> Note:
    return HouseOfWords().write(path, text, WRITTEN)


def only(found: list[Noted]) -> Noted:
    (part,) = found
    return part


@pytest.mark.parametrize(
    ("path", "at", "is_evergreen"),
    [
        ("user.md", WRITTEN, True),
        ("agents/ada/soul.md", WRITTEN, True),
        ("agents/ada/scratch/2026-01-05.md", WRITTEN, True),
        ("daily/2026-01-05.md", WRITTEN, True),  # Of the house: it has no days.
        ("agents/ada/diary/2026-01-05T23-30-00.md", "2026-01-06T09:30:00.999Z", False),
        ("agents/ada/diary/2026-03-02T02-00-00.md", WRITTEN, False),
        ("agents/ada/rooms/den/diary/2027-01-05T23-30-00.md", "2027-01-06T09:30:00.000Z", False),
        ("agents/ada/daily/2026-03-02.md", WRITTEN, False),
        ("agents/ada/daily/2026-01-05.md", "2026-01-06T09:59:59.999Z", False),
        ("agents/ada/daily/2026-04-05.md", "2026-04-05T10:00:00.000Z", False),
        ("agents/ada/daily/ideas.md", WRITTEN, False),
        ("episodes/2026-01/2026-01-05.md", "2026-01-06T09:59:59.999Z", False),
        ("agents/ada/episodes/2026-01/2026-01-05.md", "2026-01-06T09:59:59.999Z", False),
        ("episodes/ideas.md", WRITTEN, True),
        ("agents/ada/daily/2026-02-30.md", WRITTEN, False),
        ("agents/ada/daily/0001-01-01.md", None, False),
        ("agents/ada/diary/9999-12-31T23-59-59.md", None, False),
    ],
)
def test_pages_of_a_diary_or_a_day_are_from_the_time_in_their_name(
    path: str, at: str | None, is_evergreen: bool
) -> None:
    part = only(noted(note(path)))
    assert part.at == at or at is None
    assert (part.is_evergreen, part.written_at) == (is_evergreen, WRITTEN)


def test_a_note_is_a_document_for_each_section_and_they_are_neighbours() -> None:
    first, second = noted(note("agents/ada/rooms/den/a@b.md", "# Beans\nIn May.\n\n# Peas\nIn March.\n"))

    made = noted_document(second)

    assert (first.line, second.line, second.text) == (1, 4, "# Peas\n\nIn March.")
    assert (made.scope, made.author, made.source, made.place) == ("ada/den", "note", "notes", 1)
    assert (made.at, made.known_at) == (WRITTEN, WRITTEN)
    assert made.conversation == noted_document(first).conversation
    assert second.file == "notes/agents/ada/rooms/den/a@b.md"


def test_a_section_keeps_its_name_where_another_is_put_before_it() -> None:
    before = noted(note(text="# Beans\nIn May.\n"))
    after = noted(note(text="# Peas\nIn March.\n\n# Beans\nIn May.\n"))
    assert (after[1].id, after[1].line) == (before[0].id, 4)


def test_sections_that_say_the_same_are_told_apart() -> None:
    parts = noted(note(text="# Beans\nIn May.\n" * 3))
    assert len({part.id for part in parts}) == 3


def test_what_is_gone_or_no_text_or_a_status_is_not_searched() -> None:
    assert noted(replace(note(), digest="", content=b"")) == []
    assert noted(replace(note(), content=b"PNG\0\0")) == []
    assert noted(note("agents/ada/status.json", '{"mood": "good"}')) == []
    assert noted(note("agents/ada/STATUS.JSON", '{"mood": "good"}')) == []
    assert noted(note(text=" \n")) == []


def test_what_is_not_utf8_is_searched_as_far_as_it_can_be_read() -> None:
    assert only(noted(replace(note(), content="Grüße".encode("latin-1")))).text == "Gr��e"


def test_credentials_are_masked_and_the_lines_after_them_keep_their_numbers() -> None:
    parts = noted(note(text=f"# Keys\n\n{KEY}\n\n# Beans\nIn May.\r\n"))

    assert "MIIE" not in str(parts)
    assert "[masked:private-key]" in parts[0].text
    assert (parts[1].line, parts[1].text) == (KEY.count("\n") + 5, "# Beans\n\nIn May.")


def test_the_anchors_of_a_shelf_and_its_front_matter_are_no_words_and_lines_keep_their_numbers() -> None:
    text = '---\nkind: "core"\nlibrarian: "rules"\n---\n\n# Facts\n\n- Likes beans. <!--r:0123456789ab-->\n'
    part = only(noted(note("core/facts.md", text)))
    assert (part.text, part.line) == ("# Facts\n\n- Likes beans.", 6)


def test_front_matter_that_somebody_else_wrote_is_searched() -> None:
    assert "aliases" in noted(note("user.md", "---\naliases: [Ada]\n---\n\nLikes beans.\n"))[0].text
