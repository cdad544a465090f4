"""Telegram's export: who said it, when, in which chat; exports of stretches of time, damaged and sorted ones."""

import io
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Entry, Standing
from recollect.history.reading import Unreadable
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Opened, Transcript
from recollect.history.sources.telegram import Telegram, _Mended  # pyright: ignore[reportPrivateUsage]

SAMPLE = Path(__file__).resolve().parents[3] / "shared" / "transcripts" / "telegram" / "chatpack-telegram_export.json"
SOURCE = Telegram()
OWNER, MARA, BOT = 700, 801, 900
Record = dict[str, Any]
Read = dict[str, list[Entry]]


def said(number: int, sender: int, text: Any, **fields: Any) -> Record:
    names = {OWNER: "Ada", MARA: "Mara", BOT: "Garden Bot"}
    return {
        "id": number,
        "type": "message",
        "date": "2026-03-02T11:00:00",
        "date_unixtime": str(1772445600 + 60 * number),
        "from": names.get(sender, f"Person {sender}"),
        "from_id": f"user{sender}",
        "text": text,
        "text_entities": [],
        **fields,
    }


def chat(*messages: Any, kind: str = "personal_chat", number: int = MARA, name: str | None = "Mara") -> Record:
    return {"name": name, "type": kind, "id": number, "messages": list(messages)}


def account(*chats: Record, left: tuple[Record, ...] = (), owner: int | None = OWNER) -> Record:
    document: Record = {"about": "Here is the data you requested."}
    if owner is not None:
        document["personal_information"] = {"user_id": owner, "first_name": "Ada", "bio": "beans"}
    document["contacts"] = {"about": "…", "list": [{"user_id": MARA, "first_name": "Mara"}]}
    return {**document, "chats": {"about": "…", "list": list(chats)}, "left_chats": {"about": "…", "list": list(left)}}


def raw(document: Any) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def transcripts(content: bytes, report: Callable[[str], None] = lambda _: None) -> Any:
    opened = Opened(path="/home/ada/Downloads/ChatExport_1/result.json", file=io.BytesIO(content), report=report)
    found = SOURCE.transcripts(opened, FileFacts(key="ChatExport_1/result.json", kind="session"))
    assert found is not None
    return found


def read(document: Any, report: Callable[[str], None] = lambda _: None) -> Read:
    """The entries of each chat by the key of its transcript, without the header."""
    content = document if isinstance(document, bytes) else raw(document)
    found: Read = {}
    for transcript in transcripts(content, report):
        entries = [SOURCE.parse(record, transcript.facts) for record in transcript.records]
        assert entries[0].kind == "chat"
        found.setdefault(transcript.facts.key, []).extend(entries[1:])
    return found


def one(message: Record, **how: Any) -> Entry:
    (entries,) = read(account(chat(message, **how))).values()
    return entries[0]


def test_in_a_chat_between_two_the_id_of_the_chat_is_the_other_and_the_rest_is_the_owner() -> None:
    entries = read(chat(said(1, OWNER, "Did the beans sprout?"), said(2, MARA, "Yes, on Sunday.")))["user801"]
    assert [(entry.author, entry.standing, entry.message_kind, entry.text) for entry in entries] == [
        (Author.USER, Standing.SAID, "", "Did the beans sprout?"),
        (Author.USER, Standing.SAID, "other_person", "Mara: Yes, on Sunday."),
    ]
    assert entries[0].at == "2026-03-02T10:01:00.000Z"
    assert entries[0].blocks == [{"type": "text", "text": "Did the beans sprout?"}]
    assert {entry.session_id for entry in entries} == {"telegram-user801"}


def test_the_name_of_the_chat_is_its_title() -> None:
    transcript: Transcript = next(transcripts(raw(chat(said(1, MARA, "a"), name="Mara from work"))))
    assert SOURCE.parse(next(iter(transcript.records)), transcript.facts).title == "Mara from work"


