"""Aider: one Markdown file for each project, `.aider.chat.history.md`, to which every session is appended.

Nothing in it has an id, and only the start of a session has a time. Who said a line is told by how Aider writes it
(`aider/io.py`, versions 0.14 to 0.86): a prompt stands below an empty line, each of its lines begins with `#### `
and ends with two spaces; a line of output begins with `> ` and ends with two spaces; a reply stands between empty
lines as the model gave it. So a heading or a quotation in a reply, which has no such spaces, is no prompt and no
output. Facts behind each rule: `docs/sources/aider.md`.

What a line is depends on the lines before it alone: when the file grows, only the last record can change.
"""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from recollect.clock import parse_time
from recollect.history.messages import Author, Entry, Standing
from recollect.history.sources.documents import line_of
from recollect.history.sources.fields import as_text, output_text, read_object, short, text_block, tool_result
from recollect.history.sources.source import BadRecord, Computer, FileFacts, Head, Opened, Source, Transcript, key_below
from recollect.ids import derived_id
from recollect.redaction import mask

NAME = "aider"

_NAMES = (".aider.chat.history.md", "aider.chat.history.md")
_BLOCK_BYTES = 1 << 20
_MAX_LINE_BYTES = 8 << 20
_MAX_MESSAGE_CHARACTERS = 4 << 20
"""A longer message is given in several: no model writes so much, but a file that is no history of Aider may."""

