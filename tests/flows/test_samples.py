"""Real files of the other agents against what stands in them, counted by reading the raw files.

The files are other people's conversations and are not part of the repository; they lie beside the clone. So their words
are not repeated here: a test names the place in the raw file where the words of a message stand.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import FrozenClock
from snapshots import conversations_of, messages_of, snapshot_of

import recollect
from recollect.history.messages import Message, Standing

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
OTHERS = "claude-code"
"""Has its own numbers: tests/flows/test_manifest.py."""

pytestmark = pytest.mark.skipif(
    not SAMPLES.exists(), reason="the real transcripts (shared/transcripts) do not lie beside this clone"
)

Open = Callable[[str], recollect.Memory]
Place = tuple[str | int, ...]
"""Keys and numbers that lead to the words; in a file of lines the first number is that of the line, from 1."""
Said = list[tuple[str, Place]]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What somebody who reads the raw file finds in it."""

    source: str
    authors: dict[str, int]
    """Messages by author, those that do not count as said among them."""
    said: int
    first: Said
    """The first things said, in order; with `last`, all of them when there are no more."""
    last: Said
    sessions: set[str]
    began: str = ""
    ended: str = ""
    calls: int | None = None
    """Calls of tools, where somebody counted them."""
    abandoned: int = 0
    conversations: int = 1


def item(line: int) -> Place:
    return (line, "payload", "content", 0, "text")


def event(line: int) -> Place:
    return (line, "payload", "message")


def entry(line: int, block: int = 0) -> Place:
    return (line, "message", "content", block, "text")


NO_WORDS: Place = ()

