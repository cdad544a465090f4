"""read_memory: one thing in full, page by page; also what is behind a resource."""

from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recollect.errors import Unavailable
from recollect.mind.tool_results import amount_text, one_line, time_text
from recollect.notes.paths import ROOT, below_root
from recollect.redaction import mask
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import MOST_NAME_CHARACTERS, Arguments
from recollect.surfaces.mcp.paging import PAGE_TOKENS, Part, cursor_of, page_of, position_of
from recollect.surfaces.mcp.specs import MOST_NEIGHBOURS, READ, READ_KINDS, USUAL_NEIGHBOURS
from recollect.surfaces.resuming import resume_command
from recollect.surfaces.shapes.records import Source, record_json, source_json, sources_of
from recollect.texts import clean

if TYPE_CHECKING:
    from recollect.history import Message
    from recollect.knowledge import Chain, Record
    from recollect.memory import Memory

MOST_VERSIONS = 10
"""Of a note, the latest, by their numbers and times."""
_CUT = "…"


def read_memory(memory: "Memory", given: Arguments) -> Answer:
    kind = given.choice("kind", READ_KINDS)
    name = given.text("id", most=MOST_NAME_CHARACTERS)
    cursor = given.text("cursor", "")
    if kind == "conversation":
        return read_conversation(memory, name, cursor)
    if kind == "record":
        return _opened(memory, read_record(memory, name, cursor))
    if kind == "note":
        return read_note(memory, name, cursor)
    return read_message(memory, name, cursor, given.number("neighbours", 0, MOST_NEIGHBOURS, USUAL_NEIGHBOURS))


def _opened(memory: "Memory", answer: Answer) -> Answer:
    """A record that an agent opens is one that it uses: what it is shown at its next beginning takes that into
    account."""
    with suppress(Unavailable):  # That is noted, or not; it is read all the same.
        memory.showings.note_used([answer.structured["id"]], how=READ)
    return answer


# What was said


def read_conversation(memory: "Memory", name: str, cursor: str = "", most_tokens: int = PAGE_TOKENS) -> Answer:
    listed = memory.history.conversation(name)
    conversation = listed.conversation
    messages = memory.history.messages(conversation)
    start = position_of(cursor, conversation.id, 2)
    parts, following = page_of([_safe(message.text) for message in messages], start, most_tokens)
    files = memory.history.file_keys(messages)
    resume = resume_command(conversation.source, conversation.session_id, conversation.project)
    about: dict[str, Any] = {
        "kind": "conversation",
        "id": conversation.id,
        "title": listed.title,
        "source": conversation.source,
        "project": conversation.project,
        "session_id": conversation.session_id,
        "file": listed.file,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
        "number_of_messages": len(messages),
        **({"resume": resume} if resume else {}),
    }
    times = f"{time_text(conversation.started_at)} to {time_text(conversation.ended_at)}"
    head = [
        f"conversation {conversation.id} · {one_line(listed.title)}",
        " · ".join(filter(None, (times, conversation.source, conversation.project, listed.file))),
        *([f"to resume it: {resume}"] if resume else []),
        "",
    ]
    shown = [_said(part, messages[part.index]) for part in parts]
    told = [_message_json(messages[part.index], files, part.text) for part in parts]
    return _paged([*head, *shown], {**about, "messages": told}, conversation.id, following)


def read_message(memory: "Memory", name: str, cursor: str = "", neighbours: int = USUAL_NEIGHBOURS) -> Answer:
    message = memory.history.message(name)
    before, after = _neighbours(memory, message, neighbours)
    files = memory.history.file_keys([message])
    start = position_of(cursor, message.id, 2)
    row = [*before, message, *after]
    # The message itself first, however long its neighbours are.
    order = [message, *before, *after]
    parts, following = page_of([_safe(one.text) for one in order], start)
    by_id = {order[part.index].id: part for part in parts}
    shown = [_said(by_id[one.id], one, is_chosen=one is message) for one in row if one.id in by_id]
    place = f"{files.get(message.file_id, '')}:{message.line}"
    head = [
        " · ".join(filter(None, (f"message {message.id}", message.source, message.cwd, place))),
        *([f"conversation {message.conversation_id}"] if message.conversation_id else []),
        "",
    ]
    around = {
        name: [
            {"id": one.id, "author": str(one.author), "at": one.at, "text": by_id[one.id].text}
            for one in some
            if one.id in by_id
        ]
        for name, some in (("before", before), ("after", after))
    }
    own = by_id[message.id].text if message.id in by_id else ""
    structured = {"kind": "message", **_message_json(message, files, own), **around}
    return _paged([*head, *shown], structured, message.id, following)


def _neighbours(memory: "Memory", message: "Message", number: int) -> tuple[list["Message"], list["Message"]]:
    """What was said in its conversation before and after it; a message beside it has those of its time."""
    if not number or not message.conversation_id:
        return [], []
    conversation = memory.history.conversation(message.conversation_id).conversation
    said = memory.history.messages(conversation)
    places = [place for place, one in enumerate(said) if one.id == message.id]
    place = places[0] if places else bisect_left(said, message.at, key=lambda one: one.at)
    return said[max(0, place - number) : place], said[place + len(places[:1]) :][:number]


def _said(part: Part, message: "Message", *, is_chosen: bool = False) -> str:
    facts = [time_text(message.at), str(message.author), message.id]
    tools = f"tools: {', '.join(dict.fromkeys(message.tools))}" if message.tools else ""
    head = f"{'>' if is_chosen else '-'} {' · '.join(filter(None, (*facts, one_line(tools, 200))))}"
    return f"{head}\n{_piece(part)}\n"


