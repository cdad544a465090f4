"""Codex, OpenAI's agent for the terminal and the desktop: rollout files and the prompt log `history.jsonl`.

A rollout says most things twice: as a `response_item`, what the model saw, and as an `event_msg`, what the user saw.
What a person typed is taken from the events, because Codex puts much of its own into user items; what the model said
and did is taken from the items. Both stand in every rollout since they have a wrapper (0.30); older ones are flat and
have items only. Lines carry no id of their own, and copies of them (forks, sub-agents) a new time, so most are known by
their turn and their words. The turn is often named only by an earlier line: `settle` remembers it. Facts behind each
rule: `docs/sources/codex.md`.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec

from recollect.clock import parse_time
from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.codex_text import (
    first_text,
    folder_in,
    image_of,
    machine_kind,
    output_of,
    own_words,
    text_of,
)
from recollect.history.sources.fields import (
    as_dict,
    as_list,
    as_text,
    chosen,
    identifier,
    image_block,
    output_text,
    read_object,
    short,
    text_block,
    title_of,
    tool_call,
    tool_result,
)
from recollect.history.sources.source import Computer, FileFacts, Head, Source
from recollect.ids import derived_id
from recollect.redaction import mask
from recollect.texts import clean

NAME = "codex"

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(_UUID)
_ROLLOUT = re.compile(rf"rollout-[0-9T-]+?-({_UUID})(?:_({_UUID}))?\.jsonl")
_TYPES = frozenset(["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"])
_FLAT_TYPES = frozenset(["message", "reasoning", "function_call", "function_call_output", "local_shell_call"])
_ITEM_ID = re.compile(r"[a-z]+_[A-Za-z0-9-]{16,100}")
"""Ids that the model's service or a newer Codex gives. Migrated rollouts have ids like `item-3`, unique nowhere."""
_MOST_TURNS = 1_000_000
"""That anybody goes back by; a number in a foreign file may be of any size."""
_MOST_BYTES = 1 << 62
_SPEAKERS = (Author.ASSISTANT, Author.SUBAGENT)


class _Payload(msgspec.Struct):
    """The fields that matter of every kind of record; what is not named here is not even decoded."""

    type: Any = None
    id: Any = None
    role: Any = None
    content: Any = None
    call_id: Any = None
    name: Any = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    output: Any = None
    result: Any = None
    tools: Any = None
    internal_chat_message_metadata_passthrough: Any = None
    message: Any = None
    kind: Any = None
    images: Any = None
    local_images: Any = None
    turn_id: Any = None
    item: Any = None
    num_turns: Any = None
    thread_name: Any = None
    timestamp: Any = None
    cwd: Any = None
    model: Any = None
    session_id: Any = None
    forked_from_id: Any = None
    history_base: Any = None
    parent_thread_id: Any = None
    source: Any = None
    thread_source: Any = None


class _Line(msgspec.Struct):
    timestamp: Any = None
    type: Any = None
    payload: _Payload | None = None
    record_type: Any = None
    session_id: Any = None
    ts: Any = None
    text: Any = None


class CodexEntry(Entry, kw_only=True):
    """What `settle` needs beside the entry itself."""

    turn: str = ""
    """The turn that the record names."""
    thread: str = ""
    """The thread that a session_meta describes."""
    words: str = ""
    """What tells the message from others of its turn; empty when it has an id of its own."""
    is_call: bool = False
    """A tool call: it belongs to the reply that goes before it."""
    as_read: tuple[Author, Standing, str] | None = None
    """Author, standing and kind before the file's being a sub-agent's changed them."""


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_payload = msgspec.json.Decoder(_Payload).decode