FACTS: dict[str, Facts] = {
    # 2 events user_message; 8 items of the assistant, 23 calls, which with the words before them and up to the next
    # output are 11 answers; 21 outputs; 1 developer item, 1 user item of context.
    "codex/agentv-rollout-1.jsonl": Facts(
        source="codex",
        authors={"user": 2, "assistant": 11, "tool": 21, "machine": 2},
        calls=23,
        said=13,
        first=[("user", event(7)), ("assistant", item(10)), ("assistant", item(22)), ("assistant", NO_WORDS)],
        last=[("user", event(77)), ("assistant", item(80)), ("assistant", item(90))],
        sessions={"019ed836-b1da-78f1-8a0c-e598363d10f4"},
        began="2026-06-18T00:57:07.658Z",
        ended="2026-06-18T01:07:28.987Z",
    ),
    # 10 events user_message; 33 items, 65 + 1 + 4 calls (searches have no call_id): 40 answers; 66 outputs; 1
    # developer item and 3 user items of context (AGENTS.md, a skill, the date). A night lies between lines 123 and 127.
    "codex/agentv-rollout-2.jsonl": Facts(
        source="codex",
        authors={"user": 10, "assistant": 40, "tool": 66, "machine": 4},
        calls=70,
        said=50,
        first=[("user", event(7)), ("assistant", item(10)), ("assistant", item(16))],
        last=[("assistant", item(315)), ("user", event(321)), ("assistant", item(323))],
        sessions={"019efedf-a8dc-7b20-ba1d-f1c6ff7ea96e"},
        began="2026-06-25T13:04:00.738Z",
        ended="2026-06-26T01:36:10.535Z",
        conversations=2,
    ),
    # One of every record there is; most values were replaced by one word, so those records share their ids. Distinct: 2
    # events user_message, 1 reply, 6 calls in 5 answers (two at once, one, a search, the replaced ids, a picture), 4
    # outputs, 1 summary, 1 developer item, 1 word between agents.
    "codex/agent-sessions-small.jsonl": Facts(
        source="codex",
        authors={"user": 2, "assistant": 6, "tool": 4, "machine": 2, "subagent": 1},
        calls=6,
        said=8,
        first=[("user", event(4)), ("assistant", NO_WORDS), ("assistant", NO_WORDS)],
        last=[("assistant", NO_WORDS), ("assistant", NO_WORDS), ("user", event(71))],
        sessions={"019fc8be-3658-7ca3-9e29-000000000000", "[trimmed for fixture]"},
        began="2026-08-03T10:48:56.000Z",
        ended="2026-08-03T10:48:56.000Z",
    ),
    # 9 nodes, the root without a message. `current_node` is answer-active; answer-inactive is its only other branch.
    "chatgpt-export/native-conversation-v1.json": Facts(
        source="chatgpt",
        authors={"user": 1, "assistant": 5, "tool": 1, "machine": 1},
        said=5,
        first=[("user", ("mapping", "user", "message", "content", "parts", 0)), ("assistant", NO_WORDS)],
        last=[
            ("assistant", NO_WORDS),
            ("assistant", ("mapping", "answer-active", "message", "content", "parts", 0)),
        ],
        sessions={"chatgpt-fixture-conversation"},
        began="2026-07-16T01:15:40.000Z",
        ended="2026-07-16T02:42:13.000Z",
        abandoned=1,
        conversations=2,
    ),
    # A root of the user with two children; `current_node` is the second, of the user too. It is older than the root.
    "chatgpt-export/polylogue-sample-00.json": Facts(
        source="chatgpt",
        authors={"user": 2, "assistant": 1},
        said=2,
        first=[("user", ("mapping", "885f6e66-c2b6-42c5-ba5d-310011b7e948", "message", "content", "parts", 0))],
        last=[("user", ("mapping", "6e068097-25e9-4977-8d72-48e2951f58d0", "message", "content", "parts", 0))],
        sessions={"synthetic-66237 synthetic-66237 synt"},
        began="2024-08-27T09:45:46.650Z",
        abandoned=1,
    ),
    # 4 messages, each the answer to the one before. The replies have their thoughts in the text (`<antThinking>`).
    "claude-ai-export/chat-viewer-claude-bakery-chat.json": Facts(
        source="claude-ai",
        authors={"user": 2, "assistant": 2},
        said=4,
        first=[("user", ("chat_messages", 0, "content", 0, "text"))],
        last=[("user", ("chat_messages", 2, "content", 0, "text")), ("assistant", NO_WORDS)],
        sessions={"8006a434-8b0b-43df-8e6d-c0a7aeb2e6b3"},
        began="2024-10-29T15:59:38.340Z",
        ended="2024-10-29T16:02:16.623Z",
    ),
    # 10 messages with wrong types, 3 of sender human. No message says what it answers, so no branch was left.
    "claude-ai-export/chat-viewer-conversation-with-errors.json": Facts(
        source="claude-ai",
        authors={"user": 3, "assistant": 7},
        said=10,
        first=[
            ("user", ("chat_messages", 0, "text")),
            ("assistant", ("chat_messages", 1, "content", 0, "text")),
            ("user", ("chat_messages", 2, "text")),
            ("assistant", ("chat_messages", 3, "text")),
        ],
        last=[
            ("user", ("chat_messages", 5, "content")),
            ("assistant", ("chat_messages", 6, "text")),
            ("assistant", ("chat_messages", 7, "text")),
            ("assistant", NO_WORDS),
            ("assistant", ("chat_messages", 9, "text")),
        ],
        sessions={"test-conv-with-errors"},
        began="2024-01-15T10:00:00.000Z",
        ended="2024-01-15T10:09:00.000Z",
    ),
    # Two conversations on two days, of 2 and 4 messages.
    "claude-ai-export/chat-viewer-conversations.json": Facts(
        source="claude-ai",
        authors={"user": 3, "assistant": 3},
        said=6,
        first=[("user", (0, "chat_messages", 0, "text")), ("assistant", (0, "chat_messages", 1, "text"))],
        last=[("user", (1, "chat_messages", 2, "text")), ("assistant", (1, "chat_messages", 3, "text"))],
        sessions={"test-conv-1", "test-conv-2"},
        began="2024-12-01T10:00:00.000Z",
        conversations=2,
    ),
    # 15 events, of them one user.message and one assistant.message.
    "copilot-cli/events-1.jsonl": Facts(
        source="copilot-cli",
        authors={"user": 1, "assistant": 1},
        said=2,
        first=[("user", (5, "data", "content"))],
        last=[("assistant", (9, "data", "content"))],
        sessions={"1afc31c8-d97f-4331-bae9-b6417f1b79a9"},
        began="2026-06-23T05:17:32.815Z",
        ended="2026-06-23T05:17:35.623Z",
    ),
    # Lines of Cursor have no time.
    "cursor/agent-transcripts-small.jsonl": Facts(
        source="cursor",
        authors={"user": 2, "assistant": 2},
        said=4,
        first=[("user", entry(1)), ("assistant", entry(2))],
        last=[("user", entry(3)), ("assistant", entry(4))],
        sessions={"agent-transcripts-small"},
    ),
    "cursor/agent-transcripts-subagent_parent.jsonl": Facts(
        source="cursor",
        authors={"user": 1, "assistant": 1},
        said=2,
        first=[("user", entry(1))],
        last=[("assistant", entry(2))],
        sessions={"agent-transcripts-subagent_parent"},
    ),
    # Saved outside of the folder `subagents`, which alone says that it is a sub-agent's.
    "cursor/agent-transcripts-subagent_subagents_child.jsonl": Facts(
        source="cursor",
        authors={"user": 1, "assistant": 1},
        said=2,
        first=[("user", entry(1))],
        last=[("assistant", entry(2))],
        sessions={"agent-transcripts-subagent_subagents_child"},
    ),
    "gemini-cli/agent-sessions-jsonl_v040.jsonl": Facts(
        source="gemini-cli",
        authors={"user": 1, "assistant": 2},
        said=3,
        first=[("user", (2, "content", 0, "text")), ("assistant", NO_WORDS)],
        last=[("assistant", (5, "content"))],
        sessions={"gemini_stage0_jsonl"},
        began="2026-04-29T21:39:33.155Z",
        ended="2026-04-29T21:39:45.996Z",
    ),
    # 3 user, 4 gemini, 2 error, 1 info.
    "gemini-cli/session-2.json": Facts(
        source="gemini-cli",
        authors={"user": 3, "assistant": 4, "machine": 3},
        said=7,
        first=[("user", ("messages", 0, "content")), ("assistant", NO_WORDS), ("user", ("messages", 3, "content"))],
        last=[
            ("user", ("messages", 6, "content")),
            ("assistant", ("messages", 7, "content")),
            ("assistant", ("messages", 8, "content")),
        ],
        sessions={"e557a820-4a70-4de2-9d87-7ff517e7b249"},
        began="2026-01-22T20:54:15.130Z",
        ended="2026-01-22T20:59:18.555Z",
    ),
    # 1 user, 7 gemini, 1 info.
    "gemini-cli/session-3.json": Facts(
        source="gemini-cli",
        authors={"user": 1, "assistant": 7, "machine": 1},
        said=8,
        first=[("user", ("messages", 0, "content")), ("assistant", NO_WORDS)],
        last=[("assistant", ("messages", 6, "content")), ("assistant", ("messages", 7, "content"))],
        sessions={"15f05963-2b87-4039-b700-deb3505d7543"},
        began="2026-01-10T20:25:07.197Z",
        ended="2026-01-10T20:25:34.062Z",
    ),
    # Three messages; the tool's answer is called the child of a call, which is no entry.
    "openclaw-pi/openclaw-small.jsonl": Facts(
        source="pi",
        authors={"user": 1, "assistant": 1, "tool": 1},
        said=2,
        first=[("user", entry(3))],
        last=[("assistant", entry(4))],
        sessions={"openclaw-stage0-small"},
        began="2026-02-24T09:00:02.000Z",
        ended="2026-02-24T09:00:03.000Z",
    ),
    # 55 prompts and 3 commands typed with `!`; 484 answers, of which 15 say nothing but that they were aborted (14) or
    # failed (1); 448 results; 2 compactions.
    "openclaw-pi/pi-before-compaction_v1.jsonl": Facts(
        source="pi",
        authors={"user": 58, "assistant": 469, "tool": 448, "machine": 17},
        said=527,
        first=[("user", entry(2)), ("assistant", NO_WORDS), ("assistant", entry(6))],
        last=[("user", entry(1000)), ("assistant", entry(1001, 1)), ("user", NO_WORDS)],
        sessions={"ffae836b-9420-4060-ac13-7745215f90ff"},
        began="2025-12-08T22:41:05.306Z",
        ended="2025-12-09T00:42:59.633Z",
    ),
    # 2 prompts, 2 answers, 2 compactions; the answers have one id of the provider and say the same words.
    "openclaw-pi/pi-v3-small.jsonl": Facts(
        source="pi",
        authors={"user": 2, "assistant": 2, "machine": 2},
        said=4,
        first=[("user", entry(4)), ("assistant", entry(5))],
        last=[("user", entry(7)), ("assistant", entry(8))],
        sessions={"019e19b4-eb48-746a-aa6b-8dfcfa37954b"},
        began="2026-05-12T01:02:27.673Z",
        ended="2026-05-12T01:02:45.836Z",
    ),
    # 7 messages, 5 on a day in January, one in February, one in March. Two people, of whom neither is the chat's id.
    "telegram/chatpack-telegram_export.json": Facts(
        source="telegram",
        authors={"user": 7},
        said=7,
        first=[("user", ("messages", 0, "text")), ("user", ("messages", 1, "text"))],
        last=[("user", ("messages", 5, "text")), ("user", ("messages", 6, "text"))],
        sessions={"telegram-user123456789"},
        began="2024-01-15T10:30:00.000Z",
        ended="2024-03-10T09:15:00.000Z",
        conversations=3,
    ),
}
NAMED_IN_WORDS = {"telegram"}
"""Puts the name of who said it before the words."""


