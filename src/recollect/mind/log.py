"""Writing down what is said, before it goes anywhere: one transaction for the message in history and its place here.

Each record is one line of the agent's transcript in the vault (`history.sources.recollect`). What a turn says last, its
end, and where it is to be delivered commit together: after a crash an answer is either there, once, or not at all.
"""

import base64
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from recollect.clock import Clock, from_text, to_text
from recollect.context.system_prompt import moment
from recollect.database import Database, Session
from recollect.errors import RecollectError
from recollect.history.appending import Appending
from recollect.history.burial import is_buried
from recollect.history.sources.recollect import FORM, NAME, message_id, session_of
from recollect.history.sources.source import FileFacts
from recollect.ids import derived_id, new_id
from recollect.llm.talking import Block
from recollect.mind.channel import Said
from recollect.mind.conversation import words_of
from recollect.mind.entries import CompactionRow, Entry, EntryState, Role, Standing, TurnRow, TurnState, Written
from recollect.mind.store import MindStore

READ_AT_ONCE = 4
"""Records: one may hold a file of 20 MB."""


class Overtaken(RecollectError):
    """The array is not what it was made from any more: something was forgotten, or another program has the turn.
    Whoever runs it begins with what stands in the log by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A turn that is to be run: a new one, or one that a crash cut off."""

    turn: int
    written: list[Written]
    is_resumed: bool = False
    attempts: int = 1
    """How often it was begun."""

    @property
    def places(self) -> list[tuple[str, str]]:
        """Where its answer goes: (channel, address)."""
        said = [(one.entry.channel, one.entry.address) for one in self.written if one.entry.role is Role.USER]
        return list(dict.fromkeys(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """How the conversation stands, at one moment."""

    outreaches: list[TurnRow]
    """With which the agent wrote first, the newest first."""
    arrived: dict[int, str]
    """By the turn of each, when it was sent: a line that is down makes that hours later."""
    said: list[Entry]
    """By users, the newest first."""
    spoken: list[Written]
    """By anybody, the oldest first."""
    last_word_at: str
    """When somebody last said something, also where that was forgotten since. Empty: nobody has."""
    is_open: bool
    """A turn is in flight, or was cut off."""
    waiting: int
    undelivered: dict[str, int]
    """Of what the agent said first, by each channel."""
    last_number: int
    forgotten: int
    """How many acts of forgetting there have been."""


class Log:
    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        agent: str,
        appending: Callable[[], Appending],
        is_ours: Callable[[Session], bool],
    ) -> None:
        """`agent`: its scope. `is_ours`: whether the turns are (still) for this program to run."""
        self._database = database
        self._house = house
        self._clock = clock
        self._agent = agent
        self._facts = FileFacts(key=f"mind/{agent}", kind="session", session_id=session_of(agent), is_unique=True)
        self._appending = appending
        self._is_ours = is_ours

    # Hearing

    def hear(self, said: Said) -> Entry | None:
        """What was heard under the same key before is not heard again: then the entry is that one, or None where it was
        forgotten since."""
        at = to_text(self._clock())
        content = _content_of(said)
        head = f"[{moment(from_text(at))}, {said.channel}]"
        record = self._record(Role.USER, at, content, channel=said.channel, head=head)
        if said.key:
            record["id"] = derived_id(self._agent, said.channel, said.key)
        with self._database.write() as session:
            store = self._store(session)
            if said.key and (known := store.heard(said.channel, said.key)):
                return known
            if said.key and is_buried(session, self._house, message_id(record["id"])):
                return None
            return store.add(
                self._append(session, record),
                Role.USER,
                at,
                state=EntryState.WAITING,
                channel=said.channel,
                address=said.address,
                channel_key=said.key,
            )

    def heard(self, channel: str, channel_key: str) -> str:
        with self._database.read() as session:
            entry = self._store(session).heard(channel, channel_key)
            found = self._written(session, [entry]) if entry else []
        return "".join(words_of(one.record) for one in found)

    def withdraw(self, channel: str, address: str) -> int:
        with self._database.write() as session:
            return self._store(session).withdraw(channel, address)

    def withdraw_key(self, channel: str, channel_key: str) -> bool:
        with self._database.write() as session:
            return self._store(session).withdraw_key(channel, channel_key)

    def has_work(self) -> bool:
        with self._database.read() as session:
            store = self._store(session)
            return bool(store.waiting()) or store.open_turn() is not None

    def has_work_for(self, channels: Collection[str], before: str) -> bool:
        """Whether something waits that came by these channels, or so long that nobody else seems to answer it."""
        with self._database.read() as session:
            store = self._store(session)
            cut_off = store.open_turn()
            if any(one.channel in channels or one.at < before for one in store.waiting()):
                return True
            return cut_off is not None and cut_off.began_at < before

    def write_first(
        self, text: str, place: tuple[str, str], topic: str, last_number: int, forgotten: int | None = None
    ) -> Written | None:
        """The agent's own word, that nobody asked for. None: a turn runs, somebody waits, something was said since
        `last_number` was the last, or forgotten since there were so many acts of it: then it was decided on what is not
        so any more."""
        at = to_text(self._clock())
        channel = place[0]
        record = self._record(Role.ASSISTANT, at, [{"type": "text", "text": text}], channel=channel)
        record["head"] = f"[{moment(from_text(at))}, {channel}: nobody had said anything, and you wrote first.]"
        record["outreach"] = {"topic": topic}
        with self._database.write() as session:
            store = self._store(session)
            if store.open_turn() or store.waiting() or store.last_number() != last_number:
                return None
            if forgotten is not None and store.standing().forgotten != forgotten:
                return None
            turn = store.add_outreach(at)
            entry = store.add(self._append(session, record), Role.ASSISTANT, at, turn=turn)
            store.add_deliveries(turn, [place], at)
        return Written(entry=entry, record=record)

    # A turn

    def begin(self) -> Taken | None:
        """The turn that a crash cut off, else a new one with all that waits. None: there is nothing to answer."""
        with self._database.write() as session:
            self._check(session)
            store = self._store(session)
            cut_off = store.open_turn()
            if cut_off:
                turn, is_resumed = cut_off.number, True
            elif store.waiting():
                turn, is_resumed = store.begin_turn(to_text(self._clock())), False
                store.take(turn)
            else:
                return None
            attempts = store.attempt(turn)
            written = self._written(session, store.of_turn(turn))
        return Taken(turn=turn, written=written, is_resumed=is_resumed, attempts=attempts)

    def add(self, turn: int, role: Role, content: Sequence[Block], *, model: str = "") -> Written:
        """A step of a turn that is open. Raises `Overtaken` where it is not any more: what it answers to was forgotten,
        and what is said of that is not to be kept; or another program ended it."""
        with self._database.write() as session:
            self._check(session)
            row = self._store(session).turn(turn)
            if row is None or row.state is not TurnState.OPEN:
                raise Overtaken("What was being answered is not there any more, or was answered by another program.")
            return self._add(session, turn, role, content, model)

    def check(self, forgotten: int) -> None:
        """Before the array is sent: raises `Overtaken` where the turn is not ours any more, or where something was
        forgotten since there were so many acts of forgetting."""
        with self._database.read() as session:
            self._check(session)
            if self._store(session).standing().forgotten != forgotten:
                raise Overtaken("Something was forgotten meanwhile: what is sent is made again without it.")

    def _check(self, session: Session) -> None:
        if not self._is_ours(session):
            raise Overtaken("Another program has the conversation by now.")

    def end(
        self,
        taken: Taken,
        state: TurnState,
        reason: str = "",
        *,
        said: Sequence[Sequence[Block]] = (),
        roles: Sequence[Role] = (),
        model: str = "",
    ) -> list[Written]:
        """With what it said last (`said`, of `roles`), if anything. Nothing is added when it was ended already, as all
        that it answers to was forgotten."""
        at = to_text(self._clock())
        with self._database.write() as session:
            self._check(session)
            store = self._store(session)
            if not store.end_turn(taken.turn, state, at, reason):
                return []
            is_cut = state is TurnState.STOPPED
            added = [
                self._add(session, taken.turn, role, content, model, is_stopped=is_cut and role is Role.ASSISTANT)
                for role, content in zip(roles, said, strict=True)
            ]
            store.add_deliveries(taken.turn, taken.places, at)
        return added

    def _add(
        self,
        session: Session,
        turn: int,
        role: Role,
        content: Sequence[Block],
        model: str,
        *,
        is_stopped: bool = False,
    ) -> Written:
        at = to_text(self._clock())
        record = self._record(role, at, content, model=model)
        if is_stopped:
            record["stopped"] = True
        entry = self._store(session).add(self._append(session, record), role, at, turn=turn)
        return Written(entry=entry, record=record)

    # Reading

    def standing(self) -> Standing:
        with self._database.read() as session:
            return self._store(session).standing()

    def read(self) -> tuple[Standing, CompactionRow | None, list[Written]]:
        """All that the array is made from: the compaction that counts, and what was said since."""
        with self._database.read() as session:
            store = self._store(session)
            compaction = store.compaction()
            entries = store.after(compaction.through if compaction else 0)
            return store.standing(), compaction, self._written(session, entries)

    def of_turn(self, turn: int) -> list[Written]:
        with self._database.read() as session:
            return self._written(session, self._store(session).of_turn(turn))

    def turn(self, number: int) -> TurnRow | None:
        with self._database.read() as session:
            return self._store(session).turn(number)

    def latest(self, limit: int) -> list[Written]:
        with self._database.read() as session:
            return self._written(session, self._store(session).latest_spoken(limit))

    def spoken(self, *, before: int, after: int, limit: int) -> list[Written]:
        """By users and the agent, the newest first; what was taken back too."""
        with self._database.read() as session:
            return self._written(session, self._store(session).spoken(before, after, limit))

    def glance(self, *, outreaches: int, said: int, spoken: int) -> Glance:
        """So many of each at the most."""
        with self._database.read() as session:
            store = self._store(session)
            latest = store.latest_spoken(max(spoken, 1))
            return Glance(
                outreaches=store.outreaches(outreaches),
                arrived=store.arrived(outreaches),
                said=store.last_said(said),
                spoken=self._written(session, latest[len(latest) - min(spoken, len(latest)) :]),
                last_word_at=max([store.last_turn_at(), *(one.at for one in latest[-1:])]),
                is_open=store.open_turn() is not None,
                waiting=len(store.waiting()),
                undelivered=store.undelivered(),
                last_number=store.last_number(),
                forgotten=store.standing().forgotten,
            )

    def _written(self, session: Session, entries: Sequence[Entry]) -> list[Written]:
        """A few at a time and without the bytes of files: no model reads them, and they can be larger than the rest."""
        found: list[Written] = []
        for start in range(0, len(entries), READ_AT_ONCE):
            some = entries[start : start + READ_AT_ONCE]
            raw = self._appending().raw(session, NAME, self._facts, [entry.message_id for entry in some])
            found += [
                Written(entry=entry, record=_without_files(msgspec.json.decode(raw[entry.message_id])))
                for entry in some
                if entry.message_id in raw
            ]
        return found

    # Records

    def _append(self, session: Session, record: dict[str, Any]) -> str:
        try:
            raw = msgspec.json.encode(record)
        except UnicodeEncodeError:  # Half of a character, in something that a model wrote.
            raw = json.dumps(record).encode()
        return self._appending().append(session, NAME, self._facts, [raw])[0]

    def _record(
        self,
        role: Role,
        at: str,
        content: Sequence[Block],
        *,
        channel: str = "",
        head: str = "",
        model: str = "",
    ) -> dict[str, Any]:
        record: dict[str, Any] = {
            NAME: FORM,
            "id": new_id(),
            "agent": self._agent,
            "role": str(role),
            "channel": channel,
            "at": at,
            "model": model,
            "head": head,
            "content": [_kept(block) for block in content],
        }
        return {name: value for name, value in record.items() if value or name == "content"}

    def _store(self, session: Session) -> MindStore:
        return MindStore(session, self._house, self._agent)


def _without_files(record: dict[str, Any]) -> dict[str, Any]:
    for block in record["content"]:
        if block.get("type") == "file":
            block["bytes"] = len(block.pop("data", "")) * 3 // 4
    return record


def _content_of(said: Said) -> list[Block]:
    content: list[Block] = [{"type": "text", "text": said.text}] if said.text.strip() else []
    for image in said.images:
        source = {"type": "base64", "media_type": image.media_type, "data": _base64(image.data)}
        content.append({"type": "image", "source": source})
    for file in said.files:
        block = {"type": "file", "name": file.name, "media_type": file.media_type, "data": _base64(file.data)}
        content.append(block)
    return content


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _kept(block: Block) -> Block:
    """Of a thought, only that there was one: it may not be sent again by another program."""
    if block.get("type") in ("thinking", "redacted_thinking"):
        return {"type": "thinking", "characters": len(block.get("thinking") or "")}
    return block