def test_a_bot_is_an_assistant_and_commands_to_it_are_aside() -> None:
    messages = [said(1, OWNER, "/start"), said(2, BOT, "Hello!"), said(3, OWNER, "/plant beans"), said(4, OWNER, "ok?")]
    entries = read(chat(*messages, kind="bot_chat", number=BOT, name="Garden Bot"))["user900"]
    assert [(entry.author, entry.standing, entry.message_kind) for entry in entries] == [
        (Author.USER, Standing.ASIDE, "command"),
        (Author.ASSISTANT, Standing.SAID, ""),
        (Author.USER, Standing.SAID, "command"),
        (Author.USER, Standing.SAID, ""),
    ]
    assert entries[1].text == "Hello!"


def test_everything_in_saved_messages_is_the_owners_and_forwarded_words_say_whose_they_are() -> None:
    saved = chat(
        said(1, OWNER, "Buy gravel"),
        said(2, MARA, "Sow in April", forwarded_from="Mara"),
        said(3, MARA, "x", forwarded_from=None),
        said(4, MARA, "", forwarded_from="Mara", photo="p.jpg"),
        kind="saved_messages",
        number=OWNER,
    )
    del saved["name"]
    entries = read(saved)["account700/user700"]
    assert {entry.author for entry in entries} == {Author.USER}
    assert [(entry.message_kind, entry.text) for entry in entries] == [
        ("", "Buy gravel"),
        ("forwarded", "(forwarded from Mara) Sow in April"),
        ("forwarded", "(forwarded) x"),
        ("forwarded", "(forwarded from Mara)"),
    ]


def test_an_account_says_who_its_owner_is_in_every_chat() -> None:
    group = chat(said(1, OWNER, "mine"), said(2, MARA, "hers"), kind="private_supergroup", number=55, name="Garden")
    left = chat(said(3, 802, "bye"), kind="private_group", number=56, name="Old")
    found = read(account(group, chat(said(9, MARA, "hi")), left=(left,)))
    assert list(found) == ["account700/channel55", "account700/user801", "account700/chat56"]
    assert [(entry.message_kind, entry.text) for entry in found["account700/channel55"]] == [
        ("", "mine"),
        ("other_person", "Mara: hers"),
    ]
    assert found["account700/chat56"][0].text == "Person 802: bye"


@pytest.mark.parametrize(
    "document",
    [
        chat(said(1, OWNER, "a"), said(2, MARA, "b"), kind="private_group", number=55),
        account(chat(said(1, OWNER, "a"), said(2, MARA, "b"), kind="private_group", number=55), owner=None),
        chat(said(1, OWNER, "a"), said(2, MARA, "b"), number=123456, name="Two"),
    ],
)
def test_where_nobody_can_tell_who_exported_everybody_is_named(document: Record) -> None:
    (entries,) = read(document).values()
    assert [(entry.author, entry.message_kind, entry.text) for entry in entries] == [
        (Author.USER, "person", "Ada: a"),
        (Author.USER, "person", "Mara: b"),
    ]


def test_channels_and_notices_of_telegram_are_machine_text() -> None:
    post = said(1, 1, "News", from_id="channel77", **{"from": "Daily"})
    entry = one(post, kind="public_channel", number=77, name="Daily")
    assert (entry.author, entry.standing, entry.message_kind, entry.text) == (
        Author.MACHINE,
        Standing.ASIDE,
        "channel_post",
        "Daily: News",
    )
    assert one(said(1, 777000, "Your code"), number=777000).message_kind == "notification"
    assert one(said(1, 5, "123"), kind="verification_codes").author is Author.MACHINE


def test_words_made_by_a_bot_in_somebodys_name_are_machine_text() -> None:
    entry = one(said(1, OWNER, "A picture of a bean", via_bot="@pic"))
    assert (entry.author, entry.standing, entry.message_kind) == (Author.MACHINE, Standing.ASIDE, "via_bot")