@pytest.fixture
def open_home(tmp_path: Path, clock: FrozenClock, request: pytest.FixtureRequest) -> Open:
    def make(name: str) -> recollect.Memory:
        memory = recollect.open(home=tmp_path / name, clock=clock)
        request.addfinalizer(memory.close)
        return memory

    return make


def words_at(raw: bytes, place: Place, *, is_lines: bool) -> str:
    if not place:
        return ""
    value: Any = json.loads(raw.split(b"\n")[int(place[0]) - 1]) if is_lines else json.loads(raw)
    for step in place[1:] if is_lines else place:
        value = value[step]
    return str(value)


def said_by(memory: recollect.Memory) -> list[Message]:
    found: list[Message] = []
    for listed in reversed(memory.history.conversations(limit=1_000)):
        found += memory.history.messages(listed.conversation)
    return found


def copy_of(name: str, folder: Path, size: int | None = None) -> Path:
    """The first bytes of a sample, in a folder of the same name."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((SAMPLES / name).read_bytes()[:size])
    return path


def test_every_sample_has_its_facts() -> None:
    files = [path for path in SAMPLES.rglob("*.json*") if OTHERS not in path.parts]
    assert {path.relative_to(SAMPLES).as_posix() for path in files} == FACTS.keys()


@pytest.mark.parametrize("name", FACTS)
def test_a_sample_gives_the_messages_that_stand_in_it(name: str, open_home: Open) -> None:
    facts, memory = FACTS[name], open_home("home")
    raw = (SAMPLES / name).read_bytes()

    report = memory.history.ingest([SAMPLES / name])

    assert (report.files, report.ingested, report.failed) == (1, 1, 0)
    messages = list(memory.history.export())
    assert {message.source for message in messages} == {facts.source}
    assert Counter(message.author.value for message in messages) == facts.authors
    if facts.calls is not None:
        assert sum(len(message.tools) for message in messages) == facts.calls
    assert sum(message.standing is Standing.SAID for message in messages) == facts.said
    assert sum(message.standing is Standing.ABANDONED for message in messages) == facts.abandoned
    assert {message.session_id for message in messages} == facts.sessions
    said = said_by(memory)
    assert len(said) == facts.said
    assert len(memory.history.conversations()) == facts.conversations
    assert said[0].at == facts.began
    if facts.ended:
        assert max(message.at for message in said) == facts.ended
    shown = [*zip(said, facts.first, strict=False), *zip(said[-len(facts.last) :], facts.last, strict=True)]
    for message, (author, place) in shown:
        words = words_at(raw, place, is_lines=name.endswith(".jsonl")).strip()
        assert message.author == author
        if place:
            assert message.text.startswith(words) or (facts.source in NAMED_IN_WORDS and message.text.endswith(words))
            assert words


@pytest.mark.parametrize("name", FACTS)
def test_a_second_import_of_a_sample_changes_nothing(name: str, tmp_path: Path, open_home: Open) -> None:
    memory = open_home("home")
    memory.history.ingest([SAMPLES / name])
    before = snapshot_of(memory)

    again = memory.history.ingest([SAMPLES / name])
    assert (again.messages_added, again.skipped, again.failed) == (0, 1, 0)
    elsewhere = memory.history.ingest([copy_of(name, tmp_path / "backup")])

    assert elsewhere.messages_added == 0
    assert messages_of(memory) == before["messages"]
    assert conversations_of(memory) == before["conversations"]


@pytest.mark.parametrize("name", FACTS)
def test_a_sample_that_grew_is_the_sample_at_once(name: str, tmp_path: Path, open_home: Open) -> None:
    grown, at_once = open_home("grown"), open_home("at-once")
    size = (SAMPLES / name).stat().st_size
    cuts = [size // 5, size // 2 + 7, size * 9 // 10] if name.endswith(".jsonl") else [size * 2 // 3]
    for cut in cuts:
        grown.history.ingest([copy_of(name, tmp_path / "live", cut)])
    path = copy_of(name, tmp_path / "live")

    assert grown.history.ingest([path]).failed == 0
    at_once.history.ingest([path])

    assert messages_of(grown) == messages_of(at_once)
    assert conversations_of(grown) == conversations_of(at_once)


def test_samples_one_by_one_give_what_their_folders_give(open_home: Open) -> None:
    folders, one_by_one, backwards = open_home("folders"), open_home("one-by-one"), open_home("backwards")
    roots = sorted({SAMPLES / Path(name).parent for name in FACTS})

    report = folders.history.ingest(roots)
    for name in FACTS:
        one_by_one.history.ingest([SAMPLES / name])
    for name in reversed(FACTS):
        backwards.history.ingest([SAMPLES / name])

    assert (report.files, report.ingested, report.failed) == (len(FACTS), len(FACTS), 0)
    assert messages_of(one_by_one) == messages_of(folders)
    assert messages_of(backwards) == messages_of(folders)
    assert conversations_of(one_by_one) == conversations_of(folders)
    assert conversations_of(backwards) == conversations_of(folders)
    assert folders.history.ingest(roots).messages_added == 0
