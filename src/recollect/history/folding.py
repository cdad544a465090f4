"""From the lines of a block to what has to be stored, without touching the database.

`Fold` walks the records of one file in order and keeps the little it must remember between blocks (`FoldState`): the
working folder, the time, the session, what was typed ahead, whether a private stretch runs, and whether the last line
has ended. That state is stored with the file, so reading in any number of parts gives the same result.
"""

from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import msgspec

from recollect.history.burial import Buried, read_remnant, remnant_of
from recollect.history.counts import Problem, add_to
from recollect.history.detection import FirstFacts
from recollect.history.fold_state import Batch, FoldState, ForgottenPrompt
from recollect.history.messages import (
    SUMMARY_CHARACTERS,
    TOOL_TEXT_CHARACTERS,
    Author,
    Entry,
    Place,
    Standing,
    Turn,
    begin,
)
from recollect.history.privacy import Ignore, is_own_call, is_own_text, private_mark
from recollect.history.reading import Line
from recollect.history.records import FORGOTTEN, KnownRecords, Stored, recover, strip_padding
from recollect.history.sources import BadRecord, FileFacts, Source
from recollect.history.spans import Span
from recollect.history.threads import stream_title
from recollect.history.typed_ahead import TypedAhead
from recollect.history.vault import Packer, digest_of
from recollect.ids import derived_id
from recollect.redaction import mask, mask_json

BAD = "(unreadable)"
MAX_RECORDS = 500
"""Of one message. No reply has so many; a program that gives all its replies one id would make one endless message."""
RECENT_MESSAGES = 16
TITLE_CHARACTERS = 300
MAX_PROBLEMS = 50
"""Bad lines reported one by one for a file; all of them are counted."""


Packing = tuple[dict[int, int], Future[list[bytes]]]
"""A block being compressed: where each record, by its identity, stands in the result."""