def test_an_author_without_a_name_is_a_deleted_account() -> None:
    assert one(said(1, MARA, "x", **{"from": None})).text == "Deleted account: x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain", "plain"),
        (
            ["a ", {"type": "bold", "text": "b"}, {"type": "text_link", "text": " c", "href": "https://x.example"}],
            "a b c",
        ),
        ([{"type": "pre", "text": "print(1)", "language": "python"}], "print(1)"),
        ([{"type": "custom_emoji", "text": "🌱", "document_id": "5"}, 7, None, {"text": 1}], "🌱"),
        ("nul\x00", "nul\ufffd"),
    ],
)
def test_formatted_text_becomes_plain_words(text: Any, words: str) -> None:
    assert one(said(1, OWNER, text)).text == words


def test_the_words_are_taken_from_the_entities_where_there_is_no_text() -> None:
    message = said(1, OWNER, "", text_entities=[{"type": "plain", "text": "only "}, {"type": "bold", "text": "here"}])
    del message["text"]
    assert one(message).text == "only here"


@pytest.mark.parametrize(
    ("fields", "text", "blocks"),
    [
        ({"photo": "photos/1.jpg", "photo_file_size": 9}, "", [("image", "image/jpeg", 9)]),
        ({"file": "f.pdf", "mime_type": "application/pdf", "file_size": 5}, "", [("document", "application/pdf", 5)]),
        ({"file": "v.ogg", "media_type": "voice_message"}, "", [("document", "voice_message", 0)]),
        (
            {"file": "s.webp", "media_type": "sticker", "sticker_emoji": "😀", "file_size": "big"},
            "😀",
            [("image", "sticker", 0)],
        ),
        ({"contact_information": {"first_name": "Bo", "last_name": ""}, "contact_vcard": "c"}, "Contact: Bo", None),
        ({"location_information": {"latitude": 1.5, "longitude": 2}}, "Location: 1.5, 2", []),
        ({"place_name": "Pond", "address": "Hill 3"}, "Location: Pond, Hill 3", []),
        ({"poll": {"question": "When?", "answers": [{"text": "Now"}, {}]}}, "Poll: When?\n- Now\n- ", []),
        ({"game_title": "Snake"}, "Game: Snake", []),
    ],
)
def test_media_are_blocks_and_what_can_be_said_in_words_is(fields: Record, text: str, blocks: Any) -> None:
    entry = one(said(1, OWNER, "", **fields))
    assert entry.text == text
    media = [(block["type"], block["media_type"], block["bytes"]) for block in entry.blocks if block["type"] != "text"]
    assert media == (blocks if blocks is not None else [("document", "text/vcard", 0)])
    assert entry.key


def test_service_messages_unknown_types_and_empty_ones_are_kept_but_are_no_messages() -> None:
    service = {"id": 1, "type": "service", "date_unixtime": "1772445600", "action": "phone_call", "text": ""}
    found = read(chat(service, {"id": 2, "type": "unsupported"}, {"id": 3}, said(4, MARA, "")))["user801"]
    assert [(entry.kind, entry.key) for entry in found] == [
        ("service", ""),
        ("unsupported", ""),
        ("(no type)", ""),
        ("message", ""),
    ]


def test_times_without_a_zone_are_read_as_utc_and_that_is_said_once_for_each_chat() -> None:
    told: list[str] = []
    messages = [said(number, MARA, "x", date_unixtime=None) for number in (1, 2)]
    found = read(account(chat(*messages), chat(*messages, number=802)), told.append)
    assert {entry.at for entries in found.values() for entry in entries} == {"2026-03-02T11:00:00.000Z"}
    assert len(told) == 2
    assert "UTC" in told[0]


