"""What the exports of ChatGPT and Claude.ai share: how their files are found, read, and damaged (H1, H2)."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.history.messages import Entry
from recollect.history.sources.chatgpt import ChatGpt
from recollect.history.sources.claude_ai import ClaudeAi
from recollect.history.sources.documents import BrokenDocument
from recollect.history.sources.source import Computer, Growth, Head, Opened, Source, Transcript

FILE = "export/conversations.json"
GPT, CLAUDE = ChatGpt(), ClaudeAi()
BOTH = pytest.mark.parametrize("source", [GPT, CLAUDE], ids=lambda source: source.name)


def talk(source: Source, identity: str, *texts: str, at: Any = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    """A conversation in which a person says these words."""
    if source is CLAUDE:
        messages = [
            {"uuid": f"{identity}-{place}", "sender": "human", "text": text, "created_at": at}
            for place, text in enumerate(texts)
        ]
        return {"uuid": identity, "name": f"On {identity}", "updated_at": at, "chat_messages": messages}
    mapping: dict[str, Any] = {}
    for place, text in enumerate(texts):
        said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}, "create_time": at}
        mapping[str(place)] = {"parent": str(place - 1), "children": [str(place + 1)], "message": said}
    current = str(len(texts) - 1)
    return {"id": identity, "title": f"On {identity}", "update_time": at, "mapping": mapping, "current_node": current}


def read(source: Source, document: Any, reports: list[str] | None = None) -> Iterator[Transcript]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    told: list[str] = [] if reports is None else reports
    found = source.transcripts(Opened(FILE, io.BytesIO(data), told.append), source.locate(FILE, "export"))
    assert found is not None
    return found


def entries(source: Source, document: Any, reports: list[str] | None = None) -> list[Entry]:
    return [source.parse(raw, told.facts) for told in read(source, document, reports) for raw in told.records]


def words(source: Source, document: Any, reports: list[str] | None = None) -> list[str]:
    return [entry.text for entry in entries(source, document, reports) if entry.key]


def words_before_the_end(source: Source, data: bytes) -> tuple[list[str], str]:
    """What was read, and what was raised then."""
    found: list[str] = []
    try:
        for told in read(source, data):
            found += [entry.text for raw in told.records if (entry := source.parse(raw, told.facts)).key]
    except BrokenDocument as error:
        return found, str(error)
    return found, ""


@BOTH
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("x/conversations.json", True),
        ("conversations-000.json", True),
        ("x\\conversations-12.json", True),
        ("x/shared_conversations.json", False),
        ("x/conversations.json.index", False),
        ("x/conversations-old.json", False),
        ("x/._conversations.json", False),
        ("x/message_feedback.json", False),
        ("x/group_chats.json", False),
        ("x/projects.json", False),
        ("x/memories.json", False),
        ("x/design_chats/a.json", False),
        ("x/manifest-1.json", False),
        ("x/chat.html", False),
    ],
)
def test_only_the_names_that_exports_give_to_conversations_are_candidates(
    source: Source, path: str, expected: bool
) -> None:
    assert source.is_candidate(path) is expected


@BOTH
def test_a_person_saves_exports_anywhere_so_no_place_is_looked_at(source: Source) -> None:
    assert source.places(Computer(home="/home/ada", system="linux")) == []
    assert source.locate("/home/ada/x/conversations.json", "/home/ada").key == "x/conversations.json"
    assert (source.growth, source.holds_many) == (Growth.EXPORTED, True)


@BOTH
@pytest.mark.parametrize("indent", [None, 2])
def test_each_export_is_claimed_by_its_own_source(source: Source, indent: int | None) -> None:
    single = talk(source, "a", "Hello")
    for document in ([single], single, {"conversations": [single]}, [{"title": "damaged"}, single], [None, single]):
        head = Head(FILE, json.dumps(document, indent=indent).encode())
        assert [known.name for known in (GPT, CLAUDE) if known.recognises(head)] == [source.name]


@BOTH
def test_the_content_decides_under_any_name(source: Source) -> None:
    single = talk(source, "a", "Hello")
    for document in ([single], single, {"account": {"id": 1}, "conversations": [single]}):
        assert source.recognises(Head("saved/my chat.json", json.dumps(document).encode()))


@BOTH
def test_a_conversation_alone_and_one_in_a_field_are_read_like_one_in_a_list(source: Source) -> None:
    single = talk(source, "a", "Hello", "Again")
    expected = entries(source, [single])
    assert len(expected) == 3
    assert entries(source, single) == entries(source, {"account": 1, "conversations": [single]}) == expected


@BOTH
def test_damaged_conversations_are_reported_and_the_rest_is_read(source: Source) -> None:
    reports: list[str] = []
    broken = {"title": "Broken", "name": "Broken", "mapping": [1], "chat_messages": "none"}
    assert words(source, [None, broken, talk(source, "a", "Hello")], reports) == ["Hello"]
    assert len(reports) == 2
    assert "conversation 1 is left out: it is not an object" in reports[0]
    assert "conversation 2 (Broken) is left out: it has no readable" in reports[1]


@BOTH
def test_damage_inside_a_conversation_costs_only_that_one(source: Source) -> None:
    first, second, third = (json.dumps(talk(source, name, f"Hello {name}")) for name in "abc")
    reports: list[str] = []
    data = ",".join([f"[{first}", second.replace("Hello", 'Hello" oops'), f"{third}]"]).encode()
    assert words(source, data, reports) == ["Hello a", "Hello c"]
    assert len(reports) == 1
    assert "a conversation is left out" in reports[0]


@BOTH
def test_an_export_that_ends_in_the_middle_gives_what_is_whole_and_says_what_to_do(source: Source) -> None:
    data = json.dumps([talk(source, "a", "Hello"), talk(source, "b", "Lost")]).encode()[:-40]
    found, error = words_before_the_end(source, data)
    assert found == ["Hello"]
    assert "conversations.json: it ends in the middle" in error
    assert "download the export again" in error


@BOTH
def test_a_single_conversation_that_is_cut_after_its_messages_is_still_read(source: Source) -> None:
    data = json.dumps({**talk(source, "a", "Hello"), "last": "field"}).encode()[:-5]
    assert words_before_the_end(source, data) == (["Hello"], words_before_the_end(source, data)[1])
    assert words_before_the_end(source, data)[1]


@BOTH
@pytest.mark.parametrize("spelling", ["15.11.2026 10:00", "Nov 15, 2026", "2026年11月15日", ["list"], {"dict": 1}])
def test_dates_in_an_unknown_spelling_are_reported_once_and_the_messages_kept(source: Source, spelling: Any) -> None:
    reports: list[str] = []
    document = [talk(source, "a", "one", "two", at=spelling), talk(source, "b", "three", at=spelling)]
    found = [entry for entry in entries(source, document, reports) if entry.key]
    assert [(entry.text, entry.at) for entry in found] == [("one", None), ("two", None), ("three", None)]
    assert len(reports) == 2, "one report for the times of messages, one for those of conversations"
    assert (spelling if isinstance(spelling, str) else type(spelling).__name__) in reports[0]
    assert "'On a'" in reports[0]
    assert "kept in their order" in reports[0]


@BOTH
def test_a_field_without_a_time_is_no_damage(source: Source) -> None:
    reports: list[str] = []
    (told,) = read(source, [talk(source, "a", "one", at=None)], reports)
    assert (told.version, reports) == ("", [])


@BOTH
def test_without_a_time_of_change_the_newest_message_says_the_age(source: Source) -> None:
    undated = {**talk(source, "a", "one"), "update_time": None, "updated_at": None}
    (told,) = read(source, [undated])
    assert told.version == "2026-01-01T00:00:00.000Z"


@BOTH
def test_a_conversation_in_which_nothing_was_said_is_no_transcript(source: Source) -> None:
    reports: list[str] = []
    found = list(read(source, [talk(source, "a"), talk(source, "b", "Hello")], reports))
    assert ([told.facts.key for told in found], reports) == (["b"], [])


@BOTH
def test_only_one_conversation_is_in_memory_at_a_time(source: Source) -> None:
    class Watched(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            block = super().read(size)
            self.taken += len(block)
            return block

    document = [talk(source, str(number), "x" * 100_000) for number in range(60)]
    file = Watched(json.dumps(document).encode())
    found = source.transcripts(Opened(FILE, file, print), source.locate(FILE, "export"))
    assert found is not None
    next(iter(found))
    assert file.taken < 3_000_000


@BOTH
def test_lone_surrogates_and_nul_come_through_clean(source: Source) -> None:
    (text,) = words(source, [talk(source, "a", "cut \ud83d off \x00")])
    text.encode()
    assert text.startswith("cut ")
    assert "\x00" not in text
