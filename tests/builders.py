"""Small transcripts of our own, in the shapes that agents write, and folding them as the ingester does."""

import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from recollect.clock import to_text
from recollect.history.counts import Counts, Problem
from recollect.history.fold_state import Batch, FoldState
from recollect.history.folding import Fold
from recollect.history.messages import Author, Entry, Message, Standing
from recollect.history.privacy import Ignore
from recollect.history.reading import Line, read_blocks
from recollect.history.records import Stored
from recollect.history.sources import FileFacts, Source
from recollect.history.sources.claude_code import ClaudeCode
from recollect.history.spans import Span
from recollect.history.vault import Packer

Record = dict[str, Any]

SESSION = "5d0c2b1e-8f3a-4c77-9b52-0a6e1f4d7c01"
OTHER_SESSION = "5d0c2b1e-8f3a-4c77-9b52-0a6e1f4d7c02"
CWD = "/home/ada/engine"
START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
SESSION_FACTS = FileFacts(key=f"-home-ada-engine/{SESSION}.jsonl", kind="session", session_id=SESSION)


def moment(minutes: float = 0) -> str:
    """A stored time, so many minutes after the tests' clock starts."""
    return to_text(START + timedelta(minutes=minutes))


def uuid(number: int) -> str:
    return f"a3f0c1d2-0000-4000-8000-{number:012d}"


def _chained(kind: str, number: int, minutes: float, fields: Record) -> Record:
    """A record of a type that stands in the tree: the fields all of those have."""
    return {
        "parentUuid": uuid(number - 1) if number > 1 else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": CWD,
        "sessionId": SESSION,
        "version": "2.1.40",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid(number),
        "timestamp": moment(minutes),
        **fields,
    }


def user(content: Any, number: int = 1, minutes: float = 0, **fields: Any) -> Record:
    return _chained("user", number, minutes, {"message": {"role": "user", "content": content}, **fields})


def assistant(
    *blocks: Any,
    number: int = 2,
    minutes: float = 1,
    message_id: str = "",
    model: str = "opus-9",
    **fields: Any,
) -> Record:
    message = {
        "id": message_id or f"msg_01{number:022d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [text(block) if isinstance(block, str) else block for block in blocks],
        "stop_reason": None,
        "usage": {"input_tokens": 3, "output_tokens": number},
    }
    return _chained("assistant", number, minutes, {"message": message, "requestId": f"req_{number}", **fields})


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def tool_use(name: str, call: str = "toolu_01", **arguments: Any) -> Record:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def tool_result(content: Any, call: str = "toolu_01", **fields: Any) -> Record:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **fields}


def queue(operation: str, content: Any = None, minutes: float = 0, **fields: Any) -> Record:
    record: Record = {"type": "queue-operation", "operation": operation, "timestamp": moment(minutes)}
    record["sessionId"] = SESSION
    return record | ({} if content is None else {"content": content}) | fields


def queued_command(prompt: Any, number: int, minutes: float = 0, mode: str = "prompt") -> Record:
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": mode}
    return _chained("attachment", number, minutes, {"attachment": attachment})


def system(subtype: str, number: int = 1, minutes: float = 0, **fields: Any) -> Record:
    return _chained("system", number, minutes, {"subtype": subtype, **fields})


def generic(author: str, words: str, **fields: Any) -> Record:
    return {"author": author, "text": words, **fields}


def raw(record: Any) -> bytes:
    """As Node writes it: compact, U+2028 and the like unescaped, lone surrogates escaped."""
    encoded = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return encoded.encode()
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode()


def jsonl(*records: Record) -> bytes:
    return b"".join(raw(record) + b"\n" for record in records)


def parse(record: Any, facts: FileFacts = SESSION_FACTS) -> Entry:
    return ClaudeCode().parse(raw(record), facts)


def message(number: int = 1, minutes: float = 0, **fields: Any) -> Message:
    """A stored message, for the rules that come after parsing."""
    values: dict[str, Any] = {
        "id": f"m{number}",
        "file_id": "file",
        "generation": 0,
        "start_byte": number * 100,
        "line": number,
        "home": True,
        "source": "claude-code",
        "author": Author.USER,
        "standing": Standing.SAID,
        "at": moment(minutes),
        "last_at": moment(minutes),
        "text": f"words {number}",
        "blocks": [{"type": "text", "text": f"words {number}", "uuid": f"u{number}"}],
        "cwd": CWD,
    }
    values |= fields
    uuids = [block["uuid"] for block in values["blocks"] if "uuid" in block]
    return Message(**{"leaf_id": uuids[-1] if uuids else "", **values})