def test_a_date_in_another_languages_format_is_named_once_and_the_message_is_kept() -> None:
    told: list[str] = []
    messages = [said(number, MARA, "x", date_unixtime=None, date="15.11.2026 10:00:00") for number in (1, 2)]
    entries = read(chat(*messages), told.append)["user801"]
    assert [(entry.at, bool(entry.key)) for entry in entries] == [(None, True), (None, True)]
    assert len(told) == 1
    assert "date='15.11.2026 10:00:00'" in told[0]
    assert "ChatExport_1/result.json" in told[0]


@pytest.mark.parametrize("date", ["2026-03-02T12:00:00+01:00", "1772449200", 1772449200])
def test_a_date_that_is_exact_is_not_complained_of(date: Any) -> None:
    told: list[str] = []
    (entry,) = read(chat(said(1, MARA, "x", date_unixtime="soon", date=date)), told.append)["user801"]
    assert (entry.at, told) == ("2026-03-02T11:00:00.000Z", [])


def test_the_same_message_has_one_key_in_every_export_of_its_chat() -> None:
    alone = read(chat(said(1, MARA, "x"), said(2, OWNER, "y")))["user801"]
    in_all = read(account(chat(said(1, MARA, "x, edited", edited="…"), said(2, OWNER, "y"))))["account700/user801"]
    assert [entry.key for entry in alone] == [entry.key for entry in in_all]
    assert all(entry.replaces for entry in alone)
    public = one(said(1, MARA, "x"), kind="public_supergroup", number=55)
    assert public.key == one(said(1, MARA, "x"), kind="private_supergroup", number=55).key
    assert len({alone[0].key, alone[1].key, public.key, one(said(1, MARA, "x"), number=802).key}) == 4


def test_numbers_of_old_exports_name_the_same_people_and_chats() -> None:
    new = read(chat(said(1, MARA, "x"), said(2, OWNER, "y")))["user801"]
    messages = [said(1, MARA, "x", from_id=MARA), said(2, OWNER, "y", from_id=OWNER)]
    old = read(account(chat(*messages, number=MARA + 2**32), owner=None))["user801"]
    assert [(entry.key, entry.text) for entry in old] == [(entry.key, entry.text) for entry in new]
    group = chat(said(1, MARA, "x", from_id=MARA), kind="private_group", number=55 + 2**33)
    assert list(read(group)) == ["chat55"]


def places(document: Any) -> dict[tuple[int, str], bytes]:
    found: dict[tuple[int, str], bytes] = {}
    for transcript in transcripts(raw(document)):
        found.update({transcript.order(record): record for record in transcript.records})
    return found


def test_messages_of_a_group_before_it_became_a_supergroup_stand_before_the_others_and_the_header_first() -> None:
    group = chat(said(-999999995, MARA, "old"), said(1, MARA, "new"), kind="private_supergroup", number=55)
    texts = [record for _, record in sorted(places(group).items())]
    assert texts[0].startswith(b'{"chat"')
    assert b"old" in texts[1]
    assert b"new" in texts[2]


@given(st.lists(st.sets(st.integers(1, 30), min_size=1), min_size=1, max_size=6))
@settings(max_examples=40)
def test_exports_of_any_stretches_of_time_together_give_what_one_export_gives(stretches: list[set[int]]) -> None:
    messages = {number: said(number, MARA if number % 3 else OWNER, f"words {number}") for number in range(1, 31)}
    known: dict[tuple[int, str], bytes] = {}
    for stretch in stretches:
        known.update(places(account(chat(*(messages[number] for number in sorted(stretch))))))
    everything = set[int]().union(*stretches)
    assert known == places(account(chat(*(messages[number] for number in sorted(everything)))))


def sort_fields(document: Record) -> Any:
    return json.loads(json.dumps(document, sort_keys=True))


def test_fields_that_another_program_sorted_are_found_behind_the_messages() -> None:
    document = account(
        chat(said(1, OWNER, "a"), said(2, MARA, "b")), chat(said(3, BOT, "c"), kind="bot_chat", number=BOT)
    )
    expected = read(document)
    assert [entry.text for entry in expected["account700/user801"]] == ["a", "Mara: b"]
    assert read(sort_fields(document)) == expected
    assert read(sort_fields(chat(said(1, MARA, "a")))) == read(chat(said(1, MARA, "a")))