_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_START_IN_HEAD = re.compile(rb"(?m)^# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_MODEL = re.compile(r"(?:Main model|Models?): (\S+) with ")
_COMMAND = re.compile(r"(/[a-z][a-z-]*)(?=\s|\Z)")
_LETS_EDIT = re.compile(r"Edit the files\?.*: y")
_ANSWER = re.compile(r"[^\n]*\(Y\)es/\(N\)o[^\n]*\]: ?\w+")
_SPOKEN_COMMANDS = {"/ask": 3, "/architect": 3, "/code": 4, "/context": 5, "/copy-context": 6, "/help": 2}
"""Commands that carry words for the model, and how much of the name Aider needs to know which is meant."""
_MACHINE_PROMPTS = (("# Question: ", "context"), ("# Fix any errors below, if possible.", "task"))
"""How the texts begin that `/help` and `/lint` send in the user's name."""


class Aider(Source):
    name = NAME
    title = "Aider"

    def places(self, computer: Computer) -> list[str]:
        named = computer.configured("AIDER_CHAT_HISTORY_FILE", _NAMES[0])
        return [named] if _is_absolute(named) else [computer.below_home(_NAMES[0])]

    def is_candidate(self, path: str) -> bool:
        return path.endswith(_NAMES[1]) and path.replace("\\", "/").rpartition("/")[2] in _NAMES

    def recognises(self, head: Head) -> bool:
        start = head.start.lstrip(b"\xef\xbb\xbf\x00 \t\r\n")
        found = _START_IN_HEAD.search(start)
        return found is not None and (found.start() == 0 or head.name in _NAMES)

    def locate(self, path: str, root: str) -> FileFacts:
        key = key_below(path, root)
        folder, _, name = path.replace("\\", "/").rpartition("/")
        return FileFacts(
            key=name if key == "." else key, kind="session", cwd=folder if folder and _is_absolute(path) else ""
        )

    def transcripts(self, opened: Opened, facts: FileFacts) -> Iterator[Transcript] | None:
        return iter([Transcript(facts=facts, records=_records(opened.file))])

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        role, text = record.get("role"), record.get("text")
        if role not in ("user", "assistant", "tool") or not isinstance(text, str):
            raise BadRecord("no part of a chat of Aider: expected a role and a text")
        started = short(record.get("session"))
        number = short(record.get("number"))
        entry = Entry(kind=str(role), at=parse_time(started), cwd=facts.cwd, replaces=True)
        entry.session_id = entry.stream = started if number in ("", "1") else f"{started} ({number})"
        entry.key_by_place = not started
        scope = (started, number) if started else (facts.key, "")
        entry.key = derived_id(NAME, *scope, short(record.get("index")), str(role), short(record.get("turn")))
        _READERS[str(role)](entry, record, as_text(text))
        entry.counted_blocks = tuple(f"{role}:{block['type']}" for block in entry.blocks)
        return entry


def _is_absolute(path: str) -> bool:
    return path[:1] in ("/", "\\") or path[1:2] == ":"


def _read_prompt(entry: Entry, record: dict[str, Any], text: str) -> None:
    """Not all that stands there as typed was typed: Aider also speaks to itself in the user's name."""
    entry.text = text
    entry.blocks = [text_block(text)]
    entry.author, entry.standing = Author.USER, Standing.SAID
    machine = next((kind for opening, kind in _MACHINE_PROMPTS if text.startswith(opening)), "")
    if record.get("as") == "handover":
        machine = "task"
    if machine:
        entry.author, entry.standing, entry.message_kind = Author.MACHINE, Standing.ASIDE, machine
    elif record.get("as") == "repeated":
        entry.standing = Standing.REPEATED
    elif text == "<blank>":
        entry.standing, entry.message_kind = Standing.ASIDE, "empty"
    elif _ANSWER.fullmatch(text):
        entry.standing, entry.message_kind = Standing.ASIDE, "answer"
    elif text.startswith(("!", "/run ")):
        entry.message_kind = "shell"
    elif _COMMAND.match(text):
        entry.message_kind = "command"
        entry.standing = Standing.SAID if _spoken_words(text) else Standing.ASIDE


def _read_reply(entry: Entry, record: dict[str, Any], text: str) -> None:
    entry.author, entry.standing = Author.ASSISTANT, Standing.SAID
    entry.model = short(record.get("model"))
    entry.text = text
    entry.blocks = [text_block(text)]


def _read_output(entry: Entry, record: dict[str, Any], text: str) -> None:
    entry.author, entry.message_kind = Author.TOOL, "output"
    entry.text, characters = output_text([text])
    entry.blocks = [tool_result("", characters)]


_READERS = {"user": _read_prompt, "assistant": _read_reply, "tool": _read_output}


def _spoken_words(prompt: str) -> str:
    """What a command says to the model; empty for one that only tells Aider what to do."""
    command = _COMMAND.match(prompt)
    if not command:
        return ""
    name = command[1]
    is_spoken = any(len(name) >= least and full.startswith(name) for full, least in _SPOKEN_COMMANDS.items())
    return prompt[command.end() :].strip() if is_spoken else ""


def _records(file: BinaryIO) -> Iterator[bytes]:
    chat = _Chat()
    for line in _lines(file):
        yield from chat.take(line)
    yield from chat.end_message()


def _lines(file: BinaryIO) -> Iterator[str]:
    """Whole lines. One that is still being written is kept back while it may yet begin a prompt or output."""
    rest = b""
    is_first = True
    while block := file.read(_BLOCK_BYTES):
        pieces = (rest + block).split(b"\n")
        rest = pieces.pop()
        if len(rest) > _MAX_LINE_BYTES:
            pieces.append(rest)
            rest = b""
        for piece in pieces:
            yield _decoded(piece.removeprefix(b"\xef\xbb\xbf") if is_first else piece)
            is_first = False
    if rest and rest[:1] not in b"#>":
        yield _decoded(rest)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").removesuffix("\r")


class _Chat:
    """Puts lines together to messages, session after session."""

    def __init__(self) -> None:
        self._starts: dict[str, int] = {}
        self._begin_session("")

    def _begin_session(self, started: str) -> None:
        self._session = started
        self._number = self._starts[started] = self._starts.get(started, 0) + 1
        self._index = 0
        self._role = ""
        self._lines: list[str] = []
        self._characters = 0
        self._is_below_empty = True
        self._is_open = False
        """The line before is output that goes on: several lines written at once have only one `> ` and one end."""
        self._has_ends: bool | None = None
        """Whether prompts and output still have the two spaces at their ends, which editors take away."""
        self._turn = ""
        self._model = ""
        self._asked = ""
        self._reply = ""
        self._last_output = ""

    def take(self, line: str) -> Iterator[bytes]:
        """One more line; gives the record of the message that it ends, if it does."""
        start = _START.fullmatch(line) if self._is_below_empty else None
        if start:
            yield from self.end_message()
            self._begin_session(start[1])
            return
        if not line.strip():
            self._is_below_empty = True
            self._lines.append("")
            return
        role, text = self._read(line)
        is_new = role != self._role or (role == "user" and self._is_below_empty)
        if is_new or self._characters > _MAX_MESSAGE_CHARACTERS:
            yield from self.end_message()
            self._role = role
            if role == "user":
                self._turn = derived_id(mask(text[:500]))
        self._lines.append(text)
        self._characters += len(text)
        self._is_below_empty = False

    def _read(self, line: str) -> tuple[str, str]:
        """Whose line it is, and what it says."""
        is_ended = line.endswith("  ")
        is_prompt = line.startswith("#### ") or line == "####"
        is_output = line.startswith("> ") or line == ">"
        if self._has_ends is None and (is_prompt or is_output):
            self._has_ends = is_ended
        fits = is_ended or not self._has_ends
        if is_prompt and fits and (self._is_below_empty or self._role == "user"):
            self._is_open = False
            return "user", line[5:].removesuffix("  ")
        if self._is_open:
            self._is_open = not is_ended
            return "tool", line.rstrip()
        is_beside = not self._is_below_empty and self._role in ("user", "tool")
        if is_output and (is_beside or not self._role or (self._is_below_empty and fits)):
            self._is_open = not fits
            return "tool", line[2:].rstrip()
        if is_beside and self._role == "tool":
            self._is_open = not fits
            return "tool", line.rstrip()
        return "assistant", line

    def end_message(self) -> Iterator[bytes]:
        """The record of the message so far, if it says anything."""
        text = "\n".join(self._lines).strip()
        self._lines.clear()
        self._characters = 0
        role, self._role = self._role, ""
        if not role:
            return
        record: dict[str, object] = {
            "session": self._session,
            "number": self._number,
            "index": self._index,
            "role": role,
            "text": text,
            "turn": self._turn,
        }
        self._index += 1
        if role == "user":
            self._note_prompt(record, text)
        elif role == "assistant":
            self._asked = self._last_output = ""
            self._reply = text
            if self._model:
                record["model"] = self._model
        else:
            self._last_output = text.rpartition("\n")[2]
            for model in _MODEL.finditer(text):
                self._model = model[1]
        if text:
            yield line_of(record)

    def _note_prompt(self, record: dict[str, object], text: str) -> None:
        """`/ask` and its like are written twice, with and without the command; a plan is handed to the editor."""
        if self._asked and _is_same(text, self._asked):
            record["as"] = "repeated"
        elif _LETS_EDIT.fullmatch(self._last_output) or (self._reply and _is_same(text, self._reply)):
            record["as"] = "handover"
        self._asked = _spoken_words(text)
        self._last_output = ""


def _is_same(one: str, other: str) -> bool:
    return [line.rstrip() for line in one.splitlines()] == [line.rstrip() for line in other.splitlines()]