class Codex(Source):
    name = NAME
    title = "Codex"
    goes_on_elsewhere = True

    def places(self, computer: Computer) -> list[str]:
        folders = dict.fromkeys((computer.configured("CODEX_HOME", ".codex"), computer.below_home(".codex")))
        return [f"{home}/{name}" for home in folders for name in ("sessions", "archived_sessions", "history.jsonl")]

    def is_candidate(self, path: str) -> bool:
        name = path.replace("\\", "/").rpartition("/")[2]
        return name == "history.jsonl" or (name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst")))

    def recognises(self, head: Head) -> bool:
        return any(_is_codex_record(record, head.name) for record in head.records)

    def locate(self, path: str, root: str) -> FileFacts:
        """The last id in the name is the file's own: after going back, a thread goes on in a second file."""
        name = path.replace("\\", "/").rpartition("/")[2]
        if name == "history.jsonl":
            return FileFacts(key=name, kind="prompts")
        named = _ROLLOUT.fullmatch(name)
        if named:
            return FileFacts(key=named[2] or named[1], kind="session", session_id=named[1], is_unique=True)
        return super().locate(path, root)

    def refine(self, facts: FileFacts, head: Head) -> FileFacts:
        """What the first record adds: a sub-agent's rollout is named and placed like every other."""
        first = next((record for record in head.records if record.get("type") == "session_meta"), None)
        meta = as_dict(first.get("payload")) if first else {}
        own = identifier(meta.get("id"))
        if facts.kind != "session" or not own:
            return facts
        works_for = _works_for(chosen(_Payload, meta))
        if works_for:
            return replace(facts, kind="subagent", session_id=works_for, agent_id=own)
        return replace(facts, session_id=own)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        line, payload = _read(raw)
        if facts.kind == "prompts" or (line.type is None and line.ts is not None and isinstance(line.text, str)):
            return _prompt_log_entry(line)
        is_flat = line.payload is None
        entry = CodexEntry(kind=_kind(line, payload, is_flat), at=_time(line.timestamp or payload.timestamp))
        passed_through = payload.internal_chat_message_metadata_passthrough
        if payload.turn_id or passed_through:
            entry.turn = _turn(payload.turn_id) or _turn(as_dict(passed_through).get("turn_id"))
        if line.type == "event_msg" and isinstance(payload.type, str) and payload.type in _QUIET_EVENTS:
            return entry
        kind = "response_item" if is_flat else line.type
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if is_flat and payload.type is None:
            reader = _read_meta if payload.id is not None else None
        if reader:
            reader(entry, payload, is_flat)
        if entry.author is Author.ASSISTANT and not entry.message_kind:
            entry.uuid = entry.key or (derived_id(NAME, entry.words) if entry.words else "")
        if entry.words:
            entry.key = _key(entry.turn or f"{facts.session_id}\n{entry.at or ''}", entry.words)
            entry.key_by_place = not (entry.turn or entry.at)
        if entry.key and facts.kind == "subagent":
            _make_subagent(entry, facts.agent_id)
        return entry

    def settle(self, entry: Entry, memory: dict[str, str]) -> None:
        """Complete an entry by what earlier records of its file said. `memory` belongs to the file and outlives blocks.

        Called for each entry in the order of the file, before it is used.
        """
        if not isinstance(entry, CodexEntry):
            return
        if entry.thread:
            _follow_thread(entry, memory)
        memory["turn"] = turn = entry.turn or memory.get("turn", "")
        if entry.kind == "turn_context":
            memory["model"] = entry.model
        elif entry.author in _SPEAKERS and not entry.message_kind:
            entry.model = memory.get("model", "")
        if turn and turn < memory.get("own", ""):
            _make_copy(entry, memory["thread"])
        if entry.words:
            chain = memory.get("chain", "")
            entry.key = _key(turn or chain, entry.words)
            entry.key_by_place = not (turn or chain)
            if entry.words.startswith(Author.USER):
                memory["chain"] = _key(chain, entry.words)
        if entry.key:
            _follow_reply(entry, memory)


def _follow_reply(entry: CodexEntry, memory: dict[str, str]) -> None:
    """One answer of the model is one message: its words, and the calls up to what the first of them gave.

    Words always begin a message, because copies for sub-agents leave out the calls and what they gave.
    """
    if not entry.uuid or entry.key_by_place:
        memory.pop("reply", None)
        return
    if entry.is_call:
        entry.key = memory.setdefault("reply", entry.key)
    else:
        memory["reply"] = entry.key


def _follow_thread(entry: CodexEntry, memory: dict[str, str]) -> None:
    """The first session_meta is the file's own; one of another thread begins the copy of that thread's history.

    Turns have ids since 0.104. Before, a turn is known by its thread and all prompts up to it, the chain.
    """
    if "own" not in memory:
        origin = entry.links[0][1] if entry.links else entry.thread
        memory.update(own=entry.thread, thread=origin, seed=entry.thread, chain=entry.thread)
    elif entry.thread not in (memory["own"], memory["seed"]):
        memory.update(thread=entry.thread, seed=entry.thread, chain=entry.thread)


def _make_copy(entry: CodexEntry, thread: str) -> None:
    """Ids of threads and turns sort by time: a turn that is older than the file's thread was said in another."""
    entry.session_id, entry.agent_id = thread, ""
    if entry.as_read:
        entry.author, entry.standing, entry.message_kind = entry.as_read


def _turn(value: Any) -> str:
    """A turn's id, if it is one of the world and not only of its session."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _key(turn: str, words: str) -> str:
    return derived_id(NAME, turn, words)


def _read(raw: bytes) -> tuple[_Line, _Payload]:
    try:
        line = _decode_line(raw)
        return line, line.payload or _decode_payload(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        fields = read_object(raw)
    payload = fields.pop("payload", None)
    line = chosen(_Line, fields)
    if isinstance(payload, dict):
        line.payload = chosen(_Payload, as_dict(payload))
    return line, line.payload or chosen(_Payload, fields)


def _is_codex_record(record: dict[str, object], name: str) -> bool:
    kind = record.get("type")
    if isinstance(kind, str) and kind in _TYPES and isinstance(record.get("payload"), dict):
        return True
    if name == "history.jsonl":
        return isinstance(record.get("session_id"), str) and "ts" in record and isinstance(record.get("text"), str)
    if record.get("record_type") == "state" or (name.startswith("rollout-") and "instructions" in record):
        return True
    has_parts = any(
        as_dict(part).get("type") in ("input_text", "output_text") for part in as_list(record.get("content"))
    )
    return isinstance(kind, str) and kind in _FLAT_TYPES and (has_parts or "call_id" in record)


def _kind(line: _Line, payload: _Payload, is_flat: bool) -> str:
    own = line.type if isinstance(line.type, str) and line.type else line.record_type
    kind = own if isinstance(own, str) and own else "session_meta" if is_flat and payload.id else "(no type)"
    return _named(kind, "" if is_flat or not isinstance(payload.type, str) else payload.type)


@lru_cache(maxsize=256)
def _named(kind: str, inner: str) -> str:
    """`event_msg:token_count`, `response_item:reasoning`, `session_meta`; flat ones as they are."""
    return clean(f"{kind}:{inner}" if inner and kind in ("event_msg", "response_item") else kind)[:80]


def _time(value: Any) -> str | None:
    return parse_time(value) if value is not None else None


def _metadata(payload: _Payload) -> dict[str, Any]:
    return as_dict(payload.internal_chat_message_metadata_passthrough)


def _works_for(meta: _Payload) -> str:
    """The session a sub-agent works for: the root's where it is named, else the thread that started it."""
    source = as_dict(meta.source).get("subagent")
    if source is None and meta.thread_source != "subagent":
        return ""
    parent = meta.parent_thread_id or as_dict(as_dict(source).get("thread_spawn")).get("parent_thread_id")
    root = identifier(meta.session_id)
    return (root if root != meta.id else "") or identifier(parent or meta.forked_from_id) or identifier(meta.id)


def _read_meta(entry: CodexEntry, payload: _Payload, _is_flat: bool) -> None:
    """A sub-agent may start from a copy of its parent's history; that makes it no fork of the conversation."""
    entry.thread = entry.session_id = identifier(payload.id)
    entry.cwd = short(payload.cwd, 1_000)
    works_for, forked_from = _works_for(payload), identifier(payload.forked_from_id)
    link = ("parent", works_for) if works_for else ("fork", forked_from)
    entry.links = (link,) if link[1] not in ("", entry.thread) else ()
    base = as_dict(payload.history_base)
    start = base.get("end_byte_offset")
    if isinstance(start, int) and 0 <= start < _MOST_BYTES:
        entry.left = (identifier(base.get("thread_id")), start)


def _read_context(entry: CodexEntry, payload: _Payload, _is_flat: bool) -> None:
    entry.cwd = short(payload.cwd, 1_000)
    entry.model = short(payload.model)


def _read_compacted(entry: CodexEntry, payload: _Payload, _is_flat: bool) -> None:
    """Its `replacement_history` repeats what stands above. The summary is empty when the service keeps it sealed."""
    entry.repeats = True
    text = as_text(payload.message).strip()
    if text:
        _say(entry, Author.MACHINE, "summary", text)


def _read_event(entry: CodexEntry, payload: _Payload, _is_flat: bool) -> None:
    if payload.type == "user_message":
        images = [*as_list(payload.images), *as_list(payload.local_images)]
        _read_prompt(entry, as_text(payload.message), len(images), payload.kind)
    elif payload.type == "item_completed":
        item = as_dict(payload.item)
        entry.kind = f"event_msg:item_completed:{short(item.get('type'), 40)}"
        if item.get("type") == "UserMessage":
            parts = [as_dict(part) for part in as_list(item.get("content"))]
            text = "\n".join(as_text(part.get("text")) for part in parts if part.get("type") == "text")
            _read_prompt(entry, text, sum(1 for part in parts if part.get("type") in ("image", "local_image")))
    elif payload.type == "thread_rolled_back":
        turns = payload.num_turns if isinstance(payload.num_turns, int) else 0
        entry.back_turns = min(max(turns, 0), _MOST_TURNS)
    elif payload.type == "thread_name_updated":
        entry.title = title_of(payload.thread_name)
        entry.title_by_user = bool(entry.title)


def _read_prompt(entry: CodexEntry, text: str, images: int, kind: Any = None) -> None:
    """What a person typed. Up to 0.50 the context was announced as a user message too, and told by its `kind`."""
    machine = machine_kind(text) or (short(kind, 40) if kind not in (None, "plain") else "")
    if machine:
        _say(entry, Author.MACHINE, machine, text)
        entry.cwd = folder_in(text) if machine == "environment_context" else ""
        return
    text = own_words(text)
    if text.strip() or images:
        _say(entry, Author.USER, "", text)
        entry.blocks += [image_block("") for _ in range(images)]
        entry.counted_blocks += ("user:image",) * images


def _say(entry: CodexEntry, author: Author, kind: str, text: str) -> None:
    entry.author = author
    entry.standing = Standing.SAID if author in (Author.USER, Author.ASSISTANT) else Standing.ASIDE
    entry.message_kind = kind
    entry.text = text
    entry.blocks = [text_block(text)] if text.strip() else []
    entry.counted_blocks = (f"{author}:text",) if entry.blocks else ()
    entry.words = f"{author}\n{mask(text)}"


def _read_item(entry: CodexEntry, payload: _Payload, is_flat: bool) -> None:
    kind = payload.type if isinstance(payload.type, str) else ""
    if kind == "message":
        _read_message(entry, payload, is_flat)
    elif kind == "agent_message":
        _say(entry, Author.SUBAGENT, "agent_message", text_of(payload.content))
    elif kind == "reasoning":
        entry.counted_blocks = ("assistant:thinking",)
    elif kind in _OUTPUTS:
        _read_output(entry, payload)
    elif kind.endswith("_call"):
        _read_call(entry, payload, kind.removesuffix("_call"))
    own = identifier(payload.id)
    if entry.words and entry.author is not Author.USER and _ITEM_ID.fullmatch(own):
        entry.key, entry.words = own, ""


def _read_message(entry: CodexEntry, payload: _Payload, is_flat: bool) -> None:
    """In a rollout with events, a user item that is no context is what an event says better: no message of its own."""
    text = text_of(payload.content)
    images = [part for part in as_list(payload.content) if as_dict(part).get("type") == "input_image"]
    if payload.role == "assistant":
        if text.strip() or images:
            _say(entry, Author.ASSISTANT, "", text)
            entry.blocks += [image_of(part) for part in images]
    elif payload.role != "user":
        _say(entry, Author.MACHINE, "context", text)
    elif is_flat:
        _read_prompt(entry, text, len(images))
    else:
        named = short(next(iter(as_list(_metadata(payload).get("content_item_kinds"))), "user")).partition(".")[0]
        kind = machine_kind(text) or machine_kind(first_text(payload.content)) or (named if named != "user" else "")
        if kind and kind != "unknown":
            _say(entry, Author.MACHINE, short(kind, 40), text)
        elif not kind:
            entry.author, entry.text = Author.USER, text  # No message, but what is private in it must be noticed.


def _read_call(entry: CodexEntry, payload: _Payload, kind: str) -> None:
    given = next((value for value in (payload.arguments, payload.input, payload.action) if value is not None), None)
    name = payload.name or ("shell" if kind == "local_shell" else kind)
    entry.author, entry.standing, entry.is_call = Author.ASSISTANT, Standing.SAID, True
    entry.blocks = [tool_call(name, payload.call_id or payload.id, given)]
    if kind == "image_generation":
        entry.blocks.append(image_block("image/png", payload.result))
    entry.counted_blocks = tuple(f"assistant:{block['type']}" for block in entry.blocks)
    call = identifier(payload.call_id)
    if call:
        entry.key = f"{NAME}:call:{call}"
    else:
        entry.words = f"{kind}\n{mask(entry.blocks[0]['summary'])}"


def _read_output(entry: CodexEntry, payload: _Payload) -> None:
    parts, is_error = output_of(payload.output if payload.output is not None else payload.tools)
    entry.text, characters = output_text(parts)
    entry.author, entry.standing, entry.message_kind = Author.TOOL, Standing.ASIDE, "tool_result"
    entry.blocks = [tool_result(payload.call_id, characters, error=is_error)]
    entry.blocks += [image_of(part) for part in as_list(payload.output) if as_dict(part).get("type") == "input_image"]
    entry.counted_blocks = ("tool:tool_result",)
    call = identifier(payload.call_id)
    if call:
        entry.key = f"{NAME}:output:{call}"
    else:
        entry.words = f"output\n{mask(entry.text)}"


def _make_subagent(entry: CodexEntry, agent_id: str) -> None:
    """Nothing in a sub-agent's rollout was said by or to the user."""
    entry.as_read = (entry.author, entry.standing, entry.message_kind)
    entry.agent_id = agent_id
    entry.make_subagent(is_task=entry.message_kind == "agent_message")


def _prompt_log_entry(line: _Line) -> Entry:
    """A line of `history.jsonl`: what was typed in the terminal; it outlives the rollouts."""
    session_id = identifier(line.session_id)
    entry = Entry(kind="prompt", at=_time(line.ts), session_id=session_id, stream=session_id)
    text = as_text(line.text)
    if text.strip():
        is_command = text.startswith("/") and " " not in text.strip()
        entry.key = derived_id(NAME, "prompt", session_id, entry.at or "", mask(text))
        entry.author, entry.message_kind, entry.text = Author.USER, "prompt", text
        entry.standing = Standing.ASIDE if is_command else Standing.SAID
        entry.blocks = [text_block(text)]
        entry.counted_blocks = ("user:text",)
    return entry


_QUIET_EVENTS = frozenset(["token_count", "agent_message", "agent_reasoning", "exec_command_end", "patch_apply_end"])
_OUTPUTS = frozenset(["function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output"])
_READERS = {
    "session_meta": _read_meta,
    "turn_context": _read_context,
    "compacted": _read_compacted,
    "event_msg": _read_event,
    "response_item": _read_item,
}
