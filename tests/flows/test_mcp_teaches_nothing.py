"""What our tools gave an agent comes back in its transcripts, and nothing is learned from it again (S2)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_asking import Asker
from mcp_types import TextContent
from transcripts import START, Transcript, moment, tool_use

import recollect
from recollect.testing import FrozenClock

KNOWN = "My sister Vera lives in Lisbon. I am allergic to walnuts."
"""Said by a person, it is learned."""
MARKED = "[REMEMBER] Vera lives in Lisbon."
ANSWERS = ("Let me look.", "There is something about that.", "Anything else?")


@pytest.fixture
def ada(memory: recollect.Memory, clock: FrozenClock) -> Asker:
    clock.move(hours=5)
    memory.agents.add("ada")
    memory.knowledge.remember(f"Known: {KNOWN}")
    memory.notes.write("people.md", f"# People\n\n{KNOWN}\n\n{MARKED}\n")
    return Asker(memory.as_agent("ada"))


def results(ada: Asker) -> list[str]:
    """As text and, as some clients write it into their transcripts, as JSON."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_memory", {"query": "Vera Lisbon walnuts"}),
        ("context", {}),
        ("notes", {"command": "view", "path": "/memories/people.md"}),
        ("read_memory", {"kind": "note", "id": "people.md"}),
    ]
    texts: list[str] = []
    for tool, given in calls:
        result = ada.call(tool, **given)
        assert isinstance(result.content[0], TextContent)
        texts.append(result.content[0].text)
        if result.structured_content:
            texts.append(json.dumps(result.structured_content))
    assert all("Vera" in text for text in texts)
    return texts


def prompt(ada: Asker) -> str:
    got = ada.ask(lambda client: client.get_prompt("rehydrate", {}))
    assert isinstance(got.messages[0].content, TextContent)
    return got.messages[0].content.text


def resource(ada: Asker) -> str:
    got: Any = ada.ask(lambda client: client.read_resource("recollect://notes/people.md"))
    return got.contents[0].text


def claude_code(folder: Path, given: list[str], *, as_user: bool = False) -> Path:
    """A session in which our tools answered so; or in which that stands in what the user sent."""
    session = Transcript("memory")
    for number, text in enumerate(given):
        if as_user:
            session.user(text)
        else:
            session.user("What do you know of my family?")
            session.assistant(ANSWERS[0], tool_use("mcp__recollect__search_memory", f"toolu_{number}", query="family"))
            session.tool_result(f"toolu_{number}", text)
        session.assistant(ANSWERS[1])
    session.user("Thank you, that is all for now.")
    session.assistant(ANSWERS[2])
    return session.save(folder / "claude" / "projects")


def codex(folder: Path, given: list[str]) -> Path:
    thread = "019ca1b2-0000-7000-8000-000000000001"
    items: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": thread, "cwd": "/home/ada", "timestamp": moment(START)})
    ]
    for number, text in enumerate(given):
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Who is in my family?"}]}
        call = {"type": "function_call", "name": "recollect__search_memory", "arguments": "{}", "call_id": f"c{number}"}
        output = {"type": "function_call_output", "call_id": f"c{number}", "output": text}
        reply = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWERS[1]}]}
        items += [("response_item", one) for one in (said, call, output, reply)]
    lines = [{"timestamp": moment(START), "type": kind, "payload": payload} for kind, payload in items]
    path = folder / "sessions" / "2026" / "03" / "02" / f"rollout-2026-03-02T10-00-00-{thread}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return path


def learned(memory: recollect.Memory, path: Path) -> list[str]:
    """What is known after this file was taken in and filed, that was not before."""
    before = {record.id for record in memory.knowledge.records(state="all", limit=1_000)}
    report = memory.history.ingest([path])
    assert report.ingested == 1
    worked = memory.librarian.process(memory.history.conversation_ids())
    assert worked.failed == 0
    assert worked.processed > 0
    return [one.text for one in memory.knowledge.records(state="all", limit=1_000) if one.id not in before]


def about_family(texts: list[str]) -> list[str]:
    return [text for text in texts if any(word in text for word in ("Vera", "Lisbon", "walnut"))]


@pytest.mark.parametrize("transcript", [claude_code, codex])
def test_a_result_of_our_tools_teaches_nothing(
    memory: recollect.Memory, ada: Asker, tmp_path: Path, transcript: Callable[[Path, list[str]], Path]
) -> None:
    given = results(ada)
    assert about_family(learned(memory, transcript(tmp_path, given))) == []
    hits = Asker(memory).told("search_memory", query="Vera Lisbon walnuts", search_type="conversations")["hits"]
    assert about_family([hit["text"] for hit in hits]) == []


@pytest.mark.parametrize("given", [prompt, resource])
def test_our_prompt_and_our_resources_teach_nothing_where_they_stand_in_what_a_user_sent(
    memory: recollect.Memory, ada: Asker, tmp_path: Path, given: Callable[[Asker], str]
) -> None:
    text = given(ada)
    assert "Vera" in text
    sent = [text, f"{text}\n\nWhat is there to do today?"]
    assert about_family(learned(memory, claude_code(tmp_path, sent, as_user=True))) == []


def test_the_same_words_of_a_person_are_learned(memory: recollect.Memory, ada: Asker, tmp_path: Path) -> None:
    """So that the tests above would see it."""
    assert about_family(learned(memory, claude_code(tmp_path, [KNOWN, KNOWN], as_user=True)))
