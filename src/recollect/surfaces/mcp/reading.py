"""read_memory: one thing in full, page by page; also what is behind a resource."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect import tokens
from recollect.errors import Unavailable
from recollect.mind.tool_results import amount_text, one_line, time_text
from recollect.notes.paths import ROOT, below_root
from recollect.notes.shown import shown_of
from recollect.redaction import mask
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import MOST_NAME_CHARACTERS, Arguments
from recollect.surfaces.mcp.paging import PAGE_TOKENS, Lazily, Part, cost, cursor_of, page_of, position_of
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
MOST_REASON_CHARACTERS = 200
MOST_QUOTE_CHARACTERS = 600
FIELD_TOKENS = 5
"""The name of one more field, its quotes and commas."""
NUMBER_TOKENS = 3
"""Of a line of a note."""
MOST_TOOLS = 20
"""Of a message, by their names. One that called more tells how many it called."""
MOST_TOOL_CHARACTERS = 80
MOST_FACTS_CHARACTERS = 3_000
"""Of a head: a path that has line ends makes no lines."""
INDENT = "   "
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
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
    # What all messages share is said once.
    shared = {
        "conversation": conversation.id,
        "session_id": conversation.session_id,
        "cwd": conversation.project,
        "file": listed.file,
    }
    pieces = Lazily(lambda one: _message_piece(one, files, shared), messages)
    times = f"{time_text(conversation.started_at)} to {time_text(conversation.ended_at)}"
    head = [
        f"conversation {conversation.id} · {one_line(listed.title)}",
        _facts(times, conversation.source, conversation.project, listed.file),
        *([f"to resume it: {resume}"] if resume else []),
        "",
    ]
    page = _page(pieces, cursor, conversation.id, most_tokens - cost(about))
    return page.answer(head, {**about, "messages": page.told()})


def read_message(memory: "Memory", name: str, cursor: str = "", neighbours: int = USUAL_NEIGHBOURS) -> Answer:
    message = memory.history.message(name)
    before, after = _neighbours(memory, message, neighbours)
    files = memory.history.file_keys([message])
    around = {"conversation": message.conversation_id or "", "session_id": message.session_id, "cwd": message.cwd}
    around["file"] = files.get(message.file_id, "")
    # The message itself first, however long its neighbours are.
    pieces = [
        _message_piece(message, files, mark=">"),
        *(_message_piece(one, files, around) for one in (*before, *after)),
    ]
    page = _page(pieces, cursor, f"{message.id} {neighbours}", PAGE_TOKENS)
    told = {part.index: one for part, one in zip(page.parts, page.told(), strict=True)}
    numbers = list(range(1, len(pieces)))
    in_time = [*numbers[: len(before)], 0, *numbers[len(before) :]]
    place = f"{around['file']}:{message.line}"
    head = [
        _facts(f"message {message.id}", message.source, message.cwd, place),
        *([f"conversation {message.conversation_id}"] if message.conversation_id else []),
        "",
    ]
    structured = {
        "kind": "message",
        "id": message.id,
        **told.get(0, {}),
        "before": [told[number] for number in numbers[: len(before)] if number in told],
        "after": [told[number] for number in numbers[len(before) :] if number in told],
    }
    return page.answer(head, structured, in_time)


def _neighbours(memory: "Memory", message: "Message", number: int) -> tuple[list["Message"], list["Message"]]:
    """What was said before and after it: in its conversation, or by the same sub-agent. A message beside a conversation
    has what was said at its time."""
    if not number:
        return [], []
    if message.conversation_id:
        said = memory.history.messages(memory.history.conversation(message.conversation_id).conversation)
    else:
        said = memory.history.beside(message)
    places = [place for place, one in enumerate(said) if one.id == message.id]
    place = places[0] if places else bisect_left(said, message.at, key=lambda one: one.at)
    return said[max(0, place - number) : place], said[place + len(places[:1]) :][:number]


def _message_piece(
    message: "Message", files: dict[str, str], shared: dict[str, str] | None = None, mark: str = "-"
) -> "_Piece":
    """`shared`: what is said elsewhere in the answer, and not again where it is the same."""
    facts = [time_text(message.at), str(message.author), message.id]
    called = list(dict.fromkeys(message.tools))
    tools = f"tools: {', '.join(called)}" if called else ""
    place = {
        "conversation": message.conversation_id or "",
        "session_id": message.session_id,
        "cwd": message.cwd,
        "file": files.get(message.file_id, ""),
    }
    told = {
        "id": message.id,
        "author": str(message.author),
        "at": message.at,
        **({"tools": [one_line(name, MOST_TOOL_CHARACTERS) for name in called[:MOST_TOOLS]]} if called else {}),
        **({"number_of_tools": len(called)} if len(called) > MOST_TOOLS else {}),
        **{name: value for name, value in place.items() if value and value != (shared or {}).get(name)},
        "line": message.line,
    }
    head = f"{mark} {' · '.join(filter(None, (*facts, one_line(tools, 200))))}\n"
    return _Piece(head=head, body=message.text, end="\n", told=told)


# What was learned


def read_record(memory: "Memory", name: str, cursor: str = "") -> Answer:
    chain = memory.knowledge.why(name)
    fields, pieces = zip(*_record_pieces(chain, sources_of(memory, chain.record)), strict=True)
    page = _page(pieces, cursor, chain.record.id, PAGE_TOKENS)
    structured: dict[str, Any] = {"kind": "record", "id": chain.record.id}
    for part, told in zip(page.parts, page.told(), strict=True):
        field = fields[part.index]
        if field == "record":
            structured[field] = told
        else:
            structured.setdefault(field, []).append(told)
    return page.answer([], structured)


def _record_pieces(chain: "Chain", sources: list[Source]) -> list[tuple[str, "_Piece"]]:
    """(field of the answer, what stands there), in the order in which they are read."""
    record = chain.record
    told = {key: one for key, one in record_json(record).items() if key not in ("sources", "text") and one}
    pieces = [("record", _Piece(head=_record_head(record), body=record.text, end="\n", told=told))]
    pieces += [("sources", _source_piece(one)) for one in sources]
    older = [one for one in reversed(chain.versions) if one.version != record.version]
    pieces += [("versions", _version_piece(f"version {one.version}, believed from {time_text(one.believed_from)}", one))
               for one in older]  # fmt: skip
    for heading, field, records in (("in place of", "replaced", chain.replaced),
                                    ("replaced by", "replaced_by", chain.replaced_by)):  # fmt: skip
        pieces += [(field, _version_piece(f"{heading} record {one.id}", one)) for one in records]
    return pieces


def _record_head(record: "Record") -> str:
    about = " · ".join(part for part in (record.subject, record.attribute, record.value) if part)
    facts = [
        f"record {record.id} · {record.kind}, {record.category} · {record.state} · version {record.version}",
        f"learned {time_text(record.learned_at)} ({record.origin})",
        f"about: {one_line(about, 300)}" if about else "",
        f"tags: {one_line(', '.join(record.tags), 300)}" if record.tags else "",
        f"true until {time_text(record.true_until)}" if record.true_until else "",
        f"expires {time_text(record.expires_at)}" if record.expires_at else "",
    ]
    return "\n".join([*filter(None, facts), "", ""])


def _source_piece(source: Source) -> "_Piece":
    message = source.message
    told = {key: one for key, one in source_json(source).items() if key != "quote"}
    if message is None:
        words = f"from message {source.message_id}, which is not there any more or not to be seen from here"
        return _Piece(head=words, body="", told=told, key="quote")
    facts = [time_text(message.at), str(message.author), f"{source.file}:{message.line}"]
    conversation = f"conversation {message.conversation_id}" if message.conversation_id else ""
    head = " · ".join(filter(None, (f"from message {source.message_id}", *facts, conversation)))
    quote = one_line(source.quote or message.text, MOST_QUOTE_CHARACTERS)
    return _Piece(head=f"{head}\n  “", body=quote, end="”", told=told, key="quote")


def _version_piece(head: str, record: "Record") -> "_Piece":
    told = {
        "id": record.id,
        "version": record.version,
        "state": str(record.state),
        "believed_from": record.believed_from,
        "believed_until": record.believed_until,
    }
    return _Piece(head=f"{head}: ", body=record.text, told=told)


# What is written down


def read_note(memory: "Memory", name: str, cursor: str = "", most_tokens: int = PAGE_TOKENS) -> Answer:
    note = memory.notes.read(below_root(name))
    lines = clean(shown_of(note.text).text if note.is_text else "(no text)").split("\n")
    start = position_of(cursor, note.path, 2)
    about: dict[str, Any] = {
        "kind": "note",
        "id": note.path,
        "file": f"notes/{note.path}",
        "version": note.number,
        "at": note.at,
        **({} if any(start) else {"versions": _versions_of(memory, note.path)}),
    }
    parts, following = page_of(lines, start, most_tokens - cost(about), lambda index: NUMBER_TOKENS)
    size = f"{amount_text(len(lines), 'line')}, {amount_text(note.size, 'byte')}"
    head = [f"note {ROOT}/{note.path} · version {note.number} of {time_text(note.at)} · {size}", ""]
    numbered = [f"{part.index + 1:6}\t{_piece_text(part)}" for part in parts]
    structured = {
        **about,
        "line": parts[0].index + 1 if parts else 1,
        "text": "\n".join(part.text for part in parts),
    }
    return _paged([*head, *numbered], structured, note.path, following)


def _versions_of(memory: "Memory", path: str) -> list[dict[str, Any]]:
    """On the first page alone, and in short: they are beside the text."""
    return [
        {
            "number": one.number,
            "at": one.at,
            "by": one.actor_name or one.actor,
            "reason": one_line(one.reason, MOST_REASON_CHARACTERS),
        }
        for one in reversed(memory.notes.history(path)[-MOST_VERSIONS:])
    ]


# Pages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """One thing of an answer: for a model head, body and end, for a program an object that has the body as `key`."""

    head: str
    body: str
    end: str = ""
    told: dict[str, Any]
    key: str = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    about: str
    pieces: Sequence[_Piece]
    parts: list[Part]
    following: tuple[int, int] | None

    def told(self) -> list[dict[str, Any]]:
        """Of each part. A body that does not end on this page says so, and goes on in the first of the next."""
        return [
            {**piece.told, piece.key: part.text, **({"goes_on": True} if part.goes_on else {})}
            for part, piece in ((part, self.pieces[part.index]) for part in self.parts)
        ]

    def answer(self, head: list[str], structured: dict[str, Any], order: Sequence[int] | None = None) -> Answer:
        """`order`: of the pieces in the text; without it, as they came."""
        by_index = {part.index: part for part in self.parts}
        shown = [by_index[index] for index in order or sorted(by_index) if index in by_index]
        return _paged([*head, *map(self._text, shown)], structured, self.about, self.following)

    def _text(self, part: Part) -> str:
        piece = self.pieces[part.index]
        begins = INDENT if piece.head.endswith("\n") else ""
        return f"{piece.head}{begins}{_indented(_piece_text(part))}{piece.end}"


def _page(pieces: Sequence[_Piece], cursor: str, about: str, most_tokens: int) -> _Page:
    start = position_of(cursor, about, 2)

    def beside(index: int) -> int:
        piece = pieces[index]
        return max(tokens.estimate(piece.head + piece.end), cost(piece.told) + FIELD_TOKENS)

    bodies = Lazily(lambda piece: _safe(piece.body), pieces)
    parts, following = page_of(bodies, start, most_tokens, beside, _measured)
    return _Page(about=about, pieces=pieces, parts=parts, following=following)


def _paged(lines: list[str], structured: dict[str, Any], about: str, following: tuple[int, int] | None) -> Answer:
    cursor = cursor_of(about, *following) if following else ""
    return Answer(
        text="\n".join(lines),
        structured=structured,
        footer=f'[It goes on: cursor "{cursor}".]' if cursor else "",
        tokens={"next_cursor": cursor} if cursor else {},
    )


def _piece_text(part: Part) -> str:
    return f"{_CUT if part.is_begun_before else ''}{part.text}{_CUT if part.goes_on else ''}"


def _facts(*facts: str) -> str:
    return one_line(" · ".join(filter(None, facts)), MOST_FACTS_CHARACTERS)


def _indented(text: str) -> str:
    """No line of it begins where the head of a piece does: what somebody said is not taken for another's turn."""
    return _LINE_END.sub(lambda end: end[0] + INDENT, text)


def _measured(text: str) -> int:
    return max(cost(text), tokens.estimate(_indented(text)))


def _safe(text: str) -> str:
    """Masked before it is cut: half a credential is not recognised any more."""
    return mask(clean(text))
