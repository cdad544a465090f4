"""What the user left: going back in a conversation and writing something else abandons what was said from there on.

Agents tell it in several ways: a second prompt under the same parent, a record that says to which message or by how
many prompts the user went back, a second file that goes on from the middle of the first, and files that are trees, in
which the way from the last record to the root is what counts. Nothing is deleted: what was left stands as abandoned.
"""

from recollect.database import Session
from recollect.history.burial import read_remnant
from recollect.history.fold_state import FoldState, ForgottenPrompt
from recollect.history.messages import Author, Entry, Message, Standing, Turn
from recollect.history.records import FORGOTTEN
from recollect.history.sources import BadRecord, FileFacts, source_named
from recollect.history.store import File, FileStore, LineStore, MessageStore

PAGE = 500
"""Records of the vault at a time."""
EVERYTHING = "*"
END_OF_FILE = (1 << 63) - 1


class Branches:
    def __init__(self, session: Session, house: str, messages: MessageStore) -> None:
        self._files = FileStore(session, house)
        self._messages = messages
        self._lines = LineStore(session, house)

    def leave(self, file: File, fresh: list[Message], turns: list[Turn]) -> bool:
        """Abandon what these messages and turns of a block leave; True if stored rows changed.

        `fresh` are the messages of the block, which are not stored yet.
        """
        state = FoldState.from_json(file.state)
        forgotten = state.forgotten_prompts
        points = [message for message in fresh if _is_prompt(message)]
        if not points and not turns and not forgotten:
            return False
        parents = {point.parent_id for point in [*points, *forgotten]} - {""}
        first = self._messages.prompts_after(file.id, file.generation, sorted(parents))
        changed = False
        for point in sorted([*points, *turns, *forgotten], key=lambda item: item.start_byte):
            if isinstance(point, Turn):
                since = self._target(file, fresh, point, forgotten)
            elif isinstance(point, ForgottenPrompt):
                if not point.parent_id or point not in forgotten:
                    continue
                since = first.setdefault(point.parent_id, point.start_byte)
                first[point.parent_id] = point.start_byte
            elif point.standing is Standing.SAID:
                since = first.setdefault(point.parent_id, point.start_byte)
                first[point.parent_id] = point.start_byte
            else:
                continue  # It was left with the branch it stands on.
            if since < point.start_byte:
                changed |= self._abandon(file, fresh, since, point.start_byte)
                forgotten = [item for item in forgotten if not since <= item.start_byte < point.start_byte]
        if len(forgotten) < len(state.forgotten_prompts):
            state.forgotten_prompts = forgotten
            file.state = state.to_json()
        return changed

    def _abandon(self, file: File, fresh: list[Message], since: int, until: int) -> bool:
        for message in fresh:
            if since <= message.start_byte < until and message.standing is Standing.SAID:
                message.standing = Standing.ABANDONED
        return self._messages.abandon(file.id, file.generation, since, until) > 0

    def _target(self, file: File, fresh: list[Message], turn: Turn, forgotten: list[ForgottenPrompt]) -> int:
        """From which byte on everything is left. If a part of the file was kept out, nothing tells: nothing is left."""
        if turn.prompts and file.counts.private:
            return turn.start_byte
        if turn.prompts:
            new = [item.start_byte for item in fresh if _is_said_by_user(item) and item.start_byte < turn.start_byte]
            stored = self._messages.latest_prompts(file.id, file.generation, turn.start_byte, turn.prompts)
            gone = [item.start_byte for item in forgotten if item.start_byte < turn.start_byte]
            starts = sorted({*new, *stored, *gone}, reverse=True)[: turn.prompts]
            return starts[-1] if starts else turn.start_byte
        if turn.to == EVERYTHING:
            return 0
        known = self._messages.get([turn.to]) | {message.id: message for message in fresh}
        target = known.get(turn.to)
        is_here = target and (target.file_id, target.generation) == (file.id, file.generation)
        if target and is_here:
            return target.start_byte
        forgotten_at = self._forgotten_at(file, turn.forgotten) if file.counts.forgotten else None
        if forgotten_at is not None:
            return forgotten_at
        return turn.start_byte if file.counts.private else 0

    def _forgotten_at(self, file: File, name: str) -> int | None:
        """Where a message stood that was forgotten."""
        for start, raw in self._lines.remnants(file.id, file.generation):
            remnant = read_remnant(raw)
            if remnant and remnant.message == name:
                return start
        return None

    def leave_files(self, file: File) -> set[str]:
        """Abandon the ends of files that others of the same session go on from; which files changed.

        Looked at from both sides, because either file may be read first.
        """
        others = self._files.siblings(file) if source_named(file.source).goes_on_elsewhere else []
        ends = [(file, FoldState.from_json(other.state).left) for other in others]
        ends += [(other, FoldState.from_json(file.state).left) for other in others]
        return {
            one.id
            for one, (key, start) in ends
            if key and key == one.key and self._messages.abandon(one.id, one.generation, start, END_OF_FILE)
        }

    def follow_tree(self, file: File) -> None:
        """Let the way from the last record of a file to its root count, and nothing else."""
        entries = self._entries(file)
        way = _way_to_root(entries)
        standings: dict[str, Standing] = {}
        for entry in entries:
            if entry.key and entry.uuid and entry.standing is Standing.SAID:
                is_on_way = entry.uuid in way or standings.get(entry.key) is Standing.SAID
                standings[entry.key] = Standing.SAID if is_on_way else Standing.ABANDONED
        self._messages.set_standings(file.id, standings)

    def _entries(self, file: File) -> list[Entry]:
        source = source_named(file.source)
        facts = FileFacts(key=file.key, kind=file.kind, session_id=file.session_id, agent_id=file.agent_id)
        found: list[Entry] = []
        start = 0
        while page := self._lines.page(file.id, file.generation, start, PAGE):
            for _, _, kind, raw in page:
                try:
                    remnant = read_remnant(raw) if kind == FORGOTTEN else None
                    entry = remnant.entry if remnant else source.parse(raw, facts)
                except BadRecord:
                    continue
                links = Entry(kind=entry.kind, key=entry.key, uuid=entry.uuid, follows=entry.follows)
                links.standing = entry.standing
                found.append(links)
            start = page[-1][0] + 1
        return found


def _way_to_root(entries: list[Entry]) -> set[str]:
    """The records on the way from the last one to the root.

    Where the record that one follows is missing (it was private, or never written) the one before it is taken.
    """
    nodes = [entry for entry in entries if entry.uuid]
    places = {entry.uuid: place for place, entry in enumerate(nodes)}
    way: set[str] = set()
    place = len(nodes) - 1
    while place >= 0 and nodes[place].uuid not in way:
        node = nodes[place]
        way.add(node.uuid)
        if not node.follows:
            break
        place = places.get(node.follows, place - 1)
    return way


def _is_prompt(message: Message) -> bool:
    return _is_said_by_user(message) and bool(message.parent_id)


def _is_said_by_user(message: Message) -> bool:
    return message.author is Author.USER and message.standing is Standing.SAID
