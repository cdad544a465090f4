"""What an update of the Bot API says."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.channels.telegram.updates import Attachment, Ignored, Incoming, understood
from recollect.mind.saying import MOST_IMAGE_BYTES

CHAT = {"id": 77, "type": "private", "first_name": "Ada"}
ADA = {"id": 77, "is_bot": False, "first_name": "Ada", "last_name": "Lovelace"}
NAMES = [
    "update_id",
    "message",
    "edited_message",
    "chat",
    "id",
    "type",
    "private",
    "text",
    "entities",
    "photo",
    "document",
]
NAMES += ["file_id", "file_size", "date", "edit_date", "from", "first_name", "reply_to_message", "location", "latitude"]
NAMES += [
    "message_id",
    "offset",
    "length",
    "url",
    "text_link",
    "forward_origin",
    "poll",
    "options",
    "caption",
    "contact",
]
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(NAMES)
JSON = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=40,
)


def update(kind: str = "message", **message: Any) -> dict[str, Any]:
    return {"update_id": 5, kind: {"message_id": 9, "from": ADA, "chat": CHAT, "date": 1_790_000_000} | message}


def heard(kind: str = "message", **message: Any) -> Incoming:
    found = understood(update(kind, **message))
    assert isinstance(found, Incoming)
    return found


def ignored(given: object) -> Ignored:
    found = understood(given)
    assert isinstance(found, Ignored)
    return found


@settings(max_examples=200)
@given(JSON)
def test_no_json_is_an_error(given: object) -> None:
    assert isinstance(understood(given), Incoming | Ignored)


@settings(max_examples=200)
@given(st.sampled_from(["message", "edited_message"]), st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8))
def test_no_message_is_an_error_and_what_is_said_can_be_kept(kind: str, message: dict[str, Any]) -> None:
    found = understood(update(kind, **message))
    if isinstance(found, Incoming):
        assert found.text.strip() or found.attachments
        for text in (found.text, found.name, found.replied_to, *(one.name for one in found.attachments)):
            assert text.encode().decode() == text


def test_a_message_says_who_said_what_when() -> None:
    assert heard(text="Hello\nthere") == Incoming(
        update_id=5,
        chat_id="77",
        name="Ada Lovelace",
        message_id=9,
        text="Hello\nthere",
        key="77:9",
        at="2026-09-21T14:13:20.000Z",
    )


def test_an_edit_has_a_key_of_its_own() -> None:
    first = heard("edited_message", text="Hello", edit_date=1_790_000_100)
    second = heard("edited_message", text="Hello!", edit_date=1_790_000_200)
    assert first.is_edit
    assert (first.key, second.key) == ("77:9:1790000100", "77:9:1790000200")


@pytest.mark.parametrize("kind", ["group", "supergroup", "channel"])
def test_only_private_chats_count(kind: str) -> None:
    found = ignored(update(text="Hello", chat={"id": -100, "type": kind, "title": "All"}))
    assert (found.update_id, found.kind) == (5, f"message of a {kind}")


@pytest.mark.parametrize("kind", ["callback_query", "channel_post", "poll_answer", "something_new"])
def test_an_unknown_update_is_ignored_by_its_name(kind: str) -> None:
    assert ignored({"update_id": 6, kind: {"id": "x"}}) == Ignored(update_id=6, kind=kind)


def test_who_blocks_the_bot_is_ignored_with_the_chat() -> None:
    found = ignored({"update_id": 6, "my_chat_member": {"chat": CHAT, "new_chat_member": {"status": "kicked"}}})
    assert found == Ignored(update_id=6, kind="my_chat_member")


def test_a_message_without_content_is_ignored_by_the_name_of_what_it_has() -> None:
    assert ignored(update(pinned_message={"message_id": 3})).kind == "pinned_message"
    assert ignored(update()).kind == "nothing"


def test_the_name_of_what_is_ignored_is_one_short_line() -> None:
    found = ignored({"update_id": 6, "x\n\x1b[31m" * 99: {}})
    assert "\n" not in found.kind
    assert len(found.kind) <= 80


@pytest.mark.parametrize(
    "given", [None, [], 3, "x", {}, {"update_id": "5"}, {"update_id": True}, {"update_id": 10**30}]
)
def test_what_is_no_update_has_no_number(given: object) -> None:
    assert ignored(given).update_id == 0


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/start", ("start", "")),
        ("/start  ABCDE-FGHJK ", ("start", "ABCDE-FGHJK")),
        ("/Help@some_bot", ("help", "")),
        ("/note one\ntwo", ("note", "one\ntwo")),
        ("/ no", None),
        ("/usr/bin/env", None),
        ("say /start", None),
    ],
)
def test_a_command_is_at_the_beginning(text: str, command: tuple[str, str] | None) -> None:
    assert heard(text=text).command == command
    assert heard(text=text).text == text


def test_what_was_forwarded_says_so_and_commands_nothing() -> None:
    origins = [
        ({"type": "user", "sender_user": {"first_name": "Eve"}}, "Eve"),
        ({"type": "hidden_user", "sender_user_name": "Mallory"}, "Mallory"),
        ({"type": "channel", "chat": {"title": "News"}}, "News"),
        ({"type": "new"}, "somebody"),
    ]
    for origin, who in origins:
        found = heard(text="/stop", forward_origin=origin)
        assert found.text == f"[Forwarded from {who}]\n/stop"
        assert found.command is None


def test_a_reply_says_to_what_in_one_short_line() -> None:
    assert heard(text="Yes", reply_to_message={"text": "One\ntwo"}).replied_to == "One two"
    assert heard(text="Yes", reply_to_message={"text": "word " * 99}).replied_to.endswith("word…")
    assert len(heard(text="Yes", reply_to_message={"text": "x" * 999}).replied_to) == 200
    assert heard(text="Yes", reply_to_message={"text": "One two"}, quote={"text": "two"}).replied_to == "two"
    assert heard(text="Yes", reply_to_message={"photo": [{"file_id": "p"}]}).replied_to == "photo.jpg"


def test_the_address_behind_a_link_is_written_after_its_words() -> None:
    entities = [
        {"type": "text_link", "offset": 3, "length": 4, "url": "https://a.b/"},
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "text_link", "offset": 8, "length": 3, "url": "https://c.d/"},
        {"type": "text_link", "offset": 8, "length": 99, "url": "https://beyond/"},
    ]
    assert heard(text="😀 here and", entities=entities).text == "😀 here (https://a.b/) and (https://c.d/)"


def test_a_photo_is_the_largest_size_that_a_model_takes() -> None:
    sizes = [
        {"file_id": "small", "width": 90, "height": 90, "file_size": 1_000},
        {"file_id": "large", "width": 1280, "height": 1280, "file_size": 200_000},
        {"file_id": "huge", "width": 9000, "height": 9000, "file_size": MOST_IMAGE_BYTES + 1},
    ]
    found = heard(photo=sizes, caption="Look", media_group_id="1")
    assert found.text == "Look"
    assert found.attachments == (Attachment(file_id="large", name="photo.jpg", media_type="image/jpeg", size=200_000),)


def test_a_file_keeps_its_name_on_one_line() -> None:
    given = {"file_id": "F", "file_name": "a\nb.pdf", "mime_type": "application/pdf", "file_size": 50_000_000}
    assert heard(document=given).attachments == (
        Attachment(file_id="F", name="a b.pdf", media_type="application/pdf", size=50_000_000),
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [("voice", "voice.ogg"), ("video_note", "video.mp4"), ("audio", "audio.mp3"), ("document", "file")],
)
def test_a_file_without_a_name_gets_one(kind: str, name: str) -> None:
    assert [one.name for one in heard(**{kind: {"file_id": "F"}}).attachments] == [name]


def test_an_animation_is_one_file_though_it_is_told_twice() -> None:
    given = {"file_id": "A", "file_name": "cat.mp4"}
    assert [one.name for one in heard(animation=given, document=given).attachments] == ["cat.mp4"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"sticker": {"file_id": "S", "emoji": "😀"}}, "[Sticker: 😀]"),
        ({"sticker": {"file_id": "S"}}, "[Sticker]"),
        ({"location": {"latitude": 52.5163, "longitude": 13}}, "[Location: 52.51630, 13.00000]"),
        (
            {"location": {"latitude": 1, "longitude": 2}, "venue": {"title": "Café", "address": "Main St 1"}},
            "[Location: Café, Main St 1, 1.00000, 2.00000]",
        ),
        ({"contact": {"first_name": "Bo", "phone_number": "+1555"}}, "[Contact: Bo, +1555]"),
        (
            {"poll": {"question": "When?", "options": [{"text": "Now"}, {"text": "Later"}]}},
            "[Poll: When? / Now, Later]",
        ),
        ({"dice": {"emoji": "🎲", "value": 4}}, "[Dice: 🎲 4]"),
    ],
)
def test_what_has_no_words_is_told_in_words(content: dict[str, Any], text: str) -> None:
    assert heard(**content).text == text


def test_a_text_that_no_store_holds_is_made_one_that_it_does() -> None:
    assert heard(text="a\x00b \ud800").text == "a\ufffdb ?"
