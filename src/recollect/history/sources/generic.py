"""A documented JSON-lines format, so that any program can feed history (`docs/sources/generic.md`).

One object a line: `author` (or `role`), `text` (or `content`), and, where known, `name`, `id`, `session`,
`at`, `cwd`, `model`, `title`. A line without an `id` is known by its session, time and words.
"""

from collections.abc import Iterator
from typing import Any, cast

from recollect.clock import parse_time
from recollect.errors import Unreadable
from recollect.history.messages import MASK_MARGIN, Author, Block, Entry, Standing
from recollect.history.privacy import begins_with_mark
from recollect.history.sources.documents import BrokenDocument, line_of, walk
from recollect.history.sources.fields import output_text, read_object, short, text_block, tool_result
from recollect.history.sources.source import BadRecord, FileFacts, Head, Opened, Source, Transcript
from recollect.ids import derived_id
from recollect.redaction import mask
from recollect.texts import clean

NAME = "generic"

_AUTHORS = {
    "user": Author.USER,
    "human": Author.USER,
    "assistant": Author.ASSISTANT,
    "ai": Author.ASSISTANT,
    "model": Author.ASSISTANT,
    "subagent": Author.SUBAGENT,
    "tool": Author.TOOL,
    "function": Author.TOOL,
    "system": Author.MACHINE,
    "developer": Author.MACHINE,
    "machine": Author.MACHINE,
}


class Generic(Source):
    name = NAME
    title = "JSON lines of your own"
    parser_version = 3

    def is_candidate(self, path: str) -> bool:
        return path.endswith(".jsonl")

    def recognises(self, head: Head) -> bool:
        if head.is_array:
            return bool(head.keys & {"author", "role", "sender"} and head.keys & {"text", "content"})
        return any(_author(record) and _words(record) is not None for record in head.records)

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript] | None:
        """One JSON array with the same objects is read too."""
        if opened.file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"[":
            return None
        opened.file.seek(0)
        return iter([Transcript(facts=facts, records=_elements(opened))])

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        session_id = short(_first(record, "session", "session_id", "conversation_id"))
        at = parse_time(_first(record, "at", "timestamp", "created_at"))
        entry = Entry(kind="title" if "title" in record else "message", at=at, session_id=session_id)
        entry.stream = session_id
        entry.cwd = short(record.get("cwd") or record.get("project"), 1_000)
        entry.model = short(record.get("model"))
        entry.title = short(record.get("title"), 300 + MASK_MARGIN)
        author, text = _author(record), _words(record)
        if author is None or text is None:
            if not entry.title:
                raise BadRecord('no author and text: expected {"author": "user", "text": "…", …}')
            return entry
        text = _with_speaker(record, author, text)
        identity = short(_first(record, "id", "uuid"))
        named = (identity,) if identity else (at or "", author, mask(text))
        scope = session_id or ("" if at and not identity else facts.key)
        entry.key = derived_id(NAME, scope, *named)
        entry.key_by_place = not (identity or at)
        entry.author = author
        entry.standing = Standing.SAID if author in (Author.USER, Author.ASSISTANT) else Standing.ASIDE
        is_tool = author is Author.TOOL
        entry.text = output_text([text])[0] if is_tool else text
        entry.blocks = [tool_result(None, len(text)) if is_tool else text_block(text), *_tool_calls(record)]
        entry.counted_blocks = tuple(f"{author}:{block['type']}" for block in entry.blocks)
        return entry


def _elements(opened: Opened) -> Iterator[bytes]:
    try:
        for _, value in walk(opened.file, lambda path: not path, lambda _: True, opened.report):
            yield line_of(value)
    except BrokenDocument as error:
        raise Unreadable(f"{opened.path}: {error}. What came before is kept; write the file again.") from error


def _author(record: dict[str, Any]) -> Author | None:
    name = record.get("author") or record.get("role") or record.get("sender")
    return _AUTHORS.get(name.lower()) if isinstance(name, str) else None


def _words(record: dict[str, Any]) -> str | None:
    value = record.get("text") if record.get("text") is not None else record.get("content")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        parts = [item if isinstance(item, str) else _item_text(item) for item in cast(list[Any], value)]
        return clean("\n\n".join(part for part in parts if part))
    return None


def _with_speaker(record: dict[str, Any], author: Author, text: str) -> str:
    """Who said it stands before the words, as in a chat of several people. A tool's or a program's name does not."""
    name = " ".join(short(_first(record, "name", "speaker")).split())
    is_spoken = author in (Author.USER, Author.ASSISTANT, Author.SUBAGENT) and text.strip()
    return f"{name}: {text}" if name and is_spoken and not begins_with_mark(text) else text


def _item_text(item: Any) -> str:
    text = cast(dict[str, Any], item).get("text") if isinstance(item, dict) else None
    return text if isinstance(text, str) else ""


def _tool_calls(record: dict[str, Any]) -> list[Block]:
    tools = record.get("tools")
    names = [name for name in cast(list[Any], tools) if isinstance(name, str)] if isinstance(tools, list) else []
    return [{"type": "tool_call", "name": clean(name), "call": "", "summary": ""} for name in names]


def _first(record: dict[str, Any], *names: str) -> Any:
    """The first of these fields that is there; 0 is there."""
    for name in names:
        value = record.get(name)
        if value is not None and value != "":
            return value
    return None