class Fold:
    def __init__(
        self,
        *,
        source: Source,
        facts: FileFacts,
        file_id: str,
        generation: int,
        state: FoldState,
        ignore: Ignore,
        spans: list[Span],
        keep_raw: bool,
        path: str,
        packer: Packer,
        first: FirstFacts = FirstFacts(),  # noqa: B008  frozen
        known: KnownRecords | None = None,
        is_derived: bool = False,
        is_partial: bool = False,
        undated_at: str = "",
        buried: Buried | None = None,
        scope: str = "",
    ) -> None:
        self._source = source
        self._remembers = type(source).settle is not Source.settle
        self._facts = facts
        self._file_id = file_id
        self._generation = generation
        self.state = state
        state.folder = facts.cwd or state.folder
        state.cwd = state.cwd or state.folder
        self._typed_ahead = TypedAhead.from_json(state.waiting)
        self._ignore = ignore
        self._is_derived = is_derived
        self._is_partial = is_partial
        self._undated_at = undated_at
        self._buried = buried
        self._scope = scope
        # A session's own file shows where its private stretches begin and end; others only know the times.
        shows_them = facts.kind == "session" and not is_partial
        self._spans = [span for span in spans if not span.session_id or not shows_them]
        self._first = first
        self._keep_raw = keep_raw
        self._path = path
        self._known: KnownRecords = {} if known is None else known
        self._packer = packer
        self._batch = Batch()

    def fold(self, lines: list[Line], at_end: bool) -> Batch:
        """Take these lines. `at_end`: nothing follows them in the file now."""
        batch = self._batch = Batch(end=lines[0].start, newlines=lines[0].number - 1)
        padded = [strip_padding(line.raw) for line in lines]
        packing = self._start_packing([raw for _, raw in padded if raw])
        for line, (offset, raw) in zip(lines, padded, strict=True):
            if not line.ended and not line.fragment and not (at_end and self._is_whole(raw)):
                break
            self._take_line(line, offset, raw)
            batch.end = line.start + len(line.raw) + line.ended
            batch.newlines = line.number - (not line.ended)
        self.state.waiting = self._typed_ahead.to_json()
        self._finish_packing(packing)
        return batch

    def _start_packing(self, records: list[bytes]) -> Packing | None:
        """Most lines are kept as they are: compress them all while they are parsed."""
        if self._known or not self._keep_raw or not records:
            return None
        return {id(raw): index for index, raw in enumerate(records)}, self._packer.start(records)

    def _finish_packing(self, packing: Packing | None) -> None:
        places, future = packing or ({}, None)
        packed = future.result() if future else []
        for record in self._batch.records:
            if record.was and self._keep_raw and record.kind != FORGOTTEN:
                record.raw = b""
            else:
                place = places.get(id(record.raw))
                record.raw = self._packer.pack(record.raw) if place is None else packed[place]

    def _is_whole(self, raw: bytes) -> bool:
        """The start of a record is never a record, so a last line that reads as one is complete."""
        try:
            self._source.parse(raw, self._facts)
        except BadRecord:
            return False
        return True

    def _take_line(self, line: Line, offset: int, raw: bytes) -> None:
        opened = self.state.open_line
        counts = self._batch.counts
        if line.fragment:
            self._take_fragment(line)
            return
        if line.forgotten:
            self._take_remnant(line)
            return
        if not raw:
            if line.ended:
                self.state.open_line = None
            return
        self.state.open_line = None
        if opened:
            self._reopen(opened)
        else:
            counts.lines += 1
        try:
            entry = self._source.parse(raw, self._facts)
        except BadRecord as error:
            counts.bad += not opened
            self._recover(line, offset, raw, str(error))
            return
        if opened:
            counts.recovered += 1
        else:
            counts.parsed += 1
            counts.count_record(entry.kind, entry.counted_blocks)
        if not line.ended:
            self.state.open_line = [entry.kind, list(entry.counted_blocks), bool(opened)]
        self._take_entry(entry, raw, line.start + offset, line.number)

    def _take_fragment(self, line: Line) -> None:
        """A part of a line that is too long: kept, byte for byte, and counted once, with its last part."""
        self._batch.counts.lines += line.ended
        self._batch.counts.bad += line.ended
        if line.raw:
            self._keep_unreadable(line.start, line, line.raw, "the line is too long to be read as one record")

    def _reopen(self, opened: list[Any]) -> None:
        """The line that was taken as complete goes on: what it holds is several records on one line."""
        kind, blocks, is_recovered = opened
        if is_recovered:
            return
        counts = self._batch.counts
        counts.parsed -= 1
        counts.bad += 1
        counts.recovered += 1
        counts.count_record(kind, tuple(blocks), by=-1)

    def _recover(self, line: Line, offset: int, raw: bytes, reason: str) -> None:
        parts = recover(raw)
        readable = 0
        for part in parts:
            start = line.start + offset + part.offset
            try:
                if not part.whole:
                    raise BadRecord(reason)
                entry = self._source.parse(part.raw, self._facts)
            except BadRecord as error:
                self._keep_unreadable(start, line, part.raw, str(error))
                continue
            readable += 1
            self._take_entry(entry, part.raw, start, line.number)
        self._batch.counts.recovered += readable
        if readable == len(parts):
            self._report(line.number, f"{readable} records on one line; all were read")

    def _keep_unreadable(self, start: int, line: Line, raw: bytes, reason: str) -> None:
        self.state.quiet_lines += 1
        self._report(line.number, f"{reason}; kept as it is")
        if self._is_kept_out(self.state.last_session_id, self.state.at, self.state.cwd):
            return
        if self._buried and self._buried.has_line(digest_of(raw), self._scope):
            self._keep_forgotten(start, line.number, len(raw), b"")
        else:
            self._keep(start, line.number, raw, BAD, None)

    def _report(self, line: int, reason: str) -> None:
        if len(self._batch.problems) < MAX_PROBLEMS:
            self._batch.problems.append(Problem(file=self._path, line=line, reason=reason))

    def _take_entry(self, entry: Entry, raw: bytes, start: int, line: int) -> None:
        if self._remembers:
            self._source.settle(entry, self.state.memory)
        self._inherit(entry)
        is_known = bool(self._undated_at and self._known) and digest_of(raw) in self._known
        if self._stays_out(entry, "" if is_known else self._undated_at) or is_own_text(entry, raw):
            self._batch.counts.private += 1
            return
        if entry.key and entry.key_by_place:
            entry.key = derived_id(entry.key, str(start))
        elif entry.uuid and entry.key not in ("", entry.uuid):
            self._limit_records(entry)
        hide_secrets(entry)
        if self._buried and self._is_buried(self._buried, entry, raw):
            name = self._buried.message(entry.key) if entry.key else ""
            self._keep_forgotten(start, line, len(raw), remnant_of(entry, self.state.memory, name).to_bytes())
            self._follow_forgotten(entry, name, start)
            return
        if entry.queue:
            self._follow_queue(entry)
        elif entry.key and entry.standing is Standing.SAID and entry.author is Author.USER:
            self._mark(self._typed_ahead.repeated_by(entry.text, self.state.at), Standing.REPEATED)
        self._keep(start, line, raw, entry.kind, entry.key or None)
        self._follow_branches(entry, start)
        if entry.key:
            self.state.quiet_lines = 0
            self.state.has_spoken = True
            self._batch.counts.in_messages += 1
            self._add_to_message(entry, start, line)
        else:
            self.state.quiet_lines += 1
            add_to(self._batch.counts.silent_types, entry.kind, 1)
        if entry.title and not self.state.hides_title:
            self._take_title(entry)
        for kind, other in entry.links:
            self._link(entry.session_id, other, kind)

    def _is_buried(self, buried: Buried, entry: Entry, raw: bytes) -> bool:
        scope = self._scope if entry.key_by_place or not (entry.at or entry.uuid) else ""
        is_prompt = self._facts.kind == "prompts"
        return buried.has_line(digest_of(raw), scope) or buried.has_entry(entry, raw, is_prompt=is_prompt)

    def _take_remnant(self, line: Line) -> None:
        """A record that was forgotten, out of the vault."""
        counts = self._batch.counts
        counts.lines += 1
        remnant = read_remnant(line.raw)
        if remnant:
            counts.parsed += 1
            counts.count_record(remnant.entry.kind, remnant.entry.counted_blocks)
            self.state.memory = dict(remnant.memory)
            self._inherit(remnant.entry)
            self._follow_forgotten(remnant.entry, remnant.message, line.start)
        else:
            counts.bad += 1
        self._keep_forgotten(line.start, line.number, 0, line.raw)

    def _keep_forgotten(self, start: int, line: int, length: int, remnant: bytes) -> None:
        """Its place stays, so that what comes after it is found where it stands. A length of 0: what the vault has."""
        self._batch.counts.forgotten += 1
        self._batch.has_forgotten_head |= line == 1
        known = self._known.get(0)
        was = known.popleft() if known else None
        self._batch.records.append(Stored(start, line, 0, FORGOTTEN, None, length, remnant, was))

    def _follow_forgotten(self, entry: Entry, name: str, start: int) -> None:
        """What a forgotten record does to others: it said something, but what it said is not here any more."""
        state, is_said = self.state, entry.author is Author.USER and entry.standing is Standing.SAID
        if entry.queue == "enqueue":
            self._typed_ahead.enqueue_forgotten()
        elif entry.queue == "withdraw":
            self._mark(self._typed_ahead.withdraw(entry.text), Standing.WITHDRAWN)
        elif entry.queue:
            self._typed_ahead.deliver_forgotten(state.at)
        elif name and is_said:
            self._typed_ahead.drop_forgotten()
            if all(prompt.name != name for prompt in state.forgotten_prompts):
                state.forgotten_prompts.append(ForgottenPrompt(start, entry.parent_id, name))
        if name:
            state.quiet_lines = 0
            state.has_spoken = True
        self._follow_branches(entry, start)
        for kind, other in entry.links:
            self._link(entry.session_id, other, kind)

    def _follow_branches(self, entry: Entry, start: int) -> None:
        if entry.back_to or entry.back_turns > 0:
            name = self._buried.message(entry.back_to) if self._buried else ""
            turn = Turn(start_byte=start, to=entry.back_to, prompts=entry.back_turns, forgotten=name)
            self._batch.turns.append(turn)
        state = self.state
        if entry.left[0]:
            state.left = entry.left
        if not entry.uuid or not (entry.follows or state.last_uuid):
            return
        if state.last_uuid not in ("", entry.follows):
            self._batch.has_jumped = state.must_follow = True
        state.last_uuid = entry.uuid

    def _limit_records(self, entry: Entry) -> None:
        recent = self.state.recent
        number = recent.pop(entry.key, 0) + 1
        recent[entry.key] = number
        if len(recent) > RECENT_MESSAGES:
            del recent[next(iter(recent))]
        if number > MAX_RECORDS:
            entry.key = entry.uuid

    def _inherit(self, entry: Entry) -> None:
        state = self.state
        if entry.at and entry.at > state.at:
            state.at = entry.at
        if not state.session_id and self._facts.kind != "prompts":
            state.session_id = self._facts.session_id or entry.session_id
        if entry.cwd:
            state.cwd = entry.cwd
        else:
            entry.cwd = state.cwd
        entry.session_id = entry.session_id or state.session_id
        if self._facts.kind == "session" and entry.session_id != state.session_id and not entry.stream:
            self._link(state.session_id, entry.session_id, "resume")

    def _stays_out(self, entry: Entry, undated_at: str) -> bool:
        state, session_id = self.state, entry.session_id
        state.last_session_id = session_id
        if is_own_call(entry) and session_id not in state.own_sessions:
            state.own_sessions.append(session_id)
            self._note_span(entry, "own")
        mark = private_mark(entry)
        if mark == "start" and session_id not in state.private_sessions:
            state.private_sessions.append(session_id)
            self._note_span(entry, "private")
        elif mark == "end" and (session_id in state.private_sessions or self._is_partial):
            self._end_private(session_id, entry.at or state.at)
        at = entry.at or state.at or self._first.at or undated_at
        stays_out = bool(mark) or self._is_kept_out(session_id, at, entry.cwd)
        if stays_out:
            state.has_left_out = True
            if self._is_derived and not state.has_spoken:
                self._forget_beginning()
        return stays_out or (state.has_left_out and (entry.repeats or entry.message_kind == "summary"))

    def _forget_beginning(self) -> None:
        """What a source puts before the first words, such as a title made from them, stays out with them."""
        self.state.hides_title = True
        self._batch.records.clear()
        self._batch.titles.clear()
        self._batch.title = ""

    def _end_private(self, session_id: str, at: str) -> None:
        if session_id in self.state.private_sessions:
            self.state.private_sessions.remove(session_id)
        if session_id:
            self._batch.spans.append(Span(session_id=session_id, starts_at="", ends_at=at, reason="private"))
            self._spans = [
                replace(span, ends_at=at) if span.session_id == session_id and span.ends_at is None else span
                for span in self._spans
            ]

    def _is_kept_out(self, session_id: str, at: str, cwd: str) -> bool:
        state = self.state
        if session_id in state.own_sessions or session_id in state.private_sessions:
            return True
        if self._spans and any(span.covers(session_id, at or self._first.at) for span in self._spans):
            return True
        folder = cwd or self._first.cwd
        return bool(folder) and self._ignore.keeps_out_project(folder)

    def _note_span(self, entry: Entry, reason: str) -> None:
        """Sub-agents of this session write files of their own: they are told by the time."""
        starts_at = entry.at or self.state.at
        if starts_at and entry.session_id:
            self._batch.spans.append(
                Span(session_id=entry.session_id, starts_at=starts_at, ends_at=None, reason=reason)
            )

    def _follow_queue(self, entry: Entry) -> None:
        if entry.queue == "enqueue" and entry.key:
            self._typed_ahead.enqueue(entry.key, entry.text)
        elif entry.queue == "dequeue":
            self._typed_ahead.deliver(self.state.at)
        elif entry.queue == "withdraw":
            self._mark(self._typed_ahead.withdraw(entry.text), Standing.WITHDRAWN)
        elif entry.queue == "remove" and self._typed_ahead.deliver(self.state.at, entry.text if entry.key else ""):
            entry.key = ""  # The words stand in the message made when they were typed.

    def _mark(self, message_ids: list[str], standing: Standing) -> None:
        for message_id in message_ids:
            message = self._batch.messages.get(message_id)
            if message:
                message.standing = standing
            else:
                self._batch.standings[message_id] = standing

    def _keep(self, start: int, line: int, raw: bytes, kind: str, message_id: str | None) -> None:
        digest = digest_of(raw)
        known = self._known.get(digest)
        kept = raw if self._keep_raw else _masked_record(raw)
        was = known.popleft() if known else None
        self._batch.records.append(Stored(start, line, digest, kind, message_id, len(raw), kept, was))

    def _add_to_message(self, entry: Entry, start: int, line: int) -> None:
        if entry.replaces:
            self._batch.restated.add(entry.key)
        message = self._batch.messages.get(entry.key)
        if message:
            message.take(entry, line)
            return
        place = Place(file_id=self._file_id, generation=self._generation, start_byte=start, line=line)
        self._batch.messages[entry.key] = begin(
            entry, place, self._source.name, self._is_home(entry), entry.at or self.state.at
        )

    def _is_home(self, entry: Entry) -> bool:
        return is_home(entry, self._facts, self.state.session_id)

    def _take_title(self, entry: Entry) -> None:
        if entry.title_leaf:
            self._batch.titles[entry.title_leaf] = mask(entry.title)[:TITLE_CHARACTERS]
        elif entry.stream:
            self._batch.titles[stream_title(self._file_id, entry.stream)] = mask(entry.title)[:TITLE_CHARACTERS]
        elif entry.title_by_user or not self.state.title_by_user:
            self.state.title_by_user = entry.title_by_user
            self._batch.title = mask(entry.title)[:TITLE_CHARACTERS]

    def _link(self, session_id: str, other: str, kind: str) -> None:
        if session_id and other and session_id != other:
            self._batch.links.add((session_id, other, kind))


def is_home(entry: Entry, facts: FileFacts, session_id: str) -> bool:
    """Whether a record stands in the file it was written for, and is not a copy in another."""
    return facts.kind != "compaction" and entry.session_id == session_id and entry.agent_id == facts.agent_id


def hide_secrets(entry: Entry) -> None:
    """Mask credentials in everything that leaves the vault, then cut what is kept short."""
    words, masked = entry.text, ""
    for block in entry.blocks:
        if block["type"] == "text":
            text = block["text"]
            block["text"] = mask(text)
            if text is words:
                masked = block["text"]
        elif block["type"] == "tool_call" and block["summary"]:
            block["summary"] = " ".join(mask(block["summary"]).split())[:SUMMARY_CHARACTERS]
        elif block["type"] in ("image", "document") and isinstance(block.get("name"), str):
            block["name"] = mask(block["name"])
    if words:
        entry.text = masked or mask(words)
        if entry.author is Author.TOOL:
            entry.text = entry.text[:TOOL_TEXT_CHARACTERS]


def _masked_record(raw: bytes) -> bytes:
    try:
        return msgspec.json.encode(mask_json(msgspec.json.decode(raw)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return mask(raw.decode("utf-8", "replace")).encode()