def _message_json(message: "Message", files: dict[str, str], text: str) -> dict[str, Any]:
    return {
        "id": message.id,
        "author": str(message.author),
        "at": message.at,
        "text": text,
        **({"tools": message.tools} if message.tools else {}),
        "conversation": message.conversation_id or "",
        "session_id": message.session_id,
        "cwd": message.cwd,
        "file": files.get(message.file_id, ""),
        "line": message.line,
    }


# What was learned


def read_record(memory: "Memory", name: str, cursor: str = "") -> Answer:
    chain = memory.knowledge.why(name)
    sources = sources_of(memory, chain.record)
    pieces = _record_pieces(chain, sources)
    start = position_of(cursor, chain.record.id, 2)
    parts, following = page_of([_safe(text) for text, _, _ in pieces], start)
    structured: dict[str, Any] = {"kind": "record", "id": chain.record.id}
    for part in parts:
        _, field, value = pieces[part.index]
        if part.is_begun_before:  # The page that began it has told it.
            continue
        if field == "record":
            structured[field] = {key: one for key, one in value.items() if key != "sources" and one not in ("", None)}
        else:
            structured.setdefault(field, []).append(value)
    return _paged([_piece(part) for part in parts], structured, chain.record.id, following)


def _record_pieces(chain: "Chain", sources: list[Source]) -> list[tuple[str, str, dict[str, Any]]]:
    """(for a model, field of the answer, for a program), in the order in which they are read."""
    record = chain.record
    pieces = [(_record_text(record), "record", record_json(record))]
    pieces += [(_source_text(one), "sources", source_json(one)) for one in sources]
    older = [one for one in reversed(chain.versions) if one.version != record.version]
    pieces += [(f"version {one.version}, believed from {time_text(one.believed_from)}: {one.text}", "versions",
                _version_json(one)) for one in older]  # fmt: skip
    for heading, field, records in (("in place of", "replaced", chain.replaced),
                                    ("replaced by", "replaced_by", chain.replaced_by)):  # fmt: skip
        pieces += [(f"{heading} record {one.id}: {one.text}", field, _version_json(one)) for one in records]
    return pieces


def _record_text(record: "Record") -> str:
    about = " · ".join(part for part in (record.subject, record.attribute, record.value) if part)
    facts = [
        f"record {record.id} · {record.kind}, {record.category} · {record.state} · version {record.version}",
        f"learned {time_text(record.learned_at)} ({record.origin})",
        f"about: {one_line(about, 300)}" if about else "",
        f"tags: {one_line(', '.join(record.tags), 300)}" if record.tags else "",
        f"true until {time_text(record.true_until)}" if record.true_until else "",
        f"expires {time_text(record.expires_at)}" if record.expires_at else "",
    ]
    return "\n".join([*filter(None, facts), "", record.text, ""])


def _source_text(source: Source) -> str:
    message = source.message
    if message is None:
        return f"from message {source.message_id}, which is not there any more or not to be seen from here"
    facts = [time_text(message.at), str(message.author), f"{source.file}:{message.line}"]
    conversation = f"conversation {message.conversation_id}" if message.conversation_id else ""
    head = " · ".join(filter(None, (f"from message {source.message_id}", *facts, conversation)))
    return f"{head}\n  “{one_line(source.quote or message.text, 600)}”"


def _version_json(record: "Record") -> dict[str, Any]:
    return {
        "id": record.id,
        "version": record.version,
        "text": record.text,
        "state": str(record.state),
        "believed_from": record.believed_from,
        "believed_until": record.believed_until,
    }


# What is written down


def read_note(memory: "Memory", name: str, cursor: str = "", most_tokens: int = PAGE_TOKENS) -> Answer:
    note = memory.notes.read(below_root(name))
    lines = _safe(note.text if note.is_text else "(no text)").split("\n")
    start = position_of(cursor, note.path, 2)
    parts, following = page_of(lines, start, most_tokens)
    versions = memory.notes.history(note.path)[-MOST_VERSIONS:]
    size = f"{amount_text(len(lines), 'line')}, {amount_text(note.size, 'byte')}"
    head = [f"note {ROOT}/{note.path} · version {note.number} of {time_text(note.at)} · {size}", ""]
    numbered = [f"{part.index + 1:6}\t{_piece(part)}" for part in parts]
    told_versions = [
        {"number": one.number, "at": one.at, "by": one.actor_name or one.actor, "reason": one.reason}
        for one in reversed(versions)
    ]
    structured: dict[str, Any] = {
        "kind": "note",
        "id": note.path,
        "file": f"notes/{note.path}",
        "version": note.number,
        "at": note.at,
        "line": parts[0].index + 1 if parts else 1,
        "text": "\n".join(part.text for part in parts),
        "versions": told_versions,
    }
    return _paged([*head, *numbered], structured, note.path, following)


# Pages


def _paged(lines: list[str], structured: dict[str, Any], about: str, following: tuple[int, int] | None) -> Answer:
    cursor = cursor_of(about, *following) if following else ""
    return Answer(
        text="\n".join(lines),
        structured=structured,
        footer=f'[It goes on: cursor "{cursor}".]' if cursor else "",
        tokens={"next_cursor": cursor} if cursor else {},
    )


def _piece(part: Part) -> str:
    return f"{_CUT if part.is_begun_before else ''}{part.text}{_CUT if part.goes_on else ''}"


def _safe(text: str) -> str:
    """Masked before it is cut: half a credential is not recognised any more."""
    return mask(clean(text))
