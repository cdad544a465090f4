"""A conversation that grows exchange by exchange, and is read after each of them."""

from pathlib import Path

from transcripts import START, Transcript

import recollect
from recollect.history import Conversation
from recollect.knowledge import State
from recollect.librarian.librarian import Librarian
from recollect.librarian.live.live import Lived
from recollect.testing import FrozenClock


class Chat:
    """What is said in one session, on one clock. `librarian`: another than the memory's own."""

    def __init__(
        self, memory: recollect.Memory, folder: Path, name: str = "chat", librarian: Librarian | None = None
    ) -> None:
        clock = memory.clock
        assert isinstance(clock, FrozenClock)
        clock.now = max(clock.now, START)
        self.memory = memory
        self.clock = clock
        self.live = (librarian or memory.librarian).live()
        self._folder = folder
        self._transcript = Transcript(name, start=clock.now)
        self._seen: set[str] = set()

    def another(self, name: str) -> "Chat":
        """One more session of the same house."""
        return Chat(self.memory, self._folder, name)

    def say(self, words: str, answer: str = "Noted.") -> list[str]:
        """One exchange; the ids of its messages."""
        self._transcript.user(words)
        self._transcript.assistant(answer)
        self.memory.history.ingest([self._transcript.save(self._folder)])
        self.clock.now = self._transcript.now
        return self._new()

    def exchange(self, words: str, answer: str = "Noted.") -> Lived:
        """Said, and read."""
        return self.live.read(self.say(words, answer))

    def end(self) -> None:
        """Nobody says anything for so long that it is over, and it is read as a whole."""
        self.clock.move(hours=2)
        self.memory.librarian.process()

    @property
    def conversation(self) -> Conversation:
        return self.memory.history.conversation(self._transcript.session_id).conversation

    def _new(self) -> list[str]:
        found = [message.id for message in self.memory.history.messages(self.conversation)]
        new = [one for one in found if one not in self._seen]
        self._seen.update(new)
        return new


def told(memory: recollect.Memory) -> list[str]:
    """What is known now."""
    return sorted(record.text for record in memory.knowledge.records())


def state_of(memory: recollect.Memory) -> list[tuple[str, str]]:
    """What all records say but those that were taken back, and whether they hold."""
    records = memory.knowledge.records(state="all", limit=1_000)
    return sorted((record.text, str(record.state)) for record in records if record.state is not State.RETRACTED)