@dataclass(slots=True)
class Folded:
    """What the database would hold after a file was folded, batch by batch."""

    end: int = 0
    newlines: int = 0
    state: FoldState = field(default_factory=FoldState)
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    records: list[Stored] = field(default_factory=list[Stored])
    counts: Counts = field(default_factory=Counts)
    links: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    titles: dict[str, str] = field(default_factory=dict[str, str])
    title: str = ""
    spans: list[Span] = field(default_factory=list[Span])
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, batch: Batch) -> None:
        self.end, self.newlines = batch.end, batch.newlines
        for draft in batch.messages.values():
            stored = self.messages.setdefault(draft.id, draft)
            if stored is draft:
                continue
            if draft.id in batch.restated:
                stored.restate(draft)
            else:
                stored.absorb(draft)
        for message_id, standing in batch.standings.items():
            self.messages[message_id].standing = standing
        self.records += batch.records
        self.counts.add(batch.counts)
        self.links |= batch.links
        self.titles |= batch.titles
        self.title = batch.title or self.title
        self.spans += batch.spans
        self.problems += batch.problems

    def contents(self) -> dict[str, Any]:
        """Everything that must not depend on the parts in which the file was read."""
        return {
            "messages": [msgspec.to_builtins(item) for item in self.messages.values()],
            "records": [(r.start, r.line, r.digest, r.kind, r.message_id, r.length) for r in self.records],
            "counts": msgspec.to_builtins(self.counts),
            "links": self.links,
            "titles": (self.title, self.titles),
            "spans": self.spans,
            "state": (
                self.state.cwd,
                self.state.at,
                self.state.session_id,
                self.state.private_sessions,
                self.state.own_sessions,
            ),
            "waiting": self.state.waiting,
        }

    def said(self) -> list[str]:
        return [item.text for item in self.messages.values() if item.standing is Standing.SAID]


class Trickle(io.BytesIO):
    """A file that gives a few bytes at a time, so that small data has many blocks."""

    def __init__(self, data: bytes, bytes_at_once: int) -> None:
        super().__init__(data)
        self._bytes_at_once = bytes_at_once

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._bytes_at_once)


class Folding:
    """Folds one file part by part, loading its state anew for each, as the ingester does."""

    def __init__(
        self,
        *,
        source: Source | None = None,
        facts: FileFacts = SESSION_FACTS,
        ignore: Ignore | None = None,
        spans: list[Span] | None = None,
        keep_raw: bool = True,
    ) -> None:
        self._source = source or ClaudeCode()
        self._facts = facts
        self._ignore = ignore or Ignore("")
        self._spans = spans or []
        self._keep_raw = keep_raw
        self.result = Folded()

    def take(self, blocks: list[list[Line]]) -> None:
        packer = Packer()
        fold_of_file = Fold(
            source=self._source,
            facts=self._facts,
            file_id="file",
            generation=0,
            state=FoldState.from_json(self.result.state.to_json()),
            ignore=self._ignore,
            spans=self._spans,
            keep_raw=self._keep_raw,
            path="transcript.jsonl",
            packer=packer,
        )
        try:
            for lines in blocks:
                self.result.add(fold_of_file.fold(lines, at_end=lines is blocks[-1]))
        finally:
            packer.close()
        self.result.state = fold_of_file.state


def fold(data: bytes, *, sizes: list[int] | None = None, bytes_at_once: int = 1 << 22, **options: Any) -> Folded:
    """Read a file at these sizes, and then all of it, each time from where it was left."""
    folding = Folding(**options)
    for size in [*(sizes or []), len(data)]:
        opened = Trickle(data[:size], bytes_at_once)
        folding.take(list(read_blocks(opened, folding.result.end, folding.result.newlines)))
    return folding.result


def fold_lines(*lines: Line) -> Folded:
    """Fold lines that are put together by hand."""
    folding = Folding()
    folding.take([list(lines)])
    return folding.result