def test_a_chat_without_any_id_is_known_by_its_file() -> None:
    document = {"messages": [said(1, MARA, "a")]}
    ((key, entries),) = read(document).items()
    assert key.startswith("file-")
    assert entries[0].text == "Mara: a"


def test_control_characters_as_telegram_writes_them_cost_no_message() -> None:
    content = raw(chat(said(1, MARA, "bell CONTROL and C:\\x41"), said(2, MARA, "next")))
    entries = read(content.replace(b"CONTROL", b"\\x07"))["user801"]
    assert [entry.text for entry in entries] == ["Mara: bell \x07 and C:\\x41", "Mara: next"]


@given(st.lists(st.sampled_from([b"\\x1F", b"\\\\", b"\\\\x", b"a", b'\\"']), max_size=12), st.integers(1, 5))
def test_control_characters_are_mended_wherever_a_block_ends(pieces: list[bytes], size: int) -> None:
    reader = _Mended(io.BytesIO(b"".join(pieces)))
    mended = b"".join(iter(lambda: reader.read(size), b""))
    assert mended == b"".join(b"\\u001F" if piece == b"\\x1F" else piece for piece in pieces)


@pytest.mark.parametrize("kind", ["personal_chat", "private_group"])
def test_of_an_export_that_ends_in_the_middle_all_whole_messages_come_and_the_error_says_what_to_do(kind: str) -> None:
    content = raw(chat(*(said(number, MARA, f"words {number}") for number in range(1, 6)), kind=kind))
    records = iter(next(transcripts(content[: content.index(b"words 4")])).records)
    assert [next(records)[:9] for _ in range(4)] == [b'{"chat":{', b'{"id":1,"', b'{"id":2,"', b'{"id":3,"']
    with pytest.raises(Unreadable, match=r"ChatExport_1/result\.json.*export the chat again"):
        next(records)


def test_a_damaged_message_costs_no_other_and_is_reported() -> None:
    told: list[str] = []
    content = raw(account(chat(*(said(number, MARA, f"words {number}") for number in range(1, 5)))))
    entries = read(content.replace(b'"words 2"', b'"words 2'), told.append)["account700/user801"]
    assert [entry.text for entry in entries] == ["Mara: words 1", "Mara: words 3", "Mara: words 4"]
    assert len(told) == 1


def test_damage_at_the_end_of_a_chat_does_not_put_the_next_chat_into_it() -> None:
    chats = [
        chat(said(1, MARA, "first"), said(2, MARA, "LAST")),
        chat(said(1, 802, "b"), said(2, 802, "c"), number=802),
    ]
    found: Read = {}
    with suppress(Unreadable):
        for transcript in transcripts(raw(account(*chats)).replace(b'"LAST"', b"LAST")):
            for record in transcript.records:
                found.setdefault(transcript.facts.key, []).append(SOURCE.parse(record, transcript.facts))
    texts = {key: [entry.text for entry in entries if entry.key] for key, entries in found.items()}
    assert texts == {"account700/user801": ["Mara: first"], "account700/user802": ["Person 802: b", "Person 802: c"]}


def test_what_is_no_object_among_the_messages_is_reported_and_the_rest_is_read() -> None:
    told: list[str] = []
    assert [
        entry.text for entry in read(chat(said(1, MARA, "a"), 5, None, said(2, MARA, "b")), told.append)["user801"]
    ] == [
        "Mara: a",
        "Mara: b",
    ]
    assert len(told) == 1


class Counting(io.BytesIO):
    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(size)
        self.taken += len(block)
        return block


