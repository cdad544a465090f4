"""Labelled conversations as the transcripts that agents write, so that they come in as real ones do.

One with a folder becomes a session of Claude Code: what a tool gave is a tool's result there and machine text is
marked as such, so that a librarian who quotes them has quoted what nobody said. One without becomes lines of the
generic source.
"""

import json
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from labels import Labelled, Said

_INPUTS = {"Bash": "command", "Read": "file_path", "Edit": "file_path", "Write": "file_path", "WebFetch": "url"}

Record = dict[str, Any]


def write_transcript(labelled: Labelled, folder: Path) -> Path:
    """The file, below a folder of its source."""
    is_agent = bool(labelled.folder)
    slug = labelled.folder.replace("/", "-") if is_agent else "chats"
    path = folder / slug / f"{_name(labelled.id, 'session')}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = _claude_code(labelled) if is_agent else _generic(labelled)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path


def session_of(labelled: Labelled) -> str:
    """What history calls its session."""
    return _name(labelled.id, "session") if labelled.folder else labelled.id


def _generic(labelled: Labelled) -> Iterator[Record]:
    for number, said in enumerate(labelled.turns):
        yield {
            "id": str(number),
            "session": session_of(labelled),
            "at": _moment(said.at),
            "author": said.author,
            "text": said.text,
            "tools": [call.partition(":")[0] for call in said.calls],
        }


def _claude_code(labelled: Labelled) -> Iterator[Record]:
    last: str | None = None
    call = ""
    for number, said in enumerate(labelled.turns):
        for kind, fields in _records(labelled, said, number, call):
            entry = _name(labelled.id, f"{number} {kind} {fields.get('place', 0)}")
            fields.pop("place", None)
            yield {
                "parentUuid": last,
                "isSidechain": False,
                "userType": "external",
                "cwd": labelled.folder,
                "sessionId": session_of(labelled),
                "version": "2.1.100",
                "type": kind,
                "uuid": entry,
                "timestamp": _moment(said.at),
                **fields,
            }
            last = entry
        call = f"toolu_{number}_{len(said.calls) - 1}" if said.calls else call


def _records(labelled: Labelled, said: Said, number: int, call: str) -> Iterator[tuple[str, Record]]:
    """`call`: which call a tool's result answers."""
    if said.author == "assistant":
        for place, block in enumerate(_blocks(said, number)):
            message = {
                "id": f"msg_{_name(labelled.id, str(number)).replace('-', '')[:24]}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-5",
                "content": [block],
                "usage": {"input_tokens": 3, "output_tokens": 9},
            }
            yield "assistant", {"message": message, "place": place}
    elif said.author == "tool":
        result = [{"type": "tool_result", "tool_use_id": call, "content": said.text, "is_error": False}]
        yield "user", {"message": {"role": "user", "content": result}, "toolUseResult": {"stdout": said.text}}
    else:
        meta = {"isMeta": True} if said.author == "machine" else {}
        yield "user", {"message": {"role": "user", "content": said.text}, **meta}


def _blocks(said: Said, number: int) -> Iterator[Record]:
    if said.text:
        yield {"type": "text", "text": said.text}
    for place, call in enumerate(said.calls):
        name, _, given = call.partition(":")
        arguments = {_INPUTS.get(name, "input"): given.strip()}
        yield {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": arguments}


def _name(conversation: str, part: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{conversation} {part}"))


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"
