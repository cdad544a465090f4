"""What becomes of a message, a record or a note in the index. Pure."""

import pytest
from builders import message, moment
from house_of_words import HouseOfWords

from recollect.feed import MESSAGE, NOTE, RECORD
from recollect.history import Author, Standing
from recollect.knowledge import Kind, Record
from recollect.recall.index.documents import Thing, facts_digest, text_digest, thing_of
from recollect.recall.material import is_searched, message_document, record_document, record_text
from recollect.recall.noted import noted, noted_document


def record(text: str = "She moved to Bergen.", **fields: object) -> Record:
    return HouseOfWords().learn(text, "r1", moment(), **fields)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "She moved to Bergen."),
        ({"subject": "Ada"}, "Ada: She moved to Bergen."),
        ({"subject": "Ada", "attribute": "home town", "value": "Bergen"}, "Ada home town: She moved to Bergen."),
        ({"subject": "SHE", "attribute": "moved", "value": "bergen"}, "She moved to Bergen."),
        ({"subject": "Ada", "attribute": "city", "value": "Oslo"}, "Ada city Oslo: She moved to Bergen."),
    ],
)
def test_a_record_says_what_it_is_about_unless_its_text_does(fields: dict[str, str], text: str) -> None:
    assert record_text(record(**fields)) == text


def test_a_record_is_a_document_with_its_times_and_its_scope() -> None:
    made = record_document(record(scope="ada", believed_until=moment(5), expires_at=moment(9), kind=Kind.SUMMARY))
    assert (made.id, made.kind, made.thing_key, made.scope) == ("r1@1", RECORD, "r1", "ada")
    assert (made.at, made.until, made.expires, made.is_evergreen) == (moment(), moment(5), moment(9), False)
    assert (made.author, made.source) == ("record", "told")


def test_a_message_is_a_document_without_an_end() -> None:
    made = message_document(message(conversation_id="c1"), "house")
    assert (made.id, made.kind, made.thing_key, made.conversation) == ("m1", MESSAGE, "", "c1")
    assert (made.until, made.expires, made.is_evergreen) == ("", "", False)


def test_what_a_sub_agent_said_has_its_stream_for_a_conversation() -> None:
    beside = message(author=Author.SUBAGENT, conversation_id=None, stream="s", agent_id="a7")
    assert message_document(beside, "house").conversation == "file/s/a7"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"text": " \n"}, False),
        ({"gone": True}, False),
        ({"standing": Standing.ABANDONED}, False),
        ({"standing": Standing.ABANDONED, "author": Author.SUBAGENT}, True),
    ],
)
def test_what_was_said_in_words_is_searched(fields: dict[str, object], expected: bool) -> None:
    assert is_searched(message(**fields)) is expected


def test_a_document_tells_the_thing_it_is() -> None:
    assert thing_of("m1") == Thing(MESSAGE, "m1")
    assert thing_of("r1@12") == Thing(RECORD, "r1")
    assert thing_of("a@b/c d.md:0f.2") == Thing(NOTE, "a@b/c d.md")


def test_a_note_that_is_called_as_a_record_is_another_thing() -> None:
    (part,) = noted(HouseOfWords().write("r1", "Beans."))
    assert noted_document(part).thing_key != record_document(record()).thing_key


@pytest.mark.parametrize("change", [{"scope": "ada"}, {"believed_until": moment(5)}, {"expires_at": moment(5)}])
def test_what_is_known_beside_the_text_moves_a_document_and_leaves_its_text(change: dict[str, str]) -> None:
    before, after = record_document(record()), record_document(record(**change))
    assert text_digest(before) == text_digest(after)
    assert facts_digest(before) != facts_digest(after)