def test_a_large_chat_is_read_as_it_is_asked_for_and_what_nobody_asked_for_is_passed_over() -> None:
    filler = "bean " * 2000
    chats = [chat(*(said(number, MARA, filler) for number in range(600))), chat(said(1, 802, "end"), number=802)]
    file = Counting(raw(account(*chats)))
    opened = Opened(path="result.json", file=file, report=lambda _: None)
    found = SOURCE.transcripts(opened, FileFacts(key="result.json", kind="session"))
    assert found is not None
    first = iter(next(found).records)
    assert b'"id":0' in [next(first), next(first)][1]
    assert file.taken < 3 << 20 < len(file.getvalue())
    assert next(found).facts.key == "account700/user802"


def test_it_is_recognised_by_its_content_and_claims_no_other_export() -> None:
    def known(document: Any) -> bool:
        return SOURCE.recognises(Head(path="/x/result.json", start=raw(document)))

    assert known(chat(said(1, MARA, "a")))
    assert known(chat(kind="private_channel"))
    assert known(account(chat(said(1, MARA, "a"))))
    assert known(sort_fields(account(chat(said(1, MARA, "a")), owner=None)))
    assert known({"about": "…", "personal_information": {}})
    assert not known({"sessionId": "a", "messages": [{"id": "1", "type": "user", "content": "x"}]})
    assert not known({"info": {"id": "ses_1"}, "messages": [{"info": {}, "parts": []}]})
    assert not known([chat(said(1, MARA, "a"))])
    assert not known({"about": "me"})


def test_it_is_found_by_its_name_and_html_is_left_out_with_advice() -> None:
    assert SOURCE.is_candidate("/home/ada/ChatExport_1/result.json")
    assert not SOURCE.is_candidate("/home/ada/my-result.json")
    assert SOURCE.places(Computer(home="/home/ada", system="linux")) == ["/home/ada/Downloads/Telegram Desktop"]
    assert "JSON" in SOURCE.leaves_out("/home/ada/ChatExport_2026-03-02/messages2.html")
    assert not SOURCE.leaves_out("/home/ada/site/messages.html")
    assert SOURCE.locate("/home/ada/x/result.json", "/home/ada").key == "x/result.json"


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "list", "id"]), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [*said(1, 1, ""), "photo", "poll", "file_size", "file", "forwarded_from", "via_bot", "place_name"]
)


@given(st.dictionaries(FIELDS, ANY), ANY)
@settings(max_examples=200)
def test_any_message_is_read_and_any_record_is_read_or_bad(message: Record, by: Any) -> None:
    try:
        content = json.dumps(chat({"type": "message", **message})).encode()
    except ValueError:
        return
    for entries in read(content).values():
        assert all("\x00" not in entry.text for entry in entries)
    for record in (by, {"message": message, "by": by}, {"chat": by}, {"message": by}):
        try:
            SOURCE.parse(json.dumps(record).encode(), FileFacts(key="k", kind="session"))
        except BadRecord:
            continue


def test_any_broken_file_gives_what_is_readable_or_says_why_not() -> None:
    content = raw(account(chat(said(1, MARA, "a"), said(2, OWNER, ["b"])), chat(said(3, BOT, "c"), kind="bot_chat")))
    chance = random.Random(7)
    for _ in range(300):
        broken = bytearray(content)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(broken))
            broken[place : place + chance.randrange(40)] = chance.choice(
                [b"", b"{", b"]", b'"', b"\xff\\x", b'"messages":']
            )
        with suppress(Unreadable):
            read(bytes(broken))


@pytest.mark.skipif(
    not SAMPLE.exists(), reason="the real transcripts (shared/transcripts) do not lie beside this clone"
)
def test_the_sample_comes_in_with_its_messages_in_order() -> None:
    content = SAMPLE.read_bytes()
    assert SOURCE.recognises(Head(path=str(SAMPLE), start=content))
    (entries,) = read(content).values()
    expected = [f"{message['from']}: {message['text']}" for message in json.loads(content)["messages"]]
    assert [entry.text for entry in entries] == expected
    assert len({entry.key for entry in entries}) == len(expected)
